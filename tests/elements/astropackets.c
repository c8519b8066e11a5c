/* Packets of every format over a bad network: each sample arrives in the right position and at the
 * right time, except for lost ones, which are counted. */
#include "tests/elements/packets.h"

static AstroObservation *told(GstHarness *h)
{
  for (guint i = 0;; i++) {
    g_autoptr(GstEvent) event =
        gst_pad_get_sticky_event(h->sinkpad, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, i);
    g_assert_nonnull(event);
    if (astro_event_is_observation(event))
      return astro_observation_from_event(event, NULL);
  }
}

/* How many samples have a count other than 0. */
static guint64 pull_all(GstHarness *h, const TestPacketsData *data)
{
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  g_autoptr(AstroObservation) from = astro_observation_new(0), to = told(h);
  AstroStream stream;
  guint64 good = 0;
  GstBuffer *block;
  g_assert_true(astro_stream_from_caps(&stream, caps, NULL));
  g_assert_true(stream.has_counts);
  g_assert_cmpint(stream.rate_n, ==, data->stream.rate_n);
  g_assert_cmpint(stream.rate_d, ==, data->stream.rate_d);
  astro_observation_set_start(from, TEST_START, NULL);
  g_assert_true(to->has_start);
  const gint64 shift = test_packets_shift(&stream, from, to);
  while ((block = gst_harness_try_pull(h))) {
    good += test_packets_compare(&stream, block, data->samples, data->steps, shift);
    gst_buffer_unref(block);
  }
  return good;
}

static void test_network(gconstpointer row)
{
  TestPacketsData data = test_packets_data(row, 3);
  const TestPackets *what = data.what;
  const char *networks[] = { "", " loss=0.03 seed=5", " reorder=0.2 duplicate=0.1 seed=6",
                             " loss=0.05 reorder=0.3 duplicate=0.2 seed=7" };
  for (guint i = 0; i < G_N_ELEMENTS(networks); i++) {
    g_autofree char *line = g_strdup_printf("astropay %s%s ! astrodepay %s block=7 latency=40",
                                            what->pay, networks[i], what->depay);
    GstHarness *h = test_packets_harness(line, what->caps);
    g_autoptr(GstElement) pay = test_packets_named(h, "astropay");
    g_autoptr(GstElement) depay = test_packets_named(h, "astrodepay");
    g_autofree char *format = NULL;
    g_object_get(pay, "packet", &format, NULL);
    TestPacketsSent *sent = test_packets_watch(pay, format);
    test_packets_push(h, &data.stream, data.samples, data.steps);
    gst_harness_push_event(h, gst_event_new_eos());
    const guint64 good = pull_all(h, &data);
    const guint64 placed = test_packets_count(depay, "packets");
    g_test_message("%s: %u of packets or heaps went, %" G_GUINT64_FORMAT " placed", networks[i],
                   sent->whole, placed);
    g_assert_cmpuint(placed, ==, sent->whole);
    g_assert_cmpuint(test_packets_count(depay, "late") + test_packets_count(depay, "alien"), ==, 0);
    g_assert_cmpuint(good * test_packets_streams(depay) * what->packets, ==, placed * data.n);
    test_packets_sent_free(sent);
    gst_harness_teardown(h);
  }
  test_packets_data_clear(&data);
}

/* ---- astrodepay alone ---- */

/* The datagrams that an astropay makes. */
static GPtrArray *datagrams_of(const char *pay, const TestPacketsData *data, guint64 steps)
{
  g_autofree char *line = g_strdup_printf("astropay %s", pay);
  GPtrArray *all = g_ptr_array_new_with_free_func((GDestroyNotify)gst_buffer_unref);
  GstHarness *h = test_packets_harness(line, data->what->caps);
  GstBuffer *buffer;
  test_packets_push(h, &data->stream, data->samples, steps);
  gst_harness_push_event(h, gst_event_new_eos());
  while ((buffer = gst_harness_try_pull(h)))
    g_ptr_array_add(all, buffer);
  gst_harness_teardown(h);
  return all;
}

static GstHarness *receiver(const char *settings, GstFormat format)
{
  g_autofree char *line = g_strdup_printf("astrodepay %s", settings);
  GstHarness *h = gst_harness_new_parse(line);
  GstSegment segment;
  gst_harness_set_live(h, FALSE);
  gst_segment_init(&segment, format);
  gst_harness_push_event(h, gst_event_new_stream_start("packets"));
  gst_harness_push_event(h, gst_event_new_segment(&segment));
  return h;
}

