/* Counts after a transform: a value is made of all samples along the transformed axes, so it gets
 * the smallest of their counts. */
#pragma once

#include "core/stream/validity.h"

G_BEGIN_DECLS

/* Adds the counts of in to out, without the transformed axes. The other axes must have the same
 * names. */
void astro_fft_validity(GstBuffer *out, GstBuffer *in, const AstroAxis *transformed, guint n);

G_END_DECLS
