/* Predicted visibilities compared with a plain double loop over the measurement equation, for every
 * instruction set; noise, gains and losses by their averages. */
#include "core/lib/predict/kernels.h"
#include "tests/core/lib/predict/predict.h"

/* Baseline by baseline, without phasors of stations. */
static complex double naive(Setup *s, guint channel, guint i, guint j, gint64 start_ns,
                            gint64 duration_ns)
{
  const AstroStream *stream = &s->config.stream;
  guint points = s->config.points;
  double width = stream->bandwidth / stream->layout.extents[0];
  complex double sum = 0;
  for (guint t = 0; t < points; t++) {
    const double *uvw = uvw_at(s, start_ns + (gint64)((t + 0.5) / points * (double)duration_ns));
    for (guint f = 0; f < points; f++) {
      double frequency =
          stream->frequency - stream->bandwidth / 2 + (channel + (f + 0.5) / points) * width;
      for (guint k = 0; k < s->sky->n; k++) {
        const AstroSource *source = &s->sky->sources[k];
        double metres = 0;
        for (guint c = 0; c < 3; c++)
          metres += (uvw[3 * i + c] - uvw[3 * j + c]) * (source->lmn[c] - (c == 2));
        sum += source->flux * pow(frequency / stream->frequency, source->spectral_index) *
               cexp(2 * G_PI * I * (metres * frequency / ASTRO_LIGHT_SPEED));
      }
    }
  }
  return sum / (points * points);
}

/* The middles of these integrations are whole minutes, where (u,v,w) are not interpolated. */
#define STEP (120 * SECOND)

static void compare(Setup *s, AstroPredict *predict, guint64 number, double tolerance)
{
  const AstroLayout *layout = &s->config.stream.layout;
  gboolean is_double = s->config.stream.format == ASTRO_FORMAT_CF64LE;
  gsize bytes = n_values(s) * (is_double ? 16 : 8);
  guint8 *out = test_alloc(bytes);
  guint pols = (guint)layout->extents[2];
  gint64 start = (gint64)number * STEP;
  double flux = 0;

  for (guint k = 0; k < s->sky->n; k++)
    flux += 2 * s->sky->sources[k].flux;
  astro_predict_fill(predict, number, start, STEP, out, NULL);
  test_check_guard(out, bytes);
  gsize at = 0;
  for (guint c = 0; c < layout->extents[0]; c++)
    for (guint i = 0; i < s->observation->n_stations; i++)
      for (guint j = 0; j <= i; j++) {
        complex double expected = naive(s, c, i, j, start, STEP);
        for (guint p = 0; p < pols; p++)
          for (guint q = 0; q < pols; q++, at++)
            test_near_complex(is_double ? ((complex double *)out)[at] : ((complex float *)out)[at],
                              p == q ? expected : 0, tolerance * flux);
      }
  test_free(out);
}

static void test_sums(void)
{
  static const struct {
    const char *array;
    guint stations, pols, channels, sources, points;
    AstroFormat format;
    double tolerance;
  } cases[] = {
    { "disc", 1, 1, 1, 1, 1, ASTRO_FORMAT_CF64LE, 1e-8 },
    { "disc", 2, 2, 3, 0, 1, ASTRO_FORMAT_CF64LE, 1e-8 },
    { "disc", 7, 1, 5, 3, 1, ASTRO_FORMAT_CF64LE, 1e-8 },
    { "vla-like", 11, 2, 2, 700, 1, ASTRO_FORMAT_CF64LE, 1e-8 },
    { "disc", 64, 2, 1, 2, 1, ASTRO_FORMAT_CF32LE, 1e-7 },
    { "vla-like", 131, 1, 1, 5, 1, ASTRO_FORMAT_CF64LE, 1e-8 },
    { "lofar-like", 9, 1, 2, 4, 3, ASTRO_FORMAT_CF64LE, 1e-5 },
  };
  for (guint l = 0; levels[l]; l++) {
    g_setenv("ASTRO_CPU", levels[l], TRUE);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
      Setup s;
      set_up(&s, cases[i].array, cases[i].stations, cases[i].pols, cases[i].channels,
             cases[i].sources);
      s.config.stream.format = cases[i].format;
      s.config.points = cases[i].points;
      g_autoptr(AstroPredict) predict = astro_predict_new(&s.config, NULL);
      g_assert_nonnull(predict);
      compare(&s, predict, 0, cases[i].tolerance);
      compare(&s, predict, 30, cases[i].tolerance);
      tear_down(&s);
    }
  }
  g_unsetenv("ASTRO_CPU");
}

