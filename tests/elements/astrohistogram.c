#include "core/backend/backend.h"
#include "core/catalogue/catalogue.h"
#include "core/histogram/histogram.h"
#include "core/histogram/summary.h"
#include "tests/elements/catalogues.h"

#include <glib/gstdio.h>
#include <math.h>

static const AstroFootprint band = {
  .shape = ASTRO_FOOTPRINT_BAND, .ra_min = 0, .ra_max = 30, .dec_min = 0, .dec_max = 20
};
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
  g_assert_true(astro_histogram_reference.submit(counter, in, b ? 2 : 1, &out, 1, NULL, NULL));
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

/* Bins of equal width, from 0 on too: all pairs together. */
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
  /* points all around: the middle bin holds most, and those on both sides of it about as many */
  g_assert_cmpuint(found[3], >, found[1]);
  g_assert_cmpuint(found[3], >, found[5]);
}

/* Matrices, from the column and from cells of our own, sum up to the counts without regions. */
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

/* Counts go on as long as the catalogues of any pad do, whichever was requested first. */
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

static void pull_summary(GstHarness *h, AstroSummary *summary)
{
  GError *error = NULL;
  GstEvent *event;
  while ((event = gst_harness_pull_event(h)) && !astro_event_is_summary(event))
    gst_event_unref(event);
  g_assert_nonnull(event);
  astro_summary_from_event(summary, event, &error);
  g_assert_no_error(error);
  gst_event_unref(event);
}

/* The event says what the counts are parts of. */
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

static void test_refusals(void)
{
  test_refused("astrocatsrc ! h.data astrohistogram name=h edges=\"1,2,inf\" ! fakesink",
               "edge 2 is inf, expected a finite number of 0 or more");
  test_refused("astrocatsrc ! h.data astrohistogram name=h edges=\"nan,2\" ! fakesink",
               "edge 0 is nan, expected a finite number");
  test_refused("astrocatsrc ! h.data astrohistogram name=h edges=\"1,1\" ! fakesink", "edges rise");
  test_refused("astrocatsrc ! h.data astrohistogram name=h edges=\"1,two\" ! fakesink",
               "found \"two\"");
  test_refused("astrocatsrc ! h.data astrohistogram name=h edges=\"5\" ! fakesink", "1 edges");
  test_refused("astrocatsrc ! h.data astrohistogram name=h edges=\"1,2\" linear-bins=3 ! fakesink",
               "edges and linear-bins");
  test_refused("astrocatsrc ! h.data astrohistogram name=h min-angle=5 max-angle=2 ! fakesink",
               "must be the larger");
  test_refused("astrocatsrc ! h.data astrohistogram name=h min-angle=0 ! fakesink", "both above 0");
  test_refused(
      "astrocatsrc ! h.data astrohistogram name=h min-angle=5 max-angle=5 linear-bins=3 ! fakesink",
      "from 5 to 5");
  test_refused("astrocatsrc points=10 ! h.data astrohistogram name=h regions=11 ! fakesink",
               "11 regions of 10 points");
  /* more than addresses reach */
  test_refused("astrohistogram name=h regions=65535 linear-bins=1024 ! fakesink "
               "astrocatsrc points=65535 ! h.data astrocatsrc points=9 ! h.random",
               "65535 regions with each other in 1024 bins");
  /* each block less than the machine has, all of them more: of 3 kinds of pairs */
  guint regions = (guint)sqrt(0.45 * (double)astro_host_memory() / (3 * 1024 * sizeof(guint64)));
  g_autofree char *most = g_strdup_printf("astrohistogram name=h regions=%u linear-bins=1024 ! "
                                          "fakesink astrocatsrc points=%u ! h.data "
                                          "astrocatsrc points=9 ! h.random",
                                          regions, regions);
  test_refused(most, "expected fewer regions or bins");
  test_refused("astrocatsrc points=0 ! h.data astrohistogram name=h ! fakesink",
               "data catalogue is empty");
  test_refused("astrocatsrc points=99 ! h.data astrocatsrc points=0 ! h.random astrohistogram "
               "name=h ! fakesink",
               "random catalogue is empty");
  test_refused("astrocatsrc ! h.random astrohistogram name=h ! fakesink", "no data catalogue");
  test_refused("fakesrc num-buffers=1 sizetype=fixed sizemax=64 ! h.data "
               "astrohistogram name=h ! fakesink",
               "pad data: a buffer came without caps");
  test_refused(
      "astrocatsrc points=99 ! h.data fakesrc num-buffers=0 ! application/x-astro-catalogue,"
      "format=F64LE,layout=column:point,columns=ra:dec ! h.random astrohistogram name=h ! "
      "fakesink",
      "random catalogue is empty");
  test_refused("astrohistogram name=h ! fakesink astrocatsrc points=9 ! h.data "
               "astrocatsrc points=9 ! h.data2 astrocatsrc points=9 catalogues=3 ! h.random "
               "astrocatsrc points=9 catalogues=2 ! h.random2",
               "pad random2 ended after 2 catalogues, and pad random has more");
  test_refused(
      "astrocatsrc regions=3 ! h.data astrocatsrc ! h.random astrohistogram name=h regions=3 ! "
      "fakesink",
      "no column of regions");
  test_refused("astrocatsrc regions=5 ! h.data astrohistogram name=h regions=3 ! fakesink",
               "region is");
}

