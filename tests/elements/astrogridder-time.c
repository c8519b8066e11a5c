/* The times of visibilities, and which of them a grid is made of. */
#include "tests/elements/astrogridder.h"

/* Scans begin at any time, not whole integrations apart. */
static void test_between_steps(void)
{
  enum { PAUSE = 250 };
  const double pixel = 200.0 / 3600 * G_PI / 180;
  g_autofree complex float *all = test_predict_apart(10 * pixel, -7 * pixel, PAUSE);
  AstroGrid grid;
  GstClockTime times[2];
  TestRig rig;
  test_rig_open(&rig, "accuracy=1e-5", NULL);
  test_rig_start(&rig, TRUE);
  for (guint d = 0; d < TEST_DUMPS; d++) {
    GstBuffer *buffer = test_dumps(all, d, 1);
    GST_BUFFER_PTS(buffer) = d * (600 + PAUSE) * GST_SECOND;
    GST_BUFFER_OFFSET(buffer) = (d * (600 + PAUSE) + 300) / 600;
    GST_BUFFER_OFFSET_END(buffer) = GST_BUFFER_OFFSET(buffer) + 1;
    GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
    g_assert_cmpint(gst_harness_push(rig.h, buffer), ==, GST_FLOW_OK);
  }
  g_assert_true(gst_harness_push_event(rig.h, gst_event_new_eos()));
  g_autofree double *image = test_rig_image(&rig, &grid, 1, times);
  g_assert_cmpfloat_with_epsilon(image[25 * 64 + 42], 3, 3e-4);
  g_assert_cmpuint(times[1], ==, ((TEST_DUMPS - 1) * (600 + PAUSE) + 600) * GST_SECOND);
  astro_grid_clear(&grid);
  test_rig_close(&rig);
}

/* Blocks that count steps from the start of a recording are where their times say, like blocks that
 * count from the observation's start or do not count. */
static void test_clock(void)
{
  static const guint64 counted_from[] = { 2, 0, GST_BUFFER_OFFSET_NONE };
  g_autofree complex float *all = test_predict(0.02, 0.01);
  g_autofree double *expected = NULL;
  for (guint i = 0; i < G_N_ELEMENTS(counted_from); i++) {
    AstroGrid grid;
    GstClockTime times[2];
    TestRig rig;
    test_rig_open(&rig, "", NULL);
    test_rig_start(&rig, TRUE);
    for (guint d = 2; d < TEST_DUMPS; d++) {
      GstBuffer *in = test_dumps(all, d, 1);
      GST_BUFFER_OFFSET(in) =
          counted_from[i] == GST_BUFFER_OFFSET_NONE ? counted_from[i] : counted_from[i] + d - 2;
      GST_BUFFER_OFFSET_END(in) = GST_BUFFER_OFFSET_NONE;
      g_assert_cmpint(gst_harness_push(rig.h, in), ==, GST_FLOW_OK);
    }
    g_assert_true(gst_harness_push_event(rig.h, gst_event_new_eos()));
    g_autofree double *image = test_rig_image(&rig, &grid, 1, times);
    g_assert_nonnull(image);
    g_assert_cmpuint(times[0], ==, 1200 * GST_SECOND);
    g_assert_cmpuint(times[1], ==, 3600 * GST_SECOND);
    if (expected)
      g_assert_cmpmem(image, 64 * 64 * sizeof *image, expected, 64 * 64 * sizeof *image);
    else
      expected = g_steal_pointer(&image);
    astro_grid_clear(&grid);
    test_rig_close(&rig);
  }
}

/* Dumps are held until an interval is complete. */
static void test_latency(void)
{
  static const struct {
    const char *settings;
    GstClockTime held;
  } cases[] = {
    { "", 0 },
    { "interval=1", 0 },
    { "interval=4", 1800 * GST_SECOND },
    { "interval=4 cumulative=true", 1800 * GST_SECOND },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    TestRig rig;
    test_rig_open(&rig, cases[i].settings, NULL);
    gst_harness_set_live(rig.h, TRUE);
    gst_harness_set_upstream_latency(rig.h, GST_MSECOND);
    test_rig_start(&rig, TRUE);
    g_assert_cmpuint(gst_harness_query_latency(rig.h), ==, cases[i].held + GST_MSECOND);
    test_rig_close(&rig);
  }
}

