/* Predicted visibilities in pipelines: caps, times, the observation, counts, the end, live, errors,
 * and a comparison with the chain from voltages. */
#include "core/stream/observation.h"
#include "elements/base/astrooutgoing.h"
#include "core/stream/validity.h"
#include "tests/elements/pulled.h"
#include <complex.h>
#include <glib/gstdio.h>
#include <math.h>
#include <unistd.h>

/* Integrations follow each other, each with its counts and times. */
static void test_stream(void)
{
  TestPulled r = test_pulled_run(
      "astrovissrc stations=3 pols=1 channels=5 integration=0.75 duration=3 loss=0.5 "
      "phase-centre=\"260.5,-30\" start-time=2026-11-20T12:00:00.5",
      "application/x-astro-visibilities");
  GstBuffer *buffer;
  guint64 next = 0;
  while ((buffer = test_pull(&r))) {
    AstroValidityMeta *validity = astro_buffer_get_validity(buffer);
    g_assert_nonnull(validity);
    g_assert_cmpuint(validity->full, ==, 150000);
    g_assert_cmpuint(astro_validity_n_counts(validity), ==, 5 * 6);
    g_assert_cmpuint(validity->counts[0], <=, 150000);
    g_assert_cmpuint(gst_buffer_get_size(buffer), ==, 5 * 6 * 8);
    g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, next);
    g_assert_cmpuint(GST_BUFFER_OFFSET_END(buffer), ==, next + 1);
    g_assert_cmpuint(GST_BUFFER_PTS(buffer), ==, next * 750 * GST_MSECOND);
    g_assert_cmpuint(GST_BUFFER_DURATION(buffer), ==, 750 * GST_MSECOND);
    g_assert_true(GST_BUFFER_IS_DISCONT(buffer) == (next == 0));
    gst_buffer_unref(buffer);
    next++;
  }
  g_assert_cmpuint(next, ==, 4);
  AstroStream stream = test_pulled_stream(&r);
  g_assert_cmpint(stream.rate_n, ==, 4);
  g_assert_cmpint(stream.rate_d, ==, 3);
  g_assert_cmpfloat(stream.frequency, ==, 150e6);
  g_assert_cmpfloat(stream.bandwidth, ==, 1e6);

  g_autoptr(GstPad) pad = gst_element_get_static_pad(r.sink, "sink");
  g_autoptr(GstEvent) event = gst_pad_get_sticky_event(pad, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, 0);
  g_assert_nonnull(event);
  g_autoptr(AstroObservation) observation = astro_observation_from_event(event, NULL);
  g_autofree char *start = astro_observation_get_start(observation);
  g_assert_cmpstr(start, ==, "2026-11-20T12:00:00.500000000Z");
  g_assert_cmpuint(observation->n_stations, ==, 3);
  g_assert_cmpfloat_with_epsilon(observation->phase_ra, 260.5 * G_PI / 180, 1e-12);
  test_pulled_end(&r);
}

static void test_caps(void)
{
  static const struct {
    const char *caps;
    AstroFormat format;
  } cases[] = {
    { "application/x-astro-visibilities", ASTRO_FORMAT_CF32LE },
    { "application/x-astro-visibilities,format={CI32LE,CF64LE,CF32LE}", ASTRO_FORMAT_CF64LE },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    TestPulled r = test_pulled_run("astrovissrc stations=5 num-buffers=2", cases[i].caps);
    GstBuffer *buffer = test_pull(&r);
    g_assert_nonnull(buffer);
    AstroStream stream = test_pulled_stream(&r);
    g_assert_cmpint(stream.format, ==, cases[i].format);
    g_assert_cmpuint(gst_buffer_get_size(buffer), ==, astro_stream_step_bytes(&stream));
    g_assert_cmpuint(astro_validity_n_counts(astro_buffer_get_validity(buffer)), ==, 1);
    gst_buffer_unref(buffer);
    test_pulled_end(&r);
  }
}

