/* Joins what several devices have made of an integration. */
#include "config.h"
#include "elements/astrocorrelator-parts.h"

#include <string.h>

void astro_correlator_parts_clear(AstroCorrelatorParts *parts)
{
  for (guint i = 0; i < parts->n; i++) {
    gst_clear_buffer(&parts->blocks[i]);
    g_clear_pointer(&parts->parts[i].counts, g_free);
  }
  parts->n = 0;
}

void astro_correlator_parts_add(AstroCorrelatorParts *parts, GstBuffer *block, guint lane,
                                const AstroResult *result, gsize n_counts)
{
  const guint i = parts->n++;
  parts->blocks[i] = block;
  parts->lanes[i] = lane;
  parts->parts[i].samples = result->samples;
  parts->parts[i].counts =
      result->complete ? NULL : g_memdup2(result->counts, n_counts * sizeof *result->counts);
}

static gboolean join_all(AstroCorrelatorParts *parts, AstroStage *stage, guint at, gsize n_counts,
                         GError **error)
{
  AstroCorrelatorPart *whole = &parts->parts[at];
  guint left = parts->n - 1;
  astro_stage_take_lane(stage, parts->lanes[at]);
  for (guint i = 0; i < parts->n; i++) {
    const AstroCorrelatorPart both[] = { *whole, parts->parts[i] };
    const AstroCorrelatorArguments arguments = { .parts = both };
    if (i == at)
      continue;
    if (!astro_stage_submit_part(stage, parts->blocks[i], parts->blocks[at], &arguments, FALSE,
                                 --left == 0, error))
      return FALSE;
    astro_correlator_part_add(whole, &parts->parts[i], n_counts);
  }
  return TRUE;
}

GstBuffer *astro_correlator_parts_join(AstroCorrelatorParts *parts, AstroStage *stage, guint at,
                                       AstroResult *result, gsize n_counts, GError **error)
{
  const AstroCorrelatorPart *whole = &parts->parts[at];
  GstBuffer *joined = NULL;
  if (join_all(parts, stage, at, n_counts, error)) {
    joined = g_steal_pointer(&parts->blocks[at]);
    result->samples = whole->samples;
    result->complete = !whole->counts;
    if (whole->counts)
      memcpy(result->counts, whole->counts, n_counts * sizeof *whole->counts);
  }
  astro_correlator_parts_clear(parts);
  return joined;
}
