/* A camera from voltages on the host to pictures on the host: blocks of distinct samples, all of
 * which cross the bus, beside nothing but copies up of the same blocks in the same run. And how
 * long a picture of a live stream takes from the last sample of its integration. Arguments select
 * rows by a part of their name; seconds=N is how much of the stream each takes. */
#include <string.h>

#include "core/backend/module.h"
#include "core/memory/memory.h"
#include "tests/bench/bench.h"
#include "tests/bench/play.h"

#define RING_BYTES ((gsize)2 << 30)
/* Dumps by which all blocks are allocated and page-locked. */
#define WARM_UP 2

typedef struct {
  const char *name;
  guint stations;
  double bandwidth;
  const char *format;
  guint sample; /* bytes of one */
  guint channels;
  double integration; /* seconds */
  guint size;         /* of a picture */
  gboolean is_live;
  guint block_steps;
  double wanted; /* share of the bus */
  gsize needs;   /* GiB of free memory on the device */
  gboolean has_delays;
} Camera;

static const Camera cameras[] = {
  { "512 x 2, 27 MHz, CI8", 512, 27e6, "CI8", 2, 256, 0.5, 4096, FALSE, 32768, 0.9, 24 },
  { "1024 x 2, 27.2 MHz, CI4", 1024, 27.2e6, "CI4", 1, 256, 0.5, 4096, FALSE, 32768, 0, 60 },
  { "2048 x 2, 4.9 MHz, CI4", 2048, 4.9e6, "CI4", 1, 36, 0.5, 4096, FALSE, 16384, 0, 40 },
  { "1024 x 2, 27.2 MHz, CI4, blocks of 8 MiB", 1024, 27.2e6, "CI4", 1, 256, 0.5, 4096, FALSE, 4096,
    0, 60 },
  { "1024 x 2, 27.2 MHz, CI4, with delays", 1024, 27.2e6, "CI4", 1, 256, 0.5, 4096, FALSE, 32768, 0,
    60, TRUE },
  { "latency, 64 x 2, 27 MHz, CI8", 64, 27e6, "CI8", 2, 256, 0.25, 2048, TRUE, 32768, 0, 8 },
};

/* ---- distinct blocks ---- */

/* Page-locked blocks that are sent in turn. */
typedef struct {
  gsize bytes; /* of a block */
  guint n;
  GstMemory **blocks;
  gboolean is_filled;
  guint64 sent;
} Ring;

static Ring ring_new(AstroDevice *device, gsize bytes)
{
  Ring ring = { bytes, (guint)(RING_BYTES / bytes), NULL, FALSE, 0 };
  ring.blocks = g_new(GstMemory *, ring.n);
  for (guint i = 0; i < ring.n; i++) {
    ring.blocks[i] = astro_memory_new(bytes, device);
    if (!ring.blocks[i] || !astro_memory_is_locked(ring.blocks[i]))
      g_error("no page-locked memory for %u blocks of %zu bytes", ring.n, bytes);
  }
  return ring;
}

static void ring_free(Ring *ring)
{
  for (guint i = 0; i < ring->n; i++)
    gst_memory_unref(ring->blocks[i]);
  g_free(ring->blocks);
}

/* Each has the same noise from another place on. */
static void ring_fill(Ring *ring, const guint8 *noise)
{
  for (guint i = 0; i < ring->n; i++) {
    const gsize from = (i * 1048573 * (gsize)64) % ring->bytes, rest = ring->bytes - from;
    GstMapInfo map;
    gst_memory_map(ring->blocks[i], &map, GST_MAP_WRITE);
    memcpy(map.data, noise + from, rest);
    memcpy(map.data + rest, noise, from);
    gst_memory_unmap(ring->blocks[i], &map);
  }
  ring->is_filled = TRUE;
}

/* As when its block is received: written on the host, so that no device has it. */
static GstBuffer *ring_next(Ring *ring, GstBuffer *like)
{
  GstMemory *block = ring->blocks[ring->sent++ % ring->n];
  GstBuffer *buffer = gst_buffer_new();
  GstMapInfo map;
  if (!gst_memory_map(block, &map, GST_MAP_READWRITE))
    g_error("a block is still in use when it is to be sent again");
  gst_memory_unmap(block, &map);
  gst_buffer_copy_into(buffer, like, GST_BUFFER_COPY_METADATA, 0, -1);
  gst_buffer_append_memory(buffer, gst_memory_ref(block));
  return buffer;
}

