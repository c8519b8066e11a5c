/* Weights of pairs, by bits and by tables: every backend and variant is held to a plain loop that
 * looks at one bit after another, and totals to the mean over all places of the bits. */
#include "core/histogram/from-catalogues.h"
#include "core/histogram/pair-weights.h"
#include "tests/core/histogram/space.h"

#define MOST_WORDS 8

typedef struct {
  SpaceCatalogue at;
  guint n_words; /* 0: points have no bits */
  double *words[MOST_WORDS];
} BitCatalogue;

/* A fifth of the points each have no bit, all bits, or one bit that no other kind of point has. */
static double bits_of(guint64 i, guint w, guint64 *state)
{
  const double any = floor(4294967296.0 * test_uniform(state));
  return i % 5 == 0 ? 0 : i % 5 == 1 ? G_MAXUINT32 : i % 5 == 2 ? (w == 0 ? 1 : 0) : any;
}

static BitCatalogue bits_new(guint sky, guint64 n, guint n_words, guint64 seed)
{
  BitCatalogue c = { space_catalogue_new(test_skies[sky].place, n, 3, seed), n_words, { NULL } };
  guint64 state = seed + 5;
  for (guint w = 0; w < n_words; w++) {
    c.words[w] = g_new(double, MAX(n, 1));
    for (guint64 i = 0; i < n; i++)
      c.words[w][i] = bits_of(i, w, &state);
  }
  return c;
}

static void bits_clear(BitCatalogue *c)
{
  space_catalogue_clear(&c->at);
  for (guint w = 0; w < c->n_words; w++)
    g_free(c->words[w]);
}

static guint common_bits(const BitCatalogue *a, guint64 i, const BitCatalogue *b, guint64 j,
                         guint n_words)
{
  guint n = 0;
  for (guint w = 0; w < n_words; w++)
    for (guint k = 0; k < 32; k++) {
      const guint32 of_a = a->n_words ? (guint32)a->words[w][i] : G_MAXUINT32,
                    of_b = b->n_words ? (guint32)b->words[w][j] : G_MAXUINT32;
      n += (of_a >> k & 1) && (of_b >> k & 1);
    }
  return n;
}

/* The table's points, which the loop looks at by itself, in degrees. */
static const double angles[] = { 0, 0.003, 0.7, 5, 30, 110 },
                    table_weights[] = { 3, 1.5, -0.5, 2, 1.25, 0.5 };
#define TABLE "# angle weight\n0 3\n0.003,1.5\n\n0.7 -0.5 # below 0\n5\t2\n30 1.25\n110 0.5\n"

static double by_table(const double p[3], const double q[3])
{
  const double dx = p[0] - q[0], dy = p[1] - q[1], dz = p[2] - q[2];
  const double half = MIN(sqrt(dx * dx + dy * dy + dz * dz) / 2, 1),
               degrees = 360 / G_PI * asin(half);
  guint k = 0;
  while (k < G_N_ELEMENTS(angles) && degrees >= angles[k])
    k++;
  if (k == 0 || k == G_N_ELEMENTS(angles))
    return 1;
  /* 1 - cos by half angles, which keeps its digits where angles are small */
  const double low = pow(sin(angles[k - 1] * G_PI / 360), 2),
               high = pow(sin(angles[k] * G_PI / 360), 2);
  const double part = (half * half - low) / (high - low);
  return table_weights[k - 1] * (1 - part) + table_weights[k] * part;
}

static gboolean find(const AstroHistogramConfig *config, const double p[3], const double q[3],
                     const double at[3], const double other[3], guint *bin)
{
  if (config->kind != ASTRO_BINNING_ANGULAR)
    return space_find(config, at, other, bin);
  const double dx = p[0] - q[0], dy = p[1] - q[1], dz = p[2] - q[2];
  const double square = (dx * dx + dy * dy) + dz * dz;
  guint k = 0;
  while (k < config->n_edges && square >= astro_chord_square(config->edges[k]))
    k++;
  *bin = k - 1;
  return k > 0 && k < config->n_edges;
}

