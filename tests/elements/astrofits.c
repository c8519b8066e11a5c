/* astrofitssink: streams of visibilities that become files, and those that end badly. */
#include "tests/elements/astrofits.h"

#include <signal.h>
#include <sys/resource.h>

/* Checks the message about the file, which the sink posts once the file has its name. */
static void expect_file(TestFile *place, guint64 integrations, double seconds, guint weight,
                        double flagged)
{
  g_autoptr(GstMessage) message = gst_bus_pop_filtered(place->bus, GST_MESSAGE_ELEMENT);
  g_assert_nonnull(message);
  g_autofree char *text = gst_structure_to_string(gst_message_get_structure(message));
  g_autoptr(GstStructure) wanted = gst_structure_new(
      "astro-file", "location", G_TYPE_STRING, place->path, "format", G_TYPE_STRING, "UVFITS",
      "stations", G_TYPE_INT, TEST_STATIONS, "baselines", G_TYPE_INT, 6, "channels", G_TYPE_INT,
      TEST_CHANNELS, "products", G_TYPE_INT, 4, "integrations", G_TYPE_UINT64, integrations,
      "start", G_TYPE_STRING, "2026-11-20T21:30:09.123456789Z", "seconds", G_TYPE_DOUBLE, seconds,
      "least-weight", G_TYPE_UINT, weight, "most-weight", G_TYPE_UINT, weight, "flagged",
      G_TYPE_DOUBLE, flagged, NULL);
  g_test_message("%s", text);
  g_assert_true(gst_structure_is_equal(gst_message_get_structure(message), wanted));
}

static void eos(TestFile *place, gconstpointer data)
{
  static const guint sent[] = { 0, 1, 2 };
  GstHarness *h = test_begin(place);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpint(test_send_frame(h, sent[i]), ==, GST_FLOW_OK);
  g_assert_false(g_file_test(place->path, G_FILE_TEST_EXISTS));
  g_assert_true(gst_harness_push_event(h, gst_event_new_eos()));
  g_assert_true(g_file_test(place->path, G_FILE_TEST_EXISTS));
  test_expect_no_error(place);
  gst_harness_teardown(h);
  test_expect_frames(place, sent, 3);
}

/* A name that is set while a file is written counts for the next file. */
static void next_location(TestFile *place, gconstpointer data)
{
  GstHarness *h = test_begin(place);
  test_send_frame(h, 1);
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(h->element), "file");
  g_object_set(sink, "location", "/no-such-folder/next.uvfits", NULL);
  test_send_frame(h, 2);
  gst_harness_push_event(h, gst_event_new_eos());
  expect_file(place, 2, 4, 1, 0);
  test_expect_no_error(place);
  gst_harness_teardown(h);
}

/* The event may also come before the caps. */
static void event_first(TestFile *place, gconstpointer data)
{
  static const guint sent[] = { 0 };
  GstHarness *h = test_new_sink(place);
  test_send_observation(h, TEST_STATIONS);
  gst_harness_set_src_caps_str(h, TEST_CAPS);
  test_send_observation(h, TEST_STATIONS); /* the same again is not a change */
  test_send_frame(h, 0);
  test_send_observation(h, TEST_STATIONS);
  gst_harness_push_event(h, gst_event_new_eos());
  test_expect_no_error(place);
  gst_harness_teardown(h);
  test_expect_frames(place, sent, 1);
}

/* Stopped without EOS: a complete file of what came. */
static void aborted(TestFile *place, gconstpointer data)
{
  static const guint sent[] = { 1, 2 };
  GstHarness *h = test_begin(place);
  test_send_frame(h, 1);
  test_send_frame(h, 2);
  gst_harness_teardown(h);
  expect_file(place, 2, 4, 1, 0);
  test_expect_no_error(place);
  test_expect_frames(place, sent, 2);
}

