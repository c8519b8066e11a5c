/* Halving by several threads: sides, weights that move along, and one order for any number of
 * threads. */
#include "core/histogram/halve.h"
#include "tests/tests.h"

#include <math.h>

typedef struct {
  AstroVector *items;
  double *weights; /* each a function of its item */
  guint64 n;
} Sample;

static double weight_of(const AstroVector *item)
{
  return item->x[0] + 2 * item->x[1] + 4 * item->x[2];
}

static double even(guint64 i)
{
  return g_random_double_range(-1, 1);
}

static double of_few_values(guint64 i)
{
  return g_random_int_range(0, 5);
}

/* Nearly all in one range of a histogram, and in one of that. */
static double crowded(guint64 i)
{
  return i % 100000 == 0 ? 1 : i % 1000 == 1 ? 1e-6 : 1e-12 * g_random_double();
}

static double equal(guint64 i)
{
  return 0.25;
}

static double tiny(guint64 i)
{
  return 1e-320 * g_random_double();
}

static Sample sample_new(guint64 n, double (*value)(guint64 i))
{
  Sample sample = { g_new(AstroVector, n), g_new(double, n), n };
  for (guint64 i = 0; i < n; i++) {
    sample.items[i] = (AstroVector){ { 0.1 * even(i), value(i), 0.001 * i / n } };
    sample.weights[i] = weight_of(&sample.items[i]);
  }
  return sample;
}

static Sample sample_copy(const Sample *sample)
{
  return (Sample){ g_memdup2(sample->items, sample->n * sizeof(AstroVector)),
                   g_memdup2(sample->weights, sample->n * sizeof(double)), sample->n };
}

static void sample_clear(Sample *sample)
{
  g_free(sample->items);
  g_free(sample->weights);
}

static gint compare(gconstpointer a, gconstpointer b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Weights stand for items: none is lost, and none is there twice. */
static void check_kept(const Sample *found, const Sample *given)
{
  const gsize bytes = given->n * sizeof(double);
  for (guint64 i = 0; i < found->n; i++)
    g_assert_cmpfloat(found->weights[i], ==, weight_of(&found->items[i]));
  g_autofree double *a = g_memdup2(found->weights, bytes), *b = g_memdup2(given->weights, bytes);
  qsort(a, given->n, sizeof(double), compare);
  qsort(b, given->n, sizeof(double), compare);
  g_assert_cmpmem(a, bytes, b, bytes);
}

static void check_sides(const Sample *sample, guint64 k, guint axis)
{
  double largest = -INFINITY, least = INFINITY;
  for (guint64 i = 0; i < sample->n; i++)
    if (i < k)
      largest = MAX(largest, sample->items[i].x[axis]);
    else
      least = MIN(least, sample->items[i].x[axis]);
  g_assert_cmpfloat(largest, <=, least);
}

static void check_halves(const Sample *given, guint64 k)
{
  Sample first = sample_copy(given);
  const guint axis = astro_axis_of(given->items, given->n);
  astro_halve(first.items, first.weights, first.n, k, 1);
  check_sides(&first, k, axis);
  check_kept(&first, given);
  for (guint threads = 0; threads < 4; threads += 3) {
    Sample other = sample_copy(given);
    astro_halve(other.items, threads ? other.weights : NULL, other.n, k, threads);
    g_assert_cmpmem(other.items, other.n * sizeof(AstroVector), first.items,
                    first.n * sizeof(AstroVector));
    sample_clear(&other);
  }
  sample_clear(&first);
}

static void test_halves(void)
{
  static double (*const values[])(guint64) = { even, of_few_values, crowded, equal, tiny };
  static const guint64 sizes[] = { 2, 33, 65536, 65537, 100003, 200000 };
  for (guint v = 0; v < G_N_ELEMENTS(values); v++)
    for (guint s = 0; s < G_N_ELEMENTS(sizes); s++) {
      const guint64 n = sizes[s], ks[] = { 1, n / 2, n / 3, n - 1 };
      Sample sample = sample_new(n, values[v]);
      check_halves(&sample, MAX(ks[s % G_N_ELEMENTS(ks)], 1));
      check_halves(&sample, n / 2);
      sample_clear(&sample);
    }
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/halve/halves", test_halves);
  return g_test_run();
}
