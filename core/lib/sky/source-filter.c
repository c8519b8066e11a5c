/* Filters of sources that are not plain. */
#include "config.h"
#include "core/lib/sky/source-filter.h"

#include "core/kit/fail.h"
#include "core/kit/lines.h"
#include "core/lib/sky/dispersion.h"
#include "core/stream/uvw.h"

#include <math.h>

#define PULSE_SAMPLES 2
#define WIDTHS 4.0 /* inverse widths of a line in which its signal has died away */

typedef struct {
  const AstroSource *source;
  double reference;
  guint order[3];
} Response;

static void respond(gconstpointer data, double frequency, double components[4])
{
  const Response *response = data;
  double stokes[4], root[4];
  astro_source_stokes(response->source, response->reference, frequency, 0, stokes);
  astro_stokes_root(stokes, root);
  components[0] = root[0];
  for (guint i = 0; i < 3; i++)
    components[i + 1] = root[response->order[i]];
}

/* A single receiver measures the first diagonal element of the coherency. */
static void respond_single(gconstpointer data, double frequency, double components[4])
{
  const Response *response = data;
  double stokes[4];
  astro_source_stokes(response->source, response->reference, frequency, 0, stokes);
  components[0] = sqrt(MAX(stokes[0] + stokes[response->order[0]], 0));
}

/* How much later one circular polarisation comes than the other at the lower edge of the band. */
static double rotation_delay(const AstroSource *source, const AstroSourceBand *band)
{
  const double lowest = band->frequency - band->bandwidth / 2;
  const double wavelength = ASTRO_LIGHT_SPEED / MAX(lowest, 1);
  return 2 * fabs(source->rotation_measure) * wavelength * wavelength / (G_PI * MAX(lowest, 1));
}

static gboolean check_lines(const AstroSource *source, const AstroSourceBand *band, double *spread,
                            GError **error)
{
  const double least = WIDTHS * band->rate / ASTRO_FILTER_MAX_SPREAD;
  for (guint i = 0; i < source->n_lines; i++) {
    const AstroSpectralLine *line = &source->lines[i];
    if (line->width < least)
      return astro_fail(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
                        "%s: source %u has a line of %.15g Hz width at %.15g Hz, expected at least "
                        "%.4g Hz in a band of %.15g Hz: use a narrower band or a wider line",
                        source->list, source->number, line->width, line->frequency, least,
                        band->bandwidth);
    *spread = MAX(*spread, WIDTHS / line->width);
  }
  return TRUE;
}

static gboolean find_spread(const AstroSource *source, const AstroSourceBand *band, double *spread,
                            GError **error)
{
  const double delay = astro_source_is_polarised(source) ? rotation_delay(source, band) : 0;
  const double most = ASTRO_FILTER_MAX_SPREAD / band->rate;
  *spread = 0;
  if (!check_lines(source, band, spread, error))
    return FALSE;
  *spread += delay;
  return *spread <= most ||
         astro_fail(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
                    "%s: the rotation measure of source %u, %g rad/m^2, turns its polarisation too "
                    "fast over this band: expected at most %.4g rad/m^2, a narrower band or a "
                    "higher frequency",
                    source->list, source->number, source->rotation_measure,
                    fabs(source->rotation_measure) * MAX(most - (*spread - delay), 0) / delay);
}

/* ---- pulses ---- */

static double disperse(gconstpointer data, double frequency)
{
  const Response *response = data;
  return astro_dispersion_turns(response->source->pulse->dm, response->reference, frequency);
}

/* The longest delay is at the lower edge of the band. */
static gboolean check_pulse(const AstroSource *source, const AstroSourceBand *band, double *delay,
                            GError **error)
{
  const AstroPulse *pulse = source->pulse;
  const double lowest = MAX(band->frequency - band->bandwidth / 2, band->frequency / 1000);
  const double most = ASTRO_FILTER_MAX_DELAY / band->rate;
  if (astro_pulse_width(pulse) * band->rate < PULSE_SAMPLES)
    return astro_fail(
        error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
        "%s: the pulses of source %u are %g s wide, expected at least %g s, %d samples "
        "of this band",
        source->list, source->number, astro_pulse_width(pulse), PULSE_SAMPLES / band->rate,
        PULSE_SAMPLES);
  *delay = astro_dispersion_delay(pulse->dm, band->frequency, lowest);
  return *delay <= most ||
         astro_fail(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
                    "%s: the dispersion of source %u delays the lower edge of the band by %g s, "
                    "expected at most %g s at this bandwidth, a dispersion measure of %.4g: use a "
                    "narrower band or a higher frequency",
                    source->list, source->number, *delay, most, pulse->dm * most / *delay);
}

AstroFilter *astro_source_filter_new(const AstroSource *source, const AstroSourceBand *band,
                                     GError **error)
{
  double spread, delay = 0;
  if (!find_spread(source, band, &spread, error) ||
      (source->pulse && !check_pulse(source, band, &delay, error)))
    return NULL;
  const gboolean mixes = band->pols == 2 && astro_source_is_polarised(source);
  Response response = { source, band->frequency };
  astro_stokes_order(band->basis, response.order);
  const AstroFilterConfig config = {
    .rate = band->rate,
    .frequency = band->frequency,
    .part = band->part,
    .pols = band->pols,
    .mixes = mixes,
    .spread = spread,
    .response = band->pols == 1 ? respond_single : respond,
    .turns = source->pulse && source->pulse->dm > 0 ? disperse : NULL,
    .delay = delay,
    .data = &response,
  };
  AstroFilter *filter = astro_filter_new(&config);
  if (!filter)
    astro_fail(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
               "%s: no memory for the signal of source %u: use fewer sources with polarisation, "
               "lines or pulses, or less dispersion",
               source->list, source->number);
  return filter;
}
