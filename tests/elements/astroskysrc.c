/* The source in pipelines: caps, times, the observation, the end, repetition, live, and errors. */
#include "core/lib/sky/voltages.h"
#include "tests/elements/pulled.h"
#include "tests/elements/running.h"
#include "tests/elements/setter.h"
#include "tests/observe.h"
#include "tests/peak.h"
#include <glib/gstdio.h>
#include <unistd.h>

/* Blocks follow one another without gaps, hold what the core makes, and the last is cut to length.
 */
static void test_stream(void)
{
  TestPulled r = test_pulled_run(
      "astroskysrc stations=3 pols=1 array=vla-like bandwidth=3000 frequency=1e8 noise=2 seed=5 "
      "sky=0.1,0.2,1 block-steps=700 duration=1",
      "application/x-astro-voltages,format=CI16LE,layout=station:pol:time");
  g_autoptr(AstroObservation) observation = test_observe("vla-like", 3);
  g_autoptr(AstroSky) sky = astro_sky_new("0.1,0.2,1", NULL);
  AstroVoltagesConfig config = {
    .observation = observation,
    .sky = sky,
    .noise = 2,
    .seed = 5,
    .stream = { 0 },
  };
  g_autoptr(AstroVoltages) voltages = NULL;
  guint64 next = 0;
  GstBuffer *buffer;
  while ((buffer = test_pull(&r))) {
    guint64 steps = MIN(700, 3000 - next);
    if (!voltages) {
      g_autoptr(GstPad) pad = gst_element_get_static_pad(r.sink, "sink");
      g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
      g_assert_true(astro_stream_from_caps(&config.stream, caps, NULL));
      g_assert_cmpint(config.stream.rate_n, ==, 3000);
      g_assert_cmpfloat(config.stream.frequency, ==, 1e8);
      g_assert_cmpfloat(config.stream.bandwidth, ==, 3000);
      voltages = astro_voltages_new(&config, NULL);
      g_assert_nonnull(voltages);
    }
    g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, next);
    g_assert_cmpuint(GST_BUFFER_OFFSET_END(buffer), ==, next + steps);
    g_assert_cmpuint(GST_BUFFER_PTS(buffer), ==, gst_util_uint64_scale(next, GST_SECOND, 3000));
    g_assert_cmpuint(GST_BUFFER_PTS(buffer) + GST_BUFFER_DURATION(buffer), ==,
                     gst_util_uint64_scale(next + steps, GST_SECOND, 3000));
    g_assert_true(GST_BUFFER_IS_DISCONT(buffer) == (next == 0));
    gint16 wanted[3 * 700 * 2];
    astro_voltages_fill(voltages, next, steps, wanted);
    g_assert_cmpuint(gst_buffer_get_size(buffer), ==, steps * 12);
    g_assert_cmpint(gst_buffer_memcmp(buffer, 0, wanted, steps * 12), ==, 0);
    gst_buffer_unref(buffer);
    next += steps;
  }
  g_assert_cmpuint(next, ==, 3000);
  test_pulled_end(&r);
}

static void test_observation(void)
{
  TestPulled r = test_pulled_run(
      "astroskysrc stations=4 latitude=50 longitude=6 phase-centre=\"207.5, 50.25\" "
      "start-time=2026-11-20T06:30:00.5 num-buffers=1 block-steps=10",
      "application/x-astro-voltages");
  gst_buffer_unref(test_pull(&r));
  g_autoptr(GstPad) pad = gst_element_get_static_pad(r.sink, "sink");
  g_autoptr(GstEvent) event = gst_pad_get_sticky_event(pad, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, 0);
  g_assert_nonnull(event);
  g_autoptr(AstroObservation) observation = astro_observation_from_event(event, NULL);
  g_assert_nonnull(observation);
  g_autofree char *start = astro_observation_get_start(observation);
  g_assert_cmpstr(start, ==, "2026-11-20T06:30:00.500000000Z");
  g_assert_cmpuint(observation->n_stations, ==, 4);
  g_assert_cmpfloat_with_epsilon(observation->phase_ra, 207.5 * G_PI / 180, 1e-12);
  g_assert_cmpfloat_with_epsilon(observation->phase_dec, 50.25 * G_PI / 180, 1e-12);
  g_assert_cmpfloat(observation->positions[2], >, 4.8e6);
  test_pulled_end(&r);
}

