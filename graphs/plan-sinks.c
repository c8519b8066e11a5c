/* Replaces sinks, so that a plan opens no file, window or connection. */
#include "graphs/plan-sinks.h"

static void sink_free(gpointer data)
{
  AstroPlanSink *sink = data;
  gst_object_unref(sink->pad);
  g_free(sink);
}

static gboolean has_location(GstElement *element)
{
  GObjectClass *klass = G_OBJECT_GET_CLASS(element);
  return g_object_class_find_property(klass, "location") ||
         g_object_class_find_property(klass, "output");
}

static gboolean makes_ours(GstPad *pad)
{
  g_autoptr(GstCaps) caps = gst_pad_get_pad_template_caps(pad);
  return gst_caps_is_any(caps) ||
         (!gst_caps_is_empty(caps) &&
          g_str_has_prefix(gst_structure_get_name(gst_caps_get_structure(caps, 0)),
                           "application/x-astro-"));
}

/* Whether all that is upstream, up to a stage or a source, takes any caps or ours. */
static gboolean gets_ours(GstPad *from)
{
  g_autoptr(GstElement) element = gst_pad_get_parent_element(from);
  if (!makes_ours(from))
    return FALSE;
  if (!element || element->numsinkpads != 1 ||
      g_object_class_find_property(G_OBJECT_GET_CLASS(element), "active-backend"))
    return TRUE;
  g_autoptr(GstPad) peer = gst_pad_get_peer(element->sinkpads->data);
  return !peer || gets_ours(peer);
}

/* The input of the new sink. A capsfilter in front keeps what the old one preferred. */
static GstPad *new_input(GstBin *bin, GstElement *fake, GstCaps *caps)
{
  gst_bin_add(bin, fake);
  if (gst_caps_is_any(caps))
    return gst_element_get_static_pad(fake, "sink");
  GstElement *filter = gst_element_factory_make("capsfilter", NULL);
  g_object_set(filter, "caps", caps, NULL);
  gst_bin_add(bin, filter);
  gst_element_link(filter, fake);
  return gst_element_get_static_pad(filter, "sink");
}

static AstroPlanSink *replace_pad(GstBin *bin, GstPad *pad, GstPad *peer, gboolean is_file)
{
  GstElement *fake = gst_element_factory_make("fakesink", NULL);
  g_autoptr(GstCaps) caps = gst_pad_query_caps(pad, NULL);
  AstroPlanSink *sink = g_new0(AstroPlanSink, 1);
  g_object_set(fake, "async", FALSE, "sync", FALSE, NULL);
  g_autoptr(GstPad) input = new_input(bin, fake, caps);
  gst_pad_unlink(peer, pad);
  gst_pad_link(peer, input);
  *sink =
      (AstroPlanSink){ fake, gst_element_get_static_pad(fake, "sink"), is_file, gets_ours(peer) };
  return sink;
}

static void replace_sink(GstBin *bin, GstElement *element, GPtrArray *sinks)
{
  g_autoptr(GPtrArray) pads = g_ptr_array_new_with_free_func(gst_object_unref);
  GST_OBJECT_LOCK(element);
  for (GList *list = element->sinkpads; list; list = list->next)
    g_ptr_array_add(pads, gst_object_ref(list->data));
  GST_OBJECT_UNLOCK(element);
  for (guint i = 0; i < pads->len; i++) {
    g_autoptr(GstPad) peer = gst_pad_get_peer(pads->pdata[i]);
    if (peer)
      g_ptr_array_add(sinks, replace_pad(bin, pads->pdata[i], peer, has_location(element)));
  }
  gst_element_set_state(element, GST_STATE_NULL);
  gst_bin_remove(bin, element);
}

/* Elements that are bins inside are replaced whole; brackets of a graph are plain bins. */
static gboolean is_plain_bin(GstElement *element)
{
  GstElementFactory *factory = gst_element_get_factory(element);
  return GST_IS_BIN(element) && (!factory || g_str_equal(GST_OBJECT_NAME(factory), "bin"));
}

static void replace_in(GstBin *bin, GPtrArray *sinks)
{
  g_autoptr(GPtrArray) children = g_ptr_array_new_with_free_func(gst_object_unref);
  for (GList *list = GST_BIN_CHILDREN(bin); list; list = list->next)
    g_ptr_array_add(children, gst_object_ref(list->data));
  for (guint i = 0; i < children->len; i++) {
    GstElement *element = children->pdata[i];
    if (is_plain_bin(element))
      replace_in(GST_BIN(element), sinks);
    else if (GST_OBJECT_FLAG_IS_SET(element, GST_ELEMENT_FLAG_SINK))
      replace_sink(bin, element, sinks);
  }
}

GPtrArray *astro_plan_replace_sinks(GstElement *pipeline)
{
  GPtrArray *sinks = g_ptr_array_new_with_free_func(sink_free);
  replace_in(GST_BIN(pipeline), sinks);
  return sinks;
}
