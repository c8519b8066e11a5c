#include "core/stream/histogram-summary.h"
#include "core/tpacf/tpacf.h"
#include "tests/elements/catalogues.h"
#include "tests/may-fail.h"
#include "tests/peak.h"

#include <sys/resource.h>

enum { BINS = 3, KINDS = 3 };
static const double edges[BINS + 1] = { 1, 2, 4, 8 };

static GstEvent *event_of(guint regions, const double *pairs)
{
  AstroSummary summary;
  astro_summary_init(&summary, KINDS, regions, BINS + 1);
  memcpy(summary.edges, edges, sizeof edges);
  memcpy(summary.pairs, pairs, KINDS * regions * regions * sizeof(double));
  GstEvent *event = astro_summary_to_event(&summary);
  astro_summary_clear(&summary);
  return event;
}

/* Compared with the core, with regions and without, from counts and from sums. */
static void check(guint regions, gboolean sums, AstroEstimator estimator)
{
  guint cells = regions * regions, n = KINDS * cells * BINS;
  g_autofree guint64 *counts = g_new(guint64, n);
  g_autofree double *values = g_new(double, n), *pairs = g_new(double, KINDS *cells);
  for (guint i = 0; i < n; i++)
    values[i] = (double)(counts[i] = 100 + 37 * i % 91);
  for (guint i = 0; i < KINDS * cells; i++)
    pairs[i] = 1000 + 53 * i % 97;
  AstroTpacfConfig config = { .estimator = estimator,
                              .n_regions = regions,
                              .n_bins = BINS,
                              .edges = edges,
                              .dd = { values, pairs },
                              .dr = { values + cells * BINS, pairs + cells },
                              .rr = { values + 2 * cells * BINS, pairs + 2 * cells } };
  AstroTpacfResult expected;
  g_assert_true(astro_tpacf_compute(&config, &expected, NULL));

  GstHarness *h = gst_harness_new("astrotpacf");
  g_object_set(h->element, "estimator", estimator, NULL);
  g_autofree char *caps = g_strdup_printf(
      "application/x-astro-histogram,format=%s,layout=%s,pairs=dd:dr:rr,bins=3%s",
      sums ? "F64LE" : "U64LE", regions > 1 ? "pairs:region:region:bin" : "pairs:bin",
      regions > 1 ? ",regions=2" : "");
  gst_harness_set_src_caps_str(h, caps);
  gst_harness_push_event(h, event_of(regions, pairs));
  gpointer data = sums ? (gpointer)values : counts;
  GstBuffer *out = gst_harness_push_and_pull(h, gst_buffer_new_memdup(data, n * sizeof(double)));
  g_assert_nonnull(out);
  guint columns = 8 + (regions > 1 ? BINS : 0);
  g_assert_cmpuint(gst_buffer_get_size(out), ==, columns * BINS * sizeof(double));
  double found[11][BINS];
  gst_buffer_extract(out, 0, found, sizeof found);
  for (guint k = 0; k < BINS; k++) {
    g_assert_cmpfloat(found[0][k], ==, expected.theta[k]);
    g_assert_cmpfloat(found[1][k], ==, edges[k]);
    g_assert_cmpfloat(found[2][k], ==, edges[k + 1]);
    g_assert_cmpfloat(found[3][k], ==, expected.w[k]);
    g_assert_cmpfloat(found[4][k], ==, expected.error[k]);
    for (guint kind = 0; kind < KINDS; kind++) {
      double sum = 0;
      for (guint cell = 0; cell < cells; cell++)
        sum += values[(kind * cells + cell) * BINS + k];
      g_assert_cmpfloat(found[5 + kind][k], ==, sum);
    }
    for (guint j = 0; j < BINS && regions > 1; j++)
      g_assert_cmpfloat(found[8 + k][j], ==, expected.covariance[k * BINS + j]);
  }
  gst_buffer_unref(out);
  g_autoptr(GstCaps) out_caps = gst_pad_get_current_caps(h->sinkpad);
  g_assert_cmpstr(gst_structure_get_string(gst_caps_get_structure(out_caps, 0), "columns"), ==,
                  regions > 1 ? "theta:low:high:w:error:dd:dr:rr:cov0:cov1:cov2"
                              : "theta:low:high:w:error:dd:dr:rr");
  gst_harness_teardown(h);
  astro_tpacf_clear(&expected);
}

static void test_against_core(void)
{
  for (guint regions = 1; regions <= 2; regions++)
    for (guint sums = 0; sums < 2; sums++)
      for (AstroEstimator e = 0; e <= ASTRO_ESTIMATOR_HAMILTON; e++)
        check(regions, sums, e);
}

