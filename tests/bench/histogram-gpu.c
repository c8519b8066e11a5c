/* Pair counts on a GPU beside the CPU's in the same run: the catalogues of the graph tpacf-seed
 * (97,178 points and 100 random catalogues, 201 histograms, 10 regions) from memory to counts, with
 * all that is done with a catalogue; and pairs of a million points, method by method. With the
 * argument "all" the CPU counts all catalogues too; "huge" only counts pairs within 6 arcsec among
 * 1e8 points, in 10 GB of memory. */
#include "core/backend/module.h"
#include "core/backend/threads.h"
#include "core/lib/catalogue/catalogue.h"
#include "core/histogram/histogram.h"
#include "tests/bench/bench.h"
#include "tests/bench/play.h"

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
  cuda = astro_module_backend("histogram");
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

/* ---- the graph ---- */

typedef struct {
  GstBuffer *data, *randoms[RANDOMS];
  guint n_randoms;
  const char *backend;
  guint64 *counts; /* of the last run */
  gsize bytes;
} Graph;

static GstBuffer *buffer_new(guint64 seed)
{
  AstroCatalogue catalogue = catalogue_new(POINTS, seed);
  gsize bytes = POINTS * sizeof(double);
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, 2 * bytes, NULL);
  gst_buffer_fill(buffer, 0, catalogue.ra, bytes);
  gst_buffer_fill(buffer, bytes, catalogue.dec, bytes);
  astro_catalogue_clear(&catalogue);
  return buffer;
}

static void keep_counts(GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer user)
{
  Graph *graph = user;
  g_free(graph->counts);
  graph->bytes = gst_buffer_get_size(buffer);
  graph->counts = g_malloc(graph->bytes);
  gst_buffer_extract(buffer, 0, graph->counts, graph->bytes);
}

static void feed(GstElement *pipeline, const char *name, GstBuffer **buffers, guint n)
{
  GstFlowReturn flow;
  GstElement *source = gst_bin_get_by_name(GST_BIN(pipeline), name);
  for (guint i = 0; i < n; i++)
    g_signal_emit_by_name(source, "push-buffer", buffers[i], &flow);
  g_signal_emit_by_name(source, "end-of-stream", &flow);
  gst_object_unref(source);
}

static void run_graph(gpointer user)
{
#define SOURCE                                                                                     \
  "format=time caps=application/x-astro-catalogue,format=F64LE,layout=column:point,columns=ra:dec"
  Graph *graph = user;
  g_autofree char *line = g_strdup_printf(
      "astrohistogram name=pairs min-angle=0.01 max-angle=10000 bins-per-decade=5 regions=%d "
      "backend=%s ! fakesink name=sink signal-handoffs=true "
      "appsrc name=data " SOURCE " ! pairs.data appsrc name=randoms " SOURCE " ! pairs.random",
      REGIONS, graph->backend);
  GstElement *pipeline = bench_parse(line);
  GstElement *sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  g_signal_connect(sink, "handoff", G_CALLBACK(keep_counts), graph);
  gst_object_unref(sink);
  feed(pipeline, "data", &graph->data, 1);
  feed(pipeline, "randoms", graph->randoms, graph->n_randoms);
  bench_play(pipeline);
  bench_stop(pipeline);
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
  Graph graph = { .data = buffer_new(1), .n_randoms = RANDOMS, .backend = "cuda" };
  for (guint r = 0; r < RANDOMS; r++)
    graph.randoms[r] = buffer_new(2 + r);
  Graph few = graph;
  few.n_randoms = all ? RANDOMS : FEW;
  Graph by_cpu = few;
  by_cpu.backend = "cpu";
  bench_head("tpacf-seed from memory: 97,178 points, 10 regions, beside the CPU");
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
  gst_buffer_unref(graph.data);
  for (guint r = 0; r < RANDOMS; r++)
    gst_buffer_unref(graph.randoms[r]);
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
  if (!work->backend->submit(work->instance, in, work->n_in, &out, 1, NULL, NULL, &error) ||
      (work->backend->drain && !work->backend->drain(work->instance, NULL, &error)))
    g_error("%s", error->message);
}

