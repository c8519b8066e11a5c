/* Sums and means equal those of what each stream alone gives, with their weights. Streams that may
 * not be added are refused by the name of the pad. */
#include "core/stream/histogram-summary.h"
#include "core/stream/grid.h"
#include "core/stream/observation.h"
#include "core/stream/validity.h"
#include "tests/elements/elements.h"

/* The output of a pipeline: all buffers and the last summary. */
typedef struct {
  GPtrArray *buffers;
  AstroStream stream;
  GstEvent *event; /* the last summary, or NULL */
} Played;

static Played play(const char *line)
{
  g_autofree char *whole = g_strconcat(line, " ! appsink name=sink sync=false", NULL);
  g_autoptr(GError) error = NULL;
  GstElement *pipeline = gst_parse_launch(whole, &error);
  g_assert_no_error(error);
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(sink, "sink");
  Played p = { g_ptr_array_new_with_free_func((GDestroyNotify)gst_buffer_unref), { 0 }, NULL };
  GstSample *sample;
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  while (g_signal_emit_by_name(sink, "try-pull-sample", TEST_PATIENCE, &sample), sample) {
    g_ptr_array_add(p.buffers, gst_buffer_ref(gst_sample_get_buffer(sample)));
    gst_sample_unref(sample);
  }
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
  g_assert_true(astro_stream_from_caps(&p.stream, caps, NULL));
  for (guint i = 0; !p.event; i++) {
    GstEvent *event = gst_pad_get_sticky_event(pad, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, i);
    if (!event)
      break;
    if (astro_event_is_summary(event))
      p.event = event;
    else
      gst_event_unref(event);
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  g_assert_cmpuint(p.buffers->len, >, 0);
  return p;
}

static void played_clear(Played *p)
{
  g_ptr_array_unref(p->buffers);
  gst_clear_event(&p->event);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Played, played_clear)

static guint32 count_at(GstBuffer *buffer, const AstroStream *stream, guint64 value)
{
  const AstroValidityMeta *meta = astro_buffer_get_validity(buffer);
  guint64 index[ASTRO_MAX_AXES];
  AstroLayout shape;
  if (!meta)
    return 1;
  astro_stream_shape(stream, gst_buffer_get_size(buffer) / astro_stream_step_bytes(stream), &shape);
  for (guint i = shape.n_axes; i-- > 0; value /= shape.extents[i])
    index[i] = value % shape.extents[i];
  return astro_validity_at(meta, &shape, index);
}

/* ---- visibilities ---- */

#define VISIBILITIES(seed, loss)                                                                   \
  "astrovissrc stations=5 num-buffers=3 channels=2 noise=1 seed=" seed " loss=" loss " "

static void check_means(const Played *a, const Played *b, const Played *sum)
{
  g_assert_cmpuint(sum->buffers->len, ==, a->buffers->len);
  for (guint i = 0; i < sum->buffers->len; i++) {
    GstBuffer *x = a->buffers->pdata[i], *y = b->buffers->pdata[i], *z = sum->buffers->pdata[i];
    GstMapInfo mx, my, mz;
    g_assert_true(gst_buffer_map(x, &mx, GST_MAP_READ) && gst_buffer_map(y, &my, GST_MAP_READ) &&
                  gst_buffer_map(z, &mz, GST_MAP_READ));
    g_assert_cmpuint(mz.size, ==, mx.size);
    g_assert_cmpuint(GST_BUFFER_OFFSET(z), ==, GST_BUFFER_OFFSET(x));
    for (guint64 k = 0; k < mz.size / 4; k++) {
      const double u = count_at(x, &a->stream, k / 2), v = count_at(y, &b->stream, k / 2);
      const double p = ((const float *)(gconstpointer)mx.data)[k],
                   q = ((const float *)(gconstpointer)my.data)[k];
      const float expected = u + v > 0 ? (float)((u * p + v * q) / (u + v)) : 0;
      g_assert_cmpfloat(((const float *)(gconstpointer)mz.data)[k], ==, expected);
      if (astro_buffer_get_validity(x))
        g_assert_cmpuint(count_at(z, &sum->stream, k / 2), ==, (guint32)(u + v));
    }
    gst_buffer_unmap(x, &mx);
    gst_buffer_unmap(y, &my);
    gst_buffer_unmap(z, &mz);
  }
}

static void test_means(void)
{
  static const struct {
    const char *a, *b;
  } cases[] = { { VISIBILITIES("1", "0"), VISIBILITIES("2", "0") },
                { VISIBILITIES("1", "0.4"), VISIBILITIES("2", "0.4") } };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *line =
        g_strconcat(cases[i].a, "! s. ", cases[i].b, "! s. astroadd name=s", NULL);
    g_auto(Played) a = play(cases[i].a), b = play(cases[i].b), sum = play(line);
    check_means(&a, &b, &sum);
  }
}

