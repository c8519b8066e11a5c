/* Point-spread functions that are twice as large as the image give pictures without seams. */
#include "core/stream/grid.h"
#include "tests/elements/elements.h"
#include "tests/elements/pulled.h"

#include <math.h>

/* The first buffer that came out of a pipeline, and its caps. */
typedef struct {
  guint width;
  float *pixels;
  guint border;
  gboolean has_middle;
  double major;
} Image;

static Image take(GstElement *pipeline, const char *name)
{
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), name);
  g_autoptr(GstSample) sample = NULL;
  AstroStream stream;
  Image image = { 0 };
  g_signal_emit_by_name(sink, "try-pull-sample", TEST_PATIENCE, &sample);
  g_assert_nonnull(sample);
  GstCaps *caps = gst_sample_get_caps(sample);
  g_assert_true(astro_stream_from_caps(&stream, caps, NULL));
  image.width = (guint)stream.layout.extents[stream.layout.n_axes - 1];
  image.has_middle = gst_structure_has_field(gst_caps_get_structure(caps, 0), "middle");
  GstBuffer *buffer = gst_sample_get_buffer(sample);
  const AstroImageMeta *meta = astro_buffer_get_image(buffer);
  image.border = meta ? meta->border : 0;
  image.major = meta ? meta->major : 0;
  image.pixels = g_malloc(gst_buffer_get_size(buffer));
  gst_buffer_extract(buffer, 0, image.pixels, gst_buffer_get_size(buffer));
  return image;
}

static GstElement *play(const char *line)
{
  g_autoptr(GError) error = NULL;
  GstElement *pipeline = gst_parse_launch(line, &error);
  g_assert_no_error(error);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  return pipeline;
}

static void end(GstElement *pipeline)
{
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
}

static Image image_of(const char *line)
{
  g_autofree char *whole = g_strconcat(line, " ! appsink name=sink sync=false", NULL);
  GstElement *pipeline = play(whole);
  Image image = take(pipeline, "sink");
  end(pipeline);
  return image;
}

#define SOURCE                                                                                     \
  "astrovissrc stations=32 channels=16 sky=0.004,0.003,2;-0.006,0.002,1;0.001,-0.007,0.5 "         \
  "noise=10 duration=2 integration=0.2 "

/* ---- without seams ---- */

static double rms(const Image *image, gboolean rim)
{
  const guint n = image->width, edge = n / 8;
  double sum = 0;
  guint count = 0;
  for (guint y = 0; y < n; y++)
    for (guint x = 0; x < n; x++) {
      const gboolean at_rim = MIN(MIN(x, y), n - 1 - MAX(x, y)) < edge;
      if (at_rim != rim)
        continue;
      sum += (double)image->pixels[y * n + x] * (double)image->pixels[y * n + x];
      count++;
    }
  return sqrt(sum / count);
}

/* Root mean square difference between one column (or row) and the next. */
static double step(const Image *image, guint at, gboolean of_rows)
{
  const guint n = image->width;
  double sum = 0;
  for (guint i = 0; i < n; i++) {
    const guint here = of_rows ? at * n + i : i * n + at, before = here - (of_rows ? n : 1);
    const double d = (double)image->pixels[here] - (double)image->pixels[before];
    sum += d * d;
  }
  return sqrt(sum / n);
}

