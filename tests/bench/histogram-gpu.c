/* Pair counts on a GPU beside the CPU's of the same run: the catalogues of the graph tpacf-seed
 * (97,178 points and 100 random catalogues, 201 histograms, 10 regions) from memory to counts,
 * everything included that is done with a catalogue; and pairs of a million points one by one.
 * The argument "all" has the CPU count all catalogues too. */
#include "core/backend/threads.h"
#include "core/histogram/collect.h"
#include "tests/bench/bench.h"

#include <stdlib.h>
#include <string.h>

enum { POINTS = 97178, RANDOMS = 100, FEW = 2, REGIONS = 10 };

static AstroDevice *device;
static const AstroBackend *cuda;

static void find_device(void)
{
  GError *error = NULL;
  device = astro_device_open(0, &error);
  if (!device)
    g_error("%s", error->message);
  for (const AstroBackend *const *b = astro_module_get(NULL)->backends; *b; b++)
    if (g_str_equal((*b)->stage, "histogram"))
      cuda = *b;
}

static AstroCatalogue catalogue_new(guint64 n, guint64 seed)
{
  static const AstroFootprint half = { .ra_max = 360, .dec_max = 90 };
  AstroCatalogue catalogue;
  AstroRandom random;
  astro_random_init(&random, seed, 0);
  astro_catalogue_uniform(&half, n, &random, &catalogue, NULL);
  return catalogue;
}

static AstroHistogramConfig standard_bins(void)
{
  AstroHistogramConfig config = { 0 };
  astro_histogram_edges_per_decade(&config, 0.01, 10000, 5, NULL);
  return config;
}

/* ---- the graph's counts ---- */

typedef struct {
  const AstroCatalogue *data, *randoms;
  guint n_randoms;
  const AstroBackend *backend;
  guint64 *counts; /* of the last run */
  gsize bytes;
} Graph;

static void run_graph(gpointer user)
{
  static const gboolean is_there[ASTRO_N_SIDES] = { TRUE, TRUE };
  Graph *graph = user;
  AstroPlace place = { .device = graph->backend == cuda ? device : NULL };
  AstroHistogramConfig config = standard_bins();
  GError *error = NULL;
  config.n_regions = REGIONS;
  AstroCollector *collector =
      astro_collector_new(&config, is_there, graph->backend, &place, &error);
  gboolean good = collector && astro_collector_add_data(collector, graph->data, NULL, NULL, &error);
  for (guint r = 0; good && r < graph->n_randoms; r++)
    good = astro_collector_add_random(collector, &graph->randoms[r], NULL, NULL, &error);
  if (!good || !astro_collector_finish(collector, &error))
    g_error("%s", error->message);
  g_free(graph->counts);
  gconstpointer values = astro_collector_values(collector, &graph->bytes);
  graph->counts = g_memdup2(values, graph->bytes);
  astro_collector_free(collector);
}

static double seconds_once(Graph *graph)
{
  gint64 start = g_get_monotonic_time();
  run_graph(graph);
  return (double)(g_get_monotonic_time() - start) * 1e-6;
}

static double pairs_of(guint randoms)
{
  double n = POINTS, itself = n * (n - 1) / 2;
  return itself + randoms * (n * n + itself);
}

static void compare_graphs(const Graph *device_graph, const Graph *cpu_graph)
{
  gboolean equal = device_graph->bytes == cpu_graph->bytes &&
                   !memcmp(device_graph->counts, cpu_graph->counts, cpu_graph->bytes);
  printf("%u random catalogues: the device's counts are %s the CPU's\n", cpu_graph->n_randoms,
         equal ? "equal to" : "NOT");
}

