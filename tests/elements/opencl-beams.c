/* Stages by OpenCL in a pipeline: what they make is what the CPU makes, and nothing comes to the
 * host between them. Skipped without an OpenCL device. */
#include "core/memory/memory.h"
#include "core/stream/validity.h"
#include "tests/device.h"
#include "tests/elements/elements.h"
#include "tests/near.h"
#include "tests/observe.h"

enum { STATIONS = 5, BLOCKS = 6, STEPS = 40, STEP_BYTES = 3 * STATIONS * 2 * 2 };

#define SPECTRA                                                                                    \
  "application/x-astro-spectra,format=CI8,layout=time:channel:station:pol,channels=3,stations=5,"  \
  "pols=2,rate=1000/1,frequency=1.5e8,bandwidth=1e6"
#define LINE                                                                                       \
  "astrobeamform backend=%s beams=0,0;0.01,-0.02 ! astropower backend=%s products=XX:YY "          \
  "integration=30"

/* A station is missing now and then. */
static GstBuffer *block(guint number)
{
  const AstroLayout shape = { 2, { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION }, { STEPS, STATIONS } };
  GstBuffer *buffer = test_buffer(STEPS * STEP_BYTES, number);
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &shape, 1);
  for (guint i = 0; i < STEPS * STATIONS; i++)
    meta->counts[i] = (number * STEPS * STATIONS + i) % 13 != 0;
  GST_BUFFER_OFFSET(buffer) = number * STEPS;
  GST_BUFFER_OFFSET_END(buffer) = (number + 1) * STEPS;
  return buffer;
}

/* Powers of beams. changes: of the counters, before the powers are looked at. */
static GByteArray *detect(const char *backend, guint *blocks, AstroMemoryCounters *changes)
{
  g_autofree char *line = g_strdup_printf(LINE, backend, backend);
  g_autoptr(AstroObservation) o = test_observe("disc", STATIONS);
  GstHarness *h = gst_harness_new_parse(line);
  AstroMemoryCounters before;
  o->done.delays = ASTRO_DELAYS_OUT;
  gst_harness_set_src_caps_str(h, SPECTRA);
  gst_harness_push_event(h, astro_observation_to_event(o));
  astro_memory_counters(&before);
  for (guint i = 0; i < BLOCKS; i++)
    g_assert_cmpint(gst_harness_push(h, block(i)), ==, GST_FLOW_OK);
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

static void test_beams(void)
{
  AstroMemoryCounters by_cpu, by_opencl;
  guint blocks;
  g_autoptr(GByteArray) expected = detect("cpu", &blocks, &by_cpu),
                        found = detect("opencl", &blocks, &by_opencl);
  g_assert_cmpuint(expected->len, ==, BLOCKS * STEPS / 30 * 2 * 2 * 3 * sizeof(float));
  g_assert_cmpuint(found->len, ==, expected->len);
  for (guint i = 0; i < found->len / sizeof(float); i++) {
    const double power = (double)((const float *)(gconstpointer)expected->data)[i];
    test_near((double)((const float *)(gconstpointer)found->data)[i], power, 1e-5 * power);
  }
  g_assert_cmpuint(by_opencl.copies_up, ==, BLOCKS);
  g_assert_cmpuint(by_opencl.copies_down, ==, blocks);
  g_assert_cmpuint(by_opencl.host_waits, ==, 0);
}

static void skip(void)
{
  g_test_skip("there is no OpenCL device");
}

int main(int argc, char **argv)
{
  gst_init(&argc, &argv);
  g_test_init(&argc, &argv, NULL);
  g_autoptr(AstroDevice) device = test_find_opencl(NULL);
  g_test_add_func("/opencl-beams/beams", device ? test_beams : skip);
  return g_test_run();
}
