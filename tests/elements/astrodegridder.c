/* The element: what it predicts is what astrovissrc makes of the same sources, in any number of
 * pieces; residuals, metadata, cubes and polarisation; and refusals. */
#include <complex.h>
#include <unistd.h>

#include "core/stream/observation.h"
#include "core/stream/validity.h"
#include "tests/device.h"
#include "tests/elements/elements.h"
#include "tests/elements/model-file.h"
#include "tests/near.h"

#define SIZE 64
#define RA 130
#define DEC 34
/* Sources lie in pixels, whose l and m are exact. */
#define SETTINGS                                                                                   \
  "astrovissrc array=vla-like stations=8 num-buffers=6 integration=30 channels=4 "                 \
  "frequency=150e6 bandwidth=2e6 start-time=2026-11-20T12:00:00 phase-centre=130,34 "

typedef struct {
  guint x, y;
  float flux;
} Source;

static const Source sources[] = { { 10, 50, 2 }, { 40, 20, 1 }, { 63, 0, 0.5F }, { 32, 32, 3 } };

static double pixel_radians(void)
{
  return G_PI / 180 / 60;
}

/* The sources' place in polarisation number p of a cube with channels; scaled by factor. */
static float *pixels_of(guint channels, guint stokes, const float *factors)
{
  float *pixels = g_new0(float, (gsize)SIZE *SIZE *channels *stokes);
  for (guint image = 0; image < channels * stokes; image++)
    for (guint i = 0; i < G_N_ELEMENTS(sources); i++)
      pixels[((gsize)image * SIZE + sources[i].y) * SIZE + sources[i].x] =
          sources[i].flux * factors[image];
  return pixels;
}

/* more: polarisation, behind each source. */
static char *sky_of(const char *format)
{
  GString *sky = g_string_new("\"");
  for (guint i = 0; i < G_N_ELEMENTS(sources); i++) {
    const double l = (SIZE / 2. - sources[i].x) * pixel_radians(),
                 m = (sources[i].y - SIZE / 2.) * pixel_radians();
    g_string_append_printf(sky, "%s%.17g,%.17g,%g", i ? ";" : "", l, m, sources[i].flux);
    if (format)
      g_string_append_printf(sky, format, 0.1 * sources[i].flux, -0.2 * sources[i].flux,
                             0.05 * sources[i].flux);
  }
  return g_string_free(g_string_append_c(sky, '"'), FALSE);
}

static char *write_plain_model(void)
{
  const float one = 1;
  g_autofree float *pixels = pixels_of(1, 1, &one);
  const TestModel model = test_model(RA, DEC, pixels);
  return test_model_write(&model);
}

/* ---- playing ---- */

typedef struct {
  GByteArray *bytes;
  GPtrArray *buffers;
  AstroObservation *observation;
} Played;

