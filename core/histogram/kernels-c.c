/* Plain loops that the compiler turns into whatever vectors every x86_64 has. */

#include "core/histogram/rows.h"

#include <math.h>
#include <string.h>

static void make_rows(Rows *rows, const LeafOffsets *a, const LeafShift *shift)
{
  for (guint i = 0; i < LEAF_POINTS; i++) {
    rows->x[i] = -shift->twice_x - 2 * a->x[i];
    rows->y[i] = -shift->twice_y - 2 * a->y[i];
    rows->z[i] = -shift->twice_z - 2 * a->z[i];
    rows->square[i] = a->square[i] + shift->square + shift->twice_x * a->x[i] +
                      shift->twice_y * a->y[i] + shift->twice_z * a->z[i];
  }
}

static gboolean below_single(const LeafOffsets *a, guint n_a, const LeafOffsets *b, guint n_b,
                             const LeafShift *shift, const float *limits, guint n_limits,
                             float doubt, guint64 *below)
{
  Rows rows;
  guint n_below = 0;
  make_rows(&rows, a, shift);
  if (n_limits == 1)
    n_a = keep_rows(&rows, shift, &n_below);
  memset(below, 0, n_limits * sizeof *below);
  gint32 unsure = 0;
  for (guint i = 0; i < n_a; i++) {
    float t[LEAF_POINTS];
    for (guint j = 0; j < LEAF_POINTS; j++)
      t[j] = b->square[j] + rows.square[i] + rows.x[i] * b->x[j] + rows.y[i] * b->y[j] +
             rows.z[i] * b->z[j];
    for (guint k = 0; k < n_limits; k++) {
      /* between the two lies what single precision cannot tell */
      float low = limits[k] - doubt, high = limits[k] + doubt;
      gint32 below_low = 0, below_high = 0;
      for (guint j = 0; j < LEAF_POINTS; j++) {
        below_low += t[j] < low;
        below_high += t[j] <= high;
      }
      below[k] += (guint64)below_low;
      unsure |= below_high - below_low;
    }
  }
  below[0] += (guint64)n_below * n_b;
  return unsure == 0;
}

static inline void chord_squares(const LeafPositions *a, guint i, const LeafPositions *b,
                                 double *squares)
{
  for (guint j = 0; j < LEAF_POINTS; j++) {
    double dx = a->x[i] - b->x[j], dy = a->y[i] - b->y[j], dz = a->z[i] - b->z[j];
    squares[j] = (dx * dx + dy * dy) + dz * dz;
  }
}

static void below_exact(const LeafPositions *a, guint n_a, const LeafPositions *b,
                        const double *edges, guint n_edges, guint64 *below)
{
  memset(below, 0, n_edges * sizeof *below);
  for (guint i = 0; i < n_a; i++) {
    double squares[LEAF_POINTS];
    chord_squares(a, i, b, squares);
    for (guint k = 0; k < n_edges; k++) {
      guint64 count = 0;
      for (guint j = 0; j < LEAF_POINTS; j++)
        count += squares[j] < edges[k];
      below[k] += count;
    }
  }
}

static void weighted(const LeafPositions *a, const double *weight_a, guint n_a,
                     const LeafPositions *b, const double *weight_b, const double *edges,
                     guint n_edges, guint64 *counts, double *sums)
{
  memset(counts, 0, (n_edges + 1) * sizeof *counts);
  memset(sums, 0, (n_edges + 1) * sizeof *sums);
  for (guint i = 0; i < n_a; i++) {
    double squares[LEAF_POINTS];
    chord_squares(a, i, b, squares);
    for (guint k = 0; k <= n_edges; k++) {
      double low = k > 0 ? edges[k - 1] : 0, high = k < n_edges ? edges[k] : INFINITY;
      guint64 count = 0;
      double sum = 0;
      for (guint j = 0; j < LEAF_POINTS; j++) {
        gboolean is_here = squares[j] >= low && squares[j] < high;
        count += is_here;
        sum += is_here ? weight_a[i] * weight_b[j] : 0;
      }
      counts[k] += count;
      sums[k] += sum;
    }
  }
}

const HistogramKernels astro_histogram_kernels_c = {
  .below_single = below_single,
  .below = below_exact,
  .weighted = weighted,
};
