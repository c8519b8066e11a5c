/* The visibilities that a sky of point sources would give. */
#pragma once

#include "core/calibrate/calibrate.h"
#include "core/lib/sky/sky.h"

G_BEGIN_DECLS

typedef struct AstroCalibrateModel AstroCalibrateModel;

/* sky: as astrovissrc takes it. The observation has a start and a phase centre; where it tells the
 * scale of the visibilities (core/stream/history.h), the model has the same. */
AstroCalibrateModel *astro_calibrate_model_new(const char *sky, const AstroStream *in,
                                               AstroObservation *observation, guint threads,
                                               GError **error);
void astro_calibrate_model_free(AstroCalibrateModel *model);

/* Sets the model of step `step` of `steps`, which begins at begin and ends at end, in ns since the
 * observation's start. */
gboolean astro_calibrate_model_predict(AstroCalibrateModel *model, guint64 steps, guint64 step,
                                       guint64 begin, guint64 end, GError **error);
/* [step][channel][baseline][pol][pol] */
const complex double *astro_calibrate_model_values(const AstroCalibrateModel *model);

G_END_DECLS
