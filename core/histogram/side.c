/* Checks catalogues, weighs their regions and makes their points ready. */
#include "core/histogram/side.h"

#include "core/histogram/fields.h"
#include "core/histogram/pair-weights.h"
#include "core/kit/fail.h"

#include <math.h>

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

/* ---- regions ---- */

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

/* *column: each point's region, to be freed, or NULL if no regions were made from the data. */
static gboolean region_column(const SideRules *rules, const AstroCatalogue *catalogue,
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

/* ---- weights ---- */

#define MOST_WEIGHT 1e154 /* of a catalogue: its square is still finite */
#define MOST_CARRIED 1e75 /* the same for the square of a product of two */

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

typedef struct {
  Side *side;
  const SideRules *rules;
  AstroSide which;
  double size;    /* of all weights together */
  double carried; /* the same times what the points carry */
  guint64 above, below;
} Weighing;

static gboolean weigh(Weighing *w, guint64 i, double weight, guint region, GError **error)
{
  Side *side = w->side;
  w->size += fabs(weight);
  w->above += weight > 0;
  w->below += weight < 0;
  side->weight[region] += weight;
  side->square[region] += weight * weight;
  /* Random weights may not be negative, as every estimator divides by pairs with random points. */
  return weight >= 0 || !side_is_random(w->which) ||
         astro_fail(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_POINTS,
                    "the %s catalogue has a weight of %g at point %" G_GUINT64_FORMAT
                    ", expected none below 0",
                    astro_side_name(w->which), weight, i);
}

/* FALSE: a value is no finite number. */
static gboolean weigh_carried(Weighing *w, const AstroCatalogue *chunk, guint64 i, guint64 at,
                              double weight, GError **error)
{
  const double *columns[] = { chunk->k, chunk->g1, chunk->g2 };
  const gboolean shear = w->side->carried == ASTRO_CARRIED_SHEAR;
  const guint first = shear ? 1 : 0, last = shear ? 3 : w->side->carried == ASTRO_CARRIED_SCALAR;
  for (guint c = first; c < last; c++) {
    static const char *const names[] = { "k", "g1", "g2" };
    if (!isfinite(columns[c][i]))
      return astro_fail(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_POINTS,
                        "%s: point %" G_GUINT64_FORMAT ": %s is %g, expected a finite number",
                        astro_side_name(w->which), at, names[c], columns[c][i]);
    w->carried += fabs(weight) * fabs(columns[c][i]);
  }
  return TRUE;
}

/* FALSE: a word of bits is none, or more bits are set than there are realisations. */
static gboolean weigh_bits(Weighing *w, const AstroCatalogue *chunk, guint64 i, guint64 at,
                           double weight, guint region, GError **error)
{
  const AstroPairBits *bits = &w->rules->config->bits;
  const guint classes = 32 * bits->n_words + 1;
  if (!w->side->of_bits)
    return TRUE;
  for (guint k = 0; k < bits->n_words; k++) {
    const double word = chunk->bits[k][i];
    if (!(word >= 0 && word <= G_MAXUINT32 && word == floor(word)))
      return astro_fail(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_POINTS,
                        "%s: point %" G_GUINT64_FORMAT ": bits%u is %.12g, expected a whole number "
                        "of 32 bits",
                        astro_side_name(w->which), at, k, word);
  }
  const guint n = pair_bits_set(chunk->bits, bits->n_words, i);
  if (n > bits->realizations - bits->offset)
    return astro_fail(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_POINTS,
                      "%s: point %" G_GUINT64_FORMAT " is selected by %u realisations, expected "
                      "%u at most, nrealizations less noffset",
                      astro_side_name(w->which), at, n, bits->realizations - bits->offset);
  w->side->of_bits[(gsize)region * classes + n] += weight;
  w->side->square_of_bits[(gsize)region * classes + n] += weight * weight;
  return TRUE;
}

static PointColumns columns_of(const SideRules *rules, const AstroCatalogue *catalogue,
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

static gboolean weigh_chunk(gpointer data, const AstroCatalogue *chunk, guint64 first,
                            GError **error)
{
  Weighing *w = data;
  const SideRules *rules = w->rules;
  const double *region = rules->has_region_column ? chunk->region : NULL;
  const PointColumns columns = columns_of(rules, chunk, region);
  g_autofree double *made = NULL;
  if (!points_check(&columns, first, rules->config->n_regions, error)) {
    g_prefix_error(error, "%s: ", astro_side_name(w->which));
    return FALSE;
  }
  if (!region_column(rules, chunk, &made, error))
    return FALSE;
  if (made)
    region = made;
  for (guint64 i = 0; i < chunk->n; i++) {
    const double weight = chunk->weight ? chunk->weight[i] : 1;
    const guint of_region = region ? (guint)region[i] : 0;
    if (!weigh(w, first + i, weight, of_region, error) ||
        !weigh_bits(w, chunk, i, first + i, weight, of_region, error) ||
        !weigh_carried(w, chunk, i, first + i, weight, error))
      return FALSE;
  }
  return TRUE;
}

/* Negative weights beside positive ones are allowed, as in differences of catalogues. If all are
 * negative, a sign is wrong, or a value that stands for a missing weight was taken for one. */
static gboolean check_weights(const Weighing *w, guint64 n, GError **error)
{
  const double most =
      w->rules->config->fields == ASTRO_PAIR_FIELDS_NONE ? MOST_WEIGHT : MOST_CARRIED;
  if (w->size > most)
    return astro_fail(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_POINTS,
                      "the %s catalogue has weights whose sizes sum up to %g, expected %g at most",
                      astro_side_name(w->which), w->size, most);
  if (!(w->carried <= MOST_CARRIED))
    return astro_fail(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_POINTS,
                      "the %s catalogue has values whose sizes, times weights, sum up to %g, "
                      "expected %g at most",
                      astro_side_name(w->which), w->carried, MOST_CARRIED);
  return w->below == 0 || w->above > 0 ||
         astro_fail(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_POINTS,
                    "the %s catalogue has weights below 0, %" G_GUINT64_FORMAT
                    " of %" G_GUINT64_FORMAT ", and none above: expected weights of 0 or more",
                    astro_side_name(w->which), w->below, n);
}

/* In the order in which the points came, so that sums are the same in memory and in a file. */
static gboolean weigh_points(Side *side, const SideRules *rules, AstroSide which,
                             const AstroHeld *held, GError **error)
{
  const guint regions = astro_histogram_regions(rules->config);
  Weighing weighing = { .side = side, .rules = rules, .which = which };
  side->n = held->n;
  side->weight = g_new0(double, regions);
  side->square = g_new0(double, regions);
  if (astro_catalogue_n_words(held->columns)) {
    const gsize classes = 32 * rules->config->bits.n_words + 1;
    side->of_bits = g_new0(double, regions *classes);
    side->square_of_bits = g_new0(double, regions *classes);
  }
  if (!astro_held_visit(held, weigh_chunk, &weighing, error) ||
      !check_weights(&weighing, held->n, error))
    return FALSE;
  side->n_negative = weighing.below;
  return TRUE;
}

/* ---- sides ---- */

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

/* The columns may be freed once the points are in their places. */
static AstroPoints *make_points(const SideRules *rules, AstroCarried carried,
                                const AstroCatalogue *catalogue, GDestroyNotify free_columns,
                                gpointer data, GError **error)
{
  const AstroHistogramConfig *config = rules->config;
  g_autofree double *made = NULL;
  if (!region_column(rules, catalogue, &made, error))
    return NULL;
  const PointColumns columns =
      columns_of(rules, catalogue, rules->has_region_column ? catalogue->region : made);
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
  if (region_column(rules, kept, &made, error)) {
    g_clear_pointer(&kept->distance, g_free);
    if (made)
      kept->region = g_steal_pointer(&made);
    const gboolean has_regions = rules->regions || rules->has_region_column;
    const PointColumns columns = columns_of(rules, kept, has_regions ? kept->region : NULL);
    points = points_hold(&columns, rules->config->n_regions, rules->threads, free_catalogue, kept,
                         error);
  }
  g_free(made);
  if (!points)
    free_catalogue(kept);
  return points;
}

/* Columns that are someone else's are copied for a device. */
static AstroPoints *points_of_held(const SideRules *rules, AstroCarried carried, AstroHeld *held,
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

gboolean side_set(Side *side, const SideRules *rules, AstroSide which, AstroHeld *held,
                  guint64 most, GError **error)
{
  const gboolean in_space = rules->config->kind != ASTRO_BINNING_ANGULAR;
  side_clear(side);
  side->carried = carried_by(rules, which);
  if (!check_columns(rules, which, held, error) || !weigh_points(side, rules, which, held, error))
    return FALSE;
  if (held->spill) {
    side->slices = slices_new(g_steal_pointer(&held->spill), in_space, most, rules->threads,
                              rules->stop, error);
    return side->slices != NULL;
  }
  side->points = points_of_held(rules, side->carried, held, error);
  if (!side->points)
    g_prefix_error(error, "%s: ", astro_side_name(which));
  return side->points != NULL;
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
