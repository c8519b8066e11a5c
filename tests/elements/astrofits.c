/* astrofitssink and astrofitssrc: files that come back, streams that end badly, files that are bad.
 */
#include "core/fits/fits.h"
#include "tests/core/uvfits.h"
#include "tests/elements/catalogues.h"

#include <fitsio.h>
#include <signal.h>
#include <sys/resource.h>

#define STATIONS 3
#define CHANNELS 2
#define SAMPLES (CHANNELS * STATIONS * (STATIONS + 1) / 2 * 4)
#define STEP (2 * GST_SECOND)
#define CAPS                                                                                       \
  "application/x-astro-visibilities,format=CF32LE,layout=channel:baseline:pol:pol,channels=2,"     \
  "baselines=6,pols=2,stations=3,rate=1/2,frequency=1.5e8,bandwidth=1e6"

typedef struct {
  char *folder, *path, *part;
  GstBus *bus;
} Place;

static void set_up(Place *place, gconstpointer data)
{
  place->folder = test_folder();
  place->path = g_build_filename(place->folder, "v.uvfits", NULL);
  place->part = g_strconcat(place->path, ".part", NULL);
  place->bus = gst_bus_new();
}

static void tear_down(Place *place, gconstpointer data)
{
  g_unlink(place->path);
  g_assert_false(g_file_test(place->part, G_FILE_TEST_EXISTS));
  g_assert_cmpint(g_rmdir(place->folder), ==, 0);
  g_free(place->folder);
  g_free(place->path);
  g_free(place->part);
  gst_bus_set_flushing(place->bus, TRUE); /* messages hold their elements, which hold the bus */
  gst_object_unref(place->bus);
}

static GstHarness *new_sink(Place *place)
{
  g_autofree char *line = g_strdup_printf("astrofitssink name=file location=%s", place->path);
  GstHarness *h = gst_harness_new_parse(line);
  gst_element_set_bus(h->element, place->bus);
  return h;
}

static void send_observation(GstHarness *h, guint stations)
{
  g_autoptr(AstroObservation) o = test_observation(stations);
  gst_harness_push_event(h, astro_observation_to_event(o));
}

static GstBuffer *new_frame(guint index)
{
  float *data = g_new(float, 2 * SAMPLES);
  for (guint i = 0; i < 2 * SAMPLES; i++)
    data[i] = 1000 * index + i;
  GstBuffer *buffer = gst_buffer_new_wrapped(data, 2 * SAMPLES * sizeof *data);
  GST_BUFFER_PTS(buffer) = index * STEP;
  GST_BUFFER_DURATION(buffer) = STEP;
  return buffer;
}

static GstFlowReturn send_frame(GstHarness *h, guint index)
{
  return gst_harness_push(h, new_frame(index));
}

static GstHarness *begin(Place *place)
{
  GstHarness *h = new_sink(place);
  gst_harness_set_src_caps_str(h, CAPS);
  send_observation(h, STATIONS);
  return h;
}

/* The message that an element posted, as text; it has to name the element. */
static char *pop(Place *place, GstMessageType type)
{
  GstMessage *message = gst_bus_pop_filtered(place->bus, type);
  GError *error = NULL;
  char *debug = NULL, *text;
  g_assert_nonnull(message);
  g_assert_cmpstr(GST_MESSAGE_SRC_NAME(message), ==, "file");
  if (type == GST_MESSAGE_ERROR)
    gst_message_parse_error(message, &error, &debug);
  else
    gst_message_parse_warning(message, &error, &debug);
  text = g_strdup_printf("%s %s", error->message, debug ? debug : "");
  g_test_message("%s", error->message);
  g_error_free(error);
  g_free(debug);
  gst_message_unref(message);
  return text;
}

static void expect_error(Place *place, const char *what)
{
  g_autofree char *text = pop(place, GST_MESSAGE_ERROR);
  g_assert_nonnull(strstr(text, what));
  g_assert_nonnull(strstr(text, place->path));
  g_assert_false(g_file_test(place->path, G_FILE_TEST_EXISTS));
  g_assert_false(g_file_test(place->part, G_FILE_TEST_EXISTS));
}

static void expect_no_error(Place *place)
{
  GstMessage *message = gst_bus_pop_filtered(place->bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
  g_assert_null(message);
}

/* What the sink says of the file once it has its name. */
static void expect_file(Place *place, guint64 integrations, double seconds, guint weight,
                        double flagged)
{
  g_autoptr(GstMessage) message = gst_bus_pop_filtered(place->bus, GST_MESSAGE_ELEMENT);
  g_assert_nonnull(message);
  g_autofree char *text = gst_structure_to_string(gst_message_get_structure(message));
  g_autoptr(GstStructure) wanted = gst_structure_new(
      "astro-file", "location", G_TYPE_STRING, place->path, "format", G_TYPE_STRING, "UVFITS",
      "stations", G_TYPE_INT, STATIONS, "baselines", G_TYPE_INT, 6, "channels", G_TYPE_INT,
      CHANNELS, "products", G_TYPE_INT, 4, "integrations", G_TYPE_UINT64, integrations, "start",
      G_TYPE_STRING, "2026-11-20T21:30:09.123456789Z", "seconds", G_TYPE_DOUBLE, seconds,
      "least-weight", G_TYPE_UINT, weight, "most-weight", G_TYPE_UINT, weight, "flagged",
      G_TYPE_DOUBLE, flagged, NULL);
  g_test_message("%s", text);
  g_assert_true(gst_structure_is_equal(gst_message_get_structure(message), wanted));
}

/* Frames in the file, each the one of that index in new_frame. */
static void expect_frames(Place *place, const guint *indices, guint n)
{
  GError *error = NULL;
  float data[2 * SAMPLES];
  guint32 counts[SAMPLES];
  AstroFitsFrame frame = { .data = data, .counts = counts };
  gboolean end;
  AstroFitsReader *reader = astro_fits_reader_open(place->path, NULL, &error);
  g_assert_no_error(error);
  for (guint k = 0; k < n; k++) {
    g_assert_true(astro_fits_reader_read(reader, &frame, &end, &error));
    g_assert_no_error(error);
    g_assert_cmpint(ABS(frame.start_ns - (gint64)(indices[k] * STEP)), <=, n > 1 ? 2 : 500);
    for (guint i = 0; i < 2 * SAMPLES; i++)
      g_assert_cmpfloat(data[i], ==, 1000 * indices[k] + i);
  }
  g_assert_false(astro_fits_reader_read(reader, &frame, &end, &error));
  g_assert_true(end);
  astro_fits_reader_close(reader);
}

static void eos(Place *place, gconstpointer data)
{
  static const guint sent[] = { 0, 1, 2 };
  GstHarness *h = begin(place);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpint(send_frame(h, sent[i]), ==, GST_FLOW_OK);
  g_assert_false(g_file_test(place->path, G_FILE_TEST_EXISTS));
  g_assert_true(gst_harness_push_event(h, gst_event_new_eos()));
  g_assert_true(g_file_test(place->path, G_FILE_TEST_EXISTS));
  expect_no_error(place);
  gst_harness_teardown(h);
  expect_frames(place, sent, 3);
}

/* A name that is set while a file is written is the next file's. */
static void next_location(Place *place, gconstpointer data)
{
  GstHarness *h = begin(place);
  send_frame(h, 1);
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(h->element), "file");
  g_object_set(sink, "location", "/no-such-folder/next.uvfits", NULL);
  send_frame(h, 2);
  gst_harness_push_event(h, gst_event_new_eos());
  expect_file(place, 2, 4, 1, 0);
  expect_no_error(place);
  gst_harness_teardown(h);
}

