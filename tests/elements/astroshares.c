/* Elements that share their work by share=RANK/RANKS, all in one process: histograms add up to that
 * of one, to the last pair, and images to that of one but for rounding. */
#include "core/kit/share.h"
#include "core/stream/grid.h"
#include "elements/base/astroshares.h"
#include "tests/elements/elements.h"
#include "tests/elements/ranks.h"

#include <glib/gstdio.h>
#include <math.h>

/* ---- shares as users write them ---- */

static void test_texts(void)
{
  static const struct {
    const char *text;
    guint rank, ranks; /* ranks 0: refused */
  } cases[] = {
    { NULL, 0, 1 },    { "", 0, 1 },     { "0/1", 0, 1 },   { "3/8", 3, 8 },  { "8/8", 0, 0 },
    { "0/0", 0, 0 },   { "-1/2", 0, 0 }, { "1", 0, 0 },     { "1/", 0, 0 },   { "/2", 0, 0 },
    { "1/2/3", 0, 0 }, { "a/b", 0, 0 },  { "0/9e9", 0, 0 }, { " 0/2", 0, 0 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    guint rank, ranks;
    const gboolean good = astro_share_read(cases[i].text, &rank, &ranks, &error);
    g_assert_cmpint(good, ==, cases[i].ranks > 0);
    g_assert_cmpint(!good, ==, error != NULL);
    if (good)
      g_assert_true(rank == cases[i].rank && ranks == cases[i].ranks);
    else
      test_says(error->message, "expected RANK/RANKS");
  }
}

/* ---- pairs ---- */

#define SOURCE "astrocatsrc footprint=cap:30,20,9 "

#define IN_SPACE                                                                                   \
  "kind=smu min-separation=1 max-separation=40 linear-bins=6 mu-bins=5 max-memory=0.7 "
#define PLACES "astrofitssrc ra-column=ra dec-column=dec distance-column=d location="
#define BY_ANGLE "min-angle=5 max-angle=600 linear-bins=7 "

static const struct {
  const char *name, *settings, *sources; /* $h: the histogram's name */
} counts[] = {
  { "angular", BY_ANGLE "backend=cpu ",
    SOURCE "points=700 ! $h.data " SOURCE "points=500 catalogues=7 seed=2 ! $h.random " },
  { "reference", BY_ANGLE "backend=reference regions=3 ",
    SOURCE "points=300 ! $h.data " SOURCE "points=200 catalogues=3 seed=2 ! $h.random " },
  { "regions", BY_ANGLE "backend=cpu regions=5 split=2 interval=2 ",
    SOURCE "points=700 ! $h.data " SOURCE "points=500 catalogues=2 seed=2 ! $h.random " },
  { "data-alone", BY_ANGLE "backend=cpu ", SOURCE "points=900 ! $h.data " },
  { "cross", BY_ANGLE "backend=cpu ",
    SOURCE "points=300 ! $h.data " SOURCE "points=400 seed=2 ! $h.data2 " SOURCE
           "points=300 seed=3 catalogues=5 ! $h.random " SOURCE
           "points=350 seed=4 catalogues=5 ! $h.random2 " },
  { "files", BY_ANGLE "backend=cpu threads=2 max-memory=8000000 ",
    SOURCE "points=3000 ! $h.data " SOURCE "points=40000 seed=2 ! $h.random " },
  { "space", IN_SPACE, PLACES "data.csv ! $h.data " PLACES "random.csv ! $h.random " },
  { "space-reference", IN_SPACE "backend=reference regions=3 ",
    PLACES "data.csv ! $h.data " PLACES "random.csv ! $h.random " },
};

static char *write_named(const char *text, const char *name)
{
  GString *line = g_string_new(text);
  g_string_replace(line, "$h", name, 0);
  return g_string_free(line, FALSE);
}

static void write_places(const char *file, guint n, guint32 seed)
{
  g_autoptr(GString) text = g_string_new("ra,dec,d\n");
  g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
  for (guint i = 0; i < n; i++)
    g_string_append_printf(text, "%.6f,%.6f,%.6f\n", g_rand_double_range(rand, 20, 40),
                           g_rand_double_range(rand, -9, 9), g_rand_double_range(rand, 80, 120));
  g_assert_true(g_file_set_contents(file, text->str, -1, NULL));
}

static void launch(const char *line)
{
  g_autofree char *message = test_launch(line);
  if (message)
    g_error("\"%s\": %s", line, message);
}

static void test_counts(gconstpointer which)
{
  const guint c = GPOINTER_TO_UINT(which);
  g_autofree char *sources = write_named(counts[c].sources, "h");
  write_places("data.csv", 300, 1);
  write_places("random.csv", 400, 2);
  g_autofree char *one = g_strdup_printf(
      "astrohistogram name=h %s ! astrofitssink location=one.fits %s", counts[c].settings, sources);
  launch(one);
  for (guint ranks = 2; ranks <= 5; ranks = 2 * ranks + 1) {
    g_autoptr(GString) line = g_string_new("astroadd name=s ! astrofitssink location=sum.fits ");
    for (guint rank = 0; rank < ranks; rank++) {
      g_autofree char *name = g_strdup_printf("h%u", rank);
      g_autofree char *own = write_named(counts[c].sources, name);
      g_string_append_printf(line, "astrohistogram name=%s share=%u/%u %s ! s. %s", name, rank,
                             ranks, counts[c].settings, own);
    }
    launch(line->str);
    test_assert_same_files("one.fits", "sum.fits");
  }
  g_unlink("data.csv");
  g_unlink("random.csv");
  g_unlink("one.fits");
  g_unlink("sum.fits");
}

/* ---- images ---- */

#define VISIBILITIES                                                                               \
  "astrovissrc stations=8 array=vla-like channels=4 num-buffers=12 noise=3 loss=0.1 "              \
  "integration=60 phase-centre=100,80 sky=0.002,0.001,5;-0.003,0.002,3 "

typedef struct {
  guint ranks;
  gboolean is_last;
  GArray *sums[2]; /* doubles: of the images and of the middles */
  guint asked, planes;
} Adding;

static double value_at(const AstroSharesPart *part, guint64 i)
{
  return part->is_double ? ((double *)part->values)[i] : ((float *)part->values)[i];
}

/* In place of astroreduce: adds each part, and the last one that asks gets the sums. */
static GstPadProbeReturn on_query(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Adding *adding = data;
  const AstroSharesPart *parts;
  guint shares, n;
  if (!astro_shares_is_asked(GST_PAD_PROBE_INFO_QUERY(info), &shares, &parts, &n))
    return GST_PAD_PROBE_OK;
  g_assert_cmpuint(shares, ==, adding->ranks);
  for (guint k = 0; k < n; k++) {
    g_array_set_size(adding->sums[k], (guint)parts[k].n);
    for (guint64 i = 0; i < parts[k].n; i++) {
      double *sum = &g_array_index(adding->sums[k], double, i);
      *sum += value_at(&parts[k], i);
      if (adding->is_last && parts[k].is_double)
        ((double *)parts[k].values)[i] = *sum;
      else if (adding->is_last)
        ((float *)parts[k].values)[i] = (float)*sum;
    }
  }
  adding->asked++;
  astro_shares_answer(GST_PAD_PROBE_INFO_QUERY(info), adding->is_last);
  return GST_PAD_PROBE_HANDLED;
}

static GstPadProbeReturn count_plane(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  const AstroGridMeta *meta = astro_buffer_get_grid(GST_PAD_PROBE_INFO_BUFFER(info));
  g_assert_cmpuint(meta->plane, <, meta->planes);
  ((Adding *)data)->planes++;
  return GST_PAD_PROBE_OK;
}

/* The image, or NULL where none comes out. */
static GstSample *image_of(const char *settings, const char *image, guint rank, Adding *adding)
{
  g_autofree char *line = g_strdup_printf(
      VISIBILITIES "! astrogridder name=g size=64 cell=30 share=%u/%u %s ! astrofft ! astroimage "
                   "psf=true %s ! appsink name=s sync=false",
      rank, adding->ranks, settings, image);
  g_autoptr(GError) error = NULL;
  g_autoptr(GstElement) pipeline = gst_parse_launch(line, &error);
  g_assert_no_error(error);
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "s"),
                        gridder = gst_bin_get_by_name(GST_BIN(pipeline), "g");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(sink, "sink"),
                    src = gst_element_get_static_pad(gridder, "src");
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  GstSample *sample = NULL;
  adding->is_last = rank + 1 == adding->ranks;
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, on_query, adding, NULL);
  gst_pad_add_probe(src, GST_PAD_PROBE_TYPE_BUFFER, count_plane, adding, NULL);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_signal_emit_by_name(sink, "try-pull-sample", TEST_PATIENCE, &sample);
  g_autoptr(GstMessage) trouble = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  g_assert_null(trouble);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  return sample;
}

