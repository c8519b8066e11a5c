/* The table of --stats: what each element did. */
#pragma once

#include <gst/gst.h>
#include <stdio.h>

G_BEGIN_DECLS

typedef struct _AstroStats AstroStats;

/* Begins to count. */
AstroStats *astro_stats_new(GstElement *pipeline);
/* Has to be called while the elements still run. */
void astro_stats_print(AstroStats *stats, FILE *out);
void astro_stats_free(AstroStats *stats);

G_END_DECLS
