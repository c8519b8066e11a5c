/* Shows how far a running pipeline is: on a terminal as one line that is redrawn, elsewhere as a
 * line every few seconds. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct _AstroProgress AstroProgress;

/* Begins to count, and to print on the standard error. */
AstroProgress *astro_progress_new(GstElement *pipeline, const char *name);
/* Adds an element's note on its own progress to the line; NULL removes it. */
void astro_progress_note(AstroProgress *progress, const char *note);
/* The stream waits for this reason, and the time does not count; NULL: it goes on. */
void astro_progress_wait(AstroProgress *progress, const char *text);
/* Clears the line so that another can be printed. */
void astro_progress_clear(AstroProgress *progress);
/* Prints the last line: all the data that passed, and the time that it took. */
void astro_progress_finish(AstroProgress *progress);
/* To be called after the pipeline has stopped. */
void astro_progress_free(AstroProgress *progress);

G_END_DECLS
