/* Reads .par files. */
#include "config.h"
#include "core/lib/ephemeris/ephemeris.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/kit/angle.h"
#include "core/kit/units.h"

#define ARCSEC (ASTRO_DEGREE / 3600)
#define MAS (ARCSEC / 1000)

typedef struct Term Term;

typedef struct {
  AstroEphemeris *to;
  AstroLines *lines;
  guint64 told; /* bits of the terms that have come */
  long double period[2];
} Reading;

/* Reads a value. FALSE: it is not what `expected` says. */
struct Term {
  const char *name, *other; /* and a second name for the same */
  gboolean (*read)(Reading *reading, const Term *term, const char *text);
  gsize offset; /* of the member of AstroEphemeris */
  double unit;
  const char *expected;
};

/* ---- numbers ---- */

/* strtold() in the C locale: GLib has this for doubles only. */
static long double parse_long(const char *text, char **end)
{
  static gsize made = 0;
  static locale_t locale;
  if (g_once_init_enter(&made)) {
    locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    g_once_init_leave(&made, 1);
  }
  const locale_t before = uselocale(locale);
  const long double value = strtold(text, end);
  uselocale(before);
  return value;
}

/* Exponents may be written with a D, as Fortran does. */
static gboolean read_long(const char *text, long double *value)
{
  g_autofree char *copy = g_strdup(text);
  char *end;
  for (char *c = copy; *c; c++)
    if (*c == 'D' || *c == 'd')
      *c = 'e';
  if (!g_ascii_isdigit(*copy) && !strchr("+-.", *copy))
    return FALSE;
  if (strspn(copy, "0123456789+-.eE") != strlen(copy))
    return FALSE;
  *value = parse_long(copy, &end);
  return *end == '\0' && isfinite(*value) && fabsl(*value) < 1e300L;
}

static gpointer member(const Reading *reading, const Term *term)
{
  return (guint8 *)reading->to + term->offset;
}

static gboolean read_real(Reading *reading, const Term *term, const char *text)
{
  long double value;
  if (!read_long(text, &value))
    return FALSE;
  *(double *)member(reading, term) = (double)value * term->unit;
  return TRUE;
}

static gboolean read_spin(Reading *reading, const Term *term, const char *text)
{
  return read_long(text, member(reading, term));
}

static gboolean read_period(Reading *reading, const Term *term, const char *text)
{
  return read_long(text, &reading->period[term->name[1] - '0']);
}

/* The digits before and behind the point apart: a double has no room for both. */
static gboolean read_epoch(Reading *reading, const Term *term, const char *text)
{
  AstroEpoch *epoch = member(reading, term);
  const gsize whole = strspn(text, "0123456789");
  long double fraction = 0;
  if (whole < 1 || whole > 6 || (text[whole] && text[whole] != '.'))
    return FALSE;
  if (text[whole] && text[whole + 1] && !read_long(text + whole, &fraction))
    return FALSE;
  *epoch = (AstroEpoch){ (gint32)g_ascii_strtoll(text, NULL, 10), fraction };
  return fraction >= 0 && fraction < 1;
}

/* ---- angles ---- */

static gboolean read_sixtieths(Reading *reading, const Term *term, const char *text)
{
  double degrees;
  if (!astro_sixtieths_parse(text, term->unit > 1, &degrees))
    return FALSE;
  *(double *)member(reading, term) = degrees * ASTRO_DEGREE;
  return TRUE;
}

static gboolean read_obliquity(Reading *reading, const Term *term, const char *text)
{
  static const struct {
    const char *name;
    double arcsec;
  } known[] = { { "IERS2010", 84381.406 },  { "IAU2005", 84381.406 }, { "DEFAULT", 84381.406 },
                { "IERS2003", 84381.4059 }, { "DE403", 84381.412 },   { "IERS1992", 84381.412 },
                { "IAU1976", 84381.448 } };
  for (guint i = 0; i < G_N_ELEMENTS(known); i++)
    if (g_ascii_strcasecmp(text, known[i].name) == 0) {
      reading->to->obliquity = known[i].arcsec * ARCSEC;
      return TRUE;
    }
  return FALSE;
}

/* ---- words ---- */

static gboolean read_text(Reading *reading, const Term *term, const char *text)
{
  char **to = member(reading, term);
  g_free(*to);
  *to = g_strdup(text);
  return TRUE;
}

