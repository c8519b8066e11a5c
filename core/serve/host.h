/* Whether a request means this server. A page of a foreign name, whose address is changed to ours
 * once it is loaded (DNS rebinding), would else read pictures as if they were its own; what
 * browsers say in Host gives it away. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* host: of the request, with a port or without; NULL: none was given, which no browser does. ours:
 * the address that is listened at.
 *
 * Good are localhost and addresses in figures, since nobody can make names of theirs of them: the
 * one that is listened at, the machine's own (127.0.0.1), or any where all interfaces are listened
 * at; and where that is more than the machine itself, its name. The port may be any: those who come
 * through a tunnel know another one. */
gboolean astro_host_is_ours(const char *host, GInetAddress *ours);

/* What to open in a browser; to be freed. */
char *astro_host_page(GInetAddress *ours, guint16 port);

G_END_DECLS
