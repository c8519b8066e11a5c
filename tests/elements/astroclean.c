#include <math.h>

#include "core/stream/grid.h"
#include "tests/elements/elements.h"
#include "tests/elements/setter.h"

#define SIZE 32
#define PIXELS (SIZE * SIZE)
#define FIELDS "format=F32LE,width=32,height=32,pixel=0.001,frequency=1.4e9,psf=(boolean)true"
#define IMAGE "application/x-astro-image,layout=pol:y:x,pols=2,products=(string)I:PSF," FIELDS

static double psf_at(gint x, gint y)
{
  return exp(-4 * G_LN2 * (x * x + y * y) / 9.0) * (1 + 0.2 * cos(x)) / 1.2;
}

/* n products with one source each, of flux 1, 2, ... at (14, 17), and the point-spread function. */
static GstBuffer *image(guint n)
{
  float *pixels = g_new(float, (n + 1) * PIXELS);
  for (guint i = 0; i < (n + 1) * PIXELS; i++) {
    gint x = (gint)(i % SIZE), y = (gint)(i / SIZE % SIZE);
    guint product = i / PIXELS;
    pixels[i] = (float)(product < n ? (product + 1) * psf_at(x - 14, y - 17)
                                    : psf_at(x - SIZE / 2, y - SIZE / 2));
  }
  GstBuffer *buffer = gst_buffer_new_wrapped(pixels, (n + 1) * PIXELS * sizeof *pixels);
  AstroImageMeta *meta = astro_buffer_add_image(buffer, n + 1);
  meta->has_beam = TRUE;
  meta->major = meta->minor = 3 * 0.001;
  for (guint i = 0; i <= n; i++)
    meta->weights[i] = 10 + i;
  return buffer;
}

static GstHarness *clean_harness(const char *output)
{
  GstHarness *h = test_harness("astroclean");
  gst_util_set_object_arg(G_OBJECT(h->element), "output", output);
  g_object_set(h->element, "gain", 0.5, "iterations", 400, "threshold", "1e-5", NULL);
  return h;
}

static float pixel(GstBuffer *buffer, guint product, guint x, guint y)
{
  float value;
  gst_buffer_extract(buffer, (product * PIXELS + y * SIZE + x) * sizeof value, &value,
                     sizeof value);
  return value;
}

static const char *products_of(GstHarness *h, gboolean *psf)
{
  static char text[80];
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  const GstStructure *s = gst_caps_get_structure(caps, 0);
  double frequency = 0;
  g_strlcpy(text, gst_structure_get_string(s, "products"), sizeof text);
  g_assert_true(gst_structure_get_boolean(s, "psf", psf));
  g_assert_true(gst_structure_get_double(s, "frequency", &frequency) && frequency == 1.4e9);
  return text;
}

static void test_outputs(void)
{
  static const struct {
    const char *output, *products;
    guint n;
    float flux; /* flux of the source in the first product */
  } cases[] = { { "restored", "I", 1, 1 },
                { "model", "I-MODEL", 1, 1 },
                { "residual", "I-RESIDUAL", 1, 0 },
                { "all", "I:I-MODEL:I-RESIDUAL:PSF", 4, 1 } };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    GstHarness *h = clean_harness(cases[i].output);
    gboolean psf, all = i == 3;
    gst_harness_set_src_caps_str(h, IMAGE);
    GstBuffer *in = image(1);
    GST_BUFFER_PTS(in) = 7;
    GST_BUFFER_DURATION(in) = 2;
    GstBuffer *out = gst_harness_push_and_pull(h, in);
    g_assert_cmpstr(products_of(h, &psf), ==, cases[i].products);
    g_assert_cmpint(psf, ==, all);
    g_assert_cmpuint(gst_buffer_get_size(out), ==, cases[i].n * PIXELS * 4);
    g_assert_cmpfloat_with_epsilon(pixel(out, 0, 14, 17), cases[i].flux, 1e-4);
    if (i == 1)
      g_assert_cmpfloat_with_epsilon(pixel(out, 0, 15, 17), 0, 1e-4);
    if (i == 0)
      g_assert_cmpfloat_with_epsilon(pixel(out, 0, 17, 17), 0.0625, 1e-4);
    if (all)
      g_assert_cmpfloat(pixel(out, 3, SIZE / 2, SIZE / 2), ==, 1);
    AstroImageMeta *meta = astro_buffer_get_image(out);
    g_assert_true(meta->has_beam);
    g_assert_cmpfloat(meta->major, ==, 3 * 0.001);
    g_assert_cmpuint(meta->border, ==, SIZE / 4);
    g_assert_cmpuint(meta->n_weights, ==, cases[i].n);
    g_assert_true(meta->cleaned);
    for (guint k = 0; k < cases[i].n; k++) {
      g_assert_cmpfloat(meta->weights[k], ==, k == 3 ? 11 : 10);
      g_assert_true((meta->levels[k].left > 0 && meta->levels[k].left <= 1e-5) == (k < 3));
    }
    g_assert_cmpuint(GST_BUFFER_PTS(out), ==, 7);
    g_assert_cmpuint(GST_BUFFER_DURATION(out), ==, 2);
    gst_buffer_unref(out);
    gst_harness_teardown(h);
  }
}