/* All formats and layouts that downstream may ask for: the first that it lists is chosen, complex
 * before real, or a default if it lists none. */
static void test_caps(void)
{
  static const char *const cases[][3] = {
    { "application/x-astro-voltages", "CI8", "time:station:pol" },
    { "application/x-astro-voltages,format={CF32LE,CI8}", "CF32LE", "time:station:pol" },
    { "application/x-astro-voltages,format=CI4,layout={station:time:pol,time:station:pol}", "CI4",
      "station:time:pol" },
    { "application/x-astro-voltages,format=CI16LE,layout=station:pol:time", "CI16LE",
      "station:pol:time" },
    { "application/x-astro-voltages,format=I8", "I8", "time:station:pol" },
    { "application/x-astro-voltages,format={F32LE,I8},layout=station:pol:time", "F32LE",
      "station:pol:time" },
    { "application/x-astro-voltages,format={F32LE,CF32LE}", "CF32LE", "time:station:pol" },
    { "application/x-astro-voltages,rate=2000000/1", "I8", "time:station:pol" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *caps = g_strdup(cases[i][0]);
    TestPulled r = test_pulled_run("astroskysrc stations=5 num-buffers=2 block-steps=100", caps);
    GstBuffer *buffer = test_pull(&r);
    g_assert_nonnull(buffer);
    g_autoptr(GstPad) pad = gst_element_get_static_pad(r.sink, "sink");
    g_autoptr(GstCaps) agreed = gst_pad_get_current_caps(pad);
    const GstStructure *s = gst_caps_get_structure(agreed, 0);
    g_assert_cmpstr(gst_structure_get_string(s, "format"), ==, cases[i][1]);
    g_assert_cmpstr(gst_structure_get_string(s, "layout"), ==, cases[i][2]);
    AstroStream stream;
    g_assert_true(astro_stream_from_caps(&stream, agreed, NULL));
    g_assert_cmpint(stream.rate_n, ==, cases[i][1][0] == 'C' ? 1000000 : 2000000);
    g_assert_cmpuint(GST_BUFFER_DURATION(buffer), ==, 100 * GST_SECOND / (guint64)stream.rate_n);
    g_assert_cmpuint(gst_buffer_get_size(buffer), ==, 100 * astro_stream_step_bytes(&stream));
    gst_buffer_unref(buffer);
    test_pulled_end(&r);
  }
}

static void test_duration(void)
{
  static const struct {
    const char *properties, *format;
    gint64 expected; /* -1: no answer */
  } cases[] = {
    { "duration=2.5", "CI8", 2500 * GST_MSECOND },
    { "duration=2.5", "I8", 2500 * GST_MSECOND },
    { "num-buffers=3 block-steps=500", "CI8", 1500 * GST_MSECOND },
    { "num-buffers=3 block-steps=500", "F32LE", 750 * GST_MSECOND },
    { "num-buffers=30 block-steps=500 duration=2", "CI8", 2000 * GST_MSECOND },
    { "block-steps=100", "CI8", -1 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *source =
        g_strdup_printf("astroskysrc stations=2 bandwidth=1000 %s", cases[i].properties);
    g_autofree char *caps =
        g_strconcat("application/x-astro-voltages,format=", cases[i].format, NULL);
    TestPulled r = test_pulled_run(source, caps);
    test_pulled_duration(&r, cases[i].expected);
    test_pulled_end(&r);
  }
}

static GstPadProbeReturn agree_again(GstPad *pad, GstPadProbeInfo *info, gpointer memories)
{
  g_ptr_array_add(memories,
                  gst_memory_ref(gst_buffer_peek_memory(GST_PAD_PROBE_INFO_BUFFER(info), 0)));
  gst_pad_mark_reconfigure(pad);
  return GST_PAD_PROBE_OK;
}

/* An element that is linked in mid-stream does not make the source prepare all blocks again. */
static void test_repeat_goes_on(void)
{
  g_autoptr(GPtrArray) memories = g_ptr_array_new_with_free_func((GDestroyNotify)gst_memory_unref);
  GstElement *pipeline = gst_parse_launch("astroskysrc name=src stations=2 repeat=2 block-steps=64 "
                                          "num-buffers=6 ! fakesink",
                                          NULL);
  g_autoptr(GstElement) source = gst_bin_get_by_name(GST_BIN(pipeline), "src");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(source, "src");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, agree_again, memories, NULL);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_autofree char *failed = test_wait(pipeline);
  g_assert_cmpstr(failed, ==, NULL);
  test_stop(pipeline);
  g_assert_cmpuint(memories->len, ==, 6);
  for (guint i = 2; i < memories->len; i++)
    g_assert_true(memories->pdata[i] == memories->pdata[i - 2]);
}

/* Blocks are repeated with the times of their place, without new memory. */
static void test_repeat(void)
{
  TestPulled r = test_pulled_run(
      "astroskysrc name=src stations=2 bandwidth=1000 repeat=3 block-steps=64 duration=0.5",
      "application/x-astro-voltages");
  GstBuffer *buffers[8];
  GstMemory *memories[8];
  for (guint i = 0; i < 8; i++) {
    buffers[i] = test_pull(&r);
    g_assert_nonnull(buffers[i]);
    if (i == 0) { /* what is set now is for the next start */
      g_autoptr(GstElement) source = gst_bin_get_by_name(GST_BIN(r.pipeline), "src");
      g_object_set(source, "repeat", 0, NULL);
    }
    g_assert_cmpuint(GST_BUFFER_OFFSET(buffers[i]), ==, i * 64);
    g_assert_cmpuint(gst_buffer_get_size(buffers[i]), ==, i < 7 ? 64 * 8 : (500 - 7 * 64) * 8);
    memories[i] = gst_buffer_peek_memory(buffers[i], 0);
    if (i >= 3 && i < 7)
      g_assert_true(memories[i] == memories[i - 3]);
  }
  g_assert_true(memories[0] != memories[1] && memories[1] != memories[2]);
  for (guint i = 0; i < 8; i++)
    gst_buffer_unref(buffers[i]);
  g_assert_null(test_pull(&r));
  test_pulled_end(&r);
}

/* The part of a block that the end leaves has samples of every input, in any layout. */
static void test_repeat_ends_within(void)
{
  static const guint steps = 12, block = 8, inputs = 6;
  TestPulled r = test_pulled_run(
      "astroskysrc pattern=ramp stations=3 bandwidth=1000 repeat=1 block-steps=8 duration=0.012",
      "application/x-astro-voltages,format=CI8,layout=station:pol:time");
  for (guint first = 0; first < steps; first += block) {
    const guint n = MIN(block, steps - first);
    GstBuffer *buffer = test_pull(&r);
    GstMapInfo map;
    g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
    g_assert_cmpuint(map.size, ==, inputs * n * 2);
    for (guint i = 0; i < inputs * n; i++) {
      g_assert_cmpint(((gint8 *)map.data)[2 * i], ==, i % n);
      g_assert_cmpint(((gint8 *)map.data)[2 * i + 1], ==, i / n);
    }
    gst_buffer_unmap(buffer, &map);
    gst_buffer_unref(buffer);
  }
  g_assert_null(test_pull(&r));
  test_pulled_end(&r);
}

/* Its 4 GiB are not all made before the pipeline stops. */
static void test_stopped_while_preparing(void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GstElement) pipeline =
      gst_parse_launch("astroskysrc pattern=noise noise=1 stations=16 pols=2 block-steps=1024 "
                       "repeat=65536 ! fakesink",
                       &error);
  g_assert_no_error(error);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_usleep(1000);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  g_assert_cmpuint(peak_status("VmHWM:"), <, G_GUINT64_CONSTANT(2) << 30);
}