static int by_size(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Whether a step from one line to the next is far larger than all others. */
static gboolean has_seam(const Image *image)
{
  g_autofree double *steps = g_new(double, 2 * (image->width - 1));
  guint n = 0;
  for (guint at = 1; at < image->width; at++) {
    steps[n++] = step(image, at, FALSE);
    steps[n++] = step(image, at, TRUE);
  }
  qsort(steps, n, sizeof *steps, by_size);
  g_test_message("steps: median %g, greatest %g", steps[n / 2], steps[n - 1]);
  return steps[n - 1] > 3 * steps[n / 2];
}

#define SYNTHESIS                                                                                  \
  "astrovissrc stations=44 array=lofar-like channels=16 noise=1000 frequency=150e6 "               \
  "bandwidth=195312.5 phase-centre=291.5,52.9 start-time=2026-11-20T12:00:00 duration=21600 "      \
  "integration=300 sky=0.002,0.0015,2;-0.003,0.001,1;0.0005,-0.0035,0.5 "

/* First light, and a synthesis with fewer dumps: the residual is the same at the rim as in the
 * middle, without edges. With a point-spread function as large as the image, the first has both
 * faults. */
static void test_seamless(void)
{
  static const struct {
    const char *line, *clean;
    guint size;
    gboolean seamless;
  } cases[] = {
    { SOURCE "! astrogridder size=256 cell=45", "", 256, TRUE },
    { SOURCE "! astrogridder size=256 cell=45", " wide-psf=false", 256, FALSE },
    { SYNTHESIS "! astrogridder size=1024 cell=1.5 weighting=uniform", "", 1024, TRUE },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *line =
        g_strconcat(cases[i].line, " ! astrofft ! astroimage ! astroclean output=residual",
                    cases[i].clean, NULL);
    Image image = image_of(line);
    const double ratio = rms(&image, TRUE) / rms(&image, FALSE);
    g_test_message("rim over middle: %.3f", ratio);
    g_assert_cmpuint(image.width, ==, cases[i].size);
    g_assert_cmpuint(image.border, ==, cases[i].seamless ? 0 : cases[i].size / 4);
    g_assert_cmpint(ratio > 1 / 1.2 && ratio < 1.2, ==, cases[i].seamless);
    g_assert_cmpint(has_seam(&image), ==, !cases[i].seamless);
    g_free(image.pixels);
  }
}

/* Sources at the very edges are found, with their places and fluxes. */
static void test_at_edges(void)
{
  Image image = image_of(
      "astrovissrc stations=32 sky=0.026,0.003,2;-0.006,-0.027,1 duration=2 integration=0.2 ! "
      "astrogridder size=256 cell=45 ! astrofft ! astroimage ! astroclean threshold=0.01");
  const double pixel = 45 / 3600. * G_PI / 180;
  const float first =
      image.pixels[(128 + (guint)lrint(0.003 / pixel)) * 256 + (128 - (guint)lrint(0.026 / pixel))];
  const float second =
      image.pixels[(128 - (guint)lrint(0.027 / pixel)) * 256 + (128 + (guint)lrint(0.006 / pixel))];
  g_assert_cmpfloat_with_epsilon(first, 2, 0.06);
  g_assert_cmpfloat_with_epsilon(second, 1, 0.04);
  g_free(image.pixels);
}

/* ---- who gets one ---- */

/* The width that is agreed on between the astroimage `maker` and what follows. */
static guint made_width(const char *line)
{
  GstElement *pipeline = play(line);
  Image image = take(pipeline, "sink");
  g_autoptr(GstElement) maker = gst_bin_get_by_name(GST_BIN(pipeline), "maker");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(maker, "src");
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
  gint width = 0;
  gst_structure_get_int(gst_caps_get_structure(caps, 0), "width", &width);
  g_assert_cmpuint(image.width, ==, 64);
  g_assert_false(image.has_middle);
  g_free(image.pixels);
  end(pipeline);
  return (guint)width;
}

#define GRID SOURCE "! astrogridder size=64 cell=90 "
/* A direct transform takes long for more visibilities. */
#define FEW "astrovissrc stations=8 num-buffers=2 ! astrogridder size=64 cell=90 "
#define SINK " ! appsink name=sink sync=false"

static void test_who(void)
{
  static const struct {
    const char *line;
    guint made;
  } cases[] = {
    { GRID "! astrofft ! astroimage name=maker ! astroclean" SINK, 128 },
    { GRID "! queue ! astrofft ! queue ! astroimage name=maker ! queue ! astroclean" SINK, 128 },
    { FEW "algorithm=direct ! astrofft ! astroimage name=maker ! astroclean" SINK, 128 },
    { GRID "per-channel=true pols=XX,YY accuracy=1e-6 ! astrofft ! astroimage name=maker ! "
           "astroclean" SINK,
      128 },
    /* Elements that did not ask for it, and those that cannot have it. */
    { GRID "! astrofft ! astroimage name=maker" SINK, 64 },
    { GRID "! astrofft ! astroimage name=maker psf=true" SINK, 64 },
    { GRID "! astrofft ! astroimage name=maker ! astroclean wide-psf=false" SINK, 64 },
    { GRID "! astrofft ! astroimage name=maker ! astroclean iterations=0" SINK, 64 },
    { GRID "algorithm=wprojection ! astrofft ! astroimage name=maker ! astroclean" SINK, 64 },
    { GRID
      "! astrofft ! astroimage name=maker ! application/x-astro-image,width=64 ! astroclean" SINK,
      64 },
    { GRID "! astrofft ! astroimage name=maker ! tee name=t ! queue ! astroclean ! fakesink "
           "t. ! queue" SINK,
      64 },
    { GRID "! astrofft ! tee name=t ! queue ! astroimage name=maker ! astroclean" SINK
           " t. ! queue ! fakesink",
      64 },
    { GRID "! tee name=t ! queue ! astrofft ! astroimage name=maker ! astroclean" SINK
           " t. ! queue ! fakesink",
      64 },
    /* Twice this field is larger than the hemisphere. */
    { "astrovissrc stations=8 frequency=2e6 bandwidth=1e5 num-buffers=2 ! astrogridder size=64 "
      "field-of-view=60 ! astrofft ! astroimage name=maker ! astroclean" SINK,
      64 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_test_message("%s", cases[i].line);
    g_assert_cmpuint(made_width(cases[i].line), ==, cases[i].made);
  }
}

/* The cells for weights follow the size that was asked for: the beam is the same. */
static void test_same_beam(void)
{
  static const char *const weights[] = { "weighting=uniform", "weighting=briggs robust=0" };
  for (guint i = 0; i < G_N_ELEMENTS(weights); i++) {
    double majors[2];
    for (guint wide = 0; wide < 2; wide++) {
      g_autofree char *line = g_strdup_printf(
          SOURCE "! astrogridder size=256 cell=45 %s ! astrofft ! astroimage ! astroclean "
                 "wide-psf=%s",
          weights[i], wide ? "true" : "false");
      Image image = image_of(line);
      majors[wide] = image.major;
      g_free(image.pixels);
    }
    g_assert_cmpfloat_with_epsilon(majors[0], majors[1], 1e-4 * majors[0]);
  }
}

/* ---- an image of somebody else's that has one ---- */

static void test_middle(void)
{
  static const struct {
    const char *middle, *says;
  } cases[] = { { "6", NULL }, { "12", "middle is larger" }, { "-1", "middle" } };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *line = g_strdup_printf(
        "fakesrc num-buffers=1 sizetype=fixed sizemax=800 filltype=zero ! capsfilter "
        "caps=application/x-astro-image,width=10,height=10,pixel=0.01,format=F32LE,layout=pol:y:x,"
        "pols=2,products=(string)I:PSF,middle=(int)%s ! astroclean backend=cpu output=model",
        cases[i].middle);
    g_autofree char *refused = g_strconcat(line, " ! fakesink", NULL);
    if (cases[i].says) {
      test_refused_by(refused, "astroclean", cases[i].says);
      continue;
    }
    Image image = image_of(line);
    g_assert_cmpuint(image.width, ==, 6);
    g_free(image.pixels);
  }
}

static void add_tests(void)
{
  g_test_add_func("/wide-psf/seamless", test_seamless);
  g_test_add_func("/wide-psf/at-edges", test_at_edges);
  g_test_add_func("/wide-psf/who", test_who);
  g_test_add_func("/wide-psf/same-beam", test_same_beam);
  g_test_add_func("/wide-psf/middle", test_middle);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
