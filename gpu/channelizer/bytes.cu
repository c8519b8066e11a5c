/* From CI4 or CI8 to CI4 or CI8 in one kernel: its factors and twiddles, and its launches for up to
 * 256 channels; bytes-long.cu has those for more. */
#include "gpu/channelizer/bytes-kernel.h"
#include "gpu/channelizer/bytes-long.h"

#include <math.h>

/* Factors of n up to 16: two, else three, with the least sum, the last even if n is; last 0: there
 * are none. */
static BytesFactors factors_of(guint32 n)
{
  BytesFactors best = {};
  for (guint32 middle = 1; middle <= BYTES_WIDEST && n >= BYTES_LEAST; middle++) {
    if (middle > 1 && best.last && best.middle == 1)
      break;
    for (guint32 first = 2; first <= BYTES_WIDEST; first++) {
      const guint32 last = n / middle / first;
      if (n % (middle * first) == 0 && last > 1 && last <= BYTES_WIDEST &&
          (last % 2 == 0 || n % 2) &&
          (!best.last || first + middle + last < best.first + best.middle + best.last))
        best = { first, middle, last };
    }
  }
  return best;
}

gboolean astro_channelizer_takes_bytes(guint32 n)
{
  return factors_of(n).last != 0;
}

/* Twiddles of a pass after others that made transforms of `before` points. */
static guint pass_powers(guint32 before, guint32 radix, float2 *powers)
{
  const guint each = bytes_twiddles(radix);
  const gboolean turns = radix >= 4 && (radix & (radix - 1)) == 0;
  for (guint32 k = 0; k < before && powers; k++) {
    double turn[BYTES_WIDEST / 2];
    const double w = k / (double)(before * radix);
    if (radix == 16)
      fft_turns<16>(w, turn);
    else if (radix == 8)
      fft_turns<8>(w, *(double(*)[4])turn);
    else if (radix == 4)
      fft_turns<4>(w, *(double(*)[2])turn);
    for (guint i = 0; i < each; i++) {
      const double angle = -2 * G_PI * (turns ? turn[i] : w * (1 << i));
      powers[turns ? (i / 2 * before + k) * 2 + i % 2 : i * before + k] =
          make_float2((float)cos(angle), (float)sin(angle));
    }
  }
  return each * before;
}

guint astro_channelizer_bytes_powers(guint32 n, float2 *powers)
{
  const BytesFactors factors = factors_of(n);
  const guint middle = factors.middle > 1 ? pass_powers(factors.first, factors.middle, powers) : 0;
  return middle +
         pass_powers(factors.first * factors.middle, factors.last, powers ? powers + middle : NULL);
}

gboolean astro_channelizer_bytes(AstroFormat from, const ChannelizerRun *run, cudaStream_t stream,
                                 GError **error)
{
  const BytesFactors factors = factors_of(run->n);
  if (factors.middle > 1)
    return astro_channelizer_bytes_long(from, run, factors, stream, error);
  switch (run->n) {
#define FIXED(first, last)                                                                         \
  case (first) * (last):                                                                           \
    return launch(from, run, BytesFixed<BytesShort, first, 1, last>(), stream, error);
    FIXED(4, 4)
    FIXED(4, 8)
    FIXED(6, 6)
    FIXED(8, 8)
    FIXED(8, 16)
    FIXED(16, 16)
#undef FIXED
  default:
    return launch_any<BytesShort>(from, run, factors, stream, error);
  }
}

gboolean astro_channelizer_bytes_init(guint32 n, GError **error)
{
  const ChannelizerRun run = { .n = n };
  return astro_channelizer_bytes(ASTRO_FORMAT_CI8, &run, NULL, error);
}
