/* The table of formats, and functions that all of them use to read and write. */
#include "config.h"
#include "core/packets/formats.h"

#include <string.h>
#include "core/packets/describe.h"

G_DEFINE_QUARK(astro_packet_error, astro_packet_error)

static const AstroPacketFormat *const formats[] = {
  &astro_packet_vdif,
  &astro_packet_spead,
  &astro_packet_katgpucbf_antenna_voltage,
  &astro_packet_meerkat_digitiser,
  &astro_packet_beamlet,
  &astro_packet_results,
};

const AstroPacketName *astro_packets_names(void)
{
  static AstroPacketName names[G_N_ELEMENTS(formats) + 1];
  static gsize once = 0;
  if (g_once_init_enter(&once)) {
    for (guint i = 0; i < G_N_ELEMENTS(formats); i++)
      names[i] = formats[i]->name;
    g_once_init_leave(&once, 1);
  }
  return names;
}

static const AstroPacketFormat *find(const char *name, GError **error)
{
  g_autoptr(GString) known = g_string_new(NULL);
  for (guint i = 0; i < G_N_ELEMENTS(formats); i++) {
    if (strcmp(name, formats[i]->name.name) == 0)
      return formats[i];
    g_string_append_printf(known, "%s, ", formats[i]->name.name);
  }
  g_set_error(
      error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_FORMAT,
      "packets \"%s\" are not known, expected one of %sor @FILE, a file that describes them", name,
      known->str);
  return NULL;
}

AstroPackets *astro_packets_new(const char *packet, GError **error)
{
  if (*packet == '@') {
    AstroPacketDescription *description = astro_packet_description_open(packet + 1, error);
    return description ? astro_packets_described(packet, description) : NULL;
  }
  const AstroPacketFormat *format = find(packet, error);
  if (!format)
    return NULL;
  AstroPackets *packets = g_new0(AstroPackets, 1);
  *packets = (AstroPackets){ format, NULL, &format->spead, g_strdup(packet) };
  return packets;
}

void astro_packets_free(AstroPackets *packets)
{
  g_free(packets->description);
  g_free(packets->name);
  g_free(packets);
}

const char *astro_packets_name(const AstroPackets *packets)
{
  return packets->name;
}

void astro_packets_common(const AstroPackets *packets, AstroPacket *packet)
{
  astro_packet_init(packet);
  packets->format->common(packets, packet);
}

gboolean astro_packets_tell_invalid(const AstroPackets *packets)
{
  return packets->format->tells_invalid && packets->format->tells_invalid(packets);
}

gboolean astro_packets_parse(const AstroPackets *packets, const guint8 *bytes, gsize size,
                             AstroPacket *packet, GError **error)
{
  astro_packet_init(packet);
  return packets->format->parse(packets, bytes, size, packet, error);
}

gsize astro_packets_write(const AstroPackets *packets, const AstroPacket *packet,
                          guint8 header[ASTRO_PACKET_MAX_HEADER], GError **error)
{
  return packets->format->write(packets, packet, header, error);
}

void astro_packet_init(AstroPacket *packet)
{
  /* Including padding, so that copies can be compared byte by byte. */
  memset(packet, 0, sizeof *packet);
  packet->is_valid = TRUE;
  packet->station = packet->pol = packet->channel = packet->thread = ASTRO_PACKET_UNKNOWN;
}

guint64 astro_packet_read_big(const guint8 *bytes, guint n)
{
  guint64 value = 0;
  for (guint i = 0; i < n; i++)
    value = value << 8 | bytes[i];
  return value;
}

guint64 astro_packet_read_little(const guint8 *bytes, guint n)
{
  guint64 value = 0;
  for (guint i = n; i-- > 0;)
    value = value << 8 | bytes[i];
  return value;
}

void astro_packet_write_big(guint8 *bytes, guint n, guint64 value)
{
  for (guint i = n; i-- > 0; value >>= 8)
    bytes[i] = (guint8)value;
}

void astro_packet_write_little(guint8 *bytes, guint n, guint64 value)
{
  for (guint i = 0; i < n; i++, value >>= 8)
    bytes[i] = (guint8)value;
}
