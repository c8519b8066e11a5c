/* Plans the memory of the gridder. */
#include "config.h"
#include "core/gridder/memory.h"

#include <math.h>
#include "core/gridder/passes.h"

/* The most memory for rows on their way to the file or from it, of which there are two lots. */
#define PART_BYTES ((guint64)64 << 20)
/* The least that are sorted together: fewer would need too many passes. */
#define LEAST_SORTED 16384
/* The sort counts in 32 bits. */
#define MOST_SORTED G_MAXUINT32

typedef struct {
  const AstroGridderConfig *config;
  const AstroGridderMemory *memory;
  guint row_channels, products, planes; /* planes: at most */
  guint64 dump;                         /* rows */
  guint64 tables;                       /* bytes that are always there */
  guint64 grid;    /* bytes of a plane and all else that is there while planes are made */
  guint64 density; /* bytes for weights */
  gboolean keeps;  /* rows, until a grid has all of them */
  gboolean sorts;
} Needs;

static guint64 row_bytes(const Needs *needs)
{
  const AstroRowStoreShape shape = { .channels = needs->row_channels,
                                     .products = needs->products,
                                     .is_double = needs->config->gridder.is_double,
                                     .has_weights = needs->config->prepare.keep_weights };
  return astro_row_store_bytes(&shape, 1);
}

static guint64 sorted_bytes(const Needs *needs, guint64 n)
{
  return needs->sorts
             ? astro_sorted_bytes(&needs->config->gridder, &needs->config->grid, needs->products, n)
             : 0;
}

/* ---- all rows in memory ---- */

static guint64 bytes_in_memory(const Needs *needs, guint64 rows)
{
  const AstroGridderConfig *config = needs->config;
  const guint64 n = rows * needs->row_channels, kept = rows * row_bytes(needs);
  const guint64 sorted = sorted_bytes(needs, n);
  const guint64 sorting =
      needs->sorts ? astro_sorting_bytes(&config->gridder, &config->grid, needs->products, n) : 0;
  const gboolean stay = config->cumulative || !needs->sorts;
  /* Earlier grids leave memory that is used again for their planes. */
  const guint64 before = needs->memory->repeats ? needs->grid : 0;
  const guint64 weighing = kept + needs->density, sort = kept + sorted + sorting;
  return needs->tables +
         MAX(MAX(weighing, sort) + before, (stay ? kept : 0) + sorted + needs->grid);
}

/* ---- rows in a file ---- */

static guint64 part_rows(const Needs *needs)
{
  const guint64 bytes = MIN(PART_BYTES, needs->memory->budget / 32);
  return MAX(needs->dump, bytes / row_bytes(needs));
}

static guint64 least_sorted(const Needs *needs)
{
  return MAX(LEAST_SORTED, needs->dump * needs->row_channels);
}

/* Some visibilities more, because each channel's portion is rounded up. */
static guint64 bytes_in_passes(const Needs *needs, guint64 rows, guint64 n)
{
  const AstroGriddingConfig *gridder = &needs->config->gridder;
  const guint64 parts = 2 * rows * row_bytes(needs), all = n + gridder->channels;
  const guint64 sorting = needs->sorts
                              ? astro_passes_sorting_bytes(gridder, &needs->config->grid,
                                                           needs->products, needs->planes, all)
                              : 0;
  const guint64 before = needs->memory->repeats ? needs->grid : 0;
  return needs->tables + parts +
         MAX(needs->density + before, sorted_bytes(needs, all) + sorting + needs->grid);
}

/* ---- the plan ---- */

/* The most of what needs so many bytes, up to most; 0: not even one fits. */
static guint64 most_that_fit(const Needs *needs, guint64 rows, guint64 most,
                             guint64 (*bytes)(const Needs *needs, guint64 rows, guint64 n))
{
  guint64 least = 0, above = most + 1;
  while (above - least > 1) {
    const guint64 middle = least + (above - least) / 2;
    if (bytes(needs, rows, middle) <= needs->memory->budget)
      least = middle;
    else
      above = middle;
  }
  return least;
}

/* With the room of the file, which may become necessary. */
static guint64 bytes_of_rows(const Needs *needs, guint64 part, guint64 rows)
{
  return bytes_in_memory(needs, rows) + part * row_bytes(needs);
}

/* For any w up to the longest baseline; the visibilities may need fewer. */
static guint most_planes(const AstroGridderConfig *config)
{
  AstroPlanes planes = { 0 };
  return astro_planes_of_range(&planes, &config->gridder, &config->grid, 0, config->gridder.longest,
                               NULL)
             ? planes.n
             : ASTRO_MAX_PLANES;
}

static void find_needs(Needs *needs, const AstroGridderConfig *config, guint row_channels,
                       const AstroGridderMemory *memory)
{
  const gboolean at_once = astro_gridder_adds_at_once(config);
  const guint64 grids = at_once && config->cumulative ? 2 : 1;
  *needs = (Needs){ .config = config,
                    .memory = memory,
                    .row_channels = row_channels,
                    .products = g_strv_length(config->grid.products),
                    .dump = config->prepare.baselines,
                    .tables = config->algorithm->bytes(&config->gridder, &config->grid),
                    .grid = grids * astro_gridder_grid_bytes(config) +
                            astro_gridder_map_bytes(config) + memory->others,
                    .density = config->weighting == ASTRO_WEIGHTING_NATURAL
                                   ? 0
                                   : astro_weights_bytes(&config->grid),
                    .keeps = !at_once,
                    .sorts = config->algorithm->has_planes };
  needs->planes = needs->sorts ? most_planes(config) : 1;
}

