/* Pair counts of 97,178 points on half the sky, in 30 bins from 0.01 to 10,000 arcmin, against the
 * plain loop in double precision (timed on a part of the pairs, on one core, and scaled). */
#include "core/backend/threads.h"
#include "core/lib/catalogue/catalogue.h"
#include "core/histogram/histogram.h"
#include "core/histogram/regions.h"
#include "tests/bench/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POINTS 97178

typedef struct {
  double *ra, *dec, *region;
  guint64 n;
} Catalogue;

/* Points on half the sky, in compact regions that every catalogue shares. */
static Catalogue random_catalogue(guint64 n, guint regions, guint64 seed)
{
  static const AstroFootprint half = { .ra_max = 360, .dec_max = 90 };
  AstroCatalogue made, sample;
  AstroRandom random;
  astro_random_init(&random, seed, 0);
  astro_catalogue_uniform(&half, n, &random, &made, NULL);
  astro_random_init(&random, 0, 0);
  astro_catalogue_uniform(&half, POINTS, &random, &sample, NULL);
  AstroRegions *cells = astro_regions_new(sample.ra, sample.dec, sample.n, regions, NULL, NULL);
  Catalogue catalogue = { made.ra, made.dec, g_new(double, n), n };
  for (guint64 i = 0; i < n; i++)
    catalogue.region[i] = astro_regions_find(cells, made.ra[i], made.dec[i]);
  astro_regions_free(cells);
  astro_catalogue_clear(&sample);
  return catalogue;
}

static void catalogue_clear(Catalogue *catalogue)
{
  g_free(catalogue->ra);
  g_free(catalogue->dec);
  g_free(catalogue->region);
}

static AstroPoints *points_of(const Catalogue *catalogue, guint regions)
{
  return astro_points_new(catalogue->ra, catalogue->dec, NULL, regions ? catalogue->region : NULL,
                          catalogue->n, regions, 0, NULL, NULL);
}

typedef struct {
  const Catalogue *data, *random; /* random: NULL for pairs of data alone */
  guint regions;
  gpointer counter;
  guint64 *counts;
  gsize bytes;
} Run;

/* The time includes making the tree. */
static void run_count(gpointer user)
{
  Run *run = user;
  AstroPoints *a = points_of(run->data, run->regions),
              *b = run->random ? points_of(run->random, run->regions) : NULL;
  AstroBlock in[2] = { { a, 0 }, { b, 0 } }, out = { run->counts, run->bytes };
  if (!astro_histogram_cpu.submit(run->counter, in, b ? 2 : 1, &out, 1, NULL, NULL, NULL))
    g_error("the count failed");
  astro_points_free(a);
  astro_points_free(b);
}

static Run run_new(const AstroHistogramConfig *config, const Catalogue *data,
                   const Catalogue *random, const char **variant)
{
  AstroPlace place = { 0 };
  GError *error = NULL;
  gpointer counter = astro_histogram_cpu.create(config, &place, variant, &error);
  if (!counter)
    g_error("%s", error->message);
  gsize values = astro_histogram_values(config);
  return (Run){
    data, random, config->n_regions, counter, g_new(guint64, values), values * sizeof(guint64)
  };
}

static void run_clear(Run *run)
{
  astro_histogram_cpu.destroy(run->counter);
  g_free(run->counts);
}

/* The paper's loop: every pair, with the bin found by binary search. */
typedef struct {
  const Catalogue *data;
  const AstroHistogramConfig *config;
  guint64 rows;
  guint64 pairs;
} Plain;

static void run_plain(gpointer user)
{
  Plain *plain = user;
  const AstroHistogramConfig *config = plain->config;
  guint64 n = plain->data->n, places[ASTRO_HISTOGRAM_MAX_EDGES + 1] = { 0 };
  double squares[ASTRO_HISTOGRAM_MAX_EDGES];
  for (guint k = 0; k < config->n_edges; k++)
    squares[k] = astro_chord_square(config->edges[k]);
  double *x = g_new(double, 3 * n), *y = x + n, *z = y + n;
  for (guint64 i = 0; i < n; i++)
    astro_unit_vector(plain->data->ra[i], plain->data->dec[i], &x[i], &y[i], &z[i]);
  plain->pairs = 0;
  for (guint64 i = 0; i < plain->rows; i++)
    for (guint64 j = i + 1; j < n; j++) {
      double dx = x[i] - x[j], dy = y[i] - y[j], dz = z[i] - z[j];
      double square = (dx * dx + dy * dy) + dz * dz;
      guint low = 0, high = config->n_edges;
      while (low < high) {
        guint middle = (low + high) / 2;
        if (square >= squares[middle])
          low = middle + 1;
        else
          high = middle;
      }
      places[low]++;
    }
  for (guint k = 0; k <= config->n_edges; k++)
    plain->pairs += places[k];
  g_free(x);
}