static void played_clear(Played *played)
{
  g_byte_array_unref(played->bytes);
  g_ptr_array_unref(played->buffers);
  g_clear_pointer(&played->observation, astro_observation_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Played, played_clear)

static Played play(const char *line)
{
  g_autofree char *whole = g_strconcat(line, " ! appsink name=sink sync=false", NULL);
  g_autoptr(GError) error = NULL;
  Played played = { g_byte_array_new(),
                    g_ptr_array_new_with_free_func((GDestroyNotify)gst_buffer_unref), NULL };
  GstElement *pipeline = gst_parse_launch(whole, &error);
  g_assert_no_error(error);
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(sink, "sink");
  GstSample *sample;
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  while (g_signal_emit_by_name(sink, "try-pull-sample", TEST_PATIENCE, &sample), sample) {
    GstBuffer *buffer = gst_sample_get_buffer(sample);
    GstMapInfo map;
    g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
    g_byte_array_append(played.bytes, map.data, (guint)map.size);
    gst_buffer_unmap(buffer, &map);
    g_ptr_array_add(played.buffers, gst_buffer_ref(buffer));
    gst_sample_unref(sample);
  }
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  g_autoptr(GstMessage) failed = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  if (failed) {
    gst_message_parse_error(failed, &error, NULL);
    g_error("%s: %s", line, error->message);
  }
  GstEvent *event = gst_pad_get_sticky_event(pad, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, 0);
  g_assert_nonnull(event);
  played.observation = astro_observation_from_event(event, NULL);
  gst_event_unref(event);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  g_assert_cmpuint(played.bytes->len, >, 0);
  return played;
}

static GByteArray *bytes_of(GstBuffer *buffer)
{
  gpointer data;
  gsize bytes;
  gst_buffer_extract_dup(buffer, 0, -1, &data, &bytes);
  return g_byte_array_new_take(data, bytes);
}

/* The largest difference over the largest value of `of`. */
static double apart(const GByteArray *found, const GByteArray *of, gboolean is_double)
{
  double most = 0, largest = 0;
  g_assert_cmpuint(found->len, ==, of->len);
  for (guint i = 0; i < found->len / (is_double ? 16 : 8); i++) {
    const complex double a = is_double ? ((complex double *)(gpointer)found->data)[i]
                                       : ((complex float *)(gpointer)found->data)[i];
    const complex double b = is_double ? ((complex double *)(gpointer)of->data)[i]
                                       : ((complex float *)(gpointer)of->data)[i];
    most = MAX(most, cabs(a - b));
    largest = MAX(largest, cabs(b));
  }
  return most / largest;
}

static double largest_of(const GByteArray *values)
{
  double largest = 0;
  for (guint i = 0; i < values->len / 8; i++)
    largest = MAX(largest, cabsf(((complex float *)(gpointer)values->data)[i]));
  return largest;
}

/* ---- predictions ---- */

static const char caps_of[2][64] = { "! application/x-astro-visibilities,format=CF32LE ",
                                     "! application/x-astro-visibilities,format=CF64LE " };

/* The sources of a file's pixels are those of astrovissrc, at every accuracy and by all backends.
 */
static void test_predicted(void)
{
  static const struct {
    const char *settings;
    gboolean is_double;
    double tolerance;
  } cases[] = {
    { "", FALSE, 1e-4 },
    { "accuracy=1e-5", FALSE, 1e-5 },
    { "accuracy=1e-7", FALSE, 1e-6 }, /* in double, to values in single */
    { "accuracy=1e-9", TRUE, 1e-9 },
    { "backend=reference", FALSE, 1e-6 },
    { "backend=reference", TRUE, 1e-11 },
  };
  g_autofree char *path = write_plain_model();
  g_autofree char *sky = sky_of(NULL);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    const char *caps = caps_of[cases[i].is_double];
    g_autofree char *made = g_strdup_printf(SETTINGS "sky=%s pols=1 %s", sky, caps);
    g_autofree char *line =
        g_strdup_printf(SETTINGS "sky=0,0,0 pols=1 noise=1 %s ! astrodegridder model=%s %s", caps,
                        path, cases[i].settings);
    g_auto(Played) expected = play(made), found = play(line);
    const double error = apart(found.bytes, expected.bytes, cases[i].is_double);
    g_test_message("%s: %.1e", cases[i].settings, error);
    g_assert_cmpfloat(error, <=, cases[i].tolerance);
    g_assert_nonnull(found.observation->done.predicted);
    g_assert_cmpfloat(found.observation->done.scale, ==, 1);
  }
  g_unlink(path);
}

