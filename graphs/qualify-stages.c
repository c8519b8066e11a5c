/* Cases of each stage. */
#include "graphs/qualify-cases.h"

#include "core/beamform/beamform.h"
#include "core/channelizer/channelizer.h"
#include "core/convert/convert.h"
#include "core/correlator/correlator.h"
#include "core/dedisperse/dedisperse.h"
#include "core/fold/fold.h"
#include "core/lib/fft/fft.h"
#include "core/phaseshift/phaseshift.h"
#include "core/power/power.h"
#include "core/transpose/transpose.h"

#include <string.h>

/* ---- sizes ---- */

/* As large as most, which is larger where the work is timed. */
static guint size_up_to(AstroCaseKind kind, GRand *rand, guint most, guint timed)
{
  return kind == ASTRO_CASE_TIMED ? timed : astro_qualify_size(kind, rand, 1, most);
}

static AstroFormat pick(GRand *rand, AstroCaseKind kind, const AstroFormat *formats, guint n)
{
  return formats[kind == ASTRO_CASE_TIMED ? 0 : (guint)g_rand_int_range(rand, 0, (gint)n)];
}

static gpointer own(AstroQualifyCase *c, gpointer memory)
{
  g_ptr_array_add(c->owned, memory);
  return memory;
}

#define OWN_COPY(c, value) own((c), g_memdup2(&(value), sizeof(value)))

/* A stream of these sizes. */
static AstroStream stream_of(const char *media, AstroFormat format, const char *layout,
                             guint stations, guint beams, guint pols, guint channels)
{
  g_autofree char *text = g_strdup_printf(
      "application/x-astro-%s,format=%s,layout=%s,channels=%u,stations=%u,beams=%u,pols=%u,"
      "baselines=%u,products=%s,rate=2000000/1,frequency=1.5e8,bandwidth=1e6",
      media, astro_format_name(format), layout, channels, stations, beams, pols,
      stations * (stations + 1) / 2, pols == 1 ? "I" : "XX:YY");
  g_autoptr(GstCaps) caps = gst_caps_from_string(text);
  g_autoptr(GError) error = NULL;
  AstroStream stream;
  if (!astro_stream_from_caps(&stream, caps, &error))
    g_error("%s: %s", text, error->message);
  return stream;
}

static const char *pick_layout(GRand *rand, const char *const *layouts, guint n)
{
  return layouts[g_rand_int_range(rand, 0, (gint)n)];
}

static const AstroFormat samples[] = { ASTRO_FORMAT_CI8, ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CI4,
                                       ASTRO_FORMAT_CI16LE };

/* ---- stages ---- */

static void make_convert(AstroQualifyCase *c, AstroCaseKind kind, GRand *rand)
{
  static const AstroFormat from[] = { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI16LE,
                                      ASTRO_FORMAT_CI4 };
  static const AstroFormat to[] = { ASTRO_FORMAT_CI8, ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CI16LE,
                                    ASTRO_FORMAT_CI4, ASTRO_FORMAT_CF16LE };
  const guint n = size_up_to(kind, rand, 5000, 1 << 23);
  const AstroConvertConfig config = { pick(rand, kind, from, G_N_ELEMENTS(from)),
                                      pick(rand, kind, to, G_N_ELEMENTS(to)) };
  const AstroConvertArguments arguments = { g_rand_double_range(rand, 0.1, 50), n };
  c->config = OWN_COPY(c, config);
  c->arguments = OWN_COPY(c, arguments);
  c->from = config.from;
  c->to = config.to;
  c->samples_in = c->samples_out = n;
  c->steps = (AstroWorkSteps){ n, n, 1 };
  c->shape = g_strdup_printf("%s to %s, %u samples", astro_format_name(config.from),
                             astro_format_name(config.to), n);
}

