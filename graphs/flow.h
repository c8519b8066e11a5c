/* Counts what passes the pads of an element, with a probe on each. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct {
  guint64 buffers, bytes;
  guint64 end; /* latest PTS + DURATION seen, ns */
} AstroFlowCount;

typedef struct _AstroFlow AstroFlow;

/* Watches the pads of that direction, those of the future too. */
AstroFlow *astro_flow_new(GstElement *element, GstPadDirection direction);
AstroFlowCount astro_flow_count(AstroFlow *flow);
/* Stops counting. */
void astro_flow_free(AstroFlow *flow);

G_END_DECLS
