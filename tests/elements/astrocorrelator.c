/* Caps, settings and latency of astrocorrelator, and what it refuses. */
#include "tests/elements/astrocorrelator.h"
#include "tests/elements/setter.h"

/* A rate may be divided by more than an int holds if the fraction has ints again. */
static void test_long_integration(void)
{
  GstHarness *h = new_harness(3000000000);
  gst_harness_set_src_caps_str(h, SPECTRA("CI8") ",rate=1000000000/1");
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  gint n, d;
  g_assert_nonnull(caps);
  g_assert_true(gst_structure_get_fraction(gst_caps_get_structure(caps, 0), "rate", &n, &d));
  g_assert_cmpint(n, ==, 1);
  g_assert_cmpint(d, ==, 3);
  gst_harness_teardown(h);
}

static void test_full_triangle(void)
{
  guint8 stream[2 * SAMPLES];
  test_fill(stream, sizeof stream, 7);
  GstHarness *h = new_harness(1);
  gst_util_set_object_arg(G_OBJECT(h->element), "triangle", "full");
  g_object_set(h->element, "channel-step", 2, NULL);
  gst_harness_set_src_caps_str(h, SPECTRA("CI8"));
  gst_harness_push(h, part(stream, 0, 1));
  GstBuffer *buffer = gst_harness_pull(h);
  g_assert_cmpuint(gst_buffer_get_size(buffer), ==, 2 * 9 * 4 * 8);
  gst_buffer_unref(buffer);
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  g_autoptr(GstCaps) wanted = gst_caps_from_string(
      "application/x-astro-visibilities,format=CF32LE,layout=channel:baseline:pol:pol,baselines=9,"
      "channels=2,pols=2,triangle=full,counts=true");
  g_assert_true(gst_caps_is_equal(caps, wanted));
  gst_harness_teardown(h);
}

/* The full triangle of 6 stations has as many visibilities as the lower triangle of 8: elements
 * that take each pair once refuse it. */
static void test_readers_of_full_triangle(void)
{
  static const char *const readers[] = { "astrofitssink location=full-triangle.uvfits",
                                         "astrogridder size=8 cell=100 ! fakesink",
                                         "astrorender ! fakesink" };
  for (guint i = 0; i < G_N_ELEMENTS(readers); i++) {
    g_autofree char *line = g_strdup_printf(
        "astroskysrc stations=6 num-buffers=1 block-steps=4096 ! astrochannelizer channels=4 ! "
        "astrocorrelator triangle=full ! astroobserve array=disc ! %s",
        readers[i]);
    test_refused(line, "triangle=full, expected lower: each pair of stations once");
  }
}

/* Both must have the same bytes, at least one; frees them. */
static void assert_same(GByteArray *got[2])
{
  g_assert_cmpuint(got[0]->len, >, 0);
  g_assert_cmpmem(got[0]->data, got[0]->len, got[1]->data, got[1]->len);
  g_byte_array_unref(got[0]);
  g_byte_array_unref(got[1]);
}

/* Integrations averaged in twos are integrations twice as long. */
static void test_time_step(void)
{
  guint8 stream[20 * 2 * SAMPLES];
  GByteArray *got[2];
  test_fill(stream, sizeof stream, 11);
  for (guint i = 0; i < 2; i++) {
    GstHarness *h = new_harness(i ? 3 : 6);
    g_object_set(h->element, "time-step", i + 1, NULL);
    gst_harness_set_src_caps_str(h, SPECTRA("CI8"));
    gst_harness_push(h, part(stream, 0, 20));
    gst_harness_push_event(h, gst_event_new_eos());
    got[i] = test_pull_all(h);
    gst_harness_teardown(h);
  }
  assert_same(got);
}

/* Seconds become the nearest whole number of spectra, which a message gives, with the exact
 * length. */
