/* Transposes samples of one byte. Squares of 8 x 8 are transposed in registers, so that device
 * memory sees pieces of 256 bytes and shared memory words of 8. A block loads its next tile while
 * it stores one. If the output's rows are short and those of the next batch follow them, both count
 * as one folded row. */
#include "gpu/transpose/transpose.h"

enum { BLOCK = 8, WIDTH = 32 * BLOCK, BANDS = 2 /* of 8 rows of a tile, for each warp */ };

/* Byte i of row j becomes byte j of row i. */
__device__ inline void turn_4(guint32 &a, guint32 &b, guint32 &c, guint32 &d)
{
  const guint32 ab = __byte_perm(a, b, 0x5140), ab_high = __byte_perm(a, b, 0x7362);
  const guint32 cd = __byte_perm(c, d, 0x5140), cd_high = __byte_perm(c, d, 0x7362);
  a = __byte_perm(ab, cd, 0x5410);
  b = __byte_perm(ab, cd, 0x7632);
  c = __byte_perm(ab_high, cd_high, 0x5410);
  d = __byte_perm(ab_high, cd_high, 0x7632);
}

__device__ inline void turn_8(uint2 (&rows)[BLOCK])
{
  turn_4(rows[0].x, rows[1].x, rows[2].x, rows[3].x);
  turn_4(rows[0].y, rows[1].y, rows[2].y, rows[3].y);
  turn_4(rows[4].x, rows[5].x, rows[6].x, rows[7].x);
  turn_4(rows[4].y, rows[5].y, rows[6].y, rows[7].y);
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const guint32 swap = rows[i].y;
    rows[i].y = rows[i + 4].x;
    rows[i + 4].x = swap;
  }
}

template <int HEIGHT> struct Bytes {
  static constexpr int THREADS = 32 * HEIGHT / BLOCK / BANDS,
                       WORDS = HEIGHT / BLOCK /* of a transposed row */;
  static constexpr int SHARED_BYTES = WIDTH * HEIGHT;

  static __device__ void load(const TransposeTile &tile, const guint8 *in,
                              const TransposeTiles &tiles, uint2 (&blocks)[BANDS][BLOCK])
  {
    const guint32 column = threadIdx.x % 32 * BLOCK, first = threadIdx.x / 32 * BLOCK;
#pragma unroll
    for (int band = 0; band < BANDS; band++) {
      const guint32 row = first + band * (HEIGHT / BANDS), fold = tiles.fold.divide(tile.row + row);
      const guint8 *from = in + tile.from + column + fold * tiles.fold_from +
                           (tile.row + row - fold * tiles.fold.by) * tiles.row_from;
      if (row < tile.rows && column < tile.columns)
#pragma unroll
        for (int i = 0; i < BLOCK; i++, from += tiles.row_from)
          blocks[band][i] = *(const uint2 *)from;
    }
  }

  /* Words along a row are permuted so that neither side uses a bank twice. */
  static __device__ guint32 place(guint32 row, guint32 word)
  {
    return row * WORDS + (word ^ (row / BLOCK % 16));
  }

  static __device__ void turn(uint2 (&blocks)[BANDS][BLOCK], uint2 *turned)
  {
    const guint32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int band = 0; band < BANDS; band++) {
      turn_8(blocks[band]);
#pragma unroll
      for (int i = 0; i < BLOCK; i++)
        turned[place(lane * BLOCK + i, warp + band * (WORDS / BANDS))] = blocks[band][i];
    }
  }

  static __device__ void store(const TransposeTile &tile, guint8 *out, guint64 row_to,
                               const uint2 *turned)
  {
    const guint32 word = threadIdx.x % WORDS, row = threadIdx.x / WORDS;
    guint8 *to = out + tile.to + row * row_to + word * BLOCK;
    if (word * BLOCK < tile.rows)
#pragma unroll
      for (int i = 0; i < WIDTH; i += THREADS / WORDS, to += THREADS / WORDS * row_to)
        if (row + i < tile.columns)
          *(uint2 *)to = turned[place(row + i, word)];
  }
};

template <int HEIGHT>
__global__ void __launch_bounds__(Bytes<HEIGHT>::THREADS, 1024 / Bytes<HEIGHT>::THREADS)
    turn(const guint8 *in, guint8 *out, const __grid_constant__ TransposeTiles tiles)
{
  extern __shared__ __align__(16) uint2 turned[];
  uint2 blocks[BANDS][BLOCK];
  TransposeTile tile(tiles, blockIdx.x, WIDTH, HEIGHT);

  Bytes<HEIGHT>::load(tile, in, tiles, blocks);
  for (guint32 number = blockIdx.x; number < tiles.n; number += gridDim.x) {
    const TransposeTile now = tile;
    Bytes<HEIGHT>::turn(blocks, turned);
    __syncthreads();
    if (number + gridDim.x < tiles.n) {
      tile = TransposeTile(tiles, number + gridDim.x, WIDTH, HEIGHT);
      Bytes<HEIGHT>::load(tile, in, tiles, blocks);
    }
    Bytes<HEIGHT>::store(now, out, tiles.row_to, turned);
    __syncthreads();
  }
}

template <int HEIGHT> static gboolean allow_shared(GError **error)
{
  return CUDA_TRY(cudaFuncSetAttribute(turn<HEIGHT>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       Bytes<HEIGHT>::SHARED_BYTES));
}

gboolean astro_transpose_bytes_init(GError **error)
{
  return allow_shared<256>(error) && allow_shared<128>(error);
}

template <int HEIGHT>
static void launch(gconstpointer in, gpointer out, const TransposeTiles *tiles,
                   gint multiprocessors, cudaStream_t stream)
{
  constexpr guint THREADS = Bytes<HEIGHT>::THREADS, BYTES = Bytes<HEIGHT>::SHARED_BYTES;
  turn<HEIGHT>
      <<<MIN(tiles->n, (guint)multiprocessors * (1024 / THREADS)), THREADS, BYTES, stream>>>(
          (const guint8 *)in, (guint8 *)out, *tiles);
}

void astro_transpose_bytes(gconstpointer in, gpointer out, const TransposeTiles *tiles,
                           gboolean tall, gint multiprocessors, cudaStream_t stream)
{
  if (tall)
    launch<256>(in, out, tiles, multiprocessors, stream);
  else
    launch<128>(in, out, tiles, multiprocessors, stream);
}