static GstBuffer *points_buffer(guint64 n)
{
  AstroCatalogue catalogue;
  AstroRandom random;
  astro_random_init(&random, n, 0);
  g_assert_true(astro_catalogue_uniform(&band, n, &random, &catalogue, NULL));
  GstBuffer *buffer = gst_buffer_new_memdup(catalogue.ra, n * sizeof(double));
  buffer = gst_buffer_append(buffer, gst_buffer_new_memdup(catalogue.dec, n * sizeof(double)));
  astro_catalogue_clear(&catalogue);
  return buffer;
}

/* A catalogue for a pad, which is requested. */
static GstHarness *feed(GstElement *element, const char *pad, guint64 n)
{
  GstHarness *h = gst_harness_new_with_element(element, pad, NULL);
  gst_harness_set_src_caps_str(
      h, "application/x-astro-catalogue,format=F64LE,layout=column:point,columns=ra:dec");
  gst_harness_push(h, points_buffer(n));
  return h;
}

/* Blocks that are missing, as an element in front tells, are no catalogues. */
static void test_gaps(void)
{
  GstHarness *h = gst_harness_new_with_padnames("astrohistogram", NULL, "src");
  GstHarness *data = feed(h->element, "data", 300), *random = feed(h->element, "random", 400);
  g_assert_true(gst_harness_push_event(data, gst_event_new_gap(0, GST_SECOND)));
  g_assert_true(gst_harness_push_event(data, gst_event_new_eos()));
  g_assert_true(gst_harness_push_event(random, gst_event_new_gap(GST_SECOND, GST_SECOND)));
  g_assert_true(gst_harness_push_event(random, gst_event_new_eos()));
  GstBuffer *buffer = gst_harness_pull(h);
  g_assert_nonnull(buffer);
  g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, 1);
  gst_buffer_unref(buffer);
  gst_harness_teardown(random);
  gst_harness_teardown(data);
  gst_harness_teardown(h);
}

static GstBuffer *of_pads(gboolean flushed)
{
  GstHarness *h = gst_harness_new_with_padnames("astrohistogram", NULL, "src");
  GstHarness *data = feed(h->element, "data", flushed ? 200 : 300),
             *random = feed(h->element, "random", 400);
  if (flushed) {
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    g_usleep(100000); /* so that it is taken */
    g_assert_true(gst_harness_push_event(data, gst_event_new_flush_start()));
    g_assert_true(gst_harness_push_event(data, gst_event_new_flush_stop(TRUE)));
    g_assert_true(gst_harness_push_event(data, gst_event_new_segment(&segment)));
    gst_harness_push(data, points_buffer(300));
  }
  g_assert_true(gst_harness_push_event(data, gst_event_new_eos()));
  g_assert_true(gst_harness_push_event(random, gst_event_new_eos()));
  GstBuffer *buffer = gst_harness_pull(h);
  g_assert_nonnull(buffer);
  gst_harness_teardown(random);
  gst_harness_teardown(data);
  gst_harness_teardown(h);
  return buffer;
}

static void assert_alike(GstBuffer *expected, GstBuffer *found)
{
  GstMapInfo map;
  g_assert_true(gst_buffer_map(expected, &map, GST_MAP_READ));
  g_assert_cmpint(gst_buffer_memcmp(found, 0, map.data, map.size), ==, 0);
  g_assert_cmpuint(gst_buffer_get_size(found), ==, map.size);
  gst_buffer_unmap(expected, &map);
}

