/* CUDA stages that are stopped, run out of memory or lose the GPU: errors say what failed and
 * where, and nothing is left behind. Skipped without a GPU. */
#include "core/backend/module.h"
#include "core/transpose/transpose.h"
#include "tests/elements/left.h"

/* ---- stops ---- */

#define VOLTAGES TEST_SKY "repeat=3 ! application/x-astro-voltages,format=CI8 ! " TEST_CHAIN("cuda")

/* A thousand times, in mid-stream and before the first block. */
static void test_stops(void)
{
  g_autoptr(AstroDevice) device = test_open_device();
  if (!device)
    return;
  for (gulong i = 0; i < 20; i++)
    test_stop_soon(VOLTAGES, i * 500);
  const TestLeft before = test_look(device);
  for (gulong i = 0; i < 1000; i++)
    test_stop_soon(VOLTAGES, i % 11 * 300);
  test_check_left(device, &before);
}

/* ---- devices that are not there ---- */

static void test_no_such_device(void)
{
  static const char *const stages[] = { "astroconvert", "astrotranspose", "astrodelay",
                                        "astrochannelizer", "astrocorrelator" };
  g_autoptr(AstroDevice) device = test_open_device();
  if (!device)
    return;
  for (guint i = 0; i < G_N_ELEMENTS(stages); i++) {
    g_autofree char *line =
        g_strdup_printf("fakesrc ! %s name=stage backend=cuda device=4711 ! fakesink", stages[i]);
    g_autofree char *message = test_launch(line);
    g_test_message("%s", message);
    g_assert_nonnull(message);
    g_assert_nonnull(strstr(message, "stage: backend=cuda: there is no device 4711, this machine "
                                     "has "));
  }
  /* Nobody insists on it. */
  g_autofree char *good = test_launch(TEST_SKY "duration=0.01 ! astrotranspose device=4711 "
                                               "layout=station:pol:time ! fakesink");
  g_assert_cmpstr(good, ==, NULL);
}

/* ---- no memory ---- */

/* A block that does not fit on the device, in the first stage and in a later one; and sums that do
 * not fit even for a single channel. The error has the bytes needed and free, NULL frees
 * everything, and the process goes on. */
static void test_no_memory(void)
{
  static const struct {
    const char *limit, *line;
    const char *words[5];
  } cases[] = {
    { "200K",
      TEST_SKY "! astrotranspose name=turn backend=cuda layout=pol:time:station",
      { "turn: ", "a block needs 240000 bytes of ", "204800 of 204800 are free" } },
    { "1500K",
      TEST_SKY "! astroconvert backend=cuda ! "
               "application/x-astro-voltages,format=CF64LE ! astrotranspose backend=cuda "
               "layout=pol:time:station",
      { "a block needs 1920000 bytes of ", " of 1536000 are free" } },
    { "100K", TEST_SKY "! " TEST_CHAIN("cuda"), { "a block needs ", " of 102400 are free" } },
    { "40K",
      "astroskysrc stations=100 block-steps=64 ! astrochannelizer backend=cpu channels=4 taps=1 ! "
      "astrocorrelator name=correlator backend=cuda",
      { "correlator: ", "correlator, sums of 1 of 4 channels: a block needs 323200 bytes of ",
        "40960 of 40960 are free" } },
  };
  g_autoptr(AstroDevice) device = test_open_device();
  if (!device)
    return;
  g_byte_array_unref(test_run_line(TEST_SKY "duration=0.02 ! " TEST_CHAIN("cuda")));
  const TestLeft before = test_look(device);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_setenv("ASTRO_CUDA_MEMORY", cases[i].limit, TRUE);
    test_fails(cases[i].line, cases[i].words);
    g_unsetenv("ASTRO_CUDA_MEMORY");
    test_check_left(device, &before);
  }
  g_byte_array_unref(test_run_line(TEST_SKY "duration=0.02 ! " TEST_CHAIN("cuda")));
  test_check_left(device, &before);
}

/* The correlator copes when its sums and visibilities do not fit: 8 channels of 100 stations have
 * sums of 1.3 MB, and each block of visibilities is as large. */
#define MANY_STATIONS(backend)                                                                     \
  "astroskysrc stations=100 noise=20 frequency=1.5e8 bandwidth=1e6 block-steps=800 duration=0.02 " \
  "! application/x-astro-voltages,format=CI8 ! astrochannelizer backend=cpu channels=8 taps=1 ! "  \
  "application/x-astro-spectra,format=CI8 ! astrocorrelator name=correlator backend=" backend      \
  " integration=300"

