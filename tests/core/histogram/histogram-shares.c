/* Counts that several instances share: whoever is slow, fails or is stopped, the counts are those
 * of one, or there is an error. */
#include "core/backend/device.h"
#include "core/histogram/deal.h"
#include "core/histogram/shares.h"
#include "tests/core/histogram/histogram.h"

/* The CPU's backend on devices that differ: the index of the place's device says how. */
enum { FAIR, SLOW, FAILS, FAILS_LATE, IGNORES };

typedef struct {
  gpointer counter;
  gint manner;
} Odd;

static gpointer odd_create(gconstpointer config, const AstroPlace *place, const char **variant,
                           GError **error)
{
  AstroPlace host = { .threads = 1 };
  Odd *odd = g_new0(Odd, 1);
  odd->counter = astro_histogram_cpu.create(config, &host, variant, error);
  odd->manner = place->device->index;
  return odd;
}

static gboolean odd_submit(gpointer instance, const AstroBlock *in, guint n_in,
                           const AstroBlock *out, guint n_out, gconstpointer arguments,
                           AstroResult *result, GError **error)
{
  Odd *odd = instance;
  AstroHistogramCall call = { NULL };
  if (arguments)
    call = *(const AstroHistogramCall *)arguments;
  if (odd->manner == FAILS)
    return astro_fail(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_DEVICE, "it is broken");
  if (odd->manner == SLOW)
    g_usleep(50000);
  if (odd->manner == IGNORES)
    call.deal = NULL;
  return astro_histogram_cpu.submit(odd->counter, in, n_in, out, n_out, &call, result, error);
}

static gboolean odd_drain(gpointer instance, AstroResult *result, GError **error)
{
  const Odd *odd = instance;
  return odd->manner != FAILS_LATE ||
         astro_fail(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_DEVICE, "it broke");
}

static void odd_destroy(gpointer instance)
{
  Odd *odd = instance;
  astro_histogram_cpu.destroy(odd->counter);
  g_free(odd);
}

static const AstroBackend odd_backend = {
  .stage = "histogram",
  .kind = ASTRO_BACKEND_CUDA,
  .create = odd_create,
  .submit = odd_submit,
  .drain = odd_drain,
  .destroy = odd_destroy,
};

static AstroDevice devices[] = {
  [FAIR] = { .index = FAIR, .name = "fair" },
  [SLOW] = { .index = SLOW, .name = "slow" },
  [FAILS] = { .index = FAILS, .name = "failing" },
  [FAILS_LATE] = { .index = FAILS_LATE, .name = "failing late" },
  [IGNORES] = { .index = IGNORES, .name = "ignoring" },
};

static HistogramShares *shares_of(const AstroHistogramConfig *config, const guint *manners, guint n)
{
  AstroPlace places[ASTRO_MOST_DEVICES];
  const char *variant = NULL;
  GError *error = NULL;
  for (guint i = 0; i < n; i++)
    places[i] = (AstroPlace){ .device = &devices[manners[i]] };
  HistogramShares *shares = histogram_shares_new(&odd_backend, config, places, n, &variant, &error);
  g_assert_no_error(error);
  g_assert_nonnull(variant);
  return shares;
}

/* Two counts are submitted before they are drained, as with the random catalogues. */
static gboolean count_two(HistogramShares *shares, const AstroHistogramConfig *config,
                          const TestCatalogue *a, const TestCatalogue *b,
                          const AstroHistogramCall *call, guint64 *counts[2], double *sums[2],
                          GError **error)
{
  const gsize bytes = astro_histogram_values(config) * sizeof(guint64);
  g_autoptr(AstroPoints) points = test_points_of(config, a, 1);
  g_autoptr(AstroPoints) other = test_points_of(config, b, 1);
  const AstroBlock in[2] = { { points, 0 }, { other, 0 } };
  gboolean ok = TRUE;
  for (guint n_in = 1; n_in <= 2 && ok; n_in++) {
    const AstroBlock out[2] = { { counts[n_in - 1], bytes }, { sums[n_in - 1], bytes } };
    ok = histogram_shares_submit(shares, in, n_in, out, config->weighted ? 2 : 1, call, error);
  }
  return ok && histogram_shares_drain(shares, error);
}

