/* Folding of streams that are cut anywhere or broken, compared with the core's reference; caps,
 * counts and times; a simulated pulsar; and what is refused. */
#include "core/fold/fold.h"
#include "core/lib/ephemeris/phases.h"
#include "core/lib/sky/dispersion.h"
#include "core/stream/profile.h"
#include "core/stream/validity.h"
#include "tests/elements/elements.h"
#include "tests/elements/running.h"

#include <glib/gstdio.h>
#include <math.h>

enum { CHANNELS = 4, POLS = 2, SAMPLES = CHANNELS * POLS, BINS = 8, STEPS = 200 };
#define POWER                                                                                      \
  "application/"                                                                                   \
  "x-astro-power,format=F32LE,layout=time:channel:pol,channels=4,pols=2,products=XX:YY"
#define PERIOD 0.0173 /* s */
#define RATE 1000

static GstHarness *new_harness(double interval)
{
  g_autofree char *line = g_strdup_printf("astrofold backend=cpu period=%g bins=%d interval=%g",
                                          PERIOD, BINS, interval);
  return gst_harness_new_parse(line);
}

static void fill(float *stream)
{
  for (guint i = 0; i < STEPS * SAMPLES; i++)
    stream[i] = (float)(i * 2654435761u >> 8);
}

static GstBuffer *part(const float *stream, guint64 first, guint64 count)
{
  GstBuffer *buffer =
      gst_buffer_new_memdup(stream + first * SAMPLES, count * SAMPLES * sizeof(float));
  GST_BUFFER_OFFSET(buffer) = first;
  GST_BUFFER_OFFSET_END(buffer) = first + count;
  return buffer;
}

/* The profile of some steps by the definition: samples whose middle has a phase in the bin. */
static void expect(const float *stream, guint64 first, guint64 count, float *out, guint32 *counts)
{
  double sums[CHANNELS][POLS][BINS] = { 0 };
  memset(counts, 0, CHANNELS * BINS * sizeof *counts);
  for (guint64 t = first; t < first + count; t++) {
    const double phase = ((double)t + 0.5) / RATE / PERIOD;
    const guint bin = (guint)((phase - floor(phase)) * BINS);
    for (guint c = 0; c < CHANNELS; c++) {
      counts[c * BINS + bin]++;
      for (guint p = 0; p < POLS; p++)
        sums[c][p][bin] += (double)stream[t * SAMPLES + c * POLS + p];
    }
  }
  for (guint c = 0; c < CHANNELS; c++)
    for (guint p = 0; p < POLS; p++)
      for (guint b = 0; b < BINS; b++)
        out[(c * POLS + p) * BINS + b] =
            counts[c * BINS + b] ? (float)(sums[c][p][b] / counts[c * BINS + b]) : 0;
}

static void check_profile(GstBuffer *buffer, const float *stream, guint64 first, guint64 count)
{
  float expected[SAMPLES * BINS];
  guint32 counts[CHANNELS * BINS];
  GstMapInfo map;
  const AstroValidityMeta *meta = astro_buffer_get_validity(buffer);
  expect(stream, first, count, expected, counts);
  g_assert_nonnull(meta);
  g_assert_cmpuint(meta->shape.n_axes, ==, 2);
  g_assert_cmpmem(meta->counts, astro_validity_n_counts(meta) * sizeof(guint32), counts,
                  sizeof counts);
  g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
  g_assert_cmpmem(map.data, map.size, expected, sizeof expected);
  gst_buffer_unmap(buffer, &map);
}

/* Sub-integrations end inside buffers, span several, or several end in one; their times are right,
 * and the last is as long as the samples in it. */
