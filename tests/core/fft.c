/* Transforms: the reference against sums written out by hand, then cpu against the reference. */
#include "core/fft/fft.h"
#include "tests/tests.h"

#include <complex.h>
#include <math.h>

static const AstroBackend *const backends[] = { &astro_fft_reference, &astro_fft_cpu };

static gsize block_bytes(const AstroFftConfig *config, guint64 steps, gboolean out)
{
  gsize bytes = astro_format_info(out ? config->to : config->from)->bytes * steps;
  for (guint i = 0; i < config->n_axes; i++)
    if (config->extents[i])
      bytes *= astro_fft_extent(config, i, out);
  return bytes;
}

static gboolean is_double(AstroFormat format)
{
  return format == ASTRO_FORMAT_CF64LE || format == ASTRO_FORMAT_F64LE;
}

/* Numbers of about 1, of the format's components. */
static void fill(AstroFormat format, gpointer block, gsize bytes, guint32 seed)
{
  gsize n = bytes / (is_double(format) ? 8 : 4);
  g_autofree gint16 *random = g_new(gint16, n);
  test_fill(random, n * 2, seed);
  for (gsize i = 0; i < n; i++)
    if (is_double(format))
      ((double *)block)[i] = random[i] / 16384.0;
    else
      ((float *)block)[i] = (float)(random[i] / 16384.0);
}

static gpointer transform(const AstroBackend *backend, const AstroFftConfig *config,
                          gpointer samples, guint64 steps, guint threads)
{
  AstroPlace place = { .threads = threads };
  const char *variant = NULL;
  g_autoptr(GError) error = NULL;
  AstroBlock in = { samples, block_bytes(config, steps, FALSE) };
  AstroBlock out = { NULL, block_bytes(config, steps, TRUE) };
  gpointer instance = backend->create(config, &place, &variant, &error);
  g_assert_no_error(error);
  g_assert_nonnull(variant);
  out.data = test_alloc(out.bytes);
  /* A block leaves nothing to the next one. */
  for (guint i = 0; i < (backend->kind == ASTRO_BACKEND_CPU ? 2 : 1); i++)
    g_assert_true(backend->submit(instance, &in, 1, &out, 1, &steps, &error));
  test_check_guard(out.data, out.bytes);
  backend->destroy(instance);
  return out.data;
}

/* Relative L2 of the difference. */
static double difference(AstroFormat format, gconstpointer a, gconstpointer b, gsize bytes)
{
  double error = 0, sum = 0;
  for (gsize i = 0; i < bytes / (is_double(format) ? 8 : 4); i++) {
    double x = is_double(format) ? ((const double *)a)[i] : ((const float *)a)[i];
    double y = is_double(format) ? ((const double *)b)[i] : ((const float *)b)[i];
    g_assert_true(isfinite(x));
    error += (x - y) * (x - y);
    sum += y * y;
  }
  return sum > 0 ? sqrt(error / sum) : sqrt(error);
}

/* ---- the reference by hand ---- */

/* A wave along the second axis of [2][6][3] becomes one bin, wherever zero is. */
static void test_wave(void)
{
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++)
    for (guint origin_in = 0; origin_in < 6; origin_in++)
      for (guint origin_out = 0; origin_out < 6; origin_out++) {
        AstroFftConfig config = { .from = ASTRO_FORMAT_CF64LE,
                                  .to = ASTRO_FORMAT_CF64LE,
                                  .n_axes = 3,
                                  .extents = { 2, 6, 3 },
                                  .axes = { [1] = { TRUE, origin_in, origin_out } } };
        double complex wave[36];
        for (gint i = 0; i < 36; i++)
          wave[i] = (1 + i / 18) * cexp(2 * G_PI * I * 2 * (i / 3 % 6 - (gint)origin_in) / 6);
        double complex *out = transform(backends[b], &config, wave, 1, 1);
        for (guint i = 0; i < 36; i++) {
          double expected = i / 3 % 6 == (origin_out + 2) % 6 ? 6 * (1 + i / 18) : 0;
          g_assert_cmpfloat(cabs(out[i] - expected), <, 1e-13);
        }
        test_free(out);
      }
}

