/* Catalogues that memory does not hold: in slices they have the counts that they have as a whole.
 */
#include "config.h"
#include "core/backend/budget.h"
#include "core/backend/threads.h"
#include "core/histogram/budget.h"
#include "core/histogram/from-catalogues.h"
#include "core/histogram/slices.h"
#include "tests/core/histogram/histogram.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

/* Each case says where its points are, how many there are, how they are binned. */
typedef struct {
  const char *name;
  TestSky data, random; /* random NULL: data alone */
  guint64 n_data, n_random;
  guint n_regions;
  gboolean two, weighted, has_regions; /* has_regions: a column of them */
  AstroBinning kind;
  double last_edge; /* arcmin, or a separation */
} Case;

static void place_pole(guint64 i, guint64 n, guint64 *state, double *ra, double *dec)
{
  *ra = 360 * test_uniform(state);
  *dec = 88 + 2 * test_uniform(state);
}

/* Half of the points share a coordinate, so that a cut has them all on one side. */
static void place_line(guint64 i, guint64 n, guint64 *state, double *ra, double *dec)
{
  *ra = 40 * test_uniform(state);
  *dec = i % 2 ? 0 : test_uniform(state);
}

static const Case cases[] = {
  { "sphere", test_place_sphere, test_place_sphere, 3000, 4000, .last_edge = 120 },
  { "wide bins", test_place_sphere, NULL, 2000, .last_edge = 10000 },
  { "beyond the antipode", test_place_antipodes, NULL, 1500, .last_edge = 10801 },
  { "pole", place_pole, place_pole, 3000, 3000, .last_edge = 10 },
  { "line", place_line, place_line, 4000, 3000, .last_edge = 60 },
  { "one place", test_place_one, test_place_one, 1500, 1200, .last_edge = 60 },
  { "clusters", test_place_clusters, test_place_sphere, 3000, 2000, .last_edge = 300 },
  { "duplicates", test_place_duplicates, test_place_half, 1200, 1000, .last_edge = 2000 },
  { "regions", test_place_half, test_place_half, 3000, 3000, 7, .last_edge = 300 },
  { "column of regions", test_place_half, test_place_half, 3000, 3000, 5, .has_regions = TRUE,
    .last_edge = 300 },
  { "weights", test_place_half, test_place_half, 3000, 3000, 4, .weighted = TRUE,
    .last_edge = 300 },
  { "two sides", test_place_half, test_place_clusters, 2000, 2000, 3, .two = TRUE,
    .last_edge = 900 },
  { "a small random catalogue", test_place_half, test_place_half, 4000, 50, .last_edge = 900 },
  { "smu", test_place_half, test_place_half, 2000, 3000, 3, .kind = ASTRO_BINNING_SMU,
    .last_edge = 80 },
  { "rppi", test_place_half, test_place_half, 2000, 3000, .kind = ASTRO_BINNING_RPPI,
    .last_edge = 60 },
};

static AstroHistogramConfig config_of(const Case *c)
{
  AstroHistogramConfig config = { .n_regions = c->n_regions, .kind = c->kind };
  const gboolean in_space = c->kind != ASTRO_BINNING_ANGULAR;
  g_assert_true(astro_histogram_edges_linear(&config, 0, c->last_edge, 8, NULL));
  config.n_columns = in_space ? 5 : 0;
  config.most_across = c->kind == ASTRO_BINNING_RPPI ? 30 : 1;
  config.weighted = c->weighted;
  return config;
}

static void make(const Case *c, TestSky sky, guint64 n, guint64 seed, AstroCatalogue *catalogue)
{
  guint64 state = seed * 7919 + 1;
  *catalogue = (AstroCatalogue){ .n = n, .ra = g_new(double, n), .dec = g_new(double, n) };
  if (c->weighted)
    catalogue->weight = g_new(double, n);
  if (c->has_regions)
    catalogue->region = g_new(double, n);
  if (c->kind != ASTRO_BINNING_ANGULAR)
    catalogue->distance = g_new(double, n);
  for (guint64 i = 0; i < n; i++) {
    sky(i, n, &state, &catalogue->ra[i], &catalogue->dec[i]);
    if (catalogue->weight)
      catalogue->weight[i] = test_uniform(&state);
    if (catalogue->region)
      catalogue->region[i] = floor(c->n_regions * test_uniform(&state));
    if (catalogue->distance)
      catalogue->distance[i] = 100 + 400 * test_uniform(&state);
  }
}