static double seconds_of(const AstroHistogramConfig *config, const Catalogue *data,
                         const Catalogue *random, guint rounds)
{
  const char *variant;
  Run run = run_new(config, data, random, &variant);
  double seconds = bench_seconds(run_count, &run, rounds);
  run_clear(&run);
  return seconds;
}

static double seconds_once(const AstroHistogramConfig *config, const Catalogue *data)
{
  const char *variant;
  Run run = run_new(config, data, NULL, &variant);
  gint64 start = g_get_monotonic_time();
  run_count(&run);
  double seconds = (double)(g_get_monotonic_time() - start) * 1e-6;
  run_clear(&run);
  return seconds;
}

static void against_plain(const AstroHistogramConfig *config, const Catalogue *data,
                          const Catalogue *random, const char *what, double wanted)
{
  const char *variant;
  Run run = run_new(config, data, random, &variant);
  Plain plain = { data, config, 100, 0 };
  double ours, loop;
  bench_pair(run_count, &run, run_plain, &plain, 3, &ours, &loop);
  double pairs =
      random ? (double)data->n * (double)random->n : (double)data->n * (double)(data->n - 1) / 2;
  char *row = g_strdup_printf("%s, %s: %.3f s", what, variant, ours);
  bench_row(row, pairs / ours * 1e-9, (double)plain.pairs / loop * 1e-9, "Gpairs/s", wanted);
  g_free(row);
  run_clear(&run);
}

static void bench_methods(const AstroHistogramConfig *standard, const Catalogue *data,
                          const Catalogue *random)
{
  bench_head("97,178 points, 30 bins, against the plain loop on one core");
  AstroHistogramConfig config = *standard;
  against_plain(&config, data, NULL, "DD", 0);
  against_plain(&config, data, random, "DR", 0);
  config.precision = ASTRO_PRECISION_SINGLE;
  against_plain(&config, data, NULL, "DD, single precision", 0);
  config.precision = ASTRO_PRECISION_EXACT;
  config.method = ASTRO_PAIR_METHOD_BRUTE;
  against_plain(&config, data, NULL, "DD, brute force", 0);
  against_plain(&config, data, random, "DR, brute force", 0);
}

static void bench_variants(const AstroHistogramConfig *standard, const Catalogue *data)
{
  static const char *const variants[] = { "c", "avx2" };
  AstroHistogramConfig config = *standard;
  for (guint v = 0; v < G_N_ELEMENTS(variants); v++) {
    setenv("ASTRO_CPU", variants[v], 1);
    config.method = ASTRO_PAIR_METHOD_AUTO;
    against_plain(&config, data, NULL, "DD", 0);
    config.method = ASTRO_PAIR_METHOD_BRUTE;
    against_plain(&config, data, NULL, "DD, brute force", 0);
  }
  unsetenv("ASTRO_CPU");
}

/* Regions that are not compact, as a user's own column may have. */
static void cut_into_stripes(Catalogue *catalogue, guint n)
{
  for (guint64 i = 0; i < catalogue->n; i++)
    catalogue->region[i] = floor(catalogue->ra[i] / 360 * n);
}

static void bench_regions(const AstroHistogramConfig *standard)
{
  static const guint regions[] = { 10, 100, 10, 100 };
  static const gboolean stripes[] = { FALSE, FALSE, TRUE, TRUE };
  bench_head("Regions: speed as a part of the speed without them");
  for (guint r = 0; r < G_N_ELEMENTS(regions); r++) {
    Catalogue data = random_catalogue(POINTS, regions[r], 1),
              random = random_catalogue(POINTS, regions[r], 2);
    if (stripes[r]) {
      cut_into_stripes(&data, regions[r]);
      cut_into_stripes(&random, regions[r]);
    }
    AstroHistogramConfig config = *standard;
    for (guint with_random = 0; with_random < 2; with_random++) {
      const char *variant;
      Run none = run_new(&config, &data, with_random ? &random : NULL, &variant);
      config.n_regions = regions[r];
      Run some = run_new(&config, &data, with_random ? &random : NULL, &variant);
      config.n_regions = 0;
      double without, with;
      bench_pair(run_count, &none, run_count, &some, 5, &without, &with);
      char *row = g_strdup_printf("%s, %u %s: %.3f s", with_random ? "DR" : "DD", regions[r],
                                  stripes[r] ? "stripes" : "regions", with);
      bench_row(row, 1 / with, 1 / without, "counts/s", 1 / 1.2);
      g_free(row);
      run_clear(&none);
      run_clear(&some);
    }
    catalogue_clear(&data);
    catalogue_clear(&random);
  }
}

