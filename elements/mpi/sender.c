/* Sends a stream to one rank. */
#include "config.h"
#include "elements/mpi/sender.h"

#include "elements/base/astroincoming.h"
#include "elements/base/astroreader.h"
#include "elements/base/astrostage.h"
#include "elements/mpi/elsewhere.h"
#include "elements/mpi/pads.h"

struct _MpiSender {
  GstElement parent;
  AstroLink *link; /* NULL: it is closed; under the object's lock for flushes, which do not wait */
  guint to;
  GstPad *end; /* NULL: none */
  gboolean takes_any;
  gint is_hopeful; /* upstream was told that blocks may stay on the device: they need not come to
                      the host */
};

G_DEFINE_TYPE(MpiSender, mpi_sender, GST_TYPE_ELEMENT)

static GstFlowReturn send(MpiSender *self, gpointer item)
{
  g_autoptr(GError) error = NULL;
  const LinkResult result = link_send(self->link, self->to, item, &error);
  if (error)
    GST_ELEMENT_ERROR(self, STREAM, FAILED, ("for rank %u: %s", self->to, error->message), (NULL));
  return result == LINK_OK        ? GST_FLOW_OK
         : result == LINK_STOPPED ? GST_FLOW_FLUSHING
                                  : GST_FLOW_ERROR;
}

/* Blocks go by MPI after all: who makes them should know that the host reads. */
static void note_way(MpiSender *self, GstPad *pad)
{
  if (g_atomic_int_get(&self->is_hopeful) && link_way(self->link) == WAY_MPI) {
    g_atomic_int_set(&self->is_hopeful, FALSE);
    gst_pad_push_event(pad, gst_event_new_reconfigure());
  }
}

static GstFlowReturn chain(GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  const GstFlowReturn flow = send(MPI_SENDER(parent), buffer);
  if (flow == GST_FLOW_OK)
    note_way(MPI_SENDER(parent), pad);
  return flow;
}

/* The stream ends here when it is safe there. */
static gboolean end(MpiSender *self, GstEvent *eos)
{
  if (!self->end) {
    gst_event_unref(eos);
    return TRUE;
  }
  if (link_settle(self->link, self->to) != LINK_OK) {
    gst_event_unref(eos);
    return FALSE;
  }
  return mpi_end_elsewhere(self->end, self->to, eos);
}

/* A flush may come while the element stops, after which the link is no more. */
static void note_flush(MpiSender *self, gboolean begins)
{
  GST_OBJECT_LOCK(self);
  if (self->link)
    link_set_flushing(self->link, self->to, begins);
  GST_OBJECT_UNLOCK(self);
}

static gboolean take_event(GstPad *pad, GstObject *parent, GstEvent *event)
{
  MpiSender *self = MPI_SENDER(parent);
  const GstEventType type = GST_EVENT_TYPE(event);
  if (type == GST_EVENT_FLUSH_START || type == GST_EVENT_FLUSH_STOP)
    note_flush(self, type == GST_EVENT_FLUSH_START);
  if (!GST_EVENT_IS_SERIALIZED(event) || type == GST_EVENT_FLUSH_STOP) {
    gst_event_unref(event);
    return TRUE;
  }
  if (type != GST_EVENT_EOS)
    return send(self, event) == GST_FLOW_OK;
  if (send(self, gst_event_ref(event)) == GST_FLOW_OK)
    return end(self, event);
  gst_event_unref(event);
  return FALSE;
}

static gboolean may_lie_anywhere(MpiSender *self)
{
  const gboolean may_stay = link_way(self->link) != WAY_MPI;
  g_atomic_int_set(&self->is_hopeful, may_stay && !self->takes_any);
  return self->takes_any || may_stay;
}

/* A DRAIN query is answered when all that came has been taken. */
static gboolean answer(GstPad *pad, GstObject *parent, GstQuery *query)
{
  MpiSender *self = MPI_SENDER(parent);
  if (GST_QUERY_TYPE(query) == GST_QUERY_DRAIN)
    return link_settle(self->link, self->to) == LINK_OK;
  if (GST_QUERY_TYPE(query) == GST_QUERY_ALLOCATION && may_lie_anywhere(self)) {
    astro_reader_add(query, NULL);
    astro_reader_take_any(query);
    return TRUE;
  }
  return astro_pad_offers_its_caps(pad, query) || gst_pad_query_default(pad, parent, query);
}

static GstStateChangeReturn change_state(GstElement *element, GstStateChange transition)
{
  const GstStateChangeReturn changed =
      GST_ELEMENT_CLASS(mpi_sender_parent_class)->change_state(element, transition);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL) {
    GST_OBJECT_LOCK(element);
    MPI_SENDER(element)->link = NULL;
    GST_OBJECT_UNLOCK(element);
  }
  return changed;
}

static void mpi_sender_class_init(MpiSenderClass *klass)
{
  GST_ELEMENT_CLASS(klass)->change_state = change_state;
  gst_element_class_set_static_metadata(GST_ELEMENT_CLASS(klass), "Sender", "Filter/Network",
                                        "Sends a stream to another rank", ASTRO_AUTHOR);
}

static void mpi_sender_init(MpiSender *self)
{
}

GstElement *mpi_sender_new(AstroLink *link, guint to, GstCaps *caps, gboolean has_end)
{
  g_autofree char *name = g_strdup_printf("to-%u", to);
  MpiSender *self = g_object_new(MPI_TYPE_SENDER, "name", name, NULL);
  GstPad *sink = mpi_add_pad(GST_ELEMENT(self), "sink", GST_PAD_SINK, caps);
  self->link = link;
  self->to = to;
  gst_pad_set_chain_function(sink, chain);
  gst_pad_set_event_function(sink, take_event);
  gst_pad_set_query_function(sink, answer);
  GST_PAD_SET_ACCEPT_TEMPLATE(sink);
  if (has_end) {
    self->end = mpi_add_pad(GST_ELEMENT(self), "src", GST_PAD_SRC, caps);
    gst_pad_set_event_function(self->end, mpi_drop_seek);
  }
  link_will_send(link, to);
  return GST_ELEMENT(self);
}

void mpi_sender_take_any(GstElement *sender)
{
  MPI_SENDER(sender)->takes_any = TRUE;
}
