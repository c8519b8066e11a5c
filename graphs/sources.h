/* What an image's sources are told as: a line each. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Lines of a message "astro-sources", a heading first. */
GPtrArray *astro_sources_lines(const GstStructure *message);

/* The beam of a message "astro-image"; a new string. */
char *astro_beam_text(const GstStructure *message);

G_END_DECLS