static void compare(GstSample *one, GstSample *sum)
{
  const GstStructure *caps = gst_caps_get_structure(gst_sample_get_caps(one), 0);
  const gboolean is_double = g_str_equal(gst_structure_get_string(caps, "format"), "F64LE");
  GstBuffer *a = gst_sample_get_buffer(one), *b = gst_sample_get_buffer(sum);
  const AstroImageMeta *beam_a = astro_buffer_get_image(a), *beam_b = astro_buffer_get_image(b);
  GstMapInfo x, y;
  g_assert_true(gst_caps_is_equal(gst_sample_get_caps(one), gst_sample_get_caps(sum)));
  g_assert_true(gst_buffer_map(a, &x, GST_MAP_READ) && gst_buffer_map(b, &y, GST_MAP_READ));
  g_assert_cmpuint(x.size, ==, y.size);
  double most = 0, worst = 0;
  for (gsize i = 0; i < x.size / (is_double ? 8 : 4); i++) {
    const double p = is_double ? ((double *)x.data)[i] : ((float *)x.data)[i],
                 q = is_double ? ((double *)y.data)[i] : ((float *)y.data)[i];
    most = fmax(most, fabs(p));
    worst = fmax(worst, fabs(p - q));
  }
  g_test_message("%g of %g", worst, most);
  g_assert_cmpfloat(most, >, 1);
  g_assert_cmpfloat(worst, <, most * (is_double ? 1e-13 : 2e-6));
  g_assert_true(beam_a->has_beam && beam_b->has_beam);
  g_assert_cmpfloat_with_epsilon(beam_a->major / beam_b->major, 1, 1e-5);
  for (guint i = 0; i < beam_a->n_weights; i++)
    g_assert_cmpfloat(beam_a->weights[i], ==, beam_b->weights[i]);
  gst_buffer_unmap(a, &x);
  gst_buffer_unmap(b, &y);
}