/* Sines and cosines themselves, from zero to more cycles than any array has. */
static void test_phasors(void)
{
  for (guint l = 0; levels[l]; l++) {
    g_setenv("ASTRO_CPU", levels[l], TRUE);
    const AstroPredictKernels *kernels = astro_predict_kernels();
    guint lanes = kernels->lanes;
    g_autoptr(GRand) rand = g_rand_new_with_seed(l);
    for (guint round = 0; round < 2000; round++) {
      double positions[3 * ASTRO_PREDICT_MAX_LANES] = { 0 }, direction[3] = { 1, 0, 0 };
      double amplitude = 2, found[2 * ASTRO_PREDICT_MAX_LANES];
      double reach = pow(10, g_rand_double_range(rand, -9, 9));
      for (guint i = 0; i < lanes; i++)
        positions[i] =
            round < 64 ? (round + i - 32.0) / 8 : g_rand_double_range(rand, -1, 1) * reach;
      kernels->phasors(positions, direction, &amplitude, 1, found);
      for (guint i = 0; i < lanes; i++) {
        double angle = 2 * G_PI * (positions[i] - rint(positions[i]));
        g_assert_cmpfloat_with_epsilon(found[i], 2 * cos(angle), 1.5e-15);
        g_assert_cmpfloat_with_epsilon(found[lanes + i], 2 * sin(angle), 1.5e-15);
      }
    }
  }
  g_unsetenv("ASTRO_CPU");
}

/* Sums of |V - expected|^2 in units of noise^2 / samples, over cross- and autocorrelations. */
typedef struct {
  double cross, autos, hands, other_hands;
  double n_cross, n_autos;
  complex double correlation; /* of XX's noise with YY's */
} Spread;

static Spread measure(Setup *s, AstroPredict *predict, guint numbers)
{
  const AstroLayout *layout = &s->config.stream.layout;
  guint64 baselines = layout->extents[1];
  g_autofree complex double *out = g_new(complex double, n_values(s));
  g_autofree guint32 *counts = g_new(guint32, layout->extents[0] * baselines);
  double unit = s->config.noise * s->config.noise;
  Spread spread = { 0 };
  for (guint number = 0; number < numbers; number++) {
    astro_predict_fill(predict, number, number * STEP, STEP, out, counts);
    for (guint c = 0; c < layout->extents[0]; c++)
      for (guint i = 0, b = 0; i < s->observation->n_stations; i++)
        for (guint j = 0; j <= i; j++, b++) {
          gsize at = c * baselines + b;
          const complex double *v = out + 4 * at;
          double n = counts[at];
          complex double expected = naive(s, c, i, j, number * STEP, STEP);
          if (counts[at] == 0) {
            for (guint p = 0; p < 4; p++)
              g_assert_true(v[p] == 0);
          } else if (i == j) {
            g_assert_true(cimag(v[0]) == 0 && cimag(v[3]) == 0 && v[1] == conj(v[2]));
            double mean = creal(expected) + s->config.noise;
            spread.autos +=
                n / unit * (pow(creal(v[0]) - mean, 2) + pow(creal(v[3]) - mean, 2)) / 2;
            spread.hands += n / unit * pow(cabs(v[1]), 2);
            spread.n_autos++;
          } else {
            spread.cross += n / unit * pow(cabs(v[0] - expected), 2);
            spread.other_hands += n / unit * pow(cabs(v[2]), 2);
            spread.correlation += n / unit * (v[0] - expected) * conj(v[3] - expected);
            spread.n_cross++;
          }
        }
  }
  return spread;
}

