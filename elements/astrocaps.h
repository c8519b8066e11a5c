/* Buffers that came without caps, as a file's source sends them. */
#pragma once

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

/* Whether a sink pad has caps; where it has none an error names the element and what it expects:
 * GStreamer's own error names the source, and says that nothing was agreed on. */
gboolean astro_has_caps(GstPad *sink);
/* GstBaseTransform's way to take a buffer, one that came with caps. */
GstFlowReturn astro_transform_submit(GstBaseTransform *trans, gboolean is_discont,
                                     GstBuffer *buffer);

G_END_DECLS
