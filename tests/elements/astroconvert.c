#include "core/stream/validity.h"
#include "tests/elements/elements.h"

#define CAPS(format) "application/x-astro-voltages,format=" format ",layout=time:station,stations=3"

static void test_values(void)
{
  GstHarness *h = test_harness("astroconvert");
  static const gint8 sent[12] = { -128, 127, 0, 1, -1, 5, 100, -100, 64, -64, 2, 3 };
  gst_harness_set_caps_str(h, CAPS("CI8"), CAPS("CF32LE"));
  gst_harness_push(h, gst_buffer_new_memdup(sent, sizeof sent));
  g_autoptr(GByteArray) got = test_pull_all(h);
  g_assert_cmpuint(got->len, ==, 48);
  for (guint i = 0; i < 12; i++)
    g_assert_cmpfloat(((float *)got->data)[i], ==, sent[i]);
  gst_harness_teardown(h);
}

/* Samples at any address, as behind another program's header. A sanitizer sees it if they are read
 * where they lie. */
static void test_unaligned(void)
{
  static const char *const backends[] = { "reference", "cpu" };
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++)
    for (guint shift = 0; shift < 9; shift++) {
      g_autofree char *line = g_strdup_printf("astroconvert backend=%s", backends[b]);
      GstHarness *h = gst_harness_new_parse(line);
      double sent[18];
      for (guint i = 0; i < G_N_ELEMENTS(sent); i++)
        sent[i] = i;
      gst_harness_set_caps_str(h, CAPS("CF64LE"), CAPS("CF32LE"));
      GstBuffer *buffer = gst_buffer_new_allocate(NULL, sizeof sent + shift, NULL);
      gst_buffer_fill(buffer, shift, sent, sizeof sent);
      gst_buffer_resize(buffer, (gssize)shift, sizeof sent);
      gst_harness_push(h, buffer);
      g_autoptr(GByteArray) got = test_pull_all(h);
      g_assert_cmpuint(got->len, ==, sizeof sent / 2);
      for (guint i = 0; i < G_N_ELEMENTS(sent); i++)
        g_assert_cmpfloat(((float *)got->data)[i], ==, sent[i]);
      gst_harness_teardown(h);
    }
}

/* Values that saturate are counted, and the count can be read and is posted. */
static void test_clipped(void)
{
  GstHarness *h = test_harness("astroconvert");
  GstBus *bus = gst_bus_new();
  static const float sent[6] = { 63.5f, 64, -64, -64.5f, 0.25f, 0.75f };
  guint64 clipped = 0, total = 0;

  g_object_set(h->element, "scale", "2", NULL);
  gst_element_set_bus(h->element, bus);
  gst_harness_set_caps_str(h, CAPS("CF32LE"), CAPS("CI8"));
  gst_harness_push(h, gst_buffer_new_memdup(sent, sizeof sent));
  g_autoptr(GByteArray) got = test_pull_all(h);
  static const gint8 wanted[6] = { 127, 127, -128, -128, 0, 2 };
  g_assert_cmpmem(got->data, got->len, wanted, 6);
  gst_harness_push_event(h, gst_event_new_eos());
  g_object_get(h->element, "clipped", &clipped, NULL);
  g_assert_cmpuint(clipped, ==, 2);

  GstMessage *message;
  clipped = 0;
  guint warnings = 0;
  while ((message = gst_bus_pop_filtered(bus, GST_MESSAGE_ELEMENT | GST_MESSAGE_WARNING))) {
    const GstStructure *s = gst_message_get_structure(message);
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING) {
      g_autoptr(GError) warning = NULL;
      gst_message_parse_warning(message, &warning, NULL);
      g_assert_nonnull(strstr(warning->message, "33.3 % of the components"));
      warnings++;
    }
    if (gst_structure_has_name(s, "astro-clipped")) {
      gst_structure_get_uint64(s, "clipped", &clipped);
      gst_structure_get_uint64(s, "total", &total);
    }
    gst_message_unref(message);
  }
  g_assert_cmpuint(clipped, ==, 2);
  g_assert_cmpuint(total, ==, 6);
  g_assert_cmpuint(warnings, ==, 1); /* a third of all components is more than a few peaks */
  gst_element_set_bus(h->element, NULL);
  gst_object_unref(bus);
  gst_harness_teardown(h);
}