#define SUMS(seed)                                                                                 \
  "astroskysrc stations=3 num-buffers=2 block-steps=1000 seed=" seed " ! astrochannelizer "        \
  "channels=4 ! astroconvert ! application/x-astro-spectra,format=CI8 ! astrotranspose ! "         \
  "astrocorrelator integration=50 ! application/x-astro-visibilities,format=CI32LE "

static void test_sums(void)
{
  g_auto(Played) a = play(SUMS("1")), b = play(SUMS("2")),
                 sum = play(SUMS("1") "! s. " SUMS("2") "! s. astroadd name=s");
  g_assert_true(sum.stream.has_counts);
  for (guint i = 0; i < sum.buffers->len; i++) {
    gint32 x[1000], y[1000], z[1000];
    GstBuffer *out = sum.buffers->pdata[i];
    const gsize bytes = gst_buffer_get_size(out);
    g_assert_cmpuint(bytes, <=, sizeof x);
    gst_buffer_extract(a.buffers->pdata[i], 0, x, sizeof x);
    gst_buffer_extract(b.buffers->pdata[i], 0, y, sizeof y);
    gst_buffer_extract(out, 0, z, sizeof z);
    for (gsize k = 0; k < bytes / 4; k++) {
      g_assert_cmpint(z[k], ==, x[k] + y[k]);
      g_assert_cmpuint(count_at(out, &sum.stream, k / 2), ==,
                       count_at(a.buffers->pdata[i], &a.stream, k / 2) +
                           count_at(b.buffers->pdata[i], &b.stream, k / 2));
    }
  }
}

/* ---- grids ---- */

#define GRID(seed) VISIBILITIES(seed, "0") "! astrogridder size=32 cell=100 algorithm=wprojection "

static void test_grids(void)
{
  g_auto(Played) a = play(GRID("1")), b = play(GRID("2")),
                 sum = play(GRID("1") "! s. " GRID("2") "! s. astroadd name=s");
  GstBuffer *x = a.buffers->pdata[0], *y = b.buffers->pdata[0], *z = sum.buffers->pdata[0];
  const AstroGridMeta *p = astro_buffer_get_grid(x), *q = astro_buffer_get_grid(y),
                      *r = astro_buffer_get_grid(z);
  GstMapInfo mx, my, mz;
  g_assert_cmpuint(sum.buffers->len, ==, 1);
  g_assert_cmpuint(r->n_weights, ==, p->n_weights);
  for (guint i = 0; i < r->n_weights; i++)
    g_assert_cmpfloat(r->weights[i], ==, p->weights[i] + q->weights[i]);
  g_assert_cmpuint(r->used, ==, p->used + q->used);
  g_assert_true(gst_buffer_map(x, &mx, GST_MAP_READ) && gst_buffer_map(y, &my, GST_MAP_READ) &&
                gst_buffer_map(z, &mz, GST_MAP_READ));
  for (gsize k = 0; k < mz.size / 4; k++)
    g_assert_cmpfloat(((const float *)(gconstpointer)mz.data)[k], ==,
                      (float)((double)((const float *)(gconstpointer)mx.data)[k] +
                              ((const float *)(gconstpointer)my.data)[k]));
  gst_buffer_unmap(x, &mx);
  gst_buffer_unmap(y, &my);
  gst_buffer_unmap(z, &mz);
}

/* ---- histograms ---- */

#define PAIRS(name, data, random, more)                                                            \
  "astrocatsrc points=200 seed=" data " ! " name ".data astrocatsrc points=150 " more              \
  " seed=" random " ! " name ".random astrohistogram linear-bins=8 max-angle=600 min-angle=1 "     \
  "name=" name " "

static guint64 *last_values(const Played *p, gsize *bytes)
{
  GstBuffer *last = p->buffers->pdata[p->buffers->len - 1];
  guint64 *values = g_malloc(gst_buffer_get_size(last));
  *bytes = gst_buffer_extract(last, 0, values, gst_buffer_get_size(last));
  return values;
}

