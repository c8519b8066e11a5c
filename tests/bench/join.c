/* Joining blocks of 8 streams, compared with memcpy of the same bytes by as many threads, in one
 * run. */
#include "core/join/join.h"
#include "tests/bench/bench.h"
#include "tests/bench/block.h"

#define PADS 8
#define BYTES ((gsize)64 << 20) /* of all streams together */

typedef struct {
  BenchBlocks both;
  AstroJoinConfig config;
  gpointer instance;
  AstroJoinPiece pieces[PADS];
  AstroBlock parts[PADS];
  AstroJoinArguments arguments;
} Bench;

static void run_join(gpointer data)
{
  Bench *bench = data;
  const AstroBlock out = { bench->both.out, bench->both.bytes };
  GError *error = NULL;
  if (!astro_join_cpu.submit(bench->instance, bench->parts, PADS, &out, 1, &bench->arguments, NULL,
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
  bench->both.bytes = steps * step;
  bench->arguments = (AstroJoinArguments){ steps, bench->pieces };
  for (guint i = 0; i < PADS; i++) {
    bench->pieces[i] = (AstroJoinPiece){ i * extent, extent, steps, 0, steps, 0 };
    bench->parts[i] =
        (AstroBlock){ bench->both.in + i * (bench->both.bytes / PADS), bench->both.bytes / PADS };
  }
  bench->instance = astro_join_cpu.create(&bench->config, &(AstroPlace){ 0 }, &variant, &error);
  if (!bench->instance)
    g_error("%s", error->message);
  bench_pair(run_join, bench, bench_memcpy, &bench->both, 9, &ours, &limit);
  astro_join_cpu.destroy(bench->instance);
  bench_row(what, bench->both.bytes / ours * 1e-9, bench->both.bytes / limit * 1e-9, "GB/s", 0.83);
}

int main(int argc, char **argv)
{
  Bench bench = { .both = bench_blocks(BYTES) };

  gst_init(&argc, &argv);
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
  bench_blocks_free(&bench.both);
  return 0;
}
