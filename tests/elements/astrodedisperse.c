/* Dedispersed power of streams that are cut anywhere, broken or damaged; its caps, counts, times
 * and observation; a simulated burst; and what is refused. */
#include "core/dedisperse/dedisperse.h"
#include "core/stream/observation.h"
#include "core/stream/validity.h"
#include "tests/elements/elements.h"
#include "tests/elements/running.h"

#include <math.h>

#define CHANNELS 16
#define STEPS 400
#define DMS 3
#define FIELDS "channels=16,pols=1,products=I,frequency=(double)1.4e9,bandwidth=(double)4e8"
#define POWER "application/x-astro-power,format=F32LE,layout=time:pol:channel,rate=1000/1," FIELDS

static const double dms[DMS] = { 0, 20, 40 };

static guint32 *find_delays(guint64 *reach)
{
  AstroDedisperseConfig config = { .stations = 1,
                                   .pols = 1,
                                   .channels = CHANNELS,
                                   .frequency = 1.4e9,
                                   .bandwidth = 4e8,
                                   .rate = 1000,
                                   .n_dms = DMS,
                                   .dms = dms };
  *reach = astro_dedisperse_reach(&config);
  return astro_dedisperse_delays(&config);
}

/* Whole numbers, so that sums are exact. */
static float value_at(guint64 step, guint channel)
{
  return (float)((step * 37 + channel * 101) % 997);
}

static GstBuffer *part(guint64 first, guint64 count)
{
  float *data = g_new(float, count *CHANNELS);
  for (guint64 t = 0; t < count; t++)
    for (guint c = 0; c < CHANNELS; c++)
      data[t * CHANNELS + c] = value_at(first + t, c);
  GstBuffer *buffer = gst_buffer_new_wrapped(data, count * CHANNELS * sizeof *data);
  GST_BUFFER_OFFSET(buffer) = first;
  GST_BUFFER_OFFSET_END(buffer) = first + count;
  return buffer;
}

static GstHarness *new_harness(const char *dm)
{
  g_autofree char *line = g_strdup_printf("astrodedisperse backend=cpu dm=%s", dm);
  GstHarness *h = gst_harness_new_parse(line);
  g_autoptr(AstroObservation) observation = astro_observation_new(1);
  gst_harness_set_src_caps_str(h, POWER);
  gst_harness_push_event(h, astro_observation_to_event(observation));
  return h;
}

/* Values and counts of what came out, by their steps. */
typedef struct {
  gboolean there[STEPS], discont[STEPS];
  float values[STEPS][DMS];
  guint32 counts[STEPS][DMS];
  guint32 full;
} Output;

static void read_counts(Output *output, GstBuffer *buffer, guint64 steps)
{
  const AstroLayout shape = {
    4, { ASTRO_AXIS_TIME, ASTRO_AXIS_DM, ASTRO_AXIS_POL, ASTRO_AXIS_CHANNEL }, { steps, DMS, 1, 1 }
  };
  const AstroValidityMeta *meta = astro_buffer_get_validity(buffer);
  g_autoptr(GError) error = NULL;
  g_assert_nonnull(meta);
  astro_validity_check(meta, &shape, &error);
  g_assert_no_error(error);
  output->full = meta->full;
  for (guint64 t = 0; t < steps; t++)
    for (guint d = 0; d < DMS; d++) {
      const guint64 index[ASTRO_MAX_AXES] = { t, d, 0, 0 };
      output->counts[GST_BUFFER_OFFSET(buffer) + t][d] = astro_validity_at(meta, &shape, index);
    }
}

static Output *pull(GstHarness *h)
{
  Output *output = g_new0(Output, 1);
  GstBuffer *buffer;
  while ((buffer = gst_harness_try_pull(h))) {
    const guint64 first = GST_BUFFER_OFFSET(buffer), steps = GST_BUFFER_OFFSET_END(buffer) - first;
    g_assert_cmpuint(GST_BUFFER_PTS(buffer), ==, first * GST_MSECOND);
    g_assert_cmpuint(GST_BUFFER_DURATION(buffer), ==, steps * GST_MSECOND);
    g_assert_cmpuint(first + steps, <=, STEPS);
    g_assert_cmpuint(gst_buffer_extract(buffer, 0, output->values[first], steps * DMS * 4), ==,
                     steps * DMS * 4);
    output->discont[first] = GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT);
    for (guint64 t = 0; t < steps; t++) {
      g_assert_false(output->there[first + t]);
      output->there[first + t] = TRUE;
    }
    read_counts(output, buffer, steps);
    gst_buffer_unref(buffer);
  }
  return output;
}

