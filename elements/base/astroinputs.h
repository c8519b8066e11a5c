/* What those before all inputs of an element say together. */
#pragma once

#include <gst/gst.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

/* Whether all of them follow a seek, an event, in its format. */
gboolean astro_inputs_can_seek(GstElement *element, GstEvent *seek);

/* The longest there is, in TIME. FALSE: none of them knows. */
gboolean astro_inputs_answer_duration(GstElement *element, GstQuery *query);

ASTRO_END_DECLS