/* auto keeps the scale of the first block, whatever comes later, until the format changes. */
static void test_auto(void)
{
  GstHarness *h = gst_harness_new_parse("astroconvert backend=cpu scale=auto");
  float block[6] = { 1, -1, 1, -1, 1, -1 };
  gst_harness_set_caps_str(h, CAPS("CF32LE"), CAPS("CI8"));
  gst_harness_push(h, gst_buffer_new_memdup(block, sizeof block));
  for (guint i = 0; i < 6; i++)
    block[i] *= 2;
  gst_harness_push(h, gst_buffer_new_memdup(block, sizeof block));
  gst_harness_set_src_caps_str(h, CAPS("CF32LE") ",rate=7/1");
  gst_harness_push(h, gst_buffer_new_memdup(block, sizeof block));
  gst_harness_set_src_caps_str(h, CAPS("CI16LE"));
  const gint16 others[6] = { 64, -64, 64, -64, 64, -64 };
  gst_harness_push(h, gst_buffer_new_memdup(others, sizeof others));
  g_autoptr(GByteArray) got = test_pull_all(h);
  const gint8 *values = (const gint8 *)got->data;
  g_assert_cmpuint(got->len, ==, 24);
  g_assert_cmpint(values[0], ==, 32);
  g_assert_cmpint(values[1], ==, -32);
  g_assert_cmpint(values[6], ==, 64);
  g_assert_cmpint(values[12], ==, 64);
  g_assert_cmpint(values[18], ==, 32);
  gst_harness_teardown(h);
}

/* Lost samples do not count in the choice of a scale, whatever lies in their place, and a block
 * with only lost samples leaves the choice to the next. */
static void test_auto_of_good_samples(void)
{
  enum { STEPS = 4, STATIONS = 3, SAMPLES = STEPS * STATIONS };
  static const struct {
    AstroLayout counted;
    guint32 counts[SAMPLES];
  } cases[] = {
    { { 0 }, { 0 } },
    { { 1, { ASTRO_AXIS_TIME }, { STEPS } }, { 0, 1, 1, 0 } },
    { { 1, { ASTRO_AXIS_TIME }, { 2 } }, { 0, 1 } },
    { { 1, { ASTRO_AXIS_STATION }, { STATIONS } }, { 1, 0, 1 } },
    { { 2, { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION }, { STEPS, STATIONS } },
      { 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1 } },
  };
  for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
    GstHarness *h = gst_harness_new_parse("astroconvert backend=cpu scale=auto");
    float block[SAMPLES][2] = { { 0 } };
    gst_harness_set_caps_str(h, CAPS("CF32LE"), CAPS("CI8"));
    gst_harness_push(h, gst_buffer_new_memdup(block, sizeof block));
    GstBuffer *buffer = gst_buffer_new_memdup(block, sizeof block);
    AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &cases[c].counted, 1);
    memcpy(meta->counts, cases[c].counts, astro_validity_n_counts(meta) * sizeof *meta->counts);
    const AstroLayout shape = { 2, { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION }, { STEPS, STATIONS } };
    for (guint64 i = 0; i < SAMPLES; i++) {
      const guint64 index[ASTRO_MAX_AXES] = { i / STATIONS, i % STATIONS };
      block[i][0] = astro_validity_at(meta, &shape, index) ? 2 : 1e9f;
      block[i][1] = -block[i][0];
    }
    gst_buffer_fill(buffer, 0, block, sizeof block);
    gst_harness_push(h, buffer);
    for (guint i = 0; i < SAMPLES; i++)
      block[i][0] = block[i][1] = 2;
    gst_harness_push(h, gst_buffer_new_memdup(block, sizeof block));
    g_autoptr(GByteArray) got = test_pull_all(h);
    g_assert_cmpuint(got->len, ==, 3 * SAMPLES * 2);
    g_assert_cmpint(((const gint8 *)got->data)[got->len - 1], ==, 32);
    gst_harness_teardown(h);
  }
}

#define VISIBILITIES(format)                                                                       \
  "application/x-astro-visibilities,counts=true,format=" format                                    \
  ",layout=channel:baseline:pol:pol,channels=2,baselines=3,pols=1"

static void check_converted(const char *from, const char *to, const char *scale,
                            gconstpointer values, gconstpointer wanted)
{
  static const AstroLayout shape = { 2, { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_BASELINE }, { 2, 3 } };
  static const guint32 counts[6] = { 8, 4, 4, 0, 2, 8 };
  GstHarness *h = test_harness("astroconvert");
  GstBuffer *buffer = gst_buffer_new_memdup(values, 48);
  memcpy(astro_buffer_add_validity(buffer, &shape, 8)->counts, counts, sizeof counts);
  g_object_set(h->element, "scale", scale, NULL);
  gst_harness_set_caps_str(h, from, to);
  gst_harness_push(h, buffer);
  g_autoptr(GByteArray) got = test_pull_all(h);
  g_assert_cmpmem(got->data, got->len, wanted, 48);
  gst_harness_teardown(h);
}

/* Visibilities in CI32LE are sums, and those in floats are means over the samples that were
 * counted. */