static void make_transpose(AstroQualifyCase *c, AstroCaseKind kind, GRand *rand)
{
  AstroTransposeConfig config = { .n_axes = 3 };
  gsize n = 1;
  c->from = c->to = pick(rand, kind, samples, G_N_ELEMENTS(samples));
  config.sample_bytes = astro_format_info(c->from)->bytes;
  for (guint i = 0; i < 3; i++) {
    config.extents[i] = size_up_to(kind, rand, 40, 200);
    config.order[i] = i;
    n *= config.extents[i];
  }
  for (guint i = 2; i > 0; i--) {
    const guint j = kind == ASTRO_CASE_TIMED ? 0 : (guint)g_rand_int_range(rand, 0, (gint)i + 1);
    const guint axis = config.order[i];
    config.order[i] = config.order[j];
    config.order[j] = axis;
  }
  c->config = OWN_COPY(c, config);
  c->samples_in = c->samples_out = n;
  c->steps = (AstroWorkSteps){ 1, 1, (double)n };
  c->shape =
      g_strdup_printf("%s, %u x %u x %u to the order %u %u %u", astro_format_name(c->from),
                      (guint)config.extents[0], (guint)config.extents[1], (guint)config.extents[2],
                      config.order[0], config.order[1], config.order[2]);
}

/* Sums of integers are exact, and come out as such. */
static void make_correlator(AstroQualifyCase *c, AstroCaseKind kind, GRand *rand)
{
  static const char *const layouts[] = { "channel:time:station:pol", "time:channel:station:pol",
                                         "channel:station:pol:time" };
  const AstroFormat from = pick(rand, kind, samples, G_N_ELEMENTS(samples));
  const gboolean is_float = astro_format_info(from)->is_float;
  const guint stations = size_up_to(kind, rand, 40, 64), pols = 1 + (guint)g_rand_boolean(rand),
              channels = size_up_to(kind, rand, 6, 16), steps = size_up_to(kind, rand, 90, 1024);
  const AstroStream in = stream_of(
      "spectra", from, kind == ASTRO_CASE_TIMED ? layouts[0] : pick_layout(rand, layouts, 3),
      stations, 1, pols, channels);
  const AstroCorrelatorConfig config = { .stations = stations,
                                         .pols = pols,
                                         .channels = channels,
                                         .layout = in.layout,
                                         .from = from,
                                         .to = is_float ? ASTRO_FORMAT_CF32LE : ASTRO_FORMAT_CI32LE,
                                         .channel_step = 1,
                                         .integration = steps };
  const AstroCorrelatorArguments arguments = {
    .steps = steps, .count = steps, .begin = TRUE, .dump = TRUE
  };
  c->config = OWN_COPY(c, config);
  c->arguments = OWN_COPY(c, arguments);
  c->from = from;
  c->to = config.to;
  c->samples_in = (gsize)stations * pols * channels * steps;
  c->samples_out = astro_correlator_output_bytes(&config) / astro_format_info(config.to)->bytes;
  c->limit = is_float ? 7e-6 : 0;
  c->steps = (AstroWorkSteps){ steps, 1, (double)stations * pols * channels };
  c->shape = g_strdup_printf("%s, %u stations, %u pols, %u channels, %u steps",
                             astro_format_name(from), stations, pols, channels, steps);
}

