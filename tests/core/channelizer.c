/* The channelizer: both backends against formulas of the tests' own, all variants against the
 * reference, and the filter against what is asked of it. */
#include "core/channelizer/channelizer.h"
#include "tests/core/on-device.h"
#include "tests/tests.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

static const char *const variants[] = { "avx512", "avx2", "c" };

/* The device's backend is the last, where there is one. */
static const AstroBackend *backends[] = { &astro_channelizer_cpu, &astro_channelizer_reference,
                                          NULL, NULL };

#define TURN(turns) cexp(2 * I * G_PI * ((turns)-floor(turns)))

static void assert_near(complex double found, complex double expected, double tolerance)
{
  if (!(cabs(found - expected) <= tolerance))
    g_error("found %.9g%+.9gi, expected %.9g%+.9gi to %g", creal(found), cimag(found),
            creal(expected), cimag(expected), tolerance);
}

static AstroChannelizerConfig make_config(const char *format, const char *layout, guint stations,
                                          guint pols, guint channels, guint taps)
{
  AstroChannelizerConfig config = {
    .to = ASTRO_FORMAT_CF32LE,
    .channels = channels,
    .taps = taps,
    .beta = ASTRO_WINDOW_BETA,
    .gain = 1,
  };
  g_autofree char *text =
      g_strdup_printf("application/x-astro-voltages,format=%s,layout=%s,stations=%u,pols=%u",
                      format, layout, stations, pols);
  g_autoptr(GstCaps) caps = gst_caps_from_string(text);
  GError *error = NULL;
  astro_stream_from_caps(&config.in, caps, &error);
  g_assert_no_error(error);
  return config;
}

static guint n_inputs(const AstroChannelizerConfig *config)
{
  return (guint)(astro_stream_step_bytes(&config->in) / astro_stream_sample_bytes(&config->in));
}

static gpointer create(const AstroBackend *backend, const AstroChannelizerConfig *config,
                       guint threads)
{
  AstroPlace place = { .threads = threads };
  const char *variant = NULL;
  GError *error = NULL;
  gpointer instance = backend->create(config, &place, &variant, &error);
  g_assert_no_error(error);
  g_assert_nonnull(instance);
  g_assert_nonnull(variant);
  return instance;
}

/* One call with a block of steps (in NULL: zeros); what it gives goes to out, where the block has
 * total spectra an input in all, behind those that came before. */
typedef struct {
  const AstroBackend *backend;
  const AstroChannelizerConfig *config;
  gpointer instance;
  guint64 begin, end; /* of the stretch */
  guint64 clipped;
} Run;

static AstroSpectra call(Run *run, gconstpointer in, guint64 steps, gboolean restart,
                         const AstroChannelizerLoss *losses, guint n_losses, guint8 *out,
                         guint64 total, guint64 given)
{
  const AstroChannelizerConfig *config = run->config;
  AstroChannelizerArguments arguments = {
    run->end, steps, restart, losses, n_losses, &run->clipped
  };
  gsize row = config->channels * astro_format_info(config->to)->bytes;
  guint inputs = n_inputs(config);
  GError *error = NULL;

  if (restart)
    run->begin = run->end;
  AstroSpectra before = astro_channelizer_spectra(config, run->begin, run->end);
  AstroSpectra all = astro_channelizer_spectra(config, run->begin, run->end + steps);
  AstroSpectra now = { all.first + before.count, all.count - before.count };
  gsize in_bytes = steps * astro_stream_step_bytes(&config->in);
  gsize out_bytes = now.count * row * inputs;
  guint8 *block = test_alloc(out_bytes);
  AstroBlock from = { (gpointer)in, in_bytes }, to = { block, out_bytes };
  gboolean ok = run->backend->submit(run->instance, &from, in != NULL, &to, now.count > 0,
                                     &arguments, &error);
  g_assert_no_error(error);
  g_assert_true(ok);
  test_check_guard(block, out_bytes);
  for (guint input = 0; out && input < inputs; input++)
    memcpy(out + (input * total + given) * row, block + input * now.count * row, now.count * row);
  test_free(block);
  run->end += steps;
  return now;
}

/* All spectra of a stream that begins at a sample, in blocks of at most that many steps (0: one).
 */
static guint8 *channelize(const AstroBackend *backend, const AstroChannelizerConfig *config,
                          guint threads, gconstpointer in, guint64 first, guint64 steps,
                          guint64 most, AstroSpectra *spectra, guint64 *clipped)
{
  Run run = { backend, config, create(backend, config, threads), first, first, 0 };
  gsize row = config->channels * astro_format_info(config->to)->bytes, bytes;
  GRand *rand = g_rand_new_with_seed((guint32)most);
  guint64 given = 0;

  *spectra = astro_channelizer_spectra(config, first, first + steps);
  bytes = spectra->count * row * n_inputs(config);
  guint8 *out = test_alloc(bytes);
  gboolean by_time = config->in.layout.axes[0] == ASTRO_AXIS_TIME || n_inputs(config) == 1;
  for (guint64 at = 0; at < steps;) {
    guint64 n = most ? (guint64)g_rand_int_range(rand, 1, (gint)most + 1) : steps;
    n = MIN(n, steps - at);
    gsize sample = astro_stream_sample_bytes(&config->in),
          step = astro_stream_step_bytes(&config->in);
    guint8 *block = test_alloc(n * step);
    if (by_time) {
      memcpy(block, (const guint8 *)in + at * step, n * step);
    } else {
      /* station:pol:time */
      for (guint input = 0; input < n_inputs(config); input++)
        memcpy(block + input * n * sample, (const guint8 *)in + (input * steps + at) * sample,
               n * sample);
    }
    AstroSpectra now = call(&run, block, n, at == 0, NULL, 0, out, spectra->count, given);
    g_assert_cmpuint(now.first, ==, spectra->first + given);
    given += now.count;
    test_free(block);
    at += n;
  }
  g_assert_cmpuint(given, ==, spectra->count);
  g_rand_free(rand);
  if (clipped)
    *clipped = run.clipped;
  backend->destroy(run.instance);
  return out;
}

