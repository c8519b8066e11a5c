/* Dumps of astroring: for triggers of all kinds, at all times, and while downstream takes nothing.
 */
#include "core/stream/observation.h"
#include "core/stream/validity.h"
#include "tests/elements/elements.h"

#define STEP_BYTES 4 /* two stations of CI8 */
#define BLOCK 10     /* steps of a buffer, of 1 ms each */
#define VOLTAGES                                                                                   \
  "application/x-astro-voltages,format=CI8,layout=time:station,stations=2,rate=1000/1"

/* Settings hold from the start on, so they come first. */
static GstHarness *harness_of(const char *line)
{
  g_autoptr(GstElement) ring = gst_object_ref_sink(gst_parse_launch(line, NULL));
  return gst_harness_new_with_element(ring, "sink", "src");
}

static GstHarness *new_harness(double seconds, double before, double after)
{
  g_autofree char *line =
      g_strdup_printf("astroring seconds=%g before=%g after=%g", seconds, before, after);
  GstHarness *h = harness_of(line);
  gst_harness_set_src_caps_str(h, VOLTAGES);
  return h;
}

static GstBuffer *block(guint n)
{
  GstBuffer *buffer = test_buffer((gsize)BLOCK * STEP_BYTES, n);
  GST_BUFFER_OFFSET(buffer) = (guint64)n * BLOCK;
  GST_BUFFER_OFFSET_END(buffer) = (n + 1ul) * BLOCK;
  GST_BUFFER_PTS(buffer) = n * BLOCK * GST_MSECOND;
  GST_BUFFER_DURATION(buffer) = BLOCK * GST_MSECOND;
  return buffer;
}

static void push(GstHarness *h, guint from, guint to)
{
  for (guint n = from; n < to; n++)
    g_assert_cmpint(gst_harness_push(h, block(n)), ==, GST_FLOW_OK);
}

static gboolean trigger(GstElement *ring, const char *time)
{
  gboolean taken = FALSE;
  g_signal_emit_by_name(ring, "trigger", time, &taken);
  return taken;
}

/* The next buffer is block n as it came, and starts a dump or not. */
static void assert_block(GstBuffer *buffer, guint n, gboolean begins)
{
  g_autoptr(GstBuffer) expected = block(n);
  GstMapInfo a, b;
  g_assert_nonnull(buffer);
  g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, GST_BUFFER_OFFSET(expected));
  g_assert_cmpuint(GST_BUFFER_OFFSET_END(buffer), ==, GST_BUFFER_OFFSET_END(expected));
  g_assert_cmpuint(GST_BUFFER_PTS(buffer), ==, GST_BUFFER_PTS(expected));
  g_assert_cmpint(GST_BUFFER_IS_DISCONT(buffer), ==, begins);
  gst_buffer_map(buffer, &a, GST_MAP_READ);
  gst_buffer_map(expected, &b, GST_MAP_READ);
  g_assert_cmpmem(a.data, a.size, b.data, b.size);
  gst_buffer_unmap(buffer, &a);
  gst_buffer_unmap(expected, &b);
  gst_buffer_unref(buffer);
}

static void assert_blocks(GstHarness *h, guint from, guint to)
{
  for (guint n = from; n < to; n++)
    assert_block(gst_harness_pull(h), n, n == from);
}

static void wait_for_eos(GstHarness *h)
{
  GstEvent *event;
  while ((event = gst_harness_pull_event(h))) {
    const gboolean is_eos = GST_EVENT_TYPE(event) == GST_EVENT_EOS;
    gst_event_unref(event);
    if (is_eos)
      return;
  }
  g_error("EOS did not come");
}

static GstEvent *next_event(GstHarness *h, GstEventType type)
{
  GstEvent *event;
  while ((event = gst_harness_pull_event(h)) && GST_EVENT_TYPE(event) != type)
    gst_event_unref(event);
  g_assert_nonnull(event);
  return event;
}

/* Each dump is a segment of its own, later in running time than what set it off, and than the one
 * before. */
