/* Errors that are posted once. After an element has refused its caps GStreamer sends them again
 * with every event and buffer, and each time the element would post the same error. */
#pragma once

#include <gst/gst.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

/* For class_init: until the element is stopped, an error is not posted if it repeats the last one,
 * nor if it only says that the start failed after another error gave the reason. */
void astro_element_class_say_once(GstElementClass *klass);

/* The next error is posted whatever it says: caps were accepted, or the stream was flushed. */
void astro_element_forget_said(GstElement *element);

ASTRO_END_DECLS
