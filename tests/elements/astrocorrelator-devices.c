/* astrocorrelator on several devices: what they make together is what one makes alone. */
#include "core/backend/device-list.h"
#include "core/stream/validity.h"
#include "core/backend/module.h"
#include "tests/elements/astrocorrelator.h"
#include "tests/elements/fake-devices.h"
#include "tests/elements/running.h"
#include "tests/observe.h"

#include <glib/gstdio.h>
#include <math.h>

enum { STEPS = 400, BLOCK = 13 };

static GstBuffer *block(const guint8 *stream, guint64 first, gboolean with_losses)
{
  GstBuffer *buffer = part(stream, first, MIN(BLOCK, STEPS - first));
  const guint64 steps = GST_BUFFER_OFFSET_END(buffer) - first;
  const AstroLayout shape = { .n_axes = 2,
                              .axes = { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION },
                              .extents = { steps, 3 } };
  if (!with_losses)
    return buffer;
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &shape, 1);
  for (guint64 i = 0; i < steps * 3; i++)
    meta->counts[i] = (first * 3 + i) % 11 != 0;
  return buffer;
}

typedef struct {
  GByteArray *bytes;
  GArray *counts, *times;
} Made;

static void made_clear(Made *made)
{
  g_byte_array_unref(made->bytes);
  g_array_unref(made->counts);
  g_array_unref(made->times);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Made, made_clear)

static void take(Made *made, GstHarness *h)
{
  GstBuffer *out;
  while ((out = gst_harness_try_pull(h))) {
    const AstroValidityMeta *meta = astro_buffer_get_validity(out);
    GstMapInfo map;
    g_assert_true(gst_buffer_map(out, &map, GST_MAP_READ));
    g_byte_array_append(made->bytes, map.data, (guint)map.size);
    gst_buffer_unmap(out, &map);
    const guint64 n = astro_validity_n_counts(meta);
    for (guint64 i = 0; i < 24; i++)
      g_array_append_val(made->counts, meta->counts[i % n]);
    const guint64 times[] = { GST_BUFFER_OFFSET(out), GST_BUFFER_PTS(out),
                              GST_BUFFER_DURATION(out) };
    g_array_append_vals(made->times, times, 3);
    gst_buffer_unref(out);
  }
}

/* All of the stream, with a hole of lost blocks in it. */
static Made correlate_after(const char *before, const char *settings, const char *format,
                            guint integration, const guint8 *stream, gboolean with_losses)
{
  Made made = { g_byte_array_new(), g_array_new(FALSE, FALSE, sizeof(guint32)),
                g_array_new(FALSE, FALSE, sizeof(guint64)) };
  g_autofree char *line = g_strdup_printf("%s astrocorrelator backend=cuda integration=%u %s",
                                          before, integration, settings);
  g_autofree char *caps = g_strdup_printf(
      "application/x-astro-visibilities,format=%s,layout=channel:baseline:pol:pol", format);
  GstHarness *h = gst_harness_new_parse(line);
  gst_harness_set_sink_caps_str(h, caps);
  gst_harness_set_src_caps_str(h, SPECTRA("CI8") ",rate=1000/1");
  for (guint64 first = 0; first < STEPS; first += BLOCK)
    if (first < 10 * BLOCK || first >= 17 * BLOCK)
      g_assert_cmpint(gst_harness_push(h, block(stream, first, with_losses)), ==, GST_FLOW_OK);
  g_assert_true(gst_harness_push_event(h, gst_event_new_eos()));
  take(&made, h);
  gst_harness_teardown(h);
  return made;
}

static Made correlate(const char *settings, const char *format, guint integration,
                      const guint8 *stream, gboolean with_losses)
{
  return correlate_after("", settings, format, integration, stream, with_losses);
}

static void assert_near(const GByteArray *a, const GByteArray *b)
{
  const float *x = (gconstpointer)a->data, *y = (gconstpointer)b->data;
  g_assert_cmpuint(a->len, ==, b->len);
  for (guint i = 0; i < a->len / sizeof(float); i++)
    g_assert_cmpfloat(fabsf(x[i] - y[i]), <=, 1.2e-7f * 16384);
}