/* Random samples of about full scale of the format's use. */
static gpointer random_samples(AstroFormat format, gsize n, guint32 seed)
{
  const AstroFormatInfo *info = astro_format_info(format);
  guint8 *data = test_alloc(n * info->bytes);
  test_fill(data, n * info->bytes, seed);
  if (format == ASTRO_FORMAT_CF16LE)
    for (gsize i = 0; i < 2 * n; i++) /* below 2 */
      ((guint16 *)data)[i] &= 0xbfff;
  if (format == ASTRO_FORMAT_CF32LE || format == ASTRO_FORMAT_F32LE)
    for (gsize i = 0; i < n * info->bytes / 4; i++)
      ((float *)data)[i] = ((gint32 *)data)[i] * 0x1p-29f;
  return data;
}

/* ---- which spectra there are ---- */

static void test_spectra(void)
{
  static const struct {
    guint channels, taps;
  } shapes[] = { { 2, 1 }, { 2, 4 }, { 3, 1 }, { 3, 2 }, { 5, 3 }, { 5, 8 }, { 7, 2 } };
  for (guint real = 0; real < 2; real++)
    for (guint s = 0; s < G_N_ELEMENTS(shapes); s++) {
      AstroChannelizerConfig config =
          make_config(real ? "F32LE" : "CI8", "time", 1, 1, shapes[s].channels, shapes[s].taps);
      gint64 step = shapes[s].channels * (real + 1), taps = shapes[s].taps;
      g_assert_cmpuint(astro_channelizer_step(&config), ==, step);
      for (gint64 begin = 0; begin < 3 * step; begin++)
        for (gint64 end = begin; end < begin + (taps + 3) * step; end++) {
          AstroSpectra found = astro_channelizer_spectra(&config, begin, end);
          guint64 count = 0, first = 0;
          for (gint64 n = 100; n-- > 0;) {
            gint64 from = n * step - (taps - 1) * step / 2;
            if (from >= begin && from + taps * step <= end) {
              count++;
              first = n;
            }
          }
          g_assert_cmpuint(found.count, ==, count);
          if (count)
            g_assert_cmpuint(found.first, ==, first);
        }
    }
}

/* ---- formulas ---- */

/* Where channel k's centre lies, in turns a sample. */
static double channel_turns(const AstroChannelizerConfig *config, guint k)
{
  double channels = config->channels;
  if (!astro_format_info(config->in.format)->is_complex)
    return k / (2 * channels);
  return (k - floor(channels / 2)) / channels;
}

/* Every channel's centre: the tone has amplitude A sum(h) there, its phase is that of sample 0, in
 * every spectrum; the other channels have their lowpass's zeros near and little else. */
static void test_tones(gconstpointer data)
{
  static const struct {
    guint channels, taps;
  } shapes[] = { { 2, 8 },  { 8, 8 },  { 16, 1 }, { 9, 8 },
                 { 15, 4 }, { 31, 1 }, { 12, 5 }, { 100, 3 } };
  const AstroBackend *backend = data;
  for (guint real = 0; real < 2; real++)
    for (guint s = 0; s < G_N_ELEMENTS(shapes); s++) {
      AstroChannelizerConfig config =
          make_config(real ? "F32LE" : "CF32LE", "time", 1, 1, shapes[s].channels, shapes[s].taps);
      guint64 span = astro_channelizer_span(&config), steps = span * 3, first = 12345678901;
      guint channels = config.channels;
      g_autofree double *weights = g_new(double, span);
      double sum = 0, power = 0;
      astro_channelizer_weights(&config, weights);
      for (guint64 i = 0; i < span; i++) {
        sum += weights[i];
        power += weights[i] * weights[i];
      }
      assert_near(power, 1, 1e-12);
      float *in = test_alloc(steps * 8);
      for (guint k = real; k < channels; k += MAX(1, channels / 7)) {
        double turns = channel_turns(&config, k), phase = 0.1 + 0.01 * k;
        AstroSpectra spectra;
        for (guint64 i = 0; i < steps; i++) {
          complex double x = 3 * TURN(turns * (double)(first + i) + phase);
          if (real) {
            in[i] = (float)(2 * creal(x));
          } else {
            in[2 * i] = (float)creal(x);
            in[2 * i + 1] = (float)cimag(x);
          }
        }
        guint8 *out = channelize(backend, &config, 0, in, first, steps, 0, &spectra, NULL);
        g_assert_cmpuint(spectra.count, >, 1);
        for (guint64 n = 0; n < spectra.count; n++)
          for (guint c = 0; c < channels; c++) {
            const float *value = (const float *)out + 2 * (n * channels + c);
            complex double found = value[0] + I * value[1];
            /* A real tone near an edge of the band meets its own image. */
            gboolean apart = !real || (k > 2 && k + 2 < channels);
            if (c == k && apart)
              assert_near(found, 3 * sum * TURN(phase), 3 * sum * (real ? 2e-3 : 2e-5));
            else if (config.taps == 1 && !real)
              assert_near(found, 0, 3 * sum * 2e-5);
          }
        test_free(out);
      }
      test_free(in);
    }
}