static void check_same(AstroHistogramConfig *config, const guint *manners, guint n)
{
  TestCatalogue a = test_catalogue_new(test_place_clusters, 900, MAX(config->n_regions, 1), 3),
                b = test_catalogue_new(test_place_half, 700, MAX(config->n_regions, 1), 4);
  const gsize values = astro_histogram_values(config);
  g_autoptr(HistogramShares) shares = shares_of(config, manners, n);
  guint64 *found[2], *expected = g_new(guint64, values);
  double *sums[2], *expected_sums = g_new(double, values);
  GError *error = NULL;
  for (guint k = 0; k < 2; k++) {
    found[k] = g_new(guint64, values);
    sums[k] = g_new(double, values);
    memset(found[k], 0xa5, values * sizeof *found[k]);
    memset(sums[k], 0xa5, values * sizeof *sums[k]);
  }
  g_assert_true(count_two(shares, config, &a, &b, NULL, found, sums, &error));
  g_assert_no_error(error);
  for (guint k = 0; k < 2; k++) {
    test_plain_loop(config, &a, k == 0 ? &a : &b, expected, expected_sums);
    test_assert_counts(found[k], expected, values, "shared");
    if (config->weighted)
      test_assert_sums(sums[k], expected_sums, values, "shared");
    g_free(found[k]);
    g_free(sums[k]);
  }
  g_free(expected);
  g_free(expected_sums);
  test_catalogue_clear(&a);
  test_catalogue_clear(&b);
}

static void test_same(void)
{
  static const guint manners[] = { FAIR, SLOW, FAIR, FAIR, SLOW };
  for (guint n = 1; n <= G_N_ELEMENTS(manners); n++)
    for (guint weighted = 0; weighted < 2; weighted++)
      for (guint regions = 0; regions <= 5; regions += 5) {
        AstroHistogramConfig config = test_standard_bins();
        config.weighted = (gboolean)weighted;
        config.n_regions = regions;
        check_same(&config, manners, n);
      }
}

/* Every pair of tops is given out once, and half of the diagonal, which takes longest, to each of
 * two lanes. */
static void test_even(void)
{
  enum { TOPS = 40 };
  AstroPoints points = { .n_tops = TOPS };
  for (guint alone = 0; alone < 2; alone++) {
    AstroHistogramDeal deal;
    guint given[2] = { 0 }, diagonal[2] = { 0 };
    gboolean seen[TOPS][TOPS] = { { FALSE } }, is_own = TRUE;
    histogram_deal_init(&deal, &points, &points, (gboolean)alone, 2, 0, 1);
    for (guint64 turn = 0, a, b; histogram_deal_take(&deal, turn % 2, &a, &b, &is_own); turn++) {
      g_assert_false(seen[a][b]);
      seen[a][b] = TRUE;
      given[turn % 2]++;
      diagonal[turn % 2] += a == b;
    }
    g_assert_cmpuint(given[0] + given[1], ==, alone ? TOPS * (TOPS + 1) / 2 : TOPS * TOPS);
    g_assert_cmpuint(MAX(given[0], given[1]) - MIN(given[0], given[1]), <=, 1);
    /* half of them, but for a few that the first lane takes from the second at the end */
    g_assert_cmpuint(diagonal[0] + diagonal[1], ==, TOPS);
    g_assert_cmpuint(MAX(diagonal[0], diagonal[1]), <=, alone ? TOPS / 2 + 3 : TOPS / 2);
  }
}

/* One that comes late finds its own columns taken by the others. */
static void test_helped(void)
{
  AstroPoints points = { .n_tops = 9 };
  AstroHistogramDeal deal;
  guint64 a, b;
  guint own = 0, taken = 0;
  gboolean is_own;
  histogram_deal_init(&deal, &points, &points, FALSE, 4, 0, 1);
  for (; histogram_deal_take(&deal, 3, &a, &b, &is_own); taken++)
    own += (guint)is_own;
  g_assert_cmpuint(taken, ==, 81);
  g_assert_cmpuint(own, ==, 18); /* columns 3 and 7 */
  g_assert_false(histogram_deal_take(&deal, 0, &a, &b, &is_own));
}

static void expect_failure(const guint *manners, guint n, const char *says)
{
  AstroHistogramConfig config = test_standard_bins();
  TestCatalogue a = test_catalogue_new(test_place_half, 500, 1, 5);
  guint64 counts[2][64], *to[2] = { counts[0], counts[1] };
  double *sums[2] = { NULL, NULL };
  GError *error = NULL;
  g_autoptr(HistogramShares) shares = shares_of(&config, manners, n);
  g_assert_false(count_two(shares, &config, &a, &a, NULL, to, sums, &error));
  g_assert_nonnull(error);
  g_test_message("%s", error->message);
  g_assert_nonnull(strstr(error->message, says));
  g_clear_error(&error);
  test_catalogue_clear(&a);
}

