/* Headers of packets: those given in specifications, those of each writer read again, and bytes
 * that are no header. */
#include "tests/core/packets/packets.h"
#include "tests/tests.h"

static AstroPackets *open_packets(const char *name)
{
  g_autoptr(GError) error = NULL;
  AstroPackets *packets =
      *name == '@' ? test_describe(TEST_DESCRIPTION, &error) : astro_packets_new(name, &error);
  g_assert_no_error(error);
  return packets;
}

static void refused(const AstroPackets *packets, const guint8 *bytes, gsize size, const char *says)
{
  g_autoptr(GError) error = NULL;
  AstroPacket packet;
  g_assert_false(astro_packets_parse(packets, bytes, size, &packet, &error));
  g_assert_error(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_ALIEN);
  test_says(error->message, says);
}

static void parsed(const AstroPackets *packets, const guint8 *bytes, gsize size,
                   AstroPacket *packet)
{
  g_autoptr(GError) error = NULL;
  astro_packets_parse(packets, bytes, size, packet, &error);
  g_assert_no_error(error);
}

/* The sample header of the VLBI community's own reader: 2014-06-16, 05:56:07, thread 1 of the
 * VLBA's station 65532, 2 bits real of 32 MHz, 5032 bytes. */
static void test_vdif(void)
{
  static const guint32 words[] = { 0x00dce1e7, 0x1c000000, 0x00000275,
                                   0x0401fffc, 0x03800010, 0xacabfeed };
  g_autoptr(AstroPackets) packets = open_packets("vdif");
  g_autofree guint8 *frame = g_malloc0(5040);
  AstroPacket packet;
  for (guint i = 0; i < G_N_ELEMENTS(words); i++)
    for (guint k = 0; k < 4; k++)
      frame[4 * i + k] = (guint8)(words[i] >> 8 * k);
  parsed(packets, frame, 5040, &packet);
  g_assert_true(packet.is_valid && packet.has_second && packet.counts_packets);
  g_assert_cmpint(packet.second, ==, 1388534400 + 0x00dce1e7); /* of 2014-01-01 */
  g_assert_cmpuint(packet.count, ==, 0);
  g_assert_cmpuint(packet.thread, ==, 1);
  g_assert_cmpuint(packet.station, ==, 0xfffc);
  g_assert_cmpuint(packet.samples.bits, ==, 2);
  g_assert_false(packet.samples.is_complex);
  g_assert_cmpuint(packet.samples.layout.extents[0], ==, 20000);
  g_assert_cmpuint(packet.samples.layout.extents[1], ==, 1);
  g_assert_cmpuint(packet.packets_a_second, ==, 1600);
  g_assert_cmpuint(packet.payload, ==, 32);
  g_assert_cmpuint(packet.bytes, ==, 5032);

  refused(packets, frame, 5031, "frame of 5032 bytes");
  refused(packets, frame, 20, "a VDIF header of 32");
  refused(packets, frame, 3, "3 bytes");

  /* The rate is unknown for another version of extended data, where it could be read in two
   * ways. */
  frame[19] = 1;
  parsed(packets, frame, 5032, &packet);
  g_assert_cmpuint(packet.packets_a_second, ==, 0);
  /* Nor if it gives no whole number of frames. */
  frame[19] = 3;
  frame[16] = 0x11;
  frame[8] = 0x74;
  parsed(packets, frame, 5040, &packet);
  g_assert_cmpuint(packet.packets_a_second, ==, 0);
  /* Invalid; and a legacy header, which leaves sixteen bytes more for samples. */
  frame[3] |= 0xc0;
  parsed(packets, frame, 5040, &packet);
  g_assert_false(packet.is_valid);
  g_assert_true(packet.vdif.is_legacy);
  g_assert_cmpuint(packet.payload, ==, 16);
  g_assert_cmpuint(packet.payload_bytes, ==, 0x274 * 8 - 16);
}