static void test_integration_time(void)
{
  static const struct {
    double seconds;
    guint spectra, time_step;
  } cases[] = { { 0.06, 6, 1 }, { 0.0649, 6, 1 }, { 0.055001, 6, 1 }, { 0.031, 3, 2 } };
  guint8 stream[20 * 2 * SAMPLES];
  test_fill(stream, sizeof stream, 13);
  for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
    GByteArray *got[2];
    for (guint i = 0; i < 2; i++) {
      GstHarness *h = new_harness(i ? 1 : cases[c].spectra);
      g_autoptr(GstBus) bus = gst_bus_new();
      gst_element_set_bus(h->element, bus);
      g_object_set(h->element, "time-step", cases[c].time_step, "integration-time",
                   i ? cases[c].seconds : 0, NULL);
      gst_harness_set_src_caps_str(h, SPECTRA("CI8") ",rate=200/2");
      g_autoptr(GstMessage) told = gst_bus_pop_filtered(bus, GST_MESSAGE_ELEMENT);
      g_assert_cmpint(told != NULL, ==, i);
      if (told) {
        const GstStructure *s = gst_message_get_structure(told);
        guint spectra;
        double seconds;
        g_assert_true(gst_structure_get(s, "spectra", G_TYPE_UINT, &spectra, "seconds",
                                        G_TYPE_DOUBLE, &seconds, NULL));
        g_assert_cmpuint(spectra, ==, cases[c].spectra);
        g_assert_cmpfloat(seconds, ==, cases[c].spectra / 100.);
      }
      g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
      gint n, d;
      g_assert_true(gst_structure_get_fraction(gst_caps_get_structure(caps, 0), "rate", &n, &d));
      g_assert_cmpint(n * (gint)(cases[c].spectra * cases[c].time_step), ==, 100 * d);
      gst_harness_push(h, part(stream, 0, 20));
      gst_harness_push_event(h, gst_event_new_eos());
      got[i] = test_pull_all(h);
      gst_element_set_bus(h->element, NULL);
      gst_harness_teardown(h);
    }
    assert_same(got);
  }
}

/* Caps are those of one triangle or of the other, whatever another thread sets meanwhile. */
static void test_triangle_meanwhile(void)
{
  static const char *const triangles[] = { "lower", "full", NULL };
  g_autoptr(GstElement) element = gst_element_factory_make("astrocorrelator", NULL);
  gst_object_ref_sink(element);
  GstBaseTransform *trans = GST_BASE_TRANSFORM(element);
  g_autoptr(GstCaps) in =
      gst_caps_from_string("application/x-astro-spectra,format=CI8,stations=4,channels=2");
  TestSetter setter = { .object = element, .name = "triangle", .texts = triangles };
  test_setter_start(&setter);
  for (guint i = 0; i < 20000; i += TEST_STEP) {
    g_autoptr(GstCaps) out =
        GST_BASE_TRANSFORM_GET_CLASS(trans)->transform_caps(trans, GST_PAD_SINK, in, NULL);
    const GstStructure *s = gst_caps_get_structure(out, 0);
    gint baselines;
    g_assert_true(gst_structure_get_int(s, "baselines", &baselines));
    g_assert_cmpint(baselines, ==, gst_structure_has_field(s, "triangle") ? 16 : 10);
  }
  test_setter_stop(&setter);
}

/* Properties that are set in mid-stream wait for the next caps. */
static void test_late_properties(void)
{
  guint8 stream[20 * 2 * SAMPLES];
  GByteArray *got[2];
  test_fill(stream, sizeof stream, 12);
  for (guint i = 0; i < 2; i++) {
    GstHarness *h = new_harness(6);
    gst_harness_set_src_caps_str(h, SPECTRA("CI8"));
    gst_harness_push(h, part(stream, 0, 7));
    if (i)
      g_object_set(h->element, "integration", 0, "time-step", 3, "channel-step", 5, NULL);
    gst_harness_push(h, part(stream, 7, 13));
    gst_harness_push_event(h, gst_event_new_eos());
    got[i] = test_pull_all(h);
    gst_harness_teardown(h);
  }
  assert_same(got);
}

