/* From columns in host memory to counts within a degree, with points ordered by the GPU: beside
 * ordering them on the host and the count alone. Each size is the argument of a row; more than 1e8
 * points are held to a plain loop over a few of them and to the number expected. */
#include "core/backend/module.h"
#include "core/backend/threads.h"
#include "core/histogram/histogram.h"
#include "core/lib/catalogue/catalogue.h"
#include "tests/bench/bench.h"

#include <math.h>

enum { FEW = 16, SIZE_MADE_ON_HOST = 100000000 };

typedef struct {
  const AstroBackend *backend;
  gpointer instance;
  AstroCatalogue catalogue;
  AstroPoints *points;
  guint64 counts[ASTRO_HISTOGRAM_MAX_EDGES];
} Work;

static void fail(const GError *error)
{
  if (error)
    g_error("%s", error->message);
}

static void count(Work *work, AstroPoints *few, guint64 *counts)
{
  GError *error = NULL;
  const AstroBlock in[2] = { { few ? few : work->points, 0 }, { work->points, 0 } },
                   out = { counts, sizeof work->counts };
  if (work->backend->submit(work->instance, in, few ? 2 : 1, &out, 1, NULL, NULL, &error))
    work->backend->drain(work->instance, NULL, &error);
  fail(error);
}

static void hold(Work *work)
{
  GError *error = NULL;
  const AstroCatalogue *c = &work->catalogue;
  work->points = astro_points_held(c->ra, c->dec, NULL, NULL, c->n, 0, 0, &error);
  fail(error);
}

static void count_again(gpointer work)
{
  count(work, NULL, ((Work *)work)->counts);
}

static void order_and_count(gpointer data)
{
  Work *work = data;
  astro_points_free(work->points);
  hold(work);
  count_again(work);
}

static void order_on_host(gpointer data)
{
  const AstroCatalogue *c = data;
  GError *error = NULL;
  astro_points_free(astro_points_new(c->ra, c->dec, NULL, NULL, c->n, 0, 0, NULL, &error));
  fail(error);
}

typedef struct {
  const Work *work;
  const AstroHistogramConfig *config;
  double x[FEW], y[FEW], z[FEW];
  guint64 counts[FEW][ASTRO_HISTOGRAM_MAX_EDGES];
} Loop;

/* One point with all, by the bin rule. */
static void loop_over(gpointer data, guint64 i)
{
  Loop *loop = data;
  const AstroCatalogue *c = &loop->work->catalogue;
  const guint n_edges = loop->config->n_edges;
  double squares[ASTRO_HISTOGRAM_MAX_EDGES];
  for (guint k = 0; k < n_edges; k++)
    squares[k] = astro_chord_square(loop->config->edges[k]);
  for (guint64 j = 0; j < c->n; j++) {
    double x, y, z;
    if (fabs(c->dec[j] - c->dec[i]) > 1.01)
      continue;
    astro_unit_vector(c->ra[j], c->dec[j], &x, &y, &z);
    const double dx = loop->x[i] - x, dy = loop->y[i] - y, dz = loop->z[i] - z;
    const double square = (dx * dx + dy * dy) + dz * dz;
    for (guint k = 0; k + 1 < n_edges; k++)
      loop->counts[i][k] += square >= squares[k] && square < squares[k + 1];
  }
}

static void check_few(Work *work, const AstroHistogramConfig *config)
{
  const AstroCatalogue *c = &work->catalogue;
  GError *error = NULL;
  g_autoptr(AstroPoints) few = astro_points_held(c->ra, c->dec, NULL, NULL, FEW, 0, 0, &error);
  fail(error);
  Loop *loop = g_new0(Loop, 1);
  loop->work = work;
  loop->config = config;
  for (guint i = 0; i < FEW; i++)
    astro_unit_vector(c->ra[i], c->dec[i], &loop->x[i], &loop->y[i], &loop->z[i]);
  astro_parallel(FEW, 0, loop_over, loop);
  guint64 found[ASTRO_HISTOGRAM_MAX_EDGES];
  count(work, few, found);
  for (guint k = 0; k + 1 < config->n_edges; k++) {
    guint64 expected = 0;
    for (guint i = 0; i < FEW; i++)
      expected += loop->counts[i][k];
    if (found[k] != expected)
      g_error("bin %u of %d points with all: %" G_GUINT64_FORMAT ", expected %" G_GUINT64_FORMAT, k,
              FEW, found[k], expected);
  }
  g_free(loop);
  printf("%d of them with all: equal to a plain loop\n", FEW);
}

/* Even points on the whole sphere: within six deviations. */
static void check_expected(const Work *work, const AstroHistogramConfig *config)
{
  const double n = (double)work->catalogue.n;
  double worst = 0;
  for (guint k = 0; k + 1 < config->n_edges; k++) {
    const double mean =
        n * (n - 1) / 8 *
        (astro_chord_square(config->edges[k + 1]) - astro_chord_square(config->edges[k]));
    worst = MAX(worst, fabs((double)work->counts[k] - mean) / sqrt(mean + 1));
  }
  printf("counts are within %.1f deviations of those expected\n", worst);
  if (worst > 6)
    g_error("counts are not those of even points");
}

static void bench_size(Work *work, const AstroHistogramConfig *config, guint64 n)
{
  static const AstroFootprint sky = { .ra_max = 360, .dec_min = -90, .dec_max = 90 };
  const gboolean is_large = n > SIZE_MADE_ON_HOST;
  GError *error = NULL;
  AstroRandom random;
  const gint64 began = g_get_monotonic_time();
  astro_random_init(&random, 1, 0);
  astro_catalogue_uniform(&sky, n, &random, &work->catalogue, &error);
  fail(error);
  hold(work);
  printf("points made and checked by the host in %.2f s\n",
         (double)(g_get_monotonic_time() - began) * 1e-6);
  const gint64 start = g_get_monotonic_time();
  count_again(work);
  const double first = (double)(g_get_monotonic_time() - start) * 1e-6;
  printf("%" G_GUINT64_FORMAT " points: the first time %.2f ms", n, first * 1e3);
  if (!is_large)
    printf(", all included %.2f ms, count alone %.2f ms, ordered by the host %.2f ms",
           bench_seconds(order_and_count, work, 3) * 1e3, bench_seconds(count_again, work, 3) * 1e3,
           bench_seconds(order_on_host, &work->catalogue, 1) * 1e3);
  printf("\n");
  check_expected(work, config);
  check_few(work, config);
  g_clear_pointer(&work->points, astro_points_free);
  astro_catalogue_clear(&work->catalogue);
}

int main(int argc, char **argv)
{
  GError *error = NULL;
  gst_init(&argc, &argv);
  AstroPlace place = { .device = astro_device_open(0, &error) };
  fail(error);
  AstroHistogramConfig config = { 0 };
  const char *variant;
  astro_histogram_edges_per_decade(&config, 0.06, 60, 5, &error);
  fail(error);
  Work *work = g_new0(Work, 1);
  work->backend = astro_module_backend("histogram");
  work->instance = work->backend->create(&config, &place, &variant, &error);
  fail(error);
  setvbuf(stdout, NULL, _IOLBF, 0);
  printf("%s, %u threads\n", place.device->name, astro_threads());
  for (int i = 1; i < argc; i++)
    bench_size(work, &config, g_ascii_strtoull(argv[i], NULL, 10));
  for (guint i = 0; argc == 1 && i < 3; i++)
    bench_size(work, &config, (guint64[]){ 97178, 1000000, 10000000 }[i]);
  work->backend->destroy(work->instance);
  g_free(work);
  astro_device_unref(place.device);
  return 0;
}