/* One sample that is not zero shows the lowpass itself, in all channels. */
static void test_impulse(gconstpointer data)
{
  const AstroBackend *backend = data;
  for (guint real = 0; real < 2; real++)
    for (guint channels = 7; channels <= 8; channels++)
      for (guint taps = 1; taps <= 8; taps += 1 + taps % 3) {
        AstroChannelizerConfig config =
            make_config(real ? "F32LE" : "CF32LE", "time", 1, 1, channels, taps);
        guint64 step = astro_channelizer_step(&config), span = astro_channelizer_span(&config);
        guint64 steps = 3 * span + 5, first = 1001;
        g_autofree double *weights = g_new(double, span);
        guint components = real ? 1 : 2, shown = 0;
        float *in = test_alloc(steps * 8);
        AstroSpectra spectra;
        astro_channelizer_weights(&config, weights);
        for (guint64 at = span; at < span + step; at++) {
          memset(in, 0, steps * 8);
          in[at * components] = 2;
          guint8 *out = channelize(backend, &config, 0, in, first, steps, 0, &spectra, NULL);
          for (guint64 n = 0; n < spectra.count; n++) {
            gint64 from = (gint64)((spectra.first + n) * step - (taps - 1) * step / 2);
            gint64 i = (gint64)(first + at) - from;
            gboolean within = i >= 0 && i < (gint64)span;
            double h = within ? weights[i] : 0;
            shown += within;
            for (guint k = 0; k < channels; k++) {
              const float *value = (const float *)out + 2 * (n * channels + k);
              assert_near(value[0] + I * value[1],
                          2 * h * TURN(-channel_turns(&config, k) * (double)(first + at)), 1e-6);
            }
          }
          test_free(out);
        }
        g_assert_cmpuint(shown, ==, step * taps);
        test_free(in);
      }
}

/* A plain FFT keeps the sum of squares of every step's samples. */
static void test_parseval(gconstpointer data)
{
  const AstroBackend *backend = data;
  for (guint channels = 2; channels < 40; channels += 3) {
    AstroChannelizerConfig config = make_config("CF32LE", "time", 1, 1, channels, 1);
    guint64 steps = channels * 10;
    AstroSpectra spectra;
    float *in = random_samples(ASTRO_FORMAT_CF32LE, steps, channels);
    guint8 *out = channelize(backend, &config, 0, in, 0, steps, 0, &spectra, NULL);
    g_assert_cmpuint(spectra.first, ==, 0);
    g_assert_cmpuint(spectra.count, ==, 10);
    for (guint64 n = 0; n < 10; n++) {
      double before = 0, after = 0;
      for (guint i = 0; i < 2 * channels; i++) {
        before += pow(in[n * 2 * channels + i], 2);
        after += pow(((float *)out)[n * 2 * channels + i], 2);
      }
      assert_near(after / before, 1, 1e-5);
    }
    test_free(out);
    test_free(in);
  }
}

/* Noise keeps its power in every channel: 1000 spectra tell it to 3%, six sigma are 20%. */
static void test_noise(void)
{
  for (guint real = 0; real < 2; real++) {
    AstroChannelizerConfig config = make_config(real ? "F32LE" : "CF32LE", "time", 1, 1, 16, 8);
    guint64 steps = astro_channelizer_step(&config) * 1008;
    AstroSpectra spectra;
    float *in = random_samples(config.in.format, steps, 5);
    double power[16] = { 0 }, mean = 0;
    for (guint64 i = 0; i < steps * (2 - real); i++)
      mean += (double)in[i] * in[i] / (double)steps;
    guint8 *out = channelize(&astro_channelizer_cpu, &config, 0, in, 0, steps, 0, &spectra, NULL);
    g_assert_cmpuint(spectra.count, ==, 1000);
    for (guint64 i = 0; i < 16 * 1000 * 2; i++)
      power[i / 2 % 16] += pow(((float *)out)[i], 2) / 1000;
    for (guint k = 0; k < 16; k++)
      assert_near(power[k] / mean, 1, 0.2);
    test_free(out);
    test_free(in);
  }
}

/* ---- the filter ---- */

/* |X| of every channel for a tone that many channels from the centre of channel `channel`. */
static void sweep_point(const AstroChannelizerConfig *config, guint channel, double offset,
                        double *levels)
{
  guint64 span = astro_channelizer_span(config), first = astro_channelizer_lead(config);
  double channel_width = channel_turns(config, 1) - channel_turns(config, 0);
  double turns = channel_turns(config, channel) + offset * channel_width;
  AstroSpectra spectra;
  gboolean real = !astro_format_info(config->in.format)->is_complex;
  guint64 steps = 2 * span;
  float *in = test_alloc(steps * 8);
  for (guint64 i = 0; i < steps; i++) {
    complex double x = TURN(turns * (double)(first + i));
    if (real) {
      in[i] = (float)(2 * creal(x));
    } else {
      in[2 * i] = (float)creal(x);
      in[2 * i + 1] = (float)cimag(x);
    }
  }
  guint8 *out = channelize(&astro_channelizer_cpu, config, 0, in, first, steps, 0, &spectra, NULL);
  g_assert_cmpuint(spectra.count, >=, 1);
  for (guint k = 0; k < config->channels; k++)
    levels[k] = 20 * log10(hypot(((float *)out)[2 * k], ((float *)out)[2 * k + 1]) + 1e-9);
  test_free(out);
  test_free(in);
}

/* Eight taps, the default window: less than 0.2 dB over 80% of a channel, and 60 dB down in all
 * that are two channels away or more. */
static void test_sweep(void)
{
  static const struct {
    const char *format;
    guint channels, channel;
  } shapes[] = {
    { "CF32LE", 32, 11 }, { "CF32LE", 33, 16 }, { "CF32LE", 32, 0 }, { "F32LE", 32, 13 }
  };
  for (guint s = 0; s < G_N_ELEMENTS(shapes); s++) {
    guint channels = shapes[s].channels, channel = shapes[s].channel;
    AstroChannelizerConfig config = make_config(shapes[s].format, "time", 1, 1, channels, 8);
    double levels[64], least = 1e9, most = -1e9, leak = -1e9, centre;
    sweep_point(&config, channel, 0, levels);
    centre = levels[channel];
    for (gint i = -100; i <= 100; i++) {
      sweep_point(&config, channel, i / 200.0, levels);
      if (abs(i) <= 80) {
        least = MIN(least, levels[channel]);
        most = MAX(most, levels[channel]);
      }
      for (guint k = 0; k < channels; k++) {
        gint away = abs((gint)k - (gint)channel);
        if (astro_format_info(config.in.format)->is_complex)
          away = MIN(away, (gint)channels - away); /* the band is a circle */
        if (away >= 2)
          leak = MAX(leak, levels[k] - centre);
      }
    }
    g_test_message("%u channels: ripple %.3f dB, leakage %.1f dB", channels, most - least, leak);
    g_assert_cmpfloat(most - least, <, 0.2);
    g_assert_cmpfloat(leak, <, -60);
  }
}

