/* What the instrument does to the signal, from a file of lines:
 *
 *   gain STATION POL AMPLITUDE [PHASE]   what the signal is multiplied by; degrees
 *   delay STATION POL NANOSECONDS        how late it comes, at all frequencies
 *   bandpass [STATION POL] FREQUENCY AMPLITUDE
 *                                        what it is multiplied by at that frequency (Hz)
 *
 * A bandpass without STATION and POL is that of all inputs. Its lines add points, whose frequencies
 * have to rise; between them it goes in straight lines, beyond them it is flat. It is undone in
 * spectra only. STATION is a name of the observation or *, POL is 0, 1 or *; later lines of gain
 * and delay replace earlier ones. */
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
  guint bandpass;                 /* which one */
} AstroInputCalibration;

typedef struct {
  guint n_inputs;
  AstroInputCalibration *inputs; /* stations x pols */
  guint n_bandpasses;            /* no two alike; the first is flat */
  AstroBandpass *bandpasses;
} AstroCalibration;

AstroCalibration *astro_calibration_read(AstroLines *lines, const AstroObservation *observation,
                                         guint pols, GError **error);
void astro_calibration_free(AstroCalibration *calibration);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroCalibration, astro_calibration_free)

double astro_bandpass_at(const AstroBandpass *bandpass, double frequency);
/* That of an input. */
double astro_calibration_bandpass(const AstroCalibration *calibration, guint input,
                                  double frequency);

/* Which gains and delays, or bandpasses, they are; NULL: none, there is nothing to undo. */
char *astro_calibration_sum_gains(const AstroCalibration *calibration);
char *astro_calibration_sum_bandpass(const AstroCalibration *calibration);
/* As if the file had no lines of them. */
void astro_calibration_drop_gains(AstroCalibration *calibration);
void astro_calibration_drop_bandpass(AstroCalibration *calibration);

G_END_DECLS
