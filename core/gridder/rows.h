/* Helpers to look at each visibility of some rows, as sorting and choosing planes do. */
#pragma once

#include "core/gridder/gridder.h"

G_BEGIN_DECLS

/* Rows are looked at in so many parts in parallel, however many threads there are. */
#define ASTRO_ROWS_PARTS 64

static inline void astro_rows_part(guint64 rows, guint64 part, guint64 *from, guint64 *to)
{
  *from = rows * part / ASTRO_ROWS_PARTS;
  *to = rows * (part + 1) / ASTRO_ROWS_PARTS;
}

static inline gboolean astro_rows_is_zero(const AstroGridRows *rows, guint64 at)
{
  if (!rows->values)
    return FALSE;
  if (rows->is_double) {
    const double *value = (const double *)rows->values + at * rows->products * 2;
    for (guint i = 0; i < 2 * rows->products; i++)
      if (value[i] != 0)
        return FALSE;
  } else {
    const float *value = (const float *)rows->values + at * rows->products * 2;
    for (guint i = 0; i < 2 * rows->products; i++)
      if (value[i] != 0)
        return FALSE;
  }
  return TRUE;
}

/* The first cell of a footprint, counted from the grid's; inside: how far it lies inside the edge
 * of the spreading function, -1 to 1. */
static inline guint astro_first_cell(double position, guint support, double *inside)
{
  const double edge = position - support / 2.0;
  const gint32 whole = (gint32)edge, first = whole + (edge > whole);
  *inside = 2 * (first - edge) - 1;
  return (guint)first;
}

G_END_DECLS