/* Grids of two dumps each, or of all dumps so far. */
static void test_intervals(void)
{
  static const char *const algorithms[] = { "direct", "wstacking accuracy=1e-5", "wprojection" };
  g_autofree complex float *all = test_predict(0.01, 0.02);
  for (guint a = 0; a < G_N_ELEMENTS(algorithms); a++)
    for (guint cumulative = 0; cumulative < 2; cumulative++) {
      g_autofree char *settings = g_strdup_printf("interval=2 cumulative=%s algorithm=%s",
                                                  cumulative ? "true" : "false", algorithms[a]);
      g_autofree char *whole_settings = g_strdup_printf("algorithm=%s", algorithms[a]);
      AstroGrid grid;
      GstClockTime times[2];
      TestRig rig, whole;
      test_rig_open(&rig, settings, NULL);
      test_rig_run(&rig, all, TRUE);
      test_rig_open(&whole, whole_settings, NULL);
      test_rig_run(&whole, all, TRUE);
      g_autofree double *expected = test_rig_image(&whole, &grid, 1, times);
      g_autofree double *sum = g_new0(double, 64 * 64);
      astro_grid_clear(&grid);
      for (guint i = 0; i < 3; i++) {
        g_autofree double *image = test_rig_image(&rig, &grid, 1, times);
        g_assert_nonnull(image);
        g_assert_cmpuint(times[0], ==, cumulative ? 0 : i * 1200 * GST_SECOND);
        g_assert_cmpuint(times[1], ==, (i + 1) * 1200 * GST_SECOND);
        for (guint k = 0; k < 64 * 64; k++)
          sum[k] = cumulative ? image[k] : sum[k] + image[k] / 3;
        astro_grid_clear(&grid);
      }
      g_assert_null(gst_harness_try_pull(rig.h));
      double worst = 0;
      for (guint k = 0; k < 64 * 64; k++)
        worst = MAX(worst, fabs(sum[k] - expected[k]));
      g_test_message("%s: %.2e", settings, worst);
      g_assert_cmpfloat(worst, <=, 6e-5);
      test_rig_close(&rig);
      test_rig_close(&whole);
    }
}

/* Dumps that come twice, or late, are in the grid once. */
static void test_again(void)
{
  static const guint order[] = { 0, 0, 1, 0, 2, 1, 3, 3, 4, 5, 2, 5 };
  g_autofree complex float *all = test_predict(0.01, 0.02);
  AstroGrid grid;
  GstClockTime times[2];
  TestRig rig, once;

  test_rig_open(&once, "", NULL);
  test_rig_run(&once, all, TRUE);
  g_autofree double *expected = test_rig_image(&once, &grid, 1, times);
  astro_grid_clear(&grid);
  test_rig_open(&rig, "", NULL);
  test_rig_start(&rig, TRUE);
  for (guint i = 0; i < G_N_ELEMENTS(order); i++)
    g_assert_cmpint(gst_harness_push(rig.h, test_dumps(all, order[i], 1)), ==, GST_FLOW_OK);
  gst_harness_push(rig.h, test_dumps(all, 0, TEST_DUMPS));
  g_assert_true(gst_harness_push_event(rig.h, gst_event_new_eos()));
  g_autofree double *image = test_rig_image(&rig, &grid, 1, times);
  g_assert_nonnull(image);
  g_assert_cmpmem(image, 64 * 64 * sizeof *image, expected, 64 * 64 * sizeof *image);
  astro_grid_clear(&grid);
  test_rig_close(&rig);
  test_rig_close(&once);
}

/* A segment may begin anywhere, but a grid that continues across it takes no time twice. */
static void test_again_in_segment(void)
{
  g_autofree complex float *all = test_predict(0.01, 0.02);
  for (guint cumulative = 0; cumulative < 2; cumulative++)
    for (guint anew = 0; anew < 2; anew++) {
      GstSegment segment;
      TestRig rig;
      test_rig_open(&rig, cumulative ? "interval=2 cumulative=true" : "interval=2", NULL);
      test_rig_start(&rig, TRUE);
      g_assert_cmpint(gst_harness_push(rig.h, test_dumps(all, 0, 3)), ==, GST_FLOW_OK);
      gst_segment_init(&segment, GST_FORMAT_TIME);
      segment.base = GST_SECOND;
      g_assert_true(gst_harness_push_event(rig.h, gst_event_new_segment(&segment)));
      g_assert_cmpint(gst_harness_push(rig.h, test_dumps(all, anew ? 3 : 2, 1)), ==,
                      cumulative && !anew ? GST_FLOW_ERROR : GST_FLOW_OK);
      g_autoptr(GstMessage) message = gst_bus_pop_filtered(rig.bus, GST_MESSAGE_ERROR);
      g_autoptr(GError) error = NULL;
      g_assert_true((message != NULL) == (cumulative && !anew));
      if (message)
        gst_message_parse_error(message, &error, NULL);
      if (error)
        test_says(error->message, "visibilities of 1200.000000000 s came, and the grid has some");
      test_rig_close(&rig);
    }
}

