/* Gathers samples to rows with time contiguous. Tiles of lines by time are transposed in shared
 * memory, so that accesses to device memory are contiguous on both sides. */
#include "gpu/runtime/gather.h"
#include "gpu/runtime/samples.h"

enum { TILE = 32 /* lines in a warp's tile */, TIME = 64, THREADS = 256, WARPS = THREADS / 32 };
#define MOST_STEPS ((guint64)1 << 30) /* in one launch, so that 32-bit indices suffice */

/* A line is one input of one channel. Lines are numbered so that successive ones lie side by side
 * in the source. */
struct Lines {
  AstroCudaGather gather; /* all but its count */
  guint32 count;
  AstroDivisor fast; /* extent of the axis in which successive lines differ */
  gboolean by_channel;
  guint32 n;
};

struct Line {
  guint32 channel, station, pol;
};

__device__ inline Line line_of(const Lines &lines, guint32 number)
{
  guint32 slow = lines.fast.divide(number), fast = number - slow * lines.fast.by;
  guint32 channel = lines.by_channel ? fast : slow, input = lines.by_channel ? slow : fast;
  bool two = lines.gather.pols == 2;
  return { channel, two ? input / 2 : input, two ? input & 1 : 0 };
}

__device__ inline const guint8 *source_of(const AstroCudaGather &g, const Line &line)
{
  return g.from + line.channel * g.channel + line.station * g.station + line.pol * g.pol;
}

__device__ inline guint8 *target_of(const AstroCudaGather &g, const Line &line)
{
  return g.to + line.channel * g.to_channel + (line.station * g.pols + line.pol) * g.to_row;
}

__device__ inline bool is_good(const AstroCudaGather &g, const Line &line, guint32 step)
{
  return !g.valid || g.valid[step * g.valid_time + line.channel * g.valid_channel +
                             line.station * g.valid_station];
}

/* Converts a sample: Change<FROM, TO>::of(sample). */
template <AstroFormat FROM, AstroFormat TO> struct Change;

/* Copies the bits unchanged. */
template <typename Bits> struct Keep {
  using In = Bits;
  using Out = Bits;
  static __device__ Bits of(Bits sample)
  {
    return sample;
  }
};
template <AstroFormat F> struct Change<F, F> : Keep<guint32> {
};
template <> struct Change<ASTRO_FORMAT_CI4, ASTRO_FORMAT_CI4> : Keep<guint8> {
};
template <> struct Change<ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI8> : Keep<guint16> {
};
template <> struct Change<ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE> : Keep<uint2> {
};

template <> struct Change<ASTRO_FORMAT_CI4, ASTRO_FORMAT_CI8> {
  using In = guint8;
  using Out = char2;
  static __device__ Out of(In sample)
  {
    return make_char2(nibble_of(sample, 0), nibble_of(sample, 1));
  }
};
template <typename Sample> struct ToSingle {
  using In = Sample;
  using Out = float2;
  static __device__ Out of(In sample)
  {
    return make_float2(single_of(sample.x), single_of(sample.y));
  }
};
template <> struct Change<ASTRO_FORMAT_CI8, ASTRO_FORMAT_CF32LE> : ToSingle<char2> {
  static __device__ Out of(In sample)
  {
    return make_float2(sample.x, sample.y);
  }
};
template <> struct Change<ASTRO_FORMAT_CI16LE, ASTRO_FORMAT_CF32LE> : ToSingle<short2> {
};
template <> struct Change<ASTRO_FORMAT_CF16LE, ASTRO_FORMAT_CF32LE> : ToSingle<__half2> {
};
template <> struct Change<ASTRO_FORMAT_CI4, ASTRO_FORMAT_CF32LE> {
  using In = guint8;
  using Out = float2;
  static __device__ Out of(In sample)
  {
    return make_float2(nibble_of(sample, 0), nibble_of(sample, 1));
  }
};
template <typename Real> struct FromReal {
  using In = Real;
  using Out = float2;
  static __device__ Out of(In sample)
  {
    return make_float2(single_of(sample), 0);
  }
};
template <> struct Change<ASTRO_FORMAT_I8, ASTRO_FORMAT_CF32LE> : FromReal<gint8> {
};
template <> struct Change<ASTRO_FORMAT_I16LE, ASTRO_FORMAT_CF32LE> : FromReal<gint16> {
};
template <> struct Change<ASTRO_FORMAT_F32LE, ASTRO_FORMAT_CF32LE> : FromReal<float> {
};

