/* The correlator on ordinary arithmetic: formats of 8 and 16 bits on any device, and exact sums of
 * 16-bit integers. A block sums a tile of 64 x 64 inputs, a thread 8 x 4 pairs. Floating point is
 * summed in two steps, so that errors do not grow with the number of samples. */
#include "gpu/correlator/correlator.h"

#include <cuda_fp16.h>

enum {
  TILE = 64,
  STEPS = 16, /* samples in shared memory, and in a first sum */
  ROWS = 8,
  COLUMNS = 4,
  THREADS = (TILE / ROWS) * (TILE / COLUMNS),
  PAD = 2, /* inputs */
};

template <AstroFormat FORMAT> struct Samples;
template <> struct Samples<ASTRO_FORMAT_CI8> {
  using Stored = char2;
  using Value = int2;
  using Sum = int;
  static __device__ Value value(Stored s)
  {
    return make_int2(s.x, s.y);
  }
};
template <> struct Samples<ASTRO_FORMAT_CI16LE> {
  using Stored = short2;
  using Value = int2;
  using Sum = long long;
  static __device__ Value value(Stored s)
  {
    return make_int2(s.x, s.y);
  }
};
template <> struct Samples<ASTRO_FORMAT_CF16LE> {
  using Stored = __half2;
  using Value = float2;
  using Sum = float;
  static __device__ Value value(Stored s)
  {
    return __half22float2(s);
  }
};
/* A thread's rows lie side by side, its columns in two pairs 32 apart. */
__device__ inline guint32 column_of(guint32 thread, int i)
{
  return thread % (TILE / COLUMNS) * 2 + i / 2 * (TILE / 2) + i % 2;
}

/* A chunk of time of a tile's inputs, in pieces of 16 bytes; rows are aligned to pieces. */
template <AstroFormat FORMAT> struct Chunk {
  using Stored = typename Samples<FORMAT>::Stored;
  using Value = typename Samples<FORMAT>::Value;
  static constexpr guint32 EACH = 16 / sizeof(Stored), PIECES = STEPS / EACH,
                           N = TILE * PIECES / THREADS;
  int4 pieces[N];

  __device__ void load(const CorrelatorRun &run, guint32 channel, guint32 tile, guint32 first)
  {
#pragma unroll
    for (guint32 i = 0; i < N; i++) {
      guint32 at = i * THREADS + threadIdx.x, step = first + at % PIECES * EACH,
              input = tile * TILE + at / PIECES;
      pieces[i] = make_int4(0, 0, 0, 0);
      if (input < run.inputs && step < run.in.steps)
        pieces[i] = *(const int4 *)((const Stored *)(run.in.data + channel * run.in.channel +
                                                     input * run.in.row) +
                                    step);
    }
  }

  /* Stores with time as the slowest axis. */
  __device__ void store(Value (*to)[TILE + PAD], const CorrelatorRun &run, guint32 first) const
  {
#pragma unroll
    for (guint32 i = 0; i < N; i++) {
      guint32 at = i * THREADS + threadIdx.x, step = at % PIECES * EACH;
#pragma unroll
      for (guint32 j = 0; j < EACH; j++) {
        Stored sample = ((const Stored *)&pieces[i])[j];
        if (first + step + j >= run.in.steps)
          sample = {};
        to[step + j][at / PIECES] = Samples<FORMAT>::value(sample);
      }
    }
  }
};