/* However many steps are predicted together, and whatever buffers they come in. */
static void test_pieces(void)
{
  static const char *const pieces[] = {
    "! astrodegridder model=%s interval=1",
    "! astrodegridder model=%s interval=4 threads=1",
    "! astrodegridder model=%s interval=100",
    "! astrotranspose ! astrodegridder model=%s",
  };
  g_autofree char *path = write_plain_model();
  g_autofree char *whole = g_strdup_printf(SETTINGS "sky=0,0,1 ! astrodegridder model=%s", path);
  g_auto(Played) expected = play(whole);
  for (guint i = 0; i < G_N_ELEMENTS(pieces); i++) {
    g_autofree char *line = g_strdup_printf(SETTINGS "sky=0,0,1 %s", pieces[i]);
    g_autofree char *named = g_strdup_printf(line, path);
    g_auto(Played) found = play(named);
    g_assert_cmpfloat(apart(found.bytes, expected.bytes, FALSE), <=, 1e-4);
    g_assert_cmpuint(found.buffers->len, ==, expected.buffers->len);
  }
  g_unlink(path);
}

/* The same on a GPU, in pieces, in place of and out of the values, from blocks in double precision.
 */
static void test_on_device(void)
{
  static const char *const settings[] = {
    "", "interval=2", "subtract=true", "accuracy=1e-7", "max-memory=500M",
  };
  g_autoptr(AstroDevice) device = test_open_device();
  if (!device)
    return;
  g_autofree char *path = write_plain_model();
  for (guint i = 0; i < 2 * G_N_ELEMENTS(settings); i++) {
    const char *set = settings[i / 2], *caps = caps_of[i % 2];
    g_autofree char *by_cpu = g_strdup_printf(
        SETTINGS "sky=0,0,1 %s ! astrodegridder model=%s %s backend=cpu", caps, path, set);
    g_autofree char *by_gpu = g_strdup_printf(
        SETTINGS "sky=0,0,1 %s ! astrodegridder model=%s %s backend=cuda", caps, path, set);
    g_auto(Played) expected = play(by_cpu), found = play(by_gpu);
    const double error = apart(found.bytes, expected.bytes, i % 2);
    g_test_message("%s %s: %.1e", set, caps, error);
    g_assert_cmpfloat(error, <=, 1e-4);
    g_assert_cmpuint(found.buffers->len, ==, expected.buffers->len);
  }
  g_unlink(path);
}

/* A buffer of many steps, of which the backend may have two at once. */
static void test_long_buffer(void)
{
  g_autofree char *path = write_plain_model();
  g_autofree char *line =
      g_strdup_printf(SETTINGS "sky=0,0,1 ! astrodegridder model=%s accuracy=1e-5", path);
  g_auto(Played) expected = play(line);
  g_autofree char *settings =
      g_strdup_printf("astrodegridder interval=2 accuracy=1e-5 model=%s", path);
  const AstroLayout baselines = { 1, { ASTRO_AXIS_BASELINE }, { 36 } };
  GstHarness *h = gst_harness_new_parse(settings);
  GstSample *sample = NULL;
  g_autoptr(GstElement) source =
      gst_parse_launch(SETTINGS "sky=0,0,1 ! appsink name=sink sync=false", NULL);
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(source), "sink");
  GstBuffer *all = gst_buffer_new();
  gst_element_set_state(source, GST_STATE_PLAYING);
  while (g_signal_emit_by_name(sink, "try-pull-sample", TEST_PATIENCE, &sample), sample) {
    if (gst_buffer_get_size(all) == 0) {
      gst_harness_set_src_caps(h, gst_caps_ref(gst_sample_get_caps(sample)));
      gst_harness_push_event(h, astro_observation_to_event(expected.observation));
    }
    all = gst_buffer_append(all, gst_buffer_copy_deep(gst_sample_get_buffer(sample)));
    gst_sample_unref(sample);
  }
  gst_element_set_state(source, GST_STATE_NULL);
  GST_BUFFER_OFFSET(all) = 0;
  AstroValidityMeta *meta = astro_buffer_add_validity(all, &baselines, 5);
  for (guint i = 0; i < 36; i++)
    meta->counts[i] = i % 6;
  g_assert_cmpint(gst_harness_push(h, all), ==, GST_FLOW_OK);
  gst_harness_push_event(h, gst_event_new_eos());
  g_assert_cmpuint(gst_harness_buffers_received(h), ==, 1);
  g_autoptr(GstBuffer) out = gst_harness_pull(h);
  g_autoptr(GByteArray) found = bytes_of(out);
  const AstroValidityMeta *kept = astro_buffer_get_validity(out);
  for (guint i = 0; i < 36; i++)
    g_assert_cmpuint(kept->counts[i], ==, i % 6);
  g_assert_cmpfloat(apart(found, expected.bytes, FALSE), <=, 1e-5);
  gst_harness_teardown(h);
  g_unlink(path);
}

