/* The caps say whether a stream has counts, and caps go where metas do not. */
#include "core/stream/validity.h"
#include "tests/elements/running.h"

/* Like gdppay, a file or a socket: only samples, times and caps go through. */
static GstPadProbeReturn drop_counts(GstPad *pad, GstPadProbeInfo *info, gpointer unused)
{
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  GST_PAD_PROBE_INFO_DATA(info) = gst_buffer_copy_region(
      buffer, GST_BUFFER_COPY_MEMORY | GST_BUFFER_COPY_TIMESTAMPS, 0, (gsize)-1);
  gst_buffer_unref(buffer);
  return GST_PAD_PROBE_OK;
}

/* Runs a line with a transport after the element of that name. NULL: it ended well; or the
 * error. */
static char *run_over(const char *name, const char *line)
{
  g_autoptr(GError) error = NULL;
  GstElement *pipeline = gst_parse_launch(line, &error);
  g_assert_no_error(error);
  g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(pipeline), name);
  g_autoptr(GstPad) pad = gst_element_get_static_pad(element, "src");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, drop_counts, NULL, NULL);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  char *message = test_wait(pipeline);
  test_stop(pipeline);
  return message;
}

#define SPECTRA                                                                                    \
  "astroskysrc stations=3 num-buffers=2 pattern=noise block-steps=1600 ! astrochannelizer "        \
  "channels=8 ! "
#define SUMS                                                                                       \
  SPECTRA "application/x-astro-spectra,format=CI8 ! astrocorrelator integration=50 ! "             \
          "application/x-astro-visibilities,format=CI32LE ! "
#define DELAYED "astroskysrc stations=3 num-buffers=2 block-steps=1600 ! astrodelay ! "
#define MEANS SPECTRA "astrocorrelator integration=50 ! "

/* Elements that take visibilities, sums or means, or samples of which some may be lost, do not take
 * a stream that lost its counts for whole. */
static void test_dropped(void)
{
  static const char *const readers[] = {
    SUMS "identity name=i ! astroconvert name=t ! "
         "application/x-astro-visibilities,format=CF32LE ! fakesink",
    SUMS "identity name=i ! astrotranspose name=t layout=baseline:channel:pol:pol ! fakesink",
    SUMS "identity name=i ! astrotranspose name=t ! fakesink", /* which passes all on */
    SUMS "identity name=i ! astroobserve name=t ! fakesink",
    SUMS "identity name=i ! astrorender name=t ! fakesink",
    SUMS "identity name=i ! astrofitssink name=t location=counts.uvfits",
    MEANS "identity name=i ! astrofitssink name=t location=counts.uvfits",
    MEANS "identity name=i ! astrogridder name=t size=64 field-of-view=1 ! fakesink",
    "astrovissrc num-buffers=2 ! identity name=i ! astrogridder name=t size=64 field-of-view=1 ! "
    "fakesink",
    SPECTRA "identity name=i ! astrocorrelator name=t integration=50 ! fakesink",
    SPECTRA "identity name=i ! astrotranspose name=t layout=channel:station:pol:time ! fakesink",
    DELAYED "identity name=i ! astrochannelizer name=t channels=8 ! fakesink",
    DELAYED "identity name=i ! astrofitssink name=t location=counts.fits",
  };
  for (guint i = 0; i < G_N_ELEMENTS(readers); i++) {
    g_autofree char *message = run_over("i", readers[i]);
    g_test_message("%s", message);
    test_says(message, "the caps say counts=true but a buffer has no counts of good samples");
    test_says(message, "gdppay");
    g_assert_true(g_str_has_prefix(message, "t: "));
    g_assert_false(g_file_test("counts.uvfits", G_FILE_TEST_EXISTS));
    g_assert_false(g_file_test("counts.fits", G_FILE_TEST_EXISTS));
  }
}

/* Sums whose caps do not say counts=true are sums of an unknown number of samples. */
static void test_sums(void)
{
  static const char *const readers[] = {
    "astroconvert ! application/x-astro-visibilities,format=CF32LE ! fakesink",
    "astrotranspose ! fakesink",
    "astroobserve ! fakesink",
    "astrorender ! fakesink",
    "astrofitssink location=counts.uvfits",
  };
  for (guint i = 0; i < G_N_ELEMENTS(readers); i++) {
    g_autofree char *line = g_strdup_printf(
        "fakesrc sizetype=2 sizemax=576 num-buffers=1 ! application/x-astro-visibilities,"
        "format=CI32LE,layout=channel:baseline:pol:pol,channels=3,baselines=6,pols=2,rate=1/1,"
        "frequency=1e8,bandwidth=1e6 ! %s",
        readers[i]);
    test_refused_by(line, "astro", "visibilities in CI32LE are sums");
  }
}

