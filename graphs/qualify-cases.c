/* Cases that stages share: sizes, samples, and memory. Those of each stage are in
 * qualify-stages.c. */
#include "graphs/qualify-cases.h"

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
