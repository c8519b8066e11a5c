/* The channelizer: both backends compared with the tests' own formulas, and the filter with its
 * requirements. */
#include "tests/core/channelizer/channelizer.h"
#include "tests/near.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

#define TURN(turns) cexp(2 * I * G_PI * ((turns)-floor(turns)))

/* ---- which spectra there are ---- */

static void test_spectra(void)
{
  static const struct {
    guint channels, taps;
  } shapes[] = { { 2, 1 }, { 2, 4 }, { 3, 1 }, { 3, 2 }, { 5, 3 }, { 5, 8 }, { 7, 2 } };
  for (guint real = 0; real < 2; real++)
    for (guint s = 0; s < G_N_ELEMENTS(shapes); s++) {
      AstroChannelizerConfig config =
          test_config(real ? "F32LE" : "CI8", "time", 1, 1, shapes[s].channels, shapes[s].taps);
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

/* The centre of channel k, in cycles a sample. */
static double channel_turns(const AstroChannelizerConfig *config, guint k)
{
  double channels = config->channels;
  if (!astro_format_info(config->in.format)->is_complex)
    return k / (2 * channels);
  return (k - floor(channels / 2)) / channels;
}

/* At the centre of each channel the tone has amplitude A sum(h), and in every spectrum its phase is
 * that at sample 0; the other channels are near zeros of their lowpass and have little else. */
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
          test_config(real ? "F32LE" : "CF32LE", "time", 1, 1, shapes[s].channels, shapes[s].taps);
      guint64 span = astro_channelizer_span(&config), steps = span * 3, first = 12345678901;
      guint channels = config.channels;
      g_autofree double *weights = g_new(double, span);
      double sum = 0, power = 0;
      astro_channelizer_weights(&config, weights);
      for (guint64 i = 0; i < span; i++) {
        sum += weights[i];
        power += weights[i] * weights[i];
      }
      test_near_complex(power, 1, 1e-12);
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
        guint8 *out = test_channelize(backend, &config, 0, in, first, steps, 0, &spectra, NULL);
        g_assert_cmpuint(spectra.count, >, 1);
        for (guint64 n = 0; n < spectra.count; n++)
          for (guint c = 0; c < channels; c++) {
            const float *value = (const float *)out + 2 * (n * channels + c);
            complex double found = value[0] + I * value[1];
            /* A real tone near an edge of the band meets its own image. */
            gboolean apart = !real || (k > 2 && k + 2 < channels);
            if (c == k && apart)
              test_near_complex(found, 3 * sum * TURN(phase), 3 * sum * (real ? 2e-3 : 2e-5));
            else if (config.taps == 1 && !real)
              test_near_complex(found, 0, 3 * sum * 2e-5);
          }
        test_free(out);
      }
      test_free(in);
    }
}

