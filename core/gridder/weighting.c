/* Natural, uniform and Briggs weights. */
#include "config.h"
#include "core/gridder/weighting.h"

#include <math.h>
#include <string.h>

typedef struct {
  guint size;
  double cell;
  double *cells;
} Density;

static gsize place(const Density *density, double u, double v)
{
  const double most = density->size - 1, middle = density->size / 2;
  const gsize x = (gsize)CLAMP(floor(u / density->cell + middle + 0.5), 0, most);
  const gsize y = (gsize)CLAMP(floor(v / density->cell + middle + 0.5), 0, most);
  return y * density->size + x;
}

/* Rows in parts, whatever keeps them. */
typedef struct {
  guint n; /* parts */
  const double *wavenumbers;
  guint channels; /* of a row */
  gpointer keeper;
  /* Gives the rows of a part with their weights of channels first to first + n. */
  gboolean (*read)(gpointer keeper, guint part, guint first, guint n, AstroWeightedRows *rows,
                   GError **error);
  /* Keeps their new factors. */
  gboolean (*keep)(gpointer keeper, guint part, guint first, guint n, GError **error);
} Parts;

typedef struct {
  guint from, to;
} Channels;

static void fill(const Density *density, const Parts *parts, const AstroWeightedRows *rows,
                 Channels channels)
{
  for (guint64 row = 0; row < rows->rows && !astro_is_given_up(); row++)
    for (guint c = channels.from; c < channels.to; c++) {
      const double per = parts->wavenumbers[c];
      const double weight =
          rows->weights[row * rows->row_step + (c - channels.from) * rows->channel_step];
      const double u = rows->uvw[3 * row] * per, v = rows->uvw[3 * row + 1] * per;
      if (weight == 0)
        continue;
      density->cells[place(density, u, v)] += weight;
      density->cells[place(density, -u, -v)] += weight;
    }
}

/* Briggs 1995: robust 0 balances against the noise of the mean cell. */
static double robustness(const Density *density, const AstroWeights *weights)
{
  double sum = 0, squares = 0;
  for (gsize i = 0; i < (gsize)density->size * density->size; i++) {
    sum += density->cells[i];
    squares += density->cells[i] * density->cells[i];
  }
  const double noise = 5 * pow(10, -weights->robust);
  return squares > 0 ? noise * noise * sum / squares : 0;
}

static void set_factor(const AstroWeightedRows *rows, gsize at, float factor)
{
  const double ratio = rows->values ? (double)factor / rows->factors[at] : 1;
  for (guint i = 0; rows->values && i < 2 * rows->products; i++)
    if (rows->is_double)
      ((double *)rows->values)[2 * at * rows->products + i] *= ratio;
    else
      ((float *)rows->values)[2 * at * rows->products + i] *= (float)ratio;
  rows->factors[at] = factor;
}

/* slope: of Briggs weights. */
static void change(const Density *density, const Parts *parts, const AstroWeights *weights,
                   double slope, const AstroWeightedRows *rows, Channels channels)
{
  const gboolean is_briggs = weights->weighting == ASTRO_WEIGHTING_BRIGGS;
  for (guint64 row = 0; row < rows->rows && !astro_is_given_up(); row++)
    for (guint c = channels.from; c < channels.to; c++) {
      const gsize at = row * rows->row_step + (c - channels.from) * rows->channel_step;
      const double per = parts->wavenumbers[c];
      const double u = rows->uvw[3 * row] * per, v = rows->uvw[3 * row + 1] * per;
      if (rows->weights[at] == 0)
        continue;
      const double there = density->cells[place(density, u, v)];
      set_factor(rows, at, (float)(is_briggs ? 1 / (1 + there * slope) : 1 / there));
      weights->sums[c] += (double)rows->weights[at] * rows->factors[at];
    }
}

