/* Images whose size and pixels follow from the data, and streams from which they do not. */
#include "tests/elements/astrogridder.h"
#include "tests/elements/running.h"

#include "core/kit/units.h"

/* The size and the pixel (arcsec) that were agreed on; 0: nothing was. */
static guint agreed(GstHarness *h, double *pixel)
{
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  AstroGrid grid;
  if (!caps)
    return 0;
  g_assert_true(astro_grid_from_caps(&grid, caps, NULL));
  *pixel = grid.pixel * ASTRO_DEGREES * 3600;
  astro_grid_clear(&grid);
  return grid.image_size;
}

/* Stations within 850 m at 151.5 MHz: a beam of 480 arcsec or more, whatever is left out. */
static void test_filled(void)
{
  static const struct {
    const char *settings;
    guint size;
    double pixel;
  } cases[] = {
    { "size=0 cell=0", 1024, 0 },
    { "size=128 cell=0", 128, 0 },
    { "size=0 cell=30", 1024, 30 },
    { "size=0 cell=0 field-of-view=2", 0, 0 },
    { "size=64 cell=0 field-of-view=2", 64, 112.5 },
  };
  g_autofree complex float *all = test_predict(0.01, 0.02);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    TestRig rig;
    double pixel;
    test_rig_open(&rig, cases[i].settings, NULL);
    test_rig_run(&rig, all, TRUE);
    const guint size = agreed(rig.h, &pixel);
    g_test_message("%s: %u pixels of %g arcsec", cases[i].settings, size, pixel);
    if (cases[i].size)
      g_assert_cmpuint(size, ==, cases[i].size);
    if (cases[i].pixel > 0)
      g_assert_cmpfloat_with_epsilon(pixel, cases[i].pixel, 1e-6);
    else
      g_assert_true(pixel > 100 && pixel < 250);
    if (!cases[i].size) {
      g_assert_cmpfloat_with_epsilon(size * pixel, 2 * 3600, 1e-3);
      g_assert_cmpuint(size % 8, ==, 0);
    }
    g_autoptr(GstBuffer) grid = gst_harness_pull(rig.h);
    g_assert_cmpuint(astro_buffer_get_grid(grid)->outside, ==, 0);
    test_rig_close(&rig);
  }
}

/* If the size does not fit pixels derived from the stations, or there are too many, the error says
 * what would fit. */
static void test_too_large(void)
{
  static const struct {
    const char *settings, *says;
  } cases[] = {
    { "size=100000 cell=0", "with a size of 100000 pixels of " },
    { "size=100000 cell=0 algorithm=wprojection", "with a size of 100000 pixels of " },
    { "size=100000 cell=0 algorithm=direct", "with a size of 100000 pixels of " },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    const char *most;
    guint size;
    TestRig rig;
    test_rig_open(&rig, cases[i].settings, NULL);
    test_rig_start(&rig, TRUE);
    g_autoptr(GstMessage) message = gst_bus_pop_filtered(rig.bus, GST_MESSAGE_ERROR);
    g_autoptr(GError) error = NULL;
    g_assert_nonnull(message);
    gst_message_parse_error(message, &error, NULL);
    g_test_message("%s: %s", cases[i].settings, error->message);
    test_says(error->message, cases[i].says);
    g_assert_nonnull(most = strstr(error->message, "a size of at most "));
    g_assert_cmpint(sscanf(most, "a size of at most %u", &size), ==, 1);
    g_assert_cmpuint(size, >, 256);
    g_assert_cmpuint(size, <, 2048);
    test_rig_close(&rig);
  }
}

/* Caps wait for the stations, and everything behind them waits in order; a flush in between drops
 * the rest but not the caps. */
static void test_order(void)
{
  g_autofree complex float *all = test_predict(0.01, 0.02);
  for (guint flushed = 0; flushed < 2; flushed++) {
    g_autoptr(AstroObservation) observation = test_rig_observation();
    static const GstEventType expected[] = { GST_EVENT_CAPS, GST_EVENT_SEGMENT, GST_EVENT_TAG,
                                             GST_EVENT_CUSTOM_DOWNSTREAM_STICKY };
    GstEvent *event;
    GstSegment segment;
    double pixel;
    TestRig rig;
    guint n = 0;
    test_rig_open(&rig, "cell=0 size=64", NULL);
    gst_harness_set_src_caps_str(rig.h, TEST_VISIBILITIES);
    g_assert_cmpuint(agreed(rig.h, &pixel), ==, 0);
    if (flushed) {
      g_assert_true(gst_harness_push_event(rig.h, gst_event_new_flush_start()));
      g_assert_true(gst_harness_push_event(rig.h, gst_event_new_flush_stop(TRUE)));
      gst_segment_init(&segment, GST_FORMAT_TIME);
      g_assert_true(gst_harness_push_event(rig.h, gst_event_new_segment(&segment)));
    }
    g_assert_true(gst_harness_push_event(
        rig.h, gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "a", NULL))));
    g_assert_true(gst_harness_push_event(rig.h, astro_observation_to_event(observation)));
    g_assert_cmpuint(agreed(rig.h, &pixel), ==, 64);
    while ((event = gst_harness_try_pull_event(rig.h))) {
      const GstEventType type = GST_EVENT_TYPE(event);
      const gboolean is_serialized = GST_EVENT_IS_SERIALIZED(event);
      gst_event_unref(event);
      if (type == GST_EVENT_STREAM_START || !is_serialized || type == GST_EVENT_FLUSH_STOP ||
          n == G_N_ELEMENTS(expected))
        continue;
      g_assert_cmpint(type, ==, expected[n]);
      n++;
    }
    g_assert_cmpuint(n, ==, G_N_ELEMENTS(expected));
    g_assert_cmpint(gst_harness_push(rig.h, test_dumps(all, 0, TEST_DUMPS)), ==, GST_FLOW_OK);
    g_assert_true(gst_harness_push_event(rig.h, gst_event_new_eos()));
    gst_buffer_unref(gst_harness_pull(rig.h));
    test_rig_close(&rig);
  }
}

