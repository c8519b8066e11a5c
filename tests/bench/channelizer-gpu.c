/* The filter bank on a GPU, with blocks already there. The limit is the traffic of a copy on the
 * device, measured alternately: samples are read once, and spectra written once. */
#include "core/backend/module.h"
#include "core/channelizer/channelizer.h"
#include "tests/bench/bench.h"
#include "tests/bench/device-work.h"

typedef struct {
  const char *format;
  AstroFormat to;
  guint channels;
  double wanted;
} Shape;

enum { STATIONS = 32, POLS = 2, TAPS = 8 };
#define BLOCK_BYTES ((gsize)256 << 20)

/* Rows share two blocks, which all fit in: making noise takes longer than the rows. */
static void measure(const Shape *shape, gpointer noise, gpointer room)
{
  AstroChannelizerConfig config = {
    .to = shape->to, .channels = shape->channels, .taps = TAPS, .beta = ASTRO_WINDOW_BETA, .gain = 1
  };
  g_autofree char *text = g_strdup_printf("application/x-astro-voltages, format=%s, "
                                          "layout=station:pol:time, stations=%d, pols=%d",
                                          shape->format, STATIONS, POLS);
  g_autoptr(GstCaps) caps = gst_caps_from_string(text);
  const char *variant = NULL;
  GError *error = NULL;
  if (!astro_stream_from_caps(&config.in, caps, &error))
    g_error("%s", error->message);
  const gsize sample = astro_stream_sample_bytes(&config.in),
              to = astro_format_info(shape->to)->bytes;
  const guint64 spectra = BLOCK_BYTES / (STATIONS * POLS * MAX(sample, to) * shape->channels);
  const gsize samples = spectra * shape->channels * STATIONS * POLS, in = samples * sample;
  const AstroChannelizerArguments arguments = { 0, spectra * shape->channels, TRUE, NULL, 0 };
  AstroSpectra first;
  DeviceWork work = { .backend = astro_module_backend("channelizer"),
                      .arguments = &arguments,
                      .in = { noise, in },
                      .from = noise,
                      .to = room,
                      .copied = samples * (sample + to) / 2 };
  if (!astro_channelizer_block_spectra(&config, 0, 0, arguments.steps, &first, &error))
    g_error("%s", error->message);
  work.out.bytes = first.count * shape->channels * STATIONS * POLS * to;
  work.out.data = room;
  device_work_make(&work, &config, &variant);
  double ours, limit;
  device_work_pair(&work, &ours, &limit);
  g_autofree char *what =
      g_strdup_printf("%s to %s, %u channels, %d taps, %s", shape->format,
                      astro_format_name(shape->to), shape->channels, TAPS, variant);
  bench_row(what, ours * 1e-9, limit * 1e-9, "GB/s", shape->wanted);
  work.backend->destroy(work.instance);
}

int main(int argc, char **argv)
{
  static const Shape shapes[] = {
    { "CI8", ASTRO_FORMAT_CF32LE, 1024, 0.7 }, { "CI8", ASTRO_FORMAT_CF32LE, 1000, 0.4 },
    { "CI8", ASTRO_FORMAT_CF32LE, 36, 0.4 },   { "CI8", ASTRO_FORMAT_CF32LE, 32, 0 },
    { "CI8", ASTRO_FORMAT_CI8, 1024, 0 },      { "CI8", ASTRO_FORMAT_CI8, 256, 0 },
    { "CI8", ASTRO_FORMAT_CI8, 36, 0 },        { "CI8", ASTRO_FORMAT_CI8, 32, 0 },
    { "CI8", ASTRO_FORMAT_CI8, 360, 0 },       { "CI8", ASTRO_FORMAT_CI8, 37, 0 },
    { "CI8", ASTRO_FORMAT_CI8, 2310, 0 },      { "CI8", ASTRO_FORMAT_CI8, 3072, 0 },
    { "CI8", ASTRO_FORMAT_CI8, 64, 0 },        { "CI8", ASTRO_FORMAT_CI8, 120, 0 },
    { "CI4", ASTRO_FORMAT_CI4, 256, 0 },       { "CI4", ASTRO_FORMAT_CI4, 36, 0 },
    { "CI4", ASTRO_FORMAT_CI4, 64, 0 },        { "CI4", ASTRO_FORMAT_CI4, 120, 0 },
    { "CI4", ASTRO_FORMAT_CI4, 1024, 0 },      { "CI8", ASTRO_FORMAT_CI8, 512, 0 },
  };
  gst_init(&argc, &argv);
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (!bench_open_device("channelizer-gpu") || !bench_load_copy())
    return 0;
  g_autofree char *title =
      g_strdup_printf("%s: filter bank of %d inputs (limit: traffic of a device copy)",
                      device->name, STATIONS * POLS);
  bench_head(title);
  gpointer noise = bench_device_block(BLOCK_BYTES, FALSE),
           room = bench_device_block(BLOCK_BYTES, FALSE);
  for (guint i = 0; i < G_N_ELEMENTS(shapes); i++)
    measure(&shapes[i], noise, room);
  device->funcs->free(device, noise);
  device->funcs->free(device, room);
  device->funcs->queue_free(device, queue);
  astro_device_unref(device);
  return 0;
}