/* The bytes planned with `settings`, and how many steps that is for. */
static guint64 planned(const char *path, const char *settings, guint64 *steps)
{
  g_autofree char *line = g_strdup_printf(
      SETTINGS "! astrodegridder name=d threads=1 model=%s %s ! fakesink", path, settings);
  g_autoptr(GstElement) pipeline = gst_parse_launch(line, NULL);
  g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(pipeline), "d");
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  GstStructure *stats;
  guint64 bytes = 0;
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_autoptr(GstMessage) message =
      gst_bus_timed_pop_filtered(bus, TEST_PATIENCE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_cmpint(GST_MESSAGE_TYPE(message), ==, GST_MESSAGE_EOS);
  g_object_get(element, "stats", &stats, NULL);
  g_assert_true(gst_structure_get_uint64(stats, "planned-bytes", &bytes));
  g_assert_true(gst_structure_get_uint64(stats, "held-steps", steps));
  gst_structure_free(stats);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  return bytes;
}

/* With as much memory as some steps need, so many are predicted together; with a byte less, one
 * less; and what comes out is the same. */
static void test_max_memory(void)
{
  g_autofree char *path = write_plain_model();
  guint64 steps;
  const guint64 two = planned(path, "interval=2", &steps);
  g_assert_cmpuint(steps, ==, 2);
  g_autofree char *enough = g_strdup_printf("max-memory=%" G_GUINT64_FORMAT, two);
  g_autofree char *less = g_strdup_printf("max-memory=%" G_GUINT64_FORMAT, two - 1);
  g_assert_cmpuint(planned(path, enough, &steps), ==, two);
  g_assert_cmpuint(steps, ==, 2);
  g_assert_cmpuint(planned(path, less, &steps), <, two);
  g_assert_cmpuint(steps, ==, 1);
  g_autofree char *whole = g_strdup_printf(SETTINGS "! astrodegridder model=%s", path);
  g_autofree char *cut = g_strdup_printf("%s threads=1 %s", whole, enough);
  g_auto(Played) expected = play(whole), found = play(cut);
  g_assert_cmpfloat(apart(found.bytes, expected.bytes, FALSE), <=, 1e-4);
  g_unlink(path);
}

/* ---- residuals ---- */

static void test_subtracted(void)
{
  g_autofree char *path = write_plain_model();
  g_autofree char *sky = sky_of(NULL);
  g_autofree char *made = g_strdup_printf(SETTINGS "sky=%s", sky);
  g_autofree char *line = g_strconcat(made, " ! astrodegridder subtract=true model=", path, NULL);
  g_auto(Played) before = play(made), left = play(line);
  g_assert_cmpfloat(largest_of(left.bytes), <=, 1e-4 * largest_of(before.bytes));
  g_assert_cmpuint(left.buffers->len, ==, before.buffers->len);
  for (guint i = 0; i < left.buffers->len; i++) {
    GstBuffer *a = left.buffers->pdata[i], *b = before.buffers->pdata[i];
    g_assert_cmpuint(GST_BUFFER_OFFSET(a), ==, GST_BUFFER_OFFSET(b));
    g_assert_cmpuint(GST_BUFFER_PTS(a), ==, GST_BUFFER_PTS(b));
    g_assert_cmpuint(GST_BUFFER_DURATION(a), ==, GST_BUFFER_DURATION(b));
    g_assert_cmpint(GST_BUFFER_FLAG_IS_SET(a, GST_BUFFER_FLAG_DISCONT), ==,
                    GST_BUFFER_FLAG_IS_SET(b, GST_BUFFER_FLAG_DISCONT));
  }
  g_assert_nonnull(left.observation->done.subtracted);
  g_assert_null(left.observation->done.predicted);
  g_assert_cmpfloat(left.observation->done.scale, ==, before.observation->done.scale);
  g_unlink(path);
}

