/* Imaging and cleaning beside the memory that they have to go through, in one run. */
#include <math.h>

#include "core/backend/threads.h"
#include "core/clean/clean.h"
#include "core/image/image.h"
#include "tests/bench/bench.h"
#include "tests/bench/block.h"

#define ROUNDS 5

typedef struct {
  const AstroBackend *backend;
  gpointer instance, arguments;
  AstroBlock in, out;
} Bench;

static void run(gpointer data)
{
  Bench *bench = data;
  GError *error = NULL;
  if (!bench->backend->submit(bench->instance, &bench->in, 1, &bench->out, 1, bench->arguments,
                              &error))
    g_error("%s", error->message);
}

/* A plane read and an image read and written. */
typedef struct {
  const guint8 *in;
  guint8 *out;
  gsize in_bytes, out_bytes;
} Traffic;

static void go_through(gpointer data, guint64 task)
{
  const Traffic *traffic = data;
  gsize n = 4 * astro_threads(), in = traffic->in_bytes / n / 64 * 64;
  gsize out = traffic->out_bytes / n / 64 * 64;
  const guint64 *from = (const guint64 *)(traffic->in + task * in);
  guint64 *to = (guint64 *)(traffic->out + task * out), sum = 0;
  for (gsize i = 0; i < in / 8; i++)
    sum += from[i];
  for (gsize i = 0; i < out / 8; i++)
    to[i] += sum;
}

static void run_traffic(gpointer data)
{
  astro_parallel(4 * astro_threads(), 0, go_through, data);
}

static void bench_plane(guint size, guint image, double w, gboolean is_double)
{
  gsize cell = is_double ? 16 : 8, pixel = is_double ? 8 : 4;
  AstroImageConfig config = { .from = is_double ? ASTRO_FORMAT_CF64LE : ASTRO_FORMAT_CF32LE,
                              .to = is_double ? ASTRO_FORMAT_F64LE : ASTRO_FORMAT_F32LE,
                              .grid = { .size = size, .image_size = image, .pixel = 1e-4 },
                              .channels = 1,
                              .n_in = 1,
                              .n_out = 1,
                              .products = { { "I", 1, { { 0, FALSE, 1 } } } } };
  double weight = 1, ours, limit;
  AstroImageArguments arguments = { .w = w, .w_step = 0, .weights = &weight };
  AstroPlace place = { 0 };
  const char *variant;
  Bench bench = { .backend = &astro_image_cpu,
                  .instance = astro_image_cpu.create(&config, &place, &variant, NULL),
                  .arguments = &arguments,
                  .in = { bench_block(size * cell * size), size * cell * size },
                  .out = { bench_block(image * pixel * image), image * pixel * image } };
  Traffic traffic = { bench.in.data, bench_block(bench.out.bytes), image * cell * image,
                      bench.out.bytes };
  bench_pair(run, &bench, run_traffic, &traffic, ROUNDS, &ours, &limit);
  g_autofree char *name = g_strdup_printf("a w-plane of %u, %u pixels, %s, %s", size, image,
                                          is_double ? "double" : "single", variant);
  bench_row(name, (double)image * image / ours * 1e-6, (double)image * image / limit * 1e-6,
            "Mpixel/s", 0);
  astro_image_cpu.destroy(bench.instance);
  g_aligned_free(bench.in.data);
  g_aligned_free(bench.out.data);
  g_aligned_free(traffic.out);
}

/* An iteration reads the point-spread function and reads and writes the part inside the border. */
static void bench_clean(guint size)
{
  enum { ITERATIONS = 200 };
  AstroCleanConfig config = { .format = ASTRO_FORMAT_F32LE,
                              .size = size,
                              .channels = 1,
                              .products = 1,
                              .gain = 1e-3,
                              .iterations = ITERATIONS,
                              .border = size / 4,
                              .output = ASTRO_CLEAN_MODEL };
  AstroCleanResult result;
  AstroCleanArguments arguments = { 0, 0, 0, &result };
  AstroPlace place = { 0 };
  const char *variant;
  gsize pixels = (gsize)size * size;
  double ours, limit;
  Bench bench = { .backend = &astro_clean_cpu,
                  .instance = astro_clean_cpu.create(&config, &place, &variant, NULL),
                  .arguments = &arguments,
                  .in = { bench_block(2 * pixels * 4), 2 * pixels * 4 },
                  .out = { bench_block(pixels * 4), pixels * 4 } };
  float *values = bench.in.data;
  for (gsize i = 0; i < pixels; i++)
    values[i] = (float)sin((double)i * 0.001);
  values[pixels + pixels / 2 + size / 2] = 1;
  Traffic traffic = { bench.in.data, bench.out.data, pixels, pixels };
  bench_pair(run, &bench, run_traffic, &traffic, ROUNDS, &ours, &limit);
  g_autofree char *name = g_strdup_printf("cycles of %u pixels, %s", size, variant);
  bench_row(name, ITERATIONS / ours, 1 / limit, "cycle/s", 0);
  astro_clean_cpu.destroy(bench.instance);
  g_aligned_free(bench.in.data);
  g_aligned_free(bench.out.data);
}

int main(void)
{
  bench_head("images; limit: going through the same memory, both threads");
  for (guint is_double = 0; is_double < 2; is_double++) {
    bench_plane(1536, 1024, 300, is_double);
    bench_plane(4096, 3072, 300, is_double);
  }
  bench_clean(1024);
  bench_clean(2048);
  return 0;
}