/* Only the length of the datagram shows eight bytes before the frame. */
static void test_vdif_vtp(void)
{
  g_autoptr(AstroPackets) packets = open_packets("vdif");
  guint8 datagram[8 + 40] = { [0] = 0x34, [1] = 0x12, [8 + 8] = 5, [8 + 15] = 1 << 2 };
  AstroPacket packet;
  parsed(packets, datagram, sizeof datagram, &packet);
  g_assert_true(packet.vdif.is_vtp);
  g_assert_cmpuint(packet.vdif.serial, ==, 0x1234);
  g_assert_cmpuint(packet.payload, ==, 40);
  g_assert_cmpuint(packet.payload_bytes, ==, 8);
  g_assert_cmpuint(packet.bytes, ==, sizeof datagram);
  parsed(packets, datagram + 8, 40, &packet);
  g_assert_false(packet.vdif.is_vtp);
}

/* A sender that kept its epoch across the leap second at the end of 2016 counts it. */
static void test_vdif_leap(void)
{
  static const struct {
    guint32 seconds;
    gint64 second;
  } cases[] = {
    { 184 * 86400 - 1, 1483228799 }, /* 2016-12-31T23:59:59 */
    { 184 * 86400, 1483228800 },     /* the leap second: no clock of 1970 has it */
    { 184 * 86400 + 1, 1483228800 }, /* 2017-01-01T00:00:00 */
    { 184 * 86400 + 2, 1483228801 }, { 185 * 86400 + 1, 1483315200 },
  };
  g_autoptr(AstroPackets) packets = open_packets("vdif");
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    guint8 frame[40] = { [7] = 33, [8] = 5, [15] = 1 << 2 };
    for (guint k = 0; k < 4; k++)
      frame[k] = (guint8)(cases[i].seconds >> 8 * k);
    AstroPacket packet;
    parsed(packets, frame, sizeof frame, &packet);
    g_assert_cmpint(packet.second, ==, cases[i].second);
  }
}

/* As in the protocol's documents: 64-48, a heap of 4000 bytes, and its second packet. */
static void test_spead(void)
{
  static const guint8 begin[] = {
    0x53, 4,    2,    6, 0, 0, 0,    6,    /* 64-48, six items */
    0x80, 0x01, 0,    0, 0, 0, 0x12, 0x34, /* heap */
    0x80, 0x02, 0,    0, 0, 0, 0x0f, 0xa0, /* its bytes */
    0x80, 0x03, 0,    0, 0, 0, 0x07, 0xd0, /* offset */
    0x80, 0x04, 0,    0, 0, 0, 0,    16,   /* bytes of this packet */
    0x96, 0x00, 0x01, 0, 0, 0, 0,    0x05, /* timestamp */
    0xc1, 0x01, 0,    0, 0, 0, 0,    7,    /* an antenna */
  };
  g_autoptr(AstroPackets) packets = open_packets("katgpucbf-antenna-voltage");
  guint8 bytes[sizeof begin + 16] = { 0 };
  AstroPacket packet;
  memcpy(bytes, begin, sizeof begin);
  parsed(packets, bytes, sizeof bytes, &packet);
  g_assert_cmpint(packet.kind, ==, ASTRO_PACKET_DATA);
  g_assert_cmpuint(packet.heap, ==, 0x1234);
  g_assert_cmpuint(packet.heap_bytes, ==, 4000);
  g_assert_cmpuint(packet.heap_offset, ==, 2000);
  g_assert_cmpuint(packet.payload, ==, sizeof begin);
  g_assert_cmpuint(packet.payload_bytes, ==, 16);
  g_assert_cmpuint(packet.count, ==, ((guint64)1 << 40) + 5);
  g_assert_cmpuint(packet.count_bits, ==, 48);
  g_assert_cmpuint(packet.station, ==, 7);

  refused(packets, bytes, sizeof bytes - 1, "expected 15 at most");
  bytes[7] = 9;
  refused(packets, bytes, sizeof bytes, "9 items");
  bytes[7] = 3;
  refused(packets, bytes, sizeof bytes, "lack");
  bytes[7] = 6;
  bytes[30] = 0x0f;
  bytes[31] = 0xa0 - 15;
  refused(packets, bytes, sizeof bytes, "outside its SPEAD heap");
  bytes[24] = 0;
  refused(packets, bytes, sizeof bytes, "place in the heap");
  bytes[24] = 0x80;
  bytes[25] = 2;
  refused(packets, bytes, sizeof bytes, "comes twice");
  bytes[3] = 4;
  refused(packets, bytes, sizeof bytes, "64-48");
  bytes[0] = 0;
  refused(packets, bytes, sizeof bytes, "SPEAD header");
}

