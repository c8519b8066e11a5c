/* Ctrl-C and termination: the first signal asks the program to end, the second insists. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* presses is the number of SIGINT and SIGTERM so far; a SIGHUP counts if it is the first signal.
 * Called from the main loop. */
typedef void (*AstroInterruptFunc)(guint presses, gpointer data);

/* One second after the second signal the process exits with ASTRO_INTERRUPTED, whatever it is
 * doing. */
#define ASTRO_INTERRUPTED 130
void astro_interrupt_watch(AstroInterruptFunc function, gpointer data);
/* Between two pipelines: signals are counted, and nobody is called until the next watch. */
void astro_interrupt_hold(void);
guint astro_interrupt_presses(void);
/* Signals have their usual effect again; nothing if none were watched. */
void astro_interrupt_unwatch(void);

G_END_DECLS