/* A single sample that is not zero gives the lowpass itself, in all channels. */
static void test_impulse(gconstpointer data)
{
  const AstroBackend *backend = data;
  for (guint real = 0; real < 2; real++)
    for (guint channels = 7; channels <= 8; channels++)
      for (guint taps = 1; taps <= 8; taps += 1 + taps % 3) {
        AstroChannelizerConfig config =
            test_config(real ? "F32LE" : "CF32LE", "time", 1, 1, channels, taps);
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
          guint8 *out = test_channelize(backend, &config, 0, in, first, steps, 0, &spectra, NULL);
          for (guint64 n = 0; n < spectra.count; n++) {
            gint64 from = (gint64)((spectra.first + n) * step - (taps - 1) * step / 2);
            gint64 i = (gint64)(first + at) - from;
            gboolean within = i >= 0 && i < (gint64)span;
            double h = within ? weights[i] : 0;
            shown += within;
            for (guint k = 0; k < channels; k++) {
              const float *value = (const float *)out + 2 * (n * channels + k);
              test_near_complex(value[0] + I * value[1],
                                2 * h * TURN(-channel_turns(&config, k) * (double)(first + at)),
                                1e-6);
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
    AstroChannelizerConfig config = test_config("CF32LE", "time", 1, 1, channels, 1);
    guint64 steps = channels * 10;
    AstroSpectra spectra;
    float *in = test_random_samples(ASTRO_FORMAT_CF32LE, steps, channels);
    guint8 *out = test_channelize(backend, &config, 0, in, 0, steps, 0, &spectra, NULL);
    g_assert_cmpuint(spectra.first, ==, 0);
    g_assert_cmpuint(spectra.count, ==, 10);
    for (guint64 n = 0; n < 10; n++) {
      double before = 0, after = 0;
      for (guint i = 0; i < 2 * channels; i++) {
        before += pow(in[n * 2 * channels + i], 2);
        after += pow(((float *)out)[n * 2 * channels + i], 2);
      }
      test_near_complex(after / before, 1, 1e-5);
    }
    test_free(out);
    test_free(in);
  }
}

/* Noise keeps its power in every channel: 1000 spectra measure it to 3%, and six sigma are 20%. */
static void test_noise(void)
{
  for (guint real = 0; real < 2; real++) {
    AstroChannelizerConfig config = test_config(real ? "F32LE" : "CF32LE", "time", 1, 1, 16, 8);
    guint64 steps = astro_channelizer_step(&config) * 1008;
    AstroSpectra spectra;
    float *in = test_random_samples(config.in.format, steps, 5);
    double power[16] = { 0 }, mean = 0;
    for (guint64 i = 0; i < steps * (2 - real); i++)
      mean += (double)in[i] * in[i] / (double)steps;
    guint8 *out =
        test_channelize(&astro_channelizer_cpu, &config, 0, in, 0, steps, 0, &spectra, NULL);
    g_assert_cmpuint(spectra.count, ==, 1000);
    for (guint64 i = 0; i < 16 * 1000 * 2; i++)
      power[i / 2 % 16] += pow(((float *)out)[i], 2) / 1000;
    for (guint k = 0; k < 16; k++)
      test_near_complex(power[k] / mean, 1, 0.2);
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
  guint8 *out =
      test_channelize(&astro_channelizer_cpu, config, 0, in, first, steps, 0, &spectra, NULL);
  g_assert_cmpuint(spectra.count, >=, 1);
  for (guint k = 0; k < config->channels; k++)
    levels[k] = 20 * log10(hypot(((float *)out)[2 * k], ((float *)out)[2 * k + 1]) + 1e-9);
  test_free(out);
  test_free(in);
}

/* Eight taps with the default window: less than 0.2 dB over 80% of a channel, and 60 dB down in all
 * channels that are two or more away. */
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
    AstroChannelizerConfig config = test_config(shapes[s].format, "time", 1, 1, channels, 8);
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
    AstroChannelizerConfig config = test_config("CI8", "time", 1, 1, 65536, 1);
    g_autofree double *weights = g_new(double, 65536);
    config.window = cases[i].window;
    astro_channelizer_weights(&config, weights);
    double middle = weights[32768];
    test_near_complex(weights[16384] / middle, cases[i].quarter, 1e-3);
    test_near_complex(weights[0] / middle, cases[i].edge, 1e-3);
    for (guint w = 0; w < 65536; w++)
      test_near_complex(weights[w], weights[65535 - w], 1e-12);
  }
}

/* The largest shape, and a large prime: a tone is in the right channel. */
static void test_large(gconstpointer backend)
{
  static const guint sizes[] = { 65536, 65521 };
  for (guint s = 0; s < G_N_ELEMENTS(sizes); s++) {
    AstroChannelizerConfig config = test_config("CI16LE", "station:pol:time", 1, 1, sizes[s], 2);
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
    guint8 *out = test_channelize(backend, &config, 0, in, 0, steps, 70000, &spectra, NULL);
    g_assert_cmpuint(spectra.first, ==, 1);
    g_assert_cmpuint(spectra.count, ==, 2);
    for (guint64 n = 0; n < 2; n++)
      for (guint c = 0; c < sizes[s]; c++) {
        const float *value = (const float *)out + 2 * (n * sizes[s] + c);
        complex double found = value[0] + I * value[1];
        if (c == k)
          test_near_complex(found, 30000 * sum, 30);
        else if (abs((gint)c - (gint)k) > 8)
          test_near_complex(found, 0, 3 * sum);
      }
    test_free(out);
    test_free(in);
  }
}

static void add_tests(void)
{
  test_find_devices();
  g_test_add_func("/channelizer/spectra", test_spectra);
  test_add_for_backends("tones", test_tones);
  test_add_for_backends("impulse", test_impulse);
  test_add_for_backends("parseval", test_parseval);
  g_test_add_func("/channelizer/noise", test_noise);
  g_test_add_func("/channelizer/sweep", test_sweep);
  g_test_add_func("/channelizer/windows", test_windows);
  for (guint i = 0; test_backends[i]; i++) /* too large for the formula */
    if (test_backends[i] != &astro_channelizer_reference) {
      g_autofree char *path =
          g_strdup_printf("/channelizer/large/%s", astro_backend_kind_name(test_backends[i]->kind));
      g_test_add_data_func(path, test_backends[i], test_large);
    }
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