static void test_sums_and_means(void)
{
  static const gint32 sums[12] = { 80, -8, 4, 40, 12, 0, 0, 0, 3, -1, 16, 8 };
  static const float means[12] = { 10, -1, 1, 10, 3, 0, 0, 0, 1.5f, -0.5f, 2, 1 };
  static const float halves[12] = { 5, -0.5f, 0.5f, 5, 1.5f, 0, 0, 0, 0.75f, -0.25f, 1, 0.5f };
  check_converted(VISIBILITIES("CI32LE"), VISIBILITIES("CF32LE"), "1", sums, means);
  check_converted(VISIBILITIES("CF32LE"), VISIBILITIES("CI32LE"), "1", means, sums);
  check_converted(VISIBILITIES("CI32LE"), VISIBILITIES("CF32LE"), "0.5", sums, halves);
}

/* A scale that is set after caps were negotiated is for the next caps. */
static void test_late_scale(void)
{
  static const struct {
    const char *before, *after;
    gint8 first;
  } cases[] = { { "auto", "3", 32 }, { "0", "auto", 0 }, { "5", "3", 5 } };
  static const float block[6] = { 1, -1, 1, -1, 1, -1 };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    GstHarness *h = test_harness("astroconvert");
    g_object_set(h->element, "scale", cases[i].before, NULL);
    gst_harness_set_caps_str(h, CAPS("CF32LE"), CAPS("CI8"));
    g_object_set(h->element, "scale", cases[i].after, NULL);
    gst_harness_push(h, gst_buffer_new_memdup(block, sizeof block));
    g_autoptr(GByteArray) got = test_pull_all(h);
    g_assert_cmpint(((const gint8 *)got->data)[0], ==, cases[i].first);
    gst_harness_teardown(h);
  }
}

static void test_same_is_pass_through(void)
{
  GstHarness *h = test_harness("astroconvert");
  GstBuffer *in = test_buffer(12, 1);
  gst_harness_set_caps_str(h, CAPS("CI8"), CAPS("CI8"));
  gst_buffer_ref(in);
  gst_harness_push(h, in);
  GstBuffer *out = gst_harness_pull(h);
  g_assert_true(out == in);
  gst_buffer_unref(out);
  gst_buffer_unref(in);
  gst_harness_teardown(h);
}

static void test_prefers_same(void)
{
  GstHarness *h = test_harness("astroconvert");
  gst_harness_set_sink_caps_str(h, "application/x-astro-voltages,format={CI4,CI8,CF32LE}");
  gst_harness_set_src_caps_str(h, CAPS("CF32LE"));
  gst_harness_push(h, test_buffer(24, 1));
  gst_buffer_unref(gst_harness_pull(h));
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  g_assert_cmpstr(gst_structure_get_string(gst_caps_get_structure(caps, 0), "format"), ==,
                  "CF32LE");
  gst_harness_teardown(h);

  h = test_harness("astroconvert");
  gst_harness_set_sink_caps_str(h, "application/x-astro-voltages,format={CI4,CI8}");
  gst_harness_set_src_caps_str(h, CAPS("CF32LE"));
  gst_harness_push(h, test_buffer(24, 1));
  gst_buffer_unref(gst_harness_pull(h));
  g_autoptr(GstCaps) chosen = gst_pad_get_current_caps(h->sinkpad);
  g_assert_cmpstr(gst_structure_get_string(gst_caps_get_structure(chosen, 0), "format"), ==, "CI4");
  gst_harness_teardown(h);
}

/* Downstream may list integers first, as astrodelay does; but floats of about 1 would be rounded
 * away. */
static void test_prefers_exact(void)
{
  static const struct {
    const char *in, *chosen;
  } cases[] = { { CAPS("CF16LE"), "CF32LE" },
                { CAPS("CF64LE"), "CF32LE" },
                { CAPS("CI8"), "CF32LE" },
                { CAPS("I16LE"), "F32LE" } };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    GstHarness *h = test_harness("astroconvert");
    gst_harness_set_sink_caps_str(
        h, "application/x-astro-voltages,format={CI4,CI16LE,CF32LE,I8,F32LE}");
    gst_harness_set_src_caps_str(h, cases[i].in);
    gst_harness_push(h, test_buffer(96, 1));
    gst_buffer_unref(gst_harness_pull(h));
    g_autoptr(GstCaps) chosen = gst_pad_get_current_caps(h->sinkpad);
    g_assert_cmpstr(gst_structure_get_string(gst_caps_get_structure(chosen, 0), "format"), ==,
                    cases[i].chosen);
    gst_harness_teardown(h);
  }
}

