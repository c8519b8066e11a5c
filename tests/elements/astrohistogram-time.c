/* Events that come while astrohistogram counts, or late: gaps, flushes, interrupts, pads,
 * settings. */
#include "core/backend/backend.h"
#include "tests/elements/astrohistogram.h"

static GstBuffer *points_buffer(guint64 n)
{
  AstroCatalogue catalogue;
  AstroRandom random;
  astro_random_init(&random, n, 0);
  g_assert_true(astro_catalogue_uniform(&band, n, &random, &catalogue, NULL));
  GstBuffer *buffer = gst_buffer_new_memdup(catalogue.ra, n * sizeof(double));
  buffer = gst_buffer_append(buffer, gst_buffer_new_memdup(catalogue.dec, n * sizeof(double)));
  astro_catalogue_clear(&catalogue);
  return buffer;
}

/* Pushes a catalogue to a pad, which is requested. */
static GstHarness *feed(GstElement *element, const char *pad, guint64 n)
{
  GstHarness *h = gst_harness_new_with_element(element, pad, NULL);
  gst_harness_set_src_caps_str(
      h, "application/x-astro-catalogue,format=F64LE,layout=column:point,columns=ra:dec");
  gst_harness_push(h, points_buffer(n));
  return h;
}

/* Blocks that an element in front reports as missing are not catalogues. */
static void test_gaps(void)
{
  GstHarness *h = gst_harness_new_with_padnames("astrohistogram", NULL, "src");
  GstHarness *data = feed(h->element, "data", 300), *random = feed(h->element, "random", 400);
  g_assert_true(gst_harness_push_event(data, gst_event_new_gap(0, GST_SECOND)));
  g_assert_true(gst_harness_push_event(data, gst_event_new_eos()));
  g_assert_true(gst_harness_push_event(random, gst_event_new_gap(GST_SECOND, GST_SECOND)));
  g_assert_true(gst_harness_push_event(random, gst_event_new_eos()));
  GstBuffer *buffer = gst_harness_pull(h);
  g_assert_nonnull(buffer);
  g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, 1);
  gst_buffer_unref(buffer);
  gst_harness_teardown(random);
  gst_harness_teardown(data);
  gst_harness_teardown(h);
}

static GstBuffer *of_pads(gboolean flushed)
{
  GstHarness *h = gst_harness_new_with_padnames("astrohistogram", NULL, "src");
  GstHarness *data = feed(h->element, "data", flushed ? 200 : 300),
             *random = feed(h->element, "random", 400);
  if (flushed) {
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    g_usleep(100000); /* so that it is taken */
    g_assert_true(gst_harness_push_event(data, gst_event_new_flush_start()));
    g_assert_true(gst_harness_push_event(data, gst_event_new_flush_stop(TRUE)));
    g_assert_true(gst_harness_push_event(data, gst_event_new_segment(&segment)));
    gst_harness_push(data, points_buffer(300));
  }
  g_assert_true(gst_harness_push_event(data, gst_event_new_eos()));
  g_assert_true(gst_harness_push_event(random, gst_event_new_eos()));
  GstBuffer *buffer = gst_harness_pull(h);
  g_assert_nonnull(buffer);
  gst_harness_teardown(random);
  gst_harness_teardown(data);
  gst_harness_teardown(h);
  return buffer;
}

static void assert_alike(GstBuffer *expected, GstBuffer *found)
{
  GstMapInfo map;
  g_assert_true(gst_buffer_map(expected, &map, GST_MAP_READ));
  g_assert_cmpint(gst_buffer_memcmp(found, 0, map.data, map.size), ==, 0);
  g_assert_cmpuint(gst_buffer_get_size(found), ==, map.size);
  gst_buffer_unmap(expected, &map);
}

/* Points that came on a pad before its flush are not part of its catalogue. */
static void test_flushed(void)
{
  g_autoptr(GstBuffer) expected = of_pads(FALSE), found = of_pads(TRUE);
  assert_alike(expected, found);
}

static void note_end(GObject *histogram, GParamSpec *spec, gpointer ended)
{
  g_atomic_int_set((gint *)ended, TRUE);
}

/* A count reports its progress after a second; on a slow machine even a short one does. */
static void wait_for_progress(GstBus *bus, const char *says)
{
  for (gboolean is_there = FALSE; !is_there;) {
    g_autofree char *text = NULL;
    g_autoptr(GstMessage) counting =
        gst_bus_timed_pop_filtered(bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_PROGRESS);
    g_assert_nonnull(counting);
    gst_message_parse_progress(counting, NULL, NULL, &text);
    is_there = strstr(text, says) != NULL;
  }
}

