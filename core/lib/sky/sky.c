/* Reads skies of point sources from lists and files. */
#include "config.h"
#include "core/lib/sky/sky.h"

#include "core/kit/fail.h"
#include "core/kit/angle.h"
#include "core/lib/sky/moving.h"
#include "core/stream/uvw.h"
#include "core/kit/units.h"

#include <math.h>
#include <string.h>

static GArray *sources_new(void)
{
  GArray *sources = g_array_new(FALSE, TRUE, sizeof(AstroSource));
  g_array_set_clear_func(sources, (GDestroyNotify)astro_source_clear);
  return sources;
}

static const char *const lists[] = {
  [ASTRO_SOURCE_STEADY] = "sky", [ASTRO_SOURCE_PULSAR] = "pulsar", [ASTRO_SOURCE_BURST] = "burst"
};

static AstroSky *sky_new(GArray *sources, AstroSourceKind kind, gboolean is_celestial)
{
  AstroSky *sky = g_new0(AstroSky, 1);
  sky->n = sources->len;
  sky->sources = g_array_steal(sources, NULL);
  sky->is_celestial = is_celestial;
  for (guint i = 0; i < sky->n; i++) {
    sky->sources[i].list = lists[kind];
    sky->sources[i].number = i + 1;
  }
  return sky;
}

void astro_sky_append(AstroSky *sky, AstroSky *others)
{
  sky->sources = g_renew(AstroSource, sky->sources, sky->n + others->n);
  if (others->n)
    memcpy(sky->sources + sky->n, others->sources, others->n * sizeof(AstroSource));
  sky->n += others->n;
  g_free(others->sources);
  g_free(others);
}

void astro_sky_free(AstroSky *sky)
{
  for (guint i = 0; i < sky->n; i++)
    astro_source_clear(&sky->sources[i]);
  g_free(sky->sources);
  g_free(sky);
}

/* The fields before the first word with '=' in it. */
static guint count_numbers(char **fields)
{
  guint n = 0;
  while (fields[n] && !strchr(fields[n], '='))
    n++;
  return n;
}

static char *read_inline_source(char **fields, AstroSourceKind kind, AstroSource *source)
{
  const guint n = count_numbers(fields);
  if (n != 3 || !astro_number_parse(fields[0], &source->lmn[0]) ||
      !astro_number_parse(fields[1], &source->lmn[1]) ||
      !astro_number_parse(fields[2], &source->flux))
    return g_strdup("expected three numbers l,m,flux, then only " ASTRO_SOURCE_WORDS);
  double square = source->lmn[0] * source->lmn[0] + source->lmn[1] * source->lmn[1];
  if (!(square < 1))
    return g_strdup("l and m are direction cosines: l*l + m*m must be below 1");
  if (source->flux < 0)
    return g_strdup("flux must be at least 0 Jy");
  source->lmn[2] = sqrt(1 - square);
  return astro_source_read(source, kind, fields + n);
}

static char *read_source(char **fields, AstroSourceKind kind, AstroSource *source)
{
  const guint n = count_numbers(fields);
  double ra, dec;
  char *moving = astro_moving_tell(fields[0]);
  if (moving)
    return moving;
  if (n < 3 || n > 4 || !astro_angles_parse(fields[0], fields[1], &ra, &dec) ||
      !astro_number_parse(fields[2], &source->flux) ||
      (n == 4 && !astro_number_parse(fields[3], &source->spectral_index)))
    return g_strdup("expected numbers: ra dec flux [spectral-index], then only " ASTRO_SOURCE_WORDS
                    "; ra and dec " ASTRO_ANGLES_EXPECTED);
  if (fabs(ra) > 360 || fabs(dec) > 90)
    return g_strdup("ra must be within 360 and dec within 90 degrees");
  if (source->flux < 0)
    return g_strdup("flux must be at least 0 Jy");
  if (fabs(source->spectral_index) > 10)
    return g_strdup("the spectral index must be within 10");
  source->ra = ra * ASTRO_DEGREE;
  source->dec = dec * ASTRO_DEGREE;
  return astro_source_read(source, kind, fields + n);
}

/* Appends a source, or returns what is wrong with it, to be freed. */
static char *add_source(GArray *sources, char **fields, AstroSourceKind kind,
                        char *(*read)(char **fields, AstroSourceKind kind, AstroSource *source))
{
  AstroSource source = { 0 };
  char *wrong = read(fields, kind, &source);
  if (!wrong && sources->len == ASTRO_SKY_MAX_SOURCES)
    wrong = g_strdup("too many sources");
  if (wrong)
    astro_source_clear(&source);
  else
    g_array_append_val(sources, source);
  return wrong;
}