/* The event may also come before the caps. */
static void event_first(Place *place, gconstpointer data)
{
  static const guint sent[] = { 0 };
  GstHarness *h = new_sink(place);
  send_observation(h, STATIONS);
  gst_harness_set_src_caps_str(h, CAPS);
  send_observation(h, STATIONS); /* the same once more is no change */
  send_frame(h, 0);
  send_observation(h, STATIONS);
  gst_harness_push_event(h, gst_event_new_eos());
  expect_no_error(place);
  gst_harness_teardown(h);
  expect_frames(place, sent, 1);
}

/* Stopped with no EOS: what came is finished as a file. */
static void aborted(Place *place, gconstpointer data)
{
  static const guint sent[] = { 1, 2 };
  GstHarness *h = begin(place);
  send_frame(h, 1);
  send_frame(h, 2);
  gst_harness_teardown(h);
  expect_file(place, 2, 4, 1, 0);
  expect_no_error(place);
  expect_frames(place, sent, 2);
}

static void stopped_early(Place *place, gconstpointer data)
{
  GstHarness *h = begin(place);
  gst_harness_teardown(h);
  expect_no_error(place);
  g_assert_false(g_file_test(place->path, G_FILE_TEST_EXISTS));
}

static void nothing(Place *place, gconstpointer data)
{
  GstHarness *h = begin(place);
  g_assert_false(gst_harness_push_event(h, gst_event_new_eos()));
  expect_error(place, "before its first integration");
  gst_harness_teardown(h);
}

/* Lost and skipped time stays a gap. */
static void gaps(Place *place, gconstpointer data)
{
  static const guint kept[] = { 0, 3, 7 };
  GstHarness *h = begin(place);
  for (guint i = 0; i < 4; i++) {
    GstBuffer *buffer = new_frame(i);
    if (i == 1 || i == 2)
      GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_GAP);
    gst_harness_push(h, buffer);
  }
  send_frame(h, 7);
  gst_harness_push_event(h, gst_event_new_eos());
  gst_harness_teardown(h);
  expect_frames(place, kept, 3);
}

static void no_timestamps(Place *place, gconstpointer data)
{
  static const guint sent[] = { 0, 1, 2, 3 };
  GstHarness *h = begin(place);
  /* Two frames in the first buffer. */
  for (guint i = 0; i < 4; i += 2) {
    GstBuffer *buffer = gst_buffer_append(new_frame(i), new_frame(i + 1));
    GST_BUFFER_PTS(buffer) = GST_BUFFER_DURATION(buffer) = GST_CLOCK_TIME_NONE;
    g_assert_cmpint(gst_harness_push(h, buffer), ==, GST_FLOW_OK);
  }
  gst_harness_push_event(h, gst_event_new_eos());
  gst_harness_teardown(h);
  expect_frames(place, sent, 4);
}

static void no_time_at_all(Place *place, gconstpointer data)
{
  GstHarness *h = new_sink(place);
  GstBuffer *buffer = new_frame(0);
  GstCaps *caps = gst_caps_from_string(CAPS);
  gst_structure_remove_field(gst_caps_get_structure(caps, 0), "rate");
  gst_harness_set_src_caps(h, caps);
  send_observation(h, STATIONS);
  GST_BUFFER_DURATION(buffer) = GST_CLOCK_TIME_NONE;
  g_assert_cmpint(gst_harness_push(h, buffer), ==, GST_FLOW_ERROR);
  expect_error(place, "rate");
  gst_harness_teardown(h);
}

/* Times that have no date, and durations that came out as negative ones. */
static void wild_times(Place *place, gconstpointer data)
{
  static const guint64 wild[][2] = { { G_MAXINT64, STEP },
                                     { G_MAXUINT64 - 1, STEP },
                                     { 0, G_GUINT64_CONSTANT(1) << 63 },
                                     { 0, G_MAXUINT64 - 1 } };
  for (guint i = 0; i < G_N_ELEMENTS(wild); i++) {
    GstHarness *h = begin(place);
    GstBuffer *buffer = new_frame(0);
    GST_BUFFER_PTS(buffer) = wild[i][0];
    GST_BUFFER_DURATION(buffer) = wild[i][1];
    g_assert_cmpint(gst_harness_push(h, buffer), ==, GST_FLOW_ERROR);
    expect_error(place, "expected at most 2^62");
    gst_harness_teardown(h);
  }
}

static void flush(Place *place, gconstpointer data)
{
  static const guint kept[] = { 5 };
  GstHarness *h = begin(place);
  GstSegment segment;
  send_frame(h, 0);
  send_frame(h, 1);
  gst_harness_push_event(h, gst_event_new_flush_start());
  gst_harness_push_event(h, gst_event_new_flush_stop(TRUE));
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(h, gst_event_new_segment(&segment));
  g_assert_cmpint(send_frame(h, 5), ==, GST_FLOW_OK);
  gst_harness_push_event(h, gst_event_new_eos());
  expect_no_error(place);
  gst_harness_teardown(h);
  expect_frames(place, kept, 1);
}

