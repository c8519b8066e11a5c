/* The element: which samples are odd wherever blocks are cut, counts, frequencies from a source to
 * a filter bank, and errors. */
#include "core/stream/validity.h"
#include "tests/elements/elements.h"

#define REAL                                                                                       \
  "application/x-astro-voltages,format=I8,layout=time:station,stations=3,rate=1000/1,"             \
  "frequency=1e6,bandwidth=(double)500"
#define SPECTRA                                                                                    \
  "application/x-astro-spectra,format=CI8,layout=time:channel:station,stations=2,channels=3"

static GstHarness *new_harness(const char *caps)
{
  GstHarness *h = test_harness("astrosideband");
  gst_harness_set_src_caps_str(h, caps);
  return h;
}

static void push_block(GstHarness *h, const gint8 *all, guint64 first, guint steps)
{
  GstBuffer *buffer = gst_buffer_new_memdup(all + 3 * first, 3 * steps);
  GST_BUFFER_OFFSET(buffer) = first;
  GST_BUFFER_OFFSET_END(buffer) = first + steps;
  GST_BUFFER_PTS(buffer) = first * GST_MSECOND;
  g_assert_cmpint(gst_harness_push(h, buffer), ==, GST_FLOW_OK);
}

/* The block that comes out, and its OFFSET and times. */
static void check_block(GstHarness *h, const gint8 *all, guint64 first, guint steps)
{
  g_autoptr(GstBuffer) buffer = gst_harness_pull(h);
  gint8 expected[3 * 64];

  for (guint i = 0; i < 3 * steps; i++) {
    const gint8 x = all[3 * first + i];
    expected[i] = (first + i / 3) % 2 == 0 ? x : x == -128 ? 127 : (gint8)-x;
  }
  g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, first);
  g_assert_cmpuint(GST_BUFFER_PTS(buffer), ==, first * GST_MSECOND);
  g_assert_cmpint(gst_buffer_memcmp(buffer, 0, expected, 3 * steps), ==, 0);
  g_assert_cmpuint(gst_buffer_get_size(buffer), ==, 3 * steps);
}

/* Odd samples are counted from the stream's beginning, even if blocks have odd lengths or are
 * lost. */
static void test_cuts(void)
{
  static const struct {
    guint64 first;
    guint steps;
  } blocks[] = { { 0, 5 }, { 5, 1 }, { 6, 7 }, { 13, 20 }, { 36, 3 }, { 41, 8 } };
  GstHarness *h = new_harness(REAL);
  gint8 all[3 * 64];

  test_fill(all, sizeof all, 5);
  for (guint i = 0; i < G_N_ELEMENTS(blocks); i++) {
    push_block(h, all, blocks[i].first, blocks[i].steps);
    check_block(h, all, blocks[i].first, blocks[i].steps);
  }
  gst_harness_teardown(h);
}

static void test_upper_passes(void)
{
  GstHarness *h = test_harness("astrosideband");
  gint8 all[30];

  gst_util_set_object_arg(G_OBJECT(h->element), "sideband", "upper");
  gst_harness_set_src_caps_str(h, REAL);
  test_fill(all, sizeof all, 6);
  GstBuffer *in = gst_buffer_new_memdup(all, sizeof all);
  g_assert_cmpint(gst_harness_push(h, in), ==, GST_FLOW_OK);
  g_autoptr(GstBuffer) out = gst_harness_pull(h);
  g_assert_true(out == in);
  g_assert_cmpint(gst_buffer_memcmp(out, 0, all, sizeof all), ==, 0);
  gst_harness_teardown(h);
}

/* Counts go with their channels. */
static void test_counts(void)
{
  const AstroLayout shape = { 3,
                              { ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL, ASTRO_AXIS_STATION },
                              { 1, 3, 2 } };
  static const guint32 counts[6] = { 0, 1, 2, 3, 4, 5 }, turned[6] = { 4, 5, 2, 3, 0, 1 };
  static const gint8 in[12] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
  static const gint8 expected[12] = { 9, -10, 11, -12, 5, -6, 7, -8, 1, -2, 3, -4 };
  GstHarness *h = new_harness(SPECTRA);
  GstBuffer *buffer = gst_buffer_new_memdup(in, sizeof in);

  memcpy(astro_buffer_add_validity(buffer, &shape, 5)->counts, counts, sizeof counts);
  g_assert_cmpint(gst_harness_push(h, buffer), ==, GST_FLOW_OK);
  g_autoptr(GstBuffer) out = gst_harness_pull(h);
  const AstroValidityMeta *meta = astro_buffer_get_validity(out);
  g_assert_nonnull(meta);
  g_assert_cmpuint(meta->full, ==, 5);
  g_assert_cmpmem(meta->counts, sizeof turned, turned, sizeof turned);
  g_assert_cmpint(gst_buffer_memcmp(out, 0, expected, sizeof expected), ==, 0);
  gst_harness_teardown(h);
}

