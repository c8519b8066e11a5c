/* Makes the points of a catalogue, or of a slice of it. */
#include "core/histogram/side-parts.h"

#include "core/histogram/fields.h"
#include "core/histogram/pair-weights.h"

PointColumns side_columns_of(const SideRules *rules, const AstroCatalogue *catalogue,
                             const double *region)
{
  return (PointColumns){
    .n = catalogue->n,
    .ra = catalogue->ra,
    .dec = catalogue->dec,
    .distance = rules->config->kind == ASTRO_BINNING_ANGULAR ? NULL : catalogue->distance,
    .weight = catalogue->weight,
    .region = region,
  };
}

/* The columns may be freed once the points are in their places. */
static AstroPoints *make_points(const SideRules *rules, AstroCarried carried,
                                const AstroCatalogue *catalogue, GDestroyNotify free_columns,
                                gpointer data, GError **error)
{
  const AstroHistogramConfig *config = rules->config;
  g_autofree double *made = NULL;
  if (!side_region_column(rules, catalogue, &made, error))
    return NULL;
  const PointColumns columns =
      side_columns_of(rules, catalogue, rules->has_region_column ? catalogue->region : made);
  if (config->fields == ASTRO_PAIR_FIELDS_NONE && !catalogue->bits[0])
    return points_new(&columns, config->n_regions, rules->threads, rules->stop, free_columns, data,
                      error);
  if (catalogue->bits[0]) {
    AstroPoints *points = points_with_bits(&columns, catalogue->bits, config->bits.n_words,
                                           config->n_regions, rules->threads, rules->stop, error);
    free_columns(data);
    return points;
  }
  const FieldColumns fields = { catalogue->k, catalogue->g1, catalogue->g2 };
  AstroPoints *points = points_with_fields(&columns, &fields, carried, config->n_regions,
                                           rules->threads, rules->stop, error);
  free_columns(data);
  return points;
}

static void free_held(gpointer held)
{
  astro_held_clear(held);
}

static void clear_catalogue(gpointer catalogue)
{
  astro_catalogue_clear(catalogue);
}

static void free_catalogue(gpointer catalogue)
{
  astro_catalogue_clear(catalogue);
  g_free(catalogue);
}

/* Takes the columns, which a device reads whenever it has no copy of the points. */
static AstroPoints *hold_points(const SideRules *rules, AstroCatalogue *catalogue, GError **error)
{
  AstroCatalogue *kept = g_memdup2(catalogue, sizeof *catalogue);
  AstroPoints *points = NULL;
  double *made = NULL;
  *catalogue = (AstroCatalogue){ 0 };
  if (side_region_column(rules, kept, &made, error)) {
    g_clear_pointer(&kept->distance, g_free);
    if (made)
      kept->region = g_steal_pointer(&made);
    const gboolean has_regions = rules->regions || rules->has_region_column;
    const PointColumns columns = side_columns_of(rules, kept, has_regions ? kept->region : NULL);
    points = points_hold(&columns, rules->config->n_regions, rules->threads, free_catalogue, kept,
                         error);
  }
  g_free(made);
  if (!points)
    free_catalogue(kept);
  return points;
}

/* Columns that are someone else's are copied for a device. */
AstroPoints *side_points_of(const SideRules *rules, AstroCarried carried, AstroHeld *held,
                            GError **error)
{
  AstroCatalogue copy = { 0 };
  if (!rules->by_device)
    return make_points(rules, carried, &held->all, free_held, held, error);
  if (held->is_lent && !astro_catalogue_add(&copy, &held->all, error))
    return NULL;
  AstroPoints *points = hold_points(rules, held->is_lent ? &copy : &held->all, error);
  astro_held_clear(held);
  return points;
}

AstroPoints *side_read_slice(const Side *side, const SideRules *rules, guint slice, GError **error)
{
  AstroCatalogue catalogue;
  if (side->points)
    return side->points;
  const Slice *here = &side->slices->slices[slice];
  if (!astro_spill_read(side->slices->spill, here->first, here->n, &catalogue, error))
    return NULL;
  AstroPoints *points = rules->by_device ? hold_points(rules, &catalogue, error)
                                         : make_points(rules, side->carried, &catalogue,
                                                       clear_catalogue, &catalogue, error);
  astro_catalogue_clear(&catalogue);
  return points;
}
