/* UT1 - UTC and polar motion of an observation's days. */
#include "config.h"
#include "core/stream/earth.h"

#include <math.h>
#include <string.h>

#include "core/stream/stream.h"

#define JULIAN_OF_MJD_ZERO 678576 /* GDate's Julian day, which counts from the year 1 */
#define ARCSEC_PER_SECOND 15.041  /* rotation of the Earth */
#define MOST_POLE 2.0             /* arcsec; in fact it stays within 0.7 */
#define MOST_UT1_UTC 100.0        /* s; as long as there are leap seconds it stays below 1 */
#define MOST_CHANGE 0.02          /* s per day; the largest so far is 0.005 */
#define DAYS_BEFORE 3             /* kept before an observation; interpolation reads one of them */
#define DAYS_BEHIND 400           /* kept after its start; predictions reach no further */

AstroEarth *astro_earth_ref(AstroEarth *earth)
{
  g_atomic_int_inc(&earth->ref_count);
  return earth;
}

void astro_earth_unref(AstroEarth *earth)
{
  if (!g_atomic_int_dec_and_test(&earth->ref_count))
    return;
  g_free(earth->name);
  g_free(earth->days);
  g_free(earth->leaps);
  g_free(earth);
}

AstroEarth *astro_earth_new_none(void)
{
  AstroEarth *earth = g_new0(AstroEarth, 1);
  earth->ref_count = 1;
  earth->name = g_strdup("none");
  return earth;
}

static double leap_between(const AstroEarthDay *before, const AstroEarthDay *day)
{
  return rint(day->ut1_utc - before->ut1_utc);
}

char *astro_earth_wrong_day(const AstroEarthDay *before, const AstroEarthDay *day)
{
  if (!(fabs(day->pole_x) <= MOST_POLE && fabs(day->pole_y) <= MOST_POLE))
    return g_strdup_printf("the pole is at x %g, y %g arcsec, expected at most %g", day->pole_x,
                           day->pole_y, MOST_POLE);
  if (!(fabs(day->ut1_utc) <= MOST_UT1_UTC))
    return g_strdup_printf("UT1 - UTC is %g s, expected at most %g", day->ut1_utc, MOST_UT1_UTC);
  if (!before)
    return NULL;
  const double change = day->ut1_utc - before->ut1_utc - leap_between(before, day);
  if (fabs(change) > MOST_CHANGE)
    return g_strdup_printf("UT1 - UTC is %g s and %g s the day before, expected a change of at "
                           "most %g s apart from leap seconds",
                           day->ut1_utc, before->ut1_utc, MOST_CHANGE);
  return NULL;
}

static char *date_of(gint32 mjd)
{
  GDate date;
  const gint64 julian = (gint64)mjd + JULIAN_OF_MJD_ZERO;
  if (julian < 1 || julian > 3652059) /* the last day of the year 9999 */
    return g_strdup_printf("MJD %d", mjd);
  g_date_clear(&date, 1);
  g_date_set_julian(&date, (guint32)julian);
  return g_strdup_printf("%04u-%02u-%02u", g_date_get_year(&date), (guint)g_date_get_month(&date),
                         (guint)g_date_get_day(&date));
}

AstroEarth *astro_earth_new(const char *name, gint32 first_mjd, const AstroEarthDay *days, guint n,
                            GError **error)
{
  if (n < ASTRO_EARTH_LEAST_DAYS) {
    astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE,
                        "Earth orientation %s has %u days, expected %d or more", name, n,
                        ASTRO_EARTH_LEAST_DAYS);
    return NULL;
  }
  g_autofree double *leaps = g_new0(double, n);
  for (guint i = 0; i < n; i++) {
    g_autofree char *wrong = astro_earth_wrong_day(i ? &days[i - 1] : NULL, &days[i]);
    if (wrong) {
      g_autofree char *date = date_of(first_mjd + (gint32)i);
      astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE, "Earth orientation %s, %s: %s", name,
                          date, wrong);
      return NULL;
    }
    leaps[i] = i ? leaps[i - 1] + leap_between(&days[i - 1], &days[i]) : 0;
  }
  AstroEarth *earth = astro_earth_new_none();
  g_free(earth->name);
  earth->name = g_strdup(name);
  earth->first_mjd = first_mjd;
  earth->n = n;
  earth->days = g_memdup2(days, n * sizeof *days);
  earth->leaps = g_steal_pointer(&leaps);
  return earth;
}