/* limit->bytes 0: in memory. The catalogues come in parts of 701 points. */
static void hold(const AstroCatalogue *all, const AstroHeldLimit *limit, AstroHeld *held)
{
  AstroCatalogue from = *all;
  g_autoptr(GError) error = NULL;
  for (guint64 i = 0; i < all->n; i += 701) {
    AstroCatalogue part = { .n = MIN(701, all->n - i) };
    for (guint k = 0; k < ASTRO_CATALOGUE_COLUMNS; k++)
      if (*astro_catalogue_column(&from, k))
        *astro_catalogue_column(&part, k) = *astro_catalogue_column(&from, k) + i;
    g_assert_true(astro_held_add(held, limit, &part, &error));
    g_assert_no_error(error);
  }
}

/* In slices of about 170 points, or as few as leave room to make regions of all of them. */
static AstroHeldLimit small_limit(const AstroHistogramConfig *config)
{
  static const gboolean is_there[ASTRO_N_SIDES] = { TRUE };
  AstroHeldLimit limit;
  g_assert_true(astro_histogram_share(config, is_there, 1, 1u << 30, &limit, NULL));
  limit.bytes = config->n_regions > 0 ? 3000 * 3 * sizeof(double) : 340 * (16 + limit.of_a_point);
  return limit;
}

typedef struct {
  guint64 *counts;
  double *sums, *pairs;
  guint64 points[ASTRO_N_SIDES];
  gsize n;
} Counted;

static void counted_clear(Counted *counted)
{
  g_free(counted->counts);
  g_free(counted->sums);
  g_free(counted->pairs);
}

static void take(AstroCollector *collector, const Case *c, const AstroHeldLimit *limit, TestSky sky,
                 guint64 n, guint64 seed, gboolean is_data)
{
  g_autoptr(GError) error = NULL;
  AstroHeld held[2] = { { 0 }, { 0 } };
  for (guint side = 0; side < (c->two ? 2 : 1); side++) {
    AstroCatalogue catalogue;
    make(c, sky, n + 300 * side, seed + side, &catalogue);
    hold(&catalogue, limit, &held[side]);
    g_assert_true(!held[side].spill == (limit->bytes == 0 || n < 100));
    astro_catalogue_clear(&catalogue);
  }
  const gboolean good = (is_data ? astro_collector_take_data : astro_collector_take_random)(
      collector, &held[0], &held[1], NULL, &error);
  g_assert_no_error(error);
  g_assert_true(good);
  astro_held_clear(&held[0]);
  astro_held_clear(&held[1]);
}

static void count_case(const Case *c, const AstroBackend *backend, const AstroHeldLimit *limit,
                       Counted *counted)
{
  const gboolean is_there[ASTRO_N_SIDES] = { TRUE, c->random != NULL, c->two, c->two };
  const AstroPlace place = { .threads = 2 };
  AstroHistogramConfig config = config_of(c);
  g_autoptr(GError) error = NULL;
  gsize bytes;
  AstroCollector *collector = astro_collector_new(&config, is_there, backend, &place, &error);
  g_assert_no_error(error);
  astro_collector_set_limit(collector, limit);
  take(collector, c, limit, c->data, c->n_data, 1, TRUE);
  for (guint64 r = 0; r < 2 && c->random; r++)
    take(collector, c, limit, c->random, c->n_random, 10 + r, FALSE);
  g_assert_true(astro_collector_finish(collector, &error));
  gconstpointer values = astro_collector_values(collector, &bytes);
  AstroSummary summary;
  astro_collector_summary(collector, &summary);
  counted->n = bytes / 8;
  counted->sums = c->weighted ? g_memdup2(values, bytes) : NULL;
  counted->counts = g_memdup2(c->weighted ? g_bytes_get_data(summary.counts, NULL) : values, bytes);
  counted->pairs = g_memdup2(summary.pairs, summary.n_kinds * summary.n_regions *
                                                summary.n_regions * sizeof(double));
  memcpy(counted->points, summary.points, sizeof summary.points);
  g_assert_cmpmem(counted->pairs, sizeof(double), summary.pairs, sizeof(double));
  astro_summary_clear(&summary);
  astro_collector_free(collector);
}