AstroSky *astro_sky_from_inline(const char *text, AstroSourceKind kind, GError **error)
{
  g_autoptr(GArray) sources = sources_new();
  g_auto(GStrv) items = g_strsplit(text, ";", -1);
  for (guint i = 0; items[i]; i++) {
    if (!*g_strstrip(items[i]))
      continue;
    g_auto(GStrv) fields = g_strsplit(items[i], ",", -1);
    for (guint k = 0; fields[k]; k++)
      g_strstrip(fields[k]);
    g_autofree char *wrong = add_source(sources, fields, kind, read_inline_source);
    if (wrong) {
      g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_SYNTAX, "%s: source %u is \"%s\": %s",
                  lists[kind], i + 1, items[i], wrong);
      return NULL;
    }
  }
  return sky_new(sources, kind, FALSE);
}

AstroSky *astro_sky_from_lines(AstroLines *lines, AstroSourceKind kind, GError **error)
{
  g_autoptr(GArray) sources = sources_new();
  char **read;
  while ((read = astro_lines_next(lines))) {
    g_auto(GStrv) fields = read;
    g_autofree char *wrong = add_source(sources, fields, kind, read_source);
    if (wrong) {
      g_autofree char *found = g_strjoinv(" ", fields);
      astro_lines_error(lines, error, "found \"%s\", %s", found, wrong);
      return NULL;
    }
  }
  return sky_new(sources, kind, TRUE);
}

/* The text is neither a file nor a list. */
static gboolean refuse_text(const char *text, AstroSourceKind kind, GError **error)
{
  g_autofree char *moving = astro_moving_tell(text);
  if (moving)
    return astro_fail(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE, "%s \"%s\": %s", lists[kind],
                      text, moving);
  return astro_fail(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_FILE,
                    "%s \"%s\" is neither a file nor a list l,m,flux;l,m,flux", lists[kind], text);
}

AstroSky *astro_sky_new_pulses(const char *text, AstroSourceKind kind, GError **error)
{
  AstroLines lines;
  if (!g_file_test(text, G_FILE_TEST_IS_REGULAR)) {
    if (*text && g_file_test(text, G_FILE_TEST_EXISTS)) {
      g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_FILE,
                  "%s \"%s\" is not a regular file, expected one: several elements may read it, "
                  "and each of them at every start",
                  lists[kind], text);
      return NULL;
    }
    if (*text && !strchr(text, ',') && !refuse_text(text, kind, error))
      return NULL;
    return astro_sky_from_inline(text, kind, error);
  }
  if (!astro_lines_open(&lines, text, error))
    return NULL;
  AstroSky *sky = astro_sky_from_lines(&lines, kind, error);
  astro_lines_clear(&lines);
  return sky;
}

AstroSky *astro_sky_new(const char *text, GError **error)
{
  return astro_sky_new_pulses(text, ASTRO_SOURCE_STEADY, error);
}

gboolean astro_sky_resolve(AstroSky *sky, const AstroObservation *observation, GError **error)
{
  for (guint i = 0; i < sky->n; i++) {
    AstroSource *source = &sky->sources[i];
    if (!sky->is_celestial) {
      astro_direction_from_lmn(observation, source->lmn, &source->ra, &source->dec);
      continue;
    }
    astro_lmn_from_direction(observation, source->ra, source->dec, source->lmn);
    if (!(source->lmn[2] > 0)) {
      g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
                  "%s: source %u (ra %g, dec %g degrees) is %.1f degrees from the phase "
                  "centre, expected less than 90: set phase-centre closer to it, or another sky",
                  source->list, source->number, source->ra / ASTRO_DEGREE,
                  source->dec / ASTRO_DEGREE, acos(CLAMP(source->lmn[2], -1, 1)) / ASTRO_DEGREE);
      return FALSE;
    }
  }
  return TRUE;
}

char *astro_sky_tell_outside(const AstroSky *sky, double frequency, double bandwidth)
{
  const double half = bandwidth / 2;
  const AstroSource *first = NULL;
  guint lines = 0;
  double centre = 0;
  for (guint i = 0; i < sky->n; i++)
    for (guint k = 0; k < sky->sources[i].n_lines; k++)
      if (fabs(sky->sources[i].lines[k].frequency - frequency) > half && lines++ == 0) {
        first = &sky->sources[i];
        centre = first->lines[k].frequency;
      }
  if (!first)
    return NULL;
  g_autofree char *others = lines > 1 ? g_strdup_printf(" (and %u more)", lines - 1) : g_strdup("");
  return g_strdup_printf("%s: the line of source %u at %.15g Hz%s is outside of the band from "
                         "%.15g to %.15g Hz: at most its wings are seen",
                         first->list, first->number, centre, others, frequency - half,
                         frequency + half);
}

gboolean astro_sky_check_band(double frequency, double bandwidth, GError **error)
{
  return (frequency > 0 && frequency >= 0.5 * bandwidth) ||
         astro_fail(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
                    "the band must not begin below 0 Hz: a bandwidth of %.15g Hz around a "
                    "frequency of %.15g Hz, expected a bandwidth of at most %.15g Hz or a "
                    "frequency of at least %.15g Hz",
                    bandwidth, frequency, 2 * frequency, 0.5 * bandwidth);
}