/* Lagrange's weights of four points at distance 1, at x from the first. */
static void weigh(double x, double weights[4])
{
  weights[0] = -(x - 1) * (x - 2) * (x - 3) / 6;
  weights[1] = x * (x - 2) * (x - 3) / 2;
  weights[2] = -x * (x - 1) * (x - 3) / 2;
  weights[3] = x * (x - 1) * (x - 2) / 6;
}

/* A leap second moves 0h of a day by a second, in which UT1 - UTC changes by less than 0.1 us. */
void astro_earth_at(const AstroEarth *earth, gint32 mjd, double days_since, AstroEarthDay *now)
{
  double weights[4];
  *now = (AstroEarthDay){ 0 };
  if (!earth || earth->n == 0)
    return;
  const gint64 last = (gint64)earth->n - 1, day = (gint64)mjd - earth->first_mjd;
  const double at = CLAMP((double)day + days_since, 0, (double)last);
  const gint64 first = CLAMP((gint64)at - 1, 0, last - 3);
  weigh(at - (double)first, weights);
  for (guint i = 0; i < 4; i++) {
    const AstroEarthDay *values = &earth->days[first + i];
    now->pole_x += weights[i] * values->pole_x;
    now->pole_y += weights[i] * values->pole_y;
    now->ut1_utc += weights[i] * (values->ut1_utc - earth->leaps[first + i]);
  }
  now->ut1_utc += earth->leaps[CLAMP(day, 0, last)]; /* the clock started as that day's UTC */
}

gboolean astro_earth_covers(const AstroEarth *earth, gint32 mjd, double days_since)
{
  const double at = (double)mjd - earth->first_mjd + days_since;
  return earth->n == 0 || (at >= 0 && at <= earth->n - 1.0);
}

char *astro_earth_span(const AstroEarth *earth)
{
  g_autofree char *from = date_of(earth->first_mjd),
                  *to = date_of(earth->first_mjd + (gint32)earth->n - 1);
  return g_strdup_printf("%s to %s", from, to);
}

char *astro_earth_describe(const AstroEarth *earth)
{
  if (earth->n == 0)
    return g_strdup("none, UT1 = UTC");
  g_autofree char *span = astro_earth_span(earth);
  return g_strdup_printf("%s (%s)", earth->name, span);
}

AstroEarth *astro_earth_cut(const AstroEarth *earth, gint32 mjd)
{
  const gint64 last = (gint64)earth->n - 1, day = (gint64)mjd - earth->first_mjd;
  const gint64 from = CLAMP(day - DAYS_BEFORE, 0, last - 3);
  const gint64 to = CLAMP(day + DAYS_BEHIND, from + 3, last);
  return astro_earth_new(earth->name, earth->first_mjd + (gint32)from, &earth->days[from],
                         (guint)(to - from + 1), NULL);
}

/* Both values of UT1 - UTC are relative to the same day's UTC. */
double astro_earth_difference(const AstroEarth *a, const AstroEarth *b, gint32 mjd)
{
  double most = 0;
  for (guint i = 0; i < 2; i++) {
    AstroEarthDay one, other;
    astro_earth_at(a, mjd, i, &one);
    astro_earth_at(b, mjd, i, &other);
    most = MAX(most, hypot(hypot(one.pole_x - other.pole_x, one.pole_y - other.pole_y),
                           ARCSEC_PER_SECOND * (one.ut1_utc - other.ut1_utc)));
  }
  return most;
}