static void receive(GstHarness *h, GPtrArray *datagrams)
{
  for (guint i = 0; i < datagrams->len; i++)
    g_assert_cmpint(gst_harness_push(h, gst_buffer_ref(datagrams->pdata[i])), ==, GST_FLOW_OK);
}

/* The text of the next warning; NULL: there is none. */
static char *warning(GstElement *element)
{
  g_autoptr(GstBus) bus = gst_element_get_bus(element);
  g_autoptr(GstMessage) message = gst_bus_pop_filtered(bus, GST_MESSAGE_WARNING);
  g_autoptr(GError) error = NULL;
  if (!message)
    return NULL;
  gst_message_parse_warning(message, &error, NULL);
  return g_strdup(error->message);
}

/* Messages that nobody took hold a reference to the element, which holds the bus: flushing releases
 * them. */
static void end_bus(GstBus *bus)
{
  gst_bus_set_flushing(bus, TRUE);
}

static GstBus *with_bus(GstHarness *h)
{
  GstBus *bus = gst_bus_new();
  gst_element_set_bus(h->element, bus);
  return bus;
}

/* VDIF does not say how many frames a second has: two seconds that agree show it, and earlier
 * frames cannot be placed. */
static void test_learned_rate(void)
{
  static const TestPackets slow = {
    "slow", VOLTAGES "format=CI8,stations=2,pols=1,rate=8000/1", NULL, NULL, 8, 80, 400
  };
  TestPacketsData data = test_packets_data(&slow, 5);
  g_autoptr(GPtrArray) all = datagrams_of("packet=vdif packet-steps=80", &data, data.steps);
  for (guint i = 0; i < all->len; i++) { /* without rates in headers, as from most senders */
    GstBuffer *plain = gst_buffer_copy_deep(all->pdata[i]);
    gst_buffer_memset(plain, 16, 0, 16);
    gst_buffer_unref(all->pdata[i]);
    all->pdata[i] = plain;
  }
  GstHarness *h = receiver("packet=vdif stations=0,1", GST_FORMAT_TIME);
  g_autoptr(GstElement) depay = test_packets_named(h, "astrodepay");
  receive(h, all);
  gst_harness_push_event(h, gst_event_new_eos());
  const guint64 good = pull_all(h, &data);
  const guint64 placed = test_packets_count(depay, "packets");
  /* The rate is known when the second second has ended; the frame that shows this is placed. */
  g_assert_cmpuint(test_packets_count(depay, "unplaced"), ==, 2 * 200);
  g_assert_cmpuint(placed, ==, 2 * 200);
  g_assert_cmpuint(good, ==, placed * 80);
  gst_harness_teardown(h);
  test_packets_data_clear(&data);
}

/* A file of packets, in buffers of varying length. */
static void test_bytes(gconstpointer row)
{
  TestPacketsData data = test_packets_data(row, 6);
  g_autoptr(GPtrArray) all = datagrams_of(data.what->pay, &data, data.steps);
  g_autoptr(GByteArray) bytes = g_byte_array_new();
  GstHarness *h = receiver(data.what->depay, GST_FORMAT_BYTES);
  g_autoptr(GstElement) depay = test_packets_named(h, "astrodepay");
  for (guint i = 0; i < all->len; i++) {
    GstMapInfo map;
    g_assert_true(gst_buffer_map(all->pdata[i], &map, GST_MAP_READ));
    g_byte_array_append(bytes, map.data, (guint)map.size);
    gst_buffer_unmap(all->pdata[i], &map);
  }
  for (gsize at = 0, i = 0; at < bytes->len; i++) {
    const gsize n = MIN(bytes->len - at, 1 + i * 7919 % 20000);
    g_assert_cmpint(gst_harness_push(h, gst_buffer_new_memdup(bytes->data + at, n)), ==,
                    GST_FLOW_OK);
    at += n;
  }
  gst_harness_push_event(h, gst_event_new_eos());
  g_assert_cmpuint(pull_all(h, &data), ==, data.n);
  g_assert_cmpuint(test_packets_count(depay, "alien"), ==, 0);
  gst_harness_teardown(h);
  test_packets_data_clear(&data);
}

