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

/* Those points of a chunk, whose first is point `first`, that are in a part. */
static gboolean pick(const AstroSplit *split, const AstroCatalogue *chunk, guint64 first,
                     guint part, AstroCatalogue *picked, GError **error)
{
  const guint16 *part_of = split->part_of + first;
  AstroCatalogue from = *chunk;
  *picked = (AstroCatalogue){ 0 };
  for (guint64 i = 0; i < chunk->n; i++)
    picked->n += part_of[i] == part;
  for (guint c = 0; c < ASTRO_CATALOGUE_COLUMNS; c++) {
    const double *column = *astro_catalogue_column(&from, c);
    double **to = astro_catalogue_column(picked, c);
    guint64 taken = 0;
    if (!column)
      continue;
    if (!(*to = g_try_new(double, MAX(picked->n, 1)))) {
      astro_catalogue_clear(picked);
      return astro_catalogue_no_memory(error, split->n / split->parts);
    }
    for (guint64 i = 0; i < chunk->n; i++)
      if (part_of[i] == part)
        (*to)[taken++] = column[i];
  }
  return TRUE;
}

gboolean astro_split_part(const AstroSplit *split, const AstroCatalogue *all, guint part,
                          AstroCatalogue *catalogue, GError **error)
{
  return pick(split, all, 0, part, catalogue, error);
}

typedef struct {
  const AstroSplit *split;
  const AstroHeldLimit *limit;
  guint part;
  AstroHeld *held;
} Picking;

static gboolean add_picked(gpointer data, const AstroCatalogue *chunk, guint64 first,
                           GError **error)
{
  const Picking *picking = data;
  AstroCatalogue picked;
  if (!pick(picking->split, chunk, first, picking->part, &picked, error))
    return FALSE;
  const gboolean good = astro_held_add(picking->held, picking->limit, &picked, error);
  astro_catalogue_clear(&picked);
  return good;
}

/* A part of a catalogue in memory takes no more memory than that did, and is not copied twice. */
gboolean astro_split_held(const AstroSplit *split, const AstroHeld *all,
                          const AstroHeldLimit *limit, guint part, AstroHeld *held, GError **error)
{
  Picking picking = { split, limit, part, held };
  if (all->spill)
    return astro_held_visit(all, add_picked, &picking, error);
  if (!pick(split, &all->all, 0, part, &held->all, error))
    return FALSE;
  held->n = held->all.n;
  held->columns = all->columns;
  return TRUE;
}
