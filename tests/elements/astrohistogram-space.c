/* Pairs in space through elements: from files and mock catalogues to counts, their caps and what is
 * refused. */
#include "core/histogram/histogram.h"
#include "core/lib/catalogue/distance.h"
#include "tests/elements/astrohistogram.h"

#include <glib/gstdio.h>
#include <math.h>

enum { POINTS = 300, ROWS = 10 };

typedef struct {
  char *folder, *distances, *redshifts;
  double ra[POINTS], dec[POINTS], distance[POINTS], weight[POINTS];
} Place;

/* Two files of the same points: with distances, and with the redshifts from which they follow. */
static void place_make(Place *place)
{
  AstroRandom random;
  g_autoptr(GString) far = g_string_new("ra,dec,d,w\n"), red = g_string_new("ra,dec,z,w\n");
  astro_random_init(&random, 3, 0);
  for (guint i = 0; i < POINTS; i++) {
    const double z = 0.2 + 0.01 * astro_random_uniform(&random);
    place->ra[i] = 3 * astro_random_uniform(&random);
    place->dec[i] = 3 * astro_random_uniform(&random);
    place->weight[i] = 0.5 + astro_random_uniform(&random);
    place->distance[i] = astro_comoving_distance(z, 0.31);
    g_string_append_printf(far, "%.17g,%.17g,%.17g,%.17g\n", place->ra[i], place->dec[i],
                           place->distance[i], place->weight[i]);
    g_string_append_printf(red, "%.17g,%.17g,%.17g,%.17g\n", place->ra[i], place->dec[i], z,
                           place->weight[i]);
  }
  place->folder = g_dir_make_tmp("astro-XXXXXX", NULL);
  place->distances = g_build_filename(place->folder, "distances.csv", NULL);
  place->redshifts = g_build_filename(place->folder, "redshifts.csv", NULL);
  g_assert_true(g_file_set_contents(place->distances, far->str, -1, NULL));
  g_assert_true(g_file_set_contents(place->redshifts, red->str, -1, NULL));
}

static void place_clear(Place *place)
{
  g_unlink(place->distances);
  g_unlink(place->redshifts);
  g_rmdir(place->folder);
  g_free(place->folder);
  g_free(place->distances);
  g_free(place->redshifts);
}

static void count_by_reference(const Place *place, AstroHistogramConfig *config, gpointer counts,
                               gpointer sums)
{
  const char *variant;
  GError *error = NULL;
  g_autoptr(AstroPoints) points = astro_points_in_space(place->ra, place->dec, place->distance,
                                                        config->weighted ? place->weight : NULL,
                                                        NULL, POINTS, 0, 1, NULL, &error);
  g_assert_no_error(error);
  gpointer counter = astro_histogram_reference.create(config, NULL, &variant, &error);
  const gsize bytes = astro_histogram_values(config) * sizeof(guint64);
  AstroBlock in = { points, 0 }, out[2] = { { counts, bytes }, { sums, bytes } };
  g_assert_true(astro_histogram_reference.submit(counter, &in, 1, out, config->weighted ? 2 : 1,
                                                 NULL, NULL, &error));
  astro_histogram_reference.destroy(counter);
}

/* Runs a line and checks the counts that reach its end, and their caps. */
static void check_line(const char *line, const guint64 *expected, gsize bytes, const char *layout,
                       const char *field, gint columns)
{
  g_autofree char *message = NULL;
  g_autoptr(GPtrArray) samples = test_samples(line, &message);
  g_assert_cmpstr(message, ==, NULL);
  g_assert_cmpuint(samples->len, ==, 1);
  gsize found_bytes;
  gint bins, across;
  g_autofree gpointer found = test_sample_data(samples, 0, &found_bytes);
  const GstStructure *caps = test_sample_caps(samples, 0);
  g_assert_cmpmem(found, found_bytes, expected, bytes);
  g_assert_cmpstr(gst_structure_get_string(caps, "layout"), ==, layout);
  g_assert_true(gst_structure_get_int(caps, "bins", &bins));
  g_assert_true(gst_structure_get_int(caps, field, &across));
  g_assert_cmpint(bins, ==, ROWS);
  g_assert_cmpint(across, ==, columns);
}