/* Checks the output where those steps came, and were good: means of what is there. */
static void check(const Output *output, const gboolean *came, const gboolean *expected,
                  guint32 weight)
{
  guint64 reach;
  g_autofree guint32 *delays = find_delays(&reach);
  for (guint64 t = 0; t < STEPS; t++) {
    g_assert_cmpint(output->there[t], ==, expected[t]);
    for (guint d = 0; d < DMS && expected[t]; d++) {
      double sum = 0;
      guint n = 0;
      for (guint c = 0; c < CHANNELS; c++) {
        const guint64 at = t + delays[d * CHANNELS + c];
        if (at < STEPS && came[at]) {
          sum += (double)value_at(at, c);
          n++;
        }
      }
      g_assert_cmpuint(output->counts[t][d], ==, n * weight);
      g_assert_cmpfloat(output->values[t][d], ==, n ? (float)(sum / n) : 0);
    }
  }
  g_assert_cmpuint(output->full, ==, CHANNELS * weight);
}

static void set_range(gboolean *flags, guint from, guint to, gboolean value)
{
  for (guint i = from; i < to; i++)
    flags[i] = value;
}

/* Buffers of any length give the same, up to the last step that came. */
static void test_cuts(void)
{
  static const guint cuts[][5] = { { 400 }, { 13, 1, 200, 86, 100 }, { 399, 1 } };
  gboolean came[STEPS];
  set_range(came, 0, STEPS, TRUE);
  for (guint i = 0; i < G_N_ELEMENTS(cuts); i++) {
    GstHarness *h = new_harness("0,20,40");
    guint64 at = 0;
    for (guint c = 0; c < 5 && cuts[i][c]; at += cuts[i][c++])
      g_assert_cmpint(gst_harness_push(h, part(at, cuts[i][c])), ==, GST_FLOW_OK);
    gst_harness_push_event(h, gst_event_new_eos());
    g_autofree Output *output = pull(h);
    check(output, came, came, 1);
    g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad),
                       wanted = gst_caps_from_string(
                           "application/x-astro-power,format=F32LE,layout=time:dm:pol:channel,"
                           "rate=1000/1,channels=1,dms=3,pols=1,products=I,"
                           "frequency=(double)1.4e9,bandwidth=(double)4e8,counts=true");
    g_assert_true(gst_caps_is_equal(caps, wanted));
    gst_harness_teardown(h);
  }
}

/* The observation has the trials, and the frequency of the highest channel; latency is told. */
static void test_observation(void)
{
  GstHarness *h = new_harness("0:40:20");
  guint64 reach;
  g_autofree guint32 *delays = find_delays(&reach);
  gst_harness_push(h, part(0, 200));
  g_autoptr(GstEvent) event =
      gst_pad_get_sticky_event(h->sinkpad, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, 0);
  g_autoptr(AstroObservation) o = astro_observation_from_event(event, NULL);
  g_assert_cmpuint(o->n_dms, ==, DMS);
  for (guint i = 0; i < DMS; i++)
    g_assert_cmpfloat(o->dms[i], ==, dms[i]);
  g_assert_cmpfloat(o->dm_frequency, ==, 1.4e9 + 2e8 - 4e8 / CHANNELS / 2);
  g_assert_cmpuint(gst_harness_query_latency(h), >=, reach * GST_MSECOND);
  gst_harness_teardown(h);
}

typedef enum { JUMP, GAP_BUFFER, GAP_PIECES } Loss;

static void push_lost(GstHarness *h, guint from, guint to, Loss loss)
{
  const guint step = loss == GAP_PIECES ? 7 : to - from;
  for (guint at = from; loss != JUMP && at < to; at += step) {
    GstBuffer *buffer = part(at, MIN(step, to - at));
    GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_GAP);
    g_assert_cmpint(gst_harness_push(h, buffer), ==, GST_FLOW_OK);
  }
}

/* A gap, however it is said, leaves the channels that have something, and counts them; nothing
 * comes out where a gap longer than the longest delay is, and the stream goes on after it. */
