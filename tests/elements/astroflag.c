/* Flags of streams that are cut anywhere, broken or damaged; lists; what is told; that stages
 * downstream obey; and what is refused. */
#include "core/flag/flag.h"
#include "core/stream/observation.h"
#include "core/stream/validity.h"
#include "tests/core/flag/flag.h"
#include "tests/elements/elements.h"

#include <glib/gstdio.h>

#define CHANNELS 8
#define STATIONS 2
#define BLOCK 128
#define STEPS 1000
#define STEP (CHANNELS * STATIONS) /* samples */
#define SPECTRA                                                                                    \
  "application/x-astro-spectra,format=CF32LE,layout=time:station:channel,stations=2,channels=8,"   \
  "rate=1000/1"

/* Noise, and a tone in channel 3 of station 1 that is on for a tenth of the time from step 256 to
 * 511. */
static float *make_spectra(void)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed(1);
  float *stream = g_new(float, STEPS *STEP * 2);
  for (guint t = 0; t < STEPS; t++)
    for (guint i = 0; i < STEP; i++) {
      float *sample = stream + (t * STEP + i) * 2;
      test_flag_noise(rand, sample);
      if (i == CHANNELS + 3 && t / 256 == 1 && t % 10 == 0)
        sample[0] += 5;
    }
  return stream;
}

static GstBuffer *part(const float *stream, guint64 first, guint64 count)
{
  GstBuffer *buffer =
      gst_buffer_new_memdup(stream + first * STEP * 2, count * STEP * 2 * sizeof(float));
  GST_BUFFER_OFFSET(buffer) = first;
  GST_BUFFER_OFFSET_END(buffer) = first + count;
  return buffer;
}

static GstHarness *new_harness(const char *settings)
{
  g_autofree char *line = g_strdup_printf("astroflag backend=cpu %s", settings);
  return gst_harness_new_parse(line);
}

static guint64 n_steps(GstBuffer *buffer)
{
  return GST_BUFFER_OFFSET_END(buffer) - GST_BUFFER_OFFSET(buffer);
}

/* The count behind a value of a step of a buffer of such spectra. */
static guint32 count_of(GstBuffer *buffer, guint64 t, guint64 station, guint64 channel)
{
  const AstroLayout shape = { 3,
                              { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION, ASTRO_AXIS_CHANNEL },
                              { n_steps(buffer), STATIONS, CHANNELS } };
  const guint64 index[ASTRO_MAX_AXES] = { t, station, channel };
  const AstroValidityMeta *meta = astro_buffer_get_validity(buffer);
  g_assert_nonnull(meta);
  g_assert_true(astro_validity_check(meta, &shape, NULL));
  return astro_validity_at(meta, &shape, index);
}

/* Whatever the cuts, the samples are those that came, and the blocks in which the tone is on are
 * flagged, in its channel and station. */
static void test_cuts(void)
{
  static const guint cuts[][6] = {
    { STEPS }, { 128, 128, 256, 488 }, { 100, 13, 1, 400, 86, 400 }, { 999, 1 }
  };
  g_autofree float *stream = make_spectra();
  for (guint i = 0; i < G_N_ELEMENTS(cuts); i++) {
    GstHarness *h = new_harness("method=kurtosis block=128 false-alarm=1e-7");
    GstBuffer *buffer;
    guint64 at = 0, k = 0;
    gst_harness_set_src_caps_str(h, SPECTRA);
    for (guint c = 0; c < G_N_ELEMENTS(cuts[i]) && cuts[i][c]; at += cuts[i][c++])
      g_assert_cmpint(gst_harness_push(h, part(stream, at, cuts[i][c])), ==, GST_FLOW_OK);
    g_assert_cmpuint(at, ==, STEPS);
    gst_harness_push_event(h, gst_event_new_eos());
    at = 0;
    while ((buffer = gst_harness_try_pull(h))) {
      const guint64 steps = n_steps(buffer);
      g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, at);
      g_assert_cmpuint(steps, ==, cuts[i][k++]);
      g_assert_cmpuint(GST_BUFFER_PTS(buffer), ==, at * GST_MSECOND);
      g_assert_cmpint(
          gst_buffer_memcmp(buffer, 0, stream + at * STEP * 2, steps * STEP * 2 * sizeof(float)),
          ==, 0);
      for (guint64 t = 0; t < steps; t++, at++)
        for (guint s = 0; s < STATIONS; s++)
          for (guint c = 0; c < CHANNELS; c++)
            g_assert_cmpuint(count_of(buffer, t, s, c), ==,
                             !(s == 1 && c == 3 && at / BLOCK >= 2 && at / BLOCK < 4));
      gst_buffer_unref(buffer);
    }
    g_assert_cmpuint(at, ==, STEPS);
    g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
    g_autoptr(GstCaps) wanted = gst_caps_from_string(SPECTRA ",counts=true");
    g_assert_true(gst_caps_is_equal(caps, wanted));
    gst_harness_teardown(h);
  }
}

