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

typedef struct {
  guint from, to;
} Channels;

static void fill(const Density *density, const AstroWeights *weights, const AstroGridRows *rows,
                 Channels channels)
{
  memset(density->cells, 0, sizeof *density->cells * density->size * density->size);
  for (guint64 row = 0; row < rows->rows && !astro_is_given_up(); row++)
    for (guint c = channels.from; c < channels.to; c++) {
      const double per = rows->wavenumbers[c], weight = weights->weights[row * rows->channels + c];
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

static void multiply(const AstroWeights *weights, const AstroGridRows *rows, guint64 at,
                     float factor)
{
  const double ratio = (double)factor / weights->factors[at];
  for (guint i = 0; i < 2 * rows->products; i++)
    if (rows->is_double)
      ((double *)weights->values)[2 * at * rows->products + i] *= ratio;
    else
      ((float *)weights->values)[2 * at * rows->products + i] *= (float)ratio;
  weights->factors[at] = factor;
}

static void change(const Density *density, const AstroWeights *weights, const AstroGridRows *rows,
                   Channels channels)
{
  const double slope =
      weights->weighting == ASTRO_WEIGHTING_BRIGGS ? robustness(density, weights) : 0;
  for (guint64 row = 0; row < rows->rows && !astro_is_given_up(); row++)
    for (guint c = channels.from; c < channels.to; c++) {
      const guint64 at = row * rows->channels + c;
      const double per = rows->wavenumbers[c];
      const double u = rows->uvw[3 * row] * per, v = rows->uvw[3 * row + 1] * per;
      if (weights->weights[at] == 0)
        continue;
      const double there = density->cells[place(density, u, v)];
      multiply(weights, rows, at,
               (float)(weights->weighting == ASTRO_WEIGHTING_BRIGGS ? 1 / (1 + there * slope)
                                                                    : 1 / there));
      weights->sums[c] += (double)weights->weights[at] * weights->factors[at];
    }
}

gboolean astro_weights_apply(const AstroWeights *weights, const AstroGridRows *rows, GError **error)
{
  const AstroGrid *grid = weights->grid;
  const guint size = astro_grid_wanted(grid);
  Density density = { .size = size, .cell = 1 / (size * grid->pixel) };
  const guint step = weights->per_channel ? 1 : rows->channels;
  if (weights->weighting == ASTRO_WEIGHTING_NATURAL)
    return TRUE;
  density.cells = g_try_new(double, (gsize)density.size *density.size);
  if (!density.cells)
    return astro_backend_no_memory(error, "no memory for the weights of %u x %u cells",
                                   density.size, density.size);
  memset(weights->sums, 0, rows->channels * sizeof *weights->sums);
  for (guint c = 0; c < rows->channels; c += step) {
    const Channels channels = { c, c + step };
    fill(&density, weights, rows, channels);
    change(&density, weights, rows, channels);
  }
  g_free(density.cells);
  return astro_backend_goes_on(error);
}
