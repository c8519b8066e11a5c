/* The parts inside the server of pictures: pictures.c holds what its users and its thread share,
 * answers.c the responses. The latter runs only in the server's thread, as callers.c does. */
#pragma once

#include "core/serve/callers.h"
#include "core/serve/pictures.h"

G_BEGIN_DECLS

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
