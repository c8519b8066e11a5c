/* Bounds on the separations of the pairs of two cells, and on the errors of single precision.
 * Shared by C and by CUDA, on the host and on the device. */
#pragma once

#include "core/histogram/points.h"
#include "core/kit/on-both.h"

#include <math.h>

/* More than the rounding errors of the bin rule and of the bounds together, in squares of chords.
 */
#define MARGIN 1e-14
/* Bounds the rounding errors of single precision: about 30 of 2^-24, relative to the largest term.
 */
#define DOUBT 2e-6
/* How far off single precision may put an edge, relative to the square of its chord. */
#define SINGLE_TOLERANCE 1e-5

/* Pairs may lie on both sides of the edges [first, last), and of no others. */
typedef struct {
  guint first, last;
} Edges;

ON_BOTH static inline double between_squared(const Cell *a, const Cell *b)
{
  double dx = a->x - b->x, dy = a->y - b->y, dz = a->z - b->z;
  return dx * dx + dy * dy + dz * dz;
}

/* Drops the edges that have all pairs of the two caps on one side. squares: of the edges' chords.
 */
ON_BOTH static inline Edges narrow(const double *squares, const Cell *a, const Cell *b, Edges edges)
{
  double low = 0, high = 4 + MARGIN;
  /* caps that do not reach half way around together */
  if (a->chord + b->chord < 1.4) {
    double square = MIN(between_squared(a, b), 4);
    double cos_between = 1 - square / 2, sin_between = sqrt(square * (1 - square / 4));
    double cos_reach = a->cos_radius * b->cos_radius - a->sin_radius * b->sin_radius,
           sin_reach = a->sin_radius * b->cos_radius + a->cos_radius * b->sin_radius;
    double cosines = cos_between * cos_reach, sines = sin_between * sin_reach;
    if (cos_between < cos_reach)
      low = MAX(2 - 2 * (cosines + sines) - MARGIN, 0);
    if (cos_between > -cos_reach)
      high = 2 - 2 * (cosines - sines) + MARGIN;
  }
  while (edges.first < edges.last && squares[edges.first] <= low)
    edges.first++;
  while (edges.first < edges.last && squares[edges.last - 1] > high)
    edges.last--;
  return edges;
}

/* The largest error of single precision in the square of a pair's chord, less that of the lowest
 * edge. square and distance are those between the middles of the two cells. */
ON_BOTH static inline double single_doubt(double square, double distance, double reach,
                                          double lowest)
{
  double largest = MAX(2 * distance * reach + reach * reach, fabs(square - lowest));
  return largest * DOUBT + 2 * MARGIN;
}
