/* For sinks that write visibilities: where the integrations of each buffer lie in time, each once
 * and in order. */
#pragma once

#include <gst/gst.h>

#include "core/stream/observation.h"
#include "elements/base/astrosteps.h"

G_BEGIN_DECLS

/* Lives from start to stop, and begins as zeros. The sink gives its steps the events that come. */
typedef struct {
  AstroSteps steps; /* times streams without timestamps */
  gint64 last_ns;   /* when the last integration began */
} AstroIntegrations;

typedef struct {
  guint64 frames;               /* set by the caller; becomes less where some come again */
  guint64 first;                /* step of the first that is left */
  gint64 start_ns, duration_ns; /* of all together, since the observation's start */
} AstroIntegrationsPlace;

/* Leaves out repeated steps, with a warning that names the file: *buffer becomes what is left of
 * it, or NULL. is_first: the file has none yet. */
gboolean astro_integrations_place(AstroIntegrations *integrations, GstElement *element,
                                  const char *file, const AstroStream *stream, gboolean is_first,
                                  GstBuffer **buffer, AstroIntegrationsPlace *place,
                                  GError **error);

/* Undelayed visibilities are written unchanged, but with the (u,v,w) of a phase centre that their
 * phases do not have: warns of that. */
void astro_integrations_warn_of_delays(GstElement *element, const char *file,
                                       AstroObservation *observation, const AstroStream *stream,
                                       gint64 start_ns);

G_END_DECLS
