/* Pairs of points in space, with the observer at the origin.
 *
 * The bin rule. A point is its unit vector times its distance, rounded once an axis. For a pair at
 * a and b, with d = a - b and the line of sight l = a + b (which runs through the middle of both),
 *
 *   apart = d.d    sight = l.l    along = (d.l) (d.l)
 *
 * where a product of vectors is (x x' + y y') + z z', every operation is in double precision and
 * rounded by itself (no fused multiply-add). Edges become squares once.
 *
 *   smu    the row k has edge[k]^2 <= apart < edge[k + 1]^2; the column is the number of edges of
 *          mu above 0 with edge^2 (apart sight) <= along. Where apart or sight is 0, mu is 0. The
 *          last column has its upper edge only if that is 1, so that mu = 1 is within.
 *   rppi   pi^2 = along / sight, or 0 where sight is 0, and rp^2 = apart - pi^2, or 0 if less. The
 *          row k has edge[k]^2 <= rp^2 < edge[k + 1]^2, the column edge[m]^2 <= pi^2 < edge[m+1]^2.
 *
 * The n_columns columns of a row follow one another.
 *
 * By angle, where pairs are looked at one by one, the rule is that of smu with a single column: of
 * unit vectors `apart` is the square of a chord, and rows are those of the edges' chords. */
#pragma once

#include "core/histogram/histogram.h"
#include "core/histogram/kernels.h"
#include "core/kit/on-both.h"

#include <math.h>
#include <string.h>

G_BEGIN_DECLS

/* How far apart the points of a pair in the bins may be. */
typedef struct {
  double most, least;
  double depth; /* along the line of sight, at most; or infinity */
} SpaceReach;

struct _SpaceRule {
  AstroBinning kind;
  guint n_rows, n_columns;
  double rows[ASTRO_HISTOGRAM_MAX_EDGES];          /* squares of the n_rows + 1 edges */
  double columns[ASTRO_HISTOGRAM_MAX_COLUMNS + 1]; /* squares of the n_columns + 1 edges */
  double limit;    /* columns[n_columns], or infinity where nothing lies beyond */
  double per_unit; /* columns in a unit of mu or pi */
  SpaceReach reach;
  /* Where the search for a row begins, for the squares whose first bits are `first` and so on. */
  guint64 first;
  guint16 *row_of;
};

SpaceRule *space_rule_new(const AstroHistogramConfig *config);
void space_rule_free(SpaceRule *rule);

/* The bits of a square that choose the entry of row_of: its exponent and 8 bits behind that. */
static inline guint64 space_bits(double square)
{
  guint64 bits;
  memcpy(&bits, &square, sizeof bits);
  return bits >> 44;
}

/* A row is found from `row` alone, and a column by comparing `column` with edge^2 * scale. */
typedef struct {
  double row, column, scale;
} SpaceMeasure;

/* For the bin rule, CUDA has to be compiled without fused multiply-add (column.mk). */
ON_BOTH static inline SpaceMeasure space_measure(AstroBinning kind, const double a[3],
                                                 const double b[3])
{
  const double dx = a[0] - b[0], dy = a[1] - b[1], dz = a[2] - b[2];
  const double lx = a[0] + b[0], ly = a[1] + b[1], lz = a[2] + b[2];
  const double apart = (dx * dx + dy * dy) + dz * dz, sight = (lx * lx + ly * ly) + lz * lz;
  const double root = (dx * lx + dy * ly) + dz * lz, along = root * root;
  if (kind == ASTRO_BINNING_SMU) {
    const double scale = apart * sight;
    const SpaceMeasure smu = { apart, along, scale > 0 ? scale : 1 };
    return smu;
  }
  const double depth = sight > 0 ? along / sight : 0, across = apart - depth;
  const SpaceMeasure rppi = { across < 0 ? 0 : across, depth, 1 };
  return rppi;
}

G_END_DECLS
