/* Fold of power, compared with reading the same bytes by as many threads, in one run. */
#include "core/fold/fold.h"
#include "tests/bench/bench.h"
#include "tests/bench/block.h"
#include "tests/bench/read.h"

#define BYTES ((gsize)64 << 20)

typedef struct {
  AstroFoldConfig config;
  AstroFoldArguments arguments;
  gpointer instance;
  AstroBlock in;
} Bench;

static void run_fold(gpointer data)
{
  Bench *bench = data;
  GError *error = NULL;
  if (!astro_fold_cpu.submit(bench->instance, &bench->in, 1, NULL, 0, &bench->arguments, NULL,
                             &error))
    g_error("%s", error->message);
}

/* bins_a_sample: how fast the phase runs. */
static void measure(Bench *bench, guint channels, guint pols, guint bins, double bins_a_sample,
                    double wanted)
{
  GError *error = NULL;
  double ours, limit;
  const gsize step = (gsize)channels * pols * sizeof(float);
  const guint64 steps = BYTES / step;
  g_autofree guint32 *phases = g_new(guint32, steps), *lags = g_new(guint32, channels);
  bench->config =
      (AstroFoldConfig){ .stations = 1, .pols = pols, .channels = channels, .bins = bins };
  bench->config.layout = (AstroLayout){ 3,
                                        { ASTRO_AXIS_TIME, ASTRO_AXIS_POL, ASTRO_AXIS_CHANNEL },
                                        { 0, pols, channels } };
  for (guint64 t = 0; t < steps; t++)
    phases[t] = astro_fold_phase((double)t * bins_a_sample / bins);
  for (guint c = 0; c < channels; c++)
    lags[c] = astro_fold_phase((double)c * c / channels / 50);
  bench->in.bytes = steps * step;
  bench->arguments =
      (AstroFoldArguments){ .steps = steps, .to = steps, .phases = phases, .lags = lags };
  bench->instance = astro_fold_cpu.create(&bench->config, &(AstroPlace){ 0 }, NULL, &error);
  if (!bench->instance)
    g_error("%s", error->message);
  bench_pair(run_fold, bench, bench_read, &bench->in, 9, &ours, &limit);
  astro_fold_cpu.destroy(bench->instance);
  g_autofree char *what = g_strdup_printf("%u channels, %u products, %u bins, %g of them a sample",
                                          channels, pols, bins, bins_a_sample);
  bench_row(what, (double)bench->in.bytes / ours * 1e-9, (double)bench->in.bytes / limit * 1e-9,
            "GB/s", wanted);
}

int main(int argc, char **argv)
{
  Bench bench = { .in.data = bench_block(BYTES) };
  gst_init(&argc, &argv);
  bench_head("fold: 64 MiB of power; limit: reading them");
  measure(&bench, 1024, 1, 128, 0.1, 0.7);
  measure(&bench, 1024, 4, 128, 0.1, 0.7);
  measure(&bench, 4096, 1, 1024, 0.25, 0.7);
  measure(&bench, 1024, 1, 1024, 1, 0);
  measure(&bench, 256, 1, 64, 7.3, 0);
  measure(&bench, 1, 1, 128, 0.1, 0);
  g_aligned_free(bench.in.data);
  return 0;
}
