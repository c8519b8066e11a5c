/* What a transform does to counts: a value is made of all that stands along the transformed axes,
 * so it has the smallest of their counts. */
#pragma once

#include "core/stream/validity.h"

G_BEGIN_DECLS

/* The counts of in for out, without those axes. Axes that are left have the same names. */
void astro_fft_validity(GstBuffer *out, GstBuffer *in, const AstroAxis *transformed, guint n);

G_END_DECLS
