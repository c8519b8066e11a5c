/* Imaging and cleaning beside a pass through the same memory, in one run; and images of planes that
 * are not transformed along v yet, beside doing the two one after the other. */
#include <math.h>

#include "core/backend/threads.h"
#include "core/clean/clean.h"
#include "core/lib/fft/lines.h"
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
                              NULL, &error))
    g_error("%s", error->message);
}

/* A plane is read, and an image read and written. */
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

/* The last pass of a transform in place, then the image: an image that transforms along v does both
 * in one. */
typedef struct {
  Bench image;
  const AstroFftPrecision *precision;
  AstroFftLines *lines;
  AstroFftPass passes[ASTRO_MAX_AXES];
} Unfused;

static void run_unfused(gpointer data)
{
  Unfused *unfused = data;
  unfused->precision->run(unfused->lines, &unfused->passes[1], unfused->image.in.data,
                          unfused->image.in.data, NULL, NULL, NULL, 0);
  run(&unfused->image);
}

static void make_unfused(Unfused *unfused, const AstroImageConfig *config)
{
  const guint64 size = config->grid.size, image = config->grid.image_size;
  const AstroFftAxis axis = { TRUE, size / 2, size / 2, size / 2 - image / 2, image };
  const AstroFftConfig transform = { .from = config->from,
                                     .to = config->from,
                                     .n_axes = 3,
                                     .extents = { config->n_in, size, size },
                                     .axes = { { FALSE }, axis, axis } };
  unfused->precision = config->from == ASTRO_FORMAT_CF64LE ? &astro_fft_double : &astro_fft_single;
  astro_fft_passes(&transform, 1, unfused->passes);
  unfused->lines =
      unfused->precision->create(&unfused->passes[1], FALSE, astro_transpose_kernels(), NULL);
}

static void fill(gpointer data, gsize bytes, gboolean is_double)
{
  for (gsize i = 0; i < bytes / (is_double ? 8 : 4); i++)
    if (is_double)
      ((double *)data)[i] = (double)(i * 2654435761u % 1024) / 1024 - 0.5;
    else
      ((float *)data)[i] = (float)(i * 2654435761u % 1024) / 1024 - 0.5f;
}

static void bench_fused(guint size, guint image, guint products, gboolean is_double)
{
  gsize cell = is_double ? 16 : 8, pixel = is_double ? 8 : 4;
  AstroImageConfig config = { .from = is_double ? ASTRO_FORMAT_CF64LE : ASTRO_FORMAT_CF32LE,
                              .to = is_double ? ASTRO_FORMAT_F64LE : ASTRO_FORMAT_F32LE,
                              .grid = { .size = size, .image_size = image, .pixel = 1e-4 },
                              .channels = 1,
                              .n_in = products,
                              .n_out = products };
  const double weights[] = { 1, 1, 1, 1 };
  AstroImageArguments arguments = { .w = 300, .w_step = 0, .weights = weights };
  AstroPlace place = { 0 };
  const char *variant;
  double ours, other, limit;
  for (guint i = 0; i < products; i++)
    config.products[i] = (AstroImageProduct){ "P", 1, { { i, FALSE, 1 } } };
  Unfused unfused = { { .backend = &astro_image_cpu,
                        .instance = astro_image_cpu.create(&config, &place, &variant, NULL),
                        .arguments = &arguments } };
  unfused.image.in.bytes = products * size * cell * size;
  unfused.image.in.data = bench_block(unfused.image.in.bytes);
  unfused.image.out.bytes = products * image * pixel * image;
  unfused.image.out.data = bench_block(unfused.image.out.bytes);
  make_unfused(&unfused, &config);
  config.transforms_v = TRUE;
  Bench fused = unfused.image;
  fused.instance = astro_image_cpu.create(&config, &place, &variant, NULL);
  fill(fused.in.data, fused.in.bytes, is_double);
  Traffic traffic = { fused.in.data, bench_block(fused.out.bytes),
                      products * (gsize)size * cell * image, fused.out.bytes };
  bench_pair(run, &fused, run_unfused, &unfused, ROUNDS, &ours, &other);
  limit = bench_seconds(run_traffic, &traffic, ROUNDS);
  g_autofree char *name =
      g_strdup_printf("%u products of %u, %u pixels, %s, columns and image, %s", products, size,
                      image, is_double ? "double" : "single", variant);
  bench_row(name, 1 / ours, 1 / other, "plane/s", is_double && products > 1 ? 1 / 0.6 : 0);
  bench_row("  the same beside the memory", 1 / ours, 1 / limit, "plane/s", 0);
  printf("  %.1f ms, one after the other %.1f ms, the memory %.1f ms\n", ours * 1e3, other * 1e3,
         limit * 1e3);
  unfused.precision->destroy(unfused.lines);
  astro_image_cpu.destroy(unfused.image.instance);
  astro_image_cpu.destroy(fused.instance);
  g_aligned_free(fused.in.data);
  g_aligned_free(fused.out.data);
  g_aligned_free(traffic.out);
}

/* An iteration reads the point-spread function and reads and writes the part inside the border. */
static void bench_clean(guint size)
{
  enum { ITERATIONS = 200 };
  AstroCleanConfig config = { .format = ASTRO_FORMAT_F32LE,
                              .size = size,
                              .in_size = size,
                              .channels = 1,
                              .products = 1,
                              .gain = 1e-3,
                              .iterations = ITERATIONS,
                              .border = size / 4,
                              .output = ASTRO_CLEAN_MODEL };
  AstroCleanArguments arguments = { 0, 0, 0 };
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

int main(int argc, char **argv)
{
  bench_head("planes to be transformed along v; limit: the transform in place, then the image");
  for (guint is_double = 0; is_double < 2; is_double++)
    for (guint products = 1; products <= 4; products += 3)
      bench_fused(5760, 4096, products, is_double);
  if (argc > 1)
    return 0;
  bench_head("images; limit: going through the same memory, both threads");
  for (guint is_double = 0; is_double < 2; is_double++) {
    bench_plane(1536, 1024, 300, is_double);
    bench_plane(4096, 3072, 300, is_double);
  }
  bench_clean(1024);
  bench_clean(2048);
  return 0;
}