static void make_power(AstroQualifyCase *c, AstroCaseKind kind, GRand *rand)
{
  static const char *const layouts[] = { "time:station:pol:channel", "station:pol:time:channel",
                                         "channel:station:pol:time" };
  static const char *const products[] = { "I:Q:U:V", "XX:YY", "I", "I:I-SQUARE" };
  const AstroFormat from = pick(rand, kind, samples, G_N_ELEMENTS(samples));
  const guint stations = size_up_to(kind, rand, 9, 16), channels = size_up_to(kind, rand, 50, 256),
              steps = size_up_to(kind, rand, 70, 1000);
  const AstroStream in = stream_of(
      "spectra", from, kind == ASTRO_CASE_TIMED ? layouts[0] : pick_layout(rand, layouts, 3),
      stations, 1, 2, channels);
  AstroPowerConfig config = { .stations = stations,
                              .pols = 2,
                              .channels = channels,
                              .layout = in.layout,
                              .from = from,
                              .channel_step = 1,
                              .sum_stations = g_rand_boolean(rand) };
  const AstroPowerArguments arguments = { .steps = steps, .integration = steps, .begin = TRUE };
  astro_power_products_parse(&config.products, pick_layout(rand, products, 4), NULL);
  c->config = OWN_COPY(c, config);
  c->arguments = OWN_COPY(c, arguments);
  c->from = from;
  c->to = ASTRO_FORMAT_F32LE;
  c->samples_in = (gsize)stations * 2 * channels * steps;
  c->samples_out = astro_power_output_bytes(&config) / sizeof(float);
  c->n_counts = astro_power_counts(&config);
  c->limit = astro_format_info(from)->is_float ? 2e-7 : 0;
  c->steps = (AstroWorkSteps){ steps, 1, (double)stations * 2 * channels };
  c->shape = g_strdup_printf("%s, %u stations, %u channels, %u steps, %u products%s",
                             astro_format_name(from), stations, channels, steps, config.products.n,
                             config.sum_stations ? ", summed" : "");
}

static void make_beamform(AstroQualifyCase *c, AstroCaseKind kind, GRand *rand)
{
  static const char *const layouts[][2] = {
    { "channel:station:pol:time", "channel:beam:pol:time" },
    { "time:channel:station:pol", "time:channel:beam:pol" },
  };
  const guint order = kind == ASTRO_CASE_TIMED ? 0 : (guint)g_rand_int_range(rand, 0, 2);
  const AstroFormat from = pick(rand, kind, samples, G_N_ELEMENTS(samples));
  const guint stations = size_up_to(kind, rand, 30, 64), beams = size_up_to(kind, rand, 12, 32),
              channels = size_up_to(kind, rand, 5, 8), steps = size_up_to(kind, rand, 60, 1024);
  const AstroBeamformConfig config = {
    stream_of("spectra", from, layouts[order][0], stations, 1, 2, channels),
    stream_of("spectra", ASTRO_FORMAT_CF32LE, layouts[order][1], 1, beams, 2, channels)
  };
  guint *index = own(c, g_new(guint, stations));
  double *seconds = own(c, g_new(double, 3 * stations));
  double *offsets = own(c, g_new(double, 3 * beams));
  for (guint i = 0; i < stations; i++)
    index[i] = i;
  for (guint i = 0; i < 3 * stations; i++)
    seconds[i] = g_rand_double_range(rand, -1e-6, 1e-6);
  for (guint i = 0; i < 3 * beams; i++)
    offsets[i] = g_rand_double_range(rand, -1e-2, 1e-2);
  const AstroBeamformStations taking_part = { stations, index, seconds, NULL, 1 };
  const AstroBeamformArguments arguments = {
    .stations = OWN_COPY(c, taking_part), .steps = steps, .interval = 1 << 20, .offsets = offsets
  };
  c->config = OWN_COPY(c, config);
  c->arguments = OWN_COPY(c, arguments);
  c->from = from;
  c->to = ASTRO_FORMAT_CF32LE;
  c->samples_in = (gsize)stations * 2 * channels * steps;
  c->samples_out = (gsize)beams * 2 * channels * steps;
  c->limit = 4e-6;
  c->steps = (AstroWorkSteps){ steps, steps, (double)stations * 2 * channels };
  c->shape = g_strdup_printf("%s, %u stations, %u beams, %u channels, %u steps",
                             astro_format_name(from), stations, beams, channels, steps);
}