/* Each window, by its shape with one tap. */
static void test_windows(void)
{
  static const struct {
    AstroWindow window;
    double middle, quarter, edge; /* of an unscaled window */
  } cases[] = {
    { ASTRO_WINDOW_HANN, 1, 0.5, 0 },
    { ASTRO_WINDOW_HAMMING, 1, 0.54, 0.08 },
    { ASTRO_WINDOW_BLACKMAN_HARRIS, 1, 0.21747, 0.00006 },
    { ASTRO_WINDOW_KAISER, 1, 0.48298, 0.014873 }, /* I0(6 sqrt(3) / 2) / I0(6), 1 / I0(6) */
    { ASTRO_WINDOW_RECTANGULAR, 1, 1, 1 },
    { ASTRO_WINDOW_AUTO, 1, 1, 1 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    AstroChannelizerConfig config = make_config("CI8", "time", 1, 1, 65536, 1);
    g_autofree double *weights = g_new(double, 65536);
    config.window = cases[i].window;
    astro_channelizer_weights(&config, weights);
    double middle = weights[32768];
    assert_near(weights[16384] / middle, cases[i].quarter, 1e-3);
    assert_near(weights[0] / middle, cases[i].edge, 1e-3);
    for (guint w = 0; w < 65536; w++)
      assert_near(weights[w], weights[65535 - w], 1e-12);
  }
}

/* ---- all variants, formats and layouts ---- */

static double component(gconstpointer data, AstroFormat format, gsize i)
{
  switch (format) {
  case ASTRO_FORMAT_CI4: {
    gint nibble = i % 2 ? ((guint8 *)data)[i / 2] & 15 : ((guint8 *)data)[i / 2] >> 4;
    return (nibble ^ 8) - 8;
  }
  case ASTRO_FORMAT_CI8:
    return ((gint8 *)data)[i];
  case ASTRO_FORMAT_CI16LE:
    return ((gint16 *)data)[i];
  case ASTRO_FORMAT_CF32LE:
    return ((float *)data)[i];
  default:
    g_assert_not_reached();
  }
}

/* Floats to a millionth of the largest; whole numbers are the same but where the true value lies
 * close to halfway. */
static void assert_same(const AstroChannelizerConfig *config, gconstpointer found,
                        gconstpointer expected, gsize components)
{
  double scale = 0, tolerance = 1;
  gsize differ = 0;
  for (gsize i = 0; i < components; i++)
    scale = MAX(scale, fabs(component(expected, config->to, i)));
  if (config->to == ASTRO_FORMAT_CF32LE)
    tolerance = 1e-6 * scale;
  for (gsize i = 0; i < components; i++) {
    double a = component(found, config->to, i), b = component(expected, config->to, i);
    if (!(fabs(a - b) <= tolerance))
      g_error("component %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT ": %.9g, expected %.9g", i,
              components, a, b);
    differ += a != b;
  }
  if (config->to != ASTRO_FORMAT_CF32LE)
    g_assert_cmpuint(differ, <=, 1 + components / 200);
}

typedef struct {
  const char *format, *layout;
  guint stations, pols, channels, taps;
  AstroWindow window;
  AstroFormat to;
  double gain;
  guint spectra;
} Shape;

static const Shape shapes[] = {
  { "CI8", "station:pol:time", 3, 2, 16, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 40 },
  { "CI8", "time:station:pol", 3, 2, 16, 8, ASTRO_WINDOW_HANN, ASTRO_FORMAT_CI8, 1, 40 },
  { "CI8", "station:time:pol", 5, 2, 7, 4, ASTRO_WINDOW_HAMMING, ASTRO_FORMAT_CI16LE, 50, 60 },
  { "CI4", "station:pol:time", 2, 1, 33, 3, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CI4, 0.8, 20 },
  { "CI4", "time:station:pol", 1, 1, 2, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CI8, 1, 700 },
  { "CI16LE", "pol:time:station", 2, 2, 10, 5, ASTRO_WINDOW_KAISER, ASTRO_FORMAT_CI8, 0.005, 50 },
  { "CF16LE", "station:pol:time", 2, 2, 64, 2, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 30 },
  { "CF32LE", "station:pol:time", 2, 2, 3, 1, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 900 },
  { "CF32LE", "time:station:pol", 19, 1, 100, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, -2, 9 },
  { "CF32LE", "station:pol:time", 1, 2, 512, 8, ASTRO_WINDOW_BLACKMAN_HARRIS, ASTRO_FORMAT_CI8, 9,
    4 },
  { "CF32LE", "station:pol:time", 1, 1, 251, 32, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 5 },
  { "CF32LE", "station:pol:time", 1, 1, 1024, 2, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 3 },
  { "CF32LE", "station:pol:time", 1, 1, 2049, 1, ASTRO_WINDOW_HANN, ASTRO_FORMAT_CF32LE, 1, 2 },
  { "CI8", "station:pol:time", 1, 1, 32, 5, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 133 },
  { "CI8", "time:station:pol", 1, 2, 128, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 41 },
  { "CI4", "station:pol:time", 2, 1, 256, 4, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 19 },
  { "CI8", "station:pol:time", 1, 2, 1024, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 7 },
  { "CI8", "station:pol:time", 1, 1, 2048, 4, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 3 },
  { "CI16LE", "station:pol:time", 1, 1, 4096, 3, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 2 },
  { "F32LE", "station:pol:time", 1, 1, 64, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 40 },
  { "F32LE", "station:pol:time", 3, 2, 16, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 40 },
  { "F32LE", "time:station:pol", 3, 2, 5, 3, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CI8, 20, 80 },
  { "CF32LE", "station:pol:time", 1, 2, 1024, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CI8, 9, 13 },
  { "CI8", "station:pol:time", 2, 1, 1024, 4, ASTRO_WINDOW_HANN, ASTRO_FORMAT_CI8, 2, 20 },
  { "CI8", "station:pol:time", 1, 1, 1024, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CI8, 3, 9 },
  { "F32LE", "station:pol:time", 1, 1, 512, 8, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 12 },
  { "CF32LE", "station:pol:time", 1, 1, 1024, 4, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 5 },
  { "F32LE", "station:pol:time", 1, 1, 300, 4, ASTRO_WINDOW_AUTO, ASTRO_FORMAT_CF32LE, 1, 4 },
};

static void test_variants(gconstpointer data)
{
  const Shape *shape = data;
  AstroChannelizerConfig config = make_config(shape->format, shape->layout, shape->stations,
                                              shape->pols, shape->channels, shape->taps);
  config.window = shape->window;
  config.to = shape->to;
  config.gain = shape->gain;
  /* Half of the shapes with gains of their own for each channel, one of them 0. */
  g_autofree float *gains = g_new(float, shape->channels);
  for (guint k = 0; k < shape->channels; k++)
    gains[k] = (float)(1.25 - (double)k / shape->channels) * (k != 1);
  if ((shape - shapes) % 2)
    config.gains = gains;
  guint64 step = astro_channelizer_step(&config);
  guint64 first = 3 * step + 1, steps = (shape->spectra + shape->taps) * step + step / 2;
  guint64 clipped, expected_clipped;
  AstroSpectra spectra;
  gpointer in = random_samples(config.in.format, steps * n_inputs(&config), shape->channels);
  guint8 *expected = channelize(&astro_channelizer_reference, &config, 2, in, first, steps, 0,
                                &spectra, &expected_clipped);
  gsize components = spectra.count * n_inputs(&config) * config.channels * 2;
  gsize bytes = components / 2 * astro_format_info(config.to)->bytes;
  g_assert_cmpuint(spectra.count, >=, shape->spectra);

  gboolean can_cut = config.in.layout.axes[config.in.layout.n_axes - 1] == ASTRO_AXIS_TIME ||
                     config.in.layout.axes[0] == ASTRO_AXIS_TIME || n_inputs(&config) == 1;
  for (guint v = 0; v < G_N_ELEMENTS(variants) + (backends[2] != NULL); v++) {
    const AstroBackend *backend = v < G_N_ELEMENTS(variants) ? &astro_channelizer_cpu : backends[2];
    if (v < G_N_ELEMENTS(variants))
      setenv("ASTRO_CPU", variants[v], 1);
    guint8 *whole = channelize(backend, &config, 1, in, first, steps, 0, &spectra, &clipped);
    assert_same(&config, whole, expected, components);
    g_assert_cmpuint(clipped, <=, expected_clipped + 2 + components / 200);
    g_assert_cmpuint(clipped + 2 + components / 200, >=, expected_clipped);
    /* To the bit: two threads, and cut anywhere. */
    const guint64 cuts[] = { 0, 3 * step, step, 6 };
    for (guint i = 0; i < G_N_ELEMENTS(cuts); i++) {
      if (!can_cut && cuts[i])
        continue;
      if (steps / MAX(cuts[i], 1) > 20000)
        continue;
      guint64 also;
      guint8 *out = channelize(backend, &config, 2, in, first, steps, cuts[i], &spectra, &also);
      g_assert_cmpmem(out, bytes, whole, bytes);
      g_assert_cmpuint(also, ==, clipped);
      test_free(out);
    }
    test_free(whole);
  }
  unsetenv("ASTRO_CPU");
  if (can_cut) {
    guint8 *out = channelize(&astro_channelizer_reference, &config, 2, in, first, steps, 2 * step,
                             &spectra, NULL);
    g_assert_cmpmem(out, bytes, expected, bytes);
    test_free(out);
  }
  test_free(expected);
  test_free(in);
}

/* Blocks that begin at odd addresses. */
static void test_alignment(void)
{
  AstroChannelizerConfig config = make_config("CF32LE", "station:pol:time", 2, 1, 64, 4);
  guint64 steps = 64 * 20, clipped = 0;
  float *in = random_samples(ASTRO_FORMAT_CF32LE, 2 * steps, 1);
  AstroSpectra spectra;
  guint8 *expected =
      channelize(&astro_channelizer_cpu, &config, 1, in, 0, steps, 0, &spectra, NULL);
  gsize bytes = spectra.count * 2 * 64 * 8, in_bytes = 2 * steps * 8;
  for (guint off = 1; off <= 8; off++) {
    guint8 *from = test_alloc(in_bytes + off), *to = test_alloc(bytes + off);
    AstroChannelizerArguments arguments = { 0, steps, TRUE, NULL, 0, &clipped };
    memcpy(from + off, in, in_bytes);
    AstroBlock a = { from + off, in_bytes }, b = { to + off, bytes };
    gpointer instance = create(&astro_channelizer_cpu, &config, 2);
    g_assert_true(astro_channelizer_cpu.submit(instance, &a, 1, &b, 1, &arguments, NULL));
    g_assert_cmpmem(to + off, bytes, expected, bytes);
    test_check_guard(to, bytes + off);
    astro_channelizer_cpu.destroy(instance);
    test_free(from);
    test_free(to);
  }
  test_free(expected);
  test_free(in);
}

/* Blocks that are written past the caches hold the same as those that are not. */
static void test_past_caches(void)
{
  static const guint sizes[] = { 8, 64, 1024 };
  for (guint s = 0; s < G_N_ELEMENTS(sizes); s++)
    for (guint v = 0; v < G_N_ELEMENTS(variants); v++) {
      AstroChannelizerConfig config = make_config("CI8", "station:pol:time", 2, 1, sizes[s], 4);
      guint64 steps = 300 * 1024;
      AstroSpectra spectra;
      gint8 *in = random_samples(ASTRO_FORMAT_CI8, 2 * steps, s);
      setenv("ASTRO_CPU", variants[v], 1);
      guint8 *large =
          channelize(&astro_channelizer_cpu, &config, 2, in, 77, steps, 0, &spectra, NULL);
      gsize bytes = 2 * spectra.count * sizes[s] * 8;
      g_assert_cmpuint(bytes, >, 4 << 20);
      guint8 *small =
          channelize(&astro_channelizer_cpu, &config, 2, in, 77, steps, 50000, &spectra, NULL);
      unsetenv("ASTRO_CPU");
      g_assert_cmpmem(large, bytes, small, bytes);
      test_free(large);
      test_free(small);
      test_free(in);
    }
}

/* More than a device does at once holds the same as many small blocks do. */
static void test_long(void)
{
  static const char *const formats[] = { "CI8", "CF32LE" };
  for (guint f = 0; backends[2] && f < G_N_ELEMENTS(formats); f++) {
    AstroChannelizerConfig config = make_config(formats[f], "station:pol:time", 30, 2, 1024, 8);
    guint64 steps = 90 * 1024;
    AstroSpectra spectra;
    gpointer in = random_samples(config.in.format, 60 * steps, f);
    guint8 *large = channelize(backends[2], &config, 1, in, 5, steps, 0, &spectra, NULL);
    gsize bytes = 60 * spectra.count * 1024 * 8;
    guint8 *small = channelize(backends[2], &config, 1, in, 5, steps, 9000, &spectra, NULL);
    g_assert_cmpmem(large, bytes, small, bytes);
    test_free(large);
    test_free(small);
    test_free(in);
  }
}

/* So many inputs that a device's blocks, where it has 132 multiprocessors, make three rounds of
 * eight spectra each, the last of an input not full. */
static void test_rounds(gconstpointer device)
{
  static const char *const formats[] = { "CI8", "CF32LE" };
  for (guint f = 0; f < G_N_ELEMENTS(formats); f++) {
    AstroChannelizerConfig config = make_config(formats[f], "station:pol:time", 66, 2, 1024, 8);
    guint64 steps = 25 * 1024;
    AstroSpectra spectra;
    gpointer in = random_samples(config.in.format, n_inputs(&config) * steps, f);
    guint8 *expected =
        channelize(&astro_channelizer_cpu, &config, 2, in, 0, steps, 0, &spectra, NULL);
    g_assert_cmpuint(spectra.count, ==, 17);
    guint8 *found = channelize(device, &config, 1, in, 0, steps, 0, &spectra, NULL);
    assert_same(&config, found, expected, spectra.count * n_inputs(&config) * 1024 * 2);
    test_free(found);
    test_free(expected);
    test_free(in);
  }
}

/* The largest shape, and a large prime: a tone comes out where it belongs. */
static void test_large(gconstpointer backend)
{
  static const guint sizes[] = { 65536, 65521 };
  for (guint s = 0; s < G_N_ELEMENTS(sizes); s++) {
    AstroChannelizerConfig config = make_config("CI16LE", "station:pol:time", 1, 1, sizes[s], 2);
    guint64 steps = 4 * sizes[s];
    guint k = 12345;
    AstroSpectra spectra;
    gint16 *in = test_alloc(steps * 4);
    g_autofree double *weights = g_new(double, 2 * sizes[s]);
    double sum = 0;
    astro_channelizer_weights(&config, weights);
    for (guint i = 0; i < 2 * sizes[s]; i++)
      sum += weights[i];
    for (guint64 i = 0; i < steps; i++) {
      complex double x = 30000 * TURN(channel_turns(&config, k) * (double)i);
      in[2 * i] = (gint16)lrint(creal(x));
      in[2 * i + 1] = (gint16)lrint(cimag(x));
    }
    guint8 *out = channelize(backend, &config, 0, in, 0, steps, 70000, &spectra, NULL);
    g_assert_cmpuint(spectra.first, ==, 1);
    g_assert_cmpuint(spectra.count, ==, 2);
    for (guint64 n = 0; n < 2; n++)
      for (guint c = 0; c < sizes[s]; c++) {
        const float *value = (const float *)out + 2 * (n * sizes[s] + c);
        complex double found = value[0] + I * value[1];
        if (c == k)
          assert_near(found, 30000 * sum, 30);
        else if (abs((gint)c - (gint)k) > 8)
          assert_near(found, 0, 3 * sum);
      }
    test_free(out);
    test_free(in);
  }
}

/* ---- what is missing ---- */

enum { LOSSES_FIRST = 80, LOSSES_STEPS = 160, LOSSES_TOTAL = 28 };

/* Two blocks of three stations, station:pol:time, the first with losses (n 0: none) told of. */
static guint8 *spectra_with(const AstroBackend *backend, const AstroChannelizerConfig *config,
                            gconstpointer in, gconstpointer more,
                            const AstroChannelizerLoss *losses, guint n)
{
  Run run = { backend, config, create(backend, config, 2), LOSSES_FIRST, LOSSES_FIRST, 0 };
  guint8 *out = test_alloc(6 * LOSSES_TOTAL * 80);
  guint64 given = call(&run, in, LOSSES_STEPS, TRUE, losses, n, out, LOSSES_TOTAL, 0).count;
  given += call(&run, more, LOSSES_STEPS, FALSE, NULL, 0, out, LOSSES_TOTAL, given).count;
  g_assert_cmpuint(given, ==, LOSSES_TOTAL);
  backend->destroy(run.instance);
  return out;
}

/* Lost samples count as zeros whatever stands there, in the block and in what is held of it. */
static void check_losses(const AstroBackend *backend, const char *format,
                         const AstroChannelizerLoss *losses, guint n)
{
  AstroChannelizerConfig config = make_config(format, "station:pol:time", 3, 2, 10, 4);
  const gsize bytes = astro_stream_sample_bytes(&config.in), block = 6 * LOSSES_STEPS * bytes;
  guint8 *in = random_samples(config.in.format, 6 * LOSSES_STEPS, 1);
  guint8 *more = random_samples(config.in.format, 6 * LOSSES_STEPS, 2), *zeroed = test_alloc(block);
  memcpy(zeroed, in, block);
  for (guint i = 0; i < n; i++)
    for (guint pol = 0; pol < 2; pol++) {
      gsize at = (losses[i].station * 2 + pol) * LOSSES_STEPS + losses[i].from - LOSSES_FIRST;
      gsize count = losses[i].to - losses[i].from;
      memset(in + at * bytes, 0xff, count * bytes); /* not a number, where it is float */
      memset(zeroed + at * bytes, 0, count * bytes);
    }
  guint8 *found = spectra_with(backend, &config, in, more, losses, n);
  guint8 *expected = spectra_with(backend, &config, zeroed, more, NULL, 0);
  g_assert_cmpmem(found, 6 * LOSSES_TOTAL * 80, expected, 6 * LOSSES_TOTAL * 80);
  for (guint i = 0; i < 6 * LOSSES_TOTAL * 20; i++)
    g_assert_true(isfinite(((float *)found)[i]));
  test_free(found);
  test_free(expected);
  test_free(in);
  test_free(zeroed);
  test_free(more);
}

static void test_losses(gconstpointer data)
{
  static const AstroChannelizerLoss losses[] = {
    { 0, 100, 101 }, { 0, 130, 220 }, { 0, 239, 240 }, { 2, 80, 81 }, { 2, 90, 240 }
  };
  check_losses(data, "CF32LE", losses, G_N_ELEMENTS(losses));
  check_losses(data, "CI8", losses, G_N_ELEMENTS(losses));
}

/* Each of one sample: as many as a device takes in one launch, more, and as many as in two. */
static void test_many_losses(gconstpointer data)
{
  static const struct {
    guint apart, stations;
  } cases[] = { { 2, 3 }, { 1, 2 }, { 1, 3 } };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    AstroChannelizerLoss losses[3 * LOSSES_STEPS];
    guint n = 0;
    for (guint station = 0; station < cases[i].stations; station++)
      for (guint at = 0; at < LOSSES_STEPS; at += cases[i].apart)
        losses[n++] = (AstroChannelizerLoss){ station, LOSSES_FIRST + at, LOSSES_FIRST + at + 1 };
    check_losses(data, i % 2 ? "CI8" : "CF32LE", losses, n);
  }
}

