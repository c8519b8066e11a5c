/* Copies rows: neighbouring threads take neighbouring words, as wide as addresses allow, and short
 * rows share a block. */
#include "gpu/runtime/rows.h"

enum { THREADS = 256, WORDS = 4 /* of a thread at once, so that their loads overlap */ };
#define MOST_BLOCKS 65535u /* along each axis; with more work than that, threads loop */

/* width threads share a row, a power of two; words: of a row. */
template <typename Word>
__global__ void __launch_bounds__(THREADS)
    copy_rows(const __grid_constant__ AstroCudaRows rows, guint32 width, gsize words)
{
  const guint32 each = THREADS / width;
  const gsize stride = (gsize)gridDim.y * width,
              first = (gsize)blockIdx.y * width + threadIdx.x % width;
  for (gsize row = (gsize)blockIdx.x * each + threadIdx.x / width; row < rows.n;
       row += (gsize)gridDim.x * each) {
    const Word *from = (const Word *)(rows.from + row * rows.from_step);
    Word *to = (Word *)(rows.to + row * rows.to_step);
    for (gsize i = first; i < words; i += WORDS * stride) {
      Word word[WORDS];
#pragma unroll
      for (int k = 0; k < WORDS; k++)
        if (i + k * stride < words)
          word[k] = from[i + k * stride];
#pragma unroll
      for (int k = 0; k < WORDS; k++)
        if (i + k * stride < words)
          to[i + k * stride] = word[k];
    }
  }
}

template <typename Word> static void launch(const AstroCudaRows &rows, cudaStream_t stream)
{
  const gsize words = rows.bytes / sizeof(Word);
  guint32 width = 1;
  while (width < THREADS && (gsize)width * WORDS < words)
    width *= 2;
  const gsize each = THREADS / width, part = (gsize)width * WORDS;
  const dim3 grid((guint32)MIN((rows.n + each - 1) / each, MOST_BLOCKS),
                  (guint32)MIN((words + part - 1) / part, MOST_BLOCKS));
  copy_rows<Word><<<grid, THREADS, 0, stream>>>(rows, width, words);
}

gboolean astro_cuda_copy_rows(const AstroCudaRows *rows, cudaStream_t stream, GError **error)
{
  const gsize all = (gsize)rows->to | (gsize)rows->from | rows->bytes |
                    (rows->n > 1 ? rows->to_step | rows->from_step : 0);
  if (rows->n == 0 || rows->bytes == 0)
    return TRUE;
  if (all % sizeof(uint4) == 0)
    launch<uint4>(*rows, stream);
  else if (all % sizeof(uint2) == 0)
    launch<uint2>(*rows, stream);
  else if (all % sizeof(guint32) == 0)
    launch<guint32>(*rows, stream);
  else if (all % sizeof(guint16) == 0)
    launch<guint16>(*rows, stream);
  else
    launch<guint8>(*rows, stream);
  return CUDA_TRY(cudaGetLastError());
}
