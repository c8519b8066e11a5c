/* Packets whose header fields have fixed positions, described by a text file with a line for each:
 *
 *   sequence big 0 6           counts up; big or little endian, first byte, bytes (1 to 8)
 *   station big 6 2            also pol, channel and thread: the first one in the packet
 *   magic 8 53594e43           bytes that are always the same
 *   invalid big 12 1 0x80      samples are invalid if any of these bits is set
 *   payload 16                 where the samples begin
 *   order channel:time:pol     order of the samples, slowest axis first
 *   channels 384               extent of each axis of the order: also steps, stations, pols
 *   steps 16
 *   pols 2
 *   bits 4 complex             bits per component, 1 to 32; real or complex
 *   code signed                two's complement, or offset, where 0 is the most negative
 *   packing big                from which end of a byte; words: little-endian words, as in VDIF
 *   counts packets             what the sequence counts: packets, or how many make a time step
 *
 * SPEAD heaps have items in place of these positions:
 *
 *   spead 48                   bits of an address: 48 or 40
 *   sequence item 0x1600       also station, pol, channel and thread
 *   samples item 0x4300        where the samples are in the heap
 *
 * sequence, payload (or samples), order, its extents and bits are required. By default, code is
 * signed, packing is little, and it is unknown what the sequence counts. */
#pragma once

#include "core/kit/lines.h"
#include "core/packets/formats.h"

G_BEGIN_DECLS

typedef struct {
  gboolean is_little;
  guint offset, bytes; /* bytes is 0 if there is no such field */
} AstroPacketPlace;

/* Numeric header fields, and where they go in an AstroPacket. */
#define ASTRO_PACKET_N_NUMBERS 5
#define ASTRO_PACKET_SEQUENCE 0
typedef struct {
  const char *name;
  gsize member;
} AstroPacketNumber;
extern const AstroPacketNumber astro_packet_numbers[ASTRO_PACKET_N_NUMBERS];

#define ASTRO_PACKET_N_EXTENTS 4
#define ASTRO_PACKET_MOST_MAGIC 32

struct _AstroPacketDescription {
  AstroPacketPlace numbers[ASTRO_PACKET_N_NUMBERS], invalid;
  guint64 invalid_bits;
  guint magic_offset, magic_bytes;
  guint8 magic[ASTRO_PACKET_MOST_MAGIC];
  gsize payload;
  AstroPacketSamples samples;
  guint64 extents[ASTRO_PACKET_N_EXTENTS];
  gboolean counts_packets;
  guint64 count_step;
  guint8 is_taken[ASTRO_PACKET_MAX_HEADER]; /* bytes that already have a meaning */
  AstroSpead spead;                         /* for SPEAD heaps; otherwise address is 0 */
};

AstroPacketDescription *astro_packet_description_open(const char *path, GError **error);
AstroPacketDescription *astro_packet_description_read(AstroLines *lines, GError **error);
/* Makes packets from a description, and takes ownership of it. */
AstroPackets *astro_packets_described(const char *name, AstroPacketDescription *description);

G_END_DECLS