/* Filters that do not mention counts let them through, and stages pass the field on. */
static void test_kept(void)
{
  static const char *const lines[] = {
    "astrovissrc num-buffers=2 ! application/x-astro-visibilities,format=CF32LE ! "
    "astrotranspose layout=baseline:channel:pol:pol ! application/x-astro-visibilities,pols=2 ! "
    "astroconvert ! application/x-astro-visibilities,format=CF64LE",
    SUMS "astroconvert ! application/x-astro-visibilities,format=CF32LE",
    SUMS "astroobserve telescope=Mine",
  };
  for (guint i = 0; i < G_N_ELEMENTS(lines); i++) {
    g_autofree char *line = g_strdup_printf(
        "%s ! identity ! application/x-astro-visibilities,counts=true ! appsink name=sink",
        lines[i]);
    g_autoptr(GError) error = NULL;
    GstElement *pipeline = gst_parse_launch(line, &error);
    g_assert_no_error(error);
    g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
    GstSample *sample = NULL;
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    for (guint k = 0; k < 2; k++) {
      g_signal_emit_by_name(sink, "try-pull-sample", TEST_PATIENCE, &sample);
      g_assert_nonnull(sample);
      g_assert_nonnull(astro_buffer_get_validity(gst_sample_get_buffer(sample)));
      gst_sample_unref(sample);
    }
    test_stop(pipeline);
  }
}

#define VOLTAGES                                                                                   \
  "application/x-astro-voltages,format=CI8,layout=station:pol:time,stations=3,pols=2,rate=1000/1," \
  "counts=true"

/* Stages that lower counts where something is lost write counts where nothing is lost as well. */
static void test_made(void)
{
  GstHarness *h = test_harness("astrochannelizer");
  static const AstroLayout one = { 0 };
  guint came = 0;

  g_object_set(h->element, "channels", 8, NULL);
  gst_harness_set_src_caps_str(h, VOLTAGES);
  for (guint i = 0; i < 9; i++) {
    GstBuffer *in = test_buffer(3 * 2 * 2 * 100, i);
    astro_buffer_add_validity(in, &one, 4)->counts[0] = i == 6 ? 0 : 4;
    g_assert_cmpint(gst_harness_push(h, in), ==, GST_FLOW_OK);
  }
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  AstroStream stream;
  g_assert_true(astro_stream_from_caps(&stream, caps, NULL));
  g_assert_true(stream.has_counts);
  GstBuffer *out;
  for (; (out = gst_harness_try_pull(h)); came++) {
    const AstroValidityMeta *meta = astro_buffer_get_validity(out);
    g_assert_nonnull(meta);
    if (came == 0)
      g_assert_cmpuint(meta->counts[0], ==, meta->full);
    gst_buffer_unref(out);
  }
  g_assert_cmpuint(came, >=, 8);
  g_assert_cmpint(gst_harness_push(h, test_buffer(3 * 2 * 2 * 100, 1)), ==, GST_FLOW_ERROR);
  gst_harness_teardown(h);
}

/* A source that takes what it is asked for is not asked for counts by an element that adds them. */
static void test_asked(void)
{
  static const char *const caps[] = { "application/x-astro-voltages,format=CI8",
                                      "application/x-astro-voltages,format=CI8,counts=true" };
  GstHarness *h = test_harness("astrodelay");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(h->element, "sink");
  for (guint i = 0; i < 2; i++) {
    g_autoptr(GstCaps) filter = gst_caps_from_string(caps[i]);
    g_autoptr(GstCaps) answer = gst_pad_query_caps(pad, filter);
    g_assert_false(gst_caps_is_empty(answer));
    for (guint k = 0; k < gst_caps_get_size(answer); k++)
      g_assert_true(gst_structure_has_field(gst_caps_get_structure(answer, k), "counts") ==
                    (i == 1));
  }
  gst_harness_teardown(h);
}

static void add_tests(void)
{
  g_test_add_func("/counts/dropped", test_dropped);
  g_test_add_func("/counts/sums", test_sums);
  g_test_add_func("/counts/kept", test_kept);
  g_test_add_func("/counts/made", test_made);
  g_test_add_func("/counts/asked", test_asked);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
