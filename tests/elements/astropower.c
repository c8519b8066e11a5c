/* Power of streams that are cut anywhere, broken or damaged, compared with the reference; its caps,
 * counts and times; and what is refused. */
#include "core/power/power.h"
#include "core/stream/observation.h"
#include "core/stream/validity.h"
#include "tests/elements/elements.h"

#include <math.h>

#define STATIONS 3
#define CHANNELS 4
#define SAMPLES (CHANNELS * STATIONS * 2) /* of a step */
#define FIELDS "stations=3,channels=4,pols=2"
#define SPECTRA "application/x-astro-spectra,format=CI8,layout=time:channel:station:pol," FIELDS

static GstHarness *new_harness(const char *products, guint integration)
{
  GstHarness *h = test_harness("astropower");
  g_object_set(h->element, "products", products, "integration", integration, NULL);
  return h;
}

static GstBuffer *part(const guint8 *stream, guint64 first, guint64 count)
{
  GstBuffer *buffer = gst_buffer_new_memdup(stream + first * 2 * SAMPLES, count * 2 * SAMPLES);
  GST_BUFFER_OFFSET(buffer) = first;
  GST_BUFFER_OFFSET_END(buffer) = first + count;
  return buffer;
}

/* The core's reference for some steps of a stream. */
static void reference(const char *products, gboolean sum, const guint8 *stream, guint64 first,
                      guint64 count, float *out)
{
  AstroPowerConfig config = {
    .stations = STATIONS,
    .pols = 2,
    .channels = CHANNELS,
    .from = ASTRO_FORMAT_CI8,
    .channel_step = 1,
    .sum_stations = sum,
    .layout = { .n_axes = 4,
                .axes = { ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL, ASTRO_AXIS_STATION, ASTRO_AXIS_POL },
                .extents = { 0, CHANNELS, STATIONS, 2 } },
  };
  g_autoptr(GError) error = NULL;
  guint32 counts[STATIONS * CHANNELS];
  astro_power_products_parse(&config.products, products, &error);
  g_assert_no_error(error);
  gpointer instance = astro_power_reference.create(&config, NULL, NULL, &error);
  g_assert_no_error(error);
  const AstroBlock in = { (gpointer)(stream + first * 2 * SAMPLES), count * 2 * SAMPLES };
  const AstroBlock block = { out, astro_power_output_bytes(&config) };
  const AstroPowerArguments arguments = { .steps = count, .integration = count };
  AstroResult result = { .counts = counts };
  astro_power_reference.submit(instance, &in, 1, &block, 1, &arguments, &result, &error);
  g_assert_no_error(error);
  astro_power_reference.destroy(instance);
}

static guint64 n_steps(GstBuffer *buffer)
{
  return GST_BUFFER_OFFSET_END(buffer) - GST_BUFFER_OFFSET(buffer);
}

/* All counts of step i are `count`, be it one for all or one for each. */
static void check_count(GstBuffer *buffer, guint64 i, guint32 count, guint32 full)
{
  const AstroValidityMeta *meta = astro_buffer_get_validity(buffer);
  g_assert_nonnull(meta);
  g_assert_cmpuint(meta->full, ==, full);
  const guint64 n = astro_validity_n_counts(meta), each = n / n_steps(buffer);
  for (guint64 k = 0; k < (n == 1 ? 1 : each); k++)
    g_assert_cmpuint(meta->counts[n == 1 ? 0 : i * each + k], ==, count);
}

/* Integrations end inside buffers, span several buffers, or several end in one; their times are
 * right, and the last is as long as the samples in it. */
