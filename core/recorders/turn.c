/* Bands whose frequencies fall, as behind a mixer of the lower sideband, turned to rise. */
#include "config.h"
#include "core/recorders/turn.h"

/* Changes the sign of each so many-th component, from one on. */
#define NEGATE(type, most)                                                                         \
  for (guint64 i = from; i < n; i += step) {                                                       \
    type *value = (type *)samples + i;                                                             \
    *value = *value == -(most)-1 ? (most) : (type) - *value;                                       \
  }

static void negate(gsize bytes, guint8 *samples, guint64 n, guint64 from, guint64 step)
{
  if (bytes == 1)
    NEGATE(gint8, G_MAXINT8)
  else if (bytes == 2)
    NEGATE(gint16, G_MAXINT16)
  else
    for (guint64 i = from; i < n; i += step)
      samples[4 * i + 3] ^= 0x80;
}

static void exchange(guint8 *a, guint8 *b, gsize bytes)
{
  for (gsize i = 0; i < bytes; i++) {
    const guint8 kept = a[i];
    a[i] = b[i];
    b[i] = kept;
  }
}

/* outer times channels times bytes. */
static void reverse(guint8 *samples, guint64 outer, guint64 channels, gsize bytes)
{
  for (guint64 i = 0; i < outer; i++, samples += channels * bytes)
    for (guint64 k = 0; k < channels / 2; k++)
      exchange(samples + k * bytes, samples + (channels - 1 - k) * bytes, bytes);
}

void astro_recorder_turn(const AstroRecorderPacking *packing, const AstroLayout *inner,
                         gint64 first, guint64 n, guint8 *samples)
{
  const gsize bytes = astro_recorder_component_bytes(packing);
  const guint parts = packing->is_complex ? 2 : 1;
  const guint64 of_step = astro_layout_samples(inner) * parts;
  const gint channel = astro_layout_find(inner, ASTRO_AXIS_CHANNEL);
  if (packing->is_complex)
    negate(bytes, samples, n * of_step, 1, 2);
  else if (!packing->is_power)
    for (guint64 i = first % 2 == 0; i < n; i += 2)
      negate(bytes, samples + i * of_step * bytes, of_step, 0, 1);
  if (channel < 0)
    return;
  guint64 outer = n, faster = 1;
  for (guint i = 0; i < inner->n_axes; i++)
    if (i < (guint)channel)
      outer *= inner->extents[i];
    else if (i > (guint)channel)
      faster *= inner->extents[i];
  reverse(samples, outer, inner->extents[channel], faster * parts * bytes);
}
