/* Pictures for browsers, over HTTP: the newest one each, as they come.
 *
 *   /         a page that shows them, and keeps the last one
 *   /stream   multipart/x-mixed-replace: a part each picture, beginning with the newest there is
 *   /picture  the newest one
 *
 * A viewer who is slow misses pictures; none holds up another, or who shows them. The server is
 * libsoup's and runs in a thread of its own. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _AstroPictureServer AstroPictureServer;

/* How long a request may take to come, and how long nobody may take bytes that are for him. */
#define ASTRO_PICTURES_PATIENCE_MS 10000
/* Connections at once; those who ask for nothing give way to those who come. */
#define ASTRO_PICTURES_MOST_CALLERS 200

/* address: of an interface, in figures; port 0: any that is free. */
AstroPictureServer *astro_picture_server_new(const char *address, guint16 port, GError **error);
/* The same with another patience, for tests. */
AstroPictureServer *astro_picture_server_new_patient(const char *address, guint16 port,
                                                     guint patience_ms, GError **error);
/* All connections are closed. */
void astro_picture_server_free(AstroPictureServer *server);
guint16 astro_picture_server_port(const AstroPictureServer *server);
const char *astro_picture_server_page(const AstroPictureServer *server); /* where to look */

/* type: "image/jpeg". */
void astro_picture_server_show(AstroPictureServer *server, GBytes *picture, const char *type);

/* Of progress messages while a stream waits for somebody. */
#define ASTRO_WAIT_CODE "viewer"

/* Waits until somebody views the stream. FALSE: the wait was cancelled. */
gboolean astro_picture_server_wait(AstroPictureServer *server);
/* Whether that returns at once, but for a cancel. */
gboolean astro_picture_server_is_seen(AstroPictureServer *server);
/* Nobody needs to be waited for any more. */
void astro_picture_server_release(AstroPictureServer *server);
/* There is nothing more to show until the next picture: streams end behind the last one. Waits for
 * viewers to have it, a few seconds at most; a cancel ends that. */
void astro_picture_server_finish(AstroPictureServer *server);
/* Whether waits end at once. */
void astro_picture_server_cancel(AstroPictureServer *server, gboolean cancel);

G_END_DECLS