/* Several products, two images in a buffer; a message each. */
static void test_messages(void)
{
  GstHarness *h = clean_harness("restored");
  GstBus *bus = gst_bus_new();
  gst_element_set_bus(h->element, bus);
  gst_harness_set_src_caps_str(h, "application/x-astro-image,layout=pol:y:x,pols=3,"
                                  "products=(string)XX:YY:PSF," FIELDS);
  g_assert_cmpint(gst_harness_push(h, gst_buffer_append(image(2), image(2))), ==, GST_FLOW_OK);
  for (guint i = 0; i < 2; i++) {
    GstBuffer *out = gst_harness_pull(h);
    g_assert_cmpfloat_with_epsilon(pixel(out, 1, 14, 17), 2, 1e-4);
    gst_buffer_unref(out);
    for (guint k = 0; k < 2; k++) {
      GstMessage *message = gst_bus_pop_filtered(bus, GST_MESSAGE_ELEMENT);
      const GstStructure *s = gst_message_get_structure(message);
      double peak, flux;
      guint iterations, channel;
      g_assert_true(gst_structure_has_name(s, "astro-clean"));
      g_assert_true(gst_structure_get(s, "peak", G_TYPE_DOUBLE, &peak, "flux", G_TYPE_DOUBLE, &flux,
                                      "iterations", G_TYPE_UINT, &iterations, "channel",
                                      G_TYPE_UINT, &channel, NULL));
      g_assert_cmpstr(gst_structure_get_string(s, "product"), ==, k ? "YY" : "XX");
      g_assert_cmpstr(gst_structure_get_string(s, "end"), ==, "threshold");
      g_assert_cmpfloat(peak, <=, 1e-5);
      g_assert_cmpfloat_with_epsilon(flux, k + 1, 1e-3);
      g_assert_cmpuint(iterations, >, 5);
      g_assert_cmpuint(channel, ==, 0);
      gst_message_unref(message);
    }
  }
  gst_element_set_bus(h->element, NULL);
  gst_object_unref(bus);
  gst_harness_teardown(h);
}

/* Without a threshold, or with one of 3 sigma, CLEAN ends in the noise and says so; with one far
 * below that it goes on. */
