/* Errors about what goes out at a source pad. */
#include "elements/base/astrooutgoing.h"

/* The accepted caps as far as they help a user: those of the same media type or, if there are none,
 * the media types alone. */
static GstCaps *tell_accepted(const GstCaps *accepted, const GstCaps *made)
{
  GstCaps *alike = gst_caps_new_empty(), *types = gst_caps_new_empty();
  const char *type =
      gst_caps_is_empty(made) ? "" : gst_structure_get_name(gst_caps_get_structure(made, 0));
  for (guint i = 0; i < gst_caps_get_size(accepted); i++) {
    const GstStructure *s = gst_caps_get_structure(accepted, i);
    if (gst_structure_has_name(s, type))
      gst_caps_append_structure(alike, gst_structure_copy(s));
    types = gst_caps_merge_structure(types, gst_structure_new_empty(gst_structure_get_name(s)));
  }
  const gboolean has_alike = !gst_caps_is_empty(alike);
  gst_caps_unref(has_alike ? types : alike);
  return has_alike ? alike : types;
}

void astro_refused_caps(GstPad *src, const GstCaps *made, const char *what)
{
  if (GST_PAD_IS_FLUSHING(src))
    return;
  g_autoptr(GstElement) element = gst_pad_get_parent_element(src);
  g_autoptr(GstCaps) accepted = gst_pad_peer_query_caps(src, NULL);
  if (!element || gst_caps_can_intersect(made, accepted))
    return;
  g_autoptr(GstCaps) told = tell_accepted(accepted, made);
  GST_ELEMENT_ERROR(element, CORE, NEGOTIATION, ("downstream takes none of the %s made here", what),
                    ("made %" GST_PTR_FORMAT ", accepted %" GST_PTR_FORMAT, made, told));
}
