/* Moves a catalogue that grows too large into a file. */
#include "core/lib/catalogue/held.h"

AstroHeld astro_held_lend(const AstroCatalogue *catalogue)
{
  if (!catalogue)
    return (AstroHeld){ .is_lent = TRUE };
  return (AstroHeld){ .n = catalogue->n,
                      .columns = astro_catalogue_column_set(catalogue),
                      .all = *catalogue,
                      .is_lent = TRUE };
}

void astro_held_clear(AstroHeld *held)
{
  if (!held->is_lent)
    astro_catalogue_clear(&held->all);
  astro_spill_free(held->spill);
  *held = (AstroHeld){ 0 };
}

static gboolean fits(const AstroHeldLimit *limit, guint columns, guint64 n)
{
  const guint64 of_columns = (guint64)__builtin_popcount(columns) * sizeof(double);
  return limit->bytes == 0 || n <= limit->bytes / (of_columns + limit->of_a_point);
}

static gboolean move_to_file(AstroHeld *held, GError **error)
{
  if (!(held->spill = astro_spill_new(held->columns, error)))
    return FALSE;
  if (held->all.n > 0 && !astro_spill_append(held->spill, &held->all, error))
    return FALSE;
  astro_catalogue_clear(&held->all);
  return TRUE;
}

gboolean astro_held_add(AstroHeld *held, const AstroHeldLimit *limit, const AstroCatalogue *part,
                        GError **error)
{
  const guint columns = astro_catalogue_column_set(part);
  if (held->n > 0 && !astro_columns_check(held->columns, columns, error))
    return FALSE;
  held->columns = columns;
  if (!held->spill && !fits(limit, columns, held->n + part->n) && !move_to_file(held, error))
    return FALSE;
  if (!(held->spill ? astro_spill_append(held->spill, part, error)
                    : astro_catalogue_add(&held->all, part, error)))
    return FALSE;
  held->n += part->n;
  return TRUE;
}

gboolean astro_held_append(AstroHeld *held, const AstroHeldLimit *limit,
                           const AstroColumnPlaces *places, const double *data, guint64 n,
                           GError **error)
{
  const AstroCatalogue part = astro_catalogue_view(places, data, n);
  return astro_held_add(held, limit, &part, error);
}

gboolean astro_held_visit(const AstroHeld *held, AstroSpillVisit visit, gpointer data,
                          GError **error)
{
  return held->spill ? astro_spill_visit(held->spill, visit, data, error)
                     : visit(data, &held->all, 0, error);
}

static gboolean compare(gpointer data, const AstroCatalogue *chunk, guint64 first, GError **error)
{
  const AstroSpill *other = data;
  AstroCatalogue same;
  if (!astro_spill_read(other, first, chunk->n, &same, error))
    return FALSE;
  const gboolean is_same = astro_catalogue_is_same(chunk, &same);
  astro_catalogue_clear(&same);
  return is_same;
}

gboolean astro_held_is_same(const AstroHeld *a, const AstroHeld *b)
{
  if (a->n == 0 || a->n != b->n || !a->spill != !b->spill)
    return FALSE;
  return a->spill ? astro_spill_visit(a->spill, compare, b->spill, NULL)
                  : astro_catalogue_is_same(&a->all, &b->all);
}
