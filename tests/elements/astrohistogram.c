/* Counts of pairs, and the events about them, compared with the reference on every backend. */
#include "core/histogram/histogram.h"
#include "tests/device.h"
#include "tests/elements/astrohistogram.h"

#define BAND " footprint=band:0,30,0,20 "
#define BINS " min-angle=1 max-angle=1000 bins-per-decade=5 "
enum { N_BINS = 15 };

static AstroPoints *points_of(guint64 n, guint64 seed, guint64 index)
{
  AstroCatalogue catalogue;
  AstroRandom random;
  astro_random_init(&random, seed, index);
  g_assert_true(astro_catalogue_uniform(&band, n, &random, &catalogue, NULL));
  AstroPoints *points =
      astro_points_new(catalogue.ra, catalogue.dec, NULL, NULL, n, 0, 1, NULL, NULL);
  astro_catalogue_clear(&catalogue);
  return points;
}

/* Adds a count by the reference to N_BINS values; b NULL: of a alone. */
static void add_count(AstroPoints *a, AstroPoints *b, guint64 *counts)
{
  AstroHistogramConfig config = { 0 };
  const char *variant;
  guint64 found[N_BINS];
  g_assert_true(astro_histogram_edges_per_decade(&config, 1, 1000, 5, NULL));
  gpointer counter = astro_histogram_reference.create(&config, NULL, &variant, NULL);
  AstroBlock in[2] = { { a, 0 }, { b, 0 } }, out = { found, sizeof found };
  g_assert_true(
      astro_histogram_reference.submit(counter, in, b ? 2 : 1, &out, 1, NULL, NULL, NULL));
  astro_histogram_reference.destroy(counter);
  for (guint k = 0; k < N_BINS; k++)
    counts[k] += found[k];
}

static void check_counts(GPtrArray *samples, guint i, const guint64 *expected, guint n_kinds,
                         const char *kinds)
{
  gsize bytes;
  gint bins;
  g_autofree guint64 *found = test_sample_data(samples, i, &bytes);
  const GstStructure *caps = test_sample_caps(samples, i);
  g_assert_cmpmem(found, bytes, expected, n_kinds * N_BINS * sizeof *expected);
  g_assert_cmpstr(gst_structure_get_string(caps, "pairs"), ==, kinds);
  g_assert_cmpstr(gst_structure_get_string(caps, "format"), ==, "U64LE");
  g_assert_cmpstr(gst_structure_get_string(caps, "layout"), ==, "pairs:bin");
  g_assert_true(gst_structure_get_int(caps, "bins", &bins));
  g_assert_cmpint(bins, ==, N_BINS);
}

static void test_alone(void)
{
  static const char *const backends[] = { "auto", "cpu", "reference" };
  guint64 expected[N_BINS] = { 0 };
  g_autoptr(AstroPoints) data = points_of(700, 1, 0);
  add_count(data, NULL, expected);
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
    g_autofree char *message = NULL,
                    *line = g_strdup_printf("astrocatsrc points=700" BAND
                                            "! h.data astrohistogram name=h backend=%s" BINS
                                            "! appsink name=out",
                                            backends[b]);
    g_autoptr(GPtrArray) samples = test_samples(line, &message);
    g_assert_null(message);
    g_assert_cmpuint(samples->len, ==, 1);
    check_counts(samples, 0, expected, 1, "dd");
  }
}