static void stopped_early(TestFile *place, gconstpointer data)
{
  GstHarness *h = test_begin(place);
  gst_harness_teardown(h);
  test_expect_no_error(place);
  g_assert_false(g_file_test(place->path, G_FILE_TEST_EXISTS));
}

static void nothing(TestFile *place, gconstpointer data)
{
  GstHarness *h = test_begin(place);
  g_assert_false(gst_harness_push_event(h, gst_event_new_eos()));
  test_expect_error(place, "before its first integration");
  gst_harness_teardown(h);
}

/* Lost and skipped time stays a gap. */
static void gaps(TestFile *place, gconstpointer data)
{
  static const guint kept[] = { 0, 3, 7 };
  GstHarness *h = test_begin(place);
  for (guint i = 0; i < 4; i++) {
    GstBuffer *buffer = test_new_frame(i);
    if (i == 1 || i == 2)
      GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_GAP);
    gst_harness_push(h, buffer);
  }
  test_send_frame(h, 7);
  gst_harness_push_event(h, gst_event_new_eos());
  gst_harness_teardown(h);
  test_expect_frames(place, kept, 3);
}

static void no_timestamps(TestFile *place, gconstpointer data)
{
  static const guint sent[] = { 0, 1, 2, 3 };
  GstHarness *h = test_begin(place);
  /* Two frames in the first buffer. */
  for (guint i = 0; i < 4; i += 2) {
    GstBuffer *buffer = gst_buffer_append(test_new_frame(i), test_new_frame(i + 1));
    GST_BUFFER_PTS(buffer) = GST_BUFFER_DURATION(buffer) = GST_CLOCK_TIME_NONE;
    g_assert_cmpint(gst_harness_push(h, buffer), ==, GST_FLOW_OK);
  }
  gst_harness_push_event(h, gst_event_new_eos());
  gst_harness_teardown(h);
  test_expect_frames(place, sent, 4);
}

static void no_time_at_all(TestFile *place, gconstpointer data)
{
  GstHarness *h = test_new_sink(place);
  GstBuffer *buffer = test_new_frame(0);
  GstCaps *caps = gst_caps_from_string(TEST_CAPS);
  gst_structure_remove_field(gst_caps_get_structure(caps, 0), "rate");
  gst_harness_set_src_caps(h, caps);
  test_send_observation(h, TEST_STATIONS);
  GST_BUFFER_DURATION(buffer) = GST_CLOCK_TIME_NONE;
  g_assert_cmpint(gst_harness_push(h, buffer), ==, GST_FLOW_ERROR);
  test_expect_error(place, "rate");
  gst_harness_teardown(h);
}

/* Times without a date, and durations that came out negative. */
static void wild_times(TestFile *place, gconstpointer data)
{
  static const guint64 wild[][2] = { { G_MAXINT64, TEST_DUMP },
                                     { G_MAXUINT64 - 1, TEST_DUMP },
                                     { 0, G_GUINT64_CONSTANT(1) << 63 },
                                     { 0, G_MAXUINT64 - 1 } };
  for (guint i = 0; i < G_N_ELEMENTS(wild); i++) {
    GstHarness *h = test_begin(place);
    GstBuffer *buffer = test_new_frame(0);
    GST_BUFFER_PTS(buffer) = wild[i][0];
    GST_BUFFER_DURATION(buffer) = wild[i][1];
    g_assert_cmpint(gst_harness_push(h, buffer), ==, GST_FLOW_ERROR);
    test_expect_error(place, "expected at most 2^62");
    gst_harness_teardown(h);
  }
}

static GstFlowReturn send_stamped(GstHarness *h, guint index, guint frames, gboolean is_stamped)
{
  GstBuffer *buffer = test_new_frame(index);
  for (guint i = 1; i < frames; i++)
    buffer = gst_buffer_append(buffer, test_new_frame(index + i));
  GST_BUFFER_PTS(buffer) = index * TEST_DUMP;
  GST_BUFFER_DURATION(buffer) = frames * TEST_DUMP;
  if (is_stamped) {
    GST_BUFFER_OFFSET(buffer) = index;
    GST_BUFFER_OFFSET_END(buffer) = index + frames;
  }
  return gst_harness_push(h, buffer);
}