static gboolean is_any_of(const char *const *words, const char *text)
{
  for (; *words; words++)
    if (g_ascii_strcasecmp(*words, text) == 0)
      return TRUE;
  return FALSE;
}

static gboolean read_site(Reading *reading, const Term *term, const char *text)
{
  static const char *const barycentre[] = { "@", "ssb", "bary", "bat", NULL };
  static const char *const geocentre[] = { "coe", "0", "o", "geocenter", "geocentric", NULL };
  AstroEphemeris *to = reading->to;
  to->zero_site = is_any_of(barycentre, text)  ? ASTRO_SITE_BARYCENTRE
                  : is_any_of(geocentre, text) ? ASTRO_SITE_GEOCENTRE
                                               : ASTRO_SITE_TELESCOPE;
  return to->zero_site != ASTRO_SITE_TELESCOPE || read_text(reading, term, text);
}

static gboolean read_units(Reading *reading, const Term *term, const char *text)
{
  return g_ascii_strcasecmp(text, "TDB") == 0;
}

static gboolean read_no(Reading *reading, const Term *term, const char *text)
{
  static const char *const no[] = { "N", "NO", "0", "FALSE", "F", NULL };
  long double value;
  return is_any_of(no, text) || (read_long(text, &value) && value == 0);
}

#define AT(field) G_STRUCT_OFFSET(AstroEphemeris, field)
#define NUMBER "a number"
#define DAY "a modified Julian date, such as 57200.25"

static const Term terms[] = {
  { "PSR", "PSRJ", read_text, AT(name), 0, "a name" },
  { "F0", "F", read_spin, AT(spin[0]), 0, "a number of Hz" },
  { "F1", NULL, read_spin, AT(spin[1]), 0, NUMBER },
  { "F2", NULL, read_spin, AT(spin[2]), 0, NUMBER },
  { "F3", NULL, read_spin, AT(spin[3]), 0, NUMBER },
  { "F4", NULL, read_spin, AT(spin[4]), 0, NUMBER },
  { "F5", NULL, read_spin, AT(spin[5]), 0, NUMBER },
  { "P0", "P", read_period, 0, 0, "a number of seconds" },
  { "P1", "PDOT", read_period, 0, 0, NUMBER },
  { "PEPOCH", NULL, read_epoch, AT(epoch), 0, DAY },
  { "RAJ", "RA", read_sixtieths, AT(longitude), 15, "hours, as 12:34:56.7" },
  { "DECJ", "DEC", read_sixtieths, AT(latitude), 1, "degrees, as -12:34:56.7" },
  { "ELONG", "LAMBDA", read_real, AT(longitude), ASTRO_DEGREE, "a number of degrees" },
  { "ELAT", "BETA", read_real, AT(latitude), ASTRO_DEGREE, "a number of degrees" },
  { "PMRA", NULL, read_real, AT(longitude_motion), MAS, "a number of mas/yr" },
  { "PMDEC", NULL, read_real, AT(latitude_motion), MAS, "a number of mas/yr" },
  { "PMELONG", "PMLAMBDA", read_real, AT(longitude_motion), MAS, "a number of mas/yr" },
  { "PMELAT", "PMBETA", read_real, AT(latitude_motion), MAS, "a number of mas/yr" },
  { "POSEPOCH", NULL, read_epoch, AT(position_epoch), 0, DAY },
  { "ECL", NULL, read_obliquity, 0, 0, "IERS2010, IERS2003, IERS1992 or IAU1976" },
  { "PX", NULL, read_real, AT(parallax), MAS, "a number of mas" },
  { "DM", NULL, read_real, AT(dm[0]), 1, "a number of pc/cm^3" },
  { "DM1", NULL, read_real, AT(dm[1]), 1, "a number of pc/cm^3 a year" },
  { "DM2", NULL, read_real, AT(dm[2]), 1, "a number of pc/cm^3 a year^2" },
  { "DMEPOCH", NULL, read_epoch, AT(dm_epoch), 0, DAY },
  { "TZRMJD", NULL, read_epoch, AT(zero), 0, DAY },
  { "TZRFRQ", NULL, read_real, AT(zero_frequency), 1e6, "a number of MHz" },
  { "TZRSITE", NULL, read_site, AT(zero_telescope), 0, "a site" },
  { "EPHEM", NULL, read_text, AT(planets), 0, "a name" },
  { "CLK", "CLOCK", read_text, AT(clock), 0, "a name" },
  { "UNITS", NULL, read_units, 0, 0, "TDB: convert the file, for instance with tcb2tdb of PINT" },
  /* These would change phases if they were on. */
  { "CORRECT_TROPOSPHERE", NULL, read_no, 0, 0, "N: it is not corrected for here" },
  { "NE_SW", "NE1AU", read_no, 0, 0, "0: the solar wind is not modelled here" },
  { "SOLARN0", NULL, read_no, 0, 0, "0: the solar wind is not modelled here" },
  { "PMRV", NULL, read_no, 0, 0, "0: radial motion is not modelled here" },
};