static void assert_alike(const Made *a, const Made *b, gboolean exact)
{
  g_assert_cmpuint(a->times->len, >=, 3);
  g_assert_cmpmem(a->times->data, a->times->len * 8, b->times->data, b->times->len * 8);
  g_assert_cmpmem(a->counts->data, a->counts->len * 4, b->counts->data, b->counts->len * 4);
  g_assert_cmpuint(a->bytes->len, ==, b->bytes->len);
  if (exact)
    g_assert_cmpmem(a->bytes->data, a->bytes->len, b->bytes->data, b->bytes->len);
  else
    assert_near(a->bytes, b->bytes);
}

/* Integrations shorter and longer than blocks, than all devices' blocks, and than the stream. */
static void test_same(void)
{
  static const guint integrations[] = { 1, 5, 13, 40, 100, 1000 };
  static const char *const formats[] = { "CI32LE", "CF32LE" };
  g_autofree char *settings = g_strconcat("devices=", test_several_devices(), NULL);
  guint8 stream[STEPS * 2 * SAMPLES];
  test_fill(stream, sizeof stream, 3);
  for (guint i = 0; i < G_N_ELEMENTS(integrations); i++)
    for (guint f = 0; f < 2; f++)
      for (guint losses = 0; losses < 2; losses++) {
        g_auto(Made) one = correlate("device=0", formats[f], integrations[i], stream, losses);
        g_auto(Made) all = correlate(settings, formats[f], integrations[i], stream, losses);
        g_test_message("integration %u %s", integrations[i], formats[f]);
        assert_alike(&one, &all, f == 0);
      }
}

/* Blocks that one device has made go on to the others. */
static void test_chain(void)
{
  static const char *const before = "astrotranspose backend=cuda ! "
                                    "application/x-astro-spectra,layout=channel:station:pol:time !";
  g_autofree char *settings = g_strconcat("devices=", test_several_devices(), NULL);
  guint8 stream[STEPS * 2 * SAMPLES];
  test_fill(stream, sizeof stream, 6);
  g_auto(Made) one = correlate("device=0", "CI32LE", 40, stream, TRUE);
  g_auto(Made) chain = correlate_after(before, settings, "CI32LE", 40, stream, TRUE);
  assert_alike(&one, &chain, TRUE);
  if (test_devices_are_fake()) {
    g_autoptr(AstroDevice) second = astro_device_open(1, NULL);
    g_assert_cmpuint(second->bytes_across, >, 0);
  }
}

/* A flush forgets what every device holds, and what waits to be joined. */
static void test_flush(void)
{
  g_autofree char *line = g_strdup_printf("astrocorrelator backend=cuda integration=40 devices=%s",
                                          test_several_devices());
  guint8 stream[STEPS * 2 * SAMPLES];
  Made made = { g_byte_array_new(), g_array_new(FALSE, FALSE, sizeof(guint32)),
                g_array_new(FALSE, FALSE, sizeof(guint64)) };
  GstHarness *h = gst_harness_new_parse(line);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  test_fill(stream, sizeof stream, 4);
  gst_harness_set_src_caps_str(h, SPECTRA("CI8") ",rate=1000/1");
  for (guint64 first = 0; first < 100; first += BLOCK)
    g_assert_cmpint(gst_harness_push(h, block(stream, first, FALSE)), ==, GST_FLOW_OK);
  take(&made, h);
  gst_harness_push_event(h, gst_event_new_flush_start());
  gst_harness_push_event(h, gst_event_new_flush_stop(TRUE));
  gst_harness_push_event(h, gst_event_new_segment(&segment));
  g_array_set_size(made.times, 0);
  for (guint64 first = 160; first < 320; first += BLOCK)
    g_assert_cmpint(gst_harness_push(h, block(stream, first, FALSE)), ==, GST_FLOW_OK);
  g_assert_true(gst_harness_push_event(h, gst_event_new_eos()));
  g_array_set_size(made.counts, 0);
  take(&made, h);
  g_assert_cmpuint(made.times->len, ==, 3 * 5);
  for (guint i = 0; i < 4; i++) {
    g_assert_cmpuint(g_array_index(made.times, guint64, 3 * i), ==, 4 + i);
    g_assert_cmpuint(g_array_index(made.counts, guint32, 24 * i), ==, 40);
  }
  gst_harness_teardown(h);
  made_clear(&made);
}

