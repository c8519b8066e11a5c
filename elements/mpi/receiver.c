/* Gives the stream that one rank sends. */
#include "config.h"
#include "elements/mpi/receiver.h"

#include "elements/base/astrostage.h"

struct _MpiReceiver {
  GstElement parent;
  GstPad *src;
  AstroLink *link;
  guint from;
  gboolean is_live;
  gboolean is_enough; /* downstream wants no more buffers */
  GQueue held;        /* sticky events that are not given yet */
};

G_DEFINE_TYPE(MpiReceiver, mpi_receiver, GST_TYPE_ELEMENT)

static void rest(MpiReceiver *self)
{
  gst_pad_pause_task(self->src);
}

/* Who reads may begin with a rank as soon as its caps are known, before it knows the observation:
 * all that describes a stream is given with its first buffer. */
static void give_held(MpiReceiver *self)
{
  GstEvent *event;
  while ((event = g_queue_pop_head(&self->held)))
    gst_pad_push_event(self->src, event);
}

/* The other rank goes on sending, and its stream is taken to the end. */
static void give_buffer(MpiReceiver *self, GstBuffer *buffer)
{
  if (self->is_enough) {
    gst_buffer_unref(buffer);
    return;
  }
  give_held(self);
  const GstFlowReturn flow = gst_pad_push(self->src, buffer);
  if (flow == GST_FLOW_EOS)
    self->is_enough = TRUE;
  else if (flow == GST_FLOW_FLUSHING)
    rest(self);
  else if (flow < GST_FLOW_OK) {
    GST_ELEMENT_FLOW_ERROR(self, flow);
    rest(self);
  }
}

static gint is_other_than_caps(gconstpointer event, gconstpointer unused)
{
  return GST_EVENT_TYPE((const GstEvent *)event) != GST_EVENT_CAPS;
}

/* A reader that does not wait for this rank may look between two events: what is said of a stream
 * goes before the caps, with which the stream is there. */
static void hold(MpiReceiver *self, GstEvent *event)
{
  GList *caps = g_queue_find_custom(&self->held, NULL, is_other_than_caps);
  if (caps && GST_EVENT_TYPE(event) == GST_EVENT_CUSTOM_DOWNSTREAM_STICKY)
    g_queue_insert_before(&self->held, caps, event);
  else
    g_queue_push_tail(&self->held, event);
}

static void give_event(MpiReceiver *self, GstEvent *event)
{
  const gboolean is_last = GST_EVENT_TYPE(event) == GST_EVENT_EOS;
  hold(self, event);
  if (!GST_EVENT_IS_STICKY(event) || is_last)
    give_held(self);
  if (is_last)
    rest(self);
}

static void loop(gpointer data)
{
  MpiReceiver *self = data;
  GstMiniObject *item;
  g_autoptr(GError) error = NULL;
  const LinkResult result = link_take(self->link, self->from, &item, &error);
  if (error)
    GST_ELEMENT_ERROR(self, STREAM, FAILED, ("from rank %u: %s", self->from, error->message),
                      (NULL));
  if (result != LINK_OK) {
    rest(self);
    return;
  }
  if (GST_IS_BUFFER(item))
    give_buffer(self, GST_BUFFER_CAST(item));
  else
    give_event(self, GST_EVENT_CAST(item));
  link_taken(self->link, self->from);
}

static gboolean activate(GstPad *pad, GstObject *parent, GstPadMode mode, gboolean active)
{
  MpiReceiver *self = MPI_RECEIVER(parent);
  if (mode != GST_PAD_MODE_PUSH)
    return FALSE;
  self->is_enough = FALSE;
  if (active)
    g_queue_clear_full(&self->held, (GDestroyNotify)gst_event_unref);
  return active ? gst_pad_start_task(pad, loop, self, NULL) : gst_pad_stop_task(pad);
}

static gboolean answer(GstPad *pad, GstObject *parent, GstQuery *query)
{
  const MpiReceiver *self = MPI_RECEIVER(parent);
  GstFormat format;
  switch (GST_QUERY_TYPE(query)) {
  case GST_QUERY_LATENCY:
    gst_query_set_latency(query, self->is_live, 0, GST_CLOCK_TIME_NONE);
    return TRUE;
  case GST_QUERY_SEEKING:
    gst_query_parse_seeking(query, &format, NULL, NULL, NULL);
    gst_query_set_seeking(query, format, FALSE, 0, -1);
    return TRUE;
  default:
    return gst_pad_query_default(pad, parent, query);
  }
}

/* Nothing that is said upstream gets to another rank. */
static gboolean refuse_event(GstPad *pad, GstObject *parent, GstEvent *event)
{
  gst_event_unref(event);
  return FALSE;
}

static void finalize(GObject *object)
{
  g_queue_clear_full(&MPI_RECEIVER(object)->held, (GDestroyNotify)gst_event_unref);
  G_OBJECT_CLASS(mpi_receiver_parent_class)->finalize(object);
}

static void mpi_receiver_class_init(MpiReceiverClass *klass)
{
  G_OBJECT_CLASS(klass)->finalize = finalize;
  gst_element_class_set_static_metadata(GST_ELEMENT_CLASS(klass), "Receiver", "Source/Network",
                                        "Gives the stream that another rank sends", ASTRO_AUTHOR);
}

static void mpi_receiver_init(MpiReceiver *self)
{
  g_queue_init(&self->held);
}

GstElement *mpi_receiver_new(AstroLink *link, guint from, gboolean is_live)
{
  g_autofree char *name = g_strdup_printf("from-%u", from);
  MpiReceiver *self = g_object_new(MPI_TYPE_RECEIVER, "name", name, NULL);
  self->link = link;
  self->from = from;
  self->is_live = is_live;
  self->src = gst_pad_new("src", GST_PAD_SRC);
  gst_pad_set_activatemode_function(self->src, activate);
  gst_pad_set_query_function(self->src, answer);
  gst_pad_set_event_function(self->src, refuse_event);
  gst_pad_use_fixed_caps(self->src);
  gst_element_add_pad(GST_ELEMENT(self), self->src);
  link_will_take(link, from);
  return GST_ELEMENT(self);
}
