/* How far astrohistogram has counted: progress messages, one a second at most. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct {
  GstElement *element;
  gint64 began, last; /* monotonic time; began is 0 until a count first reports */
  guint64 done_then;  /* pairs counted when this count began */
  gboolean reporting;
} AstroCountProgress;

/* Called before the first count. */
void astro_count_progress_begin(AstroCountProgress *progress, GstElement *element);
/* Called before a count of another random catalogue. */
void astro_count_progress_next(AstroCountProgress *progress);
/* kind: the kind of pairs. catalogue: number of the random catalogue; 0: pairs of the data alone.
 */
void astro_count_progress_note(AstroCountProgress *progress, const char *kind, guint64 catalogue,
                               guint64 done, guint64 total);
/* Posts nothing unless progress was posted before. */
void astro_count_progress_end(AstroCountProgress *progress, GstProgressType type, const char *text);

G_END_DECLS
