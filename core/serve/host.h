/* Tells whether a request is meant for this server. Otherwise a page from another host name that is
 * made to resolve to our address once it is loaded (DNS rebinding) could read pictures as if they
 * were its own; the header Host that browsers send gives it away. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* host: the header Host of the request, with or without a port; NULL: there was none, which no
 * browser does. ours: the address at which the server listens.
 *
 * Accepted are localhost and numeric addresses, since nobody can register those as names of their
 * own: the one at which the server listens, loopback addresses (127.0.0.1), or any address if it
 * listens at all interfaces; and, if it listens at more than loopback, the name of the machine. The
 * port may be any, since those who come through a tunnel use another one. */
gboolean astro_host_is_ours(const char *host, GInetAddress *ours);

/* The address to open in a browser; to be freed. */
char *astro_host_page(GInetAddress *ours, guint16 port);

G_END_DECLS