/* The same model again would leave its negative. Another one is subtracted beside it. */
static void test_twice(void)
{
  const float two = 2;
  g_autofree float *pixels = pixels_of(1, 1, &two);
  const TestModel model = test_model(RA, DEC, pixels);
  g_autofree char *other = test_model_write(&model), *path = write_plain_model();
  g_autofree char *same = g_strdup_printf(SETTINGS "! astrodegridder subtract=true model=%s ! "
                                                   "astrodegridder name=again subtract=true "
                                                   "model=%s ! fakesink",
                                          path, path);
  g_autofree char *both = g_strdup_printf(SETTINGS "! astrodegridder subtract=true model=%s ! "
                                                   "astrodegridder subtract=true model=%s",
                                          path, other);
  test_refused_by(same, "again", "was subtracted from these visibilities before");
  g_auto(Played) played = play(both);
  g_auto(GStrv) sums = g_strsplit(played.observation->done.subtracted, ",", -1);
  g_assert_cmpuint(g_strv_length(sums), ==, 2);
  g_unlink(path);
  g_unlink(other);
}

/* Values in units of the receiver: a model in Jy is turned into them. */
static void test_scale(void)
{
  g_autofree char *path = write_plain_model();
  g_autofree char *sky = sky_of(NULL);
  g_autofree char *made = g_strdup_printf(SETTINGS "sky=%s ! appsink name=sink sync=false", sky);
  g_autofree char *settings = g_strdup_printf("astrodegridder subtract=true model=%s", path);
  GstHarness *h = gst_harness_new_parse(settings);
  g_autofree char *seen = g_strdup_printf(SETTINGS "sky=%s", sky);
  g_auto(Played) source = play(seen);
  g_autoptr(AstroObservation) scaled = astro_observation_copy(source.observation);
  g_autoptr(GstElement) pipeline = gst_parse_launch(made, NULL);
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  GstSample *sample;
  guint n = 0;
  scaled->done.scale = 3;
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  while (g_signal_emit_by_name(sink, "try-pull-sample", TEST_PATIENCE, &sample), sample) {
    GstBuffer *buffer = gst_buffer_copy_deep(gst_sample_get_buffer(sample));
    GstMapInfo map;
    if (n++ == 0) {
      gst_harness_set_src_caps(h, gst_caps_ref(gst_sample_get_caps(sample)));
      gst_harness_push_event(h, astro_observation_to_event(scaled));
    }
    g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READWRITE));
    for (gsize i = 0; i < map.size / sizeof(float); i++)
      ((float *)(gpointer)map.data)[i] *= 9;
    gst_buffer_unmap(buffer, &map);
    g_assert_cmpint(gst_harness_push(h, buffer), ==, GST_FLOW_OK);
    gst_sample_unref(sample);
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_harness_push_event(h, gst_event_new_eos());
  g_autoptr(GByteArray) left = test_pull_all(h);
  g_assert_cmpuint(left->len, ==, source.bytes->len);
  g_assert_cmpfloat(largest_of(left), <=, 1e-3 * largest_of(source.bytes));
  gst_harness_teardown(h);
  g_unlink(path);
}

/* ---- cubes, polarisation ---- */