static void make_channelizer(AstroQualifyCase *c, AstroCaseKind kind, GRand *rand)
{
  static const char *const layouts[] = { "time:station:pol", "station:pol:time" };
  const AstroFormat from = pick(rand, kind, samples, G_N_ELEMENTS(samples));
  const guint stations = size_up_to(kind, rand, 4, 16), taps = size_up_to(kind, rand, 6, 8),
              channels = 1 + size_up_to(kind, rand, 70, 255),
              steps = channels * (taps + size_up_to(kind, rand, 5, 100));
  const AstroChannelizerConfig config = {
    .in = stream_of("voltages", from,
                    kind == ASTRO_CASE_TIMED ? layouts[0] : pick_layout(rand, layouts, 2), stations,
                    1, 2, 1),
    .to = ASTRO_FORMAT_CF32LE,
    .channels = channels,
    .taps = taps,
    .window = ASTRO_WINDOW_AUTO,
    .beta = ASTRO_WINDOW_BETA,
    .gain = 1
  };
  const AstroChannelizerArguments arguments = { .steps = steps, .restart = TRUE };
  const guint64 spectra = astro_channelizer_spectra(&config, 0, steps).count;
  c->config = OWN_COPY(c, config);
  c->arguments = OWN_COPY(c, arguments);
  c->from = from;
  c->to = ASTRO_FORMAT_CF32LE;
  c->samples_in = (gsize)stations * 2 * steps;
  c->samples_out = (gsize)(stations * 2 * channels * spectra);
  c->limit = 3e-6;
  c->steps = (AstroWorkSteps){ steps, (double)spectra, stations * 2. };
  c->shape = g_strdup_printf("%s, %u stations, %u channels, %u taps, %u steps",
                             astro_format_name(from), stations, channels, taps, steps);
}

static void make_fft(AstroQualifyCase *c, AstroCaseKind kind, GRand *rand)
{
  const guint n = size_up_to(kind, rand, 120, 1024), lines = size_up_to(kind, rand, 20, 1024);
  const AstroFftConfig config = { .from = ASTRO_FORMAT_CF32LE,
                                  .to = ASTRO_FORMAT_CF32LE,
                                  .n_axes = 2,
                                  .extents = { lines, n },
                                  .axes = { [1] = { TRUE, n / 2, n / 2 } },
                                  .inverse = g_rand_boolean(rand) };
  const guint64 frames = 1;
  c->config = OWN_COPY(c, config);
  c->arguments = OWN_COPY(c, frames);
  c->from = c->to = ASTRO_FORMAT_CF32LE;
  c->samples_in = c->samples_out = (gsize)n * lines;
  c->limit = 1e-6;
  c->steps = (AstroWorkSteps){ 1, 1, (double)n * lines };
  c->shape =
      g_strdup_printf("%u lines of %u, %s", lines, n, config.inverse ? "inverse" : "forward");
}

static void make_phaseshift(AstroQualifyCase *c, AstroCaseKind kind, GRand *rand)
{
  const guint stations = size_up_to(kind, rand, 20, 64), channels = size_up_to(kind, rand, 30, 64),
              steps = size_up_to(kind, rand, 4, 8);
  const AstroStream stream = stream_of("visibilities", ASTRO_FORMAT_CF32LE,
                                       "channel:baseline:pol:pol", stations, 1, 2, channels);
  const AstroPhaseshiftConfig config = { stream, stream };
  double *nearer = own(c, g_new(double, stations *steps));
  for (guint i = 0; i < stations * steps; i++)
    nearer[i] = g_rand_double_range(rand, -1000, 1000);
  const AstroPhaseshiftArguments arguments = { .steps = steps, .nearer = nearer };
  c->config = OWN_COPY(c, config);
  c->arguments = OWN_COPY(c, arguments);
  c->from = c->to = ASTRO_FORMAT_CF32LE;
  c->samples_in = c->samples_out = (gsize)channels * stations * (stations + 1) / 2 * 4 * steps;
  c->limit = 2e-6;
  c->steps = (AstroWorkSteps){ steps, steps, (double)c->samples_in / steps };
  c->shape = g_strdup_printf("%u stations, %u channels, %u steps", stations, channels, steps);
}

static AstroStream power_of(guint stations, guint channels)
{
  return stream_of("power", ASTRO_FORMAT_F32LE, "time:station:pol:channel", stations, 1, 2,
                   channels);
}

