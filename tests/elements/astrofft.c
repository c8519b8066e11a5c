/* Transforms of grids, and negotiation: caps up and down, counts, settings, errors. */
#include <complex.h>
#include <math.h>

#include "core/stream/grid.h"
#include "core/stream/validity.h"
#include "tests/elements/elements.h"
#include "tests/elements/setter.h"
#include "tests/may-fail.h"

#define GRID                                                                                       \
  "application/x-astro-uvgrid,format=CF32LE,layout=pol:v:u,pols=2,width=16,height=16,cell=3.0,"    \
  "image-size=12,products=(string)I:PSF,spread=semicircle,support=6,beta=13.8,frequency=1.4e9"
#define SIZE 16

/* One cell becomes a wave around the middle; unknown caps fields and metas stay. */
static void test_grid(void)
{
  GstHarness *h = test_harness("astrofft");
  gst_harness_set_src_caps_str(h, GRID);
  float complex *cells = g_new0(float complex, 2 * SIZE * SIZE);
  cells[(SIZE / 2 + 2) * SIZE + SIZE / 2 - 3] = 5; /* v = 2, u = -3 */
  GstBuffer *in = gst_buffer_new_wrapped(cells, 2 * SIZE * SIZE * sizeof *cells);
  astro_buffer_add_grid(in, 2)->weights[1] = 7;
  GST_BUFFER_PTS(in) = 11;
  GstBuffer *out = gst_harness_push_and_pull(h, in);
  GstMapInfo map;
  g_assert_cmpfloat(astro_buffer_get_grid(out)->weights[1], ==, 7);
  g_assert_cmpuint(GST_BUFFER_PTS(out), ==, 11);
  g_assert_true(gst_buffer_map(out, &map, GST_MAP_READ));
  for (gint y = 0; y < SIZE; y++)
    for (gint x = 0; x < SIZE; x++) {
      double turns = (-3.0 * (x - SIZE / 2) + 2.0 * (y - SIZE / 2)) / SIZE;
      float complex got = ((float complex *)map.data)[y * SIZE + x];
      g_assert_cmpfloat(cabs(got - 5 * cexp(-2 * G_PI * I * turns)), <, 1e-5);
    }
  for (guint i = 0; i < SIZE * SIZE; i++)
    g_assert_true(((float complex *)map.data)[SIZE * SIZE + i] == 0);
  gst_buffer_unmap(out, &map);
  gst_buffer_unref(out);
  g_autoptr(GstCaps) got = gst_pad_get_current_caps(h->sinkpad);
  g_autoptr(GstCaps) wanted = gst_caps_from_string(GRID ",planes=(int)3");
  wanted = gst_caps_make_writable(wanted);
  gst_structure_remove_field(gst_caps_get_structure(wanted, 0), "planes");
  gst_caps_set_simple(wanted, "layout", G_TYPE_STRING, "pol:y:x", NULL);
  g_assert_true(gst_caps_is_equal(got, wanted));
  gst_harness_teardown(h);
}

enum { LARGE = 160, IMAGE = 32 };

static float complex *transform_for(gboolean takes_image_only)
{
  const gsize n = 2 * LARGE * LARGE, bytes = n * sizeof(float complex);
  GstHarness *h = test_harness("astrofft");
  GstCaps *caps = gst_caps_from_string(GRID);
  float complex *made;
  gsize size;
  gst_caps_set_simple(caps, "width", G_TYPE_INT, LARGE, "height", G_TYPE_INT, LARGE, "image-size",
                      G_TYPE_INT, IMAGE, NULL);
  if (takes_image_only)
    gst_harness_add_propose_allocation_meta(h, ASTRO_GRID_IMAGE_ONLY_API, NULL);
  gst_harness_set_src_caps(h, caps);
  float complex *cells = g_new(float complex, n);
  for (gsize k = 0; k < n; k++)
    cells[k] = (float)(k * 7919 % 1000) / 1000 + I;
  GstBuffer *out = gst_harness_push_and_pull(h, gst_buffer_new_wrapped(cells, bytes));
  gst_buffer_extract_dup(out, 0, bytes, (gpointer *)&made, &size);
  g_assert_cmpuint(size, ==, bytes);
  gst_buffer_unref(out);
  gst_harness_teardown(h);
  return made;
}

