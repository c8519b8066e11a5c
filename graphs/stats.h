/* The table of --stats: what each element did. */
#pragma once

#include "core/machine/machine.h"
#include <gst/gst.h>
#include <stdio.h>

G_BEGIN_DECLS

typedef struct _AstroStats AstroStats;

/* Begins to count. With a machine, which must live as long, stages are held to what it allows. */
AstroStats *astro_stats_new(GstElement *pipeline, const AstroMachine *machine);
/* Has to be told of all element messages. */
void astro_stats_hear(AstroStats *stats, GstMessage *message);
/* Has to be called while the elements still run. */
void astro_stats_print(AstroStats *stats, FILE *out);
void astro_stats_free(AstroStats *stats);

G_END_DECLS