/* 1 2 3 4 5, real to complex: values from a table. */
static void test_real_by_hand(void)
{
  static const double expected[][2] = { { 15, 0 },
                                        { -2.5, 3.440954801177933 },
                                        { -2.5, 0.8122992405822659 } };
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
    float in[] = { 1, 2, 3, 4, 5 };
    AstroFftConfig config = { .from = ASTRO_FORMAT_F32LE,
                              .to = ASTRO_FORMAT_CF32LE,
                              .n_axes = 1,
                              .extents = { 5 },
                              .axes = { { TRUE, 0, 0 } } };
    float *out = transform(backends[b], &config, in, 1, 1);
    for (guint i = 0; i < 6; i++)
      g_assert_cmpfloat_with_epsilon(out[i], expected[i / 2][i % 2], 1e-5);
    test_free(out);
  }
}

/* ---- cpu against the reference ---- */

/* Which axes, of which lengths; which one is free (-1: none). */
static const struct {
  guint n_axes;
  guint64 extents[4];
  guint transformed; /* bits */
  gint free;
  guint64 steps;
} shapes[] = {
  { 1, { 1 }, 1, -1, 1 },           { 1, { 2 }, 1, -1, 3 },
  { 1, { 1009 }, 1, -1, 1 },        { 1, { 512 }, 1, -1, 5 },
  { 2, { 0, 48 }, 2, 0, 77 },       { 2, { 48, 0 }, 1, 1, 77 },
  { 2, { 1, 1 }, 3, -1, 1 },        { 2, { 32, 32 }, 3, -1, 1 },
  { 2, { 31, 33 }, 3, -1, 2 },      { 2, { 128, 1 }, 1, -1, 1 },
  { 3, { 2, 20, 18 }, 6, -1, 2 },   { 3, { 3, 17, 70 }, 2, -1, 1 },
  { 3, { 3, 128, 7 }, 2, -1, 1 },   { 3, { 5, 6, 7 }, 7, -1, 1 },
  { 3, { 31, 9, 20 }, 5, -1, 1 },   { 4, { 2, 3, 0, 16 }, 8, 2, 33 },
  { 4, { 0, 12, 2, 3 }, 2, 0, 11 }, { 4, { 4, 0, 5, 6 }, 13, 1, 3 },
};

static const struct {
  AstroFormat from, to;
  gboolean inverse;
  double tolerance;
} kinds[] = {
  { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE, FALSE, 1e-6 },
  { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE, TRUE, 1e-6 },
  { ASTRO_FORMAT_CF64LE, ASTRO_FORMAT_CF64LE, FALSE, 1e-14 },
  { ASTRO_FORMAT_CF64LE, ASTRO_FORMAT_CF64LE, TRUE, 1e-14 },
  { ASTRO_FORMAT_F32LE, ASTRO_FORMAT_CF32LE, FALSE, 1e-6 },
  { ASTRO_FORMAT_F64LE, ASTRO_FORMAT_CF64LE, FALSE, 1e-14 },
  { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_F32LE, TRUE, 1e-6 },
  { ASTRO_FORMAT_CF64LE, ASTRO_FORMAT_F64LE, TRUE, 1e-14 },
};

static AstroFftConfig config_of(guint shape, guint kind)
{
  AstroFftConfig config = { .from = kinds[kind].from,
                            .to = kinds[kind].to,
                            .inverse = kinds[kind].inverse,
                            .n_axes = shapes[shape].n_axes };
  memcpy(config.extents, shapes[shape].extents, sizeof shapes[shape].extents);
  for (guint i = 0; i < config.n_axes; i++)
    config.axes[i].transformed = shapes[shape].transformed >> i & 1;
  return config;
}

/* Bins of real samples begin at zero. */
static void centre(AstroFftConfig *config, guint sides)
{
  for (guint i = 0; i < config->n_axes; i++) {
    gboolean halved = (gint)i == astro_fft_halved(config);
    if (!config->axes[i].transformed)
      continue;
    if (sides & 1 && !(halved && config->inverse))
      config->axes[i].origin_in = config->extents[i] / 2;
    if (sides & 2 && !(halved && !config->inverse))
      config->axes[i].origin_out = config->extents[i] / 2;
  }
}

