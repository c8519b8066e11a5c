/* Shared by tests of imaging: images made of planes by any backend, and random planes. */
#pragma once

#include "core/image/image.h"
#include "tests/core/on-device.h"
#include "tests/tests.h"

static const AstroBackend *test_backends[5] = { &astro_image_reference, &astro_image_cpu };

static inline gsize test_bytes_in(const AstroImageConfig *config)
{
  return (gsize)config->channels * config->n_in * config->grid.size * config->grid.size *
         astro_format_info(config->from)->bytes;
}

static inline gsize test_pixels_out(const AstroImageConfig *config)
{
  return (gsize)config->channels * config->n_out * config->grid.image_size *
         config->grid.image_size;
}

static inline gsize test_map_bytes(const AstroImageConfig *config)
{
  return (gsize)config->channels * astro_grid_tiles(config->grid.size) *
         astro_grid_tiles(config->grid.size);
}

/* One product as it is. */
static inline AstroImageConfig test_simple(guint size, guint image_size)
{
  return (AstroImageConfig){
    .from = ASTRO_FORMAT_CF64LE,
    .to = ASTRO_FORMAT_F64LE,
    .grid = { .size = size, .image_size = image_size, .pixel = 1e-3, .cell = 1 / (1e-3 * size) },
    .channels = 1,
    .n_in = 1,
    .n_out = 1,
    .products = { { "I", 1, { { 0, FALSE, 1 } } } }
  };
}

/* The image of several planes, as doubles, with the planes' maps of touched tiles or NULL. */
static inline double *test_make_mapped_image(const AstroBackend *backend,
                                             const AstroImageConfig *config, gpointer *planes,
                                             guint8 **maps, guint n, double w, double w_step,
                                             const double *weights, guint threads)
{
  AstroPlace place = { .threads = threads };
  const char *variant = NULL;
  g_autoptr(GError) error = NULL;
  gpointer instance = backend->create(config, &place, &variant, &error);
  g_assert_no_error(error);
  g_assert_nonnull(variant);
  AstroBlock out = { NULL, test_pixels_out(config) * astro_format_info(config->to)->bytes };
  out.data = test_alloc(out.bytes);
  for (guint plane = 0; plane < n; plane++) {
    AstroBlock in[] = { { planes[plane], test_bytes_in(config) },
                        { NULL, test_map_bytes(config) } };
    AstroImageArguments arguments = { w + plane * w_step, w_step, weights, plane == 0,
                                      plane == n - 1 };
    if (maps)
      in[1].data = maps[plane];
    g_assert_true(backend->submit(instance, in, maps ? 2 : 1, &out, 1, &arguments, NULL, &error));
  }
  test_check_guard(out.data, out.bytes);
  backend->destroy(instance);
  double *image = g_new(double, test_pixels_out(config));
  for (gsize i = 0; i < test_pixels_out(config); i++)
    image[i] =
        astro_format_is_double(config->to) ? ((double *)out.data)[i] : ((float *)out.data)[i];
  test_free(out.data);
  return image;
}

static inline double *test_make_image(const AstroBackend *backend, const AstroImageConfig *config,
                                      gpointer *planes, guint n, double w, double w_step,
                                      const double *weights, guint threads)
{
  return test_make_mapped_image(backend, config, planes, NULL, n, w, w_step, weights, threads);
}

static inline gpointer test_random_grid(const AstroImageConfig *config, guint32 seed)
{
  gsize n = test_bytes_in(config) / (astro_format_is_double(config->from) ? 8 : 4);
  g_autofree gint16 *random = g_new(gint16, n);
  gpointer grid = test_alloc(test_bytes_in(config));
  test_fill(random, n * 2, seed);
  for (gsize i = 0; i < n; i++)
    if (astro_format_is_double(config->from))
      ((double *)grid)[i] = random[i] / 32768.0;
    else
      ((float *)grid)[i] = (float)(random[i] / 32768.0);
  return grid;
}
