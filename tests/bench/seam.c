/* The boundary between pipeline and GPU: blocks through CUDA stages and back to the host, beside
 * page-locked copies in both directions at once in the same run; and the kernels beside a copy in
 * device memory. */
#include "core/backend/module.h"
#include "core/channelizer/channelizer.h"
#include "core/convert/convert.h"
#include "core/memory/memory.h"
#include "core/transpose/transpose.h"
#include "tests/bench/bench.h"
#include "tests/bench/free-src.h"
#include "tests/bench/play.h"
#include "tests/tests.h"

#define STATIONS 64
#define CHANNELS 256
#define SPECTRA_CAPS(layout)                                                                       \
  "application/x-astro-spectra,format=CI8,stations=64,pols=2,channels=256,layout=" layout

/* ---- a sink that reads on the host ---- */

/* By then every block that the graph cycles through is allocated and page-locked. */
#define WARM_UP 32

typedef struct {
  guint64 blocks;
  gint64 warm, last; /* when the last block of the warm-up came, and when the last one did */
  guint8 sum;
} Reader;

static GstPadProbeReturn map_block(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Reader *reader = data;
  GstMapInfo map;
  if (gst_buffer_map(GST_PAD_PROBE_INFO_BUFFER(info), &map, GST_MAP_READ)) {
    reader->sum += map.data[map.size / 2];
    gst_buffer_unmap(GST_PAD_PROBE_INFO_BUFFER(info), &map);
  }
  reader->last = g_get_monotonic_time();
  if (++reader->blocks == WARM_UP)
    reader->warm = reader->last;
  return GST_PAD_PROBE_OK;
}

/* Returns bytes a second in each direction. */
static double run_pipeline(const char *stages, gsize block, guint64 blocks)
{
  Reader reader = { 0 };
  g_autofree char *line = g_strdup_printf(
      "freesrc name=src blocksize=%zu ! " SPECTRA_CAPS(
          "station:pol:time:channel") " ! %s ! fakesink "
                                      "name=sink sync=false async=false enable-last-sample=false",
      block, stages);
  GstElement *pipeline = bench_parse(line);
  GstElement *src = gst_bin_get_by_name(GST_BIN(pipeline), "src");

  ((FreeSrc *)src)->blocks = WARM_UP + blocks;
  gst_object_unref(src);
  bench_probe(pipeline, "sink", "sink", GST_PAD_PROBE_TYPE_BUFFER, map_block, &reader);
  bench_play(pipeline);
  bench_stop(pipeline);
  return (double)block * blocks / ((reader.last - reader.warm) * 1e-6);
}

/* Page-locked copies in both directions at once; returns bytes a second in each direction. */
static double run_copies(AstroDevice *device, gsize block, guint64 blocks)
{
  const AstroDeviceFuncs *f = device->funcs;
  GstMemory *host[2] = { astro_memory_new(block, device), astro_memory_new(block, device) };
  GstMapInfo map[2];
  gpointer face[2];
  double seconds = 0;

  for (guint i = 0; i < 2; i++) {
    gst_memory_map(host[i], &map[i], GST_MAP_WRITE);
    memset(map[i].data, 1, block);
    f->alloc(device, block, &face[i], NULL);
  }
  for (guint round = 0; round < 2; round++) {
    gint64 start = g_get_monotonic_time();
    for (guint64 i = 0; i < blocks; i++) {
      f->queue_copy(device, device->up, ASTRO_COPY_UP, face[0], map[0].data, block, NULL);
      f->queue_copy(device, device->down, ASTRO_COPY_DOWN, map[1].data, face[1], block, NULL);
    }
    AstroEvent *up = f->event_record(device, device->up, NULL),
               *down = f->event_record(device, device->down, NULL);
    f->event_wait(device, up, NULL);
    f->event_wait(device, down, NULL);
    seconds = (g_get_monotonic_time() - start) * 1e-6;
    f->event_free(device, up);
    f->event_free(device, down);
  }
  for (guint i = 0; i < 2; i++) {
    gst_memory_unmap(host[i], &map[i]);
    gst_memory_unref(host[i]);
    f->free(device, face[i]);
  }
  return (double)block * blocks / seconds;
}

/* ---- kernels alone ---- */

/* Random data, since zeros would be faster than real samples. */
static void fill_randomly(AstroDevice *device, AstroQueue *queue, gpointer face, gsize bytes)
{
  const gsize part = (gsize)32 << 20;
  GstMemory *host = astro_memory_new(part, device);
  GstMapInfo map;
  gst_memory_map(host, &map, GST_MAP_WRITE);
  test_fill(map.data, part, 1);
  for (gsize at = 0; at < bytes; at += part)
    device->funcs->queue_copy(device, queue, ASTRO_COPY_UP, (guint8 *)face + at, map.data,
                              MIN(part, bytes - at), NULL);
  AstroEvent *event = device->funcs->event_record(device, queue, NULL);
  device->funcs->event_wait(device, event, NULL);
  device->funcs->event_free(device, event);
  gst_memory_unmap(host, &map);
  gst_memory_unref(host);
}

