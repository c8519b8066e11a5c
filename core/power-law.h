/* The power law that measured values follow. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Fits y = amplitude x^slope, weighted by the errors, to the points with low <= x <= high whose x,
 * y and error are above 0. FALSE with fewer than two. */
gboolean astro_power_law_fit(const double *x, const double *y, const double *error, guint n,
                             double low, double high, double *amplitude, double *slope);

G_END_DECLS
