/* Cases that stages share: sizes, samples, and memory. Those of each stage are in
 * qualify-stages.c. */
#include "graphs/qualify-cases.h"

#include <math.h>
#include <string.h>

void astro_qualify_case_init(AstroQualifyCase *c, const AstroQualifyStage *stage,
                             AstroCaseKind kind, GRand *rand)
{
  *c = (AstroQualifyCase){ .owned = g_ptr_array_new_with_free_func(g_free) };
  stage->make(c, kind, rand);
}

void astro_qualify_case_clear(AstroQualifyCase *c)
{
  g_ptr_array_unref(c->owned);
  g_free(c->shape);
}

guint astro_qualify_size(AstroCaseKind kind, GRand *rand, guint least, guint most)
{
  static const guint primes[] = { 1,  2,  3,  5,  7,  11, 13, 17, 19, 23, 29,  31,  37, 41,
                                  43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 101, 211, 307 };
  guint first = 0, n = 0;
  switch (kind) {
  case ASTRO_CASE_RANDOM:
    return (guint)g_rand_int_range(rand, (gint)least, (gint)most + 1);
  case ASTRO_CASE_ODD:
    while (first + 1 < G_N_ELEMENTS(primes) && primes[first] < least)
      first++;
    while (first + n < G_N_ELEMENTS(primes) && primes[first + n] <= most)
      n++;
    return n ? primes[first + (guint)g_rand_int_range(rand, 0, (gint)n)] : least;
  case ASTRO_CASE_EXTREME:
    return g_rand_boolean(rand) ? least : most;
  default:
    return most;
  }
}

/* Values that are missing (NaN) must be so in both. */
static double float_error(gboolean is_double, gsize n, gconstpointer a, gconstpointer b)
{
  double most = 0, largest = 0;
  for (gsize i = 0; i < n; i++) {
    const double x = is_double ? ((const double *)a)[i] : (double)((const float *)a)[i];
    const double y = is_double ? ((const double *)b)[i] : (double)((const float *)b)[i];
    if (isnan(x) && isnan(y))
      continue;
    if (!isfinite(x) || !isfinite(y))
      return INFINITY;
    most = fmax(most, fabs(x - y));
    largest = fmax(largest, fabs(x));
  }
  return largest > 0 ? most / largest : most;
}

static gint32 integer_at(AstroFormat format, gconstpointer values, gsize i)
{
  switch (format) {
  case ASTRO_FORMAT_CI4:
    return i % 2 ? (gint8)(((const guint8 *)values)[i / 2] << 4) >> 4
                 : ((const gint8 *)values)[i / 2] >> 4;
  case ASTRO_FORMAT_CI16LE:
    return ((const gint16 *)values)[i];
  case ASTRO_FORMAT_CI32LE:
    return ((const gint32 *)values)[i];
  default:
    return ((const gint8 *)values)[i];
  }
}

/* Real values that are rounded to integers at the end may lie at half a step. */
static double rounded_error(AstroFormat format, gsize bytes, gconstpointer a, gconstpointer b)
{
  const gsize n = 2 * bytes / astro_format_info(format)->bytes;
  for (gsize i = 0; i < n; i++)
    if (ABS(integer_at(format, a, i) - integer_at(format, b, i)) > 1)
      return INFINITY;
  return 0;
}

double astro_qualify_error(AstroFormat format, gsize bytes, double limit, gconstpointer expected,
                           gconstpointer found)
{
  const gboolean is_double = astro_format_is_double(format);
  if (limit <= 0)
    return bytes && memcmp(expected, found, bytes) ? INFINITY : 0;
  if (astro_format_info(format)->is_complex && !astro_format_info(format)->is_float)
    return rounded_error(format, bytes, expected, found);
  return float_error(is_double, bytes / (is_double ? sizeof(double) : sizeof(float)), expected,
                     found);
}

static double random_real(AstroCaseKind kind, GRand *rand)
{
  const double value = g_rand_double_range(rand, -1, 1);
  return kind == ASTRO_CASE_EXTREME ? (value < 0 ? -1000 : 1000) : value;
}

static void fill_floats(float *values, gsize n, AstroCaseKind kind, GRand *rand)
{
  for (gsize i = 0; i < n; i++)
    values[i] = (float)random_real(kind, rand);
}

static void fill_doubles(double *values, gsize n, AstroCaseKind kind, GRand *rand)
{
  for (gsize i = 0; i < n; i++)
    values[i] = random_real(kind, rand);
}

/* The lowest and the highest integer in turn, else any bits. */
static void fill_integers(guint8 *bytes, gsize n, gsize width, AstroCaseKind kind, GRand *rand)
{
  for (gsize i = 0; i < n; i++)
    bytes[i] = kind != ASTRO_CASE_EXTREME ? (guint8)g_rand_int(rand)
               : i % width == width - 1   ? 0x80
               : width == 1               ? 0x80
                                          : 0;
}

void astro_qualify_fill(const AstroQualifyCase *c, AstroCaseKind kind, gpointer block, GRand *rand)
{
  const AstroFormatInfo *info = astro_format_info(c->from);
  const gsize bytes = c->samples_in * info->bytes;
  if (astro_format_is_double(c->from))
    fill_doubles(block, bytes / sizeof(double), kind, rand);
  else if (info->is_float)
    fill_floats(block, bytes / sizeof(float), kind, rand);
  else
    fill_integers(block, bytes, c->from == ASTRO_FORMAT_CI16LE ? 2 : 1, kind, rand);
}