/* Within five sigma of noise alone, with lost data and without. */
static void test_noise(void)
{
  static const double losses[] = { 0, 0.4 };
  for (guint i = 0; i < G_N_ELEMENTS(losses); i++) {
    Setup s;
    set_up(&s, "disc", 40, 2, 2, 1);
    s.config.noise = 50;
    s.config.loss = losses[i];
    s.config.stream.rate_d = 3;
    g_autoptr(AstroPredict) predict = astro_predict_new(&s.config, NULL);
    g_assert_cmpuint(astro_predict_full(predict), ==, 30000000);
    Spread spread = measure(&s, predict, 10);
    double cross = 5 / sqrt(spread.n_cross), autos = 5 * sqrt(2 / spread.n_autos);
    g_assert_cmpfloat_with_epsilon(spread.cross / spread.n_cross, 1, cross);
    g_assert_cmpfloat_with_epsilon(spread.other_hands / spread.n_cross, 1, cross);
    g_assert_cmpfloat_with_epsilon(cabs(spread.correlation) / spread.n_cross, 0, cross);
    g_assert_cmpfloat_with_epsilon(spread.autos / spread.n_autos, 1, autos);
    g_assert_cmpfloat_with_epsilon(spread.hands / spread.n_autos, 1, autos);
    tear_down(&s);
  }
}

/* A station has the share of good pieces that was asked for, a baseline at most the pieces that
 * both its stations have, and all channels lose the same. */
static void test_loss(void)
{
  Setup s;
  set_up(&s, "disc", 30, 1, 2, 1);
  s.config.loss = 0.25;
  g_autoptr(AstroPredict) predict = astro_predict_new(&s.config, NULL);
  guint64 baselines = 30 * 31 / 2;
  g_autofree complex double *out = g_new(complex double, n_values(&s));
  g_autofree guint32 *counts = g_new(guint32, 2 * baselines);
  double stations = 0, pairs = 0, full = astro_predict_full(predict);
  for (guint number = 0; number < 200; number++) {
    astro_predict_fill(predict, number, number * STEP, STEP, out, counts);
    g_assert_cmpint(memcmp(counts, counts + baselines, baselines * sizeof *counts), ==, 0);
    for (guint i = 0, b = 0; i < 30; i++)
      for (guint j = 0; j <= i; j++, b++) {
        g_assert_cmpuint(counts[b], <=, MIN(counts[i * (i + 3) / 2], counts[j * (j + 3) / 2]));
        *(i == j ? &stations : &pairs) += counts[b] / full;
      }
  }
  g_assert_cmpfloat_with_epsilon(stations / (200 * 30), 0.75, 0.01);
  g_assert_cmpfloat_with_epsilon(pairs / (200 * 29 * 15), 0.75 * 0.75, 0.01);
  tear_down(&s);
}

/* Gains of stations: closure phases do not change, and the amplitudes are spread as asked for. */
static void test_gains(void)
{
  Setup s;
  set_up(&s, "disc", 200, 1, 1, 1);
  s.sky->sources[0] = (AstroSource){ .lmn = { 0, 0, 1 }, .flux = 1 };
  s.config.gain_error = 0.1;
  s.config.phase_error = 0.5;
  g_autoptr(AstroPredict) predict = astro_predict_new(&s.config, NULL);
  g_autofree complex double *v = g_new(complex double, n_values(&s));
  astro_predict_fill(predict, 0, 0, STEP, v, NULL);
  double size = 0, phase = 0;
  for (guint i = 0; i < 200; i++) {
    size += pow(sqrt(creal(v[i * (i + 3) / 2])) - 1, 2) / 200;
    if (i > 1) {
      complex double closure = v[1] * v[i * (i + 1) / 2 + 1] * conj(v[i * (i + 1) / 2]);
      g_assert_cmpfloat_with_epsilon(carg(closure), 0, 1e-12);
      phase += pow(carg(v[i * (i + 1) / 2]) - carg(v[1]), 2) / 198;
    }
  }
  g_assert_cmpfloat_with_epsilon(sqrt(size), 0.1, 0.02);
  g_assert_cmpfloat(phase, >, 0.1);
  g_assert_cmpfloat(phase, <, 4);
  tear_down(&s);
}

