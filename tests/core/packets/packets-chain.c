/* The whole path of each format: a block is cut into packets, which a bad network loses, doubles
 * and reorders. Those that arrive are read, placed and unpacked, and equal what was sent except for
 * what was lost, which is counted. */
#include "core/packets/lossy.h"
#include "core/packets/place.h"
#include "core/packets/sequence.h"
#include "core/packets/window.h"
#include "tests/core/packets/packets.h"
#include "tests/tests.h"

#define STATIONS 2u
#define THREADS 2u /* of a station: its polarisations, or halves of the band */
#define STREAMS (STATIONS * THREADS)
#define BLOCK 8u
#define BLOCKS 40u
#define PACKETS (BLOCK * BLOCKS) /* of a stream */

typedef struct {
  const char *name;
  const char *out;
  AstroPacketSamples samples;
  guint64 channels, pols; /* of the stream */
  guint64 channel_step;   /* from thread to thread; 0: threads are polarisations */
} Case;

static const Case cases[] = {
  { .name = "vdif",
    .out = "time:station:pol",
    .samples = { .bits = 2,
                 .packing = ASTRO_PACKET_WORDS,
                 .code = ASTRO_PACKET_OFFSET,
                 .layout = { 2, { ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL }, { 64, 1 } } },
    .channels = 1,
    .pols = THREADS },
  { .name = "vdif",
    .out = "time:station:pol",
    .samples = { .bits = 8,
                 .is_complex = TRUE,
                 .packing = ASTRO_PACKET_WORDS,
                 .code = ASTRO_PACKET_OFFSET,
                 .layout = { 2, { ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL }, { 20, 1 } } },
    .channels = 1,
    .pols = THREADS },
  { .name = "lofar-beamlet",
    .out = "time:station:channel:pol",
    .samples = { .bits = 4,
                 .is_complex = TRUE,
                 .layout = { 3,
                             { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_TIME, ASTRO_AXIS_POL },
                             { 3, 5, 2 } } },
    .channels = 3 * THREADS,
    .pols = 2,
    .channel_step = 3 },
  { .name = "@described",
    .out = "channel:station:pol:time",
    .samples = { .bits = 4,
                 .is_complex = TRUE,
                 .packing = ASTRO_PACKET_BITS_BIG,
                 .layout = { 3,
                             { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_TIME, ASTRO_AXIS_POL },
                             { 3, 5, 2 } } },
    .channels = 3 * THREADS,
    .pols = 2,
    .channel_step = 3 },
};

typedef struct {
  gsize bytes;
  guint stream;
  guint8 data[];
} Datagram;

typedef struct {
  const Case *what;
  AstroPackets *packets;
  AstroPlaceConfig place;
  AstroPlaceStream streams[STREAMS];
  gsize block_bytes, packet_bytes; /* unpacked */
  guint8 *sent[BLOCKS];
  guint64 first; /* number of the first packet */

  AstroSequence sequence[STREAMS];
  AstroWindow *window;
  guint64 dropped[STREAMS], doubled[STREAMS]; /* by the network */
  guint closed;
  guint64 lost;
} Chain;

static AstroStream stream_of(const Case *what)
{
  AstroStream out = { .quantity = ASTRO_QUANTITY_SPECTRA,
                      .format = astro_packet_format(&what->samples) };
  astro_layout_parse(&out.layout, what->out, ASTRO_QUANTITY_SPECTRA, NULL);
  for (guint i = 0; i < out.layout.n_axes; i++)
    out.layout.extents[i] = out.layout.axes[i] == ASTRO_AXIS_STATION   ? STATIONS
                            : out.layout.axes[i] == ASTRO_AXIS_CHANNEL ? what->channels
                            : out.layout.axes[i] == ASTRO_AXIS_POL     ? what->pols
                                                                       : 0;
  return out;
}

static gpointer open_block(gpointer user, guint64 first)
{
  const Chain *chain = user;
  (void)first;
  return test_alloc(chain->block_bytes);
}

