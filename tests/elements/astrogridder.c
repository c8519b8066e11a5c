/* The contents of grids of astrogridder. */
#include "core/stream/validity.h"
#include "tests/elements/astrogridder.h"

static gsize peak_of(const double *image, gsize n)
{
  gsize peak = 0;
  for (gsize i = 0; i < n; i++)
    if (image[i] > image[peak])
      peak = i;
  return peak;
}

/* A source on a pixel has its flux there, whatever the algorithm, weights and centre. */
static void test_source(void)
{
  static const struct {
    const char *settings;
    guint channels, products, x, y;
    double error;
  } cases[] = {
    { "accuracy=1e-5", 1, 1, 42, 25, 1e-5 },
    { "accuracy=1e-10", 1, 1, 42, 25, 1e-6 },
    { "accuracy=1e-5 per-channel=true", 3, 1, 42, 25, 1e-5 },
    { "algorithm=direct stokes=IQUV", 1, 4, 42, 25, 1e-6 },
    { "algorithm=direct per-channel=true weighting=uniform", 3, 1, 42, 25, 1e-6 },
    { "algorithm=wprojection oversampling=32 pols=YY:XX", 1, 2, 42, 25, 5e-3 },
    { "weighting=uniform accuracy=1e-5", 1, 1, 42, 25, 1e-5 },
    { "weighting=briggs robust=0.5 accuracy=1e-5 pols=XX:I", 1, 2, 42, 25, 1e-5 },
    { "centre=0.0096962736,0 accuracy=1e-5", 1, 1, 32, 25, 1e-5 },
  };
  const double pixel = 200.0 / 3600 * G_PI / 180;
  g_autofree complex float *all = test_predict(10 * pixel, -7 * pixel);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    AstroGrid grid;
    GstClockTime times[2];
    TestRig rig;
    test_rig_open(&rig, cases[i].settings, NULL);
    test_rig_run(&rig, all, FALSE);
    g_autofree double *image = test_rig_image(&rig, &grid, cases[i].channels, times);
    g_assert_nonnull(image);
    g_assert_cmpuint(g_strv_length(grid.products), ==, cases[i].products);
    for (guint c = 0; c < cases[i].channels; c++) {
      const double *first = image + c * cases[i].products * 64 * 64;
      g_assert_cmpuint(peak_of(first, 64 * 64), ==, cases[i].y * 64 + cases[i].x);
      g_assert_cmpfloat_with_epsilon(first[cases[i].y * 64 + cases[i].x], 3, 3 * cases[i].error);
    }
    if (cases[i].products == 4) /* nothing is polarised */
      for (guint k = 64 * 64; k < 4 * 64 * 64; k++)
        g_assert_cmpfloat(fabs(image[k]), <=, 1e-6);
    g_assert_cmpuint(times[0], ==, 0);
    g_assert_cmpuint(times[1], ==, 3600 * GST_SECOND);
    astro_grid_clear(&grid);
    test_rig_close(&rig);
  }
}

static guint channels_together(TestRig *rig)
{
  guint found = 0;
  for (;;) {
    g_autoptr(GstMessage) message = gst_bus_pop_filtered(rig->bus, GST_MESSAGE_ELEMENT);
    g_assert_nonnull(message);
    if (gst_structure_get_uint(gst_message_get_structure(message), "channels-together", &found))
      return found;
  }
}

/* Channels are added up as far as the smearing allows, and a source loses no more than that. */
static void test_smearing(void)
{
  static const struct {
    const char *settings;
    double smearing;
    guint channels, together;
  } cases[] = {
    { "smearing=0.5", 0.5, 1, 3 },
    { "smearing=0.5 algorithm=direct weighting=uniform", 0.5, 1, 3 },
    { "smearing=0.5 algorithm=wprojection oversampling=64 weighting=briggs", 0.5, 1, 3 },
    { "smearing=0.05", 0.05, 1, 2 },
    { "smearing=0.001", 0.001, 1, 1 },
    { "smearing=0.5 per-channel=true", 0, 3, 1 },
  };
  const double pixel = 200.0 / 3600 * G_PI / 180;
  g_autofree complex float *all = test_predict(10 * pixel, -7 * pixel);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    AstroGrid grid;
    GstClockTime times[2];
    TestRig rig;
    test_rig_open(&rig, cases[i].settings, NULL);
    test_rig_run(&rig, all, FALSE);
    g_autofree double *image = test_rig_image(&rig, &grid, cases[i].channels, times);
    const double peak = image[25 * 64 + 42] / 3;
    g_test_message("%s: a source is %.4f of what it was", cases[i].settings, peak);
    g_assert_cmpuint(peak_of(image, 64 * 64), ==, 25 * 64 + 42);
    g_assert_cmpfloat(peak, >, 1 - cases[i].smearing - 1e-3);
    if (cases[i].together > 1)
      g_assert_cmpfloat(peak, <, 1 - 1e-4);
    g_assert_cmpuint(channels_together(&rig), ==, cases[i].together);
    astro_grid_clear(&grid);
    test_rig_close(&rig);
  }
}

static GByteArray *bytes_of(const char *settings, const complex float *all, gboolean cut)
{
  TestRig rig;
  test_rig_open(&rig, settings, NULL);
  test_rig_run(&rig, all, cut);
  GByteArray *bytes = test_pull_all(rig.h);
  test_rig_close(&rig);
  return bytes;
}

