/* The connections of an HTTP server, with limits that libsoup lacks: for the time that a client may
 * keep it waiting, and for their number. All of it runs in one thread. */
#pragma once

#include <libsoup/soup.h>

G_BEGIN_DECLS

typedef struct _AstroCallers AstroCallers;

/* Passes connections at the listener to the server, in the default context of the thread; closes
 * those that keep it waiting longer than patience_ms. Of more than `most` connections, the one that
 * was idle longest is closed for a new one. */
AstroCallers *astro_callers_new(GSocketListener *listener, SoupServer *server, guint patience_ms,
                                guint most);
void astro_callers_free(AstroCallers *callers);

typedef enum {
  ASTRO_CALLER_ASKS,  /* its request is on its way */
  ASTRO_CALLER_TAKES, /* bytes are on their way to it */
  ASTRO_CALLER_WAITS  /* it waits for us, as long as it likes */
} AstroCallerPhase;
/* Notes the phase of the connection from which the message came. */
void astro_caller_note(SoupServerMessage *message, AstroCallerPhase phase);
/* Whether a waiting client has closed the connection, which libsoup does not notice while it has
 * nothing to send. */
gboolean astro_caller_has_left(SoupServerMessage *message);

G_END_DECLS