/* The spectrum of a tone of astroskysrc, 37.5 MHz above the centre of 150, in channels of 12.5. */
static guint loudest_channel(const char *format, const char *turns)
{
  g_autofree char *line = g_strdup_printf(
      "astroskysrc name=source pattern=tone tone=187.5e6 stations=1 pols=1 frequency=150e6 "
      "bandwidth=100e6 num-buffers=1 noise=0 ! application/x-astro-voltages,format=%s ! %s "
      "astrochannelizer channels=8 ! application/x-astro-spectra,format=CF32LE ! "
      "appsink name=sink sync=false",
      format, turns);
  g_autoptr(GError) error = NULL;
  g_autoptr(GstElement) pipeline = gst_parse_launch(line, &error);
  g_assert_no_error(error);
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  GstSample *sample = NULL;
  GstMapInfo map;
  double powers[8] = { 0 };
  guint loudest = 0;

  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_signal_emit_by_name(sink, "try-pull-sample", TEST_PATIENCE, &sample);
  g_assert_nonnull(sample);
  g_assert_true(gst_buffer_map(gst_sample_get_buffer(sample), &map, GST_MAP_READ));
  const float *values = (const float *)map.data;
  for (gsize i = 0; i < map.size / sizeof *values; i++)
    powers[i / 2 % 8] += (double)values[i] * values[i];
  gst_buffer_unmap(gst_sample_get_buffer(sample), &map);
  gst_sample_unref(sample);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  for (guint k = 1; k < 8; k++)
    if (powers[k] > powers[loudest])
      loudest = k;
  return loudest;
}

/* 7 of 8 above the lower edge becomes 1. */
static void test_frequencies(void)
{
  static const char *const formats[] = { "CF32LE", "CI8", "F32LE", "I8" };
  for (guint i = 0; i < G_N_ELEMENTS(formats); i++) {
    g_assert_cmpuint(loudest_channel(formats[i], ""), ==, 7);
    g_assert_cmpuint(loudest_channel(formats[i], "astrosideband !"), ==, 1);
    g_assert_cmpuint(loudest_channel(formats[i], "astrosideband ! astrosideband !"), ==, 7);
  }
}

static void test_refused_streams(void)
{
  test_refused_by(
      "filesrc location=/dev/zero num-buffers=1 ! application/x-astro-voltages,format=I8,"
      "layout=time,rate=1000/1,frequency=(double)1e6,bandwidth=(double)300 ! "
      "astrosideband ! fakesink",
      "astrosideband", "expected half the rate, 500 Hz");
}

/* In places where its page says it does not belong: after the filter bank, and after the delays of
 * voltages or of other programs' spectra. */
static void test_refused_places(void)
{
  test_refused_by("astroskysrc stations=2 num-buffers=1 ! astrochannelizer channels=8 ! "
                  "astrosideband ! fakesink",
                  "astrosideband", "first channel lies on the band's lower edge");
  test_refused_by("astroskysrc stations=2 num-buffers=1 ! astrodelay ! astrosideband ! fakesink",
                  "astrosideband", "upstream of astrodelay");
  g_autofree char *upper = test_launch("astroskysrc stations=2 num-buffers=1 ! astrodelay ! "
                                       "astrosideband sideband=upper ! fakesink");
  g_assert_cmpstr(upper, ==, NULL);
}

int main(int argc, char **argv)
{
  gst_init(&argc, &argv);
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/astrosideband/cuts", test_cuts);
  g_test_add_func("/astrosideband/upper-passes", test_upper_passes);
  g_test_add_func("/astrosideband/counts", test_counts);
  g_test_add_func("/astrosideband/frequencies", test_frequencies);
  g_test_add_func("/astrosideband/refused", test_refused_streams);
  g_test_add_func("/astrosideband/refused-places", test_refused_places);
  return g_test_run();
}