/* Counts that came stay where nothing is flagged; a lost block and a GAP are not interference. */
static void test_losses(void)
{
  g_autofree float *stream = make_spectra();
  GstHarness *h = new_harness("method=kurtosis block=128 false-alarm=1e-7");
  gst_harness_set_src_caps_str(h, SPECTRA ",counts=true");
  for (guint64 at = 0; at < 896; at += 128) {
    const AstroLayout shape = { 2, { ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL }, { 128, CHANNELS } };
    GstBuffer *buffer = part(stream, at, 128);
    AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &shape, 4);
    meta->counts[5 * CHANNELS + 3] = 3;
    if (at == 640) {
      gst_buffer_memset(buffer, 0, 0, 1000);
      GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_GAP);
    }
    if (at == 768)
      gst_buffer_unref(buffer); /* lost */
    else
      g_assert_cmpint(gst_harness_push(h, buffer), ==, GST_FLOW_OK);
  }
  gst_harness_push(h, part(stream, 900, 50)); /* has no counts: refused, as counts got lost */
  for (guint64 at = 0; at < 768; at += 128) {
    g_autoptr(GstBuffer) buffer = gst_harness_pull(h);
    const gboolean is_hit = at / 256 == 1;
    g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, at);
    g_assert_cmpint(GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP), ==, at == 640);
    g_assert_cmpuint(astro_buffer_get_validity(buffer)->full, ==, 4);
    g_assert_cmpuint(count_of(buffer, 5, 0, 3), ==, 3);
    g_assert_cmpuint(count_of(buffer, 5, 1, 3), ==, is_hit ? 0 : 3);
    g_assert_cmpuint(count_of(buffer, 6, 1, 3), ==, is_hit ? 0 : 4);
    g_assert_cmpuint(count_of(buffer, 6, 1, 2), ==, 4);
  }
  gst_harness_teardown(h);
}

/* A flush drops what is held, and the next block begins anew. */
static void test_flush(void)
{
  g_autofree float *stream = make_spectra();
  GstSegment segment;
  GstHarness *h = new_harness("method=kurtosis block=128 false-alarm=1e-7");
  gst_harness_set_src_caps_str(h, SPECTRA);
  gst_harness_push(h, part(stream, 256, 100));
  g_assert_null(gst_harness_try_pull(h));
  gst_harness_push_event(h, gst_event_new_flush_start());
  gst_harness_push_event(h, gst_event_new_flush_stop(TRUE));
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(h, gst_event_new_segment(&segment));
  gst_harness_push(h, part(stream, 0, 128));
  g_autoptr(GstBuffer) buffer = gst_harness_pull(h);
  g_assert_cmpuint(count_of(buffer, 0, 1, 3), ==, 1);
  g_assert_null(gst_harness_try_pull(h));
  gst_harness_teardown(h);
}

/* ---- what is told ---- */

static GstMessage *last_flagged(GstBus *bus)
{
  GstMessage *message, *last = NULL;
  while ((message = gst_bus_pop_filtered(bus, GST_MESSAGE_ELEMENT)))
    if (gst_message_has_name(message, "flagged")) {
      g_clear_pointer(&last, gst_message_unref);
      last = message;
    } else {
      gst_message_unref(message);
    }
  return last;
}

static void check_told(const GstStructure *told, guint64 judged, guint64 flagged)
{
  guint64 found;
  double percent;
  g_assert_true(gst_structure_get_uint64(told, "judged-values", &found));
  g_assert_cmpuint(found, ==, judged);
  g_assert_true(gst_structure_get_uint64(told, "flagged-values", &found));
  g_assert_cmpuint(found, ==, flagged);
  g_assert_true(gst_structure_get_double(told, "flagged-percent", &percent));
  g_assert_cmpfloat_with_epsilon(percent, 100. * (double)flagged / (double)judged, 1e-9);
  const GValue *worst = gst_structure_get_value(told, "worst-channels"),
               *values = gst_structure_get_value(told, "worst-values");
  g_assert_cmpuint(gst_value_array_get_size(worst), ==, 1);
  g_assert_cmpuint(g_value_get_uint(gst_value_array_get_value(worst, 0)), ==, 3);
  g_assert_cmpuint(g_value_get_uint64(gst_value_array_get_value(values, 0)), ==, flagged);
}

