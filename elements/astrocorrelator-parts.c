/* Joins what several devices have made of an integration. */
#include "config.h"
#include "elements/astrocorrelator-parts.h"

#include <string.h>

static void drop_last(AstroCorrelatorParts *parts)
{
  AstroCorrelatorMade *last = &parts->made[--parts->n];
  gst_clear_buffer(&last->block);
  g_clear_pointer(&last->part.counts, g_free);
}

void astro_correlator_parts_clear(AstroCorrelatorParts *parts)
{
  while (parts->n > 0)
    drop_last(parts);
}

static void swap(AstroCorrelatorParts *parts, guint i, guint k)
{
  const AstroCorrelatorMade made = parts->made[i];
  parts->made[i] = parts->made[k];
  parts->made[k] = made;
}

void astro_correlator_parts_drop(AstroCorrelatorParts *parts, guint lane)
{
  for (guint i = parts->n; i-- > 0;)
    if (parts->made[i].lane == lane) {
      swap(parts, i, parts->n - 1);
      drop_last(parts);
    }
}

/* One count for all is what samples are for. */
void astro_correlator_parts_add(AstroCorrelatorParts *parts, GstBuffer *block, guint lane,
                                const AstroResult *result, guint64 n_counts)
{
  parts->made[parts->n++] = (AstroCorrelatorMade){
    .block = block,
    .lane = lane,
    .part.samples = n_counts == 1 ? result->counts[0] : result->samples,
    .part.counts =
        n_counts > 1 ? g_memdup2(result->counts, n_counts * sizeof *result->counts) : NULL,
    .n_counts = n_counts,
  };
}

/* Parts are added up count by count; what repeated before does so in the sum. */
static void spell_out(AstroCorrelatorParts *parts, guint64 all)
{
  for (guint k = 0; k < parts->n && parts->n > 1; k++) {
    AstroCorrelatorMade *made = &parts->made[k];
    guint32 *counts = made->part.counts;
    if (!counts)
      continue;
    counts = made->part.counts = g_renew(guint32, counts, all);
    for (guint64 i = made->n_counts; i < all; i++)
      counts[i] = counts[i - made->n_counts];
  }
}

GstBuffer *astro_correlator_parts_join(AstroCorrelatorParts *parts, AstroStage *stage, guint at,
                                       AstroResult *result, guint64 all, guint64 *n_counts,
                                       GError **error)
{
  AstroCorrelatorMade *first = &parts->made[0];
  AstroCorrelatorPart *whole = &first->part;
  swap(parts, 0, at);
  spell_out(parts, all);
  astro_stage_take_lane(stage, first->lane);
  while (parts->n > 1) {
    const AstroCorrelatorMade *last = &parts->made[parts->n - 1];
    const AstroCorrelatorPart both[] = { *whole, last->part };
    const AstroCorrelatorArguments arguments = { .parts = both };
    if (!astro_stage_submit_part(stage, last->block, first->block, &arguments, FALSE, parts->n == 2,
                                 error))
      return NULL;
    astro_correlator_part_add(whole, &last->part, all);
    first->n_counts = MAX(first->n_counts, last->n_counts);
    drop_last(parts);
  }
  result->samples = whole->samples;
  result->complete = !whole->counts;
  *n_counts = whole->counts ? first->n_counts : 0;
  if (whole->counts)
    memcpy(result->counts, whole->counts, *n_counts * sizeof *whole->counts);
  GstBuffer *joined = g_steal_pointer(&first->block);
  astro_correlator_parts_clear(parts);
  return joined;
}
