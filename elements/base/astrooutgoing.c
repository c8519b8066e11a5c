/* Errors about what goes out at a source pad. */
#include "elements/base/astrooutgoing.h"

void astro_refused_caps(GstPad *src, const GstCaps *made, const char *what)
{
  if (GST_PAD_IS_FLUSHING(src))
    return;
  g_autoptr(GstElement) element = gst_pad_get_parent_element(src);
  g_autoptr(GstCaps) accepted = gst_pad_peer_query_caps(src, NULL);
  if (element && !gst_caps_can_intersect(made, accepted))
    GST_ELEMENT_ERROR(element, CORE, NEGOTIATION,
                      ("downstream takes none of the %s made here", what),
                      ("made %" GST_PTR_FORMAT ", accepted %" GST_PTR_FORMAT, made, accepted));
}