static void test_told(void)
{
  g_autofree float *stream = make_spectra();
  g_autoptr(GstBus) bus = gst_bus_new();
  GstHarness *h = gst_harness_new("astroflag");
  GstStructure *stats;
  g_object_set(h->element, "block", BLOCK, "false-alarm", 1e-7, NULL);
  gst_element_set_bus(h->element, bus);
  gst_harness_set_src_caps_str(h, SPECTRA);
  gst_harness_push(h, part(stream, 0, STEPS));
  gst_harness_push_event(h, gst_event_new_eos());
  g_autoptr(GstMessage) message = last_flagged(bus);
  g_assert_nonnull(message);
  check_told(gst_message_get_structure(message), 8 * STEP, 2);
  g_object_get(h->element, "stats", &stats, NULL);
  check_told(stats, 8 * STEP, 2);
  gst_structure_free(stats);
  gst_element_set_bus(h->element, NULL);
  gst_harness_teardown(h);
}

/* ---- lists ---- */

static char *write_list(const char *text)
{
  g_autoptr(GError) error = NULL;
  char *path = NULL;
  const int file = g_file_open_tmp("astroflag-XXXXXX", &path, &error);
  g_assert_no_error(error);
  g_close(file, NULL);
  g_file_set_contents(path, text, -1, &error);
  g_assert_no_error(error);
  return path;
}

static GstHarness *list_harness(const char *text, const char *caps)
{
  g_autofree char *path = write_list(text),
                  *settings = g_strdup_printf("method=list location=%s", path);
  GstHarness *h = new_harness(settings);
  if (caps)
    gst_harness_set_src_caps_str(h, caps);
  g_remove(path);
  return h;
}

/* Lines hold together; times overlap whole steps. */
static void test_list(void)
{
  g_autofree float *stream = make_spectra();
  GstHarness *h = list_harness("# a comment\nchannels=1,5-6\nstations=1 channels=0 "
                               "times=0.0995/0.201\ntimes=0.3/ stations=0 channels=7\n",
                               SPECTRA);
  gst_harness_push(h, part(stream, 0, 400));
  g_autoptr(GstBuffer) buffer = gst_harness_pull(h);
  for (guint t = 0; t < 400; t++)
    for (guint s = 0; s < STATIONS; s++)
      for (guint c = 0; c < CHANNELS; c++) {
        const gboolean is_listed = c == 1 || c == 5 || c == 6 ||
                                   (s == 1 && c == 0 && t >= 99 && t <= 200) ||
                                   (s == 0 && c == 7 && t >= 300);
        g_assert_cmpuint(count_of(buffer, t, s, c), ==, !is_listed);
      }
  gst_harness_teardown(h);
}

/* A stream may begin late: its step 0 is not the start of the observation. */
static void test_list_of_a_late_stream(void)
{
  g_autofree float *stream = make_spectra();
  GstHarness *h = list_harness("channels=0 times=10.0995/10.201\n", SPECTRA);
  GstBuffer *in = part(stream, 0, 400);
  GST_BUFFER_PTS(in) = 10 * GST_SECOND;
  gst_harness_push(h, in);
  g_autoptr(GstBuffer) buffer = gst_harness_pull(h);
  for (guint t = 0; t < 400; t++)
    g_assert_cmpuint(count_of(buffer, t, 0, 0), ==, !(t >= 99 && t <= 200));
  gst_harness_teardown(h);
}

/* UTC and names need the observation; of visibilities every baseline with the station is meant. */
static void test_list_visibilities(void)
{
  g_autoptr(AstroObservation) observation = astro_observation_new(3);
  GstHarness *h = list_harness("stations=B times=2026-11-20T12:00:01/2026-11-20T12:00:02\n", NULL);
  g_assert_true(astro_observation_set_start(observation, "2026-11-20T12:00:00", NULL));
  for (guint i = 0; i < 3; i++) {
    g_free(observation->names[i]);
    observation->names[i] = g_strdup_printf("%c", 'A' + i);
  }
  gst_harness_set_src_caps_str(
      h, "application/x-astro-visibilities,format=CF32LE,layout=channel:baseline:pol:pol,"
         "channels=1,baselines=6,pols=1,rate=1/1");
  gst_harness_push_event(h, astro_observation_to_event(observation));
  for (guint t = 0; t < 3; t++) {
    GstBuffer *in = test_buffer(6 * 8, t);
    GST_BUFFER_OFFSET(in) = t;
    GST_BUFFER_OFFSET_END(in) = t + 1;
    g_assert_cmpint(gst_harness_push(h, in), ==, GST_FLOW_OK);
    g_autoptr(GstBuffer) out = gst_harness_pull(h);
    const AstroLayout shape = {
      4, { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_BASELINE, ASTRO_AXIS_POL, ASTRO_AXIS_POL }, { 1, 6, 1, 1 }
    };
    for (guint b = 0; b < 6; b++) { /* AA, BA, BB, CA, CB, CC */
      const guint64 index[ASTRO_MAX_AXES] = { 0, b };
      const gboolean has_b = b == 1 || b == 2 || b == 4;
      g_assert_cmpuint(astro_validity_at(astro_buffer_get_validity(out), &shape, index), ==,
                       !(t == 1 && has_b));
    }
  }
  gst_harness_teardown(h);
}

