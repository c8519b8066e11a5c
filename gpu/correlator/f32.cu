/* The correlator on ordinary arithmetic in true single precision. A block sums a tile of 64 x 64
 * inputs, a warp a quarter of it, a thread 8 x 4 pairs, with three real products for each complex
 * one. Chunks of time are loaded unchanged, a few ahead, and read two samples at a time. Sums are
 * made in two steps, so that errors do not grow with the number of samples. */
#include "gpu/correlator/correlator.h"

enum {
  TILE = 64,
  QUARTER = TILE / 2, /* inputs of a warp in each direction */
  ROWS = 8,
  COLUMNS = 4,
  THREADS = 128,
  STEPS = 16, /* in a chunk: a line of 128 bytes */
  PIECES = STEPS / 2,
  PART = 2,  /* chunks in a first sum: chains of 32 samples */
  SLOTS = 3, /* for chunks in shared memory */
};

/* Two samples of one input. */
typedef float4 Piece;

struct Chunk {
  Piece rows[TILE][PIECES], columns[TILE][PIECES];
};
enum { SHARED_BYTES = SLOTS * sizeof(Chunk) };

/* A thread's rows and columns come in pairs, with those of neighbouring threads in between. */
__device__ constexpr guint32 row_of(int i)
{
  return i % 2 + i / 2 * 8;
}
__device__ constexpr guint32 column_of(int j)
{
  return j % 2 + j / 2 * 16;
}

/* Swaps the pieces of a line so that pairs of lines do not use the same bank. */
__device__ inline guint32 place(guint32 line, guint32 piece)
{
  return piece ^ (line / 2 % PIECES);
}

/* ---- chunks ---- */

enum { LINES = THREADS / PIECES }; /* that all threads load with one instruction */

/* Loads a thread's share of one side of the tile, chunk after chunk. */
struct Loader {
  const guint8 *from; /* the next chunk, at the thread's first input */
  guint64 stride;
  gint32 inputs; /* that exist, from the thread's first one on */
  guint32 line, piece;

  __device__ Loader(const CorrelatorRun &run, guint32 channel, guint32 tile)
      : stride(LINES * run.in.row), line(threadIdx.x / PIECES), piece(threadIdx.x % PIECES)
  {
    const guint32 first = tile * TILE + line;
    from = run.in.data + channel * run.in.channel + first * run.in.row + piece * sizeof(Piece);
    inputs = (gint32)run.inputs - (gint32)first;
  }

  /* Inputs and steps that do not exist become 0. in_time: whether the thread's piece exists. */
  __device__ void load(Piece (*to)[PIECES], bool in_time)
  {
    Piece *at = &to[line][place(
        line, piece)]; /* lines that are LINES apart have their pieces in the same order */
#pragma unroll
    for (gint32 i = 0; i < TILE / LINES; i++)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                       (guint32)__cvta_generic_to_shared(at + i * LINES * PIECES)),
                   "l"(from + i * stride),
                   "r"(in_time && i * LINES < inputs ? (guint32)sizeof(Piece) : 0)
                   : "memory");
    from += STEPS * sizeof(float2);
  }
};
static_assert(LINES / 2 % PIECES == 0, "see place()");

/* Clears the last piece's second sample, if the number of steps is odd. */
__device__ inline void clear_odd(Chunk *chunk, guint32 steps)
{
  const guint32 line = threadIdx.x % TILE;
  Piece *piece =
      &(threadIdx.x < TILE ? chunk->rows : chunk->columns)[line][place(line, steps / 2 % PIECES)];
  piece->z = piece->w = 0;
}

/* ---- sums ---- */

/* A complex product by three real ones: with first = (x + y) u, second = x (u + v) and third = y (u
 * - v), the product of x + iy and u - iv is first - third + i (first - second). */
struct Part {
  float first[ROWS][COLUMNS], second[ROWS][COLUMNS], third[ROWS][COLUMNS];

