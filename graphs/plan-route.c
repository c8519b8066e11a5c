/* Follows links of a pipeline through elements that only hand blocks on. */
#include "graphs/plan-route.h"

static gboolean hands_on(GstElement *element)
{
  static const char *const names[] = { "queue", "queue2", "tee", "capsfilter", "identity", NULL };
  GstElementFactory *factory = gst_element_get_factory(element);
  return factory && g_strv_contains(names, GST_OBJECT_NAME(factory));
}

static gboolean touches_host(GstElement *element, GstPadDirection direction, GHashTable *on_device);

/* Whether what is at the other end of a link works on the host. */
static gboolean ends_on_host(GstPad *pad, GHashTable *on_device)
{
  g_autoptr(GstPad) peer = gst_pad_get_peer(pad);
  g_autoptr(GstElement) other = peer ? gst_pad_get_parent_element(peer) : NULL;
  if (!other)
    return FALSE;
  if (hands_on(other))
    return touches_host(other, GST_PAD_DIRECTION(pad), on_device);
  return !g_hash_table_contains(on_device, other);
}

static gboolean touches_host(GstElement *element, GstPadDirection direction, GHashTable *on_device)
{
  gboolean touches = FALSE;
  g_autoptr(GPtrArray) pads = g_ptr_array_new_with_free_func(gst_object_unref);
  GST_OBJECT_LOCK(element);
  for (GList *list = direction == GST_PAD_SINK ? element->sinkpads : element->srcpads; list;
       list = list->next)
    g_ptr_array_add(pads, gst_object_ref(list->data));
  GST_OBJECT_UNLOCK(element);
  for (guint i = 0; i < pads->len; i++)
    touches |= ends_on_host(pads->pdata[i], on_device);
  return touches;
}

AstroPlanRoute astro_plan_route(GstElement *element, GHashTable *on_device)
{
  return (AstroPlanRoute){ touches_host(element, GST_PAD_SINK, on_device),
                           touches_host(element, GST_PAD_SRC, on_device) };
}