/* Returns bytes read and written a second. */
static double run_kernel(AstroDevice *device, const AstroBackend *backend, gconstpointer config,
                         gpointer arguments, gsize in_bytes, gsize out_bytes)
{
  const AstroDeviceFuncs *f = device->funcs;
  AstroPlace place = { .device = device, .queue = f->queue_new(device, NULL) };
  AstroBlock in = { .bytes = in_bytes }, out = { .bytes = out_bytes };
  g_autoptr(GError) error = NULL;
  const char *variant;
  const guint n = 20;
  double seconds = 0;
  gpointer instance = backend->create(config, &place, &variant, &error);

  if (!instance || !f->alloc(device, in_bytes, &in.data, &error) ||
      !f->alloc(device, out_bytes, &out.data, &error))
    g_error("%s", error->message);
  fill_randomly(device, place.queue, in.data, in_bytes);
  for (guint round = 0; round < 2; round++) {
    gint64 start = g_get_monotonic_time();
    for (guint i = 0; i < n; i++)
      if (!backend->submit(instance, &in, 1, &out, 1, arguments, NULL, &error))
        g_error("%s", error->message);
    AstroEvent *event = f->event_record(device, place.queue, NULL);
    f->event_wait(device, event, NULL);
    f->event_free(device, event);
    seconds = (g_get_monotonic_time() - start) * 1e-6 / n;
  }
  backend->destroy(instance);
  f->free(device, in.data);
  f->free(device, out.data);
  f->queue_free(device, place.queue);
  return (in_bytes + out_bytes) / seconds;
}

static double run_convert(AstroDevice *device, AstroFormat from, AstroFormat to, double scale,
                          gsize bytes)
{
  gsize in = astro_format_info(from)->bytes, out = astro_format_info(to)->bytes;
  guint64 samples = bytes / MAX(in, out);
  AstroConvertConfig config = { from, to };
  AstroConvertArguments arguments = { scale, samples };
  return run_kernel(device, astro_module_backend("convert"), &config, &arguments, samples * in,
                    samples * out);
}

/* Every call begins afresh, so that it makes the same spectra. */
static double run_channelizer(AstroDevice *device, AstroFormat to, gsize bytes)
{
  AstroChannelizerConfig config = {
    .to = to, .channels = 1024, .taps = 8, .beta = ASTRO_WINDOW_BETA, .gain = 1
  };
  const guint64 sample = 2 + astro_format_info(to)->bytes;
  AstroChannelizerArguments arguments = { .restart = TRUE };
  g_autoptr(GstCaps) caps = gst_caps_from_string(
      "application/x-astro-voltages,format=CI8,layout=station:pol:time,stations=64,pols=2");
  GError *error = NULL;
  astro_stream_from_caps(&config.in, caps, &error);
  g_assert_no_error(error);
  arguments.steps = bytes / sample / 128 / 1024 * 1024;
  guint64 spectra = astro_channelizer_spectra(&config, 0, arguments.steps).count;
  return run_kernel(device, astro_module_backend("channelizer"), &config, &arguments,
                    arguments.steps * 128 * 2, spectra * 1024 * 128 * (sample - 2));
}

/* Whether a word is a part of the name; always if there are no words. */
static gboolean is_chosen(const char *name, char **words)
{
  for (char **word = words; *word; word++)
    if (strstr(name, *word))
      return TRUE;
  return !*words;
}

