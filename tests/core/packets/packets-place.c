/* Samples of packets are placed in blocks of any order, compared with one sample at a time found by
 * axis names, with counts of missing ones; gathered again; and what does not fit is refused. */
#include "core/kit/split-mix.h"
#include "core/packets/turn.h"
#include "tests/tests.h"

#define STATIONS 3u
#define CHANNELS 4u /* in two packets of 2 */
#define POLS 2u
#define STEPS 5u
#define PACKETS 4u
#define STREAMS (STATIONS * CHANNELS / 2)

static AstroLayout layout_of(const char *text)
{
  static const struct {
    AstroAxis axis;
    guint64 extent;
  } extents[] = { { ASTRO_AXIS_STATION, STATIONS },
                  { ASTRO_AXIS_CHANNEL, CHANNELS },
                  { ASTRO_AXIS_POL, POLS } };
  AstroLayout layout;
  g_autoptr(GError) error = NULL;
  astro_layout_parse(&layout, text, ASTRO_QUANTITY_SPECTRA, &error);
  g_assert_no_error(error);
  for (guint i = 0; i < layout.n_axes; i++)
    for (guint k = 0; k < G_N_ELEMENTS(extents); k++)
      if (layout.axes[i] == extents[k].axis)
        layout.extents[i] = extents[k].extent;
  return layout;
}

/* Streams in an order of their own: the last station first. */
static void stand(AstroPlaceStream streams[STREAMS])
{
  for (guint i = 0; i < STREAMS; i++)
    streams[i] = (AstroPlaceStream){ .station = STATIONS - 1 - i / 2, .channel = i % 2 * 2 };
}

static AstroPlaceConfig config_of(const char *packet, const char *out,
                                  const AstroPlaceStream *streams)
{
  AstroPlaceConfig config = {
    .out = { .quantity = ASTRO_QUANTITY_SPECTRA,
             .format = ASTRO_FORMAT_CI8,
             .layout = layout_of(out) },
    .samples = { .bits = 8, .is_complex = TRUE, .layout = layout_of(packet) },
    .n_streams = STREAMS,
    .streams = streams,
  };
  AstroLayout *layout = &config.samples.layout;
  for (guint i = 0; i < layout->n_axes; i++)
    layout->extents[i] = layout->axes[i] == ASTRO_AXIS_TIME      ? STEPS
                         : layout->axes[i] == ASTRO_AXIS_CHANNEL ? 2
                                                                 : layout->extents[i];
  return config;
}

/* A sample's index in a shape, from its index along each axis. */
static guint64 index_of(const AstroLayout *shape, const guint64 place[ASTRO_N_AXES])
{
  guint64 index = 0;
  for (guint i = 0; i < shape->n_axes; i++)
    index = index * shape->extents[i] + place[shape->axes[i]];
  return index;
}

static void check_block(const AstroPlaceConfig *config, const guint16 *block,
                        const guint16 packets[STREAMS][PACKETS][STEPS * POLS * 2],
                        const guint8 came[STREAMS][PACKETS], const AstroValidityMeta *meta)
{
  AstroLayout shape;
  astro_stream_shape(&config->out, STEPS * PACKETS, &shape);
  for (guint stream = 0; stream < STREAMS; stream++)
    for (guint packet = 0; packet < PACKETS; packet++)
      for (guint step = 0; step < STEPS; step++)
        for (guint channel = 0; channel < 2; channel++)
          for (guint pol = 0; pol < POLS; pol++) {
            guint64 in[ASTRO_N_AXES] = {
              [ASTRO_AXIS_TIME] = step, [ASTRO_AXIS_CHANNEL] = channel, [ASTRO_AXIS_POL] = pol
            };
            guint64 out[ASTRO_N_AXES] = { [ASTRO_AXIS_TIME] = packet * STEPS + step,
                                          [ASTRO_AXIS_STATION] = config->streams[stream].station,
                                          [ASTRO_AXIS_CHANNEL] =
                                              config->streams[stream].channel + channel,
                                          [ASTRO_AXIS_POL] = pol };
            guint64 at[ASTRO_MAX_AXES];
            for (guint i = 0; i < shape.n_axes; i++)
              at[i] = out[shape.axes[i]];
            const guint16 wanted =
                came[stream][packet]
                    ? packets[stream][packet][index_of(&config->samples.layout, in)]
                    : 0;
            g_assert_cmphex(block[index_of(&shape, out)], ==, wanted);
            g_assert_cmpuint(astro_validity_at(meta, &shape, at), ==, came[stream][packet]);
          }
}