static void test_dumps(void)
{
  GstHarness *h = new_harness(1, 0.02, 0.03);
  const GstSegment *segment;
  push(h, 0, 20);
  g_assert_true(trigger(h->element, "0.1"));
  assert_blocks(h, 8, 13);
  g_assert_true(trigger(h->element, "0.205"));
  push(h, 20, 25);
  assert_blocks(h, 18, 24);
  g_assert_cmpuint(gst_harness_buffers_in_queue(h), ==, 0);
  const struct {
    guint64 start, base;
  } expected[] = { { 0, 10 }, { 80, 200 }, { 180, 250 } }; /* ms; the first lets sinks go on */
  for (guint i = 0; i < G_N_ELEMENTS(expected); i++) {
    g_autoptr(GstEvent) event = next_event(h, GST_EVENT_SEGMENT);
    gst_event_parse_segment(event, &segment);
    g_assert_cmpuint(segment->start, ==, expected[i].start * GST_MSECOND);
    g_assert_cmpuint(segment->time, ==, expected[i].start * GST_MSECOND);
    g_assert_cmpuint(segment->base, >=, expected[i].base * GST_MSECOND);
  }
  g_assert_true(trigger(h->element, NULL));
  assert_blocks(h, 24, 25);
  gst_harness_push_event(h, gst_event_new_eos());
  wait_for_eos(h);
  g_assert_false(trigger(h->element, NULL));
  gst_harness_teardown(h);
}

/* A dump that is open at EOS ends with what is there, and EOS comes after it. */
static void test_eos(void)
{
  GstHarness *h = new_harness(1, 0.02, 100);
  push(h, 0, 10);
  g_assert_true(trigger(h->element, "0.05"));
  push(h, 10, 12);
  gst_harness_push_event(h, gst_event_new_eos());
  wait_for_eos(h);
  assert_blocks(h, 3, 12);
  gst_harness_teardown(h);
}

static GstPadProbeReturn be_slow(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  g_usleep(20000);
  return GST_PAD_PROBE_OK;
}

/* A DRAIN query is answered once all that a trigger has asked for so far has arrived, behind a
 * queue too, and at once if that is nothing. */
static void test_drain(void)
{
  GstHarness *h = gst_harness_new_parse("astroring seconds=1 before=0.02 after=0.06 ! queue");
  g_autoptr(GstElement) ring = gst_harness_find_element(h, "astroring");
  g_autoptr(GstQuery) query = gst_query_new_drain();
  gst_harness_set_src_caps_str(h, VOLTAGES);
  gst_pad_add_probe(h->sinkpad, GST_PAD_PROBE_TYPE_BUFFER, be_slow, NULL, NULL);
  push(h, 0, 10);
  gst_pad_peer_query(h->srcpad, query);
  g_assert_cmpuint(gst_harness_buffers_received(h), ==, 0);
  g_assert_true(trigger(ring, "0.08"));
  for (guint n = 10; n < 14; n++) { /* the dump is from 6 to 14 */
    push(h, n, n + 1);
    gst_pad_peer_query(h->srcpad, query);
    g_assert_cmpuint(gst_harness_buffers_received(h), ==, n + 1 - 6);
  }
  gst_harness_teardown(h);
}

/* Without a trigger nothing comes but what lets sinks start, and the end. */
static void test_nothing(void)
{
  GstHarness *h = new_harness(1, 1, 1);
  push(h, 0, 200);
  g_autoptr(GstEvent) gap = next_event(h, GST_EVENT_GAP);
  gst_harness_push_event(h, gst_event_new_eos());
  wait_for_eos(h);
  g_assert_cmpuint(gst_harness_buffers_received(h), ==, 0);
  gst_harness_teardown(h);
  g_autofree char *message = test_launch(
      "astroskysrc stations=2 duration=0.1 ! tee name=t ! queue ! fakesink t. ! astroring ! "
      "fakesink");
  g_assert_cmpstr(message, ==, NULL);
}

/* Counts, GAP buffers and gap events are kept, and a buffer that says nothing of its place says it
 * then. */
