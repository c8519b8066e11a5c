/* Images as astroclean takes them, and what it makes of them, in caps. */
#pragma once

#include "core/clean/clean.h"

G_BEGIN_DECLS

/* Changes caps of an input into those of its output. */
void astro_clean_describe_output(GstStructure *s, AstroCleanOutput output);

/* Appends to caps the inputs for such an output, the best first. is_wide: one with a point-spread
 * function twice as large as the image is asked for too. */
void astro_clean_append_input(const GstStructure *output, gboolean is_wide, GstCaps *caps);

G_END_DECLS
