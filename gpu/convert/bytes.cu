/* CI4 and CI8 to CI8, with few enough instructions to keep up with device memory. Conversions
 * between integers and single precision run at an eighth of the rate of other instructions, so two
 * for each component are too many. */
#include "gpu/convert/convert.h"
#include "gpu/runtime/samples.h"

#include <math.h>

/* Four bytes of a and b, picked by the low bits of the nibbles of choice. */
__device__ inline guint32 choose(guint32 a, guint32 b, guint32 choice)
{
  guint32 bytes;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(bytes) : "r"(a), "r"(b), "r"(choice));
  return bytes;
}

/* ---- CI4: the results for the 16 nibbles are looked up, four at a time, in tables in registers
 * ---- */

/* A byte for each nibble: those of 0 to 7, and the bits by which those of 8 to 15 differ. */
struct Table {
  guint32 low[2], turn[2];
};

struct Nibbles {
  Table results, clipped; /* clipped: 1 or 0 */
};

__device__ inline guint32 look_up(const Table &table, guint32 nibbles, guint32 high)
{
  return choose(table.low[0], table.low[1], nibbles) ^
         (choose(table.turn[0], table.turn[1], nibbles) & high);
}

/* Converts four samples. */
template <bool CLIPS>
__device__ inline uint2 widen(const Nibbles &tables, guint32 samples, int *clipped)
{
  const guint32 nibbles =
      (samples & 0x0f0f0f0f) << 4 |
      (samples >> 4 & 0x0f0f0f0f); /* the real part, in the high nibble, comes first */
  const guint32 low = nibbles & 0x77777777, is_high = nibbles >> 3 & 0x11111111;
  guint32 bytes[2];
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const guint32 high = choose(0x0000ff00, 0, is_high >> 16 * half);
    bytes[half] = look_up(tables.results, low >> 16 * half, high);
    if (CLIPS)
      *clipped += (int)__dp4a(look_up(tables.clipped, low >> 16 * half, high), 0x01010101u, 0u);
  }
  return make_uint2(bytes[0], bytes[1]);
}

template <bool CLIPS> struct FromNibbles {
  using In = uint2;
  using Out = uint4;
  static constexpr bool STREAMS = false;
  static constexpr bool COUNTS = CLIPS;
  Nibbles tables;

  __device__ uint4 operator()(In in, int *clipped) const
  {
    const uint2 a = widen<CLIPS>(tables, in.x, clipped), b = widen<CLIPS>(tables, in.y, clipped);
    return make_uint4(a.x, a.y, b.x, b.y);
  }
};

/* ---- CI8 ---- */

struct FromBytes {
  using In = uint4;
  using Out = uint4;
  static constexpr bool STREAMS = false;
  static constexpr bool COUNTS = true;
  float scale;

  __device__ guint32 one(guint32 bytes, int i, int *clipped) const
  {
    return hold_byte((float)(gint8)(bytes >> 8 * i) * scale, clipped);
  }
  __device__ guint32 four(guint32 bytes, int *clipped) const
  {
    const guint32 a = one(bytes, 0, clipped), b = one(bytes, 1, clipped),
                  c = one(bytes, 2, clipped), d = one(bytes, 3, clipped);
    return choose(choose(a, b, 0x0040), choose(c, d, 0x0040), 0x5410);
  }
  __device__ uint4 operator()(In in, int *clipped) const
  {
    return make_uint4(four(in.x, clipped), four(in.y, clipped), four(in.z, clipped),
                      four(in.w, clipped));
  }
};

/* ---- launch ---- */

static Table table_of(const guint8 (&bytes)[16])
{
  Table table = {};
  for (guint i = 0; i < 8; i++) {
    table.low[i / 4] |= (guint32)bytes[i] << i % 4 * 8;
    table.turn[i / 4] |= (guint32)(bytes[i] ^ bytes[i + 8]) << i % 4 * 8;
  }
  return table;
}

void astro_convert_nibbles(const AstroConvertWork *work, float scale, cudaStream_t stream)
{
  guint8 results[16], clipped[16];
  gboolean clips = FALSE;

  for (gint i = 0; i < 16; i++) {
    float rounded = rintf((float)(i < 8 ? i : i - 16) * scale),
          held = fminf(fmaxf(rounded, -128), 127);
    results[i] = (guint8)(gint8)held;
    clips |= clipped[i] = held != rounded;
  }
  const Nibbles tables = { table_of(results), table_of(clipped) };
  if (clips)
    convert_launch(FromNibbles<true>{ tables }, work, stream);
  else
    convert_launch(FromNibbles<false>{ tables }, work, stream);
}

void astro_convert_bytes(const AstroConvertWork *work, float scale, cudaStream_t stream)
{
  convert_launch(FromBytes{ scale }, work, stream);
}
