/* astrorender: the caps that it negotiates, when frames come, and that other elements take them. */
#include "core/stream/grid.h"
#include "core/stream/observation.h"
#include "tests/elements/elements.h"
#include "tests/elements/setter.h"

#include <gst/video/video.h>

#define IMAGE                                                                                      \
  "application/x-astro-image,format=F32LE,layout=pol:y:x,width=8,height=8,pols=1,"                 \
  "pixel=(double)0.001"
#define BYTES (8 * 8 * 4)

static void expect_video(GstHarness *h, gint width, gint height, GstVideoFormat format, gint rate)
{
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  GstVideoInfo info;
  g_assert_true(gst_video_info_from_caps(&info, caps));
  g_assert_cmpint(GST_VIDEO_INFO_WIDTH(&info), ==, width);
  g_assert_cmpint(GST_VIDEO_INFO_HEIGHT(&info), ==, height);
  g_assert_cmpint(GST_VIDEO_INFO_FORMAT(&info), ==, format);
  g_assert_cmpint(GST_VIDEO_INFO_FPS_N(&info), ==, rate);
}

static void negotiation(void)
{
  static const struct {
    const char *wanted, *properties;
    gint width, height;
    GstVideoFormat format;
    gint rate;
  } cases[] = {
    { "video/x-raw", "", 1280, 720, GST_VIDEO_FORMAT_BGRx, 0 },
    { "video/x-raw,width=640,height=[1,480]", "", 640, 480, GST_VIDEO_FORMAT_BGRx, 0 },
    { "video/x-raw,format={RGB,RGBA}", "", 1280, 720, GST_VIDEO_FORMAT_RGBA, 0 },
    { "video/x-raw,framerate=25/1,format=BGRA", "", 1280, 720, GST_VIDEO_FORMAT_BGRA, 25 },
    { "video/x-raw", "width=321 height=16", 321, 16, GST_VIDEO_FORMAT_BGRx, 0 },
    { "video/x-raw,width=[1,300]", "width=321 height=33", 300, 33, GST_VIDEO_FORMAT_BGRx, 0 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *line = g_strdup_printf("astrorender %s", cases[i].properties);
    GstHarness *h = gst_harness_new_parse(line);
    gst_harness_set_sink_caps_str(h, cases[i].wanted);
    gst_harness_set_src_caps_str(h, IMAGE);
    g_assert_cmpint(gst_harness_push(h, test_buffer(BYTES, i)), ==, GST_FLOW_OK);
    GstBuffer *frame = gst_harness_pull(h);
    expect_video(h, cases[i].width, cases[i].height, cases[i].format, cases[i].rate);
    g_assert_cmpuint(gst_buffer_get_size(frame), ==, 4 * cases[i].width * cases[i].height);
    gst_buffer_unref(frame);
    gst_harness_teardown(h);
  }
}

#define TRIALS                                                                                     \
  "application/x-astro-power,format=F32LE,layout=time:dm,dms=3,pols=1,products=I,rate=100/1"

static void push_trials(GstHarness *h, guint64 second)
{
  GstBuffer *buffer = test_buffer(100 * 3 * sizeof(float), 0);
  gst_buffer_memset(buffer, 0, 0, gst_buffer_get_size(buffer));
  GST_BUFFER_PTS(buffer) = second * GST_SECOND;
  GST_BUFFER_DURATION(buffer) = GST_SECOND;
  g_assert_cmpint(gst_harness_push(h, buffer), ==, GST_FLOW_OK);
}

static void tell_pulse(GstHarness *h, GstClockTime time)
{
  gst_harness_push_event(
      h, gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM,
                              gst_structure_new("candidate", "timestamp", G_TYPE_UINT64, time, "dm",
                                                G_TYPE_DOUBLE, 20.0, NULL)));
}

