/* Adds the metadata of grids and of pair counts, after checking that they belong together. */
#include "config.h"
#include "elements/astroadd-said.h"

#include <string.h>

#include "core/stream/histogram-summary.h"
#include "core/stream/grid.h"

/* ---- grids ---- */

static gboolean check_planes(const AstroGridMeta *a, const AstroGridMeta *b, const char *pad,
                             GError **error)
{
  if (b->touched || a->touched)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "pad %s: the grid leaves empty tiles undefined, expected "
                               "touched-only=false",
                               pad);
  return (a->w == b->w && a->w_step == b->w_step && a->plane == b->plane &&
          a->planes == b->planes && a->n_weights == b->n_weights) ||
         astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "pad %s: plane %u of %u at w %.6g (steps of %.6g) wavelengths, "
                             "expected plane %u of %u at %.6g (%.6g), as on the first pad: "
                             "w-stacking chooses its planes from the data; use grids without "
                             "w-planes (astrogridder algorithm=wprojection)",
                             pad, b->plane, b->planes, b->w, b->w_step, a->plane, a->planes, a->w,
                             a->w_step);
}

static void add_weights(AstroGridMeta *to, const AstroGridMeta *from)
{
  for (guint i = 0; i < to->n_weights; i++)
    to->weights[i] += from->weights[i];
  to->used += from->used;
  to->outside += from->outside;
  to->flagged += from->flagged;
  to->not_finite += from->not_finite;
}

gboolean astro_add_grids(const AstroMergeBlock *block, char *const *pads, GstBuffer *out,
                         GError **error)
{
  AstroGridMeta *sum = NULL;
  for (guint i = 0; i < block->n_pieces; i++) {
    const AstroMergePiece *piece = &block->pieces[i];
    const AstroGridMeta *grid = piece->buffer ? astro_buffer_get_grid(piece->buffer) : NULL;
    if (!piece->buffer)
      continue;
    if (!grid)
      return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                                 "pad %s: a grid arrived without its sums of weights; some element "
                                 "upstream dropped them",
                                 pads[piece->input]);
    if (!sum) {
      if (!check_planes(grid, grid, pads[piece->input], error))
        return FALSE;
      sum = astro_buffer_add_grid(out, grid->n_weights);
      sum->w = grid->w;
      sum->w_step = grid->w_step;
      sum->plane = grid->plane;
      sum->planes = grid->planes;
    } else if (!check_planes(sum, grid, pads[piece->input], error)) {
      return FALSE;
    }
    add_weights(sum, grid);
  }
  return TRUE;
}

/* ---- histograms ---- */

static gboolean check_edges(const AstroSummary *a, const AstroSummary *b, const char *pad,
                            GError **error)
{
  if (a->n_edges != b->n_edges || memcmp(a->edges, b->edges, a->n_edges * sizeof *a->edges) != 0)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "pad %s: %u bins from %g to %g%s have edges unlike those of "
                               "the first pad, %u from %g to %g: expected the same edges",
                               pad, b->n_edges - 1, b->edges[0], b->edges[b->n_edges - 1],
                               b->most_across > 0 ? "" : " arcmin", a->n_edges - 1, a->edges[0],
                               a->edges[a->n_edges - 1]);
  if (a->most_across != b->most_across)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "pad %s: mu or pi reaches up to %g, expected %g, as on the first "
                               "pad",
                               pad, b->most_across, a->most_across);
  return (a->n_kinds == b->n_kinds && a->n_regions == b->n_regions && !a->counts == !b->counts &&
          (!a->counts || g_bytes_get_size(a->counts) == g_bytes_get_size(b->counts))) ||
         astro_stream_refuse(
             error, ASTRO_STREAM_ERROR_CAPS,
             "pad %s: pairs of %u kinds in %u regions, expected %u in %u, as on the "
             "first pad",
             pad, b->n_kinds, b->n_regions, a->n_kinds, a->n_regions);
}

static void add_counts(AstroSummary *to, const AstroSummary *from)
{
  gsize bytes;
  const guint64 *a = g_bytes_get_data(to->counts, &bytes),
                *b = g_bytes_get_data(from->counts, NULL);
  guint64 *sum = g_memdup2(a, bytes);
  for (gsize i = 0; i < bytes / sizeof *sum; i++)
    sum[i] += b[i];
  g_bytes_unref(to->counts);
  to->counts = g_bytes_new_take(sum, bytes);
}

static void add_summary(AstroSummary *to, const AstroSummary *from)
{
  const gsize n = (gsize)to->n_kinds * to->n_regions * to->n_regions;
  for (gsize i = 0; i < n; i++)
    to->pairs[i] += from->pairs[i];
  for (AstroSide side = 0; side < ASTRO_N_SIDES; side++)
    to->points[side] += from->points[side];
  to->catalogues += from->catalogues;
  if (to->counts)
    add_counts(to, from);
}

gboolean astro_add_summaries(const AstroMergeBlock *block, char *const *pads, GstEvent **event,
                             GError **error)
{
  AstroSummary sum = { 0 }, one = { 0 };
  guint told = 0, there = 0;
  gboolean ok = TRUE;
  *event = NULL;
  for (guint i = 0; ok && i < block->n_pieces; i++) {
    const AstroMergePiece *piece = &block->pieces[i];
    there += piece->buffer != NULL;
    if (!piece->told)
      continue;
    ok = astro_summary_from_event(told ? &one : &sum, piece->told, error) &&
         (!told || check_edges(&sum, &one, pads[piece->input], error));
    if (ok && told++)
      add_summary(&sum, &one);
    astro_summary_clear(&one);
  }
  if (ok && told && told != there)
    ok = astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "%u of %u histograms arrived without the description of their bins "
                             "and pairs; some element upstream dropped it",
                             there - told, there);
  if (ok && told)
    *event = astro_summary_to_event(&sum);
  astro_summary_clear(&sum);
  return ok;
}