static void test_equal(gconstpointer data)
{
  const Case *c = data;
  const AstroHistogramConfig config = config_of(c);
  const AstroHeldLimit none = { 0 }, small = small_limit(&config);
  Counted whole, sliced;
  guint64 all = 0;
  count_case(c, &astro_histogram_cpu, &none, &whole);
  count_case(c, &astro_histogram_cpu, &small, &sliced);
  g_assert_cmpuint(whole.n, ==, sliced.n);
  for (gsize k = 0; k < whole.n; k++) {
    g_assert_cmpuint(sliced.counts[k], ==, whole.counts[k]);
    all += whole.counts[k];
    if (whole.sums)
      g_assert_cmpfloat(fabs(sliced.sums[k] - whole.sums[k]), <=, 1e-12 * fabs(whole.sums[k]));
  }
  g_assert_cmpuint(all, >, 0);
  g_assert_cmpfloat(sliced.pairs[0], ==, whole.pairs[0]);
  g_assert_cmpmem(sliced.points, sizeof sliced.points, whole.points, sizeof whole.points);
  counted_clear(&whole);
  counted_clear(&sliced);
}

/* ---- slices ---- */

static AstroSpill *spill_sphere(guint64 n)
{
  static const Case sphere = { .kind = ASTRO_BINNING_ANGULAR };
  g_autoptr(GError) error = NULL;
  AstroCatalogue catalogue;
  make(&sphere, test_place_sphere, n, 3, &catalogue);
  AstroSpill *spill = astro_spill_new(astro_catalogue_column_set(&catalogue), &error);
  g_assert_no_error(error);
  g_assert_true(astro_spill_append(spill, &catalogue, &error));
  astro_catalogue_clear(&catalogue);
  return spill;
}

/* Few slices of points all over the sky are near one another, none is too large, and together they
 * have all the points. */
static void test_few_meet(void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(Slices) slices = slices_new(spill_sphere(50000), FALSE, 1000, 1, NULL, &error);
  guint64 n = 0;
  guint meet = 0;
  g_assert_no_error(error);
  g_assert_cmpuint(slices->n_slices, >=, 50);
  g_assert_cmpuint(slices->n_slices, <=, 80);
  for (guint i = 0; i < slices->n_slices; i++) {
    g_assert_cmpuint(slices->slices[i].n, <=, 1000);
    g_assert_cmpuint(slices->slices[i].first, ==, n);
    n += slices->slices[i].n;
    for (guint j = i + 1; j < slices->n_slices; j++)
      meet += slices_may_meet(&slices->slices[i], &slices->slices[j], 0.0175);
  }
  g_assert_cmpuint(n, ==, 50000);
  g_assert_cmpuint(meet, <, 2 * slices->n_slices);
}

/* A point of the file that cannot be counted is named by its place in the catalogue. */
static void test_bad_point(void)
{
  static const gboolean data_alone[ASTRO_N_SIDES] = { TRUE };
  static const AstroPlace place = { .threads = 1 };
  const AstroHistogramConfig config = config_of(&cases[0]);
  const AstroHeldLimit limit = small_limit(&config);
  g_autoptr(GError) error = NULL;
  AstroCatalogue catalogue;
  AstroHeld held = { 0 };
  make(&cases[0], test_place_sphere, 20000, 1, &catalogue);
  catalogue.dec[17000] = 91;
  hold(&catalogue, &limit, &held);
  AstroCollector *collector =
      astro_collector_new(&config, data_alone, &astro_histogram_cpu, &place, &error);
  astro_collector_set_limit(collector, &limit);
  g_assert_false(astro_collector_take_data(collector, &held, NULL, NULL, &error));
  g_assert_error(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_POINTS);
  g_assert_nonnull(strstr(error->message, "data: point 17000: declination is 91"));
  astro_held_clear(&held);
  astro_catalogue_clear(&catalogue);
  astro_collector_free(collector);
}

typedef struct {
  guint64 last, total;
  guint left; /* calls until it says no */
} Watch;

static gboolean watch(guint64 done, guint64 total, gpointer data)
{
  Watch *w = data;
  g_assert_cmpuint(done, >=, w->last);
  g_assert_cmpuint(done, <=, total);
  w->last = done;
  w->total = total;
  return w->left == 0 || --w->left > 0;
}

/* Progress runs once through all pairs, those of slices that are never read together too, and can
 * end the count. */
