/* Reads what belongs to a block: its counts, its grid's weights, its histogram's summary. */
#include "config.h"
#include "core/fits/blocks/read.h"

#include <string.h>

static gboolean read_counts_shape(const AstroBlocksReader *r, const AstroFitsHeader *header,
                                  AstroLayout *shape, GError **error)
{
  const char *axes = "";
  *shape = (AstroLayout){ 0 };
  astro_fits_get_string(header, "AXES", &axes);
  if (axes[0] && !astro_layout_parse(shape, axes, r->stream.quantity, error)) {
    g_prefix_error(error, "%s: AXES of COUNTS: ", astro_fits_file_name(r->file));
    return FALSE;
  }
  gboolean fits = header->n_axes == MAX(shape->n_axes, 1);
  for (guint i = 0; fits && i < shape->n_axes; i++) {
    shape->extents[i] = header->axes[shape->n_axes - 1 - i];
    fits = shape->extents[i] > 0;
  }
  if (fits && !shape->n_axes)
    fits = header->axes[0] == 1;
  return fits || astro_fits_wrong(r->file, error,
                                  "AXES of COUNTS is \"%s\", which does not match its %u axes",
                                  axes, header->n_axes);
}

gboolean astro_blocks_read_counts(const AstroBlocksReader *r, guint block,
                                  const AstroLayout *samples, GstBuffer *buffer, GError **error)
{
  const AstroFitsHeader *header = astro_blocks_find_with(r, block, "COUNTS");
  AstroLayout shape;
  gint64 full;
  if (!header)
    return TRUE;
  if (!read_counts_shape(r, header, &shape, error) ||
      !astro_blocks_get_number(r, header, "FULL", 0, G_MAXUINT32, &full, error))
    return FALSE;
  const AstroValidityMeta told = { .shape = shape };
  if (!astro_validity_check(&told, samples, error)) {
    g_prefix_error(error, "%s: COUNTS: ", astro_fits_file_name(r->file));
    return FALSE;
  }
  g_autofree guint32 *counts =
      astro_blocks_read_array(r, header, "COUNTS", &astro_fits_counts, error);
  if (!counts)
    return FALSE;
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &shape, (guint32)full);
  memcpy(meta->counts, counts, header->bytes);
  return TRUE;
}

gboolean astro_blocks_read_grid(const AstroBlocksReader *r, guint block, GstBuffer *buffer,
                                GError **error)
{
  const guint64 expected = astro_stream_extent(&r->stream, ASTRO_AXIS_CHANNEL) *
                           astro_stream_extent(&r->stream, ASTRO_AXIS_POL);
  const AstroFitsHeader *header = astro_blocks_find_with(r, block, "WEIGHTS");
  gint64 plane, planes, used, outside, flagged, not_finite;
  double w, w_step;
  if (r->stream.quantity != ASTRO_QUANTITY_UVGRID)
    return TRUE;
  if (!header)
    return astro_fits_wrong(r->file, error, "a grid has no array WEIGHTS with its sums of weights");
  if (!astro_blocks_get_number(r, header, "PLANES", 0, G_MAXUINT, &planes, error) ||
      !astro_blocks_get_number(r, header, "PLANE", 0, MAX(planes - 1, 0), &plane, error) ||
      !astro_blocks_get_number(r, header, "USED", 0, G_MAXINT64, &used, error) ||
      !astro_blocks_get_number(r, header, "OUTSIDE", 0, G_MAXINT64, &outside, error) ||
      !astro_blocks_get_number(r, header, "FLAGGED", 0, G_MAXINT64, &flagged, error) ||
      !astro_blocks_get_number(r, header, "NOTFINIT", 0, G_MAXINT64, &not_finite, error))
    return FALSE;
  if (!astro_fits_get_double(header, "W", &w) || !astro_fits_get_double(header, "WSTEP", &w_step))
    return astro_fits_wrong(r->file, error, "WEIGHTS: W or WSTEP is missing or not a number");
  if (header->bytes != expected * sizeof(double))
    return astro_fits_wrong(r->file, error,
                            "WEIGHTS has %" G_GUINT64_FORMAT " bytes, expected %" G_GUINT64_FORMAT
                            " numbers, one per channel and product",
                            header->bytes, expected);
  g_autofree double *weights =
      astro_blocks_read_array(r, header, "WEIGHTS", &astro_fits_doubles, error);
  if (!weights)
    return FALSE;
  AstroGridMeta *grid = astro_buffer_add_grid(buffer, (guint)expected);
  memcpy(grid->weights, weights, header->bytes);
  grid->w = w;
  grid->w_step = w_step;
  grid->plane = (guint)plane;
  grid->planes = (guint)planes;
  grid->used = (guint64)used;
  grid->outside = (guint64)outside;
  grid->flagged = (guint64)flagged;
  grid->not_finite = (guint64)not_finite;
  return TRUE;
}

