/* Times in the base of elements, seen through astrotranspose: stamps, gaps, losses, caps that
 * change, flushes. */
#include "core/stream/validity.h"
#include "tests/elements/astrostage.h"
#include "tests/observe.h"

static void expect(GstBuffer *buffer, guint64 first, guint64 steps, gboolean discont)
{
  g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, first);
  g_assert_cmpuint(GST_BUFFER_OFFSET_END(buffer), ==, first + steps);
  g_assert_cmpuint(gst_buffer_get_size(buffer), ==, steps * STEP);
  g_assert_cmpuint(GST_BUFFER_PTS(buffer), ==, gst_util_uint64_scale(first, 3 * GST_SECOND, 1000));
  g_assert_cmpuint(GST_BUFFER_PTS(buffer) + GST_BUFFER_DURATION(buffer), ==,
                   gst_util_uint64_scale(first + steps, 3 * GST_SECOND, 1000));
  g_assert_cmpint(GST_BUFFER_IS_DISCONT(buffer), ==, discont);
}

/* PTS follows from the index, even after a week of blocks of odd lengths, and a loss shows as
 * DISCONT. */
static void test_time(void)
{
  static const guint64 firsts[] = { 0, 7, 12, 100, 201600000000, 201600000003 };
  static const guint64 steps[] = { 7, 5, 1, 3, 3, 11 };
  static const gboolean jumps[] = { FALSE, FALSE, FALSE, TRUE, TRUE, FALSE };
  GstHarness *h = new_harness();

  for (guint i = 0; i < G_N_ELEMENTS(firsts); i++) {
    g_assert_cmpint(gst_harness_push(h, stamped(firsts[i], steps[i])), ==, GST_FLOW_OK);
    GstBuffer *out = gst_harness_pull(h);
    expect(out, firsts[i], steps[i], jumps[i]);
    gst_buffer_unref(out);
  }
  gst_harness_teardown(h);
}

/* A stream without times or offsets counts from zero; one with PTS alone begins where PTS says. */
static void test_untimed(void)
{
  GstHarness *h = new_harness();
  gst_harness_push(h, test_buffer(5 * STEP, 1));
  gst_harness_push(h, test_buffer(2 * STEP, 2));
  GstBuffer *out = gst_harness_pull(h);
  expect(out, 0, 5, FALSE);
  gst_buffer_unref(out);
  out = gst_harness_pull(h);
  expect(out, 5, 2, FALSE);
  gst_buffer_unref(out);
  gst_harness_teardown(h);

  h = new_harness();
  GstBuffer *in = test_buffer(5 * STEP, 1);
  GST_BUFFER_PTS(in) = gst_util_uint64_scale(77, 3 * GST_SECOND, 1000);
  gst_harness_push(h, in);
  out = gst_harness_pull(h);
  expect(out, 77, 5, FALSE);
  gst_buffer_unref(out);
  gst_harness_teardown(h);
}

/* Two blocks of one step each, the first at that time: they come out with the times they had. */
static void push_between(GstHarness *h, GstClockTime time, guint64 offset)
{
  for (guint i = 0; i < 2; i++) {
    GstBuffer *in = test_buffer(STEP, i);
    GST_BUFFER_PTS(in) = time + i * 3 * GST_MSECOND;
    if (offset != GST_BUFFER_OFFSET_NONE)
      GST_BUFFER_OFFSET(in) = offset + i;
    if (i == 0)
      GST_BUFFER_FLAG_SET(in, GST_BUFFER_FLAG_DISCONT);
    gst_harness_push(h, in);
    g_autoptr(GstBuffer) out = gst_harness_pull(h);
    g_assert_cmpuint(GST_BUFFER_PTS(out), ==, time + i * 3 * GST_MSECOND);
    g_assert_cmpuint(GST_BUFFER_DURATION(out), ==, 3 * GST_MSECOND);
  }
}

/* A segment that is new. */
static void push_segment(GstHarness *h, guint64 base)
{
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.base = base;
  g_assert_true(gst_harness_push_event(h, gst_event_new_segment(&segment)));
}

/* A stream need not begin at a whole number of steps, since a step of visibilities takes seconds.
 * Nor need a segment, in which OFFSET may count from elsewhere. */
static void test_between_steps(void)
{
  GstHarness *h = new_harness();
  push_between(h, 10 * GST_MSECOND, GST_BUFFER_OFFSET_NONE);
  push_between(h, 20 * GST_MSECOND, GST_BUFFER_OFFSET_NONE);
  push_segment(h, 1);
  push_between(h, 100 * GST_MSECOND, 40); /* which would be at 120 */
  push_segment(h, 2);
  push_between(h, 200 * GST_MSECOND, 60); /* at 180 */
  push_between(h, 300 * GST_MSECOND + 1500000, GST_BUFFER_OFFSET_NONE);
  gst_harness_teardown(h);
}

