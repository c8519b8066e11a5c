/* Checks the host name of requests. */
#include "core/serve/host.h"

#include <string.h>

/* The name or address in "name:port" or "[address]:port"; NULL: it is neither. */
static char *without_port(const char *host)
{
  const gboolean is_bracketed = *host == '[';
  const char *begin = host + is_bracketed;
  const char *end = begin + strcspn(begin, is_bracketed ? "]" : ":");
  if (is_bracketed && *end != ']')
    return NULL;
  const char *port = end + is_bracketed;
  if (end == begin || (*port && *port != ':') ||
      (*port && port[1 + strspn(port + 1, "0123456789")]))
    return NULL;
  return g_strndup(begin, (gsize)(end - begin));
}

static gboolean is_our_address(GInetAddress *address, GInetAddress *ours)
{
  return g_inet_address_equal(address, ours) || g_inet_address_get_is_loopback(address) ||
         g_inet_address_get_is_any(ours);
}

static gboolean is_our_name(const char *name, GInetAddress *ours)
{
  if (g_ascii_strcasecmp(name, "localhost") == 0)
    return TRUE;
  g_autofree char *local = g_strconcat(g_get_host_name(), ".local", NULL);
  return !g_inet_address_get_is_loopback(ours) &&
         (g_ascii_strcasecmp(name, g_get_host_name()) == 0 || g_ascii_strcasecmp(name, local) == 0);
}

gboolean astro_host_is_ours(const char *host, GInetAddress *ours)
{
  if (!host)
    return TRUE;
  g_autofree char *name = without_port(host);
  if (!name)
    return FALSE;
  g_autoptr(GInetAddress) address = g_inet_address_new_from_string(name);
  return address ? is_our_address(address, ours) : is_our_name(name, ours);
}

char *astro_host_page(GInetAddress *ours, guint16 port)
{
  g_autofree char *address = g_inet_address_to_string(ours);
  const char *name = g_inet_address_get_is_any(ours) ? g_get_host_name() : address;
  return g_strdup_printf(strchr(name, ':') ? "http://[%s]:%u/" : "http://%s:%u/", name, port);
}
