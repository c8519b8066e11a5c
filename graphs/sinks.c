/* Keeps sinks from holding each other up. */
#include "graphs/sinks.h"

static gboolean has(GstElement *sink, const char *property)
{
  return g_object_class_find_property(G_OBJECT_GET_CLASS(sink), property) != NULL;
}

static void release_sink(const GValue *item, gpointer unused)
{
  GstElement *sink = g_value_get_object(item);
  gboolean keeps_to_clock = TRUE;
  if (has(sink, "sync"))
    g_object_get(sink, "sync", &keeps_to_clock, NULL);
  if (!keeps_to_clock && has(sink, "async"))
    g_object_set(sink, "async", FALSE, NULL);
}

void astro_release_sinks(GstElement *pipeline)
{
  GstIterator *sinks = gst_bin_iterate_sinks(GST_BIN(pipeline));
  while (gst_iterator_foreach(sinks, release_sink, NULL) == GST_ITERATOR_RESYNC)
    gst_iterator_resync(sinks);
  gst_iterator_free(sinks);
}
