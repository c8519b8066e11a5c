/* Counting as callers use it: late, several at once, watched, stopped, and with little memory. */
#include "core/histogram/regions.h"
#include "core/histogram/from-catalogues.h"
#include "tests/core/histogram/histogram.h"
#include "core/backend/device.h"

/* A backend that is as late as a device's may be: outputs are written when it is drained. */
typedef struct {
  gpointer counter;
  GArray *blocks; /* where the counts are to go, and the counts */
} Late;
typedef struct {
  AstroBlock to;
  gpointer counts;
} LateBlock;

static gpointer late_create(gconstpointer config, const AstroPlace *place, const char **variant,
                            GError **error)
{
  Late *late = g_new(Late, 1);
  late->counter = astro_histogram_cpu.create(config, place, variant, error);
  late->blocks = g_array_new(FALSE, FALSE, sizeof(LateBlock));
  return late;
}

static gboolean late_submit(gpointer instance, const AstroBlock *in, guint n_in,
                            const AstroBlock *out, guint n_out, gconstpointer arguments,
                            AstroResult *result, GError **error)
{
  Late *late = instance;
  LateBlock block = { out[0], g_malloc(out[0].bytes) };
  AstroBlock own = { block.counts, out[0].bytes };
  g_assert_cmpuint(n_out, ==, 1);
  memset(out[0].data, 0xa5, out[0].bytes);
  g_array_append_val(late->blocks, block);
  return astro_histogram_cpu.submit(late->counter, in, n_in, &own, 1, arguments, result, error);
}

static gboolean late_drain(gpointer instance, AstroResult *result, GError **error)
{
  Late *late = instance;
  for (guint i = 0; i < late->blocks->len; i++) {
    LateBlock *block = &g_array_index(late->blocks, LateBlock, i);
    memcpy(block->to.data, block->counts, block->to.bytes);
    g_free(block->counts);
  }
  g_array_set_size(late->blocks, 0);
  return TRUE;
}

static void late_destroy(gpointer instance)
{
  Late *late = instance;
  late_drain(late, NULL, NULL);
  g_array_unref(late->blocks);
  astro_histogram_cpu.destroy(late->counter);
  g_free(late);
}

static gboolean any_shape(gconstpointer config, GError **error)
{
  return TRUE;
}

/* Data, and random catalogues that come while those before are counted. */
static guint64 *collect(const AstroBackend *backend, gsize *bytes)
{
  static const AstroFootprint band = { .ra_max = 30, .dec_max = 20 };
  static const gboolean is_there[ASTRO_N_SIDES] = { TRUE, TRUE };
  AstroHistogramConfig config = test_standard_bins();
  AstroPlace place = { 0 };
  GError *error = NULL;
  config.n_regions = 4;
  AstroCollector *collector = astro_collector_new(&config, is_there, backend, &place, &error);
  for (guint c = 0; c < 6; c++) {
    AstroCatalogue catalogue;
    AstroRandom random;
    astro_random_init(&random, c, 0);
    astro_catalogue_uniform(&band, 500 + 100 * c, &random, &catalogue, &error);
    if (c == 0)
      astro_collector_add_data(collector, &catalogue, NULL, NULL, &error);
    else
      astro_collector_add_random(collector, &catalogue, NULL, NULL, &error);
    g_assert_no_error(error);
    astro_catalogue_clear(&catalogue);
  }
  g_assert_true(astro_collector_finish(collector, &error));
  g_assert_cmpuint(astro_collector_n_random(collector), ==, 5);
  AstroSummary summary;
  astro_collector_summary(collector, &summary);
  g_assert_cmpuint(summary.points[ASTRO_SIDE_DATA], ==, 500);
  g_assert_cmpuint(summary.points[ASTRO_SIDE_RANDOM], ==, 600 + 700 + 800 + 900 + 1000);
  g_assert_cmpuint(summary.catalogues, ==, 5);
  astro_summary_clear(&summary);
  gconstpointer values = astro_collector_values(collector, bytes);
  guint64 *copy = g_memdup2(values, *bytes);
  astro_collector_free(collector);
  return copy;
}

