/* The parser of LOFAR's beamlet packets on any bytes. */
#include "tests/fuzz/packets.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
  g_autoptr(AstroPackets) packets = astro_packets_new("lofar-beamlet", NULL);
  return fuzz_packets(packets, data, size);
}
