#include "config.h"
#include "elements/base/astroonce.h"

static G_DEFINE_QUARK(astro - once - said, said)

typedef struct {
  char *text;             /* NULL: the message is no error */
  gboolean is_of_a_start; /* which failed, as GstBaseSrc and GstBaseSink say of any reason */
} Said;

static Said read_error(GstMessage *message)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *details = NULL;

  if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_ERROR)
    return (Said){ 0 };
  gst_message_parse_error(message, &error, &details);
  return (Said){ g_strconcat(error->message, "\n", details, NULL),
                 g_error_matches(error, GST_CORE_ERROR, GST_CORE_ERROR_STATE_CHANGE) };
}

/* The text of the message before, if that was an error, is kept with the element. */
static gboolean post_message(GstElement *element, GstMessage *message)
{
  const Said now = read_error(message);

  GST_OBJECT_LOCK(element);
  g_autofree char *before = g_object_steal_qdata(G_OBJECT(element), said_quark());
  g_object_set_qdata_full(G_OBJECT(element), said_quark(), now.text, g_free);
  const gboolean is_said = before && (now.is_of_a_start || g_strcmp0(before, now.text) == 0);
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