static void test_progress(void)
{
  static const gboolean data_alone[ASTRO_N_SIDES] = { TRUE };
  static const AstroPlace place = { .threads = 1 };
  const AstroHistogramConfig config = config_of(&cases[0]);
  const AstroHeldLimit limit = small_limit(&config);
  for (guint stops = 0; stops < 2; stops++) {
    g_autoptr(GError) error = NULL;
    Watch w = { .left = stops ? 5 : 0 };
    AstroHistogramCall call = { watch, &w, NULL };
    AstroCatalogue catalogue;
    AstroHeld held = { 0 };
    make(&cases[0], test_place_sphere, 3000, 1, &catalogue);
    hold(&catalogue, &limit, &held);
    AstroCollector *collector =
        astro_collector_new(&config, data_alone, &astro_histogram_cpu, &place, &error);
    astro_collector_set_limit(collector, &limit);
    g_assert_true(astro_collector_take_data(collector, &held, NULL, &call, &error) == !stops);
    g_assert_cmpuint(w.total, ==, 3000 * 2999 / 2);
    if (stops)
      g_assert_error(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_CANCELLED);
    else
      g_assert_cmpuint(w.last, ==, w.total);
    astro_held_clear(&held);
    astro_catalogue_clear(&catalogue);
    astro_collector_free(collector);
  }
}

/* ---- memory ---- */

#define MEMORY_SHAPES 10
/* For blocks that the C library keeps, and its own. */
#define SLACK (5u << 20)

static guint64 address_space(void)
{
  g_autofree char *pages = NULL;
  g_assert_true(g_file_get_contents("/proc/self/statm", &pages, NULL, NULL));
  return g_ascii_strtoull(pages, NULL, 10) * (guint64)sysconf(_SC_PAGESIZE);
}

static void limit_to(guint64 bytes)
{
  struct rlimit now;
  g_assert_cmpint(getrlimit(RLIMIT_AS, &now), ==, 0);
  now.rlim_cur = bytes;
  g_assert_cmpint(setrlimit(RLIMIT_AS, &now), ==, 0);
}

/* Fills a part of a catalogue, again and again, as a source would. */
static void fill(AstroHeld *held, const AstroHeldLimit *limit, const Case *c, guint64 n,
                 AstroCatalogue *part, guint64 *state)
{
  g_autoptr(GError) error = NULL;
  for (guint64 i = 0; i < n; i += part->n) {
    for (guint64 k = 0; k < part->n; k++)
      c->data(i + k, n, state, &part->ra[k], &part->dec[k]);
    const gboolean good = astro_held_add(held, limit, part, &error);
    g_assert_no_error(error);
    g_assert_true(good);
  }
}

/* Counts in the memory that was allowed, catalogues that alone have several times as many points as
 * it holds, or fewer. */
static void count_in_what_is_allowed(const Case *c, guint64 n, guint64 budget, guint64 slack)
{
  const gboolean is_there[ASTRO_N_SIDES] = { TRUE, TRUE };
  const AstroPlace place = { .threads = 1 };
  AstroHistogramConfig config = config_of(c);
  g_autoptr(GError) error = NULL;
  AstroHeldLimit limit;
  AstroHeld data = { 0 }, random = { 0 };
  AstroCatalogue part;
  guint64 state = n;
  make(c, c->data, 5000, 1, &part);
  const guint64 before = address_space();
  limit_to(before + budget + slack);
  g_assert_true(astro_histogram_share(&config, is_there, 1, budget, &limit, &error));
  fill(&data, &limit, c, n, &part, &state);
  AstroCollector *collector =
      astro_collector_new(&config, is_there, &astro_histogram_cpu, &place, &error);
  g_assert_no_error(error);
  astro_collector_set_limit(collector, &limit);
  const gboolean is_spilled = data.spill != NULL;
  gboolean good = astro_collector_take_data(collector, &data, NULL, NULL, &error);
  g_assert_no_error(error);
  fill(&random, &limit, c, n, &part, &state);
  good = good && astro_collector_take_random(collector, &random, NULL, NULL, &error);
  g_assert_no_error(error);
  g_assert_true(good);
  limit_to(RLIM_INFINITY);
  g_test_message("%s: %" G_GUINT64_FORMAT " points, %.0f MB allowed%s", c->name, n,
                 (double)budget / 1e6, is_spilled ? ", in slices" : "");
  astro_held_clear(&data);
  astro_held_clear(&random);
  astro_catalogue_clear(&part);
  astro_collector_free(collector);
}

static void do_nothing(gpointer data, guint64 task)
{
}