static void test_intervals(void)
{
  static const guint intervals[] = { 7, 50, 90, 1000 }, cuts[] = { 13, 1, 100, 50, 36 };
  float stream[STEPS * SAMPLES];
  fill(stream);
  for (guint i = 0; i < G_N_ELEMENTS(intervals); i++) {
    const guint64 n = intervals[i];
    guint64 at = 0, k = 0;
    GstHarness *h = new_harness((double)n / RATE);
    GstBuffer *buffer;
    gst_harness_set_src_caps_str(h, POWER ",rate=1000/1,frequency=1e9,bandwidth=1e6");
    for (guint c = 0; c < G_N_ELEMENTS(cuts); at += cuts[c++])
      g_assert_cmpint(gst_harness_push(h, part(stream, at, cuts[c])), ==, GST_FLOW_OK);
    gst_harness_push_event(h, gst_event_new_eos());
    for (; (buffer = gst_harness_try_pull(h)); k++) {
      const guint64 count = MIN(n, STEPS - k * n);
      g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, k);
      g_assert_cmpuint(GST_BUFFER_OFFSET_END(buffer), ==, k + 1);
      g_assert_cmpuint(GST_BUFFER_PTS(buffer), ==, k * n * GST_MSECOND);
      g_assert_cmpuint(GST_BUFFER_DURATION(buffer), ==, count * GST_MSECOND);
      check_profile(buffer, stream, k * n, count);
      gst_buffer_unref(buffer);
    }
    g_assert_cmpuint(k, ==, (STEPS + n - 1) / n);
    g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
    g_autofree char *text = g_strdup_printf(
        "application/x-astro-profile,format=F32LE,layout=channel:pol:phase,channels=4,pols=2,"
        "products=XX:YY,bins=8,period=0.0173,dm=0.0,rate=1000/%u,frequency=1e9,bandwidth=1e6,"
        "counts=true",
        (guint)n);
    g_autoptr(GstCaps) wanted = gst_caps_from_string(text);
    g_assert_true(gst_caps_is_equal(caps, wanted));
    gst_harness_teardown(h);
  }
}

/* Steps that never came are in no bin; a sub-integration with none of them is missing. */
static void test_jump(void)
{
  static const struct {
    guint64 number, first, count;
    gboolean discont;
  } wanted[] = { { 0, 4, 6, FALSE },
                 { 1, 10, 10, FALSE },
                 { 2, 20, 4, TRUE },
                 { 5, 57, 3, TRUE },
                 { 6, 60, 10, FALSE } };
  float stream[STEPS * SAMPLES];
  fill(stream);
  GstHarness *h = new_harness(0.01);
  gst_harness_set_src_caps_str(h, POWER ",rate=1000/1");
  gst_harness_push(h, part(stream, 4, 20));
  gst_harness_push(h, part(stream, 57, 13));
  for (guint i = 0; i < G_N_ELEMENTS(wanted); i++) {
    g_autoptr(GstBuffer) buffer = gst_harness_try_pull(h);
    g_assert_nonnull(buffer);
    g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, wanted[i].number);
    g_assert_cmpint(GST_BUFFER_IS_DISCONT(buffer), ==, wanted[i].discont);
    check_profile(buffer, stream, wanted[i].first, wanted[i].count);
  }
  g_assert_null(gst_harness_try_pull(h));
  gst_harness_teardown(h);
}

/* A GAP buffer counts for nothing; a profile of nothing else is a GAP. A flush forgets. */
static void test_gap_and_flush(void)
{
  float stream[STEPS * SAMPLES];
  fill(stream);
  GstHarness *h = new_harness(0.01);
  gst_harness_set_src_caps_str(h, POWER ",rate=1000/1");
  gst_harness_push(h, part(stream, 0, 5));
  GstBuffer *gap = part(stream, 5, 15);
  GST_BUFFER_FLAG_SET(gap, GST_BUFFER_FLAG_GAP);
  gst_harness_push(h, gap);
  g_autoptr(GstBuffer) first = gst_harness_try_pull(h), second = gst_harness_try_pull(h);
  check_profile(first, stream, 0, 5);
  check_profile(second, stream, 0, 0);
  g_assert_false(GST_BUFFER_FLAG_IS_SET(first, GST_BUFFER_FLAG_GAP));
  g_assert_true(GST_BUFFER_FLAG_IS_SET(second, GST_BUFFER_FLAG_GAP));
  gst_harness_push(h, part(stream, 20, 5));
  gst_harness_push_event(h, gst_event_new_flush_start());
  gst_harness_push_event(h, gst_event_new_flush_stop(TRUE));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(h, gst_event_new_segment(&segment));
  gst_harness_push(h, part(stream, 30, 10));
  g_autoptr(GstBuffer) third = gst_harness_try_pull(h);
  g_assert_cmpuint(GST_BUFFER_OFFSET(third), ==, 3);
  check_profile(third, stream, 30, 10);
  gst_harness_teardown(h);
}