/* Blocks of which an integration has one for each of three devices, of which fake 1 is lost when it
 * has the first block of the integration with number LAST. The one with number HELD was added up on
 * it, and is held back until the host has to wait for it. */
enum { WHOLE = 3 * BLOCK, HELD = 1, LAST = 3, LOST_BLOCK = 3 * LAST };
#define CORRELATE_WHOLE "astrocorrelator backend=cuda integration=39 "

static void assert_names_device(GstBus *bus, const char *device)
{
  g_autoptr(GstMessage) message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  g_autoptr(GError) error = NULL;
  g_assert_nonnull(message);
  gst_message_parse_error(message, &error, NULL);
  g_test_message("%s", error->message);
  g_assert_nonnull(strstr(error->message, device));
}

/* As one device makes them where the lost block is a gap, without the integration that is lost. */
static Made correlate_with_gap(const guint8 *stream)
{
  Made made = { g_byte_array_new(), g_array_new(FALSE, FALSE, sizeof(guint32)),
                g_array_new(FALSE, FALSE, sizeof(guint64)) };
  GstHarness *h = gst_harness_new_parse(CORRELATE_WHOLE);
  gst_harness_set_src_caps_str(h, SPECTRA("CI8") ",rate=1000/1");
  for (guint i = 0; i < LOST_BLOCK + 3; i++) {
    GstBuffer *in = block(stream, (guint64)i * BLOCK, FALSE);
    if (i == LOST_BLOCK)
      GST_BUFFER_FLAG_SET(in, GST_BUFFER_FLAG_GAP);
    g_assert_cmpint(gst_harness_push(h, in), ==, GST_FLOW_OK);
  }
  g_assert_true(gst_harness_push_event(h, gst_event_new_eos()));
  take(&made, h);
  gst_harness_teardown(h);
  const guint bytes = made.bytes->len / (LAST + 1);
  g_byte_array_remove_range(made.bytes, HELD * bytes, bytes);
  g_array_remove_range(made.counts, HELD * 24, 24);
  g_array_remove_range(made.times, HELD * 3, 3);
  return made;
}

/* A device that fails ends the stream with an error that names it. What others have made goes out,
 * and the integration under way without the samples that this device had, as its counts tell. */
static void test_failure(void)
{
  if (!test_devices_are_fake()) {
    g_test_skip("only a fake device fails when it is told to");
    return;
  }
  guint8 stream[STEPS * 2 * SAMPLES];
  test_fill(stream, sizeof stream, 5);
  g_auto(Made) expected = correlate_with_gap(stream);
  Made made = { g_byte_array_new(), g_array_new(FALSE, FALSE, sizeof(guint32)),
                g_array_new(FALSE, FALSE, sizeof(guint64)) };
  g_autoptr(AstroDevice) device = astro_device_open(1, NULL);
  GstHarness *h = gst_harness_new_parse(CORRELATE_WHOLE "devices=all");
  g_autoptr(GstElement) element = gst_harness_find_element(h, "astrocorrelator");
  g_autoptr(GstBus) bus = gst_bus_new();
  GstFlowReturn flow = GST_FLOW_OK;
  gst_element_set_bus(element, bus);
  gst_harness_set_src_caps_str(h, SPECTRA("CI8") ",rate=1000/1");
  for (guint i = 0; i < LOST_BLOCK + 3; i++) {
    g_assert_cmpint(flow, ==, GST_FLOW_OK);
    ((FakeDevice *)device)->lost = i > LOST_BLOCK;
    flow = gst_harness_push(h, block(stream, (guint64)i * BLOCK, FALSE));
    take(&made, h);
  }
  g_assert_cmpint(flow, ==, GST_FLOW_ERROR);
  assert_names_device(bus, "fake 1");
  g_assert_cmpuint(g_array_index(made.counts, guint32, made.counts->len - 1), ==, WHOLE - BLOCK);
  assert_alike(&expected, &made, FALSE);
  gst_element_set_bus(element, NULL);
  gst_harness_teardown(h);
  made_clear(&made);
}