/* Channels of a cube are those of the stream. */
static void test_cube(void)
{
  const float factors[] = { 1, 0.5F, 2, -1 };
  g_autofree float *pixels = pixels_of(4, 1, factors);
  TestModel model = test_model(RA, DEC, pixels);
  model.channels = 4;
  model.frequency = 150e6 - 0.75e6;
  model.width = 0.5e6;
  g_autofree char *cube = test_model_write(&model), *path = write_plain_model();
  g_autofree char *plain =
      g_strdup_printf(SETTINGS "pols=1 ! astrodegridder accuracy=1e-5 model=%s", path);
  g_autofree char *line =
      g_strdup_printf(SETTINGS "pols=1 ! astrodegridder accuracy=1e-5 model=%s", cube);
  g_auto(Played) one = play(plain), found = play(line);
  const guint n = one.bytes->len / 8 / 4 / one.buffers->len; /* baselines */
  for (guint i = 0; i < one.bytes->len / 8; i++)
    ((complex float *)(gpointer)one.bytes->data)[i] *= factors[i / n % 4];
  g_assert_cmpfloat(apart(found.bytes, one.bytes, FALSE), <=, 2e-5);
  g_unlink(cube);
  g_unlink(path);
}

/* I, Q, U and V of the file are those of the simulated sky; both ways to count sources. */
static void test_polarised(void)
{
  const float factors[] = { 1, 0.1F, -0.2F, 0.05F };
  g_autofree float *pixels = pixels_of(1, 4, factors);
  TestModel model = test_model(RA, DEC, pixels);
  model.stokes = 4;
  model.first_stokes = 1;
  g_autofree char *path = test_model_write(&model);
  g_autofree char *sky = sky_of(",q=%g,u=%g,v=%g");
  g_autofree char *made = g_strdup_printf(SETTINGS "pols=2 sky=%s", sky);
  g_autofree char *line = g_strdup_printf("%s ! astrodegridder accuracy=1e-5 model=%s", made, path);
  g_auto(Played) expected = play(made), found = play(line);
  g_assert_cmpfloat(apart(found.bytes, expected.bytes, FALSE), <=, 2e-5);
  g_unlink(path);
}

/* ---- our own models ---- */

/* Models of astroclean that astrofitssink wrote are taken, of an image alone and of one with all.
 */
static void test_of_clean(void)
{
  static const char *const outputs[] = { "model", "all" };
  g_autofree char *sky = sky_of(NULL);
  double left[2];
  for (guint i = 0; i < G_N_ELEMENTS(outputs); i++) {
    g_autofree char *path =
        g_strdup_printf("%s/of-clean-%u-%s.fits", g_get_tmp_dir(), (guint)getpid(), outputs[i]);
    g_autofree char *image = g_strdup_printf(
        SETTINGS "sky=%s ! astrogridder size=64 cell=60 ! astrofft ! astroimage stokes=I ! "
                 "astroclean output=%s iterations=3000 threshold=0 ! astrofitssink location=%s",
        sky, outputs[i], path);
    g_autofree char *message = test_launch(image);
    g_assert_cmpstr(message, ==, NULL);
    g_autofree char *made = g_strdup_printf(SETTINGS "sky=%s", sky);
    g_autofree char *line =
        g_strdup_printf("%s ! astrodegridder subtract=true model=%s", made, path);
    g_auto(Played) before = play(made), after = play(line);
    left[i] = largest_of(after.bytes) / largest_of(before.bytes);
    g_test_message("output=%s leaves %.3f", outputs[i], left[i]);
    g_assert_cmpfloat(left[i], <, 0.5);
    g_unlink(path);
  }
  g_assert_cmpfloat(fabs(left[0] - left[1]), <, 1e-6);
}

/* ---- gaps ---- */

