/* Finds which corrections a stream still needs: the delays and the calibration, less those that
 * were applied before. */
#pragma once

#include "core/delay/calibration.h"
#include "core/stream/stream.h"

G_BEGIN_DECLS

typedef struct {
  gboolean geometry, gains, bandpass;
} AstroDelayDue;

/* Removes from a calibration (NULL: none) the parts that are not due: those undone before, and for
 * voltages the bandpass. It is an error if another calibration was undone before, as this one would
 * come on top of it. */
gboolean astro_delay_due(AstroDelayDue *due, AstroCalibration *calibration, AstroQuantity quantity,
                         const AstroHistory *history, GError **error);

/* Writes in the history where the waves of stations meet once their delays are removed. */
void astro_delay_record_centre(const AstroObservation *observation, AstroHistory *history);
/* Writes in the history what has been corrected; the calibration must be as read from its file. */
void astro_delay_record(const AstroCalibration *calibration, AstroQuantity quantity,
                        AstroHistory *history);

G_END_DECLS