static gboolean weigh_channels(const AstroWeights *weights, const Parts *parts, Density *density,
                               Channels channels, GError **error)
{
  const guint n = channels.to - channels.from;
  AstroWeightedRows rows;
  memset(density->cells, 0, sizeof *density->cells * density->size * density->size);
  for (guint part = 0; part < parts->n; part++) {
    if (!parts->read(parts->keeper, part, channels.from, n, &rows, error))
      return FALSE;
    fill(density, parts, &rows, channels);
  }
  const double slope =
      weights->weighting == ASTRO_WEIGHTING_BRIGGS ? robustness(density, weights) : 0;
  for (guint part = 0; part < parts->n; part++) {
    if (!parts->read(parts->keeper, part, channels.from, n, &rows, error))
      return FALSE;
    change(density, parts, weights, slope, &rows, channels);
    if (parts->keep && !parts->keep(parts->keeper, part, channels.from, n, error))
      return FALSE;
  }
  return TRUE;
}

guint64 astro_weights_bytes(const AstroGrid *grid)
{
  return (guint64)astro_grid_wanted(grid) * astro_grid_wanted(grid) * sizeof(double);
}

static gboolean weigh(const AstroWeights *weights, const Parts *parts, GError **error)
{
  const AstroGrid *grid = weights->grid;
  const guint size = astro_grid_wanted(grid), step = weights->per_channel ? 1 : parts->channels;
  Density density = { .size = size, .cell = 1 / (size * grid->pixel) };
  gboolean ok = TRUE;
  if (weights->weighting == ASTRO_WEIGHTING_NATURAL)
    return TRUE;
  density.cells = g_try_malloc(astro_weights_bytes(grid));
  if (!density.cells)
    return astro_backend_no_memory(error, "no memory for the weights of %u x %u cells",
                                   density.size, density.size);
  memset(weights->sums, 0, parts->channels * sizeof *weights->sums);
  for (guint c = 0; c < parts->channels && ok; c += step)
    ok = weigh_channels(weights, parts, &density, (Channels){ c, c + step }, error);
  g_free(density.cells);
  return ok && astro_backend_goes_on(error);
}

/* ---- rows in memory ---- */

typedef struct {
  const AstroWeights *weights;
  const AstroGridRows *rows;
} Here;

static gboolean read_here(gpointer keeper, guint part, guint first, guint n,
                          AstroWeightedRows *rows, GError **error)
{
  const Here *here = keeper;
  const AstroGridRows *all = here->rows;
  *rows = (AstroWeightedRows){ .rows = all->rows,
                               .uvw = all->uvw,
                               .weights = here->weights->weights + first,
                               .factors = here->weights->factors + first,
                               .values = (char *)here->weights->values +
                                         (gsize)first * all->products * (all->is_double ? 16 : 8),
                               .products = all->products,
                               .is_double = all->is_double,
                               .row_step = all->channels,
                               .channel_step = 1 };
  return TRUE;
}

gboolean astro_weights_apply(const AstroWeights *weights, const AstroGridRows *rows, GError **error)
{
  Here here = { weights, rows };
  const Parts parts = { .n = 1,
                        .wavenumbers = rows->wavenumbers,
                        .channels = rows->channels,
                        .keeper = &here,
                        .read = read_here };
  return weigh(weights, &parts, error);
}

/* ---- rows in a file ---- */

static gboolean read_stored(gpointer keeper, guint part, guint first, guint n,
                            AstroWeightedRows *rows, GError **error)
{
  return astro_row_store_read_weights(keeper, part, first, n, rows, error);
}

static gboolean keep_stored(gpointer keeper, guint part, guint first, guint n, GError **error)
{
  return astro_row_store_write_factors(keeper, part, first, n, error);
}

gboolean astro_weights_apply_stored(const AstroWeights *weights, AstroRowStore *store,
                                    GError **error)
{
  const AstroRowStoreShape *shape = astro_row_store_shape(store);
  const Parts parts = { .n = astro_row_store_parts(store),
                        .wavenumbers = shape->wavenumbers,
                        .channels = shape->channels,
                        .keeper = store,
                        .read = read_stored,
                        .keep = keep_stored };
  return weigh(weights, &parts, error);
}
