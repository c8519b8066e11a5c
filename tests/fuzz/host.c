/* Names of hosts in requests, from any bytes: only our own names are accepted. */
#include "core/serve/host.h"

#include <stdlib.h>
#include <string.h>

static gboolean is_in_figures(const char *host)
{
  return host[strspn(host, "0123456789abcdefABCDEF.:[]")] == 0;
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
  static const char *const addresses[] = { "127.0.0.1", "::1", "192.168.1.5", "0.0.0.0", "::" };
  g_autofree char *host = g_strndup((const char *)data, size);
  for (guint i = 0; i < G_N_ELEMENTS(addresses); i++) {
    g_autoptr(GInetAddress) ours = g_inet_address_new_from_string(addresses[i]);
    const gsize own = strlen(g_get_host_name());
    if (astro_host_is_ours(host, ours) && !is_in_figures(host) &&
        g_ascii_strncasecmp(host, "localhost", strlen("localhost")) != 0 &&
        g_ascii_strncasecmp(host, g_get_host_name(), own) != 0)
      abort();
  }
  return 0;
}
