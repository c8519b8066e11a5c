/* From voltages to an image through CUDA stages only, or OpenCL's: the image is that of the CPU,
 * nothing crosses the bus but the input and the picture, two pipelines run at once, and nothing is
 * left behind when they stop. Without a GPU CUDA's are on the fake device. */
#include <math.h>

#include "core/backend/module.h"
#include "core/memory/memory.h"
#include "tests/distance.h"
#include "tests/elements/running.h"

enum { BASELINES = 9 * 10 / 2 };
#define SKY "sky=\"0.01,0.008,2;-0.012,0.004,1\" noise=1"

/* All stages use the same backend. */
static char *chain(const char *backend, const char *gridder)
{
  return g_strdup_printf(
      "astroskysrc name=source stations=9 bandwidth=200000 duration=0.4 " SKY
      " ! application/x-astro-voltages,format=CF32LE"
      " ! astrodelay backend=%s ! astrochannelizer channels=16 backend=%s"
      " ! application/x-astro-spectra,format=CF32LE ! astrotranspose backend=%s"
      " ! astrocorrelator integration=500 backend=%s"
      " ! astrogridder size=128 cell=120 %s backend=%s"
      " ! astrofft backend=%s ! astroimage backend=%s ! fakesink name=sink sync=false",
      backend, backend, backend, backend, gridder, backend, backend, backend);
}

/* ---- pipelines ---- */

typedef struct {
  GstElement *pipeline;
  guint64 bytes_in, buffers_in;
  GByteArray *out;
  guint64 buffers_out;
} Run;

static GstPadProbeReturn count_in(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Run *run = data;
  gsize whole; /* the last block is not full, and is copied as it is */
  gst_buffer_get_sizes(GST_PAD_PROBE_INFO_BUFFER(info), NULL, &whole);
  run->bytes_in += whole;
  run->buffers_in++;
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn keep_out(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Run *run = data;
  GstMapInfo map;
  g_assert_true(gst_buffer_map(GST_PAD_PROBE_INFO_BUFFER(info), &map, GST_MAP_READ));
  g_byte_array_append(run->out, map.data, (guint)map.size);
  gst_buffer_unmap(GST_PAD_PROBE_INFO_BUFFER(info), &map);
  run->buffers_out++;
  return GST_PAD_PROBE_OK;
}

static void watch(Run *run, const char *element, const char *pad_name, GstPadProbeCallback callback)
{
  g_autoptr(GstElement) found = gst_bin_get_by_name(GST_BIN(run->pipeline), element);
  g_autoptr(GstPad) pad = gst_element_get_static_pad(found, pad_name);
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, callback, run, NULL);
}

static void start(Run *run, const char *line)
{
  g_autoptr(GError) error = NULL;
  *run = (Run){ .pipeline = gst_parse_launch(line, &error), .out = g_byte_array_new() };
  g_assert_no_error(error);
  watch(run, "source", "src", count_in);
  watch(run, "sink", "sink", keep_out);
  gst_element_set_state(run->pipeline, GST_STATE_PLAYING);
}

static void end(Run *run)
{
  g_autofree char *error = test_wait(run->pipeline);
  if (error)
    g_error("%s", error);
  gst_element_set_state(run->pipeline, GST_STATE_NULL);
  gst_object_unref(run->pipeline);
}

static void clear(Run *run)
{
  g_byte_array_unref(run->out);
}

/* ---- tests ---- */

static const char *const gridders[] = {
  "algorithm=wstacking",
  "algorithm=wstacking weighting=uniform stokes=IQUV",
  "algorithm=wprojection weighting=briggs",
  "algorithm=wprojection",
  "algorithm=direct interval=40 cumulative=true",
  "algorithm=wstacking interval=1 accuracy=1e-3 smearing=0.01",
};