/* After a restart, another segment begins from step 0, to which sync-epoch no longer applies. */
static void test_restart(void)
{
  TestPacketsData data = test_packets_data(test_packets_find("described"), 7);
  g_autoptr(GPtrArray) all = datagrams_of(data.what->pay, &data, data.steps);
  g_autofree char *settings = g_strdup_printf("%s block=1 latency=1", data.what->depay);
  GstHarness *h = receiver(settings, GST_FORMAT_TIME);
  g_autoptr(GstBus) bus = with_bus(h);
  g_autoptr(GstElement) depay = test_packets_named(h, "astrodepay");
  receive(h, all);
  g_autoptr(AstroObservation) before = told(h);
  g_assert_true(before->has_start);
  receive(h, all);
  gst_harness_push_event(h, gst_event_new_eos());
  g_autofree char *text = warning(h->element);
  test_says(text, "the senders began anew");
  g_assert_cmpuint(test_packets_count(depay, "restarts"), ==, 1);
  g_autoptr(AstroObservation) after = told(h);
  g_assert_false(after->has_start);
  /* Three were put aside until the fourth showed that their headers were not broken. */
  g_assert_cmpuint(test_packets_count(depay, "far"), ==, 3);
  g_assert_cmpuint(test_packets_count(depay, "packets"), ==, 2 * all->len - 3);
  GstBuffer *block;
  guint begun = 0;
  guint64 next = 0;
  while ((block = gst_harness_try_pull(h))) {
    begun += GST_BUFFER_OFFSET(block) == 0;
    g_assert_cmpint(GST_BUFFER_IS_DISCONT(block), ==, GST_BUFFER_OFFSET(block) == 0);
    g_assert_true(GST_BUFFER_OFFSET(block) == 0 || GST_BUFFER_OFFSET(block) == next);
    next = GST_BUFFER_OFFSET_END(block);
    gst_buffer_unref(block);
  }
  g_assert_cmpuint(begun, ==, 2);
  end_bus(bus);
  gst_harness_teardown(h);
  gst_bus_set_flushing(bus, TRUE);
  test_packets_data_clear(&data);
}

/* Samples that do not count are marked in packets or, in formats without marks, not sent: only the
 * packets that hold them. */
static void test_invalid(gconstpointer row)
{
  TestPacketsData data = test_packets_data(row, 8);
  const TestPackets *what = data.what;
  g_autofree char *caps = g_strdup_printf("%s,counts=true", what->caps);
  g_autofree char *line = g_strdup_printf("astropay %s ! astrodepay %s", what->pay, what->depay);
  GstHarness *h = test_packets_harness(line, caps);
  g_autoptr(GstElement) pay = test_packets_named(h, "astropay");
  g_autoptr(GstElement) depay = test_packets_named(h, "astrodepay");
  AstroLayout shape;
  astro_stream_shape(&data.stream, data.steps, &shape);
  GstBuffer *buffer =
      gst_buffer_new_memdup(data.samples, data.steps * astro_stream_step_bytes(&data.stream));
  AstroValidityMeta *counts = astro_buffer_add_validity(buffer, &shape, 1);
  /* The last sample of the second packet, and two of the fourth that are in different ones. */
  const guint64 of_step = data.n / data.steps;
  counts->counts[2 * what->steps * of_step - 1] = 0;
  counts->counts[3 * what->steps * of_step] = 0;
  counts->counts[4 * what->steps * of_step - 1] = 0;
  g_assert_cmpint(gst_harness_push(h, buffer), ==, GST_FLOW_OK);
  gst_harness_push_event(h, gst_event_new_eos());
  const guint64 good = pull_all(h, &data);
  const guint64 streams = test_packets_streams(depay);
  const guint64 marked = test_packets_count(pay, "invalid");
  const guint64 bad = streams == 1 ? 2 : 3;
  g_assert_cmpuint(marked + test_packets_count(pay, "withheld"), ==, bad);
  g_assert_cmpuint(test_packets_count(depay, "invalid"), ==, marked);
  g_assert_cmpuint(test_packets_count(depay, "lost"), ==, bad - marked);
  g_assert_cmpuint(good * streams * what->packets, ==, data.n * (streams * what->packets - bad));
  gst_harness_teardown(h);
  test_packets_data_clear(&data);
}

/* If nothing else tells the time, start-time is that of the first sample that came; without it the
 * time is unknown. */
