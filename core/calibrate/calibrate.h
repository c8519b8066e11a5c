/* Solves the gains of stations from visibilities and those of a model, and divides them out.
 *
 * The gains J of stations are those that minimise the sum over baselines i > j of
 * w |V_ij - J_i M_ij J_j^H|^2: V the visibilities, M the model, w their counts of good samples.
 * Values without counts, NaN and infinite ones have no weight. Types other than full take only the
 * products of a polarisation with itself, each for itself.
 *
 * The phase of the reference station is 0. For type full the model may leave more undetermined: a
 * sky without polarisation does not tell J from J U, with U any unitary matrix (the same for all
 * stations). Then that U is taken with which the reference station's J is nearest to unity. */
#pragma once

#include "core/backend/backend.h"
#include "core/lib/gains/gains.h"
#include "core/stream/stream.h"
#include "core/stream/validity.h"

G_BEGIN_DECLS

typedef struct {
  AstroStream in,
      out; /* visibilities, CF32LE or CF64LE (in: CI32LE too), channel:baseline:pol:pol */
  AstroGainsType type;
  guint channel_step; /* channels of a solution; 0: all */
  double min_snr;     /* gains below are flagged */
} AstroCalibrateConfig;

/* Channels that share a solution; for delays all, whatever the step. */
guint astro_calibrate_step(const AstroCalibrateConfig *config);
guint astro_calibrate_groups(const AstroCalibrateConfig *config);
/* Values of a station in a group: as in AstroGains. */
guint astro_calibrate_values(const AstroCalibrateConfig *config);

typedef enum {
  ASTRO_CALIBRATE_ADD,   /* adds a block to the interval; in: the block */
  ASTRO_CALIBRATE_SOLVE, /* solves the interval and forgets it; result->own: AstroCalibrateSolved */
  ASTRO_CALIBRATE_APPLY, /* in: a block, out: the same, corrected */
  ASTRO_CALIBRATE_FORGET, /* what was added */
} AstroCalibrateWork;

typedef struct {
  AstroCalibrateWork work;
  guint64 steps;
  const AstroValidityMeta *validity; /* of the block; NULL: no losses */
  /* For ADD, [step][channel][baseline][pol][pol]: where it is NaN, data are not used. */
  const complex double *model;
  /* For APPLY, each [step][channel][station]: the gains. */
  const AstroGainsAt *gains;
  guint32 *counts;    /* out, [step][channel][baseline][pol][pol] */
  guint reference;    /* for SOLVE: the station whose phase is 0 */
  double count_scale; /* counts are those of the input times this and what the gains make of them */
} AstroCalibrateArguments;

/* Why a solution is not good. */
typedef struct {
  guint64 solved;       /* values with a solution */
  guint64 no_data;      /* of stations without any good visibility */
  guint64 unconnected;  /* of stations that no chain of baselines joins to the reference */
  guint64 undetermined; /* amplitudes that the baselines do not determine */
  guint64 not_converged;
  guint64 low_snr;
} AstroCalibrateTally;

/* Sums behind chi_squared. */
typedef struct {
  double energy, noise, noise_freedom, added, added_freedom;
} AstroCalibrateMisfit;

typedef struct {
  complex double *gains; /* [station][group][value], memory of the caller */
  float *snr;            /* 0: flagged */
  double *delays;        /* seconds */
  guint iterations;      /* the most that a solution took */
  AstroCalibrateTally tally;
  gboolean reference_moved; /* in some group it had no data, and another station took its place */
  guint free_angles;        /* full: the angles of U that the model leaves open, beyond the phase */
  double rms;               /* of sqrt(w) (V - J M J^H), of all that was used */
  /* Whether the model explains the visibilities. On each baseline (for delays in each channel) one
   * factor of its own fits them best, and what that leaves is taken for noise. Gains make fewer
   * factors do: the mean square that this adds, for each factor less, over that of the noise. 1 if
   * the model is right; 0: not known (type full, or one visibility on each baseline). */
  double chi_squared;
  AstroCalibrateMisfit misfit;
  double unexplained; /* what it adds, as a part of the power of the visibilities */
  guint64 visibilities;
} AstroCalibrateSolved;

extern const AstroBackend astro_calibrate_reference, astro_calibrate_cpu;
extern const AstroBackend *const astro_calibrate_backends[];

G_END_DECLS
