/* Packets in which telescopes send samples. Each format in the table has a parser for its headers,
 * which trusts nothing that does not fit in the bytes received, and a writer. Samples are unpacked
 * into the formats that streams have.
 *
 * A parser only reports what the packet says: facts that are not in the header, such as a station
 * or a rate, are not set in the AstroPacket either (ASTRO_PACKET_UNKNOWN, 0). */
#pragma once

#include "core/stream/stream.h"

G_BEGIN_DECLS

#define ASTRO_PACKET_ERROR astro_packet_error_quark()
typedef enum {
  ASTRO_PACKET_ERROR_ALIEN,  /* the bytes are not a packet of the format */
  ASTRO_PACKET_ERROR_WRITE,  /* something does not fit in a header of the format */
  ASTRO_PACKET_ERROR_FORMAT, /* there is no such format, or its description is wrong */
} AstroPacketError;
GQuark astro_packet_error_quark(void);

#define ASTRO_PACKET_UNKNOWN G_MAXUINT64
/* Limits for headers that are written, and for payloads: VDIF frames cannot be longer. */
#define ASTRO_PACKET_MAX_HEADER 256
#define ASTRO_PACKET_MAX_BYTES ((gsize)1 << 27)

typedef enum {
  ASTRO_PACKET_DATA,
  ASTRO_PACKET_ASIDE, /* part of the format, but without samples, such as SPEAD descriptors */
  ASTRO_PACKET_STOP,  /* the sender says that the stream ends */
} AstroPacketKind;

/* How the components of a payload are packed in its bytes. */
typedef enum {
  ASTRO_PACKET_BITS_LITTLE, /* from the least significant bit of each byte on, without gaps */
  ASTRO_PACKET_BITS_BIG,    /* the same, from the most significant bit on */
  ASTRO_PACKET_WORDS, /* VDIF: little-endian words of 32 bits, each with whole complete samples */
} AstroPacketPacking;

typedef enum {
  ASTRO_PACKET_SIGNED, /* two's complement */
  /* 0 is the most negative. Numbers of 1 and 2 bits stand for VDIF's levels. */
  ASTRO_PACKET_OFFSET,
} AstroPacketCode;

typedef struct {
  guint bits; /* bits per component, 1 to 32; 0: not told */
  gboolean is_complex;
  AstroPacketPacking packing;
  AstroPacketCode code;
  AstroLayout layout; /* the payload's axes, all extents set; no axes: not told */
} AstroPacketSamples;

typedef struct {
  AstroPacketKind kind;
  gboolean is_valid; /* FALSE: the sender says that the samples must not be used */

  guint64 station, pol, channel; /* as the sender numbers them; the first ones in the packet */
  guint64 thread;                /* VDIF thread, or RSP board */

  /* Time: a count that wraps after count_bits. It counts packets, or count_step counts make a time
   * step, or it is unknown what it counts (0). With has_second it restarts with each second of UTC
   * (since 1970, without leap seconds). */
  guint64 count;
  guint count_bits; /* 0: there is no count */
  gboolean counts_packets, has_second;
  gint64 second;
  guint64 packets_a_second; /* with has_second; 0: unknown until the second rolls over */
  guint64 count_step;
  gboolean is_since_1970; /* count 0 is the beginning of 1970 */
  guint64 rate_n, rate_d; /* time steps a second; 0: not told */

  AstroPacketSamples samples;
  gsize payload, payload_bytes; /* offset in the packet, and length */
  gsize bytes;                  /* length of the whole packet; the next one may follow */

  /* Parts of a SPEAD heap. Senders may describe a heap in its first part only, so later parts, even
   * of descriptors, are ASTRO_PACKET_DATA of which nothing else is known. */
  guint64 heap, heap_bytes, heap_offset;
  guint64 samples_offset, samples_bytes; /* in the heap, from its first part; 0: all of it */

  struct {
    gboolean is_legacy; /* 16-byte header */
    gboolean is_vtp;    /* an eight-byte serial number precedes the frame */
    guint64 serial;
  } vdif;
  guint spead_address; /* bits of a heap address: 48 or 40 */
} AstroPacket;

typedef struct _AstroPackets AstroPackets;

/* packet: a format's name, or "@FILE", which describes one (describe.h). */
AstroPackets *astro_packets_new(const char *packet, GError **error);
void astro_packets_free(AstroPackets *packets);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroPackets, astro_packets_free)
const char *astro_packets_name(const AstroPackets *packets);
/* Names and descriptions of the formats, ending with a NULL name. */
typedef struct {
  const char *name, *about;
} AstroPacketName;
const AstroPacketName *astro_packets_names(void);

/* Facts that are the same in every packet of a format, as its parser sets them: samples, counts and
 * heap addresses, unless they vary between packets. station, pol, channel and thread are 0 if
 * headers have them. */
void astro_packets_common(const AstroPackets *packets, AstroPacket *packet);
/* Whether headers can say that samples are invalid. */
gboolean astro_packets_tell_invalid(const AstroPackets *packets);

/* FALSE: the bytes do not begin with a packet of the format; the error says why. */
gboolean astro_packets_parse(const AstroPackets *packets, const guint8 *bytes, gsize size,
                             AstroPacket *packet, GError **error);
/* Writes the header of a packet from the fields that a parser sets, except bytes and payload, which
 * follow from it. Returns the header's length; 0 and the error if the format cannot express the
 * packet. */
gsize astro_packets_write(const AstroPackets *packets, const AstroPacket *packet,
                          guint8 header[ASTRO_PACKET_MAX_HEADER], GError **error);

/* The format into which samples are unpacked, without loss except that offset codes of 1 and 2 bits
 * become levels: F32LE for levels, I8 up to 8 bits, I16LE up to 16, F64LE above, or their complex
 * counterparts. ASTRO_FORMAT_UNKNOWN if the number of bits is not valid. */
AstroFormat astro_packet_format(const AstroPacketSamples *samples);
/* Length of such a payload; 0 if it has no layout, or the samples do not fill whole bytes or
 * words. */
gsize astro_packet_payload_bytes(const AstroPacketSamples *samples);
/* How many complete samples, each one time step, fit in so many bytes. */
guint64 astro_packet_payload_steps(const AstroPacketSamples *samples, gsize bytes);

/* Unpacks samples in the payload's order. out: in astro_packet_format. The first function is the
 * reference implementation. */
void astro_packet_unpack_reference(const AstroPacketSamples *samples, const guint8 *payload,
                                   gpointer out);
void astro_packet_unpack(const AstroPacketSamples *samples, const guint8 *payload, gpointer out);

/* The reverse, for senders: from astro_packet_format. Values become the nearest level. */
void astro_packet_pack(const AstroPacketSamples *samples, gconstpointer in, guint8 *payload);

/* The high level of 2 bits in VDIF's specification: optimal for noise, in units of the low
 * level. */
#define ASTRO_PACKET_HIGH_LEVEL 3.3359f

G_END_DECLS
