/* The parser of katgpucbf's SPEAD packets on any bytes. */
#include "tests/fuzz/packets.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
  g_autoptr(AstroPackets) packets = astro_packets_new("katgpucbf-antenna-voltage", NULL);
  return fuzz_packets(packets, data, size);
}