/* What was taken back, refused or is in a file already ends no second file. */
static void flush_then_end(GstHarness *h)
{
  GstSegment segment;
  gst_harness_push_event(h, gst_event_new_flush_start());
  gst_harness_push_event(h, gst_event_new_flush_stop(TRUE));
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(h, gst_event_new_segment(&segment));
  g_assert_false(gst_harness_push_event(h, gst_event_new_eos()));
}

static void nothing_after_flush(Place *place, gconstpointer data)
{
  GstHarness *h = begin(place);
  send_frame(h, 0);
  flush_then_end(h);
  expect_error(place, "before its first integration");
  gst_harness_teardown(h);
}

static void nothing_after_eos(Place *place, gconstpointer data)
{
  static const guint sent[] = { 0 };
  GstHarness *h = begin(place);
  send_frame(h, 0);
  g_assert_true(gst_harness_push_event(h, gst_event_new_eos()));
  flush_then_end(h);
  g_autofree char *text = pop(place, GST_MESSAGE_ERROR);
  g_assert_nonnull(strstr(text, "before its first integration"));
  gst_harness_teardown(h);
  expect_frames(place, sent, 1);
}

static void odd_size_later(Place *place, gconstpointer data)
{
  GstHarness *h = begin(place);
  GstBuffer *buffer = new_frame(1);
  send_frame(h, 0);
  gst_buffer_set_size(buffer, 100);
  g_assert_cmpint(gst_harness_push(h, buffer), ==, GST_FLOW_ERROR);
  expect_error(place, "100 bytes");
  g_assert_cmpint(send_frame(h, 2), ==, GST_FLOW_ERROR);
  g_assert_false(gst_harness_push_event(h, gst_event_new_eos()));
  expect_no_error(place);
  gst_harness_teardown(h);
  g_assert_false(g_file_test(place->path, G_FILE_TEST_EXISTS));
}

static void begin_stream(GstHarness *h)
{
  GstSegment segment;
  GstCaps *caps = gst_caps_from_string(CAPS);
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(h, gst_event_new_stream_start("ready"));
  gst_harness_push_event(h, gst_event_new_caps(caps));
  gst_harness_push_event(h, gst_event_new_segment(&segment));
  send_observation(h, STATIONS);
  gst_caps_unref(caps);
}

/* READY ends a stream in its middle, and the next has a file of its own, wherever it is by then. */
static void ready_between(Place *place, gconstpointer data)
{
  static const guint first[] = { 0, 1 }, second[] = { 4 };
  g_autofree char *other = g_strconcat(place->path, ".other", NULL);
  GstHarness *h = new_sink(place);
  GstElement *sink = gst_bin_get_by_name(GST_BIN(h->element), "file");
  gst_element_set_state(h->element, GST_STATE_READY);
  g_object_set(sink, "location", other, NULL);
  gst_element_set_state(h->element, GST_STATE_PLAYING);
  begin_stream(h);
  send_frame(h, 0);
  send_frame(h, 1);
  gst_element_set_state(h->element, GST_STATE_READY);
  g_assert_false(g_file_test(place->path, G_FILE_TEST_EXISTS));
  g_assert_cmpint(g_rename(other, place->path), ==, 0);
  expect_frames(place, first, 2);
  g_object_set(sink, "location", place->path, NULL);
  gst_element_set_state(h->element, GST_STATE_PLAYING);
  begin_stream(h);
  g_assert_cmpint(send_frame(h, 4), ==, GST_FLOW_OK);
  g_assert_true(gst_harness_push_event(h, gst_event_new_eos()));
  expect_no_error(place);
  gst_object_unref(sink);
  gst_harness_teardown(h);
  expect_frames(place, second, 1);
}

static void no_observation(Place *place, gconstpointer data)
{
  GstHarness *h = new_sink(place);
  gst_harness_set_src_caps_str(h, CAPS);
  g_assert_cmpint(send_frame(h, 0), ==, GST_FLOW_ERROR);
  expect_error(place, "astro-observation");
  gst_harness_teardown(h);
}

static void other_stations(Place *place, gconstpointer data)
{
  GstHarness *h = new_sink(place);
  gst_harness_set_src_caps_str(h, CAPS);
  send_observation(h, STATIONS + 1);
  g_assert_cmpint(send_frame(h, 0), ==, GST_FLOW_ERROR);
  expect_error(place, "stations=3");
  gst_harness_teardown(h);
}

static void observation_changes(Place *place, gconstpointer data)
{
  static const guint sent[] = { 0 };
  GstHarness *h = begin(place);
  g_autoptr(AstroObservation) other = test_observation(STATIONS);
  send_frame(h, 0);
  other->phase_dec += 0.01;
  gst_harness_push_event(h, astro_observation_to_event(other));
  g_autofree char *text = pop(place, GST_MESSAGE_ERROR);
  g_assert_nonnull(strstr(text, "observation changed"));
  g_assert_cmpint(send_frame(h, 1), ==, GST_FLOW_ERROR);
  gst_harness_teardown(h);
  expect_frames(place, sent, 1); /* up to there it was good */
}

static void caps_change(Place *place, gconstpointer data)
{
  static const guint sent[] = { 0 };
  GstHarness *h = begin(place);
  GstCaps *caps = gst_caps_from_string(CAPS);
  send_frame(h, 0);
  gst_caps_set_simple(caps, "frequency", G_TYPE_DOUBLE, 1.6e8, NULL);
  gst_harness_push_event(h, gst_event_new_caps(caps));
  gst_caps_unref(caps);
  g_autofree char *text = pop(place, GST_MESSAGE_ERROR);
  g_assert_nonnull(strstr(text, "frequency=(double)160000000"));
  g_assert_nonnull(strstr(text, "frequency=(double)150000000"));
  g_assert_cmpint(send_frame(h, 1), !=, GST_FLOW_OK);
  gst_harness_teardown(h);
  expect_frames(place, sent, 1);
}

static void odd_size(Place *place, gconstpointer data)
{
  GstHarness *h = begin(place);
  GstBuffer *buffer = new_frame(0);
  gst_buffer_set_size(buffer, 100);
  g_assert_cmpint(gst_harness_push(h, buffer), ==, GST_FLOW_ERROR);
  expect_error(place, "100 bytes");
  gst_harness_teardown(h);
}

