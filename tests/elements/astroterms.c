/* Cubes that become one image with spectra: what it is for, the products, weights and levels,
 * files, and refusals. */
#include <glib/gstdio.h>
#include <math.h>
#include <unistd.h>

#include "core/stream/grid.h"
#include "tests/elements/elements.h"

#define FIELDS "format=F32LE,width=4,height=4,pixel=0.001,frequency=1e9,bandwidth=4e8"
#define CUBE "application/x-astro-image,layout=channel:pol:y:x,channels=4,pols=2,products=(string)"
#define PIXELS 16

/* ---- what it is for ---- */

#define VISIBILITIES                                                                               \
  "astrovissrc sky=%s array=vla-like stations=20 num-buffers=8 integration=40 channels=4 "         \
  "frequency=1.4e9 bandwidth=4e8 phase-centre=130,34 start-time=2026-11-20T12:00:00 "
#define IMAGING                                                                                    \
  "! astrogridder size=128 cell=6 per-channel=true ! astrofft ! astroimage ! astroclean "          \
  "gain=0.2 "                                                                                      \
  "threshold=0.002 iterations=3000 join=true spectral-terms=2 name=clean "

typedef struct {
  float *pixels;
  char *products;
  guint n; /* pixels of all products */
  guint joined;
  double joined_flux;
} Image;

static void keep(GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer data)
{
  Image *image = data;
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
  const gsize bytes = gst_buffer_get_size(buffer);
  image->n = (guint)(bytes / sizeof(float));
  image->pixels = g_malloc(bytes);
  gst_buffer_extract(buffer, 0, image->pixels, bytes);
  image->products = g_strdup(gst_structure_get_string(gst_caps_get_structure(caps, 0), "products"));
}

static void look_at(Image *image, const GstStructure *s)
{
  if (s && gst_structure_has_name(s, "astro-clean") &&
      gst_structure_get_uint(s, "channels", &image->joined))
    gst_structure_get_double(s, "flux", &image->joined_flux);
}

