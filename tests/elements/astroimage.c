#include <complex.h>
#include <math.h>

#include "core/stream/grid.h"
#include "tests/elements/elements.h"
#include "tests/elements/setter.h"

#define SIZE 16
#define IMAGE 12
#define FIELDS                                                                                     \
  "format=CF32LE,width=16,height=16,cell=25.0,image-size=12,centre-l=0.1,centre-m=0.2,"            \
  "frequency=1.4e9,bandwidth=1e6,spread=none"
#define GRID "application/x-astro-uvgrid,layout=pol:y:x,pols=2,products=(string)I:PSF," FIELDS
#define PLANES                                                                                     \
  "application/x-astro-uvgrid,layout=plane:pol:y:x,pols=2,products=(string)I:PSF,planes=1," FIELDS

/* A plane of n products with that value in all cells; weights 1, 2, ... */
static GstBuffer *plane(guint n, float complex value, double w, guint number, guint planes)
{
  float complex *cells = g_new(float complex, n *SIZE *SIZE);
  for (guint i = 0; i < n * SIZE * SIZE; i++)
    cells[i] = value;
  GstBuffer *buffer = gst_buffer_new_wrapped(cells, n * SIZE * SIZE * sizeof *cells);
  AstroGridMeta *meta = astro_buffer_add_grid(buffer, n);
  meta->w = w;
  meta->w_step = planes > 1 ? 0.5 : 0;
  meta->plane = number;
  meta->planes = planes;
  for (guint i = 0; i < n; i++)
    meta->weights[i] = i + 1;
  return buffer;
}

static float *pixels(GstBuffer *buffer, gsize n)
{
  float *copy = g_new(float, n);
  g_assert_cmpuint(gst_buffer_get_size(buffer), ==, n * sizeof(float));
  gst_buffer_extract(buffer, 0, copy, n * sizeof(float));
  return copy;
}

static void check_caps(GstHarness *h, const char *expected)
{
  g_autoptr(GstCaps) got = gst_pad_get_current_caps(h->sinkpad);
  g_autoptr(GstCaps) wanted = gst_caps_from_string(expected);
  if (!gst_caps_is_equal(got, wanted)) {
    g_autofree char *text = gst_caps_to_string(got);
    g_error("%s is not %s", text, expected);
  }
}

/* ---- images ---- */

static void test_image(void)
{
  GstHarness *h = test_harness("astroimage");
  gst_harness_set_src_caps_str(h, GRID);
  GstBuffer *in = plane(2, 6, 0, 0, 1);
  GST_BUFFER_PTS(in) = 5;
  GST_BUFFER_DURATION(in) = 3;
  GstBuffer *out = gst_harness_push_and_pull(h, in);
  g_autofree float *image = pixels(out, 2 * IMAGE * IMAGE);
  for (guint i = 0; i < 2 * IMAGE * IMAGE; i++)
    g_assert_cmpfloat(image[i], ==, i < IMAGE * IMAGE ? 6 : 3);
  AstroImageMeta *meta = astro_buffer_get_image(out);
  g_assert_cmpuint(meta->n_weights, ==, 2);
  g_assert_cmpfloat(meta->weights[1], ==, 2);
  g_assert_false(meta->has_beam);
  g_assert_cmpuint(GST_BUFFER_PTS(out), ==, 5);
  g_assert_cmpuint(GST_BUFFER_DURATION(out), ==, 3);
  g_assert_cmpuint(GST_BUFFER_OFFSET(out), ==, 0);
  g_assert_null(astro_buffer_get_grid(out));
  gst_buffer_unref(out);
  check_caps(h, "application/x-astro-image,format=F32LE,layout=pol:y:x,pols=2,width=12,height=12,"
                "pixel=0.0025,products=(string)I:PSF,centre-l=0.1,centre-m=0.2,frequency=1.4e9,"
                "bandwidth=1e6,psf=(boolean)true");
  out = gst_harness_push_and_pull(h, plane(2, 6, 0, 0, 1));
  g_assert_cmpuint(GST_BUFFER_OFFSET(out), ==, 1);
  gst_buffer_unref(out);
  gst_harness_teardown(h);
}