#define ONE_SKY "0.01,0.02,1;0.03,0.04,2"
#define OTHER_SKY "0.05,0.06,3;0.07,0.08,4;0.09,0.1,5"

/* A text that one thread gets is not freed when another thread sets it. */
static void test_set_meanwhile(void)
{
  static const char *const skies[] = { ONE_SKY, OTHER_SKY, NULL };
  g_autoptr(GstElement) source = gst_object_ref_sink(gst_element_factory_make("astroskysrc", NULL));
  TestSetter setter = { .object = source, .name = "sky", .texts = skies };
  test_setter_start(&setter);
  for (guint i = 0; i < 100000; i += TEST_STEP) {
    g_autofree char *sky = NULL;
    g_object_get(source, "sky", &sky, NULL);
    if (!g_str_equal(sky, ONE_SKY))
      g_assert_cmpstr(sky, ==, OTHER_SKY);
  }
  test_setter_stop(&setter);
}

static gint asked_enough;

static gpointer ask_for_caps(gpointer pad)
{
  while (!g_atomic_int_get(&asked_enough)) {
    g_autoptr(GstCaps) caps = gst_pad_query_caps(pad, NULL);
    gint stations;
    if (gst_structure_get_int(gst_caps_get_structure(caps, 0), "stations", &stations))
      g_assert_cmpint(stations, ==, 9);
  }
  return NULL;
}