static void test_start_time(void)
{
  TestPacketsData data = test_packets_data(test_packets_find("described"), 11);
  g_autoptr(GPtrArray) all = datagrams_of(data.what->pay, &data, data.steps);
  g_autofree char *plain = g_strndup(data.what->depay, strlen(data.what->depay) - strlen(SYNC));
  g_autofree char *with_start = g_strdup_printf("%s start-time=" TEST_START, plain);
  GstHarness *h = receiver(with_start, GST_FORMAT_TIME);
  receive(h, all);
  gst_harness_push_event(h, gst_event_new_eos());
  g_assert_cmpuint(pull_all(h, &data), ==, data.n);
  gst_harness_teardown(h);
  h = receiver(plain, GST_FORMAT_TIME);
  receive(h, all);
  gst_harness_push_event(h, gst_event_new_eos());
  g_autoptr(AstroObservation) observation = told(h);
  g_assert_false(observation->has_start);
  g_assert_cmpuint(observation->n_stations, ==, 0);
  gst_harness_teardown(h);
  test_packets_data_clear(&data);
}

/* A first packet that is refused leaves nothing behind, however often it comes. */
static void test_refused_twice(void)
{
  TestPacketsData data = test_packets_data(test_packets_find("vdif-4"), 12);
  g_autoptr(GPtrArray) all = datagrams_of(data.what->pay, &data, data.steps);
  GstHarness *h = receiver("packet=vdif sync-epoch=0 rate=1000000", GST_FORMAT_TIME);
  for (guint i = 0; i < 2; i++)
    g_assert_cmpint(gst_harness_push(h, gst_buffer_ref(all->pdata[i])), ==, GST_FLOW_ERROR);
  gst_harness_teardown(h);
  test_packets_data_clear(&data);
}

/* ---- weights ---- */

#define INTEGRATION 40

/* For each integration, channel and station, the steps that count. */
typedef struct {
  GHashTable *good; /* step * channels * stations + channel * stations + station */
} Good;

static GstPadProbeReturn note_good(GstPad *pad, GstPadProbeInfo *info, gpointer user)
{
  Good *noted = user;
  GstBuffer *block = GST_PAD_PROBE_INFO_BUFFER(info);
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
  AstroStream stream;
  AstroLayout shape;
  guint64 steps, at[ASTRO_MAX_AXES] = { 0 };
  g_assert_true(astro_stream_from_caps(&stream, caps, NULL));
  g_assert_true(astro_stream_steps(&stream, gst_buffer_get_size(block), &steps, NULL));
  astro_stream_shape(&stream, steps, &shape); /* channel:time:station:pol */
  for (at[0] = 0; at[0] < shape.extents[0]; at[0]++)
    for (at[1] = 0; at[1] < shape.extents[1]; at[1]++)
      for (at[2] = 0; at[2] < shape.extents[2]; at[2]++)
        if (astro_validity_at(astro_buffer_get_validity(block), &shape, at)) {
          const guint64 step = GST_BUFFER_OFFSET(block) + at[1];
          g_hash_table_add(noted->good, GSIZE_TO_POINTER((step * 8 + at[0]) * 2 + at[2] + 1));
        }
  return GST_PAD_PROBE_OK;
}

static gboolean is_good(const Good *noted, guint64 step, guint64 channel, guint64 station)
{
  return g_hash_table_contains(noted->good,
                               GSIZE_TO_POINTER((step * 8 + channel) * 2 + station + 1));
}

static guint64 check_weights(const AstroStream *stream, GstBuffer *dump, const Good *noted)
{
  const AstroValidityMeta *counts = astro_buffer_get_validity(dump);
  const gint channel = astro_layout_find(&stream->layout, ASTRO_AXIS_CHANNEL);
  const gint baseline = astro_layout_find(&stream->layout, ASTRO_AXIS_BASELINE);
  guint64 at[ASTRO_MAX_AXES] = { 0 }, sum = 0, dumps;
  AstroLayout shape;
  g_assert_true(astro_stream_steps(stream, gst_buffer_get_size(dump), &dumps, NULL));
  g_assert_cmpuint(dumps, ==, 1);
  astro_stream_shape(stream, 1, &shape);
  for (guint64 c = 0; c < 8; c++)
    for (guint64 i = 0; i < 2; i++)
      for (guint64 j = 0; j <= i; j++) {
        guint64 expected = 0;
        for (guint64 s = 0; s < INTEGRATION; s++) {
          const guint64 step = GST_BUFFER_OFFSET(dump) * INTEGRATION + s;
          expected += is_good(noted, step, c, i) && is_good(noted, step, c, j);
        }
        at[channel] = c;
        at[baseline] = i * (i + 1) / 2 + j;
        g_assert_cmpuint(counts ? astro_validity_at(counts, &shape, at) : INTEGRATION, ==,
                         expected);
        sum += expected;
      }
  return sum;
}