/* The number of bins that the stream has stays, and so does the count of a value that lost none. */
static void test_late_bins(void)
{
  float stream[STEPS * SAMPLES];
  fill(stream);
  GstHarness *h = new_harness(0.1);
  g_autoptr(GstElement) fold = gst_harness_find_element(h, "astrofold");
  gst_harness_set_src_caps_str(h, POWER ",rate=1000/1,frequency=1e9,bandwidth=1e6");
  g_assert_cmpint(gst_harness_push(h, part(stream, 0, 60)), ==, GST_FLOW_OK);
  g_object_set(fold, "bins", 32, NULL);
  g_assert_cmpint(gst_harness_push(h, part(stream, 60, 140)), ==, GST_FLOW_OK);
  for (guint i = 0; i < 2; i++) {
    g_autoptr(GstBuffer) buffer = gst_harness_pull(h);
    check_profile(buffer, stream, (guint64)i * 100, 100);
    g_assert_cmpuint(astro_buffer_get_validity(buffer)->full, ==, (100 + BINS - 1) / BINS);
  }
  gst_harness_teardown(h);
}

/* A sample of power counts where anything is behind its mean. */
static void test_counts(void)
{
  static const AstroLayout counted = { 2,
                                       { ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL },
                                       { 10, CHANNELS } };
  float stream[STEPS * SAMPLES];
  fill(stream);
  GstHarness *h = new_harness(0.01);
  gst_harness_set_src_caps_str(h, POWER ",rate=1000/1,counts=true");
  GstBuffer *buffer = part(stream, 0, 10);
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &counted, 100);
  for (guint t = 0; t < 10; t++)
    meta->counts[t * CHANNELS + 2] = t % 2;
  gst_harness_push(h, buffer);
  g_autoptr(GstBuffer) out = gst_harness_try_pull(h);
  const AstroValidityMeta *found = astro_buffer_get_validity(out);
  guint sums[CHANNELS] = { 0 };
  for (guint i = 0; i < CHANNELS * BINS; i++)
    sums[i / BINS] += found->counts[i];
  g_assert_cmpuint(sums[1], ==, 10);
  g_assert_cmpuint(sums[2], ==, 5);
  gst_harness_teardown(h);
}

/* ---- a simulated pulsar ---- */

typedef struct {
  double phase, width; /* turns */
  double rise;         /* of the peak above the rest, over the rest */
} Pulse;

/* The pulse of a row of bins: its centre by the first harmonic, its width by the bins above half.
 */
static Pulse measure(const float *bins, guint n)
{
  double re = 0, im = 0, least = G_MAXDOUBLE, most = 0;
  guint wide = 0;
  for (guint b = 0; b < n; b++) {
    const double angle = 2 * G_PI * (b + 0.5) / n;
    re += (double)bins[b] * cos(angle);
    im += (double)bins[b] * sin(angle);
    least = MIN(least, (double)bins[b]);
    most = MAX(most, (double)bins[b]);
  }
  for (guint b = 0; b < n; b++)
    wide += (double)bins[b] > (most + least) / 2;
  const double turns = atan2(im, re) / (2 * G_PI);
  return (Pulse){ turns - floor(turns), (double)wide / n, most / least - 1 };
}

/* Channels of a dispersed pulsar of known period, phase, width and dispersion measure line up where
 * they should; without dm they do not. */
