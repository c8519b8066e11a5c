/* What the instrument does to the signal, from a file of lines:
 *
 *   gain STATION POL AMPLITUDE [PHASE]   what the signal is multiplied by; degrees
 *   delay STATION POL NANOSECONDS        how late it comes, at all frequencies
 *   bandpass FREQUENCY AMPLITUDE         what it is multiplied by at that frequency (Hz)
 *
 * Between its frequencies a bandpass goes in straight lines, beyond them it is flat; it is for
 * spectra only. STATION is a name of the observation or *, POL is 0, 1 or *; later lines replace
 * earlier ones. */
#pragma once

#include "core/sky/lines.h"
#include "core/stream/observation.h"

G_BEGIN_DECLS

typedef struct {
  double amplitude, phase, delay; /* radians, seconds */
} AstroInputCalibration;

typedef struct {
  AstroInputCalibration *inputs; /* stations x pols */
  guint n_bandpass;
  double *frequencies, *amplitudes; /* rising */
} AstroCalibration;

AstroCalibration *astro_calibration_read(AstroLines *lines, const AstroObservation *observation,
                                         guint pols, GError **error);
void astro_calibration_free(AstroCalibration *calibration);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroCalibration, astro_calibration_free)

double astro_calibration_bandpass(const AstroCalibration *calibration, double frequency);

G_END_DECLS