static void test_little_memory(void)
{
  g_autoptr(AstroDevice) device = test_open_device();
  if (!device)
    return;
  g_autoptr(GByteArray) wanted = test_run_line(MANY_STATIONS("cpu"));
  g_autoptr(GByteArray) found = g_byte_array_new();
  const TestLeft before = test_look(device);
  g_autofree char *active = NULL;

  g_setenv("ASTRO_CUDA_MEMORY", "6M", TRUE);
  GstElement *pipeline = test_start(MANY_STATIONS("cuda"), found);
  g_autofree char *error = test_wait(pipeline);
  g_assert_cmpstr(error, ==, NULL);
  g_autoptr(GstElement) correlator = gst_bin_get_by_name(GST_BIN(pipeline), "correlator");
  g_object_get(correlator, "active-backend", &active, NULL);
  g_clear_object(&correlator);
  test_stop(pipeline);
  g_unsetenv("ASTRO_CUDA_MEMORY");
  g_test_message("%s", active);
  g_assert_nonnull(strstr(active, " channels at a time"));
  g_assert_cmpmem(found->data, found->len, wanted->data, wanted->len);
  test_check_left(device, &before);
}

/* ---- a fault ---- */

typedef struct {
  AstroDevice *device;
  guint blocks;
} Fault;

/* Makes one of our kernels read an invalid address: from then on the device refuses everything. */
static GstPadProbeReturn make_fault(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Fault *fault = data;
  AstroTransposeConfig config = {
    .n_axes = 2, .sample_bytes = 4, .extents = { 64, 64 }, .order = { 1, 0 }
  };
  AstroPlace place = { .device = fault->device };
  AstroBlock in = { GSIZE_TO_POINTER(1 << 20), 64 * 64 * 4 };
  AstroBlock out = { GSIZE_TO_POINTER(1 << 21), 64 * 64 * 4 };
  const char *variant;

  if (++fault->blocks != 30)
    return GST_PAD_PROBE_OK;
  const AstroBackend *transpose = astro_module_backend("transpose");
  place.queue = place.device->funcs->queue_new(place.device, NULL);
  gpointer instance = transpose->create(&config, &place, &variant, NULL);
  g_assert_true(transpose->submit(instance, &in, 1, &out, 1, &config, NULL, NULL));
  transpose->destroy(instance);
  return GST_PAD_PROBE_OK;
}

/* An element's error gives the call and the cause; NULL is reached and leaves no block. */
static void test_fault_here(void)
{
  Fault fault = { .device = test_open_device() };
  AstroMemoryCounters before, after;
  g_byte_array_unref(test_run_line(TEST_SKY "duration=0.02 ! " TEST_CHAIN("cuda")));
  astro_memory_reap();
  astro_memory_counters(&before);
  GstElement *pipeline = test_start(VOLTAGES, NULL);
  GstElement *turn = gst_bin_get_by_name(GST_BIN(pipeline), "turn");
  GstPad *pad = gst_element_get_static_pad(turn, "sink");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, make_fault, &fault, NULL);
  g_autofree char *message = test_wait(pipeline);
  g_assert_nonnull(message);
  g_printerr("%s\n", message);
  g_assert_nonnull(strstr(message, "CUDA: cuda"));
  g_assert_nonnull(strstr(message, "an illegal memory access was encountered"));
  gst_object_unref(pad);
  gst_object_unref(turn);
  test_stop(pipeline);
  astro_memory_reap();
  astro_memory_counters(&after);
  test_check_counters(&after, &before);
  /* Later failures are reported as well. */
  g_autofree char *again = test_launch(VOLTAGES " ! fakesink");
  g_assert_nonnull(again);
  g_printerr("%s\n", again);
  /* Pipelines that need no GPU go on. */
  g_byte_array_unref(test_run_line(TEST_SKY "duration=0.02 ! " TEST_CHAIN("cpu")));
  astro_device_unref(fault.device);
}

/* In a process of its own, since the fault takes the device from the process. */
static void test_fault(void)
{
  if (g_test_subprocess()) {
    test_fault_here();
    return;
  }
  g_autoptr(AstroDevice) device = test_open_device();
  if (!device)
    return;
  g_test_trap_subprocess(NULL, 60 * G_USEC_PER_SEC, G_TEST_SUBPROCESS_INHERIT_STDERR);
  g_test_trap_assert_passed();
}

static void add_tests(void)
{
  g_test_add_func("/cuda-failures/stops", test_stops);
  g_test_add_func("/cuda-failures/no-such-device", test_no_such_device);
  g_test_add_func("/cuda-failures/no-memory", test_no_memory);
  g_test_add_func("/cuda-failures/little-memory", test_little_memory);
  g_test_add_func("/cuda-failures/fault", test_fault);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