static void test_duration(void)
{
  static const struct {
    const char *properties;
    gint64 expected; /* -1: no answer */
  } cases[] = {
    { "duration=20", 20 * GST_SECOND },
    { "num-buffers=3", 15 * GST_SECOND },
    { "num-buffers=30 duration=20", 20 * GST_SECOND },
    { "", -1 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *source =
        g_strdup_printf("astrovissrc stations=2 integration=5 %s", cases[i].properties);
    TestPulled r = test_pulled_run(source, "application/x-astro-visibilities");
    test_pulled_duration(&r, cases[i].expected);
    test_pulled_end(&r);
  }
}

/* Live: an integration comes when the clock says that it is over. */
static void test_live(void)
{
  TestPulled r =
      test_pulled_run("astrovissrc is-live=true stations=2 integration=0.05 num-buffers=4",
                      "application/x-astro-visibilities");
  test_pulled_live(&r, 4, 50 * GST_MSECOND);
  test_pulled_end(&r);
}

static void test_live_times(void)
{
  test_pulled_live_times("astrovissrc is-live=true stations=2 integration=0.05 num-buffers=4",
                         "application/x-astro-visibilities", 4, 50 * GST_MSECOND);
}

static void test_live_woken(void)
{
  test_pulled_live_woken("astrovissrc name=src is-live=true stations=2 integration=0.05");
}

static void test_live_flushed(void)
{
  test_pulled_live_flushed("astrovissrc name=src is-live=true stations=2 integration=0.05");
}

/* Started again it gives the same from the start. */
static void test_again(void)
{
  GstElement *source = gst_element_factory_make("astrovissrc", NULL);
  guint8 first[16 * 3 * 4 * 8] = { 0 };
  g_object_set(source, "stations", 2, "noise", 50.0, NULL);
  GstHarness *h = gst_harness_new_with_element(source, NULL, "src");
  for (guint i = 0; i < 2; i++) {
    gst_harness_play(h);
    GstBuffer *buffer = gst_harness_pull(h);
    g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, 0);
    g_assert_cmpuint(gst_buffer_get_size(buffer), ==, sizeof first);
    if (i > 0)
      g_assert_cmpint(gst_buffer_memcmp(buffer, 0, first, sizeof first), ==, 0);
    gst_buffer_extract(buffer, 0, first, sizeof first);
    gst_buffer_unref(buffer);
    gst_element_set_state(source, GST_STATE_NULL);
    while ((buffer = gst_harness_try_pull(h)))
      gst_buffer_unref(buffer);
  }
  gst_harness_teardown(h);
  gst_object_unref(source);
}

/* The same array, sky and noise as voltages through the filter bank and the correlator: both
 * streams have the same shape, times and counts, and differ as much as noise and sky make them.
 * Power of the difference, in units of the fluctuation of one visibility: 2 where both are
 * alike. */
#define SCENE                                                                                      \
  "stations=9 array=disc sky=0.01,0.02,1;-0.02,0.005,0.5 noise=20 bandwidth=32000 duration=4 "

