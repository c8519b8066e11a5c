/* The files of astroclean: a mask, a model found before, and the components that it writes. */
#include "core/lib/sky/sky.h"
#include "tests/elements/elements.h"

#include <glib/gstdio.h>
#include <math.h>

#define SOURCES "0.004,0.003,2;-0.006,0.002,1"

static char *folder;

static char *path_of(const char *name)
{
  return g_build_filename(folder, name, NULL);
}

typedef struct {
  double flux, left_out; /* that astroclean found; of components */
  char *end;
  gint sources; /* in the list of components; -1: none was told */
} Cleaned;

static void read_message(Cleaned *cleaned, const GstStructure *s)
{
  guint sources;
  if (gst_structure_has_name(s, "astro-clean")) {
    gst_structure_get_double(s, "flux", &cleaned->flux);
    g_free(cleaned->end);
    cleaned->end = g_strdup(gst_structure_get_string(s, "end"));
  }
  if (gst_structure_has_name(s, "astro-file") && gst_structure_get_uint(s, "sources", &sources)) {
    cleaned->sources = (gint)sources;
    gst_structure_get_double(s, "left-out-flux", &cleaned->left_out);
  }
}

/* Images a sky, cleans it with these properties and writes the result to a file. */
static Cleaned clean(const char *sky, const char *properties, const char *output)
{
  g_autofree char *path = path_of(output);
  g_autofree char *line = g_strdup_printf(
      "astrovissrc sky=%s array=vla-like num-buffers=4 ! astrogridder size=256 cell=40 ! astrofft "
      "! astroimage ! astroclean backend=cpu gain=0.2 %s ! astrofitssink "
      "location=%s",
      sky, properties, path);
  g_autoptr(GError) error = NULL;
  GstElement *pipeline = gst_parse_launch(line, &error);
  g_assert_no_error(error);
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  Cleaned cleaned = { .sources = -1 };
  gboolean ended = FALSE;
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
    if (gst_message_get_structure(message))
      read_message(&cleaned, gst_message_get_structure(message));
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  return cleaned;
}

static AstroSky *components(const char *name)
{
  g_autofree char *path = path_of(name);
  g_autoptr(GError) error = NULL;
  AstroSky *sky = astro_sky_new(path, &error);
  g_assert_no_error(error);
  g_assert_true(sky->is_celestial);
  return sky;
}

static double flux_of(const AstroSky *sky)
{
  double flux = 0;
  for (guint i = 0; i < sky->n; i++)
    flux += sky->sources[i].flux;
  return flux;
}

/* The list is a sky that gives the same image: what is found in it is at the same places. */
static void test_components(void)
{
  g_autofree char *list = path_of("sky.txt");
  g_autofree char *write = g_strdup_printf("threshold=0.003 components=%s", list);
  Cleaned first = clean(SOURCES, write, "first.fits");
  g_autoptr(AstroSky) sky = components("sky.txt");
  g_assert_cmpint(first.sources, ==, sky->n);
  g_assert_cmpfloat_with_epsilon(flux_of(sky), first.flux - first.left_out, 1e-5);
  g_assert_cmpfloat_with_epsilon(first.flux, 3, 0.05);
  g_autofree char *again = path_of("again.txt");
  g_autofree char *write_again = g_strdup_printf("threshold=0.003 components=%s", again);
  Cleaned second = clean(list, write_again, "second.fits");
  g_autoptr(AstroSky) repeated = components("again.txt");
  g_assert_cmpfloat_with_epsilon(second.flux, flux_of(sky), 0.1);
  /* brightest of each: the same pixel */
  const AstroSource *brightest[2] = { sky->sources, repeated->sources };
  for (guint i = 0; i < sky->n; i++)
    if (sky->sources[i].flux > brightest[0]->flux)
      brightest[0] = &sky->sources[i];
  for (guint i = 0; i < repeated->n; i++)
    if (repeated->sources[i].flux > brightest[1]->flux)
      brightest[1] = &repeated->sources[i];
  g_assert_cmpfloat_with_epsilon(brightest[0]->ra, brightest[1]->ra, 1e-9);
  g_assert_cmpfloat_with_epsilon(brightest[0]->dec, brightest[1]->dec, 1e-9);
  g_free(first.end);
  g_free(second.end);
}