static guint64 expected_rows(const Needs *needs)
{
  return needs->memory->dumps > 0 ? needs->memory->dumps * needs->dump : G_MAXUINT64;
}

static guint64 most_rows(const Needs *needs)
{
  return MIN(MOST_SORTED / needs->row_channels, expected_rows(needs));
}

static gboolean refuse(const AstroGridderConfig *config, guint64 least, guint64 budget,
                       GError **error)
{
  return astro_backend_no_memory(error,
                                 "a grid of %u x %u cells, %u products and %u channels, and what "
                                 "is made of it, need %" G_GUINT64_FORMAT
                                 " bytes at least, and max-memory allows %" G_GUINT64_FORMAT
                                 ": expected more memory, a smaller size, or fewer products",
                                 config->grid.size, config->grid.size,
                                 g_strv_length(config->grid.products), config->gridder.channels,
                                 least, budget);
}

/* Parts as large as is fast, unless visibilities would have too little room then. */
static guint64 choose_part(const Needs *needs)
{
  const guint64 part = part_rows(needs);
  return bytes_in_passes(needs, part, least_sorted(needs)) <= needs->memory->budget ? part
                                                                                    : needs->dump;
}

/* The file is there for more rows than were expected. */
static void plan_rows(const Needs *needs, AstroGridderPlan *plan)
{
  const guint64 expected = expected_rows(needs), budget = needs->memory->budget;
  const gboolean is_few = expected <= MOST_SORTED / needs->row_channels;
  const guint64 whole = is_few ? bytes_in_memory(needs, expected) : G_MAXUINT64;
  plan->least = MIN(whole, bytes_in_passes(needs, needs->dump, least_sorted(needs)));
  plan->part_rows = choose_part(needs);
  plan->most_sorted = MAX(most_that_fit(needs, plan->part_rows, MOST_SORTED, bytes_in_passes), 1);
  if (whole <= budget) {
    plan->most_rows = expected;
    plan->bytes = whole;
    return;
  }
  const guint64 some = most_that_fit(needs, plan->part_rows, most_rows(needs), bytes_of_rows);
  plan->most_rows = MAX(some, 1);
  plan->bytes = MAX(bytes_in_passes(needs, plan->part_rows, plan->most_sorted),
                    some > 0 ? bytes_of_rows(needs, plan->part_rows, some) : 0);
}

gboolean astro_gridder_plan(const AstroGridderConfig *config, guint row_channels,
                            const AstroGridderMemory *memory, AstroGridderPlan *plan,
                            GError **error)
{
  Needs needs;
  find_needs(&needs, config, row_channels, memory);
  const guint64 one_dump = needs.tables + needs.grid + needs.dump * row_bytes(&needs);
  *plan = (AstroGridderPlan){ .bytes = one_dump, .least = one_dump };
  if (needs.keeps)
    plan_rows(&needs, plan);
  return plan->least <= memory->budget || refuse(config, plan->least, memory->budget, error);
}

/* ---- devices ---- */

gboolean astro_gridder_plan_device(const AstroGridderConfig *config, guint64 own,
                                   const AstroGridderMemory *memory, AstroGridderPlan *plan,
                                   GError **error)
{
  *plan = (AstroGridderPlan){ .bytes = memory->others + own, .least = memory->others + own };
  return plan->least <= memory->budget || refuse(config, plan->least, memory->budget, error);
}

/* Neighbouring channels that are added up before may leave a single one. */
guint64 astro_gridder_device_needs(const AstroGridderConfig *config, guint64 tables)
{
  const AstroPrepareConfig *prepare = &config->prepare;
  const guint row_channels = prepare->smearing > 0 ? config->gridder.channels : prepare->channels;
  const gsize real = config->gridder.is_double ? sizeof(double) : sizeof(float);
  const Needs needs = { .config = config,
                        .row_channels = row_channels,
                        .products = g_strv_length(config->grid.products) };
  const guint64 rows = astro_gridder_adds_at_once(config) ? 0 : config->dumps * prepare->baselines;
  const guint64 kept = rows * row_bytes(&needs), grids = astro_gridder_needs(config, tables);
  /* Values, and where they belong in three dimensions. */
  const guint64 sorted = rows * row_channels * (2 * needs.products + 3) * real;
  return config->algorithm->has_planes ? sorted + MAX(kept, grids) : kept + grids;
}

gboolean astro_gridder_fits_device(const AstroGridderConfig *config, guint64 tables, guint64 had,
                                   const char *who, GError **error)
{
  const guint64 needed = astro_gridder_device_needs(config, tables);
  if (!astro_gridder_fits(config, tables, had, who, error))
    return FALSE;
  return needed < had ||
         astro_backend_no_memory(error,
                                 "a grid of %u x %u cells, %u products and %u channels, and its "
                                 "%" G_GUINT64_FORMAT " dumps of visibilities, need "
                                 "%" G_GUINT64_FORMAT " bytes at least, %s has %" G_GUINT64_FORMAT
                                 ": expected backend=cpu, which keeps visibilities in a file where "
                                 "max-memory has no room for them",
                                 config->grid.size, config->grid.size,
                                 g_strv_length(config->grid.products), config->gridder.channels,
                                 config->dumps, needed, who, had);
}
