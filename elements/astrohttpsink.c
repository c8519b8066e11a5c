/**
 * SECTION:element-astrohttpsink
 *
 * Shows encoded pictures live in a browser.
 *
 * Serves a page at http://ADDRESS:PORT/ that shows each picture as it comes and keeps the last one,
 * the stream of pictures itself at /stream (multipart/x-mixed-replace) and the newest picture at
 * /picture. A viewer who comes late begins with the newest picture, a slow one misses some, and
 * none holds up the pipeline; at the end of the stream viewers have a few seconds to get the last
 * one. Pictures are shown as fast as they come; sync=true shows them at their times. An element
 * message "astro-server" has the address of the page as location.
 *
 * A connection that reads nothing for ten seconds, or takes that long to send its request, is
 * closed. Requests that name another host are refused (403), so that no page of another site can
 * read the pictures.
 * |[
 * gst-launch-1.0 astrovissrc duration=20000 integration=60 ! \
 *   astrogridder size=512 field-of-view=1.2 interval=5 cumulative=true ! astrofft ! astroimage ! \
 *   astrorender ! jpegenc ! astrohttpsink port=8080 wait=true
 * ]|
 */
#include "config.h"
#include "elements/astrohttpsink.h"

#include "core/serve/pictures.h"
#include "elements/base/astrofields.h"
#include "elements/base/astroincoming.h"
#include "elements/base/astrolog.h"
#include "elements/base/astroonce.h"
#include "elements/base/astrostage.h"

#define DEFAULT_ADDRESS "127.0.0.1"
#define DEFAULT_PORT 8080

struct _AstroHttpSink {
  GstBaseSink parent;
  /* properties, under the object's lock like server: they may be set at any time */
  char *address;
  guint port;
  gboolean wait;
  AstroPictureServer *server; /* from start to stop */
  gboolean waits;             /* copy of wait from when the server was made */
  char *type;                 /* media type of the pictures */
};

G_DEFINE_TYPE(AstroHttpSink, astro_http_sink, GST_TYPE_BASE_SINK)
GST_ELEMENT_REGISTER_DEFINE(astrohttpsink, "astrohttpsink", GST_RANK_NONE, ASTRO_TYPE_HTTP_SINK)

static void tell(AstroHttpSink *self, const char *location)
{
  GST_ELEMENT_INFO(self, RESOURCE, OPEN_WRITE, (NULL), ("Pictures are at %s", location));
  gst_element_post_message(
      GST_ELEMENT(self),
      gst_message_new_element(GST_OBJECT(self), gst_structure_new("astro-server", "location",
                                                                  G_TYPE_STRING, location, NULL)));
}

static gboolean start(GstBaseSink *sink)
{
  AstroHttpSink *self = ASTRO_HTTP_SINK(sink);
  g_autoptr(GError) error = NULL;
  GST_OBJECT_LOCK(self);
  g_autofree char *address = g_strdup(self->address);
  const guint port = self->port;
  self->waits = self->wait;
  GST_OBJECT_UNLOCK(self);
  AstroPictureServer *server = astro_picture_server_new(address, (guint16)port, &error);
  if (!server) {
    GST_ELEMENT_ERROR(self, RESOURCE, OPEN_WRITE, ("%s", error->message), (NULL));
    return FALSE;
  }
  GST_OBJECT_LOCK(self);
  self->server = server;
  GST_OBJECT_UNLOCK(self);
  tell(self, astro_picture_server_page(server));
  return TRUE;
}

static gboolean stop(GstBaseSink *sink)
{
  AstroHttpSink *self = ASTRO_HTTP_SINK(sink);
  GST_OBJECT_LOCK(self);
  AstroPictureServer *server = g_steal_pointer(&self->server);
  GST_OBJECT_UNLOCK(self);
  astro_picture_server_free(server);
  g_clear_pointer(&self->type, g_free);
  return TRUE;
}

/* A flush may come from any thread, even when the element has stopped already. */
static void cancel(GstBaseSink *sink, gboolean is_cancelled)
{
  AstroHttpSink *self = ASTRO_HTTP_SINK(sink);
  GST_OBJECT_LOCK(self);
  if (self->server)
    astro_picture_server_cancel(self->server, is_cancelled);
  GST_OBJECT_UNLOCK(self);
}

static gboolean unlock(GstBaseSink *sink)
{
  cancel(sink, TRUE);
  return TRUE;
}

static gboolean unlock_stop(GstBaseSink *sink)
{
  cancel(sink, FALSE);
  return TRUE;
}

static gboolean set_caps(GstBaseSink *sink, GstCaps *caps)
{
  AstroHttpSink *self = ASTRO_HTTP_SINK(sink);
  astro_log_caps(self, caps, NULL);
  g_free(self->type);
  self->type = g_strdup(gst_structure_get_name(gst_caps_get_structure(caps, 0)));
  return TRUE;
}

/* Tells programs that display the speed of a stream why it stands still. */
static void tell_wait(AstroHttpSink *self, GstProgressType type)
{
  g_autofree char *text = g_strdup_printf("waiting for somebody to look at %s",
                                          astro_picture_server_page(self->server));
  gst_element_post_message(GST_ELEMENT(self),
                           gst_message_new_progress(GST_OBJECT(self), type, ASTRO_WAIT_CODE, text));
}

