#include "core/backend/module.h"
#include "core/lib/catalogue/catalogue.h"
#include "tests/elements/catalogues.h"
#include "tests/peak.h"

#include <glib/gstdio.h>
#include <math.h>

static void test_uniform(void)
{
  g_autofree char *message = NULL;
  g_autoptr(GPtrArray) samples = test_samples(
      "astrocatsrc points=1000 catalogues=3 seed=5 footprint=cap:10,80,15 ! appsink name=out",
      &message);
  AstroFootprint cap = { .shape = ASTRO_FOOTPRINT_CAP, .ra = 10, .dec = 80, .radius = 15 };
  g_assert_null(message);
  g_assert_cmpuint(samples->len, ==, 3);
  for (guint i = 0; i < 3; i++) {
    AstroCatalogue expected;
    AstroRandom random;
    gsize bytes;
    g_autofree double *data = test_sample_data(samples, i, &bytes);
    astro_random_init(&random, 5, i);
    g_assert_true(astro_catalogue_uniform(&cap, 1000, &random, &expected, NULL));
    g_assert_cmpuint(bytes, ==, 2 * 1000 * sizeof(double));
    g_assert_cmpmem(data, bytes / 2, expected.ra, bytes / 2);
    g_assert_cmpmem(data + 1000, bytes / 2, expected.dec, bytes / 2);
    astro_catalogue_clear(&expected);
    GstBuffer *buffer = gst_sample_get_buffer(samples->pdata[i]);
    g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, i);
    g_assert_cmpuint(GST_BUFFER_PTS(buffer), ==, i * GST_SECOND);
    g_assert_cmpstr(gst_structure_get_string(test_sample_caps(samples, i), "columns"), ==,
                    "ra:dec");
    g_assert_cmpstr(gst_structure_get_string(test_sample_caps(samples, i), "layout"), ==,
                    "column:point");
  }
}

static double *points_by(const char *settings, gsize *bytes)
{
  g_autofree char
      *message = NULL,
      *line = g_strdup_printf(
          "astrocatsrc points=70000 seed=5 footprint=band:350,380,-10,40 %s ! appsink name=out",
          settings);
  g_autoptr(GPtrArray) samples = test_samples(line, &message);
  g_assert_cmpstr(message, ==, NULL);
  return test_sample_data(samples, 0, bytes);
}

/* Each backend and number of threads makes the same points. */
static void test_backends(void)
{
  static const char *const others[] = { "backend=cpu", "backend=cpu threads=1", "threads=2", "" };
  gsize bytes, more;
  g_autofree double *expected = points_by("backend=reference", &bytes);
  for (guint i = 0; i < G_N_ELEMENTS(others); i++) {
    g_autofree double *found = points_by(others[i], &more);
    g_assert_cmpmem(found, more, expected, bytes);
  }
}

/* A device makes the same points, and what the host adds to them is the same. */
static void test_cuda(void)
{
  static const char *const more[] = { "", "regions=5 max-distance=100", "points=0" };
  g_autoptr(AstroDevice) device = astro_device_open(0, NULL);
  if (!device) {
    g_test_skip("there is no CUDA device");
    return;
  }
  for (guint i = 0; i < G_N_ELEMENTS(more); i++) {
    g_autofree char *on_host = g_strdup_printf("backend=reference %s", more[i]),
                    *on_device = g_strdup_printf("backend=cuda %s", more[i]);
    gsize bytes, found_bytes;
    g_autofree double *expected = points_by(on_host, &bytes),
                      *found = points_by(on_device, &found_bytes);
    g_assert_cmpmem(found, found_bytes, expected, bytes);
  }
}

static char *active_while(const char *settings, GstState state)
{
  g_autoptr(GError) error = NULL;
  char *active;
  g_autofree char *line = g_strdup_printf("astrocatsrc name=c points=9 %s ! fakesink", settings);
  g_autoptr(GstElement) pipeline = gst_parse_launch(line, &error);
  g_assert_no_error(error);
  g_autoptr(GstElement) source = gst_bin_get_by_name(GST_BIN(pipeline), "c");
  gst_element_set_state(pipeline, state);
  gst_element_get_state(pipeline, NULL, NULL, TEST_PATIENCE);
  g_object_get(source, "active-backend", &active, NULL);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  return active;
}