static void test_losses(void)
{
  GstHarness *h = harness_of("astroring trigger-at=0.055");
  AstroLayout none = { 0 };
  gst_harness_set_src_caps_str(h, VOLTAGES ",counts=true");
  for (guint n = 4; n < 8; n++) {
    GstBuffer *buffer = block(n);
    astro_buffer_add_validity(buffer, &none, 5)->counts[0] = n;
    if (n == 5)
      GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_GAP);
    if (n == 7)
      GST_BUFFER_OFFSET(buffer) = GST_BUFFER_OFFSET_END(buffer) = GST_BUFFER_OFFSET_NONE;
    if (n == 6) {
      gst_buffer_unref(buffer);
      gst_harness_push_event(h, gst_event_new_gap(60 * GST_MSECOND, 10 * GST_MSECOND));
    } else {
      gst_harness_push(h, buffer);
    }
  }
  for (guint n = 4; n < 8; n++) {
    if (n == 6)
      continue;
    GstBuffer *buffer = gst_harness_pull(h);
    g_assert_cmpuint(astro_buffer_get_validity(buffer)->counts[0], ==, n);
    g_assert_cmpint(GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP), ==, n == 5);
    assert_block(buffer, n, n == 4);
  }
  g_autoptr(GstEvent) first = next_event(h, GST_EVENT_GAP), second = next_event(h, GST_EVENT_GAP);
  GstClockTime time, duration;
  gst_event_parse_gap(second, &time, &duration);
  g_assert_cmpuint(time, ==, 60 * GST_MSECOND);
  g_assert_cmpuint(duration, ==, 10 * GST_MSECOND);
  gst_harness_teardown(h);
}

/* ---- time scales ---- */

static GstEvent *observation(const char *start)
{
  g_autoptr(AstroObservation) about = astro_observation_new(2);
  if (start)
    astro_observation_set_start(about, start, NULL);
  return astro_observation_to_event(about);
}

static GstMessage *find_message(GstBus *bus, const char *name)
{
  GstMessage *message;
  while ((message = gst_bus_timed_pop_filtered(bus, TEST_PATIENCE, GST_MESSAGE_ELEMENT))) {
    if (gst_message_has_name(message, name))
      return message;
    gst_message_unref(message);
  }
  g_error("no message %s came", name);
}

/* Times in UTC follow the observation, also one that another replaces while both are held. Each
 * part goes out under its own. */
static void test_observations(void)
{
  GstHarness *h = new_harness(1, 0.015, 0.015);
  g_autoptr(GstBus) bus = gst_bus_new();
  GstEvent *event;
  gst_element_set_bus(h->element, bus);
  gst_harness_push_event(h, observation("2026-11-20T12:00:00"));
  push(h, 0, 10);
  gst_harness_push_event(h, observation("2026-11-20T13:00:00"));
  push(h, 0, 10);
  g_assert_true(trigger(h->element, "2026-11-20T12:00:00.055"));
  assert_blocks(h, 4, 7);
  event = next_event(h, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY);
  g_autoptr(AstroObservation) first = astro_observation_from_event(event, NULL);
  gst_event_unref(event);
  g_assert_cmpuint(first->start_ns, ==, 12 * 3600 * GST_SECOND);
  g_assert_true(trigger(h->element, "2026-11-20T13:00:00.055Z"));
  assert_blocks(h, 4, 7);
  event = next_event(h, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY);
  g_autoptr(AstroObservation) second = astro_observation_from_event(event, NULL);
  gst_event_unref(event);
  g_assert_cmpuint(second->start_ns, ==, 13 * 3600 * GST_SECOND);
  for (guint i = 0; i < 2; i++) {
    g_autoptr(GstMessage) message = find_message(bus, "astro-dump");
    const GstStructure *dump = gst_message_get_structure(message);
    g_autofree char *expected = g_strdup_printf("2026-11-20T%u:00:00.04Z", 12 + i);
    double seconds = 0;
    g_assert_cmpstr(gst_structure_get_string(dump, "time"), ==, expected);
    gst_structure_get_double(dump, "seconds", &seconds);
    g_assert_cmpfloat_with_epsilon(seconds, 0.03, 1e-9);
  }
  g_assert_false(trigger(h->element, "2026-11-20T11:00:00"));
  gst_element_set_bus(h->element, NULL);
  gst_harness_teardown(h);
}

static void assert_warned(GstBus *bus, const char *says)
{
  g_autoptr(GstMessage) message =
      gst_bus_timed_pop_filtered(bus, TEST_PATIENCE, GST_MESSAGE_WARNING);
  g_autoptr(GError) error = NULL;
  g_assert_nonnull(message);
  gst_message_parse_warning(message, &error, NULL);
  test_says(error->message, says);
}

