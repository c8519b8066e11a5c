/* Detection of power on a GPU, with blocks already there: bytes of spectra a second, counting,
 * reading and writing included. The limit is half the traffic of a copy on the device, measured
 * alternately: power reads what a copy reads and writes. */
#include "core/backend/module.h"
#include "tests/bench/bench.h"
#include "tests/bench/device-work.h"
#include "tests/bench/powers.h"

static void measure(const BenchPower *shape)
{
  const AstroPowerConfig config = bench_power_config(shape);
  const gsize in = shape->steps * bench_power_step_bytes(shape);
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

int main(int argc, char **argv)
{
  static const BenchPower shapes[] = {
    { ASTRO_FORMAT_CI8, "I", FAST_CHANNELS, 64, 1024, 1024, 1024, FALSE, 0.8 },
    { ASTRO_FORMAT_CF32LE, "I", FAST_CHANNELS, 64, 1024, 512, 512, FALSE, 0.8 },
    { ASTRO_FORMAT_CF32LE, "I:Q:U:V", FAST_CHANNELS, 64, 1024, 512, 512, FALSE, 0.8 },
    { ASTRO_FORMAT_CF32LE, "I", FAST_CHANNELS, 1, 4096, 64, 8192, FALSE, 0.8 },
    { ASTRO_FORMAT_CI8, "XX:YY:XX-SQUARE:YY-SQUARE", FAST_CHANNELS, 64, 1024, 1024, 1024, FALSE,
      0 },
    { ASTRO_FORMAT_CI8, "I", FAST_CHANNELS, 64, 1024, 256, 1024, TRUE, 0 },
    { ASTRO_FORMAT_CI8, "I", FAST_TIME, 64, 1024, 1024, 1024, FALSE, 0.8 },
    { ASTRO_FORMAT_CF32LE, "I", FAST_TIME, 64, 1024, 512, 512, FALSE, 0.8 },
    { ASTRO_FORMAT_CI4, "I", FAST_TIME, 64, 1024, 1024, 2048, FALSE, 0 },
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