static void count_random_shapes(void)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(48);
  const Case kinds[] = {
    { "by angle", test_place_sphere, .last_edge = 2 },
    { "with weights", test_place_half, .weighted = TRUE, .last_edge = 2 },
    { "with regions", test_place_half, .n_regions = 9, .last_edge = 2 },
    { "in space", test_place_half, .kind = ASTRO_BINNING_RPPI, .last_edge = 1 },
  };
  for (guint i = 0; i < MEMORY_SHAPES; i++) {
    const Case *c = &kinds[i % G_N_ELEMENTS(kinds)];
    const guint64 n = 5000 * (guint64)g_rand_int_range(random, 5, 40);
    count_in_what_is_allowed(c, n, (guint64)g_rand_int_range(random, 13, 30) << 20, SLACK);
  }
}

/* The most memory that this process has had at once. */
static guint64 most_resident(void)
{
  g_autofree char *text = NULL;
  g_assert_true(g_file_get_contents("/proc/self/status", &text, NULL, NULL));
  const char *at = strstr(text, "VmHWM:");
  g_assert_nonnull(at);
  return g_ascii_strtoull(at + strlen("VmHWM:"), NULL, 10) << 10;
}

/* Slices come and go, and what they took goes back to the system, though the C library keeps
 * addresses. */
static void count_many_slices(void)
{
  static const Case c = { "many slices", test_place_sphere, .last_edge = 1 };
  const guint64 budget = 20u << 20, before = most_resident();
  count_in_what_is_allowed(&c, 500000, budget, 1u << 30);
  g_assert_cmpuint(most_resident() - before, <=, budget + (8u << 20));
}

#ifdef __SANITIZE_ADDRESS__
enum { CAN_LIMIT = FALSE };
#else
enum { CAN_LIMIT = TRUE };
#endif

/* In processes of their own, since limits and figures are those of a process. */
static void check_in_child(void (*count)(void))
{
  if (!CAN_LIMIT) {
    g_test_skip("the sanitizer's own memory is without limits");
    return;
  }
  if (g_test_subprocess()) {
    /* Threads begin here, with their stacks. With an arena of its own each would take a large range
     * of addresses once it allocates, which may be later. */
    mallopt(M_ARENA_MAX, 1);
    astro_parallel(1024, 0, do_nothing, NULL);
    count();
    return;
  }
  g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
  g_test_trap_assert_passed();
}

static void test_memory(void)
{
  check_in_child(count_random_shapes);
}

static void test_resident(void)
{
  check_in_child(count_many_slices);
}

/* A point takes 48 bytes of a budget at most, by angle and without weights. */
static void test_bytes_of_a_point(void)
{
  static const gboolean is_there[ASTRO_N_SIDES] = { TRUE };
  const AstroHistogramConfig config = config_of(&cases[0]);
  AstroHeldLimit limit;
  g_assert_true(astro_histogram_share(&config, is_there, 1, 1u << 30, &limit, NULL));
  g_assert_cmpuint(2 * sizeof(double) + limit.of_a_point, <=, 48);
}

static void test_too_small(void)
{
  static const gboolean is_there[ASTRO_N_SIDES] = { TRUE, TRUE };
  AstroHistogramConfig config = config_of(&cases[0]);
  g_autoptr(GError) error = NULL;
  AstroHeldLimit limit;
  config.n_regions = 2000;
  g_assert_false(astro_histogram_share(&config, is_there, 1, 64u << 20, &limit, &error));
  g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_MEMORY);
  g_assert_nonnull(
      strstr(error->message, "2000 regions with each other in 8 bins, and slices of 2 catalogues"));
  g_assert_nonnull(
      strstr(error->message, "and max-memory allows 67108864; expected fewer regions"));
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
    g_autofree char *path = g_strconcat("/histogram-slices/equal/", cases[c].name, NULL);
    g_test_add_data_func(path, &cases[c], test_equal);
  }
  g_test_add_func("/histogram-slices/few-meet", test_few_meet);
  g_test_add_func("/histogram-slices/bad-point", test_bad_point);
  g_test_add_func("/histogram-slices/progress", test_progress);
  g_test_add_func("/histogram-slices/memory", test_memory);
  g_test_add_func("/histogram-slices/resident", test_resident);
  g_test_add_func("/histogram-slices/bytes-of-a-point", test_bytes_of_a_point);
  g_test_add_func("/histogram-slices/too-small", test_too_small);
  return g_test_run();
}