static void plain_loop(const AstroHistogramConfig *config, gboolean has_table,
                       const BitCatalogue *a, const BitCatalogue *b, guint64 *counts, double *sums)
{
  const guint regions = astro_histogram_regions(config), bins = astro_histogram_bins(config);
  const TestCatalogue *sky_a = &a->at.sky, *sky_b = &b->at.sky;
  memset(counts, 0, astro_histogram_values(config) * sizeof *counts);
  memset(sums, 0, astro_histogram_values(config) * sizeof *sums);
  for (guint64 i = 0; i < sky_a->n; i++)
    for (guint64 j = a == b ? i + 1 : 0; j < sky_b->n; j++) {
      double p[3], q[3], at[3], other[3];
      guint bin;
      astro_unit_vector(sky_a->ra[i], sky_a->dec[i], &p[0], &p[1], &p[2]);
      astro_unit_vector(sky_b->ra[j], sky_b->dec[j], &q[0], &q[1], &q[2]);
      space_position(&a->at, i, at);
      space_position(&b->at, j, other);
      if (!find(config, p, q, at, other, &bin))
        continue;
      guint ra = config->n_regions ? (guint)sky_a->region[i] : 0,
            rb = config->n_regions ? (guint)sky_b->region[j] : 0;
      if (a == b && ra > rb) {
        const guint swapped = ra;
        ra = rb;
        rb = swapped;
      }
      double weight = sky_a->weight[i] * sky_b->weight[j];
      if (a->n_words || b->n_words) {
        const guint divisor = config->bits.offset + common_bits(a, i, b, j, config->bits.n_words);
        weight *=
            divisor ? (double)config->bits.realizations / divisor : config->bits.default_value;
      }
      if (has_table)
        weight *= by_table(p, q);
      const gsize value = ((gsize)ra * regions + rb) * bins + bin;
      counts[value]++;
      sums[value] += weight;
    }
}

static AstroPoints *points_of(const AstroHistogramConfig *config, const BitCatalogue *c)
{
  GError *error = NULL;
  const TestCatalogue *sky = &c->at.sky;
  const PointColumns columns = {
    sky->n,      sky->ra,
    sky->dec,    config->kind == ASTRO_BINNING_ANGULAR ? NULL : c->at.distance,
    sky->weight, config->n_regions ? sky->region : NULL
  };
  AstroPoints *points =
      c->n_words
          ? points_with_bits(&columns, c->words, c->n_words, config->n_regions, 2, NULL, &error)
          : points_new(&columns, config->n_regions, 2, NULL, NULL, NULL, &error);
  g_assert_no_error(error);
  return points;
}

static void count(const AstroBackend *backend, const AstroHistogramConfig *config, guint threads,
                  const PairTable *table, const BitCatalogue *a, const BitCatalogue *b,
                  guint64 *counts, double *sums)
{
  const AstroHistogramCall call = { .table = table };
  test_count_points(backend, config, threads, &call, points_of(config, a),
                    a == b ? NULL : points_of(config, b), TRUE, counts, sums);
}

/* Weights of a table may cancel. */
static void check_sums(const double *found, const double *expected, const guint64 *counts, gsize n,
                       guint realizations)
{
  for (gsize k = 0; k < n; k++)
    g_assert_cmpfloat(fabs(found[k] - expected[k]), <=,
                      1e-11 * (fabs(expected[k]) + (double)counts[k] * MAX(realizations, 1)));
}

static void check_device(const AstroBackend *backend, AstroHistogramConfig *config,
                         const PairTable *table, const BitCatalogue *a, const BitCatalogue *b,
                         const guint64 *expected, const double *expected_sums)
{
  static const AstroPairMethod methods[] = { ASTRO_PAIR_METHOD_TREE, ASTRO_PAIR_METHOD_BRUTE };
  const gsize n = astro_histogram_values(config);
  g_autofree guint64 *found = g_new(guint64, n);
  g_autofree double *sums = g_new(double, n);
  for (guint m = 0; m < G_N_ELEMENTS(methods); m++) {
    config->method = methods[m];
    count(backend, config, 0, table, a, b, found, sums);
    test_assert_counts(found, expected, n, astro_backend_kind_name(backend->kind));
    check_sums(sums, expected_sums, expected, n, config->bits.realizations);
  }
}

