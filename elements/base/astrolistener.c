/* Listens at the bus of the pipeline. */
#include "config.h"
#include "elements/base/astrolistener.h"

#include "elements/base/astrobranches.h"

struct _AstroListener {
  GstBus *bus;
  gulong handler;
};

/* The data of a handler live until its last call has returned, which may be after it was
 * disconnected. */
typedef struct {
  GstElement *element;
  char *name;
  AstroHeard heard;
} Call;

static void free_call(gpointer data, GClosure *closure)
{
  Call *call = data;
  (void)closure;
  gst_object_unref(call->element);
  g_free(call->name);
  g_free(call);
}

static void take_message(GstBus *bus, GstMessage *message, gpointer data)
{
  const Call *call = data;
  (void)bus;
  if (GST_MESSAGE_SRC(message) != GST_OBJECT(call->element) &&
      gst_message_has_name(message, call->name))
    call->heard(call->element, gst_message_get_structure(message));
}

AstroListener *astro_listener_new(GstElement *element, const char *name, AstroHeard heard)
{
  g_autoptr(GstElement) top = astro_branches_top(element);
  g_autoptr(GstBus) bus = top ? gst_element_get_bus(top) : NULL;
  if (!bus)
    return NULL;
  Call *call = g_new(Call, 1);
  *call = (Call){ gst_object_ref(element), g_strdup(name), heard };
  AstroListener *listener = g_new(AstroListener, 1);
  gst_bus_enable_sync_message_emission(bus);
  listener->handler = g_signal_connect_data(bus, "sync-message::element", G_CALLBACK(take_message),
                                            call, free_call, 0);
  listener->bus = g_steal_pointer(&bus);
  return listener;
}

void astro_listener_free(AstroListener *listener)
{
  if (!listener)
    return;
  g_signal_handler_disconnect(listener->bus, listener->handler);
  gst_bus_disable_sync_message_emission(listener->bus);
  gst_object_unref(listener->bus);
  g_free(listener);
}