  __device__ void clear()
  {
#pragma unroll
    for (int i = 0; i < ROWS; i++)
#pragma unroll
      for (int j = 0; j < COLUMNS; j++)
        first[i][j] = second[i][j] = third[i][j] = 0;
  }
  /* Adds one sample of a row, with one of each column. */
  __device__ void add(int i, float x, float y, const float (&u)[COLUMNS],
                      const float (&plus)[COLUMNS], const float (&minus)[COLUMNS])
  {
    const float both = x + y;
#pragma unroll
    for (int j = 0; j < COLUMNS; j++)
      first[i][j] += both * u[j];
#pragma unroll
    for (int j = 0; j < COLUMNS; j++)
      second[i][j] += x * plus[j];
#pragma unroll
    for (int j = 0; j < COLUMNS; j++)
      third[i][j] += y * minus[j];
  }
  /* Adds a chunk. rows, columns: the thread's first lines, which have these numbers. */
  __device__ void add(const Piece (*rows)[PIECES], const Piece (*columns)[PIECES], guint32 row,
                      guint32 column)
  {
#pragma unroll
    for (guint32 piece = 0; piece < PIECES; piece++) {
      float u[2][COLUMNS], plus[2][COLUMNS], minus[2][COLUMNS];
#pragma unroll
      for (int j = 0; j < COLUMNS; j++) {
        const Piece b = columns[column_of(j)][place(column, piece)];
        u[0][j] = b.x;
        plus[0][j] = b.x + b.y;
        minus[0][j] = b.x - b.y;
        u[1][j] = b.z;
        plus[1][j] = b.z + b.w;
        minus[1][j] = b.z - b.w;
      }
#pragma unroll
      for (int i = 0; i < ROWS; i++) {
        const Piece a = rows[row_of(i)][place(row + row_of(i), piece)];
        add(i, a.x, a.y, u[0], plus[0], minus[0]);
        add(i, a.z, a.w, u[1], plus[1], minus[1]);
      }
    }
  }
};

struct Sums {
  float re[ROWS][COLUMNS], im[ROWS][COLUMNS];

  __device__ void clear()
  {
#pragma unroll
    for (int i = 0; i < ROWS; i++)
#pragma unroll
      for (int j = 0; j < COLUMNS; j++)
        re[i][j] = im[i][j] = 0;
  }
  __device__ void add(const Part &part)
  {
#pragma unroll
    for (int i = 0; i < ROWS; i++)
#pragma unroll
      for (int j = 0; j < COLUMNS; j++) {
        re[i][j] += part.first[i][j] - part.third[i][j];
        im[i][j] += part.first[i][j] - part.second[i][j];
      }
  }
};

__global__ void __launch_bounds__(THREADS, 2)
    correlate(const __grid_constant__ CorrelatorRun run, guint32 tiles)
{
  extern __shared__ __align__(128) guint8 bytes[];
  Chunk *chunks = (Chunk *)bytes;
  const guint32 channel = blockIdx.x / tiles, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  guint32 tile_row, tile_column;
  correlator_tile(blockIdx.x % tiles, &tile_row, &tile_column);
  const guint32 row = warp / 2 * QUARTER + lane / 8 * 2, column = warp % 2 * QUARTER + lane % 8 * 2;
  Loader rows(run, channel, tile_row), columns(run, channel, tile_column);
  const guint32 n = (run.in.steps + STEPS - 1) / STEPS;
  /* In a tile on the diagonal the upper right quarter is not wanted. */
  const bool wanted = tile_row != tile_column || warp != 1;
  Sums sums;
  Part part;

  auto load = [&](guint32 slot, guint32 number) {
    const bool in_time = number * STEPS + rows.piece * 2 < run.in.steps;
    if (number < n) {
      rows.load(chunks[slot].rows, in_time);
      columns.load(chunks[slot].columns, in_time);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };

  sums.clear();
  part.clear();
#pragma unroll
  for (guint32 i = 0; i < SLOTS - 1; i++)
    load(i, i);
  for (guint32 number = 0, slot = 0; number < n; number++) {
    asm volatile("cp.async.wait_group %0;" ::"n"(SLOTS - 2) : "memory");
    __syncthreads(); /* the chunk has arrived for all threads, and all are done with the one before
                      */
    load(slot ? slot - 1 : SLOTS - 1, number + SLOTS - 1);
    if (number == n - 1 && run.in.steps % 2) {
      clear_odd(&chunks[slot], run.in.steps);
      __syncthreads();
    }
    if (wanted)
      part.add(chunks[slot].rows + row, chunks[slot].columns + column, row, column);
    if (number % PART == PART - 1) {
      sums.add(part);
      part.clear();
    }
    slot = slot + 1 == SLOTS ? 0 : slot + 1;
  }
  sums.add(part);
  if (!wanted)
    return;
  correlator_give_all<double>(run.sink, [&](auto giving, auto pols) {
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
      const CorrelatorRow<pols> to(run.sink, run.inputs, channel, tile_row * TILE + row + row_of(i),
                                   tile_column * TILE + column);
#pragma unroll
      for (int j = 0; j < COLUMNS; j += 2)
        to.template give<giving, double>(run.sink, column_of(j), sums.re[i][j], sums.im[i][j],
                                         sums.re[i][j + 1], sums.im[i][j + 1]);
    }
  });
}

gboolean astro_correlator_f32_init(GError **error)
{
  return CUDA_TRY(
      cudaFuncSetAttribute(correlate, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES));
}

gboolean astro_correlator_f32(const CorrelatorRun *run, cudaStream_t stream, GError **error)
{
  guint32 side = (run->inputs + TILE - 1) / TILE, tiles = side * (side + 1) / 2;
  correlate<<<tiles * run->channels, THREADS, SHARED_BYTES, stream>>>(*run, tiles);
  return CUDA_TRY(cudaGetLastError());
}
