/* The element: visibilities of one centre that are shifted to another are those that are made for
 * the other, and so are pictures of them; metadata of blocks; and refusals. */
#include "core/stream/validity.h"
#include "tests/elements/elements.h"
#include "tests/near.h"
#include "tests/observe.h"

#include <glib/gstdio.h>

#define A "131.5,33.9"
#define B "132.1,34.3" /* 0.6 degrees on */
#define SOURCE                                                                                     \
  "astrovissrc stations=12 array=vla-like sky=%s num-buffers=3 integration=30 channels=4 "         \
  "frequency=150e6 bandwidth=2e6 start-time=2026-11-20T12:00:00 phase-centre=%s "

static char *write_sky(void)
{
  char *path = g_build_filename(g_get_tmp_dir(), "sky-XXXXXX", NULL);
  gint fd = g_mkstemp(path);
  g_assert_cmpint(fd, >=, 0);
  g_assert_true(g_close(fd, NULL));
  g_assert_true(g_file_set_contents(path, "131.9 34.1 2\n132.2 34.2 1\n", -1, NULL));
  return path;
}

/* All values, and their observation. */
static GByteArray *play(const char *line, AstroObservation **observation)
{
  g_autofree char *whole = g_strconcat(line, " ! appsink name=sink sync=false", NULL);
  g_autoptr(GError) error = NULL;
  GstElement *pipeline = gst_parse_launch(whole, &error);
  g_assert_no_error(error);
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(sink, "sink");
  GByteArray *bytes = g_byte_array_new();
  GstSample *sample;
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  while (g_signal_emit_by_name(sink, "try-pull-sample", TEST_PATIENCE, &sample), sample) {
    GstMapInfo map;
    g_assert_true(gst_buffer_map(gst_sample_get_buffer(sample), &map, GST_MAP_READ));
    g_byte_array_append(bytes, map.data, (guint)map.size);
    gst_buffer_unmap(gst_sample_get_buffer(sample), &map);
    gst_sample_unref(sample);
  }
  g_assert_cmpuint(bytes->len, >, 0);
  GstEvent *event = gst_pad_get_sticky_event(pad, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, 0);
  g_assert_nonnull(event);
  *observation = astro_observation_from_event(event, NULL);
  gst_event_unref(event);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  return bytes;
}

/* (l,m) of a simulated sky are not stretched by aberration, as directions are: a ten-thousandth of
 * the distance between the centres, which is 1e-6 over a baseline of 2000 wavelengths. */
#define TOLERANCE 0.03

static void test_other_centre(void)
{
  static const char *const formats[] = { "CF32LE", "CF64LE" };
  g_autofree char *sky = write_sky();
  for (guint k = 0; k < G_N_ELEMENTS(formats); k++) {
    g_autofree char *caps =
        g_strdup_printf("! application/x-astro-visibilities,format=%s ", formats[k]);
    g_autofree char *made = g_strdup_printf(SOURCE "%s", sky, B, caps);
    g_autofree char *turned =
        g_strdup_printf(SOURCE "%s ! astrophaseshift centre=" B, sky, A, caps);
    g_autofree char *unturned = g_strdup_printf(SOURCE "%s", sky, A, caps);
    g_autoptr(AstroObservation) of_made = NULL, of_turned = NULL, of_unturned = NULL;
    g_autoptr(GByteArray) expected = play(made, &of_made), found = play(turned, &of_turned),
                          before = play(unturned, &of_unturned);
    const gboolean is_double = k == 1;
    const guint n = found->len / (is_double ? 16 : 8);
    double apart = 0;
    g_assert_cmpuint(expected->len, ==, found->len);
    for (guint i = 0; i < n; i++) {
      const complex double want = is_double ? ((complex double *)(gpointer)expected->data)[i]
                                            : ((complex float *)(gpointer)expected->data)[i];
      const complex double got = is_double ? ((complex double *)(gpointer)found->data)[i]
                                           : ((complex float *)(gpointer)found->data)[i];
      const complex double was = is_double ? ((complex double *)(gpointer)before->data)[i]
                                           : ((complex float *)(gpointer)before->data)[i];
      test_near_complex(got, want, TOLERANCE);
      apart = MAX(apart, cabs(was - want));
    }
    g_assert_cmpfloat(apart, >, 1); /* it had something to do */
    test_near(of_turned->phase_ra, of_made->phase_ra, 1e-12);
    test_near(of_turned->phase_dec, of_made->phase_dec, 1e-12);
    g_assert_cmpint(of_turned->done.delays, ==, ASTRO_DELAYS_OUT);
    g_assert_cmpfloat(of_turned->done.scale, ==, 1);
  }
  g_unlink(sky);
}

