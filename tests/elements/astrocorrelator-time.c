/* Integrations of streams that are cut anywhere, broken or damaged, compared with the reference. */
#include "core/correlator/correlator.h"
#include "core/stream/validity.h"
#include "tests/elements/astrocorrelator.h"

/* The core's reference for steps first to first + count of a stream in CI8. */
static void reference(const guint8 *stream, guint64 first, guint64 count, AstroFormat to,
                      gpointer out)
{
  AstroCorrelatorConfig config = {
    .stations = 3,
    .pols = 2,
    .channels = 4,
    .from = ASTRO_FORMAT_CI8,
    .to = to,
    .channel_step = 1,
    .layout = { .n_axes = 4,
                .axes = { ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL, ASTRO_AXIS_STATION, ASTRO_AXIS_POL },
                .extents = { 0, 4, 3, 2 } },
  };
  GError *error = NULL;
  gpointer instance = astro_correlator_reference.create(&config, NULL, NULL, &error);
  g_assert_no_error(error);
  AstroBlock in = { (gpointer)(stream + first * 2 * SAMPLES), count * 2 * SAMPLES };
  AstroBlock block = { out, VALUES * 8 };
  AstroCorrelatorArguments arguments = { .steps = count, .count = count, .dump = TRUE };
  g_assert_true(
      astro_correlator_reference.submit(instance, &in, 1, &block, 1, &arguments, NULL, &error));
  astro_correlator_reference.destroy(instance);
}

static void check_values(GstBuffer *buffer, const guint8 *stream, guint64 first, guint64 count,
                         AstroFormat to)
{
  guint8 expected[VALUES * 8];
  GstMapInfo map;
  reference(stream, first, count, to, expected);
  g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
  g_assert_cmpmem(map.data, map.size, expected, sizeof expected);
  gst_buffer_unmap(buffer, &map);
}

/* All counts are `count`, be it one for all or one for each. */
static void check_count(GstBuffer *buffer, guint32 count, guint32 full)
{
  const AstroValidityMeta *meta = astro_buffer_get_validity(buffer);
  g_assert_nonnull(meta);
  g_assert_cmpuint(meta->full, ==, full);
  guint64 n = astro_validity_n_counts(meta);
  g_assert_true(n == 1 || n == 24);
  for (guint i = 0; i < n; i++)
    g_assert_cmpuint(meta->counts[i], ==, count);
}

/* Integrations end inside buffers, span several buffers, or several end in one; their times are
 * right. */
static void test_integrations(gconstpointer format)
{
  AstroFormat to = *(const AstroFormat *)format;
  static const guint integrations[] = { 1, 7, 50, 100 }, cuts[] = { 13, 1, 100, 50, 36 };
  guint8 stream[200 * 2 * SAMPLES];
  test_fill(stream, sizeof stream, 1);
  for (guint i = 0; i < G_N_ELEMENTS(integrations); i++) {
    guint64 n = integrations[i], at = 0;
    GstHarness *h = new_harness((guint)n);
    if (to == ASTRO_FORMAT_CI32LE)
      gst_harness_set_sink_caps_str(h, "application/x-astro-visibilities,format=CI32LE");
    gst_harness_set_src_caps_str(h, SPECTRA("CI8") ",rate=1000/1,frequency=1e9,bandwidth=1e6");
    for (guint c = 0; c < G_N_ELEMENTS(cuts); at += cuts[c++])
      g_assert_cmpint(gst_harness_push(h, part(stream, at, cuts[c])), ==, GST_FLOW_OK);
    g_assert_cmpuint(at, ==, 200);
    g_assert_cmpuint(gst_harness_buffers_in_queue(h), ==, 200 / n);
    gst_harness_push_event(h, gst_event_new_eos());
    for (guint64 k = 0; k * n < 200; k++) {
      guint64 count = MIN(n, 200 - k * n);
      GstBuffer *buffer = gst_harness_pull(h);
      check_values(buffer, stream, k * n, count, to);
      check_count(buffer, (guint32)count, (guint32)n);
      g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, k);
      g_assert_cmpuint(GST_BUFFER_OFFSET_END(buffer), ==, k + 1);
      g_assert_cmpuint(GST_BUFFER_PTS(buffer), ==, k * n * GST_MSECOND);
      /* The last one is as long as the samples in it. */
      g_assert_cmpuint(GST_BUFFER_DURATION(buffer), ==, count * GST_MSECOND);
      gst_buffer_unref(buffer);
    }
    g_assert_null(gst_harness_try_pull(h));
    g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
    g_autofree char *text = g_strdup_printf(
        "application/x-astro-visibilities,format=%s,layout=channel:baseline:pol:pol,baselines=6,"
        "channels=4,pols=2,rate=1000/%u,frequency=1e9,bandwidth=1e6,counts=true",
        astro_format_info(to)->name, (guint)n);
    g_autoptr(GstCaps) wanted = gst_caps_from_string(text);
    g_assert_true(gst_caps_is_equal(caps, wanted));
    gst_harness_teardown(h);
  }
}

