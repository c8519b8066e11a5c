/* Coherent dedispersion of voltages and spectra: a simulated burst recovers its width; streams that
 * are cut anywhere or broken; caps, counts, times and observation. */
#include "core/dedisperse/coherent.h"
#include "core/stream/observation.h"
#include "core/stream/validity.h"
#include "tests/elements/elements.h"
#include "tests/elements/running.h"

#include <math.h>

/* ---- a burst ---- */

#define WIDTH 0.002
#define BURST                                                                                      \
  "astroskysrc stations=1 duration=0.4 frequency=150e6 burst=0,0,1,time=0.2,width=0.002,dm=10 "    \
  "noise=0 "

/* The middle and the full width at half maximum of a Gaussian, from the moments of the power around
 * its time, less the power of the first half of what came before. */
static void measure(const GByteArray *bytes, guint samples, double step, double first_time,
                    double *middle, double *width)
{
  const float complex *values = (const float complex *)(gconstpointer)bytes->data;
  const guint64 n = bytes->len / sizeof *values / samples;
  const guint64 from = (guint64)((0.2 - 3 * WIDTH - first_time) / step),
                to = (guint64)((0.2 + 3 * WIDTH - first_time) / step);
  g_autofree double *power = g_new0(double, n);
  double background = 0, total = 0, first = 0, second = 0;
  g_assert_cmpuint(to, <, n);
  for (guint64 i = 0; i < n * samples; i++)
    power[i / samples] += pow((double)cabsf(values[i]), 2);
  for (guint64 i = 0; i < from / 2; i++)
    background += power[i] / (double)(from / 2);
  for (guint64 i = from; i < to; i++) {
    total += power[i] - background;
    first += (power[i] - background) * (double)i;
  }
  first /= total;
  for (guint64 i = from; i < to; i++)
    second += (power[i] - background) / total * pow((double)i - first, 2);
  *middle = first_time + first * step;
  *width = 2 * sqrt(2 * G_LN2 * second) * step;
}