/* Weights of visibilities are exactly the steps that both stations sent and that arrived. */
static void test_weights(void)
{
  TestPacketsData data = test_packets_data(test_packets_find("katgpucbf"), 10);
  g_autofree char *line = g_strdup_printf(
      "astropay %s loss=0.02 reorder=0.2 duplicate=0.1 seed=4 ! astrodepay name=depay %s "
      "layout=channel:time:station:pol ! astrocorrelator integration=40 backend=cpu",
      data.what->pay, data.what->depay);
  GstHarness *h = test_packets_harness(line, data.what->caps);
  g_autoptr(GstElement) pay = test_packets_named(h, "astropay");
  g_autoptr(GstElement) depay = test_packets_named(h, "astrodepay");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(depay, "src");
  Good noted = { g_hash_table_new(NULL, NULL) };
  TestPacketsSent *sent = test_packets_watch(pay, "katgpucbf-antenna-voltage");
  guint64 sum = 0;
  GstBuffer *dump;
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, note_good, &noted, NULL);
  test_packets_push(h, &data.stream, data.samples, data.steps);
  gst_harness_push_event(h, gst_event_new_eos());
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  AstroStream stream;
  g_assert_true(astro_stream_from_caps(&stream, caps, NULL));
  while ((dump = gst_harness_try_pull(h))) {
    sum += check_weights(&stream, dump, &noted);
    gst_buffer_unref(dump);
  }
  /* Each heap that arrived has 4 channels of 16 steps; each counts in its own autocorrelation, and
   * with the other station's heap in another. */
  g_assert_cmpuint(g_hash_table_size(noted.good), ==, sent->whole * 4 * 16);
  g_assert_cmpuint(sum, >, g_hash_table_size(noted.good));
  g_assert_cmpuint(sent->whole, <, 2 * 2 * data.what->packets);
  g_hash_table_unref(noted.good);
  test_packets_sent_free(sent);
  gst_harness_teardown(h);
  test_packets_data_clear(&data);
}

/* ---- unexpected packets ---- */

typedef struct {
  const char *name, *row, *settings; /* settings of the receiver; NULL: those of the row */
  void (*change)(GPtrArray *datagrams);
  const char *says; /* a warning */
  guint64 alien;
} Unexpected;

static GstBuffer *changed(GPtrArray *datagrams, guint i)
{
  GstBuffer *copy = gst_buffer_copy_deep(datagrams->pdata[i]);
  gst_buffer_unref(datagrams->pdata[i]);
  return datagrams->pdata[i] = copy;
}

static void other_station(GPtrArray *datagrams)
{
  gst_buffer_fill(changed(datagrams, 5), 12, "\x07\x00", 2);
}

static void other_thread(GPtrArray *datagrams)
{
  gst_buffer_memset(changed(datagrams, 5), 14, 9, 1);
}

static void garbage(GPtrArray *datagrams)
{
  gst_buffer_memset(changed(datagrams, 5), 0, 0xff, 16);
}

static void short_one(GPtrArray *datagrams)
{
  gst_buffer_set_size(changed(datagrams, 5), 20);
}

static void other_clock(GPtrArray *datagrams)
{
  gst_buffer_memset(changed(datagrams, 5), 1, 0, 1);
}

static void other_bits(GPtrArray *datagrams)
{
  gst_buffer_memset(changed(datagrams, 5), 2, 1, 1);
}

static void frame_too_many(GPtrArray *datagrams)
{
  gst_buffer_fill(changed(datagrams, 5), 4, "\x00\x00\xf0", 3);
}

static const Unexpected unexpected[] = {
  { "station", "vdif-8", NULL, other_station, "a packet of station 7, which is not among the 2",
    1 },
  { "thread", "vdif-8", NULL, other_thread, "thread 9", 1 },
  { "garbage", "described", NULL, garbage, "are no packet of @" TEST_HEADER, 1 },
  { "short", "lofar-16", NULL, short_one, "are no packet of lofar-beamlet", 1 },
  { "clock", "lofar-16", NULL, other_clock, "156250/1 steps a second among those of 390625/2", 1 },
  { "bits", "lofar-16", NULL, other_bits, "such packets are left out", 2 },
  { "frame", "vdif-8", NULL, frame_too_many, "of a second that has 2500", 1 },
};

