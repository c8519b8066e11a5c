/* Simulated stations with gains, and what backends solve from their visibilities. */
#pragma once

#include "core/calibrate/calibrate.h"
#include "core/calibrate/solve.h"
#include "tests/tests.h"

#include <math.h>

#define TEST_BANDWIDTH 16e6

typedef struct {
  AstroCalibrateConfig config;
  guint reference;
  guint stations, channels, pols, products;
  guint64 steps, baselines;
  GRand *random;
  complex double *jones;        /* [station][channel][4]: the truth */
  complex double *model, *data; /* [step][channel][baseline][product] */
  guint32 *counts;              /* [step][channel][baseline] */
  AstroValidityMeta validity;   /* of counts; full: their largest */
} TestCalibrate;

static inline double test_gaussian(GRand *random)
{
  const double u = 1 - g_rand_double(random), v = g_rand_double(random);
  return sqrt(-2 * log(u)) * cos(2 * G_PI * v);
}

static inline complex double test_complex(GRand *random, double rms)
{
  const double re = test_gaussian(random), im = test_gaussian(random);
  return rms * M_SQRT1_2 * (re + I * im);
}

static inline AstroStream test_visibilities(AstroFormat format, guint stations, guint channels,
                                            guint pols)
{
  g_autofree char *text = g_strdup_printf(
      "application/x-astro-visibilities,format=%s,layout=channel:baseline:pol:pol,baselines=%u,"
      "channels=%u,pols=%u,rate=1/10,frequency=1.4e9,bandwidth=16e6",
      astro_format_name(format), stations * (stations + 1) / 2, channels, pols);
  g_autoptr(GstCaps) caps = gst_caps_from_string(text);
  AstroStream stream;
  g_assert_true(astro_stream_from_caps(&stream, caps, NULL));
  return stream;
}

static inline gsize test_place(const TestCalibrate *t, guint64 step, guint channel, guint i,
                               guint j)
{
  return ((step * t->channels + channel) * t->baselines + (gsize)i * (i + 1) / 2 + j) * t->products;
}

/* The model: sources of any polarisation, another in each visibility. */
static inline void test_make_model(TestCalibrate *t, double polarised)
{
  const gsize n = t->steps * t->channels * t->baselines;
  for (gsize k = 0; k < n; k++) {
    complex double *m = t->model + k * t->products;
    const complex double i = 1 + test_complex(t->random, 0.3),
                         q = polarised * test_complex(t->random, 1),
                         u = polarised * test_complex(t->random, 1),
                         v = polarised * test_complex(t->random, 1);
    m[0] = i + q;
    if (t->pols == 2) {
      m[1] = u + I * v;
      m[2] = u - I * v;
      m[3] = i - q;
    }
  }
}

static inline TestCalibrate *test_calibrate_new(AstroGainsType type, AstroFormat format,
                                                guint stations, guint channels, guint pols,
                                                guint64 steps, guint32 seed)
{
  TestCalibrate *t = g_new0(TestCalibrate, 1);
  t->stations = stations;
  t->channels = channels;
  t->pols = pols;
  t->products = pols * pols;
  t->steps = steps;
  t->baselines = stations * (stations + 1) / 2;
  t->config.in = t->config.out = test_visibilities(format, stations, channels, pols);
  t->config.type = type;
  t->config.channel_step = type == ASTRO_GAINS_BANDPASS ? 1 : 0;
  t->random = g_rand_new_with_seed(seed);
  t->jones = g_new0(complex double, (gsize)4 * stations * channels);
  t->model = g_new0(complex double, steps *channels * t->baselines * t->products);
  t->data = g_new0(complex double, steps *channels * t->baselines * t->products);
  t->counts = g_new(guint32, steps * channels * t->baselines);
  for (gsize k = 0; k < steps * channels * t->baselines; k++)
    t->counts[k] = (guint32)g_rand_int_range(t->random, 50, 101);
  t->validity.full = 100;
  t->validity.counts = t->counts;
  t->validity.shape = (AstroLayout){ .n_axes = steps > 1 ? 3 : 2 };
  guint at = 0;
  if (steps > 1) {
    t->validity.shape.axes[at] = ASTRO_AXIS_TIME;
    t->validity.shape.extents[at++] = steps;
  }
  t->validity.shape.axes[at] = ASTRO_AXIS_CHANNEL;
  t->validity.shape.extents[at++] = channels;
  t->validity.shape.axes[at] = ASTRO_AXIS_BASELINE;
  t->validity.shape.extents[at] = t->baselines;
  test_make_model(t, type == ASTRO_GAINS_FULL ? 0.3 : 0);
  return t;
}