static void check_kind(const Place *place, AstroBinning kind, const char *settings, gint columns,
                       double most, const char *layout, const char *field)
{
  AstroHistogramConfig config = { .kind = kind, .n_columns = (guint)columns, .most_across = most };
  g_assert_true(astro_histogram_edges_linear(&config, 0, 40, ROWS, NULL));
  const gsize bytes = astro_histogram_values(&config) * sizeof(guint64);
  g_autofree guint64 *expected = g_malloc(bytes);
  count_by_reference(place, &config, expected, NULL);
  static const char *const backends[] = { "auto", "cpu", "reference" };
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++)
    for (guint from_redshifts = 0; from_redshifts < 2; from_redshifts++) {
      g_autofree char *line = g_strdup_printf(
          "astrofitssrc location=%s %s ! h.data astrohistogram name=h linear-bins=%d "
          "min-separation=0 max-separation=40 backend=%s %s ! appsink name=out",
          from_redshifts ? place->redshifts : place->distances,
          from_redshifts ? "redshift-column=z omega-m=0.31" : "distance-column=d", ROWS,
          backends[b], settings);
      check_line(line, expected, bytes, layout, field, columns);
    }
  g_autofree char *by_catsrc = g_strdup_printf(
      "astrocatsrc location=%s redshift-column=z omega-m=0.31 ! h.data astrohistogram name=h "
      "linear-bins=%d min-separation=0 max-separation=40 %s ! appsink name=out",
      place->redshifts, ROWS, settings);
  check_line(by_catsrc, expected, bytes, layout, field, columns);
}

static void test_counts(void)
{
  Place place;
  place_make(&place);
  check_kind(&place, ASTRO_BINNING_SMU, "kind=smu mu-bins=7", 7, 1, "pairs:bin:mu", "mu-bins");
  check_kind(&place, ASTRO_BINNING_RPPI, "kind=rppi pi-bins=5 pi-max=20", 5, 20, "pairs:bin:pi",
             "pi-bins");
  place_clear(&place);
}

static void test_weights(void)
{
  Place place;
  place_make(&place);
  AstroHistogramConfig config = {
    .kind = ASTRO_BINNING_SMU, .n_columns = 4, .most_across = 1, .weighted = TRUE
  };
  enum { VALUES = ROWS * 4 };
  guint64 counts[VALUES];
  double sums[VALUES];
  gsize bytes;
  g_assert_true(astro_histogram_edges_linear(&config, 0, 40, ROWS, NULL));
  count_by_reference(&place, &config, counts, sums);
  g_autofree char *message = NULL,
                  *line = g_strdup_printf(
                      "astrofitssrc location=%s distance-column=d weight-column=w ! h.data "
                      "astrohistogram name=h kind=smu mu-bins=4 linear-bins=%d min-separation=0 "
                      "max-separation=40 ! appsink name=out",
                      place.distances, ROWS);
  g_autoptr(GPtrArray) samples = test_samples(line, &message);
  g_assert_cmpstr(message, ==, NULL);
  g_autofree double *found = test_sample_data(samples, 0, &bytes);
  g_assert_cmpuint(bytes, ==, sizeof sums);
  for (guint k = 0; k < VALUES; k++)
    g_assert_true(fabs(found[k] - sums[k]) <= 1e-12 * sums[k]);
  place_clear(&place);
}

#define MOCK "astrocatsrc points=200 min-distance=300 max-distance=400 footprint=cap:10,10,5 "
#define SMU "astrohistogram name=h kind=smu "

/* Regions add axes, and random points kinds of pairs: all pairs within reach are in some bin. */
static void test_regions(void)
{
  g_autofree char *message = NULL;
  g_autoptr(GPtrArray) samples =
      test_samples(SMU "regions=3 linear-bins=4 min-separation=0 max-separation=1000 mu-bins=6 ! "
                       "appsink name=out " MOCK "! h.data " MOCK "seed=2 catalogues=2 ! h.random",
                   &message);
  g_assert_cmpstr(message, ==, NULL);
  enum { CELLS = 9, BINS = 24 };
  gsize bytes;
  g_autofree guint64 *found = test_sample_data(samples, 0, &bytes);
  g_assert_cmpstr(gst_structure_get_string(test_sample_caps(samples, 0), "layout"), ==,
                  "pairs:region:region:bin:mu");
  g_assert_cmpuint(bytes, ==, 3 * CELLS * BINS * sizeof *found);
  static const guint64 expected[] = { 200 * 199 / 2, 2 * 200 * 200, 2 * 200 * 199 / 2 };
  for (guint kind = 0; kind < 3; kind++) {
    guint64 sum = 0;
    for (guint k = 0; k < CELLS * BINS; k++)
      sum += found[kind * CELLS * BINS + k];
    g_assert_cmpuint(sum, ==, expected[kind]);
  }
}