/* Stages whose caps accept all formats, so that they can say themselves what they expect. */
static void test_before_stages(void)
{
  static const char *const lines[][2] = {
    { "CI8", "astrofft axes=time length=64" },
    { "I8", "astrofft axes=time length=64" },
    { "CF64LE", "astrochannelizer channels=64" },
    { "F64LE", "astrochannelizer channels=64" },
    { "CF64LE", "queue ! astrochannelizer channels=64" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(lines); i++) {
    g_autofree char *line =
        g_strdup_printf("fakesrc num-buffers=2 sizetype=fixed sizemax=65536 ! "
                        "application/x-astro-voltages,format=%s,layout=time:station,stations=2 ! "
                        "astroconvert ! %s ! fakesink",
                        lines[i][0], lines[i][1]);
    g_autofree char *error = test_launch(line);
    g_assert_cmpstr(error, ==, NULL);
  }
}

static const struct {
  const char *line, *word;
} bad[] = {
  { "fakesrc num-buffers=1 ! " CAPS("CI8") " ! astroconvert name=c scale=much ! fakesink", "much" },
  { "fakesrc num-buffers=1 ! " CAPS("CI8") " ! astroconvert name=c scale=nan ! fakesink", "nan" },
  { "fakesrc num-buffers=1 ! " CAPS("CI9") " ! astroconvert name=c ! fakesink", "CI9" },
  { "fakesrc num-buffers=1 ! " CAPS(
        "CI8") " ! astroconvert name=c ! application/x-astro-voltages,format=F32LE ! fakesink",
    "astro" },
};

static void test_bad(gconstpointer data)
{
  gsize i = GPOINTER_TO_SIZE(data);
  test_refused(bad[i].line, bad[i].word);
}

/* The scale suits what is written: sums, which large counts make large. */
static void test_auto_of_sums(void)
{
  static const float means[12] = { 2, -2, 2, 2, -2, 2, 9, 9, 2, 2, -2, 2 };
  static const guint32 counts[6] = { 50, 50, 50, 0, 50, 50 };
  static const AstroLayout shape = { 2, { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_BASELINE }, { 2, 3 } };
  GstHarness *h = test_harness("astroconvert");
  GstBuffer *buffer = gst_buffer_new_memdup(means, sizeof means);

  memcpy(astro_buffer_add_validity(buffer, &shape, 50)->counts, counts, sizeof counts);
  g_object_set(h->element, "scale", "auto", NULL);
  gst_harness_set_caps_str(h, VISIBILITIES("CF32LE"), VISIBILITIES("CI32LE"));
  gst_harness_push(h, buffer);
  g_autoptr(GByteArray) got = test_pull_all(h);
  g_assert_cmpuint(got->len, ==, 48);
  for (guint i = 0; i < 12; i++)
    g_assert_cmpint(((gint32 *)got->data)[i], ==,
                    counts[i / 2] ? (means[i] > 0 ? 1 : -1) * (1 << 27) : 0);
  gst_harness_teardown(h);
}

/* The last of the quantities, a frame of columns. */
static void test_correlation_function(void)
{
  static const double sent[6] = { 1, 2, 3, 4.5, -5, 0.25 };
  GstHarness *h = test_harness("astroconvert");
#define FUNCTION(format)                                                                           \
  "application/x-astro-correlation-function,format=" format                                        \
  ",layout=column:bin,columns=theta:w,bins=3"
  gst_harness_set_caps_str(h, FUNCTION("F64LE"), FUNCTION("F32LE"));
  g_assert_cmpint(gst_harness_push(h, gst_buffer_new_memdup(sent, sizeof sent)), ==, GST_FLOW_OK);
  g_autoptr(GByteArray) got = test_pull_all(h);
  g_assert_cmpuint(got->len, ==, 24);
  for (guint i = 0; i < 6; i++)
    g_assert_cmpfloat(((float *)got->data)[i], ==, sent[i]);
  gst_harness_teardown(h);
}

static void add_tests(void)
{
  g_test_add_func("/astroconvert/values", test_values);
  g_test_add_func("/astroconvert/before-stages", test_before_stages);
  g_test_add_func("/astroconvert/unaligned", test_unaligned);
  g_test_add_func("/astroconvert/clipped", test_clipped);
  g_test_add_func("/astroconvert/auto", test_auto);
  g_test_add_func("/astroconvert/auto-of-good-samples", test_auto_of_good_samples);
  g_test_add_func("/astroconvert/sums-and-means", test_sums_and_means);
  g_test_add_func("/astroconvert/auto-of-sums", test_auto_of_sums);
  g_test_add_func("/astroconvert/correlation-function", test_correlation_function);
  g_test_add_func("/astroconvert/late-scale", test_late_scale);
  g_test_add_func("/astroconvert/same-is-pass-through", test_same_is_pass_through);
  g_test_add_func("/astroconvert/prefers-same", test_prefers_same);
  g_test_add_func("/astroconvert/prefers-exact", test_prefers_exact);
  for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autofree char *name = g_strdup_printf("/astroconvert/bad/%zu", i);
    g_test_add_data_func(name, GSIZE_TO_POINTER(i), test_bad);
  }
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