/* No block is a block of zeros; a restart forgets what was held. */
static void test_no_block(gconstpointer data)
{
  const AstroBackend *backend = data;
  AstroChannelizerConfig config = make_config("CI8", "time:station:pol", 3, 1, 10, 4);
  const guint64 steps = 95, total = 25;
  guint8 *in = random_samples(ASTRO_FORMAT_CI8, 3 * steps, 1), *zeros = test_alloc(3 * steps * 2);
  guint8 *out[2];
  memset(zeros, 0, 3 * steps * 2);
  for (guint which = 0; which < 2; which++) {
    Run run = { backend, &config, create(backend, &config, 2), 0, 0, 0 };
    out[which] = test_alloc(3 * total * 80);
    guint64 given = call(&run, in, steps, TRUE, NULL, 0, out[which], total, 0).count;
    given +=
        call(&run, which ? zeros : NULL, steps, FALSE, NULL, 0, out[which], total, given).count;
    given += call(&run, in, steps, FALSE, NULL, 0, out[which], total, given).count;
    g_assert_cmpuint(given, ==, total);
    backend->destroy(run.instance);
  }
  g_assert_cmpmem(out[0], 3 * total * 80, out[1], 3 * total * 80);

  Run again = { backend, &config, create(backend, &config, 2), 0, 0, 0 };
  Run fresh = { backend, &config, create(backend, &config, 2), 95, 95, 0 };
  call(&again, zeros, steps, TRUE, NULL, 0, NULL, 0, 0);
  AstroSpectra a = call(&again, in, steps, TRUE, NULL, 0, out[0], total, 0);
  AstroSpectra b = call(&fresh, in, steps, TRUE, NULL, 0, out[1], total, 0);
  g_assert_cmpuint(a.first, ==, b.first);
  g_assert_cmpuint(a.count, ==, 6);
  g_assert_cmpuint(b.count, ==, 6);
  g_assert_cmpmem(out[0], 3 * total * 80, out[1], 3 * total * 80);
  backend->destroy(again.instance);
  backend->destroy(fresh.instance);
  test_free(out[0]);
  test_free(out[1]);
  test_free(in);
  test_free(zeros);
}

