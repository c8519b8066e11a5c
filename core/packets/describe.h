/* Packets with a header of fixed places, described by a text file of one line a place:
 *
 *   sequence big 0 6           counts up; big or little endian, first byte, bytes (1 to 8)
 *   station big 6 2            so also pol, channel and thread: the first that the packet has
 *   magic 8 53594e43           bytes that are always the same
 *   invalid big 12 1 0x80      bits of which any that is set says that the samples are not good
 *   payload 16                 where the samples begin
 *   order channel:time:pol     of the samples, slowest first
 *   channels 384               an extent for each axis of the order: also steps, stations, pols
 *   steps 16
 *   pols 2
 *   bits 4 complex             of a component, 1 to 32; real or complex
 *   code signed                two's complement, or offset, where 0 is the most negative
 *   packing big                from which end of a byte; words: little words as VDIF's
 *   counts packets             what the sequence counts, or how many of it make a step of time
 *
 * Heaps of SPEAD have items in place of these places:
 *
 *   spead 48                   bits of an address: 48 or 40
 *   sequence item 0x1600       so also station, pol, channel and thread
 *   samples item 0x4300        where the heap's samples are
 *
 * sequence, payload (or samples), order, its extents and bits have to be there; code is signed and
 * packing little where nothing else is said, and what the sequence counts is unknown. */
#pragma once

#include "core/kit/lines.h"
#include "core/packets/formats.h"

G_BEGIN_DECLS

typedef struct {
  gboolean is_little;
  guint offset, bytes; /* of no bytes: there is none */
} AstroPacketPlace;

/* Numbers of the header, and where in an AstroPacket they go. */
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
  guint8 is_taken[ASTRO_PACKET_MAX_HEADER]; /* bytes that have a meaning */
  AstroSpead spead;                         /* of heaps; else its address is 0 */
};

AstroPacketDescription *astro_packet_description_open(const char *path, GError **error);
AstroPacketDescription *astro_packet_description_read(AstroLines *lines, GError **error);
/* Packets of a description, which they take. */
AstroPackets *astro_packets_described(const char *name, AstroPacketDescription *description);

G_END_DECLS