/* Copies up of all blocks, three times; bytes a second. */
static double run_copies(AstroDevice *device, const Ring *ring)
{
  enum { FACES = 4, ROUNDS = 3 };
  const AstroDeviceFuncs *f = device->funcs;
  GstMapInfo *maps = g_new(GstMapInfo, ring->n);
  gpointer faces[FACES];
  GError *error = NULL;
  for (guint i = 0; i < ring->n; i++)
    gst_memory_map(ring->blocks[i], &maps[i], GST_MAP_READ);
  for (guint i = 0; i < FACES; i++)
    if (!f->alloc(device, ring->bytes, &faces[i], &error))
      g_error("%s", error->message);
  const gint64 start = g_get_monotonic_time();
  for (guint i = 0; i < ROUNDS * ring->n; i++)
    f->queue_copy(device, device->up, ASTRO_COPY_UP, faces[i % FACES], maps[i % ring->n].data,
                  ring->bytes, NULL);
  AstroEvent *event = f->event_record(device, device->up, NULL);
  f->event_wait(device, event, NULL);
  const double seconds = (double)(g_get_monotonic_time() - start) * 1e-6;
  f->event_free(device, event);
  for (guint i = 0; i < FACES; i++)
    f->free(device, faces[i]);
  for (guint i = 0; i < ring->n; i++)
    gst_memory_unmap(ring->blocks[i], &maps[i]);
  g_free(maps);
  return ROUNDS * (double)ring->n * (double)ring->bytes / seconds;
}

/* ---- one camera ---- */

typedef struct {
  const Camera *camera;
  Ring ring;
  gint64 warm;        /* when the first block behind the warm-up was sent */
  guint64 warm_bytes; /* sent since */
  GArray *sent;       /* gint64: when each block was */
  GArray *late;       /* double: ms from the last sample to the picture */
  guint pictures;
  guint8 sum;
} Run;

static GstPadProbeReturn send_block(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Run *run = data;
  GstBuffer *made = GST_PAD_PROBE_INFO_BUFFER(info);
  if (!run->ring.is_filled) {
    GstMapInfo map;
    gst_buffer_map(made, &map, GST_MAP_READ);
    ring_fill(&run->ring, map.data);
    gst_buffer_unmap(made, &map);
  }
  const gint64 now = g_get_monotonic_time();
  const double begin = (double)GST_BUFFER_PTS(made) * 1e-9;
  if (!run->warm && begin >= WARM_UP * run->camera->integration)
    run->warm = now;
  if (run->warm)
    run->warm_bytes += gst_buffer_get_size(made);
  g_array_append_val(run->sent, now);
  if (gst_buffer_get_size(made) != run->ring.bytes) /* the last one is shorter */
    return GST_PAD_PROBE_OK;
  GST_PAD_PROBE_INFO_DATA(info) = ring_next(&run->ring, made);
  gst_buffer_unref(made);
  return GST_PAD_PROBE_OK;
}

/* From the end of the integration, which a live source sends when its block is full. */
static void note_latency(Run *run, const GstBuffer *picture)
{
  const double step = 1e9 / run->camera->bandwidth * run->camera->block_steps;
  const double end = (double)(GST_BUFFER_PTS(picture) + GST_BUFFER_DURATION(picture));
  const gint64 now = g_get_monotonic_time();
  const guint block = (guint)(end / step);
  if (block >= run->sent->len)
    return;
  const double since = (double)(now - g_array_index(run->sent, gint64, block)) * 1e-3 +
                       ((block + 1) * step - end) * 1e-6;
  g_array_append_val(run->late, since);
}

static GstPadProbeReturn take_picture(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Run *run = data;
  GstBuffer *picture = GST_PAD_PROBE_INFO_BUFFER(info);
  GstMapInfo map;
  if (gst_buffer_map(picture, &map, GST_MAP_READ)) {
    run->sum += map.data[map.size / 2];
    gst_buffer_unmap(picture, &map);
  }
  if (run->pictures++ >= WARM_UP)
    note_latency(run, picture);
  return GST_PAD_PROBE_OK;
}

static char *describe(const Camera *camera, double seconds)
{
  return g_strdup_printf(
      "astroskysrc name=src stations=%u pattern=noise repeat=1 bandwidth=%.17g duration=%.17g "
      "block-steps=%u is-live=%d ! application/x-astro-voltages,format=%s %s"
      "! astrochannelizer backend=cuda channels=%u taps=8 ! application/x-astro-spectra,format=%s "
      "! astrocorrelator backend=cuda integration-time=%.17g "
      "! queue max-size-buffers=1 max-size-bytes=0 max-size-time=0 "
      "! astrogridder backend=cuda size=%u interval=1 accuracy=1e-3 cell=50 "
      "! astrofft backend=cuda ! astroimage backend=cuda "
      "! fakesink name=sink sync=false async=false enable-last-sample=false",
      camera->stations, camera->bandwidth, seconds, camera->block_steps, camera->is_live,
      camera->format, camera->has_delays ? "! astrodelay backend=cuda " : "", camera->channels,
      camera->format, camera->integration, camera->size);
}