/* The error names the device, and is not that of another one that had to stop for it. */
static void test_failure(void)
{
  static const guint fails[] = { FAIR, SLOW, FAILS }, late[] = { FAILS_LATE, FAIR },
                     ignores[] = { FAIR, IGNORES };
  expect_failure(fails, 3, "failing: it is broken");
  expect_failure(late, 2, "failing late: it broke");
  expect_failure(ignores, 2, "pairs together, expected");
}

typedef struct {
  guint64 done, total;
  guint calls, stop_at;
} Watch;

static gboolean watch(guint64 done, guint64 total, gpointer data)
{
  Watch *seen = data;
  g_assert_cmpuint(done, >=, seen->done);
  g_assert_cmpuint(done, <=, total);
  seen->done = done == total ? 0 : done; /* the next count begins */
  seen->total = total;
  return ++seen->calls != seen->stop_at;
}

/* Progress is that of all together, and stops all. */
static void test_progress(void)
{
  static const guint manners[] = { FAIR, FAIR, SLOW };
  AstroHistogramConfig config = test_standard_bins();
  TestCatalogue a = test_catalogue_new(test_place_half, 500, 1, 6);
  guint64 counts[2][64], *to[2] = { counts[0], counts[1] };
  double *sums[2] = { NULL, NULL };
  GError *error = NULL;
  g_autoptr(HistogramShares) shares = shares_of(&config, manners, 3);
  Watch seen = { 0 };
  AstroHistogramCall call = { watch, &seen };
  g_assert_true(count_two(shares, &config, &a, &a, &call, to, sums, &error));
  g_assert_cmpuint(seen.total, ==, 500 * 500);
  g_assert_cmpuint(seen.done, ==, 0);
  seen = (Watch){ .stop_at = 5 };
  g_assert_false(count_two(shares, &config, &a, &a, &call, to, sums, &error));
  g_assert_error(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_CANCELLED);
  g_clear_error(&error);
  test_catalogue_clear(&a);
}

/* GPUs of this machine, or one as three. */
static void test_cuda_shares(void)
{
  if (test_skip_without_device())
    return;
  const gint n = MIN(astro_module_get(NULL)->n_devices(NULL), 3);
  AstroDevice *gpus[3];
  AstroPlace places[3] = { { 0 } };
  for (gint i = 0; i < 3; i++)
    gpus[i] = places[i].device = astro_device_open(i % n, NULL);
  for (guint weighted = 0; weighted < 2; weighted++)
    for (guint method = 0; method < 2; method++) {
      AstroHistogramConfig config = test_standard_bins();
      config.weighted = (gboolean)weighted;
      config.n_regions = 4;
      config.method = method ? ASTRO_PAIR_METHOD_BRUTE : ASTRO_PAIR_METHOD_AUTO;
      TestCatalogue a = test_catalogue_new(test_place_clusters, 30000, 4, 7),
                    b = test_catalogue_new(test_place_half, 40000, 4, 8);
      guint64 counts[2][600], expected[600], *to[2] = { counts[0], counts[1] };
      double sums[2][600], expected_sums[600], *sums_to[2] = { sums[0], sums[1] };
      const gsize values = astro_histogram_values(&config);
      const char *variant;
      GError *error = NULL;
      g_assert_cmpuint(values, <=, G_N_ELEMENTS(expected));
      g_autoptr(HistogramShares) shares =
          histogram_shares_new(test_cuda_backend, &config, places, 3, &variant, &error);
      g_assert_no_error(error);
      g_assert_true(count_two(shares, &config, &a, &b, NULL, to, sums_to, &error));
      g_assert_no_error(error);
      for (guint k = 0; k < 2; k++) {
        test_count(&astro_histogram_cpu, &config, 0, &a, k == 0 ? &a : &b, expected, expected_sums);
        test_assert_counts(counts[k], expected, values, "shared by GPUs");
        if (weighted)
          test_assert_sums(sums[k], expected_sums, values, "shared by GPUs");
      }
      test_catalogue_clear(&a);
      test_catalogue_clear(&b);
    }
  for (gint i = 0; i < 3; i++)
    astro_device_unref(gpus[i]);
}

static void add_tests(void)
{
  g_test_add_func("/histogram-shares/even", test_even);
  g_test_add_func("/histogram-shares/helped", test_helped);
  g_test_add_func("/histogram-shares/same", test_same);
  g_test_add_func("/histogram-shares/failure", test_failure);
  g_test_add_func("/histogram-shares/progress", test_progress);
  g_test_add_func("/histogram-shares/cuda", test_cuda_shares);
}

int main(int argc, char **argv)
{
  return test_histogram(argc, argv, add_tests);
}
