/* Rows as W-stacking and degridding sort them: their shape, the planes that they need, and the
 * table of their taps. */
#include "gpu/gridder/wstacking/wstacking.h"

gboolean astro_wstacking_rows(WstackingRows *self, const AstroGridRows *rows, guint channels,
                              const AstroGrid *grid, GError **error)
{
  const guint side = grid->size / WSTACKING_BIN, support = grid->spread.support;
  const guint64 n = rows->rows * rows->channels, bins = (guint64)side * side * channels;

  if (n >= G_MAXUINT32 || bins >= G_MAXINT32) {
    g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE,
                "%" G_GUINT64_FORMAT " visibilities on %" G_GUINT64_FORMAT
                " bins of %d x %d cells, at most %u on %d are possible: use an interval or fewer "
                "channels",
                n, bins, WSTACKING_BIN, WSTACKING_BIN, G_MAXUINT32 - 1, G_MAXINT32 - 1);
    return FALSE;
  }
  *self = {};
  self->rows = *rows;
  self->n = (guint)n;
  self->side = side;
  self->n_bins = (guint)bins;
  self->channels = MAX(rows->channels / channels, 1);
  self->support = support;
  self->per_cell = 1 / grid->cell;
  self->middle = grid->size / 2;
  self->reach = ((grid->size - support) / 2.0 - 1) * grid->cell; /* as astro_grid_holds */
  return TRUE;
}

gboolean astro_wstacking_find_planes(WstackingRows *self, const AstroGriddingConfig *config,
                                     const AstroGrid *grid, guint64 *room, cudaStream_t stream,
                                     GError **error)
{
  guint64 range[2];
  return astro_wstacking_range(self, room, stream, error) &&
         CUDA_TRY(cudaMemcpyAsync(range, room, sizeof range, cudaMemcpyDeviceToHost, stream)) &&
         CUDA_TRY(cudaStreamSynchronize(stream)) &&
         astro_planes_of_range(
             &self->planes, config, grid,
             range[0] <= range[1] ? astro_wstacking_range_value(range[0]) : INFINITY,
             range[0] <= range[1] ? MAX(astro_wstacking_range_value(range[1]), 0) : 0, error);
}

gboolean astro_wstacking_send_powers(const AstroSpread *spread, double *to, cudaStream_t stream,
                                     GError **error)
{
  const guint degree = astro_semicircle_degree(spread->support);
  double all[ASTRO_SEMICIRCLE_TERMS][ASTRO_SEMICIRCLE_MAX] = {}, powers[ASTRO_SEMICIRCLE_TERMS];
  static_assert(sizeof all == WSTACKING_POWERS_BYTES);
  for (guint tap = 0; tap < spread->support; tap++) {
    astro_semicircle_fit(spread->support, spread->beta, tap, degree, powers);
    for (guint term = 0; term <= degree; term++)
      all[term][tap] = powers[term];
  }
  return CUDA_TRY(cudaMemcpyAsync(to, all, sizeof all, cudaMemcpyHostToDevice, stream));
}