/* A histogram in space goes through a file of blocks, and two are added if their bins are alike. */
static void test_through_file(void)
{
  g_autofree char *folder = g_dir_make_tmp("astro-XXXXXX", NULL),
                  *path = g_build_filename(folder, "pairs.fits", NULL);
  g_autofree char *write = g_strdup_printf(
      SMU "mu-bins=5 mu-max=0.75 bins-per-decade=3 ! astrofitssink location=%s " MOCK "! h.data",
      path);
  g_autofree char *said = test_launch(write), *message = NULL, *message2 = NULL, *message3 = NULL;
  g_assert_cmpstr(said, ==, NULL);
  g_autofree char *read = g_strdup_printf("astrofitssrc location=%s ! appsink name=out", path);
  g_autofree char *sum =
      g_strdup_printf("astroadd name=a ! appsink name=out "
                      "astrofitssrc location=%s ! a. astrofitssrc location=%s ! a.",
                      path, path);
  g_autoptr(GPtrArray) direct = test_samples(
      SMU "mu-bins=5 mu-max=0.75 bins-per-decade=3 ! appsink name=out " MOCK "! h.data", &message);
  g_autoptr(GPtrArray) again = test_samples(read, &message2), added = test_samples(sum, &message3);
  g_assert_cmpstr(message, ==, NULL);
  g_assert_cmpstr(message2, ==, NULL);
  g_assert_cmpstr(message3, ==, NULL);
  gsize bytes, again_bytes, added_bytes;
  g_autofree guint64 *a = test_sample_data(direct, 0, &bytes),
                     *b = test_sample_data(again, 0, &again_bytes),
                     *c = test_sample_data(added, 0, &added_bytes);
  g_assert_cmpmem(a, bytes, b, again_bytes);
  g_assert_cmpuint(added_bytes, ==, bytes);
  for (gsize k = 0; k < bytes / sizeof *a; k++)
    g_assert_cmpuint(c[k], ==, 2 * a[k]);
  g_autofree char *other =
      g_strdup_printf("astroadd name=a ! fakesink astrofitssrc location=%s ! a. " SMU
                      "mu-bins=5 bins-per-decade=3 ! a. " MOCK "! h.data",
                      path);
  test_refused(other, "mu or pi reaches up to");
  g_unlink(path);
  g_rmdir(folder);
}

/* The same counts from a FITS table, in which a bad value is named by its point. */
static void test_fits_table(void)
{
  g_autofree char *folder = g_dir_make_tmp("astro-XXXXXX", NULL),
                  *path = g_build_filename(folder, "points.fits", NULL);
  g_autofree char *write = g_strdup_printf(
      "astrocatsrc points=200 min-distance=1200 max-distance=1300 footprint=cap:10,10,5 ! "
      "astrofitssink location=%s",
      path);
  g_autofree char *said = test_launch(write), *message = NULL, *message2 = NULL;
  g_assert_cmpstr(said, ==, NULL);
  g_autofree char *read = g_strdup_printf("astrofitssrc location=%s distance-column=distance ! "
                                          "h.data " SMU "! appsink name=out",
                                          path);
  g_autoptr(GPtrArray) from_file = test_samples(read, &message);
  g_autoptr(GPtrArray) direct = test_samples(
      "astrocatsrc points=200 min-distance=1200 max-distance=1300 footprint=cap:10,10,5 ! "
      "h.data " SMU "! appsink name=out",
      &message2);
  g_assert_cmpstr(message, ==, NULL);
  g_assert_cmpstr(message2, ==, NULL);
  gsize bytes, direct_bytes;
  g_autofree gpointer found = test_sample_data(from_file, 0, &bytes),
                      expected = test_sample_data(direct, 0, &direct_bytes);
  g_assert_cmpmem(found, bytes, expected, direct_bytes);
  g_autofree char *bad = g_strdup_printf("astrofitssrc location=%s redshift-column=distance "
                                         "omega-m=0.3 ! h.data " SMU "! fakesink",
                                         path);
  test_refused_by(bad, "astrofitssrc", "point 1: column distance is 12");
  test_refused(bad, "expected a redshift above 0, at most 1100");
  g_unlink(path);
  g_rmdir(folder);
}

/* Counts with and without a split of the random catalogues: DR is the same, and RR has the pairs
 * within parts alone. */
static void test_split(void)
{
  enum { BINS = 24 };
  guint64 *found[2];
  gsize bytes;
  for (guint s = 0; s < 2; s++) {
    g_autofree char *message = NULL,
                    *line = g_strdup_printf(
                        SMU "split=%u linear-bins=4 min-separation=0 max-separation=1000 "
                            "mu-bins=6 ! appsink name=out " MOCK "! h.data " MOCK
                            "seed=2 catalogues=2 ! h.random",
                        s ? 7 : 1);
    g_autoptr(GPtrArray) samples = test_samples(line, &message);
    g_assert_cmpstr(message, ==, NULL);
    g_assert_cmpuint(GST_BUFFER_OFFSET(gst_sample_get_buffer(samples->pdata[0])), ==, s ? 14 : 2);
    found[s] = test_sample_data(samples, 0, &bytes);
    g_assert_cmpuint(bytes, ==, 3 * BINS * sizeof **found);
  }
  g_assert_cmpmem(found[0], 2 * BINS * sizeof **found, found[1], 2 * BINS * sizeof **found);
  guint64 within = 0;
  for (guint k = 0; k < BINS; k++)
    within += found[1][2 * BINS + k];
  /* 200 points are 4 parts of 29 and 3 of 28 */
  g_assert_cmpuint(within, ==, 2 * (4 * 29 * 28 / 2 + 3 * 28 * 27 / 2));
  g_free(found[0]);
  g_free(found[1]);
  test_refused(SMU "split=101 ! fakesink " MOCK "! h.data " MOCK "seed=2 ! h.random",
               "split=101: the random catalogue: 200 points cannot be split into 101 parts");
  test_refused(SMU "split=3 ! fakesink " MOCK "! h.data astrocatsrc points=0 ! h.random",
               "the random catalogue is empty");
}