static GstFlowReturn wait_for_viewer(AstroHttpSink *self)
{
  GstFlowReturn flow = GST_FLOW_OK;
  if (!self->waits || astro_picture_server_is_seen(self->server))
    return GST_FLOW_OK;
  tell_wait(self, GST_PROGRESS_TYPE_START);
  while (flow == GST_FLOW_OK && !astro_picture_server_wait(self->server))
    flow = gst_base_sink_wait_preroll(GST_BASE_SINK(self));
  tell_wait(self, flow == GST_FLOW_OK ? GST_PROGRESS_TYPE_COMPLETE : GST_PROGRESS_TYPE_CANCELED);
  return flow;
}

static GstFlowReturn render(GstBaseSink *sink, GstBuffer *buffer)
{
  AstroHttpSink *self = ASTRO_HTTP_SINK(sink);
  gsize bytes = gst_buffer_get_size(buffer);
  astro_log_block(self, "in", buffer);
  if (!astro_has_caps(GST_BASE_SINK_PAD(sink)))
    return GST_FLOW_NOT_NEGOTIATED;
  if (bytes == 0) /* nothing to see */
    return GST_FLOW_OK;
  const GstFlowReturn flow = wait_for_viewer(self);
  if (flow != GST_FLOW_OK)
    return flow;
  gpointer data = g_malloc(bytes);
  gst_buffer_extract(buffer, 0, data, bytes);
  g_autoptr(GBytes) picture = g_bytes_new_take(data, bytes);
  astro_picture_server_show(self->server, picture, self->type);
  return GST_FLOW_OK;
}

static gboolean event(GstBaseSink *sink, GstEvent *event)
{
  if (GST_EVENT_TYPE(event) == GST_EVENT_EOS)
    astro_picture_server_finish(ASTRO_HTTP_SINK(sink)->server);
  return GST_BASE_SINK_CLASS(astro_http_sink_parent_class)->event(sink, event);
}

/* Waiting for a viewer must not hold up the end of stream that a user asked for. */
static gboolean send_event(GstElement *element, GstEvent *event)
{
  AstroHttpSink *self = ASTRO_HTTP_SINK(element);
  if (gst_event_has_name(event, ASTRO_INTERRUPT_EVENT)) {
    GST_OBJECT_LOCK(self);
    if (self->server)
      astro_picture_server_release(self->server);
    GST_OBJECT_UNLOCK(self);
  }
  return GST_ELEMENT_CLASS(astro_http_sink_parent_class)->send_event(element, event);
}

/* Called under the object's lock: an unset address is the default. */
static void address_changed(GObject *object)
{
  AstroHttpSink *self = ASTRO_HTTP_SINK(object);
  if (!self->address)
    self->address = g_strdup(DEFAULT_ADDRESS);
}

static void get_bound_port(GObject *object, GValue *value)
{
  AstroHttpSink *self = ASTRO_HTTP_SINK(object);
  GST_OBJECT_LOCK(self);
  g_value_set_uint(value, self->server ? astro_picture_server_port(self->server) : 0);
  GST_OBJECT_UNLOCK(self);
}

static const AstroField fields[] = {
  ASTRO_TEXT(AstroHttpSink, address, "address", "Address",
             "Numeric address of the interface to listen on; 0.0.0.0: all of them", DEFAULT_ADDRESS,
             .changed = address_changed),
  ASTRO_UINT(AstroHttpSink, port, "port", "Port", "Port to listen on; 0: any that is free", 0,
             G_MAXUINT16, DEFAULT_PORT),
  { ASTRO_FIELD_SAYS(UINT, "bound-port", "Bound port", "Port it listens on; 0: it does not listen"),
    .whole = { 0, G_MAXUINT16, 0 }, .get = get_bound_port },
  ASTRO_BOOLEAN(
      AstroHttpSink, wait, "wait", "Wait",
      "Accepts no picture until somebody views the stream; an event " ASTRO_INTERRUPT_EVENT
      " sent to the pipeline ends the wait",
      FALSE),
  { 0 },
};

static void astro_http_sink_init(AstroHttpSink *self)
{
  astro_fields_set_defaults(self);
  gst_base_sink_set_sync(GST_BASE_SINK(self), FALSE);
}

static void astro_http_sink_class_init(AstroHttpSinkClass *klass)
{
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  GstBaseSinkClass *sink = GST_BASE_SINK_CLASS(klass);
  astro_fields_install(G_OBJECT_CLASS(klass), fields, 0);
  element->send_event = send_event;
  sink->start = start;
  sink->stop = stop;
  sink->unlock = unlock;
  sink->unlock_stop = unlock_stop;
  sink->set_caps = set_caps;
  sink->render = render;
  sink->event = event;
  g_autoptr(GstCaps) caps = gst_caps_from_string("image/jpeg; image/png");
  gst_element_class_add_pad_template(
      element, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  astro_element_class_say_once(element);
  gst_element_class_set_static_metadata(element, "Pictures for browsers", "Sink/Network",
                                        "Serves pictures over HTTP, as they come", ASTRO_AUTHOR);
}