static void test_active_backend(void)
{
  static const struct {
    const char *settings, *active;
  } cases[] = {
    { "", "cpu/c" },
    { "backend=reference", "reference" },
    { "slope=-0.8", "none" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *before = active_while(cases[i].settings, GST_STATE_READY),
                    *during = active_while(cases[i].settings, GST_STATE_PAUSED);
    g_assert_cmpstr(before, ==, "none");
    g_assert_cmpstr(during, ==, cases[i].active);
  }
}

static void test_clustered(void)
{
  g_autofree char *message = NULL;
  g_autoptr(GPtrArray) samples = test_samples("astrocatsrc points=500 slope=-0.7 levels=3 "
                                              "children=2 regions=4 footprint=band:350,370,-5,5 ! "
                                              "appsink name=out",
                                              &message);
  gsize bytes;
  guint regions[4] = { 0 };
  g_assert_null(message);
  g_assert_cmpuint(samples->len, ==, 1);
  g_assert_cmpstr(gst_structure_get_string(test_sample_caps(samples, 0), "columns"), ==,
                  "ra:dec:region");
  g_autofree double *data = test_sample_data(samples, 0, &bytes);
  g_assert_cmpuint(bytes, ==, 3 * 500 * sizeof(double));
  for (guint i = 0; i < 500; i++) {
    g_assert_true(data[i] >= 350 || data[i] <= 10);
    g_assert_true(data[500 + i] >= -5 && data[500 + i] <= 5);
    g_assert_true(data[1000 + i] >= 0 && data[1000 + i] < 4);
    regions[(guint)data[1000 + i]]++;
  }
  for (guint r = 0; r < 4; r++)
    g_assert_cmpuint(regions[r], >, 0);
}

/* The largest number of regions takes no longer to lay out than a few thousand. */
static void test_many_regions(void)
{
  enum { POINTS = 300000, REGIONS = 65535 };
  g_autofree char *message = NULL;
  g_autoptr(GPtrArray) samples =
      test_samples("astrocatsrc points=300000 regions=65535 ! appsink name=out", &message);
  gsize bytes;
  guint hit = 0, most = 0;
  g_assert_null(message);
  g_autofree guint *found = g_new0(guint, REGIONS);
  g_autofree double *data = test_sample_data(samples, 0, &bytes);
  g_assert_cmpuint(bytes, ==, 3 * POINTS * sizeof(double));
  for (guint i = 0; i < POINTS; i++)
    found[(guint)data[2 * POINTS + i]]++;
  for (guint r = 0; r < REGIONS; r++) {
    hit += found[r] > 0;
    most = MAX(most, found[r]);
  }
  g_assert_cmpuint(hit, >, REGIONS * 0.97); /* all but exp(-4.6) of them */
  g_assert_cmpuint(most, <, 30);
  g_assert_cmpuint(peak_status("VmHWM:"), <, (guint64)2 << 30);
}

static void test_file(void)
{
  g_autofree char *folder = g_dir_make_tmp("astro-XXXXXX", NULL),
                  *path = g_build_filename(folder, "points.csv", NULL), *message = NULL;
  g_assert_true(g_file_set_contents(path, "name,ra,dec,w\na,1,2,0.5\nb,3,4,0.25\n", -1, NULL));
  g_autofree char *line = g_strdup_printf("astrocatsrc location=%s ra-column=ra dec-column=dec "
                                          "weight-column=w region-column=\"\" catalogues=7 ! "
                                          "appsink name=out",
                                          path);
  g_autoptr(GPtrArray) samples = test_samples(line, &message);
  static const double expected[] = { 1, 3, 2, 4, 0.5, 0.25 };
  gsize bytes;
  g_assert_null(message);
  g_assert_cmpuint(samples->len, ==, 1);
  g_autofree double *data = test_sample_data(samples, 0, &bytes);
  g_assert_cmpmem(data, bytes, expected, sizeof expected);
  g_assert_cmpstr(gst_structure_get_string(test_sample_caps(samples, 0), "columns"), ==,
                  "ra:dec:weight");
  g_autofree char *wrong =
      g_strdup_printf("astrocatsrc location=%s ra-column=nope ! fakesink", path);
  test_refused(wrong, "there are: name, ra, dec, w");
  g_unlink(path);
  g_rmdir(folder);
}

/* astrofitssink writes such files, and so does gzip. */
static void test_packed_file(void)
{
  const char *make = "astrocatsrc points=30 catalogues=2 ! appsink name=out";
  g_autofree char *folder = g_dir_make_tmp("astro-XXXXXX", NULL),
                  *path = g_build_filename(folder, "points.csv.gz", NULL),
                  *write = g_strdup_printf("astrocatsrc points=30 catalogues=2 ! "
                                           "astrofitssink location=%s",
                                           path),
                  *read = g_strdup_printf("astrocatsrc location=%s ! appsink name=out", path),
                  *message = test_launch(write);
  g_assert_null(message);
  g_autoptr(GPtrArray) made = test_samples(make, &message);
  g_assert_null(message);
  g_autoptr(GPtrArray) samples = test_samples(read, &message);
  g_assert_null(message);
  g_assert_cmpuint(samples->len, ==, 2);
  for (guint i = 0; i < 2; i++) {
    gsize bytes, expected_bytes;
    g_autofree double *data = test_sample_data(samples, i, &bytes),
                      *expected = test_sample_data(made, i, &expected_bytes);
    g_assert_cmpmem(data, bytes, expected, expected_bytes);
  }
  g_assert_true(g_file_set_contents(path, "\x1f\x8b\x08", 3, NULL));
  test_refused(read, "points.csv.gz: cut short: the file ends within the data packed by gzip");
  g_unlink(path);
  g_rmdir(folder);
}

static void test_fits_file(void)
{
  g_autofree char *folder = g_dir_make_tmp("astro-XXXXXX", NULL),
                  *path = g_build_filename(folder, "points.fits", NULL),
                  *write =
                      g_strdup_printf("astrocatsrc points=30 ! astrofitssink location=%s", path),
                  *read = g_strdup_printf("astrocatsrc location=%s ! fakesink", path),
                  *message = test_launch(write);
  g_assert_null(message);
  test_refused(read, "points.fits is a FITS file, expected text: astrofitssrc reads it");
  g_unlink(path);
  g_rmdir(folder);
}

/* A catalogue without points is a mistake that must not be counted silently. */
static void test_empty_files(void)
{
  static const struct {
    const char *text, *says;
  } cases[] = {
    { "", "points.csv: catalogue 1 has no points, expected a line of values for each" },
    { "# a comment\n\n", "points.csv: catalogue 1 has no points" },
    { "ra,dec\n", "points.csv: catalogue 1 has no points" },
    { "ra,dec\ndeg,deg\n", "points.csv: catalogue 1 has no points" },
    { "ra,dec\n1,2\nra,dec\nra,dec\n1,2\n", "points.csv: catalogue 2 has no points" },
  };
  g_autofree char *folder = g_dir_make_tmp("astro-XXXXXX", NULL),
                  *path = g_build_filename(folder, "points.csv", NULL),
                  *line = g_strdup_printf("astrocatsrc location=%s ra-column=ra dec-column=dec ! "
                                          "fakesink",
                                          path);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_assert_true(g_file_set_contents(path, cases[i].text, -1, NULL));
    test_refused(line, cases[i].says);
  }
  g_unlink(path);
  g_rmdir(folder);
}