/* The image of another array has another size from its first dump on; that of the same array
 * stays. */
static void test_next_array(void)
{
  g_autoptr(AstroObservation) near = test_rig_observation(), far = test_rig_observation();
  g_autofree complex float *all = test_predict(0.01, 0.02);
  double pixels[3];
  TestRig rig;
  for (guint i = 0; i < TEST_STATIONS; i++)
    for (guint k = 0; k < 3; k++)
      far->positions[3 * i + k] += 4 * (far->positions[3 * i + k] - near->positions[k]);
  test_rig_open(&rig, "cell=0 size=64 interval=1", NULL);
  test_rig_start(&rig, TRUE);
  for (guint d = 0; d < 3; d++) {
    if (d == 1)
      gst_harness_push_event(rig.h, astro_observation_to_event(near));
    if (d == 2)
      gst_harness_push_event(rig.h, astro_observation_to_event(far));
    g_assert_cmpint(gst_harness_push(rig.h, test_dumps(all, d, 1)), ==, GST_FLOW_OK);
    agreed(rig.h, &pixels[d]);
  }
  g_assert_cmpfloat(pixels[1], ==, pixels[0]);
  g_assert_cmpfloat(pixels[2], <, pixels[0] / 4);
  test_rig_close(&rig);
}

/* If nothing gives the size, an error says what is missing, at the first dump or at the end. */
static void test_unknown(void)
{
  static const struct {
    const char *settings, *caps, *says;
    gboolean observed, apart;
    guint n;
  } cases[] = {
    { "cell=0", TEST_VISIBILITIES,
      "property cell is 0 (from the stations), and the stream has no observation", FALSE, TRUE, 1 },
    { "cell=0", TEST_VISIBILITIES, "expected a cell in arcsec, or astroobserve", FALSE, TRUE, 0 },
    { "size=0", TEST_VISIBILITIES, "property size is 0 (from the stations)", FALSE, TRUE, 1 },
    { "size=0",
      "application/x-astro-visibilities,format=CF32LE,layout=channel:baseline:pol:pol,channels=3,"
      "baselines=28,pols=2,rate=1/600",
      "the caps have no frequency: expected a size in pixels", TRUE, TRUE, 0 },
    { "cell=0", TEST_VISIBILITIES, "no two of the 7 stations are apart", TRUE, FALSE, 0 },
  };
  g_autofree complex float *all = test_predict(0, 0);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(AstroObservation) observation = test_rig_observation();
    g_autoptr(GError) error = NULL;
    TestRig rig;
    if (!cases[i].apart)
      memset(observation->positions, 0, 3 * TEST_STATIONS * sizeof(double));
    test_rig_open(&rig, cases[i].settings, NULL);
    gst_harness_set_src_caps_str(rig.h, cases[i].caps);
    if (cases[i].observed)
      gst_harness_push_event(rig.h, astro_observation_to_event(observation));
    if (cases[i].n)
      g_assert_cmpint(gst_harness_push(rig.h, test_dumps(all, 0, 1)), ==, GST_FLOW_ERROR);
    gst_harness_push_event(rig.h, gst_event_new_eos());
    g_autoptr(GstMessage) message = gst_bus_pop_filtered(rig.bus, GST_MESSAGE_ERROR);
    g_assert_nonnull(message);
    gst_message_parse_error(message, &error, NULL);
    g_test_message("%s", error->message);
    test_says(error->message, cases[i].says);
    test_rig_close(&rig);
  }
}

/* From any source to an image, with nothing set. */
static void test_chain(void)
{
  g_autofree char *error = test_launch("astrovissrc stations=9 num-buffers=2 ! astrogridder ! "
                                       "astrofft ! astroimage ! astroclean ! fakesink");
  g_assert_cmpstr(error, ==, NULL);
  test_stop_soon("astrovissrc stations=9 is-live=true ! queue ! astrogridder interval=1 ! astrofft "
                 "! astroimage",
                 10000);
}

static void add_tests(void)
{
  static const TestNamed tests[] = {
    { "filled", test_filled },   { "order", test_order },         { "next-array", test_next_array },
    { "unknown", test_unknown }, { "too-large", test_too_large },
  };
  test_add_on_backends(tests, G_N_ELEMENTS(tests));
  g_test_add_func("/astrogridder/auto-chain", test_chain);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
