/* The option --control. */
#include "graphs/control-parts.h"
#include <string.h>

char *astro_control_address(const char *where, guint16 *port)
{
  const char *colon = strrchr(where, ':');
  guint64 number;
  if (!colon || !g_ascii_string_to_unsigned(colon + 1, 10, 0, G_MAXUINT16, &number, NULL))
    return NULL;
  gsize n = (gsize)(colon - where);
  const gboolean is_bracketed = n >= 2 && where[0] == '[' && where[n - 1] == ']';
  g_autofree char *address = is_bracketed ? g_strndup(where + 1, n - 2) : g_strndup(where, n);
  *port = (guint16)number;
  if (n == 0 || (!is_bracketed && strchr(address, ':')))
    return NULL;
  return g_str_equal(address, "localhost") ? g_strdup("127.0.0.1") : g_steal_pointer(&address);
}

char *astro_control_check(const char *where)
{
  guint16 port;
  g_autofree char *address = astro_control_address(where, &port);
  if (address)
    return NULL;
  return g_strdup_printf("--control=%s: expected an address and a port, as 127.0.0.1:8090 or "
                         "[::1]:8090; port 0 is any that is free",
                         where);
}
