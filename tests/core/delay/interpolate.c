/* The parts of a delay, compared with their formulas: the bandpass, the fraction of a sample and
 * its smallest rate, and the kernels of every instruction set. */
#include "core/lib/interpolate/kernels.h"
#include "core/lib/sky/kernels.h"
#include "tests/core/delay/delay.h"

/* Channels all over a bandpass of n points that rises in a straight line, and beyond its ends. */
static void check_bandpass(guint n)
{
  AstroBandpass bandpass = { n, g_new(double, n), g_new(double, n) };
  for (guint i = 0; i < n; i++)
    bandpass.frequencies[i] = bandpass.amplitudes[i] = i + 1;
  for (guint k = 0; k < 10000; k++) {
    double frequency = (k + 0.5) / 10000 * (n + 1);
    test_near(astro_bandpass_at(&bandpass, frequency), CLAMP(frequency, 1, n), 1e-9 * n);
  }
  g_free(bandpass.frequencies);
  g_free(bandpass.amplitudes);
}

static void test_bandpass(void)
{
  static const guint points[] = { 1, 2, 100, 100000 };
  for (guint i = 0; i < G_N_ELEMENTS(points); i++)
    check_bandpass(points[i]);
}

/* The rate that an error gives is enough, as written, and not much more than needed. */
static void test_least_rate(void)
{
  static const double reaches[] = { 1e-6, 1e-4, 2e-2, 0.08 }, frequencies[] = { 1e6, 150e6, 1e10 };

  for (guint i = 0; i < G_N_ELEMENTS(reaches); i++)
    for (guint k = 0; k < G_N_ELEMENTS(frequencies); k++) {
      double rate = astro_fraction_least_rate(reaches[i], frequencies[k]);
      g_autofree char *told = g_strdup_printf("%.4g", rate);
      g_assert_cmpuint(
          astro_fraction_stretch(reaches[i], frequencies[k], g_ascii_strtod(told, NULL)), ==, 64);
      g_assert_cmpuint(astro_fraction_stretch(reaches[i], frequencies[k], 0.997 * rate), ==, 0);
    }
  g_assert_cmpfloat(astro_fraction_least_rate(0.09, 150e6), ==, INFINITY);
  g_assert_cmpuint(astro_fraction_stretch(0.09, 150e6, 1e12), ==, 0);
}

static void test_fraction(void)
{
  for (guint i = 0; i <= 333; i++) {
    double fraction = i == 333 ? 0.9999999 : i / 333.0;
    float taps[ASTRO_FRACTION_TAPS];
    astro_fraction_taps(fraction, 2, taps);
    for (double x = -0.45; x <= 0.4501; x += 0.01) {
      double complex sum = 0;
      for (guint k = 0; k < ASTRO_FRACTION_TAPS; k++)
        sum += taps[k] * TEST_TURN(x * k);
      sum /= 2 * TEST_TURN(x * (ASTRO_FRACTION_CENTRE(ASTRO_FRACTION_TAPS) + fraction));
      test_near(carg(sum) / (2 * G_PI), 0, 4e-4);
      test_near(cabs(sum), 1, 5e-3);
    }
  }
}

/* A real wave of any phase, rotated by any phase, is the real wave with both phases, delayed. */
static void test_real_fraction(void)
{
  enum { PHASES = 8 };
  for (guint i = 0; i <= 333; i++) {
    double fraction = i == 333 ? 0.9999999 : i / 333.0;
    float taps[2 * ASTRO_FRACTION_REAL_TAPS];
    astro_fraction_real_taps(fraction, 2, taps);
    for (double x = 0.025; x <= 0.4751; x += 0.005) {
      double complex above = 0, below = 0;
      for (guint k = 0; k < ASTRO_FRACTION_REAL_TAPS; k++) {
        double complex tap = taps[k] + I * taps[ASTRO_FRACTION_REAL_TAPS + k];
        above += tap * TEST_TURN(x * k) / 4;
        below += tap * TEST_TURN(-x * k) / 4;
      }
      for (guint p = 0; p < PHASES; p++) {
        double complex turn = TEST_TURN((double)p / PHASES);
        double complex wave = above * turn + conj(below * turn);
        wave /= turn * TEST_TURN(x * (ASTRO_FRACTION_CENTRE(ASTRO_FRACTION_REAL_TAPS) + fraction));
        test_near(carg(wave) / (2 * G_PI), 0, 4e-4);
        test_near(cabs(wave), 1, 5e-3);
      }
    }
  }
}

