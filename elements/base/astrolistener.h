/* Hears the element messages of its pipeline while they are posted, for an element that acts on
 * those of another one, in gst-launch as in any application.
 *
 * Messages reach the bus of the pipeline, which tells those that asked for it in the thread that
 * posts. An application whose own handler on that bus drops a message (GST_BUS_DROP) hides it. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct _AstroListener AstroListener;

/* Called in any thread; takes messages of that name by all elements but the listening one. */
typedef void (*AstroHeard)(GstElement *element, const GstStructure *message);

/* NULL: the element is in no pipeline whose messages could be heard. */
AstroListener *astro_listener_new(GstElement *element, const char *name, AstroHeard heard);
void astro_listener_free(AstroListener *listener); /* NULL is allowed */

G_END_DECLS