/* Planes are rotated by their w and added. An image spans the time of all its planes, which may
 * come in one buffer or several. */
static void test_planes(void)
{
  for (guint together = 0; together < 2; together++) {
    GstHarness *h = test_harness("astroimage");
    gst_harness_set_src_caps_str(h, PLANES);
    for (guint n = 0; n < 2; n++) {
      if (together) {
        GstBuffer *all = plane(2, 4, 10, 0, 3);
        for (guint i = 1; i < 3; i++)
          all = gst_buffer_append(all, plane(2, 4, 10 + 0.5 * i, i, 3));
        GST_BUFFER_PTS(all) = 100;
        GST_BUFFER_DURATION(all) = 60;
        g_assert_cmpint(gst_harness_push(h, all), ==, GST_FLOW_OK);
      } else {
        for (guint i = 0; i < 3; i++) {
          GstBuffer *one = plane(2, 4, 10 + 0.5 * i, i, 3);
          GST_BUFFER_PTS(one) = 100 + 20 * i;
          GST_BUFFER_DURATION(one) = 20;
          g_assert_cmpint(gst_harness_push(h, one), ==, GST_FLOW_OK);
          g_assert_cmpuint(gst_harness_buffers_in_queue(h), ==, i == 2);
        }
      }
      GstBuffer *out = gst_harness_pull(h);
      g_autofree float *image = pixels(out, 2 * IMAGE * IMAGE);
      for (gint y = 0; y < IMAGE; y++)
        for (gint x = 0; x < IMAGE; x++) {
          double l = 0.1 + (6 - x) * 0.0025, m = 0.2 + (y - 6) * 0.0025, expected = 0;
          for (guint i = 0; i < 3; i++)
            expected += 4 * cos(2 * G_PI * (10 + 0.5 * i) * (sqrt(1 - l * l - m * m) - 1));
          g_assert_cmpfloat_with_epsilon(image[y * IMAGE + x], expected, 1e-5);
        }
      g_assert_cmpuint(GST_BUFFER_PTS(out), ==, 100);
      g_assert_cmpuint(GST_BUFFER_DURATION(out), ==, 60);
      gst_buffer_unref(out);
    }
    gst_harness_push_event(h, gst_event_new_eos());
    gst_harness_teardown(h);
  }
}

/* A grid whose point-spread function is a Gaussian with that many pixels in l and m at half
 * maximum. */
static GstBuffer *lobe(double width, double height)
{
  GstBuffer *buffer = plane(2, 0, 0, 0, 1);
  GstMapInfo map;
  gst_buffer_map(buffer, &map, GST_MAP_WRITE);
  for (gint y = 0; y < SIZE; y++)
    for (gint x = 0; x < SIZE; x++)
      ((float complex *)map.data)[(SIZE + y) * SIZE + x] =
          (float)(2 * exp(-4 * G_LN2 * (pow((x - 8) / width, 2) + pow((y - 8) / height, 2))));
  gst_buffer_unmap(buffer, &map);
  return buffer;
}

/* The beam of a Gaussian point-spread function is in the meta and in a message. */
static void test_beam(void)
{
  GstHarness *h = test_harness("astroimage");
  GstBus *bus = gst_bus_new();
  gst_element_set_bus(h->element, bus);
  gst_harness_set_src_caps_str(h, GRID);
  GstBuffer *out = gst_harness_push_and_pull(h, lobe(6, 4));
  AstroImageMeta *meta = astro_buffer_get_image(out);
  g_assert_true(meta->has_beam);
  g_assert_cmpfloat_with_epsilon(meta->major, 6 * 0.0025, 1e-7);
  g_assert_cmpfloat_with_epsilon(meta->minor, 4 * 0.0025, 1e-7);
  g_assert_cmpfloat_with_epsilon(fabs(meta->angle), G_PI / 2, 1e-4);
  gst_buffer_unref(out);
  GstMessage *message = gst_bus_pop_filtered(bus, GST_MESSAGE_ELEMENT);
  double major;
  g_assert_true(gst_structure_has_name(gst_message_get_structure(message), "astro-image"));
  g_assert_true(gst_structure_get_double(gst_message_get_structure(message), "major", &major));
  g_assert_cmpfloat_with_epsilon(major, 6 * 0.0025 * 180 / G_PI, 1e-5);
  gst_message_unref(message);
  gst_element_set_bus(h->element, NULL);
  gst_object_unref(bus);
  gst_harness_teardown(h);
}

