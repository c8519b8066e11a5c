/* Transposing, compared with memcpy of the same bytes by as many threads, in one run. */
#include <string.h>

#include "core/backend/threads.h"
#include "core/transpose/transpose.h"
#include "tests/bench/bench.h"
#include "tests/bench/block.h"

#define ROUNDS 5
#define MAX_BYTES (96u << 20)

typedef struct {
  const AstroTransposeConfig *config;
  gpointer instance;
  guint8 *in, *out;
  gsize bytes;
} Bench;

static void copy_share(gpointer data, guint64 task)
{
  const Bench *bench = data;
  gsize n = astro_threads(), start = bench->bytes * task / n, end = bench->bytes * (task + 1) / n;
  memcpy(bench->out + start, bench->in + start, end - start);
}

static void run_memcpy(gpointer data)
{
  astro_parallel(astro_threads(), 0, copy_share, data);
}

static void run_transpose(gpointer data)
{
  Bench *bench = data;
  AstroBlock in = { bench->in, bench->bytes }, out = { bench->out, bench->bytes };
  GError *error = NULL;
  if (!astro_transpose_cpu.submit(bench->instance, &in, 1, &out, 1, (gpointer)bench->config, NULL,
                                  &error))
    g_error("%s", error->message);
}

typedef struct {
  double achieved, limit; /* GB/s, by the block's size */
} Figure;

static Figure measure(Bench *bench, const AstroTransposeConfig *config, guint rounds)
{
  double ours, limit;
  bench->config = config;
  bench->bytes = config->sample_bytes;
  for (guint i = 0; i < config->n_axes; i++)
    bench->bytes *= config->extents[i];
  g_assert_cmpuint(bench->bytes, <=, MAX_BYTES);
  bench_pair(run_transpose, bench, run_memcpy, bench, rounds, &ours, &limit);
  return (Figure){ bench->bytes / ours * 1e-9, bench->bytes / limit * 1e-9 };
}

/* station:pol:time:channel of 64 stations and 2 pols in 64 MiB, to the orders that correlators
 * need. */
static void bench_correlator_orders(Bench *bench)
{
  static const struct {
    const char *name;
    guint order[4];
  } orders[] = { { "channel:time:station:pol", { 3, 2, 0, 1 } },
                 { "channel:station:pol:time", { 3, 0, 1, 2 } } };
  bench_head("transpose from station:pol:time:channel, 128 inputs, 64 MiB; limit: memcpy");
  for (guint o = 0; o < G_N_ELEMENTS(orders); o++)
    for (gsize sample = 2; sample <= 8; sample *= 4)
      for (guint64 channels = 64; channels <= 1024; channels *= 2) {
        AstroTransposeConfig config = { 4, { 64, 2, 0, channels }, { 0 }, sample };
        memcpy(config.order, orders[o].order, sizeof orders[o].order);
        config.extents[2] = (64 << 20) / (128 * channels * sample);
        Figure figure = measure(bench, &config, ROUNDS);
        g_autofree char *name =
            g_strdup_printf("%s, %" G_GSIZE_FORMAT " bytes, %" G_GUINT64_FORMAT " channels",
                            orders[o].name, sample, channels);
        bench_row(name, figure.achieved, figure.limit, "GB/s", 0.7);
      }
}

/* Blocks of about 64 MiB: an extent of 0 is chosen to fill them. */
static const guint64 shapes[][4] = {
  { 8, 8, 8, 0 },    { 0, 8, 8, 8 },    { 9, 9, 0, 9 },
  { 33, 65, 0, 17 }, { 64, 64, 64, 0 }, { 101, 103, 0, 65 },
};

static void bench_all_orders(Bench *bench)
{
  bench_head("transpose, the slowest of all orders of four axes, about 64 MiB; limit: memcpy");
  for (guint s = 0; s < G_N_ELEMENTS(shapes); s++)
    for (gsize sample = 1; sample <= 16; sample *= 2) {
      AstroTransposeConfig config = { .n_axes = 4, .sample_bytes = sample }, slowest = config;
      Figure worst = { 1, 0 };
      guint64 known = sample;
      for (guint i = 0; i < 4; i++)
        known *= shapes[s][i] ? shapes[s][i] : 1;
      for (guint i = 0; i < 4; i++)
        config.extents[i] = shapes[s][i] ? shapes[s][i] : MAX(8, (64 << 20) / known);
      for (guint code = 0; code < 256; code++) {
        guint seen = 0;
        for (guint i = 0; i < 4; i++)
          seen |= 1u << (config.order[i] = code >> 2 * i & 3);
        if (seen != 15)
          continue;
        Figure figure = measure(bench, &config, 1);
        if (figure.achieved * worst.limit < worst.achieved * figure.limit || !worst.limit) {
          worst = figure;
          slowest = config;
        }
      }
      worst = measure(bench, &slowest, ROUNDS);
      const guint64 *extents = slowest.extents;
      const guint *order = slowest.order;
      g_autofree char *name =
          g_strdup_printf("%" G_GSIZE_FORMAT " bytes, %" G_GUINT64_FORMAT " x %" G_GUINT64_FORMAT
                          " x %" G_GUINT64_FORMAT " x %" G_GUINT64_FORMAT ", order %u %u %u %u",
                          sample, extents[0], extents[1], extents[2], extents[3], order[0],
                          order[1], order[2], order[3]);
      bench_row(name, worst.achieved, worst.limit, "GB/s", 0.4);
    }
}

int main(void)
{
  AstroTransposeConfig config = { 1, { 1 }, { 0 }, 1 };
  AstroPlace place = { 0 };
  const char *variant = NULL;
  GError *error = NULL;
  Bench bench = { .in = bench_block(MAX_BYTES), .out = bench_block(MAX_BYTES) };

  bench.instance = astro_transpose_cpu.create(&config, &place, &variant, &error);
  if (!bench.instance)
    g_error("%s", error->message);
  printf("transpose: cpu/%s, %u threads\n", variant, astro_threads());
  bench_correlator_orders(&bench);
  bench_all_orders(&bench);
  astro_transpose_cpu.destroy(bench.instance);
  g_aligned_free(bench.in);
  g_aligned_free(bench.out);
  return 0;
}