/* A last line without a newline may have lost digits: both readers of text warn about it. */
static void test_unended_file(void)
{
  static const char *const sources[] = { "astrocatsrc", "astrofitssrc" };
  g_autofree char *folder = g_dir_make_tmp("astro-XXXXXX", NULL),
                  *path = g_build_filename(folder, "points.csv", NULL);
  g_assert_true(g_file_set_contents(path, "ra,dec\n1.5,2.25\n3.25,4.5", -1, NULL));
  for (guint i = 0; i < G_N_ELEMENTS(sources); i++) {
    GError *error = NULL;
    g_autofree char *line =
        g_strdup_printf("%s name=file location=%s ! fakesink", sources[i], path);
    GstElement *pipeline = gst_parse_launch(line, &error);
    g_assert_no_error(error);
    g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    g_autoptr(GstMessage) message = gst_bus_timed_pop_filtered(
        bus, TEST_PATIENCE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
    g_assert_cmpint(GST_MESSAGE_TYPE(message), ==, GST_MESSAGE_WARNING);
    gst_message_parse_warning(message, &error, NULL);
    g_assert_cmpstr(GST_MESSAGE_SRC_NAME(message), ==, "file");
    test_says(error->message, "points.csv, line 3: the last line has \"4.5\" and no newline");
    g_error_free(error);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(pipeline);
  }
  g_unlink(path);
  g_rmdir(folder);
}

/* Random points, spread as the points of a file are. */
static void test_like_file(void)
{
  g_autofree char *folder = g_dir_make_tmp("astro-XXXXXX", NULL),
                  *path = g_build_filename(folder, "points.csv", NULL), *message = NULL;
  g_autoptr(GString) text = g_string_new("d,r\n");
  for (guint i = 0; i < 400; i++)
    g_string_append_printf(text, "%g,%g\n", 40 + i % 20 * 0.5, 350 + i / 20 * 0.5);
  g_assert_true(g_file_set_contents(path, text->str, -1, NULL));
  g_autofree char *line =
      g_strdup_printf("astrocatsrc footprint=like:%s footprint-cell=1 ra-column=r dec-column=d "
                      "points=5000 catalogues=2 regions=3 ! appsink name=out",
                      path);
  g_autoptr(GPtrArray) samples = test_samples(line, &message);
  g_assert_null(message);
  g_assert_cmpuint(samples->len, ==, 2);
  gsize bytes;
  g_autofree double *data = test_sample_data(samples, 1, &bytes);
  g_assert_cmpuint(bytes, ==, 3 * 5000 * sizeof(double));
  for (guint i = 0; i < 5000; i++) {
    double east = data[i] - (data[i] > 180 ? 360 : 0);
    g_assert_true(east >= -12 && east <= 2);
    g_assert_true(data[5000 + i] >= 40 && data[5000 + i] <= 50);
    g_assert_true(data[10000 + i] >= 0 && data[10000 + i] < 3);
  }
  g_autofree char *wrong =
      g_strdup_printf("astrocatsrc footprint=like:%s ra-column=x ! fakesink", path);
  test_refused(wrong, "there are: d, r");
  test_refused("astrocatsrc footprint=like:/nonexistent/file ! fakesink", "No such file");
  g_unlink(path);
  g_rmdir(folder);
}

/* A checksum of values in millionths, which are the same with every maths library. */
static char *checksum_of(GPtrArray *samples)
{
  g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA1);
  for (guint i = 0; i < samples->len; i++) {
    gsize bytes;
    g_autofree double *data = test_sample_data(samples, i, &bytes);
    for (gsize k = 0; k < bytes / sizeof *data; k++) {
      gint64 whole = GINT64_TO_LE(llround(data[k] * 1e6));
      g_checksum_update(checksum, (const guchar *)&whole, sizeof whole);
    }
  }
  return g_strndup(g_checksum_get_string(checksum), 12);
}

