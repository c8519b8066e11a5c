/* Writes JSON. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Appends a structure as an object: numbers, booleans, texts, structures and arrays as such, enums
 * by their nicks, and anything else as the text that GStreamer makes of it. Numbers that JSON does
 * not have, such as NaN, become null. */
void astro_json_structure(GString *out, const GstStructure *structure);
void astro_json_value(GString *out, const GValue *value);
void astro_json_text(GString *out, const char *text);

G_END_DECLS
