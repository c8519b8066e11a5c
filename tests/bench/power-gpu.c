/* Detection of power on a GPU, with blocks already there: bytes of spectra a second, counting,
 * reading and writing included. The limit is half the traffic of a copy on the device, measured
 * alternately: power reads what a copy reads and writes. */
#include "core/backend/module.h"
#include "core/power/power.h"
#include "tests/bench/bench.h"
#include "tests/bench/device-copy.h"

typedef struct {
  const char *layout;
  AstroFormat from;
  guint stations, channels;
  guint64 steps, integration;
  const char *products;
  gboolean sum;
  double wanted;
} Shape;

enum { POLS = 2, CALLS = 8 };

typedef struct {
  const AstroBackend *backend;
  gpointer instance;
  AstroBlock in, out;
  gpointer copy;
  AstroPowerArguments arguments;
  AstroResult result;
} Work;

static void run_calls(gpointer data)
{
  Work *w = data;
  GError *error = NULL;
  for (guint i = 0; i < CALLS; i++)
    if (!w->backend->submit(w->instance, &w->in, 1, &w->out, 1, &w->arguments, &w->result, &error))
      g_error("%s", error->message);
  wait_for_device();
}

static void run_copies(gpointer data)
{
  Work *w = data;
  for (guint i = 0; i < CALLS; i++)
    bench_copy(w->copy, w->in.data, w->in.bytes);
  wait_for_device();
}

static AstroPowerConfig config_of(const Shape *shape)
{
  AstroPowerConfig config = { .stations = shape->stations,
                              .pols = POLS,
                              .channels = shape->channels,
                              .from = shape->from,
                              .channel_step = 1,
                              .sum_stations = shape->sum };
  astro_layout_parse(&config.layout, shape->layout, ASTRO_QUANTITY_SPECTRA, NULL);
  for (guint a = 0; a < config.layout.n_axes; a++)
    config.layout.extents[a] = config.layout.axes[a] == ASTRO_AXIS_CHANNEL   ? shape->channels
                               : config.layout.axes[a] == ASTRO_AXIS_STATION ? shape->stations
                               : config.layout.axes[a] == ASTRO_AXIS_POL     ? POLS
                                                                             : 0;
  astro_power_products_parse(&config.products, shape->products, NULL);
  return config;
}

static void measure(const Shape *shape)
{
  const AstroPlace place = { .device = device, .queue = queue };
  const AstroPowerConfig config = config_of(shape);
  const gsize in = shape->steps * shape->stations * POLS * shape->channels *
                   astro_format_info(shape->from)->bytes;
  const guint64 ended = shape->steps / shape->integration;
  const gsize out = ended * astro_power_output_bytes(&config);
  const char *variant = NULL;
  GError *error = NULL;
  g_autofree guint32 *counts = g_new(guint32, ended * astro_power_counts(&config));
  Work work = { .backend = astro_module_backend("power"),
                .in = { bench_device_block(in, shape->from == ASTRO_FORMAT_CF32LE), in },
                .out = { bench_device_block(out, FALSE), out },
                .copy = bench_device_block(in, FALSE),
                .arguments = { .steps = shape->steps, .integration = shape->integration },
                .result = { .counts = counts } };
  work.instance = work.backend->create(&config, &place, &variant, &error);
  if (!work.instance)
    g_error("%s", error->message);
  double ours, limit;
  bench_pair(run_calls, &work, run_copies, &work, 7, &ours, &limit);
  g_autofree char *what = g_strdup_printf(
      "%s, %s, %u stations x %u channels, %u of %u steps%s, %s", shape->products,
      astro_format_name(shape->from), shape->stations, shape->channels, (guint)shape->integration,
      (guint)shape->steps, shape->sum ? ", summed" : "", shape->layout);
  bench_row(what, CALLS * (double)in / ours * 1e-9, 2 * CALLS * (double)in / limit * 1e-9, "GB/s",
            shape->wanted);
  work.backend->destroy(work.instance);
  device->funcs->free(device, work.in.data);
  device->funcs->free(device, work.out.data);
  device->funcs->free(device, work.copy);
}

#define FAST_CHANNELS "time:station:pol:channel"
#define FAST_TIME "channel:station:pol:time"

int main(int argc, char **argv)
{
  static const Shape shapes[] = {
    { FAST_CHANNELS, ASTRO_FORMAT_CI8, 64, 1024, 1024, 1024, "I", FALSE, 0.8 },
    { FAST_CHANNELS, ASTRO_FORMAT_CF32LE, 64, 1024, 512, 512, "I", FALSE, 0.8 },
    { FAST_CHANNELS, ASTRO_FORMAT_CF32LE, 64, 1024, 512, 512, "I:Q:U:V", FALSE, 0.8 },
    { FAST_CHANNELS, ASTRO_FORMAT_CF32LE, 1, 4096, 8192, 64, "I", FALSE, 0.8 },
    { FAST_CHANNELS, ASTRO_FORMAT_CI8, 64, 1024, 1024, 1024, "XX:YY:XX-SQUARE:YY-SQUARE", FALSE,
      0 },
    { FAST_CHANNELS, ASTRO_FORMAT_CI8, 64, 1024, 1024, 256, "I", TRUE, 0 },
    { FAST_TIME, ASTRO_FORMAT_CI8, 64, 1024, 1024, 1024, "I", FALSE, 0.8 },
    { FAST_TIME, ASTRO_FORMAT_CF32LE, 64, 1024, 512, 512, "I", FALSE, 0.8 },
    { FAST_TIME, ASTRO_FORMAT_CI4, 64, 1024, 2048, 1024, "I", FALSE, 0 },
  };
  gst_init(&argc, &argv);
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (!bench_open_device("power-gpu") || !bench_load_copy())
    return 0;
  g_autofree char *title = g_strdup_printf(
      "%s: power of two polarisations (limit: traffic of a device copy)", device->name);
  bench_head(title);
  for (guint i = 0; i < G_N_ELEMENTS(shapes); i++)
    measure(&shapes[i]);
  device->funcs->queue_free(device, queue);
  astro_device_unref(device);
  return 0;
}
