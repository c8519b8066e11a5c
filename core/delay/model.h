/* How early each input has the wave from the phase centre, against the array's centre, as time goes
 * on: geometry less the instrument's own delay; and what else the instrument does. */
#pragma once

#include "core/delay/calibration.h"

G_BEGIN_DECLS

typedef struct AstroDelayModel AstroDelayModel;

/* The observation needs stations, and for the delays of geometry a start and a phase centre; where
 * those are out of the stream already the instrument's are all there is. calibration may be NULL;
 * it is taken. */
AstroDelayModel *astro_delay_model_new(AstroObservation *observation, gboolean with_geometry,
                                       guint pols, AstroCalibration *calibration, GError **error);
void astro_delay_model_free(AstroDelayModel *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroDelayModel, astro_delay_model_free)

guint astro_delay_model_stations(const AstroDelayModel *model);
guint astro_delay_model_pols(const AstroDelayModel *model);
const AstroCalibration *astro_delay_model_calibration(const AstroDelayModel *model); /* or NULL */

/* What the stream's step 0 comes after the observation's start, in ns; 0 until this is called. */
void astro_delay_model_set_epoch(AstroDelayModel *model, gint64 ns_since_start);

/* Seconds, stations x pols, so many ns after step 0. One thread at a time. */
void astro_delay_model_at(AstroDelayModel *model, gint64 ns, double *seconds);

/* The latest input's less the earliest one's then. */
double astro_delay_model_spread(AstroDelayModel *model, gint64 ns);

/* No delay is ever larger: of the geometry, which turns with the earth; and with the instrument's,
 * which stay. */
double astro_delay_model_reach(const AstroDelayModel *model);

/* astro_fraction_stretch of the model's delays; 0: error says what would be enough. */
guint astro_delay_model_stretch(const AstroDelayModel *model, double frequency, double rate,
                                GError **error);
double astro_delay_model_longest(const AstroDelayModel *model);

G_END_DECLS
