#include "config.h"
#include "core/sky/store.h"

/* Scales as astroconvert's: a quarter of full scale for 8 bits, least distortion of noise for 4
 * bits, a sixteenth for 16 bits. */
static const AstroStore stores[] = {
  { ASTRO_FORMAT_CI4, 7, 2.95, 1 },
  { ASTRO_FORMAT_CI8, 127, 32, 2 },
  { ASTRO_FORMAT_CI16LE, 32767, 2048, 4 },
  { ASTRO_FORMAT_CF32LE, 0, 0, 8 },
};

const AstroStore *astro_store_get(AstroFormat format)
{
  for (guint i = 0; i < G_N_ELEMENTS(stores); i++)
    if (stores[i].format == format)
      return &stores[i];
  return NULL;
}

static void store_floats(const float *re, const float *im, guint n, float scale, float *out,
                         gsize stride)
{
  for (guint i = 0; i < n; i++) {
    out[2 * i * stride] = re[i] * scale;
    out[2 * i * stride + 1] = im[i] * scale;
  }
}

void astro_store(const AstroStore *store, const AstroSkyKernels *kernels, const float *re,
                 const float *im, guint n, float scale, gpointer out, gsize stride)
{
  gint16 pairs[2 * ASTRO_NOISE_TILE] __attribute__((aligned(4)));
  if (store->limit == 0) {
    store_floats(re, im, n, scale, out, stride);
    return;
  }
  g_assert(n <= ASTRO_NOISE_TILE);
  kernels->quantise(re, im, (n + 15) & ~15u, scale, store->limit, pairs);
  switch (store->format) {
  case ASTRO_FORMAT_CI4: {
    guint8 *to = out;
    for (guint i = 0; i < n; i++)
      to[i * stride] = (guint8)((guint)pairs[2 * i] << 4 | ((guint)pairs[2 * i + 1] & 15));
    break;
  }
  case ASTRO_FORMAT_CI8: {
    guint16 *to = out;
    for (guint i = 0; i < n; i++)
      to[i * stride] =
          (guint16)((guint)pairs[2 * i] & 255) | (guint16)((guint)pairs[2 * i + 1] << 8);
    break;
  }
  default: {
    guint32 *to = out;
    for (guint i = 0; i < n; i++)
      to[i * stride] = ((guint)pairs[2 * i] & 0xffff) | (guint)pairs[2 * i + 1] << 16;
  }
  }
}

/* Where samples of other inputs lie between those of one, a few lines of the cache are written by
 * all inputs before the next. */
void astro_store_tiles(const AstroStore *store, const AstroSkyKernels *kernels,
                       const AstroTile *tiles, guint n_tiles, guint skip, guint n, float scale,
                       guint8 *out, const gsize *offsets, gsize stride)
{
  guint part = stride > 1 ? 64 : ASTRO_NOISE_TILE;
  for (guint at = 0; at < n; at += part)
    for (guint i = 0; i < n_tiles; i++)
      astro_store(store, kernels, tiles[i].re + skip + at, tiles[i].im + skip + at,
                  MIN(part, n - at), scale, out + (offsets[i] + at * stride) * store->bytes,
                  stride);
}
