/* The correlator on the tensor cores of any device from sm_80 on: like wgmma.cu for Hopper, but
 * with tiles of 64 x 64 inputs and the instructions of a warp. A warp handles 32 x 32 pairs. */
#include "gpu/correlator/correlator.h"

#include <cuda_fp16.h>

enum {
  TILE = 64,
  PART = 32, /* inputs of a warp in each direction */
  CHUNK = 128,
  STEP = 32,
  PIECE = 16, /* bytes in a copy */
  SLOTS = 3,
  THREADS = 128,
  HEIGHT = PART / 16,
  WIDTH = PART / 8,
  TILE_BYTES = TILE * CHUNK,
  SHARED_BYTES = SLOTS * 2 * TILE_BYTES,
};

__device__ inline guint32 shared_address(const void *p)
{
  return (guint32)__cvta_generic_to_shared(p);
}

/* Loads a chunk of a tile's inputs, with zeros beyond the last input and the last step. */
__device__ inline void load_tile(guint8 *to, const CorrelatorRun &run, guint32 plane,
                                 guint32 channel, guint32 tile, guint32 chunk, guint32 row_bytes)
{
  const guint8 *from = run.in.data + plane * run.plane + channel * run.in.channel;
#pragma unroll
  for (int i = 0; i < TILE_BYTES / PIECE / THREADS; i++) {
    guint32 at = i * THREADS + threadIdx.x, row = at / (CHUNK / PIECE),
            piece = at % (CHUNK / PIECE);
    guint32 input = tile * TILE + row, byte = chunk * CHUNK + piece * PIECE;
    guint32 bytes =
        input < run.inputs && byte < row_bytes ? min(row_bytes - byte, (guint32)PIECE) : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                     shared_address(to + row * CHUNK + ((piece ^ (row % 8)) << 4))),
                 "l"(bytes ? from + input * run.in.row + byte : run.in.data), "r"(bytes)
                 : "memory");
  }
}

/* Loads two groups of 8 lines by two pieces: as rows if LINES_FIRST, else as columns. */
template <bool LINES_FIRST>
__device__ inline void load_words(guint32 (&words)[4], const guint8 *lines, int step)
{
  guint32 lane = threadIdx.x % 32, first = lane / 8 % 2, second = lane / 16;
  guint32 row = lane % 8 + (LINES_FIRST ? first : second) * 8,
          piece = step * 2 + (LINES_FIRST ? second : first);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(shared_address(lines) + row * CHUNK + ((piece ^ (row % 8)) << 4))
               : "memory");
}

