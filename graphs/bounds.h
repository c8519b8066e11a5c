/* Holds each stage of a running pipeline to the best that a machine allows, for --stats. */
#pragma once

#include "core/machine/machine.h"
#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct _AstroBounds AstroBounds;

/* The machine must live as long. Has to be called before the pipeline starts. */
AstroBounds *astro_bounds_new(GstElement *pipeline, const AstroMachine *machine);
void astro_bounds_hear(AstroBounds *bounds, GstMessage *message);

/* The work of an element: bytes, and the seconds in which it worked, of those of the whole run. */
typedef struct {
  guint64 bytes_in, bytes_out;
  double busy, whole;
  const char *backend; /* that did it: reference, cpu or cuda */
} AstroBoundWork;

/* Seconds that the machine takes at best for what an element did, and the roof that holds it.
 * FALSE: the stage did not tell its work. */
gboolean astro_bounds_of(AstroBounds *bounds, GstElement *element, const AstroBoundWork *did,
                         double *seconds, const char **roof);

/* Sets texts, to be freed: the roof that holds the stage, and which part of the time it took that
 * roof allows at best. They stay as they are if the stage did not tell its work. A GPU works beside
 * the host, which does not know how long, so its time is that of the whole run. */
void astro_bounds_find(AstroBounds *bounds, GstElement *element, const AstroBoundWork *did,
                       char **bound, char **of_bound);
void astro_bounds_free(AstroBounds *bounds);

G_END_DECLS
