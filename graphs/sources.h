/* Describes the sources in an image, one line each. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* The lines for a message "astro-sources", with a heading first. */
GPtrArray *astro_sources_lines(const GstStructure *message);

/* The beam in a message "astro-image"; a new string. */
char *astro_beam_text(const GstStructure *message);

G_END_DECLS
