/* Any number of places by weigh_places, which takes 2 or PLACES_AT_ONCE. Included where vector
 * kernels have defined both. */
#include "core/histogram/kernels.h"

#include <math.h>
#include <string.h>

static void weighted(const LeafPositions *a, const double *weight_a, guint n_a,
                     const LeafPositions *b, const double *weight_b, const double *edges,
                     guint n_edges, guint64 *counts, double *sums)
{
  for (guint k = 0; k <= n_edges; k += PLACES_AT_ONCE) {
    guint n = MIN(n_edges + 1 - k, PLACES_AT_ONCE);
    double around[PLACES_AT_ONCE + 1], here_sums[PLACES_AT_ONCE];
    guint64 here[PLACES_AT_ONCE];
    for (guint p = 0; p <= PLACES_AT_ONCE; p++)
      around[p] = k + p == 0 ? 0 : k + p <= n_edges ? edges[k + p - 1] : INFINITY;
    if (n <= 2) /* most leaves are cut by one edge */
      weigh_places(a, weight_a, n_a, b, weight_b, around, here, here_sums, 2);
    else
      weigh_places(a, weight_a, n_a, b, weight_b, around, here, here_sums, PLACES_AT_ONCE);
    memcpy(counts + k, here, n * sizeof *here);
    memcpy(sums + k, here_sums, n * sizeof *here_sums);
  }
}