static void test_random(void)
{
  guint64 expected[2][3 * N_BINS] = { 0 };
  g_autoptr(AstroPoints) data = points_of(500, 1, 0);
  for (guint r = 0; r < 3; r++) {
    g_autoptr(AstroPoints) random = points_of(300, 2, r);
    for (guint when = 0; when < 2; when++) {
      if (when == 0 && r == 2)
        continue;
      if (r == 0)
        add_count(data, NULL, expected[when]);
      add_count(data, random, expected[when] + N_BINS);
      add_count(random, NULL, expected[when] + 2 * N_BINS);
    }
  }
  static const guint intervals[] = { 0, 2, 3 }, n_samples[] = { 1, 2, 1 };
  for (guint i = 0; i < G_N_ELEMENTS(intervals); i++) {
    g_autofree char *message = NULL,
                    *line = g_strdup_printf(
                        "astrohistogram name=h interval=%u" BINS "! appsink name=out "
                        "astrocatsrc points=500 seed=1" BAND "! h.data "
                        "astrocatsrc points=300 catalogues=3 seed=2" BAND "! h.random",
                        intervals[i]);
    g_autoptr(GPtrArray) samples = test_samples(line, &message);
    g_assert_null(message);
    g_assert_cmpuint(samples->len, ==, n_samples[i]);
    if (n_samples[i] == 2)
      check_counts(samples, 0, expected[0], 3, "dd:dr:rr");
    check_counts(samples, n_samples[i] - 1, expected[1], 3, "dd:dr:rr");
  }
}

static guint64 *counts_within(const char *max_memory, guint split)
{
  gsize bytes;
  g_autofree char *message = NULL;
  g_autofree char *line = g_strdup_printf(
      "astrohistogram name=h max-memory=%s split=%u regions=3 linear-bins=6 min-angle=0 "
      "max-angle=30 ! appsink name=out astrocatsrc points=20000 catalogues=3" BAND "! h.data "
      "astrocatsrc points=40000 catalogues=2 seed=2" BAND "! h.random",
      max_memory, split);
  g_autoptr(GPtrArray) samples = test_samples(line, &message);
  g_assert_cmpstr(message, ==, NULL);
  g_assert_cmpuint(samples->len, ==, 1);
  return test_sample_data(samples, 0, &bytes);
}

/* 8 MB leave room for some 30,000 points: catalogues go through files, in parts as they come, split
 * or not, and count the same. */
static void test_max_memory(void)
{
  for (guint split = 1; split <= 3; split += 2) {
    g_autofree guint64 *whole = counts_within("0.5", split), *sliced = counts_within("8M", split);
    guint64 all = 0;
    for (guint k = 0; k < 3 * 3 * 3 * 6; k++) {
      g_assert_cmpuint(sliced[k], ==, whole[k]);
      all += whole[k];
    }
    g_assert_cmpuint(all, >, 0);
  }
}

/* Buffers on the data pad are parts of one catalogue. */
static void test_parts(void)
{
  AstroCatalogue parts[2];
  double ra[400], dec[400];
  for (guint p = 0; p < 2; p++) {
    AstroRandom random;
    astro_random_init(&random, 1, p);
    g_assert_true(astro_catalogue_uniform(&band, 200, &random, &parts[p], NULL));
    memcpy(ra + 200 * p, parts[p].ra, sizeof ra / 2);
    memcpy(dec + 200 * p, parts[p].dec, sizeof dec / 2);
    astro_catalogue_clear(&parts[p]);
  }
  guint64 expected[N_BINS] = { 0 };
  g_autoptr(AstroPoints) all = astro_points_new(ra, dec, NULL, NULL, 400, 0, 1, NULL, NULL);
  add_count(all, NULL, expected);
  g_autofree char *message = NULL;
  g_autoptr(GPtrArray) samples =
      test_samples("astrocatsrc points=200 catalogues=2" BAND "! h.data astrohistogram name=h" BINS
                   "! appsink name=out",
                   &message);
  g_assert_null(message);
  check_counts(samples, 0, expected, 1, "dd");
}