static Image run(const char *line)
{
  Image image = { 0 };
  gboolean ended = FALSE;
  g_autoptr(GError) error = NULL;
  GstElement *pipeline = gst_parse_launch(line, &error);
  g_assert_no_error(error);
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  if (sink)
    g_signal_connect(sink, "handoff", G_CALLBACK(keep), &image);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  while (!ended) {
    g_autoptr(GstMessage) message = gst_bus_timed_pop_filtered(
        bus, TEST_PATIENCE, GST_MESSAGE_ELEMENT | GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    g_assert_nonnull(message);
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
      gst_message_parse_error(message, &error, NULL);
      g_assert_no_error(error);
    }
    ended = GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
    look_at(&image, gst_message_get_structure(message));
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  return image;
}

static char *path_of(const char *name)
{
  return g_strdup_printf("%s/terms-%u-%s", g_get_tmp_dir(), (guint)getpid(), name);
}

/* The brightest pixel of a part of the first product. */
static guint brightest(const Image *image, guint first, guint last)
{
  guint best = first;
  for (guint i = first; i < last; i++)
    if (image->pixels[i] > image->pixels[best])
      best = i;
  return best;
}

/* Sources with spectral indexes of -0.8 and 1.2, one in each half of the picture. */
static void test_spectra(void)
{
  enum { ALL = 128 * 128 };
  g_autofree char *sky = path_of("sky.txt"), *fits = path_of("spectra.fits");
  g_assert_true(g_file_set_contents(sky, "130 34.05 2 -0.8\n130.05 33.94 1 1.2\n", -1, NULL));
  g_autofree char *line = g_strdup_printf(
      VISIBILITIES IMAGING
      "! astroterms terms=2 ! tee name=t ! fakesink name=sink signal-handoffs=true t. ! queue ! "
      "astrofitssink location=%s",
      sky, fits);
  Image image = run(line);
  g_assert_cmpstr(image.products, ==, "I:I-SLOPE:I-INDEX");
  g_assert_cmpuint(image.joined, ==, 4);
  g_assert_cmpfloat_with_epsilon(image.joined_flux, 3, 0.05);
  g_assert_cmpuint(image.n, ==, 3 * ALL);
  for (guint half = 0; half < 2; half++) {
    const guint at = brightest(&image, half * ALL / 2, (half + 1) * ALL / 2);
    const double value = (double)image.pixels[at], slope = (double)image.pixels[ALL + at],
                 index = (double)image.pixels[2 * ALL + at];
    g_test_message("%g Jy/beam, index %g", value, index);
    g_assert_cmpfloat_with_epsilon(value, half ? 2 : 1, half ? 0.2 : 0.1);
    g_assert_cmpfloat_with_epsilon(index, half ? -0.8 : 1.2, 0.04);
    g_assert_cmpfloat_with_epsilon(slope, index * value, 1e-5);
  }
  g_assert_true(isnan(image.pixels[2 * ALL + 3])); /* there is no source in the corner */

  /* The file has each product with its role, and gives them back. */
  g_autofree char *again =
      g_strdup_printf("astrofitssrc location=%s ! fakesink name=sink signal-handoffs=true", fits);
  Image read = run(again);
  g_assert_cmpstr(read.products, ==, image.products);
  g_assert_cmpuint(read.n, ==, image.n);
  g_assert_cmpmem(read.pixels, 3 * ALL * sizeof(float), image.pixels, 3 * ALL * sizeof(float));
  g_free(read.pixels);
  g_free(read.products);
  g_free(image.pixels);
  g_free(image.products);
  g_unlink(sky);
  g_unlink(fits);
}

/* ---- one buffer ---- */

/* Channel c of product p is c + 10 p everywhere. */
static GstBuffer *cube(gboolean has_meta)
{
  float *pixels = g_new(float, 8 * PIXELS);
  for (guint i = 0; i < 8 * PIXELS; i++)
    pixels[i] = (float)(i / PIXELS / 2 + 10 * (i / PIXELS % 2));
  GstBuffer *buffer = gst_buffer_new_wrapped(pixels, 8 * PIXELS * sizeof *pixels);
  if (!has_meta)
    return buffer;
  AstroImageMeta *meta = astro_buffer_add_image(buffer, 8);
  meta->has_beam = TRUE;
  meta->major = meta->minor = 3e-3;
  meta->sidelobe = 0.2;
  meta->cleaned = TRUE;
  for (guint i = 0; i < 8; i++) {
    meta->weights[i] = i < 4 ? 1 : 3;
    meta->levels[i] = (AstroImageLevels){ 0.2, 0.4 };
  }
  return buffer;
}

/* One term: weighted means, with the noise that they have; time and beam go on. */
static void test_mean(void)
{
  GstHarness *h = test_harness("astroterms");
  g_object_set(h->element, "terms", 1, NULL);
  gst_harness_set_src_caps_str(h, CUBE "I:PSF," FIELDS);
  GstBuffer *in = cube(TRUE);
  GST_BUFFER_PTS(in) = 7;
  GST_BUFFER_DURATION(in) = 2;
  GstBuffer *out = gst_harness_push_and_pull(h, in);
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  const GstStructure *s = gst_caps_get_structure(caps, 0);
  g_assert_cmpstr(gst_structure_get_string(s, "layout"), ==, "pol:y:x");
  g_assert_cmpstr(gst_structure_get_string(s, "products"), ==, "I:PSF");
  g_assert_false(gst_structure_has_field(s, "channels"));
  g_assert_cmpuint(gst_buffer_get_size(out), ==, 2 * PIXELS * sizeof(float));
  for (guint i = 0; i < 2 * PIXELS; i++) {
    float value;
    gst_buffer_extract(out, i * sizeof value, &value, sizeof value);
    g_assert_cmpfloat_with_epsilon(value, i < PIXELS ? 16 / 8. : 16 / 8. + 10, 1e-6);
  }
  const AstroImageMeta *meta = astro_buffer_get_image(out);
  g_assert_cmpuint(meta->n_weights, ==, 2);
  g_assert_true(meta->has_beam && meta->cleaned);
  g_assert_cmpfloat(meta->major, ==, 3e-3);
  g_assert_cmpfloat(meta->weights[0], ==, 8);
  g_assert_cmpfloat_with_epsilon(meta->levels[0].noise, 0.2 * sqrt(1 + 1 + 9 + 9) / 8, 1e-12);
  g_assert_cmpfloat_with_epsilon(meta->levels[0].left, 0.4, 1e-12);
  g_assert_cmpuint(GST_BUFFER_PTS(out), ==, 7);
  g_assert_cmpuint(GST_BUFFER_DURATION(out), ==, 2);
  gst_buffer_unref(out);
  gst_harness_teardown(h);
}

/* Without weights all channels count the same, and a warning says so, once. */
static void test_no_weights(void)
{
  GstHarness *h = test_harness("astroterms");
  g_autoptr(GstBus) bus = gst_bus_new();
  g_object_set(h->element, "terms", 1, NULL);
  gst_element_set_bus(h->element, bus);
  gst_harness_set_src_caps_str(h, CUBE "I:Q," FIELDS);
  for (guint i = 0; i < 2; i++) {
    float value;
    GstBuffer *out = gst_harness_push_and_pull(h, cube(FALSE));
    gst_buffer_extract(out, 0, &value, sizeof value);
    g_assert_cmpfloat_with_epsilon(value, 1.5, 1e-6);
    gst_buffer_unref(out);
    GstMessage *message = gst_bus_pop_filtered(bus, GST_MESSAGE_WARNING);
    g_assert_true((message != NULL) == (i == 0));
    if (message) {
      g_autoptr(GError) warning = NULL;
      gst_message_parse_warning(message, &warning, NULL);
      test_says(warning->message, "how much weight its 4 channels have");
      gst_message_unref(message);
    }
  }
  gst_element_set_bus(h->element, NULL);
  gst_harness_teardown(h);
}

/* ---- refusals ---- */

#define SOURCE "fakesrc num-buffers=1 sizetype=fixed sizemax=512 ! capsfilter caps=\""

static void test_errors(void)
{
  static const struct {
    const char *line, *says;
  } cases[] = {
    { SOURCE CUBE "I:PSF,format=F32LE,width=4,height=4\" ! astroterms ! fakesink",
      "expected both above 0" },
    { SOURCE CUBE "I-MODEL:PSF," FIELDS "\" ! astroterms ! fakesink",
      "2 terms of an image of products I-MODEL:PSF: expected a plain one such as I, or terms=1" },
    { SOURCE "application/x-astro-image,layout=pol:y:x,pols=1," FIELDS "\" ! astroterms ! fakesink",
      "2 terms for 1 channels" },
    { SOURCE "application/x-astro-image,layout=y:x," FIELDS "\" ! astroterms ! fakesink",
      "expected pol:y:x or channel:pol:y:x" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    test_refused_by(cases[i].line, "astroterms", cases[i].says);
}

static void add_tests(void)
{
  g_test_add_func("/astroterms/spectra", test_spectra);
  g_test_add_func("/astroterms/mean", test_mean);
  g_test_add_func("/astroterms/no-weights", test_no_weights);
  g_test_add_func("/astroterms/errors", test_errors);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