/* What a pad gave before it was flushed is none of its catalogue. */
static void test_flushed(void)
{
  g_autoptr(GstBuffer) expected = of_pads(FALSE), found = of_pads(TRUE);
  assert_alike(expected, found);
}

static void note_end(GObject *histogram, GParamSpec *spec, gpointer ended)
{
  g_atomic_int_set((gint *)ended, TRUE);
}

/* A count is not waited for when all is flushed, and nothing is left of it. */
static void test_flushed_count(void)
{
  gint ended = FALSE; /* atomic: the backend is told when the data is counted */
  GstHarness *h = gst_harness_new_with_padnames("astrohistogram", NULL, "src");
  g_autoptr(GstBus) bus = gst_bus_new();
  gst_element_set_bus(h->element, bus);
  g_object_set(h->element, "backend", ASTRO_BACKEND_REFERENCE, NULL);
  gulong handler =
      g_signal_connect(h->element, "notify::active-backend", G_CALLBACK(note_end), &ended);
  GstHarness *data = feed(h->element, "data", 40000);
  g_assert_true(gst_harness_push_event(data, gst_event_new_eos()));
  g_autoptr(GstMessage) counting =
      gst_bus_timed_pop_filtered(bus, 60 * GST_SECOND, GST_MESSAGE_PROGRESS);
  g_assert_nonnull(counting);
  g_assert_true(gst_harness_push_event(data, gst_event_new_flush_start()));
  g_assert_false(g_atomic_int_get(&ended));
  g_signal_handler_disconnect(h->element, handler);

  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  g_assert_true(gst_harness_push_event(data, gst_event_new_flush_stop(TRUE)));
  g_assert_true(gst_harness_push_event(data, gst_event_new_segment(&segment)));
  gst_harness_push(data, points_buffer(300));
  g_assert_true(gst_harness_push_event(data, gst_event_new_eos()));
  g_autoptr(GstBuffer) buffer = gst_harness_pull(h);
  g_assert_nonnull(buffer);
  g_assert_null(gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR));
  gst_element_set_bus(h->element, NULL);
  gst_harness_teardown(data);
  gst_harness_teardown(h);
}

/* As gst-astro does at Ctrl-C, while the bus says that a count is at work. */
static void interrupt(GstHarness *h, GstBus *bus)
{
  g_autoptr(GstMessage) counting =
      gst_bus_timed_pop_filtered(bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_PROGRESS);
  g_assert_true(gst_harness_push_upstream_event(
      h,
      gst_event_new_custom(GST_EVENT_CUSTOM_UPSTREAM, gst_structure_new_empty("astro-interrupt"))));
}

/* Of a count that a user interrupts there is no histogram. */
static void test_interrupted(void)
{
  GstHarness *h = gst_harness_new_with_padnames("astrohistogram", NULL, "src");
  g_autoptr(GstBus) bus = gst_bus_new();
  gst_element_set_bus(h->element, bus);
  g_object_set(h->element, "backend", ASTRO_BACKEND_REFERENCE, NULL);
  GstHarness *data = feed(h->element, "data", 40000), *random = feed(h->element, "random", 400);
  g_assert_true(gst_harness_push_event(data, gst_event_new_eos()));
  interrupt(h, bus);
  g_assert_true(gst_harness_push_event(random, gst_event_new_eos()));
  g_autoptr(GError) error = NULL;
  g_autoptr(GstMessage) message =
      gst_bus_timed_pop_filtered(bus, 60 * GST_SECOND, GST_MESSAGE_ERROR);
  g_assert_nonnull(message);
  gst_message_parse_error(message, &error, NULL);
  test_says(error->message, "interrupted");
  g_assert_cmpuint(gst_harness_buffers_received(h), ==, 0);
  gst_element_set_bus(h->element, NULL);
  gst_harness_teardown(random);
  gst_harness_teardown(data);
  gst_harness_teardown(h);
}

