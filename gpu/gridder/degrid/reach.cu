/* Notes which rows of tiles visibilities reach in which planes. */
#include "gpu/gridder/degrid/degrid.h"

enum { THREADS = 256 };

/* The rows of tiles in which footprints lie, at the first of their planes. Many threads may write
 * the same. */
template <typename Real>
static __global__ void __launch_bounds__(THREADS)
    note(const __grid_constant__ WstackingSorted sorted, const __grid_constant__ DegridReach reach)
{
  const guint64 i = (guint64)blockIdx.x * THREADS + threadIdx.x;
  if (i >= sorted.n || sorted.planes[i] == G_MAXUINT16) /* beyond the grid */
    return;
  const guint32 cells = ((const WstackingPlace<Real> *)sorted.places)[i].cells;
  const guint v = sorted.bins[i] / sorted.side * WSTACKING_BIN + (cells >> 3) % WSTACKING_BIN;
  guint8 *notes = reach.notes + (gsize)sorted.planes[i] * reach.tiles;
  for (guint row = v / ASTRO_GRID_TILE; row <= (v + reach.support - 1) / ASTRO_GRID_TILE; row++)
    if (!notes[row])
      notes[row] = TRUE;
}

gboolean astro_degrid_reach_note(const DegridReach *reach, const WstackingSorted *sorted,
                                 guint planes, gboolean is_double, cudaStream_t stream,
                                 GError **error)
{
  const guint blocks = (guint)(((guint64)sorted->n + THREADS - 1) / THREADS);
  if (!CUDA_TRY(cudaMemsetAsync(reach->notes, 0, (gsize)planes * reach->tiles, stream)))
    return FALSE;
  if (is_double)
    note<double><<<blocks, THREADS, 0, stream>>>(*sorted, *reach);
  else
    note<float><<<blocks, THREADS, 0, stream>>>(*sorted, *reach);
  return CUDA_TRY(cudaGetLastError());
}

/* A block fills a row of the map: its tiles hold columns of images where any visibility is spread
 * over the plane. */
static __global__ void __launch_bounds__(THREADS)
    fill_map(const __grid_constant__ DegridReach reach, guint plane)
{
  const guint row = blockIdx.x, back = threadIdx.x;
  const bool reaches = back < reach.support && back <= plane &&
                       reach.notes[(gsize)(plane - back) * reach.tiles + row];
  const bool any = __syncthreads_or(reaches);
  for (guint tile = threadIdx.x; tile < reach.tiles; tile += THREADS)
    reach.map[(gsize)row * reach.tiles + tile] =
        any && tile >= reach.first_tile && tile <= reach.last_tile;
}

gboolean astro_degrid_reach_map(const DegridReach *reach, guint plane, cudaStream_t stream,
                                GError **error)
{
  fill_map<<<reach->tiles, THREADS, 0, stream>>>(*reach, plane);
  return CUDA_TRY(cudaGetLastError());
}