/* Upstream learns which order is best, and that others will do. */
static void test_upstream(void)
{
  GstHarness *h = new_harness(10);
  gst_harness_set_sink_caps_str(h, "application/x-astro-visibilities,format=CI32LE,baselines=6");
  g_autoptr(GstCaps) caps = gst_pad_peer_query_caps(h->srcpad, NULL);
  const GstStructure *first = gst_caps_get_structure(caps, 0);
  gint stations;
  g_assert_cmpstr(gst_structure_get_string(first, "layout"), ==, "channel:time:station:pol");
  g_assert_true(gst_structure_get_int(first, "stations", &stations));
  g_assert_cmpint(stations, ==, 3);
  g_autoptr(GstCaps) exact = gst_caps_from_string(SPECTRA("CI8"));
  g_autoptr(GstCaps) floats = gst_caps_from_string(SPECTRA("CF32LE"));
  g_autoptr(GstCaps) four =
      gst_caps_from_string("application/x-astro-spectra,format=CI8,stations=4");
  g_assert_true(gst_caps_can_intersect(caps, exact));
  g_assert_false(gst_caps_can_intersect(caps, floats));
  g_assert_false(gst_caps_can_intersect(caps, four));
  gst_harness_teardown(h);
}

/* A GPU prefers another order, which is listed first if a GPU surely does the work. */
static void test_upstream_of_device(void)
{
  GstHarness *h = new_harness(10);
  gst_util_set_object_arg(G_OBJECT(h->element), "backend", "cuda");
  g_autoptr(GstCaps) caps = gst_pad_peer_query_caps(h->srcpad, NULL);
  g_assert_cmpuint(gst_caps_get_size(caps), ==, 2);
  g_assert_cmpstr(gst_structure_get_string(gst_caps_get_structure(caps, 0), "layout"), ==,
                  "channel:station:pol:time");
  g_assert_false(gst_structure_has_field(gst_caps_get_structure(caps, 1), "layout"));
  gst_harness_teardown(h);
}

static void test_latency(void)
{
  GstHarness *h = new_harness(25);
  g_autoptr(GstBus) bus = gst_bus_new();
  gst_element_set_bus(h->element, bus);
  gst_harness_set_live(h, TRUE);
  gst_harness_set_upstream_latency(h, GST_MSECOND);
  gst_harness_set_src_caps_str(h, SPECTRA("CI8") ",rate=100/1");
  g_assert_cmpuint(gst_harness_query_latency(h), ==, 251 * GST_MSECOND);
  g_assert_true(test_tells_latency(bus));
  g_object_set(h->element, "integration", 50, NULL); /* for the next caps */
  g_assert_cmpuint(gst_harness_query_latency(h), ==, 251 * GST_MSECOND);
  gst_harness_set_src_caps_str(h, SPECTRA("CI8") ",rate=200/1");
  g_assert_cmpuint(gst_harness_query_latency(h), ==, 251 * GST_MSECOND);
  g_assert_false(test_tells_latency(bus));
  gst_harness_set_src_caps_str(h, SPECTRA("CI8") ",rate=100/1");
  g_assert_cmpuint(gst_harness_query_latency(h), ==, 501 * GST_MSECOND);
  g_assert_true(test_tells_latency(bus));
  gst_element_set_bus(h->element, NULL);
  gst_harness_teardown(h);
}