/* Other caps take effect where they came: the dump goes on in them, as another segment. */
static void test_caps(void)
{
  GstHarness *h = new_harness(1, 0.1, 0.1);
  push(h, 0, 3);
  gst_harness_set_src_caps_str(h, "application/x-astro-voltages,format=CI8,layout=time:station,"
                                  "stations=4,rate=500/1");
  GstBuffer *buffer = test_buffer(80, 1);
  GST_BUFFER_OFFSET(buffer) = 15;
  GST_BUFFER_OFFSET_END(buffer) = 25;
  GST_BUFFER_PTS(buffer) = 30 * GST_MSECOND;
  gst_harness_push(h, buffer);
  g_assert_true(trigger(h->element, "0.03"));
  assert_blocks(h, 0, 3);
  g_autoptr(GstBuffer) last = gst_harness_pull(h);
  g_assert_cmpuint(gst_buffer_get_size(last), ==, 80);
  g_assert_cmpuint(GST_BUFFER_OFFSET(last), ==, 15);
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  gint stations = 0;
  gst_structure_get_int(gst_caps_get_structure(caps, 0), "stations", &stations);
  g_assert_cmpint(stations, ==, 4);
  gst_harness_teardown(h);
}

/* A trigger that misses something gives a warning. */
static void test_warnings(void)
{
  GstHarness *h = new_harness(0.1, 0.1, 0.01);
  g_autoptr(GstBus) bus = gst_bus_new();
  gst_element_set_bus(h->element, bus);
  push(h, 0, 50);
  g_assert_true(trigger(h->element, "0.45"));
  assert_warned(bus, "too late for the first 0.050000 s");
  assert_blocks(h, 40, 46);
  g_assert_false(trigger(h->element, "0.1"));
  assert_warned(bus, "too late for the first 0.110000 s");
  g_assert_false(trigger(h->element, "yesterday"));
  assert_warned(bus, "is \"yesterday\", expected UTC");
  g_assert_true(trigger(h->element, "2026-11-20T12:00:00"));
  push(h, 50, 51);
  assert_warned(bus, "the observation has no start");
  gst_element_set_bus(h->element, NULL);
  gst_harness_teardown(h);
}

/* ---- an input that never waits ---- */

/* data: a gint that becomes 1 once a buffer is held. */
static GstPadProbeReturn hold(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  g_atomic_int_set((gint *)data, 1);
  return GST_PAD_PROBE_OK;
}

/* While downstream takes nothing the input goes on, and what does not fit is dropped and counted.
 * Without a bound all 1000 buffers would be kept. */
static void test_blocked(void)
{
  GstHarness *h = new_harness(0.1, 0.05, 1000);
  gint is_held = 0;
  g_autoptr(GstBus) bus = gst_bus_new();
  g_autoptr(GstPad) src = gst_element_get_static_pad(h->element, "src");
  gst_element_set_bus(h->element, bus);
  push(h, 0, 10);
  g_autoptr(GstEvent) gap = next_event(h, GST_EVENT_GAP);
  const gulong probe = gst_pad_add_probe(src, GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER,
                                         hold, &is_held, NULL);
  g_assert_true(trigger(h->element, "0.1"));
  while (!g_atomic_int_get(&is_held))
    g_usleep(1000);
  push(h, 10, 1000);
  gst_harness_push_event(h, gst_event_new_eos());
  gst_pad_remove_probe(src, probe);
  wait_for_eos(h);
  while (gst_harness_buffers_in_queue(h) > 0)
    gst_buffer_unref(gst_harness_pull(h));
  guint64 lost = 0, bytes = 0;
  assert_warned(bus, "were dropped: downstream took them too slowly");
  for (guint i = 0; i < 2; i++) { /* the buffer that was held is a dump of its own */
    g_autoptr(GstMessage) message = find_message(bus, "astro-dump");
    guint64 of_lost = 0, of_bytes = 0;
    gst_structure_get_uint64(gst_message_get_structure(message), "bytes", &of_bytes);
    gst_structure_get_uint64(gst_message_get_structure(message), "lost-bytes", &of_lost);
    bytes += of_bytes;
    lost += of_lost;
  }
  gst_element_set_bus(h->element, NULL);
  g_assert_cmpuint(lost, >, 900 * BLOCK * STEP_BYTES);
  g_assert_cmpuint(bytes, <=, 22 * BLOCK * STEP_BYTES);
  g_assert_cmpuint(bytes + lost, ==, 995 * BLOCK * STEP_BYTES);
  gst_harness_teardown(h);
}