/* Pixels that are too large or too small for the beam give one warning. */
static void test_coarse(void)
{
  static const struct {
    double width, height;
    const char *says, *advice;
  } cases[] = {
    { 6, 2.1, NULL, NULL },
    { 3, 1.8, "the beam of 1547 x 928.2 arcsec is narrower than two pixels",
      "cell 515.7 arcsec, expected at most 464 arcsec, which is a field-of-view of 1.55 degrees" },
    { 16, 15.5, "the beam of 8251 x 7993 arcsec is 16 pixels wide",
      "cell 515.7 arcsec, expected about 2e+03 arcsec" },
    { 0.6, 0.6, "no beam can be fitted to the point-spread function",
      "expected a main lobe of several pixels of 515.7 arcsec" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    GstHarness *h = test_harness("astroimage");
    g_autoptr(GstBus) bus = gst_bus_new();
    gst_element_set_bus(h->element, bus);
    gst_harness_set_src_caps_str(h, GRID);
    for (guint n = 0; n < 2; n++)
      gst_buffer_unref(gst_harness_push_and_pull(h, lobe(cases[i].width, cases[i].height)));
    g_autoptr(GstMessage) first = gst_bus_pop_filtered(bus, GST_MESSAGE_WARNING);
    g_assert_null(gst_bus_pop_filtered(bus, GST_MESSAGE_WARNING));
    g_assert_cmpint(first != NULL, ==, cases[i].says != NULL);
    if (first) {
      g_autoptr(GError) warning = NULL;
      g_autofree char *debug = NULL;
      gst_message_parse_warning(first, &warning, &debug);
      test_says(warning->message, cases[i].says);
      test_says(debug, cases[i].advice);
    }
    gst_element_set_bus(h->element, NULL);
    gst_harness_teardown(h);
  }
}

/* The beam of several channels is that of the middle one, or of the nearest channel with
 * visibilities. */
static void test_beam_of_channels(void)
{
  enum { CHANNELS = 4 };
  static const struct {
    gboolean used[CHANNELS];
    double major; /* pixels; each channel has its own */
  } cases[] = {
    { { 1, 1, 1, 1 }, 6 }, { { 1, 1, 0, 1 }, 5 }, { { 1, 0, 0, 1 }, 7 }, { { 1, 0, 0, 0 }, 4 }
  };
  GstHarness *h = test_harness("astroimage");
  gst_harness_set_src_caps_str(
      h, "application/x-astro-uvgrid,layout=channel:pol:y:x,channels=4,pols=2,"
         "products=(string)I:PSF," FIELDS);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    GstBuffer *in = plane(2 * CHANNELS, 0, 0, 0, 1);
    AstroGridMeta *grid = astro_buffer_get_grid(in);
    GstMapInfo map;
    gst_buffer_map(in, &map, GST_MAP_WRITE);
    for (guint c = 0; c < CHANNELS; c++) {
      grid->weights[2 * c] = grid->weights[2 * c + 1] = cases[i].used[c];
      for (gint y = 0; y < SIZE; y++)
        for (gint x = 0; x < SIZE; x++)
          ((float complex *)map.data)[((2 * c + 1) * SIZE + y) * SIZE + x] =
              (float)exp(-4 * G_LN2 * (pow((x - 8) / (4.0 + c), 2) + pow((y - 8) / 3.0, 2)));
    }
    gst_buffer_unmap(in, &map);
    GstBuffer *out = gst_harness_push_and_pull(h, in);
    AstroImageMeta *meta = astro_buffer_get_image(out);
    g_assert_true(meta->has_beam);
    g_assert_cmpfloat_with_epsilon(meta->major, cases[i].major * 0.0025, 1e-7);
    gst_buffer_unref(out);
  }
  gst_harness_teardown(h);
}

/* I and V of four products, and the point-spread function; in double precision if downstream asks
 * for it. */