/* Integrations that came before, alone or in a buffer with others, are in the file once. */
static void again(TestFile *place, gconstpointer data)
{
  static const guint written[] = { 0, 1, 2, 3, 5, 6 };
  static const struct {
    guint index, frames;
  } sent[] = { { 0, 1 }, { 0, 1 }, { 1, 2 }, { 0, 3 }, { 2, 2 }, { 5, 1 }, { 4, 1 }, { 1, 6 } };
  for (guint is_stamped = 0; is_stamped < 2; is_stamped++) {
    GstHarness *h = test_begin(place);
    for (guint i = 0; i < G_N_ELEMENTS(sent); i++)
      g_assert_cmpint(send_stamped(h, sent[i].index, sent[i].frames, is_stamped), ==, GST_FLOW_OK);
    gst_harness_push_event(h, gst_event_new_eos());
    g_autofree char *warning = test_pop(place, GST_MESSAGE_WARNING);
    test_says(warning, "came again, or late");
    g_autoptr(GstMessage) message = gst_bus_pop_filtered(
        place->bus, GST_MESSAGE_ELEMENT | GST_MESSAGE_WARNING | GST_MESSAGE_ERROR);
    guint64 count = 0;
    g_assert_nonnull(message);
    gst_structure_get_uint64(gst_message_get_structure(message), "again", &count);
    g_assert_cmpuint(count, ==, 1 + 3 + 1 + 1 + 5);
    test_expect_frames(place, written, G_N_ELEMENTS(written));
    gst_harness_teardown(h);
  }
}

/* Another stream may begin anywhere except at a time that the file has. */
static void again_of_another(TestFile *place, gconstpointer data)
{
  for (guint first = 1; first < 3; first++) {
    GstHarness *h = test_begin(place);
    send_stamped(h, 0, 2, TRUE);
    gst_harness_push_event(h, gst_event_new_stream_start("another"));
    g_assert_cmpint(send_stamped(h, first, 1, TRUE), ==, first == 1 ? GST_FLOW_ERROR : GST_FLOW_OK);
    if (first == 1)
      test_expect_error(place,
                        "an integration begins at 2.000000000 s where the file already has one");
    gst_harness_push_event(h, gst_event_new_eos());
    gst_harness_teardown(h);
  }
}

/* Frames that have OFFSET and no PTS are timed by OFFSET. */
static void times_by_step(TestFile *place, gconstpointer data)
{
  static const guint written[] = { 0, 4, 5 };
  GstHarness *h = test_begin(place);
  for (guint i = 0; i < 3; i++) {
    GstBuffer *buffer = test_new_frame(written[i]);
    GST_BUFFER_PTS(buffer) = GST_BUFFER_DURATION(buffer) = GST_CLOCK_TIME_NONE;
    GST_BUFFER_OFFSET(buffer) = written[i];
    GST_BUFFER_OFFSET_END(buffer) = written[i] + 1;
    g_assert_cmpint(gst_harness_push(h, buffer), ==, GST_FLOW_OK);
  }
  gst_harness_push_event(h, gst_event_new_eos());
  test_expect_frames(place, written, 3);
  gst_harness_teardown(h);
}

static void flush(TestFile *place, gconstpointer data)
{
  static const guint kept[] = { 5 };
  GstHarness *h = test_begin(place);
  GstSegment segment;
  test_send_frame(h, 0);
  test_send_frame(h, 1);
  gst_harness_push_event(h, gst_event_new_flush_start());
  gst_harness_push_event(h, gst_event_new_flush_stop(TRUE));
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(h, gst_event_new_segment(&segment));
  g_assert_cmpint(test_send_frame(h, 5), ==, GST_FLOW_OK);
  gst_harness_push_event(h, gst_event_new_eos());
  test_expect_no_error(place);
  gst_harness_teardown(h);
  test_expect_frames(place, kept, 1);
}

