/* The radio camera: every picture shows what was there in its integration, and its weights say what
 * was lost. */
#include "core/stream/stream.h"
#include "tests/graphs/program.h"
#include "tests/tests.h"

#include <gst/gst.h>
#include <math.h>

enum { STATIONS = 16, CHANNELS = 32, SIZE = 128, DUMPS = 9 }; /* the last one is short */

#define CELL 90.0 /* arcsec */
#define CAMERA                                                                                     \
  "run camera stations=16 channels=32 size=128 cell=90 noise=1 duration=0.805 "                    \
  "integration-time=0.1 picture=c-%%02d.png output=c.fits "

typedef struct {
  GArray *values; /* float, of the first product of all images */
  GArray *weights;
} Images;

static void images_clear(Images *images)
{
  g_array_unref(images->values);
  g_array_unref(images->weights);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Images, images_clear)

static void add_image(GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer data)
{
  Images *images = data;
  GstMapInfo map;
  g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
  g_assert_cmpuint(map.size, >=, SIZE * SIZE * sizeof(float));
  g_array_append_vals(images->values, map.data, SIZE * SIZE);
  gst_buffer_unmap(buffer, &map);
}

/* The sum of weights in the header of each image. */
static void read_weights(const char *path, GArray *weights)
{
  static const char key[] = "WGTSUM  = ";
  g_autofree char *bytes = NULL;
  gsize length;
  g_assert_true(g_file_get_contents(path, &bytes, &length, NULL));
  for (gsize at = 0; at + 80 <= length; at += 80)
    if (memcmp(bytes + at, key, strlen(key)) == 0) {
      const double weight = g_ascii_strtod(bytes + at + strlen(key), NULL);
      g_array_append_val(weights, weight);
    }
}

