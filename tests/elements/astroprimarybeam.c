/* Images divided by the primary beam: fluxes of sources, files and their headers, pointings, and
 * refusals. */
#include <glib/gstdio.h>
#include <math.h>
#include <unistd.h>

#include "core/primarybeam/primarybeam.h"
#include "core/stream/grid.h"
#include "core/stream/observation.h"
#include "tests/elements/elements.h"

#define SIZE 32
#define PIXELS (SIZE * SIZE)
#define PIXEL 0.001
#define FIELDS "format=F32LE,width=32,height=32,pixel=0.001,frequency=1e9,bandwidth=2e8"
#define IMAGE "application/x-astro-image,layout=pol:y:x,pols=2,products=(string)I:PSF," FIELDS
#define CUBE                                                                                       \
  "application/x-astro-image,layout=channel:pol:y:x,channels=2,pols=1,products=(string)I," FIELDS

/* Ones everywhere. */
static GstBuffer *image(guint n)
{
  float *pixels = g_new(float, n *PIXELS);
  for (guint i = 0; i < n * PIXELS; i++)
    pixels[i] = 1;
  GstBuffer *buffer = gst_buffer_new_wrapped(pixels, n * PIXELS * sizeof *pixels);
  AstroImageMeta *meta = astro_buffer_add_image(buffer, n);
  meta->has_beam = meta->cleaned = TRUE;
  meta->major = meta->minor = 3e-3;
  for (guint i = 0; i < n; i++) {
    meta->weights[i] = 10 + i;
    meta->levels[i] = (AstroImageLevels){ 0.1, 0.2 };
  }
  return buffer;
}

static double pixel(GstBuffer *buffer, guint number, guint x, guint y)
{
  float value;
  gst_buffer_extract(buffer, (number * PIXELS + y * SIZE + x) * sizeof value, &value, sizeof value);
  return (double)value;
}

/* A Gaussian at the middle of the band and at both channels of a cube; what goes on, and what does
 * not. */
static void test_gaussian(void)
{
  for (guint channels = 1; channels <= 2; channels++) {
    GstHarness *h = gst_harness_new_parse("astroprimarybeam beam=gaussian fwhm=1 of-frequency=2e9");
    gst_harness_set_src_caps_str(h, channels == 1 ? IMAGE : CUBE);
    GstBuffer *in = image(2);
    GST_BUFFER_PTS(in) = 7;
    GST_BUFFER_DURATION(in) = 2;
    GstBuffer *out = gst_harness_push_and_pull(h, in);
    for (guint c = 0; c < channels; c++) {
      const double frequency = channels == 1 ? 1e9 : 0.95e9 + c * 0.1e9;
      const double widths = asin(8 * PIXEL) / (G_PI / 180 * 2e9 / frequency);
      g_assert_cmpfloat(pixel(out, c, 16, 16), ==, 1);
      g_assert_cmpfloat_with_epsilon(pixel(out, c, 8, 16), exp(4 * G_LN2 * widths * widths), 1e-5);
    }
    if (channels == 1)
      g_assert_cmpfloat(pixel(out, 1, 8, 16), ==, 1); /* of the point-spread function */
    const AstroImageMeta *meta = astro_buffer_get_image(out);
    g_assert_true(meta->has_beam && meta->cleaned);
    g_assert_cmpfloat(meta->weights[1], ==, 11);
    g_assert_cmpfloat(meta->levels[0].noise, ==, 0);
    g_assert_cmpfloat_with_epsilon(meta->levels[0].left, 2, 1e-12);
    g_assert_cmpuint(GST_BUFFER_PTS(out), ==, 7);
    g_assert_cmpuint(GST_BUFFER_DURATION(out), ==, 2);
    gst_buffer_unref(out);
    gst_harness_teardown(h);
  }
}