static void test_chain(void)
{
  TestPulled chain =
      test_pulled_run("astroskysrc seed=1 " SCENE "! application/x-astro-voltages,format=CF32LE ! "
                      "astrodelay ! astrochannelizer channels=8 ! astrotranspose ! "
                      "astrocorrelator integration=4000",
                      "application/x-astro-visibilities");
  TestPulled predicted =
      test_pulled_run("astrovissrc seed=2 channels=8 integration=1 frequency=149998000 " SCENE,
                      "application/x-astro-visibilities");
  double spread = 0, coherence = 0, power = 0;
  guint64 n = 0, dumps = 0;
  GstBuffer *a, *b;
  while ((a = test_pull(&chain)) && (b = test_pull(&predicted))) {
    AstroStream one = test_pulled_stream(&chain), other = test_pulled_stream(&predicted);
    g_assert_cmpint(memcmp(&one.layout, &other.layout, sizeof one.layout), ==, 0);
    g_assert_cmpint(one.rate_n * other.rate_d, ==, other.rate_n * one.rate_d);
    g_assert_cmpfloat(one.frequency, ==, other.frequency);
    g_assert_cmpfloat(one.bandwidth, ==, other.bandwidth);
    g_assert_cmpuint(GST_BUFFER_PTS(a), ==, GST_BUFFER_PTS(b));
    /* The filter's length costs some spectra at the end, so the last dump is shorter. */
    g_assert_cmpuint(GST_BUFFER_DURATION(b), ==, GST_SECOND);
    g_assert_cmpuint(GST_BUFFER_DURATION(a), ==, dumps < 3 ? GST_SECOND : 999 * GST_MSECOND);
    g_assert_cmpuint(astro_buffer_get_validity(a)->full, ==, astro_buffer_get_validity(b)->full);
    g_assert_cmpuint(gst_buffer_get_size(a), ==, gst_buffer_get_size(b));
    complex float *x, *y;
    gsize bytes;
    gst_buffer_extract_dup(a, 0, gst_buffer_get_size(a), (gpointer *)&x, &bytes);
    gst_buffer_extract_dup(b, 0, gst_buffer_get_size(b), (gpointer *)&y, &bytes);
    /* The filter shapes the edges of the band; the first dump has the beginning of the chain in
     * it. */
    for (guint c = 1; c < 7 && dumps > 0; c++)
      for (guint i = 0; i < 9; i++)
        for (guint j = 0; j <= i; j++) {
          gsize at = 4 * (c * 45 + i * (i + 1) / 2 + j);
          if (i == j) {
            g_assert_cmpfloat_with_epsilon(crealf(x[at]), crealf(y[at]),
                                           21.5 * 7 * sqrt(2. / 4000));
            continue;
          }
          spread += pow(cabs((complex double)x[at] - y[at]), 2) / (20 * 20 / 4000.);
          coherence += creal((complex double)x[at] * conj((complex double)y[at]));
          power += 1.25;
          n++;
        }
    g_free(x);
    g_free(y);
    gst_buffer_unref(a);
    gst_buffer_unref(b);
    dumps++;
  }
  gst_clear_buffer(&a);
  g_assert_cmpuint(dumps, ==, 4);
  /* The sources' own noise adds ((20 + 1.5) / 20)^2 - 1 = 0.16 to the chain's. */
  g_assert_cmpfloat_with_epsilon(spread / (double)n, 2.16, 0.35);
  g_assert_cmpfloat_with_epsilon(coherence / power, 1, 0.2);
  test_pulled_end(&chain);
  test_pulled_end(&predicted);
}

/* With nothing set but the number of integrations. */
static void test_file(void)
{
  g_autofree char *path = g_strdup_printf("%s/astrovissrc-%d.uvfits", g_get_tmp_dir(), getpid());
  g_autofree char *line =
      g_strdup_printf("astrovissrc num-buffers=20 ! astrofitssink location=%s", path);
  g_autofree char *found = test_launch(line);
  g_assert_cmpstr(found, ==, NULL);
  GStatBuf status;
  g_assert_cmpint(g_stat(path, &status), ==, 0);
  g_assert_cmpint(status.st_size, >, 20 * 16 * 528 * 4 * 3 * 4);
  g_unlink(path);
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
    { "frequency=1e5",
      "the band must not begin below 0 Hz: a bandwidth of 1000000 Hz around a frequency of 100000 "
      "Hz, expected a bandwidth of at most 200000 Hz" },
    { "bandwidth=1e9 frequency=1e10 channels=1", "more channels or shorter integrations" },
    { "stations=65536 channels=1",
      "65536 stations make 2147516416 baselines, expected 2147483647" },
    { "sky=0.5,0,1 num-buffers=-1 duration=86400", "below the horizon of disc" },
    { "sky=0.5,0,1 num-buffers=8640", "below the horizon of disc" },
    { "phase-centre=0,89", "below the horizon of disc 0 s after the start: it is never up there, "
                           "expected another sky, phase-centre or array" },
    { "phase-centre=0,-60 sky=0.9,0,1;-0.9,0,1 latitude=60 longitude=0",
      "all sources are never up together there" },
    { "phase-centre=180,10 num-buffers=600",
      "it is up for 780 s from the start on, expected at most this duration" },
    { "! application/x-astro-visibilities,format=CI32LE", "can't handle caps" },
    { "stations=3 ! application/x-astro-visibilities,baselines=4", "downstream takes none" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *line = g_strdup_printf("astrovissrc num-buffers=1 %s ! fakesink", cases[i][0]);
    test_refused(line, cases[i][1]);
  }
}

