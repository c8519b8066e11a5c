/* Designs the filters of coherent dedispersion. */
#include "config.h"
#include "core/dedisperse/check.h"
#include "core/dedisperse/coherent.h"

#include <fftw3.h>
#include <math.h>

#include "core/lib/fft/planner.h"
#include "core/lib/sky/dispersion.h"

#define LEAST_LENGTH 1024
#define MOST_TAPS (1 << 24)
#define TAPS_TO_LENGTH 4 /* a transform is at least so many times longer than the filter */

static double channel_frequency(const AstroDedisperseConfig *config, guint channel)
{
  return astro_channel_frequency(config->frequency, config->bandwidth, config->channels, channel);
}

/* Delay in steps against the centre of the band. */
static double delay_at(const AstroDedisperseConfig *config, double frequency)
{
  return config->rate * astro_dispersion_delay(config->dms[0], config->frequency, frequency);
}

static guint64 power_of_two(guint64 least)
{
  guint64 n = 1;
  while (n < least)
    n *= 2;
  return n;
}

/* ---- what is refused ---- */

static gboolean check_settings(const AstroDedisperseConfig *config, GError **error)
{
  if (config->n_dms != 1)
    return astro_backend_refuse(error,
                                "%u dispersion measures, expected one for voltages and spectra: "
                                "their dispersion is taken out coherently; power (astropower) may "
                                "have many",
                                config->n_dms);
  if (!(config->dms[0] >= 0))
    return astro_backend_refuse(error, "a negative dispersion measure");
  if (config->from != ASTRO_FORMAT_CI4 && config->from != ASTRO_FORMAT_CI8 &&
      config->from != ASTRO_FORMAT_CI16LE && config->from != ASTRO_FORMAT_CF16LE &&
      config->from != ASTRO_FORMAT_CF32LE)
    return astro_backend_refuse(error,
                                "samples of format %s, expected CI4, CI8, CI16LE, CF16LE or "
                                "CF32LE: real voltages become complex in astrochannelizer",
                                astro_format_name(config->from));
  if (!(config->rate > 0 && config->frequency > 0 && config->frequency < 1e18))
    return astro_backend_refuse(
        error,
        "a rate of %g samples a second at %g Hz, expected both in the caps: "
        "phases follow from them",
        config->rate, config->frequency);
  return TRUE;
}

static gboolean check_band(const AstroDedisperseConfig *config, GError **error)
{
  const double lowest = channel_frequency(config, 0) - config->rate / 2;
  if (config->channels > 1 && !(config->bandwidth > 0))
    return astro_backend_refuse(error,
                                "caps have no bandwidth, and the frequencies of %u channels "
                                "follow from it",
                                config->channels);
  if (!(lowest > 0))
    return astro_backend_refuse(error,
                                "the band begins at %g Hz (frequency=%.10g, rate=%.10g), expected "
                                "frequencies on the sky, above 0",
                                lowest, config->frequency, config->rate);
  const double taps = delay_at(config, lowest) - delay_at(config, lowest + config->rate);
  return taps <= MOST_TAPS ||
         astro_backend_refuse(
             error,
             "a dispersion measure of %.10g pc/cm^3 smears the lowest channel over "
             "%.3g samples (%.3g s), expected at most %d: split the band further "
             "(astrochannelizer)",
             config->dms[0], taps, taps / config->rate, MOST_TAPS);
}

static double bytes_of(const AstroDedisperseFilter *filter, const AstroDedisperseConfig *config)
{
  const double rows = (double)config->stations * config->pols * config->channels,
               steps = 2.0 * (double)(filter->reach + filter->hop + ASTRO_DEDISPERSE_PIECE);
  return rows * steps * sizeof(float complex) +
         (double)config->channels * (double)filter->length * sizeof(float complex);
}

static gboolean check_memory(const AstroDedisperseFilter *filter,
                             const AstroDedisperseConfig *config, GError **error)
{
  const double bytes = bytes_of(filter, config), had = (double)astro_host_memory();
  return bytes <= had ||
         astro_backend_no_memory(
             error,
             "a dispersion measure of %.10g pc/cm^3 spreads a sample over %" G_GUINT64_FORMAT
             " steps of %u channels, which have to be kept: that "
             "needs %.0f bytes, and this machine has %.0f",
             config->dms[0], filter->reach + 1, config->channels, bytes, had);
}

/* ---- shapes ---- */

/* The span of the delays that are left in a channel, of all channels. */
static void find_span(AstroDedisperseFilter *filter, const AstroDedisperseConfig *config,
                      double *first, double *last)
{
  *first = *last = 0;
  for (guint c = 0; c < config->channels; c++) {
    const double f = channel_frequency(config, c), half = config->rate / 2;
    filter->shifts[c] = (gint64)rint(delay_at(config, f));
    *first = MIN(*first, delay_at(config, f + half) - (double)filter->shifts[c]);
    *last = MAX(*last, delay_at(config, f - half) - (double)filter->shifts[c]);
  }
}

/* Beyond the delays of its edges a filter rings, the longer the more taps it has. */
static guint64 margin_of(double span)
{
  return (guint64)ceil(32 + 2 * sqrt(span) + span / 16);
}