static void check_real_kernel(const AstroDelayKernels *kernels, double phase, double rate, guint n)
{
  enum { TAPS = ASTRO_FRACTION_REAL_TAPS };
  const gsize bytes = n * sizeof(float), long_bytes = (n + TAPS - 1) * sizeof(float);
  float *in = test_alloc(long_bytes), *out = test_alloc(bytes), taps[2 * TAPS];
  for (guint i = 0; i < n + TAPS - 1; i++)
    in[i] = (float)g_test_rand_double_range(-100, 100);
  for (guint i = 0; i < n; i++)
    out[i] = (float)i;
  astro_fraction_real_taps(0.4, 1, taps);
  kernels->interpolate_real(in, taps, phase, rate, n, out);
  test_check_guard(in, long_bytes);
  test_check_guard(out, bytes);
  for (guint i = 0; i < n; i++) {
    double complex sum = 0;
    for (guint k = 0; k < TAPS; k++)
      sum += ((double)taps[k] + I * taps[TAPS + k]) * in[i + k];
    test_near(out[i], creal(sum * TEST_TURN(phase + i * rate)) + i, 2e-3);
  }
  test_free(in);
  test_free(out);
}

static void test_kernels(void)
{
  static const double phases[] = { 0, 0.3, -1234567.89, 1e9 }, rates[] = { 0, 1e-6, -0.37, 12.25 };
  for (guint level = 0; level < G_N_ELEMENTS(test_levels); level++) {
    test_with_level(test_levels[level]);
    const AstroDelayKernels *kernels = astro_delay_kernels();
    test_with_level(NULL);
    for (guint n = 64; n <= 1024; n += 192)
      for (guint p = 0; p < 16; p++) {
        double phase = phases[p / 4], rate = rates[p % 4];
        check_real_kernel(kernels, phase, rate, n);
        gsize bytes = n * sizeof(float), long_bytes = (n + 31) * sizeof(float);
        float taps[ASTRO_FRACTION_TAPS];
        float *re = test_alloc(long_bytes), *im = test_alloc(long_bytes);
        float *out_re = test_alloc(bytes), *out_im = test_alloc(bytes);
        for (guint i = 0; i < n + 31; i++) {
          re[i] = (float)g_test_rand_double_range(-100, 100);
          im[i] = (float)g_test_rand_double_range(-100, 100);
        }
        for (guint i = 0; i < n; i++)
          out_re[i] = out_im[i] = (float)i;
        astro_fraction_taps(0.4, 1, taps);
        kernels->interpolate(re, im, taps, phase, rate, n, out_re, out_im);
        test_check_guard(out_re, bytes);
        test_check_guard(out_im, bytes);
        for (guint i = 0; i < n; i++) {
          double complex sum = 0;
          for (guint k = 0; k < ASTRO_FRACTION_TAPS; k++)
            sum += taps[k] * (re[i + k] + I * im[i + k]);
          sum = sum * TEST_TURN(phase + i * rate) + i + I * i;
          test_near(out_re[i], creal(sum), 2e-3);
          test_near(out_im[i], cimag(sum), 2e-3);
        }
        memcpy(out_re, re, bytes);
        memcpy(out_im, im, bytes);
        kernels->rotate(out_re, out_im, phase, rate, n);
        test_check_guard(out_re, bytes);
        test_check_guard(out_im, bytes);
        for (guint i = 0; i < n; i++) {
          double complex turned = (re[i] + I * im[i]) * TEST_TURN(phase + i * rate);
          test_near(out_re[i], creal(turned), 2e-4);
          test_near(out_im[i], cimag(turned), 2e-4);
        }
        test_free(re);
        test_free(im);
        test_free(out_re);
        test_free(out_im);
      }
  }
}

/* The components of a sample in its format; im is unused for real ones. */
static void parts_of(AstroFormat format, const guint8 *sample, float *re, float *im)
{
  const float *real = (const float *)sample;
  gint16 whole[2];
  memcpy(whole, sample, MIN(astro_format_info(format)->bytes, sizeof whole));
  switch (format) {
  case ASTRO_FORMAT_CI4:
    *re = (float)((*sample >> 4 ^ 8) - 8);
    *im = (float)(((*sample & 15) ^ 8) - 8);
    break;
  case ASTRO_FORMAT_CI8:
    *re = ((const gint8 *)sample)[0];
    *im = ((const gint8 *)sample)[1];
    break;
  case ASTRO_FORMAT_CI16LE:
    *re = whole[0];
    *im = whole[1];
    break;
  case ASTRO_FORMAT_I8:
    *re = ((const gint8 *)sample)[0];
    break;
  case ASTRO_FORMAT_I16LE:
    *re = whole[0];
    break;
  case ASTRO_FORMAT_F32LE:
    *re = real[0];
    break;
  default:
    *re = real[0];
    *im = real[1];
  }
}

