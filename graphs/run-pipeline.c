/* Makes the pipeline of a pass. */
#include "config.h"
#include "graphs/run-parts.h"

#include <string.h>

#include "core/ranks/world.h"
#include "graphs/check.h"
#include "graphs/job.h"
#include "graphs/names.h"
#include "graphs/unlinked.h"
#include "graphs/values.h"

/* An addition to GStreamer's message if the element was left out of this build. */
static const char *left_out(const char *message)
{
#ifndef HAVE_SOUP
  if (strstr(message, "\"astrohttpsink\""))
    return ": it needs libsoup-3.0 (3.2 or later), and gst-astro was built without";
#endif
  return "";
}

static char *with_place(const AstroGraph *graph, const char *message)
{
  guint line = astro_graph_locate(graph, message);
  return line ? g_strdup_printf("%s:%u: %s%s", graph->file, line, message, left_out(message))
              : g_strdup_printf("%s: %s", graph->file, message);
}

/* gst_parse_launch returns a single element without a pipeline, but only that has a bus and clock.
 */
static GstElement *as_pipeline(GstElement *element)
{
  if (GST_IS_PIPELINE(element))
    return element;
  GstElement *pipeline = gst_pipeline_new(NULL);
  gst_bin_add(GST_BIN(pipeline), element);
  return pipeline;
}

/* For the elements that compare it with what other ranks have. */
static void tell_job(const AstroGraph *graph, GstElement *pipeline)
{
  g_autoptr(GstContext) context = gst_context_new(ASTRO_JOB_CONTEXT, FALSE);
  g_autofree char *text = astro_graph_job_text(graph);
  gst_structure_set(gst_context_writable_structure(context), "text", G_TYPE_STRING, text, NULL);
  gst_element_set_context(pipeline, context);
}

static GstElement *make_pipeline(const AstroPass *pass, const char *line, char **trouble)
{
  g_autoptr(GError) error = NULL;
  GstElement *element = gst_parse_launch(line, &error);
  if (!element) {
    *trouble = with_place(pass->graph, error->message);
    return NULL;
  }
  g_autoptr(GstElement) pipeline = gst_object_ref_sink(as_pipeline(element));
  tell_job(pass->graph, pipeline);
  g_autofree char *message =
      error ? astro_explain_unlinked(pipeline, error) : astro_check_pipeline(pipeline);
  if (message)
    *trouble = with_place(pass->graph, message);
  return message ? NULL : g_steal_pointer(&pipeline);
}

GstElement *astro_pass_pipeline(const AstroPass *pass, char **trouble)
{
  g_autoptr(GError) error = NULL;
  if (pass->label)
    astro_graph_name_elements(pass->graph);
  g_autofree char *line = astro_checked_line(pass->graph, &error);
  if (line)
    return make_pipeline(pass, line, trouble);
  *trouble = g_strdup(error->message);
  return NULL;
}