static void test_ends_in_noise(void)
{
  static const struct {
    const char *threshold, *end;
    double auto_threshold;
  } cases[] = { { "0", "noise", 3 }, { "3sigma", "noise", 50 }, { "0.001uJy", "iterations", 3 } };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    GstHarness *h = test_harness("astroclean");
    g_autoptr(GstBus) bus = gst_bus_new();
    GstBuffer *in = image(1);
    double noise = 0, peak = 0;
    for (guint k = 0; k < PIXELS; k++) {
      const float value = pixel(in, 0, k % SIZE, k / SIZE) + 0.01f * (float)sin(17.3 * k * k);
      gst_buffer_fill(in, k * sizeof value, &value, sizeof value);
    }
    gst_element_set_bus(h->element, bus);
    g_object_set(h->element, "threshold", cases[i].threshold, "auto-threshold",
                 cases[i].auto_threshold, "iterations", 300, NULL);
    gst_harness_set_src_caps_str(h, IMAGE);
    GstBuffer *out = gst_harness_push_and_pull(h, in);
    g_autoptr(GstMessage) message = gst_bus_pop_filtered(bus, GST_MESSAGE_ELEMENT);
    const GstStructure *s = gst_message_get_structure(message);
    g_assert_cmpstr(gst_structure_get_string(s, "end"), ==, cases[i].end);
    g_assert_true(
        gst_structure_get(s, "noise", G_TYPE_DOUBLE, &noise, "peak", G_TYPE_DOUBLE, &peak, NULL));
    g_assert_cmpfloat_with_epsilon(noise, 0.0085, 0.003);
    g_assert_true((peak > 0.015) == g_str_equal(cases[i].end, "noise"));
    g_assert_cmpfloat(peak, <, 0.05);
    g_assert_cmpfloat(astro_buffer_get_image(out)->levels[0].noise, ==, noise);
    gst_buffer_unref(out);
    gst_element_set_bus(h->element, NULL);
    gst_harness_teardown(h);
  }
}

/* astroclean asks a chain that makes no point-spread function for one. */
static void test_asks_for_psf(void)
{
  GstHarness *h = gst_harness_new_parse("astroimage backend=cpu ! astroclean backend=cpu");
  g_autoptr(GstCaps) asked = gst_pad_peer_query_caps(h->srcpad, NULL);
  g_assert_cmpuint(gst_caps_get_size(asked), >, 0);
  for (guint i = 0; i < gst_caps_get_size(asked); i++) {
    gboolean psf = FALSE;
    gst_structure_get_boolean(gst_caps_get_structure(asked, i), "psf", &psf);
    g_assert_true(psf);
  }
  gst_harness_teardown(h);
}

