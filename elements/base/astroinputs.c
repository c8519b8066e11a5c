/* Answers that combine those of the elements before all inputs of an element. */
#include "elements/base/astroinputs.h"

/* A GstElementForeachPadFunc: FALSE ends the walk over the pads. */
static gboolean can_seek(GstElement *element, GstPad *pad, gpointer format)
{
  g_autoptr(GstQuery) query = gst_query_new_seeking(*(GstFormat *)format);
  gboolean seekable = FALSE;
  if (gst_pad_peer_query(pad, query))
    gst_query_parse_seeking(query, NULL, &seekable, NULL, NULL);
  return seekable;
}

gboolean astro_inputs_can_seek(GstElement *element, GstEvent *seek)
{
  GstFormat format;
  gst_event_parse_seek(seek, NULL, &format, NULL, NULL, NULL, NULL, NULL);
  return gst_element_foreach_sink_pad(element, can_seek, &format);
}

static gboolean take_longest(GstElement *element, GstPad *pad, gpointer longest)
{
  gint64 duration;
  if (gst_pad_peer_query_duration(pad, GST_FORMAT_TIME, &duration))
    *(gint64 *)longest = MAX(*(gint64 *)longest, duration);
  return TRUE;
}

gboolean astro_inputs_answer_duration(GstElement *element, GstQuery *query)
{
  gint64 longest = -1;
  gst_element_foreach_sink_pad(element, take_longest, &longest);
  if (longest >= 0)
    gst_query_set_duration(query, GST_FORMAT_TIME, longest);
  return longest >= 0;
}
