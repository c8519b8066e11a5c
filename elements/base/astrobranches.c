/* Walks through the pipeline that an element is in. */
#include "config.h"
#include "elements/base/astrobranches.h"

#define MOST_DEPTH 500 /* of a walk; a longer chain of elements counts as not waiting */

GstElement *astro_branches_top(GstElement *element)
{
  GstObject *top = gst_object_get_parent(GST_OBJECT(element));
  while (top) {
    GstObject *parent = gst_object_get_parent(top);
    if (!parent)
      break;
    gst_object_unref(top);
    top = parent;
  }
  return (GstElement *)top;
}

typedef struct {
  GType type;
  guint depth;
  gboolean is_found;
} Walk;

static gboolean is_behind(GstPad *sink, GType type, guint depth);

static void look_behind(const GValue *value, gpointer data)
{
  Walk *walk = data;
  walk->is_found =
      walk->is_found || is_behind(g_value_get_object(value), walk->type, walk->depth + 1);
}

/* Whether an element of that type is upstream of a sink pad. Ghost pads are linked within to pads
 * that GStreamer treats as pads of an element, so that the walk goes through bins. */
static gboolean is_behind(GstPad *sink, GType type, guint depth)
{
  Walk walk = { type, depth, FALSE };
  g_autoptr(GstPad) peer = gst_pad_get_peer(sink);
  if (!peer || depth > MOST_DEPTH)
    return FALSE;
  g_autoptr(GstObject) parent = gst_object_get_parent(GST_OBJECT(peer));
  if (parent && G_TYPE_CHECK_INSTANCE_TYPE(parent, type))
    return TRUE;
  GstIterator *pads = gst_pad_iterate_internal_links(peer);
  if (!pads)
    return FALSE;
  while (gst_iterator_foreach(pads, look_behind, &walk) == GST_ITERATOR_RESYNC)
    gst_iterator_resync(pads);
  gst_iterator_free(pads);
  return walk.is_found;
}

typedef struct {
  GType waiting;
  gboolean have_ended;
} Ends;

static void look_at_sink(const GValue *value, gpointer data)
{
  Ends *ends = data;
  GstElement *element = g_value_get_object(value);
  GST_OBJECT_LOCK(element);
  const gboolean is_sink =
      !GST_IS_BIN(element) && element->numsrcpads == 0 && element->numsinkpads > 0;
  g_autoptr(GList) pads =
      is_sink ? g_list_copy_deep(element->sinkpads, (GCopyFunc)(void (*)(void))gst_object_ref, NULL)
              : NULL;
  GST_OBJECT_UNLOCK(element);
  for (GList *link = pads; link; link = link->next) {
    GstPad *pad = link->data;
    if (gst_pad_is_linked(pad) && !GST_PAD_IS_EOS(pad) && !is_behind(pad, ends->waiting, 0))
      ends->have_ended = FALSE;
    gst_object_unref(pad);
  }
}

gboolean astro_branches_have_ended(GstElement *element, GType waiting)
{
  Ends ends = { waiting, TRUE };
  g_autoptr(GstElement) top = astro_branches_top(element);
  if (!top || !GST_IS_BIN(top))
    return TRUE;
  GstIterator *elements = gst_bin_iterate_recurse(GST_BIN(top));
  while (gst_iterator_foreach(elements, look_at_sink, &ends) == GST_ITERATOR_RESYNC) {
    gst_iterator_resync(elements);
    ends.have_ended = TRUE;
  }
  gst_iterator_free(elements);
  return ends.have_ended;
}