static void test_there_and_back(void)
{
  g_autofree char *sky = write_sky();
  g_autofree char *line = g_strdup_printf(SOURCE, sky, A);
  g_autofree char *back = g_strconcat(
      line, "! astrophaseshift centre=" B " ! astrophaseshift backend=reference centre=" A, NULL);
  g_autoptr(AstroObservation) before = NULL, after = NULL;
  g_autoptr(GByteArray) expected = play(line, &before), found = play(back, &after);
  g_assert_cmpuint(expected->len, ==, found->len);
  for (guint i = 0; i < found->len / 8; i++)
    test_near_complex(((complex float *)(gpointer)found->data)[i],
                      ((complex float *)(gpointer)expected->data)[i], 1e-6);
  test_near(after->phase_ra, before->phase_ra, 1e-15);
  g_unlink(sky);
}

/* The flux and place of the first source, of a picture around the new centre. */
static void measure(const char *line, double place[3])
{
  g_autoptr(GError) error = NULL;
  GstElement *pipeline = gst_parse_launch(line, &error);
  g_assert_no_error(error);
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstMessage *message;
  do {
    message = gst_bus_timed_pop_filtered(bus, TEST_PATIENCE,
                                         GST_MESSAGE_ERROR | GST_MESSAGE_EOS | GST_MESSAGE_ELEMENT);
    g_assert_nonnull(message);
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ELEMENT &&
        gst_message_has_name(message, "astro-sources")) {
      const GValue *sources =
          gst_structure_get_value(gst_message_get_structure(message), "sources");
      const GstStructure *first = gst_value_get_structure(gst_value_array_get_value(sources, 0));
      gst_structure_get(first, "ra", G_TYPE_DOUBLE, &place[0], "dec", G_TYPE_DOUBLE, &place[1],
                        "flux", G_TYPE_DOUBLE, &place[2], NULL);
    }
    g_assert_cmpint(GST_MESSAGE_TYPE(message), !=, GST_MESSAGE_ERROR);
    const gboolean is_end = GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
    gst_message_unref(message);
    if (is_end)
      break;
  } while (TRUE);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
}

#define IMAGE                                                                                      \
  "! astrogridder size=256 cell=30 algorithm=direct ! astrofft ! astroimage ! astromeasure "       \
  "max-sources=1 threshold=3 ! fakesink"

static void test_picture(void)
{
  double made[3] = { 0 }, turned[3] = { 0 };
  g_autofree char *sky = write_sky();
  g_autofree char *one = g_strdup_printf(SOURCE IMAGE, sky, B);
  g_autofree char *other = g_strdup_printf(SOURCE "! astrophaseshift centre=" B " " IMAGE, sky, A);
  measure(one, made);
  measure(other, turned);
  test_near(turned[0], made[0], 1e-3);
  test_near(turned[1], made[1], 1e-3);
  test_near(turned[2], made[2], 0.01 * made[2]);
  test_near(made[1], 34.1, 0.02);
  g_unlink(sky);
}

#define VISIBILITIES                                                                               \
  "application/x-astro-visibilities,format=%s,layout=channel:baseline:pol:pol,baselines=6,"        \
  "channels=1,pols=1,rate=1/1,frequency=150e6,bandwidth=1e6"

/* Sums become means; their counts, times and steps go with them. */
static void test_sums(void)
{
  static const gint32 sums[6][2] = {
    { 10, 0 }, { 20, 0 }, { 30, 0 }, { 4, 3 }, { 50, 0 }, { 6, 0 }
  };
  const AstroLayout shape = { 1, { ASTRO_AXIS_BASELINE }, { 6 } };
  g_autofree char *caps = g_strdup_printf(VISIBILITIES ",counts=true", "CI32LE");
  GstHarness *h = gst_harness_new_parse("astrophaseshift centre=zenith");
  g_autoptr(AstroObservation) o = test_observe("disc", 3);
  gst_harness_set_src_caps_str(h, caps);
  gst_harness_push_event(h, astro_observation_to_event(o));
  GstBuffer *in = gst_buffer_new_memdup(sums, sizeof sums);
  AstroValidityMeta *meta = astro_buffer_add_validity(in, &shape, 20);
  for (guint i = 0; i < 6; i++)
    meta->counts[i] = 10 + i;
  GST_BUFFER_OFFSET(in) = 7;
  GST_BUFFER_OFFSET_END(in) = 8;
  g_autoptr(GstBuffer) out = gst_harness_push_and_pull(h, in);
  const AstroValidityMeta *kept = astro_buffer_get_validity(out);
  complex float values[6];
  g_assert_cmpuint(gst_buffer_extract(out, 0, values, sizeof values), ==, sizeof values);
  for (guint i = 0; i < 6; i++) {
    test_near_complex(values[i], (sums[i][0] + I * sums[i][1]) / (10. + i), 1e-6);
    g_assert_cmpuint(kept->counts[i], ==, 10 + i);
  }
  g_assert_cmpuint(GST_BUFFER_OFFSET(out), ==, 7);
  g_assert_cmpuint(GST_BUFFER_PTS(out), ==, 7 * GST_SECOND);
  gst_harness_teardown(h);
}

