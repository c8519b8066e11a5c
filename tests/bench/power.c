/* Power of spectra, compared with reading the same bytes by as many threads, in one run. */
#include "tests/bench/bench.h"
#include "tests/bench/block.h"
#include "tests/bench/powers.h"
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

static void measure(Bench *bench, BenchPower shape)
{
  const char *variant;
  GError *error = NULL;
  double ours, limit;
  shape.steps = BYTES / bench_power_step_bytes(&shape);
  bench->config = bench_power_config(&shape);
  bench->in.bytes = shape.steps * bench_power_step_bytes(&shape);
  bench->arguments =
      (AstroPowerArguments){ .steps = shape.steps, .integration = shape.integration };
  const guint64 ended = astro_power_ended(&bench->arguments);
  bench->out.bytes = ended * astro_power_output_bytes(&bench->config);
  bench->out.data = g_malloc(bench->out.bytes);
  bench->counts = g_new(guint32, ended * astro_power_counts(&bench->config));
  bench->instance = astro_power_cpu.create(&bench->config, &(AstroPlace){ 0 }, &variant, &error);
  if (!bench->instance)
    g_error("%s", error->message);
  bench_pair(run_power, bench, bench_read, &bench->in, 9, &ours, &limit);
  astro_power_cpu.destroy(bench->instance);
  g_free(bench->out.data);
  g_free(bench->counts);
  g_autofree char *what =
      g_strdup_printf("%s %s, %s, %u of %u", astro_format_name(shape.from), shape.products,
                      shape.layout, shape.stations, shape.channels);
  bench_row(what, (double)bench->in.bytes / ours * 1e-9, (double)bench->in.bytes / limit * 1e-9,
            "GB/s", shape.wanted);
}

#define OWN "station:pol:time:channel"
#define SQUARES "I:Q:U:V:I-SQUARE:Q-SQUARE:U-SQUARE:V-SQUARE"

int main(int argc, char **argv)
{
  static const BenchPower shapes[] = {
    { ASTRO_FORMAT_CI4, "I", OWN, 16, 1024, 256, .wanted = 0.7 },
    { ASTRO_FORMAT_CI8, "I", OWN, 16, 1024, 256, .wanted = 0.7 },
    { ASTRO_FORMAT_CI16LE, "I", OWN, 16, 1024, 256, .wanted = 0.7 },
    { ASTRO_FORMAT_CF16LE, "I", OWN, 16, 1024, 256, .wanted = 0.7 },
    { ASTRO_FORMAT_CF32LE, "I", OWN, 16, 1024, 256, .wanted = 0.7 },
    { ASTRO_FORMAT_CI8, "I", "channel:time:station:pol", 64, 256, 1024, .wanted = 0.7 },
    { ASTRO_FORMAT_CF32LE, "I", "channel:time:station:pol", 64, 256, 256, .wanted = 0.7 },
    { ASTRO_FORMAT_CI8, "I", "channel:station:pol:time", 64, 256, 1024, .wanted = 0.7 },
    { ASTRO_FORMAT_CF32LE, "I:Q:U:V", OWN, 16, 1024, 256, .wanted = 0.7 },
    { ASTRO_FORMAT_CF32LE, SQUARES, OWN, 16, 1024, 256, .wanted = 0 },
    { ASTRO_FORMAT_CF32LE, "I", OWN, 16, 1024, 16, .wanted = 0 },
    { ASTRO_FORMAT_CF32LE, "I", OWN, 16, 1024, 1, .wanted = 0 },
  };
  Bench bench = { .in.data = bench_block(BYTES) };
  gst_init(&argc, &argv);
  bench_head("power: 64 MiB of spectra; limit: reading them");
  for (guint i = 0; i < G_N_ELEMENTS(shapes); i++)
    measure(&bench, shapes[i]);
  g_aligned_free(bench.in.data);
  return 0;
}
