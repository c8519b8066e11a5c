/* Images to clean, and a way to have it done. */
#pragma once

#include "core/clean/clean.h"
#include "tests/tests.h"

#include <math.h>

static const AstroBackend *const backends[] = { &astro_clean_reference, &astro_clean_cpu };

static inline AstroCleanConfig config_of(guint size)
{
  return (AstroCleanConfig){ .format = ASTRO_FORMAT_F64LE,
                             .size = size,
                             .in_size = size,
                             .channels = 1,
                             .products = 1,
                             .gain = 0.1,
                             .iterations = 1000,
                             .border = size / 4,
                             .output = ASTRO_CLEAN_ALL };
}

/* Cleans an image of doubles (converted to the config's format), and gives doubles. */
static inline double *clean(const AstroBackend *backend, const AstroCleanConfig *config,
                            const double *values, AstroCleanArguments *arguments,
                            AstroCleanResult *results, guint threads)
{
  gsize pixels = (gsize)config->size * config->size * config->channels;
  gsize n_in = (gsize)config->in_size * config->in_size * config->channels * (config->products + 1);
  gsize n = pixels * astro_clean_products_out(config);
  gboolean wide = config->format == ASTRO_FORMAT_F64LE;
  AstroPlace place = { .threads = threads };
  const char *variant = NULL;
  g_autoptr(GError) error = NULL;
  AstroBlock in = { test_alloc(n_in * (wide ? 8 : 4)), n_in * (wide ? 8 : 4) };
  AstroBlock out = { test_alloc(n * (wide ? 8 : 4)), n * (wide ? 8 : 4) };
  gpointer instance = backend->create(config, &place, &variant, &error);
  g_assert_no_error(error);
  g_assert_nonnull(variant);
  for (gsize i = 0; i < n_in; i++)
    if (wide)
      ((double *)in.data)[i] = values[i];
    else
      ((float *)in.data)[i] = (float)values[i];
  AstroResult result = { .cleaned = results };
  g_assert_true(backend->submit(instance, &in, 1, &out, 1, arguments, &result, &error));
  test_check_guard(out.data, out.bytes);
  backend->destroy(instance);
  double *got = g_new(double, n);
  for (gsize i = 0; i < n; i++)
    got[i] = wide ? ((double *)out.data)[i] : ((float *)out.data)[i];
  test_free(in.data);
  test_free(out.data);
  return got;
}

/* A main lobe of 4 x 3 pixels over ripples, as interferometers have them. */
static inline double psf_at(gint x, gint y)
{
  double lobe = exp(-4 * G_LN2 * (x * x / 16.0 + y * y / 9.0));
  double r2 = x * x + 1.3 * y * y + 0.4 * x * y;
  return lobe + (1 - lobe) * 0.15 * cos(0.9 * x + 0.7 * y) * exp(-r2 / 900);
}

typedef struct {
  guint x, y;
  double flux;
} Source;

/* Sources convolved with the point-spread function, which follows them. */
static inline double *sky(guint size, const Source *sources, guint n)
{
  double *values = g_new0(double, 2 * (gsize)size * size);
  for (gint y = 0; y < (gint)size; y++)
    for (gint x = 0; x < (gint)size; x++) {
      for (guint s = 0; s < n; s++)
        values[y * size + x] +=
            sources[s].flux * psf_at(x - (gint)sources[s].x, y - (gint)sources[s].y);
      values[size * size + y * size + x] = psf_at(x - (gint)size / 2, y - (gint)size / 2);
    }
  return values;
}