static void test_pulsar(void)
{
  enum { N = 64, WIDE = 16 };
  const double period = 0.05, dm = 30, phase = 0.3, width = 0.1;
  g_autofree char *line = g_strdup_printf(
      "astroskysrc stations=1 duration=2 noise=1 frequency=1.5e8 bandwidth=1e6 seed=3 "
      "pulsar=\"0,0,2,period=%g,duty=%g,phase=%g,dm=%g\" ! astrochannelizer channels=16 ! "
      "astropower integration=16 ! astrofold period=%g bins=64 interval=10 dm=",
      period, width, phase, dm, period);
  for (guint with = 0; with < 2; with++) {
    g_autofree char *whole = g_strconcat(line, with ? "30" : "0", NULL);
    g_autoptr(GByteArray) bytes = test_run_line(whole);
    const float *values = (gconstpointer)bytes->data;
    g_assert_cmpuint(bytes->len, ==, WIDE * N * sizeof(float));
    double worst = 0;
    /* The first channel has both edges of the band. */
    for (guint c = 1; c < WIDE; c++) {
      const Pulse pulse = measure(values + c * N, N);
      /* Folded at the centre of the channels, which is half a channel below that of the band. */
      const double late = astro_dispersion_delay(dm, 150e6, 150e6 - 1e6 / 32) / period,
                   off = pulse.phase - phase - late;
      worst = MAX(worst, fabs(off - rint(off)));
      if (with)
        g_assert_cmpfloat(fabs(pulse.width - width), <, 0.05);
    }
    g_test_message("worst channel is %g turns off", worst);
    if (with)
      g_assert_cmpfloat(worst, <, 0.02);
    else
      g_assert_cmpfloat(worst, >, 0.2);
  }
}

/* The dispersion measure of the profiles that a line makes, by their caps. */
static double dm_of_caps(const char *line)
{
  GstElement *pipeline = test_start(line, NULL);
  g_autofree char *error = test_wait(pipeline);
  g_assert_cmpstr(error, ==, NULL);
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(sink, "sink");
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
  AstroStream stream;
  AstroProfile profile;
  g_assert_true(astro_profile_from_caps(&stream, &profile, caps, NULL));
  test_stop(pipeline);
  return profile.dm;
}

/* Behind astrodedisperse the dispersion is not taken out again, and the pulse is where it was in
 * the highest channel. */
static void test_dedispersed(void)
{
  enum { N = 64 };
  const char *line =
      "astroskysrc stations=1 duration=2 noise=1 frequency=1.5e8 bandwidth=1e6 seed=3 "
      "pulsar=\"0,0,2,period=0.05,duty=0.1,phase=0.3,dm=30\" ! astrochannelizer channels=16 ! "
      "astroselect channels=1-15 ! astropower integration=16 ! astrodedisperse dm=30 ! "
      "astrofold period=0.05 bins=64 interval=10";
  g_autoptr(GByteArray) bytes = test_run_line(line);
  g_assert_cmpuint(bytes->len, ==, N * sizeof(float));
  const Pulse pulse = measure((gconstpointer)bytes->data, N);
  /* The middle of the highest of 16 channels, which lie half a channel lower than the band's. */
  const double late = astro_dispersion_delay(30, 150e6, 149.5e6 + 15 * 62.5e3) / 0.05,
               off = pulse.phase - 0.3 - late;
  g_test_message("%g turns off", off - rint(off));
  g_assert_cmpfloat(fabs(off - rint(off)), <, 0.02);
  g_assert_cmpfloat(fabs(pulse.width - 0.1), <, 0.05);
  g_assert_cmpfloat(dm_of_caps(line), ==, 30);
  g_autofree char *another = g_strconcat(line, " dm=31 ! fakesink", NULL);
  test_refused_by(another, "astrofold", "dispersion of 30 taken out already");
  g_autofree char *several = test_replace(line, "dm=30 !", "dm=30,40 !");
  g_autofree char *ended = g_strconcat(several, " ! fakesink", NULL);
  test_refused_by(ended, "astrofold", "expected one");
}

/* ---- an ephemeris ---- */

#define PAR "RAJ 12:34:56.789\nDECJ 56:12:34.56\nF0 10\nPEPOCH 57200\nEPHEM builtin\nDM 0\n"

/* The name of a file with that text, to be removed and freed. */
static char *write_par(const char *text)
{
  g_autoptr(GError) error = NULL;
  char *path = NULL;
  const gint file = g_file_open_tmp("astrofold-XXXXXX.par", &path, &error);
  g_assert_no_error(error);
  g_close(file, NULL);
  g_file_set_contents(path, text, -1, &error);
  g_assert_no_error(error);
  return path;
}