static void test_late(void)
{
  static const AstroBackend late = {
    .shape = any_shape,
    .create = late_create,
    .submit = late_submit,
    .drain = late_drain,
    .destroy = late_destroy,
  };
  gsize bytes, late_bytes;
  g_autofree guint64 *at_once = collect(&astro_histogram_cpu, &bytes),
                     *later = collect(&late, &late_bytes);
  g_assert_cmpmem(later, late_bytes, at_once, bytes);
}

/* Several counts are queued before the first is waited for, with catalogues that are freed at once,
 * so that others reuse their memory. */
static void test_cuda_queued(void)
{
  enum { CATALOGUES = 12 };
  if (test_skip_without_device())
    return;
  AstroHistogramConfig config = test_standard_bins();
  AstroPlace place = { .device = test_cuda_device };
  const char *variant;
  GError *error = NULL;
  guint64 found[CATALOGUES][2][30], expected[30];
  double sums[30];
  TestCatalogue data = test_catalogue_new(test_place_half, 20000, 1, 30), random[CATALOGUES];
  gpointer instance = test_cuda_backend->create(&config, &place, &variant, &error);
  g_assert_no_error(error);
  memset(found, 0xa5, sizeof found);
  AstroPoints *points = test_points_of(&config, &data, 0);
  for (guint c = 0; c < CATALOGUES; c++) {
    random[c] = test_catalogue_new(test_place_sphere, 20000, 1, 31 + c);
    AstroPoints *other = test_points_of(&config, &random[c], 0);
    AstroBlock in[2] = { { points, 0 }, { other, 0 } };
    for (guint n_in = 1; n_in <= 2; n_in++) {
      AstroBlock out = { found[c][n_in - 1], sizeof found[c][n_in - 1] };
      test_cuda_backend->submit(instance, n_in == 1 ? in + 1 : in, n_in, &out, 1, NULL, NULL,
                                &error);
      g_assert_no_error(error);
    }
    astro_points_free(other);
  }
  astro_points_free(points);
  test_cuda_backend->drain(instance, NULL, &error);
  g_assert_no_error(error);
  test_cuda_backend->destroy(instance);
  for (guint c = 0; c < CATALOGUES; c++) {
    test_count(&astro_histogram_cpu, &config, 0, &random[c], &random[c], expected, sums);
    test_assert_counts(found[c][0], expected, 30, "queued, one catalogue");
    test_count(&astro_histogram_cpu, &config, 0, &data, &random[c], expected, sums);
    test_assert_counts(found[c][1], expected, 30, "queued, two catalogues");
    test_catalogue_clear(&random[c]);
  }
  test_catalogue_clear(&data);
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
  seen->done = done;
  seen->total = total;
  return ++seen->calls != seen->stop_at;
}