/* Caps, an event (or none) and a buffer that do not fit together are refused. */
static void refuse(const char *caps, GstEvent *event, gsize bytes)
{
  GstHarness *h = gst_harness_new("astrotpacf");
  GstBus *bus = gst_bus_new();
  gst_element_set_bus(h->element, bus);
  gst_harness_set_src_caps_str(h, caps);
  if (event)
    gst_harness_push_event(h, event);
  GstFlowReturn flow = gst_harness_push(h, test_buffer(bytes, 1));
  g_assert_cmpint(flow, <, GST_FLOW_OK);
  GstMessage *message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  g_assert_nonnull(message);
  gst_message_unref(message);
  gst_element_set_bus(h->element, NULL);
  gst_object_unref(bus);
  gst_harness_teardown(h);
}

/* The same table as text, with empty fields for what is not a number. */
static void test_csv(void)
{
  const double pairs[KINDS] = { 10, 10, 10 };
  const guint64 counts[KINDS * BINS] = { 4, 0, 2, 2, 1, 1, 1, 0, 1 };
  GstHarness *h = gst_harness_new("astrotpacf");
  g_object_set(h->element, "estimator", ASTRO_ESTIMATOR_NATURAL, NULL);
  gst_harness_set_sink_caps_str(h, "text/csv");
  gst_harness_set_src_caps_str(
      h, "application/x-astro-histogram,format=U64LE,layout=pairs:bin,pairs=dd:dr:rr,bins=3");
  gst_harness_push_event(h, event_of(1, pairs));
  GstBuffer *out = gst_harness_push_and_pull(h, gst_buffer_new_memdup(counts, sizeof counts));
  g_assert_nonnull(out);
  static const char expected[] = "theta,low,high,w,error,dd,dr,rr\n"
                                 "1.4142135623730951,1,2,3,2,4,2,1\n"
                                 "2.8284271247461903,2,4,,,0,1,0\n"
                                 "5.6568542494923806,4,8,1,1.4142135623730949,2,1,1\n";
  g_autofree char *text = g_malloc0(gst_buffer_get_size(out) + 1);
  gst_buffer_extract(out, 0, text, gst_buffer_get_size(out));
  g_assert_cmpstr(text, ==, expected);
  gst_buffer_unref(out);
  gst_harness_teardown(h);
}

#define CAPS "application/x-astro-histogram,"

static void test_refusals(void)
{
  const double pairs[KINDS * 4] = { 1 };
  const char *good = CAPS "format=U64LE,layout=pairs:bin,pairs=dd:dr:rr,bins=3";
  refuse(good, NULL, 72);
  refuse(good, event_of(2, pairs), 72);
  refuse(good, event_of(1, pairs), 71);
  refuse(CAPS "format=U64LE,layout=pairs:bin,pairs=dd:dr:rr,bins=4", event_of(1, pairs), 96);
  refuse(CAPS "format=F32LE,layout=pairs:bin,pairs=dd:dr:rr,bins=3", event_of(1, pairs), 36);
  refuse(CAPS "format=U64LE,layout=bin:pairs,pairs=dd:dr:rr,bins=3", event_of(1, pairs), 72);
  refuse(CAPS "format=U64LE,layout=pairs:bin,pairs=dd:xy:rr,bins=3", event_of(1, pairs), 72);
  refuse(CAPS "format=U64LE,layout=pairs:region:region:bin,pairs=dd:dr:rr,regions=2,"
              "bins=2147483647",
         event_of(1, pairs), 72);
}

/* No memory is taken for a size that is only in the caps. */
static void test_huge(void)
{
#define HUGE_HISTOGRAM                                                                             \
  "fakesrc num-buffers=1 sizetype=fixed sizemax=512 ! "                                            \
  "capsfilter caps=application/x-astro-histogram,format=U64LE,pairs=(string)dd:dr:rr,"
  test_refused_by(HUGE_HISTOGRAM "layout=pairs:bin,bins=2147483647 ! astrotpacf ! fakesink",
                  "astrotpacf", "a histogram of 512 bytes");
  test_refused_by(HUGE_HISTOGRAM "layout=pairs:region:region:bin,regions=10,bins=65536 ! "
                                 "astrotpacf ! fakesink",
                  "astrotpacf", "a histogram of 512 bytes");
  test_refused_by(HUGE_HISTOGRAM "layout=pairs:region:region:bin,regions=10,bins=2147483647 ! "
                                 "astrotpacf ! fakesink",
                  "astrotpacf", "a covariance of 2147483647 bins");
}

