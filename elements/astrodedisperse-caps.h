/* Caps of astrodedisperse. */
#pragma once

#include "core/stream/stream.h"

G_BEGIN_DECLS

/* Caps of the output at so many dispersion measures (0: not known), and of what it may be made of.
 */
GstStructure *astro_dedisperse_to_output(const GstStructure *in, guint dms);
GstStructure *astro_dedisperse_to_input(const GstStructure *out);

G_END_DECLS
