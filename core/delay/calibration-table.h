/* The calibration of voltages by a table of gains, which astrocalibrate solved from visibilities. A
 * header of its own, as C++ does not know the complex numbers of C. */
#pragma once

#include "core/delay/calibration.h"
#include "core/lib/gains/gains.h"

G_BEGIN_DECLS

/* NULL with error set if voltages cannot be calibrated by it, or it lacks the gain of an input. */
AstroCalibration *astro_calibration_from_gains(const AstroGains *gains,
                                               const AstroObservation *observation, guint pols,
                                               GError **error);

G_END_DECLS