static void test_unexpected(gconstpointer row)
{
  const Unexpected *what = row;
  TestPacketsData data = test_packets_data(test_packets_find(what->row), 9);
  g_autoptr(GPtrArray) all = datagrams_of(data.what->pay, &data, data.steps);
  GstHarness *h = receiver(what->settings ? what->settings : data.what->depay, GST_FORMAT_TIME);
  g_autoptr(GstBus) bus = with_bus(h);
  g_autoptr(GstElement) depay = test_packets_named(h, "astrodepay");
  what->change(all);
  receive(h, all);
  gst_harness_push_event(h, gst_event_new_eos());
  g_autofree char *text = warning(h->element);
  test_says(text, what->says);
  g_assert_cmpuint(test_packets_count(depay, "alien"), ==, what->alien);
  g_assert_cmpuint(test_packets_count(depay, "lost"), ==, 1);
  g_assert_cmpuint(pull_all(h, &data) * test_packets_streams(depay) * data.what->packets, ==,
                   data.n * (test_packets_streams(depay) * data.what->packets - 1));
  end_bus(bus);
  gst_harness_teardown(h);
  gst_bus_set_flushing(bus, TRUE);
  test_packets_data_clear(&data);
}

/* A station whose clock is wrong by minutes is left out with a warning; the others are complete. */
static void test_clocks(void)
{
  TestPacketsData data = test_packets_data(test_packets_find("vdif-8"), 12);
  g_autoptr(GPtrArray) all = datagrams_of(data.what->pay, &data, data.steps);
  for (guint i = 0; i < all->len; i++)
    if (i / 2 % 2 == 1) { /* the two polarisations of each station follow each other */
      guint8 seconds[4];
      gst_buffer_extract(all->pdata[i], 0, seconds, sizeof seconds);
      seconds[1]++; /* 256 s */
      gst_buffer_fill(changed(all, i), 0, seconds, sizeof seconds);
    }
  GstHarness *h = receiver(data.what->depay, GST_FORMAT_TIME);
  g_autoptr(GstBus) bus = with_bus(h);
  g_autoptr(GstElement) depay = test_packets_named(h, "astrodepay");
  receive(h, all);
  gst_harness_push_event(h, gst_event_new_eos());
  g_autofree char *text = warning(h->element);
  test_says(text, "packets of station Wb (22370) are far in time");
  g_assert_cmpuint(test_packets_count(depay, "far"), ==, all->len / 2);
  g_assert_cmpuint(test_packets_count(depay, "packets"), ==, all->len / 2);
  g_assert_cmpuint(pull_all(h, &data), ==, data.n / 2);
  end_bus(bus);
  gst_harness_teardown(h);
  test_packets_data_clear(&data);
}

#define SKY                                                                                        \
  "astroskysrc stations=2 pols=2 noise=5 frequency=1.5e8 bandwidth=1e6 phase-centre=246.5,38 "     \
  "start-time=2026-11-20T12:00:00 duration=0.05 ! "
#define SKY_8 SKY "application/x-astro-voltages,format=CI8 ! "
#define TO " ! fakesink"

