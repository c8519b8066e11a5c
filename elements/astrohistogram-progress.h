/* How far astrohistogram has counted: progress messages, one a second at most. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct {
  GstElement *element;
  gint64 began, last; /* monotonic time; began is 0 until a count first reports */
  guint64 done_then;  /* pairs, by then */
  gboolean reporting;
} AstroCountProgress;

/* Before the first count. */
void astro_count_progress_begin(AstroCountProgress *progress, GstElement *element);
/* Before a count of another random catalogue. */
void astro_count_progress_next(AstroCountProgress *progress);
/* kind: of pairs. catalogue: random ones so far with this; 0: these are pairs of the data alone. */
void astro_count_progress_note(AstroCountProgress *progress, const char *kind, guint64 catalogue,
                               guint64 done, guint64 total);
/* Says nothing where nothing was said before. */
void astro_count_progress_end(AstroCountProgress *progress, GstProgressType type, const char *text);

G_END_DECLS