/* Random catalogues that were counted before are kept, and nothing of the one that is at work. */
static void test_interrupted_later(void)
{
  GstHarness *h = gst_harness_new_with_padnames("astrohistogram", NULL, "src");
  g_autoptr(GstBus) bus = gst_bus_new();
  gst_element_set_bus(h->element, bus);
  g_object_set(h->element, "backend", ASTRO_BACKEND_REFERENCE, NULL);
  GstHarness *data = feed(h->element, "data", 300), *random = feed(h->element, "random", 400);
  g_assert_true(gst_harness_push_event(data, gst_event_new_eos()));
  gst_harness_push(random, points_buffer(40000));
  interrupt(h, bus);
  g_assert_true(gst_harness_push_event(random, gst_event_new_eos()));

  g_autoptr(GstBuffer) found = gst_harness_pull(h), expected = of_pads(FALSE);
  g_assert_nonnull(found);
  g_assert_cmpuint(GST_BUFFER_OFFSET(found), ==, 1);
  assert_alike(expected, found);
  static const double pairs[] = { 300 * 299 / 2, 300 * 400, 400 * 399 / 2 };
  AstroSummary summary;
  pull_summary(h, &summary);
  g_assert_cmpmem(summary.pairs, 3 * sizeof(double), pairs, sizeof pairs);
  g_assert_cmpuint(summary.points[ASTRO_SIDE_DATA], ==, 300);
  g_assert_cmpuint(summary.points[ASTRO_SIDE_RANDOM], ==, 400);
  g_assert_cmpuint(summary.catalogues, ==, 1);
  astro_summary_clear(&summary);

  g_autoptr(GError) warning = NULL;
  g_autoptr(GstMessage) message = gst_bus_pop_filtered(bus, GST_MESSAGE_WARNING);
  g_assert_nonnull(message);
  gst_message_parse_warning(message, &warning, NULL);
  test_says(warning->message, "interrupted");
  test_says(warning->message, "1 random catalogue");
  gst_element_set_bus(h->element, NULL);
  gst_harness_teardown(random);
  gst_harness_teardown(data);
  gst_harness_teardown(h);
}

/* Points that no count is made with any more are refused: they were taken, and left out. */
static void test_late_pads(void)
{
  static const char *const pads[] = { "data2", "random2" };
  for (guint i = 0; i < G_N_ELEMENTS(pads); i++) {
    GstHarness *h = gst_harness_new_with_padnames("astrohistogram", NULL, "src");
    g_autoptr(GstBus) bus = gst_bus_new();
    g_object_set(h->element, "interval", 1, NULL);
    gst_element_set_bus(h->element, bus);
    GstHarness *data = feed(h->element, "data", 300), *random = feed(h->element, "random", 400);
    g_assert_true(gst_harness_push_event(data, gst_event_new_eos()));
    gst_buffer_unref(gst_harness_pull(h));
    GstHarness *late = feed(h->element, pads[i], 200);
    g_assert_true(gst_harness_push_event(late, gst_event_new_eos()));
    g_assert_true(gst_harness_push_event(random, gst_event_new_eos()));
    g_autoptr(GstMessage) message =
        gst_bus_timed_pop_filtered(bus, 20 * GST_SECOND, GST_MESSAGE_ERROR);
    g_assert_nonnull(message);
    g_autoptr(GError) error = NULL;
    gst_message_parse_error(message, &error, NULL);
    test_says(error->message, pads[i]);
    test_says(error->message, "after counting had begun");
    gst_element_set_bus(h->element, NULL);
    gst_harness_teardown(late);
    gst_harness_teardown(random);
    gst_harness_teardown(data);
    gst_harness_teardown(h);
  }
}

static void set_regions(GObject *histogram, GParamSpec *spec, gpointer n)
{
  g_object_set(histogram, "regions", GPOINTER_TO_INT(n), NULL);
}

/* What is counted already is told as it was counted. */
static void test_late_regions(void)
{
  static const guint regions[][2] = { { 5, 0 }, { 5, 9 }, { 0, 5 } };
  for (guint i = 0; i < G_N_ELEMENTS(regions); i++) {
    GstHarness *h = gst_harness_new_with_padnames("astrohistogram", NULL, "src");
    g_object_set(h->element, "regions", regions[i][0], NULL);
    g_signal_connect(h->element, "notify::active-backend", G_CALLBACK(set_regions),
                     GINT_TO_POINTER(regions[i][1]));
    GstHarness *data = feed(h->element, "data", 300);
    g_assert_true(gst_harness_push_event(data, gst_event_new_eos()));
    gst_buffer_unref(gst_harness_pull(h));
    g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
    gint told = 1;
    gst_structure_get_int(gst_caps_get_structure(caps, 0), "regions", &told);
    g_assert_cmpint(told, ==, MAX(regions[i][0], 1));
    gst_harness_teardown(data);
    gst_harness_teardown(h);
  }
}