/* kind: an AstroBackendKind. */
static void test_bus(gconstpointer kind)
{
  const AstroBackendKind where = GPOINTER_TO_UINT(kind);
  g_autoptr(AstroDevice) device = astro_device_open_of(where, 0, NULL);
  for (guint i = 0; i < G_N_ELEMENTS(gridders); i++) {
    if (where == ASTRO_BACKEND_OPENCL && i % 3 == 0) /* it may be the CPU: the others do as much */
      continue;
    g_autofree char *on_cpu = chain("cpu", gridders[i]),
                    *on_device = chain(astro_backend_kind_name(where), gridders[i]);
    AstroMemoryCounters before, after;
    Run cpu, there;
    start(&cpu, on_cpu);
    end(&cpu);
    astro_memory_counters(&before);
    const gsize up = device->bytes_up, down = device->bytes_down;
    start(&there, on_device);
    end(&there);
    astro_memory_counters(&after);
    g_test_message("%s: %.1e", gridders[i], test_bytes_distance(there.out, cpu.out, FALSE));
    g_assert_cmpfloat(test_bytes_distance(there.out, cpu.out, FALSE), <=, 2e-5);
    g_assert_cmpuint(there.buffers_out, ==, cpu.buffers_out);
    g_assert_cmpuint(after.copies_up - before.copies_up, ==, there.buffers_in);
    g_assert_cmpuint(after.copies_down - before.copies_down, ==, there.buffers_out);
    g_assert_cmpuint(device->bytes_down - down, ==, there.out->len);
    /* Counts of good samples, which the host keeps, are copied to the device if some were lost:
     * those of the first dump, since the filter bank has nothing before it. All channels share the
     * one of a baseline. */
    g_assert_cmpuint(device->bytes_up - up, >=, there.bytes_in);
    g_assert_cmpuint(device->bytes_up - up, <=, there.bytes_in + BASELINES * sizeof(guint32));
    clear(&cpu);
    clear(&there);
  }
}

/* Each beside the next one, which works differently. */
static void test_two(void)
{
  enum { N = G_N_ELEMENTS(gridders) - 1 }; /* a grid a dump would take long */
  Run alone[N], both[2];
  for (guint i = 0; i < N; i++) {
    g_autofree char *line = chain("cuda", gridders[i]);
    start(&alone[i], line);
    end(&alone[i]);
  }
  for (guint i = 0; i < N; i++) {
    for (guint k = 0; k < 2; k++) {
      g_autofree char *line = chain("cuda", gridders[(i + k) % N]);
      start(&both[k], line);
    }
    for (guint k = 0; k < 2; k++) {
      end(&both[k]);
      g_assert_cmpfloat(test_bytes_distance(both[k].out, alone[(i + k) % N].out, FALSE), <=, 1e-6);
      clear(&both[k]);
    }
  }
  for (guint i = 0; i < N; i++)
    clear(&alone[i]);
}

/* Bytes in use on the device, whoever asked for them. */
static gsize bytes_held(AstroDevice *device)
{
  AstroDeviceMemory memory;
  g_assert_true(device->funcs->memory(device, &memory, NULL));
  return memory.ours;
}

/* Stopped in the middle of its work again and again. */
static void test_stops(void)
{
  g_autoptr(AstroDevice) device = astro_device_open(0, NULL);
  AstroMemoryCounters before, after;
  gsize held = 0;
  /* The fake device is as slow as the CPU. */
  const guint rounds = g_str_equal(device->name, "fake") ? 26 : 104;
  for (guint i = 0; i < rounds; i++) {
    g_autofree char *line = g_strdup_printf(
        "astrovissrc stations=30 channels=16 duration=36000 integration=10 " SKY
        " ! astrogridder size=1024 cell=40 algorithm=%s weighting=%s interval=%u backend=cuda"
        " ! astrofft backend=cuda ! astroimage backend=cuda ! fakesink",
        i % 2 ? "wstacking" : "wprojection", i % 3 ? "uniform" : "natural", i % 5 * 3);
    GstElement *pipeline = gst_parse_launch(line, NULL);
    if (i == 4) { /* what the first pipelines made stays: contexts, libraries */
      astro_memory_reap();
      astro_memory_counters(&before);
      held = bytes_held(device);
    }
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    gst_element_get_state(pipeline, NULL, NULL, GST_SECOND);
    g_usleep(1000 + (i % 13) * 2500);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(pipeline);
  }
  astro_memory_reap();
  astro_memory_counters(&after);
  g_assert_cmpuint(after.blocks, ==, before.blocks);
  g_assert_cmpuint(after.device_bytes, ==, before.device_bytes);
  g_assert_cmpuint(bytes_held(device), ==, held);
}