static void test_gaps(void)
{
  guint64 reach;
  g_autofree guint32 *delays = find_delays(&reach);
  g_assert_cmpuint(reach, >, 20);
  g_assert_cmpuint(reach, <, 60);
  for (Loss loss = JUMP; loss <= GAP_PIECES; loss++)
    for (guint long_gap = 0; long_gap < 2; long_gap++) {
      const guint from = 100, to = long_gap ? 190 : 115;
      gboolean came[STEPS], expected[STEPS];
      set_range(came, 0, STEPS, TRUE);
      set_range(came, from, to, FALSE);
      set_range(expected, 0, STEPS, TRUE);
      if (long_gap)
        set_range(expected, from, to, FALSE);
      GstHarness *h = new_harness("0,20,40");
      gst_harness_push(h, part(0, from));
      push_lost(h, from, to, loss);
      gst_harness_push(h, part(to, STEPS - to));
      gst_harness_push_event(h, gst_event_new_eos());
      g_autofree Output *output = pull(h);
      check(output, came, expected, 1);
      g_assert_cmpint(output->discont[to], ==, long_gap);
      gst_harness_teardown(h);
    }
}

/* A stream that ends in a gap ends with what came. */
static void test_gap_at_the_end(void)
{
  gboolean came[STEPS];
  set_range(came, 0, STEPS, TRUE);
  set_range(came, 300, STEPS, FALSE);
  for (guint end = 310; end <= STEPS; end += 90) {
    GstHarness *h = new_harness("0,20,40");
    gst_harness_push(h, part(0, 300));
    push_lost(h, 300, end, GAP_PIECES);
    gst_harness_push_event(h, gst_event_new_eos());
    g_autofree Output *output = pull(h);
    check(output, came, came, 1);
    gst_harness_teardown(h);
  }
}

/* Counts weigh, and are added up: half of the samples are behind step 50. */
static void test_counts(void)
{
  guint64 reach;
  g_autofree guint32 *delays = find_delays(&reach);
  GstHarness *h = new_harness("0,20,40");
  GstBuffer *buffer = part(0, STEPS);
  const AstroLayout shape = { 1, { ASTRO_AXIS_TIME }, { STEPS } };
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &shape, 10);
  meta->slowest_first = TRUE;
  meta->counts[50] = 5;
  meta->counts[51] = 0;
  gst_harness_push(h, buffer);
  gst_harness_push_event(h, gst_event_new_eos());
  g_autofree Output *output = pull(h);
  g_assert_cmpuint(output->full, ==, 160);
  for (guint64 t = 0; t < STEPS; t++)
    for (guint d = 0; d < DMS; d++) {
      double sum = 0;
      guint32 weights = 0;
      for (guint c = 0; c < CHANNELS; c++) {
        const guint64 at = t + delays[d * CHANNELS + c];
        const guint32 weight = at >= STEPS ? 0 : at == 50 ? 5 : at == 51 ? 0 : 10;
        sum += (double)value_at(at, c) * weight;
        weights += weight;
      }
      g_assert_cmpuint(output->counts[t][d], ==, weights);
      g_assert_cmpfloat_with_epsilon(output->values[t][d], weights ? sum / weights : 0, 1e-3);
    }
  gst_harness_teardown(h);
}

