/* Streams through CUDA stages, from blocks on the host to visibilities read on the host, beside
 * page-locked copies up in the same run. Integrations are long, so that little goes down. Arguments
 * select streams by a part of their name. */
#include "core/backend/module.h"
#include "core/memory/memory.h"
#include "tests/bench/bench.h"
#include "tests/bench/stream.h"

/* Page-locked copies up; returns bytes a second. */
static double run_copies(AstroDevice *device, gsize block, guint64 blocks)
{
  const AstroDeviceFuncs *f = device->funcs;
  GstMemory *host = astro_memory_new(block, device);
  GstMapInfo map;
  gpointer face;
  double seconds = 0;

  gst_memory_map(host, &map, GST_MAP_WRITE);
  memset(map.data, 1, block);
  f->alloc(device, block, &face, NULL);
  for (guint round = 0; round < 2; round++) {
    gint64 start = g_get_monotonic_time();
    for (guint64 i = 0; i < blocks; i++)
      f->queue_copy(device, device->up, ASTRO_COPY_UP, face, map.data, block, NULL);
    AstroEvent *event = f->event_record(device, device->up, NULL);
    f->event_wait(device, event, NULL);
    f->event_free(device, event);
    seconds = (double)(g_get_monotonic_time() - start) * 1e-6;
  }
  gst_memory_unmap(host, &map);
  gst_memory_unref(host);
  f->free(device, face);
  return (double)block * (double)blocks / seconds;
}

#define SPECTRA(stations, channels)                                                                \
  "application/"                                                                                   \
  "x-astro-spectra,format=CI8,layout=channel:station:pol:time,pols=2,stations=" #stations          \
  ",channels=" #channels
#define VOLTAGES(stations)                                                                         \
  "application/x-astro-voltages,format=CI8,layout=station:pol:time,pols=2,stations=" #stations
#define TO_CI8 "application/x-astro-spectra,format=CI8"

/* A time step of the spectra has 131072 bytes. */
static const struct {
  const char *name, *caps, *stages;
  guint mebibytes, blocks;
  double wanted;
} streams[] = {
  { "correlator, 64 stations, 512 channels", SPECTRA(64, 512),
    "astrocorrelator backend=cuda integration=16384", 64, 384, 0.95 },
  { "correlator, 256 stations, 128 channels", SPECTRA(256, 128),
    "astrocorrelator backend=cuda integration=16384", 64, 384, 0.95 },
  { "correlator, 512 stations, 64 channels", SPECTRA(512, 64),
    "astrocorrelator backend=cuda integration=16384", 64, 384, 0.95 },
  { "correlator, 512 stations, blocks of 32 MiB", SPECTRA(512, 32),
    "astrocorrelator backend=cuda integration=32768", 32, 512, 0.95 },
  { "channelizer (512) and correlator, 64 stations", VOLTAGES(64),
    "astrochannelizer backend=cuda channels=512 taps=8 ! " TO_CI8
    " ! astrocorrelator backend=cuda integration=16384",
    64, 256, 0.9 },
  { "channelizer (128) and correlator, 256 stations", VOLTAGES(256),
    "astrochannelizer backend=cuda channels=128 taps=8 ! " TO_CI8
    " ! astrocorrelator backend=cuda integration=16384",
    64, 256, 0.9 },
  { "channelizer (128), transpose, correlator, 256 stations", VOLTAGES(256),
    "astrochannelizer backend=cuda channels=128 taps=8 ! " TO_CI8
    " ! astrotranspose backend=cuda ! astrocorrelator backend=cuda integration=16384",
    64, 256, 0.9 },
  { "channelizer (128) and correlator, spectra in single precision", VOLTAGES(256),
    "astrochannelizer backend=cuda channels=128 taps=8 ! astrocorrelator backend=cuda "
    "integration=16384",
    64, 256, 0 },
};

static gboolean is_wanted(const char *name, int argc, char **argv)
{
  for (int i = 1; i < argc; i++)
    if (strstr(name, argv[i]))
      return TRUE;
  return argc <= 1;
}

int main(int argc, char **argv)
{
  g_autoptr(GError) error = NULL;

  gst_init(&argc, &argv);
  setvbuf(stdout, NULL, _IOLBF, 0);
  AstroDevice *device = astro_device_open(0, &error);
  if (!device) {
    printf("stream-gpu: skipped: %s\n", error->message);
    return 0;
  }
  gst_element_register(NULL, "freesrc", GST_RANK_NONE, free_src_get_type());
  g_autofree char *title = g_strdup_printf(
      "%s: CI8 to visibilities on the host, GB/s (limit: page-locked copies up)", device->name);
  bench_head(title);
  for (guint i = 0; i < G_N_ELEMENTS(streams); i++) {
    if (!is_wanted(streams[i].name, argc, argv))
      continue;
    gsize block = (gsize)streams[i].mebibytes << 20;
    guint64 read;
    double before = run_copies(device, block, streams[i].blocks);
    gsize down = device->bytes_down;
    double got = run_stream(streams[i].caps, streams[i].stages, block, streams[i].blocks, &read);
    g_autofree char *name = g_strdup_printf("%s (%.2f GB down)", streams[i].name,
                                            (double)(device->bytes_down - down) * 1e-9);
    double after = run_copies(device, block, streams[i].blocks);
    if (read == 0)
      g_error("%s: no visibilities came", streams[i].name);
    bench_row(name, got / 1e9, (before + after) / 2e9, "GB/s", streams[i].wanted);
  }
  astro_device_unref(device);
  return 0;
}
