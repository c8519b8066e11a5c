/* Listens at an address of this machine. */
#include "config.h"
#include "core/serve/listen.h"

/* Connections that wait to be accepted: those beyond it try again only after seconds. */
#define BACKLOG 1024

GInetSocketAddress *astro_listen(GSocketListener *listener, const char *address, guint16 port,
                                 GError **error)
{
  g_autoptr(GSocketAddress) wanted = g_inet_socket_address_new_from_string(address, port);
  g_autoptr(GError) why = NULL;
  GSocketAddress *got = NULL;
  if (!wanted) {
    g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                "%s is not an address of an interface, expected a numeric one such as 127.0.0.1",
                address);
    return NULL;
  }
  g_socket_listener_set_backlog(listener, BACKLOG);
  if (g_socket_listener_add_address(listener, wanted, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP,
                                    NULL, &got, &why))
    return G_INET_SOCKET_ADDRESS(got);
  g_set_error(error, why->domain, why->code, "cannot listen at %s, port %u: %s", address, port,
              why->message);
  return NULL;
}
