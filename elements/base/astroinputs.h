/* Answers that combine those of the elements before all inputs of an element. */
#pragma once

#include <gst/gst.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

/* Sends a seek event to all of them, in the format of the event. Whether all can follow it. */
gboolean astro_inputs_can_seek(GstElement *element, GstEvent *seek);

/* The longest duration of all, in TIME. FALSE: none of them knows. */
gboolean astro_inputs_answer_duration(GstElement *element, GstQuery *query);

ASTRO_END_DECLS