static void compare(const AstroFftConfig *config, guint64 steps, double tolerance)
{
  static const char *const levels[] = { "c", "avx2", "avx512" };
  gsize in_bytes = block_bytes(config, steps, FALSE), bytes = block_bytes(config, steps, TRUE);
  gpointer in = test_alloc(in_bytes);
  fill(config->from, in, in_bytes, (guint32)(in_bytes + config->n_axes));
  gpointer expected = transform(&astro_fft_reference, config, in, steps, 1);
  for (guint i = 0; i < G_N_ELEMENTS(levels); i++) {
    g_setenv("ASTRO_CPU", levels[i], TRUE);
    gpointer one = transform(&astro_fft_cpu, config, in, steps, 1);
    gpointer many = transform(&astro_fft_cpu, config, in, steps, 0);
    g_assert_cmpfloat(difference(config->to, one, expected, bytes), <, tolerance);
    g_assert_cmpmem(one, bytes, many, bytes);
    test_free(one);
    test_free(many);
  }
  g_unsetenv("ASTRO_CPU");
  test_free(in);
  test_free(expected);
}

static void test_cpu(void)
{
  for (guint shape = 0; shape < G_N_ELEMENTS(shapes); shape++)
    for (guint kind = 0; kind < G_N_ELEMENTS(kinds); kind++)
      for (guint sides = 0; sides < 4; sides++) {
        AstroFftConfig config = config_of(shape, kind);
        centre(&config, sides);
        compare(&config, shapes[shape].steps, kinds[kind].tolerance);
      }
}

/* A spectrum has the same bits whatever block it came in, and where large blocks are written past
 * the caches: along the last axis and across it. */
static void check_cuts(guint64 steps, guint64 part, gboolean across)
{
  enum { N = 24, INNER = 8 };
  AstroFftConfig config = { .from = ASTRO_FORMAT_CF32LE,
                            .to = ASTRO_FORMAT_CF32LE,
                            .n_axes = across ? 3 : 2,
                            .extents = { 0, N, INNER },
                            .axes = { [1] = { TRUE, N / 2, N / 2 } } };
  gsize step = N * 2 * (across ? INNER : 1), bytes = steps * step * sizeof(float);
  float *in = test_alloc(bytes);
  fill(config.from, in, bytes, 4);
  float *whole = transform(&astro_fft_cpu, &config, in, steps, 0);
  for (guint64 at = 0, n = part; at < steps; at += n, n = n % (2 * part) + 1) {
    n = MIN(n, steps - at);
    float *piece = transform(&astro_fft_cpu, &config, in + at * step, n, 0);
    g_assert_cmpmem(piece, n * step * sizeof(float), whole + at * step, n * step * sizeof(float));
    test_free(piece);
  }
  test_free(whole);
  test_free(in);
}

static void test_cuts(void)
{
  check_cuts(100, 3, FALSE);
  check_cuts(100, 3, TRUE);
  check_cuts(100000, 40000, FALSE);
  check_cuts(12000, 5000, TRUE);
}

/* There and back, centred or not, through real bins too. */
static void test_back(void)
{
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++)
    for (guint shape = 0; shape < G_N_ELEMENTS(shapes); shape++)
      for (guint kind = 0; kind < G_N_ELEMENTS(kinds); kind++) {
        AstroFftConfig there = config_of(shape, kind), back;
        if (there.inverse)
          continue;
        centre(&there, 3);
        back = there;
        back.from = there.to;
        back.to = there.from;
        back.inverse = TRUE;
        for (guint i = 0; i < there.n_axes; i++) {
          back.axes[i].origin_in = there.axes[i].origin_out;
          back.axes[i].origin_out = there.axes[i].origin_in;
        }
        guint64 steps = shapes[shape].steps;
        gsize bytes = block_bytes(&there, steps, FALSE);
        gpointer in = test_alloc(bytes);
        fill(there.from, in, bytes, 77 + shape);
        gpointer middle = transform(backends[b], &there, in, steps, 0);
        gpointer again = transform(backends[b], &back, middle, steps, 0);
        g_assert_cmpfloat(difference(there.from, again, in, bytes), <, kinds[kind].tolerance);
        test_free(in);
        test_free(middle);
        test_free(again);
      }
}

/* ---- what is wanted, and what is empty ---- */

/* Empties some of the rows along the last axis, or all of them; every other one that is left keeps
 * one sample, each another one. */
static void empty_rows(const AstroFftConfig *config, guint8 *block, gsize bytes, guint which)
{
  const gsize row =
      astro_fft_extent(config, config->n_axes - 1, FALSE) * astro_format_info(config->from)->bytes;
  for (gsize i = 0; i < bytes / row; i++)
    if (which == 0 || i % which == 1 || i * 3 < bytes / row)
      memset(block + i * row, 0, row);
    else if (i % 2)
      for (gsize at = 0, unit = astro_format_info(config->from)->bytes; at < row; at += unit)
        if (at != (i * 5 + 1) * unit % row)
          memset(block + i * row + at, 0, unit);
}