/* Reads the integers in the header of EDGES, checks the lengths of the arrays against them, and
 * reads the arrays. */
static gboolean begin_summary(const AstroBlocksReader *r, guint block, const AstroFitsHeader *edges,
                              AstroSummary *summary, GError **error)
{
  const AstroFitsHeader *pairs = astro_blocks_find_with(r, block, "PAIRS");
  gint64 kinds, regions, random, points[ASTRO_N_SIDES];
  double most_across = 0;
  for (AstroSide side = 0; side < ASTRO_N_SIDES; side++) {
    g_autofree char *key = g_strdup_printf("POINTS%u", side + 1);
    if (!astro_blocks_get_number(r, edges, key, 0, G_MAXINT64, &points[side], error))
      return FALSE;
  }
  if (!astro_blocks_get_number(r, edges, "NKINDS", 1, 65536, &kinds, error) ||
      !astro_blocks_get_number(r, edges, "NREGIONS", 1, 65536, &regions, error) ||
      !astro_blocks_get_number(r, edges, "NRANDOM", 0, G_MAXINT64, &random, error))
    return FALSE;
  if (g_hash_table_contains(edges->values, "ACROSS") &&
      !(astro_fits_get_double(edges, "ACROSS", &most_across) && most_across > 0))
    return astro_fits_wrong(r->file, error, "EDGES: ACROSS is not a number above 0");
  const guint64 n_pairs = (guint64)kinds * (guint64)regions * (guint64)regions;
  if (!pairs || pairs->bytes != n_pairs * sizeof(double) || edges->bytes < 2 * sizeof(double) ||
      edges->bytes / sizeof(double) > G_MAXUINT)
    return astro_fits_wrong(r->file, error,
                            "EDGES or PAIRS have the wrong length for a histogram of %d kinds of "
                            "pairs and %d regions",
                            (gint)kinds, (gint)regions);
  g_autofree double *found = astro_blocks_read_array(r, edges, "EDGES", &astro_fits_doubles, error);
  g_autofree double *found_pairs =
      found ? astro_blocks_read_array(r, pairs, "PAIRS", &astro_fits_doubles, error) : NULL;
  if (!found_pairs)
    return FALSE;
  astro_summary_init(summary, (guint)kinds, (guint)regions, (guint)(edges->bytes / sizeof(double)));
  memcpy(summary->edges, found, edges->bytes);
  memcpy(summary->pairs, found_pairs, pairs->bytes);
  for (AstroSide side = 0; side < ASTRO_N_SIDES; side++)
    summary->points[side] = (guint64)points[side];
  summary->catalogues = (guint64)random;
  summary->most_across = most_across;
  return TRUE;
}

gboolean astro_blocks_read_summary(const AstroBlocksReader *r, guint block, guint64 bytes,
                                   GstEvent **told, GError **error)
{
  const AstroFitsHeader *edges = astro_blocks_find_with(r, block, "EDGES"),
                        *sums = astro_blocks_find_with(r, block, "SUMS");
  AstroSummary summary = { 0 };
  if (!edges)
    return TRUE;
  if (!begin_summary(r, block, edges, &summary, error))
    return FALSE;
  gboolean ok = !sums || sums->bytes == bytes ||
                astro_fits_wrong(r->file, error,
                                 "SUMS has %" G_GUINT64_FORMAT " bytes, expected %" G_GUINT64_FORMAT
                                 ", one count for each value of the histogram",
                                 sums->bytes, bytes);
  if (ok && sums) {
    gpointer counts = astro_blocks_read_array(r, sums, "SUMS", &astro_fits_sums, error);
    ok = counts != NULL;
    summary.counts = ok ? g_bytes_new_take(counts, sums->bytes) : NULL;
  }
  if (ok)
    *told = astro_summary_to_event(&summary);
  astro_summary_clear(&summary);
  return ok;
}