/* The model of one source is a mask that keeps the other from being found. */
static void test_mask(void)
{
  Cleaned one = clean("0.004,0.003,2", "threshold=0.2 output=model", "mask.fits");
  g_autofree char *mask = path_of("mask.fits");
  g_autofree char *property = g_strdup_printf("threshold=0.1 mask=%s", mask);
  Cleaned masked = clean(SOURCES, property, "masked.fits");
  Cleaned whole = clean(SOURCES, "threshold=0.1", "whole.fits");
  g_assert_cmpfloat_with_epsilon(one.flux, 2, 0.4);
  g_assert_cmpfloat_with_epsilon(masked.flux, 2, 0.5);
  g_assert_cmpfloat_with_epsilon(whole.flux, 3, 0.2);
  g_free(one.end);
  g_free(masked.end);
  g_free(whole.end);
}

/* A model that was found before is added to the components, whether it stands alone in its file or
 * among all images. */
static void test_model(void)
{
  static const char *const outputs[] = { "model", "all" };
  for (guint i = 0; i < G_N_ELEMENTS(outputs); i++) {
    g_autofree char *output = g_strdup_printf("threshold=0.003 output=%s", outputs[i]);
    Cleaned before = clean("0.004,0.003,2", output, "before.fits");
    g_autofree char *model = path_of("before.fits"), *list = path_of("sum.txt");
    g_autofree char *properties =
        g_strdup_printf("threshold=0.003 model=%s components=%s", model, list);
    Cleaned after = clean("-0.006,0.002,1", properties, "after.fits");
    g_autoptr(AstroSky) sky = components("sum.txt");
    g_assert_cmpfloat_with_epsilon(after.flux, 1, 0.05);
    g_assert_cmpfloat_with_epsilon(flux_of(sky) + after.left_out, before.flux + after.flux, 1e-4);
    g_free(before.end);
    g_free(after.end);
  }
}

/* Scales, an automatic mask and a fraction of the peak can be typed. */
static void test_settings(void)
{
  Cleaned scales = clean(SOURCES, "threshold=0.02 scales=0,4,8", "scales.fits");
  g_assert_cmpfloat_with_epsilon(scales.flux, 3, 0.1);
  Cleaned part = clean(SOURCES, "peak-fraction=0.5", "part.fits");
  g_assert_cmpstr(part.end, ==, "peak-fraction");
  g_assert_cmpfloat(part.flux, <, 2);
  Cleaned masked = clean(SOURCES, "auto-mask=6", "auto.fits");
  g_assert_cmpfloat_with_epsilon(masked.flux, 3, 0.2);
  g_free(scales.end);
  g_free(part.end);
  g_free(masked.end);
}

static void test_errors(void)
{
  Cleaned made = clean("0.004,0.003,2", "threshold=0.2 output=model", "other.fits");
  g_autofree char *other = path_of("other.fits"), *none = path_of("none.fits");
  g_free(made.end);
  const struct {
    const char *gridder, *products, *property, *value, *says;
  } cases[] = {
    { "size=128 cell=40", "", "mask", other, "256 x 256 pixels, expected 128 x 128" },
    { "size=256 cell=20", "", "mask", other, "not of the same part of the sky" },
    { "size=256 cell=40", "", "mask", none, "none.fits" },
    { "size=256 cell=40 pols=Q", "", "model", other, "no model of Q" },
    { "size=256 cell=40 pols=XX", "", "components", none, "image is of XX" },
    { "size=256 cell=40", "", "components", "/none/none.txt", "/none/none.txt" },
    { "size=256 cell=40", "", "scales", "0,x", "scales \"0,x\"" },
    { "size=256 cell=40", "", "scales", "5,2", "each larger than the last" },
    { "size=256 cell=40", "", "auto-mask", "-1", "auto-mask -1" },
    { "size=256 cell=40", "", "peak-fraction", "1", "less than 1" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *line = g_strdup_printf(
        "astrovissrc sky=0.004,0.003,2 array=vla-like num-buffers=1 ! astrogridder %s ! astrofft "
        "! astroimage ! astroclean backend=cpu %s=%s ! fakesink",
        cases[i].gridder, cases[i].property, cases[i].value);
    test_refused_by(line, "astroclean", cases[i].says);
  }
}

static void add_tests(void)
{
  g_test_add_func("/clean-files/components", test_components);
  g_test_add_func("/clean-files/mask", test_mask);
  g_test_add_func("/clean-files/model", test_model);
  g_test_add_func("/clean-files/settings", test_settings);
  g_test_add_func("/clean-files/errors", test_errors);
}

int main(int argc, char **argv)
{
  folder = g_dir_make_tmp("clean-files-XXXXXX", NULL);
  const int status = test_run(argc, argv, add_tests);
  g_autoptr(GDir) listed = g_dir_open(folder, 0, NULL);
  for (const char *name; (name = g_dir_read_name(listed));) {
    g_autofree char *path = path_of(name);
    g_unlink(path);
  }
  g_rmdir(folder);
  g_free(folder);
  return status;
}
