/* Unpacks the numbers of PSRFITS. */
#include "config.h"
#include "core/fits/psrfits/unpack.h"

#include <string.h>

static float as_float(guint raw, guint bits, gboolean is_signed)
{
  const guint half = 1u << (bits - 1);
  return is_signed && (raw & half) ? (float)raw - (float)(2 * half) : (float)raw;
}

/* The numbers of each byte, which are looked up byte by byte. */
static void unpack_bits(const AstroPsrfitsPacking *packing, const guint8 *bytes, guint64 first,
                        guint64 n, float *restrict out)
{
  const guint bits = packing->bits, a_byte = 8 / bits;
  float levels[16];
  for (guint raw = 0; raw < 1u << bits; raw++)
    levels[raw] = as_float(raw, bits, packing->is_signed) + packing->shift;
  const guint mask = (1u << bits) - 1;
  guint64 i = 0;
  if (first % a_byte == 0)
    for (const guint8 *byte = bytes + first / a_byte; i + a_byte <= n; i += a_byte, byte++)
      for (guint k = 0; k < a_byte; k++)
        out[i + k] = levels[*byte >> (8 - bits * (k + 1)) & mask];
  for (; i < n; i++) {
    const guint64 number = first + i;
    const guint shift = 8 - bits * (guint)(number % a_byte + 1);
    out[i] = levels[bytes[number / a_byte] >> shift & mask];
  }
}

static void unpack_8(const AstroPsrfitsPacking *packing, const guint8 *bytes, guint64 n,
                     float *restrict out)
{
  if (packing->is_signed)
    for (guint64 i = 0; i < n; i++)
      out[i] = (float)(gint8)bytes[i] + packing->shift;
  else
    for (guint64 i = 0; i < n; i++)
      out[i] = (float)bytes[i] + packing->shift;
}

static void unpack_16(const AstroPsrfitsPacking *packing, const guint8 *bytes, guint64 n,
                      float *restrict out)
{
  for (guint64 i = 0; i < n; i++) {
    guint16 bits;
    memcpy(&bits, bytes + 2 * i, sizeof bits);
    out[i] = (float)(gint16)GUINT16_FROM_BE(bits) + packing->shift;
  }
}

static void unpack_32(const AstroPsrfitsPacking *packing, const guint8 *bytes, guint64 n,
                      float *restrict out)
{
  for (guint64 i = 0; i < n; i++) {
    guint32 bits;
    float value;
    memcpy(&bits, bytes + 4 * i, sizeof bits);
    bits = GUINT32_FROM_BE(bits);
    memcpy(&value, &bits, sizeof value);
    out[i] = value + packing->shift;
  }
}

void astro_psrfits_unpack(const AstroPsrfitsPacking *packing, const guint8 *bytes, guint64 first,
                          guint64 n, float *out)
{
  if (packing->bits < 8)
    unpack_bits(packing, bytes, first, n, out);
  else if (packing->bits == 8)
    unpack_8(packing, bytes + first, n, out);
  else if (packing->bits == 16)
    unpack_16(packing, bytes + 2 * first, n, out);
  else
    unpack_32(packing, bytes + 4 * first, n, out);
}

void astro_psrfits_scale(const float *numbers, const float *scales, const float *offsets, guint n,
                         gboolean is_turned, float *restrict out)
{
  if (is_turned)
    for (guint c = 0; c < n; c++)
      out[c] = numbers[n - 1 - c] * scales[c] + offsets[c];
  else
    for (guint c = 0; c < n; c++)
      out[c] = numbers[c] * scales[c] + offsets[c];
}