static void test_stokes(void)
{
  GstHarness *h = gst_harness_new_parse(
      "astroimage backend=cpu stokes=VI ! capsfilter caps=application/x-astro-image,format=F64LE");
  gst_harness_set_src_caps_str(h, "application/x-astro-uvgrid,layout=pol:y:x,pols=5,"
                                  "products=(string)XX:XY:YX:YY:PSF," FIELDS);
  GstBuffer *in = plane(5, 12 + 24 * I, 0, 0, 1); /* weights 1 2 3 4 5 */
  GstBuffer *out = gst_harness_push_and_pull(h, in);
  double values[3 * IMAGE * IMAGE];
  g_assert_cmpuint(gst_buffer_get_size(out), ==, sizeof values);
  gst_buffer_extract(out, 0, values, sizeof values);
  g_assert_cmpfloat_with_epsilon(values[0], (24 / 2.0 - 24 / 3.0) / 2, 1e-14);
  g_assert_cmpfloat_with_epsilon(values[IMAGE * IMAGE], (12 + 12 / 4.0) / 2, 1e-14);
  g_assert_cmpfloat_with_epsilon(values[2 * IMAGE * IMAGE], 12 / 5.0, 1e-14);
  AstroImageMeta *meta = astro_buffer_get_image(out);
  g_assert_cmpfloat(meta->weights[0], ==, 5);
  g_assert_cmpfloat(meta->weights[1], ==, 5);
  gst_buffer_unref(out);
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  g_assert_cmpstr(gst_structure_get_string(gst_caps_get_structure(caps, 0), "products"), ==,
                  "V:I:PSF");
  gst_harness_teardown(h);
}

/* ---- negotiation ---- */

static GstCaps *asked_of_upstream(const char *line, const char *wanted)
{
  GstHarness *h = gst_harness_new_parse(line);
  gst_harness_set_sink_caps_str(h, wanted);
  GstCaps *asked = gst_pad_peer_query_caps(h->srcpad, NULL);
  gst_harness_teardown(h);
  return asked;
}

/* The point-spread function is asked for if somebody wants it. */
static void test_psf(void)
{
  static const struct {
    const char *line, *wanted;
    gboolean psf;
  } cases[] = {
    { "astroimage backend=cpu", "application/x-astro-image", FALSE },
    { "astroimage backend=cpu", "application/x-astro-image,psf=(boolean)true", TRUE },
    { "astroimage backend=cpu psf=true", "application/x-astro-image", TRUE },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GstCaps) asked = asked_of_upstream(cases[i].line, cases[i].wanted);
    for (guint k = 0; k < gst_caps_get_size(asked); k++) {
      gboolean psf = FALSE;
      gst_structure_get_boolean(gst_caps_get_structure(asked, k), "psf", &psf);
      g_assert_cmpint(psf, ==, cases[i].psf);
    }
  }
}

/* Rows are preferred, then whole transforms. */
static void test_upstream(void)
{
  static const struct {
    const char *wanted, *made;
    guint nth;
    gboolean possible;
  } cases[] = {
    { "application/x-astro-image,layout=channel:pol:y:x",
      "application/x-astro-uvgrid,layout=plane:channel:pol:y:x,format=CF64LE", 1, TRUE },
    { "application/x-astro-image,layout=channel:pol:y:x",
      "application/x-astro-uvgrid,layout=plane:channel:pol:v:x,format=CF64LE", 0, TRUE },
    { "application/x-astro-image", "application/x-astro-uvgrid,layout=pol:y:x,format=CF32LE", 1,
      TRUE },
    { "application/x-astro-image", "application/x-astro-uvgrid,layout=pol:v:x,format=CF32LE", 0,
      TRUE },
    { "application/x-astro-image",
      "application/x-astro-uvgrid,layout=pol:v:x,format=CF32LE,touched-only=false", 0, FALSE },
    { "application/x-astro-image,layout=pol:y:x",
      "application/x-astro-uvgrid,layout=channel:pol:y:x,format=CF32LE", 1, FALSE },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GstCaps) asked = asked_of_upstream("astroimage backend=cpu", cases[i].wanted);
    g_autoptr(GstCaps) made = gst_caps_from_string(cases[i].made);
    g_autoptr(GstCaps) nth = gst_caps_copy_nth(asked, cases[i].nth);
    g_assert_cmpint(gst_caps_can_intersect(nth, made), ==, cases[i].possible);
  }
}

