/* A filter bank behind another: caps, tones found where the caps say, losses of single channels. */
#include "tests/elements/astrochannelizer.h"
#include "core/stream/validity.h"

#include <math.h>

#define SPECTRA                                                                                    \
  "application/x-astro-spectra,format=CF32LE,layout=station:pol:time:channel,stations=2,pols=1,"   \
  "channels=3,counts=true"

static void check_band(const char *in, guint split, gint channels, double frequency,
                       double bandwidth, gint rate)
{
  GstHarness *h = test_harness("astrochannelizer");
  double found_frequency = 0, found_bandwidth = 0;
  gint found_channels = 0, rate_n = 0, rate_d = 0;
  g_object_set(h->element, "channels", split, NULL);
  gst_harness_set_src_caps_str(h, in);
  push(h, test_buffer(96, 1));
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  g_assert_nonnull(caps);
  const GstStructure *s = gst_caps_get_structure(caps, 0);
  g_assert_true(gst_structure_get(
      s, "frequency", G_TYPE_DOUBLE, &found_frequency, "bandwidth", G_TYPE_DOUBLE, &found_bandwidth,
      "channels", G_TYPE_INT, &found_channels, "rate", GST_TYPE_FRACTION, &rate_n, &rate_d, NULL));
  g_assert_cmpint(found_channels, ==, channels);
  g_assert_cmpfloat(fabs(found_frequency - frequency), <, 1e-6);
  g_assert_cmpfloat(fabs(found_bandwidth - bandwidth), <, 1e-6);
  g_assert_cmpint(rate_n, ==, rate);
  g_assert_cmpint(rate_d, ==, 1);
  gst_harness_teardown(h);
}

/* An even split moves the band by half of a new channel, an odd one leaves it. */
static void test_caps(void)
{
#define BAND                                                                                       \
  "application/x-astro-spectra,format=CF32LE,layout=time:channel,channels=4,rate=1000/1,"          \
  "frequency=100000.0,bandwidth=4000.0"
  check_band(BAND, 10, 40, 100000 - 50, 4000, 100);
  check_band(BAND, 5, 20, 100000, 4000, 200);
}

/* Every channel of the second bank: a tone at the centre that caps tell is strongest there. The
 * lowest of an even split lies on the edge between two input channels and is in both. */
static void test_tones(void)
{
  enum { COARSE = 4, SPLIT = 8 };
  for (guint odd = 0; odd < 2; odd++) {
    const guint coarse = COARSE + odd, split = SPLIT + odd, all = coarse * split;
    const double bandwidth = 1000, moved = odd ? 0 : bandwidth / coarse / 2 + bandwidth / all / 2;
    const gsize n = 40 * all;
    for (guint k = 0; k < all; k++) {
      if (split % 2 == 0 && k % split == 0)
        continue;
      const double centre = -moved - bandwidth / 2 + (k + 0.5) * bandwidth / all;
      g_autofree char *line = g_strdup_printf(
          "astrochannelizer channels=%u ! astrochannelizer channels=%u", coarse, split);
      GstHarness *h = gst_harness_new_parse(line);
      double said = 0;
      float *in = g_new(float, 2 * n);
      for (gsize t = 0; t < n; t++) {
        in[2 * t] = (float)cos(2 * G_PI * centre / bandwidth * (double)t);
        in[2 * t + 1] = (float)sin(2 * G_PI * centre / bandwidth * (double)t);
      }
      gst_harness_set_src_caps_str(h, "application/x-astro-voltages,format=CF32LE,layout=time,"
                                      "rate=1000/1,frequency=5000.0,bandwidth=1000.0");
      push(h, gst_buffer_new_wrapped(in, n * 8));
      g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
      gst_structure_get_double(gst_caps_get_structure(caps, 0), "frequency", &said);
      g_assert_cmpfloat(fabs(said - (5000 - moved)), <, 1e-6);
      /* On a device a block is passed on with the next one, or at the end. */
      g_assert_true(gst_harness_push_event(h, gst_event_new_eos()));
      g_autoptr(GByteArray) got = test_pull_all(h);
      g_assert_cmpuint(got->len, >=, 4 * all * 8);
      const float *row = (const float *)got->data + 2 * all; /* of a spectrum in the middle */
      guint peak = 0;
      for (guint c = 1; c < all; c++)
        if (hypot(row[2 * c], row[2 * c + 1]) > hypot(row[2 * peak], row[2 * peak + 1]))
          peak = c;
      g_assert_cmpuint(peak, ==, k);
      gst_harness_teardown(h);
    }
  }
}