static void test_integrations(void)
{
  static const guint integrations[] = { 1, 7, 50, 100 }, cuts[] = { 13, 1, 100, 50, 36 };
  guint8 stream[200 * 2 * SAMPLES];
  test_fill(stream, sizeof stream, 1);
  for (guint i = 0; i < G_N_ELEMENTS(integrations); i++) {
    const guint64 n = integrations[i];
    guint64 at = 0, k = 0;
    GstHarness *h = new_harness("XX:YY:XX-SQUARE", (guint)n);
    GstBuffer *buffer;
    gst_harness_set_src_caps_str(h, SPECTRA ",rate=1000/1,frequency=1e9,bandwidth=1e6");
    for (guint c = 0; c < G_N_ELEMENTS(cuts); at += cuts[c++])
      g_assert_cmpint(gst_harness_push(h, part(stream, at, cuts[c])), ==, GST_FLOW_OK);
    gst_harness_push_event(h, gst_event_new_eos());
    while ((buffer = gst_harness_try_pull(h))) {
      GstMapInfo map;
      g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
      g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, k);
      g_assert_cmpuint(GST_BUFFER_PTS(buffer), ==, k * n * GST_MSECOND);
      g_assert_cmpuint(map.size, ==, n_steps(buffer) * STATIONS * 3 * CHANNELS * sizeof(float));
      for (guint64 of = 0; of < n_steps(buffer); of++, k++) {
        const guint64 count = MIN(n, 200 - k * n);
        float expected[STATIONS * 3 * CHANNELS];
        reference("XX:YY:XX-SQUARE", FALSE, stream, k * n, count, expected);
        g_assert_cmpmem(map.data + of * sizeof expected, sizeof expected, expected,
                        sizeof expected);
        check_count(buffer, of, (guint32)count, (guint32)n);
        if (of + 1 == n_steps(buffer))
          g_assert_cmpuint(GST_BUFFER_PTS(buffer) + GST_BUFFER_DURATION(buffer), ==,
                           (k * n + count) * GST_MSECOND);
      }
      gst_buffer_unmap(buffer, &map);
      gst_buffer_unref(buffer);
    }
    g_assert_cmpuint(k, ==, (200 + n - 1) / n);
    g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
    g_autofree char *text = g_strdup_printf(
        "application/x-astro-power,format=F32LE,layout=time:station:pol:channel,stations=3,"
        "channels=4,pols=3,products=XX:YY:XX-SQUARE,rate=1000/%u,frequency=1e9,bandwidth=1e6,"
        "counts=true",
        (guint)n);
    g_autoptr(GstCaps) wanted = gst_caps_from_string(text);
    g_assert_true(gst_caps_is_equal(caps, wanted));
    gst_harness_teardown(h);
  }
}

/* Steps that never came: integrations hold what came, those with nothing are missing, and the next
 * one says so. */
static void test_jump(void)
{
  static const struct {
    guint64 number, steps, first, count;
    gboolean discont;
  } wanted[] = { { 0, 2, 4, 6, FALSE }, { 2, 1, 20, 4, TRUE }, { 5, 2, 57, 3, TRUE } };
  guint8 stream[100 * 2 * SAMPLES];
  test_fill(stream, sizeof stream, 2);
  GstHarness *h = new_harness("I", 10);
  gst_harness_set_src_caps_str(h, SPECTRA);
  gst_harness_push(h, part(stream, 4, 20)); /* begins inside an integration */
  gst_harness_push(h, part(stream, 57, 13));
  for (guint i = 0; i < G_N_ELEMENTS(wanted); i++) {
    GstBuffer *buffer = gst_harness_pull(h);
    float expected[STATIONS * CHANNELS];
    GstMapInfo map;
    g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, wanted[i].number);
    g_assert_cmpuint(n_steps(buffer), ==, wanted[i].steps);
    g_assert_cmpint(GST_BUFFER_IS_DISCONT(buffer), ==, wanted[i].discont);
    reference("I", FALSE, stream, wanted[i].first, wanted[i].count, expected);
    g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
    g_assert_cmpmem(map.data, sizeof expected, expected, sizeof expected);
    gst_buffer_unmap(buffer, &map);
    check_count(buffer, 0, (guint32)wanted[i].count, 10);
    gst_buffer_unref(buffer);
  }
  g_assert_null(gst_harness_try_pull(h));
  gst_harness_teardown(h);
}

/* A flush drops what was half made. */
static void test_flush(void)
{
  guint8 stream[20 * 2 * SAMPLES];
  float expected[STATIONS * CHANNELS];
  GstSegment segment;
  test_fill(stream, sizeof stream, 3);
  GstHarness *h = new_harness("I", 10);
  gst_harness_set_src_caps_str(h, SPECTRA);
  gst_harness_push(h, part(stream, 0, 6));
  gst_harness_push_event(h, gst_event_new_flush_start());
  gst_harness_push_event(h, gst_event_new_flush_stop(TRUE));
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(h, gst_event_new_segment(&segment));
  gst_harness_push(h, part(stream, 10, 10));
  g_autoptr(GstBuffer) buffer = gst_harness_pull(h);
  reference("I", FALSE, stream, 10, 10, expected);
  g_assert_cmpint(gst_buffer_memcmp(buffer, 0, expected, sizeof expected), ==, 0);
  gst_harness_teardown(h);
}

/* Samples of one polarisation are missing from one station: the incoherent beam goes on without
 * that station, with the same mean where all have the same power. */