/* Steps that never came: integrations hold what came, those with nothing are missing, and the next
 * one says so. */
static void test_jump(void)
{
  guint8 stream[100 * 2 * SAMPLES];
  test_fill(stream, sizeof stream, 2);
  GstHarness *h = new_harness(10);
  gst_harness_set_src_caps_str(h, SPECTRA("CI8"));
  gst_harness_push(h, part(stream, 4, 20)); /* begins inside an integration */
  gst_harness_push(h, part(stream, 57, 13));
  static const struct {
    guint64 number, first, count;
    gboolean discont;
  } wanted[] = { { 0, 4, 6, FALSE },
                 { 1, 10, 10, FALSE },
                 { 2, 20, 4, TRUE },
                 { 5, 57, 3, TRUE },
                 { 6, 60, 10, FALSE } };
  for (guint i = 0; i < G_N_ELEMENTS(wanted); i++) {
    GstBuffer *buffer = gst_harness_pull(h);
    g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, wanted[i].number);
    g_assert_cmpint(GST_BUFFER_IS_DISCONT(buffer), ==, wanted[i].discont);
    check_values(buffer, stream, wanted[i].first, wanted[i].count, ASTRO_FORMAT_CF32LE);
    check_count(buffer, (guint32)wanted[i].count, 10);
    gst_buffer_unref(buffer);
  }
  g_assert_null(gst_harness_try_pull(h));
  gst_harness_teardown(h);
}

/* A GAP buffer holds no sample, whatever is in it. */
static void test_gap(void)
{
  guint8 stream[60 * 2 * SAMPLES];
  test_fill(stream, sizeof stream, 3);
  GstHarness *h = new_harness(20);
  gst_harness_set_src_caps_str(h, SPECTRA("CI8"));
  gst_harness_push(h, part(stream, 0, 15));
  GstBuffer *gap = part(stream, 15, 30);
  GST_BUFFER_FLAG_SET(gap, GST_BUFFER_FLAG_GAP);
  gst_harness_push(h, gap);
  gst_harness_push(h, part(stream, 45, 15));
  static const guint firsts[] = { 0, 0, 45 }, counts[] = { 15, 0, 15 };
  for (guint i = 0; i < 3; i++) {
    GstBuffer *buffer = gst_harness_pull(h);
    g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, i);
    check_values(buffer, stream, firsts[i], counts[i], ASTRO_FORMAT_CF32LE);
    check_count(buffer, counts[i], 20);
    g_assert_true(GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP) == (counts[i] == 0));
    gst_buffer_unref(buffer);
  }
  gst_harness_teardown(h);
}

static guint pull_gap_events(GstHarness *h)
{
  GstEvent *event;
  guint n = 0;
  while ((event = gst_harness_try_pull_event(h))) {
    n += GST_EVENT_TYPE(event) == GST_EVENT_GAP;
    gst_event_unref(event);
  }
  return n;
}

/* A GAP event in place of lost blocks, as identity sends it, does not cut an integration in two and
 * does not overtake it. A sink that waits for the first event of a stream gets it. */