/* The message at the end, and the number of warnings and errors. */
static char *told_grids(TestRig *rig, guint *warnings, guint *errors)
{
  GstMessage *message;
  char *told = NULL;
  *warnings = *errors = 0;
  while ((message = gst_bus_pop(rig->bus))) {
    const GstStructure *s = gst_message_get_structure(message);
    guint64 grids, used, flagged, not_finite;
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING) {
      g_autoptr(GError) warning = NULL;
      gst_message_parse_warning(message, &warning, NULL);
      test_says(warning->message, "no grid is sent for 0 to 600 seconds after the start");
      (*warnings)++;
    }
    *errors += GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR;
    if (s && !told &&
        gst_structure_get(s, "grids", G_TYPE_UINT64, &grids, "used", G_TYPE_UINT64, &used,
                          "flagged", G_TYPE_UINT64, &flagged, "not-finite", G_TYPE_UINT64,
                          &not_finite, NULL))
      told = g_strdup_printf("%u grids of %u, %u and %u lost", (guint)grids, (guint)used,
                             (guint)flagged, (guint)not_finite);
    gst_message_unref(message);
  }
  return told;
}

/* Intervals that lost all their data, even the first, do not end the stream: nothing is sent for
 * them, and the others are unchanged and at their times. */
static void test_lost_intervals(void)
{
  enum { UNITS = 63 }; /* visibilities of a dump: baselines of two stations times channels */
  static const char *const algorithms[] = { "direct", "wstacking", "wprojection" };
  g_autofree complex float *all = test_predict(0.01, 0.02);
  for (guint i = 0; i < 2 * G_N_ELEMENTS(algorithms); i++) {
    const gboolean cumulative = i % 2;
    g_autofree char *settings = g_strdup_printf("interval=1 cumulative=%s algorithm=%s",
                                                cumulative ? "true" : "false", algorithms[i / 2]);
    TestRig rig;
    test_rig_open(&rig, settings, NULL);
    test_rig_start(&rig, TRUE);
    for (guint d = 0; d < TEST_DUMPS; d++) {
      GstBuffer *buffer = test_dumps(all, d, 1);
      if (d == 0 || d == 3) {
        gst_buffer_memset(buffer, 0, 0xff, gst_buffer_get_size(buffer)); /* not numbers */
      } else if (d == 1) {
        GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_GAP);
      }
      g_assert_cmpint(gst_harness_push(rig.h, buffer), ==, GST_FLOW_OK);
    }
    g_assert_true(gst_harness_push_event(rig.h, gst_event_new_eos()));
    for (guint d = 2; d < TEST_DUMPS; d++) {
      AstroGrid grid;
      GstClockTime times[2];
      if (d == 3 && !cumulative)
        continue;
      g_autofree double *image = test_rig_image(&rig, &grid, 1, times);
      g_assert_nonnull(image);
      g_assert_cmpuint(times[0], ==, cumulative ? 0 : d * 600 * GST_SECOND);
      g_assert_cmpuint(times[1], ==, (d + 1) * 600 * GST_SECOND);
      astro_grid_clear(&grid);
    }
    g_assert_null(gst_harness_try_pull(rig.h));
    guint warnings, errors;
    g_autofree char *told = told_grids(&rig, &warnings, &errors);
    g_autofree char *expected = g_strdup_printf("%u grids of %u, %u and %u lost",
                                                cumulative ? 4 : 3, 3 * UNITS, UNITS, 2 * UNITS);
    g_assert_cmpstr(told, ==, expected);
    g_assert_cmpuint(warnings, ==, 1);
    g_assert_cmpuint(errors, ==, 0);
    test_rig_close(&rig);
  }
}