static gboolean is_wanted(const AstroFftConfig *config, const gsize *strides, gsize sample)
{
  for (guint i = 0; i < config->n_axes; i++) {
    const AstroFftAxis *axis = &config->axes[i];
    const guint64 at = sample / strides[i] % astro_fft_extent(config, i, TRUE);
    if (axis->n_wanted && (at < axis->wanted || at >= axis->wanted + axis->n_wanted))
      return FALSE;
  }
  return TRUE;
}

/* What is wanted has the same bits as where all is. */
static void check_wanted(AstroFftConfig config, guint64 steps, guint holes)
{
  gsize in_bytes = block_bytes(&config, steps, FALSE), bytes = block_bytes(&config, steps, TRUE);
  gsize unit = astro_format_info(config.to)->bytes, strides[ASTRO_MAX_AXES], n = 1, wanted = 0;
  gpointer in = test_alloc(in_bytes);
  fill(config.from, in, in_bytes, (guint32)(in_bytes + holes));
  empty_rows(&config, in, in_bytes, holes);
  guint8 *all = transform(&astro_fft_cpu, &config, in, steps, 1);
  for (guint i = config.n_axes; i-- > 0; n *= astro_fft_extent(&config, i, TRUE)) {
    strides[i] = n;
    const guint64 extent = astro_fft_extent(&config, i, TRUE);
    config.axes[i].wanted = config.axes[i].transformed ? extent / 3 : 0;
    config.axes[i].n_wanted = config.axes[i].transformed ? MAX(extent / 3, 1) : 0;
  }
  for (guint threads = 0; threads < 2; threads++) {
    guint8 *part = transform(&astro_fft_cpu, &config, in, steps, threads);
    for (gsize i = 0; i < bytes / unit; i++)
      if (is_wanted(&config, strides, i)) {
        g_assert_cmpmem(part + i * unit, unit, all + i * unit, unit);
        wanted++;
      }
    test_free(part);
  }
  g_assert_cmpuint(wanted, >, 0);
  test_free(all);
  test_free(in);
}

/* Wherever the only number of a row stands, it is seen. */
static void check_one_sample(guint sample)
{
  enum { ROWS = 3, N = 140 };
  AstroFftConfig config = { .from = ASTRO_FORMAT_CF32LE,
                            .to = ASTRO_FORMAT_CF32LE,
                            .n_axes = 2,
                            .extents = { ROWS, N },
                            .axes = { { TRUE }, { TRUE } } };
  float complex in[ROWS][N] = { 0 };
  in[1][sample] = 2;
  float complex *out = transform(&astro_fft_cpu, &config, in, 1, 1);
  for (guint i = 0; i < ROWS * N; i++) {
    double turns = (double)(i / N) / ROWS + (double)(i % N) * sample / N;
    g_assert_cmpfloat(cabs(out[i] - 2 * cexp(-2 * G_PI * I * turns)), <, 1e-5);
  }
  test_free(out);
}

static void test_wanted(void)
{
  for (guint shape = 0; shape < G_N_ELEMENTS(shapes); shape++)
    for (guint kind = 0; kind < G_N_ELEMENTS(kinds); kind++)
      for (guint sides = 0; sides < 4; sides++)
        for (guint holes = 0; holes < 5; holes++) {
          AstroFftConfig config = config_of(shape, kind);
          if (shapes[shape].free >= 0)
            continue;
          centre(&config, sides);
          check_wanted(config, shapes[shape].steps, holes);
        }
  for (guint sample = 0; sample < 140; sample++)
    check_one_sample(sample);
  /* So large that it is written past the caches. */
  for (guint kind = 0; kind < 4; kind++) {
    AstroFftConfig config = { .from = kinds[kind].from,
                              .to = kinds[kind].to,
                              .inverse = kinds[kind].inverse,
                              .n_axes = 2,
                              .extents = { 1536, 1536 },
                              .axes = { { TRUE, 768, 768 }, { TRUE, 768, 768 } } };
    check_wanted(config, 1, 4);
  }
}