/* Both sides of a cross-correlation are split, and w is the same within its noise. */
static void test_split_of_two(void)
{
  g_autofree char *message = NULL;
  g_autoptr(GPtrArray) samples =
      test_samples("astrohistogram name=h split=4 edges=10,300 ! astrotpacf ! appsink name=out "
                   "astrocatsrc points=3000 footprint=cap:10,10,8 ! h.data "
                   "astrocatsrc points=3000 seed=2 footprint=cap:10,10,8 ! h.data2 "
                   "astrocatsrc points=9000 seed=3 footprint=cap:10,10,8 ! h.random "
                   "astrocatsrc points=9000 seed=4 footprint=cap:10,10,8 ! h.random2",
                   &message);
  gsize bytes;
  g_assert_cmpstr(message, ==, NULL);
  g_autofree double *table = test_sample_data(samples, 0, &bytes);
  g_assert_cmpfloat_with_epsilon(table[3], 0, 0.02);
}

static void refuse_text(const char *text, const char *settings, const char *says)
{
  g_autofree char *folder = g_dir_make_tmp("astro-XXXXXX", NULL),
                  *path = g_build_filename(folder, "points.csv", NULL);
  g_assert_true(g_file_set_contents(path, text, -1, NULL));
  static const char *const sources[] = { "astrofitssrc", "astrocatsrc" };
  for (guint s = 0; s < G_N_ELEMENTS(sources); s++) {
    g_autofree char *line =
        g_strdup_printf("%s location=%s %s ! h.data " SMU "! fakesink", sources[s], path, settings);
    test_refused(line, says);
  }
  g_unlink(path);
  g_rmdir(folder);
}

static void test_refusals(void)
{
  test_refused_by("astrocatsrc points=9 ! h.data " SMU "! fakesink", "astrohistogram",
                  "the data catalogue has no distances, which kind=smu needs");
  test_refused(SMU "! fakesink " MOCK "! h.data astrocatsrc points=9 ! h.random",
               "the random catalogue has no distances");
  test_refused(MOCK "! h.data " SMU "min-angle=1 ! fakesink", "expected min-separation");
  test_refused(MOCK "! h.data astrohistogram name=h max-separation=50 ! fakesink",
               "expected min-angle and max-angle");
  test_refused(MOCK "! h.data " SMU "edges=1,1e60 ! fakesink", "edge 1 is 1e+60");
  test_refused(MOCK "! h.data " SMU "min-separation=0 ! fakesink", "both above 0");
  test_refused(MOCK "! h.data " SMU "min-separation=9 max-separation=3 ! fakesink",
               "the second separation must be the larger one");
  test_refused("astrocatsrc min-distance=5 max-distance=5 ! fakesink", "the larger one");
  refuse_text("ra,dec,z\n1,2,0.5\n", "redshift-column=z", "needs a cosmology");
  refuse_text("ra,dec,z\n1,2,0.5\n", "redshift-column=z omega-m=0.3 distance-column=z",
              "are both set");
  refuse_text("ra,dec,z\n1,2,3\n1,2,-0.5\n", "distance-column=z", "-0.5");
  refuse_text("ra,dec,z\n1,2,3\n1,2,nan\n", "distance-column=z", "nan");
  refuse_text("ra,dec,z,w\n1,2,3,1e300\n1,2,3,1\n", "distance-column=z weight-column=w",
              "weights whose sizes sum up to 1e+300");
}

static void add_tests(void)
{
  g_test_add_func("/astrohistogram-space/counts", test_counts);
  g_test_add_func("/astrohistogram-space/weights", test_weights);
  g_test_add_func("/astrohistogram-space/regions", test_regions);
  g_test_add_func("/astrohistogram-space/through-file", test_through_file);
  g_test_add_func("/astrohistogram-space/fits-table", test_fits_table);
  g_test_add_func("/astrohistogram-space/split", test_split);
  g_test_add_func("/astrohistogram-space/split-of-two", test_split_of_two);
  g_test_add_func("/astrohistogram-space/refusals", test_refusals);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