static void check_all(AstroHistogramConfig *config, gboolean has_table, const BitCatalogue *a,
                      const BitCatalogue *b)
{
  static const char *const levels[] = { "c", "avx2", "avx512" };
  static const AstroPairMethod methods[] = { ASTRO_PAIR_METHOD_TREE, ASTRO_PAIR_METHOD_BRUTE };
  const gsize n = astro_histogram_values(config);
  const guint most = config->bits.realizations;
  g_autofree guint64 *expected = g_new(guint64, n), *found = g_new(guint64, n);
  g_autofree double *expected_sums = g_new(double, n), *sums = g_new(double, n),
                    *again = g_new(double, n);
  g_autoptr(PairTable) table = has_table ? pair_table_parse(TABLE, "table", NULL) : NULL;
  plain_loop(config, has_table, a, b, expected, expected_sums);
  count(&astro_histogram_reference, config, 1, table, a, b, found, sums);
  test_assert_counts(found, expected, n, "reference");
  check_sums(sums, expected_sums, expected, n, most);
  for (guint l = 0; l < G_N_ELEMENTS(levels); l++) {
    setenv("ASTRO_CPU", levels[l], 1);
    for (guint m = 0; m < G_N_ELEMENTS(methods); m++) {
      config->method = methods[m];
      count(&astro_histogram_cpu, config, 1, table, a, b, found, sums);
      test_assert_counts(found, expected, n, levels[l]);
      check_sums(sums, expected_sums, expected, n, most);
      count(&astro_histogram_cpu, config, 3, table, a, b, found, again);
      g_assert_cmpmem(sums, n * sizeof *sums, again, n * sizeof *again);
    }
  }
  unsetenv("ASTRO_CPU");
  AstroBackend devices[2];
  for (guint d = test_device_backends(devices); d-- > 0;)
    check_device(&devices[d], config, table, a, b, expected, expected_sums);
  config->method = ASTRO_PAIR_METHOD_AUTO;
}

static AstroHistogramConfig config_of(AstroBinning kind, guint regions, guint n_words, guint offset)
{
  AstroHistogramConfig config = { .kind = kind,
                                  .n_regions = regions,
                                  .weighted = TRUE,
                                  .weighs_pairs = TRUE,
                                  .bits = { n_words, 32 * n_words + offset, offset, 0.375 } };
  if (kind == ASTRO_BINNING_ANGULAR)
    g_assert_true(astro_histogram_edges_per_decade(&config, 0.01, 10800, 3, NULL));
  else
    g_assert_true(astro_histogram_edges_linear(&config, 0, 1200, 7, NULL));
  config.n_columns = kind == ASTRO_BINNING_ANGULAR ? 0 : 3;
  config.most_across = kind == ASTRO_BINNING_SMU ? 1 : 500;
  return config;
}

static void test_sky(gconstpointer data)
{
  static const guint64 sizes[] = { 1, 33, 131 };
  const guint sky = GPOINTER_TO_UINT(data);
  for (guint kind = ASTRO_BINNING_ANGULAR; kind <= ASTRO_BINNING_RPPI; kind++)
    for (guint s = 0; s < G_N_ELEMENTS(sizes); s++) {
      const guint n_words = 1 + (sky + s + kind) % 3, offset = s % 2;
      AstroHistogramConfig config = config_of((AstroBinning)kind, s == 2 ? 3 : 0, n_words, offset);
      BitCatalogue a = bits_new(sky, sizes[s], n_words, 1), b = bits_new(sky, 47, n_words, 2),
                   random = bits_new(sky, 40, 0, 3);
      check_all(&config, s != 1, &a, &a);
      check_all(&config, s == 1, &a, &b);
      check_all(&config, s == 1, &a, &random);
      check_all(&config, TRUE, &random, &b);
      bits_clear(&a);
      bits_clear(&b);
      bits_clear(&random);
    }
}

/* The mean over all places of d bits beside c fixed ones, of 8. */
static double mean_over_places(const AstroPairBits *bits, guint n, guint c, guint d)
{
  const guint fixed = (1u << c) - 1;
  double sum = 0, places = 0;
  for (guint set = 0; set < 1u << n; set++)
    if ((guint)__builtin_popcount(set) == d) {
      sum += pair_bits_weight(bits, (guint)__builtin_popcount(set & fixed));
      places++;
    }
  return sum / places;
}

static void test_means(void)
{
  for (guint offset = 0; offset < 3; offset++) {
    const AstroPairBits bits = { 1, 8 + offset, offset, 0.25 };
    g_autofree double *means = pair_bits_means(&bits);
    for (guint c = 0; c <= 8; c++)
      for (guint d = 0; d <= 8; d++)
        g_assert_cmpfloat_with_epsilon(means[c * 33 + d], mean_over_places(&bits, 8, c, d), 1e-11);
  }
}