/* Descriptors, a heap with only the sender's configuration, and stop packets. */
static void test_spead_aside(void)
{
  g_autoptr(AstroPackets) packets = open_packets("meerkat-digitiser");
  guint8 bytes[8 + 8 * 5 + 8] = { 0x53, 4, 3, 5, 0, 0, 0, 5 };
  static const guint16 items[] = { 1, 2, 3, 4 };
  for (guint i = 0; i < 4; i++) {
    bytes[8 + 8 * i] = 0x80;
    bytes[10 + 8 * i] = (guint8)items[i];
  }
  bytes[8 + 8 + 7] = 8;  /* of the heap */
  bytes[8 + 24 + 7] = 8; /* of the packet */
  guint8 *last = bytes + 8 + 32;
  AstroPacket packet;
  last[2] = 5;
  parsed(packets, bytes, sizeof bytes, &packet);
  g_assert_cmpint(packet.kind, ==, ASTRO_PACKET_ASIDE);
  last[0] = 0x80;
  last[2] = 6;
  last[7] = 2;
  parsed(packets, bytes, sizeof bytes, &packet);
  g_assert_cmpint(packet.kind, ==, ASTRO_PACKET_STOP);
  last[7] = 1; /* descriptors are said again */
  parsed(packets, bytes, sizeof bytes, &packet);
  g_assert_cmpint(packet.kind, ==, ASTRO_PACKET_ASIDE);
  last[1] = 0x33; /* 0x3300, but a value */
  last[2] = 0;
  parsed(packets, bytes, sizeof bytes, &packet);
  g_assert_cmpint(packet.kind, ==, ASTRO_PACKET_ASIDE);
  last[0] = 0;
  last[7] = 0;
  last[1] = 0;
  last[2] = 0x33; /* 64-40: the item has 23 bits, 40 of address */
  parsed(packets, bytes, sizeof bytes, &packet);
  g_assert_cmpint(packet.kind, ==, ASTRO_PACKET_ASIDE);
  last[1] = 0x33;
  last[2] = 0;
  parsed(packets, bytes, sizeof bytes, &packet);
  g_assert_cmpint(packet.kind, ==, ASTRO_PACKET_DATA);

  /* A later part of a heap only has an item for its place. */
  bytes[7] = 4;
  bytes[8 + 8 + 7] = 24;
  bytes[8 + 16 + 7] = 8;
  parsed(packets, bytes, sizeof bytes, &packet);
  g_assert_cmpint(packet.kind, ==, ASTRO_PACKET_DATA);
  g_assert_cmpuint(packet.heap_offset, ==, 8);
  g_assert_cmpuint(packet.count_bits, ==, 0);
}

