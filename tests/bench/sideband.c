/* Flipping bands, compared with memcpy of the same bytes by as many threads, in one run. */
#include "core/sideband/sideband.h"
#include "tests/bench/bench.h"
#include "tests/bench/block.h"

#define BYTES ((gsize)64 << 20)

typedef struct {
  BenchBlocks both;
  AstroSidebandConfig config;
  gpointer instance;
} Bench;

static void run_sideband(gpointer data)
{
  Bench *bench = data;
  AstroSidebandArguments arguments = { .steps = bench->both.bytes /
                                                astro_stream_step_bytes(&bench->config.stream) };
  const AstroBlock in = { bench->both.in, bench->both.bytes },
                   out = { bench->both.out, bench->both.bytes };
  GError *error = NULL;
  if (!astro_sideband_cpu.submit(bench->instance, &in, 1, &out, 1, &arguments, NULL, &error))
    g_error("%s", error->message);
}

static void measure(Bench *bench, const char *what, const char *caps_text)
{
  g_autoptr(GstCaps) caps = gst_caps_from_string(caps_text);
  GError *error = NULL;
  const char *variant;
  double ours, limit;

  if (!astro_stream_from_caps(&bench->config.stream, caps, &error))
    g_error("%s", error->message);
  const gsize step = astro_stream_step_bytes(&bench->config.stream);
  bench->both.bytes = BYTES / step * step;
  bench->instance = astro_sideband_cpu.create(&bench->config, &(AstroPlace){ 0 }, &variant, &error);
  bench_pair(run_sideband, bench, bench_memcpy, &bench->both, 9, &ours, &limit);
  astro_sideband_cpu.destroy(bench->instance);
  bench_row(what, bench->both.bytes / ours * 1e-9, bench->both.bytes / limit * 1e-9, "GB/s", 0);
}

int main(int argc, char **argv)
{
  Bench bench = { .both = bench_blocks(BYTES) };

  gst_init(&argc, &argv);
  bench_head("sideband: blocks of 64 MiB from one to another; limit: memcpy");
  measure(&bench, "I8 voltages, 64 stations x 2 pols",
          "application/x-astro-voltages,format=I8,layout=time:station:pol,stations=64,pols=2");
  measure(&bench, "CI8 voltages, 64 stations x 2 pols",
          "application/x-astro-voltages,format=CI8,layout=time:station:pol,stations=64,pols=2");
  measure(&bench, "CF32LE spectra, station:pol:time:channel of 1024",
          "application/x-astro-spectra,format=CF32LE,layout=time:station:pol:channel,stations=64,"
          "pols=2,channels=1024");
  measure(&bench, "CI4 spectra, time:channel:station:pol of 1024",
          "application/x-astro-spectra,format=CI4,layout=time:channel:station:pol,stations=64,"
          "pols=2,channels=1024");
  bench_blocks_free(&bench.both);
  return 0;
}
