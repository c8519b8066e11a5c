/* Sums over an interval, from which the cpu backend solves: after them the number of samples no
 * longer counts.
 *
 * For a polarisation alone these are A_ij = sum w V conj(M) and B_ij = sum w |M|^2 of each baseline
 * i > j; for Jones matrices S[abcd] = sum w V_ab conj(M_cd) and T[abcd] = sum w M_ab conj(M_cd).
 * For delays, which change the phase along the band, channels are kept apart. */
#pragma once

#include "core/calibrate/check.h"
#include "core/calibrate/graph.h"

G_BEGIN_DECLS

typedef struct {
  complex double s[16], t[16];
} AstroJonesSums;

typedef struct {
  AstroCalibrateConfig config;
  AstroCalibrateSize size;
  guint step, groups; /* channels of a group of sums, and their number */
  guint cells;        /* groups x polarisations, or groups for full */
  gsize square;       /* stations x stations */
  /* [cell][station i][station j], j < i until they are mirrored. */
  double *re, *im, *b;
  AstroJonesSums *jones; /* [group][i (i - 1) / 2 + j]; NULL for other types than full */
  /* For each cell and station i, over its baselines with those before it. */
  double *energy;  /* sum w |V|^2 */
  guint64 *values; /* number of good visibilities */
} AstroCalibrateSums;

AstroCalibrateSums *astro_calibrate_sums_new(const AstroCalibrateConfig *config, GError **error);
void astro_calibrate_sums_free(AstroCalibrateSums *sums);
void astro_calibrate_sums_clear(AstroCalibrateSums *sums);
void astro_calibrate_sums_add(AstroCalibrateSums *sums, const AstroCalibrateArguments *arguments,
                              const AstroBlock *in, guint threads);
/* Fills in j > i of a cell: A_ji = conj(A_ij). */
void astro_calibrate_sums_mirror(AstroCalibrateSums *sums, guint cell);

/* The sum of w |M|^2 of a baseline in a cell, whichever way it is written; 0: there is none. */
double astro_calibrate_sums_weight(const AstroCalibrateSums *sums, guint cell, guint i, guint j);

/* Adds a baseline of a cell, which has not to be of type full, to the scatter: what the factor
 * that fits it best takes off its energy, which the caller has added. */
void astro_calibrate_sums_scatter(const AstroCalibrateSums *sums, guint cell, guint i, guint j,
                                  AstroCalibrateScatter *scatter);

G_END_DECLS
