/* Shifting visibilities to another centre, compared with memcpy of the same bytes by as many
 * threads, in one run. */
#include "core/phaseshift/phaseshift.h"
#include "tests/bench/bench.h"
#include "tests/bench/block.h"

#define BYTES ((gsize)64 << 20)

typedef struct {
  BenchBlocks both;
  AstroPhaseshiftConfig config;
  gpointer instance;
  double *nearer;
} Bench;

static void run_shift(gpointer data)
{
  Bench *bench = data;
  AstroPhaseshiftArguments arguments = {
    .steps = bench->both.bytes / astro_stream_step_bytes(&bench->config.in), .nearer = bench->nearer
  };
  const AstroBlock in = { bench->both.in, bench->both.bytes },
                   out = { bench->both.out, bench->both.bytes };
  GError *error = NULL;
  if (!astro_phaseshift_cpu.submit(bench->instance, &in, 1, &out, 1, &arguments, NULL, &error))
    g_error("%s", error->message);
}

static void measure(Bench *bench, const char *what, const char *caps_text)
{
  g_autoptr(GstCaps) caps = gst_caps_from_string(caps_text);
  GError *error = NULL;
  const char *variant;
  double ours, limit;

  if (!astro_stream_from_caps(&bench->config.in, caps, &error))
    g_error("%s", error->message);
  bench->config.out = bench->config.in;
  const gsize step = astro_stream_step_bytes(&bench->config.in);
  bench->both.bytes = BYTES / step * step;
  const gsize n = bench->both.bytes / step * astro_stream_stations(&bench->config.in);
  bench->nearer = g_new(double, n);
  for (gsize i = 0; i < n; i++)
    bench->nearer[i] = 0.7 * (double)(i % 1000);
  bench->instance =
      astro_phaseshift_cpu.create(&bench->config, &(AstroPlace){ 0 }, &variant, &error);
  bench_pair(run_shift, bench, bench_memcpy, &bench->both, 9, &ours, &limit);
  astro_phaseshift_cpu.destroy(bench->instance);
  g_free(bench->nearer);
  bench_row(what, bench->both.bytes / ours * 1e-9, bench->both.bytes / limit * 1e-9, "GB/s", 0);
}

#define VISIBILITIES                                                                               \
  "application/x-astro-visibilities,layout=channel:baseline:pol:pol,frequency=150e6,"              \
  "bandwidth=1e6,rate=1/1,"

int main(int argc, char **argv)
{
  Bench bench = { .both = bench_blocks(BYTES) };

  gst_init(&argc, &argv);
  bench_head("phase shift: blocks of 64 MiB from one to another; limit: memcpy");
  measure(&bench, "CF32LE, 64 stations x 2 pols, 64 channels",
          VISIBILITIES "format=CF32LE,baselines=2080,channels=64,pols=2");
  measure(&bench, "CF32LE, 64 stations x 1 pol, 64 channels",
          VISIBILITIES "format=CF32LE,baselines=2080,channels=64,pols=1");
  measure(&bench, "CF64LE, 512 stations x 2 pols, 1 channel",
          VISIBILITIES "format=CF64LE,baselines=131328,channels=1,pols=2");
  bench_blocks_free(&bench.both);
  return 0;
}