/* Visibilities that were flushed, refused or written already do not make a second file at EOS. */
static void flush_then_end(GstHarness *h)
{
  GstSegment segment;
  gst_harness_push_event(h, gst_event_new_flush_start());
  gst_harness_push_event(h, gst_event_new_flush_stop(TRUE));
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(h, gst_event_new_segment(&segment));
  g_assert_false(gst_harness_push_event(h, gst_event_new_eos()));
}

static void nothing_after_flush(TestFile *place, gconstpointer data)
{
  GstHarness *h = test_begin(place);
  test_send_frame(h, 0);
  flush_then_end(h);
  test_expect_error(place, "before its first integration");
  gst_harness_teardown(h);
}

static void nothing_after_eos(TestFile *place, gconstpointer data)
{
  static const guint sent[] = { 0 };
  GstHarness *h = test_begin(place);
  test_send_frame(h, 0);
  g_assert_true(gst_harness_push_event(h, gst_event_new_eos()));
  flush_then_end(h);
  g_autofree char *text = test_pop(place, GST_MESSAGE_ERROR);
  g_assert_nonnull(strstr(text, "before its first integration"));
  gst_harness_teardown(h);
  test_expect_frames(place, sent, 1);
}

static void odd_size_later(TestFile *place, gconstpointer data)
{
  GstHarness *h = test_begin(place);
  GstBuffer *buffer = test_new_frame(1);
  test_send_frame(h, 0);
  gst_buffer_set_size(buffer, 100);
  g_assert_cmpint(gst_harness_push(h, buffer), ==, GST_FLOW_ERROR);
  test_expect_error(place, "100 bytes");
  g_assert_cmpint(test_send_frame(h, 2), ==, GST_FLOW_ERROR);
  g_assert_false(gst_harness_push_event(h, gst_event_new_eos()));
  test_expect_no_error(place);
  gst_harness_teardown(h);
  g_assert_false(g_file_test(place->path, G_FILE_TEST_EXISTS));
}

static void begin_stream(GstHarness *h)
{
  GstSegment segment;
  GstCaps *caps = gst_caps_from_string(TEST_CAPS);
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(h, gst_event_new_stream_start("ready"));
  gst_harness_push_event(h, gst_event_new_caps(caps));
  gst_harness_push_event(h, gst_event_new_segment(&segment));
  test_send_observation(h, TEST_STATIONS);
  gst_caps_unref(caps);
}

/* READY ends a stream in its middle, and the next one has a file of its own, wherever it begins. */
static void ready_between(TestFile *place, gconstpointer data)
{
  static const guint first[] = { 0, 1 }, second[] = { 4 };
  g_autofree char *other = g_strconcat(place->path, ".other", NULL);
  GstHarness *h = test_new_sink(place);
  GstElement *sink = gst_bin_get_by_name(GST_BIN(h->element), "file");
  gst_element_set_state(h->element, GST_STATE_READY);
  g_object_set(sink, "location", other, NULL);
  gst_element_set_state(h->element, GST_STATE_PLAYING);
  begin_stream(h);
  test_send_frame(h, 0);
  test_send_frame(h, 1);
  gst_element_set_state(h->element, GST_STATE_READY);
  g_assert_false(g_file_test(place->path, G_FILE_TEST_EXISTS));
  g_assert_cmpint(g_rename(other, place->path), ==, 0);
  test_expect_frames(place, first, 2);
  g_object_set(sink, "location", place->path, NULL);
  gst_element_set_state(h->element, GST_STATE_PLAYING);
  begin_stream(h);
  g_assert_cmpint(test_send_frame(h, 4), ==, GST_FLOW_OK);
  g_assert_true(gst_harness_push_event(h, gst_event_new_eos()));
  test_expect_no_error(place);
  gst_object_unref(sink);
  gst_harness_teardown(h);
  test_expect_frames(place, second, 1);
}