static void test_gap_event(void)
{
  guint8 stream[60 * 2 * SAMPLES];
  static const guint firsts[] = { 0, 9, 47 }, counts[] = { 6, 21, 13 };
  test_fill(stream, sizeof stream, 4);
  GstHarness *h = new_harness(20);
  gst_harness_set_sink_caps_str(h, "application/x-astro-visibilities,format=CI32LE");
  gst_harness_set_src_caps_str(h, SPECTRA("CI8"));
  g_assert_true(gst_harness_push_event(h, gst_event_new_gap(0, GST_SECOND)));
  g_assert_cmpuint(pull_gap_events(h), ==, 1);
  for (guint i = 0; i < 3; i++) {
    gst_harness_push(h, part(stream, firsts[i], counts[i]));
    g_assert_true(gst_harness_push_event(h, gst_event_new_gap(0, GST_SECOND)));
  }
  g_assert_cmpuint(pull_gap_events(h), ==, 0);
  gst_harness_push_event(h, gst_event_new_eos());
  memset(stream + 6 * 2 * SAMPLES, 0, 3 * 2 * SAMPLES);
  memset(stream + 30 * 2 * SAMPLES, 0, 17 * 2 * SAMPLES);
  static const guint came[] = { 17, 10, 13 };
  for (guint i = 0; i < 3; i++) {
    GstBuffer *buffer = gst_harness_pull(h);
    g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, i);
    check_values(buffer, stream, 20 * i, 20, ASTRO_FORMAT_CI32LE);
    check_count(buffer, came[i], 20);
    gst_buffer_unref(buffer);
  }
  g_assert_null(gst_harness_try_pull(h));
  gst_harness_teardown(h);
}

/* A lost block of one station lowers only the counts of its baselines, and no other value
 * changes. */
static void test_validity(void)
{
  guint8 stream[40 * 2 * SAMPLES];
  test_fill(stream, sizeof stream, 4);
  GstHarness *h = new_harness(40);
  gst_harness_set_src_caps_str(h, SPECTRA("CI8"));
  GstBuffer *first = part(stream, 0, 16);
  AstroLayout shape = { .n_axes = 2,
                        .axes = { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION },
                        .extents = { 4, 3 } };
  AstroValidityMeta *meta = astro_buffer_add_validity(first, &shape, 8); /* 4 steps a count */
  meta->counts[1 * 3 + 1] = 0;
  meta->counts[3 * 3 + 1] = 7; /* less than full: nothing says which samples are good */
  gst_harness_push(h, first);
  gst_harness_push(h, part(stream, 16, 24));
  GstBuffer *buffer = gst_harness_pull(h);
  const AstroValidityMeta *counts = astro_buffer_get_validity(buffer);
  g_assert_nonnull(counts);
  g_assert_cmpuint(counts->full, ==, 40);
  static const guint32 wanted[] = { 40, 32, 32, 40, 32, 40 };
  g_assert_cmpuint(astro_validity_n_counts(counts), ==, 6); /* the same in all channels */
  g_assert_cmpint(counts->shape.axes[0], ==, ASTRO_AXIS_BASELINE);
  for (guint i = 0; i < 6; i++)
    g_assert_cmpuint(counts->counts[i], ==, wanted[i]);
  float expected[2 * VALUES], *found;
  GstMapInfo map;
  reference(stream, 0, 40, ASTRO_FORMAT_CF32LE, expected);
  gst_buffer_map(buffer, &map, GST_MAP_READ);
  found = (float *)map.data;
  for (guint i = 0; i < 2 * VALUES; i++)
    if (wanted[i / 8 % 6] == 40)
      g_assert_cmpfloat(found[i], ==, expected[i]);
  gst_buffer_unmap(buffer, &map);
  gst_buffer_unref(buffer);
  gst_harness_teardown(h);
}

