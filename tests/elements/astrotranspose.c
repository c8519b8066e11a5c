#include "core/transpose/transpose.h"
#include "tests/elements/elements.h"
#include "tests/elements/setter.h"

#define FIELDS "application/x-astro-spectra,format=CI16LE,stations=3,pols=2,channels=5,layout="

/* The block that the core's reference makes. */
static void reference(const char *in_layout, const char *out_layout, guint64 steps,
                      gconstpointer in, gpointer out)
{
  AstroStream from, to;
  AstroLayout from_shape, to_shape;
  AstroTransposeConfig config;
  AstroPlace place = { 0 };
  const char *variant;
  g_autofree char *in_text = g_strconcat(FIELDS, in_layout, NULL);
  g_autofree char *out_text = g_strconcat(FIELDS, out_layout, NULL);
  g_autoptr(GstCaps) in_caps = gst_caps_from_string(in_text);
  g_autoptr(GstCaps) out_caps = gst_caps_from_string(out_text);

  g_assert_true(astro_stream_from_caps(&from, in_caps, NULL));
  g_assert_true(astro_stream_from_caps(&to, out_caps, NULL));
  astro_stream_shape(&from, steps, &from_shape);
  astro_stream_shape(&to, steps, &to_shape);
  g_assert_true(astro_transpose_config(&config, &from_shape, &to_shape, 4, NULL));
  gpointer instance = astro_transpose_reference.create(&config, &place, &variant, NULL);
  AstroBlock a = { (gpointer)in, steps * 120 }, b = { out, steps * 120 };
  g_assert_true(astro_transpose_reference.submit(instance, &a, 1, &b, 1, NULL, NULL, NULL));
  astro_transpose_reference.destroy(instance);
}

static const char *const layouts[] = {
  "time:station:pol:channel", "station:pol:time:channel", "channel:time:station:pol",
  "channel:station:pol:time", "pol:time:channel:station",
};

/* However the stream is split into buffers, each block equals the reference's. */
static void test_values(gconstpointer data)
{
  const char *in = layouts[GPOINTER_TO_SIZE(data) % 5], *out = layouts[GPOINTER_TO_SIZE(data) / 5];
  g_autofree char *in_caps = g_strconcat(FIELDS, in, NULL);
  g_autofree char *out_caps = g_strconcat(FIELDS, out, NULL);
  GstHarness *h = test_harness("astrotranspose");
  static const guint64 steps[] = { 1, 16, 3, 100, 7 };

  gst_harness_set_caps_str(h, in_caps, out_caps);
  for (guint i = 0; i < G_N_ELEMENTS(steps); i++) {
    gsize bytes = steps[i] * 120;
    g_autofree guint8 *sent = g_malloc(bytes), *wanted = g_malloc(bytes);
    test_fill(sent, bytes, i);
    reference(in, out, steps[i], sent, wanted);
    g_assert_cmpint(gst_harness_push(h, gst_buffer_new_memdup(sent, bytes)), ==, GST_FLOW_OK);
    g_autoptr(GByteArray) got = test_pull_all(h);
    g_assert_cmpmem(got->data, got->len, wanted, bytes);
  }
  gst_harness_teardown(h);
}

/* The first layout that downstream lists wins, even if it would take the one that upstream
 * gives. */
static void test_preference(void)
{
  GstHarness *h = test_harness("astrotranspose");
  gst_harness_set_sink_caps_str(
      h, "application/x-astro-spectra,layout={channel:station:pol:time,time:station:pol:channel}");
  gst_harness_set_src_caps_str(h, FIELDS "time:station:pol:channel");
  gst_harness_push(h, test_buffer(120, 1));
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  g_assert_cmpstr(gst_structure_get_string(gst_caps_get_structure(caps, 0), "layout"), ==,
                  "channel:station:pol:time");
  gst_buffer_unref(gst_harness_pull(h));
  gst_harness_teardown(h);
}

/* Through a queue and a filter too, whose answers are in the order of the question. */
static void test_preference_behind_queue(void)
{
  GstHarness *h = gst_harness_new_parse("astrotranspose backend=cpu ! queue");
  gst_harness_set_sink_caps_str(
      h, "application/x-astro-spectra,layout={channel:station:pol:time,time:station:pol:channel}");
  gst_harness_set_src_caps_str(h, FIELDS "time:station:pol:channel");
  gst_harness_push(h, test_buffer(120, 1));
  gst_buffer_unref(gst_harness_pull(h));
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  g_assert_cmpstr(gst_structure_get_string(gst_caps_get_structure(caps, 0), "layout"), ==,
                  "channel:station:pol:time");
  gst_harness_teardown(h);
}