gboolean astro_dedisperse_filter_init(AstroDedisperseFilter *filter,
                                      const AstroDedisperseConfig *config, GError **error)
{
  double first, last;
  *filter = (AstroDedisperseFilter){ .channels = config->channels };
  if (!check_settings(config, error) || !check_band(config, error))
    return FALSE;
  filter->shifts = g_new(gint64, config->channels);
  find_span(filter, config, &first, &last);
  filter->margin = margin_of(last - first);
  filter->lead = (guint64)ceil(-first) + filter->margin;
  filter->taps = (guint)(filter->lead + (guint64)ceil(last) + filter->margin + 1);
  filter->least = filter->shifts[config->channels - 1];
  filter->reach = filter->taps - 1 + (guint64)(filter->shifts[0] - filter->least);
  filter->length = power_of_two(MAX(LEAST_LENGTH, TAPS_TO_LENGTH * (guint64)filter->taps));
  filter->hop = filter->length - filter->taps + 1;
  if (check_memory(filter, config, error))
    return TRUE;
  astro_dedisperse_filter_clear(filter);
  return FALSE;
}

void astro_dedisperse_filter_clear(AstroDedisperseFilter *filter)
{
  g_clear_pointer(&filter->shifts, g_free);
}

guint64 astro_dedisperse_filter_first(const AstroDedisperseFilter *filter)
{
  return (guint64)((gint64)filter->lead - filter->least);
}

static guint64 whole_hops(const AstroDedisperseFilter *filter, guint64 steps)
{
  return steps > filter->reach ? (steps - filter->reach) / filter->hop * filter->hop : 0;
}

guint64 astro_dedisperse_filter_done(const AstroDedisperseFilter *filter,
                                     const AstroDedisperseArguments *arguments)
{
  return whole_hops(filter, arguments->before);
}

guint64 astro_dedisperse_filter_ready(const AstroDedisperseFilter *filter,
                                      const AstroDedisperseArguments *arguments)
{
  const guint64 all = arguments->before + arguments->steps,
                last = all - (arguments->end ? arguments->trail : 0),
                done = whole_hops(filter, arguments->before);
  if (!arguments->end)
    return whole_hops(filter, all) - done;
  const guint64 most = last > filter->reach ? last - filter->reach : 0;
  return most > done ? most - done : 0;
}

/* ---- taps ---- */

/* Falls from 1 to 0 over the margin at either end. */
static double taper_at(guint64 k, const AstroDedisperseFilter *filter)
{
  const guint64 from_end = MIN(k, filter->taps - 1 - k) + 1;
  const double x = (double)from_end / (double)(filter->margin + 1);
  return x >= 1 ? 1 : 0.5 - 0.5 * cos(G_PI * x);
}

/* The inverse transform of the phases, on a grid of frequencies that is finer than the filter
 * needs. */
static gboolean transform(fftw_complex *grid, guint64 n)
{
  astro_fft_planner_lock();
  fftw_plan plan = fftw_plan_dft_1d((int)n, grid, grid, FFTW_BACKWARD, FFTW_ESTIMATE);
  astro_fft_planner_unlock();
  if (!plan)
    return FALSE;
  fftw_execute(plan);
  astro_fft_planner_lock();
  fftw_destroy_plan(plan);
  astro_fft_planner_unlock();
  return TRUE;
}

double complex *astro_dedisperse_filter_taps(const AstroDedisperseFilter *filter,
                                             const AstroDedisperseConfig *config, guint channel)
{
  const guint64 n = power_of_two(8 * (guint64)filter->taps);
  const double f = channel_frequency(config, channel);
  double complex *grid = fftw_malloc(n * sizeof *grid),
                 *taps = fftw_malloc(filter->taps * sizeof *taps);
  for (guint64 i = 0; grid && i < n; i++) {
    const double turn = (double)i / (double)n - (i < n / 2 ? 0 : 1); /* of a sample */
    const double phase =
        astro_dispersion_turns(config->dms[0], config->frequency, f + turn * config->rate) +
        turn * (double)filter->shifts[channel];
    grid[i] = cexp(-2 * G_PI * I * (phase - rint(phase))) / (double)n;
  }
  if (!grid || !taps || !transform(grid, n)) {
    fftw_free(taps);
    fftw_free(grid);
    return NULL;
  }
  /* A tap k multiplies the sample k - lead after the value's, so that it is the response at the
   * opposite time. */
  for (guint64 k = 0; k < filter->taps; k++)
    taps[k] = grid[(n + filter->lead - k) % n] * taper_at(k, filter);
  fftw_free(grid);
  return taps;
}

/* ---- checks ---- */

gboolean astro_dedisperse_coherent_shape(gconstpointer configuration, GError **error)
{
  AstroDedisperseFilter filter;
  if (!astro_dedisperse_check_layout(configuration, error) ||
      !astro_dedisperse_filter_init(&filter, configuration, error))
    return FALSE;
  astro_dedisperse_filter_clear(&filter);
  return TRUE;
}

gboolean astro_dedisperse_coherent_check(const AstroDedisperseConfig *config,
                                         const AstroDedisperseFilter *filter, const AstroBlock *in,
                                         guint n_in, const AstroBlock *out, guint n_out,
                                         const AstroDedisperseArguments *arguments,
                                         const AstroResult *result, GError **error)
{
  const gsize samples = (gsize)config->stations * config->pols * config->channels,
              step = samples * astro_format_info(config->from)->bytes,
              made = samples * sizeof(float complex);
  const guint64 ready = astro_dedisperse_filter_ready(filter, arguments);
  if (n_in <= 1 && (n_in == 0 || in[0].bytes >= arguments->steps * step) && n_out <= 1 &&
      (ready == 0 || (n_out == 1 && result && result->counts && out[0].bytes >= ready * made)))
    return TRUE;
  return astro_backend_refuse(error,
                              "dedispersion: blocks do not fit %" G_GUINT64_FORMAT
                              " steps of %" G_GSIZE_FORMAT " bytes and %" G_GUINT64_FORMAT
                              " of %" G_GSIZE_FORMAT,
                              arguments->steps, step, ready, made);
}
