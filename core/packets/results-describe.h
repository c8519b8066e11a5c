/* Descriptors of SPEAD for heaps of results: name, meaning, type and shape of each item. */
#pragma once

#include "core/packets/results.h"

G_BEGIN_DECLS

gboolean astro_results_can_describe(AstroFormat format);

/* A heap's payload with all descriptors, one after another; *places: where each begins. */
GByteArray *astro_results_describe(const AstroStream *stream, guint64 channels,
                                   AstroPartAxes counted, GArray **places);

G_END_DECLS
