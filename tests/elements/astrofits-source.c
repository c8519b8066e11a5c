/* astrofitssrc: files of visibilities that go from one element to the other and back, and files
 * that are damaged. */
#include "tests/elements/astrofits.h"

static void cannot_read(TestFile *place, gconstpointer data)
{
  g_autofree char *bytes = NULL;
  gsize length;
  test_check_launch("No such file", place->path, "astrofitssrc name=file location=%s ! fakesink",
                    place->path);
  test_check_launch("location", NULL, "astrofitssrc name=file ! fakesink");
  test_write_file(place, 3);
  test_check_launch("where=U>0 is set, but the file holds visibilities, expected a catalogue",
                    place->path, "astrofitssrc name=file location=%s where=U>0 ! fakesink",
                    place->path);
  test_check_launch("g1-column=3 is set", place->path,
                    "astrofitssrc name=file location=%s g1-column=3 ! fakesink", place->path);
  g_assert_true(g_file_get_contents(place->path, &bytes, &length, NULL));
  g_assert_true(g_file_set_contents(place->path, bytes, 2880 * 3 + 100, NULL));
  test_check_launch("cut short", place->path, "astrofitssrc name=file location=%s ! fakesink",
                    place->path);
  memset(bytes + 2880 * 3, 0xff, length - 2880 * 3);
  g_assert_true(g_file_set_contents(place->path, bytes, length, NULL));
  test_check_launch("file: ", place->path, "astrofitssrc name=file location=%s ! fakesink",
                    place->path);
}

/* A file that is read and written again is the same to the byte, except that numbers in its header
 * are rounded. */
static void copy(TestFile *place, gconstpointer data)
{
  static const guint sent[] = { 0, 1, 2, 3, 4 };
  g_autofree char *source = g_strconcat(place->path, ".source", NULL);
  test_write_file(place, 5);
  g_assert_cmpint(g_rename(place->path, source), ==, 0);
  test_check_launch(NULL, NULL, "astrofitssrc location=%s ! astrofitssink location=%s", source,
                    place->path);
  test_expect_frames(place, sent, 5);
  g_assert_cmpint(g_unlink(source), ==, 0);
}

/* An error before the sink: the frames that came are kept. */
static void error_upstream(TestFile *place, gconstpointer data)
{
  static const guint sent[] = { 0, 1, 2 };
  g_autofree char *source = g_strconcat(place->path, ".source", NULL);
  test_write_file(place, 5);
  g_assert_cmpint(g_rename(place->path, source), ==, 0);
  test_check_launch("Failed after iterations", NULL,
                    "astrofitssrc location=%s ! identity error-after=4 ! astrofitssink location=%s",
                    source, place->path);
  test_expect_frames(place, sent, 3);
  g_assert_cmpint(g_unlink(source), ==, 0);
}

