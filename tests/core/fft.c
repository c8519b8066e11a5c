/* Transforms: the reference against sums written out by hand, then cpu and cuda against the
 * reference, and where that takes too long cuda against cpu. */
#include "core/fft/cut.h"
#include "core/fft/fft.h"
#include "tests/core/on-device.h"
#include "tests/core/touched.h"
#include "tests/tests.h"

#include <complex.h>
#include <math.h>
#include <time.h>

static const AstroBackend *backends[4] = { &astro_fft_reference, &astro_fft_cpu };

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
  memset(out.data, 0xff, out.bytes); /* NaNs show wherever they are taken for samples */
  /* A block leaves nothing to the next one. */
  for (guint i = 0; i < (backend->kind == ASTRO_BACKEND_REFERENCE ? 1 : 2); i++) {
    backend->submit(instance, &in, 1, &out, 1, &steps, &error);
    g_assert_no_error(error);
  }
  test_check_guard(out.data, out.bytes);
  backend->destroy(instance);
  return out.data;
}

/* The same where the block out is the block in. */
static gpointer transform_in_place(const AstroBackend *backend, const AstroFftConfig *config,
                                   gconstpointer samples, guint64 steps, guint threads)
{
  AstroPlace place = { .threads = threads };
  const char *variant;
  g_autoptr(GError) error = NULL;
  gpointer instance = backend->create(config, &place, &variant, &error);
  AstroBlock block = { NULL, block_bytes(config, steps, FALSE) };
  g_assert_no_error(error);
  g_assert_true(backend->in_place);
  g_assert_cmpuint(block.bytes, ==, block_bytes(config, steps, TRUE));
  block.data = test_alloc(block.bytes);
  for (guint i = 0; i < (backend->kind == ASTRO_BACKEND_REFERENCE ? 1 : 2); i++) {
    memcpy(block.data, samples, block.bytes);
    backend->submit(instance, &block, 1, &block, 1, &steps, &error);
    g_assert_no_error(error);
  }
  test_check_guard(block.data, block.bytes);
  backend->destroy(instance);
  return block.data;
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
  for (guint b = 0; backends[b]; b++)
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
  for (guint b = 0; backends[b]; b++) {
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

/* ---- against the reference ---- */

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
  { 2, { 1, 0 }, 1, 1, 1025 },      { 2, { 2, 700 }, 1, -1, 2 },
  { 2, { 3, 520 }, 1, -1, 1 },
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

static gpointer samples_of(const AstroFftConfig *config, guint64 steps)
{
  gsize bytes = block_bytes(config, steps, FALSE);
  gpointer samples = test_alloc(bytes);
  fill(config->from, samples, bytes, (guint32)(bytes + config->n_axes));
  return samples;
}

static void check_in_place(const AstroBackend *backend, const AstroFftConfig *config,
                           gconstpointer in, guint64 steps, gconstpointer expected)
{
  gsize bytes = block_bytes(config, steps, TRUE);
  if (config->from != config->to)
    return;
  for (guint threads = 0; threads < 2; threads++) {
    gpointer found = transform_in_place(backend, config, in, steps, threads);
    g_assert_cmpmem(found, bytes, expected, bytes);
    test_free(found);
  }
}

static void compare_cpu(const AstroFftConfig *config, guint64 steps, double tolerance)
{
  static const char *const levels[] = { "c", "avx2", "avx512" };
  gsize bytes = block_bytes(config, steps, TRUE);
  gpointer in = samples_of(config, steps);
  gpointer expected = transform(&astro_fft_reference, config, in, steps, 1);
  for (guint i = 0; i < G_N_ELEMENTS(levels); i++) {
    g_setenv("ASTRO_CPU", levels[i], TRUE);
    gpointer one = transform(&astro_fft_cpu, config, in, steps, 1);
    gpointer many = transform(&astro_fft_cpu, config, in, steps, 0);
    g_assert_cmpfloat(difference(config->to, one, expected, bytes), <, tolerance);
    g_assert_cmpmem(one, bytes, many, bytes);
    check_in_place(&astro_fft_cpu, config, in, steps, one);
    test_free(one);
    test_free(many);
  }
  g_unsetenv("ASTRO_CPU");
  check_in_place(&astro_fft_reference, config, in, steps, expected);
  test_free(in);
  test_free(expected);
}

static void compare_device(const AstroBackend *known, const AstroFftConfig *config, guint64 steps,
                           double tolerance)
{
  gpointer in = samples_of(config, steps);
  gpointer expected = transform(known, config, in, steps, 0);
  gpointer found = transform(backends[2], config, in, steps, 0);
  double wrong = difference(config->to, found, expected, block_bytes(config, steps, TRUE));
  if (!(wrong < tolerance))
    g_error("%" G_GUINT64_FORMAT " steps of %u axes, the last %" G_GUINT64_FORMAT
            ", %s to %s: error %g, expected less than %g",
            steps, config->n_axes, config->extents[config->n_axes - 1],
            astro_format_info(config->from)->name, astro_format_info(config->to)->name, wrong,
            tolerance);
  test_free(in);
  test_free(expected);
  test_free(found);
}

static void test_reference(gconstpointer backend)
{
  guint number = 0;
  for (guint shape = 0; shape < G_N_ELEMENTS(shapes); shape++)
    for (guint kind = 0; kind < G_N_ELEMENTS(kinds); kind++)
      for (guint sides = (shape + kind) % 2; sides < 4; sides += 2) {
        AstroFftConfig config = config_of(shape, kind);
        centre(&config, sides);
        if (test_passes_over(number++))
          continue;
        if (backend == &astro_fft_cpu)
          compare_cpu(&config, shapes[shape].steps, kinds[kind].tolerance);
        else
          compare_device(&astro_fft_reference, &config, shapes[shape].steps, kinds[kind].tolerance);
      }
}

/* ---- cuda against cpu ---- */

/* Planes of every length that has kernels for columns of its own, and others; widths that fill no
 * row of threads; origins anywhere. */
static void test_planes(gconstpointer data)
{
  static const guint heights[] = { 256,   512,   600,   729,   1024,  1225,  1600,  1764,  2025,
                                   2304,  2401,  2500,  3136,  3600,  4096,  4900,  5184,  6400,
                                   6561,  7000,  8192,  9000,  9604,  10000, 11664, 12544, 14400,
                                   15876, 16384, 19600, 20736, 22500, 25600, 38416, 65536 };
  static const guint widths[] = { 32, 33, 50, 96 };
  for (guint i = 0; i < G_N_ELEMENTS(heights); i++)
    for (guint is_double = 0; is_double < 2; is_double++) {
      const guint kind = 2 * is_double + (i + is_double) % 2, centred = (i + kind) % 3;
      guint64 height = heights[i], width = widths[(i + kind / 2) % G_N_ELEMENTS(widths)];
      AstroFftConfig config = { .from = kinds[kind].from,
                                .to = kinds[kind].to,
                                .inverse = kinds[kind].inverse,
                                .n_axes = 3,
                                .extents = { height > 2000 ? 1 : 3, height, width },
                                .axes = { [1] = { TRUE }, [2] = { TRUE } } };
      if (centred == 1)
        centre(&config, 3);
      if (centred == 2) {
        config.axes[1] = (AstroFftAxis){ TRUE, 7, height - 3 };
        config.axes[2] = (AstroFftAxis){ TRUE, width - 1, 0 };
      }
      compare_device(&astro_fft_cpu, &config, 2, kinds[kind].tolerance);
    }
}

/* A prime, a power of two, many short lines along and across a block. */
static void test_large(gconstpointer data)
{
  static const AstroFftConfig cases[] = {
    { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE, 1, { 1000003 }, { { TRUE, 500001, 500001 } } },
    { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE, 1, { 1 << 22 }, { { TRUE, 1 << 21, 1 << 21 } } },
    { ASTRO_FORMAT_F32LE, ASTRO_FORMAT_CF32LE, 1, { 1000003 }, { { TRUE, 3, 0 } } },
    { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE, 2, { 0, 6 }, { [1] = { TRUE, 3, 3 } } },
    { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE, 3, { 0, 6, 5 }, { [1] = { TRUE, 3, 3 } } },
    { ASTRO_FORMAT_F32LE, ASTRO_FORMAT_CF32LE, 3, { 0, 6, 5 }, { [1] = { TRUE, 3, 0 } } },
    { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE, 2, { 6, 0 }, { { TRUE, 3, 3 } } },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    compare_device(&astro_fft_cpu, &cases[i], cases[i].n_axes == 1 ? 1 : 100000, 1e-6);
}

/* Blocks of other numbers of steps by one instance, more of them than it remembers. */
static void test_steps(gconstpointer data)
{
  AstroFftConfig config = {
    ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE, 3, { 0, 18, 5 }, { [1] = { TRUE, 9, 9 } }
  };
  static const guint64 steps[] = { 5, 1, 70, 2, 71, 5, 300, 0, 7, 70, 2 };
  AstroPlace place = { 0 };
  const char *variant;
  GError *error = NULL;
  gpointer instance = backends[2]->create(&config, &place, &variant, &error);
  g_assert_no_error(error);
  for (guint i = 0; i < G_N_ELEMENTS(steps); i++) {
    guint64 n = steps[i];
    gpointer in = samples_of(&config, n);
    AstroBlock from = { in, block_bytes(&config, n, FALSE) };
    AstroBlock to = { test_alloc(from.bytes), from.bytes };
    backends[2]->submit(instance, &from, 1, &to, 1, &n, &error);
    g_assert_no_error(error);
    gpointer expected = transform(&astro_fft_cpu, &config, in, n, 0);
    g_assert_cmpfloat(difference(config.to, to.data, expected, to.bytes), <, 1e-6);
    test_free(in);
    test_free(to.data);
    test_free(expected);
  }
  backends[2]->destroy(instance);
}

/* What is wanted of a transform is what all of it has there. */
static void test_wanted_planes(gconstpointer data)
{
  enum { HEIGHT = 384, WIDTH = 40 };
  for (guint kind = 0; kind < 4; kind++)
    for (guint i = 0; i < 4; i++) {
      const guint wanted[][2] = { { 0, 1 }, { 100, 201 }, { 383, 1 }, { 0, 384 } };
      AstroFftConfig config = { .from = kinds[kind].from,
                                .to = kinds[kind].to,
                                .inverse = kinds[kind].inverse,
                                .n_axes = 3,
                                .extents = { 3, HEIGHT, WIDTH },
                                .axes = { [1] = { TRUE, 192, 192 }, [2] = { TRUE, 20, 20 } } };
      gsize row = WIDTH * astro_format_info(config.to)->bytes, plane = HEIGHT * row;
      gpointer in = samples_of(&config, 2);
      guint8 *all = transform(&astro_fft_cpu, &config, in, 2, 0);
      config.axes[1].wanted = wanted[i][0];
      config.axes[1].n_wanted = wanted[i][1];
      config.axes[2].wanted = 3;
      config.axes[2].n_wanted = 30;
      guint8 *part = transform(backends[2], &config, in, 2, 0);
      for (guint p = 0; p < 6; p++)
        for (guint k = 0; k < wanted[i][1]; k++) {
          const gsize at = p * plane + (wanted[i][0] + k) * row + 3 * row / WIDTH;
          g_assert_cmpfloat(difference(config.to, part + at, all + at, 30 * row / WIDTH), <,
                            10 * kinds[kind].tolerance);
        }
      test_free(in);
      test_free(all);
      test_free(part);
    }
}

/* Rows of three and four of each of the radices; at last ones that are too long in double
 * precision, of planes so large that cuFFT takes them. */
static void test_rows(gconstpointer data)
{
  static const guint widths[] = { 32,   105,  210,  1000, 1250,  1344,  3375,  4096,
                                  5760, 6144, 8192, 9000, 13500, 13608, 14112, 16384 };
  for (guint i = 0; i < G_N_ELEMENTS(widths); i++)
    for (guint is_double = 0; is_double < 2; is_double++) {
      const guint kind = 2 * is_double + (i + is_double) % 2;
      AstroFftConfig config = { .from = kinds[kind].from,
                                .to = kinds[kind].to,
                                .inverse = kinds[kind].inverse,
                                .n_axes = 2,
                                .extents = { widths[i] < 14112 ? 256 : 512, widths[i] },
                                .axes = { { TRUE, 9, 250 }, { TRUE, widths[i] / 2, 5 } } };
      if (is_double && widths[i] > 8192 && widths[i] < 14112)
        continue;
      if (i % 3)
        centre(&config, 3);
      compare_device(&astro_fft_cpu, &config, 1, kinds[kind].tolerance);
    }
}

/* Of planes of one instance, one after the other, all rows are empty, none, all but one, most;
 * what is left of some is one sample. */
static void fill_planes(const AstroFftConfig *config, guint8 *planes, guint64 n)
{
  const gsize unit = astro_format_info(config->from)->bytes, row = config->extents[2] * unit;
  const guint64 height = config->extents[1];
  fill(config->from, planes, block_bytes(config, n, FALSE), 3);
  for (guint64 plane = 0; plane < n; plane++)
    for (guint64 i = 0; i < height; i++) {
      guint8 *at = planes + (plane * height + i) * row;
      const guint64 kept = (i * 7 + plane) % config->extents[2];
      const gboolean is_empty[] = { TRUE, FALSE, i != height - 1, i % 5 != 2 };
      if (is_empty[plane % 4])
        memset(at, 0, row);
      else if (plane % 4 == 2 || i % 3 == 0) {
        memset(at, 0, kept * unit);
        memset(at + (kept + 1) * unit, 0, row - (kept + 1) * unit);
      }
    }
}

static void test_empty_planes(gconstpointer data)
{
  static const guint64 sizes[][2] = { { 256, 33 }, { 384, 40 }, { 729, 105 }, { 256, 1250 } };
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++)
    for (guint is_double = 0; is_double < 2; is_double++)
      for (guint first = 0; first < 3; first++) {
        const guint kind = 2 * is_double + (i + first) % 2;
        const guint64 height = sizes[i][0], width = sizes[i][1], planes = 4 + first;
        AstroFftConfig config = {
          .from = kinds[kind].from,
          .to = kinds[kind].to,
          .inverse = kinds[kind].inverse,
          .n_axes = 3,
          .extents = { 1, height, width },
          .axes = { [1] = { TRUE, height / 2, height / 2 }, [2] = { TRUE, width / 2, width / 2 } }
        };
        const gsize unit = astro_format_info(config.to)->bytes;
        guint8 *in = test_alloc(block_bytes(&config, planes, FALSE));
        fill_planes(&config, in, planes);
        guint8 *all = transform(&astro_fft_cpu, &config, in, planes, 0);
        for (guint axis = 1; axis < 3 && first; axis++) {
          config.axes[axis].wanted = config.extents[axis] / (2 + first);
          config.axes[axis].n_wanted = config.extents[axis] / 3;
        }
        const AstroFftAxis *y = &config.axes[1], *x = &config.axes[2];
        guint8 *part = transform(backends[2], &config, in, planes, 0);
        for (guint64 k = 0; k < planes * height; k++)
          if (!first || k % height - y->wanted < y->n_wanted) {
            const gsize at = (k * width + x->wanted) * unit;
            g_assert_cmpfloat(
                difference(config.to, part + at, all + at, (first ? x->n_wanted : width) * unit), <,
                30 * kinds[kind].tolerance);
          }
        test_free(in);
        test_free(all);
        test_free(part);
      }
}

/* A block that is its own output. */
static void test_in_place(gconstpointer data)
{
  AstroFftConfig config = { ASTRO_FORMAT_CF32LE,
                            ASTRO_FORMAT_CF32LE,
                            3,
                            { 2, 600, 3000 },
                            { { FALSE }, { TRUE, 300, 300 }, { TRUE, 1500, 1500 } } };
  TestOnDevice on = { .place = { .device = astro_device_open(0, NULL) } };
  const AstroDeviceFuncs *funcs = on.place.device->funcs;
  const gsize bytes = block_bytes(&config, 1, FALSE);
  const char *variant;
  guint64 steps = 1;
  gpointer in = samples_of(&config, 1), found = test_alloc(bytes);
  gpointer expected = transform(&astro_fft_cpu, &config, in, 1, 0);
  GError *error = NULL;
  on.place.queue = funcs->queue_new(on.place.device, NULL);
  test_face_need(&on, on.out, bytes);
  test_face_copy(&on, ASTRO_COPY_UP, on.out->face, in, bytes);
  gpointer instance = test_device_backend->create(&config, &on.place, &variant, &error);
  g_assert_no_error(error);
  const AstroBlock block = { on.out->face, bytes };
  test_device_backend->submit(instance, &block, 1, &block, 1, &steps, &error);
  g_assert_no_error(error);
  test_face_copy(&on, ASTRO_COPY_DOWN, found, on.out->face, bytes);
  g_assert_cmpfloat(difference(config.to, found, expected, bytes), <, 1e-6);
  test_device_backend->destroy(instance);
  funcs->free(on.place.device, on.out->face);
  funcs->queue_free(on.place.device, on.place.queue);
  astro_device_unref(on.place.device);
  test_free(in);
  test_free(found);
  test_free(expected);
}

static gpointer transform_in_thread(gpointer data)
{
  for (guint i = 0; i < 20; i++)
    compare_device(&astro_fft_cpu, data, 2, 1e-6);
  return NULL;
}

/* Two of them on one device at once. */
static void test_two(gconstpointer data)
{
  AstroFftConfig configs[] = { { ASTRO_FORMAT_CF32LE,
                                 ASTRO_FORMAT_CF32LE,
                                 2,
                                 { 512, 512 },
                                 { { TRUE, 256, 256 }, { TRUE, 256, 256 } } },
                               { ASTRO_FORMAT_CF32LE,
                                 ASTRO_FORMAT_CF32LE,
                                 2,
                                 { 300, 301 },
                                 { { TRUE, 150, 150 }, { TRUE, 150, 150 } } } };
  GThread *thread = g_thread_new("other", transform_in_thread, &configs[0]);
  transform_in_thread(&configs[1]);
  g_thread_join(thread);
}

static gpointer transform_often(gpointer data)
{
  const AstroFftConfig *config = data;
  AstroPlace place = { .device = astro_device_open(0, NULL) };
  const AstroDeviceFuncs *funcs = place.device->funcs;
  const gsize bytes = block_bytes(config, 1, FALSE);
  const char *variant;
  guint64 steps = 1;
  gpointer face;
  GError *error = NULL;

  place.queue = funcs->queue_new(place.device, NULL);
  g_assert_true(funcs->alloc(place.device, 2 * bytes, &face, NULL));
  gpointer instance = test_device_backend->create(config, &place, &variant, &error);
  g_assert_no_error(error);
  const AstroBlock in = { face, bytes }, out = { (guint8 *)face + bytes, bytes };
  for (guint i = 0; i < 20000; i++) {
    test_device_backend->submit(instance, &in, 1, &out, 1, &steps, &error);
    g_assert_no_error(error);
  }
  test_device_backend->destroy(instance);
  funcs->free(place.device, face);
  funcs->queue_free(place.device, place.queue);
  astro_device_unref(place.device);
  return NULL;
}

/* Rows of two widths in two threads: one kernel, whose launches want 64 and 8 KiB of shared memory.
 */
static void test_two_widths(gconstpointer data)
{
  static const guint64 widths[] = { 4096, 512 };
  AstroFftConfig configs[2];
  for (guint i = 0; i < G_N_ELEMENTS(widths); i++)
    configs[i] = (AstroFftConfig){ ASTRO_FORMAT_CF64LE,
                                   ASTRO_FORMAT_CF64LE,
                                   2,
                                   { 16, widths[i] },
                                   { [1] = { TRUE, widths[i] / 2, widths[i] / 2 } } };
  GThread *thread = g_thread_new("other", transform_often, &configs[0]);
  transform_often(&configs[1]);
  g_thread_join(thread);
}

/* Work areas that the device has no room for. */
static void test_no_room(gconstpointer data)
{
  AstroFftConfig config = { ASTRO_FORMAT_CF64LE,  ASTRO_FORMAT_F64LE,     2,
                            { 1 << 20, 1 << 20 }, { { TRUE }, { TRUE } }, TRUE };
  AstroPlace place = { .device = astro_device_open(0, NULL) };
  const char *variant;
  g_autoptr(GError) error = NULL;
  guint64 steps = 1;
  gpointer face;
  place.queue = place.device->funcs->queue_new(place.device, NULL);
  place.device->funcs->alloc(place.device, 64, &face, NULL);
  gpointer instance = test_device_backend->create(&config, &place, &variant, NULL);
  AstroBlock in = { face, G_MAXSIZE }, out = { face, G_MAXSIZE };
  g_assert_false(test_device_backend->submit(instance, &in, 1, &out, 1, &steps, &error));
  if (!strstr(error->message, "are free") && !strstr(error->message, "cuFFT"))
    g_error("\"%s\" does not say what is free", error->message);
  test_device_backend->destroy(instance);
  place.device->funcs->free(place.device, face);
  place.device->funcs->queue_free(place.device, place.queue);
  astro_device_unref(place.device);
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
  for (guint b = 0; backends[b]; b++)
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
  for (guint turn = 0; turn < (config.from == config.to ? 4 : 2); turn++) {
    guint8 *part = turn < 2 ? transform(&astro_fft_cpu, &config, in, steps, turn)
                            : transform_in_place(&astro_fft_cpu, &config, in, steps, turn % 2);
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
  guint number = 0;
  for (guint shape = 0; shape < G_N_ELEMENTS(shapes); shape++)
    for (guint kind = 0; kind < G_N_ELEMENTS(kinds); kind++)
      for (guint holes = 0; holes < 5; holes++) {
        AstroFftConfig config = config_of(shape, kind);
        if (shapes[shape].free >= 0 || test_passes_over(number++))
          continue;
        centre(&config, (shape + kind / 4 + holes) % 4);
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

/* ---- maps of touched tiles ---- */

static const struct {
  AstroFormat format;
  double tolerance;
  guint64 maps, share, rows, columns; /* grids: maps x share */
} grids[] = {
  { ASTRO_FORMAT_CF64LE, 1e-13, 1, 1, 7, 5 },      { ASTRO_FORMAT_CF32LE, 3e-6, 2, 3, 16, 32 },
  { ASTRO_FORMAT_CF64LE, 1e-13, 3, 2, 33, 40 },    { ASTRO_FORMAT_CF32LE, 3e-6, 1, 4, 97, 130 },
  { ASTRO_FORMAT_CF32LE, 3e-6, 2, 1, 72, 600 },    { ASTRO_FORMAT_CF64LE, 1e-13, 1, 2, 600, 64 },
  { ASTRO_FORMAT_CF32LE, 3e-6, 1, 1, 1536, 1536 }, /* written past the caches */
};

/* Some rows of tiles have none that is touched, others all. */
static guint8 *make_map(gsize rows, gsize tiles, GRand *random)
{
  guint8 *map = test_alloc(rows * tiles);
  for (gsize row = 0; row < rows; row++) {
    const gint fate = g_rand_int_range(random, 0, 4);
    for (gsize i = 0; i < tiles; i++)
      map[row * tiles + i] = fate == 0 ? 0 : fate == 1 ? 1 : (guint8)g_rand_int_range(random, 0, 2);
  }
  return map;
}

static gboolean row_is_touched(const AstroFftConfig *config, const guint8 *map, gsize line)
{
  const gsize rows = config->extents[1], tiles = astro_grid_tiles((guint)config->extents[2]);
  const gsize row = line / rows / config->share_map * astro_grid_tiles((guint)rows) +
                    line % rows / ASTRO_GRID_TILE;
  return memchr(map + row * tiles, 1, tiles) != NULL;
}

/* What is wanted of rows that are promised. */
static void compare_touched(const AstroFftConfig *config, const guint8 *map, gconstpointer found,
                            gconstpointer expected, double tolerance)
{
  const gsize unit = astro_format_info(config->to)->bytes, n = config->extents[2];
  const AstroFftAxis *axis = &config->axes[2];
  const gsize first = axis->wanted, count = axis->n_wanted ? axis->n_wanted : n;
  for (gsize line = 0; line < config->extents[0] * config->extents[1]; line++) {
    const gsize at = (line * n + first) * unit;
    if (config->axes[1].transformed || row_is_touched(config, map, line))
      g_assert_cmpfloat(difference(config->to, (const guint8 *)found + at,
                                   (const guint8 *)expected + at, count * unit),
                        <, tolerance);
  }
}

static void check_touched(const AstroBackend *backend, const AstroFftConfig *config,
                          gconstpointer poisoned, guint8 *map, gsize map_bytes, gboolean in_place,
                          gconstpointer expected, double tolerance)
{
  const AstroPlace place = { .threads = in_place ? 1 : 0 };
  const char *variant;
  g_autoptr(GError) error = NULL;
  const guint64 steps = 1;
  const gsize bytes = block_bytes(config, 1, FALSE);
  gpointer instance = backend->create(config, &place, &variant, &error);
  g_assert_no_error(error);
  AstroBlock in[] = { { test_alloc(bytes), bytes }, { map, map_bytes } };
  AstroBlock out = { in_place ? in->data : test_alloc(bytes), bytes };
  memset(out.data, 0xff, bytes);
  memcpy(in->data, poisoned, bytes);
  backend->submit(instance, in, 2, &out, 1, (gpointer)&steps, &error);
  g_assert_no_error(error);
  test_check_guard(out.data, bytes);
  compare_touched(config, map, out.data, expected, tolerance);
  if (!in_place)
    test_free(out.data);
  test_free(in->data);
  backend->destroy(instance);
}

/* What is not touched is NaN: against what is known to be right, with zeros in its place. */
static void test_touched(gconstpointer is_large)
{
  const gboolean large = is_large != NULL;
  g_autoptr(GRand) random = g_rand_new_with_seed(3);
  for (guint i = 0; i < 8 * G_N_ELEMENTS(grids); i++) {
    const typeof(grids[0]) *g = &grids[i / 8];
    const gboolean wanted = i & 1, both = i & 2;
    if ((g->columns > 1000) != large)
      continue;
    AstroFftConfig config = { .from = g->format,
                              .to = g->format,
                              .n_axes = 3,
                              .extents = { g->maps * g->share, g->rows, g->columns },
                              .axes = { [1] = { both, g->rows / 2, g->rows / 2 },
                                        [2] = { TRUE, g->columns / 2, g->columns / 2 } },
                              .share_map = g->share };
    if (wanted)
      config.axes[2].wanted = g->columns / 3;
    if (wanted)
      config.axes[2].n_wanted = g->columns / 3;
    if (i & 4)
      config.axes[2].origin_in = config.axes[2].origin_out = 0;
    const gsize bytes = block_bytes(&config, 1, FALSE), unit = astro_format_info(g->format)->bytes;
    const gsize tiles = astro_grid_tiles((guint)g->columns);
    const gsize rows = g->maps * astro_grid_tiles((guint)g->rows);
    guint8 *map = make_map(rows, tiles, random);
    guint8 *poisoned = test_alloc(bytes), *zeroed = test_alloc(bytes);
    fill(g->format, poisoned, bytes, i);
    for (gsize at = 0; at < bytes / unit; at++) {
      const gsize line = at / g->columns;
      const gsize row = line / g->rows / g->share * astro_grid_tiles((guint)g->rows) +
                        line % g->rows / ASTRO_GRID_TILE;
      if (!map[row * tiles + at % g->columns / ASTRO_GRID_TILE])
        memset(poisoned + at * unit, 0xff, unit);
    }
    memcpy(zeroed, poisoned, bytes);
    test_blank_untouched(zeroed, g->maps * g->share, g->share, map, g->rows, g->columns, unit);
    AstroFftConfig plain = config;
    plain.share_map = 0;
    gpointer expected =
        transform(large ? &astro_fft_cpu : &astro_fft_reference, &plain, zeroed, 1, 0);
    for (guint b = large ? 1 : 0; backends[b]; b++)
      for (guint in_place = 0; in_place < 2; in_place++)
        check_touched(backends[b], &config, poisoned, map, rows * tiles, in_place, expected,
                      g->tolerance);
    /* Without a map all is touched. */
    for (guint b = 1; backends[b]; b++) {
      gpointer found = transform(backends[b], &config, zeroed, 1, 0);
      memset(map, 1, rows * tiles);
      compare_touched(&config, map, found, expected, g->tolerance);
      test_free(found);
    }
    test_free(expected);
    test_free(poisoned);
    test_free(zeroed);
    test_free(map);
  }
}

/* ---- errors ---- */

/* Grids that a map cannot be of, and maps that are too small. */
static void test_refused_maps(void)
{
  static const struct {
    guint64 extents[3], share;
    gboolean transformed[3];
    AstroFormat from;
  } cases[] = {
    { { 4, 32, 32 }, 3, { FALSE, TRUE, TRUE }, ASTRO_FORMAT_CF32LE },
    { { 4, 32, 32 }, 4, { FALSE, TRUE, FALSE }, ASTRO_FORMAT_CF32LE },
    { { 4, 32, 32 }, 4, { TRUE, FALSE, TRUE }, ASTRO_FORMAT_CF32LE },
    { { 0, 32, 32 }, 4, { FALSE, TRUE, TRUE }, ASTRO_FORMAT_CF32LE },
    { { 4, 0, 32 }, 4, { FALSE, FALSE, TRUE }, ASTRO_FORMAT_CF32LE },
    { { 4, 32, 1 }, 4, { FALSE, TRUE, TRUE }, ASTRO_FORMAT_CF32LE },
    { { 4, 32, 32 }, 4, { FALSE, TRUE, TRUE }, ASTRO_FORMAT_F32LE },
  };
  for (guint b = 0; backends[b]; b++) {
    const AstroPlace place = { .threads = 1 };
    const char *variant;
    guint64 steps = 1;
    g_autoptr(GError) error = NULL;
    AstroFftConfig config = { .to = ASTRO_FORMAT_CF32LE, .n_axes = 3 };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
      g_autoptr(GError) refused = NULL;
      config.from = cases[i].from;
      config.share_map = cases[i].share;
      memcpy(config.extents, cases[i].extents, sizeof cases[i].extents);
      for (guint k = 0; k < 3; k++)
        config.axes[k].transformed = cases[i].transformed[k];
      g_assert_false(backends[b]->shape(&config, &refused));
      g_assert_nonnull(strstr(refused->message, "share a map"));
    }
    config = (AstroFftConfig){ .from = ASTRO_FORMAT_CF32LE,
                               .to = ASTRO_FORMAT_CF32LE,
                               .n_axes = 3,
                               .extents = { 4, 33, 33 },
                               .axes = { [2] = { TRUE } },
                               .share_map = 2 };
    g_autofree guint8 *samples = g_malloc0(4 * 33 * 33 * 8);
    guint8 map[18] = { 0 };
    AstroBlock in[] = { { samples, 4 * 33 * 33 * 8 }, { map, 17 }, { map, 18 } };
    gpointer instance = backends[b]->create(&config, &place, &variant, NULL);
    g_assert_false(backends[b]->submit(instance, in, 2, in, 1, &steps, &error));
    g_assert_nonnull(strstr(error->message, "expected 18"));
    in[1].bytes = 18;
    g_assert_true(backends[b]->submit(instance, in, 2, in, 1, &steps, NULL));
    g_assert_false(backends[b]->submit(instance, in, 3, in, 1, &steps, NULL));
    backends[b]->destroy(instance);
  }
}

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
  for (guint b = 0; backends[b]; b++) {
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
      g_autoptr(GError) error = NULL;
      AstroPlace place = { 0 };
      const char *variant;
      g_assert_false(backends[b]->shape(&cases[i].config, NULL));
      g_assert_null(backends[b]->create(&cases[i].config, &place, &variant, &error));
      test_says(error->message, cases[i].says);
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

/* Processor seconds of this thread to hold the samples of many small blocks. */
static double time_held(guint64 length)
{
  enum { BLOCK = 16, BLOCKS = 8192, SAMPLES = 8 };
  AstroStream in = { .quantity = ASTRO_QUANTITY_VOLTAGES, .format = ASTRO_FORMAT_CF32LE };
  g_assert_true(astro_layout_parse(&in.layout, "station:time", in.quantity, NULL));
  in.layout.extents[0] = SAMPLES;
  g_autoptr(GstBuffer) buffer = gst_buffer_new();
  g_autofree guint8 *block = g_malloc0(BLOCK * SAMPLES * sizeof(float complex));
  AstroFftCut *cut = astro_fft_cut_new(&in, length, NULL);
  struct timespec from, to;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
  for (guint64 b = 0; b < BLOCKS; b++) {
    AstroSpectra transforms;
    gboolean direct;
    g_assert_true(astro_fft_cut_open(cut, buffer, b * BLOCK, BLOCK, &transforms, &direct, NULL));
    astro_fft_cut_close(cut, block);
  }
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
  astro_fft_cut_free(cut);
  return (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) * 1e-9;
}

/* What waits for a long transform is not moved with every block that comes. */
static void test_held(void)
{
  double small = time_held(64), large = time_held(1 << 20);
  g_test_message("64: %.4f s, 1048576: %.4f s", small, large);
  g_assert_cmpfloat(large, <, 30 * small + 0.05);
}

static void add_tests(void)
{
  backends[2] = test_on_device("fft");
  g_test_add_func("/fft/wave", test_wave);
  g_test_add_func("/fft/real-by-hand", test_real_by_hand);
  g_test_add_data_func("/fft/reference/cpu", &astro_fft_cpu, test_reference);
  g_test_add_func("/fft/cuts", test_cuts);
  g_test_add_func("/fft/held", test_held);
  g_test_add_func("/fft/back", test_back);
  g_test_add_func("/fft/wanted", test_wanted);
  g_test_add_func("/fft/empty-rows", test_empty_rows);
  g_test_add_data_func("/fft/touched", NULL, test_touched);
  g_test_add_data_func("/fft/touched-large", "large", test_touched);
  g_test_add_func("/fft/errors", test_errors);
  g_test_add_func("/fft/errors/maps", test_refused_maps);
  test_add_on_device("/fft/reference/cuda", backends[2], test_reference);
  test_add_on_device("/fft/cuda/planes", backends[2], test_planes);
  test_add_on_device("/fft/cuda/large", backends[2], test_large);
  test_add_on_device("/fft/cuda/wanted", backends[2], test_wanted_planes);
  test_add_on_device("/fft/cuda/rows", backends[2], test_rows);
  test_add_on_device("/fft/cuda/empty-planes", backends[2], test_empty_planes);
  test_add_on_device("/fft/cuda/in-place", backends[2], test_in_place);
  test_add_on_device("/fft/cuda/steps", backends[2], test_steps);
  test_add_on_device("/fft/cuda/two", backends[2], test_two);
  test_add_on_device("/fft/cuda/two-widths", backends[2], test_two_widths);
  test_add_on_device("/fft/cuda/no-room", backends[2], test_no_room);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