static void no_observation(TestFile *place, gconstpointer data)
{
  GstHarness *h = test_new_sink(place);
  gst_harness_set_src_caps_str(h, TEST_CAPS);
  g_assert_cmpint(test_send_frame(h, 0), ==, GST_FLOW_ERROR);
  test_expect_error(place, "astro-observation");
  gst_harness_teardown(h);
}

static void other_stations(TestFile *place, gconstpointer data)
{
  GstHarness *h = test_new_sink(place);
  gst_harness_set_src_caps_str(h, TEST_CAPS);
  test_send_observation(h, TEST_STATIONS + 1);
  g_assert_cmpint(test_send_frame(h, 0), ==, GST_FLOW_ERROR);
  test_expect_error(place, "stations=3");
  gst_harness_teardown(h);
}

static void observation_changes(TestFile *place, gconstpointer data)
{
  static const guint sent[] = { 0 };
  GstHarness *h = test_begin(place);
  g_autoptr(AstroObservation) other = test_observation(TEST_STATIONS);
  test_send_frame(h, 0);
  other->phase_dec += 0.01;
  gst_harness_push_event(h, astro_observation_to_event(other));
  g_autofree char *text = test_pop(place, GST_MESSAGE_ERROR);
  g_assert_nonnull(strstr(text, "observation changed"));
  g_assert_cmpint(test_send_frame(h, 1), ==, GST_FLOW_ERROR);
  gst_harness_teardown(h);
  test_expect_frames(place, sent, 1); /* up to there it was good */
}

static void caps_change(TestFile *place, gconstpointer data)
{
  static const guint sent[] = { 0 };
  GstHarness *h = test_begin(place);
  GstCaps *caps = gst_caps_from_string(TEST_CAPS);
  test_send_frame(h, 0);
  gst_caps_set_simple(caps, "frequency", G_TYPE_DOUBLE, 1.6e8, NULL);
  gst_harness_push_event(h, gst_event_new_caps(caps));
  gst_caps_unref(caps);
  g_autofree char *text = test_pop(place, GST_MESSAGE_ERROR);
  g_assert_nonnull(strstr(text, "frequency=(double)160000000"));
  g_assert_nonnull(strstr(text, "frequency=(double)150000000"));
  g_assert_cmpint(test_send_frame(h, 1), !=, GST_FLOW_OK);
  gst_harness_teardown(h);
  test_expect_frames(place, sent, 1);
}

static void odd_size(TestFile *place, gconstpointer data)
{
  GstHarness *h = test_begin(place);
  GstBuffer *buffer = test_new_frame(0);
  gst_buffer_set_size(buffer, 100);
  g_assert_cmpint(gst_harness_push(h, buffer), ==, GST_FLOW_ERROR);
  test_expect_error(place, "100 bytes");
  gst_harness_teardown(h);
}

static void not_finite(TestFile *place, gconstpointer data)
{
  GstHarness *h = test_begin(place);
  GstBuffer *buffer = test_new_frame(0);
  GstMapInfo map;
  gst_buffer_map(buffer, &map, GST_MAP_WRITE);
  ((float *)map.data)[7] = NAN;
  gst_buffer_unmap(buffer, &map);
  gst_harness_push(h, buffer);
  gst_harness_push_event(h, gst_event_new_eos());
  g_autofree char *text = test_pop(place, GST_MESSAGE_WARNING);
  g_assert_nonnull(strstr(text, "flagged: 1"));
  g_assert_nonnull(strstr(text, place->path));
  test_expect_no_error(place);
  gst_harness_teardown(h);
}