/* The bin of each sample is that of its phase by the ephemeris. */
static void test_ephemeris(void)
{
  g_autofree char *path = write_par(PAR);
  float stream[STEPS * SAMPLES];
  fill(stream);
  g_autofree char *line =
      g_strdup_printf("astrofold backend=cpu ephemeris=%s bins=%d interval=1", path, BINS);
  GstHarness *h = gst_harness_new_parse(line);
  AstroObservation *observation = astro_observation_new(1);
  observation->positions[0] = 3826577.462;
  observation->positions[1] = 461022.624;
  observation->positions[2] = 5064892.526;
  g_assert_true(astro_observation_set_start(observation, "2015-07-01T06:00:00", NULL));
  observation->earth = astro_earth_new_none();
  gst_harness_set_src_caps_str(h, POWER ",rate=1000/1,frequency=1e9,bandwidth=1e6");
  gst_harness_push_event(h, astro_observation_to_event(observation));
  gst_harness_push(h, part(stream, 0, STEPS));
  gst_harness_push_event(h, gst_event_new_eos());
  g_autoptr(GstBuffer) out = gst_harness_try_pull(h);
  g_assert_nonnull(out);
  g_autoptr(AstroPhases) phases =
      astro_phases_new(astro_ephemeris_open(path, NULL), NULL, observation, 1e9, NULL);
  guint32 counts[BINS] = { 0 };
  for (guint t = 0; t < STEPS; t++) {
    long double turns;
    g_assert_true(astro_phases_exact(phases, ((long double)t + 0.5L) / RATE, 1e9, &turns, NULL));
    counts[(guint)((turns - floorl(turns)) * BINS)]++;
  }
  const AstroValidityMeta *meta = astro_buffer_get_validity(out);
  g_assert_cmpmem(meta->counts, sizeof counts, counts, sizeof counts);
  gst_harness_teardown(h);
  astro_observation_unref(observation);
  g_remove(path);
}

/* ---- refused ---- */

static const struct {
  const char *fields, *caps, *par, *word;
} bad[] = {
  { "period=0.001", ",rate=1000/1", NULL, "two samples or more" },
  { "period=0.1", "", NULL, "rate" },
  { "period=0.1 interval=0", ",rate=1000/1", NULL, "property interval" },
  { "period=0.1 dm=5", ",rate=1000/1", NULL, "have no frequency" },
  { "period=0.1 dm=5", ",rate=1000/1,frequency=1e9", NULL, "have no bandwidth" },
  { "", ",rate=1000/1", NULL, "period is not set" },
  { "period=0.1 planets=x.bsp", ",rate=1000/1", NULL, "planets is set without ephemeris" },
  { "period=0.1 dm=-0.5", ",rate=1000/1", NULL, "dm is negative" },
  { "ephemeris=nowhere.par", ",rate=1000/1", NULL, "nowhere.par" },
  { "period=0.1", ",rate=1000/1", PAR, "both set" },
  { "", ",rate=1000/1", PAR "BINARY DD\n", ":7: \"BINARY\"" },
  { "", ",rate=1000/1", PAR, "astroobserve" },
};

static void test_refusals(void)
{
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autofree char *path = bad[i].par ? write_par(bad[i].par) : NULL;
    g_autofree char *line = g_strdup_printf(
        "fakesrc num-buffers=1 sizetype=fixed sizemax=320 filltype=zero ! " POWER "%s ! "
        "astrofold %s %s%s ! fakesink",
        bad[i].caps, bad[i].fields, path ? "ephemeris=" : "", path ? path : "");
    test_refused_by(line, "astrofold", bad[i].word);
    if (path)
      g_remove(path);
  }
}

static void add_tests(void)
{
  g_test_add_func("/astrofold/intervals", test_intervals);
  g_test_add_func("/astrofold/jump", test_jump);
  g_test_add_func("/astrofold/gap-and-flush", test_gap_and_flush);
  g_test_add_func("/astrofold/late-bins", test_late_bins);
  g_test_add_func("/astrofold/counts", test_counts);
  g_test_add_func("/astrofold/pulsar", test_pulsar);
  g_test_add_func("/astrofold/dedispersed", test_dedispersed);
  g_test_add_func("/astrofold/ephemeris", test_ephemeris);
  g_test_add_func("/astrofold/refused", test_refusals);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