static void test_refusals(void)
{
  static const struct {
    const char *line, *says;
  } cases[] = {
    { "astrovissrc num-buffers=1 ! astrophaseshift ! fakesink", "centre=: expected \"ra,dec\"" },
    { "astrovissrc num-buffers=1 ! astrophaseshift centre=here ! fakesink",
      "centre=here: expected" },
    { "astrovissrc num-buffers=1 ! astrophaseshift centre=10,99 ! fakesink",
      "centre=10,99: expec" },
    { "astroskysrc stations=3 num-buffers=1 ! astrochannelizer channels=4 ! astrocorrelator "
      "integration=100 ! astrophaseshift centre=10,20 ! fakesink",
      "expected astrodelay before or after the channelizer" },
    { "fakesrc num-buffers=1 sizetype=fixed sizemax=48 ! application/x-astro-visibilities,"
      "format=CF32LE,layout=channel:baseline:pol:pol,baselines=6,channels=1,pols=1,rate=1/1,"
      "frequency=150e6,bandwidth=1e6 ! astrophaseshift centre=10,20 ! fakesink",
      "has no observation" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    test_refused_by(cases[i].line, "astrophaseshift", cases[i].says);
}

/* All warnings until the end. */
static char *warnings_of(const char *line)
{
  g_autoptr(GstElement) pipeline = gst_parse_launch(line, NULL);
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  GString *all = g_string_new(NULL);
  gboolean is_over = FALSE;
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  while (!is_over) {
    g_autoptr(GError) warning = NULL;
    g_autoptr(GstMessage) message = gst_bus_timed_pop_filtered(
        bus, TEST_PATIENCE, GST_MESSAGE_WARNING | GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    g_assert_nonnull(message);
    is_over = GST_MESSAGE_TYPE(message) != GST_MESSAGE_WARNING;
    if (is_over)
      continue;
    gst_message_parse_warning(message, &warning, NULL);
    g_string_append_printf(all, "%s\n", warning->message);
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  return g_string_free(all, FALSE);
}

/* At 34 degrees north (vla-like): a direction that cannot be seen then, and one that never can. */
static void test_horizon(void)
{
  static const struct {
    const char *centre, *says; /* NULL: nothing */
  } cases[] = {
    { B, NULL },
    { "311,-40", "is 84.2 degrees below the horizon of the array at the start: expected a centre" },
    { "131.5,-60", "below the horizon of the array at the start, and never rises there: expected" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *line = g_strdup_printf(SOURCE "! astrophaseshift name=shift centre=%s ! "
                                                   "fakesink",
                                            "0,0,1", A, cases[i].centre);
    g_autofree char *warnings = warnings_of(line);
    g_test_message("%s: %s", cases[i].centre, warnings);
    if (cases[i].says)
      test_says(warnings, cases[i].says);
    else
      g_assert_null(strstr(warnings, "horizon"));
  }
}

/* When the observation changes, visibilities are shifted from its phase centre. */
static void test_new_observation(void)
{
  g_autofree char *caps = g_strdup_printf(VISIBILITIES, "CF32LE");
  GstHarness *h = gst_harness_new_parse("astrophaseshift centre=zenith");
  g_autoptr(AstroObservation) o = test_observe("disc", 3);
  float ones[12] = { 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0 }, first[12], second[12];
  gst_harness_set_src_caps_str(h, caps);
  o->phase_ra += 0.3;
  for (guint i = 0; i < 2; i++) {
    gst_harness_push_event(h, astro_observation_to_event(o));
    g_autoptr(GstBuffer) out =
        gst_harness_push_and_pull(h, gst_buffer_new_memdup(ones, sizeof ones));
    gst_buffer_extract(out, 0, i ? second : first, sizeof first);
    o->phase_ra += 0.2;
  }
  g_assert_cmpint(memcmp(first, second, sizeof first), !=, 0);
  gst_harness_teardown(h);
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  test_init_gstreamer(&argc, &argv);
  g_test_add_func("/astrophaseshift/other-centre", test_other_centre);
  g_test_add_func("/astrophaseshift/there-and-back", test_there_and_back);
  g_test_add_func("/astrophaseshift/picture", test_picture);
  g_test_add_func("/astrophaseshift/sums", test_sums);
  g_test_add_func("/astrophaseshift/refused", test_refusals);
  g_test_add_func("/astrophaseshift/horizon", test_horizon);
  g_test_add_func("/astrophaseshift/new-observation", test_new_observation);
  int result = g_test_run();
  gst_deinit();
  return result;
}