/* A pulse that is told behind the last frame gives another one, in which it is marked. */
static void pulses(void)
{
  for (guint late = 0; late < 2; late++) {
    static const double dms[] = { 10, 20, 30 };
    GstHarness *h = gst_harness_new_parse("astrorender width=400 height=300 decibels=false");
    g_autoptr(AstroObservation) observation = astro_observation_new(1);
    astro_observation_set_dms(observation, dms, 3, 1e9, NULL);
    gst_harness_set_src_caps_str(h, TRIALS);
    gst_harness_push_event(h, astro_observation_to_event(observation));
    push_trials(h, 0);
    if (!late)
      tell_pulse(h, GST_SECOND / 2);
    push_trials(h, 1);
    if (late)
      tell_pulse(h, GST_SECOND / 2);
    gst_harness_push_event(h, gst_event_new_eos());
    g_assert_cmpuint(gst_harness_buffers_received(h), ==, 2 + late);
    g_autoptr(GstBuffer) first = gst_harness_pull(h), second = gst_harness_pull(h),
                         third = late ? gst_harness_pull(h) : NULL;
    g_assert_nonnull(first);
    GstMapInfo before, after;
    g_assert_true(gst_buffer_map(second, &before, GST_MAP_READ));
    if (third) {
      g_assert_cmpuint(GST_BUFFER_PTS(third), ==, 2 * GST_SECOND);
      g_assert_true(gst_buffer_map(third, &after, GST_MAP_READ));
      g_assert_cmpuint(after.size, ==, before.size);
      g_assert_cmpint(memcmp(before.data, after.data, after.size), !=, 0);
      gst_buffer_unmap(third, &after);
    }
    gst_buffer_unmap(second, &before);
    gst_harness_teardown(h);
  }
}

static GstPadProbeReturn offer_pool(GstPad *pad, GstPadProbeInfo *info, gpointer size)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY(info);
  g_autoptr(GstBufferPool) pool = gst_buffer_pool_new();
  if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION)
    return GST_PAD_PROBE_OK;
  gst_query_add_allocation_pool(query, pool, *(guint *)size, 0, 0);
  return GST_PAD_PROBE_HANDLED;
}

/* Frames fit in buffers of another element's pool, whatever size it was offered with. */
static void foreign_pool(void)
{
  guint sizes[] = { 0, 7, 64 * 32 * 4, 1 << 20 };
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
    GstHarness *h = gst_harness_new("astrorender");
    gst_pad_add_probe(h->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM | GST_PAD_PROBE_TYPE_PUSH,
                      offer_pool, &sizes[i], NULL);
    gst_harness_set_sink_caps_str(h, "video/x-raw,width=64,height=32");
    gst_harness_set_src_caps_str(h, IMAGE);
    g_assert_cmpint(gst_harness_push(h, test_buffer(BYTES, i)), ==, GST_FLOW_OK);
    g_autoptr(GstBuffer) frame = gst_harness_pull(h);
    g_assert_cmpuint(gst_buffer_get_size(frame), ==, MAX(sizes[i], 64 * 32 * 4));
    gst_harness_teardown(h);
  }
}

/* Pairs of begin and end in seconds, in and out. */
static void expect_times(const guint (*in)[2], const guint (*out)[2], guint n)
{
  GstHarness *h = gst_harness_new("astrorender");
  gst_harness_set_sink_caps_str(h, "video/x-raw,width=16,height=16");
  gst_harness_set_src_caps_str(h, IMAGE);
  for (guint i = 0; i < n; i++) {
    GstBuffer *buffer = test_buffer(BYTES, i);
    GST_BUFFER_PTS(buffer) = in[i][0] * GST_SECOND;
    GST_BUFFER_DURATION(buffer) = (in[i][1] - in[i][0]) * GST_SECOND;
    AstroImageMeta *meta = astro_buffer_add_image(buffer, 1);
    meta->has_beam = TRUE;
    g_assert_cmpint(gst_harness_push(h, buffer), ==, GST_FLOW_OK);
    GstBuffer *frame = gst_harness_pull(h);
    g_assert_cmpuint(GST_BUFFER_PTS(frame), ==, out[i][0] * GST_SECOND);
    g_assert_cmpuint(GST_BUFFER_DURATION(frame), ==, (out[i][1] - out[i][0]) * GST_SECOND);
    g_assert_null(astro_buffer_get_image(frame));
    gst_buffer_unref(frame);
  }
  gst_harness_teardown(h);
}

static void times(void)
{
  static const guint separate[][2] = { { 0, 2 }, { 2, 4 }, { 6, 8 } };
  static const guint growing[][2] = { { 1, 2 }, { 1, 4 }, { 1, 7 } },
                     grown[][2] = { { 1, 2 }, { 2, 4 }, { 4, 7 } };
  expect_times(separate, separate, 3);
  expect_times(growing, grown, 3);
}

