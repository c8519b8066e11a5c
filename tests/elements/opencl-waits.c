/* Stages by OpenCL in a pipeline: what they make is what the CPU makes, nothing comes to the host
 * between them, and the host waits for none of it. Skipped without an OpenCL device. */
#include "core/memory/memory.h"
#include "core/stream/validity.h"
#include "tests/device.h"
#include "tests/distance.h"
#include "tests/elements/elements.h"
#include "tests/near.h"
#include "tests/observe.h"

enum { STATIONS = 5, BLOCKS = 6 };

typedef struct {
  const char *caps, *line; /* with %1$s for the backend */
  guint steps;             /* of a block */
  guint stretch;           /* counts of a loss */
  gsize step_bytes, made_bytes;
  void (*compare)(const GByteArray *found, const GByteArray *expected);
} Chain;

static void compare_powers(const GByteArray *found, const GByteArray *expected)
{
  for (guint i = 0; i < found->len / sizeof(float); i++) {
    const double power = (double)((const float *)(gconstpointer)expected->data)[i];
    test_near((double)((const float *)(gconstpointer)found->data)[i], power, 1e-5 * power);
  }
}

static void compare_visibilities(const GByteArray *found, const GByteArray *expected)
{
  g_assert_cmpfloat(test_distance(found->data, expected->data, found->len, FALSE), <=, 1e-5);
}

/* Powers of 3 channels of 2 beams, of 8 integrations. */
static const Chain beams = {
  .caps = "application/x-astro-spectra,format=CI8,layout=time:channel:station:pol,channels=3,"
          "stations=5,pols=2,rate=1000/1,frequency=1.5e8,bandwidth=1e6",
  .line = "astrobeamform backend=%1$s beams=0,0;0.01,-0.02 ! astropower backend=%1$s "
          "products=XX:YY integration=30",
  .steps = 40,
  .stretch = 1,
  .step_bytes = 3 * STATIONS * 2 * 2,
  .made_bytes = 8 * 2 * 2 * 3 * sizeof(float),
  .compare = compare_powers,
};

/* Visibilities of 8 channels, 15 baselines and 4 products, of 8 integrations. */
static const Chain visibilities = {
  .caps = "application/x-astro-voltages,format=CI8,layout=time:station:pol,stations=5,pols=2,"
          "rate=1000000/1,frequency=1.5e8,bandwidth=1e6",
  .line = "astrochannelizer backend=%1$s channels=8 taps=4 ! astrotranspose backend=%1$s ! "
          "astrocorrelator backend=%1$s integration=40",
  .steps = 400,
  .stretch = 247,
  .step_bytes = STATIONS * 2 * 2,
  .made_bytes = 8 * 8 * 15 * 4 * 2 * sizeof(float),
  .compare = compare_visibilities,
};

/* Stations are missing now and then. */
static GstBuffer *block(const Chain *chain, guint number)
{
  const AstroLayout shape = { 2,
                              { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION },
                              { chain->steps, STATIONS } };
  GstBuffer *buffer = test_buffer(chain->steps * chain->step_bytes, number);
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &shape, 1);
  for (guint i = 0; i < chain->steps * STATIONS; i++)
    meta->counts[i] = (number * chain->steps * STATIONS + i) / chain->stretch % 13 != 0;
  GST_BUFFER_OFFSET(buffer) = number * chain->steps;
  GST_BUFFER_OFFSET_END(buffer) = (number + 1) * chain->steps;
  return buffer;
}

/* changes: of the counters, before what is made is looked at. waits: of the host for the device,
 * whatever for, while blocks come. */
static GByteArray *run(const Chain *chain, const char *backend, guint *blocks,
                       AstroMemoryCounters *changes, gsize *waits)
{
  g_autofree char *line = g_strdup_printf(chain->line, backend);
  g_autoptr(AstroObservation) o = test_observe("disc", STATIONS);
  g_autoptr(AstroDevice) device = test_find_opencl(NULL);
  GstHarness *h = gst_harness_new_parse(line);
  AstroMemoryCounters before;
  o->done.delays = ASTRO_DELAYS_OUT;
  gst_harness_set_src_caps_str(h, chain->caps);
  gst_harness_push_event(h, astro_observation_to_event(o));
  astro_memory_counters(&before);
  const gsize waited = device->host_waits;
  for (guint i = 0; i < BLOCKS; i++)
    g_assert_cmpint(gst_harness_push(h, block(chain, i)), ==, GST_FLOW_OK);
  *waits = device->host_waits - waited;
  g_assert_true(gst_harness_push_event(h, gst_event_new_eos()));
  astro_memory_counters(changes);
  changes->copies_up -= before.copies_up;
  changes->copies_down -= before.copies_down;
  changes->host_waits -= before.host_waits;
  *blocks = gst_harness_buffers_received(h);
  GByteArray *bytes = test_pull_all(h);
  gst_harness_teardown(h);
  return bytes;
}

static void test_chain(gconstpointer data)
{
  const Chain *chain = data;
  AstroMemoryCounters by_cpu, by_opencl;
  guint blocks;
  gsize waits;
  g_autoptr(GByteArray) expected = run(chain, "cpu", &blocks, &by_cpu, &waits),
                        found = run(chain, "opencl", &blocks, &by_opencl, &waits);
  g_assert_cmpuint(expected->len, ==, chain->made_bytes);
  g_assert_cmpuint(found->len, ==, expected->len);
  chain->compare(found, expected);
  g_assert_cmpuint(by_opencl.copies_up, ==, BLOCKS);
  g_assert_cmpuint(by_opencl.copies_down, ==, blocks);
  g_assert_cmpuint(by_opencl.host_waits, ==, 0);
  g_assert_cmpuint(waits, ==, 0);
}

static void skip(gconstpointer chain)
{
  g_test_skip("there is no OpenCL device");
}

int main(int argc, char **argv)
{
  gst_init(&argc, &argv);
  g_test_init(&argc, &argv, NULL);
  g_autoptr(AstroDevice) device = test_find_opencl(NULL);
  g_test_add_data_func("/opencl-waits/beams", &beams, device ? test_chain : skip);
  g_test_add_data_func("/opencl-waits/visibilities", &visibilities, device ? test_chain : skip);
  return g_test_run();
}