template <AstroFormat FROM, AstroFormat TO>
__global__ void __launch_bounds__(THREADS) gather_turned(const __grid_constant__ Lines lines)
{
  using In = typename Change<FROM, TO>::In;
  using Out = typename Change<FROM, TO>::Out;
  __shared__ Out tile[TIME][TILE + 1];
  const AstroCudaGather &g = lines.gather;
  const guint32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const guint32 first_line = blockIdx.x * TILE;
  const Line mine = line_of(lines, MIN(first_line + lane, lines.n - 1));
  const guint8 *from = source_of(g, mine);

  for (guint32 first = blockIdx.y * TIME; first < lines.count; first += gridDim.y * TIME) {
#pragma unroll
    for (int i = 0; i < TIME / WARPS; i++) {
      guint32 row = i * WARPS + warp, step = first + row;
      Out sample = {};
      if (step < lines.count && is_good(g, mine, step))
        sample = Change<FROM, TO>::of(*(const In *)(from + step * g.time));
      tile[row][lane] = sample;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TILE / WARPS; i++) {
      guint32 column = i * WARPS + warp;
      if (first_line + column >= lines.n)
        break;
      Out *to = (Out *)target_of(g, line_of(lines, first_line + column)) + first;
#pragma unroll
      for (guint32 step = lane; step < TIME; step += 32)
        if (first + step < lines.count)
          to[step] = tile[step][column];
    }
    __syncthreads();
  }
}

/* ---- sources whose time is contiguous already ---- */

/* Lines are often short, so a block takes as many as its threads can, and `width` threads share a
 * line, a power of two. */
__device__ inline guint32 line_of_thread(guint32 width)
{
  return blockIdx.x * (THREADS / width) + threadIdx.x / width;
}

template <AstroFormat FROM, AstroFormat TO>
__global__ void __launch_bounds__(THREADS)
    gather_straight(const __grid_constant__ Lines lines, guint32 width)
{
  using In = typename Change<FROM, TO>::In;
  using Out = typename Change<FROM, TO>::Out;
  const AstroCudaGather &g = lines.gather;
  const guint32 number = line_of_thread(width);
  if (number >= lines.n)
    return;
  const Line line = line_of(lines, number);
  const In *from = (const In *)source_of(g, line);
  Out *to = (Out *)target_of(g, line);
  for (guint32 step = threadIdx.x % width; step < lines.count; step += width) {
    Out sample = {};
    if (is_good(g, line, step))
      sample = Change<FROM, TO>::of(from[step]);
    to[step] = sample;
  }
}

/* Pieces of eight samples, for rows that are aligned to them, if no sample is lost. */
enum { PIECE = 8 };
template <AstroFormat FROM, AstroFormat TO> struct Piece {
  static constexpr bool THERE = false;
};
template <typename Bits> struct KeepPiece {
  static constexpr bool THERE = true;
  using In = Bits;
  using Out = Bits;
  static __device__ Bits of(Bits eight)
  {
    return eight;
  }
};
template <> struct Piece<ASTRO_FORMAT_CI4, ASTRO_FORMAT_CI4> : KeepPiece<uint2> {
};
template <> struct Piece<ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI8> : KeepPiece<uint4> {
};
template <> struct Piece<ASTRO_FORMAT_CI4, ASTRO_FORMAT_CI8> {
  static constexpr bool THERE = true;
  using In = uint2;
  using Out = uint4;
  /* Widens four samples from 4 to 8 bits a component. */
  static __device__ uint2 four(guint32 word)
  {
    guint32 re = word >> 4 & 0x0f0f0f0f, im = word & 0x0f0f0f0f;
    re |= (re & 0x08080808) * 0x1e;
    im |= (im & 0x08080808) * 0x1e;
    return make_uint2(__byte_perm(re, im, 0x5140), __byte_perm(re, im, 0x7362));
  }
  static __device__ Out of(In eight)
  {
    const uint2 a = four(eight.x), b = four(eight.y);
    return make_uint4(a.x, a.y, b.x, b.y);
  }
};