/* Any thread may ask, even while the source starts or stops. */
static void test_asked_meanwhile(void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GstElement) pipeline =
      gst_parse_launch("astroskysrc name=source stations=9 ! fakesink", &error);
  g_assert_no_error(error);
  g_autoptr(GstPad) pad = peak_pad(pipeline, "source");
  asked_enough = FALSE;
  GThread *thread = g_thread_new("asks", ask_for_caps, pad);
  for (guint i = 0; i < 300; i++) {
    gst_element_set_state(pipeline, GST_STATE_PAUSED);
    gst_element_set_state(pipeline, GST_STATE_READY);
  }
  g_atomic_int_set(&asked_enough, TRUE);
  g_thread_join(thread);
  gst_element_set_state(pipeline, GST_STATE_NULL);
}

/* Live: a block comes when the clock says that its last sample was taken. */
static void test_live(void)
{
  TestPulled r = test_pulled_run(
      "astroskysrc name=src is-live=true stations=2 bandwidth=10000 block-steps=500 num-buffers=4",
      "application/x-astro-voltages");
  test_pulled_live(&r, 4, 50 * GST_MSECOND);
  gboolean live = FALSE;
  GstClockTime min = 0;
  GstQuery *query = gst_query_new_latency();
  GstElement *source = gst_bin_get_by_name(GST_BIN(r.pipeline), "src");
  g_assert_true(gst_element_query(source, query));
  gst_query_parse_latency(query, &live, &min, NULL);
  g_assert_true(live);
  g_assert_cmpuint(min, ==, 50 * GST_MSECOND);
  gst_query_unref(query);
  gst_object_unref(source);
  test_pulled_end(&r);
}

static void test_live_times(void)
{
  test_pulled_live_times(
      "astroskysrc is-live=true stations=2 bandwidth=10000 block-steps=500 num-buffers=4",
      "application/x-astro-voltages", 4, 50 * GST_MSECOND);
}

static void test_live_woken(void)
{
  test_pulled_live_woken(
      "astroskysrc name=src is-live=true stations=2 bandwidth=1000 block-steps=50");
}

static void test_live_flushed(void)
{
  test_pulled_live_flushed(
      "astroskysrc name=src is-live=true stations=2 bandwidth=1000 block-steps=50");
}

static void test_again(void)
{
  GstElement *source = gst_element_factory_make("astroskysrc", NULL);
  double scale;
  guint stations;
  g_object_set(source, "stations", 7, "noise", 50.0, "sky", "", NULL);
  g_object_get(source, "stations", &stations, "active-scale", &scale, NULL);
  g_assert_cmpuint(stations, ==, 7);
  g_assert_cmpfloat(scale, ==, 0);
  GstHarness *h = gst_harness_new_with_element(source, NULL, "src");
  gst_harness_set_sink_caps_str(h, "application/x-astro-voltages,format=CI8");
  for (guint i = 0; i < 2; i++) {
    gst_harness_play(h);
    GstBuffer *buffer = gst_harness_pull(h);
    g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, 0);
    gst_buffer_unref(buffer);
    g_object_get(source, "active-scale", &scale, NULL);
    g_assert_cmpfloat_with_epsilon(scale, 32 / 5.0, 1e-9);
    gst_element_set_state(source, GST_STATE_NULL);
    while ((buffer = gst_harness_try_pull(h)))
      gst_buffer_unref(buffer);
  }
  gst_harness_teardown(h);
  gst_object_unref(source);
}