static void test_incoherent(void)
{
  guint8 stream[10 * 2 * SAMPLES];
  memset(stream, 3, sizeof stream); /* 3 + 3i: 18 in both polarisations */
  GstHarness *h = new_harness("I", 10);
  gst_util_set_object_arg(G_OBJECT(h->element), "sum", "station");
  gst_harness_set_src_caps_str(h, SPECTRA ",counts=true");
  GstBuffer *in = part(stream, 0, 10);
  const AstroLayout shape = { 4,
                              { ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL, ASTRO_AXIS_STATION,
                                ASTRO_AXIS_POL },
                              { 10, CHANNELS, STATIONS, 2 } };
  AstroValidityMeta *meta = astro_buffer_add_validity(in, &shape, 5);
  meta->counts[((4 * CHANNELS + 2) * STATIONS + 1) * 2 + 1] = 4; /* not whole is not good */
  memset(meta->counts + (7 * CHANNELS + 3) * STATIONS * 2, 0, STATIONS * 2 * sizeof(guint32));
  for (guint i = 0; i < STATIONS * 2 * 2; i++) /* what is lost may be anything */
    gst_buffer_memset(in, ((7 * CHANNELS + 3) * STATIONS * 2) * 2 + i, 100, 1);
  gst_harness_push(h, in);
  g_autoptr(GstBuffer) buffer = gst_harness_pull(h);
  const float expected[CHANNELS] = { 18, 18, 18, 18 };
  const guint32 counts[CHANNELS] = { 30, 30, 29, 27 };
  g_assert_cmpint(gst_buffer_memcmp(buffer, 0, expected, sizeof expected), ==, 0);
  const AstroValidityMeta *found = astro_buffer_get_validity(buffer);
  g_assert_cmpuint(found->full, ==, 30);
  g_assert_cmpuint(astro_validity_n_counts(found), ==, CHANNELS);
  g_assert_cmpmem(found->counts, sizeof counts, counts, sizeof counts);
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  g_assert_cmpstr(gst_structure_get_string(gst_caps_get_structure(caps, 0), "layout"), ==,
                  "time:pol:channel");
  gst_harness_teardown(h);
}

/* GAP buffers are lost samples: alone they make integrations without any, of value 0. */
static void test_gap(void)
{
  guint8 stream[30 * 2 * SAMPLES];
  memset(stream, 1, sizeof stream);
  GstHarness *h = new_harness("I", 10);
  gst_harness_set_src_caps_str(h, SPECTRA);
  gst_harness_push(h, part(stream, 0, 5));
  GstBuffer *lost = part(stream, 5, 20);
  GST_BUFFER_FLAG_SET(lost, GST_BUFFER_FLAG_GAP);
  gst_harness_push(h, lost);
  gst_harness_push(h, part(stream, 25, 5));
  GstBuffer *two = gst_harness_pull(h), *one = gst_harness_pull(h);
  check_count(two, 0, 5, 10);
  check_count(two, 1, 0, 10);
  check_count(one, 0, 5, 10);
  float values[2 * STATIONS * CHANNELS];
  gst_buffer_extract(two, 0, values, sizeof values);
  g_assert_cmpfloat(values[0], ==, 2);
  g_assert_cmpfloat(values[STATIONS * CHANNELS], ==, 0);
  gst_buffer_unref(two);
  gst_buffer_unref(one);
  gst_harness_teardown(h);
}

/* Without settings, the power of each station is I of 1024 spectra. */
static void test_defaults(void)
{
  GstHarness *h = test_harness("astropower");
  g_autofree char *products = NULL;
  guint integration;
  g_object_get(h->element, "products", &products, "integration", &integration, NULL);
  g_assert_cmpstr(products, ==, "I");
  g_assert_cmpuint(integration, ==, 1024);
  gst_harness_teardown(h);
}

/* The names of the coherence follow the basis of the observation, which comes after the caps. */
static void test_coherence(void)
{
  static const char *const bases[][2] = { { "linear", "XX:YY:XY-RE:XY-IM" },
                                          { "circular", "RR:LL:RL-RE:RL-IM" } };
  for (guint i = 0; i < G_N_ELEMENTS(bases); i++) {
    guint8 stream[10 * 2 * SAMPLES];
    memset(stream, 1, sizeof stream);
    GstHarness *h = new_harness("coherence", 10);
    gst_harness_set_src_caps_str(h, SPECTRA);
    g_autoptr(AstroObservation) observation = astro_observation_new(STATIONS);
    g_free(observation->basis);
    observation->basis = g_strdup(bases[i][0]);
    gst_harness_push_event(h, astro_observation_to_event(observation));
    g_assert_cmpint(gst_harness_push(h, part(stream, 0, 10)), ==, GST_FLOW_OK);
    g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
    g_assert_cmpstr(gst_structure_get_string(gst_caps_get_structure(caps, 0), "products"), ==,
                    bases[i][1]);
    gst_harness_teardown(h);
  }
}