template <AstroFormat FROM, AstroFormat TO>
__global__ void __launch_bounds__(THREADS)
    gather_pieces(const __grid_constant__ Lines lines, guint32 width)
{
  using In = typename Piece<FROM, TO>::In;
  using Out = typename Piece<FROM, TO>::Out;
  const AstroCudaGather &g = lines.gather;
  const guint32 number = line_of_thread(width), first = threadIdx.x % width;
  if (number >= lines.n)
    return;
  const Line line = line_of(lines, number);
  const In *from = (const In *)source_of(g, line);
  Out *to = (Out *)target_of(g, line);
  for (guint32 i = first; i < lines.count / PIECE; i += width)
    to[i] = Piece<FROM, TO>::of(from[i]);
  for (guint32 i = lines.count / PIECE * PIECE + first; i < lines.count; i += width)
    ((typename Change<FROM, TO>::Out *)to)[i] =
        Change<FROM, TO>::of(((const typename Change<FROM, TO>::In *)from)[i]);
}

template <AstroFormat FROM, AstroFormat TO> static gboolean has_pieces(const AstroCudaGather *g)
{
  using In = typename Piece<FROM, TO>::In;
  using Out = typename Piece<FROM, TO>::Out;
  return !g->valid && ((guintptr)g->from | g->channel | g->station | g->pol) % sizeof(In) == 0 &&
         ((guintptr)g->to | g->to_channel | g->to_row) % sizeof(Out) == 0;
}

/* The fewest threads, a power of two, that take a part of a line each. */
static guint32 width_for(guint32 parts)
{
  guint32 width = 1;
  while (width < MIN(parts, (guint32)THREADS))
    width *= 2;
  return width;
}

static guint32 blocks_for(const Lines &lines, guint32 width)
{
  const guint32 each = THREADS / width;
  return (lines.n + each - 1) / each;
}

template <AstroFormat FROM, AstroFormat TO>
static void launch(const Lines &lines, gboolean straight, cudaStream_t stream)
{
  if constexpr (Piece<FROM, TO>::THERE)
    if (straight && has_pieces<FROM, TO>(&lines.gather)) {
      const guint32 width = width_for((lines.count + PIECE - 1) / PIECE);
      gather_pieces<FROM, TO><<<blocks_for(lines, width), THREADS, 0, stream>>>(lines, width);
      return;
    }
  if (straight) {
    const guint32 width = width_for(lines.count);
    gather_straight<FROM, TO><<<blocks_for(lines, width), THREADS, 0, stream>>>(lines, width);
    return;
  }
  dim3 grid((lines.n + TILE - 1) / TILE, MIN((lines.count + TIME - 1) / TIME, 65535u));
  gather_turned<FROM, TO><<<grid, THREADS, 0, stream>>>(lines);
}

gboolean astro_cuda_gather(const AstroCudaGather *gather, cudaStream_t stream, GError **error)
{
#define ROW(from, to)                                                                              \
  {                                                                                                \
    ASTRO_FORMAT_##from, ASTRO_FORMAT_##to, launch<ASTRO_FORMAT_##from, ASTRO_FORMAT_##to>         \
  }
  static const struct {
    AstroFormat from, to;
    void (*launch)(const Lines &lines, gboolean straight, cudaStream_t stream);
  } kernels[] = {
    ROW(CI4, CI4),       ROW(CI4, CI8),       ROW(CI8, CI8),      ROW(CI16LE, CI16LE),
    ROW(CF16LE, CF16LE), ROW(CF32LE, CF32LE), ROW(CI4, CF32LE),   ROW(CI8, CF32LE),
    ROW(CI16LE, CF32LE), ROW(CF16LE, CF32LE), ROW(F32LE, CF32LE), ROW(I8, CF32LE),
    ROW(I16LE, CF32LE),
  };
#undef ROW
  gsize bytes = astro_format_info(gather->format)->bytes;
  guint32 inputs = gather->stations * gather->pols, k = 0;
  gboolean straight = gather->time == bytes;
  Lines lines = { *gather };

  if (gather->count == 0)
    return TRUE;
  lines.by_channel = !straight && gather->channels > 1 && gather->channel == bytes;
  lines.fast = AstroDivisor(lines.by_channel ? gather->channels : inputs);
  lines.n = inputs * gather->channels;
  while (kernels[k].from != gather->format || kernels[k].to != gather->to_format)
    k++;
  for (guint64 done = 0; done < gather->count; done += lines.count) {
    AstroCudaGather *part = &lines.gather;
    lines.count = (guint32)MIN(gather->count - done, MOST_STEPS);
    part->from = gather->from + done * gather->time;
    part->to = gather->to + done * astro_format_info(gather->to_format)->bytes;
    part->valid = gather->valid ? gather->valid + done * gather->valid_time : NULL;
    kernels[k].launch(lines, straight, stream);
  }
  return CUDA_TRY(cudaGetLastError());
}