/* As LOFAR's header is specified: version 3, board 2 of station 5 with a clock of 200 MHz. */
static void test_beamlet(void)
{
  guint8 bytes[16 + 2 * 3 * 2 * 2] = { 3, 0x82, 1, 0, 5, 0, 2, 3, 0x01, 0, 0, 0, 7 };
  g_autoptr(AstroPackets) packets = open_packets("lofar-beamlet");
  AstroPacket packet;
  parsed(packets, bytes, sizeof bytes, &packet);
  g_assert_true(packet.is_valid && packet.is_since_1970);
  g_assert_cmpuint(packet.station, ==, 5);
  g_assert_cmpuint(packet.thread, ==, 2);
  g_assert_cmpuint(packet.samples.bits, ==, 8);
  g_assert_cmpuint(packet.samples.layout.extents[0], ==, 2);
  g_assert_cmpuint(packet.samples.layout.extents[1], ==, 3);
  /* Blocks of the second second begin half a block late: 195312.5 fit in one. */
  g_assert_cmpuint(packet.count, ==, 195313 + 7);
  g_assert_cmpuint(packet.rate_n, ==, 390625);
  g_assert_cmpuint(packet.rate_d, ==, 2);
  g_assert_cmpuint(packet.bytes, ==, sizeof bytes);

  refused(packets, bytes, sizeof bytes - 1, "2 beamlets, 3 blocks, 8 bits");
  refused(packets, bytes, 15, "15 bytes");
  bytes[1] |= 0x40;
  parsed(packets, bytes, sizeof bytes, &packet);
  g_assert_false(packet.is_valid);
  bytes[2] = 3;
  refused(packets, bytes, sizeof bytes, "mode 3");
  bytes[2] = 1;
  bytes[14] = 3;
  refused(packets, bytes, sizeof bytes, "block 196615");
  bytes[14] = 0;
  bytes[0] = 9;
  refused(packets, bytes, sizeof bytes, "version 9");
  bytes[0] = 3;
  bytes[6] = 0;
  refused(packets, bytes, sizeof bytes, "0 beamlets");
}

static void test_described(void)
{
  g_autoptr(AstroPackets) packets = open_packets("@");
  guint8 bytes[16 + 30] = { 0, 0, 0, 1, 0, 2, 0, 9, 'S', 'Y', 'N', 'C', 0x34, 0x12 };
  AstroPacket packet;
  parsed(packets, bytes, sizeof bytes, &packet);
  g_assert_cmpuint(packet.count, ==, 0x10002);
  g_assert_cmpuint(packet.count_bits, ==, 48);
  g_assert_true(packet.counts_packets && packet.is_valid && !packet.has_second);
  g_assert_cmpuint(packet.station, ==, 9);
  g_assert_cmpuint(packet.channel, ==, 0x1234);
  g_assert_cmpuint(packet.pol, ==, ASTRO_PACKET_UNKNOWN);
  g_assert_cmpuint(packet.payload_bytes, ==, 30);
  bytes[14] = 0x7e;
  parsed(packets, bytes, sizeof bytes, &packet);
  g_assert_true(packet.is_valid);
  bytes[14] = 0x80;
  parsed(packets, bytes, sizeof bytes, &packet);
  g_assert_false(packet.is_valid);
  refused(packets, bytes, sizeof bytes - 1, "45 bytes");
  bytes[9] = 'y';
  refused(packets, bytes, sizeof bytes, "bytes at 8");
}

#define GOOD "sequence big 0 6\npayload 16\norder time:pol\nsteps 4\npols 2\nbits 8 complex\n"

#define HEAP                                                                                       \
  "spead 48\nsequence item 0x1600\nsamples item 0x4300\norder time\nsteps 4\nbits 8 real\n"