static Images read_images(const char *name)
{
  g_autofree char *path = in_folder(name);
  g_autofree char *line =
      g_strdup_printf("astrofitssrc location=%s ! fakesink name=sink signal-handoffs=true", path);
  Images images = { g_array_new(FALSE, FALSE, sizeof(float)),
                    g_array_new(FALSE, FALSE, sizeof(double)) };
  g_autoptr(GstElement) pipeline = gst_parse_launch(line, NULL);
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  g_signal_connect(sink, "handoff", G_CALLBACK(add_image), &images);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_autoptr(GstMessage) message =
      gst_bus_timed_pop_filtered(bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_true(message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  read_weights(path, images.weights);
  g_assert_cmpuint(images.values->len, ==, images.weights->len * SIZE * SIZE);
  return images;
}

/* The flux at a direction: the pixel there, in an image with x reversed. */
static double flux_at(const Images *images, guint dump, double l, double m)
{
  const double pixel = CELL / 3600 * G_PI / 180;
  const gint x = SIZE / 2 + (gint)lrint(l / pixel), y = SIZE / 2 + (gint)lrint(m / pixel);
  const gint reversed = SIZE - 1 - x;
  double most = -INFINITY;
  for (gint i = -1; i <= 1; i++)
    for (gint j = -1; j <= 1; j++)
      most = MAX(most, (double)g_array_index(images->values, float,
                                             dump *SIZE *SIZE + (guint)(y + i) * SIZE +
                                                 (guint)(reversed + j)));
  return most;
}

/* A steady source is in every picture where it should be; a burst is in those of its time. */
static void test_pictures(void)
{
  g_auto(Result) result = run(CAMERA "sky=0.012,0.008,4 burst=-0.01,0.004,1.5,time=0.45,width=0.1 "
                                     "movie=c.mkv smearing=0.02 --stats");
  if (skips(&result))
    return;
  g_assert_cmpint(result.status, ==, 0);
  g_auto(Images) images = read_images("c.fits");
  g_assert_cmpuint(images.weights->len, ==, DUMPS);
  for (guint d = 0; d < DUMPS; d++) {
    const double steady = flux_at(&images, d, 0.012, 0.008),
                 burst = flux_at(&images, d, -0.01, 0.004);
    g_test_message("image %u: steady %.2f Jy, burst %.2f Jy", d, steady, burst);
    g_assert_cmpfloat_with_epsilon(steady, 4, d == 4 ? 1.5 : 0.4);
    if (d == 4)
      g_assert_cmpfloat(burst, >, 8);
    else if (d < 3 || d > 5)
      g_assert_cmpfloat(burst, <, 1.5);
    g_autofree char *name = g_strdup_printf("c-%02u.png", d);
    assert_png(name);
  }
  g_assert_cmpint(file_size("c.mkv"), >, 10000);
  g_assert_null(strstr(result.err, "channels-together 1\n"));
  g_assert_nonnull(strstr(result.err, "channels-together "));
}

/* Without station 5 the weights are those of the other stations' baselines, in the integrations
 * that it is missing from, and the source keeps its flux. */
static void test_lost_station(void)
{
  write_file("lost.flags", "stations=5 times=0.2/0.4\n", -1);
  g_auto(Result) whole = run(CAMERA "sky=0.012,0.008,4 burst=");
  if (skips(&whole))
    return;
  g_assert_cmpint(whole.status, ==, 0);
  g_auto(Images) before = read_images("c.fits");
  g_auto(Result) lost = run(CAMERA "sky=0.012,0.008,4 burst= flag=list flag-list=lost.flags");
  g_assert_cmpint(lost.status, ==, 0);
  g_auto(Images) after = read_images("c.fits");
  g_assert_cmpuint(after.weights->len, ==, DUMPS);
  for (guint d = 0; d < DUMPS; d++) {
    const double all = g_array_index(before.weights, double, d),
                 left = g_array_index(after.weights, double, d);
    const double baselines = STATIONS * (STATIONS - 1) / 2.0, gone = STATIONS - 1;
    g_test_message("image %u: weights %g, with a station lost %g", d, all, left);
    /* The first spectra of the filter bank lack samples before the start; the last image is of a
     * few spectra. */
    if (d > 0 && d < DUMPS - 1)
      g_assert_cmpfloat(all, ==, baselines * CHANNELS);
    if (d == 2 || d == 3)
      g_assert_cmpfloat(left, ==, (baselines - gone) * CHANNELS);
    else
      g_assert_cmpfloat(left, ==, all);
    g_assert_cmpfloat_with_epsilon(flux_at(&after, d, 0.012, 0.008), 4, 0.4);
  }
}

/* Voltages from a file give the pictures that the same simulated ones give. */
static void test_input(void)
{
  g_auto(Result) written = run("run voltages stations=16 sky=0.012,0.008,4 noise=1 duration=0.805 "
                               "format=CI8 output=v.fits picture=v.png");
  if (skips(&written))
    return;
  g_assert_cmpint(written.status, ==, 0);
  g_auto(Result) a = run(CAMERA "sky=0.012,0.008,4 burst= format=CI8");
  g_auto(Images) direct = read_images("c.fits");
  g_auto(Result) b = run("run camera input=v.fits channels=32 size=128 cell=90 "
                         "integration-time=0.1 output=f.fits picture=f.png");
  g_assert_cmpint(a.status, ==, 0);
  g_assert_cmpint(b.status, ==, 0);
  g_auto(Images) read = read_images("f.fits");
  g_assert_cmpmem(direct.values->data, direct.values->len * sizeof(float), read.values->data,
                  read.values->len * sizeof(float));
  g_auto(Result) refused = run("run camera input=v.fits noise=3");
  assert_refused(&refused, 1, "parameter noise is not used with input");
}

/* Spectra of a byte are correlated as such, and the source keeps its flux. */
static void test_spectra(void)
{
  g_auto(Result) result = run(CAMERA "sky=0.012,0.008,4 burst= format=CI4 spectra=CI4 --stats");
  if (skips(&result))
    return;
  g_assert_cmpint(result.status, ==, 0);
  g_assert_true(g_regex_match_simple(
      "(?m)^astrocorrelator0 +astrocorrelator +[0-9]+ +[0-9]+ +25.[0-9] MB ", result.out, 0, 0));
  g_auto(Images) images = read_images("c.fits");
  g_assert_cmpuint(images.weights->len, ==, DUMPS);
  for (guint d = 0; d < DUMPS; d++)
    g_assert_cmpfloat_with_epsilon(flux_at(&images, d, 0.012, 0.008), 4, 0.4);
}

static void add_tests(void)
{
  g_test_add_func("/graphs-camera/pictures", test_pictures);
  g_test_add_func("/graphs-camera/lost-station", test_lost_station);
  g_test_add_func("/graphs-camera/spectra", test_spectra);
  g_test_add_func("/graphs-camera/input", test_input);
}

int main(int argc, char **argv)
{
  test_init_gstreamer(&argc, &argv);
  return test_program(argc, argv, add_tests);
}
