/* The event with the summary of a stream of histograms. */
#include "core/stream/histogram-summary.h"
#include "core/stream/stream.h"

#include <string.h>

#define MAX_LENGTH 65536

const char *astro_side_name(AstroSide side)
{
  static const char *const names[] = { "data", "random", "data2", "random2" };
  return names[side];
}

void astro_summary_init(AstroSummary *summary, guint n_kinds, guint n_regions, guint n_edges)
{
  *summary = (AstroSummary){ .n_kinds = n_kinds,
                             .n_regions = n_regions,
                             .n_edges = n_edges,
                             .edges = g_new0(double, n_edges),
                             .pairs = g_new0(double, (gsize)n_kinds *n_regions *n_regions) };
}

void astro_summary_clear(AstroSummary *summary)
{
  g_clear_pointer(&summary->edges, g_free);
  g_clear_pointer(&summary->pairs, g_free);
  g_clear_pointer(&summary->counts, g_bytes_unref);
}

static gsize n_pairs(const AstroSummary *summary)
{
  return (gsize)summary->n_kinds * summary->n_regions * summary->n_regions;
}

GstEvent *astro_summary_to_event(const AstroSummary *summary)
{
  g_autoptr(GBytes) edges = g_bytes_new(summary->edges, summary->n_edges * sizeof(double)),
                    pairs = g_bytes_new(summary->pairs, n_pairs(summary) * sizeof(double));
  GstStructure *s = gst_structure_new(ASTRO_SUMMARY_EVENT, "kinds", G_TYPE_UINT, summary->n_kinds,
                                      "regions", G_TYPE_UINT, summary->n_regions, "edges",
                                      G_TYPE_BYTES, edges, "pairs", G_TYPE_BYTES, pairs, NULL);
  if (summary->most_across > 0)
    gst_structure_set(s, "most-across", G_TYPE_DOUBLE, summary->most_across, NULL);
  if (summary->counts)
    gst_structure_set(s, "counts", G_TYPE_BYTES, summary->counts, NULL);
  for (AstroSide side = 0; side < ASTRO_N_SIDES; side++)
    if (summary->points[side])
      gst_structure_set(s, astro_side_name(side), G_TYPE_UINT64, summary->points[side], NULL);
  if (summary->catalogues)
    gst_structure_set(s, "catalogues", G_TYPE_UINT64, summary->catalogues, NULL);
  return gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, s);
}

gboolean astro_event_is_summary(GstEvent *event)
{
  return GST_EVENT_TYPE(event) == GST_EVENT_CUSTOM_DOWNSTREAM_STICKY &&
         gst_event_has_name(event, ASTRO_SUMMARY_EVENT);
}

gboolean astro_summary_from_event(AstroSummary *summary, GstEvent *event, GError **error)
{
  const GstStructure *s = gst_event_get_structure(event);
  g_autoptr(GBytes) edges = NULL, pairs = NULL, counts = NULL;
  guint kinds, regions;
  gsize edges_bytes = 0, pairs_bytes = 0;
  gboolean good =
      gst_structure_get(s, "kinds", G_TYPE_UINT, &kinds, "regions", G_TYPE_UINT, &regions, "edges",
                        G_TYPE_BYTES, &edges, "pairs", G_TYPE_BYTES, &pairs, NULL) &&
      edges && pairs && kinds > 0 && kinds <= MAX_LENGTH && regions > 0 && regions <= MAX_LENGTH;
  if (good) {
    edges_bytes = g_bytes_get_size(edges);
    pairs_bytes = g_bytes_get_size(pairs);
    good = edges_bytes >= 2 * sizeof(double) && edges_bytes % sizeof(double) == 0 &&
           pairs_bytes == (guint64)kinds * regions * regions * sizeof(double);
  }
  double most_across = 0;
  if (good && gst_structure_has_field(s, "most-across"))
    good = gst_structure_get_double(s, "most-across", &most_across) && most_across > 0 &&
           most_across < G_MAXDOUBLE;
  if (good && gst_structure_has_field(s, "counts"))
    good = gst_structure_get(s, "counts", G_TYPE_BYTES, &counts, NULL) && counts;
  if (!good) {
    g_autofree char *text = s ? gst_structure_to_string(s) : NULL;
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_CAPS,
        "%.200s: expected kinds, regions, edges and pairs of matching lengths, counts, if any, "
        "as bytes, and most-across, if any, above 0",
        text ? text : "an empty event");
  }
  astro_summary_init(summary, kinds, regions, (guint)(edges_bytes / sizeof(double)));
  memcpy(summary->edges, g_bytes_get_data(edges, NULL), edges_bytes);
  memcpy(summary->pairs, g_bytes_get_data(pairs, NULL), pairs_bytes);
  summary->counts = g_steal_pointer(&counts);
  summary->most_across = most_across;
  for (AstroSide side = 0; side < ASTRO_N_SIDES; side++)
    gst_structure_get_uint64(s, astro_side_name(side), &summary->points[side]);
  gst_structure_get_uint64(s, "catalogues", &summary->catalogues);
  return TRUE;
}