G_STATIC_ASSERT(G_N_ELEMENTS(terms) <= 64);

/* Terms without an effect on the phases of a stream: how a fit was done, how good it is, noise, and
 * offsets between receivers. */
static const char *const skipped[] = {
  "START",      "FINISH",   "TRES",           "CHI2",           "CHI2R",   "NTOA",    "NITS",
  "EPHVER",     "INFO",     "MODE",           "DMDATA",         "TRACK",   "TIMEEPH", "T2CMETHOD",
  "DILATEFREQ", "IBOOT",    "JUMP",           "T2EFAC",         "T2EQUAD", "EFAC",    "EQUAD",
  "ECORR",      "TNECORR",  "TNEF",           "TNEQ",           "DMEFAC",  "DMEQUAD", "DMJUMP",
  "TNREDAMP",   "TNREDGAM", "TNREDC",         "TNDMAMP",        "TNDMGAM", "TNDMC",   "RNAMP",
  "RNIDX",      "PSRB",     "TNSUBTRACTPOLY", "PLANET_SHAPIRO", "NPRNT",   "RM",      "SURVEY",
  NULL,
};

/* Those that mean an orbit, to say so. */
static const char *const orbits[] = { "BINARY", "PB",   "A1",   "T0",  "OM",    "ECC", "E",
                                      "TASC",   "EPS1", "EPS2", "FB0", "PBDOT", NULL };

static gboolean refuse_term(const Reading *reading, const char *name, GError **error)
{
  if (is_any_of(orbits, name))
    astro_lines_error(reading->lines, error,
                      "\"%s\" belongs to a binary pulsar, expected an isolated one: orbits are not "
                      "modelled; fold with a period for as long as the orbit lets you",
                      name);
  else
    astro_lines_error(
        reading->lines, error,
        "the term \"%s\" is unknown, and may change the phase: take it out if it does "
        "not matter",
        name);
  return FALSE;
}

static gboolean read_line(Reading *reading, char **fields, GError **error)
{
  if (is_any_of(skipped, fields[0]) || g_ascii_strcasecmp(fields[0], "C") == 0)
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS(terms); i++) {
    const Term *term = &terms[i];
    if (g_ascii_strcasecmp(fields[0], term->name) != 0 &&
        (!term->other || g_ascii_strcasecmp(fields[0], term->other) != 0))
      continue;
    if (reading->told & (G_GUINT64_CONSTANT(1) << i)) {
      astro_lines_error(reading->lines, error, "%s comes again, expected it once", fields[0]);
      return FALSE;
    }
    reading->told |= G_GUINT64_CONSTANT(1) << i;
    if (fields[1] && term->read(reading, term, fields[1]))
      return TRUE;
    astro_lines_error(reading->lines, error, "%s is \"%s\", expected %s", fields[0],
                      fields[1] ? fields[1] : "", term->expected);
    return FALSE;
  }
  return refuse_term(reading, fields[0], error);
}

/* ---- the whole ---- */

static gboolean has(const Reading *reading, const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS(terms); i++)
    if (g_str_equal(terms[i].name, name))
      return (reading->told >> i) & 1;
  return FALSE;
}

static gboolean fail(const Reading *reading, GError **error, const char *wrong)
{
  g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE, "%s %s", reading->lines->name, wrong);
  return FALSE;
}

