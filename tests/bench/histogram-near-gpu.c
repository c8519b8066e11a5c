/* Pairs that are looked at one by one, on a GPU beside the CPU's in the same run: in space and of
 * shears, of a million points whose trees are made. */
#include "core/backend/module.h"
#include "core/histogram/fields.h"
#include "core/lib/catalogue/catalogue.h"
#include "core/lib/catalogue/distance.h"
#include "tests/bench/bench.h"

#include <string.h>

enum { POINTS = 1000000 };

typedef struct {
  const AstroBackend *backend;
  gpointer instance;
  AstroPoints *points;
  const AstroHistogramConfig *config;
  guint64 *counts;
  double *sums;
} Work;

static void run_work(gpointer user)
{
  const Work *work = user;
  GError *error = NULL;
  const AstroBlock in = { work->points, 0 }, out[2] = {
    { work->counts, astro_histogram_values(work->config) * sizeof *work->counts },
    { work->sums, astro_histogram_sums(work->config) * sizeof *work->sums }
  };
  if (!work->backend->submit(work->instance, &in, 1, out, work->config->weighted ? 2 : 1, NULL,
                             NULL, &error) ||
      (work->backend->drain && !work->backend->drain(work->instance, NULL, &error)))
    g_error("%s", error->message);
}

static Work work_new(const AstroBackend *backend, AstroDevice *device, AstroPoints *points,
                     const AstroHistogramConfig *config)
{
  const AstroPlace place = { .device = device };
  const char *variant;
  Work work = { .backend = backend, .points = points, .config = config };
  work.instance = backend->create(config, &place, &variant, NULL);
  work.counts = g_new(guint64, astro_histogram_values(config));
  work.sums = g_new(double, astro_histogram_sums(config));
  return work;
}

static void work_clear(Work *work)
{
  work->backend->destroy(work->instance);
  g_free(work->counts);
  g_free(work->sums);
}

/* Even in volume and with shears of any size; distances as in a survey. */
static AstroPoints *points_of(const AstroHistogramConfig *config)
{
  static const AstroFootprint band = { .ra_min = 0, .ra_max = 90, .dec_min = 0, .dec_max = 60 };
  AstroCatalogue made;
  AstroRandom random;
  GError *error = NULL;
  g_autofree double *distance = g_new(double, POINTS), *g1 = g_new(double, POINTS),
                    *g2 = g_new(double, POINTS);
  astro_random_init(&random, 1, 0);
  astro_catalogue_uniform(&band, POINTS, &random, &made, NULL);
  for (guint i = 0; i < POINTS; i++) {
    distance[i] = astro_random_distance(&random, 1000, 2400);
    g1[i] = distance[i] / 1700 - 1;
    g2[i] = distance[POINTS - 1 - i] / 1700 - 1;
  }
  const gboolean in_space = config->kind != ASTRO_BINNING_ANGULAR;
  const PointColumns columns = {
    .n = POINTS, .ra = made.ra, .dec = made.dec, .distance = in_space ? distance : NULL
  };
  const FieldColumns fields = { .g1 = g1, .g2 = g2 };
  AstroPoints *points =
      in_space ? points_new(&columns, 0, 0, NULL, NULL, NULL, &error)
               : points_with_fields(&columns, &fields, ASTRO_CARRIED_SHEAR, 0, 0, NULL, &error);
  g_assert_no_error(error);
  astro_catalogue_clear(&made);
  return points;
}

static void bench_kind(AstroDevice *device, const char *name, const AstroHistogramConfig *config)
{
  AstroPoints *points = points_of(config);
  Work ours = work_new(astro_module_backend("histogram"), device, points, config),
       cpu = work_new(&astro_histogram_cpu, NULL, points, config);
  const double seconds = bench_seconds(run_work, &ours, 3),
               cpu_seconds = bench_seconds(run_work, &cpu, 1);
  double pairs = 0;
  for (gsize k = 0; k < astro_histogram_values(config); k++) {
    if (ours.counts[k] != cpu.counts[k])
      g_error("%s: the device's counts are not the CPU's", name);
    pairs += (double)cpu.counts[k];
  }
  g_autofree char *row = g_strdup_printf("%s: %.1f ms", name, seconds * 1e3);
  bench_row(row, pairs / seconds * 1e-9, pairs / cpu_seconds * 1e-9, "Gpairs/s in bins", 0);
  work_clear(&ours);
  work_clear(&cpu);
  astro_points_free(points);
}

int main(void)
{
  GError *error = NULL;
  g_autoptr(AstroDevice) device = astro_device_open(0, &error);
  if (!device)
    g_error("%s", error->message);
  AstroHistogramConfig smu = { .kind = ASTRO_BINNING_SMU, .n_columns = 100, .most_across = 1 },
                       rppi = { .kind = ASTRO_BINNING_RPPI, .n_columns = 40, .most_across = 40 },
                       gg = { .fields = ASTRO_PAIR_FIELDS_GG, .weighted = TRUE };
  astro_histogram_edges_linear(&smu, 0, 150, 30, NULL);
  astro_histogram_edges_linear(&rppi, 0, 40, 20, NULL);
  astro_histogram_edges_per_decade(&gg, 1, 100, 10, NULL);
  bench_head("Pairs of 1,000,000 points looked at one by one, trees made, beside the CPU");
  bench_kind(device, "smu, s to 150, 30 x 100 bins", &smu);
  bench_kind(device, "rppi, rp and pi to 40, 20 x 40 bins", &rppi);
  bench_kind(device, "shears, 1 to 100 arcmin, 20 bins", &gg);
  return 0;
}
