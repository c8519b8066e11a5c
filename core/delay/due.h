/* What is left to do: what delays and a calibration are about, less what was done to the stream
 * already. */
#pragma once

#include "core/delay/calibration.h"
#include "core/stream/stream.h"

G_BEGIN_DECLS

typedef struct {
  gboolean geometry, gains, bandpass;
} AstroDelayDue;

/* Takes out of a calibration (NULL: none) what is not due: what was undone before, and of voltages
 * the bandpass. An error where another calibration was undone, which this one would come on top of.
 */
gboolean astro_delay_due(AstroDelayDue *due, AstroCalibration *calibration, AstroQuantity quantity,
                         const AstroHistory *history, GError **error);

/* What the stream's history is once it is done, with a calibration as it came from its file. */
void astro_delay_record(const AstroCalibration *calibration, AstroQuantity quantity,
                        AstroHistory *history);

G_END_DECLS
