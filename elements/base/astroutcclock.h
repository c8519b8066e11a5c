/* Clocks that know UTC: a system clock of type realtime, and PTP clocks. The usual clock of a
 * pipeline counts from when the computer was started, and tells nothing about UTC. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef enum { ASTRO_UTC_NONE, ASTRO_UTC_REALTIME, ASTRO_UTC_PTP } AstroUtcKind;

AstroUtcKind astro_utc_clock_kind(GstClock *clock);

/* How far the clock's UTC is ahead of this computer's (CLOCK_REALTIME), in ns. */
gint64 astro_utc_clock_ahead(GstClock *clock);

/* Describes it for users, as a structure with that name: clock, and for realtime whether it
 * is kept synchronised and its error (s) as the kernel estimates it, for PTP its grandmaster and
 * how far TAI, which it counts, is ahead of UTC (s). */
GstStructure *astro_utc_clock_tell(GstClock *clock, const char *name);

/* Seconds of TAI - UTC, given what the kernel says: 0 if nobody has told it. */
guint astro_utc_tai_offset(gint kernel);

G_END_DECLS