static gboolean finish_spin(Reading *reading, GError **error)
{
  AstroEphemeris *to = reading->to;
  const long double *period = reading->period;
  if (has(reading, "F0") == has(reading, "P0"))
    return fail(reading, error,
                has(reading, "F0") ? "has both F0 and P0, expected one of them"
                                   : "has neither F0 nor P0, expected one of them");
  if (has(reading, "P1") && has(reading, "F1"))
    return fail(reading, error, "has both F1 and P1, expected one of them");
  if (has(reading, "P0")) {
    to->spin[0] = 1 / period[0];
    if (has(reading, "P1"))
      to->spin[1] = -period[1] / (period[0] * period[0]);
  } else if (has(reading, "P1")) {
    to->spin[1] = -period[1] * to->spin[0] * to->spin[0];
  }
  if (!(to->spin[0] > 1e-6L && to->spin[0] < 1e6L))
    return fail(reading, error, "has a rotation out of range, expected 1e-6 to 1e6 Hz");
  return has(reading, "PEPOCH") || fail(reading, error, "has no PEPOCH, expected the epoch of F0");
}

static gboolean finish_place(Reading *reading, GError **error)
{
  AstroEphemeris *to = reading->to;
  const gboolean equatorial = has(reading, "RAJ") && has(reading, "DECJ"),
                 ecliptic = has(reading, "ELONG") && has(reading, "ELAT"),
                 any_equatorial = has(reading, "RAJ") || has(reading, "DECJ") ||
                                  has(reading, "PMRA") || has(reading, "PMDEC"),
                 any_ecliptic = has(reading, "ELONG") || has(reading, "ELAT") ||
                                has(reading, "PMELONG") || has(reading, "PMELAT");
  if (!equatorial && !ecliptic)
    return fail(reading, error, "has no position, expected RAJ and DECJ, or ELONG and ELAT");
  if (any_equatorial && any_ecliptic)
    return fail(reading, error,
                "mixes RAJ, DECJ, PMRA or PMDEC with ELONG, ELAT, PMELONG or PMELAT, expected one "
                "frame");
  if (!(fabs(to->latitude) <= G_PI / 2) || !(fabs(to->longitude) <= 2 * G_PI))
    return fail(reading, error, "has a position out of range, expected one in the sky");
  to->is_ecliptic = ecliptic;
  if (!has(reading, "POSEPOCH"))
    to->position_epoch = to->epoch;
  return TRUE;
}

static gboolean finish(Reading *reading, GError **error)
{
  AstroEphemeris *to = reading->to;
  if (!finish_spin(reading, error) || !finish_place(reading, error))
    return FALSE;
  if (!has(reading, "DMEPOCH"))
    to->dm_epoch = to->epoch;
  if (!(to->dm[0] >= 0 && to->dm[0] <= 1e5))
    return fail(reading, error, "has a DM out of range, expected 0 to 100000 pc/cm^3");
  if (!(to->zero_frequency >= 0))
    return fail(reading, error, "has a negative TZRFRQ, expected MHz, or 0 for infinity");
  if (!has(reading, "TZRMJD") && (has(reading, "TZRFRQ") || has(reading, "TZRSITE")))
    return fail(reading, error, "has TZRFRQ or TZRSITE without TZRMJD, expected all three");
  to->has_zero = has(reading, "TZRMJD");
  if (!to->name)
    to->name = g_strdup("");
  return TRUE;
}

AstroEphemeris *astro_ephemeris_from_lines(AstroLines *lines, GError **error)
{
  g_autoptr(AstroEphemeris) ephemeris = g_new0(AstroEphemeris, 1);
  Reading reading = { .to = ephemeris, .lines = lines };
  char **fields;
  ephemeris->obliquity = 84381.406 * ARCSEC;
  while ((fields = astro_lines_next(lines))) {
    const gboolean ok = read_line(&reading, fields, error);
    g_strfreev(fields);
    if (!ok)
      return NULL;
  }
  return finish(&reading, error) ? g_steal_pointer(&ephemeris) : NULL;
}

AstroEphemeris *astro_ephemeris_open(const char *path, GError **error)
{
  AstroLines lines;
  if (!astro_lines_open(&lines, path, error))
    return NULL;
  AstroEphemeris *ephemeris = astro_ephemeris_from_lines(&lines, error);
  astro_lines_clear(&lines);
  return ephemeris;
}

void astro_ephemeris_free(AstroEphemeris *ephemeris)
{
  if (!ephemeris)
    return;
  g_free(ephemeris->name);
  g_free(ephemeris->zero_telescope);
  g_free(ephemeris->planets);
  g_free(ephemeris->clock);
  g_free(ephemeris);
}
