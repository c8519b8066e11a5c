#include "graphs/check.h"

typedef struct {
  guint sources, sinks;
  gboolean late_pads; /* links may still come while it runs */
  char *unlinked;
} Findings;

static void look_at_templates(GstElement *element, Findings *findings)
{
  for (GList *list = gst_element_get_pad_template_list(element); list; list = list->next)
    if (GST_PAD_TEMPLATE_PRESENCE(list->data) == GST_PAD_SOMETIMES)
      findings->late_pads = TRUE;
}

/* An element with sink pads of which none is linked gets no data, and a sink that gets none is
 * waited for. */
static void look_at_pads(GstElement *element, Findings *findings)
{
  gboolean linked = FALSE;
  GST_OBJECT_LOCK(element);
  for (GList *list = element->sinkpads; list; list = list->next)
    linked |= gst_pad_is_linked(list->data);
  if (element->sinkpads && !linked && !findings->unlinked)
    findings->unlinked =
        g_strdup_printf("%s: nothing is linked to its input", GST_OBJECT_NAME(element));
  GST_OBJECT_UNLOCK(element);
}

static void look(const GValue *value, gpointer data)
{
  GstElement *element = g_value_get_object(value);
  Findings *findings = data;
  look_at_templates(element, findings);
  if (GST_OBJECT_FLAG_IS_SET(element, GST_ELEMENT_FLAG_SOURCE))
    findings->sources++;
  if (GST_OBJECT_FLAG_IS_SET(element, GST_ELEMENT_FLAG_SINK))
    findings->sinks++;
  if (!GST_IS_BIN(element))
    look_at_pads(element, findings);
}

char *astro_check_pipeline(GstElement *pipeline)
{
  Findings findings = { 0 };
  GstIterator *elements = gst_bin_iterate_recurse(GST_BIN(pipeline));
  gst_iterator_foreach(elements, look, &findings);
  gst_iterator_free(elements);
  if (findings.unlinked && !findings.late_pads)
    return findings.unlinked;
  g_free(findings.unlinked);
  if (!findings.sources)
    return g_strdup("the pipeline has no source: nothing would flow");
  /* That a stream ended is what sinks tell. */
  return findings.sinks ? NULL : g_strdup("the pipeline has no sink: it would not end");
}