/* A block without a good sample is missing, whether GAP or counts say so. */
static void test_nothing_valid(void)
{
  static const AstroLayout shape = { .n_axes = 1, .axes = { ASTRO_AXIS_TIME }, .extents = { 20 } };
  guint8 stream[40 * 2 * SAMPLES];
  test_fill(stream, sizeof stream, 5);
  GstHarness *h = new_harness(20);
  gst_harness_set_src_caps_str(h, SPECTRA("CI8"));
  for (guint i = 0; i < 2; i++) {
    GstBuffer *in = part(stream, 20 * i, 20);
    AstroValidityMeta *meta = astro_buffer_add_validity(in, &shape, 8);
    for (guint t = 0; t < 20; t++)
      meta->counts[t] = i && t == 19 ? 8 : t % 8;
    gst_harness_push(h, in);
    GstBuffer *buffer = gst_harness_pull(h);
    check_count(buffer, i, 20);
    g_assert_true(GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP) == (i == 0));
    gst_buffer_unref(buffer);
  }
  gst_harness_teardown(h);
}

/* After a flush nothing from before comes out. */
static void test_flush(void)
{
  guint8 stream[30 * 2 * SAMPLES];
  GstSegment segment;
  test_fill(stream, sizeof stream, 5);
  GstHarness *h = new_harness(10);
  gst_harness_set_src_caps_str(h, SPECTRA("CI8"));
  gst_harness_push(h, part(stream, 0, 6));
  gst_harness_push_event(h, gst_event_new_flush_start());
  gst_harness_push_event(h, gst_event_new_flush_stop(TRUE));
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(h, gst_event_new_segment(&segment));
  gst_harness_push(h, part(stream, 10, 10));
  GstBuffer *buffer = gst_harness_pull(h);
  g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, 1);
  check_values(buffer, stream, 10, 10, ASTRO_FORMAT_CF32LE);
  check_count(buffer, 10, 10);
  gst_buffer_unref(buffer);
  g_assert_null(gst_harness_try_pull(h));
  gst_harness_teardown(h);
}

/* The segment of a seek ends with this event in place of EOS: what is held comes before it. */
static void test_segment_done(void)
{
  guint8 stream[10 * 2 * SAMPLES];
  test_fill(stream, sizeof stream, 5);
  GstHarness *h = new_harness(10);
  gst_harness_set_src_caps_str(h, SPECTRA("CI8"));
  gst_harness_push(h, part(stream, 0, 6));
  gst_harness_push_event(h, gst_event_new_segment_done(GST_FORMAT_TIME, GST_SECOND));
  GstBuffer *buffer = gst_harness_try_pull(h);
  g_assert_nonnull(buffer);
  check_values(buffer, stream, 0, 6, ASTRO_FORMAT_CF32LE);
  check_count(buffer, 6, 10);
  gst_buffer_unref(buffer);
  gst_harness_teardown(h);
}

static void push_start(GstHarness *h, const char *stream)
{
  g_autoptr(GstEvent) caps = gst_pad_get_sticky_event(h->srcpad, GST_EVENT_CAPS, 0);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  g_assert_true(gst_harness_push_event(h, gst_event_new_stream_start(stream)));
  g_assert_true(gst_harness_push_event(h, gst_event_ref(caps)));
  g_assert_true(gst_harness_push_event(h, gst_event_new_segment(&segment)));
}

/* Events that come again since an element was linked in mid-stream do not cut an integration in
 * two. The start of another stream does, and comes after it. */
static void test_said_again(void)
{
  guint8 stream[20 * 2 * SAMPLES];
  test_fill(stream, sizeof stream, 5);
  GstHarness *h = new_harness(10);
  gst_harness_set_src_caps_str(h, SPECTRA("CI8"));
  push_start(h, "one");
  gst_harness_push(h, part(stream, 0, 6));
  push_start(h, "one");
  g_assert_null(gst_harness_try_pull(h));
  gst_harness_push(h, part(stream, 6, 10));
  GstBuffer *buffer = gst_harness_try_pull(h);
  check_values(buffer, stream, 0, 10, ASTRO_FORMAT_CF32LE);
  check_count(buffer, 10, 10);
  gst_buffer_unref(buffer);
  g_assert_true(gst_harness_push_event(h, gst_event_new_stream_start("two")));
  buffer = gst_harness_try_pull(h);
  g_assert_nonnull(buffer);
  check_values(buffer, stream, 10, 6, ASTRO_FORMAT_CF32LE);
  check_count(buffer, 6, 10);
  gst_buffer_unref(buffer);
  gst_harness_teardown(h);
}