/* A reader of the image alone gets what a whole transform has there, and undefined values around
 * it; a reader that does not say so gets everything. */
static void test_image_only(void)
{
  g_autofree float complex *whole = transform_for(FALSE), *part = transform_for(TRUE);
  guint others = 0;
  for (gint i = 0; i < 2 * LARGE * LARGE; i++)
    if (ABS(i % LARGE - LARGE / 2) <= IMAGE / 2 && ABS(i / LARGE % LARGE - LARGE / 2) <= IMAGE / 2)
      g_assert_true(whole[i] == part[i]);
    else
      others += whole[i] != part[i];
  g_assert_cmpuint(others, >, 0);
}

/* The wishes of downstream tell upstream what to make. */
static void test_upstream(void)
{
  static const struct {
    const char *properties, *wanted, *made;
  } cases[] = {
    { "", "application/x-astro-uvgrid,layout=pol:y:x,format=CF64LE",
      "application/x-astro-uvgrid,layout=pol:v:u,format=CF64LE" },
    { "", "application/x-astro-uvgrid,layout={(string)pol:y:x,(string)plane:pol:y:x}",
      "application/x-astro-uvgrid,layout=plane:pol:v:u,format=CF32LE" },
    { "axes=u", "application/x-astro-uvgrid,layout=pol:v:x,format=CF32LE",
      "application/x-astro-uvgrid,layout=pol:v:u,format=F32LE" },
    { "length=64", "application/x-astro-spectra,layout=station:time:channel,format=CF32LE",
      "application/x-astro-voltages,layout=station:time,format=CF32LE" },
    { "direction=inverse", "application/x-astro-voltages,layout=time:pol,format=F32LE",
      "application/x-astro-spectra,layout=time:channel:pol,format=CF32LE" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *line = g_strdup_printf("astrofft backend=cpu %s", cases[i].properties);
    GstHarness *h = gst_harness_new_parse(line);
    g_autoptr(GstCaps) wanted = gst_caps_from_string(cases[i].wanted);
    g_autoptr(GstCaps) made = gst_caps_from_string(cases[i].made);
    gst_harness_set_sink_caps(h, gst_caps_ref(wanted));
    g_autoptr(GstCaps) asked = gst_pad_peer_query_caps(h->srcpad, NULL);
    if (!gst_caps_can_intersect(asked, made)) {
      g_autofree char *text = gst_caps_to_string(asked);
      g_error("%s: %s is not %s", line, text, cases[i].made);
    }
    gst_harness_teardown(h);
  }
}

/* A value has the smallest count among those that it is made of. */
static void test_validity(void)
{
  GstHarness *h = gst_harness_new_parse("astrofft backend=cpu direction=inverse");
  AstroLayout shape = { 3,
                        { ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL, ASTRO_AXIS_STATION },
                        { 2, 4, 3 } };
  gst_harness_set_src_caps_str(h, "application/x-astro-spectra,format=CF32LE,"
                                  "layout=time:channel:station,channels=4,stations=3");
  GstBuffer *in = test_buffer(2 * 4 * 3 * 8, 3);
  gst_buffer_memset(in, 0, 0, 2 * 4 * 3 * 8);
  AstroValidityMeta *meta = astro_buffer_add_validity(in, &shape, 9);
  meta->counts[(1 * 4 + 2) * 3 + 1] = 4;
  meta->counts[(1 * 4 + 3) * 3 + 1] = 2;
  GstBuffer *out = gst_harness_push_and_pull(h, in);
  meta = astro_buffer_get_validity(out);
  AstroLayout whole = { 2, { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION }, { 8, 3 } };
  for (guint64 t = 0; t < 8; t++)
    for (guint64 station = 0; station < 3; station++) {
      guint64 index[ASTRO_MAX_AXES] = { t, station };
      g_assert_cmpuint(astro_validity_at(meta, &whole, index), ==, t >= 4 && station == 1 ? 2 : 9);
    }
  gst_buffer_unref(out);
  gst_harness_teardown(h);
}

static void test_properties(void)
{
  GstHarness *h = gst_harness_new("astrofft");
  gst_util_set_object_arg(G_OBJECT(h->element), "axes", "time,pol");
  gst_util_set_object_arg(G_OBJECT(h->element), "direction", "inverse");
  gst_util_set_object_arg(G_OBJECT(h->element), "centred", "true");
  gst_util_set_object_arg(G_OBJECT(h->element), "length", "7");
  g_autofree char *axes = NULL;
  guint length, direction, centred;
  g_object_get(h->element, "axes", &axes, "length", &length, "direction", &direction, "centred",
               &centred, NULL);
  g_assert_cmpstr(axes, ==, "time,pol");
  g_assert_cmpuint(length, ==, 7);
  g_assert_cmpuint(direction, ==, 1);
  g_assert_cmpuint(centred, ==, 2);
  gst_harness_teardown(h);
}

static void test_axes_meanwhile(void)
{
  static const char *const axes[] = { "u", "v", NULL };
  static const char *const layouts[] = { "v:x", "y:u" };
  GstHarness *h = test_harness("astrofft");
  test_caps_meanwhile(h->element, "axes", axes,
                      "application/x-astro-uvgrid,format=CF32LE,layout=v:u,width=4,height=4",
                      "layout", layouts);
  gst_harness_teardown(h);
}

static void test_errors(void)
{
  static const struct {
    const char *properties, *caps, *says;
    guint bytes;
  } cases[] = {
    { "axes=w", "voltages,format=CF32LE,layout=time", "\"w\" is not an axis", 64 },
    { "axes=u,v,u", "uvgrid,format=CF32LE,layout=v:u,width=2,height=2", "u is there twice", 32 },
    { "axes=channel", "voltages,format=CF32LE,layout=time", "axes names none", 64 },
    { "axes=time,channel", "voltages,format=CF32LE,layout=time", "is not in the input", 64 },
    { "axes=time", "spectra,format=CF32LE,layout=channel:time:pol,pols=1,channels=4,rate=1/1",
      "names time, which has no fixed length in spectra of layout channel:time:pol", 64 },
    { "axes=pol,time", "spectra,format=F32LE,layout=time:channel:pol,pols=1,channels=4",
      "names time, which has no fixed length", 64 },
    { "axes=time", "spectra,format=F32LE,layout=channel:time:pol,pols=1,channels=4",
      "names time, which has no fixed length", 64 },
    { "direction=inverse", "spectra,format=CF32LE,layout=channel:time,channels=4",
      "right after time", 64 },
    { "", "spectra,format=CF32LE,layout=station:time,stations=4", "axes names none", 64 },
    { "", "voltages,format=CI8,layout=time", "CI8 to CF32LE", 64 },
    { "", "voltages,format=I8,layout=time", "I8 to CF32LE", 64 },
    { "direction=inverse", "voltages,format=F32LE,layout=time", "real samples", 64 },
    { "length=268435456", "voltages,format=CF32LE,layout=time:station,stations=65536",
      "no memory to hold", 64 },
    { "", "uvgrid,format=CF32LE,layout=v:u,width=4,height=4", "not a whole number", 100 },
    { "", "image,format=F32LE,layout=y:x,width=4,height=4", "not a whole number", 100 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *line =
        g_strdup_printf("fakesrc num-buffers=2 sizetype=fixed sizemax=%u ! capsfilter "
                        "caps=application/x-astro-%s ! astrofft backend=cpu %s ! fakesink",
                        cases[i].bytes, cases[i].caps, cases[i].properties);
    test_refused_by(line, "astrofft", cases[i].says);
  }
}

static void add_tests(void)
{
  g_test_add_func("/astrofft/grid", test_grid);
  g_test_add_func("/astrofft/image-only", test_image_only);
  g_test_add_func("/astrofft/upstream", test_upstream);
  g_test_add_func("/astrofft/validity", test_validity);
  g_test_add_func("/astrofft/properties", test_properties);
  g_test_add_func("/astrofft/axes-meanwhile", test_axes_meanwhile);
  g_test_add_func("/astrofft/errors", test_errors);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