/* Work is shared: planes are those of one process, each made once, but that one without any sends
 * zeros. */
/* image: what follows astroimage. */
static void check_image(const char *settings, const char *image, guint most, gboolean has_planes)
{
  Adding alone = { .ranks = 1 };
  g_autoptr(GstSample) one = image_of(settings, image, 0, &alone);
  g_assert_nonnull(one);
  g_assert_cmpuint(alone.asked, ==, 0);
  for (guint ranks = 3; ranks <= most; ranks += 12) {
    Adding adding = { .ranks = ranks,
                      .sums = { g_array_new(FALSE, TRUE, sizeof(double)),
                                g_array_new(FALSE, TRUE, sizeof(double)) } };
    g_autoptr(GstSample) sum = NULL;
    for (guint rank = 0; rank < ranks; rank++) {
      g_assert_null(sum);
      sum = image_of(settings, image, rank, &adding);
    }
    g_assert_nonnull(sum);
    g_assert_cmpuint(adding.asked, ==, ranks);
    g_assert_cmpuint(adding.planes, ==, has_planes ? MAX(alone.planes, ranks) : ranks);
    compare(one, sum);
    g_array_unref(adding.sums[0]);
    g_array_unref(adding.sums[1]);
  }
}

static void test_images(void)
{
  check_image("", "", 15, TRUE);
  check_image("weighting=uniform accuracy=1e-7", "! application/x-astro-image,format=F64LE", 3,
              TRUE);
  check_image("weighting=briggs per-channel=true", "", 3, TRUE);
  check_image("algorithm=wprojection", "", 3, FALSE);
  check_image("algorithm=wprojection weighting=uniform", "", 3, FALSE);
  check_image("algorithm=direct interval=12", "", 3, FALSE);
}

/* ---- what goes wrong ---- */

static void test_refusals(void)
{
  test_refused(VISIBILITIES "! astrogridder size=64 cell=30 share=0/2 ! astrofft ! astroimage ! "
                            "fakesink",
               "expected astroreduce, in a job of 2 ranks");
  test_refused(VISIBILITIES "! astrogridder size=64 cell=30 share=2/2 ! fakesink",
               "share=2/2, expected RANK/RANKS");
  test_refused(VISIBILITIES "! astrogridder size=64 cell=30 algorithm=wprojection share=0/2 ! "
                            "astroadd ! fakesink",
               "expected astrofft and astroimage before astroreduce");
  test_refused("astrohistogram name=h share=4 ! fakesink " SOURCE "points=9 ! h.data",
               "share=4, expected RANK/RANKS");
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  test_init_gstreamer(&argc, &argv);
  g_autofree char *folder = g_dir_make_tmp(NULL, NULL), *before = g_get_current_dir();
  g_assert_cmpint(g_chdir(folder), ==, 0);
  g_test_add_func("/astroshares/texts", test_texts);
  for (guint i = 0; i < G_N_ELEMENTS(counts); i++) {
    g_autofree char *path = g_strconcat("/astroshares/counts/", counts[i].name, NULL);
    g_test_add_data_func(path, GUINT_TO_POINTER(i), test_counts);
  }
  g_test_add_func("/astroshares/images", test_images);
  g_test_add_func("/astroshares/refusals", test_refusals);
  const int status = g_test_run();
  g_assert_cmpint(g_chdir(before), ==, 0);
  g_rmdir(folder);
  gst_deinit();
  return status;
}