static guint8 *pull_frame(GstHarness *h, gsize *bytes)
{
  GstBuffer *buffer = gst_harness_pull(h);
  guint8 *data;
  *bytes = gst_buffer_get_size(buffer);
  data = g_malloc(*bytes);
  gst_buffer_extract(buffer, 0, data, *bytes);
  gst_buffer_unref(buffer);
  return data;
}

/* An observation that comes after the caps changes the labels around the image. */
static void observation(void)
{
  GstHarness *h = gst_harness_new("astrorender");
  g_autoptr(AstroObservation) o = astro_observation_new(0);
  gsize n, m;
  o->has_phase_centre = TRUE;
  gst_harness_set_sink_caps_str(h, "video/x-raw,width=640,height=480");
  gst_harness_set_src_caps_str(h, IMAGE);
  gst_harness_push(h, test_buffer(BYTES, 1));
  g_autofree guint8 *before = pull_frame(h, &n);
  gst_harness_push_event(h, astro_observation_to_event(o));
  gst_harness_push(h, test_buffer(BYTES, 1));
  g_autofree guint8 *after = pull_frame(h, &m);
  g_assert_cmpuint(n, ==, m);
  g_assert_true(memcmp(before, after, n) != 0);
  gst_harness_teardown(h);
}

/* An observation that comes again, as after links change, does not begin a new waterfall. */
static void known_observation(void)
{
  guint8 *frames[2];
  for (guint again = 0; again < 2; again++) {
    GstHarness *h = gst_harness_new_parse("astrorender title=x");
    g_autoptr(AstroObservation) o = astro_observation_new(0);
    gsize n;
    gst_harness_set_sink_caps_str(h, "video/x-raw,width=64,height=48");
    gst_harness_set_src_caps_str(h, "application/x-astro-spectra,format=CF32LE,layout=time:channel,"
                                    "channels=8");
    gst_harness_push_event(h, astro_observation_to_event(o));
    gst_harness_push(h, test_buffer(8 * 8, 1));
    g_free(pull_frame(h, &n));
    if (again)
      gst_harness_push_event(h, astro_observation_to_event(o));
    gst_harness_push(h, test_buffer(8 * 8, 2));
    frames[again] = pull_frame(h, &n);
    gst_harness_teardown(h);
  }
  g_assert_cmpmem(frames[0], 64 * 48 * 4, frames[1], 64 * 48 * 4);
  g_free(frames[0]);
  g_free(frames[1]);
}

static GstEvent *new_sources(guint channel, double l)
{
  GstStructure *told = gst_structure_new("astro-sources", "channel", G_TYPE_UINT, channel, NULL);
  GValue sources = G_VALUE_INIT, value = G_VALUE_INIT;
  g_value_init(&sources, GST_TYPE_ARRAY);
  g_value_init(&value, GST_TYPE_STRUCTURE);
  g_value_take_boxed(
      &value, gst_structure_new("source", "l", G_TYPE_DOUBLE, l, "m", G_TYPE_DOUBLE, 0.0, NULL));
  gst_value_array_append_and_take_value(&sources, &value);
  gst_structure_take_value(told, "sources", &sources);
  return gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, told);
}

static guint8 *frame_behind(const char *line, GstEvent *event)
{
  GstHarness *h = gst_harness_new_parse(line);
  g_autoptr(AstroObservation) o = astro_observation_new(0);
  gsize n;
  o->has_phase_centre = TRUE;
  gst_harness_set_sink_caps_str(h, "video/x-raw,width=640,height=480");
  gst_harness_set_src_caps_str(h, IMAGE);
  gst_harness_push_event(h, astro_observation_to_event(o));
  if (event)
    gst_harness_push_event(h, event);
  gst_harness_push(h, test_buffer(BYTES, 1));
  guint8 *frame = pull_frame(h, &n);
  g_assert_cmpuint(n, ==, 640 * 480 * 4);
  gst_harness_teardown(h);
  return frame;
}

