/* A side of a histogram, and which catalogues are refused as one. */
#include "core/histogram/side.h"

#include "core/histogram/side-parts.h"
#include "core/kit/fail.h"

gboolean side_refuse(AstroSide side, const char *what, GError **error)
{
  g_set_error(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_POINTS, "the %s catalogue %s",
              astro_side_name(side), what);
  return FALSE;
}

gboolean side_is_random(AstroSide side)
{
  return side == ASTRO_SIDE_RANDOM || side == ASTRO_SIDE_RANDOM2;
}

gboolean side_is_there(const Side *side)
{
  return side->points || side->slices;
}

void side_clear(Side *side)
{
  g_clear_pointer(&side->points, astro_points_free);
  g_clear_pointer(&side->slices, slices_free);
  g_clear_pointer(&side->weight, g_free);
  g_clear_pointer(&side->square, g_free);
  g_clear_pointer(&side->of_bits, g_free);
  g_clear_pointer(&side->square_of_bits, g_free);
}

/* The columns that are carried, and the properties of sources that name them. */
static const struct {
  const char *name, *properties;
  guint columns;
} carried_columns[] = {
  [ASTRO_CARRIED_NOTHING] = { "nothing", "nothing", 0 },
  [ASTRO_CARRIED_SCALAR] = { "no column k", "k-column", ASTRO_COLUMN_K },
  [ASTRO_CARRIED_SHEAR] = { "no columns g1 and g2", "g1-column and g2-column",
                            ASTRO_COLUMN_G1 | ASTRO_COLUMN_G2 },
};

static gboolean refuse_flat(const AstroHistogramConfig *config, AstroSide side, GError **error)
{
  return astro_fail(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_POINTS,
                    "the %s catalogue has no distances, which kind=%s needs: expected a column "
                    "distance, from distance-column, or redshift-column with omega-m, of its "
                    "source",
                    astro_side_name(side), astro_binning_name(config->kind));
}

static AstroCarried carried_by(const SideRules *rules, AstroSide which)
{
  return astro_pair_fields_carried(rules->config->fields, which == ASTRO_SIDE_DATA2);
}

static gboolean refuse_empty_handed(const SideRules *rules, AstroSide which, GError **error)
{
  const AstroCarried carried = carried_by(rules, which);
  return astro_fail(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_POINTS,
                    "the %s catalogue has %s, which fields=%s needs: expected %s of its source",
                    astro_side_name(which), carried_columns[carried].name,
                    astro_pair_fields_name(rules->config->fields),
                    carried_columns[carried].properties);
}

static gboolean check_columns(const SideRules *rules, AstroSide which, const AstroHeld *held,
                              GError **error)
{
  const AstroHistogramConfig *config = rules->config;
  const guint needed = carried_columns[carried_by(rules, which)].columns;
  if (held->n == 0)
    return side_refuse(which, "is empty", error);
  const gboolean has_weight = held->columns & ASTRO_COLUMN_WEIGHT,
                 has_region = held->columns & ASTRO_COLUMN_REGION;
  const guint n_words = astro_catalogue_n_words(held->columns);
  if (has_weight && !config->weighted)
    return side_refuse(which, "has weights, and those before it had none", error);
  if (n_words != 0 && n_words != config->bits.n_words)
    return astro_fail(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_POINTS,
                      "the %s catalogue has bits of %u realisations, and others have %u: expected "
                      "the same",
                      astro_side_name(which), 32 * n_words, 32 * config->bits.n_words);
  if (rules->has_region_column && !has_region)
    return side_refuse(which, "has no column of regions, but the data catalogue has", error);
  if (rules->regions && has_region) /* it would be ignored */
    return side_refuse(which, "has a column of regions, but the data catalogue has none", error);
  if (config->kind != ASTRO_BINNING_ANGULAR && !(held->columns & ASTRO_COLUMN_DISTANCE))
    return refuse_flat(config, which, error);
  return (held->columns & needed) == needed || refuse_empty_handed(rules, which, error);
}

gboolean side_set(Side *side, const SideRules *rules, AstroSide which, AstroHeld *held,
                  guint64 most, GError **error)
{
  const gboolean in_space = rules->config->kind != ASTRO_BINNING_ANGULAR;
  side_clear(side);
  side->carried = carried_by(rules, which);
  if (!check_columns(rules, which, held, error) || !side_weigh(side, rules, which, held, error))
    return FALSE;
  if (held->spill) {
    side->slices = slices_new(g_steal_pointer(&held->spill), in_space, most, rules->threads,
                              rules->stop, error);
    return side->slices != NULL;
  }
  side->points = side_points_of(rules, side->carried, held, error);
  if (!side->points)
    g_prefix_error(error, "%s: ", astro_side_name(which));
  return side->points != NULL;
}
