/* Bands whose frequencies fall, as behind a mixer of the lower sideband, turned to rise. */
#pragma once

#include "core/recorders/unpack.h"

G_BEGIN_DECLS

/* Turns n steps of a row, from number first on: imaginary parts change sign, or of real samples
 * those of odd steps, but not power; and channels within a step come in reverse. The most negative
 * integer becomes the most positive one. */
void astro_recorder_turn(const AstroRecorderPacking *packing, const AstroLayout *inner,
                         gint64 first, guint64 n, guint8 *samples);

G_END_DECLS