/* Beams take the place of stations, in the output too. */
static void test_beams(void)
{
  guint8 stream[10 * 2 * SAMPLES];
  test_fill(stream, sizeof stream, 5);
  GstHarness *h = new_harness("I", 10);
  gst_harness_set_src_caps_str(
      h, "application/x-astro-spectra,format=CI8,layout=time:channel:beam:pol,beams=3,"
         "channels=4,pols=2,counts=true");
  GstBuffer *in = part(stream, 0, 10);
  const AstroLayout shape = { 1, { ASTRO_AXIS_BEAM }, { 3 } };
  astro_buffer_add_validity(in, &shape, 1)->counts[1] = 0;
  gst_harness_push(h, in);
  g_autoptr(GstBuffer) buffer = gst_harness_pull(h);
  float expected[STATIONS * CHANNELS];
  reference("I", FALSE, stream, 0, 10, expected);
  memset(expected + CHANNELS, 0, CHANNELS * sizeof *expected);
  g_assert_cmpint(gst_buffer_memcmp(buffer, 0, expected, sizeof expected), ==, 0);
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  g_autoptr(GstCaps) wanted = gst_caps_from_string(
      "application/x-astro-power,layout=time:beam:pol:channel,beams=3,products=I");
  g_assert_true(gst_caps_can_intersect(caps, wanted));
  gst_harness_teardown(h);
}

/* A duration in seconds becomes the nearest number of spectra, and a message says which. */
static void test_integration_time(void)
{
  guint8 stream[30 * 2 * SAMPLES];
  memset(stream, 1, sizeof stream);
  GstHarness *h = new_harness("I", 1);
  g_autoptr(GstBus) bus = gst_bus_new();
  gst_element_set_bus(h->element, bus);
  g_object_set(h->element, "integration-time", 0.0148, NULL);
  gst_harness_set_src_caps_str(h, SPECTRA ",rate=1000/1");
  gst_harness_push(h, part(stream, 0, 30));
  g_autoptr(GstMessage) message = gst_bus_pop_filtered(bus, GST_MESSAGE_ELEMENT);
  guint spectra = 0;
  gst_structure_get_uint(gst_message_get_structure(message), "spectra", &spectra);
  g_assert_cmpuint(spectra, ==, 15);
  g_autoptr(GstBuffer) buffer = gst_harness_pull(h);
  g_assert_cmpuint(n_steps(buffer), ==, 2);
  gst_element_set_bus(h->element, NULL);
  gst_harness_teardown(h);
}

#define SKY "astroskysrc stations=2 duration=0.01 ! astrochannelizer channels=64 ! "
#define RAW "fakesrc num-buffers=1 sizetype=fixed sizemax=4800 filltype=zero ! " SPECTRA " ! "

static void test_refusals(void)
{
  static const struct {
    const char *line, *says;
  } cases[] = {
    { SKY "astropower products=XX:ZZ ! fakesink", "there is no product \"ZZ\"" },
    { SKY "astropower products=RR:LL ! fakesink", "basis is linear: expected products XX:YY" },
    { SKY "astropower products=I:Q:U:V:XX square=true ! fakesink", "at most eight" },
    { SKY "astropower channel-step=3 ! fakesink", "a channel step of 3 does not divide 64" },
    { SKY "astropower integration=0 ! fakesink", "integration is 0, expected 1" },
    { SKY "astropower integration=70000 channel-step=64 sum=station integration=100000000 ! "
          "fakesink",
      "expected at most 4294967295" },
    { RAW "astropower products=I:Q ! fakesink", "the stream has no observation" },
    { RAW "astropower products=coherence ! fakesink", "the stream has no observation" },
    { RAW "astropower integration-time=1 ! fakesink", "have no rate" },
    { "astroskysrc stations=2 pols=1 duration=0.01 ! astrochannelizer channels=64 ! "
      "astropower products=I:Q ! fakesink",
      "product Q needs two polarisations" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    test_refused_by(cases[i].line, "astropower", cases[i].says);
}

/* A thousand starts and stops, with a stream that ends in mid-integration each time. */
static void test_cycles(void)
{
  g_autoptr(GstElement) pipeline =
      gst_parse_launch("fakesrc num-buffers=3 sizetype=fixed sizemax=4800 filltype=zero ! " SPECTRA
                       " ! astropower integration=77 ! fakesink sync=false",
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
  g_test_add_func("/astropower/integrations", test_integrations);
  g_test_add_func("/astropower/jump", test_jump);
  g_test_add_func("/astropower/flush", test_flush);
  g_test_add_func("/astropower/incoherent", test_incoherent);
  g_test_add_func("/astropower/gap", test_gap);
  g_test_add_func("/astropower/defaults", test_defaults);
  g_test_add_func("/astropower/coherence", test_coherence);
  g_test_add_func("/astropower/beams", test_beams);
  g_test_add_func("/astropower/integration-time", test_integration_time);
  g_test_add_func("/astropower/refused", test_refusals);
  g_test_add_func("/astropower/cycles", test_cycles);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