/* Between two files the sink goes to READY and back, and its location may change. */
static void cycles(TestFile *place, gconstpointer data)
{
  static const guint sent[] = { 0, 1, 2 };
  g_autofree char *source = g_strconcat(place->path, ".source", NULL);
  test_write_file(place, 3);
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
        gst_bus_timed_pop_filtered(bus, TEST_PATIENCE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    g_assert_nonnull(message);
    g_assert_cmpint(GST_MESSAGE_TYPE(message), ==, GST_MESSAGE_EOS);
    gst_message_unref(message);
    test_expect_frames(place, sent, 3);
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
static void stop_while_blocked(TestFile *place, gconstpointer data)
{
  g_autofree char *source = g_strconcat(place->path, ".source", NULL);
  test_write_file(place, 5);
  g_assert_cmpint(g_rename(place->path, source), ==, 0);
  g_autofree char *line =
      g_strdup_printf("astrofitssrc location=%s ! astrofitssink location=%s", source, place->path);
  GstElement *pipeline = gst_parse_launch(line, NULL);
  gst_element_set_state(pipeline, GST_STATE_PAUSED);
  g_assert_cmpint(gst_element_get_state(pipeline, NULL, NULL, TEST_PATIENCE), ==,
                  GST_STATE_CHANGE_SUCCESS);
  g_assert_cmpint(gst_element_set_state(pipeline, GST_STATE_NULL), ==, GST_STATE_CHANGE_SUCCESS);
  gst_object_unref(pipeline);
  g_assert_cmpint(g_unlink(source), ==, 0);
}

/* Caps, observation, times, counts and the answer to DURATION. */
static void source(TestFile *place, gconstpointer data)
{
  static const guint indices[] = { 0, 1, 4 };
  GstHarness *h = test_begin(place);
  for (guint i = 0; i < 3; i++) {
    GstBuffer *buffer = test_new_frame(indices[i]);
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
    g_assert_cmpuint(astro_validity_n_counts(validity), ==, TEST_SAMPLES);
    for (guint k = 0; k < TEST_SAMPLES; k++)
      g_assert_cmpuint(validity->counts[k], ==, k / 4 % 6 == 4 ? 10 * i : 50);
    g_assert_cmpint(ABS((gint64)(GST_BUFFER_PTS(buffer) - indices[i] * TEST_DUMP)), <=, 2);
    g_assert_cmpint(ABS((gint64)(GST_BUFFER_DURATION(buffer) - TEST_DUMP)), <=, 2);
    g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, indices[i]);
    g_assert_cmpuint(GST_BUFFER_OFFSET_END(buffer), ==, indices[i] + 1);
    g_assert_cmpint(GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT), ==, i != 1);
    gst_buffer_unref(buffer);
  }
  gint64 duration = 0;
  g_assert_true(gst_element_query_duration(h->element, GST_FORMAT_TIME, &duration));
  g_assert_cmpint(ABS(duration - (gint64)(5 * TEST_DUMP)), <=, 4);

  GstCaps *caps = gst_pad_get_current_caps(h->sinkpad),
          *expected = gst_caps_from_string(TEST_CAPS ",counts=true");
  g_assert_true(gst_caps_is_equal(caps, expected));
  gst_caps_unref(caps);
  gst_caps_unref(expected);

  GstEvent *event = gst_pad_get_sticky_event(h->sinkpad, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, 0);
  g_autoptr(AstroObservation) sent = test_observation(TEST_STATIONS);
  g_assert_nonnull(event);
  g_assert_true(astro_event_is_observation(event));
  g_autoptr(AstroObservation) found = astro_observation_from_event(event, NULL);
  g_assert_cmpuint(found->start_ns, ==, sent->start_ns);
  g_assert_cmpfloat_with_epsilon(found->positions[7], sent->positions[7], 1e-8);
  gst_event_unref(event);
  gst_harness_teardown(h);
}

/* Scans need not be whole integrations apart: a frame that is not is a jump, with its own time. */
static void between_steps(TestFile *place, gconstpointer data)
{
  static const double begins[] = { 0, 1, 3.4, 4.4, 5, 7.49, 9.51 };
  static const guint offsets[] = { 0, 1, 3, 4, 5, 7, 9 }; /* the step is never ahead of the time */
  GstHarness *h = test_begin(place);
  for (guint i = 0; i < G_N_ELEMENTS(begins); i++) {
    GstBuffer *buffer = test_new_frame(i);
    GST_BUFFER_PTS(buffer) = begins[i] * TEST_DUMP;
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
    g_assert_cmpint(ABS((gint64)(GST_BUFFER_PTS(buffer) - begins[i] * TEST_DUMP)), <=,
                    TEST_DUMP / 10000);
    g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, offsets[i]);
    g_assert_cmpint(GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT), ==, i != 1 && i != 3);
    gst_buffer_unref(buffer);
  }
  gst_harness_teardown(h);
}

/* Files of other programs have NaN for unknown values: a message at the end counts them. */
static void not_finite_in_file(TestFile *place, gconstpointer data)
{
  static const guint8 number[] = { 0x44, 0x7b, 0x80, 0 }, nan[] = { 0x7f, 0xc0, 0, 0 }; /* 1006 */
  static const char *const late[] = { "property location was set", "property ra-column was set",
                                      "property where was set" };
  g_autofree char *line = g_strdup_printf("astrofitssrc location=%s name=file", place->path);
  char *bytes;
  gsize length;
  test_write_file(place, 2);
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
  test_set_all_later(h);
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
  for (guint i = 0; i < G_N_ELEMENTS(late); i++) {
    g_autofree char *warning = test_pop(place, GST_MESSAGE_WARNING);
    test_says(warning, late[i]);
  }
  g_autofree char *text = test_pop(place, GST_MESSAGE_WARNING);
  g_assert_nonnull(strstr(text, "flagged: 1"));
  g_assert_nonnull(strstr(text, place->path));
  gst_element_set_bus(h->element, NULL);
  gst_harness_teardown(h);
}

int main(int argc, char **argv)
{
  static const TestFileCase cases[] = {
    { "not-finite-in-file", not_finite_in_file },
    { "between-steps", between_steps },
    { "cannot-read", cannot_read },
    { "copy", copy },
    { "error-upstream", error_upstream },
    { "cycles", cycles },
    { "stop-while-blocked", stop_while_blocked },
    { "source", source },
  };
  return test_files(argc, argv, cases, G_N_ELEMENTS(cases));
}
