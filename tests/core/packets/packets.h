/* Shared by tests of packets: random headers of each format that its writer takes, and packets of a
 * description that is not a file. */
#pragma once

#include "core/kit/split-mix.h"
#include "core/packets/describe.h"
#include "core/packets/packets.h"

#define TEST_DESCRIPTION                                                                           \
  "# of a telescope that there is none of\n"                                                       \
  "sequence big 0 6\nstation big 6 2\nmagic 8 53594e43\nchannel little 12 2\n"                     \
  "invalid big 14 1 0x81\npayload 16\norder channel:time:pol\nchannels 3\nsteps 5\npols 2\n"       \
  "bits 4 complex\npacking big\ncounts packets\n"

static inline AstroPackets *test_describe(const char *text, GError **error)
{
  AstroLines lines;
  astro_lines_init(&lines, "test", g_strdup(text));
  AstroPacketDescription *description = astro_packet_description_read(&lines, error);
  astro_lines_clear(&lines);
  return description ? astro_packets_described("@test", description) : NULL;
}