static void not_finite(Place *place, gconstpointer data)
{
  GstHarness *h = begin(place);
  GstBuffer *buffer = new_frame(0);
  GstMapInfo map;
  gst_buffer_map(buffer, &map, GST_MAP_WRITE);
  ((float *)map.data)[7] = NAN;
  gst_buffer_unmap(buffer, &map);
  gst_harness_push(h, buffer);
  gst_harness_push_event(h, gst_event_new_eos());
  g_autofree char *text = pop(place, GST_MESSAGE_WARNING);
  g_assert_nonnull(strstr(text, "flagged: 1"));
  g_assert_nonnull(strstr(text, place->path));
  expect_no_error(place);
  gst_harness_teardown(h);
}

/* The span is that of what was written, with the gaps in it; the fraction is that of values. */
static void told(Place *place, gconstpointer data)
{
  GstHarness *h = begin(place);
  AstroLayout shape = { 1, { ASTRO_AXIS_CHANNEL }, { CHANNELS } };
  GstBuffer *buffer = new_frame(4);
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &shape, 9);
  meta->counts[1] = 0;
  GstBuffer *before = new_frame(0), *first = new_frame(1);
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

static void full_disk(Place *place, gconstpointer data)
{
  GstHarness *h = begin(place);
  struct rlimit before, small;
  GstFlowReturn flow = GST_FLOW_OK;

  g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &before), ==, 0);
  small = before;
  small.rlim_cur = 1 << 20;
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &small), ==, 0);
  for (guint i = 0; i < 10000 && flow == GST_FLOW_OK; i++)
    flow = send_frame(h, i);
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  g_assert_cmpint(flow, ==, GST_FLOW_ERROR);
  expect_error(place, "File too large");
  gst_harness_teardown(h);
  g_assert_false(g_file_test(place->path, G_FILE_TEST_EXISTS));
}

/* An error at the very end: only then the rest is written. */
static void full_disk_at_eos(Place *place, gconstpointer data)
{
  GstHarness *h = begin(place);
  struct rlimit before, small;
  g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &before), ==, 0);
  small = before;
  small.rlim_cur = 100;
  send_frame(h, 0);
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &small), ==, 0);
  g_assert_false(gst_harness_push_event(h, gst_event_new_eos()));
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  expect_error(place, "File too large");
  gst_harness_teardown(h);
  g_assert_false(g_file_test(place->path, G_FILE_TEST_EXISTS));
}

static void write_file(Place *place, guint frames)
{
  GstHarness *h = begin(place);
  for (guint i = 0; i < frames; i++)
    send_frame(h, i);
  gst_harness_push_event(h, gst_event_new_eos());
  gst_harness_teardown(h);
}

static void check_launch(const char *expect, const char *file, const char *format, ...)
    G_GNUC_PRINTF(3, 4);
static void check_launch(const char *expect, const char *file, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *line = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  g_autofree char *found = test_launch(line);
  if (found)
    g_test_message("%s", found);
  if (!expect) {
    g_assert_cmpstr(found, ==, NULL);
    return;
  }
  g_assert_nonnull(found);
  g_assert_nonnull(strstr(found, expect));
  if (file)
    g_assert_nonnull(strstr(found, file));
}

static void cannot_create(Place *place, gconstpointer data)
{
  g_autofree char *inside = g_build_filename(place->folder, "none", "v.uvfits", NULL);
  write_file(place, 1);
  check_launch("file: ", inside, "astrofitssrc location=%s ! astrofitssink name=file location=%s",
               place->path, inside);
  check_launch("not a regular file", "/dev/full",
               "astrofitssrc location=%s ! astrofitssink name=file location=/dev/full",
               place->path);
  check_launch("location", NULL, "astrofitssrc location=%s ! astrofitssink name=file", place->path);
}

static void cannot_read(Place *place, gconstpointer data)
{
  g_autofree char *bytes = NULL;
  gsize length;
  check_launch("No such file", place->path, "astrofitssrc name=file location=%s ! fakesink",
               place->path);
  check_launch("location", NULL, "astrofitssrc name=file ! fakesink");
  write_file(place, 3);
  g_assert_true(g_file_get_contents(place->path, &bytes, &length, NULL));
  g_assert_true(g_file_set_contents(place->path, bytes, 2880 * 3 + 100, NULL));
  check_launch("cut short", place->path, "astrofitssrc name=file location=%s ! fakesink",
               place->path);
  memset(bytes + 2880 * 3, 0xff, length - 2880 * 3);
  g_assert_true(g_file_set_contents(place->path, bytes, length, NULL));
  check_launch("file: ", place->path, "astrofitssrc name=file location=%s ! fakesink", place->path);
}

/* A file read and written again is the same to the byte, but for the rounding of its header. */
static void copy(Place *place, gconstpointer data)
{
  static const guint sent[] = { 0, 1, 2, 3, 4 };
  g_autofree char *source = g_strconcat(place->path, ".source", NULL);
  write_file(place, 5);
  g_assert_cmpint(g_rename(place->path, source), ==, 0);
  check_launch(NULL, NULL, "astrofitssrc location=%s ! astrofitssink location=%s", source,
               place->path);
  expect_frames(place, sent, 5);
  g_assert_cmpint(g_unlink(source), ==, 0);
}

/* An error before the sink: the frames that came are kept. */
static void error_upstream(Place *place, gconstpointer data)
{
  static const guint sent[] = { 0, 1, 2 };
  g_autofree char *source = g_strconcat(place->path, ".source", NULL);
  write_file(place, 5);
  g_assert_cmpint(g_rename(place->path, source), ==, 0);
  check_launch("Failed after iterations", NULL,
               "astrofitssrc location=%s ! identity error-after=4 ! astrofitssink location=%s",
               source, place->path);
  expect_frames(place, sent, 3);
  g_assert_cmpint(g_unlink(source), ==, 0);
}

