/* Pairs in space of a million points of a survey; or of points in files, for comparisons with other
 * programs (peers-space). */
#include "core/histogram/histogram.h"
#include "core/lib/catalogue/distance.h"
#include "tests/bench/bench.h"

#include <stdlib.h>
#include <string.h>

/* A file of doubles: right ascensions, declinations, distances. */
typedef struct {
  double *ra, *dec, *distance;
  guint64 n;
} Catalogue;

static Catalogue read_catalogue(const char *path)
{
  char *bytes;
  gsize length;
  GError *error = NULL;
  if (!g_file_get_contents(path, &bytes, &length, &error))
    g_error("%s", error->message);
  const guint64 n = length / (3 * sizeof(double));
  double *values = (double *)(gpointer)bytes;
  return (Catalogue){ values, values + n, values + 2 * n, n };
}

typedef struct {
  Catalogue data, random; /* random.n 0: pairs of data alone */
  gpointer counter;
  guint64 *counts;
  gsize bytes;
} Run;

static AstroPoints *points_of(const Catalogue *c)
{
  return astro_points_in_space(c->ra, c->dec, c->distance, NULL, NULL, c->n, 0, 0, NULL, NULL);
}

/* The time includes making the tree. */
static void run_count(gpointer user)
{
  Run *run = user;
  const gboolean two = run->random.n > 0;
  AstroPoints *a = points_of(&run->data), *b = two ? points_of(&run->random) : NULL;
  AstroBlock in[2] = { { a, 0 }, { b, 0 } }, out = { run->counts, run->bytes };
  if (!astro_histogram_cpu.submit(run->counter, in, two ? 2 : 1, &out, 1, NULL, NULL, NULL))
    g_error("the count failed");
  astro_points_free(a);
  astro_points_free(b);
}

static Run run_new(const AstroHistogramConfig *config, Catalogue data)
{
  const AstroPlace place = { 0 };
  const char *variant;
  const gsize bytes = astro_histogram_values(config) * sizeof(guint64);
  Run run = { .data = data,
              .counter = astro_histogram_cpu.create(config, &place, &variant, NULL),
              .counts = g_malloc(bytes),
              .bytes = bytes };
  if (!run.counter)
    g_error("the bins are refused");
  return run;
}

static void run_clear(Run *run)
{
  astro_histogram_cpu.destroy(run->counter);
  g_free(run->counts);
}

/* Even in volume, at some 2e-4 points in a unit of volume, as in a survey in (Mpc/h)^3. */
static Catalogue survey(guint64 n)
{
  static const AstroFootprint band = { .ra_min = 0, .ra_max = 90, .dec_min = 0, .dec_max = 60 };
  AstroCatalogue made;
  AstroRandom random;
  astro_random_init(&random, 1, 0);
  astro_catalogue_uniform(&band, n, &random, &made, NULL);
  Catalogue catalogue = { made.ra, made.dec, g_new(double, n), n };
  for (guint64 i = 0; i < n; i++)
    catalogue.distance[i] = astro_random_distance(&random, 1000, 2400);
  return catalogue;
}

static void bench_survey(void)
{
  Catalogue data = survey(1000000);
  static const struct {
    const char *name;
    AstroHistogramConfig config;
    double most;
    guint bins;
  } cases[] = {
    { "smu, s to 150, mu in 100 bins",
      { .kind = ASTRO_BINNING_SMU, .n_columns = 100, .most_across = 1 },
      150,
      30 },
    { "rppi, rp to 40, pi to 40",
      { .kind = ASTRO_BINNING_RPPI, .n_columns = 40, .most_across = 40 },
      40,
      20 },
  };
  for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
    AstroHistogramConfig config = cases[c].config;
    guint64 pairs = 0;
    astro_histogram_edges_linear(&config, 0, cases[c].most, cases[c].bins, NULL);
    Run run = run_new(&config, data);
    const double seconds = bench_seconds(run_count, &run, 1);
    for (guint k = 0; k < astro_histogram_bins(&config); k++)
      pairs += run.counts[k];
    printf("%s: 1,000,000 points in %.2f s, %.3g pairs in bins, %.3g a second\n", cases[c].name,
           seconds, (double)pairs, (double)pairs / seconds);
    run_clear(&run);
  }
  g_free(data.ra);
  g_free(data.dec);
  g_free(data.distance);
}

/* KIND (1: smu, 2: rppi) ROUNDS EDGE,EDGE... COLUMNS MOST DATA [RANDOM]: prints seconds and counts.
 */
static void count_files(int argc, char **argv)
{
  AstroHistogramConfig config = { .kind = (AstroBinning)atoi(argv[1]),
                                  .n_columns = (guint)atoi(argv[4]),
                                  .most_across = g_ascii_strtod(argv[5], NULL) };
  g_auto(GStrv) edges = g_strsplit(argv[3], ",", -1);
  for (char **edge = edges; *edge && config.n_edges < ASTRO_HISTOGRAM_MAX_EDGES; edge++)
    config.edges[config.n_edges++] = g_ascii_strtod(*edge, NULL);
  Run run = run_new(&config, read_catalogue(argv[6]));
  if (argc > 7)
    run.random = read_catalogue(argv[7]);
  printf("%.6f\n", bench_seconds(run_count, &run, (guint)atoi(argv[2])));
  for (guint k = 0; k < astro_histogram_bins(&config); k++)
    printf("%" G_GUINT64_FORMAT "\n", run.counts[k]);
  g_free(run.data.ra);
  g_free(run.random.ra);
  run_clear(&run);
}

int main(int argc, char **argv)
{
  if (argc < 7)
    bench_survey();
  else
    count_files(argc, argv);
  return 0;
}
