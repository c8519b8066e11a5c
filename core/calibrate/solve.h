/* Solves the gains of one cell: alternating least squares, station after station. With the gains of
 * all others held, that of a station is a linear problem, so that every step lowers the sum of
 * squares. It begins from gains found along the strongest baselines. */
#pragma once

#include "core/calibrate/graph.h"
#include "core/calibrate/sums.h"

G_BEGIN_DECLS

typedef struct {
  const AstroCalibrateSums *sums;
  guint cell; /* of the sums; for delays the polarisation */
  const AstroCalibrateGraph *graph;
  complex double *gains; /* [station], or [station][4] */
  double *delays;        /* [station], seconds; NULL for other types */
  double *weight;        /* [station]: S/N is |gain| sqrt(weight) / rms */
  guint iterations;
  gboolean converged;
  gboolean undetermined; /* there is no single best solution */
  guint free_angles;
  double squares; /* sum of w |V - J M J^H|^2 */
  double freedom; /* independent visibilities less the solved numbers, each of two parts */
  guint64 values;
  AstroCalibrateScatter scatter;
} AstroCalibrateCell;

void astro_calibrate_solve_alone(AstroCalibrateCell *cell); /* phase, gain, bandpass */
void astro_calibrate_solve_full(AstroCalibrateCell *cell);
void astro_calibrate_solve_delay(AstroCalibrateCell *cell);

/* The delay about `delay`, and the phase, with which sum_k of spectrum[k] exp(2 pi i delay
 * offset_k) is largest; offset_k = (k - (n - 1) / 2) spacing. */
double astro_calibrate_fit_delay(const complex double *spectrum, guint n, double spacing,
                                 double delay, complex double *sum);
/* The best of all delays that the spacing of channels tells apart, roughly. */
double astro_calibrate_find_delay(const complex double *spectrum, guint n, double spacing);

/* Multiplies matrices of 2 x 2, row by row: to = a b, or a b^H. to is neither a nor b. */
void astro_jones_multiply(const complex double a[4], const complex double b[4],
                          complex double to[4]);
void astro_jones_multiply_adjoint(const complex double a[4], const complex double b[4],
                                  complex double to[4]);
/* FALSE: it has no inverse. */
gboolean astro_jones_invert(const complex double a[4], complex double to[4]);

/* Turns the J of all stations so that the reference's is nearest to unity, by those rotations that
 * the model leaves open: moments are sums over baselines of w m_k conj(m_l), where M = m_0 + m_1 z
 * + m_2 x + m_3 y with Pauli's matrices. Returns the number of angles left open, beyond the common
 * phase. */
guint astro_calibrate_turn(complex double (*jones)[4], guint stations, guint reference,
                           double moments[4][4]);

G_END_DECLS