static void check_no_memory(guint64 more)
{
  enum { MANY = 20000, CELLS = KINDS * 4 };
  GstHarness *h = gst_harness_new("astrotpacf");
  g_autoptr(GstBus) bus = gst_bus_new();
  gst_element_set_bus(h->element, bus);
  AstroSummary summary;
  astro_summary_init(&summary, KINDS, 2, MANY + 1);
  for (guint k = 0; k <= MANY; k++)
    summary.edges[k] = k;
  gst_harness_set_src_caps_str(h, CAPS "format=U64LE,layout=pairs:region:region:bin,"
                                       "pairs=dd:dr:rr,regions=2,bins=20000");
  gst_harness_push_event(h, astro_summary_to_event(&summary));
  astro_summary_clear(&summary);
  GstBuffer *buffer = test_buffer((gsize)CELLS * MANY * sizeof(double), 1);

  struct rlimit before, small;
  g_assert_cmpint(getrlimit(RLIMIT_AS, &before), ==, 0);
  small = before;
  small.rlim_cur = peak_status("VmSize:") + more;
  g_assert_cmpint(setrlimit(RLIMIT_AS, &small), ==, 0);
  const GstFlowReturn flow = gst_harness_push(h, buffer);
  setrlimit(RLIMIT_AS, &before);
  g_assert_cmpint(flow, ==, GST_FLOW_ERROR);
  g_autoptr(GstMessage) message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  g_assert_nonnull(message);
  g_autoptr(GError) error = NULL;
  gst_message_parse_error(message, &error, NULL);
  test_says(error->message, "no memory for the correlation function of 20000 bins and 2 regions");
  gst_element_set_bus(h->element, NULL);
  gst_harness_teardown(h);
}

/* A covariance has the square of the number of bins: with that many more bytes than the process
 * has, there is no memory for the table of 3.2e9 bytes, or for its parts. */
static void test_no_memory(void)
{
  static const guint64 more[] = { G_GUINT64_CONSTANT(1000000000), G_GUINT64_CONSTANT(5000000000) };
  for (guint i = 0; i < G_N_ELEMENTS(more); i++)
    check_no_memory(more[i]);
}

static char *warning_of(const char *line)
{
  g_autoptr(GstElement) pipeline = gst_parse_launch(line, NULL);
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  g_autoptr(GError) warning = NULL;
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_autoptr(GstMessage) message = gst_bus_timed_pop_filtered(
      bus, 60 * GST_SECOND, GST_MESSAGE_WARNING | GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_nonnull(message);
  g_assert_cmpint(GST_MESSAGE_TYPE(message), ==, GST_MESSAGE_WARNING);
  gst_message_parse_warning(message, &warning, NULL);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  return g_strdup(warning->message);
}

/* If there is no w the reason follows from the counts: one point has no pairs, whatever the
 * estimator divides by. */
static void test_no_pairs(void)
{
  static const struct {
    guint data, random;
    const char *estimator, *says;
  } cases[] = { { 1, 500, "landy-szalay", "no pairs of kind dd" },
                { 500, 1, "landy-szalay", "no pairs of kind rr" },
                { 500, 1, "davis-peebles", "would divide by zero pairs" },
                { 3, 3, "landy-szalay", "would divide by zero pairs" } };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *line = g_strdup_printf(
        "astrohistogram name=h min-angle=1 max-angle=100 ! astrotpacf estimator=%s ! fakesink "
        "astrocatsrc points=%u ! h.data astrocatsrc points=%u seed=2 ! h.random",
        cases[i].estimator, cases[i].data, cases[i].random);
    g_autofree char *warning = warning_of(line);
    test_says(warning, cases[i].says);
  }
}

/* Catalogues of different parts of the sky give a w that means nothing. */
static void test_apart(void)
{
  g_autofree char *one =
      warning_of("astrohistogram name=h min-angle=1 max-angle=100 ! astrotpacf ! fakesink "
                 "astrocatsrc points=2000 footprint=cap:0,0,8 ! h.data "
                 "astrocatsrc points=2000 seed=2 footprint=cap:180,0,8 ! h.random");
  test_says(one, "no point of the data lies near a random one");
  test_says(one, "do they cover the same sky, with positions in degrees?");
  g_autofree char *two =
      warning_of("astrohistogram name=h min-angle=1 max-angle=100 ! astrotpacf ! fakesink "
                 "astrocatsrc points=2000 footprint=cap:0,0,8 ! h.data "
                 "astrocatsrc points=2000 seed=3 footprint=cap:180,0,8 ! h.data2 "
                 "astrocatsrc points=2000 seed=4 footprint=cap:0,0,8 ! h.random "
                 "astrocatsrc points=2000 seed=2 footprint=cap:0,0,8 ! h.random2");
  test_says(two, "no point of pad data lies near one of pad data2");
}