static void set_interval(GObject *histogram, GParamSpec *spec, gpointer unused)
{
  g_object_set(histogram, "interval", 1, NULL);
}

/* An interval that is set while it counts is for the next stream. */
static void test_late_interval(void)
{
  GstHarness *h = gst_harness_new_with_padnames("astrohistogram", NULL, "src");
  g_signal_connect(h->element, "notify::active-backend", G_CALLBACK(set_interval), NULL);
  GstHarness *data = feed(h->element, "data", 300), *random = feed(h->element, "random", 400);
  g_assert_true(gst_harness_push_event(data, gst_event_new_eos()));
  gst_harness_push(random, points_buffer(200));
  g_assert_true(gst_harness_push_event(random, gst_event_new_eos()));
  g_autoptr(GstBuffer) buffer = gst_harness_pull(h);
  g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, 2);
  gst_harness_teardown(random);
  gst_harness_teardown(data);
  gst_harness_teardown(h);
}

/* Weights below 0 pass for data, and for random points they do not; those whose products are no
 * numbers for none. */
static void test_negative_weights(void)
{
  g_autofree char *folder = g_dir_make_tmp("astro-XXXXXX", NULL),
                  *path = g_build_filename(folder, "points.csv", NULL), *message = NULL;
  g_assert_true(g_file_set_contents(path, "ra,dec,w\n1,2,0.5\n3,4,-0.25\n", -1, NULL));
  g_autofree char *data = g_strdup_printf("astrocatsrc location=%s weight-column=w ! h.data "
                                          "astrocatsrc points=5 ! h.random "
                                          "astrohistogram name=h ! appsink name=out",
                                          path);
  g_autofree char *random = g_strdup_printf("astrocatsrc location=%s weight-column=w ! h.random "
                                            "astrocatsrc points=5 ! h.data "
                                            "astrohistogram name=h ! fakesink",
                                            path);
  g_autoptr(GPtrArray) samples = test_samples(data, &message);
  g_assert_null(message);
  g_assert_cmpuint(samples->len, ==, 1);
  test_refused(random, "weight of -0.25 at point 1");
  g_assert_true(g_file_set_contents(path, "ra,dec,w\n1,2,3e154\n3,4,-3e154\n", -1, NULL));
  test_refused(data, "the data catalogue has weights whose sizes sum up to 6e+154");
  g_unlink(path);
  g_rmdir(folder);
}

/* Parts that do not fit together are no catalogue, whichever comes first. */
static void test_mixed_parts(void)
{
  static const char *const lines[] = {
    "concat name=all ! h.data astrohistogram name=h ! fakesink "
    "astrocatsrc points=50 regions=3 ! all. astrocatsrc points=70 ! all.",
    "concat name=all ! h.data astrohistogram name=h ! fakesink "
    "astrocatsrc points=70 ! all. astrocatsrc points=50 regions=3 ! all.",
  };
  test_refused(lines[0], "pad data: a part of a catalogue with columns ra:dec after one with "
                         "ra:dec:region");
  test_refused(lines[1], "pad data: a part of a catalogue with columns ra:dec:region after one "
                         "with ra:dec");
}

static void test_bad_caps(void)
{
  static const char *const wrong[] = {
    "application/x-astro-catalogue,format=F32LE,layout=column:point,columns=ra:dec",
    "application/x-astro-catalogue,format=F64LE,layout=point:column,columns=ra:dec",
    "application/x-astro-catalogue,format=F64LE,layout=column:point,columns=x:y",
    "application/x-astro-catalogue,format=F64LE,layout=column:point",
  };
  for (guint w = 0; w < G_N_ELEMENTS(wrong); w++) {
    GstHarness *h = gst_harness_new_with_padnames("astrohistogram", "data", "src");
    GstBus *bus = gst_bus_new();
    gst_element_set_bus(h->element, bus);
    gst_harness_set_src_caps_str(h, wrong[w]);
    gst_harness_push(h, gst_buffer_new_allocate(NULL, 32, NULL));
    GstMessage *message = gst_bus_timed_pop_filtered(bus, 10 * GST_SECOND, GST_MESSAGE_ERROR);
    g_assert_nonnull(message);
    gst_message_unref(message);
    /* nor is the buffer taken for points */
    message = gst_bus_timed_pop_filtered(bus, 10 * GST_SECOND, GST_MESSAGE_ERROR);
    g_assert_nonnull(message);
    gst_message_unref(message);
    gst_element_set_bus(h->element, NULL);
    gst_object_unref(bus);
    gst_harness_teardown(h);
  }
}

