/* The parts inside the server of pictures: pictures.c holds what its users and its thread share,
 * callers.c the connections and answers.c the responses. The latter two run only in the server's
 * thread. */
#pragma once

#include "core/serve/pictures.h"

#include <libsoup/soup.h>

G_BEGIN_DECLS

/* ---- connections ---- */

typedef struct _AstroCallers AstroCallers;

/* Passes connections at the listener to the server, in the default context of the thread; closes
 * those that keep it waiting longer than patience_ms. */
AstroCallers *astro_callers_new(GSocketListener *listener, SoupServer *server, guint patience_ms);
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

/* ---- answers ---- */

typedef struct _AstroAnswers AstroAnswers;
AstroAnswers *astro_answers_new(SoupServer *server, AstroPictureServer *pictures);
void astro_answers_free(AstroAnswers *answers); /* after the server */
/* There is another picture, or there will be none. */
void astro_answers_changed(AstroAnswers *answers);

/* ---- what threads share ---- */

typedef struct {
  GBytes *picture; /* NULL: there is none */
  char *type;
  guint64 number; /* of the picture, from 1 */
} AstroShown;
void astro_shown_clear(AstroShown *shown);

/* The newest picture if its number is not the given one: TRUE. is_over: no more will come. */
gboolean astro_picture_server_newest(AstroPictureServer *server, guint64 number, AstroShown *shown,
                                     gboolean *is_over);
void astro_picture_server_count_viewer(AstroPictureServer *server, gint change);
GInetAddress *astro_picture_server_address(AstroPictureServer *server);

G_END_DECLS
