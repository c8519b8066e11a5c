/* Sums over pairs of points that carry something, by the bin rule of histogram.h.
 *
 * For a pair at a and b, with the square of its chord c2 as the bin rule has it:
 *
 *   weight   w_a w_b                 r     w_a w_b times the angle 2 asin(sqrt(c2) / 2), arcmin
 *   xi       w_a k_a w_b k_b         kappa w_a w_b k_b
 *   gamT     w_a w_b gamma_t of b    gamX  w_a w_b gamma_x of b
 *   xip      Re(G_a G_b*)            xip_im  Im(G_a G_b*)      where G = w (gamma_t + i gamma_x)
 *   xim      Re(G_a G_b)             xim_im  Im(G_a G_b)
 *
 * A shear g1 + i g2 has x to the west and y to the north, as TreeCorr has it: g1 > 0 is stretched
 * from east to west, g2 > 0 from north-west to south-east. With n and e the components, north and
 * east, of the chord from the point to the other one,
 *
 *   gamma_t = (g1 (n n - e e) + g2 2 n e) / (n n + e e)
 *   gamma_x = (g2 (n n - e e) - g1 2 n e) / (n n + e e)
 *
 * Points in one place have no direction: such a pair adds nothing to sums of shears. That of
 * opposite points is due to rounding. Within one catalogue a pair has no order, so that xip_im is
 * 0.
 *
 * A pair's variance, in the last plane, takes signals to be small beside the scatter: the square of
 * what it adds, with shears turned to all directions. */
#pragma once

#include "core/histogram/count.h"

G_BEGIN_DECLS

/* Columns of n values; those that are not needed may be NULL. */
typedef struct {
  const double *k, *g1, *g2;
} FieldColumns;

/* As points_new(), with what the points carry. */
AstroPoints *points_with_fields(const PointColumns *columns, const FieldColumns *fields,
                                AstroCarried carried, guint n_regions, guint threads,
                                const AstroStop *stop, GError **error);

/* As points_new(), with the index of each point in place of its weight, which moves along with it.
 * When the weights are there, points_weigh_cells() is called. */
AstroPoints *points_of_indices(const PointColumns *columns, guint n_regions, guint threads,
                               const AstroStop *stop, GError **error);
void points_weigh_cells(AstroPoints *points);

/* Memory of a point besides that of its tree, at most. */
guint64 fields_bytes_each(void);

/* Adds all pairs to the count, by all threads. FALSE: there is no memory. */
gboolean fields_count(Count *count, gboolean alone, GError **error);

/* Clears the planes that depend on which point of a pair comes first, where that means nothing. */
void fields_forget_order(const AstroHistogramConfig *config, double *sums);

/* Adds the pairs of the point i of a region with those of another from `first` on. */
void fields_reference_row(Count *count, guint region_a, guint region_b, guint64 i, guint64 first);

G_END_DECLS
