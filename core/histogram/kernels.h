/* Kernels that take two leaves of points and count how many of their pairs lie below each of a few
 * edges. */
#pragma once

#include "core/backend/cpu.h"
#include "core/stream/pair-fields.h"

#define LEAF_POINTS 32

G_BEGIN_DECLS

/* Past the last point of a leaf positions are NaN, weights 0 and squares infinite, so that no edge
 * counts them. */
typedef struct {
  double x[LEAF_POINTS], y[LEAF_POINTS], z[LEAF_POINTS];
} LeafPositions;

/* The same points, relative to the middle of their leaf. */
typedef struct {
  float x[LEAF_POINTS], y[LEAF_POINTS], z[LEAF_POINTS];
  float square[LEAF_POINTS]; /* of the distance from the middle */
} LeafOffsets;

/* The points of a leaf carry a scalar in `first`, or a shear in both, times their weights. Their
 * right ascensions say where north and east are, even at the poles. */
typedef struct {
  double weight[LEAF_POINTS], first[LEAF_POINTS], second[LEAF_POINTS];
  double cos_ra[LEAF_POINTS], sin_ra[LEAF_POINTS];
} FieldLeaf;

/* Two leaves, of which the points [from, to) of a meet those of b. */
typedef struct {
  const LeafPositions *at_a, *at_b;
  const FieldLeaf *a, *b;
  guint from, to;
} FieldLeaves;

/* Twice the vector from b's middle to a's, and its square less the lowest edge. */
typedef struct {
  float twice_x, twice_y, twice_z;
  float square;
  /* For a point of a, take the square of its distance from b's middle, less the lowest edge. If
   * that is more than `above` or less than `below`, the point's pairs with b lie all on one side.
   */
  float above, below;
} LeafShift;

/* The pairs of a point with a leaf that lie within the bins: their bins, and which points of the
 * leaf they are. */
typedef struct {
  guint n;
  guint32 bin[LEAF_POINTS];
  guint8 point[LEAF_POINTS];
} SpaceHits;

typedef struct _SpaceRule SpaceRule;

typedef struct {
  /* In single precision. limits are the edges less the lowest edge. Returns FALSE if a pair lies
   * within doubt of a limit, where single precision cannot tell; below is then not to be used. */
  gboolean (*below_single)(const LeafOffsets *a, guint n_a, const LeafOffsets *b, guint n_b,
                           const LeafShift *shift, const float *limits, guint n_limits, float doubt,
                           guint64 *below);
  /* In double precision, by the bin rule. */
  void (*below)(const LeafPositions *a, guint n_a, const LeafPositions *b, const double *edges,
                guint n_edges, guint64 *below);
  /* Pairs and the sums of their weights in each of n_edges + 1 places: below the first edge,
   * between two edges, from the last one on. Each place has a sum of its own: the difference of two
   * running sums would carry the rounding errors of all pairs into a place that holds few. */
  void (*weighted)(const LeafPositions *a, const double *weight_a, guint n_a,
                   const LeafPositions *b, const double *weight_b, const double *edges,
                   guint n_edges, guint64 *counts, double *sums);
  /* In space, by its bin rule (space.h). */
  void (*space)(const SpaceRule *rule, const double at[3], const LeafPositions *b, SpaceHits *hits);
  /* Adds the pairs whose squares lie from low on and below high, and the planes of sums over them
   * (fields.h). */
  void (*fields)(AstroPairFields fields, const FieldLeaves *leaves, double low, double high,
                 guint64 *count, double sums[ASTRO_PAIR_MOST_PLANES]);
} HistogramKernels;

void astro_histogram_space_c(const SpaceRule *rule, const double at[3], const LeafPositions *b,
                             SpaceHits *hits);
void astro_histogram_space_avx2(const SpaceRule *rule, const double at[3], const LeafPositions *b,
                                SpaceHits *hits);
void astro_histogram_space_avx512(const SpaceRule *rule, const double at[3], const LeafPositions *b,
                                  SpaceHits *hits);

void astro_histogram_fields_c(AstroPairFields fields, const FieldLeaves *leaves, double low,
                              double high, guint64 *count, double sums[ASTRO_PAIR_MOST_PLANES]);
void astro_histogram_fields_avx2(AstroPairFields fields, const FieldLeaves *leaves, double low,
                                 double high, guint64 *count, double sums[ASTRO_PAIR_MOST_PLANES]);
void astro_histogram_fields_avx512(AstroPairFields fields, const FieldLeaves *leaves, double low,
                                   double high, guint64 *count,
                                   double sums[ASTRO_PAIR_MOST_PLANES]);

extern const HistogramKernels astro_histogram_kernels_c;
extern const HistogramKernels astro_histogram_kernels_avx2;
extern const HistogramKernels astro_histogram_kernels_avx512;

G_END_DECLS