static void tell_latency(const Run *run)
{
  if (run->late->len == 0)
    g_error("%s: no pictures came", run->camera->name);
  double *late = &g_array_index(run->late, double, 0);
  qsort(late, run->late->len, sizeof *late, bench_compare);
  g_autofree char *median = g_strdup_printf("%s, median of %u", run->camera->name, run->late->len);
  g_autofree char *most = g_strdup_printf("%s, largest", run->camera->name);
  bench_row(median, late[run->late->len / 2], 20, "ms", 0);
  bench_row(most, late[run->late->len - 1], 20, "ms", 0);
}

static void run_camera(AstroDevice *device, const Camera *camera, double seconds)
{
  Run run = { .camera = camera,
              .sent = g_array_new(FALSE, FALSE, sizeof(gint64)),
              .late = g_array_new(FALSE, FALSE, sizeof(double)) };
  run.ring = ring_new(device, (gsize)camera->block_steps * camera->stations * 2 * camera->sample);
  g_autofree char *line = describe(camera, seconds);
  GstElement *pipeline = bench_parse(line);
  bench_probe(pipeline, "src", "src", GST_PAD_PROBE_TYPE_BUFFER, send_block, &run);
  bench_probe(pipeline, "sink", "sink", GST_PAD_PROBE_TYPE_BUFFER, take_picture, &run);
  const double before = run_copies(device, &run.ring);
  const gsize up = device->bytes_up;
  const gint64 end = bench_play(pipeline);
  bench_stop(pipeline);
  const double after = run_copies(device, &run.ring);
  if (device->bytes_up - up < run.sent->len * (double)run.ring.bytes * 0.99)
    g_error("%s: not all blocks crossed the bus", camera->name);
  const double took = (double)(end - run.warm) * 1e-6;
  const double speed = (seconds - WARM_UP * camera->integration) / took;
  g_autofree char *name = g_strdup_printf("%s (%.2f pictures/s, %.2f x real time)", camera->name,
                                          speed / camera->integration, speed);
  if (camera->is_live)
    tell_latency(&run);
  else
    bench_row(name, (double)run.warm_bytes / took / 1e9, (before + after) / 2e9, "GB/s",
              camera->wanted);
  g_array_unref(run.sent);
  g_array_unref(run.late);
  ring_free(&run.ring);
}

static gboolean has_room(AstroDevice *device, const Camera *camera)
{
  AstroDeviceMemory memory;
  if (device->funcs->memory(device, &memory, NULL) && memory.free >= camera->needs << 30)
    return TRUE;
  printf("%s: skipped: %zu GiB of free memory are needed\n", camera->name, camera->needs);
  return FALSE;
}

/* Also takes the seconds, if the arguments say how many. */
static gboolean is_wanted(const char *name, char **argv, double *seconds)
{
  static const char number[] = "seconds=";
  gboolean any = FALSE, found = FALSE;
  for (char **word = argv + 1; *word; word++) {
    const gboolean is_number = g_str_has_prefix(*word, number);
    if (is_number)
      *seconds = g_ascii_strtod(*word + strlen(number), NULL);
    any |= !is_number;
    found |= !is_number && strstr(name, *word);
  }
  return found || !any;
}

int main(int argc, char **argv)
{
  g_autoptr(GError) error = NULL;
  double seconds = 4;

  gst_init(&argc, &argv);
  setvbuf(stdout, NULL, _IOLBF, 0);
  AstroDevice *device = astro_device_open(0, &error);
  if (!device) {
    printf("camera-gpu: skipped: %s\n", error->message);
    return 0;
  }
  g_autofree char *title = g_strdup_printf(
      "%s: a camera from the host to pictures, every block over the bus (limit: the bus; 20 ms)",
      device->name);
  bench_head(title);
  for (guint i = 0; i < G_N_ELEMENTS(cameras); i++)
    if (is_wanted(cameras[i].name, argv, &seconds) && has_room(device, &cameras[i]))
      run_camera(device, &cameras[i], seconds);
  astro_device_unref(device);
  return 0;
}
