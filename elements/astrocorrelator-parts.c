/* Joins what several devices have made of an integration. */
#include "config.h"
#include "elements/astrocorrelator-parts.h"

#include <string.h>

void astro_correlator_parts_clear(AstroCorrelatorParts *parts)
{
  for (guint i = 0; i < parts->n; i++) {
    gst_clear_buffer(&parts->blocks[i]);
    g_clear_pointer(&parts->counts[i], g_free);
  }
  parts->n = 0;
}

void astro_correlator_parts_add(AstroCorrelatorParts *parts, GstBuffer *block,
                                const AstroResult *result, gsize n_counts)
{
  const guint i = parts->n++;
  parts->blocks[i] = block;
  parts->samples[i] = result->samples;
  parts->counts[i] =
      result->complete ? NULL : g_memdup2(result->counts, n_counts * sizeof *result->counts);
}

/* Maps all blocks, the first one for writing, since the sum goes there. */
static guint map_all(AstroCorrelatorParts *parts, GstMapInfo *maps, AstroCorrelatorPart *mapped)
{
  guint i;
  for (i = 0; i < parts->n; i++) {
    if (!gst_buffer_map(parts->blocks[i], &maps[i], i ? GST_MAP_READ : GST_MAP_READWRITE))
      break;
    mapped[i] = (AstroCorrelatorPart){ maps[i].data, parts->samples[i], parts->counts[i] };
  }
  return i;
}

GstBuffer *astro_correlator_parts_join(AstroCorrelatorParts *parts,
                                       const AstroCorrelatorConfig *config, guint threads,
                                       AstroResult *result, GError **error)
{
  GstMapInfo maps[ASTRO_MOST_DEVICES] = { 0 };
  AstroCorrelatorPart mapped[ASTRO_MOST_DEVICES] = { 0 };
  const guint n = map_all(parts, maps, mapped);
  gboolean ok = n == parts->n;
  if (!ok)
    astro_fail(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_DEVICE,
               "the visibilities that device %u of %u has made cannot be read", n + 1, parts->n);
  ok = ok && astro_correlator_join_parts(config, mapped, n, maps[0].data, threads, result, error);
  for (guint i = 0; i < n; i++)
    gst_buffer_unmap(parts->blocks[i], &maps[i]);
  GstBuffer *joined = ok ? g_steal_pointer(&parts->blocks[0]) : NULL;
  astro_correlator_parts_clear(parts);
  return joined;
}