__device__ inline void multiply(int (&d)[4], const guint32 (&a)[4], const guint32 *b)
{
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, "
               "%7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ inline void multiply(float (&d)[4], const guint32 (&a)[4], const guint32 *b)
{
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, "
               "%7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

template <typename Value> struct Tile {
  Value re[HEIGHT][WIDTH][4], im[HEIGHT][WIDTH][4];

  __device__ void clear()
  {
#pragma unroll
    for (int i = 0; i < HEIGHT * WIDTH * 4; i++)
      (&re[0][0][0])[i] = (&im[0][0][0])[i] = 0;
  }
  __device__ void add(const Tile &other)
  {
#pragma unroll
    for (int i = 0; i < HEIGHT * WIDTH * 4; i++) {
      (&re[0][0][0])[i] += (&other.re[0][0][0])[i];
      (&im[0][0][0])[i] += (&other.im[0][0][0])[i];
    }
  }
};

template <CorrelatorKind KIND, typename Value>
__device__ inline void multiply_chunk(Tile<Value> &sum, int (&bias)[WIDTH], const guint8 *rows,
                                      const guint8 *columns)
{
#pragma unroll
  for (int k = 0; k < CHUNK / STEP; k++) {
    guint32 a[HEIGHT][4], turned[HEIGHT][4], b[WIDTH / 2][4];
#pragma unroll
    for (int i = 0; i < HEIGHT; i++) {
      load_words<true>(a[i], rows + i * 16 * CHUNK, k);
#pragma unroll
      for (int w = 0; w < 4; w++)
        turned[i][w] = correlator_turn<KIND>(a[i][w]);
    }
#pragma unroll
    for (int j = 0; j < WIDTH / 2; j++)
      load_words<false>(b[j], columns + j * 16 * CHUNK, k);
    if constexpr (KIND == CORRELATOR_S8) {
#pragma unroll
      for (int j = 0; j < WIDTH; j++) {
        bias[j] = __dp4a((int)b[j / 2][j % 2 * 2], 0x01000100, bias[j]);
        bias[j] = __dp4a((int)b[j / 2][j % 2 * 2 + 1], 0x01000100, bias[j]);
      }
    }
#pragma unroll
    for (int i = 0; i < HEIGHT; i++)
#pragma unroll
      for (int j = 0; j < WIDTH; j++) {
        multiply(sum.re[i][j], a[i], &b[j / 2][j % 2 * 2]);
        multiply(sum.im[i][j], turned[i], &b[j / 2][j % 2 * 2]);
      }
  }
}

template <CorrelatorKind KIND>
__global__ void __launch_bounds__(THREADS)
    correlate(const __grid_constant__ CorrelatorRun run, guint32 tiles, guint32 row_bytes)
{
  using Value = std::conditional_t<KIND == CORRELATOR_S8, int, float>;
  using Sum = std::conditional_t<KIND == CORRELATOR_S8, int, double>;
  extern __shared__ __align__(1024) guint8 shared[];
  const guint32 channel = blockIdx.x / tiles, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const guint32 part_row = warp / 2 * PART, part_column = warp % 2 * PART;
  /* Split samples: low x high, high x low, high x high. In floating point two chunks, or the three
   * products of one, are added on the tensor cores, which truncate, and the rest with rounding. */
  constexpr guint32 PRODUCTS = KIND == CORRELATOR_SPLIT ? 3 : 1,
                    GROUP = KIND == CORRELATOR_SPLIT ? 3 : 2;
  const guint32 n = (row_bytes + CHUNK - 1) / CHUNK * PRODUCTS;
  guint32 row, column;
  correlator_tile(blockIdx.x % tiles, &row, &column);
  const bool wanted = row > column || part_row >= part_column;
  Tile<Value> sum, part;
  int bias[WIDTH] = {};
  sum.clear();

  auto fetch = [&](guint32 c) {
    if (c < n) {
      guint8 *slot = shared + c % SLOTS * 2 * TILE_BYTES;
      guint32 product = c % PRODUCTS, chunk = c / PRODUCTS;
      bool split = PRODUCTS == 3;
      load_tile(slot, run, split && product > 0, channel, row, chunk, row_bytes);
      load_tile(slot + TILE_BYTES, run, split && product != 1, channel, column, chunk, row_bytes);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  for (guint32 c = 0; c < SLOTS - 1; c++)
    fetch(c);
  for (guint32 c = 0; c < n; c++) {
    asm volatile("cp.async.wait_group %0;" ::"n"((int)SLOTS - 2) : "memory");
    __syncthreads();
    fetch(c + SLOTS - 1);
    if (!wanted)
      continue;
    const guint8 *rows = shared + c % SLOTS * 2 * TILE_BYTES + part_row * CHUNK;
    const guint8 *columns = shared + c % SLOTS * 2 * TILE_BYTES + TILE_BYTES + part_column * CHUNK;
    if constexpr (KIND == CORRELATOR_S8) {
      multiply_chunk<KIND>(sum, bias, rows, columns);
    } else {
      if (c % GROUP == 0)
        part.clear();
      multiply_chunk<KIND>(part, bias, rows, columns);
      if (c % GROUP == GROUP - 1 || c == n - 1)
        sum.add(part);
    }
  }
  if (!wanted)
    return;
#pragma unroll
  for (int j = 0; j < WIDTH; j++) {
    /* A thread has a quarter of the sum over a column's im, for column lane / 4. */
    bias[j] += __shfl_xor_sync(0xffffffff, bias[j], 1);
    bias[j] += __shfl_xor_sync(0xffffffff, bias[j], 2);
    const Value bias0 = __shfl_sync(0xffffffff, bias[j], lane % 4 * 8);
    const Value bias1 = __shfl_sync(0xffffffff, bias[j], lane % 4 * 8 + 4);
#pragma unroll
    for (int i = 0; i < HEIGHT; i++)
#pragma unroll
      for (int half = 0; half < 2; half++) {
        sum.im[i][j][half * 2] += bias0;
        sum.im[i][j][half * 2 + 1] += bias1;
      }
  }
  correlator_give_all<Sum>(run.sink, [&](auto giving, auto pols) {
#pragma unroll
    for (int i = 0; i < HEIGHT; i++)
#pragma unroll
      for (int half = 0; half < 2; half++) {
        const CorrelatorRow<pols> to(run.sink, run.inputs, channel,
                                     row * TILE + part_row + i * 16 + half * 8 + lane / 4,
                                     column * TILE + part_column + lane % 4 * 2);
#pragma unroll
        for (int j = 0; j < WIDTH; j++)
          to.template give<giving, Sum>(
              run.sink, j * 8, (Sum)sum.re[i][j][half * 2], (Sum)sum.im[i][j][half * 2],
              (Sum)sum.re[i][j][half * 2 + 1], (Sum)sum.im[i][j][half * 2 + 1]);
      }
  });
}

static void (*const kernels[])(CorrelatorRun run, guint32 tiles, guint32 row_bytes) = {
  [CORRELATOR_S8] = correlate<CORRELATOR_S8>,
  [CORRELATOR_F16] = correlate<CORRELATOR_F16>,
  [CORRELATOR_SPLIT] = correlate<CORRELATOR_SPLIT>,
};

const void *astro_correlator_mma_kernel(CorrelatorKind kind)
{
  return (const void *)kernels[kind];
}

gboolean astro_correlator_mma_init(CorrelatorKind kind, GError **error)
{
  return CUDA_TRY(cudaFuncSetAttribute(kernels[kind], cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       SHARED_BYTES));
}

gboolean astro_correlator_mma(CorrelatorKind kind, const CorrelatorRun *run, cudaStream_t stream,
                              GError **error)
{
  guint32 side = (run->inputs + TILE - 1) / TILE, tiles = side * (side + 1) / 2;
  guint32 row_bytes = run->in.steps * (kind == CORRELATOR_S8 ? 2 : 4);
  kernels[kind]<<<tiles * run->channels, THREADS, SHARED_BYTES, stream>>>(*run, tiles, row_bytes);
  return CUDA_TRY(cudaGetLastError());
}
