/* Settings that astrogridder refuses or warns about: wrong ones, and those that come late. */
#include "tests/elements/astrogridder.h"
#include "tests/elements/setter.h"

static char *rig_message(TestRig *rig, GstMessageType type, char **debug)
{
  g_autoptr(GstMessage) message = gst_bus_pop_filtered(rig->bus, type);
  g_autoptr(GError) error = NULL;
  if (!message)
    return NULL;
  if (type == GST_MESSAGE_ERROR)
    gst_message_parse_error(message, &error, debug);
  else
    gst_message_parse_warning(message, &error, debug);
  return g_strdup(error->message);
}

/* The cell that a message advises holds all visibilities. */
static void check_advice(const char *text, const char *settings, const complex float *all)
{
  const char *advice = strstr(text, "expected a cell of at most");
  g_autofree char *debug = NULL;
  double cell;
  TestRig rig;
  g_assert_nonnull(advice);
  g_assert_cmpint(sscanf(advice, "expected a cell of at most %lf arcsec", &cell), ==, 1);
  g_autofree char *advised = g_strdup_printf("%s cell=%.9g", settings, cell);
  test_rig_open(&rig, advised, NULL);
  test_rig_run(&rig, all, FALSE);
  g_autofree char *warning = rig_message(&rig, GST_MESSAGE_WARNING, &debug);
  g_assert_cmpstr(warning, ==, NULL);
  g_autoptr(GstBuffer) buffer = gst_harness_pull(rig.h);
  g_assert_cmpuint(astro_buffer_get_grid(buffer)->outside, ==, 0);
  test_rig_close(&rig);
}

/* A grid that no visibility fits on is an error, which says what would help. */
static void test_all_outside(void)
{
  static const char *const settings[] = { "size=4 cell=60000", "size=4 cell=0 field-of-view=60",
                                          "size=4 cell=60000 algorithm=direct" };
  static const char *const sizes[] = { "size=4", "size=4", "size=4 algorithm=direct" };
  g_autofree complex float *all = test_predict(0, 0);
  for (guint i = 0; i < G_N_ELEMENTS(settings); i++) {
    g_autofree char *debug = NULL;
    TestRig rig;
    test_rig_open(&rig, settings[i], NULL);
    test_rig_start(&rig, TRUE);
    gst_harness_push(rig.h, test_dumps(all, 0, TEST_DUMPS));
    gst_harness_push_event(rig.h, gst_event_new_eos());
    g_autofree char *error = rig_message(&rig, GST_MESSAGE_ERROR, &debug);
    g_test_message("%s", error);
    test_says(error, "378 outside the grid");
    check_advice(error, sizes[i], all);
    test_rig_close(&rig);
  }
}

/* Too large a cell loses the longest baselines, with a warning that says how far the grid reaches,
 * less the width of the spreading function. */
static void test_outside(void)
{
  static const char *const settings[] = { "size=32 cell=1000",
                                          "size=32 cell=300 algorithm=wprojection support=24" };
  g_autofree complex float *all = test_predict(0, 0);
  for (guint i = 0; i < G_N_ELEMENTS(settings); i++) {
    g_autofree char *debug = NULL;
    double reach, longest;
    TestRig rig;
    test_rig_open(&rig, settings[i], NULL);
    test_rig_run(&rig, all, FALSE);
    g_autofree char *warning = rig_message(&rig, GST_MESSAGE_WARNING, &debug);
    g_assert_nonnull(warning);
    g_assert_nonnull(strstr(warning, "outside the grid"));
    const char *numbers = strstr(debug, "reaches");
    g_assert_nonnull(numbers);
    g_assert_cmpint(
        sscanf(numbers, "reaches %lf wavelengths, the longest baseline is %lf", &reach, &longest),
        ==, 2);
    g_assert_cmpfloat(reach, <, longest);
    check_advice(debug, settings[i], all);
    GstBuffer *buffer = gst_harness_pull(rig.h);
    g_assert_cmpuint(astro_buffer_get_grid(buffer)->outside, >, 0);
    gst_buffer_unref(buffer);
    test_rig_close(&rig);
  }
}

