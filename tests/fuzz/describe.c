/* Descriptions of packets: reads any text, and parses a packet of zeros by what it describes. */
#include <string.h>
#include "core/packets/describe.h"
#include "tests/fuzz/packets.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
  static const guint8 zeros[1 << 12];
  g_autoptr(GError) error = NULL;
  AstroLines lines;
  astro_lines_init(&lines, "fuzz", g_strndup((const char *)data, size));
  AstroPacketDescription *description = astro_packet_description_read(&lines, &error);
  astro_lines_clear(&lines);
  if (!description && !error)
    abort();
  if (!description)
    return 0;
  g_autoptr(AstroPackets) packets = astro_packets_described("fuzz", description);
  return fuzz_packets(packets, zeros, sizeof zeros);
}