static void test_cross(void)
{
  guint64 expected[4 * N_BINS] = { 0 };
  g_autoptr(AstroPoints) d1 = points_of(300, 1, 0);
  g_autoptr(AstroPoints) d2 = points_of(200, 2, 0);
  add_count(d1, d2, expected);
  for (guint r = 0; r < 2; r++) {
    g_autoptr(AstroPoints) r1 = points_of(250, 3, r);
    g_autoptr(AstroPoints) r2 = points_of(150, 4, r);
    add_count(d1, r2, expected + N_BINS);
    add_count(r1, d2, expected + 2 * N_BINS);
    add_count(r1, r2, expected + 3 * N_BINS);
  }
  g_autofree char *message = NULL;
  g_autoptr(GPtrArray) samples =
      test_samples("astrohistogram name=h" BINS "! appsink name=out "
                   "astrocatsrc points=300 seed=1" BAND "! h.data "
                   "astrocatsrc points=200 seed=2" BAND "! h.data2 "
                   "astrocatsrc points=250 catalogues=2 seed=3" BAND "! h.random "
                   "astrocatsrc points=150 catalogues=2 seed=4" BAND "! h.random2",
                   &message);
  g_assert_null(message);
  check_counts(samples, 0, expected, 4, "dd:dr:rd:rr");
}

/* Bins of equal width, from 0 as well: all pairs together. */
static void test_linear(void)
{
  g_autofree char *message = NULL;
  g_autoptr(GPtrArray) samples = test_samples(
      "astrohistogram name=h min-angle=0 max-angle=10800.5 linear-bins=7 ! appsink name=out "
      "astrocatsrc points=300 ! h.data",
      &message);
  gsize bytes;
  gint bins;
  guint64 sum = 0;
  g_assert_null(message);
  g_assert_cmpuint(samples->len, ==, 1);
  g_autofree guint64 *found = test_sample_data(samples, 0, &bytes);
  g_assert_true(gst_structure_get_int(test_sample_caps(samples, 0), "bins", &bins));
  g_assert_cmpint(bins, ==, 7);
  g_assert_cmpuint(bytes, ==, 7 * sizeof *found);
  for (guint k = 0; k < 7; k++) {
    g_assert_cmpuint(found[k], >, 0);
    sum += found[k];
  }
  g_assert_cmpuint(sum, ==, 300 * 299 / 2);
  /* points over the whole sky: the middle bin holds most, and the bins on its two sides hold about
   * as many as each other */
  g_assert_cmpuint(found[3], >, found[1]);
  g_assert_cmpuint(found[3], >, found[5]);
}

/* Matrices of regions, from a column or from our own cells, add up to the counts without
 * regions. */
static void test_regions(void)
{
  static const char *const columns[] = { "regions=5", "" };
  enum { REGIONS = 5 };
  guint64 expected[3 * N_BINS] = { 0 };
  g_autoptr(AstroPoints) data = points_of(500, 1, 0);
  g_autoptr(AstroPoints) random = points_of(300, 2, 0);
  add_count(data, NULL, expected);
  add_count(data, random, expected + N_BINS);
  add_count(random, NULL, expected + 2 * N_BINS);
  for (guint c = 0; c < G_N_ELEMENTS(columns); c++) {
    g_autofree char *message = NULL,
                    *line =
                        g_strdup_printf("astrohistogram name=h regions=5" BINS "! appsink name=out "
                                        "astrocatsrc points=500 seed=1 %s" BAND "! h.data "
                                        "astrocatsrc points=300 seed=2 %s" BAND "! h.random",
                                        columns[c], columns[c]);
    g_autoptr(GPtrArray) samples = test_samples(line, &message);
    gsize bytes;
    g_assert_null(message);
    g_assert_cmpuint(samples->len, ==, 1);
    g_autofree guint64 *found = test_sample_data(samples, 0, &bytes);
    g_assert_cmpuint(bytes, ==, 3 * REGIONS * REGIONS * N_BINS * sizeof *found);
    g_assert_cmpstr(gst_structure_get_string(test_sample_caps(samples, 0), "layout"), ==,
                    "pairs:region:region:bin");
    for (guint kind = 0; kind < 3; kind++) {
      guint64 total[N_BINS] = { 0 };
      guint cells_used = 0;
      const guint64 *matrix = found + kind * REGIONS * REGIONS * N_BINS;
      for (guint cell = 0; cell < REGIONS * REGIONS; cell++)
        for (guint k = 0; k < N_BINS; k++)
          total[k] += matrix[cell * N_BINS + k];
      g_assert_cmpmem(total, sizeof total, expected + kind * N_BINS, sizeof total);
      for (guint cell = 0; cell < REGIONS * REGIONS; cell++)
        cells_used += matrix[cell * N_BINS + N_BINS - 1] > 0;
      g_assert_cmpuint(cells_used, >, REGIONS);
    }
  }
}

