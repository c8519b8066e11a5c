/* Puts the Earth orientations of several files together. */
#include <math.h>
#include <string.h>

#include "core/kit/units.h"
#include "core/lib/rows/join.h"

#define CLOSE 0.1 /* arcsec: the error of a constant value after a day or so */
#define MOST_DAYS 100000

#define refuse(error, ...) astro_fail(error, ASTRO_ROWS_ERROR, ASTRO_ROWS_ERROR_FORMAT, __VA_ARGS__)

static const AstroEarth *earth_of(const AstroRowFile *file)
{
  return file->contents->observation->earth;
}

static double middle_of(const AstroRowFile *file)
{
  const AstroRowContents *c = file->contents;
  return c->observation->start_mjd +
         ((double)c->observation->start_ns + (double)(c->begin_ns + c->duration_ns) / 2) /
             ASTRO_NS_PER_DAY;
}

/* The values of the file that is nearest to the day; NULL: no file has any. */
static const AstroEarthDay *find_day(const AstroRowFile *files, guint n, gint32 mjd)
{
  const AstroEarthDay *best = NULL;
  double least = 0;
  for (guint i = 0; i < n; i++) {
    const AstroEarth *earth = earth_of(&files[i]);
    const double apart = fabs(middle_of(&files[i]) - mjd);
    if (mjd < earth->first_mjd || mjd >= earth->first_mjd + (gint32)earth->n ||
        (best && apart >= least))
      continue;
    best = &earth->days[mjd - earth->first_mjd];
    least = apart;
  }
  return best;
}

/* No file has visibilities of these days, but a table has no gaps. Leap seconds, which a straight
 * line would hide, come at its end. */
static void fill_gap(AstroEarthDay *days, guint from, guint to)
{
  const AstroEarthDay *a = &days[from], *b = &days[to];
  const double ut1 = b->ut1_utc - a->ut1_utc - rint(b->ut1_utc - a->ut1_utc);
  for (guint i = from + 1; i < to; i++) {
    const double part = (double)(i - from) / (to - from);
    days[i] = (AstroEarthDay){ .pole_x = a->pole_x + part * (b->pole_x - a->pole_x),
                               .pole_y = a->pole_y + part * (b->pole_y - a->pole_y),
                               .ut1_utc = a->ut1_utc + part * ut1 };
  }
}

static AstroEarth *merge(const AstroRowFile *files, guint n, GError **error)
{
  gint32 first = G_MAXINT32, end = G_MININT32;
  gboolean is_one = TRUE;
  for (guint i = 0; i < n; i++) {
    const AstroEarth *earth = earth_of(&files[i]);
    first = MIN(first, earth->first_mjd);
    end = MAX(end, earth->first_mjd + (gint32)earth->n);
    is_one = is_one && g_str_equal(earth->name, earth_of(&files[0])->name);
  }
  if ((gint64)end - first > MOST_DAYS) {
    refuse(error, "%s and %s are %d days apart, expected at most %d", files[0].name,
           files[n - 1].name, end - first, MOST_DAYS);
    return NULL;
  }
  const guint n_days = (guint)(end - first);
  g_autofree AstroEarthDay *days = g_new0(AstroEarthDay, n_days);
  for (guint i = 0, last = 0; i < n_days; i++) {
    const AstroEarthDay *found = find_day(files, n, first + (gint32)i);
    if (!found)
      continue;
    days[i] = *found;
    fill_gap(days, last, i);
    last = i;
  }
  g_autofree char *name =
      g_strdup_printf("%s%s", earth_of(&files[0])->name, is_one ? "" : " and others");
  g_autoptr(GError) wrong = NULL;
  AstroEarth *earth = astro_earth_new(name, first, days, n_days, &wrong);
  if (!earth)
    refuse(error,
           "the Earth orientations of the files contradict each other (%s): earth-orientation=FILE "
           "uses one for all",
           wrong->message);
  return earth;
}

/* Interpolation reads days of other files too. */
static gboolean check_each(const AstroRowFile *files, guint n, const AstroEarth *earth,
                           GError **error)
{
  for (guint i = 0; i < n; i++) {
    const double arcsec =
        astro_earth_difference(earth, earth_of(&files[i]), (gint32)middle_of(&files[i]));
    if (!(arcsec <= CLOSE))
      return refuse(error,
                    "the Earth orientation of %s is %.3g arcsec from that of the other files at "
                    "that time, expected at most %g: earth-orientation=FILE uses one for all",
                    files[i].name, arcsec, CLOSE);
  }
  return TRUE;
}

gboolean astro_row_files_join_earth(const AstroRowFile *files, guint n, AstroObservation *o,
                                    GError **error)
{
  const AstroEarth *first = earth_of(&files[0]);
  for (guint i = 1; i < n; i++) {
    const AstroEarth *own = earth_of(&files[i]);
    if (!own != !first || (own && !own->n != !first->n))
      return refuse(error,
                    "%s %s an Earth orientation (UT1 - UTC), and %s %s: earth-orientation=FILE "
                    "gives all files one",
                    files[0].name, first && first->n ? "has" : "has not", files[i].name,
                    own && own->n ? "has" : "has not");
  }
  if (!first || first->n == 0)
    return TRUE;
  g_autoptr(AstroEarth) all = merge(files, n, error);
  if (!all || !check_each(files, n, all, error))
    return FALSE;
  g_clear_pointer(&o->earth, astro_earth_unref);
  o->earth = g_steal_pointer(&all);
  return TRUE;
}