/* An error downstream comes back to upstream. */
static void test_unlinked(void)
{
  g_autofree char *message = test_launch("astroskysrc stations=2 duration=0.2 block-steps=1000 ! "
                                         "astroring trigger-at=0.01 before=0.001 after=0.001 ! "
                                         "application/x-astro-voltages,format=CI8 ! astrofitssink "
                                         "location=/nonexistent/file.fits");
  test_says(message, "astrofitssink");
}

/* ---- messages of other elements ---- */

static GstPadProbeReturn post_candidate(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  g_autoptr(GstElement) element = gst_pad_get_parent_element(pad);
  if (GST_BUFFER_OFFSET(buffer) == 95000)
    gst_element_post_message(
        element, gst_message_new_element(GST_OBJECT(element),
                                         gst_structure_new("candidate", "time", G_TYPE_STRING,
                                                           "2026-11-20T12:00:00.09", NULL)));
  g_usleep(2000);
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn count_steps(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  guint64 *range = data;
  range[0] = MIN(range[0], GST_BUFFER_OFFSET(buffer));
  range[1] = MAX(range[1], GST_BUFFER_OFFSET_END(buffer));
  return GST_PAD_PROBE_OK;
}

/* Another branch posts its message long after the ring's input has ended; it is in a bin, as
 * elements of graphs may be. Two rings do not wait for each other. */
static void test_message(void)
{
  g_autoptr(GError) error = NULL;
  guint64 ranges[2][2] = { { G_MAXUINT64, 0 }, { G_MAXUINT64, 0 } };
  g_autoptr(GstElement) pipeline = gst_parse_launch(
      "astroskysrc stations=2 duration=0.1 bandwidth=1e6 block-steps=1000 "
      "start-time=2026-11-20T12:00:00 ! application/x-astro-voltages,format=CI8 ! tee name=t "
      "t. ! queue max-size-buffers=0 max-size-bytes=0 max-size-time=0 ! bin.( identity name=slow ! "
      "fakesink sync=false ) "
      "t. ! astroring before=0.0025 after=0.001 trigger-on=candidate ! fakesink sync=false name=a "
      "t. ! queue ! astroring before=0.001 after=0.0025 trigger-on=candidate ! fakesink name=b",
      &error);
  g_assert_no_error(error);
  for (guint i = 0; i < 3; i++) {
    static const char *const names[] = { "a", "b", "slow" };
    g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(pipeline), names[i]);
    g_autoptr(GstPad) pad = gst_element_get_static_pad(element, "sink");
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, i < 2 ? count_steps : post_candidate,
                      i < 2 ? ranges[i] : NULL, NULL);
  }
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_autoptr(GstMessage) message =
      gst_bus_timed_pop_filtered(bus, TEST_PATIENCE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_cmpint(GST_MESSAGE_TYPE(message), ==, GST_MESSAGE_EOS);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  g_assert_cmpuint(ranges[0][0], ==, 87000);
  g_assert_cmpuint(ranges[0][1], ==, 91000);
  g_assert_cmpuint(ranges[1][0], ==, 89000);
  g_assert_cmpuint(ranges[1][1], ==, 93000);
}

/* ---- what is refused, flushes, states ---- */