static void test_descriptions_refused(void)
{
  static const struct {
    const char *text, *says;
  } cases[] = {
    { GOOD "station big 4 2\n", "test:7: byte 4 has another meaning" },
    { GOOD "station big 255 2\n", "ends at byte 257" },
    { GOOD "station middle 6 2\n", "big or little" },
    { GOOD "station big 6 9\n", "1 to 8 bytes" },
    { GOOD "station big 15 2\n", "byte 16 belongs to the header and to the samples" },
    { GOOD "station big 6\n", "\"station\" with 2 values says nothing" },
    { GOOD "stations 2\n", "no axis station" },
    { GOOD "steps 4\n", "steps is there twice" },
    { GOOD "magic 8 5\n", "hexadecimal" },
    { GOOD "magic 8 zz\n", "hexadecimal" },
    { GOOD "invalid big 8 1 0x100\n", "not in 1 bytes" },
    { GOOD "code grey\n", "signed, offset" },
    { GOOD "packing none\n", "little, big, words" },
    { GOOD "counts apples\n", "\"apples\"" },
    { GOOD "colour red\n", "says nothing of a packet" },
    { "sequence big 0 6\npayload 16\norder time\nsteps 4\n", "without a line \"bits\"" },
    { "sequence big 0 6\npayload 16\norder time:pol\nsteps 4\nbits 8 real\n", "axis pol" },
    { "sequence big 0 6\npayload 16\norder time:time\nsteps 4\nbits 8 real\n", "test:3: " },
    { "sequence big 0 6\npayload 16\norder time\nsteps 3\nbits 1 real\n", "whole bytes" },
    { "sequence big 0 6\npayload 16\norder time\nsteps 0\nbits 1 real\n", "from 1 on" },
    { "sequence big 0 6\npayload 16\norder time\nsteps 134217728\nbits 32 complex\n", "2^27" },
    { "sequence big 0 6\npayload 0\n", "begin at \"0\"" },
    { "bits 33 real\n", "1 to 32 bits" },
    { "bits 3 both\n", "real or complex" },
    { "", "without a line \"sequence\"" },
    { HEAP "spead 32\n", "spead is there twice" },
    { "spead 32\n", "\"32\" bits, expected 48 or 40" },
    { HEAP "pol item 3\n", "pol item and its number, 7 to 32767" },
    { HEAP "pol at 0x1000\n", "\"pol\" with 2 values says nothing" },
    { HEAP "station big 0 2\n", "heaps of SPEAD have items" },
    { HEAP "payload 8\n", "heaps of SPEAD have items" },
    { GOOD "station item 0x1000\n", "no line \"spead\"" },
    { "spead 48\nsequence item 7\norder time\nsteps 4\nbits 8 real\n",
      "without a line \"samples\"" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_null(test_describe(cases[i].text, &error));
    test_says(error ? error->message : NULL, cases[i].says);
  }
  g_autoptr(AstroPackets) good = test_describe(GOOD, NULL);
  g_assert_nonnull(good);
}

static void test_names(void)
{
  g_autoptr(GError) error = NULL;
  g_assert_null(astro_packets_new("morse", &error));
  for (const AstroPacketName *name = astro_packets_names(); name->name; name++)
    test_says(error->message, name->name);
  g_clear_error(&error);
  g_assert_null(astro_packets_new("@/nowhere/at all", &error));
  test_says(error->message, "/nowhere/at all");
}

/* Random packets that a format's writer takes. */
static guint64 below(guint64 *state, guint64 n)
{
  return astro_split_mix(state) % n;
}

/* Frames of other lengths do not tell a rate. */
#define TELLING_BYTES 1000

static void random_vdif(guint64 *state, AstroPacket *packet)
{
  static const guint parts_bits[] = { 1, 2, 4, 8, 16, 32, 3, 10, 17 };
  packet->samples = (AstroPacketSamples){ .bits = parts_bits[below(state, 9)],
                                          .is_complex = (gboolean)below(state, 2),
                                          .packing = ASTRO_PACKET_WORDS,
                                          .code = ASTRO_PACKET_OFFSET };
  AstroLayout *layout = &packet->samples.layout;
  *layout = (AstroLayout){ 2, { ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL }, { 1, 1 } };
  const gboolean is_power = (packet->samples.bits & (packet->samples.bits - 1)) == 0;
  layout->extents[1] = is_power ? 1u << below(state, 6) : 1;
  do {
    packet->payload_bytes = below(state, 3) ? 8 * (1 + below(state, 300)) : TELLING_BYTES;
    layout->extents[0] = astro_packet_payload_steps(&packet->samples, packet->payload_bytes);
  } while (layout->extents[0] == 0);
  packet->is_valid = (gboolean)below(state, 2);
  packet->station = below(state, 1 << 16);
  packet->thread = below(state, 1 << 10);
  packet->has_second = packet->counts_packets = TRUE;
  packet->second = 946684800 + (gint64)below(state, 900000000);
  packet->count = below(state, 1 << 24);
  packet->count_bits = 24;
  packet->vdif.is_legacy = (gboolean)below(state, 2);
  packet->vdif.is_vtp = (gboolean)below(state, 2);
  packet->vdif.serial = packet->vdif.is_vtp ? astro_split_mix(state) : 0;
  const guint64 rate = layout->extents[0] * 16000 * (1 + below(state, 40));
  if (!packet->vdif.is_legacy && packet->payload_bytes == TELLING_BYTES && below(state, 2) &&
      rate / 16000000 < 1000) {
    packet->rate_n = rate;
    packet->rate_d = 1;
    packet->packets_a_second = rate / layout->extents[0];
  }
}

static void random_spead(guint64 *state, AstroPacket *packet, const AstroPackets *packets)
{
  const AstroSpeadItems *items = &packets->spead->items;
  packet->spead_address = below(state, 2) ? 48 : 40;
  const guint64 most = ((guint64)1 << packet->spead_address) - 1;
  packet->kind = (AstroPacketKind)below(state, 3);
  packet->heap = astro_split_mix(state) & most;
  packet->heap_bytes = 1 + below(state, 1 << 20);
  packet->payload_bytes = 1 + below(state, MIN(packet->heap_bytes, 9000));
  packet->heap_offset = below(state, packet->heap_bytes - packet->payload_bytes + 1);
  packet->samples = packets->spead->samples;
  if (items->time) {
    packet->count = astro_split_mix(state) & most;
    packet->count_bits = packet->spead_address;
    packet->count_step = packets->spead->count_step;
  }
  if (items->station)
    packet->station = astro_split_mix(state) & most;
  if (items->channel)
    packet->channel = astro_split_mix(state) & most;
}

static void random_beamlet(guint64 *state, AstroPacket *packet)
{
  static const guint bits[] = { 16, 8, 4 };
  packet->samples = (AstroPacketSamples){
    .bits = bits[below(state, 3)],
    .is_complex = TRUE,
    .layout = { 3,
                { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_TIME, ASTRO_AXIS_POL },
                { 1 + below(state, 255), 1 + below(state, 255), 2 } },
  };
  packet->payload_bytes = astro_packet_payload_bytes(&packet->samples);
  packet->is_valid = (gboolean)below(state, 2);
  packet->station = below(state, 1 << 16);
  packet->thread = below(state, 32);
  packet->count = below(state, (guint64)G_MAXUINT32 * 156250);
  packet->count_bits = 64;
  packet->count_step = 1;
  packet->is_since_1970 = TRUE;
  packet->rate_n = below(state, 2) ? 390625 : 156250;
  packet->rate_d = packet->rate_n == 390625 ? 2 : 1;
}

static void random_described(guint64 *state, AstroPacket *packet, const AstroPackets *packets)
{
  guint8 bytes[46] = { [8] = 'S', [9] = 'Y', [10] = 'N', [11] = 'C' };
  parsed(packets, bytes, sizeof bytes, packet); /* for the samples, which are always the same */
  packet->count = astro_split_mix(state) >> 16;
  packet->station = below(state, 1 << 16);
  packet->channel = below(state, 1 << 16);
  packet->is_valid = (gboolean)below(state, 2);
}

/* Packets that were written can be read again if they are as long as they say, but not if they are
 * shorter. */
static void test_round_trip(gconstpointer data)
{
  const char *name = data;
  g_autoptr(AstroPackets) packets = open_packets(name);
  g_autofree guint8 *bytes = g_malloc(1 << 19);
  guint64 state = 37;
  for (guint i = 0; i < 3000 / TEST_STEP; i++) {
    g_autoptr(GError) error = NULL;
    guint8 header[ASTRO_PACKET_MAX_HEADER];
    AstroPacket sent, came;
    astro_packet_init(&sent);
    if (strcmp(name, "vdif") == 0)
      random_vdif(&state, &sent);
    else if (strcmp(name, "lofar-beamlet") == 0)
      random_beamlet(&state, &sent);
    else if (*name == '@')
      random_described(&state, &sent, packets);
    else
      random_spead(&state, &sent, packets);
    memset(header, 0xa5, sizeof header);
    const gsize length = astro_packets_write(packets, &sent, header, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(length, >, 0);
    sent.payload = length;
    sent.bytes = length + sent.payload_bytes;
    memcpy(bytes, header, length);
    test_fill(bytes + length, sent.payload_bytes, i);
    parsed(packets, bytes, sent.bytes, &came);
    g_assert_cmpmem(&sent, sizeof sent, &came, sizeof came);
    g_assert_false(astro_packets_parse(packets, bytes, sent.bytes - 1, &came, NULL));
  }
}

/* A header that cannot express something is not written. */
static void test_not_written(void)
{
  static const char *const names[] = { "vdif", "lofar-beamlet", "katgpucbf-antenna-voltage", "@" };
  for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
    g_autoptr(AstroPackets) packets = open_packets(names[i]);
    g_autoptr(GError) error = NULL;
    guint8 header[ASTRO_PACKET_MAX_HEADER];
    guint64 state = 1;
    AstroPacket good;
    astro_packet_init(&good);
    g_assert_cmpuint(astro_packets_write(packets, &good, header, &error), ==, 0);
    g_assert_error(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_WRITE);
    if (i == 0)
      random_vdif(&state, &good);
    else if (i == 1)
      random_beamlet(&state, &good);
    else if (i == 2)
      random_spead(&state, &good, packets);
    else
      random_described(&state, &good, packets);
    good.station = (guint64)1 << 50;
    g_clear_error(&error);
    g_assert_cmpuint(astro_packets_write(packets, &good, header, &error), ==, 0);
    g_assert_error(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_WRITE);
  }
  g_autoptr(AstroPackets) vdif = open_packets("vdif");
  guint64 state = 2;
  guint8 header[ASTRO_PACKET_MAX_HEADER];
  AstroPacket packet;
  g_autoptr(GError) error = NULL;
  astro_packet_init(&packet);
  random_vdif(&state, &packet);
  packet.second = 900000000; /* 1998 */
  g_assert_cmpuint(astro_packets_write(vdif, &packet, header, &error), ==, 0);
  test_says(error->message, "begin in 2000");
}

static void add_tests(void)
{
  static const char *const names[] = {
    "vdif", "spead", "katgpucbf-antenna-voltage", "meerkat-digitiser", "lofar-beamlet", "@described"
  };
  g_test_add_func("/packets/vdif", test_vdif);
  g_test_add_func("/packets/vdif/vtp", test_vdif_vtp);
  g_test_add_func("/packets/vdif/leap", test_vdif_leap);
  g_test_add_func("/packets/spead", test_spead);
  g_test_add_func("/packets/spead/aside", test_spead_aside);
  g_test_add_func("/packets/lofar-beamlet", test_beamlet);
  g_test_add_func("/packets/described", test_described);
  g_test_add_func("/packets/descriptions-refused", test_descriptions_refused);
  g_test_add_func("/packets/names", test_names);
  g_test_add_func("/packets/not-written", test_not_written);
  for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
    g_autofree char *path = g_strdup_printf("/packets/round-trip/%s", names[i]);
    g_test_add_data_func(path, names[i], test_round_trip);
  }
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
