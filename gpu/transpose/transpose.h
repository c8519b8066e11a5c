/* The parts of the CUDA transpose. */
#pragma once

#include "gpu/runtime/cuda.h"

extern "C" {
#include "core/transpose/transpose.h"
}

struct TransposeAxes {
  int n;
  AstroDivisor extent[ASTRO_MAX_AXES]; /* fastest first */
  guint64 from[ASTRO_MAX_AXES], to[ASTRO_MAX_AXES];
};

struct TransposeTiles {
  TransposeAxes batch;
  guint32 in_extent, out_extent; /* of the innermost axes of input and output, in samples */
  AstroDivisor in_tiles, out_tiles;
  guint64 row_from, row_to; /* samples between neighbours along the other's innermost axis */
  guint32 n;                /* tiles in all */
  /* Only for samples of a byte: the length of a fold of the output's axis, and the samples from
   * fold to fold in the input. */
  AstroDivisor fold;
  guint64 fold_from;
};

/* Allows the kernels of the function below their shared memory. To be called before it, while the
 * device is current. */
gboolean astro_transpose_bytes_init(GError **error);
/* Transposes samples of a byte, whose rows begin and end at multiples of 8. Tiles have 256 samples
 * along the input's axis, and along the output's 256 if tall, else 128. */
void astro_transpose_bytes(gconstpointer in, gpointer out, const TransposeTiles *tiles,
                           gboolean tall, gint multiprocessors, cudaStream_t stream);

#ifdef __CUDACC__

__device__ inline void transpose_offsets(const TransposeAxes &axes, guint32 index, guint64 *from,
                                         guint64 *to)
{
#pragma unroll
  for (int i = 0; i < ASTRO_MAX_AXES; i++) {
    if (i == axes.n)
      break;
    guint32 rest = axes.extent[i].divide(index), step = index - rest * axes.extent[i].by;
    *from += step * axes.from[i];
    *to += step * axes.to[i];
    index = rest;
  }
}

/* A tile: its first sample in the input and the output, and how much of it lies within the block.
 */
struct TransposeTile {
  guint64 from, to;      /* from: of row 0 */
  guint32 row;           /* along the output's axis */
  guint32 columns, rows; /* samples left along the input's axis and the output's */

  __device__ TransposeTile(const TransposeTiles &tiles, guint32 number, guint32 width,
                           guint32 height)
      : from(0), to(0)
  {
    const guint32 rest = tiles.in_tiles.divide(number),
                  at_in = (number - rest * tiles.in_tiles.by) * width;
    const guint32 batch = tiles.out_tiles.divide(rest),
                  at_out = (rest - batch * tiles.out_tiles.by) * height;
    transpose_offsets(tiles.batch, batch, &from, &to);
    from += at_in;
    to += at_out + at_in * tiles.row_to;
    row = at_out;
    columns = tiles.in_extent - at_in;
    rows = tiles.out_extent - at_out;
  }
};

#endif
