/* A correlator whose work several GPUs share, beside as many times what one of them does alone, and
 * beside page-locked copies up to all of them at once. Blocks lie on the host, and so do the
 * visibilities. With one GPU there is nothing to share. */
#include "core/backend/module.h"
#include "core/memory/memory.h"
#include "tests/bench/bench.h"
#include "tests/bench/stream.h"

enum { MOST = 16, COPIES = 64 };

typedef struct {
  AstroDevice *device;
  GstMemory *host;
  gpointer face;
} Copied;

static void open_copied(Copied *copied, gint index, gsize block)
{
  GstMapInfo map;
  copied->device = astro_device_open(index, NULL);
  copied->host = astro_memory_new(block, copied->device);
  gst_memory_map(copied->host, &map, GST_MAP_WRITE);
  memset(map.data, 1, block);
  gst_memory_unmap(copied->host, &map);
  copied->device->funcs->alloc(copied->device, block, &copied->face, NULL);
}

static void close_copied(Copied *copied)
{
  copied->device->funcs->free(copied->device, copied->face);
  gst_memory_unref(copied->host);
  astro_device_unref(copied->device);
}

/* Bytes a second that go up to all devices together. */
static double copies_at_once(gint n, gsize block)
{
  Copied copied[MOST];
  AstroEvent *events[MOST];
  gint64 start = 0;
  for (gint i = 0; i < n; i++)
    open_copied(&copied[i], i, block);
  for (guint round = 0; round < 2; round++) { /* the first one warms up */
    start = g_get_monotonic_time();
    for (gint i = 0; i < n; i++) {
      AstroDevice *device = copied[i].device;
      GstMapInfo map;
      gst_memory_map(copied[i].host, &map, GST_MAP_READ);
      for (guint k = 0; k < COPIES; k++)
        device->funcs->queue_copy(device, device->up, ASTRO_COPY_UP, copied[i].face, map.data,
                                  block, NULL);
      gst_memory_unmap(copied[i].host, &map);
      events[i] = device->funcs->event_record(device, device->up, NULL);
    }
    for (gint i = 0; i < n; i++) {
      copied[i].device->funcs->event_wait(copied[i].device, events[i], NULL);
      copied[i].device->funcs->event_free(copied[i].device, events[i]);
    }
  }
  const double seconds = (double)(g_get_monotonic_time() - start) * 1e-6;
  for (gint i = 0; i < n; i++)
    close_copied(&copied[i]);
  return (double)n * COPIES * (double)block / seconds;
}

#define SPECTRA(format, stations, channels)                                                        \
  "application/x-astro-spectra,format=" format ",layout=channel:station:pol:time,pols=2,"          \
  "stations=" #stations ",channels=" #channels

/* A time step of the spectra has 131072 bytes. */
static const struct {
  const char *name, *caps;
  guint integration, mebibytes, blocks;
} streams[] = {
  { "correlator CI8, 64 stations, 512 channels", SPECTRA("CI8", 64, 512), 16384, 64, 384 },
  { "correlator CI8, 1024 stations, 32 channels", SPECTRA("CI8", 1024, 32), 16384, 64, 256 },
  { "correlator CI8, 1024 stations, blocks of an integration", SPECTRA("CI8", 1024, 32), 512, 64,
    256 },
  { "correlator CI16LE, 1024 stations, 16 channels", SPECTRA("CI16LE", 1024, 16), 16384, 64, 128 },
};

int main(int argc, char **argv)
{
  gst_init(&argc, &argv);
  setvbuf(stdout, NULL, _IOLBF, 0);
  const AstroModule *module = astro_module_get(NULL);
  const gint n = MIN(module ? module->n_devices(NULL) : 0, MOST);
  if (n < 2) {
    printf("devices-gpu: skipped: %d GPUs here\n", MAX(n, 0));
    return 0;
  }
  gst_element_register(NULL, "freesrc", GST_RANK_NONE, free_src_get_type());
  g_autofree char *title =
      g_strdup_printf("%d GPUs: spectra to visibilities, GB/s (limit: as many times one)", n);
  bench_head(title);
  const double bus = copies_at_once(n, 64u << 20);
  for (guint i = 0; i < G_N_ELEMENTS(streams); i++) {
    const gsize block = (gsize)streams[i].mebibytes << 20;
    g_autofree char *one =
        g_strdup_printf("astrocorrelator backend=cuda integration=%u", streams[i].integration);
    g_autofree char *all = g_strconcat(one, " devices=all", NULL);
    guint64 read;
    const double alone = run_stream(streams[i].caps, one, block, streams[i].blocks, &read);
    const double shared = run_stream(streams[i].caps, all, block, streams[i].blocks, &read);
    g_autofree char *of_bus = g_strconcat(streams[i].name, ", of copies at once", NULL);
    if (read == 0)
      g_error("%s: no visibilities came", streams[i].name);
    bench_row(streams[i].name, shared / 1e9, n * alone / 1e9, "GB/s", 0.95);
    bench_row(of_bus, shared / 1e9, bus / 1e9, "GB/s", 0);
  }
  return 0;
}