/* Beams and products go through side by side, in any order, with counts for each beam. */
static void test_beams(void)
{
  enum { BEAMS = 2, POLS = 2, N = 100 };
  guint64 reach;
  g_autofree guint32 *delays = find_delays(&reach);
  GstHarness *h = gst_harness_new_parse("astrodedisperse backend=cpu dm=20");
  gst_harness_set_src_caps_str(
      h, "application/x-astro-power,format=F32LE,layout=beam:time:channel:pol,rate=1000/1,beams=2,"
         "channels=16,pols=2,products=XX:YY,frequency=(double)1.4e9,bandwidth=(double)4e8");
  float *data = g_new(float, BEAMS *N *CHANNELS *POLS);
  for (guint b = 0; b < BEAMS; b++)
    for (guint t = 0; t < N; t++)
      for (guint c = 0; c < CHANNELS; c++)
        for (guint p = 0; p < POLS; p++)
          data[((b * N + t) * CHANNELS + c) * POLS + p] =
              value_at(t, c) + (float)(1000 * b + 3000 * p);
  GstBuffer *in = gst_buffer_new_wrapped(data, BEAMS * N * CHANNELS * POLS * sizeof *data);
  const AstroLayout counted = { 2, { ASTRO_AXIS_BEAM, ASTRO_AXIS_TIME }, { BEAMS, N } };
  AstroValidityMeta *meta = astro_buffer_add_validity(in, &counted, 4);
  meta->counts[N + 60] = 0; /* step 60 of the second beam */
  gst_harness_push(h, in);
  gst_harness_push_event(h, gst_event_new_eos());
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad),
                     wanted = gst_caps_from_string(
                         "application/x-astro-power,format=F32LE,layout=time:beam:pol:channel,"
                         "rate=1000/1,beams=2,channels=1,pols=2,products=XX:YY,"
                         "frequency=(double)1.4e9,bandwidth=(double)4e8,counts=true");
  g_assert_true(gst_caps_is_equal(caps, wanted));
  guint64 steps = 0;
  GstBuffer *out;
  for (; (out = gst_harness_try_pull(h)); gst_buffer_unref(out)) {
    GstMapInfo map;
    g_assert_true(gst_buffer_map(out, &map, GST_MAP_READ));
    const float *values = (const float *)(gconstpointer)map.data;
    const guint64 first = GST_BUFFER_OFFSET(out), n = GST_BUFFER_OFFSET_END(out) - first;
    const AstroLayout shape = {
      4, { ASTRO_AXIS_TIME, ASTRO_AXIS_BEAM, ASTRO_AXIS_POL, ASTRO_AXIS_CHANNEL }, { n, 2, 2, 1 }
    };
    const AstroValidityMeta *counts = astro_buffer_get_validity(out);
    g_assert_true(astro_validity_check(counts, &shape, NULL));
    for (guint64 t = 0; t < n; t++)
      for (guint b = 0; b < BEAMS; b++)
        for (guint p = 0; p < POLS; p++) {
          const guint64 index[ASTRO_MAX_AXES] = { t, b, p, 0 };
          double sum = 0;
          guint good = 0;
          for (guint c = 0; c < CHANNELS; c++) {
            const guint64 at = first + t + delays[CHANNELS + c];
            if (at >= N || (b == 1 && at == 60))
              continue;
            sum += (double)value_at(at, c) + 1000 * b + 3000 * p;
            good++;
          }
          g_assert_cmpuint(astro_validity_at(counts, &shape, index), ==, 4 * good);
          g_assert_cmpfloat_with_epsilon(values[(t * BEAMS + b) * POLS + p], sum / good, 1e-3);
        }
    gst_buffer_unmap(out, &map);
    steps += n;
  }
  g_assert_cmpuint(steps, ==, N);
  gst_harness_teardown(h);
}

/* A flush forgets what is held; the stream begins anew. */
static void test_flush(void)
{
  gboolean came[STEPS], expected[STEPS];
  set_range(came, 0, STEPS, FALSE);
  set_range(came, 200, STEPS, TRUE);
  set_range(expected, 0, STEPS, FALSE);
  set_range(expected, 200, STEPS, TRUE);
  GstHarness *h = new_harness("0,20,40");
  GstSegment segment;
  gst_harness_push(h, part(0, 30));
  gst_harness_push_event(h, gst_event_new_flush_start());
  gst_harness_push_event(h, gst_event_new_flush_stop(TRUE));
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(h, gst_event_new_segment(&segment));
  gst_harness_push(h, part(200, STEPS - 200));
  gst_harness_push_event(h, gst_event_new_eos());
  g_autofree Output *output = pull(h);
  check(output, came, expected, 1);
  gst_harness_teardown(h);
}

#define BURST                                                                                      \
  "astroskysrc stations=1 duration=1 frequency=150e6 burst=0,0,0.05,time=0.3,width=0.005,dm=50 "   \
  "noise=1 ! astrochannelizer channels=64 ! astropower integration-time=0.001 ! "

/* A simulated burst has most power at its dispersion measure, when it was in the highest channel.
 */
static void test_burst(void)
{
  enum { TRIALS = 51 };
  static const char *const backends[] = { "cpu", "reference" };
  const double step = 16 * 64e-6, top = 150e6 + 5e5 - 1e6 / 128;
  const double at = 0.3 - 4.148808e15 * 50 * (1 / (150e6 * 150e6) - 1 / (top * top));
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_autofree char *line =
        g_strconcat(BURST "astrodedisperse dm=0:100:2 backend=", backends[b], NULL);
    GstElement *pipeline = test_start(line, bytes);
    g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
    g_autoptr(GstMessage) end =
        gst_bus_timed_pop_filtered(bus, TEST_PATIENCE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    g_assert_nonnull(end);
    g_assert_cmpint(GST_MESSAGE_TYPE(end), ==, GST_MESSAGE_EOS);
    test_stop(pipeline);
    const float *values = (const float *)(gconstpointer)bytes->data;
    guint best = 0;
    for (guint i = 0; i < bytes->len / sizeof(float); i++)
      best = values[i] > values[best] ? i : best;
    g_assert_cmpuint(best % TRIALS, ==, 25);
    g_assert_cmpfloat_with_epsilon((best / TRIALS + 0.5) * step, at, 0.0025);
  }
}