static void test_refusals(void)
{
#define SKY "astroskysrc stations=2 duration=0.01 ! "
  static const struct {
    const char *line, *says;
  } cases[] = {
    { SKY "astroring seconds=1e9 ! fakesink", "bytes are needed, and the machine has" },
    { SKY "astroring seconds=1 before=2 ! fakesink", "before is 2, but the ring holds 1 s" },
    { SKY "astroring trigger-at=, ! fakesink", "trigger-at: the time of a trigger is \"\"" },
    { SKY "astroring trigger-at=1,,2 ! fakesink", "the time of a trigger is \"\", expected UTC" },
    { SKY "astroring trigger-at=soon ! fakesink", "trigger-at: the time of a trigger is \"soon\"" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    test_refused_by(cases[i].line, "astroring", cases[i].says);
}

/* The bound on memory is told when the stream is known. */
static void test_bytes(void)
{
  GstHarness *h = harness_of("astroring seconds=2.5");
  g_autoptr(GstBus) bus = gst_bus_new();
  guint64 bytes = 0, most = 0;
  gst_element_set_bus(h->element, bus);
  gst_harness_set_src_caps_str(h, VOLTAGES);
  g_autoptr(GstMessage) message = find_message(bus, "astro-ring");
  gst_structure_get_uint64(gst_message_get_structure(message), "bytes", &bytes);
  gst_structure_get_uint64(gst_message_get_structure(message), "most-bytes", &most);
  g_assert_cmpuint(bytes, ==, 2500 * STEP_BYTES);
  g_assert_cmpuint(most, ==, 2 * bytes);
  gst_element_set_bus(h->element, NULL);
  gst_harness_teardown(h);
}

/* A flush revokes what was held; the stream and its triggers begin anew. */
static void test_flush(void)
{
  GstHarness *h = new_harness(1, 0.02, 0.02);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  push(h, 0, 10);
  g_autoptr(GstEvent) gap = next_event(h, GST_EVENT_GAP);
  gst_harness_push_event(h, gst_event_new_flush_start());
  gst_harness_push_event(h, gst_event_new_flush_stop(TRUE));
  gst_harness_push_event(h, gst_event_new_segment(&segment));
  push(h, 20, 30);
  g_assert_false(trigger(h->element, "0.05"));
  g_assert_true(trigger(h->element, "0.25"));
  assert_blocks(h, 23, 27);
  gst_harness_teardown(h);
}

/* Pads are shut down source first: a flush that ends on the sink pad in between must not start the
 * thread again. */
static void test_flush_while_stopping(void)
{
  GstHarness *h = new_harness(1, 0.02, 0);
  g_autoptr(GstPad) src = gst_element_get_static_pad(h->element, "src");
  push(h, 0, 3);
  gst_pad_set_active(src, FALSE);
  gst_harness_push_event(h, gst_event_new_flush_start());
  gst_harness_push_event(h, gst_event_new_flush_stop(TRUE));
  g_assert_cmpint(gst_pad_get_task_state(src), ==, GST_TASK_STOPPED);

  gst_pad_set_active(src, TRUE);
  g_assert_cmpint(gst_pad_get_task_state(src), ==, GST_TASK_STARTED);
  gst_harness_teardown(h);
}

/* A thousand starts and stops, with dumps in flight. */
static void test_cycles(void)
{
  g_autoptr(GstElement) pipeline =
      gst_parse_launch("fakesrc num-buffers=20 sizetype=fixed sizemax=400 filltype=zero ! " VOLTAGES
                       " ! astroring trigger-at=0.3 trigger-on=x ! fakesink sync=false",
                       NULL);
  for (guint i = 0; i < 1000 / TEST_STEP; i++) {
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    if (i % 10 == 0)
      gst_element_get_state(pipeline, NULL, NULL, TEST_PATIENCE);
    gst_element_set_state(pipeline, i % 2 ? GST_STATE_READY : GST_STATE_NULL);
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
}

static void add_tests(void)
{
  g_test_add_func("/astroring/dumps", test_dumps);
  g_test_add_func("/astroring/eos", test_eos);
  g_test_add_func("/astroring/drain", test_drain);
  g_test_add_func("/astroring/nothing", test_nothing);
  g_test_add_func("/astroring/losses", test_losses);
  g_test_add_func("/astroring/observations", test_observations);
  g_test_add_func("/astroring/caps", test_caps);
  g_test_add_func("/astroring/warnings", test_warnings);
  g_test_add_func("/astroring/blocked", test_blocked);
  g_test_add_func("/astroring/unlinked", test_unlinked);
  g_test_add_func("/astroring/message", test_message);
  g_test_add_func("/astroring/refused", test_refusals);
  g_test_add_func("/astroring/bytes", test_bytes);
  g_test_add_func("/astroring/flush", test_flush);
  g_test_add_func("/astroring/flush-while-stopping", test_flush_while_stopping);
  g_test_add_func("/astroring/cycles", test_cycles);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
