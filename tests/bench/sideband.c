/* Turned bands beside memcpy of the same bytes by as many threads, in one run. */
#include <string.h>

#include "core/backend/threads.h"
#include "core/sideband/sideband.h"
#include "tests/bench/bench.h"

#define BYTES ((gsize)64 << 20)

typedef struct {
  AstroSidebandConfig config;
  gpointer instance;
  guint8 *in, *out;
  gsize bytes;
} Bench;

static void copy_share(gpointer data, guint64 task)
{
  const Bench *bench = data;
  const gsize n = astro_threads(), start = bench->bytes * task / n;
  memcpy(bench->out + start, bench->in + start, bench->bytes * (task + 1) / n - start);
}

static void run_memcpy(gpointer data)
{
  astro_parallel(astro_threads(), 0, copy_share, data);
}

static void run_sideband(gpointer data)
{
  Bench *bench = data;
  AstroSidebandArguments arguments = { .steps = bench->bytes /
                                                astro_stream_step_bytes(&bench->config.stream) };
  const AstroBlock in = { bench->in, bench->bytes }, out = { bench->out, bench->bytes };
  GError *error = NULL;
  if (!astro_sideband_cpu.submit(bench->instance, &in, 1, &out, 1, &arguments, &error))
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
  bench->bytes = BYTES / step * step;
  bench->instance = astro_sideband_cpu.create(&bench->config, &(AstroPlace){ 0 }, &variant, &error);
  bench_pair(run_sideband, bench, run_memcpy, bench, 9, &ours, &limit);
  astro_sideband_cpu.destroy(bench->instance);
  bench_row(what, bench->bytes / ours * 1e-9, bench->bytes / limit * 1e-9, "GB/s", 0);
}

int main(int argc, char **argv)
{
  Bench bench = { .in = g_aligned_alloc(1, BYTES, 4096), .out = g_aligned_alloc(1, BYTES, 4096) };

  gst_init(&argc, &argv);
  memset(bench.in, 1, BYTES);
  memset(bench.out, 1, BYTES);
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
  g_aligned_free(bench.in);
  g_aligned_free(bench.out);
  return 0;
}
