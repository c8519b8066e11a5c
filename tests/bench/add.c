/* Adding streams, compared with memcpy of their data by as many threads, in one run. */
#include "core/add/add.h"
#include "tests/bench/bench.h"
#include "tests/bench/block.h"

#define STREAMS 4
#define BYTES ((gsize)64 << 20) /* of all streams together */

typedef struct {
  BenchBlocks both;
  AstroAddConfig config;
  gpointer instance;
  gsize bytes; /* of one stream */
  AstroAddPiece pieces[STREAMS];
  AstroBlock parts[STREAMS];
  AstroAddArguments arguments;
} Bench;

static void run_add(gpointer data)
{
  Bench *bench = data;
  const AstroBlock out = { bench->both.out, bench->bytes };
  GError *error = NULL;
  if (!astro_add_cpu.submit(bench->instance, bench->parts, STREAMS, &out, 1, &bench->arguments,
                            NULL, &error))
    g_error("%s", error->message);
}

/* counted: number of the layout's slowest axes over which there are counts. */
static void measure(Bench *bench, const char *what, const char *caps_text, guint counted)
{
  g_autoptr(GstCaps) caps = gst_caps_from_string(caps_text);
  g_autoptr(GstBuffer) buffer = gst_buffer_new();
  GError *error = NULL;
  const char *variant;
  double ours, limit;
  AstroLayout shape;

  if (!astro_stream_from_caps(&bench->config.stream, caps, &error))
    g_error("%s", error->message);
  const gsize step = astro_stream_step_bytes(&bench->config.stream);
  const guint64 steps = BYTES / STREAMS / step;
  bench->bytes = steps * step;
  bench->both.bytes = STREAMS * bench->bytes;
  bench->arguments = (AstroAddArguments){ steps, bench->pieces };
  astro_stream_shape(&bench->config.stream, steps, &shape);
  shape.n_axes = counted;
  const AstroValidityMeta *meta = counted ? astro_buffer_add_validity(buffer, &shape, 7) : NULL;
  for (guint i = 0; i < STREAMS; i++) {
    bench->pieces[i] = (AstroAddPiece){ steps, 0, steps, 0, meta, 7 };
    bench->parts[i] = (AstroBlock){ bench->both.in + i * bench->bytes, bench->bytes };
  }
  bench->instance = astro_add_cpu.create(&bench->config, &(AstroPlace){ 0 }, &variant, &error);
  if (!bench->instance)
    g_error("%s", error->message);
  bench_pair(run_add, bench, bench_memcpy, &bench->both, 9, &ours, &limit);
  astro_add_cpu.destroy(bench->instance);
  bench_row(what, STREAMS * bench->bytes / ours * 1e-9, STREAMS * bench->bytes / limit * 1e-9,
            "GB/s", 0);
}

#define VISIBILITIES                                                                               \
  "application/x-astro-visibilities,layout=channel:baseline:pol:pol,baselines=2080,channels=64,"   \
  "pols=2,"

int main(int argc, char **argv)
{
  Bench bench = { .both = bench_blocks(BYTES) };

  gst_init(&argc, &argv);
  bench_head("add: 4 streams, 64 MiB together; limit: memcpy");
  measure(&bench, "CF32LE means of visibilities, nothing lost", VISIBILITIES "format=CF32LE", 0);
  measure(&bench, "CF32LE means of visibilities, counts of baselines", VISIBILITIES "format=CF32LE",
          3);
  measure(&bench, "CI32LE sums of visibilities", VISIBILITIES "format=CI32LE,counts=true", 3);
  measure(&bench, "CF32LE grids of 1024 x 1024",
          "application/x-astro-uvgrid,layout=pol:v:u,pols=1,width=1024,height=1024,format=CF32LE",
          0);
  bench_blocks_free(&bench.both);
  return 0;
}
