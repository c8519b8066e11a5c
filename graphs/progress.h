/* How far a running pipeline is: on a terminal one line redrawn, elsewhere a line every few
 * seconds. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct _AstroProgress AstroProgress;

/* Begins to count and to print, on the standard error. */
AstroProgress *astro_progress_new(GstElement *pipeline, const char *name);
/* What an element says of its own progress, shown behind; NULL: no more. */
void astro_progress_note(AstroProgress *progress, const char *note);
/* The stream waits for what the text says, which is no time that it takes; NULL: it goes on. */
void astro_progress_wait(AstroProgress *progress, const char *text);
/* Makes way for another line. */
void astro_progress_clear(AstroProgress *progress);
/* The last line: all that went through, and the time it took. */
void astro_progress_finish(AstroProgress *progress);
/* Once the pipeline has stopped. */
void astro_progress_free(AstroProgress *progress);

G_END_DECLS