static void make_dedisperse(AstroQualifyCase *c, AstroCaseKind kind, GRand *rand)
{
  const guint channels = size_up_to(kind, rand, 40, 128), trials = size_up_to(kind, rand, 15, 64),
              steps = size_up_to(kind, rand, 300, 4096);
  const AstroStream in = power_of(1, channels);
  double *dms = own(c, g_new(double, trials));
  for (guint i = 0; i < trials; i++)
    dms[i] = 1e-3 * (i + 1);
  const AstroDedisperseConfig config = { .stations = 1,
                                         .pols = 2,
                                         .channels = channels,
                                         .layout = in.layout,
                                         .frequency = in.frequency,
                                         .bandwidth = in.bandwidth,
                                         .rate = 2e6,
                                         .n_dms = trials,
                                         .dms = dms };
  const AstroDedisperseArguments arguments = { .steps = steps, .end = TRUE, .full = 1 };
  const guint64 ready = astro_dedisperse_ready(astro_dedisperse_reach(&config), &arguments);
  c->config = OWN_COPY(c, config);
  c->arguments = OWN_COPY(c, arguments);
  c->from = c->to = ASTRO_FORMAT_F32LE;
  c->samples_in = (gsize)2 * channels * steps;
  c->samples_out = (gsize)(ready * trials * 2);
  c->n_counts = (gsize)(ready * trials);
  c->full = channels;
  c->limit = 2e-6;
  c->steps = (AstroWorkSteps){ steps, (double)ready, 2. * channels };
  c->shape = g_strdup_printf("%u channels, %u trials, %u steps", channels, trials, steps);
}

static void make_fold(AstroQualifyCase *c, AstroCaseKind kind, GRand *rand)
{
  const guint stations = size_up_to(kind, rand, 4, 4), channels = size_up_to(kind, rand, 30, 256),
              steps = size_up_to(kind, rand, 400, 4096);
  const AstroStream in = power_of(stations, channels);
  const AstroFoldConfig config = { .stations = stations,
                                   .pols = 2,
                                   .channels = channels,
                                   .layout = in.layout,
                                   .bins = 2 + size_up_to(kind, rand, 60, 254) };
  guint32 *phases = own(c, g_new(guint32, steps)), *lags = own(c, g_new(guint32, channels));
  for (guint i = 0; i < steps; i++)
    phases[i] = i * 91625968u;
  for (guint i = 0; i < channels; i++)
    lags[i] = g_rand_int(rand);
  const AstroFoldArguments arguments = {
    .steps = steps, .to = steps, .phases = phases, .lags = lags, .begin = TRUE, .end = TRUE
  };
  c->config = OWN_COPY(c, config);
  c->arguments = OWN_COPY(c, arguments);
  c->from = c->to = ASTRO_FORMAT_F32LE;
  c->samples_in = (gsize)stations * 2 * channels * steps;
  c->samples_out = astro_fold_output_bytes(&config) / sizeof(float);
  c->n_counts = astro_fold_counts(&config);
  c->limit = 1e-6;
  c->steps = (AstroWorkSteps){ steps, 1, (double)stations * 2 * channels };
  c->shape = g_strdup_printf("%u stations, %u channels, %u bins, %u steps", stations, channels,
                             config.bins, steps);
}

const AstroQualifyStage astro_qualify_stages[] = {
  { "convert", astro_convert_backends, astro_convert_work, make_convert },
  { "transpose", astro_transpose_backends, astro_work_none, make_transpose },
  { "channelizer", astro_channelizer_backends, astro_channelizer_work, make_channelizer },
  { "correlator", astro_correlator_backends, astro_correlator_work, make_correlator },
  { "beamform", astro_beamform_backends, astro_beamform_work, make_beamform },
  { "power", astro_power_backends, astro_power_work, make_power },
  { "dedisperse", astro_dedisperse_backends, astro_dedisperse_work, make_dedisperse },
  { "fold", astro_fold_backends, astro_fold_work, make_fold },
  { "phaseshift", astro_phaseshift_backends, astro_phaseshift_work, make_phaseshift },
  { "fft", astro_fft_backends, astro_fft_work, make_fft },
  { NULL },
};
