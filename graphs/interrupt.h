/* Ctrl-C and termination: the first asks, the second insists. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* presses counts SIGINT and SIGTERM so far; SIGHUP is one where it is the first. Called from the
 * main loop. */
typedef void (*AstroInterruptFunc)(guint presses, gpointer data);

/* A second after the second signal the process ends with ASTRO_INTERRUPTED, whatever it hangs in.
 */
#define ASTRO_INTERRUPTED 130
void astro_interrupt_watch(AstroInterruptFunc function, gpointer data);
void astro_interrupt_unwatch(void);

G_END_DECLS