/* From visibilities of two sources to the sources, with nothing else set. */
static void test_chain(void)
{
  GstElement *pipeline = gst_parse_launch(
      "astrovissrc sky=0.004,0.003,2;-0.006,0.002,1 array=vla-like num-buffers=4 ! astrogridder "
      "size=256 cell=40 ! astrofft ! astroimage ! astroclean gain=0.2 threshold=0.003 ! "
      "fakesink",
      NULL);
  GstBus *bus = gst_element_get_bus(pipeline);
  double flux = 0, peak = 1;
  gboolean ended = FALSE;
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  while (!ended) {
    GstMessage *message = gst_bus_timed_pop_filtered(
        bus, 30 * GST_SECOND, GST_MESSAGE_ELEMENT | GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    g_assert_nonnull(message);
    g_assert_cmpint(GST_MESSAGE_TYPE(message), !=, GST_MESSAGE_ERROR);
    ended = GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
    const GstStructure *s = gst_message_get_structure(message);
    if (s && gst_structure_has_name(s, "astro-clean"))
      g_assert_true(
          gst_structure_get(s, "flux", G_TYPE_DOUBLE, &flux, "peak", G_TYPE_DOUBLE, &peak, NULL));
    gst_message_unref(message);
  }
  g_assert_cmpfloat_with_epsilon(flux, 3, 0.05);
  g_assert_cmpfloat(peak, <=, 0.003);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(bus);
  gst_object_unref(pipeline);
}

/* ---- errors ---- */

static void test_no_beam(void)
{
  static const char *const outputs[] = { "restored", "all", "model", "residual" };
  for (guint i = 0; i < G_N_ELEMENTS(outputs); i++) {
    GstHarness *h = clean_harness(outputs[i]);
    gst_harness_set_src_caps_str(h, IMAGE);
    GstBuffer *in = image(1);
    astro_buffer_get_image(in)->has_beam = FALSE;
    g_assert_cmpint(gst_harness_push(h, in), ==, i < 2 ? GST_FLOW_ERROR : GST_FLOW_OK);
    gst_harness_teardown(h);
  }
  /* "output=model" would be read as a file name where output is a graph's parameter. */
  test_refused_by("fakesrc num-buffers=1 sizetype=fixed sizemax=512 filltype=zero ! capsfilter "
                  "caps=application/x-astro-image,width=8,height=8,pixel=0.01,format=F32LE,"
                  "layout=pol:y:x,pols=2,products=(string)I:PSF ! astroclean backend=cpu ! "
                  "fakesink",
                  "astroclean", "output=model or output=residual");
}

/* As with two stations, or with too large a cell: with no iterations nothing can be drawn. */
static void test_dirty_without_beam(void)
{
  static const char *const outputs[] = { "restored", "all" };
  for (guint i = 0; i < G_N_ELEMENTS(outputs); i++) {
    GstHarness *h = clean_harness(outputs[i]);
    g_object_set(h->element, "iterations", 0, NULL);
    gst_harness_set_src_caps_str(h, IMAGE);
    GstBuffer *in = image(1);
    float expected = pixel(in, 0, 13, 19);
    astro_buffer_get_image(in)->has_beam = FALSE;
    GstBuffer *out = gst_harness_push_and_pull(h, in);
    g_assert_cmpfloat(pixel(out, 0, 13, 19), ==, expected);
    g_assert_false(astro_buffer_get_image(out)->has_beam);
    g_assert_false(astro_buffer_get_image(out)->cleaned);
    g_assert_cmpuint(astro_buffer_get_image(out)->border, ==, 0);
    gst_buffer_unref(out);
    gst_harness_teardown(h);
  }
}

static void test_bad_caps(void)
{
  static const struct {
    const char *properties, *caps, *says;
  } cases[] = {
    { "", "layout=pol:y:x,pols=1,products=(string)I", "point-spread function (PSF)" },
    { "", "layout=pol:y:x,pols=1,products=(string)PSF", "at least one" },
    { "", "layout=pol:y:x,pols=2,products=(string)PSF:I", "(PSF) after them" },
    { "", "layout=y:x", "layout y:x" },
    { "", "layout=pol:channel:y:x,pols=2,channels=1,products=(string)I:PSF",
      "layout pol:channel:y:x" },
    { "gain=0", "layout=pol:y:x,pols=2,products=(string)I:PSF", "gain 0" },
    { "threshold=-1", "layout=pol:y:x,pols=2,products=(string)I:PSF", "threshold \"-1\"" },
    { "threshold=3beams", "layout=pol:y:x,pols=2,products=(string)I:PSF", "such as 3sigma" },
    { "auto-threshold=-1", "layout=pol:y:x,pols=2,products=(string)I:PSF", "auto-threshold -1" },
    { "border=4", "layout=pol:y:x,pols=2,products=(string)I:PSF", "border of 4" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *line = g_strdup_printf(
        "fakesrc num-buffers=1 sizetype=fixed sizemax=512 ! capsfilter "
        "caps=application/x-astro-image,width=8,height=8,pixel=0.01,format=F32LE,%s ! "
        "astroclean backend=cpu %s ! fakesink",
        cases[i].caps, cases[i].properties);
    test_refused_by(line, "astroclean", cases[i].says);
  }
  test_refused_by("fakesrc num-buffers=1 sizetype=fixed sizemax=512 ! capsfilter "
                  "caps=application/x-astro-image,width=1000000,height=1000000,pixel=0.01,format="
                  "F32LE,layout=pol:y:x,pols=2,products=(string)I:PSF ! "
                  "astroclean backend=cpu ! fakesink",
                  "astroclean", "512 bytes");
}

/* Whether one of the pending warnings says so; takes all of them. */
static gboolean is_warned(GstBus *bus, const char *says)
{
  gboolean found = FALSE;
  GstMessage *message;
  while ((message = gst_bus_pop_filtered(bus, GST_MESSAGE_WARNING))) {
    g_autoptr(GError) warning = NULL;
    gst_message_parse_warning(message, &warning, NULL);
    g_test_message("%s", warning->message);
    found |= strstr(warning->message, says) != NULL;
    gst_message_unref(message);
  }
  return found;
}

/* The point-spread function lifts this peak, and each iteration makes a higher one beside it. The
 * warning itself, not only its details for developers, says so and what to set. */
static void test_stray(void)
{
  GstHarness *h = clean_harness("restored");
  g_autoptr(GstBus) bus = gst_bus_new();
  const float lobe = -3;
  GstBuffer *in = image(1);

  gst_buffer_fill(in, (PIXELS + SIZE / 2 * SIZE + SIZE / 2 + 2) * sizeof lobe, &lobe, sizeof lobe);
  gst_element_set_bus(h->element, bus);
  gst_harness_set_src_caps_str(h, IMAGE);
  gst_buffer_unref(gst_harness_push_and_pull(h, in));
  g_assert_true(is_warned(bus, "I of channel 0 diverges and is not cleaned further: after 2 "
                               "iterations peaks have grown from 1 to 2.59 Jy/beam, and part of "
                               "the model is not real. Use a gain below 0.5, a border above "
                               "8 pixels, or an image of a smaller field"));
  gst_element_set_bus(h->element, NULL);
  gst_harness_teardown(h);
}

/* Half of the image is not searched, though nobody asked for that. */
static void test_narrow_psf(void)
{
  static const struct {
    const char *property, *value;
    gboolean is_told;
  } cases[] = { { "gain", "0.1", TRUE },
                { "border", "0", FALSE },
                { "border", "8", FALSE },
                { "iterations", "0", FALSE },
                { "wide-psf", "false", FALSE } };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    GstHarness *h = clean_harness("restored");
    g_autoptr(GstBus) bus = gst_bus_new();
    gst_util_set_object_arg(G_OBJECT(h->element), cases[i].property, cases[i].value);
    gst_element_set_bus(h->element, bus);
    gst_harness_set_src_caps_str(h, IMAGE);
    gst_buffer_unref(gst_harness_push_and_pull(h, image(1)));
    g_assert_cmpint(is_warned(bus, "sources are only looked for in the middle 16 x 16 pixels"), ==,
                    cases[i].is_told);
    gst_element_set_bus(h->element, NULL);
    gst_harness_teardown(h);
  }
}

static void test_late_settings(void)
{
  test_refuses_late("astroclean backend=cpu", "output", "all", IMAGE);
}

static void test_properties(void)
{
  GstHarness *h = gst_harness_new("astroclean");
  g_autofree char *threshold = NULL;
  double gain, auto_threshold;
  guint iterations, output;
  gboolean wide_psf;
  gint border;
  g_object_get(h->element, "gain", &gain, "threshold", &threshold, "iterations", &iterations,
               "border", &border, "output", &output, "auto-threshold", &auto_threshold, "wide-psf",
               &wide_psf, NULL);
  g_assert_cmpfloat(gain, ==, 0.1);
  g_assert_cmpstr(threshold, ==, "0");
  g_assert_cmpuint(iterations, ==, 1000);
  g_assert_cmpint(border, ==, -1);
  g_assert_cmpuint(output, ==, 0);
  g_assert_cmpfloat(auto_threshold, ==, 3);
  g_assert_true(wide_psf);
  gst_harness_teardown(h);
}

static void add_tests(void)
{
  g_test_add_func("/astroclean/outputs", test_outputs);
  g_test_add_func("/astroclean/messages", test_messages);
  g_test_add_func("/astroclean/ends-in-noise", test_ends_in_noise);
  g_test_add_func("/astroclean/asks-for-psf", test_asks_for_psf);
  g_test_add_func("/astroclean/chain", test_chain);
  g_test_add_func("/astroclean/no-beam", test_no_beam);
  g_test_add_func("/astroclean/dirty-without-beam", test_dirty_without_beam);
  g_test_add_func("/astroclean/bad-caps", test_bad_caps);
  g_test_add_func("/astroclean/stray", test_stray);
  g_test_add_func("/astroclean/narrow-psf", test_narrow_psf);
  g_test_add_func("/astroclean/late-settings", test_late_settings);
  g_test_add_func("/astroclean/properties", test_properties);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