static GstBuffer *spectra(guint64 steps)
{
  GstBuffer *buffer = test_buffer(2 * steps * 3 * 8, 1);
  GST_BUFFER_OFFSET(buffer) = 0;
  GST_BUFFER_OFFSET_END(buffer) = steps;
  return buffer;
}

/* Counts of one channel of one station are those of its parts and of no others. */
static void test_losses(void)
{
  enum { STEPS = 64, SPLIT = 4, SPAN = 8 };
  const AstroLayout shape = { .n_axes = 3,
                              .axes = { ASTRO_AXIS_STATION, ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL },
                              .extents = { 2, STEPS, 3 } };
  GstHarness *h = gst_harness_new_parse("astrochannelizer channels=4 taps=2");
  gst_harness_set_src_caps_str(h, SPECTRA);
  GstBuffer *in = spectra(STEPS);
  AstroValidityMeta *meta = astro_buffer_add_validity(in, &shape, 5);
  meta->counts[(1 * STEPS + 30) * 3 + 2] = 4; /* of station 1, channel 2 */
  meta->counts[(1 * STEPS + 31) * 3 + 2] = 0;
  push(h, in);
  g_assert_true(gst_harness_push_event(h, gst_event_new_eos())); /* a device keeps a block back */
  GstBuffer *out = gst_harness_pull(h);
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  AstroStream stream;
  AstroLayout all;
  g_assert_true(astro_stream_from_caps(&stream, caps, NULL));
  const guint64 first = GST_BUFFER_OFFSET(out), count = GST_BUFFER_OFFSET_END(out) - first;
  astro_stream_shape(&stream, count, &all);
  const AstroValidityMeta *found = astro_buffer_get_validity(out);
  g_assert_nonnull(found);
  g_assert_cmpuint(found->full, ==, SPAN);
  g_assert_true(astro_validity_check(found, &all, NULL));
  guint touched = 0;
  for (guint64 station = 0; station < 2; station++)
    for (guint64 n = 0; n < count; n++)
      for (guint64 k = 0; k < 3 * SPLIT; k++) {
        const gint64 from = (gint64)((first + n) * SPLIT) - SPLIT / 2;
        guint32 expected = SPAN;
        for (gint64 t = from; station == 1 && k / SPLIT == 2 && t < from + SPAN; t++)
          expected -= t == 30 || t == 31;
        touched += expected < SPAN;
        g_assert_cmpuint(
            astro_validity_at(found, &all, (guint64[ASTRO_MAX_AXES]){ station, 0, n, k }), ==,
            expected);
      }
  g_assert_cmpuint(touched, >, 0);
  gst_buffer_unref(out);
  gst_harness_teardown(h);
}

/* Losses of all channels alike take no room of each. */
static void test_common_losses(void)
{
  const AstroLayout shape = { .n_axes = 2,
                              .axes = { ASTRO_AXIS_STATION, ASTRO_AXIS_TIME },
                              .extents = { 2, 64 } };
  GstHarness *h = gst_harness_new_parse("astrochannelizer channels=4 taps=2");
  gst_harness_set_src_caps_str(h, SPECTRA);
  GstBuffer *in = spectra(64);
  astro_buffer_add_validity(in, &shape, 1)->counts[20] = 0;
  push(h, in);
  g_assert_true(gst_harness_push_event(h, gst_event_new_eos())); /* a device keeps a block back */
  GstBuffer *out = gst_harness_pull(h);
  const AstroValidityMeta *found = astro_buffer_get_validity(out);
  g_assert_nonnull(found);
  g_assert_cmpuint(found->shape.n_axes, ==, 2);
  gst_buffer_unref(out);
  gst_harness_teardown(h);
}

/* Channels that come faster than they are wide overlap. */
static void test_overlap(void)
{
  test_refused_by(
      "fakesrc num-buffers=1 sizetype=fixed sizemax=96 ! capsfilter "
      "caps=application/x-astro-spectra,format=CF32LE,layout=time:channel,channels=4,"
      "rate=1185/1,frequency=1e5,bandwidth=4e3 ! astrochannelizer channels=8 ! fakesink",
      "astrochannelizer", "1000 Hz apart and come at 1185 samples a second");
}

static void add_tests(void)
{
  g_test_add_func("/astrochannelizer/coarse/caps", test_caps);
  g_test_add_func("/astrochannelizer/coarse/tones", test_tones);
  g_test_add_func("/astrochannelizer/coarse/losses", test_losses);
  g_test_add_func("/astrochannelizer/coarse/common-losses", test_common_losses);
  g_test_add_func("/astrochannelizer/coarse/overlap", test_overlap);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