/* Between files of its own the sink goes to READY and back, and its location may change. */
static void cycles(Place *place, gconstpointer data)
{
  static const guint sent[] = { 0, 1, 2 };
  g_autofree char *source = g_strconcat(place->path, ".source", NULL);
  write_file(place, 3);
  g_assert_cmpint(g_rename(place->path, source), ==, 0);
  GstElement *pipeline = gst_parse_launch("astrofitssrc name=from ! astrofitssink name=to", NULL);
  GstElement *from = gst_bin_get_by_name(GST_BIN(pipeline), "from");
  GstElement *to = gst_bin_get_by_name(GST_BIN(pipeline), "to");
  GstBus *bus = gst_element_get_bus(pipeline);
  g_object_set(from, "location", source, NULL);
  g_object_set(to, "location", place->path, NULL);
  for (guint i = 0; i < 3; i++) {
    g_unlink(place->path);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    GstMessage *message =
        gst_bus_timed_pop_filtered(bus, 10 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    g_assert_nonnull(message);
    g_assert_cmpint(GST_MESSAGE_TYPE(message), ==, GST_MESSAGE_EOS);
    gst_message_unref(message);
    expect_frames(place, sent, 3);
    g_assert_cmpint(gst_element_set_state(pipeline, i == 1 ? GST_STATE_NULL : GST_STATE_READY), ==,
                    GST_STATE_CHANGE_SUCCESS);
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(bus);
  gst_object_unref(from);
  gst_object_unref(to);
  gst_object_unref(pipeline);
  g_assert_cmpint(g_unlink(source), ==, 0);
}

/* A paused pipeline, whose sink holds the first frame, stops at once. */
static void stop_while_blocked(Place *place, gconstpointer data)
{
  g_autofree char *source = g_strconcat(place->path, ".source", NULL);
  write_file(place, 5);
  g_assert_cmpint(g_rename(place->path, source), ==, 0);
  g_autofree char *line =
      g_strdup_printf("astrofitssrc location=%s ! astrofitssink location=%s", source, place->path);
  GstElement *pipeline = gst_parse_launch(line, NULL);
  gst_element_set_state(pipeline, GST_STATE_PAUSED);
  g_assert_cmpint(gst_element_get_state(pipeline, NULL, NULL, 10 * GST_SECOND), ==,
                  GST_STATE_CHANGE_SUCCESS);
  g_assert_cmpint(gst_element_set_state(pipeline, GST_STATE_NULL), ==, GST_STATE_CHANGE_SUCCESS);
  gst_object_unref(pipeline);
  g_assert_cmpint(g_unlink(source), ==, 0);
}

/* Caps, observation, times, counts and the answer to DURATION. */
static void source(Place *place, gconstpointer data)
{
  static const guint indices[] = { 0, 1, 4 };
  GstHarness *h = begin(place);
  for (guint i = 0; i < 3; i++) {
    GstBuffer *buffer = new_frame(indices[i]);
    AstroLayout shape = { 1, { ASTRO_AXIS_BASELINE }, { 6 } };
    astro_buffer_add_validity(buffer, &shape, 50)->counts[4] = 10 * i;
    gst_harness_push(h, buffer);
  }
  gst_harness_push_event(h, gst_event_new_eos());
  gst_harness_teardown(h);

  g_autofree char *line = g_strdup_printf("astrofitssrc location=%s", place->path);
  h = gst_harness_new_parse(line);
  gst_harness_set_sink_caps(h, gst_caps_new_any());
  gst_harness_play(h);
  for (guint i = 0; i < 3; i++) {
    GstBuffer *buffer = gst_harness_pull(h);
    g_assert_nonnull(buffer);
    AstroValidityMeta *validity = astro_buffer_get_validity(buffer);
    g_assert_nonnull(validity);
    g_assert_cmpuint(validity->full, ==, 50);
    g_assert_cmpuint(astro_validity_n_counts(validity), ==, SAMPLES);
    for (guint k = 0; k < SAMPLES; k++)
      g_assert_cmpuint(validity->counts[k], ==, k / 4 % 6 == 4 ? 10 * i : 50);
    g_assert_cmpint(ABS((gint64)(GST_BUFFER_PTS(buffer) - indices[i] * STEP)), <=, 2);
    g_assert_cmpint(ABS((gint64)(GST_BUFFER_DURATION(buffer) - STEP)), <=, 2);
    g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, indices[i]);
    g_assert_cmpuint(GST_BUFFER_OFFSET_END(buffer), ==, indices[i] + 1);
    g_assert_cmpint(GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT), ==, i != 1);
    gst_buffer_unref(buffer);
  }
  gint64 duration = 0;
  g_assert_true(gst_element_query_duration(h->element, GST_FORMAT_TIME, &duration));
  g_assert_cmpint(ABS(duration - (gint64)(5 * STEP)), <=, 4);

  GstCaps *caps = gst_pad_get_current_caps(h->sinkpad), *expected = gst_caps_from_string(CAPS);
  g_assert_true(gst_caps_is_equal(caps, expected));
  gst_caps_unref(caps);
  gst_caps_unref(expected);

  GstEvent *event = gst_pad_get_sticky_event(h->sinkpad, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, 0);
  g_autoptr(AstroObservation) sent = test_observation(STATIONS);
  g_assert_nonnull(event);
  g_assert_true(astro_event_is_observation(event));
  g_autoptr(AstroObservation) found = astro_observation_from_event(event, NULL);
  g_assert_cmpuint(found->start_ns, ==, sent->start_ns);
  g_assert_cmpfloat_with_epsilon(found->positions[7], sent->positions[7], 1e-8);
  gst_event_unref(event);
  gst_harness_teardown(h);
}

/* Scans need not begin whole integrations after one another: a frame that does not is a jump, with
 * its own time. */
static void between_steps(Place *place, gconstpointer data)
{
  static const double begins[] = { 0, 1, 3.4, 4.4, 5, 7.49, 9.51 };
  static const guint offsets[] = { 0, 1, 3, 4, 5, 7, 9 }; /* never a step ahead of times */
  GstHarness *h = begin(place);
  for (guint i = 0; i < G_N_ELEMENTS(begins); i++) {
    GstBuffer *buffer = new_frame(i);
    GST_BUFFER_PTS(buffer) = begins[i] * STEP;
    gst_harness_push(h, buffer);
  }
  gst_harness_push_event(h, gst_event_new_eos());
  gst_harness_teardown(h);

  g_autofree char *line = g_strdup_printf("astrofitssrc location=%s", place->path);
  h = gst_harness_new_parse(line);
  gst_harness_set_sink_caps(h, gst_caps_new_any());
  gst_harness_play(h);
  for (guint i = 0; i < G_N_ELEMENTS(begins); i++) {
    GstBuffer *buffer = gst_harness_pull(h);
    g_assert_nonnull(buffer);
    g_assert_cmpint(ABS((gint64)(GST_BUFFER_PTS(buffer) - begins[i] * STEP)), <=, STEP / 10000);
    g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, offsets[i]);
    g_assert_cmpint(GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT), ==, i != 1 && i != 3);
    gst_buffer_unref(buffer);
  }
  gst_harness_teardown(h);
}