/* ---- errors ---- */

static char *error_of(GstBuffer *const *buffers, guint n, gboolean eos, const char *caps)
{
  GstHarness *h = test_harness("astroimage");
  GstBus *bus = gst_bus_new();
  char *text = NULL;
  gst_element_set_bus(h->element, bus);
  gst_harness_set_src_caps_str(h, caps);
  for (guint i = 0; i < n; i++)
    gst_harness_push(h, buffers[i]);
  if (eos)
    gst_harness_push_event(h, gst_event_new_eos());
  GstMessage *message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  if (message) {
    g_autoptr(GError) error = NULL;
    gst_message_parse_error(message, &error, NULL);
    text = g_strdup(error->message);
    gst_message_unref(message);
  }
  gst_element_set_bus(h->element, NULL);
  gst_object_unref(bus);
  gst_harness_teardown(h);
  return text;
}

static void expect(GstBuffer *const *buffers, guint n, gboolean eos, const char *caps,
                   const char *says)
{
  g_autofree char *text = error_of(buffers, n, eos, caps);
  test_says(text, says);
}

static void test_late_settings(void)
{
  test_refuses_late("astroimage backend=cpu stokes=I", "stokes", "IQ",
                    "application/x-astro-uvgrid,layout=pol:y:x,pols=4,"
                    "products=(string)XX:XY:YX:YY," FIELDS);
}

static void test_errors(void)
{
  GstBuffer *bare = plane(2, 1, 0, 0, 1);
  gst_buffer_remove_meta(bare, (GstMeta *)astro_buffer_get_grid(bare));
  expect(&bare, 1, FALSE, GRID, "without the sums of its weights");
  GstBuffer *few = plane(2, 1, 0, 0, 1);
  astro_buffer_add_grid(few, 1);
  expect(&few, 1, FALSE, GRID, "sums of 1 weights, expected 1 channels x 2 products");
  GstBuffer *empty = plane(2, 1, 0, 0, 1);
  astro_buffer_add_grid(empty, 2)->flagged = 77;
  expect(&empty, 1, FALSE, GRID, "no visibilities: all sums of weights are 0 (77 flagged");
  GstBuffer *late = plane(2, 1, 0, 1, 3);
  expect(&late, 1, FALSE, PLANES, "plane 1 of 3 of a grid came where plane 0 was expected");
  GstBuffer *twice[] = { plane(2, 1, 0, 0, 3), plane(2, 1, 0, 0, 3) };
  expect(twice, 2, FALSE, PLANES, "plane 0 of 3 of a grid came where plane 1 was expected");
  GstBuffer *two[] = { plane(2, 1, 0, 0, 3), plane(2, 1, 0, 1, 3) };
  expect(two, 2, TRUE, PLANES, "2 of its planes came");
}

/* A flush forgets the planes that came; caps for another grid begin anew. */
static void test_flush(void)
{
  GstHarness *h = test_harness("astroimage");
  GstSegment segment;
  gst_harness_set_src_caps_str(h, PLANES);
  gst_harness_push(h, plane(2, 1, 0, 0, 2));
  gst_harness_push_event(h, gst_event_new_flush_start());
  gst_harness_push_event(h, gst_event_new_flush_stop(TRUE));
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(h, gst_event_new_segment(&segment));
  g_assert_cmpint(gst_harness_push(h, plane(2, 1, 0, 0, 2)), ==, GST_FLOW_OK);
  g_assert_cmpint(gst_harness_push(h, plane(2, 1, 0, 1, 2)), ==, GST_FLOW_OK);
  gst_buffer_unref(gst_harness_pull(h));
  gst_harness_set_src_caps_str(h, GRID);
  gst_buffer_unref(gst_harness_push_and_pull(h, plane(2, 1, 0, 0, 1)));
  gst_harness_teardown(h);
}

