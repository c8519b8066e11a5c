/* How much earlier each input receives the wave from the phase centre than the array's centre does,
 * as a function of time: the geometry less the instrument's own delay. It also keeps the
 * calibration. */
#pragma once

#include "core/delay/calibration.h"

G_BEGIN_DECLS

typedef struct AstroDelayModel AstroDelayModel;

/* The observation needs stations; geometric delays also need a start and a phase centre. If
 * with_geometry is FALSE (geometric delays were taken out before), only the instrument's delays are
 * left. Takes ownership of calibration, which may be NULL. */
AstroDelayModel *astro_delay_model_new(AstroObservation *observation, gboolean with_geometry,
                                       guint pols, AstroCalibration *calibration, GError **error);
void astro_delay_model_free(AstroDelayModel *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroDelayModel, astro_delay_model_free)

guint astro_delay_model_stations(const AstroDelayModel *model);
guint astro_delay_model_pols(const AstroDelayModel *model);
const AstroCalibration *astro_delay_model_calibration(const AstroDelayModel *model); /* or NULL */

/* How long after the observation's start the stream's step 0 is; 0 until this is called. */
void astro_delay_model_set_epoch(AstroDelayModel *model, gint64 ns_since_start);

/* Delays in seconds, stations x pols, at a time after step 0. Not thread-safe. */
void astro_delay_model_at(AstroDelayModel *model, gint64 ns, double *seconds);

/* The difference between the largest and the smallest delay at that time. */
double astro_delay_model_spread(AstroDelayModel *model, gint64 ns);

/* Upper limits of the delays at any time: of the geometry, which changes as the Earth rotates, and
 * of geometry and instrument together (longest). */
double astro_delay_model_reach(const AstroDelayModel *model);

/* astro_fraction_stretch of the model's delays; 0 with error set if the rate is too low. */
guint astro_delay_model_stretch(const AstroDelayModel *model, double frequency, double rate,
                                GError **error);
double astro_delay_model_longest(const AstroDelayModel *model);

G_END_DECLS