/* The span is that of what was written, with its gaps; the fraction counts values. */
static void told(TestFile *place, gconstpointer data)
{
  GstHarness *h = test_begin(place);
  AstroLayout shape = { 1, { ASTRO_AXIS_CHANNEL }, { TEST_CHANNELS } };
  GstBuffer *buffer = test_new_frame(4);
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &shape, 9);
  meta->counts[1] = 0;
  GstBuffer *before = test_new_frame(0), *first = test_new_frame(1);
  GST_BUFFER_FLAG_SET(before, GST_BUFFER_FLAG_GAP);
  gst_harness_push(h, before);
  astro_buffer_add_validity(first, &shape, 9);
  gst_harness_push(h, first);
  gst_harness_push(h, buffer);
  g_assert_null(gst_bus_pop_filtered(place->bus, GST_MESSAGE_ELEMENT));
  gst_harness_push_event(h, gst_event_new_eos());
  expect_file(place, 2, 8, 9, 0.25);
  gst_harness_teardown(h);
  g_assert_null(gst_bus_pop_filtered(place->bus, GST_MESSAGE_ELEMENT));
}

static void full_disk(TestFile *place, gconstpointer data)
{
  GstHarness *h = test_begin(place);
  struct rlimit before, small;
  GstFlowReturn flow = GST_FLOW_OK;

  g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &before), ==, 0);
  small = before;
  small.rlim_cur = 1 << 20;
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &small), ==, 0);
  for (guint i = 0; i < 10000 && flow == GST_FLOW_OK; i++)
    flow = test_send_frame(h, i);
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  g_assert_cmpint(flow, ==, GST_FLOW_ERROR);
  test_expect_error(place, "File too large");
  gst_harness_teardown(h);
  g_assert_false(g_file_test(place->path, G_FILE_TEST_EXISTS));
}

/* An error at the very end, since the rest is only written then. */
static void full_disk_at_eos(TestFile *place, gconstpointer data)
{
  GstHarness *h = test_begin(place);
  struct rlimit before, small;
  g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &before), ==, 0);
  small = before;
  small.rlim_cur = 100;
  test_send_frame(h, 0);
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &small), ==, 0);
  g_assert_false(gst_harness_push_event(h, gst_event_new_eos()));
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  test_expect_error(place, "File too large");
  gst_harness_teardown(h);
  g_assert_false(g_file_test(place->path, G_FILE_TEST_EXISTS));
}

static void cannot_create(TestFile *place, gconstpointer data)
{
  g_autofree char *inside = g_build_filename(place->folder, "none", "v.uvfits", NULL);
  test_write_file(place, 1);
  test_check_launch("file: ", inside,
                    "astrofitssrc location=%s ! astrofitssink name=file location=%s", place->path,
                    inside);
  test_check_launch("not a regular file", "/dev/full",
                    "astrofitssrc location=%s ! astrofitssink name=file location=/dev/full",
                    place->path);
  test_check_launch("location", NULL, "astrofitssrc location=%s ! astrofitssink name=file",
                    place->path);
}

int main(int argc, char **argv)
{
  static const TestFileCase cases[] = {
    { "eos", eos },
    { "event-first", event_first },
    { "next-location", next_location },
    { "aborted", aborted },
    { "stopped-early", stopped_early },
    { "nothing", nothing },
    { "gaps", gaps },
    { "no-timestamps", no_timestamps },
    { "again", again },
    { "again/of-another", again_of_another },
    { "times-by-step", times_by_step },
    { "no-time-at-all", no_time_at_all },
    { "wild-times", wild_times },
    { "flush", flush },
    { "nothing-after-flush", nothing_after_flush },
    { "nothing-after-eos", nothing_after_eos },
    { "ready-between", ready_between },
    { "no-observation", no_observation },
    { "other-stations", other_stations },
    { "observation-changes", observation_changes },
    { "caps-change", caps_change },
    { "odd-size", odd_size },
    { "odd-size-later", odd_size_later },
    { "not-finite", not_finite },
    { "told", told },
    { "full-disk", full_disk },
    { "full-disk-at-eos", full_disk_at_eos },
    { "cannot-create", cannot_create },
  };
  return test_files(argc, argv, cases, G_N_ELEMENTS(cases));
}