static void test_gaps(void)
{
  g_autofree char *path = write_plain_model();
  g_autofree char *settings =
      g_strdup_printf("astrodegridder interval=3 model=%s backend=cpu", path);
  g_autofree char *plain = g_strdup_printf(SETTINGS "sky=0,0,1");
  g_auto(Played) source = play(plain);
  GstHarness *h = gst_harness_new_parse(settings);
  g_autoptr(GstElement) pipeline =
      gst_parse_launch(SETTINGS "sky=0,0,1 ! appsink name=sink sync=false", NULL);
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  GstSample *sample;
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_signal_emit_by_name(sink, "try-pull-sample", TEST_PATIENCE, &sample);
  gst_harness_set_src_caps(h, gst_caps_ref(gst_sample_get_caps(sample)));
  gst_sample_unref(sample);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_harness_push_event(h, astro_observation_to_event(source.observation));
  for (guint i = 0; i < source.buffers->len; i++) {
    GstBuffer *buffer = gst_buffer_copy_deep(source.buffers->pdata[i]);
    if (i % 2 == 0)
      GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_GAP);
    g_assert_cmpint(gst_harness_push(h, buffer), ==, GST_FLOW_OK);
  }
  gst_harness_push_event(h, gst_event_new_eos());
  g_assert_cmpuint(gst_harness_buffers_received(h), ==, source.buffers->len);
  for (guint i = 0; i < source.buffers->len; i++) {
    g_autoptr(GstBuffer) out = gst_harness_pull(h);
    g_assert_cmpint(GST_BUFFER_FLAG_IS_SET(out, GST_BUFFER_FLAG_GAP), ==, i % 2 == 0);
    g_assert_cmpuint(GST_BUFFER_OFFSET(out), ==, i);
  }
  gst_harness_teardown(h);
  g_unlink(path);
}

/* A flush forgets what is held, and what follows is predicted as ever. */
static void test_flush(void)
{
  g_autofree char *path = write_plain_model();
  g_autofree char *settings = g_strdup_printf("astrodegridder model=%s backend=cpu", path);
  g_autofree char *line =
      g_strdup_printf(SETTINGS "sky=0,0,1 ! astrodegridder accuracy=1e-4 model=%s", path);
  g_autofree char *plain = g_strdup_printf(SETTINGS "sky=0,0,1");
  g_auto(Played) source = play(plain), expected = play(line);
  g_autoptr(GstElement) pipeline =
      gst_parse_launch(SETTINGS "sky=0,0,1 ! appsink name=sink sync=false", NULL);
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  GstHarness *h = gst_harness_new_parse(settings);
  GstSample *sample;
  GstSegment segment;
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_signal_emit_by_name(sink, "try-pull-sample", TEST_PATIENCE, &sample);
  gst_harness_set_src_caps(h, gst_caps_ref(gst_sample_get_caps(sample)));
  gst_sample_unref(sample);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_harness_push_event(h, astro_observation_to_event(source.observation));
  for (guint i = 0; i < 3; i++)
    gst_harness_push(h, gst_buffer_copy_deep(source.buffers->pdata[i]));
  g_assert_cmpuint(gst_harness_buffers_received(h), ==, 0); /* they are held */
  gst_harness_push_event(h, gst_event_new_flush_start());
  gst_harness_push_event(h, gst_event_new_flush_stop(TRUE));
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(h, gst_event_new_segment(&segment));
  for (guint i = 3; i < 6; i++)
    gst_harness_push(h, gst_buffer_copy_deep(source.buffers->pdata[i]));
  gst_harness_push_event(h, gst_event_new_eos());
  g_assert_cmpuint(gst_harness_buffers_received(h), ==, 3);
  g_autoptr(GByteArray) found = test_pull_all(h);
  g_autoptr(GByteArray) half = g_byte_array_new();
  g_byte_array_append(half, expected.bytes->data + expected.bytes->len / 2,
                      expected.bytes->len / 2);
  g_assert_cmpfloat(apart(found, half, FALSE), <=, 2e-4);
  gst_harness_teardown(h);
  g_unlink(path);
}

/* ---- refusals ---- */

static void refuse(const TestModel *model, const char *settings, const char *says)
{
  g_autofree char *path = test_model_write(model);
  g_autofree char *line =
      g_strdup_printf(SETTINGS "! astrodegridder name=d model=%s %s ! fakesink", path, settings);
  test_refused_by(line, "d:", says);
  g_unlink(path);
}

