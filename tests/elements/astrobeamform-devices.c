/* astrobeamform on several devices: the beams that they make together are those of one, in the
 * order of the stream, and what they clip is added up. */
#include "core/backend/module.h"
#include "core/stream/validity.h"
#include "tests/elements/elements.h"
#include "tests/elements/fake-devices.h"
#include "tests/observe.h"

enum { CHANNELS = 3, STATIONS = 5, POLS = 2, STEPS = 411, BLOCK = 17 };

#define SPECTRA                                                                                    \
  "application/x-astro-spectra,format=CI8,layout=time:channel:station:pol,channels=3,stations=5,"  \
  "pols=2,rate=1000/1,frequency=1.5e8,bandwidth=1e6"
#define STEP_BYTES (CHANNELS * STATIONS * POLS * 2)

typedef struct {
  GByteArray *bytes;
  GArray *places; /* OFFSET, PTS, and the first count, of each block */
  guint64 clipped;
} Beams;

static void beams_clear(Beams *beams)
{
  g_byte_array_unref(beams->bytes);
  g_array_unref(beams->places);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Beams, beams_clear)

/* A station is missing now and then. */
static GstBuffer *block(const guint8 *stream, guint64 first)
{
  const guint64 steps = MIN(BLOCK, STEPS - first);
  const AstroLayout shape = { 2, { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION }, { steps, STATIONS } };
  GstBuffer *buffer = gst_buffer_new_memdup(stream + first * STEP_BYTES, steps * STEP_BYTES);
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &shape, 1);
  for (guint64 i = 0; i < steps * STATIONS; i++)
    meta->counts[i] = (first * STATIONS + i) % 13 != 0;
  GST_BUFFER_OFFSET(buffer) = first;
  GST_BUFFER_OFFSET_END(buffer) = first + steps;
  return buffer;
}

static void take(Beams *beams, GstHarness *h)
{
  GstBuffer *out;
  while ((out = gst_harness_try_pull(h))) {
    const AstroValidityMeta *meta = astro_buffer_get_validity(out);
    const guint64 place[] = { GST_BUFFER_OFFSET(out), GST_BUFFER_PTS(out), meta->counts[0] };
    GstMapInfo map;
    g_assert_true(gst_buffer_map(out, &map, GST_MAP_READ));
    g_byte_array_append(beams->bytes, map.data, (guint)map.size);
    gst_buffer_unmap(out, &map);
    g_array_append_vals(beams->places, place, 3);
    gst_buffer_unref(out);
  }
}

static GstHarness *open_beams(const char *settings, const char *format)
{
  g_autofree char *line =
      g_strdup_printf("astrobeamform backend=cuda beams=0,0;0.01,-0.02;0.1,0.1 %s", settings);
  g_autofree char *caps = g_strdup_printf("application/x-astro-spectra,format=%s", format);
  g_autoptr(AstroObservation) o = test_observe("disc", STATIONS);
  GstHarness *h = gst_harness_new_parse(line);
  o->done.delays = ASTRO_DELAYS_OUT;
  gst_harness_set_sink_caps_str(h, caps);
  gst_harness_set_src_caps_str(h, SPECTRA);
  gst_harness_push_event(h, astro_observation_to_event(o));
  return h;
}

static Beams form(const char *settings, const char *format, const guint8 *stream)
{
  Beams beams = { g_byte_array_new(), g_array_new(FALSE, FALSE, sizeof(guint64)), 0 };
  GstHarness *h = open_beams(settings, format);
  g_autoptr(GstElement) element = gst_harness_find_element(h, "astrobeamform");
  for (guint64 first = 0; first < STEPS; first += BLOCK)
    if (first != 5 * BLOCK) /* a hole */
      g_assert_cmpint(gst_harness_push(h, block(stream, first)), ==, GST_FLOW_OK);
  g_assert_true(gst_harness_push_event(h, gst_event_new_eos()));
  take(&beams, h);
  g_object_get(element, "clipped", &beams.clipped, NULL);
  gst_harness_teardown(h);
  return beams;
}