/* A component as it is stored: rounded half to even and kept within the format's range. */
static float part_stored(double value, double limit)
{
  return limit > 0 ? (float)CLAMP(nearbyint(value), -limit - 1, limit) : (float)value;
}

/* Random samples at any address, and values beyond the range and half-way between two, in any
 * length. */
static void test_samples(void)
{
  static const struct {
    AstroFormat format;
    double limit;
  } formats[] = { { ASTRO_FORMAT_CI4, 7 },        { ASTRO_FORMAT_CI8, 127 },
                  { ASTRO_FORMAT_CI16LE, 32767 }, { ASTRO_FORMAT_CF32LE, 0 },
                  { ASTRO_FORMAT_I8, 127 },       { ASTRO_FORMAT_I16LE, 32767 },
                  { ASTRO_FORMAT_F32LE, 0 } };
  enum { MOST = 70 };
  for (guint level = 0; level < G_N_ELEMENTS(test_levels); level++) {
    test_with_level(test_levels[level]);
    const AstroDelayKernels *kernels = astro_delay_kernels();
    const AstroSkyKernels *sky_kernels = astro_sky_kernels();
    test_with_level(NULL);
    for (guint f = 0; f < G_N_ELEMENTS(formats); f++)
      for (guint n = 1; n <= MOST; n++) {
        const AstroFormat format = formats[f].format;
        const gboolean is_complex = astro_format_info(format)->is_complex;
        const gsize sample = astro_format_info(format)->bytes, floats = n * sizeof(float);
        const gsize room = (n + 15) / 16 * 16 * sizeof(float);
        guint8 *in = test_alloc(n * sample + 1), *out = test_alloc(n * sample);
        float *re = test_alloc(floats), *im = test_alloc(floats);
        float *from_re = test_alloc(room), *from_im = test_alloc(room), x, y;
        test_fill(in, n * sample + 1, n);
        if (astro_format_info(format)->is_float)
          for (guint i = 0; i < n * sample / 4; i++)
            memcpy(in + 1 + 4 * i, &(float){ (float)i * 0.37f - 5 }, 4);
        kernels->load[format](in + 1, n, re, im);
        test_check_guard(re, floats);
        test_check_guard(im, floats);
        for (guint i = 0; i < n; i++) {
          guint8 aligned[8] __attribute__((aligned(8)));
          memcpy(aligned, in + 1 + i * sample, sample);
          parts_of(format, aligned, &x, &y);
          g_assert_cmpfloat(re[i], ==, x);
          if (is_complex)
            g_assert_cmpfloat(im[i], ==, y);
          from_re[i] = (float)(gint)(i * 37 % 61) - 30 + (i % 3 ? 0.5f : 0.2f);
          from_im[i] = ((float)i - 20) * 3000;
        }
        sky_kernels->store[format](from_re, from_im, n, 0.5f, out);
        test_check_guard(out, n * sample);
        for (guint i = 0; i < n; i++) {
          parts_of(format, out + i * sample, &x, &y);
          g_assert_cmpfloat(x, ==, part_stored(from_re[i] * 0.5, formats[f].limit));
          if (is_complex)
            g_assert_cmpfloat(y, ==, part_stored(from_im[i] * 0.5, formats[f].limit));
        }
        gpointer blocks[] = { in, out, re, im, from_re, from_im };
        for (guint b = 0; b < G_N_ELEMENTS(blocks); b++)
          test_free(blocks[b]);
      }
  }
}

static void add_tests(void)
{
  g_test_add_func("/delay/bandpass", test_bandpass);
  g_test_add_func("/delay/fraction", test_fraction);
  g_test_add_func("/delay/real-fraction", test_real_fraction);
  g_test_add_func("/delay/least-rate", test_least_rate);
  g_test_add_func("/delay/kernels", test_kernels);
  g_test_add_func("/delay/samples", test_samples);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