/* ---- errors ---- */

static void assert_refused(const AstroBackend *backend, const AstroChannelizerConfig *config,
                           const char *says)
{
  AstroPlace place = { 0 };
  const char *variant;
  GError *error = NULL;
  g_assert_false(backend->shape(config, NULL));
  g_assert_false(backend->shape(config, &error));
  g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE);
  test_says(error->message, says);
  g_clear_error(&error);
  g_assert_null(backend->create(config, &place, &variant, &error));
  g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE);
  g_clear_error(&error);
}

static void test_bad_config(gconstpointer backend)
{
  const AstroChannelizerConfig good = make_config("CI8", "station:pol:time", 3, 2, 16, 8);
  AstroChannelizerConfig bad;
#define REFUSED(field, value, says)                                                                \
  bad = good;                                                                                      \
  bad.field = value;                                                                               \
  assert_refused(backend, &bad, says)
  REFUSED(channels, 0, "0 channels");
  REFUSED(channels, 1, "1 channels");
  REFUSED(channels, 65537, "65537 channels");
  REFUSED(taps, 0, "0 taps");
  REFUSED(taps, 33, "33 taps");
  REFUSED(window, ASTRO_N_WINDOWS, "window");
  REFUSED(beta, -1, "beta -1");
  REFUSED(beta, NAN, "beta");
  REFUSED(gain, INFINITY, "gain");
  REFUSED(to, ASTRO_FORMAT_F32LE, "output of format F32LE");
  REFUSED(to, ASTRO_FORMAT_UNKNOWN, "output of format unknown");
  REFUSED(in.format, ASTRO_FORMAT_CF64LE, "input of format CF64LE");
  REFUSED(in.format, ASTRO_FORMAT_F64LE, "input of format F64LE");
  REFUSED(in.layout.axes[0], ASTRO_AXIS_CHANNEL, "channel:pol:time");
#undef REFUSED
}