/* If nothing is asked for, the stream passes, and buffers are the same. */
static void test_pass_through(void)
{
  GstHarness *h = test_harness("astrotranspose");
  GstBuffer *in = test_buffer(240, 1);
  gst_harness_set_sink_caps_str(h, "application/x-astro-spectra");
  gst_harness_set_src_caps_str(h, FIELDS "time:station:pol:channel");
  gst_buffer_ref(in);
  gst_harness_push(h, in);
  GstBuffer *out = gst_harness_pull(h);
  g_assert_true(out == in);
  g_autofree char *backend = NULL;
  g_object_get(h->element, "active-backend", &backend, NULL);
  g_assert_cmpstr(backend, ==, "pass-through");
  gst_buffer_unref(out);
  gst_buffer_unref(in);
  gst_harness_teardown(h);
}

static void test_layout_property(void)
{
  GstHarness *h =
      gst_harness_new_parse("astrotranspose backend=cpu layout=pol:channel:station:time");
  gst_harness_set_src_caps_str(h, FIELDS "time:station:pol:channel");
  gst_harness_push(h, test_buffer(240, 1));
  gst_buffer_unref(gst_harness_pull(h));
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  g_assert_cmpstr(gst_structure_get_string(gst_caps_get_structure(caps, 0), "layout"), ==,
                  "pol:channel:station:time");
  gst_harness_teardown(h);
}

/* While the stream runs and is negotiated. */
static void test_layout_changes(void)
{
  static const char *const orders[] = { "pol:channel:station:time", "time:station:pol:channel",
                                        "channel:time:station:pol", "", NULL };
  GstHarness *h = test_harness("astrotranspose");
  TestSetter setter = { .object = h->element, .name = "layout", .texts = orders };
  gst_harness_set_sink_caps_str(h, "application/x-astro-spectra");
  gst_harness_set_src_caps_str(h, FIELDS "time:station:pol:channel");
  test_setter_start(&setter);
  for (guint i = 0; i < 1000; i++) {
    g_assert_cmpint(gst_harness_push(h, test_buffer(240, i)), ==, GST_FLOW_OK);
    gst_buffer_unref(gst_harness_pull(h));
  }
  test_setter_stop(&setter);
  gst_harness_teardown(h);
}

/* If upstream can give several layouts it is asked for the one that needs no work. */
static void test_upstream(void)
{
  GstHarness *h = test_harness("astrotranspose");
  gst_harness_set_sink_caps_str(h, FIELDS "time:station:pol:channel");
  g_autoptr(GstCaps) caps = gst_pad_peer_query_caps(h->srcpad, NULL);
  g_autofree char *text = gst_caps_to_string(caps);
  g_test_message("%s", text);
  const GstStructure *last = gst_caps_get_structure(caps, gst_caps_get_size(caps) - 1);
  const GValue *value = gst_structure_get_value(last, "layout");
  g_assert_true(GST_VALUE_HOLDS_LIST(value));
  g_assert_cmpuint(gst_value_list_get_size(value), ==, 24);
  g_assert_cmpstr(g_value_get_string(gst_value_list_get_value(value, 0)), ==,
                  "time:station:pol:channel");
  gst_harness_teardown(h);
}

static void test_sizes(void)
{
  static const struct {
    const char *quantity, *format;
    guint bytes;
  } kinds[] = {
    { "voltages", "CI4", 1 },    { "voltages", "CI8", 2 },     { "voltages", "CF16LE", 4 },
    { "voltages", "CF32LE", 8 }, { "voltages", "CF64LE", 16 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
    g_autofree char *caps = g_strdup_printf(
        "application/x-astro-%s,format=%s,stations=7,layout=", kinds[i].quantity, kinds[i].format);
    g_autofree char *in = g_strconcat(caps, "time:station", NULL);
    g_autofree char *out = g_strconcat(caps, "station:time", NULL);
    guint n = kinds[i].bytes;
    GstHarness *h = test_harness("astrotranspose");
    gst_harness_set_caps_str(h, in, out);
    g_autofree guint8 *sent = g_malloc(7 * 33 * n);
    test_fill(sent, 7 * 33 * n, i);
    gst_harness_push(h, gst_buffer_new_memdup(sent, 7 * 33 * n));
    g_autoptr(GByteArray) got = test_pull_all(h);
    for (guint t = 0; t < 33; t++)
      for (guint s = 0; s < 7; s++)
        g_assert_cmpmem(got->data + (s * 33 + t) * n, n, sent + (t * 7 + s) * n, n);
    gst_harness_teardown(h);
  }
}

static void add_tests(void)
{
  for (gsize i = 0; i < 25; i++) {
    g_autofree char *name =
        g_strdup_printf("/astrotranspose/values/%s/%s", layouts[i % 5], layouts[i / 5]);
    g_test_add_data_func(name, GSIZE_TO_POINTER(i), test_values);
  }
  g_test_add_func("/astrotranspose/preference", test_preference);
  g_test_add_func("/astrotranspose/preference-behind-queue", test_preference_behind_queue);
  g_test_add_func("/astrotranspose/pass-through", test_pass_through);
  g_test_add_func("/astrotranspose/layout", test_layout_property);
  g_test_add_func("/astrotranspose/layout-changes", test_layout_changes);
  g_test_add_func("/astrotranspose/upstream", test_upstream);
  g_test_add_func("/astrotranspose/sizes", test_sizes);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