static void test_refusals(void)
{
  const TestModel good = test_model(RA, DEC, NULL);
  TestModel bad = good;
  g_autofree float *nan = g_new0(float, SIZE *SIZE);
  nan[7] = NAN;
  bad.unit = "JY/BEAM";
  refuse(&bad, "", "has an image with BUNIT JY/BEAM, expected a model in Jy/pixel");
  bad = good;
  bad.unit = NULL;
  refuse(&bad, "", "with BUNIT missing");
  bad = good;
  bad.projection = "TAN";
  refuse(&bad, "", "does not say where its pixels are in the sky");
  bad = good;
  bad.ra += 0.5;
  refuse(&bad, "", "astrophaseshift centre=130.5,34 in front of this");
  bad = good;
  bad.frequency = 200e6;
  refuse(&bad, "", "expected bands that overlap");
  bad = good;
  bad.channels = 3;
  refuse(&bad, "", "has 3 channels and the visibilities have 4");
  bad.channels = 4;
  refuse(&bad, "", "expected the same channels");
  bad = good;
  bad.pixel *= 20;
  refuse(&bad, "", "expected pixels of at most");
  bad = good;
  bad.pixels = nan;
  refuse(&bad, "", "1 pixels of the model are NaN or infinite");
  bad = good;
  bad.stokes = 1;
  bad.first_stokes = -5;
  refuse(&bad, "", "the model does not say what the power of each polarisation");
  bad.first_stokes = -1;
  refuse(&bad, "", "product RR: visibilities of 2 linear polarisations have XX");
  refuse(&good, "max-memory=lots", "max-memory is \"lots\", expected a fraction");
  refuse(&good, "max-memory=50K", "and max-memory allows 51200: expected more memory");
  test_refused(SETTINGS "! astrodegridder ! fakesink", "no model is set: expected model=FILE");
  test_refused(SETTINGS "! astrodegridder model=nowhere.fits ! fakesink", "nowhere.fits");
}

/* Delays that are still in, and no observation. */
static void test_refused_streams(void)
{
  const TestModel model = test_model(246.5, 38, NULL);
  g_autofree char *path = test_model_write(&model);
  static const struct {
    const char *source, *says;
  } cases[] = {
    { "astroskysrc stations=3 num-buffers=1 phase-centre=246.5,38 "
      "start-time=2026-11-20T12:00:00 frequency=1.5e8 bandwidth=1e6 ! astrochannelizer "
      "channels=4 ! astrocorrelator integration=100",
      "expected astrodelay before or after the channelizer" },
    { "fakesrc num-buffers=1 sizetype=fixed sizemax=48 ! application/x-astro-visibilities,"
      "format=CF32LE,layout=channel:baseline:pol:pol,baselines=6,channels=1,pols=1,rate=1/1,"
      "frequency=150e6,bandwidth=1e6",
      "has no observation" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *line =
        g_strdup_printf("%s ! astrodegridder name=d model=%s ! fakesink", cases[i].source, path);
    test_refused_by(line, "d:", cases[i].says);
  }
  g_unlink(path);
}

static void add_tests(void)
{
  g_test_add_func("/astrodegridder/predicted", test_predicted);
  g_test_add_func("/astrodegridder/pieces", test_pieces);
  g_test_add_func("/astrodegridder/cuda", test_on_device);
  g_test_add_func("/astrodegridder/long-buffer", test_long_buffer);
  g_test_add_func("/astrodegridder/max-memory", test_max_memory);
  g_test_add_func("/astrodegridder/subtracted", test_subtracted);
  g_test_add_func("/astrodegridder/twice", test_twice);
  g_test_add_func("/astrodegridder/scale", test_scale);
  g_test_add_func("/astrodegridder/cube", test_cube);
  g_test_add_func("/astrodegridder/polarised", test_polarised);
  g_test_add_func("/astrodegridder/of-clean", test_of_clean);
  g_test_add_func("/astrodegridder/gaps", test_gaps);
  g_test_add_func("/astrodegridder/flush", test_flush);
  g_test_add_func("/astrodegridder/refused", test_refusals);
  g_test_add_func("/astrodegridder/refused-streams", test_refused_streams);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