/* The message at the end counts all visibilities of the stream, also those before other caps, where
 * cumulative grids begin anew. */
static void test_told_of_all(void)
{
  static const char *const settings[] = { "", "interval=1", "interval=2 cumulative=true" };
  g_autofree complex float *all = test_predict(0.01, 0.02);
  for (guint i = 0; i < G_N_ELEMENTS(settings); i++) {
    guint warnings, errors;
    TestRig rig;
    test_rig_open(&rig, settings[i], NULL);
    test_rig_start(&rig, TRUE);
    for (guint d = 0; d < TEST_DUMPS; d++) {
      if (d == TEST_DUMPS / 2)
        gst_harness_set_src_caps_str(rig.h, TEST_VISIBILITIES ",more=1");
      g_assert_cmpint(gst_harness_push(rig.h, test_dumps(all, d, 1)), ==, GST_FLOW_OK);
    }
    g_assert_true(gst_harness_push_event(rig.h, gst_event_new_eos()));
    g_autofree char *told = told_grids(&rig, &warnings, &errors);
    g_autofree char *expected = g_strdup_printf("%u grids of %u, 0 and 0 lost",
                                                i == 0   ? 2
                                                : i == 1 ? TEST_DUMPS
                                                         : 4,
                                                TEST_DUMPS * 63);
    g_assert_cmpstr(told, ==, expected);
    test_rig_close(&rig);
  }
}

/* An interval that is set in mid-stream counts for the next caps. */
static void test_late_interval(void)
{
  g_autofree complex float *all = test_predict(0.01, 0.02);
  TestRig rig;
  test_rig_open(&rig, "algorithm=direct interval=2", NULL);
  g_autoptr(GstElement) element = gst_harness_find_element(rig.h, "astrogridder");
  test_rig_start(&rig, TRUE);
  for (guint d = 0; d < TEST_DUMPS; d++) {
    g_assert_cmpint(gst_harness_push(rig.h, test_dumps(all, d, 1)), ==, GST_FLOW_OK);
    g_object_set(element, "interval", 5, NULL);
  }
  g_assert_true(gst_harness_push_event(rig.h, gst_event_new_eos()));
  g_assert_cmpuint(gst_harness_buffers_received(rig.h), ==, TEST_DUMPS / 2);
  test_rig_close(&rig);
}

static guint count_told(TestRig *rig)
{
  GstMessage *message;
  guint n = 0;
  while ((message = gst_bus_pop_filtered(rig->bus, GST_MESSAGE_ELEMENT))) {
    n += gst_structure_has_name(gst_message_get_structure(message), "astro-gridder");
    gst_message_unref(message);
  }
  return n;
}

/* A stream that follows the end of another has grids of its own. */
static void test_next_stream(void)
{
  static const char *const settings[] = { "", "interval=4", "interval=4 cumulative=true" };
  g_autofree complex float *all = test_predict(0.01, 0.02);
  for (guint i = 0; i < G_N_ELEMENTS(settings); i++) {
    g_autoptr(GByteArray) first = NULL;
    GstSegment segment;
    TestRig rig;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    test_rig_open(&rig, settings[i], NULL);
    test_rig_run(&rig, all, TRUE);
    first = test_pull_all(rig.h);
    g_assert_cmpuint(count_told(&rig), ==, 1);
    gst_harness_push_event(rig.h, gst_event_new_stream_start("next"));
    gst_harness_push_event(rig.h, gst_event_new_segment(&segment));
    test_rig_run(&rig, all, TRUE);
    g_autoptr(GByteArray) next = test_pull_all(rig.h);
    g_assert_cmpuint(first->len, >, 0);
    g_assert_cmpmem(next->data, next->len, first->data, first->len);
    g_assert_cmpuint(count_told(&rig), ==, 1);
    test_rig_close(&rig);
  }
}

static void add_tests(void)
{
  static const TestNamed tests[] = {
    { "intervals", test_intervals },
    { "lost-intervals", test_lost_intervals },
    { "told-of-all", test_told_of_all },
    { "clock", test_clock },
    { "between-steps", test_between_steps },
    { "next-stream", test_next_stream },
    { "late-interval", test_late_interval },
    { "latency", test_latency },
    { "again", test_again },
    { "again/in-segment", test_again_in_segment },
  };
  test_add_on_backends(tests, G_N_ELEMENTS(tests));
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