static void test_orders(void)
{
  static const char *const outs[] = { "time:station:channel:pol", "channel:station:pol:time",
                                      "time:channel:pol:station", "station:time:pol:channel" };
  static const char *const ins[] = { "channel:time:pol", "time:channel:pol", "pol:channel:time",
                                     "time:pol:channel" };
  guint64 state = 3;
  for (guint o = 0; o < G_N_ELEMENTS(outs); o++)
    for (guint i = 0; i < G_N_ELEMENTS(ins); i++) {
      AstroPlaceStream streams[STREAMS];
      guint16 packets[STREAMS][PACKETS][STEPS * POLS * 2];
      guint8 came[STREAMS][PACKETS];
      g_autoptr(GError) error = NULL;
      const gsize bytes = sizeof packets;
      guint16 *block = test_alloc(bytes);
      stand(streams);
      const AstroPlaceConfig config = config_of(ins[i], outs[o], streams);
      astro_place_check(&config, &error);
      g_assert_no_error(error);
      test_fill(packets, sizeof packets, o * 10 + i);
      for (guint n = 0; n < STREAMS * PACKETS; n++) {
        const guint stream = n % STREAMS, packet = n / STREAMS;
        came[stream][packet] = astro_split_mix(&state) % 3 != 0;
        if (came[stream][packet])
          astro_place_samples(&config, stream, packet, packets[stream][packet], block, PACKETS);
        else
          astro_place_zeros(&config, stream, packet, block, PACKETS);
      }
      test_check_guard(block, bytes);
      for (guint n = 0; n < STREAMS * PACKETS; n++) {
        guint16 gathered[STEPS * POLS * 2];
        const guint stream = n % STREAMS, packet = n / STREAMS;
        astro_place_gather(&config, stream, packet, block, gathered, PACKETS);
        if (came[stream][packet])
          g_assert_cmpmem(gathered, sizeof gathered, packets[stream][packet], sizeof gathered);
        else
          for (guint k = 0; k < G_N_ELEMENTS(gathered); k++)
            g_assert_cmphex(gathered[k], ==, 0);
      }
      g_autoptr(GstBuffer) buffer = gst_buffer_new();
      AstroLayout shape;
      const AstroValidityMeta *meta = astro_place_validity(&config, &came[0][0], PACKETS, buffer);
      astro_stream_shape(&config.out, STEPS * PACKETS, &shape);
      astro_validity_check(meta, &shape, &error);
      g_assert_no_error(error);
      check_block(&config, block, (const guint16(*)[PACKETS][STEPS * POLS * 2]) packets,
                  (const guint8(*)[PACKETS])came, meta);
      test_free(block);
    }
}

static void refused(const AstroPlaceConfig *config, const char *says)
{
  g_autoptr(GError) error = NULL;
  g_assert_false(astro_place_check(config, &error));
  test_says(error->message, says);
}

