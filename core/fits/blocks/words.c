/* Converts numbers between memory and the arrays of FITS. */
#include "core/fits/blocks/blocks.h"

#include <string.h>

const AstroFitsWords astro_fits_letters = { 8, FALSE, 1 }, astro_fits_counts = { 32, TRUE, 1 },
                     astro_fits_sums = { 64, TRUE, 1 }, astro_fits_doubles = { -64, FALSE, 1 };

AstroFitsWords astro_fits_words_of(AstroFormat format)
{
  static const AstroFitsWords words[ASTRO_N_FORMATS] = {
    [ASTRO_FORMAT_CI4] = { 8, FALSE, 1 },      [ASTRO_FORMAT_CI8] = { 8, TRUE, 2 },
    [ASTRO_FORMAT_CI16LE] = { 16, FALSE, 2 },  [ASTRO_FORMAT_CF16LE] = { 16, FALSE, 2 },
    [ASTRO_FORMAT_CF32LE] = { -32, FALSE, 2 }, [ASTRO_FORMAT_CF64LE] = { -64, FALSE, 2 },
    [ASTRO_FORMAT_CI32LE] = { 32, FALSE, 2 },  [ASTRO_FORMAT_F32LE] = { -32, FALSE, 1 },
    [ASTRO_FORMAT_F64LE] = { -64, FALSE, 1 },  [ASTRO_FORMAT_U64LE] = { 64, TRUE, 1 },
    [ASTRO_FORMAT_I8] = { 8, TRUE, 1 },        [ASTRO_FORMAT_I16LE] = { 16, FALSE, 1 },
  };
  return words[format];
}

/* Bytes are unsigned in FITS, all other integers are signed. */
double astro_fits_words_zero(const AstroFitsWords *words)
{
  if (!words->is_moved)
    return 0;
  return words->bitpix == 8 ? -128 : words->bitpix == 32 ? 0x1p31 : 0x1p63;
}

#define SWAP(type, swap, flip)                                                                     \
  for (gsize i = 0; i < bytes; i += sizeof(type)) {                                                \
    type value;                                                                                    \
    memcpy(&value, (const guint8 *)from + i, sizeof value);                                        \
    value = swap(value) ^ (type)(flip);                                                            \
    memcpy((guint8 *)to + i, &value, sizeof value);                                                \
  }
#define AS_IT_IS(value) (value)

/* low, high: flip the sign bit, which is in the first or in the last byte of the result. */
static void swap_words(gint bitpix, gboolean low, gboolean high, gconstpointer from, gpointer to,
                       gsize bytes)
{
  switch (ABS(bitpix)) {
  case 8:
    SWAP(guint8, AS_IT_IS, low || high ? 0x80 : 0)
    break;
  case 16:
    SWAP(guint16, GUINT16_SWAP_LE_BE, 0)
    break;
  case 32:
    SWAP(guint32, GUINT32_SWAP_LE_BE, low ? 0x80 : high ? 0x80000000u : 0)
    break;
  default:
    SWAP(guint64, GUINT64_SWAP_LE_BE, low ? 0x80 : high ? G_GUINT64_CONSTANT(1) << 63 : 0)
  }
}

void astro_fits_words_pack(const AstroFitsWords *words, gconstpointer from, gpointer to,
                           gsize bytes)
{
  swap_words(words->bitpix, words->is_moved, FALSE, from, to, bytes);
}

void astro_fits_words_unpack(const AstroFitsWords *words, gconstpointer from, gpointer to,
                             gsize bytes)
{
  swap_words(words->bitpix, FALSE, words->is_moved, from, to, bytes);
}
