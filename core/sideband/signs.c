/* Loops that change signs and reverse samples, for each size. */
#include "config.h"
#include "core/sideband/signs.h"

#include <string.h>

/* Vectors of the width that every machine has: memory is the bottleneck here. negative is the value
 * of vector x where the mask is set. */
#define SIGNS(name, type, negative)                                                                \
  static void signs_##name(gpointer out, gconstpointer in, gconstpointer masks, gsize n)           \
  {                                                                                                \
    typedef type Vector __attribute__((vector_size(16), aligned(1), may_alias));                   \
    enum { LANES = sizeof(Vector) / sizeof(type) };                                                \
    gsize i = 0;                                                                                   \
    for (; i + LANES <= n; i += LANES) {                                                           \
      const Vector x = *(const Vector *)((const type *)in + i);                                    \
      const Vector mask = *(const Vector *)((const type *)masks + i);                              \
      *(Vector *)((type *)out + i) = x ^ ((x ^ (negative)) & mask);                                \
    }                                                                                              \
    for (; i < n; i++) {                                                                           \
      typedef type One __attribute__((vector_size(sizeof(type)), aligned(1), may_alias));          \
      const One x = *(const One *)((const type *)in + i);                                          \
      const One mask = *(const One *)((const type *)masks + i);                                    \
      *(One *)((type *)out + i) = x ^ ((x ^ (negative)) & mask);                                   \
    }                                                                                              \
  }

/* A comparison that is true gives -1; the complement is one less than the negative. */
SIGNS(i8, gint8, ~x - (x != G_MININT8))
SIGNS(i16, gint16, ~x - (x != G_MININT16))
SIGNS(i32, gint32, ~x - (x != G_MININT32))
/* Negates only the low nibble of a byte: the complement of 8 is 7. */
SIGNS(i4, gint8, (x & ~15) | ((((x ^ 15) & 15) - ((x & 15) != 8)) & 15))
SIGNS(f16, gint16, x ^ G_MININT16)
SIGNS(f32, gint32, x ^ G_MININT32)
SIGNS(f64, gint64, x ^ G_MININT64)

static const struct {
  guint bytes;
  AstroSidebandSigns signs;
} components[ASTRO_N_FORMATS] = {
  [ASTRO_FORMAT_CI4] = { 1, signs_i4 },     [ASTRO_FORMAT_CI8] = { 1, signs_i8 },
  [ASTRO_FORMAT_CI16LE] = { 2, signs_i16 }, [ASTRO_FORMAT_CI32LE] = { 4, signs_i32 },
  [ASTRO_FORMAT_CF16LE] = { 2, signs_f16 }, [ASTRO_FORMAT_CF32LE] = { 4, signs_f32 },
  [ASTRO_FORMAT_CF64LE] = { 8, signs_f64 }, [ASTRO_FORMAT_I8] = { 1, signs_i8 },
  [ASTRO_FORMAT_I16LE] = { 2, signs_i16 },  [ASTRO_FORMAT_F32LE] = { 4, signs_f32 },
  [ASTRO_FORMAT_F64LE] = { 8, signs_f64 },
};

guint astro_sideband_component_bytes(AstroFormat format)
{
  return components[format].bytes;
}

AstroSidebandSigns astro_sideband_signs(AstroFormat format)
{
  return components[format].signs;
}

typedef struct {
  guint64 parts[2];
} Wide;

/* Works from both ends inwards, so that every sample is read before it is overwritten. */
#define REVERSE(type)                                                                              \
  static void reverse_##type(type *out, const type *in, gsize n)                                   \
  {                                                                                                \
    for (gsize i = 0; i < (n + 1) / 2; i++) {                                                      \
      const type first = in[i], last = in[n - 1 - i];                                              \
      out[i] = last;                                                                               \
      out[n - 1 - i] = first;                                                                      \
    }                                                                                              \
  }

REVERSE(guint8)
REVERSE(guint16)
REVERSE(guint32)
REVERSE(guint64)
REVERSE(Wide)

void astro_sideband_reverse(gpointer out, gconstpointer in, gsize n, guint sample_bytes)
{
  switch (sample_bytes) {
  case 1:
    reverse_guint8(out, in, n);
    break;
  case 2:
    reverse_guint16(out, in, n);
    break;
  case 4:
    reverse_guint32(out, in, n);
    break;
  case 8:
    reverse_guint64(out, in, n);
    break;
  default:
    reverse_Wide(out, in, n);
  }
}

void astro_sideband_exchange(gpointer out_a, gpointer out_b, gconstpointer in_a, gconstpointer in_b,
                             gsize bytes)
{
  guint8 held[4096];

  for (gsize done = 0, n; done < bytes; done += n) {
    n = MIN(bytes - done, sizeof held);
    memcpy(held, (const guint8 *)in_a + done, n);
    memmove((guint8 *)out_a + done, (const guint8 *)in_b + done, n);
    memcpy((guint8 *)out_b + done, held, n);
  }
}