static void test_same(void)
{
  static const char *const formats[] = { "CF32LE", "CI8" };
  static const char *const scales[] = { "", "scale=9" };
  g_autofree guint8 *stream = g_malloc(STEPS * STEP_BYTES);
  test_fill(stream, STEPS * STEP_BYTES, 11);
  for (guint i = 0; i < G_N_ELEMENTS(formats); i++) {
    g_autofree char *several = g_strdup_printf("%s devices=%s", scales[i], test_several_devices());
    g_auto(Beams) one = form(scales[i], formats[i], stream);
    g_auto(Beams) all = form(several, formats[i], stream);
    g_assert_cmpuint(one.places->len, ==, 3 * ((STEPS + BLOCK - 1) / BLOCK - 1));
    g_assert_cmpmem(one.places->data, one.places->len * 8, all.places->data, all.places->len * 8);
    g_assert_cmpmem(one.bytes->data, one.bytes->len, all.bytes->data, all.bytes->len);
    g_assert_cmpuint(one.clipped, ==, all.clipped);
    g_assert_true(i == 0 || one.clipped > 0);
  }
}

/* Each block is as one device makes it; all are there but those that were lost, which are no more
 * than a device is behind. */
static void assert_part_of(const Beams *part, const Beams *whole, guint least)
{
  const gsize step = CHANNELS * 3 * POLS * sizeof(float) * 2;
  const guint64 *places = (gconstpointer)part->places->data,
                *all = (gconstpointer)whole->places->data;
  gsize at = 0, from = 0;
  guint n = 0;
  for (guint i = 0; i < whole->places->len / 3 && n < part->places->len / 3; i++) {
    const gsize bytes = MIN(BLOCK, STEPS - all[3 * i]) * step;
    if (all[3 * i] == places[3 * n]) {
      g_assert_cmpmem(all + 3 * i, 24, places + 3 * n, 24);
      g_assert_cmpmem(whole->bytes->data + from, bytes, part->bytes->data + at, bytes);
      at += bytes;
      n++;
    }
    from += bytes;
  }
  g_assert_cmpuint(n, ==, part->places->len / 3);
  g_assert_cmpuint(at, ==, part->bytes->len);
  g_assert_cmpuint(n, >=, least);
}

/* A device that fails ends the stream with an error that names it; what others have made goes on,
 * in its order. */
static void test_failure(void)
{
  enum { FAILS_AT = 9 };
  if (!test_devices_are_fake()) {
    g_test_skip("only a fake device fails when it is told to");
    return;
  }
  g_autofree guint8 *stream = g_malloc(STEPS * STEP_BYTES);
  g_autoptr(AstroDevice) device = astro_device_open(1, NULL);
  test_fill(stream, STEPS * STEP_BYTES, 12);
  g_auto(Beams) one = form("", "CF32LE", stream);
  g_auto(Beams) all = { g_byte_array_new(), g_array_new(FALSE, FALSE, sizeof(guint64)), 0 };
  GstHarness *h = open_beams("devices=all", "CF32LE");
  g_autoptr(GstElement) element = gst_harness_find_element(h, "astrobeamform");
  g_autoptr(GstBus) bus = gst_bus_new();
  GstFlowReturn flow = GST_FLOW_OK;
  guint n = 0;
  gst_element_set_bus(element, bus);
  for (guint64 first = 0; first < STEPS && flow == GST_FLOW_OK; first += BLOCK) {
    if (first == 5 * BLOCK)
      continue;
    ((FakeDevice *)device)->lost = n++ >= FAILS_AT;
    flow = gst_harness_push(h, block(stream, first));
    take(&all, h);
  }
  g_assert_cmpint(flow, ==, GST_FLOW_ERROR);
  g_autoptr(GstMessage) message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  g_autoptr(GError) error = NULL;
  g_assert_nonnull(message);
  gst_message_parse_error(message, &error, NULL);
  g_test_message("%s, after %u blocks of %u", error->message, all.places->len / 3, n);
  g_assert_nonnull(strstr(error->message, "fake 1"));
  assert_part_of(&all, &one, n - 3); /* the block that failed, and a third of six held back */
  gst_element_set_bus(element, NULL);
  gst_harness_teardown(h);
}

static void add_tests(void)
{
  if (!test_has_devices())
    return;
  g_test_add_func("/astrobeamform-devices/same", test_same);
  g_test_add_func("/astrobeamform-devices/failure", test_failure); /* the last: it stays broken */
}

/* Without a GPU three fake devices take its place; a single GPU is shared by three. */
int main(int argc, char **argv)
{
  test_fake_devices("3");
  return test_run(argc, argv, add_tests);
}
