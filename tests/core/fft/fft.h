/* Shared by tests of transforms: transforms of random samples, of many shapes and kinds. */
#pragma once

#include "core/lib/fft/fft.h"
#include "tests/core/on-device.h"
#include "tests/tests.h"

#include <math.h>

static const AstroBackend *test_backends[5] = { &astro_fft_reference, &astro_fft_cpu };

static inline gsize test_block_bytes(const AstroFftConfig *config, guint64 steps, gboolean out)
{
  gsize bytes = astro_format_info(out ? config->to : config->from)->bytes * steps;
  for (guint i = 0; i < config->n_axes; i++)
    if (config->extents[i])
      bytes *= astro_fft_extent(config, i, out);
  return bytes;
}

/* Values of about 1, in the format's components. */
static inline void test_fill_samples(AstroFormat format, gpointer block, gsize bytes, guint32 seed)
{
  gsize n = bytes / (astro_format_is_double(format) ? 8 : 4);
  g_autofree gint16 *random = g_new(gint16, n);
  test_fill(random, n * 2, seed);
  for (gsize i = 0; i < n; i++)
    if (astro_format_is_double(format))
      ((double *)block)[i] = random[i] / 16384.0;
    else
      ((float *)block)[i] = (float)(random[i] / 16384.0);
}

static inline gpointer test_transform(const AstroBackend *backend, const AstroFftConfig *config,
                                      gpointer samples, guint64 steps, guint threads)
{
  AstroPlace place = { .threads = threads };
  const char *variant = NULL;
  g_autoptr(GError) error = NULL;
  AstroBlock in = { samples, test_block_bytes(config, steps, FALSE) };
  AstroBlock out = { NULL, test_block_bytes(config, steps, TRUE) };
  gpointer instance = backend->create(config, &place, &variant, &error);
  g_assert_no_error(error);
  g_assert_nonnull(variant);
  out.data = test_alloc(out.bytes);
  memset(out.data, 0xff, out.bytes); /* NaNs show if they are used as samples */
  /* A block leaves nothing for the next one. */
  for (guint i = 0; i < (backend->kind == ASTRO_BACKEND_REFERENCE ? 1 : 2); i++) {
    backend->submit(instance, &in, 1, &out, 1, &steps, NULL, &error);
    g_assert_no_error(error);
  }
  test_check_guard(out.data, out.bytes);
  backend->destroy(instance);
  return out.data;
}

/* The same if the output block is the input block. */
static inline gpointer test_transform_in_place(const AstroBackend *backend,
                                               const AstroFftConfig *config, gconstpointer samples,
                                               guint64 steps, guint threads)
{
  AstroPlace place = { .threads = threads };
  const char *variant;
  g_autoptr(GError) error = NULL;
  gpointer instance = backend->create(config, &place, &variant, &error);
  AstroBlock block = { NULL, test_block_bytes(config, steps, FALSE) };
  g_assert_no_error(error);
  g_assert_true(backend->in_place);
  g_assert_cmpuint(block.bytes, ==, test_block_bytes(config, steps, TRUE));
  block.data = test_alloc(block.bytes);
  for (guint i = 0; i < (backend->kind == ASTRO_BACKEND_REFERENCE ? 1 : 2); i++) {
    memcpy(block.data, samples, block.bytes);
    backend->submit(instance, &block, 1, &block, 1, &steps, NULL, &error);
    g_assert_no_error(error);
  }
  test_check_guard(block.data, block.bytes);
  backend->destroy(instance);
  return block.data;
}

/* Relative L2 of the difference. */
static inline double test_difference(AstroFormat format, gconstpointer a, gconstpointer b,
                                     gsize bytes)
{
  double error = 0, sum = 0;
  for (gsize i = 0; i < bytes / (astro_format_is_double(format) ? 8 : 4); i++) {
    double x = astro_format_is_double(format) ? ((const double *)a)[i] : ((const float *)a)[i];
    double y = astro_format_is_double(format) ? ((const double *)b)[i] : ((const float *)b)[i];
    g_assert_true(isfinite(x));
    error += (x - y) * (x - y);
    sum += y * y;
  }
  return sum > 0 ? sqrt(error / sum) : sqrt(error);
}

/* Which axes, with which lengths; which one is free (-1: none). */
static const struct {
  guint n_axes;
  guint64 extents[4];
  guint transformed; /* bits */
  gint free;
  guint64 steps;
} test_shapes[] = {
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
} test_kinds[] = {
  { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE, FALSE, 1e-6 },
  { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE, TRUE, 1e-6 },
  { ASTRO_FORMAT_CF64LE, ASTRO_FORMAT_CF64LE, FALSE, 1e-14 },
  { ASTRO_FORMAT_CF64LE, ASTRO_FORMAT_CF64LE, TRUE, 1e-14 },
  { ASTRO_FORMAT_F32LE, ASTRO_FORMAT_CF32LE, FALSE, 1e-6 },
  { ASTRO_FORMAT_F64LE, ASTRO_FORMAT_CF64LE, FALSE, 1e-14 },
  { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_F32LE, TRUE, 1e-6 },
  { ASTRO_FORMAT_CF64LE, ASTRO_FORMAT_F64LE, TRUE, 1e-14 },
};

static inline AstroFftConfig test_config_of(guint shape, guint kind)
{
  AstroFftConfig config = { .from = test_kinds[kind].from,
                            .to = test_kinds[kind].to,
                            .inverse = test_kinds[kind].inverse,
                            .n_axes = test_shapes[shape].n_axes };
  memcpy(config.extents, test_shapes[shape].extents, sizeof test_shapes[shape].extents);
  for (guint i = 0; i < config.n_axes; i++)
    config.axes[i].transformed = test_shapes[shape].transformed >> i & 1;
  return config;
}

/* Bins of real samples begin at zero. */
static inline void test_centre(AstroFftConfig *config, guint sides)
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

static inline gpointer test_samples_of(const AstroFftConfig *config, guint64 steps)
{
  gsize bytes = test_block_bytes(config, steps, FALSE);
  gpointer samples = test_alloc(bytes);
  test_fill_samples(config->from, samples, bytes, (guint32)(bytes + config->n_axes));
  return samples;
}

static inline void test_compare_device(const AstroBackend *known, const AstroFftConfig *config,
                                       guint64 steps, double tolerance)
{
  gpointer in = test_samples_of(config, steps);
  gpointer expected = test_transform(known, config, in, steps, 0);
  gpointer found = test_transform(test_backends[2], config, in, steps, 0);
  double wrong =
      test_difference(config->to, found, expected, test_block_bytes(config, steps, TRUE));
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
