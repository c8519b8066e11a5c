/* Counts what passes the pads of an element, with a probe on each. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct {
  guint64 buffers, bytes;
  guint64 end; /* latest PTS + DURATION seen, ns */
} AstroFlowCount;

typedef struct _AstroFlow AstroFlow;

/* Watches all pads of that direction, including those added later. */
AstroFlow *astro_flow_new(GstElement *element, GstPadDirection direction);
AstroFlowCount astro_flow_count(AstroFlow *flow);
/* Stops counting. */
void astro_flow_free(AstroFlow *flow);

G_END_DECLS
