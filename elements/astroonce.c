#include "config.h"
#include "elements/astroonce.h"

static G_DEFINE_QUARK(astro - once - said, said)

static char *error_text(GstMessage *message)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *details = NULL;

  if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_ERROR)
    return NULL;
  gst_message_parse_error(message, &error, &details);
  return g_strconcat(error->message, "\n", details, NULL);
}

/* The text of the message before, if that was an error, is kept with the element. */
static gboolean post_message(GstElement *element, GstMessage *message)
{
  char *text = error_text(message);

  GST_OBJECT_LOCK(element);
  g_autofree char *before = g_object_steal_qdata(G_OBJECT(element), said_quark());
  g_object_set_qdata_full(G_OBJECT(element), said_quark(), text, g_free);
  const gboolean is_said = text && g_strcmp0(before, text) == 0;
  GST_OBJECT_UNLOCK(element);
  if (!is_said)
    return GST_ELEMENT_CLASS(g_type_class_peek(GST_TYPE_ELEMENT))->post_message(element, message);
  gst_message_unref(message);
  return TRUE;
}

void astro_element_class_say_once(GstElementClass *klass)
{
  klass->post_message = post_message;
}