/* The same seed still gives the same mocks and regions. */
static void test_same_as_ever(void)
{
  static const struct {
    const char *settings, *checksum;
  } cases[] = {
    { "points=1000 regions=1 catalogues=2", "461fbeb694fd" },
    { "points=3000 regions=2 seed=5 footprint=cap:10,80,15", "88fee81971b7" },
    { "points=3000 regions=3 seed=6 footprint=band:350,370,-5,5 slope=-0.7 levels=3 children=2",
      "2f4daba3e4fc" },
    { "points=3000 regions=7 seed=7 footprint=band:0,90,-30,30 catalogues=3", "3e059eae5294" },
    { "points=5000 regions=100 seed=8 footprint=cap:200,-45,60", "347f44fdcd91" },
    { "points=100000 regions=999 seed=9 footprint=cap:0,90,180 slope=-1.2", "50d6b11db5fb" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *message = NULL,
                    *line = g_strdup_printf("astrocatsrc %s ! appsink name=out", cases[i].settings);
    g_autoptr(GPtrArray) samples = test_samples(line, &message);
    g_assert_null(message);
    g_autofree char *checksum = checksum_of(samples);
    g_test_message("%s: %s", cases[i].settings, checksum);
    g_assert_cmpstr(checksum, ==, cases[i].checksum);
  }
}

static void test_refusals(void)
{
  test_refused("astrocatsrc footprint=disc:1,2,3 ! fakesink", "expected band:");
  test_refused("astrocatsrc footprint=NULL ! fakesink", "expected band:");
  test_refused("astrocatsrc footprint=band:1,2,3 ! fakesink", "expected band:");
  test_refused("astrocatsrc footprint=cap:1,2,x ! fakesink", "expected band:");
  test_refused("astrocatsrc footprint=cap:1,2,300 ! fakesink", "radius above 0 and up to 180");
  test_refused("astrocatsrc footprint=band:10,5,0,1 ! fakesink", "expected both to rise");
  test_refused("astrocatsrc slope=-0.8 levels=20 children=10 ! fakesink", "1e6 points");
  test_refused("astrocatsrc slope=-2 ! fakesink", "slope -2, expected one above -2");
  test_refused("astrocatsrc slope=-1 cluster-radius=0 ! fakesink", "radius 0 degrees, expected");
  test_refused("astrocatsrc location=/nonexistent/file ! fakesink", "No such file");
  test_refused("astrocatsrc slope=-1 backend=cuda ! fakesink", "expected slope=0, or another");
  test_refused("astrocatsrc backend=cuda device=63 ! fakesink", "backend=cuda");
}

static void test_duration(void)
{
  GstElement *source = gst_element_factory_make("astrocatsrc", NULL);
  gint64 duration;
  g_object_set(source, "catalogues", 12, NULL);
  gst_element_set_state(source, GST_STATE_READY);
  g_assert_true(gst_element_query_duration(source, GST_FORMAT_TIME, &duration));
  g_assert_cmpint(duration, ==, 12 * GST_SECOND);
  g_assert_false(gst_element_query_duration(source, GST_FORMAT_BYTES, &duration));
  g_object_set(source, "num-buffers", 5, NULL);
  g_assert_true(gst_element_query_duration(source, GST_FORMAT_TIME, &duration));
  g_assert_cmpint(duration, ==, 5 * GST_SECOND);
  gst_element_set_state(source, GST_STATE_NULL);
  gst_object_unref(source);
}

/* An application sets up the next catalogue while this one is sent. */
static GstPadProbeReturn set_all(GstPad *pad, GstPadProbeInfo *info, gpointer source)
{
  g_object_set(source, "location", "/another/file", "points", (guint64)3, "catalogues", 5, "slope",
               -1.0, NULL);
  return GST_PAD_PROBE_OK;
}

static void test_set_in_mid_stream(void)
{
  GstHarness *h = gst_harness_new_parse("astrocatsrc points=20 catalogues=3");
  g_autoptr(GstElement) source = gst_harness_find_element(h, "astrocatsrc");
  gint64 duration;
  gst_pad_add_probe(h->sinkpad, GST_PAD_PROBE_TYPE_BUFFER, set_all, source, NULL);
  gst_harness_play(h);
  for (guint i = 0; i < 3; i++) {
    g_autoptr(GstBuffer) buffer = gst_harness_pull(h);
    g_assert_nonnull(buffer);
    g_assert_cmpuint(gst_buffer_get_size(buffer), ==, 20 * 2 * sizeof(double));
  }
  g_assert_true(gst_element_query_duration(source, GST_FORMAT_TIME, &duration));
  g_assert_cmpint(duration, ==, 3 * GST_SECOND);
  gst_harness_teardown(h);
}

static void test_properties(void)
{
  GstElement *source = gst_element_factory_make("astrocatsrc", NULL);
  guint64 points;
  guint levels, children, regions;
  double slope, radius;
  g_autofree char *footprint = NULL, *column = NULL;
  g_object_set(source, "points", (guint64)7, "levels", 3, "children", 4, "regions", 5, "slope",
               -0.5, "cluster-radius", 2.0, "footprint", "cap:1,2,3", "dec-column", "d", NULL);
  g_object_get(source, "points", &points, "levels", &levels, "children", &children, "regions",
               &regions, "slope", &slope, "cluster-radius", &radius, "footprint", &footprint,
               "dec-column", &column, NULL);
  g_assert_cmpuint(points, ==, 7);
  g_assert_cmpuint(levels, ==, 3);
  g_assert_cmpuint(children, ==, 4);
  g_assert_cmpuint(regions, ==, 5);
  g_assert_cmpfloat(slope, ==, -0.5);
  g_assert_cmpfloat(radius, ==, 2);
  g_assert_cmpstr(footprint, ==, "cap:1,2,3");
  g_assert_cmpstr(column, ==, "d");
  gst_object_unref(source);
}

static void add_tests(void)
{
  g_test_add_func("/astrocatsrc/uniform", test_uniform);
  g_test_add_func("/astrocatsrc/backends", test_backends);
  g_test_add_func("/astrocatsrc/cuda", test_cuda);
  g_test_add_func("/astrocatsrc/active-backend", test_active_backend);
  g_test_add_func("/astrocatsrc/clustered", test_clustered);
  g_test_add_func("/astrocatsrc/many-regions", test_many_regions);
  g_test_add_func("/astrocatsrc/file", test_file);
  g_test_add_func("/astrocatsrc/packed-file", test_packed_file);
  g_test_add_func("/astrocatsrc/fits-file", test_fits_file);
  g_test_add_func("/astrocatsrc/empty-files", test_empty_files);
  g_test_add_func("/astrocatsrc/unended-file", test_unended_file);
  g_test_add_func("/astrocatsrc/like-file", test_like_file);
  g_test_add_func("/astrocatsrc/same-as-ever", test_same_as_ever);
  g_test_add_func("/astrocatsrc/refusals", test_refusals);
  g_test_add_func("/astrocatsrc/duration", test_duration);
  g_test_add_func("/astrocatsrc/set-in-mid-stream", test_set_in_mid_stream);
  g_test_add_func("/astrocatsrc/properties", test_properties);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