/* Whoever follows the error's advice gets no other error. */
static void test_cure(void)
{
  static const char *const settings[] = {
    "phase-centre=180,20 duration=20000",
    "phase-centre=90,-20 sky=0.1,0,1;0.2,0,1 duration=86400",
    "phase-centre=90,20 sky=0.9,0,1;-0.9,0,1 duration=30000",
    "sky=0.5,0,1 duration=86400",
  };
  for (guint i = 0; i < G_N_ELEMENTS(settings); i++) {
    g_autofree char *line = g_strdup_printf(
        "astrovissrc stations=2 channels=1 integration=60 %s ! fakesink", settings[i]);
    g_autofree char *error = test_launch(line);
    g_test_message("%s", error);
    g_assert_nonnull(error);
    const char *start = strstr(error, "start-time="), *seconds = strstr(error, " up for ");
    g_assert_nonnull(seconds);
    const char *duration = strstr(settings[i], "duration=") + strlen("duration=");
    g_autofree char *time = start ? g_strndup(start, strcspn(start, " ")) : g_strdup("");
    g_autofree char *cured = g_strdup_printf(
        "astrovissrc stations=2 channels=1 integration=60 %s %s duration=%g ! fakesink",
        settings[i], time, MIN(g_ascii_strtod(duration, NULL), g_ascii_strtod(seconds + 8, NULL)));
    char *last = strstr(cured, "duration="); /* said twice: the first one goes */
    for (gsize k = 0; last[k] && last[k] != ' '; k++)
      last[k] = ' ';
    g_autofree char *found = test_launch(cured);
    g_assert_cmpstr(found, ==, NULL);
  }
}

static void test_set_in_mid_stream(void)
{
  TestSetting settings[] = { { "loss", "0" },        { "channels", "7" }, { "points", "2" },
                             { "pols", "1" },        { "seed", "9" },     { "duration", "2" },
                             { "frequency", "2e8" }, { NULL, NULL } };
  test_pulled_as_started("astrovissrc stations=4 channels=3 integration=2 duration=20 loss=0.5",
                         settings);
}

/* Where downstream takes other media types alone, the error names them and leaves out their many
 * fields. */
static void test_other_type(void)
{
  GstHarness *h = gst_harness_new("identity");
  g_autoptr(GstBus) bus = gst_bus_new();
  g_autoptr(GstPad) src = gst_element_get_static_pad(h->element, "src");
  g_autoptr(GstCaps) made = gst_caps_from_string("application/x-astro-visibilities,channels=8");
  g_autofree char *debug = NULL;
  gst_element_set_bus(h->element, bus);
  gst_harness_set_sink_caps_str(
      h, "application/x-astro-spectra,channels=4;application/x-astro-spectra,channels=5;"
         "application/x-astro-voltages,format=CI8");
  astro_refused_caps(src, made, "visibilities");
  g_autoptr(GstMessage) message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  g_assert_nonnull(message);
  gst_message_parse_error(message, NULL, &debug);
  g_assert_nonnull(strstr(debug, "made application/x-astro-visibilities, channels=(int)8, accepted "
                                 "application/x-astro-spectra; application/x-astro-voltages"));
  gst_element_set_bus(h->element, NULL);
  gst_harness_teardown(h);
}

static void add_tests(void)
{
  g_test_add_func("/astrovissrc/other-type", test_other_type);
  g_test_add_func("/astrovissrc/stream", test_stream);
  g_test_add_func("/astrovissrc/caps", test_caps);
  g_test_add_func("/astrovissrc/duration", test_duration);
  g_test_add_func("/astrovissrc/set-in-mid-stream", test_set_in_mid_stream);
  g_test_add_func("/astrovissrc/live", test_live);
  g_test_add_func("/astrovissrc/live-times", test_live_times);
  g_test_add_func("/astrovissrc/live-woken", test_live_woken);
  g_test_add_func("/astrovissrc/live-flushed", test_live_flushed);
  g_test_add_func("/astrovissrc/again", test_again);
  g_test_add_func("/astrovissrc/chain", test_chain);
  g_test_add_func("/astrovissrc/file", test_file);
  g_test_add_func("/astrovissrc/errors", test_errors);
  g_test_add_func("/astrovissrc/cure", test_cure);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