/* An application that makes ready its next file while this one is read. */
static GstPadProbeReturn set_all(GstPad *pad, GstPadProbeInfo *info, gpointer unused)
{
  g_autoptr(GstElement) source = gst_pad_get_parent_element(pad);
  g_object_set(source, "location", "/another/file", "ra-column", "NOWHERE", "where", "no sense",
               NULL);
  return GST_PAD_PROBE_REMOVE;
}

static void set_all_later(GstHarness *h)
{
  g_autoptr(GstElement) source = gst_bin_get_by_name(GST_BIN(h->element), "file");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(source, "src");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, set_all, NULL, NULL);
}

/* Others' files have NaN where a number cannot be worked out: these are told of at the end. */
static void not_finite_in_file(Place *place, gconstpointer data)
{
  static const guint8 number[] = { 0x44, 0x7b, 0x80, 0 }, nan[] = { 0x7f, 0xc0, 0, 0 }; /* 1006 */
  g_autofree char *line = g_strdup_printf("astrofitssrc location=%s name=file", place->path);
  char *bytes;
  gsize length;
  write_file(place, 2);
  g_assert_true(g_file_get_contents(place->path, &bytes, &length, NULL));
  gsize at = 0;
  while (at + sizeof number <= length && memcmp(bytes + at, number, sizeof number))
    at++;
  g_assert_cmpuint(at + sizeof number, <=, length);
  memcpy(bytes + at, nan, sizeof nan);
  g_assert_true(g_file_set_contents(place->path, bytes, length, NULL));
  g_free(bytes);

  GstHarness *h = gst_harness_new_parse(line);
  gst_element_set_bus(h->element, place->bus);
  gst_harness_set_sink_caps(h, gst_caps_new_any());
  set_all_later(h);
  gst_harness_play(h);
  for (guint i = 0; i < 2; i++) {
    GstBuffer *buffer = gst_harness_pull(h);
    g_assert_cmpuint(astro_buffer_get_validity(buffer)->counts[3], ==, i ? 0 : 1);
    gst_buffer_unref(buffer);
  }
  for (gboolean end = FALSE; !end;) {
    GstEvent *event = gst_harness_pull_event(h);
    g_assert_nonnull(event);
    end = GST_EVENT_TYPE(event) == GST_EVENT_EOS;
    gst_event_unref(event);
  }
  g_autofree char *text = pop(place, GST_MESSAGE_WARNING);
  g_assert_nonnull(strstr(text, "flagged: 1"));
  g_assert_nonnull(strstr(text, place->path));
  gst_element_set_bus(h->element, NULL);
  gst_harness_teardown(h);
}

/* ---- catalogues and tables ---- */

static char *in_folder(Place *place, const char *name)
{
  return g_build_filename(place->folder, name, NULL);
}

static void remove_file(Place *place, const char *name)
{
  g_autofree char *path = in_folder(place, name);
  g_assert_cmpint(g_unlink(path), ==, 0);
}

static void make_catalogues(Place *place, const char *name, guint points, guint catalogues)
{
  check_launch(NULL, NULL,
               "astrocatsrc points=%u catalogues=%u regions=5 ! astrofitssink location=%s/%s",
               points, catalogues, place->folder, name);
}

/* Files in the order of their names, tables as they are, a second each. */
static void several_catalogues(Place *place, gconstpointer data)
{
  static const guint points[] = { 30, 30, 200, 10 };
  make_catalogues(place, "c2.fits", 200, 1);
  make_catalogues(place, "c1.fits", 30, 2);
  make_catalogues(place, "c3.fits.csv", 10, 1);
  g_autofree char *line =
      g_strdup_printf("astrofitssrc name=file region-column=region location=%s/c?.fits* ! "
                      "appsink name=out",
                      place->folder);
  g_autofree char *message = NULL, *first = in_folder(place, "c1.fits");
  g_autoptr(GPtrArray) samples = test_samples(line, &message);
  g_assert_null(message);
  g_assert_cmpuint(samples->len, ==, 4);
  for (guint i = 0; i < 4; i++) {
    const GstStructure *caps = test_sample_caps(samples, i);
    GstBuffer *buffer = gst_sample_get_buffer(samples->pdata[i]);
    g_assert_cmpstr(gst_structure_get_name(caps), ==, "application/x-astro-catalogue");
    g_assert_cmpstr(gst_structure_get_string(caps, "columns"), ==, "ra:dec:region");
    g_assert_cmpstr(gst_structure_get_string(caps, "layout"), ==, "column:point");
    g_assert_cmpstr(gst_structure_get_string(caps, "format"), ==, "F64LE");
    g_assert_cmpuint(gst_buffer_get_size(buffer), ==, points[i] * 3 * sizeof(double));
    g_assert_cmpuint(GST_BUFFER_PTS(buffer), ==, i * GST_SECOND);
    g_assert_cmpuint(GST_BUFFER_DURATION(buffer), ==, GST_SECOND);
    g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, i);
  }
  /* What is read is what was written. */
  g_autoptr(GPtrArray) made =
      test_samples("astrocatsrc points=30 catalogues=2 regions=5 ! appsink name=out", &message);
  for (guint i = 0; i < 2; i++) {
    gsize bytes, expected_bytes;
    g_autofree gpointer found = test_sample_data(samples, i, &bytes);
    g_autofree gpointer expected = test_sample_data(made, i, &expected_bytes);
    g_assert_cmpmem(found, bytes, expected, expected_bytes);
  }
  remove_file(place, "c1.fits");
  remove_file(place, "c2.fits");
  remove_file(place, "c3.fits.csv");
}