/* Most pairs of this field are wider than its bins, where w is smaller than they show. */
static void test_narrow_bins(void)
{
  g_autofree char *warning = warning_of(
      "astrohistogram name=h min-angle=1 max-angle=300 ! astrotpacf integral-constraint=true ! "
      "fakesink astrocatsrc points=5000 slope=-1.5 seed=3 footprint=cap:0,0,8 ! h.data "
      "astrocatsrc points=5000 seed=4 footprint=cap:0,0,8 ! h.random");
  test_says(warning, "of the random pairs lie in the bins");
}

/* From catalogues to the power law that was put in. */
static void test_pipeline(void)
{
  GstElement *pipeline = gst_parse_launch(
      "astrohistogram name=h regions=10 min-angle=1 max-angle=100 ! astrotpacf ! fakesink "
      "astrocatsrc points=20000 slope=-0.8 seed=3 footprint=band:0,60,0,40 ! h.data "
      "astrocatsrc points=20000 catalogues=3 seed=4 footprint=band:0,60,0,40 ! h.random",
      NULL);
  GstBus *bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  double slope = 0;
  for (gboolean ended = FALSE; !ended;) {
    GstMessage *message = gst_bus_timed_pop_filtered(
        bus, TEST_PATIENCE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_ELEMENT);
    g_assert_nonnull(message);
    g_assert_cmpint(GST_MESSAGE_TYPE(message), !=, GST_MESSAGE_ERROR);
    ended = GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
    const GstStructure *s = gst_message_get_structure(message);
    if (s && gst_structure_has_name(s, "astro-tpacf"))
      g_assert_true(gst_structure_get_double(s, "slope", &slope));
    gst_message_unref(message);
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(bus);
  gst_object_unref(pipeline);
  g_assert_cmpfloat_with_epsilon(slope, -0.8, 0.2);
}

/* The message with w(theta) of catalogues like these; to be freed. */
static GstStructure *told_of(const char *line)
{
  g_autoptr(GstElement) pipeline = gst_parse_launch(line, NULL);
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  GstStructure *told = NULL;
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  for (gboolean ended = FALSE; !ended;) {
    g_autoptr(GstMessage) message = gst_bus_timed_pop_filtered(
        bus, TEST_PATIENCE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_ELEMENT);
    g_assert_nonnull(message);
    g_assert_cmpint(GST_MESSAGE_TYPE(message), !=, GST_MESSAGE_ERROR);
    ended = GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
    const GstStructure *s = gst_message_get_structure(message);
    if (s && gst_structure_has_name(s, "astro-tpacf"))
      told = gst_structure_copy(s);
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  g_assert_nonnull(told);
  return told;
}

/* Points without clusters, where some bins have no pairs: no power law is fitted. */
static void test_no_clusters(void)
{
  g_autoptr(GstStructure) told =
      told_of("astrohistogram name=h regions=10 min-angle=1 max-angle=100 ! astrotpacf ! fakesink "
              "astrocatsrc points=300 seed=3 footprint=band:0,60,0,40 ! h.data "
              "astrocatsrc points=20000 seed=4 footprint=band:0,60,0,40 ! h.random");
  test_says(gst_structure_get_string(told, "no-fit"), "bins");
  g_assert_false(gst_structure_has_field(told, "amplitude"));
  g_assert_false(gst_structure_has_field(told, "slope"));
}

static void add_tests(void)
{
  g_test_add_func("/astrotpacf/against-core", test_against_core);
  g_test_add_func("/astrotpacf/csv", test_csv);
  g_test_add_func("/astrotpacf/refusals", test_refusals);
  g_test_add_func("/astrotpacf/huge", test_huge);
  g_test_add_func("/astrotpacf/no-memory", test_no_memory);
  g_test_add_func("/astrotpacf/no-pairs", test_no_pairs);
  g_test_add_func("/astrotpacf/apart", test_apart);
  g_test_add_func("/astrotpacf/narrow-bins", test_narrow_bins);
  g_test_add_func("/astrotpacf/no-clusters", test_no_clusters);
  g_test_add_func("/astrotpacf/pipeline", test_pipeline);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