static void test_list_refused(void)
{
  static const struct {
    const char *text, *says;
  } cases[] = {
    { "channels=0\nchannel=3\n", ":2: \"channel=3\", expected channels=LIST" },
    { "channels=8\n", "channels" },
    { "stations=B\n", "has a name" },
    { "beams=0\n", "beams of a stream of spectra that has none" },
    { "times=2026-11-20T12:00:00/\n", "does not say when it was taken" },
    { "times=noon/\n", "time \"noon\", expected UTC" },
    { "times=4\n", "times=4" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *path = write_list(cases[i].text);
    g_autofree char *line =
        g_strdup_printf("fakesrc num-buffers=1 sizetype=fixed sizemax=1024 ! " SPECTRA
                        " ! astroflag name=flags method=list location=%s ! fakesink",
                        path);
    test_refused_by(line, "flags", cases[i].says);
    g_remove(path);
  }
  test_refused_by("fakesrc ! " SPECTRA " ! astroflag name=flags method=list ! fakesink", "flags",
                  "without location");
}

/* ---- misfits ---- */

static void test_refused_streams(void)
{
#define POWER                                                                                      \
  "fakesrc num-buffers=1 sizetype=fixed sizemax=64 ! application/x-astro-power,format=F32LE,"      \
  "layout=time:pol:channel,channels=8,"
  test_refused_by(POWER "pols=1,products=XX ! astroflag ! fakesink", "astroflag", "square=true");
  test_refused_by(POWER "pols=2,products=(string)XX:XX-SQUARE ! astroflag ! fakesink", "astroflag",
                  "without counts");
  test_refused_by("astroskysrc stations=1 duration=0.01 ! astrochannelizer channels=8 ! astropower "
                  "products=XX square=true integration=20 ! astroflag ! fakesink",
                  "astroflag", "power of 20 samples a value, expected at least 64");
  test_refused_by("astroskysrc stations=1 duration=0.01 ! astroflag ! fakesink", "astroflag",
                  "method=kurtosis of voltages");
  test_refused_by("astroskysrc stations=1 duration=0.01 ! "
                  "application/x-astro-voltages,format=CI8 ! astrochannelizer channels=8 ! "
                  "application/x-astro-spectra,format=CI4 ! astroflag ! fakesink",
                  "astroflag", "rounding to 4 bits");
}

/* Power does not say of how many bits its spectra were: astropower warns. */
static void test_warned(void)
{
  static const struct {
    const char *products, *format;
    gboolean warns;
  } cases[] = { { "XX:XX-SQUARE", "CI4", TRUE },
                { "XX", "CI4", FALSE },
                { "XX:XX-SQUARE", "CI8", FALSE } };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    GstHarness *h = test_harness("astropower");
    g_autoptr(GstBus) bus = gst_bus_new();
    g_autofree char *caps = g_strdup_printf(
        "application/x-astro-spectra,format=%s,layout=time:channel,channels=8", cases[i].format);
    g_object_set(h->element, "products", cases[i].products, NULL);
    gst_element_set_bus(h->element, bus);
    gst_harness_set_src_caps_str(h, caps);
    g_autoptr(GstMessage) message = gst_bus_pop_filtered(bus, GST_MESSAGE_WARNING);
    g_assert_true((message != NULL) == cases[i].warns);
    gst_element_set_bus(h->element, NULL);
    gst_harness_teardown(h);
  }
}

/* ---- what follows obeys ---- */