static GByteArray *play(const char *line)
{
  GByteArray *bytes = g_byte_array_new();
  GstElement *pipeline = test_start(line, bytes);
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  g_autoptr(GstMessage) end =
      gst_bus_timed_pop_filtered(bus, TEST_PATIENCE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_nonnull(end);
  g_assert_cmpint(GST_MESSAGE_TYPE(end), ==, GST_MESSAGE_EOS);
  test_stop(pipeline);
  return bytes;
}

/* The burst is as short as it was sent, at its time, in voltages and in all channels of spectra
 * together; it was spread over 25 ms. Long filters of the filter bank keep what a channel has of
 * its neighbours small: that has the wrong dispersion. The lowest channel has both edges of the
 * band. */
static void test_burst(void)
{
  static const struct {
    const char *line;
    guint samples; /* of a step */
    double step;
    guint64 begins; /* the step with which the filter bank begins */
  } cases[] = {
    { BURST "! application/x-astro-voltages,format=CF32LE ! astrodedisperse dm=10", 2, 1e-6, 0 },
    { BURST "! application/x-astro-voltages,format=CI16LE ! astrochannelizer channels=16 taps=32 ! "
            "astrotranspose layout=time:station:pol:channel ! astroselect channels=1- ! "
            "astrodedisperse dm=10",
      30, 16e-6, 16 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    const double dm = 10;
    const gboolean spectra = i == 1;
    const AstroDedisperseConfig config = { .coherent = TRUE,
                                           .from = ASTRO_FORMAT_CF32LE,
                                           .stations = 1,
                                           .pols = 2,
                                           .channels = spectra ? 15 : 1,
                                           .frequency = 150e6,
                                           .bandwidth = spectra ? 15e6 / 16 : 1e6,
                                           .rate = spectra ? 1e6 / 16 : 1e6,
                                           .n_dms = 1,
                                           .dms = &dm };
    AstroDedisperseFilter filter;
    double at, width;
    g_assert_true(astro_dedisperse_filter_init(&filter, &config, NULL));
    g_autoptr(GByteArray) bytes = play(cases[i].line);
    measure(bytes, cases[i].samples, cases[i].step,
            (double)(cases[i].begins + astro_dedisperse_filter_first(&filter)) * cases[i].step, &at,
            &width);
    g_test_message("at %.9g s, %.4g ms wide", at, width * 1e3);
    g_assert_cmpfloat_with_epsilon(width / WIDTH, 1, 0.05);
    g_assert_cmpfloat_with_epsilon(at, 0.2, 2e-4);
    astro_dedisperse_filter_clear(&filter);
  }
}

/* ---- streams ---- */

#define STEPS 6000
#define FIELDS "layout=time:pol,pols=2,rate=100000/1,frequency=(double)1.5e8,bandwidth=(double)1e5"
#define VOLTAGES "application/x-astro-voltages,format=CI8," FIELDS
static const double dm = 2;

static void init_filter(AstroDedisperseFilter *filter)
{
  const AstroDedisperseConfig config = { .coherent = TRUE,
                                         .from = ASTRO_FORMAT_CI8,
                                         .stations = 1,
                                         .pols = 2,
                                         .channels = 1,
                                         .frequency = 1.5e8,
                                         .bandwidth = 1e5,
                                         .rate = 1e5,
                                         .n_dms = 1,
                                         .dms = &dm };
  g_assert_true(astro_dedisperse_filter_init(filter, &config, NULL));
}

static GstBuffer *part(guint64 first, guint64 count)
{
  guint8 *data = g_malloc(STEPS * 4);
  test_fill(data, STEPS * 4, 3);
  GstBuffer *buffer = gst_buffer_new_memdup(data + first * 4, count * 4);
  g_free(data);
  GST_BUFFER_OFFSET(buffer) = first;
  GST_BUFFER_OFFSET_END(buffer) = first + count;
  return buffer;
}

static GstHarness *new_harness(void)
{
  GstHarness *h = gst_harness_new_parse("astrodedisperse backend=cpu dm=2");
  g_autoptr(AstroObservation) observation = astro_observation_new(1);
  gst_harness_set_src_caps_str(h, VOLTAGES);
  gst_harness_push_event(h, astro_observation_to_event(observation));
  return h;
}

typedef struct {
  gboolean there[STEPS];
  float complex values[STEPS][2];
  guint32 counts[STEPS], full;
} Output;

static Output *pull(GstHarness *h)
{
  Output *output = g_new0(Output, 1);
  GstBuffer *buffer;
  while ((buffer = gst_harness_try_pull(h))) {
    const guint64 first = GST_BUFFER_OFFSET(buffer), steps = GST_BUFFER_OFFSET_END(buffer) - first;
    const AstroLayout shape = { 2, { ASTRO_AXIS_TIME, ASTRO_AXIS_POL }, { steps, 2 } };
    const AstroValidityMeta *meta = astro_buffer_get_validity(buffer);
    g_assert_cmpuint(first + steps, <=, STEPS);
    g_assert_cmpuint(GST_BUFFER_PTS(buffer), ==, first * 10000);
    g_assert_nonnull(meta);
    g_assert_true(astro_validity_check(meta, &shape, NULL));
    output->full = meta->full;
    g_assert_cmpuint(gst_buffer_extract(buffer, 0, output->values[first], steps * 16), ==,
                     steps * 16);
    for (guint64 t = 0; t < steps; t++) {
      const guint64 index[ASTRO_MAX_AXES] = { t, 0 };
      g_assert_false(output->there[first + t]);
      output->there[first + t] = TRUE;
      output->counts[first + t] = astro_validity_at(meta, &shape, index);
    }
    gst_buffer_unref(buffer);
  }
  return output;
}

/* All cuts give the same bits; what needs samples beyond the ends is left out. */
static void test_cuts(void)
{
  static const guint cuts[][4] = { { STEPS }, { 13, 2000, 1, STEPS - 2014 }, { STEPS - 1, 1 } };
  g_autofree Output *expected = NULL;
  AstroDedisperseFilter filter;
  init_filter(&filter);
  for (guint i = 0; i < G_N_ELEMENTS(cuts); i++) {
    GstHarness *h = new_harness();
    guint64 at = 0;
    for (guint c = 0; c < 4 && cuts[i][c]; at += cuts[i][c++])
      g_assert_cmpint(gst_harness_push(h, part(at, cuts[i][c])), ==, GST_FLOW_OK);
    gst_harness_push_event(h, gst_event_new_eos());
    Output *output = pull(h);
    const guint64 first = astro_dedisperse_filter_first(&filter);
    for (guint64 t = 0; t < STEPS; t++) {
      g_assert_cmpint(output->there[t], ==, t >= first && t < first + STEPS - filter.reach);
      if (output->there[t])
        g_assert_cmpuint(output->counts[t], ==, filter.taps);
    }
    g_assert_cmpuint(output->full, ==, filter.taps);
    if (expected)
      g_assert_cmpmem(output, sizeof *output, expected, sizeof *expected);
    g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad),
                       wanted = gst_caps_from_string(
                           "application/x-astro-voltages,format=CF32LE," FIELDS ",counts=true");
    g_assert_true(gst_caps_is_equal(caps, wanted));
    g_autoptr(GstEvent) event =
        gst_pad_get_sticky_event(h->sinkpad, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, 0);
    g_autoptr(AstroObservation) o = astro_observation_from_event(event, NULL);
    g_assert_cmpuint(o->n_dms, ==, 1);
    g_assert_cmpfloat(o->dms[0], ==, 2);
    g_assert_cmpfloat(o->dm_frequency, ==, 1.5e8);
    g_assert_cmpuint(gst_harness_query_latency(h), >=, filter.reach * 10000);
    gst_harness_teardown(h);
    g_free(expected);
    expected = output;
  }
  astro_dedisperse_filter_clear(&filter);
}

static GstBuffer *gap(guint64 first, guint64 count)
{
  GstBuffer *buffer = part(first, count);
  GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_GAP);
  return buffer;
}