/* The highest value that the error names is accepted, as is one that is not whole. */
static void test_bandwidths(void)
{
  static const char *const bandwidths[] = { "2147483647", "537199714.75010931", "0.001" };
  for (guint i = 0; i < G_N_ELEMENTS(bandwidths); i++) {
    g_autofree char *line = g_strdup_printf("astroskysrc pattern=noise stations=1 block-steps=64 "
                                            "num-buffers=1 bandwidth=%s ! fakesink",
                                            bandwidths[i]);
    g_autofree char *error = test_launch(line);
    g_assert_cmpstr(error, ==, NULL);
  }
}

static void test_errors(void)
{
  static const char *const cases[][2] = {
    { "sky=1,0,1", "must be below 1" },
    { "sky=nowhere", "neither a file nor a list" },
    { "array=nowhere", "neither a file nor one of disc" },
    { "latitude=5", "longitude is not" },
    { "phase-centre=12h", "expected \"ra,dec\" in degrees" },
    { "start-time=yesterday", "yesterday" },
    { "bandwidth=5e9", "bandwidth=5000000000: expected at most 2147483647 Hz" },
    { "bandwidth=2147483648 frequency=1e13", "expected at most 2147483647 Hz" },
    { "pols=3", "pols=3: expected 1 or 2" },
    { "pols=-1", "pols=4294967295: expected 1 or 2" },
    { "frequency=1e5",
      "the band must not begin below 0 Hz: a bandwidth of 1000000 Hz around a frequency of 100000 "
      "Hz, expected a bandwidth of at most 200000 Hz" },
    { "frequency=0", "or a frequency of at least 500000 Hz" },
    { "pattern=tone tone=2e8", "tone=2e+08: expected a frequency within" },
    { "sky=0.5,0,1 bandwidth=1000 block-steps=86400000", "below the horizon of disc" },
    { "phase-centre=0,89", "below the horizon of disc 0 s" },
    { "bandwidth=10 array=lofar-like stations=2", "needs a bandwidth above 20.37 Hz, found 10" },
    { "pattern=noise noise=1 stations=64 pols=2 block-steps=262144 repeat=65536",
      "need 4398.0 GB, and this machine has" },
    { "! application/x-astro-voltages,format=CF16LE", "can't handle caps" },
    { "bandwidth=2147483647 ! application/x-astro-voltages,format=I8", "downstream takes none" },
    { "bandwidth=10 array=lofar-like stations=2 ! application/x-astro-voltages,format=I8",
      "needs a bandwidth above 10.18 Hz, found 10" },
    { "stations=3 ! application/x-astro-voltages,stations=4", "downstream takes none" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *line = g_strdup_printf("astroskysrc num-buffers=1 %s ! fakesink", cases[i][0]);
    test_refused(line, cases[i][1]);
  }
  test_refused("astroskysrc sky=0.5,0,1 duration=86400 ! fakesink", "below the horizon of disc");
  g_autofree char *ends_before =
      test_launch("astroskysrc sky=0.5,0,1 duration=86400 num-buffers=1 block-steps=9 ! fakesink");
  g_assert_null(ends_before);
  g_autofree char *repeated =
      test_launch("astroskysrc sky=0.5,0,1 repeat=2 bandwidth=1 num-buffers=90000 stations=1 "
                  "block-steps=1 ! fakesink");
  g_assert_null(repeated);
  g_autofree char *path = g_build_filename(g_get_tmp_dir(), "array-XXXXXX", NULL);
  gint fd = g_mkstemp(path);
  g_assert_cmpint(fd, >=, 0);
  close(fd);
  g_assert_true(g_file_set_contents(path, "6.4e6 0 0\n6.4e6 0\n", -1, NULL));
  g_autofree char *line = g_strdup_printf("astroskysrc num-buffers=1 array=%s ! fakesink", path);
  g_autofree char *wanted = g_strdup_printf("%s:2: 2 fields found", path);
  test_refused(line, wanted);
  g_unlink(path);
}

static void test_set_in_mid_stream(void)
{
  TestSetting settings[] = { { "noise", "7" },       { "scale", "3" },        { "pattern", "ramp" },
                             { "pols", "1" },        { "block-steps", "70" }, { "duration", "3" },
                             { "frequency", "2e8" }, { "bandwidth", "5000" }, { "seed", "9" },
                             { NULL, NULL } };
  test_pulled_as_started("astroskysrc stations=3 bandwidth=4000 block-steps=500 duration=1",
                         settings);
}

/* The scale in the observation that was sent; -1: none was sent. */
static double told_scale(GstHarness *h)
{
  GstEvent *event = gst_pad_get_sticky_event(h->sinkpad, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, 0);
  if (!event)
    return -1;
  g_autoptr(AstroObservation) o = astro_observation_from_event(event, NULL);
  gst_event_unref(event);
  g_assert_cmpint(o->done.delays, ==, ASTRO_DELAYS_IN);
  return o->done.scale;
}

/* The source runs ahead of the test: waits until another scale was sent. */
static double pull_until_other(GstHarness *h, double scale)
{
  for (guint i = 0; i < 1000000; i++) {
    gst_buffer_unref(gst_harness_pull(h));
    if (told_scale(h) != scale)
      return told_scale(h);
  }
  g_error("no other scale was told");
}

/* Another format has another scale, and a new observation says so; test patterns have none. */
static void test_scale_follows_format(void)
{
  GstHarness *h = gst_harness_new_parse(
      "astroskysrc name=s stations=2 pols=1 block-steps=1024 sky=0,0,3 noise=1 ! capsfilter name=f "
      "caps=application/x-astro-voltages,format=CI8");
  g_autoptr(GstElement) filter = gst_bin_get_by_name(GST_BIN(h->element), "f");
  g_autoptr(GstElement) source = gst_bin_get_by_name(GST_BIN(h->element), "s");
  double active;
  gst_harness_play(h);
  const double first = pull_until_other(h, -1);
  gst_util_set_object_arg(G_OBJECT(filter), "caps", "application/x-astro-voltages,format=CI4");
  const double second = pull_until_other(h, first);
  g_object_get(source, "active-scale", &active, NULL);
  g_assert_cmpfloat(first, >, 2 * second);
  g_assert_cmpfloat(second, ==, active);
  gst_harness_teardown(h);

  GstHarness *ramp = gst_harness_new_parse("astroskysrc stations=2 pattern=ramp num-buffers=1");
  gst_harness_play(ramp);
  gst_buffer_unref(gst_harness_pull(ramp));
  g_assert_cmpfloat(told_scale(ramp), ==, 0);
  gst_harness_teardown(ramp);
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  test_init_gstreamer(&argc, &argv);
  g_test_add_func("/astroskysrc/stream", test_stream);
  g_test_add_func("/astroskysrc/observation", test_observation);
  g_test_add_func("/astroskysrc/caps", test_caps);
  g_test_add_func("/astroskysrc/duration", test_duration);
  g_test_add_func("/astroskysrc/repeat", test_repeat);
  g_test_add_func("/astroskysrc/repeat-ends-within", test_repeat_ends_within);
  g_test_add_func("/astroskysrc/repeat-goes-on", test_repeat_goes_on);
  g_test_add_func("/astroskysrc/stopped-while-preparing", test_stopped_while_preparing);
  g_test_add_func("/astroskysrc/asked-meanwhile", test_asked_meanwhile);
  g_test_add_func("/astroskysrc/set-meanwhile", test_set_meanwhile);
  g_test_add_func("/astroskysrc/set-in-mid-stream", test_set_in_mid_stream);
  g_test_add_func("/astroskysrc/live", test_live);
  g_test_add_func("/astroskysrc/live-times", test_live_times);
  g_test_add_func("/astroskysrc/live-woken", test_live_woken);
  g_test_add_func("/astroskysrc/live-flushed", test_live_flushed);
  g_test_add_func("/astroskysrc/again", test_again);
  g_test_add_func("/astroskysrc/bandwidths", test_bandwidths);
  g_test_add_func("/astroskysrc/errors", test_errors);
  g_test_add_func("/astroskysrc/scale-follows-format", test_scale_follows_format);
  int result = g_test_run();
  gst_deinit();
  return result;
}
