/* Detection of power on a GPU, with blocks already there: bytes of spectra a second, counting,
 * reading and writing included. The limit is half the traffic of a copy on the device, measured
 * alternately: power reads what a copy reads and writes. */
#include "core/backend/module.h"
#include "core/power/power.h"
#include "tests/bench/bench.h"
#include "tests/bench/device-work.h"

typedef struct {
  const char *layout;
  AstroFormat from;
  guint stations, channels;
  guint64 steps, integration;
  const char *products;
  gboolean sum;
  double wanted;
} Shape;

enum { POLS = 2 };

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
  const AstroPowerConfig config = config_of(shape);
  const gsize in = shape->steps * shape->stations * POLS * shape->channels *
                   astro_format_info(shape->from)->bytes;
  const guint64 ended = shape->steps / shape->integration;
  const gsize out = ended * astro_power_output_bytes(&config);
  const char *variant = NULL;
  g_autofree guint32 *counts = g_new(guint32, ended * astro_power_counts(&config));
  const AstroPowerArguments arguments = { .steps = shape->steps,
                                          .integration = shape->integration };
  AstroResult result = { .counts = counts };
  DeviceWork work = { .backend = astro_module_backend("power"),
                      .arguments = &arguments,
                      .result = &result,
                      .in = { bench_device_block(in, shape->from == ASTRO_FORMAT_CF32LE), in },
                      .out = { bench_device_block(out, FALSE), out } };
  device_work_copy(&work, 2 * in);
  device_work_make(&work, &config, &variant);
  double ours, limit;
  device_work_pair(&work, &ours, &limit);
  g_autofree char *what = g_strdup_printf(
      "%s, %s, %u stations x %u channels, %u of %u steps%s, %s", shape->products,
      astro_format_name(shape->from), shape->stations, shape->channels, (guint)shape->integration,
      (guint)shape->steps, shape->sum ? ", summed" : "", shape->layout);
  bench_row(what, ours / 2 * 1e-9, limit * 1e-9, "GB/s", shape->wanted); /* little is written */
  device_work_clear(&work);
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