/* A short gap, however it is said, is missing from the values that it touches, and counted; around
 * a long one, nothing comes out that would need it. */
static void test_gaps(void)
{
  enum { AT = 3000, SHORT = 20 };
  AstroDedisperseFilter filter;
  init_filter(&filter);
  for (guint how = 0; how < 2; how++)
    for (guint is_long = 0; is_long < 2; is_long++) {
      const guint64 to = AT + (is_long ? filter.reach + 100 : SHORT),
                    first = astro_dedisperse_filter_first(&filter);
      GstHarness *h = new_harness();
      gst_harness_push(h, part(0, AT));
      if (how == 1) {
        gst_harness_push(h, gap(AT, 7));
        gst_harness_push(h, gap(AT + 7, to - AT - 7));
      }
      gst_harness_push(h, part(to, STEPS - to));
      gst_harness_push_event(h, gst_event_new_eos());
      g_autofree Output *output = pull(h);
      for (guint64 t = 0; t < STEPS; t++) {
        const guint64 from = t - first, end = from + filter.taps;
        const gboolean fits = t >= first && end <= STEPS;
        const gboolean touches = fits && from < to && end > AT;
        g_assert_cmpint(output->there[t], ==, fits && !(is_long && touches));
        if (output->there[t])
          g_assert_cmpuint(output->counts[t], ==,
                           filter.taps - (touches ? MIN(end, to) - MAX(from, AT) : 0));
      }
      gst_harness_teardown(h);
    }
  astro_dedisperse_filter_clear(&filter);
}

static void test_refusals(void)
{
  static const struct {
    const char *line, *says;
  } cases[] = {
    { BURST "! astrodedisperse dm=1,2 ! fakesink", "expected one for voltages and spectra" },
    { BURST "! application/x-astro-voltages,format=I8 ! astrodedisperse dm=1 ! fakesink",
      "real voltages become complex in astrochannelizer" },
    { BURST "! astrodedisperse dm=1 ! astrodedisperse dm=1 ! fakesink",
      "dispersion was taken out of the stream already" },
    { "astroskysrc stations=1 duration=0.1 frequency=0.6e6 ! astrodedisperse dm=1e5 ! fakesink",
      "smears the lowest channel" },
    { "fakesrc num-buffers=1 sizetype=fixed sizemax=64 ! "
      "application/x-astro-voltages,format=CI8,layout=time ! astrodedisperse dm=1 ! fakesink",
      "expected both in the caps" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    test_refused_by(cases[i].line, "astrodedisperse", cases[i].says);
}

static void add_tests(void)
{
  g_test_add_func("/astrodedisperse-coherent/burst", test_burst);
  g_test_add_func("/astrodedisperse-coherent/cuts", test_cuts);
  g_test_add_func("/astrodedisperse-coherent/gaps", test_gaps);
  g_test_add_func("/astrodedisperse-coherent/refused", test_refusals);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
