/* Parses addresses and ports as a user writes them. */
#include "config.h"
#include "core/packets/ports.h"

#include <string.h>
#include "core/packets/packets.h"

static gboolean read_range(const char *text, guint64 most, guint64 *first, guint64 *last)
{
  g_auto(GStrv) ends = g_strsplit(text, "-", 2);
  if (!ends[0] || !g_ascii_string_to_unsigned(ends[0], 10, 0, most, first, NULL))
    return FALSE;
  *last = *first;
  return !ends[1] || (g_ascii_string_to_unsigned(ends[1], 10, *first, most, last, NULL) &&
                      *last - *first < ASTRO_PORTS_MOST);
}

GArray *astro_ports_parse(const char *text, GError **error)
{
  g_autoptr(GArray) ports = g_array_new(FALSE, FALSE, sizeof(guint));
  g_auto(GStrv) items = g_strsplit(text ? text : "", ",", -1);
  for (guint i = 0; items[i]; i++) {
    guint64 first = 0, last = 0;
    const gboolean is_read = read_range(g_strstrip(items[i]), G_MAXUINT16, &first, &last);
    if (!is_read || first == 0 || ports->len + (last - first) >= ASTRO_PORTS_MOST) {
      astro_fail(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_FORMAT,
                 "port=%s: \"%s\" is no port, expected numbers from 1 to 65535 or ranges of them, "
                 "as 7148,7150-7153, %d at most",
                 text, items[i], ASTRO_PORTS_MOST);
      return NULL;
    }
    for (guint64 port = first; port <= last; port++) {
      const guint one = (guint)port;
      g_array_append_val(ports, one);
    }
  }
  if (ports->len > 0)
    return g_steal_pointer(&ports);
  astro_fail(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_FORMAT,
             "port is empty, expected a port, as 7148");
  return NULL;
}

/* An address, or a range of its last number. */
static gboolean add_addresses(GPtrArray *addresses, const char *item)
{
  const char *dot = strrchr(item, '.');
  if (!dot || !strchr(dot, '-')) {
    GInetAddress *address = g_inet_address_new_from_string(item);
    if (address)
      g_ptr_array_add(addresses, address);
    return address != NULL;
  }
  guint64 first, last;
  if (!read_range(dot + 1, G_MAXUINT8, &first, &last))
    return FALSE;
  for (guint64 i = first; i <= last; i++) {
    g_autofree char *text = g_strdup_printf("%.*s.%" G_GUINT64_FORMAT, (int)(dot - item), item, i);
    if (!add_addresses(addresses, text))
      return FALSE;
  }
  return TRUE;
}

GPtrArray *astro_addresses_parse(const char *text, GError **error)
{
  g_autoptr(GPtrArray) addresses = g_ptr_array_new_with_free_func(g_object_unref);
  g_auto(GStrv) items = g_strsplit(text && *text ? text : "0.0.0.0", ",", -1);
  for (guint i = 0; items[i]; i++)
    if (!add_addresses(addresses, g_strstrip(items[i])) || addresses->len > ASTRO_PORTS_MOST) {
      astro_fail(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_FORMAT,
                 "address=%s: \"%s\" is no address, expected numbers, as 10.0.0.1, 239.1.0.0-3 or "
                 "::1, %d at most",
                 text ? text : "", items[i], ASTRO_PORTS_MOST);
      return NULL;
    }
  return g_steal_pointer(&addresses);
}