static void check_progress(const AstroBackend *backend, guint64 n)
{
  AstroHistogramConfig config = test_standard_bins();
  TestCatalogue a = test_catalogue_new(test_place_half, n, 1, 15);
  AstroPoints *points = test_points_of(&config, &a, 0);
  guint64 counts[64];
  AstroBlock in[2] = { { points, 0 }, { points, 0 } }, out = { counts, sizeof counts };
  const char *variant;
  GError *error = NULL;
  gpointer counter = backend->create(&config, NULL, &variant, NULL);
  for (guint n_in = 1; n_in <= 2; n_in++) {
    Watch seen = { 0 };
    AstroHistogramCall call = { watch, &seen };
    g_assert_true(backend->submit(counter, in, n_in, &out, 1, &call, NULL, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(seen.total, ==, n_in == 1 ? a.n * (a.n - 1) / 2 : a.n * a.n);
    g_assert_cmpuint(seen.done, ==, seen.total);
  }
  Watch seen = { .stop_at = 3 };
  AstroHistogramCall call = { watch, &seen };
  g_assert_false(backend->submit(counter, in, 1, &out, 1, &call, NULL, &error));
  g_assert_error(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_CANCELLED);
  g_clear_error(&error);
  g_assert_cmpuint(seen.done, <, seen.total);
  backend->destroy(counter);
  astro_points_free(points);
  test_catalogue_clear(&a);
}

static void test_progress(void)
{
  check_progress(&astro_histogram_reference, 500);
  check_progress(&astro_histogram_cpu, 500);
}

/* Called once a slice: one catalogue has several. */
static void test_cuda_progress(void)
{
  if (!test_skip_without_device())
    check_progress(&test_cuda, 300000);
}

/* Says no that many times, then yes once, and no again. */
static gboolean says_once(gpointer left)
{
  return g_atomic_int_add((gint *)left, -1) == 0;
}

typedef enum { POINTS, REGIONS, COLLECTED } Ready;

/* TRUE: it was done before it was stopped, and had no error. */
static gboolean make_ready(Ready what, const TestCatalogue *a, const AstroStop *stop)
{
  GError *error = NULL;
  gboolean done;
  if (what == COLLECTED) {
    static const gboolean data_alone[ASTRO_N_SIDES] = { TRUE };
    AstroHistogramConfig config = { .n_edges = 2, .edges = { 0.01, 0.02 }, .n_regions = 6 };
    const AstroPlace place = { .threads = 2 };
    const AstroCatalogue data = { .n = a->n, .ra = a->ra, .dec = a->dec };
    AstroHistogramCall call = { .stop = stop };
    AstroCollector *collector =
        astro_collector_new(&config, data_alone, &astro_histogram_cpu, &place, NULL);
    done = astro_collector_add_data(collector, &data, NULL, &call, &error);
    astro_collector_free(collector);
  } else if (what == REGIONS) {
    g_autoptr(AstroRegions) regions = astro_regions_new(a->ra, a->dec, a->n, 6, stop, &error);
    done = regions != NULL;
  } else {
    g_autoptr(AstroPoints) points =
        astro_points_new(a->ra, a->dec, NULL, NULL, a->n, 0, 2, stop, &error);
    done = points != NULL;
  }
  if (!done)
    g_assert_error(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_CANCELLED);
  g_assert_true(done == !error);
  g_clear_error(&error);
  return done;
}

/* Work on many points is given up wherever it is, without waiting for pairs. */
static void test_stopped_early(void)
{
  static const guint least[] = { [POINTS] = 25, [REGIONS] = 6, [COLLECTED] = 50 };
  TestCatalogue a = test_catalogue_new(test_place_half, 200000, 1, 15);
  for (Ready what = POINTS; what <= COLLECTED; what++) {
    gboolean done = FALSE;
    guint asked = 0;
    for (; !done; asked += TEST_STEP) {
      gint left = (gint)asked;
      const AstroStop stop = { says_once, &left };
      done = make_ready(what, &a, &stop);
    }
    g_assert_cmpuint(asked, >=, least[what]);
  }
  test_catalogue_clear(&a);
}

/* Bytes of device memory in use. */
static gsize bytes_taken(void)
{
  AstroDeviceMemory memory = { 0 };
  g_assert_true(test_cuda_device->funcs->memory(test_cuda_device, &memory, NULL));
  return memory.ours;
}

/* Stopped in mid-count again and again: with slices at work, and with counts that nobody waits for
 * any more. */
static void test_cuda_stops(void)
{
  enum { STOPS = 1000 };
  static Watch seen[STOPS];
  if (test_skip_without_device())
    return;
  AstroHistogramConfig config = test_standard_bins();
  AstroPlace place = { .device = test_cuda_device };
  guint64 counts[30];
  gsize before = 0;
  AstroBlock out = { counts, sizeof counts };
  TestCatalogue a = test_catalogue_new(test_place_half, 300000, 1, 40),
                b = test_catalogue_new(test_place_half, 100, 1, 41);
  AstroPoints *many = test_points_of(&config, &a, 0), *few = test_points_of(&config, &b, 0);
  gpointer kept = NULL;
  guint in_mid_count = 0;
  for (guint i = 0; i < STOPS; i++) {
    const char *variant;
    GError *error = NULL;
    /* most of them by one instance, since making one takes as long as counting */
    gpointer instance =
        kept && i % 20 ? kept : test_cuda_backend->create(&config, &place, &variant, &error);
    g_assert_no_error(error);
    /* may be called until the count is drained or the instance destroyed */
    seen[i] = (Watch){ .stop_at = 1 + i % 20 / 10 };
    AstroHistogramCall call = { watch, &seen[i] };
    AstroBlock in = { i % 10 ? few : many, 0 };
    gboolean good = test_cuda_backend->submit(instance, &in, 1, &out, 1, &call, NULL, &error);
    if (!good) {
      g_assert_error(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_CANCELLED);
      g_assert_cmpuint(seen[i].done, <, seen[i].total);
      g_clear_error(&error);
      in_mid_count++;
    }
    if (instance != kept) {
      if (kept)
        test_cuda_backend->destroy(kept);
      kept = instance;
    }
    if (i == 119) /* as far on as the last instance will be */
      before = bytes_taken();
  }
  g_assert_cmpuint(in_mid_count, ==, STOPS / 10);
  g_assert_cmpuint(bytes_taken(), ==, before);
  test_cuda_backend->destroy(kept);
  astro_points_free(many);
  astro_points_free(few);
  test_catalogue_clear(&a);
  test_catalogue_clear(&b);
}

/* Little memory is enough; less is refused with an error. */
static void test_cuda_memory(void)
{
  static const gsize left[] = { (gsize)24 << 20, (gsize)1 << 20 };
  if (test_skip_without_device())
    return;
  AstroHistogramConfig config = test_standard_bins();
  AstroPlace place = { .device = test_cuda_device };
  guint64 counts[30], expected[30];
  double sums[30];
  AstroBlock out = { counts, sizeof counts };
  TestCatalogue a = test_catalogue_new(test_place_half, 97178, 1, 50);
  test_count(&astro_histogram_cpu, &config, 0, &a, &a, expected, sums);
  AstroPoints *points = test_points_of(&config, &a, 0);
  AstroBlock in = { points, 0 };
  for (guint l = 0; l < G_N_ELEMENTS(left); l++) {
    const char *variant;
    GError *error = NULL;
    gpointer instance = test_cuda_backend->create(&config, &place, &variant, &error);
    g_assert_no_error(error);
    g_autofree char *limit = g_strdup_printf("%" G_GSIZE_FORMAT, bytes_taken() + left[l]);
    g_setenv("ASTRO_CUDA_MEMORY", limit, TRUE);
    gboolean good = test_cuda_backend->submit(instance, &in, 1, &out, 1, NULL, NULL, &error) &&
                    test_cuda_backend->drain(instance, NULL, &error);
    g_unsetenv("ASTRO_CUDA_MEMORY");
    if (l == 0) {
      g_assert_no_error(error);
      test_assert_counts(counts, expected, 30, "little memory");
    } else {
      g_assert_false(good);
      g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_MEMORY);
      g_assert_nonnull(strstr(error->message, "bytes of"));
      g_clear_error(&error);
    }
    /* the same instance goes on when there is memory again */
    test_cuda_backend->submit(instance, &in, 1, &out, 1, NULL, NULL, &error);
    g_assert_no_error(error);
    test_cuda_backend->drain(instance, NULL, &error);
    g_assert_no_error(error);
    test_assert_counts(counts, expected, 30, "memory again");
    test_cuda_backend->destroy(instance);
  }
  astro_points_free(points);
  test_catalogue_clear(&a);
}

static void add_tests(void)
{
  g_test_add_func("/histogram/progress", test_progress);
  g_test_add_func("/histogram/stopped-early", test_stopped_early);
  g_test_add_func("/histogram/late", test_late);
  g_test_add_func("/histogram/cuda/queued", test_cuda_queued);
  g_test_add_func("/histogram/cuda/progress", test_cuda_progress);
  g_test_add_func("/histogram/cuda/stops", test_cuda_stops);
  g_test_add_func("/histogram/cuda/memory", test_cuda_memory);
}

int main(int argc, char **argv)
{
  return test_histogram(argc, argv, add_tests);
}