/* Errors say what is wrong. */
static void test_errors(void)
{
  static const struct {
    const char *caps, *properties, *sink, *word;
  } cases[] = {
    { "CI8,layout=time:station,stations=2", "integration=0", "", "integration is 0" },
    { "CI8,layout=time:station,stations=2,rate=9/1", "integration=0",
      "! application/x-astro-visibilities,rate=1/1", "integration is 0" },
    { "CI8,layout=time:station:pol,stations=2,pols=3", "", "", "3 polarisations" },
    { "CF64LE,layout=time:station,stations=2", "", "", "CF64LE" },
    { "CI8,layout=time:channel:station,stations=2,channels=6", "channel-step=4", "",
      "channel step" },
    { "CF32LE,layout=time:station,stations=2", "",
      "! application/x-astro-visibilities,format=CI32LE", "" },
    { "CI8,layout=time:station,stations=65536", "", "",
      "65536 stations make 2147516416 baselines, expected at most 2147483647" },
    { "CI8,layout=time:station,stations=2", "integration=-1", "",
      "property integration is -1, expected 1 to 4294967294 spectra" },
    { "CI8,layout=time:station,stations=2", "integration=1 time-step=-1", "",
      "property time-step is -1, expected 1 to 4294967294 integrations" },
    { "CI8,layout=time:station,stations=2", "integration=4000000000 channel-step=2", "",
      "integration=4000000000, time-step=1 and channel-step=2 sum 8000000000 samples in a "
      "visibility, expected a product of at most 4294967295" },
    { "CI8,layout=time:station,stations=2,channels=16", "", "", "of 16 channels, expected 1" },
    { "CI8,layout=time:station,stations=2,pols=2", "", "", "of 2 pols, expected 1" },
    { "CI8,layout=time:channel,channels=16,stations=2", "", "", "of 3 baselines, expected 1" },
    { "CI8,layout=time:station,stations=2,rate=1/1000", "integration=2000000000", "",
      "rate 1/1000 divided by an integration of 2000000000 spectra is 1/2000000000000, expected a "
      "fraction of whole numbers of at most 2147483647" },
    { "CI8,layout=time:station,stations=2", "integration-time=0.5", "",
      "property integration-time is 0.5 s, but the spectra's caps have no rate: "
      "expected field rate in the caps (spectra per second), or property integration (spectra)" },
    { "CI8,layout=time:station,stations=2,rate=100/1", "integration-time=0.004", "",
      "property integration-time is 0.004 s, less than half of one of the spectra at 100/1 a "
      "second: expected 0.01 to " },
    { "CI8,layout=time:station,stations=2,rate=1000000000/1", "integration-time=1e9", "",
      "property integration-time is 1000000000 s, too many spectra at 1000000000/1 a second" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *line =
        g_strdup_printf("fakesrc num-buffers=4 sizetype=fixed sizemax=4096 filltype=zero ! "
                        "application/x-astro-spectra,format=%s ! "
                        "astrocorrelator name=the-correlator backend=cpu %s %s ! fakesink",
                        cases[i].caps, cases[i].properties, cases[i].sink);
    test_refused(line, cases[i].word);
  }
}

/* A sum beyond the range of CI32LE stops the stream before anything wrong goes out. */
static void test_overflow(void)
{
  GstHarness *h = new_harness(65536);
  gst_harness_set_sink_caps_str(h, "application/x-astro-visibilities,format=CI32LE");
  gst_harness_set_src_caps_str(
      h, "application/x-astro-spectra,format=CI8,layout=time:station,stations=1");
  guint8 *data = g_malloc(2 * 65536);
  memset(data, 0x80, 2 * 65536);
  g_assert_cmpint(gst_harness_push(h, gst_buffer_new_wrapped(data, 2 * 65536)), ==, GST_FLOW_ERROR);
  g_assert_null(gst_harness_try_pull(h));
  gst_harness_teardown(h);
}

static void add_tests(void)
{
  g_test_add_func("/astrocorrelator/long-integration", test_long_integration);
  g_test_add_func("/astrocorrelator/full-triangle", test_full_triangle);
  g_test_add_func("/astrocorrelator/full-triangle/readers", test_readers_of_full_triangle);
  g_test_add_func("/astrocorrelator/time-step", test_time_step);
  g_test_add_func("/astrocorrelator/integration-time", test_integration_time);
  g_test_add_func("/astrocorrelator/triangle-meanwhile", test_triangle_meanwhile);
  g_test_add_func("/astrocorrelator/late-properties", test_late_properties);
  g_test_add_func("/astrocorrelator/upstream", test_upstream);
  g_test_add_func("/astrocorrelator/upstream/device", test_upstream_of_device);
  g_test_add_func("/astrocorrelator/latency", test_latency);
  g_test_add_func("/astrocorrelator/errors", test_errors);
  g_test_add_func("/astrocorrelator/overflow", test_overflow);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