/* Rows of zeros are not looked at again: against the reference, which looks at all. */
static void test_empty_rows(void)
{
  for (guint shape = 0; shape < G_N_ELEMENTS(shapes); shape++)
    for (guint kind = 0; kind < G_N_ELEMENTS(kinds); kind++)
      for (guint holes = 0; holes < 4; holes++) {
        AstroFftConfig config = config_of(shape, kind);
        guint64 steps = shapes[shape].steps;
        gsize in_bytes = block_bytes(&config, steps, FALSE);
        gsize bytes = block_bytes(&config, steps, TRUE);
        if (shapes[shape].free >= 0)
          continue;
        centre(&config, 3);
        gpointer in = test_alloc(in_bytes);
        fill(config.from, in, in_bytes, 5);
        empty_rows(&config, in, in_bytes, holes);
        gpointer expected = transform(&astro_fft_reference, &config, in, steps, 1);
        gpointer out = transform(&astro_fft_cpu, &config, in, steps, 0);
        g_assert_cmpfloat(difference(config.to, out, expected, bytes), <, kinds[kind].tolerance);
        test_free(in);
        test_free(expected);
        test_free(out);
      }
}

/* ---- errors ---- */

static void test_errors(void)
{
  static const struct {
    AstroFftConfig config;
    const char *says;
  } cases[] = {
    { { ASTRO_FORMAT_CI8, ASTRO_FORMAT_CF32LE, 1, { 4 }, { { TRUE } } }, "CI8 to CF32LE" },
    { { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF64LE, 1, { 4 }, { { TRUE } } }, "one precision" },
    { { ASTRO_FORMAT_CF16LE, ASTRO_FORMAT_CF16LE, 1, { 4 }, { { TRUE } } }, "CF16LE" },
    { { ASTRO_FORMAT_F32LE, ASTRO_FORMAT_F32LE, 1, { 4 }, { { TRUE } } }, "real samples" },
    { { ASTRO_FORMAT_F32LE, ASTRO_FORMAT_CF32LE, 1, { 4 }, { { TRUE } }, TRUE }, "real samples" },
    { { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_F32LE, 1, { 4 }, { { TRUE } } }, "real samples" },
    { { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE, 1, { 4 } }, "along 0 axes" },
    { { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE, 1, { 0 }, { { TRUE } } }, "of 0 samples" },
    { { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE, 1, { 4 }, { { TRUE, 4, 0 } } }, "4 samples" },
    { { ASTRO_FORMAT_F32LE, ASTRO_FORMAT_CF32LE, 1, { 4 }, { { TRUE, 0, 2 } } }, "begin at zero" },
    { { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE, 3, { 4, 0, 0 }, { { TRUE } } }, "2 free" },
    { { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE, 1, { 4 }, { { TRUE, 0, 0, 2, 3 } } },
      "3 samples wanted from 2 on" },
    { { ASTRO_FORMAT_F32LE, ASTRO_FORMAT_CF32LE, 1, { 4 }, { { TRUE, 0, 0, 0, 4 } } },
      "a transform that makes 3" },
  };
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
      g_autoptr(GError) error = NULL;
      AstroPlace place = { 0 };
      const char *variant;
      g_assert_false(backends[b]->shape(&cases[i].config, NULL));
      g_assert_null(backends[b]->create(&cases[i].config, &place, &variant, &error));
      if (!strstr(error->message, cases[i].says))
        g_error("case %u: \"%s\" does not say \"%s\"", i, error->message, cases[i].says);
    }
    AstroFftConfig config = {
      ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE, 2, { 0, 4 }, { [1] = { TRUE } }
    };
    AstroPlace place = { 0 };
    const char *variant;
    guint64 steps = 2;
    float samples[16] = { 0 };
    AstroBlock whole = { samples, 64 }, part = { samples, 63 };
    gpointer instance = backends[b]->create(&config, &place, &variant, NULL);
    g_assert_false(backends[b]->submit(instance, &part, 1, &whole, 1, &steps, NULL));
    g_assert_false(backends[b]->submit(instance, &whole, 1, &part, 1, &steps, NULL));
    g_assert_false(backends[b]->submit(instance, &whole, 0, &whole, 1, &steps, NULL));
    backends[b]->destroy(instance);
  }
}

static void add_tests(void)
{
  g_test_add_func("/fft/wave", test_wave);
  g_test_add_func("/fft/real-by-hand", test_real_by_hand);
  g_test_add_func("/fft/cpu", test_cpu);
  g_test_add_func("/fft/cuts", test_cuts);
  g_test_add_func("/fft/back", test_back);
  g_test_add_func("/fft/wanted", test_wanted);
  g_test_add_func("/fft/empty-rows", test_empty_rows);
  g_test_add_func("/fft/errors", test_errors);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