static inline void test_calibrate_free(TestCalibrate *t)
{
  g_rand_free(t->random);
  g_free(t->jones);
  g_free(t->model);
  g_free(t->data);
  g_free(t->counts);
  g_free(t);
}

static inline complex double *test_jones(const TestCalibrate *t, guint station, guint channel)
{
  return t->jones + ((gsize)station * t->channels + channel) * 4;
}

/* Makes the data that stations measure, with noise of that rms for a count of 100. */
static inline void test_observe_with(TestCalibrate *t, double noise)
{
  for (guint64 s = 0; s < t->steps; s++)
    for (guint c = 0; c < t->channels; c++)
      for (guint i = 0; i < t->stations; i++)
        for (guint j = 0; j <= i; j++) {
          const gsize at = test_place(t, s, c, i, j);
          complex double m[4] = { t->model[at], 0, 0, 0 }, half[4], v[4];
          for (guint k = 1; k < t->products; k++)
            m[k] = t->model[at + k];
          astro_jones_multiply(test_jones(t, i, c), m, half);
          astro_jones_multiply_adjoint(half, test_jones(t, j, c), v);
          const double rms = noise * sqrt(100. / MAX(t->counts[at / t->products], 1));
          for (guint k = 0; k < t->products; k++)
            t->data[at + k] = v[k] + test_complex(t->random, rms);
        }
}

typedef struct {
  AstroCalibrateSolved solved;
  gsize n;
} TestSolved;

static inline void test_solved_clear(TestSolved *solved)
{
  g_free(solved->solved.gains);
  g_free(solved->solved.snr);
  g_free(solved->solved.delays);
}

/* The data in the format of the configuration; to be freed. */
static inline gpointer test_block(const TestCalibrate *t, gsize *bytes)
{
  const gsize n = t->steps * t->channels * t->baselines * t->products;
  *bytes = t->steps * astro_stream_step_bytes(&t->config.in);
  if (t->config.in.format == ASTRO_FORMAT_CF64LE)
    return g_memdup2(t->data, n * sizeof *t->data);
  float *block = g_new(float, 2 * n);
  for (gsize k = 0; k < n; k++) {
    block[2 * k] = (float)creal(t->data[k]);
    block[2 * k + 1] = (float)cimag(t->data[k]);
  }
  return block;
}

static inline gpointer test_calibrate_open(const TestCalibrate *t, const AstroBackend *backend,
                                           guint threads)
{
  const AstroPlace place = { .threads = threads };
  const char *variant;
  GError *error = NULL;
  gpointer instance = backend->create(&t->config, &place, &variant, &error);
  g_assert_no_error(error);
  return instance;
}

static inline TestSolved test_solve(const TestCalibrate *t, const AstroBackend *backend,
                                    guint threads)
{
  GError *error = NULL;
  gsize bytes;
  g_autofree guint8 *block = test_block(t, &bytes);
  TestSolved to = { .n = (gsize)t->stations * astro_calibrate_groups(&t->config) *
                         astro_calibrate_values(&t->config) };
  to.solved.gains = g_new0(complex double, to.n);
  to.solved.snr = g_new0(float, to.n);
  to.solved.delays = g_new0(double, to.n);
  AstroResult result = { .own = &to.solved };
  AstroCalibrateArguments arguments = {
    .work = ASTRO_CALIBRATE_ADD, .steps = t->steps, .validity = &t->validity, .model = t->model
  };
  const AstroBlock in = { block, bytes };
  gpointer instance = test_calibrate_open(t, backend, threads);
  backend->submit(instance, &in, 1, NULL, 0, &arguments, NULL, &error);
  g_assert_no_error(error);
  arguments = (AstroCalibrateArguments){ .work = ASTRO_CALIBRATE_SOLVE, .reference = t->reference };
  backend->submit(instance, NULL, 0, NULL, 0, &arguments, &result, &error);
  g_assert_no_error(error);
  backend->destroy(instance);
  return to;
}