static void bench_graph(gboolean all)
{
  AstroCatalogue data = catalogue_new(POINTS, 1), randoms[RANDOMS];
  for (guint r = 0; r < RANDOMS; r++)
    randoms[r] = catalogue_new(POINTS, 2 + r);
  Graph few = { &data, randoms, all ? RANDOMS : FEW, cuda }, by_cpu = few,
        graph = { &data, randoms, RANDOMS, cuda };
  by_cpu.backend = &astro_histogram_cpu;
  bench_head("tpacf-seed: 97,178 points, 10 regions, beside the CPU");
  double cpu = seconds_once(&by_cpu);
  seconds_once(&few);
  compare_graphs(&few, &by_cpu);
  double seconds = bench_seconds(run_graph, &graph, 3);
  g_autofree char *row = g_strdup_printf("201 histograms: %.3f s", seconds);
  bench_row(row, pairs_of(RANDOMS) / seconds * 1e-9, pairs_of(by_cpu.n_randoms) / cpu * 1e-9,
            "Gpairs/s", 0);
  bench_row("the same against the second that is asked", 1 / seconds, 1, "1/s", 1);
  g_free(few.counts);
  g_free(by_cpu.counts);
  g_free(graph.counts);
  astro_catalogue_clear(&data);
  for (guint r = 0; r < RANDOMS; r++)
    astro_catalogue_clear(&randoms[r]);
}

/* ---- counts alone ---- */

typedef struct {
  const AstroBackend *backend;
  gpointer instance;
  AstroPoints *points[2];
  guint n_in;
  guint64 counts[ASTRO_HISTOGRAM_MAX_EDGES];
} Work;

static void run_work(gpointer user)
{
  Work *work = user;
  GError *error = NULL;
  AstroBlock in[2] = { { work->points[0], 0 }, { work->points[1], 0 } },
             out = { work->counts, sizeof work->counts };
  if (!work->backend->submit(work->instance, in, work->n_in, &out, 1, NULL, &error) ||
      (work->backend->drain && !work->backend->drain(work->instance, &error)))
    g_error("%s", error->message);
}

static Work work_new(const AstroBackend *backend, AstroPairMethod method, guint64 n, guint n_in)
{
  AstroPlace place = { .device = backend == cuda ? device : NULL };
  AstroHistogramConfig config = standard_bins();
  const char *variant;
  config.method = method;
  Work work = { .backend = backend, .n_in = n_in };
  work.instance = backend->create(&config, &place, &variant, NULL);
  for (guint p = 0; p < n_in; p++) {
    AstroCatalogue catalogue = catalogue_new(n, 1 + p);
    work.points[p] =
        astro_points_new(catalogue.ra, catalogue.dec, NULL, NULL, catalogue.n, 0, 0, NULL);
    astro_catalogue_clear(&catalogue);
  }
  return work;
}

static void work_clear(Work *work)
{
  work->backend->destroy(work->instance);
  astro_points_free(work->points[0]);
  astro_points_free(work->points[1]);
}

static double pairs_a_second(Work *work, guint rounds)
{
  double n = (double)astro_points_count(work->points[0]);
  double pairs = work->n_in == 2 ? n * n : n * (n - 1) / 2;
  return pairs / bench_seconds(run_work, work, rounds) * 1e-9;
}

static void bench_count(AstroPairMethod method, guint64 n, guint n_in)
{
  static const char *const names[] = { "", "tree", "brute force" };
  guint64 small = MIN(n, 100000);
  Work on_device = work_new(cuda, method, n, n_in),
       on_cpu = work_new(&astro_histogram_cpu, method, small, n_in);
  double ours = pairs_a_second(&on_device, 3), cpu = pairs_a_second(&on_cpu, 1);
  g_autofree char *row = g_strdup_printf("%s, %" G_GUINT64_FORMAT " points, %s",
                                         n_in == 2 ? "DR" : "DD", n, names[method]);
  bench_row(row, ours, cpu, "Gpairs/s", 0);
  if (method == ASTRO_PAIR_METHOD_BRUTE && n >= 1000000)
    bench_row("the same against what is asked", ours, 1500, "Gpairs/s", 1);
  work_clear(&on_device);
  work_clear(&on_cpu);
}

int main(int argc, char **argv)
{
  find_device();
  printf("%s, %u threads\n", device->name, astro_threads());
  bench_graph(argc > 1 && g_str_equal(argv[1], "all"));
  bench_head("Counts alone, trees made, beside the CPU (of 100,000 points where there are more)");
  bench_count(ASTRO_PAIR_METHOD_TREE, POINTS, 1);
  bench_count(ASTRO_PAIR_METHOD_TREE, POINTS, 2);
  bench_count(ASTRO_PAIR_METHOD_TREE, 1000000, 1);
  bench_count(ASTRO_PAIR_METHOD_BRUTE, POINTS, 2);
  bench_count(ASTRO_PAIR_METHOD_BRUTE, 1000000, 1);
  astro_device_unref(device);
  return 0;
}
