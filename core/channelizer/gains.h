/* Gains of single channels, from a text file: one number for each channel, in the order of the
 * channels, any number of them on a line; '#' starts a comment. */
#pragma once

#include "core/kit/lines.h"

G_BEGIN_DECLS

/* To be freed with g_free(); NULL with an error that names file and line. */
float *astro_channelizer_gains_read(const char *path, guint channels, GError **error);
float *astro_channelizer_gains_from_lines(AstroLines *lines, guint channels, GError **error);

G_END_DECLS
