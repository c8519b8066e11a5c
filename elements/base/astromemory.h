/* How much memory the stages downstream need, asked by a stage that plans its own: a query that
 * each AstroStage adds its part to and passes on. What other elements need is not known. */
#pragma once

#include <gst/gst.h>

#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

/* Bytes, of the elements behind a source pad. */
guint64 astro_memory_downstream(GstPad *src);

/* For elements that are asked: whether this is such a query, and adding to the answer. */
gboolean astro_memory_is_asked(GstQuery *query);
void astro_memory_add(GstQuery *query, guint64 bytes);

ASTRO_END_DECLS