/* Text holds several catalogues too, and every bit of them. */
static void csv_catalogues(Place *place, gconstpointer data)
{
  static const char *const readers[] = {
    "astrofitssrc region-column=region location=%s ! appsink name=out",
    "astrocatsrc region-column=region location=%s ! appsink name=out",
  };
  g_autofree char *path = in_folder(place, "c.csv"), *message = NULL;
  make_catalogues(place, "c.csv", 30, 3);
  g_autoptr(GPtrArray) made =
      test_samples("astrocatsrc points=30 catalogues=3 regions=5 ! appsink name=out", &message);
  for (guint r = 0; r < G_N_ELEMENTS(readers); r++) {
    g_autofree char *line = g_strdup_printf(readers[r], path);
    g_autoptr(GPtrArray) samples = test_samples(line, &message);
    g_assert_null(message);
    g_assert_cmpuint(samples->len, ==, 3);
    for (guint i = 0; i < 3; i++) {
      gsize bytes, expected_bytes;
      g_autofree gpointer found = test_sample_data(samples, i, &bytes);
      g_autofree gpointer expected = test_sample_data(made, i, &expected_bytes);
      g_assert_cmpmem(found, bytes, expected, expected_bytes);
      g_assert_cmpuint(GST_BUFFER_PTS(gst_sample_get_buffer(samples->pdata[i])), ==,
                       i * GST_SECOND);
    }
  }
  remove_file(place, "c.csv");
}

/* An ASCII table as CFITSIO writes it: numbers of all forms, text, one told by TNULL, one blank. */
static void make_ascii_table(const char *path)
{
  static const char *const names[] = { "ID", "RA", "DEC", "MAG", "W", "NAME" }, *const forms[] = {
    "I8", "D24.16", "F10.4", "E12.5", "F4.1", "A6"
  };
  static const double values[][5] = { { 1, 1 / 3., -10.25, 18.5, 1 },
                                      { 2, 2 / 3., -20.5, 0, 2 },
                                      { 3, 300.125, 90, 21, 0 } };
  fitsfile *f;
  int status = 0;
  char *star = (char *)"star";
  fits_create_diskfile(&f, path, &status);
  fits_create_tbl(f, ASCII_TBL, G_N_ELEMENTS(values), G_N_ELEMENTS(names), (char **)names,
                  (char **)forms, NULL, "STARS", &status);
  fits_write_key_str(f, "TNULL4", "-", NULL, &status);
  fits_set_hdustruc(f, &status);
  for (guint row = 0; row < G_N_ELEMENTS(values); row++) {
    for (guint c = 0; c < G_N_ELEMENTS(values[0]); c++)
      if (row == 1 && c == 3)
        fits_write_col_null(f, 4, 2, 1, 1, &status);
      else if (row != 2 || c != 4)
        fits_write_col(f, TDOUBLE, (int)c + 1, row + 1, 1, 1, (void *)&values[row][c], &status);
    fits_write_col(f, TSTRING, 6, row + 1, 1, 1, &star, &status);
  }
  fits_close_file(f, &status);
  g_assert_cmpint(status, ==, 0);
}

static void ascii_table(Place *place, gconstpointer data)
{
  static const double expected[] = { 1 / 3., 2 / 3., -10.25, -20.5, 1, 2 };
  g_autofree char *path = in_folder(place, "c.fits"), *message = NULL;
  make_ascii_table(path);
  g_autofree char *line =
      g_strdup_printf("astrofitssrc location=%s weight-column=w where=\"DEC<0&&NAME=='star'\" ! "
                      "appsink name=out",
                      path);
  g_autoptr(GPtrArray) samples = test_samples(line, &message);
  g_assert_null(message);
  g_assert_cmpuint(samples->len, ==, 1);
  gsize bytes;
  g_autofree double *found = test_sample_data(samples, 0, &bytes);
  g_assert_cmpuint(bytes, ==, sizeof expected);
  for (guint i = 0; i < G_N_ELEMENTS(expected); i++)
    g_assert_cmpfloat_with_epsilon(found[i], expected[i], 1e-15);
  check_launch("point 3: column W is nan", path,
               "astrofitssrc name=file location=%s weight-column=w ! fakesink", path);
  check_launch("point 2: column MAG is nan", path,
               "astrofitssrc name=file location=%s weight-column=mag ! fakesink", path);
  remove_file(place, "c.fits");
}

/* Properties that are set meanwhile are those of the next start. */
static void late_settings(Place *place, gconstpointer data)
{
  make_catalogues(place, "c1.fits", 30, 1);
  make_catalogues(place, "c2.fits", 40, 1);
  g_autofree char *line =
      g_strdup_printf("astrofitssrc name=file location=%s/c?.fits", place->folder);
  GstHarness *h = gst_harness_new_parse(line);
  gst_element_set_bus(h->element, place->bus);
  gst_harness_set_sink_caps(h, gst_caps_new_any());
  set_all_later(h);
  gst_harness_play(h);
  for (guint i = 0; i < 2; i++) {
    GstBuffer *buffer = gst_harness_pull(h);
    g_assert_nonnull(buffer);
    g_assert_cmpuint(gst_buffer_get_size(buffer), ==, (30 + 10 * i) * 2 * sizeof(double));
    gst_buffer_unref(buffer);
  }
  gst_element_set_bus(h->element, NULL);
  gst_harness_teardown(h);
  remove_file(place, "c1.fits");
  remove_file(place, "c2.fits");
}

static void catalogue_duration(Place *place, gconstpointer data)
{
  gint64 duration = 0;
  make_catalogues(place, "c1.fits", 10, 1);
  make_catalogues(place, "c2.fits", 10, 1);
  g_autofree char *line = g_strdup_printf("astrofitssrc location=%s/c*.fits", place->folder);
  GstHarness *h = gst_harness_new_parse(line);
  gst_harness_set_sink_caps(h, gst_caps_new_any());
  gst_harness_play(h);
  gst_buffer_unref(gst_harness_pull(h));
  g_assert_true(gst_element_query_duration(h->element, GST_FORMAT_TIME, &duration));
  g_assert_cmpint(duration, ==, 2 * GST_SECOND);
  gst_harness_teardown(h);
  remove_file(place, "c1.fits");
  remove_file(place, "c2.fits");
}