/* The last buffer that a chain behind the flags makes of the spectra. */
static GstBuffer *behind(const char *chain, const char *caps)
{
  g_autofree float *stream = make_spectra();
  g_autofree char *line = g_strdup_printf("astroflag block=128 false-alarm=1e-7 ! %s", chain);
  GstHarness *h = gst_harness_new_parse(line);
  GstBuffer *buffer, *last = NULL;
  gst_harness_set_src_caps_str(h, caps);
  gst_harness_push(h, part(stream, 0, 512));
  gst_harness_push_event(h, gst_event_new_eos());
  while ((buffer = gst_harness_try_pull(h))) {
    gst_clear_buffer(&last);
    last = buffer;
  }
  gst_harness_teardown(h);
  g_assert_nonnull(last);
  return last;
}

/* The mean power of the channel with the tone is that of the noise, of half of the samples. Without
 * flags it is 1 + 25 / 20. */
static void test_power_obeys(void)
{
  g_autoptr(GstBuffer) buffer = behind("astropower products=XX integration=512", SPECTRA);
  float values[STATIONS * CHANNELS];
  g_assert_cmpuint(gst_buffer_extract(buffer, 0, values, sizeof values), ==, sizeof values);
  const AstroValidityMeta *meta = astro_buffer_get_validity(buffer);
  for (guint i = 0; i < STATIONS * CHANNELS; i++) {
    g_assert_cmpuint(meta->counts[i], ==, i == CHANNELS + 3 ? 256 : 512);
    g_assert_cmpfloat_with_epsilon(values[i], 1, 0.25);
  }
}

static void test_correlator_obeys(void)
{
  g_autoptr(GstBuffer) buffer = behind("astrotranspose ! astrocorrelator integration=512", SPECTRA);
  const AstroValidityMeta *meta = astro_buffer_get_validity(buffer);
  float values[CHANNELS * 3][2];
  g_assert_cmpuint(gst_buffer_extract(buffer, 0, values, sizeof values), ==, sizeof values);
  for (guint c = 0; c < CHANNELS; c++)
    for (guint b = 0; b < 3; b++) { /* 00, 10, 11 */
      g_assert_cmpuint(meta->counts[c * 3 + b], ==, b > 0 && c == 3 ? 256 : 512);
      g_assert_cmpfloat_with_epsilon(values[c * 3 + b][0], b != 1, 0.25);
    }
}

/* A beam is the mean of the stations that are good: where station 1 is flagged, station 0 alone. */
static void test_beams_obey(void)
{
  g_autofree float *stream = make_spectra();
  GstHarness *h = gst_harness_new_parse(
      "astroobserve array=disc start-time=2026-11-20T12:00:00 phase-centre=zenith ! "
      "astroflag block=128 false-alarm=1e-7 ! astrobeamform beams=0,0");
  g_autoptr(GstBuffer) buffer = NULL;
  gst_harness_set_src_caps_str(h, SPECTRA ",frequency=(double)1.5e8,bandwidth=(double)8000");
  gst_harness_push(h, part(stream, 0, 512));
  gst_harness_push_event(h, gst_event_new_eos());
  buffer = gst_harness_pull(h);
  const AstroValidityMeta *meta = astro_buffer_get_validity(buffer);
  const AstroLayout shape = { 3,
                              { ASTRO_AXIS_TIME, ASTRO_AXIS_BEAM, ASTRO_AXIS_CHANNEL },
                              { 512, 1, CHANNELS } };
  for (guint t = 0; t < 512; t += 51)
    for (guint c = 0; c < CHANNELS; c++) {
      const guint64 index[ASTRO_MAX_AXES] = { t, 0, c };
      g_assert_cmpuint(astro_validity_at(meta, &shape, index), ==, c == 3 && t >= 256 ? 1 : 2);
    }
  gst_harness_teardown(h);
}

int main(int argc, char **argv)
{
  gst_init(&argc, &argv);
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/astroflag/cuts", test_cuts);
  g_test_add_func("/astroflag/losses", test_losses);
  g_test_add_func("/astroflag/flush", test_flush);
  g_test_add_func("/astroflag/told", test_told);
  g_test_add_func("/astroflag/list", test_list);
  g_test_add_func("/astroflag/list-late", test_list_of_a_late_stream);
  g_test_add_func("/astroflag/list-visibilities", test_list_visibilities);
  g_test_add_func("/astroflag/list-refused", test_list_refused);
  g_test_add_func("/astroflag/refused", test_refused_streams);
  g_test_add_func("/astroflag/warned", test_warned);
  g_test_add_func("/astroflag/power-obeys", test_power_obeys);
  g_test_add_func("/astroflag/correlator-obeys", test_correlator_obeys);
  g_test_add_func("/astroflag/beams-obey", test_beams_obey);
  return g_test_run();
}
