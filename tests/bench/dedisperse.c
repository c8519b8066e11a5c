/* Dedispersion of power: the additions that the tree needs, beside the rate at which as many
 * threads load two numbers each from the first cache, in one run. */
#include "core/dedisperse/plan.h"
#include "tests/bench/bench.h"

#define RATE (1 / 64e-6)
#define STEPS 8192

typedef struct {
  AstroDedisperseConfig config;
  AstroDedisperseArguments arguments;
  gpointer instance;
  AstroBlock in, out;
  guint32 *counts;
  double additions; /* of a call */
} Bench;

static void run_dedisperse(gpointer data)
{
  Bench *bench = data;
  AstroResult result = { .counts = bench->counts };
  GError *error = NULL;
  if (!astro_dedisperse_cpu.submit(bench->instance, &bench->in, 1, &bench->out, 1,
                                   &bench->arguments, &result, &error))
    g_error("%s", error->message);
  bench->arguments.before += bench->arguments.steps;
}

#define LOADED 2048 /* numbers in the first cache */

#ifdef __x86_64__
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
static float
load(const float *from, guint64 rounds)
{
  typedef float Row __attribute__((vector_size(64)));
  Row sums[8] = { { 0 } };
  float sum = 0;
  for (guint64 r = 0; r < rounds; r++) {
    __asm__ volatile("" : : "r"(from) : "memory"); /* each time anew */
    for (guint i = 0; i < LOADED; i += 128)
      for (guint k = 0; k < 8; k++) {
        Row row;
        __builtin_memcpy(&row, from + i + 16 * k, sizeof row);
        sums[k] += row;
      }
  }
  for (guint k = 0; k < 8; k++)
    for (guint i = 0; i < 16; i++)
      sum += sums[k][i];
  return sum;
}

static void load_share(gpointer data, guint64 task)
{
  static const float numbers[LOADED] __attribute__((aligned(64))) = { 1 };
  static float kept;
  const Bench *bench = data;
  const float sum = load(numbers, (guint64)(2 * bench->additions / astro_threads() / LOADED));
  __atomic_store(&kept, &sum, __ATOMIC_RELAXED);
}

static void run_load(gpointer data)
{
  astro_parallel(astro_threads(), 0, load_share, data);
}

static void measure(guint channels, guint n_dms, double least, double most, double wanted)
{
  g_autofree double *dms = g_new(double, n_dms);
  Bench bench = {
    .config = { .stations = 1,
                .pols = 1,
                .channels = channels,
                .layout = { 2, { ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL }, { 0, channels } },
                .frequency = 1.35e9,
                .bandwidth = 3e8,
                .rate = RATE,
                .n_dms = n_dms,
                .dms = dms },
    .arguments = { .steps = STEPS, .full = 1 }
  };
  const char *variant;
  GError *error = NULL;
  double ours, limit;
  for (guint i = 0; i < n_dms; i++)
    dms[i] = least + (most - least) * i / MAX(n_dms - 1, 1);
  AstroDedispersePlan *plan = astro_dedisperse_plan_new(&bench.config, &error);
  bench.instance = astro_dedisperse_cpu.create(&bench.config, &(AstroPlace){ 0 }, &variant, &error);
  if (!bench.instance || !plan)
    g_error("%s", error->message);
  bench.additions = plan->additions * STEPS;
  bench.in = (AstroBlock){ g_new0(float, (gsize)STEPS *channels), (gsize)STEPS * channels * 4 };
  bench.out = (AstroBlock){ g_new0(float, (gsize)STEPS *n_dms), (gsize)STEPS * n_dms * 4 };
  bench.counts = g_new(guint32, (gsize)STEPS * n_dms);
  /* Until as many steps come out as go in. */
  while (bench.arguments.before < astro_dedisperse_reach(&bench.config))
    run_dedisperse(&bench);
  bench_pair(run_dedisperse, &bench, run_load, &bench, 5, &ours, &limit);
  g_autofree char *what = g_strdup_printf(
      "%u channels, %u DMs to %g: %.3g of the direct sum, %.3g x real time", channels, n_dms, most,
      plan->additions / ((double)channels * n_dms), STEPS / RATE / ours);
  bench_row(what, bench.additions / ours * 1e-9, bench.additions / limit * 1e-9, "Gadd/s", wanted);
  astro_dedisperse_cpu.destroy(bench.instance);
  astro_dedisperse_plan_free(plan);
  g_free(bench.in.data);
  g_free(bench.out.data);
  g_free(bench.counts);
}

int main(int argc, char **argv)
{
  gst_init(&argc, &argv);
  bench_head("dedispersion: 64 us of 1.2 to 1.5 GHz; limit: two loads an addition");
  measure(1024, 1024, 0, 1000, 0.67);
  measure(1024, 1024, 0, 100, 0.67);
  measure(1024, 256, 0, 1000, 0.67);
  measure(256, 1024, 0, 300, 0.67);
  measure(1024, 1, 56, 56, 0);
  return 0;
}