static void bench_growth(const AstroHistogramConfig *config, guint n_sizes)
{
  static const guint64 sizes[] = { 10000, 100000, 1000000, 10000000 };
  bench_head("Growth: the exponent between neighbours against the 1.6 allowed");
  double before = 0;
  for (guint s = 0; s < n_sizes; s++) {
    Catalogue data = random_catalogue(sizes[s], 1, 3);
    double seconds = s < 2 ? seconds_of(config, &data, NULL, 5) : seconds_once(config, &data);
    char *row = g_strdup_printf("%" G_GUINT64_FORMAT " points: %.4f s", sizes[s], seconds);
    if (s > 0)
      bench_row(row, 1.6, log10(seconds / before), "", 1);
    else
      printf("%s\n", row);
    g_free(row);
    before = seconds;
    catalogue_clear(&data);
  }
}

/* The most memory that the process has used since it was last asked to reset this. */
static double most_memory(gboolean forget)
{
  char *text, *line;
  double kib = NAN;
  if (g_file_get_contents("/proc/self/status", &text, NULL, NULL)) {
    line = strstr(text, "VmHWM:");
    kib = line ? g_ascii_strtod(line + strlen("VmHWM:"), NULL) : NAN;
    g_free(text);
  }
  FILE *file = forget ? fopen("/proc/self/clear_refs", "w") : NULL;
  if (file) {
    fputs("5", file);
    fclose(file);
  }
  return kib * 1024;
}

/* Worst case of bytes a point, from its two columns to the count, against the 100 allowed. */
static void bench_memory(const AstroHistogramConfig *standard)
{
  bench_head("Memory: bytes a point, columns and tree, against the 100 allowed");
  for (guint regions = 0; regions <= 100; regions += 100) {
    Catalogue data = random_catalogue(1000000, MAX(regions, 1), 3);
    AstroHistogramConfig config = *standard;
    config.n_regions = regions;
    most_memory(TRUE);
    double before = most_memory(TRUE);
    seconds_once(&config, &data);
    double columns = (regions ? 3 : 2) * sizeof(double);
    char *row = g_strdup_printf("1,000,000 points, %u regions", regions);
    bench_row(row, 100, columns + (most_memory(FALSE) - before) / (double)data.n, "bytes", 1);
    g_free(row);
    catalogue_clear(&data);
  }
}

static Catalogue read_catalogue(const char *path)
{
  char *bytes;
  gsize length;
  GError *error = NULL;
  if (!g_file_get_contents(path, &bytes, &length, &error))
    g_error("%s", error->message);
  guint64 n = length / (2 * sizeof(double));
  Catalogue catalogue = { (double *)(gpointer)bytes, NULL, NULL, n };
  catalogue.dec = g_memdup2(catalogue.ra + n, n * sizeof(double));
  return catalogue;
}

/* count METHOD ROUNDS EDGE,EDGE... DATA [RANDOM]: prints seconds and counts. */
static int count_files(int argc, char **argv)
{
  AstroHistogramConfig config = { .method = (AstroPairMethod)atoi(argv[2]) };
  const char *variant;
  char **edges = g_strsplit(argv[4], ",", -1);
  for (char **edge = edges; *edge && config.n_edges < ASTRO_HISTOGRAM_MAX_EDGES; edge++)
    config.edges[config.n_edges++] = g_ascii_strtod(*edge, NULL);
  Catalogue data = read_catalogue(argv[5]), random = { 0 };
  if (argc > 6)
    random = read_catalogue(argv[6]);
  Run run = run_new(&config, &data, argc > 6 ? &random : NULL, &variant);
  printf("%.6f\n", bench_seconds(run_count, &run, (guint)atoi(argv[3])));
  for (guint k = 0; k + 1 < config.n_edges; k++)
    printf("%" G_GUINT64_FORMAT "\n", run.counts[k]);
  run_clear(&run);
  g_strfreev(edges);
  catalogue_clear(&data);
  catalogue_clear(&random);
  return 0;
}

int main(int argc, char **argv)
{
  AstroHistogramConfig config = { 0 };
  astro_histogram_edges_per_decade(&config, 0.01, 10000, 5, NULL);
  if (argc > 5 && g_str_equal(argv[1], "count"))
    return count_files(argc, argv);
  if (argc > 1 && g_str_equal(argv[1], "regions")) {
    bench_regions(&config);
    return 0;
  }
  if (argc > 1 && g_str_equal(argv[1], "growth")) {
    bench_growth(&config, 4);
    return 0;
  }
  Catalogue data = random_catalogue(POINTS, 1, 1), random = random_catalogue(POINTS, 1, 2);
  printf("%u threads\n", astro_threads());
  bench_methods(&config, &data, &random);
  bench_variants(&config, &data);
  bench_regions(&config);
  bench_growth(&config, 3);
  bench_memory(&config);
  catalogue_clear(&data);
  catalogue_clear(&random);
  return 0;
}