static void test_refused(void)
{
  AstroPlaceStream streams[STREAMS];
  stand(streams);
  const AstroPlaceConfig good = config_of("channel:time:pol", "time:station:channel:pol", streams);
  g_assert_true(astro_place_check(&good, NULL));
  AstroPlaceConfig config = good;
  config.out.format = ASTRO_FORMAT_CI16LE;
  refused(&config, "become CI8, and the stream has CI16LE");
  config = good;
  config.samples.layout.extents[0] = 3;
  refused(&config, "packets with 3 along the axis channel do not make up the stream's 4");
  config = config_of("channel:time:pol", "time:station:channel", streams);
  refused(&config, "an axis pol, and the stream has none");
  config = good;
  config.samples.layout.n_axes = 0;
  refused(&config, "how their samples lie");
  config = good;
  config.n_streams--;
  refused(&config, "5 streams of packets, and the stream has 6 parts");
  streams[0].station = STATIONS;
  refused(&good, "stream 0 of packets begins at station 3");
  streams[0].station = 0;
  streams[0].channel = 1;
  refused(&good, "channel 1, which no part");
  streams[0].channel = 0;
  refused(&good, "streams 0 and 4 of packets have the same place");
}

/* Rows that are turned make the block that packets make one by one; a packet that is missing in a
 * row is zeros there. */
static void test_turned(void)
{
  static const char *const orders[][2] = {
    { "channel:time:pol", "channel:time:station:pol" },
    { "time:channel:pol", "channel:time:station:pol" },
    { "channel:time:pol", "time:channel:station:pol" },
    { "pol:channel:time", "station:channel:time:pol" },
    { "channel:pol:time", "channel:station:pol:time" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(orders); i++) {
    AstroPlaceStream streams[STREAMS] = { 0 };
    AstroPlaceConfig config = config_of(orders[i][0], orders[i][1], streams);
    AstroPacketGroups groups;
    g_assert_true(astro_packet_groups_init(&groups, &config.out, &config.samples, NULL));
    g_assert_cmpuint(astro_packet_groups_n(&groups), ==, STREAMS);
    for (guint k = 0; k < STREAMS; k++)
      streams[k] = astro_packet_groups_first(&groups, k);
    const gsize bytes = astro_packet_payload_bytes(&config.samples);
    const gsize block = bytes * STREAMS * PACKETS;
    g_autofree guint8 *samples = g_malloc(block), *wanted = g_malloc0(block),
                      *turned = g_malloc(block);
    test_fill(samples, block, i + 1);
    test_fill(turned, block, 99);
    AstroTurn *turn = astro_turn_new(&config, &groups, PACKETS);
    g_assert_nonnull(turn);
    for (guint packet = 0; packet < PACKETS; packet++) {
      AstroTurnRow *row = astro_turn_begin(turn);
      gboolean is_whole = FALSE;
      for (guint k = 0; k < STREAMS; k++) {
        const guint8 *from = samples + bytes * (packet * STREAMS + k);
        if (packet == 1 && k == 2)
          continue;
        g_assert_false(is_whole);
        astro_place_samples(&config, k, packet, from, wanted, PACKETS);
        memcpy(astro_turn_place(turn, row, k), from, bytes);
        is_whole = astro_turn_is_whole(turn, row);
      }
      g_assert_true(is_whole == (packet != 1));
      astro_turn_end(turn, row, packet, turned);
    }
    g_assert_cmpmem(turned, block, wanted, block);
    astro_turn_free(turn);
  }
}

/* Samples that lie together in both orders gain nothing by it. */
static void test_not_turned(void)
{
  AstroPlaceStream streams[STREAMS] = { 0 };
  AstroPlaceConfig config = config_of("channel:time:pol", "station:channel:time:pol", streams);
  AstroPacketGroups groups;
  config.samples.layout.extents[1] = 16;
  g_assert_true(astro_packet_groups_init(&groups, &config.out, &config.samples, NULL));
  g_assert_null(astro_turn_new(&config, &groups, 1));
}

static void add_tests(void)
{
  g_test_add_func("/packets/place/turned", test_turned);
  g_test_add_func("/packets/place/not-turned", test_not_turned);
  g_test_add_func("/packets/place/orders", test_orders);
  g_test_add_func("/packets/place/refused", test_refused);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