/* Beyond the cut pixels are NaN; where nothing is left, a warning says so. */
static void test_cut(void)
{
  GstHarness *h = gst_harness_new_parse("astroprimarybeam beam=gaussian fwhm=0.92 cut=0.5");
  gst_harness_set_src_caps_str(h, IMAGE);
  GstBuffer *out = gst_harness_push_and_pull(h, image(2));
  g_assert_cmpfloat(pixel(out, 0, 16, 16), ==, 1);
  g_assert_false(isnan(pixel(out, 0, 8, 16)));
  g_assert_true(isnan(pixel(out, 0, 7, 15)));
  gst_buffer_unref(out);
  gst_harness_teardown(h);

  GstHarness *off = test_harness("astroprimarybeam");
  g_autoptr(GstBus) bus = gst_bus_new();
  g_object_set(off->element, "diameter", 1e4, NULL);
  gst_element_set_bus(off->element, bus);
  gst_harness_set_src_caps_str(off, IMAGE ",centre-l=0.2");
  gst_buffer_unref(gst_harness_push_and_pull(off, image(2)));
  g_autoptr(GstMessage) message = gst_bus_pop_filtered(bus, GST_MESSAGE_WARNING);
  g_autoptr(GError) warning = NULL;
  g_assert_nonnull(message);
  gst_message_parse_warning(message, &warning, NULL);
  test_says(warning->message, "no pixel of the first channel is left");
  gst_element_set_bus(off->element, NULL);
  gst_harness_teardown(off);
}

/* ---- files ---- */

static char *path_of(const char *name)
{
  return g_strdup_printf("%s/primary-beam-%u-%s", g_get_tmp_dir(), (guint)getpid(), name);
}

#define SKY                                                                                        \
  "astrovissrc sky=%s array=vla-like stations=20 num-buffers=8 integration=40 "                    \
  "frequency=1.4e9 bandwidth=1e6 phase-centre=130,34 start-time=2026-11-20T12:00:00 "
#define IMAGING                                                                                    \
  "! astrogridder size=128 cell=6 ! astrofft ! astroimage ! astroclean gain=0.2 threshold=0.002 "

static void keep(GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer data)
{
  gst_clear_buffer((GstBuffer **)data);
  *(GstBuffer **)data = gst_buffer_ref(buffer);
}

