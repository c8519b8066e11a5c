/* A server that shows the newest picture in browsers, over HTTP, as pictures come.
 *
 *   /         a page that shows them, and keeps the last one
 *   /stream   multipart/x-mixed-replace: one part per picture, beginning with the newest
 *   /picture  the newest picture
 *
 * A slow viewer misses pictures, but holds up neither other viewers nor the one who sends them. The
 * server is libsoup's and runs in a thread of its own. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _AstroPictureServer AstroPictureServer;

/* How long a request may take to arrive, and how long a viewer may leave bytes for it unread. */
#define ASTRO_PICTURES_PATIENCE_MS 10000
/* Connections at once; idle ones are closed for new ones. */
#define ASTRO_PICTURES_MOST_CALLERS 200

/* address: of an interface, numeric; port 0: any free one. */
AstroPictureServer *astro_picture_server_new(const char *address, guint16 port, GError **error);
/* The same with another time limit, for tests. */
AstroPictureServer *astro_picture_server_new_patient(const char *address, guint16 port,
                                                     guint patience_ms, GError **error);
/* Closes all connections. */
void astro_picture_server_free(AstroPictureServer *server);
guint16 astro_picture_server_port(const AstroPictureServer *server);
const char *astro_picture_server_page(const AstroPictureServer *server); /* address to open */

/* type: "image/jpeg". */
void astro_picture_server_show(AstroPictureServer *server, GBytes *picture, const char *type);

/* The code of progress messages while a stream waits for a viewer. */
#define ASTRO_WAIT_CODE "viewer"

/* Waits until somebody views the stream. FALSE: the wait was cancelled. */
gboolean astro_picture_server_wait(AstroPictureServer *server);
/* Whether that would return at once even without a cancel. */
gboolean astro_picture_server_is_seen(AstroPictureServer *server);
/* From now on there is no need to wait for a viewer. */
void astro_picture_server_release(AstroPictureServer *server);
/* There is nothing more to show until the next picture: streams end after the last one. Waits until
 * viewers have it, for a few seconds at most; a cancel ends that. */
void astro_picture_server_finish(AstroPictureServer *server);
/* Whether waits end at once. */
void astro_picture_server_cancel(AstroPictureServer *server, gboolean cancel);

G_END_DECLS
