/* Stokes parameters of sources. */
#include "config.h"
#include "core/lib/sky/source.h"

#include "core/kit/lines.h"
#include "core/stream/uvw.h"

#include <math.h>
#include <string.h>

#define MAX_ROTATION_MEASURE 1e9 /* rad/m^2; the largest known are near 1e6 */
#define MAX_LINES 1000
#define ROUNDING 1e-12 /* by which polarised flux may exceed the flux, as 0.6 and 0.8 of 1 do */

void astro_source_clear(AstroSource *source)
{
  g_clear_pointer(&source->lines, g_free);
  g_clear_pointer(&source->pulse, g_free);
  source->n_lines = 0;
}

/* ---- words ---- */

static char *read_line(AstroSource *source, const char *text)
{
  AstroSpectralLine line;
  g_auto(GStrv) parts = g_strsplit(text, ":", -1);
  if (g_strv_length(parts) != 3 || !astro_number_parse(parts[0], &line.frequency) ||
      !astro_number_parse(parts[1], &line.width) || !astro_number_parse(parts[2], &line.flux))
    return g_strdup_printf("line=%s: expected line=CENTRE:WIDTH:FLUX, three numbers in Hz, Hz "
                           "(full width at half maximum) and Jy",
                           text);
  if (!(line.frequency > 0) || !(line.width > 0))
    return g_strdup_printf("line=%s: expected a centre and a width above 0 Hz", text);
  if (source->n_lines == MAX_LINES)
    return g_strdup_printf("expected at most %d lines", MAX_LINES);
  source->lines = g_renew(AstroSpectralLine, source->lines, source->n_lines + 1);
  source->lines[source->n_lines++] = line;
  return NULL;
}

static char *read_number(double *into, gboolean *is_told, const char *word, const char *text)
{
  if (*is_told)
    return g_strdup_printf("\"%s\" comes a second time, expected it once", word);
  *is_told = TRUE;
  return astro_number_parse(text, into)
             ? NULL
             : g_strdup_printf("\"%s\": expected a number after '='", word);
}

static char *read_word(AstroSource *source, const char *word, gboolean told[4], guint *pulse_told)
{
  static const char *const names[] = { "q", "u", "v", "rm" };
  double *const members[] = { &source->quv[0], &source->quv[1], &source->quv[2],
                              &source->rotation_measure };
  const char *equals = strchr(word, '=');
  char *wrong;
  g_autofree char *name = equals ? g_strndup(word, (gsize)(equals - word)) : NULL;
  for (guint i = 0; name && i < G_N_ELEMENTS(names); i++)
    if (!g_ascii_strcasecmp(name, names[i]))
      return read_number(members[i], &told[i], word, equals + 1);
  if (name && !g_ascii_strcasecmp(name, "line"))
    return read_line(source, equals + 1);
  if (source->pulse && astro_pulse_read(source->pulse, word, pulse_told, &wrong))
    return wrong;
  return g_strdup_printf(
      "\"%s\" is not known, expected %s" ASTRO_SOURCE_WORDS, word,
      astro_pulse_words(source->pulse ? source->pulse->kind : ASTRO_SOURCE_STEADY));
}

static double polarised_flux(const AstroSource *source)
{
  return sqrt(source->quv[0] * source->quv[0] + source->quv[1] * source->quv[1] +
              source->quv[2] * source->quv[2]);
}

static char *check(const AstroSource *source)
{
  const double polarised = polarised_flux(source);
  if (!(polarised <= source->flux * (1 + ROUNDING)))
    return g_strdup_printf("q, u and v together are %g Jy, more than the flux of %g Jy: expected "
                           "q*q + u*u + v*v to be at most flux*flux",
                           polarised, source->flux);
  if (fabs(source->rotation_measure) > MAX_ROTATION_MEASURE)
    return g_strdup_printf("the rotation measure must be within %g rad/m^2", MAX_ROTATION_MEASURE);
  for (guint i = 0; i < source->n_lines; i++)
    if (-source->lines[i].flux > source->flux)
      return g_strdup_printf("the line at %.15g Hz absorbs %g Jy, more than the flux of %g Jy: "
                             "expected at most that",
                             source->lines[i].frequency, -source->lines[i].flux, source->flux);
  return NULL;
}

