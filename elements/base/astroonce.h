/* Errors that are said once. GStreamer sends caps again with every event and buffer after an
 * element refused them, and each time the element would say why. */
#pragma once

#include <gst/gst.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

/* For class_init: an error that says what the message before it said is not posted, nor that a
 * start failed where that was the reason. */
void astro_element_class_say_once(GstElementClass *klass);

ASTRO_END_DECLS