/* Catalogues of the collector; regions are a column. */
static void summarise(const AstroBackend *backend, const AstroHistogramConfig *config,
                      AstroCatalogue *data, AstroCatalogue *random, const AstroHeldLimit *limit,
                      AstroSummary *summary, double *sums)
{
  const gboolean is_there[ASTRO_N_SIDES] = { [ASTRO_SIDE_DATA] = TRUE, [ASTRO_SIDE_RANDOM] = TRUE };
  const AstroPlace place = { .threads = 2 };
  GError *error = NULL;
  gsize bytes;
  AstroCollector *collector = astro_collector_new(config, is_there, backend, &place, &error);
  g_assert_no_error(error);
  g_autoptr(PairTable) dd = pair_table_parse(TABLE, "dd", NULL);
  astro_collector_set_tables(collector, dd, NULL);
  astro_collector_set_limit(collector, limit);
  g_auto(AstroHeld) held = { 0 };
  g_auto(AstroHeld) held_random = { 0 };
  g_assert_true(astro_held_add(&held, limit, data, &error));
  g_assert_true(astro_held_add(&held_random, limit, random, &error));
  g_assert_true((held.spill != NULL) == (limit->bytes != 0));
  astro_collector_take_data(collector, &held, NULL, NULL, &error);
  g_assert_no_error(error);
  astro_collector_take_random(collector, &held_random, NULL, NULL, &error);
  g_assert_no_error(error);
  astro_collector_finish(collector, &error);
  g_assert_no_error(error);
  astro_collector_summary(collector, summary);
  memcpy(sums, astro_collector_values(collector, &bytes),
         3 * astro_histogram_values(config) * sizeof *sums);
  astro_collector_free(collector);
}

static AstroCatalogue catalogue_of(const BitCatalogue *c)
{
  const TestCatalogue *sky = &c->at.sky;
  AstroCatalogue catalogue = {
    .n = sky->n, .ra = sky->ra, .dec = sky->dec, .weight = sky->weight, .region = sky->region
  };
  memcpy(catalogue.bits, c->words, sizeof c->words);
  return catalogue;
}

/* Totals of the data are those of independent bits, with the random points those of its own bits,
 * and of random points plain ones. Slices in a file give the same, and so does a
 * device that orders points, which those with bits are not left to. */
static void test_collected(void)
{
  const AstroHeldLimit none = { 0 }, small = { 2 * 64 * 10 * sizeof(double), 64 };
  AstroHistogramConfig config = config_of(ASTRO_BINNING_ANGULAR, 3, 2, 1);
  BitCatalogue data = bits_new(0, 300, 2, 1), random = bits_new(0, 200, 0, 2);
  AstroCatalogue d = catalogue_of(&data), r = catalogue_of(&random);
  const gsize n = astro_histogram_values(&config);
  g_autofree double *sums = g_new(double, 3 * n), *again = g_new(double, 3 * n),
                    *expected = g_new(double, n), *means = pair_bits_means(&config.bits);
  g_autofree guint64 *counts = g_new(guint64, n);
  AstroBackend orders = astro_histogram_cpu;
  AstroSummary summary, of_slices, by_device;
  orders.parts = &test_orders_points;
  summarise(&orders, &config, &d, &r, &none, &by_device, again);
  summarise(&astro_histogram_cpu, &config, &d, &r, &none, &summary, sums);
  g_assert_cmpmem(sums, 3 * n * sizeof *sums, again, 3 * n * sizeof *again);
  summarise(&astro_histogram_cpu, &config, &d, &r, &small, &of_slices, again);
  for (gsize k = 0; k < 3 * n; k++)
    g_assert_cmpfloat_with_epsilon(sums[k], again[k], 1e-9 * (1 + fabs(sums[k])));
  plain_loop(&config, TRUE, &data, &data, counts, expected);
  check_sums(sums, expected, counts, n, 65);
  plain_loop(&config, FALSE, &data, &random, counts, expected);
  check_sums(sums + n, expected, counts, n, 65);
  double totals[3][9] = { { 0 } };
  for (guint64 i = 0; i < 300; i++) {
    const guint c = common_bits(&data, i, &random, 0, 2), ri = (guint)d.region[i];
    for (guint64 j = i + 1; j < 300; j++) {
      const guint rj = (guint)d.region[j];
      totals[0][MIN(ri, rj) * 3 + MAX(ri, rj)] +=
          d.weight[i] * d.weight[j] * means[c * 65 + common_bits(&data, j, &random, 0, 2)];
    }
    for (guint64 j = 0; j < 200; j++)
      totals[1][ri * 3 + (guint)r.region[j]] += d.weight[i] * r.weight[j] * 65 / (1.0 + c);
  }
  for (guint k = 0; k < 18; k++) {
    g_assert_cmpfloat_with_epsilon(summary.pairs[k], totals[k / 9][k % 9],
                                   1e-9 * (1 + totals[k / 9][k % 9]));
    g_assert_cmpfloat(summary.pairs[k], ==, of_slices.pairs[k]);
  }
  astro_summary_clear(&summary);
  astro_summary_clear(&of_slices);
  astro_summary_clear(&by_device);
  bits_clear(&data);
  bits_clear(&random);
}

