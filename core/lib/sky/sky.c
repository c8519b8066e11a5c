/* Reads skies of point sources from lists and files. */
#include "config.h"
#include "core/lib/sky/sky.h"

#include "core/kit/fail.h"
#include "core/kit/angle.h"
#include "core/stream/uvw.h"
#include "core/kit/units.h"

#include <math.h>
#include <string.h>

static AstroSky *sky_new(GArray *sources, gboolean is_celestial)
{
  AstroSky *sky = g_new0(AstroSky, 1);
  sky->n = sources->len;
  sky->sources = g_memdup2(sources->data, sources->len * sizeof(AstroSource));
  sky->is_celestial = is_celestial;
  return sky;
}

void astro_sky_free(AstroSky *sky)
{
  g_free(sky->sources);
  g_free(sky);
}

/* NULL, or a description of the error. */
static const char *read_inline_source(char **fields, AstroSource *source)
{
  if (g_strv_length(fields) != 3 || !astro_number_parse(g_strstrip(fields[0]), &source->lmn[0]) ||
      !astro_number_parse(g_strstrip(fields[1]), &source->lmn[1]) ||
      !astro_number_parse(g_strstrip(fields[2]), &source->flux))
    return "expected three numbers l,m,flux";
  double square = source->lmn[0] * source->lmn[0] + source->lmn[1] * source->lmn[1];
  if (!(square < 1))
    return "l and m are direction cosines: l*l + m*m must be below 1";
  if (source->flux < 0)
    return "flux must be at least 0 Jy";
  source->lmn[2] = sqrt(1 - square);
  return NULL;
}

AstroSky *astro_sky_from_inline(const char *text, GError **error)
{
  g_autoptr(GArray) sources = g_array_new(FALSE, TRUE, sizeof(AstroSource));
  g_auto(GStrv) items = g_strsplit(text, ";", -1);
  for (guint i = 0; items[i]; i++) {
    if (!*g_strstrip(items[i]))
      continue;
    g_auto(GStrv) fields = g_strsplit(items[i], ",", -1);
    AstroSource source = { 0 };
    const char *wrong = read_inline_source(fields, &source);
    if (!wrong && sources->len == ASTRO_SKY_MAX_SOURCES)
      wrong = "too many sources";
    if (wrong) {
      g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_SYNTAX, "sky: source %u is \"%s\": %s",
                  i + 1, items[i], wrong);
      return NULL;
    }
    g_array_append_val(sources, source);
  }
  return sky_new(sources, FALSE);
}

static const char *read_source(char **fields, AstroSource *source)
{
  guint n = g_strv_length(fields);
  double ra, dec;
  if (n < 3 || n > 4 || !astro_angles_parse(fields[0], fields[1], &ra, &dec) ||
      !astro_number_parse(fields[2], &source->flux) ||
      (n == 4 && !astro_number_parse(fields[3], &source->spectral_index)))
    return "expected numbers: ra dec flux [spectral-index], ra and dec " ASTRO_ANGLES_EXPECTED;
  if (fabs(ra) > 360 || fabs(dec) > 90)
    return "ra must be within 360 and dec within 90 degrees";
  if (source->flux < 0)
    return "flux must be at least 0 Jy";
  if (fabs(source->spectral_index) > 10)
    return "the spectral index must be within 10";
  source->ra = ra * ASTRO_DEGREE;
  source->dec = dec * ASTRO_DEGREE;
  return NULL;
}

AstroSky *astro_sky_from_lines(AstroLines *lines, GError **error)
{
  g_autoptr(GArray) sources = g_array_new(FALSE, TRUE, sizeof(AstroSource));
  char **read;
  while ((read = astro_lines_next(lines))) {
    g_auto(GStrv) fields = read;
    AstroSource source = { 0 };
    const char *wrong = read_source(fields, &source);
    if (!wrong && sources->len == ASTRO_SKY_MAX_SOURCES)
      wrong = "too many sources";
    if (wrong) {
      g_autofree char *found = g_strjoinv(" ", fields);
      astro_lines_error(lines, error, "found \"%s\", %s", found, wrong);
      return NULL;
    }
    g_array_append_val(sources, source);
  }
  return sky_new(sources, TRUE);
}

AstroSky *astro_sky_new(const char *text, GError **error)
{
  AstroLines lines;
  if (!g_file_test(text, G_FILE_TEST_IS_REGULAR)) {
    if (*text && g_file_test(text, G_FILE_TEST_EXISTS)) {
      g_set_error(
          error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_FILE,
          "sky \"%s\" is not a regular file, expected one: several elements may read it, and "
          "each of them at every start",
          text);
      return NULL;
    }
    if (*text && !strchr(text, ',')) {
      g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_FILE,
                  "sky \"%s\" is neither a file nor a list l,m,flux;l,m,flux", text);
      return NULL;
    }
    return astro_sky_from_inline(text, error);
  }
  if (!astro_lines_open(&lines, text, error))
    return NULL;
  AstroSky *sky = astro_sky_from_lines(&lines, error);
  astro_lines_clear(&lines);
  return sky;
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
                  "sky: source %u (ra %g, dec %g degrees) is %.1f degrees from the phase "
                  "centre, expected less than 90: set phase-centre closer to it, or another sky",
                  i + 1, source->ra / ASTRO_DEGREE, source->dec / ASTRO_DEGREE,
                  acos(CLAMP(source->lmn[2], -1, 1)) / ASTRO_DEGREE);
      return FALSE;
    }
  }
  return TRUE;
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
