/* Pictures for browsers, over HTTP: the newest one each, as they come.
 *
 *   /         a page that shows them
 *   /stream   multipart/x-mixed-replace: a part each picture, beginning with the newest there is
 *   /picture  the newest one
 *
 * A viewer who is slow misses pictures; none holds up another, or who shows them. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _AstroPictureServer AstroPictureServer;

/* address: of an interface, in figures; port 0: any that is free. */
AstroPictureServer *astro_picture_server_new(const char *address, guint16 port, GError **error);
/* All connections are closed. */
void astro_picture_server_free(AstroPictureServer *server);
guint16 astro_picture_server_port(const AstroPictureServer *server);

/* type: "image/jpeg". */
void astro_picture_server_show(AstroPictureServer *server, GBytes *picture, const char *type);

/* Waits until somebody views the stream. FALSE: the wait was cancelled. */
gboolean astro_picture_server_wait(AstroPictureServer *server);
/* Nobody needs to be waited for any more. */
void astro_picture_server_release(AstroPictureServer *server);
/* Whether waits end at once. */
void astro_picture_server_cancel(AstroPictureServer *server, gboolean cancel);

/* Reads a request and answers it, as each connection does: for tests. */
void astro_picture_server_answer(AstroPictureServer *server, GInputStream *in, GOutputStream *out);

G_END_DECLS