static void bench_kernels(AstroDevice *device, char **words)
{
  static const struct {
    AstroFormat from, to;
  } pairs[] = { { ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI8 },
                { ASTRO_FORMAT_CI8, ASTRO_FORMAT_CF32LE },
                { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CI8 },
                { ASTRO_FORMAT_CI4, ASTRO_FORMAT_CI8 } };
  static const struct {
    const char *name;
    guint order[4];
  } orders[] = { { "channel:time:station:pol", { 3, 2, 0, 1 } },
                 { "channel:station:pol:time", { 3, 0, 1, 2 } },
                 { "time:channel:station:pol", { 2, 3, 0, 1 } },
                 { "station:pol:channel:time", { 0, 1, 3, 2 } } };
  static const struct {
    const char *name;
    AstroFormat to;
    double wanted;
  } spectra[] = {
    { "channelizer, 1024 channels, 8 taps, CI8 to CF32LE", ASTRO_FORMAT_CF32LE, 0.7 },
    { "channelizer, 1024 channels, 8 taps, CI8 to CI8", ASTRO_FORMAT_CI8, 0 },
  };
  static const gsize sizes[] = { 1, 2, 4, 8, 16 };
  const gsize bytes = (gsize)1 << 30;
  double limit = run_convert(device, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI8, 1, bytes) / 1e12;

  bench_head("kernels, 1 GiB, TB/s read and written (limit: a copy inside device memory)");
  for (guint i = 0; i < G_N_ELEMENTS(pairs); i++) {
    g_autofree char *name =
        g_strdup_printf("convert %s to %s, scale -1", astro_format_info(pairs[i].from)->name,
                        astro_format_info(pairs[i].to)->name);
    if (is_chosen(name, words))
      bench_row(name, run_convert(device, pairs[i].from, pairs[i].to, -1, bytes) / 1e12, limit,
                "TB/s", 0.85);
  }
  for (guint i = 0; i < G_N_ELEMENTS(spectra); i++)
    if (is_chosen(spectra[i].name, words))
      bench_row(spectra[i].name, run_channelizer(device, spectra[i].to, bytes) / 1e12, limit,
                "TB/s", spectra[i].wanted);
  for (guint s = 0; s < G_N_ELEMENTS(sizes); s++)
    for (guint o = 0; o < G_N_ELEMENTS(orders); o++) {
      AstroTransposeConfig config = {
        .n_axes = 4,
        .extents = { STATIONS, 2, bytes / (STATIONS * 2 * CHANNELS * sizes[s]), CHANNELS },
        .sample_bytes = sizes[s]
      };
      memcpy(config.order, orders[o].order, sizeof orders[o].order);
      g_autofree char *name =
          g_strdup_printf("station:pol:time:channel to %s, %zu bytes", orders[o].name, sizes[s]);
      if (is_chosen(name, words))
        bench_row(
            name,
            run_kernel(device, astro_module_backend("transpose"), &config, NULL, bytes, bytes) /
                1e12,
            limit, "TB/s", 0.85);
    }
}

/* With an argument, only kernels; further arguments select some by a part of their name. */
int main(int argc, char **argv)
{
  static const struct {
    const char *name, *stages;
    double wanted;
  } graphs[] = {
    { "transpose, queues on both sides",
      "queue max-size-bytes=0 max-size-buffers=2 ! astrotranspose backend=cuda ! "
      "queue max-size-bytes=0 max-size-buffers=2 ! " SPECTRA_CAPS("channel:time:station:pol"),
      0.95 },
    { "transpose, no queue",
      "astrotranspose backend=cuda ! " SPECTRA_CAPS("channel:time:station:pol"), 0.9 },
    { "convert and transpose, queues on both sides",
      "queue max-size-bytes=0 max-size-buffers=2 ! astroconvert backend=cuda scale=-1 ! "
      "astrotranspose backend=cuda ! queue max-size-bytes=0 max-size-buffers=2 ! " SPECTRA_CAPS(
          "channel:time:station:pol"),
      0.95 },
    { "convert and transpose, no queue",
      "astroconvert backend=cuda scale=-1 ! astrotranspose backend=cuda ! " SPECTRA_CAPS(
          "channel:time:station:pol"),
      0.9 },
  };
  static const gsize blocks[] = { 4, 16, 64 };
  g_autoptr(GError) error = NULL;

  gst_init(&argc, &argv);
  setvbuf(stdout, NULL, _IOLBF, 0);
  AstroDevice *device = astro_device_open(0, &error);
  if (!device) {
    printf("seam: skipped: %s\n", error->message);
    return 0;
  }
  gst_element_register(NULL, "freesrc", GST_RANK_NONE, free_src_get_type());
  for (guint b = 0; b < G_N_ELEMENTS(blocks) && argc < 2; b++) {
    gsize bytes = blocks[b] << 20;
    guint64 n = ((guint64)12 << 30) / bytes;
    g_autofree char *title = g_strdup_printf(
        "%s: GB/s each way, blocks of %zu MiB (limit: page-locked copies both ways at once)",
        device->name, blocks[b]);
    bench_head(title);
    for (guint i = 0; i < G_N_ELEMENTS(graphs); i++) {
      double before = run_copies(device, bytes, n);
      gsize waits = device->host_waits;
      double got = run_pipeline(graphs[i].stages, bytes, n);
      g_autofree char *name = g_strdup_printf("%s (%.2f waits a block)", graphs[i].name,
                                              (double)(device->host_waits - waits) / n);
      double after = run_copies(device, bytes, n);
      bench_row(name, got / 1e9, (before + after) / 2e9, "GB/s", b == 0 ? 0 : graphs[i].wanted);
    }
  }
  bench_kernels(device, argv + MIN(argc, 2));
  astro_device_unref(device);
  return 0;
}
