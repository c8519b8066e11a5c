/* Rows of the table of formats. */
#pragma once

#include "core/packets/packets.h"

G_BEGIN_DECLS

/* Numbers of the SPEAD items that hold these values; 0: none does. */
typedef struct {
  guint time, station, pol, channel, thread, samples;
} AstroSpeadItems;

/* SPEAD heaps, with the facts about them that their packets leave out. */
typedef struct {
  guint address; /* bits of an address, for sending */
  AstroSpeadItems items;
  AstroPacketSamples samples;
  gboolean counts_packets;
  guint64 count_step;
} AstroSpead;

typedef struct _AstroPacketDescription AstroPacketDescription;

typedef struct {
  AstroPacketName name;
  gboolean (*parse)(const AstroPackets *packets, const guint8 *bytes, gsize size,
                    AstroPacket *packet, GError **error);
  gsize (*write)(const AstroPackets *packets, const AstroPacket *packet, guint8 *header,
                 GError **error);
  void (*common)(const AstroPackets *packets, AstroPacket *packet);
  gboolean (*tells_invalid)(const AstroPackets *packets); /* NULL: headers cannot */
  AstroSpead spead;                                       /* for presets */
} AstroPacketFormat;

struct _AstroPackets {
  const AstroPacketFormat *format;
  AstroPacketDescription *description;
  const AstroSpead *spead; /* from the format or the description */
  char *name;
};

extern const AstroPacketFormat astro_packet_vdif, astro_packet_spead, astro_packet_beamlet;
extern const AstroPacketFormat astro_packet_katgpucbf_antenna_voltage;
extern const AstroPacketFormat astro_packet_meerkat_digitiser;
extern const AstroPacketFormat astro_packet_results, astro_packet_described;

#define astro_packet_is_alien(error, ...)                                                          \
  astro_fail(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_ALIEN, __VA_ARGS__)
#define astro_packet_is_not_written(error, ...)                                                    \
  (astro_fail(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_WRITE, __VA_ARGS__), (gsize)0)

/* Unsigned numbers of up to 8 bytes. */
guint64 astro_packet_read_big(const guint8 *bytes, guint n);
guint64 astro_packet_read_little(const guint8 *bytes, guint n);
void astro_packet_write_big(guint8 *bytes, guint n, guint64 value);
void astro_packet_write_little(guint8 *bytes, guint n, guint64 value);

/* Sets everything to unknown. */
void astro_packet_init(AstroPacket *packet);

G_END_DECLS
