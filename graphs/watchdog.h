/* Ends a run whose data stand still: a driver that hangs, a sender that is gone, a disk that does
 * not answer. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* The exit status of such a run. */
#define ASTRO_STALLED 3

/* Says what is wrong with the seconds of --watchdog; NULL: nothing. */
char *astro_watchdog_check(const char *seconds);

typedef struct _AstroWatchdog AstroWatchdog;

/* last: the name of the element that took or made a buffer last. */
typedef void (*AstroStalled)(const char *last, gpointer data);

/* Calls stalled once, in the main loop, when no element has taken or made a buffer for the seconds,
 * and not while it rests. It begins at rest. */
AstroWatchdog *astro_watchdog_new(GstElement *pipeline, const char *seconds, AstroStalled stalled,
                                  gpointer data);
/* Both take NULL for no watchdog. */
void astro_watchdog_rest(AstroWatchdog *watchdog, gboolean rests);
void astro_watchdog_free(AstroWatchdog *watchdog);

/* Ends the process with that status in a few seconds, should its own end hang. */
void astro_watchdog_last_resort(int status);

G_END_DECLS
