/* Makes regions from the data of a histogram, and finds those of points. */
#include "core/histogram/side-parts.h"

#include "core/kit/fail.h"

typedef struct {
  const AstroRegions *regions;
  const AstroCatalogue *catalogue;
  double *column;
  AstroStoppable work;
} FindRegions;

#define POINTS_AT_ONCE 4096

static void find_regions(gpointer data, guint64 task)
{
  FindRegions *find = data;
  const AstroCatalogue *catalogue = find->catalogue;
  guint64 first = task * POINTS_AT_ONCE, last = MIN(first + POINTS_AT_ONCE, catalogue->n);
  if (astro_is_stopped(&find->work))
    return;
  for (guint64 i = first; i < last; i++)
    find->column[i] = astro_regions_find(find->regions, catalogue->ra[i], catalogue->dec[i]);
}

gboolean side_region_column(const SideRules *rules, const AstroCatalogue *catalogue,
                            double **column, GError **error)
{
  *column = NULL;
  if (!rules->regions)
    return TRUE;
  if (!(*column = g_try_new(double, catalogue->n)))
    return astro_catalogue_no_memory(error, catalogue->n);
  FindRegions find = { rules->regions, catalogue, *column, { .stop = rules->stop } };
  astro_parallel((catalogue->n + POINTS_AT_ONCE - 1) / POINTS_AT_ONCE, rules->threads, find_regions,
                 &find);
  return !find.work.stopped ||
         astro_fail(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_CANCELLED,
                    "stopped while points were being assigned to regions");
}

static gboolean add_places(gpointer data, const AstroCatalogue *chunk, guint64 first,
                           GError **error)
{
  AstroVector *places = (AstroVector *)data + first;
  for (guint64 i = 0; i < chunk->n; i++)
    astro_unit_vector(chunk->ra[i], chunk->dec[i], &places[i].x[0], &places[i].x[1],
                      &places[i].x[2]);
  return TRUE;
}

static gboolean regions_of_file(SideRules *rules, const AstroHeld *data, guint64 bytes,
                                GError **error)
{
  const guint n_regions = rules->config->n_regions;
  const guint64 needed = data->n * sizeof(AstroVector);
  if (needed > bytes)
    return astro_backend_no_memory(
        error,
        "%u regions of %" G_GUINT64_FORMAT " data points take %" G_GUINT64_FORMAT
        " bytes to make, and max-memory has room for %" G_GUINT64_FORMAT
        ": expected more memory, or a column of regions in the catalogues",
        n_regions, data->n, needed, bytes);
  AstroVector *places = g_try_new(AstroVector, data->n);
  if (!places)
    return astro_catalogue_no_memory(error, data->n);
  if (astro_held_visit(data, add_places, places, error))
    rules->regions = astro_regions_of_places(places, data->n, n_regions, rules->stop, error);
  g_free(places);
  return rules->regions != NULL;
}

gboolean side_make_regions(SideRules *rules, const AstroHeld *data, guint64 bytes, GError **error)
{
  if (data->spill)
    return regions_of_file(rules, data, bytes, error);
  rules->regions = astro_regions_new(data->all.ra, data->all.dec, data->n, rules->config->n_regions,
                                     rules->stop, error);
  return rules->regions != NULL;
}
