/* How programs read and write samples of each format. A program that does has the text of
 * opencl/runtime/samples.cl before its own. */
#pragma once

#include "core/stream/stream.h"

G_BEGIN_DECLS

/* Options of a program that reads samples of one format and writes those of another, or, with
 * ASTRO_FORMAT_UNKNOWN, none. real: its type REAL. To be freed. */
char *astro_opencl_sample_options(AstroFormat from, AstroFormat to, const char *real);
/* Whether values of this format need REAL to be double. */
gboolean astro_opencl_needs_double(AstroFormat format);

G_END_DECLS
