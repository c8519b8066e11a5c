/* Selecting, compared with memcpy of the bytes that are kept by as many threads, in one run. */
#include <string.h>

#include "core/select/select.h"
#include "tests/bench/bench.h"
#include "tests/bench/block.h"

#define BYTES ((gsize)64 << 20)

typedef struct {
  BenchBlocks both; /* bytes: those kept */
  AstroSelectConfig config;
  gpointer instance;
  guint64 steps;
} Bench;

static void run_select(gpointer data)
{
  Bench *bench = data;
  AstroSelectArguments arguments = { bench->steps };
  const AstroBlock in = { bench->both.in, BYTES }, out = { bench->both.out, bench->both.bytes };
  GError *error = NULL;
  if (!astro_select_cpu.submit(bench->instance, &in, 1, &out, 1, &arguments, NULL, &error))
    g_error("%s", error->message);
}

static void measure(Bench *bench, const char *what, const char *caps_text, AstroAxis axis,
                    const char *list_text)
{
  g_autoptr(GstCaps) caps = gst_caps_from_string(caps_text);
  GError *error = NULL;
  const char *variant;
  double ours, limit;

  memset(&bench->config, 0, sizeof bench->config);
  if (!astro_stream_from_caps(&bench->config.in, caps, &error))
    g_error("%s", error->message);
  const gint at = astro_layout_find(&bench->config.in.layout, axis);
  const guint64 extent = bench->config.in.layout.extents[at];
  const gboolean is_pairs = axis == ASTRO_AXIS_BASELINE;
  const AstroSelectFrom from = { "list",
                                 is_pairs ? astro_stream_stations(&bench->config.in) : extent,
                                 NULL };
  g_autoptr(GArray) list = astro_select_read_list(list_text, &from, &error);
  if (!list)
    g_error("%s", error->message);
  g_autoptr(GArray) kept =
      is_pairs ? astro_select_baselines(list, from.extent, FALSE) : g_array_ref(list);
  bench->config.pick[at] = (AstroSelectPick){ (gpointer)kept->data, kept->len };
  const gsize step = astro_stream_step_bytes(&bench->config.in);
  bench->steps = BYTES / step;
  bench->both.bytes = bench->steps * step / extent * kept->len;
  bench->instance = astro_select_cpu.create(&bench->config, &(AstroPlace){ 0 }, &variant, &error);
  if (!bench->instance)
    g_error("%s", error->message);
  bench_pair(run_select, bench, bench_memcpy, &bench->both, 9, &ours, &limit);
  astro_select_cpu.destroy(bench->instance);
  bench_row(what, bench->both.bytes / ours * 1e-9, bench->both.bytes / limit * 1e-9, "GB/s", 0.4);
}

#define VOLTAGES "application/x-astro-voltages,layout=time:station:pol,stations=64,pols=2,"
#define SPECTRA                                                                                    \
  "application/x-astro-spectra,format=CF32LE,layout=station:pol:time:channel,stations=64,pols=2,"  \
  "channels=256"
#define VISIBILITIES                                                                               \
  "application/x-astro-visibilities,format=CF32LE,layout=channel:baseline:pol:pol,"                \
  "baselines=2080,channels=64,pols=2"

int main(int argc, char **argv)
{
  Bench bench = { .both = bench_blocks(BYTES) };

  gst_init(&argc, &argv);
  bench_head("select: of blocks of 64 MiB; limit: memcpy of what is kept");
  measure(&bench, "CI8 voltages, half of 64 stations, a range", VOLTAGES "format=CI8",
          ASTRO_AXIS_STATION, "16-47");
  measure(&bench, "CI8 voltages, every other of 64 stations", VOLTAGES "format=CI8",
          ASTRO_AXIS_STATION, "0-62:2");
  measure(&bench, "CI8 voltages, one of 2 pols", VOLTAGES "format=CI8", ASTRO_AXIS_POL, "1");
  measure(&bench, "CF32LE spectra, half of 256 channels", SPECTRA, ASTRO_AXIS_CHANNEL, "64-191");
  measure(&bench, "CF32LE spectra, every other of 64 stations", SPECTRA, ASTRO_AXIS_STATION,
          "0-62:2");
  measure(&bench, "CF32LE visibilities, 32 of 64 stations", VISIBILITIES, ASTRO_AXIS_BASELINE,
          "0-62:2");
  bench_blocks_free(&bench.both);
  return 0;
}
