/* Errors about what goes out at a source pad. */
#pragma once

#include <gst/gst.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

/* Posts an error that downstream takes none of the caps that this element makes, with the caps that
 * it does take: GStreamer's own error would only say that nothing was negotiated. what: "voltages".
 * Posts nothing if the pad is flushing or if downstream does take the caps: then the cause is
 * elsewhere, and another element tells it. */
void astro_refused_caps(GstPad *src, const GstCaps *made, const char *what);

ASTRO_END_DECLS
