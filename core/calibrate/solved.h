/* Gathers the cells that a backend solved into the result of an interval. */
#pragma once

#include "core/calibrate/check.h"
#include "core/calibrate/graph.h"

G_BEGIN_DECLS

/* A cell as both backends have it: its polarisation, or all of them for full. */
typedef struct {
  guint group, pol;
  guint reference; /* the one that was wanted */
  const AstroCalibrateGraph *graph;
  const complex double *gains; /* [station], or [station][4] for full */
  const double *delays;        /* NULL for zeros */
  const double *weight;        /* [station]: S/N is |gain| sqrt(weight) / rms */
  gboolean converged, undetermined;
  guint iterations, free_angles;
  double squares, freedom; /* the sum of squares, and what it is divided by for its mean */
  double energy;           /* the sum of squares of the visibilities themselves */
  AstroCalibrateScatter scatter;
  guint64 values;
} AstroCalibrateFound;

/* Sets all gains to 1 and flags them, and clears the rest. */
void astro_calibrate_solved_begin(const AstroCalibrateConfig *config, AstroCalibrateSolved *solved);
/* Adds a cell: its good gains, and the tally. */
void astro_calibrate_solved_add(const AstroCalibrateConfig *config,
                                const AstroCalibrateFound *found, AstroCalibrateSolved *solved);

G_END_DECLS
