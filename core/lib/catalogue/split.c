/* Splits a catalogue into parts of equal size at random: each point has the number of its part, and
 * the numbers are shuffled. */
#include "core/lib/catalogue/split.h"

#include "core/kit/fail.h"

struct _AstroSplit {
  guint parts;
  guint64 n;
  guint16 *part_of;
};

#define LEAST_POINTS 2 /* in a part: without pairs it would count nothing */

AstroSplit *astro_split_new(guint64 points, guint parts, guint64 seed, guint64 index,
                            GError **error)
{
  if (points / LEAST_POINTS < parts) {
    astro_fail(error, ASTRO_CATALOGUE_ERROR, ASTRO_CATALOGUE_ERROR_MODEL,
               "%" G_GUINT64_FORMAT " points cannot be split into %u parts: expected %d points or "
               "more in each",
               points, parts, LEAST_POINTS);
    return NULL;
  }
  guint16 *part_of = g_try_new(guint16, points);
  if (!part_of) {
    astro_catalogue_no_memory(error, points);
    return NULL;
  }
  AstroRandom random;
  astro_random_init(&random, seed, index);
  for (guint64 i = 0; i < points; i++)
    part_of[i] = (guint16)(i % parts);
  for (guint64 i = points - 1; i > 0; i--) {
    const guint64 other = (guint64)(astro_random_uniform(&random) * (double)(i + 1));
    const guint16 part = part_of[i];
    part_of[i] = part_of[other];
    part_of[other] = part;
  }
  AstroSplit *split = g_new(AstroSplit, 1);
  *split = (AstroSplit){ parts, points, part_of };
  return split;
}

void astro_split_free(AstroSplit *split)
{
  if (!split)
    return;
  g_free(split->part_of);
  g_free(split);
}

gboolean astro_split_part(const AstroSplit *split, const AstroCatalogue *all, guint part,
                          AstroCatalogue *catalogue, GError **error)
{
  const guint64 n = split->n / split->parts + (part < split->n % split->parts);
  const double *const from[] = { all->ra, all->dec, all->weight, all->region, all->distance };
  *catalogue = (AstroCatalogue){ .n = n };
  double **const to[] = { &catalogue->ra, &catalogue->dec, &catalogue->weight, &catalogue->region,
                          &catalogue->distance };
  for (guint c = 0; c < G_N_ELEMENTS(from); c++) {
    guint64 taken = 0;
    if (!from[c])
      continue;
    if (!(*to[c] = g_try_new(double, n))) {
      astro_catalogue_clear(catalogue);
      return astro_catalogue_no_memory(error, n);
    }
    for (guint64 i = 0; i < split->n; i++)
      if (split->part_of[i] == part)
        (*to[c])[taken++] = from[c][i];
  }
  return TRUE;
}
