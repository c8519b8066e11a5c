/* Keeps an element from saying one error twice. */
#include "config.h"
#include "elements/base/astroonce.h"

static G_DEFINE_QUARK(astro - once - said, said)

typedef struct {
  char *text;
  gboolean is_of_a_start; /* that failed: GstBaseSrc and GstBaseSink say so whatever the reason */
} Said;

static Said read_error(GstMessage *message)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *details = NULL;

  gst_message_parse_error(message, &error, &details);
  return (Said){ g_strconcat(error->message, "\n", details, NULL),
                 g_error_matches(error, GST_CORE_ERROR, GST_CORE_ERROR_STATE_CHANGE) };
}

/* Whether the element stops, so that what it says next is about another run. */
static gboolean is_stop(GstMessage *message)
{
  GstState now;
  if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_STATE_CHANGED)
    return FALSE;
  gst_message_parse_state_changed(message, NULL, &now, NULL);
  return now <= GST_STATE_READY;
}

/* The text of the last error is kept with the element. */
static void keep(gpointer element, char *text)
{
  g_object_set_qdata_full(G_OBJECT(element), said_quark(), text, g_free);
}

/* Messages of other kinds come between two errors that say the same, as when the element goes to
 * PLAYING or tells its latency. */
static gboolean is_said(GstElement *element, GstMessage *message)
{
  const Said now = read_error(message);

  GST_OBJECT_LOCK(element);
  g_autofree char *before = g_object_steal_qdata(G_OBJECT(element), said_quark());
  keep(element, now.text);
  const gboolean is_known = before && (now.is_of_a_start || g_strcmp0(before, now.text) == 0);
  GST_OBJECT_UNLOCK(element);
  return is_known;
}

static gboolean post_message(GstElement *element, GstMessage *message)
{
  if (is_stop(message))
    astro_element_forget_said(element);
  if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_ERROR || !is_said(element, message))
    return GST_ELEMENT_CLASS(g_type_class_peek(GST_TYPE_ELEMENT))->post_message(element, message);
  gst_message_unref(message);
  return TRUE;
}

void astro_element_class_say_once(GstElementClass *klass)
{
  klass->post_message = post_message;
}

void astro_element_forget_said(GstElement *element)
{
  GST_OBJECT_LOCK(element);
  keep(element, NULL);
  GST_OBJECT_UNLOCK(element);
}