static void refuses(AstroHistogramConfig *config, const AstroCatalogue *data, const char *expected)
{
  const gboolean is_there[ASTRO_N_SIDES] = { [ASTRO_SIDE_DATA] = TRUE };
  const AstroPlace place = { .threads = 1 };
  g_autoptr(GError) error = NULL;
  AstroCollector *collector =
      astro_collector_new(config, is_there, &astro_histogram_cpu, &place, &error);
  if (collector)
    g_assert_false(astro_collector_add_data(collector, data, NULL, NULL, &error));
  g_assert_nonnull(error);
  g_assert_nonnull(strstr(error->message, expected));
  astro_collector_free(collector);
}

static void test_refused(void)
{
  static const char *const tables[] = { "1 2\n",        "1 2\n1 3\n",     "1 2\n200 1\n",
                                        "1 nan\n2 3\n", "1 2 3\n4 5 6\n", "",
                                        "-1 2\n4 5\n",  "1 2\nx 1\n" };
  for (guint t = 0; t < G_N_ELEMENTS(tables); t++) {
    g_autoptr(GError) error = NULL;
    g_assert_null(pair_table_parse(tables[t], "weights.txt", &error));
    g_assert_true(g_str_has_prefix(error->message, "weights.txt: "));
  }
  BitCatalogue data = bits_new(0, 20, 2, 1);
  AstroCatalogue d = catalogue_of(&data);
  AstroHistogramConfig config = config_of(ASTRO_BINNING_ANGULAR, 0, 2, 1);
  config.bits.realizations = 40;
  refuses(&config, &d, "point 1 is selected by 64 realisations, expected 39 at most");
  config.bits = (AstroPairBits){ 2, 3, 3, 0 };
  refuses(&config, &d, "noffset is 3, expected less than the 3 realisations");
  config.bits = (AstroPairBits){ 2, 65, 1, NAN };
  refuses(&config, &d, "default-value is nan");
  config.bits = (AstroPairBits){ 4, 129, 1, 0 };
  refuses(&config, &d, "has bits of 64 realisations, and others have 128");
  config.bits = (AstroPairBits){ 2, 65, 1, 0 };
  config.fields = ASTRO_PAIR_FIELDS_KK;
  refuses(&config, &d, "expected fields=none");
  config.fields = ASTRO_PAIR_FIELDS_NONE;
  data.words[1][7] = 0.5;
  refuses(&config, &d, "point 7: bits1 is 0.5");
  data.words[1][7] = 4294967296.0;
  refuses(&config, &d, "point 7: bits1 is 4294967296");
  bits_clear(&data);
}

static void add_tests(void)
{
  for (guint sky = 0; sky < G_N_ELEMENTS(test_skies); sky++) {
    g_autofree char *path = g_strconcat("/histogram-pairs/", test_skies[sky].name, NULL);
    g_test_add_data_func(path, GUINT_TO_POINTER(sky), test_sky);
  }
  g_test_add_func("/histogram-pairs/means", test_means);
  g_test_add_func("/histogram-pairs/collected", test_collected);
  g_test_add_func("/histogram-pairs/refused", test_refused);
}

int main(int argc, char **argv)
{
  return test_histogram(argc, argv, add_tests);
}
