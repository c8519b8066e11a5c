/* Progress messages of astrohistogram. */
#include "elements/astrohistogram-progress.h"

#define PROGRESS "count"

void astro_count_progress_begin(AstroCountProgress *progress, GstElement *element)
{
  progress->element = element;
  progress->began = 0;
  progress->last = g_get_monotonic_time();
}

void astro_count_progress_next(AstroCountProgress *progress)
{
  progress->began = 0;
}

static void post(AstroCountProgress *progress, GstProgressType type, const char *text)
{
  GstMessage *message =
      gst_message_new_progress(GST_OBJECT(progress->element), type, PROGRESS, text);
  gst_element_post_message(progress->element, message);
}

/* Pairs counted, and the time left for this count. */
static char *describe(const AstroCountProgress *progress, const char *kind, guint64 catalogue,
                      guint64 done, guint64 total)
{
  double spent = (double)(progress->last - progress->began) / G_USEC_PER_SEC;
  g_autofree char *which =
      catalogue == 0
          ? g_strdup(kind)
          : g_strdup_printf("%s of random catalogue %" G_GUINT64_FORMAT, kind, catalogue);
  return g_strdup_printf("%s: %.3g of %.3g pairs, %.0f s left", which, (double)done, (double)total,
                         spent * (double)(total - done) / (double)(done - progress->done_then));
}

/* Time runs from a count's first report: the points are sorted before it, which says nothing about
 * how fast pairs are counted. */
void astro_count_progress_note(AstroCountProgress *progress, const char *kind, guint64 catalogue,
                               guint64 done, guint64 total)
{
  gint64 now = g_get_monotonic_time();
  if (progress->began == 0) {
    progress->began = now;
    progress->done_then = done;
  }
  if (now - progress->last >= G_USEC_PER_SEC && done > progress->done_then) {
    progress->last = now;
    g_autofree char *text = describe(progress, kind, catalogue, done, total);
    post(progress, progress->reporting ? GST_PROGRESS_TYPE_CONTINUE : GST_PROGRESS_TYPE_START,
         text);
    progress->reporting = TRUE;
  }
  /* the next count begins where this one ends */
  if (done == total)
    progress->began = 0;
}

void astro_count_progress_end(AstroCountProgress *progress, GstProgressType type, const char *text)
{
  if (progress->reporting)
    post(progress, type, text);
  progress->reporting = FALSE;
}