static AstroPoints *points_new(guint64 n, guint64 seed)
{
  AstroCatalogue catalogue = catalogue_new(n, seed);
  AstroPoints *points =
      astro_points_new(catalogue.ra, catalogue.dec, NULL, NULL, catalogue.n, 0, 0, NULL, NULL);
  astro_catalogue_clear(&catalogue);
  return points;
}

static Work work_new(const AstroBackend *backend, const AstroHistogramConfig *config)
{
  AstroPlace place = { .device = backend == cuda ? device : NULL };
  const char *variant;
  Work work = { .backend = backend, .n_in = 1 };
  work.instance = backend->create(config, &place, &variant, NULL);
  return work;
}

static Work work_with(const AstroBackend *backend, AstroPairMethod method, guint64 n, guint n_in)
{
  AstroHistogramConfig config = standard_bins();
  config.method = method;
  Work work = work_new(backend, &config);
  work.n_in = n_in;
  for (guint p = 0; p < n_in; p++)
    work.points[p] = points_new(n, 1 + p);
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
  Work on_device = work_with(cuda, method, n, n_in),
       on_cpu = work_with(&astro_histogram_cpu, method, small, n_in);
  double ours = pairs_a_second(&on_device, 3), cpu = pairs_a_second(&on_cpu, 1);
  g_autofree char *row = g_strdup_printf("%s, %" G_GUINT64_FORMAT " points, %s",
                                         n_in == 2 ? "DR" : "DD", n, names[method]);
  bench_row(row, ours, cpu, "Gpairs/s", 0);
  if (method == ASTRO_PAIR_METHOD_BRUTE && n >= 1000000)
    bench_row("the same against what is asked", ours, 1500, "Gpairs/s", 1);
  work_clear(&on_device);
  work_clear(&on_cpu);
}

/* Both count the same points. */
static void bench_huge(void)
{
  enum { N = 100000000 };
  AstroHistogramConfig config = { .n_edges = 3, .edges = { 0.01, 0.03, 0.1 } };
  Work on_device = work_new(cuda, &config), on_cpu = work_new(&astro_histogram_cpu, &config);
  gint64 start = g_get_monotonic_time();
  on_device.points[0] = points_new(N, 1);
  double making = (double)(g_get_monotonic_time() - start) * 1e-6;
  on_cpu.points[0] = on_device.points[0];
  start = g_get_monotonic_time();
  run_work(&on_device);
  double first = (double)(g_get_monotonic_time() - start) * 1e-6;
  double ours = pairs_a_second(&on_device, 3), cpu = pairs_a_second(&on_cpu, 3);
  g_autofree char *title = g_strdup_printf(
      "Within 6\", points drawn and made ready in %.1f s, sent up and counted in %.2f s the "
      "first time; beside the CPU",
      making, first);
  bench_head(title);
  bench_row("DD, 100000000 points, tree", ours, cpu, "Gpairs/s", 0);
  on_cpu.points[0] = NULL;
  work_clear(&on_device);
  work_clear(&on_cpu);
}

int main(int argc, char **argv)
{
  gst_init(&argc, &argv);
  find_device();
  printf("%s, %u threads\n", device->name, astro_threads());
  if (argc > 1 && g_str_equal(argv[1], "huge")) {
    bench_huge();
    astro_device_unref(device);
    return 0;
  }
  bench_graph(argc > 1 && g_str_equal(argv[1], "all"));
  bench_head("Counts alone, trees made, beside the CPU (of 100,000 points where there are more)");
  bench_count(ASTRO_PAIR_METHOD_TREE, POINTS, 1);
  bench_count(ASTRO_PAIR_METHOD_TREE, POINTS, 2);
  bench_count(ASTRO_PAIR_METHOD_TREE, 1000000, 1);
  bench_count(ASTRO_PAIR_METHOD_TREE, 10000000, 1);
  bench_count(ASTRO_PAIR_METHOD_BRUTE, POINTS, 2);
  bench_count(ASTRO_PAIR_METHOD_BRUTE, 1000000, 1);
  astro_device_unref(device);
  return 0;
}
