/* The noise of an image from place to place, and weights that even it out. */
#include "config.h"
#include "core/clean/method.h"

#include <math.h>

#include "core/kit/noise.h"

/* Parts of an image that are quieter than this part of the whole count as being at that level: a
 * patch of zeros is no place of infinite sensitivity. */
#define QUIETEST 0.1

/* The inside of the border in n x n squares, each with the noise in it. */
typedef struct {
  const AstroCleanMethod *method;
  const AstroCleanConfig *config;
  guint n;
  double *noise;
} Squares;

static guint edge(const Squares *squares, guint number)
{
  const guint side = squares->config->size - 2 * squares->config->border;
  return squares->config->border + (guint)((guint64)side * number / squares->n);
}

static double measure(const Squares *squares, gconstpointer residual, guint column, guint row,
                      double *sizes)
{
  const AstroCleanConfig *config = squares->config;
  gsize used = 0;
  for (guint y = edge(squares, row); y < edge(squares, row + 1); y++)
    for (guint x = edge(squares, column); x < edge(squares, column + 1); x++) {
      const double value = astro_clean_at(squares->method, residual, (gsize)y * config->size + x);
      if (isfinite(value))
        sizes[used++] = fabs(value);
    }
  return astro_noise_of_sizes(sizes, used);
}

/* Position between the centres of squares: the one before, and the part of the way to the next. */
static guint before(const Squares *squares, guint pixel, double *part)
{
  const double side = squares->config->size - 2. * squares->config->border;
  const double at = (pixel + 0.5 - squares->config->border) / side * squares->n - 0.5;
  const double inside = CLAMP(at, 0, squares->n - 1.);
  const guint first = MIN((guint)inside, squares->n - MIN(squares->n, 2));
  *part = inside - first;
  return first;
}

static double between(const Squares *squares, guint x, guint y)
{
  double part_x, part_y;
  const guint column = before(squares, x, &part_x), row = before(squares, y, &part_y);
  const guint right = MIN(column + 1, squares->n - 1), below = MIN(row + 1, squares->n - 1);
  const double *upper = squares->noise + row * squares->n;
  const double *lower = squares->noise + below * squares->n;
  return (1 - part_y) * ((1 - part_x) * upper[column] + part_x * upper[right]) +
         part_y * ((1 - part_x) * lower[column] + part_x * lower[right]);
}

/* Puts squares without noise of their own at the mean of the others, and raises those that are
 * quieter than can be. Returns the level of the quietest. */
static double fill(const Squares *squares)
{
  const guint n = squares->n * squares->n;
  guint used = 0;
  double sum = 0, quietest = INFINITY;
  for (guint i = 0; i < n; i++)
    if (isfinite(squares->noise[i])) {
      sum += squares->noise[i];
      used++;
    }
  const double whole = used ? sum / used : 0;
  for (guint i = 0; i < n; i++) {
    double *noise = &squares->noise[i];
    *noise = isfinite(*noise) ? MAX(*noise, QUIETEST * whole) : whole;
    quietest = MIN(quietest, *noise);
  }
  return quietest;
}

double astro_clean_even_noise(const AstroCleanMethod *method, const AstroCleanConfig *config,
                              gconstpointer residual, guint width, gpointer weight)
{
  const guint side = config->size - 2 * config->border;
  const guint n = MAX(side / width, 1);
  g_autofree double *noise = g_new(double, n *n);
  g_autofree double *sizes = g_new(double, (gsize)(side / n + 2) * (side / n + 2));
  const Squares squares = { method, config, n, noise };
  for (guint i = 0; i < n * n; i++)
    noise[i] = measure(&squares, residual, i % n, i / n, sizes);
  const double quietest = fill(&squares);
  for (guint y = 0; y < config->size; y++)
    for (guint x = 0; x < config->size; x++) {
      const double here = between(&squares, x, y);
      const double even = here > 0 ? quietest / here : 1;
      astro_clean_put(method, weight, (gsize)y * config->size + x, even);
    }
  return quietest;
}