static GstBuffer *run(const char *line)
{
  GstBuffer *last = NULL;
  g_autoptr(GError) error = NULL;
  GstElement *pipeline = gst_parse_launch(line, &error);
  g_assert_no_error(error);
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  if (sink)
    g_signal_connect(sink, "handoff", G_CALLBACK(keep), &last);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_autoptr(GstMessage) message =
      gst_bus_timed_pop_filtered(bus, TEST_PATIENCE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_nonnull(message);
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error(message, &error, NULL);
    g_assert_no_error(error);
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  return last;
}

static double brightest(GstBuffer *buffer)
{
  GstMapInfo map;
  double most = 0;
  g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
  for (gsize i = 0; i < map.size / sizeof(float); i++)
    most = MAX(most, (double)((float *)(gpointer)map.data)[i]);
  gst_buffer_unmap(buffer, &map);
  return most;
}

/* A source of 1 Jy, attenuated as a dish of 60 m sees it at 0.08 degrees from its pointing, is
 * restored to 1 Jy; the header says so, and what was divided cannot be divided, cleaned or
 * predicted from. */
static void test_source(void)
{
  const double sine = sin(0.08 * G_PI / 180), x = G_PI * 60 * sine * 1.4e9 / 299792458.0;
  g_autofree char *sky = path_of("sky.txt"), *fits = path_of("true.fits");
  g_autofree char *text = g_strdup_printf("130 34.08 %.9f\n", astro_primary_beam_airy(x * x));
  g_assert_true(g_file_set_contents(sky, text, -1, NULL));
  g_autofree char *line = g_strdup_printf(
      SKY IMAGING "! astroprimarybeam diameter=60 ! tee name=t ! fakesink name=sink "
                  "signal-handoffs=true t. ! queue ! astrofitssink location=%s",
      sky, fits);
  g_autoptr(GstBuffer) out = run(line);
  g_test_message("the beam there is %g", astro_primary_beam_airy(x * x));
  g_assert_cmpfloat_with_epsilon(brightest(out), 1, 0.01);

  g_autofree char *header = NULL;
  gsize length;
  g_assert_true(g_file_get_contents(fits, &header, &length, NULL));
  g_assert_nonnull(g_strstr_len(header, (gssize)length, "PRIMBEAM= 'airy 60 m, cut 0.1'"));

  g_autofree char *again =
      g_strdup_printf("astrofitssrc location=%s ! astroprimarybeam diameter=60 "
                      "name=beam ! fakesink",
                      fits);
  test_refused_by(again, "beam", "was divided by a primary beam before (airy 60 m, cut 0.1)");
  g_autofree char *model = g_strdup_printf(SKY IMAGING "name=clean model=%s ! fakesink", sky, fits);
  test_refused_by(model, "clean", "expected the model as the array sees it");
  g_unlink(sky);
  g_unlink(fits);
}

/* ---- pointing ---- */

/* An image whose phase centre is where the antennas do not point. */
static void test_pointing(void)
{
  g_autofree char *sky = path_of("pointed.txt");
  const double sine = sin(0.08 * G_PI / 180), x = G_PI * 60 * sine * 1.4e9 / 299792458.0;
  g_autofree char *text = g_strdup_printf("130 34 %.9f\n", astro_primary_beam_airy(x * x));
  g_assert_true(g_file_set_contents(sky, text, -1, NULL));
  g_autofree char *line =
      g_strdup_printf(SKY IMAGING "! astroprimarybeam diameter=60 pointing=130,34.08 ! fakesink "
                                  "name=sink signal-handoffs=true",
                      sky);
  g_autoptr(GstBuffer) out = run(line);
  g_assert_cmpfloat_with_epsilon(brightest(out), 1, 0.01);
  g_unlink(sky);
}

/* ---- a picture of the beam ---- */

/* A file with half of the power everywhere doubles the image, in both channels. */
static void test_file(void)
{
  g_autofree char *fits = path_of("beam.fits");
  GstHarness *h = gst_harness_new_parse("astroprimarybeam beam=file");
  GstElement *beam = gst_harness_find_element(h, "astroprimarybeam");
  g_autofree char *raw = path_of("raw");
  float values[64 * 64];
  for (guint i = 0; i < G_N_ELEMENTS(values); i++)
    values[i] = 0.5F;
  g_assert_true(g_file_set_contents(raw, (char *)values, sizeof values, NULL));
  g_autofree char *line =
      g_strdup_printf("filesrc location=%s blocksize=%u ! "
                      "application/x-astro-image,layout=pol:y:x,pols=1,products=I,"
                      "format=F32LE,width=64,height=64,pixel=0.001,frequency=1e9,bandwidth=1e6 ! "
                      "astrofitssink location=%s",
                      raw, (guint)sizeof values, fits);
  run(line);
  g_object_set(beam, "location", fits, NULL);
  gst_object_unref(beam);
  gst_harness_set_src_caps_str(h, CUBE);
  GstBuffer *out = gst_harness_push_and_pull(h, image(2));
  for (guint c = 0; c < 2; c++)
    g_assert_cmpfloat_with_epsilon(pixel(out, c, 20, 9), 2, 1e-6);
  gst_buffer_unref(out);
  gst_harness_teardown(h);
  g_unlink(fits);
  g_unlink(raw);
}

/* ---- refusals ---- */

#define SOURCE "fakesrc num-buffers=1 sizetype=fixed sizemax=8192 ! capsfilter caps=\""

static void test_errors(void)
{
  static const struct {
    const char *line, *says;
  } cases[] = {
    { SOURCE IMAGE "\" ! astroprimarybeam ! fakesink", "a dish with a diameter of 0 m" },
    { SOURCE IMAGE "\" ! astroprimarybeam beam=gaussian ! fakesink", "a full width of 0 radians" },
    { SOURCE IMAGE "\" ! astroprimarybeam beam=file ! fakesink", "beam=file without location" },
    { SOURCE IMAGE "\" ! astroprimarybeam beam=file location=/none/there.fits ! fakesink",
      "/none/there.fits" },
    { SOURCE IMAGE "\" ! astroprimarybeam diameter=25 cut=0 ! fakesink", "cut 0 of its peak" },
    { SOURCE IMAGE "\" ! astroprimarybeam diameter=25 pointing=3,4 ! fakesink",
      "expected a phase centre" },
    { SOURCE "application/x-astro-image,layout=pol:y:x,pols=2,products=(string)I:I-SLOPE," FIELDS
             "\" ! astroprimarybeam diameter=25 ! fakesink",
      "expected astroprimarybeam upstream of astroterms" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    test_refused_by(cases[i].line, "astroprimarybeam", cases[i].says);
}

static void add_tests(void)
{
  g_test_add_func("/astroprimarybeam/gaussian", test_gaussian);
  g_test_add_func("/astroprimarybeam/cut", test_cut);
  g_test_add_func("/astroprimarybeam/source", test_source);
  g_test_add_func("/astroprimarybeam/pointing", test_pointing);
  g_test_add_func("/astroprimarybeam/file", test_file);
  g_test_add_func("/astroprimarybeam/errors", test_errors);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