char *astro_source_read(AstroSource *source, AstroSourceKind kind, char *const *words)
{
  gboolean told[4] = { FALSE };
  guint pulse_told = 0;
  char *wrong = NULL;
  if (kind != ASTRO_SOURCE_STEADY) {
    source->pulse = g_new0(AstroPulse, 1);
    source->pulse->kind = kind;
  }
  for (; *words && !wrong; words++)
    wrong = read_word(source, *words, told, &pulse_told);
  if (!wrong && source->pulse)
    wrong = g_strdup(astro_pulse_check(source->pulse, pulse_told));
  return wrong ? wrong : check(source);
}

/* ---- Stokes parameters ---- */

gboolean astro_source_is_polarised(const AstroSource *source)
{
  return source->quv[0] != 0 || source->quv[1] != 0 || source->quv[2] != 0;
}

gboolean astro_source_is_plain(const AstroSource *source)
{
  return source->n_lines == 0 && !source->pulse && !astro_source_is_polarised(source);
}

/* A Gaussian of height 1, or its mean over a width. */
static double profile(const AstroSpectralLine *line, double frequency, double width)
{
  const double sigma = line->width / sqrt(8 * G_LN2), x = frequency - line->frequency;
  if (!(width > 0))
    return exp(-0.5 * (x / sigma) * (x / sigma));
  const double scale = 1 / (G_SQRT2 * sigma);
  return sigma * sqrt(G_PI / 2) / width *
         (erf((x + width / 2) * scale) - erf((x - width / 2) * scale));
}

void astro_source_stokes(const AstroSource *source, double reference, double frequency,
                         double width, double stokes[4])
{
  double continuum = 1, emission = 0;
  if (source->spectral_index != 0)
    continuum = exp(source->spectral_index * log(frequency / reference));
  for (guint i = 0; i < source->n_lines; i++) {
    const AstroSpectralLine *line = &source->lines[i];
    const double height = line->flux * profile(line, frequency, width);
    if (line->flux > 0)
      emission += height;
    else if (source->flux > 0)
      continuum *= 1 + height / source->flux;
  }
  const double wavelength = ASTRO_LIGHT_SPEED / frequency;
  const double angle = 2 * source->rotation_measure * wavelength * wavelength;
  const double *quv = source->quv;
  stokes[0] = source->flux * continuum + emission;
  stokes[1] = continuum * (quv[0] * cos(angle) - quv[1] * sin(angle));
  stokes[2] = continuum * (quv[0] * sin(angle) + quv[1] * cos(angle));
  stokes[3] = continuum * quv[2];
}

/* The matrix has the eigenvalues I + P and I - P, and its root has their roots. */
void astro_stokes_root(const double stokes[4], double root[4])
{
  const double polarised =
      sqrt(stokes[1] * stokes[1] + stokes[2] * stokes[2] + stokes[3] * stokes[3]);
  const double more = sqrt(stokes[0] + polarised), less = sqrt(MAX(stokes[0] - polarised, 0));
  root[0] = 0.5 * (more + less);
  for (guint i = 1; i < 4; i++)
    root[i] = polarised > 0 ? 0.5 * (more - less) * stokes[i] / polarised : 0;
}

/* XX = I + Q, XY = U + iV; RR = I + V, RL = Q + iU. */
void astro_stokes_order(const char *basis, guint order[3])
{
  static const guint linear[3] = { 1, 2, 3 }, circular[3] = { 3, 1, 2 };
  memcpy(order, g_str_equal(basis, "circular") ? circular : linear, sizeof linear);
}