/* Steps too large to be counted or timed are refused: arithmetic with them would wrap. */
static void test_too_far(void)
{
  static const struct {
    guint64 offset;
    GstClockTime time;
  } blocks[] = {
    { G_MAXUINT64 - 1, GST_CLOCK_TIME_NONE },
    { G_MAXUINT64 - 7, GST_CLOCK_TIME_NONE },
    { G_MAXINT64 - 2, GST_CLOCK_TIME_NONE },
    { G_MAXINT64 / 3000000, GST_CLOCK_TIME_NONE },
    { GST_BUFFER_OFFSET_NONE, G_MAXUINT64 - 1 },
    { 0, G_MAXUINT64 - 1 },
    { 0, G_MAXINT64 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(blocks); i++) {
    GstHarness *h = test_harness("astrodelay");
    g_autoptr(AstroObservation) observation = test_observe("lofar-like", 3);
    gst_harness_set_src_caps_str(h, IN_CAPS ",frequency=1.5e8,bandwidth=333.0");
    gst_harness_push_event(h, astro_observation_to_event(observation));
    GstBuffer *in = test_buffer(5 * STEP, i);
    GST_BUFFER_OFFSET(in) = blocks[i].offset;
    GST_BUFFER_PTS(in) = blocks[i].time;
    g_assert_cmpint(gst_harness_push(h, in), ==, GST_FLOW_ERROR);
    gst_harness_push_event(h, gst_event_new_eos());
    gst_harness_teardown(h);
  }
}

/* Steps of another length follow on in time, whether the blocks say so or not. */
static void test_new_rate(gconstpointer timed)
{
  static const gint rates[] = { 1000, 1000, 2000, 500, 500 };
  GstHarness *h = test_harness("astrotranspose");
  GstClockTime time = 0;

  gst_harness_set_sink_caps_str(h, "application/x-astro-voltages,layout=station:pol:time");
  for (guint i = 0; i < G_N_ELEMENTS(rates); i++) {
    const GstClockTime length = 20 * GST_SECOND / rates[i];
    g_autofree char *caps = g_strdup_printf("application/x-astro-voltages,format=CI8,stations=3,"
                                            "pols=2,layout=time:station:pol,rate=%d/1",
                                            rates[i]);
    gst_harness_set_src_caps_str(h, caps);
    GstBuffer *in = test_buffer(20 * STEP, i);
    if (timed)
      GST_BUFFER_PTS(in) = time;
    g_assert_cmpint(gst_harness_push(h, in), ==, GST_FLOW_OK);
    g_autoptr(GstBuffer) out = gst_harness_pull(h);
    g_assert_cmpuint(GST_BUFFER_PTS(out), ==, time);
    g_assert_cmpuint(GST_BUFFER_DURATION(out), ==, length);
    time += length;
  }
  gst_harness_teardown(h);
}

/* Offsets that count bytes, like those of filesrc, are not steps; the output has a TIME segment. */
static void test_bytes_segment(void)
{
  GstHarness *h = test_harness("astrotranspose");
  GstSegment segment;
  gst_harness_set_sink_caps_str(h, OUT_CAPS);
  g_assert_true(gst_harness_push_event(h, gst_event_new_stream_start("s")));
  g_autoptr(GstCaps) caps = gst_caps_from_string(IN_CAPS);
  g_assert_true(gst_harness_push_event(h, gst_event_new_caps(caps)));
  gst_segment_init(&segment, GST_FORMAT_BYTES);
  g_assert_true(gst_harness_push_event(h, gst_event_new_segment(&segment)));
  for (guint i = 0; i < 2; i++) {
    GstBuffer *in = test_buffer(4 * STEP, i);
    GST_BUFFER_OFFSET(in) = 4 * STEP * i;
    GST_BUFFER_OFFSET_END(in) = 4 * STEP * (i + 1);
    g_assert_cmpint(gst_harness_push(h, in), ==, GST_FLOW_OK);
    GstBuffer *out = gst_harness_pull(h);
    expect(out, 4 * i, 4, FALSE);
    gst_buffer_unref(out);
  }
  GstEvent *event = gst_pad_get_sticky_event(h->sinkpad, GST_EVENT_SEGMENT, 0);
  const GstSegment *got;
  gst_event_parse_segment(event, &got);
  g_assert_cmpint(got->format, ==, GST_FORMAT_TIME);
  gst_event_unref(event);
  gst_harness_teardown(h);
}

/* A block that is all gap keeps its place in time and is not made of garbage. */
static void test_gap(void)
{
  GstHarness *h = new_harness();
  GstBuffer *in = stamped(10, 4);
  GstMapInfo map;
  GST_BUFFER_FLAG_SET(in, GST_BUFFER_FLAG_GAP);
  gst_harness_push(h, in);
  GstBuffer *out = gst_harness_pull(h);
  expect(out, 10, 4, FALSE);
  g_assert_true(GST_BUFFER_FLAG_IS_SET(out, GST_BUFFER_FLAG_GAP));
  gst_buffer_map(out, &map, GST_MAP_READ);
  for (gsize i = 0; i < map.size; i++)
    g_assert_cmpint(map.data[i], ==, 0);
  gst_buffer_unmap(out, &map);
  gst_buffer_unref(out);
  gst_harness_teardown(h);
}

/* Others tell of a gap by an event, with no DISCONT after it: the next block is where its PTS says.
 */
static void test_gap_event(void)
{
  static const guint64 firsts[] = { 2, 7, 21 }, steps[] = { 5, 4, 3 };
  GstHarness *h = new_harness();
  for (guint i = 0; i < 3; i++) {
    GstBuffer *in = test_buffer(steps[i] * STEP, i);
    GST_BUFFER_PTS(in) = gst_util_uint64_scale(firsts[i], 3 * GST_SECOND, 1000);
    if (i == 2)
      g_assert_true(
          gst_harness_push_event(h, gst_event_new_gap(33 * GST_MSECOND, 30 * GST_MSECOND)));
    gst_harness_push(h, in);
    GstBuffer *out = gst_harness_pull(h);
    expect(out, firsts[i], steps[i], i == 2);
    gst_buffer_unref(out);
  }
  gst_harness_teardown(h);
}

static void test_validity_follows(void)
{
  GstHarness *h = new_harness();
  GstBuffer *in = stamped(0, 5);
  AstroLayout shape = { .n_axes = 2,
                        .axes = { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION },
                        .extents = { 5, 3 } };
  AstroValidityMeta *counts = astro_buffer_add_validity(in, &shape, 1);
  counts->counts[4 * 3 + 1] = 0;
  gst_harness_push(h, in);
  GstBuffer *out = gst_harness_pull(h);
  AstroValidityMeta *followed = astro_buffer_get_validity(out);
  g_assert_nonnull(followed);
  for (guint i = 0; i < 15; i++)
    g_assert_cmpuint(followed->counts[i], ==, i == 1 * 5 + 4 ? 0 : 1);
  gst_buffer_unref(out);

  /* When the buffer is used again it has none of the old metadata. */
  gst_harness_push(h, stamped(5, 5));
  out = gst_harness_pull(h);
  g_assert_null(astro_buffer_get_validity(out));
  gst_buffer_unref(out);
  gst_harness_teardown(h);
}

static void test_flush(void)
{
  GstHarness *h = new_harness();
  GstSegment segment;
  gst_harness_push(h, stamped(50, 5));
  gst_buffer_unref(gst_harness_pull(h));
  g_assert_true(gst_harness_push_event(h, gst_event_new_flush_start()));
  g_assert_true(gst_harness_push_event(h, gst_event_new_flush_stop(TRUE)));
  gst_segment_init(&segment, GST_FORMAT_TIME);
  g_assert_true(gst_harness_push_event(h, gst_event_new_segment(&segment)));
  gst_harness_push(h, test_buffer(2 * STEP, 3));
  GstBuffer *out = gst_harness_pull(h);
  expect(out, 0, 2, FALSE);
  gst_buffer_unref(out);
  gst_harness_teardown(h);
}

/* New caps in mid-stream: each block in the layout of its own caps. */
static void test_caps_change(void)
{
  GstHarness *h = test_harness("astrotranspose");
  gst_harness_set_src_caps_str(h, IN_CAPS);
  gst_harness_set_sink_caps_str(h, "application/x-astro-voltages,layout=station:pol:time");
  gst_harness_push(h, stamped(0, 3));
  gst_harness_set_src_caps_str(h, "application/x-astro-voltages,format=CF32LE,stations=2,pols=1,"
                                  "rate=1000/3,layout=time:pol:station");
  GstBuffer *in = test_buffer(16 * 4, 9);
  GST_BUFFER_OFFSET(in) = 3;
  GST_BUFFER_OFFSET_END(in) = 7;
  g_assert_cmpint(gst_harness_push(h, in), ==, GST_FLOW_OK);
  GstBuffer *out = gst_harness_pull(h);
  expect(out, 0, 3, FALSE);
  gst_buffer_unref(out);
  out = gst_harness_pull(h);
  g_assert_cmpuint(GST_BUFFER_OFFSET(out), ==, 3);
  g_assert_cmpuint(gst_buffer_get_size(out), ==, 64);
  gst_buffer_unref(out);
  gst_harness_teardown(h);
}

static GstEvent *caps_of(const char *format)
{
  g_autofree char *text = g_strdup_printf(
      "application/x-astro-voltages,format=%s,layout=time:station,stations=2,rate=1000/1", format);
  g_autoptr(GstCaps) caps = gst_caps_from_string(text);
  return gst_event_new_caps(caps);
}

/* Blocks of five steps that are worked on or passed on, in turn, by their formats; the source
 * counts bytes. Blocks that pass get times too, once downstream expects them. */
static void test_passes_between(void)
{
  static const char *const formats[] = { "CI8", "CF32LE", "CF32LE", "CI8", "CF32LE", "CI8" };
  GstHarness *h = test_harness("astroconvert");
  GstSegment segment;
  guint64 at = 0;

  gst_segment_init(&segment, GST_FORMAT_BYTES);
  gst_harness_set_sink_caps_str(h, "application/x-astro-voltages,format=CF32LE");
  gst_harness_push_event(h, gst_event_new_stream_start("bytes"));
  gst_harness_push_event(h, caps_of(formats[0]));
  gst_harness_push_event(h, gst_event_new_segment(&segment));
  for (guint i = 0; i < G_N_ELEMENTS(formats); i++) {
    GstBuffer *in = test_buffer(g_str_equal(formats[i], "CI8") ? 20 : 80, i);
    GST_BUFFER_OFFSET(in) = at;
    at += gst_buffer_get_size(in);
    gst_harness_push_event(h, caps_of(formats[i]));
    g_assert_cmpint(gst_harness_push(h, in), ==, GST_FLOW_OK);
    g_autoptr(GstBuffer) out = gst_harness_pull(h);
    g_assert_cmpuint(gst_buffer_get_size(out), ==, 80);
    g_assert_cmpuint(GST_BUFFER_OFFSET(out), ==, 5 * i);
    g_assert_cmpuint(GST_BUFFER_OFFSET_END(out), ==, 5 * i + 5);
    g_assert_cmpuint(GST_BUFFER_PTS(out), ==, 5 * i * GST_MSECOND);
    g_assert_cmpint(GST_BUFFER_IS_DISCONT(out), ==, FALSE);
  }
  gst_harness_teardown(h);
}

/* Without times a block that passes stays as it is; its steps count all the same. */
static void test_passes_before(void)
{
  GstHarness *h = test_harness("astroconvert");

  gst_harness_set_sink_caps_str(h, "application/x-astro-voltages,format=CF32LE");
  for (guint i = 0; i < 4; i++) {
    gst_harness_set_src_caps_str(h, i % 2
                                        ? "application/x-astro-voltages,format=CI8,layout=time"
                                        : "application/x-astro-voltages,format=CF32LE,layout=time");
    gst_harness_push(h, test_buffer(i % 2 ? 14 : 56, i));
    g_autoptr(GstBuffer) out = gst_harness_pull(h);
    g_assert_cmpuint(GST_BUFFER_OFFSET(out), ==, i % 2 ? 7 * i : GST_BUFFER_OFFSET_NONE);
    g_assert_cmpint(GST_BUFFER_IS_DISCONT(out), ==, FALSE);
  }
  gst_harness_teardown(h);
}

static void add_tests(void)
{
  g_test_add_func("/stage/time", test_time);
  g_test_add_func("/stage/untimed", test_untimed);
  g_test_add_func("/stage/between-steps", test_between_steps);
  g_test_add_func("/stage/too-far", test_too_far);
  g_test_add_data_func("/stage/new-rate/timed", GINT_TO_POINTER(TRUE), test_new_rate);
  g_test_add_data_func("/stage/new-rate/untimed", NULL, test_new_rate);
  g_test_add_func("/stage/bytes-segment", test_bytes_segment);
  g_test_add_func("/stage/gap", test_gap);
  g_test_add_func("/stage/gap-event", test_gap_event);
  g_test_add_func("/stage/validity-follows", test_validity_follows);
  g_test_add_func("/stage/flush", test_flush);
  g_test_add_func("/stage/caps-change", test_caps_change);
  g_test_add_func("/stage/passes-between", test_passes_between);
  g_test_add_func("/stage/passes-before", test_passes_before);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
