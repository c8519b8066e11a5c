/* Unpacking, straight from the definition: one component and one bit at a time. */
#include "config.h"
#include "core/recorders/unpack.h"

#include <string.h>

#define WORD_BITS 32

static gboolean is_gapless(const AstroRecorderPacking *packing)
{
  return packing->word_components == 0 || packing->word_components * packing->bits == WORD_BITS;
}

/* The place of a component's least significant bit, counted from that of the first byte. */
static guint64 first_bit(const AstroRecorderPacking *packing, guint64 component)
{
  const guint64 n = packing->word_components;
  if (!is_gapless(packing))
    return component / n * WORD_BITS + component % n * packing->bits;
  const guint64 bit = component * packing->bits;
  return packing->high_first ? bit / 8 * 8 + (8 - packing->bits - bit % 8) : bit;
}

AstroFormat astro_recorder_format(const AstroRecorderPacking *packing)
{
  const gboolean is_complex = packing->is_complex;
  if (packing->is_power)
    return ASTRO_FORMAT_F32LE;
  if (packing->code == ASTRO_RECORDER_FLOAT)
    return packing->bits != 32 ? ASTRO_FORMAT_UNKNOWN
           : is_complex        ? ASTRO_FORMAT_CF32LE
                               : ASTRO_FORMAT_F32LE;
  if (packing->bits < 1 || packing->bits > 16)
    return ASTRO_FORMAT_UNKNOWN;
  if (packing->bits <= 8)
    return is_complex ? ASTRO_FORMAT_CI8 : ASTRO_FORMAT_I8;
  return is_complex ? ASTRO_FORMAT_CI16LE : ASTRO_FORMAT_I16LE;
}

gsize astro_recorder_component_bytes(const AstroRecorderPacking *packing)
{
  if (packing->is_power)
    return 4;
  return packing->bits <= 8 ? 1 : packing->bits <= 16 ? 2 : 4;
}

gboolean astro_recorder_is_plain(const AstroRecorderPacking *packing)
{
  return packing->code == ASTRO_RECORDER_FLOAT ||
         (!packing->is_power && packing->code == ASTRO_RECORDER_SIGNED &&
          (packing->bits == 8 || packing->bits == 16));
}

guint64 astro_recorder_byte_of(const AstroRecorderPacking *packing, guint64 component)
{
  return is_gapless(packing) ? component * packing->bits / 8
                             : component / packing->word_components * (WORD_BITS / 8);
}

guint64 astro_recorder_before(const AstroRecorderPacking *packing, guint64 component)
{
  if (!is_gapless(packing))
    return component % packing->word_components;
  return packing->bits < 8 ? component % (8 / packing->bits) : 0;
}

guint64 astro_recorder_bytes(const AstroRecorderPacking *packing, guint64 components)
{
  const guint64 n = packing->word_components;
  return is_gapless(packing) ? (components * packing->bits + 7) / 8
                             : (components + n - 1) / n * (WORD_BITS / 8);
}

void astro_recorder_unpack_reference(const AstroRecorderPacking *packing, const guint8 *in,
                                     guint64 first, guint64 n, gpointer out)
{
  for (guint64 i = 0; i < n; i++) {
    const guint64 at = first_bit(packing, first + i);
    guint32 number = 0;
    for (guint bit = 0; bit < packing->bits; bit++)
      number |= (guint32)(in[(at + bit) / 8] >> (at + bit) % 8 & 1) << bit;
    const gint32 value = packing->code == ASTRO_RECORDER_FLOAT
                             ? (gint32)number
                             : astro_recorder_level(packing->code, packing->bits, number);
    const gsize bytes = astro_recorder_component_bytes(packing);
    if (packing->is_power && packing->code != ASTRO_RECORDER_FLOAT) {
      ((float *)out)[i] = (float)value;
      continue;
    }
    const guint32 little = GUINT32_TO_LE((guint32)value);
    memcpy((guint8 *)out + i * bytes, &little, bytes);
  }
}