/* Sources that astromeasure looked for are marked: those of the channel that is shown. */
static void sources_marked(void)
{
  static const struct {
    const char *line;
    gint channel; /* index of the event; -1: there is none */
    gboolean marked;
  } cases[] = {
    { "astrorender title=x", 0, TRUE },
    { "astrorender title=x", 1, FALSE },
    { "astrorender title=x marks=false", 0, FALSE },
    { "astromeasure sky=0.001,0.001,1 ! astrorender title=x", -1, TRUE },
    { "astromeasure sky=0.5,0.5,1 ! astrorender title=x", -1, FALSE }, /* outside */
  };
  g_autofree guint8 *plain = frame_behind("astrorender title=x", NULL);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree guint8 *frame = frame_behind(
        cases[i].line, cases[i].channel < 0 ? NULL : new_sources((guint)cases[i].channel, 0.001));
    g_assert_cmpint(memcmp(frame, plain, 640 * 480 * 4) != 0, ==, cases[i].marked);
  }
}

/* Images with other caps have no marks until an event brings some. */
static void sources_of_other_images(void)
{
  g_autoptr(GstCaps) other = gst_caps_from_string(IMAGE);
  guint8 *frames[2];
  for (guint marked = 0; marked < 2; marked++) {
    GstHarness *h = gst_harness_new_parse("astrorender title=x");
    gsize n;
    gst_harness_set_sink_caps_str(h, "video/x-raw,width=640,height=480");
    gst_harness_set_src_caps_str(h, IMAGE ",frequency=(double)1e8");
    if (marked)
      gst_harness_push_event(h, new_sources(0, 0.001));
    gst_harness_push(h, test_buffer(BYTES, 1));
    g_free(pull_frame(h, &n));
    gst_harness_push_event(h, gst_event_new_caps(other)); /* without a new segment */
    gst_harness_push(h, test_buffer(BYTES, 1));
    frames[marked] = pull_frame(h, &n);
    gst_harness_teardown(h);
  }
  g_assert_cmpmem(frames[0], 640 * 480 * 4, frames[1], 640 * 480 * 4);
  g_free(frames[0]);
  g_free(frames[1]);
}

/* A picture survives whatever other programs put into such an event. */
static void foreign_sources(void)
{
  g_autofree guint8 *plain = frame_behind("astrorender title=x", NULL);
  static const char *const told[] = { "astro-sources", "astro-sources, sources=(int)3",
                                      "astro-sources, sources=(int)< 1, 2 >",
                                      "astro-sources, channel=(string)x" };
  for (guint i = 0; i < G_N_ELEMENTS(told); i++) {
    GstStructure *s = gst_structure_from_string(told[i], NULL);
    g_assert_nonnull(s);
    g_autofree guint8 *frame =
        frame_behind("astrorender title=x", gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, s));
    g_assert_cmpmem(frame, 640 * 480 * 4, plain, 640 * 480 * 4);
  }
}

/* Caps may change in the middle, and properties say what is shown. */
static void new_caps(void)
{
  GstHarness *h = gst_harness_new_parse("astrorender product=Q title=x");
  gsize n;
  gst_harness_set_sink_caps_str(h, "video/x-raw,width=64,height=48");
  gst_harness_set_src_caps_str(h, "application/x-astro-image,format=F64LE,layout=pol:y:x,width=4,"
                                  "height=4,pols=2,products=I:Q");
  gst_harness_push(h, test_buffer(4 * 4 * 2 * 8, 1));
  g_free(pull_frame(h, &n));
  gst_harness_set_src_caps_str(h, "application/x-astro-image,format=F32LE,layout=pol:y:x,width=5,"
                                  "height=4,pols=1,products=Q");
  gst_harness_push(h, test_buffer(5 * 4 * 4, 1));
  g_free(pull_frame(h, &n));
  g_assert_cmpuint(n, ==, 64 * 48 * 4);
  gst_harness_teardown(h);
}