static void test_bad_caps(void)
{
  static const struct {
    const char *properties, *caps, *says;
  } cases[] = {
    { "", "layout=pol:v:u,format=CF32LE,pols=1,width=8,height=8,cell=1.0",
      "astrofft must come before astroimage" },
    { "", "layout=plane:pol:v:u,planes=1,format=CF32LE,pols=1,width=8,height=8,cell=1.0",
      "astrofft must come before astroimage" },
    { "", "layout=y:x:pol,format=CF32LE,pols=1,width=8,height=8,cell=1.0", "not square" },
    { "", "layout=pol:y:x,format=CF32LE,pols=1,width=8,height=8", "cell (wavelengths) or pixel" },
    { "", "layout=pol:y:x,format=CF32LE,pols=1,width=8,height=8,pixel=0.5", "hemisphere" },
    { "", "layout=pol:y:x,format=CI8,pols=1,width=8,height=8,pixel=0.01", "CI8 to F32LE" },
    { "stokes=U", "layout=pol:y:x,format=CF32LE,pols=2,width=8,height=8,pixel=0.01",
      "stokes is \"U\" but the products are XX:YY" },
    { "stokes=IX", "layout=pol:y:x,format=CF32LE,pols=2,width=8,height=8,pixel=0.01",
      "some of the letters" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *line =
        g_strdup_printf("fakesrc num-buffers=1 sizetype=fixed sizemax=1024 ! capsfilter "
                        "caps=application/x-astro-uvgrid,%s ! astroimage backend=cpu %s ! fakesink",
                        cases[i].caps, cases[i].properties);
    test_refused_by(line, "astroimage", cases[i].says);
  }
}

/* A transform of another kind is not an image; one axis after the other is as good as both at
 * once. */
static void test_transforms(void)
{
  static const char *const cases[][2] = {
    { "astrofft direction=inverse", "transformed with direction=inverse" },
    { "astrofft centred=false", "transformed with centred=false" },
    { "astrofft axes=u direction=inverse ! astrofft axes=v", "transformed with direction=inverse" },
    { "astrofft axes=u ! astrofft axes=v centred=false", "transformed with centred=false" },
    { "astrofft axes=u ! astrofft axes=v", "without the sums of its weights" },
    { "astrofft centred=true ! astrofft direction=inverse ! astrofft",
      "without the sums of its weights" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *line = g_strdup_printf(
        "fakesrc num-buffers=1 sizetype=fixed sizemax=512 ! capsfilter "
        "caps=application/x-astro-uvgrid,layout=pol:v:u,format=CF32LE,pols=1,width=8,height=8,"
        "cell=10.0 ! %s ! astroimage backend=cpu ! fakesink",
        cases[i][0]);
    test_refused_by(line, "astroimage", cases[i][1]);
  }
}

static void test_stokes_meanwhile(void)
{
  static const char *const texts[] = { "IQUV", "VUQI", NULL };
  static const char *const products[] = { "I:Q:U:V", "V:U:Q:I" };
  GstHarness *h = test_harness("astroimage");
  test_caps_meanwhile(h->element, "stokes", texts,
                      "application/x-astro-uvgrid,layout=pol:y:x,pols=4,"
                      "products=(string)XX:XY:YX:YY," FIELDS,
                      "products", products);
  gst_harness_teardown(h);
}

static void add_tests(void)
{
  g_test_add_func("/astroimage/image", test_image);
  g_test_add_func("/astroimage/planes", test_planes);
  g_test_add_func("/astroimage/beam", test_beam);
  g_test_add_func("/astroimage/coarse", test_coarse);
  g_test_add_func("/astroimage/beam-of-channels", test_beam_of_channels);
  g_test_add_func("/astroimage/stokes", test_stokes);
  g_test_add_func("/astroimage/stokes-meanwhile", test_stokes_meanwhile);
  g_test_add_func("/astroimage/psf", test_psf);
  g_test_add_func("/astroimage/upstream", test_upstream);
  g_test_add_func("/astroimage/late-settings", test_late_settings);
  g_test_add_func("/astroimage/errors", test_errors);
  g_test_add_func("/astroimage/flush", test_flush);
  g_test_add_func("/astroimage/bad-caps", test_bad_caps);
  g_test_add_func("/astroimage/transforms", test_transforms);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