/* Counts go on until the catalogues of all pads end, whichever pad was requested first. */
static void test_duration(void)
{
  static const char *const lines[] = {
    "astrohistogram name=h ! fakesink astrocatsrc ! h.data astrocatsrc catalogues=4 ! h.random",
    "astrohistogram name=h ! fakesink astrocatsrc catalogues=4 ! h.random astrocatsrc ! h.data",
  };
  for (guint i = 0; i < G_N_ELEMENTS(lines); i++) {
    g_autoptr(GstElement) pipeline = gst_parse_launch(lines[i], NULL);
    gint64 duration;
    g_assert_true(gst_element_query_duration(pipeline, GST_FORMAT_TIME, &duration));
    g_assert_cmpint(duration, ==, 4 * GST_SECOND);
    g_assert_false(gst_element_query_duration(pipeline, GST_FORMAT_BYTES, &duration));
  }
}

/* The event says which fractions the counts are. */
static void test_summary(void)
{
  GstHarness *h = gst_harness_new_with_padnames("astrohistogram", "data", "src");
  g_object_set(h->element, "edges", "0, 60, 600", "regions", 2, NULL);
  gst_harness_set_src_caps_str(h, "application/x-astro-catalogue,format=F64LE,layout=column:point,"
                                  "columns=ra:dec:weight:region");
  double points[4][3] = { { 0, 0.5, 5 }, { 0, 0, 0 }, { 1, 2, 3 }, { 0, 1, 1 } };
  gst_harness_push(h, gst_buffer_new_memdup(points, sizeof points));
  gst_harness_push_event(h, gst_event_new_eos());
  GstBuffer *buffer = gst_harness_pull(h);
  g_assert_nonnull(buffer);
  static const double sums[2 * 2 * 2] = { 0, 0, 2, 3, 0, 0, 0, 6 };
  static const guint64 counts[2 * 2 * 2] = { 0, 0, 1, 1, 0, 0, 0, 1 };
  g_assert_cmpint(gst_buffer_memcmp(buffer, 0, sums, sizeof sums), ==, 0);
  g_assert_cmpuint(gst_buffer_get_size(buffer), ==, sizeof sums);
  gst_buffer_unref(buffer);
  AstroSummary summary;
  pull_summary(h, &summary);
  g_assert_cmpuint(summary.n_kinds, ==, 1);
  g_assert_cmpuint(summary.n_regions, ==, 2);
  g_assert_cmpuint(summary.n_edges, ==, 3);
  g_assert_cmpfloat(summary.edges[2], ==, 600);
  static const double pairs[] = { 0, 5, 0, 6 };
  g_assert_cmpmem(summary.pairs, 4 * sizeof(double), pairs, sizeof pairs);
  g_assert_cmpuint(summary.points[ASTRO_SIDE_DATA], ==, 3);
  g_assert_cmpuint(summary.points[ASTRO_SIDE_RANDOM], ==, 0);
  g_assert_cmpuint(summary.catalogues, ==, 0);
  gsize bytes;
  gconstpointer found = g_bytes_get_data(summary.counts, &bytes);
  g_assert_cmpmem(found, bytes, counts, sizeof counts);
  astro_summary_clear(&summary);
  gst_harness_teardown(h);
}