/* If an accuracy was asked for that a table of taps does not reach, there is a warning. */
static void test_coarse_taps(void)
{
  static const struct {
    const char *settings, *says; /* NULL: nothing */
  } cases[] = {
    { "" },
    { "accuracy=1e-5" },
    { "algorithm=wprojection" },
    { "algorithm=wprojection accuracy=0.01",
      "reaches about 0.014: expected kernel=nearest oversampling=11 or kernel=interpolated "
      "oversampling=8 or algorithm=wstacking" },
    { "algorithm=wprojection accuracy=0.01 oversampling=11" },
    { "algorithm=wprojection accuracy=0.02" },
    { "algorithm=wprojection accuracy=1e-3 oversampling=64",
      "reaches about 0.0017: expected kernel=interpolated oversampling=64 or algorithm" },
    { "algorithm=wprojection accuracy=1e-3 kernel=interpolated" },
    { "algorithm=wprojection accuracy=1e-5 kernel=interpolated",
      "reaches about 0.00025: expected kernel=interpolated oversampling=40 or algorithm" },
    { "algorithm=wprojection accuracy=1e-5 kernel=interpolated oversampling=40" },
    { "algorithm=wprojection accuracy=1e-7", "reaches about 0.014: expected algorithm=wstacking" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *debug = NULL;
    TestRig rig;
    test_rig_open(&rig, cases[i].settings, NULL);
    test_rig_start(&rig, TRUE);
    g_autofree char *warning = rig_message(&rig, GST_MESSAGE_WARNING, &debug);
    g_test_message("%s: %s", cases[i].settings, warning);
    g_assert_cmpint(warning != NULL, ==, cases[i].says != NULL);
    g_assert_true(!warning || strstr(warning, cases[i].says));
    test_rig_close(&rig);
  }
}

/* A setting that the chosen weights ignore gives a warning, and one that they use gives none. */
static void test_idle_robust(void)
{
  static const struct {
    const char *settings, *says; /* NULL: nothing */
  } cases[] = {
    { "" },
    { "robust=0" },
    { "robust=-2 weighting=briggs" },
    { "robust=-5 weighting=briggs" },
    { "robust=-2", "robust=-2 has no effect with weighting=natural: expected weighting=briggs" },
    { "robust=0.5 weighting=uniform", "robust=0.5 has no effect with weighting=uniform: expected" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *debug = NULL;
    TestRig rig;
    test_rig_open(&rig, cases[i].settings, NULL);
    test_rig_start(&rig, TRUE);
    g_autofree char *warning = rig_message(&rig, GST_MESSAGE_WARNING, &debug);
    g_test_message("%s: %s", cases[i].settings, warning);
    g_assert_cmpint(warning != NULL, ==, cases[i].says != NULL);
    g_assert_true(!warning || strstr(warning, cases[i].says));
    test_rig_close(&rig);
  }
}

/* Settings by another thread, between the making and the negotiation of caps, are ignored or
 * refused: buffers are as large as the caps say. */
static void test_late_settings(void)
{
  static const char *const settings[][2] = { { "deterministic", "true" },
                                             { "per-channel", "true" },
                                             { "size", "128" },
                                             { "stokes", "IQUV" },
                                             { "algorithm", "direct" } };
  g_autofree complex float *all = test_predict(0.01, 0.02);
  double expected = 0;
  test_backend = "cpu";
  for (guint i = 0; i < G_N_ELEMENTS(settings); i++) {
    g_autofree char *debug = NULL;
    TestRig rig;
    test_rig_open(&rig, "", NULL);
    g_autoptr(GstElement) element = gst_harness_find_element(rig.h, "astrogridder");
    TestLate late = { element, settings[i][0], settings[i][1] };
    test_set_late(rig.h, &late);
    test_rig_start(&rig, TRUE);
    gst_harness_push(rig.h, test_dumps(all, 0, TEST_DUMPS));
    gst_harness_push_event(rig.h, gst_event_new_eos());
    g_test_message("%s", late.name);
    if (i > 1) {
      g_autofree char *says = rig_message(&rig, GST_MESSAGE_ERROR, &debug);
      test_says(says, TEST_LATE_SAYS);
    } else {
      g_autoptr(GstBuffer) buffer = gst_harness_pull(rig.h);
      const AstroGridMeta *meta = astro_buffer_get_grid(buffer);
      g_assert_cmpuint(meta->n_weights, ==, 1);
      if (i == 0)
        expected = meta->weights[0];
      g_assert_cmpfloat(meta->weights[0], >, 0);
      g_assert_cmpfloat(meta->weights[0], ==, expected);
    }
    test_rig_close(&rig);
  }
}

/* Caps follow one text or the other, whoever sets them meanwhile. */
static void test_set_meanwhile(void)
{
  static const char *const pols[] = { "XX,YY", "I,Q,U,V", NULL };
  static const char *const centres[] = { "0.01,0.02", "0.03,0.04", NULL };
  GstHarness *h = gst_harness_new_parse("astrogridder backend=cpu size=64 cell=200");
  g_autoptr(GstElement) element = gst_harness_find_element(h, "astrogridder");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(element, "src");
  TestSetter sets_pols = { .object = element, .name = "pols", .texts = pols };
  TestSetter sets_centre = { .object = element, .name = "centre", .texts = centres };
  test_setter_start(&sets_pols);
  test_setter_start(&sets_centre);
  for (guint i = 0; i < 10000; i += TEST_STEP) {
    g_autoptr(GstCaps) caps = gst_pad_query_caps(pad, NULL);
    const GstStructure *s = gst_caps_get_structure(caps, 0);
    const char *products = gst_structure_get_string(s, "products");
    double l = 0, m = 0;
    if (g_strcmp0(products, "XX:YY"))
      g_assert_cmpstr(products, ==, "I:Q:U:V");
    g_assert_true(
        gst_structure_get(s, "centre-l", G_TYPE_DOUBLE, &l, "centre-m", G_TYPE_DOUBLE, &m, NULL));
    g_assert_cmpfloat(l, ==, l < 0.02 ? 0.01 : 0.03);
    g_assert_cmpfloat(m, ==, l < 0.02 ? 0.02 : 0.04);
  }
  test_setter_stop(&sets_pols);
  test_setter_stop(&sets_centre);
  gst_harness_teardown(h);
}

/* Impossible settings are refused when the element starts. */
static void test_settings(void)
{
  static const struct {
    const char *settings, *says;
  } cases[] = {
    { "size=7 cell=1", "even" },
    { "size=8 cell=1 field-of-view=1", "both" },
    { "size=8 cell=1 pols=QQ", "QQ" },
    { "size=8 cell=1 pols=XX,QQ", "\"QQ\" is no product" },
    { "size=8 cell=1 pols=I:PSF", "PSF" },
    { "size=8 cell=1 pols=I:Q:U:V:XX", "one to four" },
    { "size=8 cell=1 centre=here", "centre" },
    { "size=1024 field-of-view=170", "hemisphere" },
    { "size=64 cell=1e-300", "pixels of 1e-300 arcsec, expected at least 1e-12" },
    { "cell=1e-13", "pixels of 1e-13 arcsec, expected at least 1e-12" },
    { "size=64 field-of-view=1e-300", "expected at least 1e-12" },
    { "size=64 cell=1e-300 algorithm=direct", "expected at least 1e-12" },
    { "size=64 cell=1e-300 algorithm=wprojection", "expected at least 1e-12" },
    { "size=64 cell=1 accuracy=1e-8 support=5", "with any padding and support 5: expected 0" },
    { "size=64 cell=1 padding=1.05", "with padding 1.05 and any support: expected 0" },
    { "size=64 cell=1 support=17", "support is 17, expected 4 to 16" },
    { "size=64 cell=1 algorithm=wprojection kernel=interpolated w-planes=1",
      "w-planes is 1, expected 2 to 65536" },
    { "size=64 cell=1 padding=0.5", "padding is 0.5" },
    { "size=64 cell=1 centre=1,0", "(a smaller field, or one nearer to the phase centre)" },
    { "size=64 cell=1 algorithm=wprojection support=256", "over 256 cells" },
    { "size=64 cell=1 algorithm=wprojection padding=0.5", "padding is 0.5" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *line = g_strdup_printf(
        "fakesrc ! " TEST_VISIBILITIES " ! astrogridder %s ! fakesink", cases[i].settings);
    test_refused(line, cases[i].says);
  }
}

/* Set as a number or a word, as text, and as a number in a program. */
static void test_support(void)
{
  static const struct {
    const char *text;
    guint value;
  } cases[] = { { "16", 16 }, { "auto", 0 }, { "256", 256 }, { "0", 0 }, { "4", 4 } };
  GstElement *gridder = gst_element_factory_make("astrogridder", NULL);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    guint found = 99;
    gst_util_set_object_arg(G_OBJECT(gridder), "support", cases[i].text);
    g_object_get(gridder, "support", &found, NULL);
    g_assert_cmpuint(found, ==, cases[i].value);
  }
  guint found;
  g_object_set(gridder, "support", 32, NULL);
  g_object_get(gridder, "support", &found, NULL);
  g_assert_cmpuint(found, ==, 32);
  /* gst-inspect does not list 256 lines. */
  GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(gridder), "support");
  g_assert_cmpuint(G_PARAM_SPEC_ENUM(spec)->enum_class->n_values, ==, 1);
  static const char *const wrong[] = { "257", "-1", "4.5", "many", "" };
  for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
    g_autofree char *line = g_strdup_printf("astrogridder support=\"%s\"", wrong[i]);
    g_autoptr(GError) error = NULL;
    GstElement *made = gst_parse_launch(line, &error);
    g_assert_nonnull(error);
    g_clear_pointer(&made, gst_object_unref);
  }
  gst_object_unref(gst_object_ref_sink(gridder));
}

