/* Makes the pads of elements that stand between ranks. */
#include "config.h"
#include "elements/mpi/pads.h"

GstPad *mpi_add_pad(GstElement *element, const char *name, GstPadDirection direction, GstCaps *caps)
{
  g_autoptr(GstPadTemplate) template =
      gst_object_ref_sink(gst_pad_template_new(name, direction, GST_PAD_ALWAYS, caps));
  GstPad *pad = gst_pad_new_from_template(template, name);
  gst_element_add_pad(element, pad);
  return pad;
}

gboolean mpi_drop_seek(GstPad *pad, GstObject *parent, GstEvent *event)
{
  if (GST_EVENT_TYPE(event) != GST_EVENT_SEEK)
    return gst_pad_event_default(pad, parent, event);
  gst_event_unref(event);
  return FALSE;
}