/* A flush of everything does not wait for the count, and drops it. */
static void test_flushed_count(void)
{
  gint ended = FALSE; /* atomic: the backend is told when the data is counted */
  GstHarness *h = gst_harness_new_with_padnames("astrohistogram", NULL, "src");
  g_autoptr(GstBus) bus = gst_bus_new();
  gst_element_set_bus(h->element, bus);
  g_object_set(h->element, "backend", ASTRO_BACKEND_REFERENCE, NULL);
  gulong handler =
      g_signal_connect(h->element, "notify::active-backend", G_CALLBACK(note_end), &ended);
  GstHarness *data = feed(h->element, "data", 40000);
  g_assert_true(gst_harness_push_event(data, gst_event_new_eos()));
  wait_for_progress(bus, "dd: ");
  g_assert_true(gst_harness_push_event(data, gst_event_new_flush_start()));
  g_assert_false(g_atomic_int_get(&ended));
  g_signal_handler_disconnect(h->element, handler);

  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  g_assert_true(gst_harness_push_event(data, gst_event_new_flush_stop(TRUE)));
  g_assert_true(gst_harness_push_event(data, gst_event_new_segment(&segment)));
  gst_harness_push(data, points_buffer(300));
  g_assert_true(gst_harness_push_event(data, gst_event_new_eos()));
  g_autoptr(GstBuffer) buffer = gst_harness_pull(h);
  g_assert_nonnull(buffer);
  g_assert_null(gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR));
  gst_element_set_bus(h->element, NULL);
  gst_harness_teardown(data);
  gst_harness_teardown(h);
}

/* As gst-astro does at Ctrl-C, while the bus says that this count is at work. */
static void interrupt(GstHarness *h, GstBus *bus, const char *count)
{
  wait_for_progress(bus, count);
  g_assert_true(gst_harness_push_upstream_event(
      h,
      gst_event_new_custom(GST_EVENT_CUSTOM_UPSTREAM, gst_structure_new_empty("astro-interrupt"))));
}

/* A count that a user interrupts gives no histogram. */
static void test_interrupted(void)
{
  GstHarness *h = gst_harness_new_with_padnames("astrohistogram", NULL, "src");
  g_autoptr(GstBus) bus = gst_bus_new();
  gst_element_set_bus(h->element, bus);
  g_object_set(h->element, "backend", ASTRO_BACKEND_REFERENCE, NULL);
  GstHarness *data = feed(h->element, "data", 40000), *random = feed(h->element, "random", 400);
  g_assert_true(gst_harness_push_event(data, gst_event_new_eos()));
  interrupt(h, bus, "dd: ");
  g_assert_true(gst_harness_push_event(random, gst_event_new_eos()));
  g_autoptr(GError) error = NULL;
  g_autoptr(GstMessage) message = gst_bus_timed_pop_filtered(bus, TEST_PATIENCE, GST_MESSAGE_ERROR);
  g_assert_nonnull(message);
  gst_message_parse_error(message, &error, NULL);
  test_says(error->message, "interrupted");
  g_assert_cmpuint(gst_harness_buffers_received(h), ==, 0);
  gst_element_set_bus(h->element, NULL);
  gst_harness_teardown(random);
  gst_harness_teardown(data);
  gst_harness_teardown(h);
}

/* Random catalogues that were counted before are kept, and nothing of the one in work. */
static void test_interrupted_later(void)
{
  GstHarness *h = gst_harness_new_with_padnames("astrohistogram", NULL, "src");
  g_autoptr(GstBus) bus = gst_bus_new();
  gst_element_set_bus(h->element, bus);
  g_object_set(h->element, "backend", ASTRO_BACKEND_REFERENCE, NULL);
  GstHarness *data = feed(h->element, "data", 300), *random = feed(h->element, "random", 400);
  g_assert_true(gst_harness_push_event(data, gst_event_new_eos()));
  gst_harness_push(random, points_buffer(40000));
  interrupt(h, bus, "random catalogue 2: ");
  g_assert_true(gst_harness_push_event(random, gst_event_new_eos()));

  g_autoptr(GstBuffer) found = gst_harness_pull(h), expected = of_pads(FALSE);
  g_assert_nonnull(found);
  g_assert_cmpuint(GST_BUFFER_OFFSET(found), ==, 1);
  assert_alike(expected, found);
  static const double pairs[] = { 300 * 299 / 2, 300 * 400, 400 * 399 / 2 };
  AstroSummary summary;
  pull_summary(h, &summary);
  g_assert_cmpmem(summary.pairs, 3 * sizeof(double), pairs, sizeof pairs);
  g_assert_cmpuint(summary.points[ASTRO_SIDE_DATA], ==, 300);
  g_assert_cmpuint(summary.points[ASTRO_SIDE_RANDOM], ==, 400);
  g_assert_cmpuint(summary.catalogues, ==, 1);
  astro_summary_clear(&summary);

  g_autoptr(GError) warning = NULL;
  g_autoptr(GstMessage) message = gst_bus_pop_filtered(bus, GST_MESSAGE_WARNING);
  g_assert_nonnull(message);
  gst_message_parse_warning(message, &warning, NULL);
  test_says(warning->message, "interrupted");
  test_says(warning->message, "1 random catalogue");
  gst_element_set_bus(h->element, NULL);
  gst_harness_teardown(random);
  gst_harness_teardown(data);
  gst_harness_teardown(h);
}

