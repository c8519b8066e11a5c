/* Blocks of 8 streams joined, beside memcpy of the same bytes by as many threads, in one run. */
#include <string.h>

#include "core/backend/threads.h"
#include "core/join/join.h"
#include "tests/bench/bench.h"

#define PADS 8
#define BYTES ((gsize)64 << 20) /* of all together */

typedef struct {
  AstroJoinConfig config;
  gpointer instance;
  guint8 *in, *out;
  gsize bytes;
  AstroJoinPiece pieces[PADS];
  AstroBlock blocks[PADS];
  AstroJoinArguments arguments;
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

static void run_join(gpointer data)
{
  Bench *bench = data;
  const AstroBlock out = { bench->out, bench->bytes };
  GError *error = NULL;
  if (!astro_join_cpu.submit(bench->instance, bench->blocks, PADS, &out, 1, &bench->arguments,
                             &error))
    g_error("%s", error->message);
}

static void measure(Bench *bench, const char *what, AstroAxis axis, const char *caps_text)
{
  g_autoptr(GstCaps) caps = gst_caps_from_string(caps_text);
  GError *error = NULL;
  const char *variant;
  double ours, limit;

  bench->config.axis = axis;
  if (!astro_stream_from_caps(&bench->config.out, caps, &error))
    g_error("%s", error->message);
  const gsize step = astro_stream_step_bytes(&bench->config.out);
  const guint64 steps = BYTES / step, extent = astro_stream_extent(&bench->config.out, axis) / PADS;
  bench->bytes = steps * step;
  bench->arguments = (AstroJoinArguments){ steps, bench->pieces };
  for (guint i = 0; i < PADS; i++) {
    bench->pieces[i] = (AstroJoinPiece){ i * extent, extent, steps, 0, steps, 0 };
    bench->blocks[i] = (AstroBlock){ bench->in + i * (bench->bytes / PADS), bench->bytes / PADS };
  }
  bench->instance = astro_join_cpu.create(&bench->config, &(AstroPlace){ 0 }, &variant, &error);
  if (!bench->instance)
    g_error("%s", error->message);
  bench_pair(run_join, bench, run_memcpy, bench, 9, &ours, &limit);
  astro_join_cpu.destroy(bench->instance);
  bench_row(what, bench->bytes / ours * 1e-9, bench->bytes / limit * 1e-9, "GB/s", 0.83);
}

int main(int argc, char **argv)
{
  Bench bench = { .in = g_aligned_alloc(1, BYTES, 4096), .out = g_aligned_alloc(1, BYTES, 4096) };

  gst_init(&argc, &argv);
  memset(bench.in, 1, BYTES);
  memset(bench.out, 1, BYTES);
  bench_head("join: 8 streams, 64 MiB together; limit: memcpy (at most 1.2 of its time)");
  measure(&bench, "CF32LE spectra, station:pol:time:channel, 8 x 8 stations", ASTRO_AXIS_STATION,
          "application/x-astro-spectra,format=CF32LE,layout=station:pol:time:channel,stations=64,"
          "pols=2,channels=256");
  measure(&bench, "CF32LE spectra, station:pol:time:channel, 8 x 32 channels", ASTRO_AXIS_CHANNEL,
          "application/x-astro-spectra,format=CF32LE,layout=station:pol:time:channel,stations=64,"
          "pols=2,channels=256");
  measure(&bench, "CI8 voltages, time:station:pol, 8 x 8 stations", ASTRO_AXIS_STATION,
          "application/x-astro-voltages,format=CI8,layout=time:station:pol,stations=64,pols=2");
  measure(&bench, "CI8 voltages, time:station:pol, 8 x 1 station", ASTRO_AXIS_STATION,
          "application/x-astro-voltages,format=CI8,layout=time:station:pol,stations=8,pols=2");
  measure(&bench, "CF32LE visibilities, 8 x 8 channels", ASTRO_AXIS_CHANNEL,
          "application/x-astro-visibilities,format=CF32LE,layout=channel:baseline:pol:pol,"
          "baselines=2080,channels=64,pols=2");
  g_aligned_free(bench.in);
  g_aligned_free(bench.out);
  return 0;
}