typedef struct {
  const char *settings, *caps, *says;
  gboolean observed;
  guint n;      /* dumps */
  gboolean bad; /* not a number */
} Refusal;

/* Streams that cannot be gridded. */
static void test_bad_streams(void)
{
  static const Refusal cases[] = {
    { "", TEST_VISIBILITIES, "no visibilities", TRUE, 0, FALSE },
    { "", TEST_VISIBILITIES, "63 not finite", TRUE, 1, TRUE },
    { "", TEST_VISIBILITIES, "needs all of its correlations; property pols can take a single one",
      TRUE, 1, TRUE },
    { "pols=XX", TEST_VISIBILITIES, "63 not finite, 0 outside the grid", TRUE, 1, TRUE },
    { "interval=1", TEST_VISIBILITIES, "63 not finite", TRUE, 1, TRUE },
    { "interval=1 cumulative=true", TEST_VISIBILITIES, "63 not finite", TRUE, 1, TRUE },
    { "", TEST_VISIBILITIES, "no observation", FALSE, 1, FALSE },
    { "pols=RR", TEST_VISIBILITIES, "RR", TRUE, 1, FALSE },
    { "",
      "application/x-astro-visibilities,format=CF32LE,layout=channel:baseline:pol:pol,channels=3,"
      "baselines=28,pols=2,rate=1/600",
      "frequency", TRUE, 1, FALSE },
    { "size=400000 cell=0.1", TEST_VISIBILITIES, "bytes", TRUE, 1, FALSE },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(AstroObservation) observation = test_rig_observation();
    g_autofree complex float *all = test_predict(0, 0);
    g_autofree char *debug = NULL;
    TestRig rig;
    test_rig_open(&rig, cases[i].settings, NULL);
    gst_harness_set_src_caps_str(rig.h, cases[i].caps);
    if (cases[i].observed)
      gst_harness_push_event(rig.h, astro_observation_to_event(observation));
    for (guint k = 0; cases[i].bad && k < TEST_VALUES / 4; k++)
      all[4 * k] = NAN;
    if (cases[i].n)
      gst_harness_push(rig.h, test_dumps(all, 0, 1));
    gst_harness_push_event(rig.h, gst_event_new_eos());
    g_autofree char *error = rig_message(&rig, GST_MESSAGE_ERROR, &debug);
    g_assert_nonnull(error);
    test_says(error, cases[i].says);
    g_assert_null(gst_harness_try_pull(rig.h));
    test_rig_close(&rig);
  }
}

static void add_tests(void)
{
  static const TestNamed tests[] = {
    { "outside", test_outside },         { "all-outside", test_all_outside },
    { "refused", test_bad_streams },     { "coarse-taps", test_coarse_taps },
    { "idle-robust", test_idle_robust },
  };
  test_add_on_backends(tests, G_N_ELEMENTS(tests));
  g_test_add_func("/astrogridder/settings", test_settings);
  g_test_add_func("/astrogridder/set-late", test_late_settings);
  g_test_add_func("/astrogridder/set-meanwhile", test_set_meanwhile);
  g_test_add_func("/astrogridder/support", test_support);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
