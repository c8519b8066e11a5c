/* Gains of channels from a text file: one number per channel, in the order of channels, any number
 * of them per line; '#' starts a comment. */
#pragma once

#include "core/kit/lines.h"

G_BEGIN_DECLS

/* Returns an array to be freed with g_free(), or NULL with an error that names file and line. */
float *astro_channelizer_gains_read(const char *path, guint channels, GError **error);
float *astro_channelizer_gains_from_lines(AstroLines *lines, guint channels, GError **error);

G_END_DECLS