/* Any integration can be made at any time, by any number of threads, and is always the same. */
static void test_repeat(void)
{
  Setup s;
  set_up(&s, "vla-like", 70, 2, 3, 9);
  s.config.noise = 3;
  s.config.loss = 0.1;
  s.config.gain_error = 0.2;
  gsize bytes = n_values(&s) * 16, n_counts = 3 * 70 * 71 / 2;
  g_autofree guint8 *first = g_malloc(bytes), *again = g_malloc(bytes), *other = g_malloc(bytes);
  g_autofree guint32 *counts = g_new(guint32, n_counts), *counts_again = g_new(guint32, n_counts);
  for (guint threads = 0; threads < 3; threads++) {
    s.config.threads = threads;
    g_autoptr(AstroPredict) predict = astro_predict_new(&s.config, NULL);
    if (threads == 0) {
      astro_predict_fill(predict, 7, 7 * STEP, STEP, first, counts);
      astro_predict_fill(predict, 8, 8 * STEP, STEP, other, counts_again);
      g_assert_cmpint(memcmp(first, other, bytes), !=, 0);
    }
    astro_predict_fill(predict, 7, 7 * STEP, STEP, again, counts_again);
    g_assert_cmpint(memcmp(first, again, bytes), ==, 0);
    g_assert_cmpint(memcmp(counts, counts_again, n_counts * sizeof *counts), ==, 0);
  }
  s.config.seed++;
  g_autoptr(AstroPredict) predict = astro_predict_new(&s.config, NULL);
  astro_predict_fill(predict, 7, 7 * STEP, STEP, again, counts_again);
  g_assert_cmpint(memcmp(first, again, bytes), !=, 0);
  g_assert_cmpint(memcmp(counts, counts_again, n_counts * sizeof *counts), !=, 0);
  tear_down(&s);
}

/* The visibilities of earlier versions, noise and losses included. */
static void test_same_as_ever(void)
{
  Setup s;
  set_up(&s, "vla-like", 9, 2, 3, 7);
  s.config.noise = 3;
  s.config.loss = 0.1;
  s.config.points = 2;
  s.config.stream.format = ASTRO_FORMAT_CF32LE;
  g_setenv("ASTRO_CPU", "c", TRUE);
  g_autoptr(AstroPredict) predict = astro_predict_new(&s.config, NULL);
  g_unsetenv("ASTRO_CPU");
  const gsize bytes = n_values(&s) * 8;
  g_autofree float *data = g_malloc(bytes);
  g_autofree gint32 *rounded = g_malloc(bytes);
  g_autofree guint32 *counts = g_new(guint32, 3 * 45);
  astro_predict_fill(predict, 5, 5 * STEP, STEP, data, counts);
  for (gsize i = 0; i < bytes / sizeof(float); i++) /* the last digits are the C library's */
    rounded[i] = GINT32_TO_LE((gint32)rint(100 * data[i]));
  g_autofree char *sum = g_compute_checksum_for_data(G_CHECKSUM_MD5, (guchar *)rounded, bytes);
  g_assert_cmpstr(sum, ==, "bbb430e60e77fec15d1743a3b78f0b6e");
  tear_down(&s);
}

static void test_errors(void)
{
  static const struct {
    const char *message;
    AstroFormat format;
    gint rate_n, rate_d;
    double frequency, bandwidth;
    guint64 baselines;
  } cases[] = {
    { "expected the format", ASTRO_FORMAT_CI8, 1, 1, 1e8, 1e6, 3 },
    { "no rate", ASTRO_FORMAT_CF32LE, 0, 1, 1e8, 1e6, 3 },
    { "below 0 Hz", ASTRO_FORMAT_CF32LE, 1, 1, 1e5, 1e6, 3 },
    { "baselines", ASTRO_FORMAT_CF32LE, 1, 1, 1e8, 1e6, 4 },
    { "samples in a visibility", ASTRO_FORMAT_CF32LE, 1, 1000000, 1e8, 1e6, 3 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    Setup s;
    set_up(&s, "disc", 2, 2, 1, 1);
    s.config.stream.format = cases[i].format;
    s.config.stream.rate_n = cases[i].rate_n;
    s.config.stream.rate_d = cases[i].rate_d;
    s.config.stream.frequency = cases[i].frequency;
    s.config.stream.bandwidth = cases[i].bandwidth;
    s.config.stream.layout.extents[1] = cases[i].baselines;
    g_assert_null(astro_predict_new(&s.config, &error));
    g_assert_nonnull(strstr(error->message, cases[i].message));
    tear_down(&s);
  }
}

static void add_tests(void)
{
  g_test_add_func("/predict/phasors", test_phasors);
  g_test_add_func("/predict/sums", test_sums);
  g_test_add_func("/predict/noise", test_noise);
  g_test_add_func("/predict/loss", test_loss);
  g_test_add_func("/predict/gains", test_gains);
  g_test_add_func("/predict/repeat", test_repeat);
  g_test_add_func("/predict/same-as-ever", test_same_as_ever);
  g_test_add_func("/predict/errors", test_errors);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