template <AstroFormat FORMAT>
__global__ void __launch_bounds__(THREADS)
    correlate(const __grid_constant__ CorrelatorRun run, guint32 tiles)
{
  using Value = typename Samples<FORMAT>::Value;
  using Sum = typename Samples<FORMAT>::Sum;
  using Given = std::conditional_t<std::is_same_v<Sum, float>, double, Sum>;
  constexpr bool TWO_STEPS = std::is_same_v<Sum, float>;
  __shared__ __align__(16) Value shared[2][2][STEPS][TILE + PAD];
  const guint32 channel = blockIdx.x / tiles;
  guint32 tile_row, tile_column;
  correlator_tile(blockIdx.x % tiles, &tile_row, &tile_column);
  const guint32 first_row = threadIdx.x / (TILE / COLUMNS) * ROWS;
  Sum re[ROWS][COLUMNS] = {}, im[ROWS][COLUMNS] = {};

  /* The next chunk is loaded while one is summed. Shared memory holds two, so that one barrier a
   * chunk is enough. */
  Chunk<FORMAT> next_rows, next_columns;
  next_rows.load(run, channel, tile_row, 0);
  next_columns.load(run, channel, tile_column, 0);
  for (guint32 first = 0, turn = 0; first < run.in.steps; first += STEPS, turn ^= 1) {
    auto &rows = shared[turn][0], &columns = shared[turn][1];
    next_rows.store(rows, run, first);
    next_columns.store(columns, run, first);
    __syncthreads();
    next_rows.load(run, channel, tile_row, first + STEPS);
    next_columns.load(run, channel, tile_column, first + STEPS);
    Sum part_re[ROWS][COLUMNS] = {}, part_im[ROWS][COLUMNS] = {};
    auto &to_re = TWO_STEPS ? part_re : re, &to_im = TWO_STEPS ? part_im : im;
#pragma unroll 4
    for (int k = 0; k < STEPS; k++) {
      Value a[ROWS], b[COLUMNS];
#pragma unroll
      for (int i = 0; i < ROWS; i += 2)
        *(int4 *)&a[i] = *(const int4 *)&rows[k][first_row + i];
#pragma unroll
      for (int j = 0; j < COLUMNS; j += 2)
        *(int4 *)&b[j] = *(const int4 *)&columns[k][column_of(threadIdx.x, j)];
#pragma unroll
      for (int i = 0; i < ROWS; i++)
#pragma unroll
        for (int j = 0; j < COLUMNS; j++) {
          to_re[i][j] += (Sum)a[i].x * b[j].x;
          to_im[i][j] += (Sum)a[i].y * b[j].x;
          to_re[i][j] += (Sum)a[i].y * b[j].y;
          to_im[i][j] -= (Sum)a[i].x * b[j].y;
        }
    }
    if constexpr (TWO_STEPS)
#pragma unroll
      for (int i = 0; i < ROWS; i++)
#pragma unroll
        for (int j = 0; j < COLUMNS; j++) {
          re[i][j] += part_re[i][j];
          im[i][j] += part_im[i][j];
        }
  }
  correlator_give_all<Given>(run.sink, [&](auto giving, auto pols) {
    const guint32 column = column_of(threadIdx.x, 0);
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
      const CorrelatorRow<pols> to(run.sink, run.inputs, channel, tile_row * TILE + first_row + i,
                                   tile_column * TILE + column);
#pragma unroll
      for (int j = 0; j < COLUMNS; j += 2)
        to.template give<giving, Given>(run.sink, column_of(0, j), (Given)re[i][j], (Given)im[i][j],
                                        (Given)re[i][j + 1], (Given)im[i][j + 1]);
    }
  });
}

gboolean astro_correlator_simt(AstroFormat from, const CorrelatorRun *run, cudaStream_t stream,
                               GError **error)
{
  static const struct {
    AstroFormat from;
    void (*kernel)(const CorrelatorRun run, guint32 tiles);
  } kernels[] = {
    { ASTRO_FORMAT_CI8, correlate<ASTRO_FORMAT_CI8> },
    { ASTRO_FORMAT_CI16LE, correlate<ASTRO_FORMAT_CI16LE> },
    { ASTRO_FORMAT_CF16LE, correlate<ASTRO_FORMAT_CF16LE> },
  };
  guint32 side = (run->inputs + TILE - 1) / TILE, tiles = side * (side + 1) / 2, k = 0;

  while (kernels[k].from != from)
    k++;
  kernels[k].kernel<<<tiles * run->channels, THREADS, 0, stream>>>(*run, tiles);
  return CUDA_TRY(cudaGetLastError());
}