/* How the stream is cut does not change a bit. */
static void test_cuts(void)
{
  static const char *const settings[] = { "", "algorithm=direct", "weighting=uniform stokes=IQUV",
                                          "interval=4", "algorithm=wprojection" };
  g_autofree complex float *all = test_predict(0.02, 0.01);
  for (guint i = 0; i < G_N_ELEMENTS(settings); i++) {
    g_autoptr(GByteArray) whole = bytes_of(settings[i], all, FALSE);
    g_autoptr(GByteArray) cut = bytes_of(settings[i], all, TRUE);
    g_assert_cmpuint(whole->len, >, 0);
    g_assert_cmpmem(whole->data, whole->len, cut->data, cut->len);
  }
}

/* An empty parameter of a graph sets nothing. */
static void test_empty_texts(void)
{
  g_autofree complex float *all = test_predict(0.02, 0.01);
  g_autoptr(GByteArray) unset = bytes_of("stokes=IQUV", all, FALSE);
  g_autoptr(GByteArray) empty = bytes_of("stokes=IQUV pols=\"\" centre=\"\"", all, FALSE);
  g_assert_cmpmem(unset->data, unset->len, empty->data, empty->len);
}

/* The point-spread function comes as one more product if downstream asks for it: 1 in the
 * middle. */
static void test_psf(void)
{
  static const char *const settings[] = { "accuracy=1e-5", "accuracy=1e-5 centre=0.05,-0.1" };
  g_autofree complex float *all = test_predict(0.01, 0.02);
  for (guint i = 0; i < G_N_ELEMENTS(settings); i++) {
    AstroGrid grid;
    GstClockTime times[2];
    TestRig rig;
    test_rig_open(&rig, settings[i], "application/x-astro-uvgrid,psf=true");
    test_rig_run(&rig, all, FALSE);
    g_autofree double *image = test_rig_image(&rig, &grid, 1, times);
    g_assert_cmpint(astro_grid_find(&grid, "PSF"), ==, 1);
    g_assert_cmpuint(peak_of(image + 64 * 64, 64 * 64), ==, 32 * 64 + 32);
    g_assert_cmpfloat_with_epsilon(image[64 * 64 + 32 * 64 + 32], 1, 1e-5);
    astro_grid_clear(&grid);
    test_rig_close(&rig);
  }
}

/* The last message of the element, which counts all grids. */
static void assert_told(TestRig *rig, guint64 used, guint64 outside, guint64 flagged, guint64 bad)
{
  const struct {
    const char *name;
    guint64 expected;
  } fields[] = {
    { "used", used }, { "outside", outside }, { "flagged", flagged }, { "not-finite", bad }
  };
  for (;;) {
    g_autoptr(GstMessage) message = gst_bus_pop_filtered(rig->bus, GST_MESSAGE_ELEMENT);
    const GstStructure *s = message ? gst_message_get_structure(message) : NULL;
    g_assert_nonnull(message);
    if (!gst_structure_has_name(s, "astro-gridder"))
      continue;
    for (guint i = 0; i < G_N_ELEMENTS(fields); i++) {
      guint64 found;
      g_assert_true(gst_structure_get_uint64(s, fields[i].name, &found));
      g_assert_cmpuint(found, ==, fields[i].expected);
    }
    return;
  }
}

/* Visibilities that cannot be used are counted in the grid and in the message at the end, and
 * change nothing. The point-spread function is not made of visibilities. */
static void test_counts(void)
{
  static const char *const downstream[] = { NULL, "application/x-astro-uvgrid,psf=true" };
  const AstroLayout shape = { .n_axes = 2,
                              .axes = { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_BASELINE },
                              .extents = { TEST_CHANNELS, TEST_BASELINES } };
  for (guint i = 0; i < G_N_ELEMENTS(downstream); i++) {
    g_autofree complex float *all = test_predict(0, 0);
    GstClockTime times[2];
    AstroGrid grid;
    TestRig rig;
    test_rig_open(&rig, "accuracy=1e-5", downstream[i]);
    test_rig_start(&rig, TRUE);
    all[4 * 1] = NAN;
    GstBuffer *buffer = test_dumps(all, 0, 1);
    astro_buffer_add_validity(buffer, &shape, 5)->counts[3] = 0;
    gst_harness_push(rig.h, buffer);
    buffer = test_dumps(all, 1, 1);
    GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_GAP);
    gst_harness_push(rig.h, buffer);
    gst_harness_push_event(rig.h, gst_event_new_gap(1200 * GST_SECOND, 600 * GST_SECOND));
    g_assert_null(gst_harness_try_pull(rig.h));
    gst_harness_push(rig.h, test_dumps(all, 3, 1));
    g_assert_true(gst_harness_push_event(rig.h, gst_event_new_eos()));
    g_autofree double *image = test_rig_image(&rig, &grid, 1, times);
    g_assert_cmpfloat_with_epsilon(image[32 * 64 + 32], 3, 1e-4);
    assert_told(&rig, 126 - 2, 0, 1 + 63, 1);
    astro_grid_clear(&grid);
    test_rig_close(&rig);
  }
}

static void add_tests(void)
{
  static const TestNamed tests[] = {
    { "source", test_source }, { "smearing", test_smearing }, { "cuts", test_cuts },
    { "psf", test_psf },       { "counts", test_counts },     { "empty-texts", test_empty_texts },
  };
  test_add_on_backends(tests, G_N_ELEMENTS(tests));
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