static void test_bad_summaries(void)
{
  static const char *const wrong[] = { "astro-histogram", "astro-histogram,kinds=(uint)1",
                                       "astro-histogram,kinds=(uint)1,regions=(uint)1,edges=1" };
  for (guint w = 0; w < G_N_ELEMENTS(wrong); w++) {
    GstEvent *event = gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM_STICKY,
                                           gst_structure_from_string(wrong[w], NULL));
    AstroSummary summary;
    GError *error = NULL;
    g_assert_true(astro_event_is_summary(event));
    g_assert_false(astro_summary_from_event(&summary, event, &error));
    g_assert_nonnull(error);
    g_clear_error(&error);
    gst_event_unref(event);
  }
}

static GPtrArray *samples_of(const char *backend)
{
  g_autofree char *message = NULL,
                  *line = g_strdup_printf(
                      "astrohistogram name=h interval=2 regions=6 backend=%s" BINS
                      "! appsink name=out astrocatsrc points=5000 seed=1" BAND "! h.data "
                      "astrocatsrc points=3000 catalogues=5 seed=2" BAND "! h.random",
                      backend);
  GPtrArray *samples = test_samples(line, &message);
  g_assert_null(message);
  g_assert_cmpuint(samples->len, ==, 3);
  return samples;
}

/* A GPU makes the same histograms, with regions, at intervals too; and it stops in mid-count. */
static void test_cuda(void)
{
  g_autoptr(AstroDevice) device = test_open_device();
  if (!device)
    return;
  g_autoptr(GPtrArray) by_cpu = samples_of("cpu");
  g_autoptr(GPtrArray) by_cuda = samples_of("cuda");
  for (guint i = 0; i < by_cpu->len; i++) {
    gsize bytes, expected_bytes;
    g_autofree guint64 *expected = test_sample_data(by_cpu, i, &expected_bytes),
                       *found = test_sample_data(by_cuda, i, &bytes);
    g_assert_cmpmem(found, bytes, expected, expected_bytes);
  }
  for (guint i = 0; i < 50; i++) {
    GstElement *pipeline = gst_parse_launch(
        "astrocatsrc points=300000 ! h.data astrocatsrc points=300000 catalogues=50 ! h.random "
        "astrohistogram name=h method=brute backend=cuda ! fakesink async=false",
        NULL);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    g_usleep(i * 10000);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(pipeline);
  }
}

static void test_active_backend(void)
{
  GstElement *pipeline = gst_parse_launch("astrocatsrc points=100 ! h.data astrohistogram name=h "
                                          "backend=cpu ! fakesink",
                                          NULL);
  GstElement *h = gst_bin_get_by_name(GST_BIN(pipeline), "h");
  g_autofree char *before = NULL, *after = NULL;
  g_object_get(h, "active-backend", &before, NULL);
  g_assert_null(before);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstBus *bus = gst_element_get_bus(pipeline);
  GstMessage *message =
      gst_bus_timed_pop_filtered(bus, TEST_PATIENCE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_cmpint(GST_MESSAGE_TYPE(message), ==, GST_MESSAGE_EOS);
  g_object_get(h, "active-backend", &after, NULL);
  g_assert_true(g_str_has_prefix(after, "cpu/"));
  gst_message_unref(message);
  gst_object_unref(bus);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(h);
  gst_object_unref(pipeline);
}

static void add_tests(void)
{
  g_test_add_func("/astrohistogram/alone", test_alone);
  g_test_add_func("/astrohistogram/random", test_random);
  g_test_add_func("/astrohistogram/parts", test_parts);
  g_test_add_func("/astrohistogram/max-memory", test_max_memory);
  g_test_add_func("/astrohistogram/cross", test_cross);
  g_test_add_func("/astrohistogram/linear", test_linear);
  g_test_add_func("/astrohistogram/regions", test_regions);
  g_test_add_func("/astrohistogram/duration", test_duration);
  g_test_add_func("/astrohistogram/summary", test_summary);
  g_test_add_func("/astrohistogram/bad-summaries", test_bad_summaries);
  g_test_add_func("/astrohistogram/cuda", test_cuda);
  g_test_add_func("/astrohistogram/active-backend", test_active_backend);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
