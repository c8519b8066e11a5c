/* Caps of astrodedisperse. */
#pragma once

#include "core/stream/stream.h"

G_BEGIN_DECLS

/* Dedispersed power of power, at so many dispersion measures (0: not known); and power of which it
 * may be made. */
GstStructure *astro_dedisperse_to_output(const GstStructure *power, guint dms);
GstStructure *astro_dedisperse_to_input(const GstStructure *power);

G_END_DECLS