/* The same in a file, which is whole although the stream has no end. */
static void test_file(void)
{
  if (!test_devices_are_fake()) {
    g_test_skip("only a fake device fails when it is told to");
    return;
  }
  guint8 stream[STEPS * 2 * SAMPLES];
  test_fill(stream, sizeof stream, 5);
  g_auto(Made) expected = correlate_with_gap(stream);
  g_autoptr(AstroDevice) device = astro_device_open(1, NULL);
  g_autoptr(AstroObservation) o = test_observe("disc", 3);
  g_autofree char *file = g_build_filename(g_get_tmp_dir(), "failed.uvfits", NULL);
  g_autofree char *write =
      g_strconcat(CORRELATE_WHOLE "devices=all ! astrofitssink location=", file, NULL);
  g_autofree char *read_back = g_strconcat("astrofitssrc location=", file, NULL);
  GstHarness *h = gst_harness_new_parse(write);
  GstFlowReturn flow = GST_FLOW_OK;
  gst_harness_set_src_caps_str(h, SPECTRA("CI8") ",rate=1000/1,frequency=1.4e9,bandwidth=1e6");
  o->done.delays = ASTRO_DELAYS_OUT;
  gst_harness_push_event(h, astro_observation_to_event(o));
  for (guint i = 0; i < LOST_BLOCK + 3; i++) {
    ((FakeDevice *)device)->lost = i > LOST_BLOCK;
    flow = gst_harness_push(h, block(stream, (guint64)i * BLOCK, FALSE));
  }
  g_assert_cmpint(flow, ==, GST_FLOW_ERROR);
  gst_harness_teardown(h);
  ((FakeDevice *)device)->lost = FALSE;
  g_autoptr(GByteArray) read = test_run_line(read_back);
  assert_near(read, expected.bytes);
  g_assert_cmpint(g_unlink(file), ==, 0);
}

/* Names of devices that are not there, and backends that have none. */
static void test_refusals(void)
{
  static const struct {
    const char *settings, *says;
  } cases[] = {
    { "devices=0,99", "devices is \"0,99\": this machine has" },
    { "devices=x", "this cannot be read" },
    { "devices=3-1", "this cannot be read" },
    { "devices=0-", "this cannot be read" },
    { "devices=0,0 backend=cpu", "devices=0,0 with backend=cpu" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *line = g_strconcat("fakesrc ! " SPECTRA("CI8") " ! astrocorrelator ",
                                        cases[i].settings, " ! fakesink", NULL);
    test_refused(line, cases[i].says);
  }
}

static void test_lists(void)
{
  gint found[ASTRO_MOST_DEVICES];
  GError *error = NULL;
  g_assert_cmpuint(astro_device_list_parse("all", 3, found, &error), ==, 3);
  g_assert_cmpint(found[2], ==, 2);
  g_assert_cmpuint(astro_device_list_parse("2,0-1, 1", 3, found, &error), ==, 4);
  g_assert_cmpint(found[0], ==, 2);
  g_assert_cmpint(found[3], ==, 1);
  g_assert_no_error(error);
  g_assert_cmpuint(astro_device_list_parse("0-16", 20, found, &error), ==, 0);
  g_assert_nonnull(strstr(error->message, "at most 16"));
  g_clear_error(&error);
  g_assert_cmpuint(astro_device_list_parse("all", 0, found, &error), ==, 0);
  g_assert_nonnull(strstr(error->message, "there is no GPU"));
  g_clear_error(&error);
  g_assert_cmpuint(astro_device_list_parse("", 2, found, &error), ==, 0);
  g_assert_nonnull(strstr(error->message, "it names none"));
  g_clear_error(&error);
}

static void add_tests(void)
{
  g_test_add_func("/astrocorrelator-devices/lists", test_lists);
  if (!test_has_devices())
    return;
  g_test_add_func("/astrocorrelator-devices/same", test_same);
  g_test_add_func("/astrocorrelator-devices/chain", test_chain);
  g_test_add_func("/astrocorrelator-devices/flush", test_flush);
  g_test_add_func("/astrocorrelator-devices/refused", test_refusals);
  g_test_add_func("/astrocorrelator-devices/file", test_file);
  g_test_add_func("/astrocorrelator-devices/failure", test_failure); /* the last: it stays broken */
}

/* Without a GPU three fake devices take its place; a single GPU is shared by three. */
int main(int argc, char **argv)
{
  test_fake_devices("3");
  return test_run(argc, argv, add_tests);
}