static void bad_catalogues(Place *place, gconstpointer data)
{
  g_autofree char *first = in_folder(place, "c1.fits");
  make_catalogues(place, "c1.fits", 10, 1);
  write_file(place, 1);
  check_launch("No file matches", place->folder,
               "astrofitssrc name=file location=%s/x*.fits ! fakesink", place->folder);
  check_launch("there are: ra, dec, region", first,
               "astrofitssrc name=file ra-column=alpha location=%s ! fakesink", first);
  check_launch("COLOUR", first, "astrofitssrc name=file where=COLOUR>1 location=%s ! fakesink",
               first);
  check_launch("visibilities among 2 files", place->path,
               "astrofitssrc name=file location=%s/[cv]* ! fakesink", place->folder);
  check_launch("not give what is wanted", first,
               "astrofitssrc name=file location=%s ! application/x-astro-visibilities ! fakesink",
               first);
  /* its tables are looked at */
  check_launch("AIPS AN: no column", place->path,
               "astrofitssrc name=file location=%s ! application/x-astro-catalogue ! fakesink",
               place->path);
  remove_file(place, "c1.fits");
}

/* A file whose second catalogue is bad fails in mid-stream. */
static void bad_later(Place *place, gconstpointer data)
{
  g_autofree char *text = in_folder(place, "c2.txt");
  make_catalogues(place, "c1.fits", 10, 1);
  g_assert_true(g_file_set_contents(text, "10 20\n30\n", -1, NULL));
  check_launch("line 2", text, "astrofitssrc name=file location=%s/c* ! fakesink", place->folder);
  remove_file(place, "c1.fits");
  remove_file(place, "c2.txt");
}

static void empty_catalogue(Place *place, gconstpointer data)
{
  make_catalogues(place, "c.fits", 0, 1);
  check_launch("no rows", place->folder, "astrofitssrc name=file location=%s/c.fits ! fakesink",
               place->folder);
  remove_file(place, "c.fits");
}

static void correlation(Place *place, gconstpointer data)
{
  static const char *const names[] = { "w.fits", "w.csv" };
  g_autofree char *text = NULL, *path = in_folder(place, "w.csv");
  for (guint i = 0; i < G_N_ELEMENTS(names); i++)
    check_launch(
        NULL, NULL,
        "astrohistogram name=h regions=4 min-angle=100 max-angle=10000 bins-per-decade=1 ! "
        "astrotpacf ! astrofitssink location=%s/%s  astrocatsrc points=300 ! h.data  "
        "astrocatsrc points=300 seed=2 ! h.random",
        place->folder, names[i]);
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_assert_true(g_str_has_prefix(text, "theta,low,high,w,error,dd,dr,rr,cov0,cov1\n"));
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  g_assert_cmpuint(g_strv_length(lines), ==, 4);
  remove_file(place, "w.csv");
  remove_file(place, "w.fits");
}

/* Two catalogues, the second without points, and what is told of their file. */
static void told_of_tables(Place *place, gconstpointer data)
{
  static const double points[] = { 1, 2, 3, -4, -5, -6 };
  guint64 tables = 0, n_rows = 0;
  GstHarness *h = new_sink(place);
  gst_harness_set_src_caps_str(h, "application/x-astro-catalogue,format=F64LE,"
                                  "layout=column:point,columns=ra:dec");
  gst_harness_push(h, gst_buffer_new_memdup(points, sizeof points));
  gst_harness_push(h, gst_buffer_new());
  g_assert_true(gst_harness_push_event(h, gst_event_new_eos()));
  g_autoptr(GstMessage) message = gst_bus_pop_filtered(place->bus, GST_MESSAGE_ELEMENT);
  const GstStructure *file = gst_message_get_structure(message);
  g_assert_true(gst_structure_has_name(file, "astro-file"));
  g_assert_cmpstr(gst_structure_get_string(file, "location"), ==, place->path);
  g_assert_cmpstr(gst_structure_get_string(file, "columns"), ==, "ra:dec");
  g_assert_true(gst_structure_get_uint64(file, "tables", &tables));
  g_assert_true(gst_structure_get_uint64(file, "rows", &n_rows));
  g_assert_cmpuint(tables, ==, 2);
  g_assert_cmpuint(n_rows, ==, 3);
  gst_harness_teardown(h);
}

static void no_table(Place *place, gconstpointer data)
{
  GstHarness *h = new_sink(place);
  gst_harness_set_src_caps_str(h, "application/x-astro-correlation-function,format=F64LE,"
                                  "layout=column:bin,bins=3,columns=theta:w");
  g_assert_false(gst_harness_push_event(h, gst_event_new_eos()));
  expect_error(place, "before its first correlation function");
  gst_harness_teardown(h);
}

int main(int argc, char **argv)
{
  static const struct {
    const char *name;
    void (*test)(Place *, gconstpointer);
  } cases[] = {
    { "eos", eos },
    { "event-first", event_first },
    { "next-location", next_location },
    { "aborted", aborted },
    { "stopped-early", stopped_early },
    { "nothing", nothing },
    { "gaps", gaps },
    { "no-timestamps", no_timestamps },
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
    { "not-finite-in-file", not_finite_in_file },
    { "told", told },
    { "between-steps", between_steps },
    { "full-disk", full_disk },
    { "full-disk-at-eos", full_disk_at_eos },
    { "cannot-create", cannot_create },
    { "cannot-read", cannot_read },
    { "copy", copy },
    { "error-upstream", error_upstream },
    { "cycles", cycles },
    { "stop-while-blocked", stop_while_blocked },
    { "source", source },
    { "several-catalogues", several_catalogues },
    { "csv-catalogues", csv_catalogues },
    { "ascii-table", ascii_table },
    { "late-settings", late_settings },
    { "catalogue-duration", catalogue_duration },
    { "bad-catalogues", bad_catalogues },
    { "bad-later", bad_later },
    { "empty-catalogue", empty_catalogue },
    { "correlation", correlation },
    { "told-of-tables", told_of_tables },
    { "no-table", no_table },
  };
  gst_init(&argc, &argv);
  g_test_init(&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *path = g_strconcat("/astrofits/", cases[i].name, NULL);
    g_test_add(path, Place, NULL, set_up, cases[i].test, tear_down);
  }
  int result = g_test_run();
  gst_deinit();
  return result;
}