/* New caps in mid-stream: what was held goes out under the old ones. */
static void test_new_caps(void)
{
  guint8 stream[30 * 2 * SAMPLES];
  test_fill(stream, sizeof stream, 6);
  GstHarness *h = new_harness(10);
  gst_harness_set_src_caps_str(h, SPECTRA("CI8"));
  gst_harness_push(h, part(stream, 0, 6));
  gst_harness_set_src_caps_str(
      h, "application/x-astro-spectra,format=CI8,layout=time:station,stations=2");
  GstBuffer *buffer = gst_harness_pull(h);
  check_values(buffer, stream, 0, 6, ASTRO_FORMAT_CF32LE);
  check_count(buffer, 6, 10);
  gst_buffer_unref(buffer);
  gst_harness_push(h, test_buffer(14 * 4, 1));
  buffer = gst_harness_pull(h);
  g_assert_cmpuint(gst_buffer_get_size(buffer), ==, 3 * 8);
  gst_buffer_unref(buffer);
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  gint baselines;
  g_assert_true(gst_structure_get_int(gst_caps_get_structure(caps, 0), "baselines", &baselines));
  g_assert_cmpint(baselines, ==, 3);
  gst_harness_teardown(h);
}

/* Steps that come again count once, even if their integration has left. */
static void test_overlap(void)
{
  static const guint64 firsts[] = { 0, 20, 30, 30, 0, 55 }, counts[] = { 40, 20, 10, 25, 50, 5 };
  static const guint dumps[] = { 50, 10 };
  guint8 stream[60 * 2 * SAMPLES];
  guint64 again;
  g_autoptr(GstStructure) stats = NULL;
  GstHarness *h = new_harness(50);

  test_fill(stream, sizeof stream, 4);
  gst_harness_set_src_caps_str(h, SPECTRA("CI8") ",rate=1000/1,frequency=1e9,bandwidth=1e6");
  for (guint i = 0; i < G_N_ELEMENTS(firsts); i++)
    g_assert_cmpint(gst_harness_push(h, part(stream, firsts[i], counts[i])), ==, GST_FLOW_OK);
  gst_harness_push_event(h, gst_event_new_eos());
  for (guint i = 0; i < G_N_ELEMENTS(dumps); i++) {
    g_autoptr(GstBuffer) buffer = gst_harness_try_pull(h);
    g_assert_nonnull(buffer);
    check_values(buffer, stream, 50 * i, dumps[i], ASTRO_FORMAT_CF32LE);
    check_count(buffer, dumps[i], 50);
    g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, i);
    g_assert_false(GST_BUFFER_IS_DISCONT(buffer));
  }
  g_assert_null(gst_harness_try_pull(h));
  g_object_get(h->element, "stats", &stats, NULL);
  g_assert_true(gst_structure_get_uint64(stats, "steps-again", &again));
  g_assert_cmpuint(again, ==, 20 + 10 + 10 + 50);
  gst_harness_teardown(h);
}

static void add_tests(void)
{
  static const AstroFormat means = ASTRO_FORMAT_CF32LE, sums = ASTRO_FORMAT_CI32LE;
  g_test_add_data_func("/astrocorrelator/integrations/means", &means, test_integrations);
  g_test_add_data_func("/astrocorrelator/integrations/sums", &sums, test_integrations);
  g_test_add_func("/astrocorrelator/jump", test_jump);
  g_test_add_func("/astrocorrelator/gap", test_gap);
  g_test_add_func("/astrocorrelator/gap-event", test_gap_event);
  g_test_add_func("/astrocorrelator/validity", test_validity);
  g_test_add_func("/astrocorrelator/nothing-valid", test_nothing_valid);
  g_test_add_func("/astrocorrelator/flush", test_flush);
  g_test_add_func("/astrocorrelator/segment-done", test_segment_done);
  g_test_add_func("/astrocorrelator/said-again", test_said_again);
  g_test_add_func("/astrocorrelator/new-caps", test_new_caps);
  g_test_add_func("/astrocorrelator/overlap", test_overlap);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
