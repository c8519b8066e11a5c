/* Packets: what a telescope sends samples in. A table of formats, each with a parser of its header
 * that believes nothing that does not fit in the bytes that came, and a writer. Then the samples,
 * which are unpacked into the formats that streams have.
 *
 * A parser says what a packet tells of itself and nothing else: what is not in a header, as a
 * station or a rate, is not there in an AstroPacket either (ASTRO_PACKET_UNKNOWN, 0). */
#pragma once

#include "core/stream/stream.h"

G_BEGIN_DECLS

#define ASTRO_PACKET_ERROR astro_packet_error_quark()
typedef enum {
  ASTRO_PACKET_ERROR_ALIEN,  /* these bytes are no packet of the format */
  ASTRO_PACKET_ERROR_WRITE,  /* what does not fit in a header of the format */
  ASTRO_PACKET_ERROR_FORMAT, /* there is none of that name, or its description is wrong */
} AstroPacketError;
GQuark astro_packet_error_quark(void);

#define ASTRO_PACKET_UNKNOWN G_MAXUINT64
/* No header that is written here is longer, and no payload: VDIF's frames end there. */
#define ASTRO_PACKET_MAX_HEADER 256
#define ASTRO_PACKET_MAX_BYTES ((gsize)1 << 27)

typedef enum {
  ASTRO_PACKET_DATA,
  ASTRO_PACKET_ASIDE, /* belongs to the format and has no samples, as SPEAD's descriptors */
  ASTRO_PACKET_STOP,  /* its sender says that it ends */
} AstroPacketKind;

/* How a payload's components lie in its bytes. */
typedef enum {
  ASTRO_PACKET_BITS_LITTLE, /* from the least significant bit of each byte on, without a break */
  ASTRO_PACKET_BITS_BIG,    /* the same from the most significant bit on */
  ASTRO_PACKET_WORDS,       /* VDIF: little-endian words of 32 bits, each whole complete samples */
} AstroPacketPacking;

typedef enum {
  ASTRO_PACKET_SIGNED, /* two's complement */
  /* 0 is the most negative. Of 1 and 2 bits the numbers stand for VDIF's levels. */
  ASTRO_PACKET_OFFSET,
} AstroPacketCode;

typedef struct {
  guint bits; /* of a component, 1 to 32; 0: not told */
  gboolean is_complex;
  AstroPacketPacking packing;
  AstroPacketCode code;
  AstroLayout layout; /* in the payload, every extent set; no axes: not told */
} AstroPacketSamples;

typedef struct {
  AstroPacketKind kind;
  gboolean is_valid; /* FALSE: the sender says that the samples are not to be used */

  guint64 station, pol, channel; /* as the sender numbers them; the first that it holds */
  guint64 thread;                /* VDIF's, RSP boards' */

  /* When: a count, which wraps after count_bits. It counts packets, or count_step of it make a step
   * of the time axis, or nobody says (0). Where has_second it begins anew with each second of UTC
   * (since 1970, leap seconds left out). */
  guint64 count;
  guint count_bits; /* 0: there is none */
  gboolean counts_packets, has_second;
  gint64 second;
  guint64 packets_a_second; /* with has_second; 0: not known before the second rolls over */
  guint64 count_step;
  gboolean is_since_1970; /* the count's zero is the beginning of 1970 */
  guint64 rate_n, rate_d; /* steps a second; 0: not told */

  AstroPacketSamples samples;
  gsize payload, payload_bytes; /* where in the packet, and how much */
  gsize bytes;                  /* of the whole packet; more may follow, of the next */

  /* Parts of a heap: SPEAD. What a heap is of, and when, senders tell with its first part alone, so
   * that a later one is ASTRO_PACKET_DATA of nothing that is known, also of descriptors. */
  guint64 heap, heap_bytes, heap_offset;
  guint64 samples_offset, samples_bytes; /* in the heap, as its first part says; 0: all of it */

  struct {
    gboolean is_legacy; /* a header of 16 bytes */
    gboolean is_vtp;    /* eight bytes of a serial number stand before the frame */
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
/* The names of formats and what they are, up to a NULL name. */
typedef struct {
  const char *name, *about;
} AstroPacketName;
const AstroPacketName *astro_packets_names(void);

/* Facts that are the same in every packet of a format, as a parser gives it: samples, counts and
 * how a heap is addressed, as far as they do not differ from packet to packet. station, pol,
 * channel and thread are 0 where headers have them. */
void astro_packets_common(const AstroPackets *packets, AstroPacket *packet);
/* Whether headers can say that samples are not valid. */
gboolean astro_packets_tell_invalid(const AstroPackets *packets);

/* FALSE: the bytes do not begin with a packet of the format, and the error says why. */
gboolean astro_packets_parse(const AstroPackets *packets, const guint8 *bytes, gsize size,
                             AstroPacket *packet, GError **error);
/* Writes the header of a packet: what a parser says of it, apart from bytes and payload, which
 * follow from the header that is written. The header's length; 0 and the error where it cannot tell
 * what packet tells. */
gsize astro_packets_write(const AstroPackets *packets, const AstroPacket *packet,
                          guint8 header[ASTRO_PACKET_MAX_HEADER], GError **error);

/* The format that samples are unpacked into without a loss, but that 1 and 2 bits become levels:
 * F32LE up to 2 bits, I8 up to 8, I16LE up to 16, F64LE beyond, or the complex one.
 * ASTRO_FORMAT_UNKNOWN where bits are none. */
AstroFormat astro_packet_format(const AstroPacketSamples *samples);
/* How many bytes such a payload has; 0 where it has no layout, or the samples do not pack. */
gsize astro_packet_payload_bytes(const AstroPacketSamples *samples);
/* How many complete samples, those of a step of time, fit in so many bytes. */
guint64 astro_packet_payload_steps(const AstroPacketSamples *samples, gsize bytes);

/* The samples in the payload's order. out: of astro_packet_format. The first is the formula. */
void astro_packet_unpack_reference(const AstroPacketSamples *samples, const guint8 *payload,
                                   gpointer out);
void astro_packet_unpack(const AstroPacketSamples *samples, const guint8 *payload, gpointer out);

/* The other way, for who sends: from astro_packet_format. Levels become the nearest. */
void astro_packet_pack(const AstroPacketSamples *samples, gconstpointer in, guint8 *payload);

/* VDIF's levels of 2 bits, by the specification: optimal of noise with its step at 1. */
#define ASTRO_PACKET_HIGH_LEVEL 3.3359f

G_END_DECLS
