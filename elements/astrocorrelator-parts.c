/* Joins what several devices have made of an integration. */
#include "config.h"
#include "elements/astrocorrelator-parts.h"

#include <string.h>

static void drop_last(AstroCorrelatorParts *parts)
{
  const guint last = --parts->n;
  gst_clear_buffer(&parts->blocks[last]);
  g_clear_pointer(&parts->parts[last].counts, g_free);
}

void astro_correlator_parts_clear(AstroCorrelatorParts *parts)
{
  while (parts->n > 0)
    drop_last(parts);
}

static void swap(AstroCorrelatorParts *parts, guint i, guint k)
{
  GstBuffer *block = parts->blocks[i];
  const AstroCorrelatorPart part = parts->parts[i];
  const guint lane = parts->lanes[i];
  const guint64 n_counts = parts->n_counts[i];
  parts->blocks[i] = parts->blocks[k];
  parts->parts[i] = parts->parts[k];
  parts->lanes[i] = parts->lanes[k];
  parts->n_counts[i] = parts->n_counts[k];
  parts->blocks[k] = block;
  parts->parts[k] = part;
  parts->lanes[k] = lane;
  parts->n_counts[k] = n_counts;
}

void astro_correlator_parts_drop(AstroCorrelatorParts *parts, guint lane)
{
  for (guint i = parts->n; i-- > 0;)
    if (parts->lanes[i] == lane) {
      swap(parts, i, parts->n - 1);
      drop_last(parts);
    }
}

/* One count for all is what samples are for. */
void astro_correlator_parts_add(AstroCorrelatorParts *parts, GstBuffer *block, guint lane,
                                const AstroResult *result, guint64 n_counts)
{
  const guint i = parts->n++;
  parts->blocks[i] = block;
  parts->lanes[i] = lane;
  parts->parts[i].samples = n_counts == 1 ? result->counts[0] : result->samples;
  parts->parts[i].counts =
      n_counts > 1 ? g_memdup2(result->counts, n_counts * sizeof *result->counts) : NULL;
  parts->n_counts[i] = n_counts;
}

/* Parts are added up count by count; what repeated before does so in the sum. */
static void spell_out(AstroCorrelatorParts *parts, guint64 all)
{
  for (guint k = 0; k < parts->n && parts->n > 1; k++) {
    guint32 *counts = parts->parts[k].counts;
    if (!counts)
      continue;
    counts = parts->parts[k].counts = g_renew(guint32, counts, all);
    for (guint64 i = parts->n_counts[k]; i < all; i++)
      counts[i] = counts[i - parts->n_counts[k]];
  }
}

GstBuffer *astro_correlator_parts_join(AstroCorrelatorParts *parts, AstroStage *stage, guint at,
                                       AstroResult *result, guint64 all, guint64 *n_counts,
                                       GError **error)
{
  AstroCorrelatorPart *whole = &parts->parts[0];
  swap(parts, 0, at);
  spell_out(parts, all);
  astro_stage_take_lane(stage, parts->lanes[0]);
  while (parts->n > 1) {
    const guint last = parts->n - 1;
    const AstroCorrelatorPart both[] = { *whole, parts->parts[last] };
    const AstroCorrelatorArguments arguments = { .parts = both };
    if (!astro_stage_submit_part(stage, parts->blocks[last], parts->blocks[0], &arguments, FALSE,
                                 last == 1, error))
      return NULL;
    astro_correlator_part_add(whole, &parts->parts[last], all);
    parts->n_counts[0] = MAX(parts->n_counts[0], parts->n_counts[last]);
    drop_last(parts);
  }
  result->samples = whole->samples;
  result->complete = !whole->counts;
  *n_counts = whole->counts ? parts->n_counts[0] : 0;
  if (whole->counts)
    memcpy(result->counts, whole->counts, *n_counts * sizeof *whole->counts);
  GstBuffer *joined = g_steal_pointer(&parts->blocks[0]);
  astro_correlator_parts_clear(parts);
  return joined;
}