/* A grid that does not fit on the device is refused with the number of bytes; auto leaves it to the
 * CPU. */
static void test_little_memory(void)
{
  static const char *const backends[] = { "cuda", "auto" };
  g_setenv("ASTRO_CUDA_MEMORY", "3M", TRUE);
  for (guint i = 0; i < G_N_ELEMENTS(backends); i++) {
    g_autofree char *line =
        g_strdup_printf("astrovissrc stations=5 channels=2 num-buffers=3 " SKY
                        " ! astrogridder size=512 cell=100 algorithm=direct backend=%s ! fakesink",
                        backends[i]);
    g_autofree char *error = test_launch(line);
    g_test_message("%s: %s", backends[i], error ? error : "well");
    g_assert_true(!error == (i == 1));
    g_assert_true(!error || (strstr(error, "514 x 514") && strstr(error, "bytes")));
  }
  g_unsetenv("ASTRO_CUDA_MEMORY");
}

/* Four products of 19 MB a plane, with memory for two of them, or for one plane but not the next;
 * and of 75 MB, where W-projection's records leave memory for two. They are made one after the
 * other and go to the host. */
static void test_products_in_turn(void)
{
  static const struct {
    const char *algorithm, *limit;
    guint size;
  } cases[] = {
    { "wstacking", "64M", 1024 },
    { "wstacking weighting=uniform", "110M", 1024 },
    { "wprojection w-planes=4 oversampling=2 support=20", "800M", 2048 },
    { "wprojection w-planes=4 oversampling=2 support=20 interval=2", "800M", 2048 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    Run runs[2];
    for (guint cuda = 0; cuda < 2; cuda++) {
      g_autofree char *line = g_strdup_printf(
          "astrovissrc name=source stations=12 channels=4 integration=60 num-buffers=5 " SKY
          " ! astrogridder size=%u padding=1.5 cell=%u stokes=IQUV algorithm=%s backend=%s"
          " ! astrofft backend=cpu ! astroimage backend=cpu ! fakesink name=sink sync=false",
          cases[i].size, 30 * 1024 / cases[i].size, cases[i].algorithm, cuda ? "cuda" : "cpu");
      if (cuda)
        g_setenv("ASTRO_CUDA_MEMORY", cases[i].limit, TRUE);
      start(&runs[cuda], line);
      end(&runs[cuda]);
      g_unsetenv("ASTRO_CUDA_MEMORY");
    }
    g_test_message("%s: %.1e", cases[i].algorithm,
                   test_bytes_distance(runs[1].out, runs[0].out, FALSE));
    g_assert_cmpfloat(test_bytes_distance(runs[1].out, runs[0].out, FALSE), <=, 2e-5);
    clear(&runs[0]);
    clear(&runs[1]);
  }
}

static void add_tests(void)
{
  g_autoptr(AstroDevice) opencl = test_find_opencl(NULL);
  if (opencl)
    g_test_add_data_func("/synthesis-device/opencl/bus", GUINT_TO_POINTER(ASTRO_BACKEND_OPENCL),
                         test_bus);
  if (!test_has_device("/synthesis-device/any"))
    return;
  g_autoptr(AstroDevice) device = astro_device_open(0, NULL);
  g_test_add_data_func("/synthesis-device/bus", GUINT_TO_POINTER(ASTRO_BACKEND_CUDA), test_bus);
  g_test_add_func("/synthesis-device/two", test_two);
  g_test_add_func("/synthesis-device/stops", test_stops);
  /* The fake device has unlimited memory. */
  if (g_str_equal(device->name, "fake"))
    return;
  g_test_add_func("/synthesis-device/little-memory", test_little_memory);
  g_test_add_func("/synthesis-device/products-in-turn", test_products_in_turn);
}

int main(int argc, char **argv)
{
  test_use_fake_device();
  return test_run(argc, argv, add_tests);
}