static void bad(void)
{
  static const struct {
    const char *line, *says;
  } cases[] = {
    { "astroskysrc stations=2 num-buffers=1 ! astrochannelizer channels=4 ! astrotranspose ! "
      "astrocorrelator integration=4 ! astrorender product=ZZ ! fakesink",
      "no product ZZ" },
    { "astroskysrc stations=2 num-buffers=1 ! astrochannelizer channels=4 ! astrotranspose ! "
      "astrocorrelator integration=4 ! astrorender channel=9 ! fakesink",
      "no channel 9" },
    { "astroskysrc stations=1 num-buffers=1 ! astrochannelizer channels=4 ! astrotranspose ! "
      "astrocorrelator integration=4 ! astrorender view=fringe ! fakesink",
      "a fringe needs two stations, but there is one: expected view=spectrum or matrix" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    test_refused(cases[i].line, cases[i].says);
  }
}

/* Whole graphs: a waterfall, a matrix, a correlation function, an encoder. */
static void graphs(void)
{
  static const struct {
    const char *line, *needs;
  } cases[] = {
    { "astroskysrc stations=3 num-buffers=4 ! astrochannelizer channels=16 ! astrorender ! "
      "video/x-raw,width=320,height=240 ! fakesink",
      "fakesink" },
    { "astroskysrc stations=3 num-buffers=4 ! astrochannelizer channels=16 ! astrotranspose ! "
      "astrocorrelator integration=4096 ! astrorender ! fakesink",
      "fakesink" },
    { "astroskysrc stations=1 num-buffers=4 ! astrochannelizer channels=16 ! astrotranspose ! "
      "astrocorrelator integration=4096 ! astrorender ! fakesink",
      "fakesink" },
    { "astroskysrc stations=2 num-buffers=4 ! astrochannelizer channels=16 ! astrotranspose ! "
      "astrocorrelator integration=4096 ! astrorender theme=light ! fakesink",
      "fakesink" },
    { "astrohistogram name=h regions=4 min-angle=100 max-angle=10000 bins-per-decade=3 ! "
      "astrotpacf ! astrorender ! fakesink  astrocatsrc points=300 ! h.data  "
      "astrocatsrc points=300 seed=2 ! h.random",
      "fakesink" },
    { "astroskysrc stations=3 num-buffers=4 ! astrochannelizer channels=16 ! astrorender ! pngenc "
      "! fakesink",
      "pngenc" },
    { "astroskysrc stations=3 num-buffers=4 ! astrochannelizer channels=16 ! astrorender ! jpegenc "
      "! multipartmux ! fakesink",
      "jpegenc" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GstElementFactory) factory = gst_element_factory_find(cases[i].needs);
    if (!factory) {
      g_test_message("without %s", cases[i].needs);
      continue;
    }
    g_autofree char *found = test_launch(cases[i].line);
    g_assert_cmpstr(found, ==, NULL);
  }
}

/* Caps that come while a product is chosen have one of the products. */
static void product_meanwhile(void)
{
  static const char *const products[] = { "I-MODEL", "I-RESIDUAL", NULL };
  GstHarness *h = gst_harness_new("astrorender");
  GstBaseTransformClass *klass = GST_BASE_TRANSFORM_GET_CLASS(h->element);
  TestSetter setter = { .object = h->element, .name = "product", .texts = products };
  g_autoptr(GstCaps) in = gst_caps_from_string(IMAGE);
  g_autoptr(GstCaps) out = gst_caps_from_string("video/x-raw,format=BGRx,width=64,height=64");
  gst_caps_set_simple(in, "pols", G_TYPE_INT, 2, "products", G_TYPE_STRING, "I-MODEL:I-RESIDUAL",
                      NULL);
  test_setter_start(&setter);
  for (guint i = 0; i < 20000; i += TEST_STEP) {
    in = gst_caps_make_writable(in);
    gst_caps_set_simple(in, "frequency", G_TYPE_DOUBLE, i + 1.0, NULL);
    g_assert_true(klass->set_caps(GST_BASE_TRANSFORM(h->element), in, out));
  }
  test_setter_stop(&setter);
  gst_harness_teardown(h);
}

static void add_tests(void)
{
  g_test_add_func("/astrorender/pulses", pulses);
  g_test_add_func("/astrorender/negotiation", negotiation);
  g_test_add_func("/astrorender/foreign-pool", foreign_pool);
  g_test_add_func("/astrorender/times", times);
  g_test_add_func("/astrorender/observation", observation);
  g_test_add_func("/astrorender/known-observation", known_observation);
  g_test_add_func("/astrorender/new-caps", new_caps);
  g_test_add_func("/astrorender/sources-marked", sources_marked);
  g_test_add_func("/astrorender/sources-of-other-images", sources_of_other_images);
  g_test_add_func("/astrorender/foreign-sources", foreign_sources);
  g_test_add_func("/astrorender/bad", bad);
  g_test_add_func("/astrorender/product-meanwhile", product_meanwhile);
  g_test_add_func("/astrorender/graphs", graphs);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
