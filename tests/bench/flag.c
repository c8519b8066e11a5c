/* Flags: kurtosis of spectra compared with astropower's squares of the same, and SumThreshold of
 * visibilities compared with reading them, in one run. */
#include "core/flag/flag.h"
#include "core/power/power.h"
#include "tests/bench/bench.h"
#include "tests/bench/block.h"

#define STATIONS 16
#define CHANNELS 1024
#define STEPS 1024

typedef struct {
  gpointer flag, power;
  AstroBlock in, out;
  AstroFlagArguments arguments;
  guint8 *flags;
  guint32 *counts;
} Bench;

static void run_flag(gpointer data)
{
  Bench *bench = data;
  AstroFlagVerdict verdict = { bench->flags };
  AstroResult result = { .own = &verdict };
  GError *error = NULL;
  if (!astro_flag_cpu.submit(bench->flag, &bench->in, 1, NULL, 0, &bench->arguments, &result,
                             &error))
    g_error("%s", error->message);
}

static void run_power(gpointer data)
{
  Bench *bench = data;
  const AstroPowerArguments arguments = { .steps = STEPS, .integration = STEPS };
  AstroResult result = { .counts = bench->counts };
  GError *error = NULL;
  if (!astro_power_cpu.submit(bench->power, &bench->in, 1, &bench->out, 1, &arguments, &result,
                              &error))
    g_error("%s", error->message);
}

static void run_copy(gpointer data)
{
  const Bench *bench = data;
  memcpy(bench->out.data, bench->in.data, bench->in.bytes);
}

static gpointer new_instance(const AstroBackend *backend, gconstpointer config)
{
  const char *variant;
  GError *error = NULL;
  gpointer instance = backend->create(config, &(AstroPlace){ 0 }, &variant, &error);
  if (!instance)
    g_error("%s", error->message);
  return instance;
}

static void kurtosis(AstroFormat format)
{
  const AstroLayout layout = { 4,
                               { ASTRO_AXIS_STATION, ASTRO_AXIS_POL, ASTRO_AXIS_TIME,
                                 ASTRO_AXIS_CHANNEL },
                               { STATIONS, 2, 0, CHANNELS } };
  AstroPowerConfig power = { .stations = STATIONS,
                             .pols = 2,
                             .channels = CHANNELS,
                             .layout = layout,
                             .from = format,
                             .channel_step = 1 };
  const AstroFlagConfig flag = {
    .in = { .quantity = ASTRO_QUANTITY_SPECTRA, .format = format, .layout = layout },
    .method = ASTRO_FLAG_KURTOSIS,
    .block = STEPS,
    .false_alarm = 1e-3
  };
  double ours, limit;
  astro_power_products_parse(&power.products, "XX:YY:XX-SQUARE:YY-SQUARE", NULL);
  Bench bench = { .arguments = { .block_steps = STEPS, .steps = STEPS, .end = TRUE } };
  bench.in.bytes = (gsize)STATIONS * 2 * STEPS * CHANNELS * astro_format_info(format)->bytes;
  bench.in.data = bench_block(bench.in.bytes);
  for (gsize i = 0; i < bench.in.bytes; i += 4)
    ((guint8 *)bench.in.data)[i] = (guint8)(i / 4 % 61);
  bench.out.bytes = astro_power_output_bytes(&power);
  bench.out.data = g_malloc(bench.out.bytes);
  bench.counts = g_new(guint32, astro_power_counts(&power));
  bench.flags = g_malloc((gsize)STATIONS * CHANNELS);
  bench.flag = new_instance(&astro_flag_cpu, &flag);
  bench.power = new_instance(&astro_power_cpu, &power);
  bench_pair(run_flag, &bench, run_power, &bench, 5, &ours, &limit);
  g_autofree char *what = g_strdup_printf("kurtosis, %s", astro_format_name(format));
  bench_row(what, (double)bench.in.bytes / ours * 1e-9, (double)bench.in.bytes / limit * 1e-9,
            "GB/s", 1 / 1.2);
  astro_flag_cpu.destroy(bench.flag);
  astro_power_cpu.destroy(bench.power);
  g_aligned_free(bench.in.data);
  g_free(bench.out.data);
  g_free(bench.counts);
  g_free(bench.flags);
}

/* 64 integrations of 20 stations, with noise. */
static void threshold(void)
{
  enum { ROWS = 64, BASELINES = 210, BAND = 256 };
  const AstroFlagConfig flag = {
    .in = { .quantity = ASTRO_QUANTITY_VISIBILITIES,
            .format = ASTRO_FORMAT_CF32LE,
            .layout = { 4,
                        { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_BASELINE, ASTRO_AXIS_POL, ASTRO_AXIS_POL },
                        { BAND, BASELINES, 1, 1 } } },
    .method = ASTRO_FLAG_THRESHOLD,
    .block = ROWS,
    .threshold = 5,
    .longest = 64,
  };
  const gsize n = (gsize)ROWS * BAND * BASELINES;
  double ours, limit;
  Bench bench = { .arguments = { .block_steps = ROWS, .steps = ROWS, .end = TRUE } };
  g_autoptr(GRand) rand = g_rand_new_with_seed(1);
  bench.in.bytes = bench.out.bytes = n * 2 * sizeof(float);
  bench.in.data = bench_block(bench.in.bytes);
  bench.out.data = bench_block(bench.out.bytes);
  bench.flags = g_malloc(n);
  for (gsize i = 0; i < 2 * n; i++)
    ((float *)bench.in.data)[i] = (float)(g_rand_double(rand) + g_rand_double(rand) +
                                          g_rand_double(rand) + g_rand_double(rand) - 2);
  bench.flag = new_instance(&astro_flag_cpu, &flag);
  bench_pair(run_flag, &bench, run_copy, &bench, 3, &ours, &limit);
  bench_row("threshold, CF32LE, 210 baselines", (double)n / ours * 1e-6, (double)n / limit * 1e-6,
            "M/s", 0);
  astro_flag_cpu.destroy(bench.flag);
  g_aligned_free(bench.in.data);
  g_aligned_free(bench.out.data);
  g_free(bench.flags);
}

int main(int argc, char **argv)
{
  gst_init(&argc, &argv);
  bench_head("flags; limits: astropower with squares, and copying");
  kurtosis(ASTRO_FORMAT_CI8);
  kurtosis(ASTRO_FORMAT_CI16LE);
  kurtosis(ASTRO_FORMAT_CF32LE);
  threshold();
  return 0;
}
