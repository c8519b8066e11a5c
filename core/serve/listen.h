/* Listens at an address of this machine. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* address: of an interface, numeric; port 0: any free one. Returns where it listens; NULL: the
 * error says why it cannot. */
GInetSocketAddress *astro_listen(GSocketListener *listener, const char *address, guint16 port,
                                 GError **error);

G_END_DECLS
