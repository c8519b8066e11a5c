/* Two leaves of points against each other: how many of their pairs lie below each of a few edges.
 */
#pragma once

#include "core/backend/cpu.h"

#define LEAF_POINTS 32

G_BEGIN_DECLS

/* Places past the last point of a leaf hold NaN positions, weight 0 and an infinite square. */
typedef struct {
  double x[LEAF_POINTS], y[LEAF_POINTS], z[LEAF_POINTS];
} LeafPositions;

/* The same points as seen from the middle of their leaf. */
typedef struct {
  float x[LEAF_POINTS], y[LEAF_POINTS], z[LEAF_POINTS];
  float square[LEAF_POINTS]; /* of the distance from the middle */
} LeafOffsets;

/* The vector from b's middle to a's, twice, and its square less the lowest edge. */
typedef struct {
  float twice_x, twice_y, twice_z;
  float square;
  /* A point of a whose square less the edge, from b's middle, is more than above, or less than
   * below, is on one side of it with all the points of b. */
  float above, below;
} LeafShift;

typedef struct {
  /* limits are edges less the lowest edge. Returns FALSE where a pair lies within doubt of a limit,
   * so that single precision cannot tell; below is then of no use. */
  gboolean (*below_single)(const LeafOffsets *a, guint n_a, const LeafOffsets *b, guint n_b,
                           const LeafShift *shift, const float *limits, guint n_limits, float doubt,
                           guint64 *below);
  void (*below)(const LeafPositions *a, guint n_a, const LeafPositions *b, const double *edges,
                guint n_edges, guint64 *below);
  /* Pairs and their weights in each of n_edges + 1 places: below the first edge, between two, from
   * the last one on. No place is a difference of sums, which would leave what rounding did to all
   * pairs in a place that has few, or none but of weight 0. */
  void (*weighted)(const LeafPositions *a, const double *weight_a, guint n_a,
                   const LeafPositions *b, const double *weight_b, const double *edges,
                   guint n_edges, guint64 *counts, double *sums);
} HistogramKernels;

extern const HistogramKernels astro_histogram_kernels_c;
extern const HistogramKernels astro_histogram_kernels_avx2;
extern const HistogramKernels astro_histogram_kernels_avx512;

G_END_DECLS
