/* Runs a parser of packets on any bytes: all that it finds lies within them, and can be written. */
#pragma once

#include <stdlib.h>
#include "core/packets/packets.h"

/* Unpacks the samples that the packet claims to have, if they are few. */
static inline void fuzz_unpack(const AstroPacket *packet, const guint8 *bytes)
{
  const gsize length = astro_packet_payload_bytes(&packet->samples);
  if (length == 0 || length > packet->payload_bytes || length > 1 << 16)
    return;
  guint8 *out = g_malloc(length * 64);
  astro_packet_unpack(&packet->samples, bytes + packet->payload, out);
  g_free(out);
}

static inline int fuzz_packets(const AstroPackets *packets, const guint8 *bytes, gsize size)
{
  g_autoptr(GError) error = NULL;
  guint8 header[ASTRO_PACKET_MAX_HEADER];
  AstroPacket packet;
  if (!astro_packets_parse(packets, bytes, size, &packet, &error)) {
    if (!error)
      abort();
    return 0;
  }
  if (packet.payload > size || packet.payload_bytes > size - packet.payload || packet.bytes > size)
    abort();
  fuzz_unpack(&packet, bytes);
  g_autoptr(GError) not_written = NULL;
  if (!astro_packets_write(packets, &packet, header, &not_written) && !not_written)
    abort();
  return 0;
}