/* Points that come too late for any count are refused: they used to be taken and left out. */
static void test_late_pads(void)
{
  static const char *const pads[] = { "data2", "random2" };
  for (guint i = 0; i < G_N_ELEMENTS(pads); i++) {
    GstHarness *h = gst_harness_new_with_padnames("astrohistogram", NULL, "src");
    g_autoptr(GstBus) bus = gst_bus_new();
    g_object_set(h->element, "interval", 1, NULL);
    gst_element_set_bus(h->element, bus);
    GstHarness *data = feed(h->element, "data", 300), *random = feed(h->element, "random", 400);
    g_assert_true(gst_harness_push_event(data, gst_event_new_eos()));
    gst_buffer_unref(gst_harness_pull(h));
    GstHarness *late = feed(h->element, pads[i], 200);
    g_assert_true(gst_harness_push_event(late, gst_event_new_eos()));
    g_assert_true(gst_harness_push_event(random, gst_event_new_eos()));
    g_autoptr(GstMessage) message =
        gst_bus_timed_pop_filtered(bus, TEST_PATIENCE, GST_MESSAGE_ERROR);
    g_assert_nonnull(message);
    g_autoptr(GError) error = NULL;
    gst_message_parse_error(message, &error, NULL);
    test_says(error->message, pads[i]);
    test_says(error->message, "after counting had begun");
    gst_element_set_bus(h->element, NULL);
    gst_harness_teardown(late);
    gst_harness_teardown(random);
    gst_harness_teardown(data);
    gst_harness_teardown(h);
  }
}

static void set_regions(GObject *histogram, GParamSpec *spec, gpointer n)
{
  g_object_set(histogram, "regions", GPOINTER_TO_INT(n), NULL);
}

/* Regions that are set after a count do not change what is said about it. */
static void test_late_regions(void)
{
  static const guint regions[][2] = { { 5, 0 }, { 5, 9 }, { 0, 5 } };
  for (guint i = 0; i < G_N_ELEMENTS(regions); i++) {
    GstHarness *h = gst_harness_new_with_padnames("astrohistogram", NULL, "src");
    g_object_set(h->element, "regions", regions[i][0], NULL);
    g_signal_connect(h->element, "notify::active-backend", G_CALLBACK(set_regions),
                     GINT_TO_POINTER(regions[i][1]));
    GstHarness *data = feed(h->element, "data", 300);
    g_assert_true(gst_harness_push_event(data, gst_event_new_eos()));
    gst_buffer_unref(gst_harness_pull(h));
    g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
    gint told = 1;
    gst_structure_get_int(gst_caps_get_structure(caps, 0), "regions", &told);
    g_assert_cmpint(told, ==, MAX(regions[i][0], 1));
    gst_harness_teardown(data);
    gst_harness_teardown(h);
  }
}

static void set_interval(GObject *histogram, GParamSpec *spec, gpointer unused)
{
  g_object_set(histogram, "interval", 1, NULL);
}

/* An interval that is set while it counts is for the next stream. */
static void test_late_interval(void)
{
  GstHarness *h = gst_harness_new_with_padnames("astrohistogram", NULL, "src");
  g_signal_connect(h->element, "notify::active-backend", G_CALLBACK(set_interval), NULL);
  GstHarness *data = feed(h->element, "data", 300), *random = feed(h->element, "random", 400);
  g_assert_true(gst_harness_push_event(data, gst_event_new_eos()));
  gst_harness_push(random, points_buffer(200));
  g_assert_true(gst_harness_push_event(random, gst_event_new_eos()));
  g_autoptr(GstBuffer) buffer = gst_harness_pull(h);
  g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, 2);
  gst_harness_teardown(random);
  gst_harness_teardown(data);
  gst_harness_teardown(h);
}

/* A count that would take minutes ends with the pipeline. */
static void test_stop(void)
{
  GstElement *pipeline = gst_parse_launch(
      "astrocatsrc points=300000 ! h.data astrohistogram name=h threads=1 backend=reference ! "
      "fakesink async=false",
      NULL);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_usleep(500000);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
}

static void add_tests(void)
{
  g_test_add_func("/astrohistogram/gaps", test_gaps);
  g_test_add_func("/astrohistogram/flushed", test_flushed);
  g_test_add_func("/astrohistogram/flushed-count", test_flushed_count);
  g_test_add_func("/astrohistogram/interrupted", test_interrupted);
  g_test_add_func("/astrohistogram/interrupted-later", test_interrupted_later);
  g_test_add_func("/astrohistogram/late-pads", test_late_pads);
  g_test_add_func("/astrohistogram/late-regions", test_late_regions);
  g_test_add_func("/astrohistogram/late-interval", test_late_interval);
  g_test_add_func("/astrohistogram/stop", test_stop);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
