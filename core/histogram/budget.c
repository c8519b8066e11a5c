/* Every block is counted that counting asks for, with the largest that its threads may need. */
#include "core/histogram/budget.h"

#include "core/histogram/fields.h"
#include "core/histogram/pair-weights.h"
#include "core/histogram/points.h"
#include "core/histogram/slices.h"

/* Tasks begin at up to so many cells of a catalogue, or one a region (points.c). */
#define MOST_TOPS 256
/* For small blocks, and what the C library adds to them. */
#define SMALL_BYTES (1u << 20)

/* In angle a sum for every pair of tops; in space, and of fields, for every top and region. */
static guint64 bytes_of_sums(const AstroHistogramConfig *config)
{
  const guint64 regions = astro_histogram_regions(config), tops = MAX(regions, MOST_TOPS);
  if (!config->weighted)
    return 0;
  return config->kind == ASTRO_BINNING_ANGULAR && config->fields == ASTRO_PAIR_FIELDS_NONE
             ? tops * tops * (config->n_edges + 1) * sizeof(double)
             : tops * regions * astro_histogram_bins(config) * sizeof(double) *
                   astro_pair_fields_planes(config->fields);
}

/* Counts of all kinds, the latest, and the copy that is sent on; of two slices, and of a task. */
static guint64 bytes_of_counts(const AstroHistogramConfig *config, guint kinds, guint devices)
{
  const guint64 regions = astro_histogram_regions(config), values = astro_histogram_sums(config);
  const guint64 of_slices = config->weighted ? 2 : 1,
                copies = (config->weighted ? 5 : 3) + (devices - 1) * of_slices;
  return sizeof(guint64) *
         (copies * kinds * values + of_slices * values +
          2 * kinds * regions * regions * astro_pair_fields_planes(config->fields) +
          astro_histogram_bins(config));
}

static guint n_catalogues(const gboolean is_there[ASTRO_N_SIDES])
{
  guint n = 0;
  for (guint side = 0; side < ASTRO_N_SIDES; side++)
    n += is_there[side] != FALSE;
  return MAX(n, 1);
}

guint64 astro_histogram_bytes(const AstroHistogramConfig *config,
                              const gboolean is_there[ASTRO_N_SIDES], guint devices)
{
  const guint catalogues = n_catalogues(is_there);
  const guint kinds = catalogues > 2 ? 4 : 2 * catalogues - 1; /* of one: dd; of two: and dr, rr */
  const guint64 of_regions =
      (guint64)astro_histogram_regions(config) * (points_bytes_of_region() + 2 * sizeof(double));
  return bytes_of_counts(config, kinds, devices) + bytes_of_sums(config) +
         (catalogues + 1) * of_regions + SLICES_WORK_BYTES + SMALL_BYTES;
}

/* While points are put in place, their columns, their regions and their positions are there; when
 * the columns are gone, the rest of the tree comes. */
static guint64 bytes_of_a_point(const AstroHistogramConfig *config)
{
  const gboolean in_space = config->kind != ASTRO_BINNING_ANGULAR;
  const guint64 column = sizeof(double), placed = (3 + config->weighted + 1) * column,
                tree = points_bytes_each(config->weighted, in_space);
  if (config->fields != ASTRO_PAIR_FIELDS_NONE) /* columns stay until the tree is there */
    return MAX(placed, tree) + fields_bytes_each();
  if (config->bits.n_words) /* the same */
    return MAX(placed, tree) + bits_bytes_each(config->bits.n_words);
  const guint64 columns = (2 + config->weighted + in_space) * column;
  return MAX(config->n_regions > 0 ? placed : placed - column, tree > columns ? tree - columns : 0);
}

gboolean astro_histogram_share(const AstroHistogramConfig *config,
                               const gboolean is_there[ASTRO_N_SIDES], guint devices,
                               guint64 budget, AstroHeldLimit *limit, GError **error)
{
  const guint catalogues = n_catalogues(is_there);
  *limit = (AstroHeldLimit){ 0 };
  if (budget == 0)
    return TRUE;
  const guint64 fixed = astro_histogram_bytes(config, is_there, devices);
  limit->of_a_point = bytes_of_a_point(config);
  const guint64 of_slice =
      ASTRO_HISTOGRAM_LEAST_SLICE * (ASTRO_CATALOGUE_COLUMNS * sizeof(double) + limit->of_a_point);
  const guint64 least = fixed + catalogues * 2 * of_slice;
  if (budget < least)
    return astro_backend_no_memory(
        error,
        "%u regions with each other in %u bins, and slices of %u "
        "catalogues, need %" G_GUINT64_FORMAT " bytes, and max-memory allows %" G_GUINT64_FORMAT
        "; expected fewer regions or bins, or more memory",
        astro_histogram_regions(config), astro_histogram_bins(config), catalogues, least, budget);
  limit->bytes = (budget - fixed) / catalogues;
  return TRUE;
}

guint64 astro_histogram_slice_points(const AstroHeldLimit *limit, guint columns)
{
  return limit->bytes / 2 / (columns * sizeof(double) + limit->of_a_point);
}
