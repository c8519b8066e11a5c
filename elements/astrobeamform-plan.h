/* The plan that astrobeamform makes of its settings and an observation: the stations that take
 * part, their weights, and the directions of beams. */
#pragma once

#include "core/beamform/beamform.h"
#include "core/beamform/steer.h"
#include "core/stream/observation.h"

G_BEGIN_DECLS

/* As a user wrote them; NULL: not given. */
typedef struct {
  char *stations, *weights;
} AstroBeamformTexts;

typedef struct {
  AstroBeamformStations stations;
  guint *index;
  float *weights;
  AstroBeamformSteering *steering;
} AstroBeamformPlan;

/* scale 0: auto. NULL with an error that says what the stream or a setting lacks. */
AstroBeamformPlan *astro_beamform_plan_new(const AstroBeamformTexts *texts, double scale,
                                           const AstroObservation *beams,
                                           const AstroObservation *observation,
                                           const AstroBeamformConfig *config, GError **error);
void astro_beamform_plan_free(AstroBeamformPlan *plan);

G_END_DECLS