/* One input sends a histogram after each of three catalogues, the other sends one: the last output
 * holds everything that was counted. */
static void test_histograms(void)
{
  AstroSummary x, y, z;
  gsize bytes;
  g_auto(Played) a = play(PAIRS("a", "1", "2", "catalogues=3") "interval=1"),
                 b = play(PAIRS("b", "3", "4", "")),
                 sum =
                     play("astrocatsrc points=200 seed=1 ! a.data astrocatsrc points=150 "
                          "catalogues=3 seed=2 ! a.random astrocatsrc points=200 seed=3 ! b.data "
                          "astrocatsrc points=150 seed=4 ! b.random astrohistogram name=a "
                          "linear-bins=8 max-angle=600 min-angle=1 interval=1 ! s. astrohistogram "
                          "name=b linear-bins=8 max-angle=600 min-angle=1 ! s. astroadd name=s");
  g_autofree guint64 *u = last_values(&a, &bytes), *v = last_values(&b, &bytes),
                     *w = last_values(&sum, &bytes);
  g_assert_cmpuint(sum.buffers->len, ==, 3);
  for (gsize i = 0; i < bytes / 8; i++)
    g_assert_cmpuint(w[i], ==, u[i] + v[i]);
  g_assert_true(astro_summary_from_event(&x, a.event, NULL));
  g_assert_true(astro_summary_from_event(&y, b.event, NULL));
  g_assert_true(astro_summary_from_event(&z, sum.event, NULL));
  for (guint i = 0; i < z.n_kinds; i++)
    g_assert_cmpfloat(z.pairs[i], ==, x.pairs[i] + y.pairs[i]);
  g_assert_cmpmem(z.edges, z.n_edges * 8, x.edges, x.n_edges * 8);
  g_assert_cmpuint(z.points[ASTRO_SIDE_DATA], ==, 400);
  g_assert_cmpuint(z.catalogues, ==, 4);
  astro_summary_clear(&x);
  astro_summary_clear(&y);
  astro_summary_clear(&z);
}

/* ---- what may not be added ---- */

static void test_refused_lines(void)
{
  static const struct {
    const char *line, *says;
  } cases[] = {
    { "astroadd name=s ! fakesink " VISIBILITIES(
          "1", "0") "! s. "
                    "astrovissrc stations=6 num-buffers=3 channels=2 phase-centre=200,-80 ! s. ",
      "pad sink_1: the observation's phase centre" },
    { "astroadd name=s ! fakesink " VISIBILITIES("1", "0") "! s. " VISIBILITIES(
          "1", "0") "frequency=2e8 ! s. ",
      "pad sink_1: caps field \"frequency\"" },
    { "astroadd name=s ! fakesink " VISIBILITIES("1",
                                                 "0") "! tee name=t ! queue ! s. "
                                                      "t. ! queue ! astroselect stations=0-3 ! s. ",
      "pad sink_1: caps field \"baselines\" is 10, expected 15" },
    { "astroadd name=s ! fakesink " VISIBILITIES(
          "1", "0") "! tee name=t ! queue ! s. "
                    "t. ! queue ! astroselect stations=1,0,2,3,4 ! s. ",
      "pad sink_1: the observation's stations differ from those of pad sink_0" },
    { "astroadd name=s ! fakesink " GRID("1") "! s. " VISIBILITIES(
          "1", "0") "! astrogridder size=32 cell=90 algorithm=wprojection ! s. ",
      "pad sink_1: caps field \"" },
    { "astroadd name=s ! fakesink " VISIBILITIES("1", "0") "! s. " GRID("1") "! s. ",
      "pad sink_1: uvgrid, expected visibilities, as on pad sink_0" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    test_refused_by(cases[i].line, "s:", cases[i].says);
  test_refused_by("astroadd name=s ! fakesink astrohistogram name=a linear-bins=8 max-angle=600 "
                  "min-angle=1 ! s. astrohistogram name=b linear-bins=8 max-angle=500 min-angle=1 "
                  "! s. astrocatsrc points=50 ! a.data astrocatsrc points=50 ! b.data",
                  "s:", "pad sink_1: 8 bins from");
}

static void add_tests(void)
{
  g_test_add_func("/astroadd/means", test_means);
  g_test_add_func("/astroadd/sums", test_sums);
  g_test_add_func("/astroadd/grids", test_grids);
  g_test_add_func("/astroadd/histograms", test_histograms);
  g_test_add_func("/astroadd/refused", test_refused_lines);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
