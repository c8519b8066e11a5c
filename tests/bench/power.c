/* Power of spectra, compared with reading the same bytes by as many threads, in one run. */
#include "core/power/power.h"
#include "tests/bench/bench.h"
#include "tests/bench/block.h"
#include "tests/bench/read.h"

#define BYTES ((gsize)64 << 20)

typedef struct {
  AstroPowerConfig config;
  AstroPowerArguments arguments;
  gpointer instance;
  AstroBlock in, out;
  guint32 *counts;
} Bench;

static void run_power(gpointer data)
{
  Bench *bench = data;
  AstroResult result = { .counts = bench->counts };
  GError *error = NULL;
  if (!astro_power_cpu.submit(bench->instance, &bench->in, 1, &bench->out, 1, &bench->arguments,
                              &result, &error))
    g_error("%s", error->message);
}

static void measure(Bench *bench, AstroFormat format, const char *layout, const char *products,
                    guint stations, guint channels, guint64 integration, double wanted)
{
  const char *variant;
  GError *error = NULL;
  double ours, limit;
  bench->config = (AstroPowerConfig){
    .stations = stations, .pols = 2, .channels = channels, .from = format, .channel_step = 1
  };
  astro_layout_parse(&bench->config.layout, layout, ASTRO_QUANTITY_SPECTRA, NULL);
  for (guint i = 0; i < bench->config.layout.n_axes; i++) {
    const AstroAxis axis = bench->config.layout.axes[i];
    bench->config.layout.extents[i] = axis == ASTRO_AXIS_STATION   ? stations
                                      : axis == ASTRO_AXIS_CHANNEL ? channels
                                      : axis == ASTRO_AXIS_POL     ? 2
                                                                   : 0;
  }
  if (!astro_power_products_parse(&bench->config.products, products, &error))
    g_error("%s", error->message);
  const gsize step = (gsize)stations * channels * 2 * astro_format_info(format)->bytes;
  bench->in.bytes = BYTES / step * step;
  bench->arguments = (AstroPowerArguments){ .steps = BYTES / step, .integration = integration };
  const guint64 ended = astro_power_ended(&bench->arguments);
  bench->out.bytes = ended * astro_power_output_bytes(&bench->config);
  bench->out.data = g_malloc(bench->out.bytes);
  bench->counts = g_new(guint32, ended * astro_power_counts(&bench->config));
  bench->arguments.phase = 0;
  bench->instance = astro_power_cpu.create(&bench->config, &(AstroPlace){ 0 }, &variant, &error);
  if (!bench->instance)
    g_error("%s", error->message);
  bench_pair(run_power, bench, bench_read, &bench->in, 9, &ours, &limit);
  astro_power_cpu.destroy(bench->instance);
  g_free(bench->out.data);
  g_free(bench->counts);
  g_autofree char *what = g_strdup_printf("%s %s, %s, %u of %u", astro_format_name(format),
                                          products, layout, stations, channels);
  bench_row(what, (double)bench->in.bytes / ours * 1e-9, (double)bench->in.bytes / limit * 1e-9,
            "GB/s", wanted);
}

int main(int argc, char **argv)
{
  static const AstroFormat formats[] = { ASTRO_FORMAT_CI4, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI16LE,
                                         ASTRO_FORMAT_CF16LE, ASTRO_FORMAT_CF32LE };
  Bench bench = { .in.data = bench_block(BYTES) };
  gst_init(&argc, &argv);
  bench_head("power: 64 MiB of spectra; limit: reading them");
  for (guint i = 0; i < G_N_ELEMENTS(formats); i++)
    measure(&bench, formats[i], "station:pol:time:channel", "I", 16, 1024, 256, 0.7);
  measure(&bench, ASTRO_FORMAT_CI8, "channel:time:station:pol", "I", 64, 256, 1024, 0.7);
  measure(&bench, ASTRO_FORMAT_CF32LE, "channel:time:station:pol", "I", 64, 256, 256, 0.7);
  measure(&bench, ASTRO_FORMAT_CI8, "channel:station:pol:time", "I", 64, 256, 1024, 0.7);
  measure(&bench, ASTRO_FORMAT_CF32LE, "station:pol:time:channel", "I:Q:U:V", 16, 1024, 256, 0.7);
  measure(&bench, ASTRO_FORMAT_CF32LE, "station:pol:time:channel",
          "I:Q:U:V:I-SQUARE:Q-SQUARE:U-SQUARE:V-SQUARE", 16, 1024, 256, 0);
  measure(&bench, ASTRO_FORMAT_CF32LE, "station:pol:time:channel", "I", 16, 1024, 16, 0);
  measure(&bench, ASTRO_FORMAT_CF32LE, "station:pol:time:channel", "I", 16, 1024, 1, 0);
  g_aligned_free(bench.in.data);
  return 0;
}