static void test_refusals(void)
{
#define RAW(caps) "fakesrc num-buffers=1 sizetype=fixed sizemax=64 ! " caps " ! "
  static const struct {
    const char *line, *says;
  } cases[] = {
    { RAW(POWER) "astrodedisperse ! fakesink", "property dm: no value" },
    { RAW(POWER) "astrodedisperse dm=a ! fakesink", "\"a\": expected a number" },
    { RAW(POWER) "astrodedisperse dm=1:2 ! fakesink", "\"1:2\": expected a number" },
    { RAW(POWER) "astrodedisperse dm=5:2:1 ! fakesink", "TO not below FROM" },
    { RAW(POWER) "astrodedisperse dm=1:2:0 ! fakesink", "a step above 0" },
    { RAW(POWER) "astrodedisperse dm=2,1 ! fakesink", "dm 1 follows 2" },
    { RAW(POWER) "astrodedisperse dm=-1 ! fakesink", "dm -1 is not possible" },
    { RAW(POWER) "astrodedisperse dm=2e5 ! fakesink", "dm 200000 is not possible" },
    { RAW(POWER) "astrodedisperse dm=0:1000:0.001 ! fakesink", "more than 65536 values" },
    { RAW(POWER) "astrodedisperse dm=1,2 ! fakesink", "the stream has no observation" },
    { BURST "astrodedisperse dm=1 ! astrodedisperse dm=2 ! fakesink",
      "dispersion was taken out of the stream already" },
    { RAW("application/x-astro-power,format=F32LE,layout=time:pol:channel," FIELDS) "astrodedispers"
                                                                                    "e dm=1 ! "
                                                                                    "fakesink",
      "the rate of the power is not known" },
    { RAW("application/x-astro-power,format=F32LE,layout=time:pol:channel,channels=16,pols=1,"
          "products=I,rate=1000/1") "astrodedisperse dm=1 ! fakesink",
      "the frequency and the width of the band" },
    { RAW("application/x-astro-power,format=F32LE,layout=time:pol:channel,channels=16,pols=1,"
          "products=I,rate=1000/1,frequency=(double)1e6,bandwidth=(double)4e6") "astrodedisperse "
                                                                                "dm=1 ! fakesink",
      "expected frequencies on the sky" },
    { RAW("application/x-astro-power,format=F32LE,layout=time:dm:channel,channels=8,dms=2,pols=1,"
          "products=I,rate=1000/1,frequency=(double)1e9,bandwidth=(double)4e6") "astrodedisperse "
                                                                                "dm=1 ! fakesink",
      "its dispersion is still to be taken out" },
    { RAW("application/x-astro-power,format=F32LE,layout=time:pol:channel,channels=100000,pols=1,"
          "products=I,rate=1000000/1,frequency=(double)1e8,bandwidth=(double)1e8") "astrodedisperse"
                                                                                   " dm=1000 ! "
                                                                                   "fakesink",
      "bytes, and this machine has" },
    { RAW(POWER) "astrodedisperse dm=1 backend=cuda ! fakesink", "backend=cuda: " },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    test_refused_by(cases[i].line, "astrodedisperse", cases[i].says);
}

/* Starts and stops, with a stream that ends while steps are held each time. */
static void test_cycles(void)
{
  g_autoptr(GstElement) pipeline =
      gst_parse_launch("fakesrc num-buffers=3 sizetype=fixed sizemax=6400 filltype=zero ! " POWER
                       " ! astrodedisperse dm=20 ! fakesink sync=false",
                       NULL);
  for (guint i = 0; i < 200 / TEST_STEP; i++) {
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    if (i % 10 == 0)
      gst_element_get_state(pipeline, NULL, NULL, TEST_PATIENCE);
    gst_element_set_state(pipeline, i % 2 ? GST_STATE_READY : GST_STATE_NULL);
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
}

static void add_tests(void)
{
  g_test_add_func("/astrodedisperse/cuts", test_cuts);
  g_test_add_func("/astrodedisperse/observation", test_observation);
  g_test_add_func("/astrodedisperse/gaps", test_gaps);
  g_test_add_func("/astrodedisperse/gap-at-the-end", test_gap_at_the_end);
  g_test_add_func("/astrodedisperse/counts", test_counts);
  g_test_add_func("/astrodedisperse/beams", test_beams);
  g_test_add_func("/astrodedisperse/flush", test_flush);
  g_test_add_func("/astrodedisperse/burst", test_burst);
  g_test_add_func("/astrodedisperse/refused", test_refusals);
  g_test_add_func("/astrodedisperse/cycles", test_cycles);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
