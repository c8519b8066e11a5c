/* Sums of arrays, of which several instances have each made one. */
#pragma once

#include <glib.h>

/* Adds values of so many bytes, floats or doubles, to others. */
static inline void astro_add_values(gpointer to, gconstpointer from, gsize bytes,
                                    gboolean is_double)
{
  for (gsize i = 0; i < bytes / sizeof(double) && is_double; i++)
    ((double *)to)[i] += ((const double *)from)[i];
  for (gsize i = 0; i < bytes / sizeof(float) && !is_double; i++)
    ((float *)to)[i] += ((const float *)from)[i];
}