static void drop_block(gpointer user, gpointer data)
{
  (void)user;
  test_free(data);
}

/* All packets arrive except those that are lost. */
static void close_block(gpointer user, const AstroWindowBlock *told)
{
  Chain *chain = user;
  /* A count of 48 bits wraps to zero. */
  const guint64 first = told->first % ((guint64)1 << 48);
  guint8 *wanted = chain->sent[(first - chain->first) / BLOCK];
  for (guint stream = 0; stream < STREAMS; stream++)
    for (guint packet = 0; packet < BLOCK; packet++)
      if (!told->came[stream * BLOCK + packet]) {
        astro_place_zeros(&chain->place, stream, packet, told->data, BLOCK);
        astro_place_zeros(&chain->place, stream, packet, wanted, BLOCK);
      }
  test_check_guard(told->data, chain->block_bytes);
  g_assert_cmpmem(told->data, chain->block_bytes, wanted, chain->block_bytes);
  chain->lost += told->lost;
  chain->closed++;
  test_free(told->data);
}

static void receive(Chain *chain, const Datagram *datagram)
{
  g_autoptr(GError) error = NULL;
  AstroPacket packet;
  AstroWindowPlace place;
  guint64 number = 0;
  astro_packets_parse(chain->packets, datagram->data, datagram->bytes, &packet, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(packet.bytes, ==, datagram->bytes);
  const guint64 thread =
      strcmp(chain->what->name, "@described") == 0 ? packet.channel / 3 : packet.thread;
  const guint stream = (guint)(packet.station * THREADS + thread);
  g_assert_cmpuint(stream, ==, datagram->stream);
  g_assert_cmpint(astro_sequence_find(&chain->sequence[stream], &packet, &number), ==,
                  ASTRO_SEQUENCE_KNOWN);
  if (astro_window_take(chain->window, stream, number, &place) != ASTRO_WINDOW_PLACED)
    return;
  astro_sequence_follow(&chain->sequence[stream], &packet);
  g_autofree guint8 *samples = g_malloc(chain->packet_bytes);
  astro_packet_unpack(&packet.samples, datagram->data + packet.payload, samples);
  astro_place_samples(&chain->place, stream, place.packet, samples, place.data, BLOCK);
}

static void carry(gpointer user, gpointer packet, gboolean is_copy)
{
  Chain *chain = user;
  receive(chain, packet);
  if (is_copy)
    chain->doubled[((Datagram *)packet)->stream]++;
  else
    g_free(packet);
}

static AstroPacket header_of(const Chain *chain, guint stream, guint64 number)
{
  const guint64 thread = stream % THREADS;
  AstroPacket packet;
  astro_packet_init(&packet);
  packet.samples = chain->what->samples;
  packet.payload_bytes = astro_packet_payload_bytes(&packet.samples);
  packet.station = stream / THREADS;
  packet.thread = thread;
  packet.count = number;
  if (strcmp(chain->what->name, "vdif") == 0) {
    packet.has_second = TRUE;
    packet.second = (gint64)(number / 1000);
    packet.count = number % 1000;
    packet.rate_n = 1000 * packet.samples.layout.extents[0];
    packet.rate_d = 1;
  } else if (*chain->what->name == '@') {
    packet.channel = thread * chain->what->channel_step;
  } else {
    packet.count = number * packet.samples.layout.extents[1];
    packet.is_since_1970 = TRUE;
    packet.rate_n = 390625;
    packet.rate_d = 2;
  }
  return packet;
}

static void transmit(Chain *chain, AstroLossy *network, guint64 number, guint stream)
{
  g_autoptr(GError) error = NULL;
  guint8 header[ASTRO_PACKET_MAX_HEADER];
  const AstroPacket packet = header_of(chain, stream, number);
  const gsize length = astro_packets_write(chain->packets, &packet, header, &error);
  g_assert_no_error(error);
  g_autofree guint8 *samples = g_malloc(chain->packet_bytes);
  const guint64 at = number - chain->first;
  astro_place_gather(&chain->place, stream, (guint)(at % BLOCK), chain->sent[at / BLOCK], samples,
                     BLOCK);
  Datagram *datagram = g_malloc(sizeof *datagram + length + packet.payload_bytes);
  datagram->bytes = length + packet.payload_bytes;
  datagram->stream = stream;
  memcpy(datagram->data, header, length);
  astro_packet_pack(&packet.samples, samples, datagram->data + length);
  /* The first and last packets arrive, so that the receiver knows how much was sent. */
  if (at == 0 || at == PACKETS - 1)
    carry(chain, datagram, FALSE);
  else if (!astro_lossy_take(network, datagram))
    chain->dropped[stream]++;
}

/* Only samples that the format's bits can hold. */
static void fill_block(const Chain *chain, guint8 *block, guint32 seed)
{
  const gsize bytes = astro_packet_payload_bytes(&chain->what->samples);
  g_autofree guint8 *payload = g_malloc(bytes), *samples = g_malloc(chain->packet_bytes);
  for (guint i = 0; i < STREAMS * BLOCK; i++) {
    test_fill(payload, bytes, seed * 1000 + i);
    astro_packet_unpack_reference(&chain->what->samples, payload, samples);
    astro_place_samples(&chain->place, i % STREAMS, i / STREAMS, samples, block, BLOCK);
  }
}

static void test_chain(gconstpointer data)
{
  static const AstroWindowFunctions functions = { open_block, close_block, drop_block };
  static const AstroWindowConfig reach = { STREAMS, BLOCK, 2 * ASTRO_LOSSY_REACH };
  static const AstroLossyConfig bad = { .loss = 0.05, .duplicate = 0.1, .reorder = 0.3, .seed = 7 };
  const Case *what = data;
  g_autoptr(GError) error = NULL;
  Chain chain = { .what = what, .first = 1700000000000 / BLOCK * BLOCK };
  if (*what->name == '@')
    chain.packets = test_describe(TEST_DESCRIPTION, &error);
  else
    chain.packets = astro_packets_new(what->name, &error);
  g_assert_no_error(error);
  for (guint i = 0; i < STREAMS; i++)
    chain.streams[i] = (AstroPlaceStream){ .station = i / THREADS,
                                           .pol = what->channel_step ? 0 : i % THREADS,
                                           .channel = i % THREADS * what->channel_step };
  chain.place = (AstroPlaceConfig){ stream_of(what), what->samples, STREAMS, chain.streams };
  astro_place_check(&chain.place, &error);
  g_assert_no_error(error);
  const guint64 steps = what->samples.layout.extents[*what->name == 'v' ? 0 : 1];
  chain.block_bytes = astro_stream_step_bytes(&chain.place.out) * steps * BLOCK;
  chain.packet_bytes = chain.block_bytes / (STREAMS * BLOCK);
  for (guint i = 0; i < BLOCKS; i++) {
    chain.sent[i] = test_alloc(chain.block_bytes);
    fill_block(&chain, chain.sent[i], i);
    test_check_guard(chain.sent[i], chain.block_bytes);
  }
  for (guint i = 0; i < STREAMS; i++) /* frames as short as these do not tell it */
    chain.sequence[i].packets_a_second = 1000;
  chain.window = astro_window_new(&reach, &functions, &chain);
  AstroLossy *network = astro_lossy_new(&bad, carry, g_free, &chain);
  for (guint64 i = 0; i < PACKETS - 1; i++)
    for (guint stream = 0; stream < STREAMS; stream++)
      transmit(&chain, network, chain.first + i, stream);
  astro_lossy_finish(network);
  for (guint stream = 0; stream < STREAMS; stream++)
    transmit(&chain, network, chain.first + PACKETS - 1, stream);
  astro_window_finish(chain.window);

  const AstroLossyCounts counts = astro_lossy_counts(network);
  guint64 doubled = 0;
  for (guint stream = 0; stream < STREAMS; stream++) {
    const AstroWindowCounts came = astro_window_counts(chain.window, stream);
    g_assert_cmpuint(came.packets, ==, PACKETS - chain.dropped[stream]);
    g_assert_cmpuint(came.lost, ==, chain.dropped[stream]);
    g_assert_cmpuint(came.duplicate, ==, chain.doubled[stream]);
    g_assert_cmpuint(came.late + came.far, ==, 0);
    doubled += chain.doubled[stream];
  }
  g_assert_cmpuint(counts.taken, ==, STREAMS * (PACKETS - 2));
  g_assert_cmpuint(counts.lost, >, 0);
  g_assert_cmpuint(counts.reordered, >, 0);
  g_assert_cmpuint(counts.lost, ==, chain.lost);
  g_assert_cmpuint(counts.doubled, ==, doubled);
  g_assert_cmpuint(chain.closed, ==, BLOCKS);
  astro_lossy_free(network);
  astro_window_free(chain.window);
  astro_packets_free(chain.packets);
  for (guint i = 0; i < BLOCKS; i++)
    test_free(chain.sent[i]);
}

static void note(gpointer user, gpointer packet, gboolean is_copy)
{
  (void)is_copy;
  g_array_append_val((GArray *)user, packet);
}

static guint released;
static void release(gpointer packet)
{
  (void)packet;
  released++;
}

static GArray *play(const AstroLossyConfig *config, AstroLossyCounts *counts)
{
  GArray *numbers = g_array_new(FALSE, FALSE, sizeof(gpointer));
  g_autoptr(AstroLossy) network = astro_lossy_new(config, note, release, numbers);
  for (guint i = 1; i <= 2000; i++)
    astro_lossy_take(network, GUINT_TO_POINTER(i));
  astro_lossy_finish(network);
  *counts = astro_lossy_counts(network);
  return numbers;
}

/* The same seed gives the same network, a perfect network changes nothing, and no packet is
 * displaced farther than the limit. */
static void test_network(void)
{
  AstroLossyConfig config = { .seed = 5 };
  AstroLossyCounts counts, again;
  g_autoptr(GArray) good = play(&config, &counts);
  for (guint i = 0; i < 2000; i++)
    g_assert_cmpuint(GPOINTER_TO_UINT(g_array_index(good, gpointer, i)), ==, i + 1);
  g_assert_cmpuint(good->len, ==, 2000);

  config.reorder = 0.5;
  g_autoptr(GArray) mixed = play(&config, &counts);
  guint moved = 0;
  g_assert_cmpuint(mixed->len, ==, 2000);
  for (guint i = 0; i < 2000; i++) {
    const gint away = (gint)GPOINTER_TO_UINT(g_array_index(mixed, gpointer, i)) - (gint)i - 1;
    g_assert_cmpint(ABS(away), <=, 4 * ASTRO_LOSSY_REACH);
    moved += away != 0;
  }
  g_assert_cmpuint(moved, >, 500);

  config = (AstroLossyConfig){ 0.1, 0.1, 0.1, 9 };
  released = 0;
  g_autoptr(GArray) first = play(&config, &counts);
  g_assert_cmpuint(released, ==, counts.lost);
  g_assert_cmpuint(first->len, ==, 2000 - counts.lost + counts.doubled);
  g_assert_cmpuint(counts.lost, >, 150);
  g_assert_cmpuint(counts.lost, <, 250);
  g_autoptr(GArray) second = play(&config, &again);
  g_assert_cmpmem(first->data, first->len * sizeof(gpointer), second->data,
                  second->len * sizeof(gpointer));
  config.seed = 10;
  g_autoptr(GArray) other = play(&config, &again);
  g_assert_false(other->len == first->len &&
                 memcmp(other->data, first->data, first->len * sizeof(gpointer)) == 0);
}

static void add_tests(void)
{
  g_test_add_func("/packets/network", test_network);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *path =
        g_strdup_printf("/packets/chain/%s-%u", cases[i].name, cases[i].samples.bits);
    g_test_add_data_func(path, &cases[i], test_chain);
  }
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
