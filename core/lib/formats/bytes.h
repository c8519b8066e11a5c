/* Kernels between CI4 and CI8, which need no arithmetic in floating point: a nibble has sixteen
 * values, so products are looked up. For AVX2 and AVX-512. */
#pragma once

#include "core/lib/formats/many.h"

/* Vectors of bytes, and the same in pairs, which can be shifted. */
typedef guint8 Bytes __attribute__((vector_size(LEVEL_BYTES)));
typedef guint16 Pairs __attribute__((vector_size(LEVEL_BYTES)));

static inline Bytes bytes_load(gconstpointer from)
{
  Bytes loaded;
  memcpy(&loaded, from, sizeof loaded);
  return loaded;
}

static inline Bytes all_bytes(guint8 byte)
{
  return (Bytes)VECTOR(set1_epi8)((gint8)byte);
}

/* A table of sixteen bytes for look_up. */
static inline Bytes table_of(const guint8 *bytes)
{
  const __m128i table = _mm_loadu_si128((const __m128i *)bytes);
#ifdef ASTRO_LEVEL_AVX512
  return (Bytes)_mm512_broadcast_i32x4(table);
#else
  return (Bytes)_mm256_broadcastsi128_si256(table);
#endif
}

static inline Bytes look_up(Bytes table, Bytes indices)
{
  return (Bytes)VECTOR(shuffle_epi8)((Whole)table, (Whole)indices);
}

/* How many bytes have their highest bit set. */
static inline guint n_set(Bytes bytes)
{
#ifdef ASTRO_LEVEL_AVX512
  return (guint)__builtin_popcountll(_mm512_movepi8_mask((__m512i)bytes));
#else
  return (guint)__builtin_popcount((guint)_mm256_movemask_epi8((__m256i)bytes));
#endif
}

static guint64 convert_CI4_CI8(gpointer out, gconstpointer in, gsize components, double scale)
{
  AstroConvertNibbles nibbles;
  astro_convert_nibbles(&nibbles, ASTRO_FORMAT_CI8, scale);
  const Bytes become = table_of(nibbles.becomes), clip = table_of(nibbles.clipped);
  guint clipped = 0;
  for (gsize i = 0; i < components; i += LEVEL_BYTES) {
    const Half packed = LOAD_HALF((const guint8 *)in + i / 2);
    const Pairs pairs = (Pairs)VECTOR(cvtepu8_epi16)(packed);
    const Bytes each = (Bytes)(pairs >> 4 | pairs << 8) & all_bytes(15),
                values = look_up(become, each);
    memcpy((guint8 *)out + i, &values, sizeof values);
    clipped += n_set(look_up(clip, each));
  }
  return clipped;
}

static guint64 convert_CI4_CI4(gpointer out, gconstpointer in, gsize components, double scale)
{
  AstroConvertNibbles nibbles;
  astro_convert_nibbles(&nibbles, ASTRO_FORMAT_CI4, scale);
  const Bytes become = table_of(nibbles.becomes), clip = table_of(nibbles.clipped);
  guint clipped = 0;
  for (gsize i = 0; i < components / 2; i += LEVEL_BYTES) {
    const Bytes packed = bytes_load((const guint8 *)in + i), low = packed & all_bytes(15),
                high = (Bytes)((Pairs)packed >> 4) & all_bytes(15);
    const Bytes values = (Bytes)((Pairs)look_up(become, high) << 4) | look_up(become, low);
    memcpy((guint8 *)out + i, &values, sizeof values);
    clipped += n_set(look_up(clip, low)) + n_set(look_up(clip, high));
  }
  return clipped;
}

/* With scale 1 whole numbers stay whole. */
static guint64 convert_CI8_CI4(gpointer out, gconstpointer in, gsize components, double scale)
{
  if (scale != 1)
    return convert_CI8_SCALED_CI4(out, in, components, scale);
  guint fitting = 0;
  for (gsize i = 0; i < components; i += LEVEL_BYTES) {
    const Whole bytes = (Whole)bytes_load((const guint8 *)in + i),
                held = VECTOR(min_epi8)(VECTOR(max_epi8)(bytes, VECTOR(set1_epi8)(-8)),
                                        VECTOR(set1_epi8)(7));
    fitting += n_set((Bytes)((Bytes)bytes == (Bytes)held));
    const Pairs pairs = (Pairs)held, packed = (pairs << 4 & 0xf0) | (pairs >> 8 & 15);
#ifdef ASTRO_LEVEL_AVX512
    STORE_HALF((guint8 *)out + i / 2, _mm512_cvtepi16_epi8((__m512i)packed));
#else
    STORE_HALF((guint8 *)out + i / 2,
               _mm_packus_epi16(LOW_HALF((Whole)packed), HIGH_HALF((Whole)packed)));
#endif
  }
  return components - fitting;
}
