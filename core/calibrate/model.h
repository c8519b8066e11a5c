/* The model of visibilities: those that a sky of point sources would give, or others that are
 * given. */
#pragma once

#include "core/calibrate/calibrate.h"
#include "core/lib/sky/sky.h"

G_BEGIN_DECLS

typedef struct AstroCalibrateModel AstroCalibrateModel;

/* sky: as astrovissrc takes it; NULL: the model is given step by step. The observation has a start
 * and a phase centre; where it tells the scale of the visibilities (core/stream/history.h), the
 * model has the same. */
AstroCalibrateModel *astro_calibrate_model_new(const char *sky, const AstroStream *in,
                                               AstroObservation *observation, guint threads,
                                               GError **error);
void astro_calibrate_model_free(AstroCalibrateModel *model);

/* Sets the model of step `step` of `steps`, which begins at begin and ends at end, in ns since the
 * observation's start. */
gboolean astro_calibrate_model_predict(AstroCalibrateModel *model, guint64 steps, guint64 step,
                                       guint64 begin, guint64 end, GError **error);
/* Visibilities of the same layout as those that are calibrated, as a stream brings them. */
typedef struct {
  const AstroStream *stream;
  AstroBlock block;
  guint64 steps;
  const AstroValidityMeta *validity; /* NULL: nothing is lost */
  double factor;                     /* to the scale of those that are calibrated */
} AstroCalibrateGiven;

/* Takes a step of a block as the model of one step. Lost values become NaN, which are not used;
 * given NULL: all are. */
gboolean astro_calibrate_model_give(AstroCalibrateModel *model, const AstroCalibrateGiven *given,
                                    guint64 step, GError **error);

/* [step][channel][baseline][pol][pol] */
const complex double *astro_calibrate_model_values(const AstroCalibrateModel *model);

G_END_DECLS