static void test_bad_calls(gconstpointer data)
{
  const AstroBackend *backend = data;
  AstroChannelizerConfig config = make_config("CI8", "station:pol:time", 3, 2, 16, 2);
  guint8 *in = test_alloc(6 * 64 * 2), *out = test_alloc(6 * 2 * 16 * 8);
  guint64 clipped = 0;
  const struct {
    AstroChannelizerArguments arguments;
    gsize in_bytes, out_bytes;
    guint n_in, n_out;
    const char *says;
  } cases[] = {
    { { 0, 64, TRUE }, 767, 1536, 1, 1, "767 bytes in" },
    { { 0, 64, TRUE }, 768, 1535, 1, 1, "1535" },
    { { 0, 64, TRUE }, 768, 1536, 1, 0, "0 out" },
    { { 0, 39, TRUE }, 768, 1536, 1, 1, "1 out" },
    { { 0, 64, TRUE }, 768, 1536, 2, 1, "2 blocks in" },
    { { 5, 64, FALSE }, 768, 1536, 1, 1, "from sample 5" },
    { { G_MAXUINT64 - 3, 64, TRUE }, 768, 1536, 1, 1, "beyond" },
    { { 0, G_MAXUINT64 - 3, TRUE }, 768, 1536, 1, 1, "beyond" },
    { { 0, G_MAXUINT64 / 2, TRUE }, 768, 1536, 0, 1, "more bytes" },
  };
  memset(in, 1, 768);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    gpointer instance = create(backend, &config, 1);
    AstroChannelizerArguments arguments = cases[i].arguments;
    AstroBlock a = { in, cases[i].in_bytes }, b = { out, cases[i].out_bytes };
    GError *error = NULL;
    arguments.clipped = &clipped;
    g_assert_false(
        backend->submit(instance, &a, cases[i].n_in, &b, cases[i].n_out, &arguments, &error));
    g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE);
    test_says(error->message, cases[i].says);
    g_clear_error(&error);
    for (gsize byte = 0; byte < 1536; byte++)
      g_assert_cmphex(out[byte], ==, 0xa5);
    backend->destroy(instance);
  }
  test_free(in);
  test_free(out);
}

