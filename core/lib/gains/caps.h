/* Gains as a stream, application/x-astro-gains: each buffer is an interval of a table of gains.
 *
 * The format is CF64LE and the layout station:channel:pol; channels are the groups of channels that
 * share a solution. There is no rate: intervals may have any length, and buffers have their times.
 * Every buffer has counts: 1 for a gain that is known, 0 for one that is flagged, whose value is 0.
 * Fields of the caps are
 *
 *   gains     what was solved: phase, gain, full, delay or bandpass.
 *   products  the names of what the pol axis holds, joined by ':': X:Y, or R:L; for full the
 *             elements of the matrix, XX:XY:YX:YY; for delay X:Y:X-DELAY:Y-DELAY. A delay is a real
 *             number of seconds, and the gain beside it is that in the middle of the band. */
#pragma once

#include "core/lib/gains/gains.h"
#include "core/stream/power.h"
#include "core/stream/stream.h"

G_BEGIN_DECLS

/* Takes fixed caps of gains only, and checks format, layout and fields. */
gboolean astro_gains_from_caps(AstroStream *stream, AstroGainsType *type,
                               AstroPowerProducts *products, const GstCaps *caps, GError **error);
/* The caps of a table; NULL, with an error, if its basis has no names of polarisations. */
GstCaps *astro_gains_to_caps(const AstroGains *gains, GError **error);

gboolean astro_gains_is_delay(const char *product);

/* The values and counts of an interval, [station][group][product] as in the caps. */
void astro_gains_fill_interval(const AstroGains *gains, guint interval, complex double *values,
                               guint32 *counts);

G_END_DECLS
