/* The instrument's gains, delays and bandpasses, read from a text file:
 *
 *   gain STATION POL AMPLITUDE [PHASE]   the signal was multiplied by this; degrees
 *   delay STATION POL NANOSECONDS        the signal arrives this much late, at all frequencies
 *   bandpass [STATION POL] FREQUENCY AMPLITUDE
 *                                        the signal at this frequency (Hz) was multiplied by this
 *
 * A bandpass line without STATION and POL applies to all inputs. Each bandpass line adds a point;
 * the frequencies must rise. Between the points the bandpass is interpolated linearly, beyond them
 * it is constant. It is undone in spectra only. STATION is a station's name in the observation or
 * *, POL is 0, 1 or *. Later gain and delay lines replace earlier ones.
 *
 * Or they come from a table of gains (calibration-table.h). */
#pragma once

#include "core/kit/lines.h"
#include "core/stream/observation.h"

G_BEGIN_DECLS

typedef struct {
  guint n;
  double *frequencies, *amplitudes; /* rising */
} AstroBandpass;

typedef struct {
  double amplitude, phase, delay; /* radians, seconds */
  guint bandpass;                 /* index in bandpasses */
} AstroInputCalibration;

typedef struct {
  guint n_inputs;
  AstroInputCalibration *inputs; /* stations x pols */
  guint n_bandpasses;            /* all different; the first is flat */
  AstroBandpass *bandpasses;
  char *table; /* the checksum of the table that it was made of; NULL: of none */
} AstroCalibration;

AstroCalibration *astro_calibration_read(AstroLines *lines, const AstroObservation *observation,
                                         guint pols, GError **error);
void astro_calibration_free(AstroCalibration *calibration);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroCalibration, astro_calibration_free)

double astro_bandpass_at(const AstroBandpass *bandpass, double frequency);
/* The bandpass of one input at a frequency. */
double astro_calibration_bandpass(const AstroCalibration *calibration, guint input,
                                  double frequency);

/* Checksums of the gains and delays, and of the bandpasses; NULL if there is nothing to undo. */
char *astro_calibration_sum_gains(const AstroCalibration *calibration);
char *astro_calibration_sum_bandpass(const AstroCalibration *calibration);
/* Make the calibration as if the file had no such lines. */
void astro_calibration_drop_gains(AstroCalibration *calibration);
void astro_calibration_drop_bandpass(AstroCalibration *calibration);

G_END_DECLS
