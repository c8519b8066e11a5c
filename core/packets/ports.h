/* Parses the addresses and ports to listen on. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

#define ASTRO_PORTS_MOST 256

/* "7148", "7148-7151", "7148,7150": an array of guint. NULL and the error: it is none of these. */
GArray *astro_ports_parse(const char *text, GError **error);
/* "10.0.0.1,239.1.0.0": an array of GInetAddress. A range of the last number, 239.1.0.0-3, stands
 * for as many addresses. */
GPtrArray *astro_addresses_parse(const char *text, GError **error);

G_END_DECLS
