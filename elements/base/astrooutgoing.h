/* What goes out at a source pad. */
#pragma once

#include <gst/gst.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

/* Posts that downstream takes none of the caps that are made here, and what it takes: GStreamer's
 * own error says only that nothing was agreed on. what: "voltages". Nothing of a pad that is
 * flushing, nor where downstream takes them: something else went wrong, of which others tell. */
void astro_refused_caps(GstPad *src, const GstCaps *made, const char *what);

ASTRO_END_DECLS
