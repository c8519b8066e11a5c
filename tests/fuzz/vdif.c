/* The parser of VDIF packets on any bytes. */
#include "tests/fuzz/packets.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
  g_autoptr(AstroPackets) packets = astro_packets_new("vdif", NULL);
  return fuzz_packets(packets, data, size);
}