static void test_variant_names(void)
{
  AstroChannelizerConfig config = make_config("CI8", "time", 1, 1, 16, 2);
  AstroPlace place = { 0 };
  const char *variant;
  setenv("ASTRO_CPU", "c", 1);
  gpointer instance = astro_channelizer_cpu.create(&config, &place, &variant, NULL);
  g_assert_cmpstr(variant, ==, "c");
  astro_channelizer_cpu.destroy(instance);
  unsetenv("ASTRO_CPU");
}

static void add_for_backends(const char *name, GTestDataFunc test)
{
  g_autofree char *on_cuda = g_strdup_printf("/channelizer/%s/cuda", name);
  for (guint i = 0; i < 2; i++) {
    g_autofree char *path =
        g_strdup_printf("/channelizer/%s/%s", name, astro_backend_kind_name(backends[i]->kind));
    g_test_add_data_func(path, backends[i], test);
  }
  test_add_on_device(on_cuda, backends[2], test);
}

static void add_tests(void)
{
  backends[2] = test_on_device("channelizer");
  g_test_add_func("/channelizer/spectra", test_spectra);
  add_for_backends("tones", test_tones);
  add_for_backends("impulse", test_impulse);
  add_for_backends("parseval", test_parseval);
  g_test_add_func("/channelizer/noise", test_noise);
  g_test_add_func("/channelizer/sweep", test_sweep);
  g_test_add_func("/channelizer/windows", test_windows);
  for (guint i = 0; i < G_N_ELEMENTS(shapes); i++) {
    g_autofree char *path = g_strdup_printf("/channelizer/variants/%u/%s/%u-channels/%u-taps", i,
                                            shapes[i].format, shapes[i].channels, shapes[i].taps);
    g_test_add_data_func(path, &shapes[i], test_variants);
  }
  g_test_add_func("/channelizer/alignment", test_alignment);
  g_test_add_func("/channelizer/past-caches", test_past_caches);
  g_test_add_func("/channelizer/long", test_long);
  test_add_on_device("/channelizer/rounds", backends[2], test_rounds);
  for (guint i = 0; backends[i]; i++) /* too large for the formula */
    if (backends[i] != &astro_channelizer_reference) {
      g_autofree char *path =
          g_strdup_printf("/channelizer/large/%s", astro_backend_kind_name(backends[i]->kind));
      g_test_add_data_func(path, backends[i], test_large);
    }
  add_for_backends("losses", test_losses);
  add_for_backends("many-losses", test_many_losses);
  add_for_backends("no-block", test_no_block);
  add_for_backends("bad-config", test_bad_config);
  add_for_backends("bad-calls", test_bad_calls);
  g_test_add_func("/channelizer/variant-names", test_variant_names);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