/* A count that would take minutes ends with the pipeline. */
static void test_stop(void)
{
  GstElement *pipeline = gst_parse_launch(
      "astrocatsrc points=300000 ! h.data astrohistogram name=h threads=1 backend=reference ! "
      "fakesink async=false",
      NULL);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_usleep(500000);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
}

/* Catalogues are sent once: a seek is refused, and the count goes on as if none had come. */
static void test_seek(void)
{
  GstElement *pipeline = gst_parse_launch("astrohistogram name=h ! fakesink sync=false "
                                          "astrocatsrc points=300 ! h.data "
                                          "astrocatsrc points=300 catalogues=3 ! h.random",
                                          NULL);
  GstBus *bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PAUSED);
  gst_element_get_state(pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
  g_assert_false(gst_element_seek_simple(pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 0));
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_autoptr(GstMessage) end =
      gst_bus_timed_pop_filtered(bus, 20 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_nonnull(end);
  g_assert_cmpint(GST_MESSAGE_TYPE(end), ==, GST_MESSAGE_EOS);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(bus);
  gst_object_unref(pipeline);
}

/* A device that is not there is named when the pipeline starts. */
static void test_no_device(void)
{
  GstElement *pipeline = gst_parse_launch(
      "astrocatsrc points=100 ! h.data astrohistogram name=h backend=cuda device=63 ! fakesink",
      NULL);
  g_assert_cmpint(gst_element_set_state(pipeline, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_FAILURE);
  GstBus *bus = gst_element_get_bus(pipeline);
  GstMessage *message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  g_assert_nonnull(message);
  g_autoptr(GError) error = NULL;
  gst_message_parse_error(message, &error, NULL);
  g_assert_true(g_str_has_prefix(error->message, "backend=cuda: "));
  gst_message_unref(message);
  gst_object_unref(bus);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
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

/* The same histograms from a GPU, regions and all, sent at intervals too; and stops in mid-count.
 */
static void test_cuda(void)
{
  g_autoptr(GError) none = NULL;
  g_autoptr(AstroDevice) device = astro_device_open(0, &none);
  if (!device) {
    g_test_skip(none->message);
    return;
  }
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
      gst_bus_timed_pop_filtered(bus, 20 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
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
  g_test_add_func("/astrohistogram/cross", test_cross);
  g_test_add_func("/astrohistogram/linear", test_linear);
  g_test_add_func("/astrohistogram/regions", test_regions);
  g_test_add_func("/astrohistogram/duration", test_duration);
  g_test_add_func("/astrohistogram/summary", test_summary);
  g_test_add_func("/astrohistogram/bad-summaries", test_bad_summaries);
  g_test_add_func("/astrohistogram/refusals", test_refusals);
  g_test_add_func("/astrohistogram/gaps", test_gaps);
  g_test_add_func("/astrohistogram/flushed", test_flushed);
  g_test_add_func("/astrohistogram/flushed-count", test_flushed_count);
  g_test_add_func("/astrohistogram/interrupted", test_interrupted);
  g_test_add_func("/astrohistogram/interrupted-later", test_interrupted_later);
  g_test_add_func("/astrohistogram/late-pads", test_late_pads);
  g_test_add_func("/astrohistogram/late-regions", test_late_regions);
  g_test_add_func("/astrohistogram/late-interval", test_late_interval);
  g_test_add_func("/astrohistogram/negative-weights", test_negative_weights);
  g_test_add_func("/astrohistogram/mixed-parts", test_mixed_parts);
  g_test_add_func("/astrohistogram/bad-caps", test_bad_caps);
  g_test_add_func("/astrohistogram/stop", test_stop);
  g_test_add_func("/astrohistogram/seek", test_seek);
  g_test_add_func("/astrohistogram/no-device", test_no_device);
  g_test_add_func("/astrohistogram/cuda", test_cuda);
  g_test_add_func("/astrohistogram/active-backend", test_active_backend);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