static void test_refused_settings(void)
{
  static const struct {
    const char *line, *says;
  } bad[] = {
    { SKY_8 "astropay name=e packet=udp" TO, "packets \"udp\" are not known" },
    { SKY_8 "astropay name=e packet=@nothing.txt" TO, "nothing.txt" },
    { SKY "application/x-astro-voltages,format=CF32LE ! astropay name=e packet=vdif bits=8" TO,
      "put astroconvert before" },
    { SKY_8 "astropay name=e packet=vdif stations=1" TO,
      "stations=1 are 1 identifiers, and the stream has 2 stations" },
    { SKY_8 "astropay name=e packet=vdif stations=1,1" TO, "each once" },
    { SKY_8 "astropay name=e packet=vdif packet-steps=333" TO, "whole number of frames" },
    { SKY_8 "astropay name=e packet=lofar-beamlet" TO, "156250 or 195312.5" },
    { SKY_8 "astropay name=e packet=vdif sequence-step=5" TO, "sequence-step=5" },
    { SKY_8 "astropay name=e packet=spead" TO, "tells nothing of its samples" },
    { SKY_8 "astropay packet=vdif ! astrodepay name=e packet=vdif rate=10000" TO,
      "rate=10000/1 is set" },
    { SKY_8 "astropay name=e packet=@absent.txt" TO, "packet=@absent.txt: " },
    { SKY_8 "astropay packet=vdif ! astrodepay name=e packet=vdif rate=fast" TO, "rate=fast" },
    { SKY_8 "astropay packet=vdif ! astrodepay name=e packet=vdif pols=2 threads=1" TO,
      "threads=1 are 1, expected 2" },
    { SKY_8 "astropay packet=vdif ! astrodepay name=e packet=vdif stations=x" TO, "stations=x" },
    { SKY_8 "astropay packet=vdif ! astrodepay name=e packet=vdif sync-epoch=0" TO,
      "these packets tell the time themselves" },
    { SKY_8 "astropay packet=vdif ! astrodepay name=e packet=vdif sync-epoch=0 start-time=0" TO,
      "both set" },
    { SKY_8 "astropay packet=vdif ! astrodepay name=e packet=vdif start-time=now" TO,
      "start-time=now" },
    { SKY_8 "astropay packet=vdif ! astrodepay name=e packet=vdif layout=time:pol stations=0,1" TO,
      "has no axis station" },
    { SKY_8 "astropay packet=vdif ! astrodepay name=e packet=lofar-beamlet" TO,
      "were not of the format" },
    { SKY_8 "astropay packet=vdif ! astrodepay name=e packet=vdif stations=0,1 pols=2 ! "
            "application/x-astro-voltages,format=CI16LE" TO,
      "downstream takes none" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++)
    test_refused_by(bad[i].line, "e", bad[i].says);
}

/* ---- shipped descriptions ---- */

static void test_shipped(void)
{
  static const struct {
    const char *name, *caps, *stations;
    guint packets;
  } shipped[] = {
    { "snap2", SPECTRA "format=CI8,stations=64,pols=2,channels=192,rate=24000/1", "0,64", 40 },
    { "chips", SPECTRA "format=CI8,stations=32,pols=2,channels=218,rate=25000/1", "1-2", 40 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(shipped); i++) {
    g_autofree char *file = g_strdup_printf("%s.packet", shipped[i].name);
    g_autofree char *path = g_test_build_filename(G_TEST_DIST, "core", "packets", file, NULL);
    if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
      g_test_skip("the descriptions are not installed with the tests");
      return;
    }
    g_autofree char *pay = g_strdup_printf("packet=\"@%s\" stations=%s", path, shipped[i].stations);
    g_autofree char *depay = g_strdup_printf("%s channels=%u rate=%u" SYNC, pay, i == 0 ? 192 : 218,
                                             i == 0 ? 24000 : 25000);
    const TestPackets what = { shipped[i].name,   shipped[i].caps, pay, depay, 4, 1,
                               shipped[i].packets };
    test_network(&what);
  }
}

static void add_tests(void)
{
  for (guint i = 0; i < G_N_ELEMENTS(test_packets); i++) {
    g_autofree char *path = g_strdup_printf("/packets/network/%s", test_packets[i].name);
    g_test_add_data_func(path, &test_packets[i], test_network);
    g_autofree char *bytes = g_strdup_printf("/packets/bytes/%s", test_packets[i].name);
    g_test_add_data_func(bytes, &test_packets[i], test_bytes);
    g_autofree char *invalid = g_strdup_printf("/packets/invalid/%s", test_packets[i].name);
    g_test_add_data_func(invalid, &test_packets[i], test_invalid);
  }
  g_test_add_func("/packets/learned-rate", test_learned_rate);
  g_test_add_func("/packets/restart", test_restart);
  g_test_add_func("/packets/start-time", test_start_time);
  g_test_add_func("/packets/clocks", test_clocks);
  g_test_add_func("/packets/refused-twice", test_refused_twice);
  g_test_add_func("/packets/weights", test_weights);
  g_test_add_func("/packets/shipped", test_shipped);
  for (guint i = 0; i < G_N_ELEMENTS(unexpected); i++) {
    g_autofree char *path = g_strdup_printf("/packets/unexpected/%s", unexpected[i].name);
    g_test_add_data_func(path, &unexpected[i], test_unexpected);
  }
  g_test_add_func("/packets/refused", test_refused_settings);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
