#include "core/correlator/correlator.h"
#include "core/stream/validity.h"
#include "tests/elements/elements.h"

/* 3 stations, 2 pols, 4 channels, time outermost: 24 samples a step, 24 visibilities a channel. */
#define SPECTRA(format)                                                                            \
  "application/x-astro-spectra,format=" format                                                     \
  ",layout=time:channel:station:pol,stations=3,pols=2,channels=4"
enum { SAMPLES = 24, VALUES = 4 * 6 * 4 };

/* The core's reference on steps first to first + count of a stream of CI8. */
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
  g_assert_true(astro_correlator_reference.submit(instance, &in, 1, &block, 1, &arguments, &error));
  astro_correlator_reference.destroy(instance);
}

static GstHarness *new_harness(guint integration)
{
  GstHarness *h = test_harness("astrocorrelator");
  g_object_set(h->element, "integration", integration, NULL);
  return h;
}

static GstBuffer *part(const guint8 *stream, guint64 first, guint64 count)
{
  GstBuffer *buffer = gst_buffer_new_memdup(stream + first * 2 * SAMPLES, count * 2 * SAMPLES);
  GST_BUFFER_OFFSET(buffer) = first;
  GST_BUFFER_OFFSET_END(buffer) = first + count;
  return buffer;
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

/* All counts are that, one for all or one each. */
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

/* Integrations end inside buffers, span several, and several end in one; times are theirs. */
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
      g_assert_cmpuint(GST_BUFFER_DURATION(buffer), ==, n * GST_MSECOND);
      gst_buffer_unref(buffer);
    }
    g_assert_null(gst_harness_try_pull(h));
    g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
    g_autofree char *text = g_strdup_printf(
        "application/x-astro-visibilities,format=%s,layout=channel:baseline:pol:pol,baselines=6,"
        "channels=4,pols=2,rate=1000/%u,frequency=1e9,bandwidth=1e6",
        astro_format_info(to)->name, (guint)n);
    g_autoptr(GstCaps) wanted = gst_caps_from_string(text);
    g_assert_true(gst_caps_is_equal(caps, wanted));
    gst_harness_teardown(h);
  }
}

/* A rate is divided by more than an int holds where the fraction is one of ints again. */
static void test_long_integration(void)
{
  GstHarness *h = new_harness(3000000000);
  gst_harness_set_src_caps_str(h, SPECTRA("CI8") ",rate=1000000000/1");
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  gint n, d;
  g_assert_nonnull(caps);
  g_assert_true(gst_structure_get_fraction(gst_caps_get_structure(caps, 0), "rate", &n, &d));
  g_assert_cmpint(n, ==, 1);
  g_assert_cmpint(d, ==, 3);
  gst_harness_teardown(h);
}

/* Steps that never came: what came counts, integrations with nothing are not there, the next says
 * so. */
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

/* An event in the place of lost blocks, as identity sends it, does not cut an integration in two,
 * nor overtake it; a sink that waits for the first of a stream gets it. */
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

/* A lost block of one station lowers the counts of its baselines alone, and no other value changes.
 */
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
  meta->counts[3 * 3 + 1] = 7; /* not whole: nothing says which are good */
  gst_harness_push(h, first);
  gst_harness_push(h, part(stream, 16, 24));
  GstBuffer *buffer = gst_harness_pull(h);
  const AstroValidityMeta *counts = astro_buffer_get_validity(buffer);
  g_assert_nonnull(counts);
  g_assert_cmpuint(counts->full, ==, 40);
  static const guint32 wanted[] = { 40, 32, 32, 40, 32, 40 };
  for (guint i = 0; i < 24; i++)
    g_assert_cmpuint(counts->counts[i], ==, wanted[i % 6]);
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

/* A block behind which no sample is good is missing, whether GAP or counts said so of the spectra.
 */
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

/* After a flush nothing of before is in what comes. */
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

/* A segment that was sought ends with this event in place of EOS: what is held comes before it. */
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

/* What an element that is linked in mid-stream says once more cuts no integration in two; another
 * stream's start does, and comes after it. */
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

static void test_full_triangle(void)
{
  guint8 stream[2 * SAMPLES];
  test_fill(stream, sizeof stream, 7);
  GstHarness *h = new_harness(1);
  gst_util_set_object_arg(G_OBJECT(h->element), "triangle", "full");
  g_object_set(h->element, "channel-step", 2, NULL);
  gst_harness_set_src_caps_str(h, SPECTRA("CI8"));
  gst_harness_push(h, part(stream, 0, 1));
  GstBuffer *buffer = gst_harness_pull(h);
  g_assert_cmpuint(gst_buffer_get_size(buffer), ==, 2 * 9 * 4 * 8);
  gst_buffer_unref(buffer);
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  g_autoptr(GstCaps) wanted = gst_caps_from_string(
      "application/x-astro-visibilities,format=CF32LE,layout=channel:baseline:pol:pol,baselines=9,"
      "channels=2,pols=2,triangle=full");
  g_assert_true(gst_caps_is_equal(caps, wanted));
  gst_harness_teardown(h);
}

/* As many as 8 stations make once each: who takes each pair once does not take them for these. */
static void test_readers_of_full_triangle(void)
{
  static const char *const readers[] = { "astrofitssink location=full-triangle.uvfits",
                                         "astrogridder size=8 cell=100 ! fakesink",
                                         "astrorender ! fakesink" };
  for (guint i = 0; i < G_N_ELEMENTS(readers); i++) {
    g_autofree char *line = g_strdup_printf(
        "astroskysrc stations=6 num-buffers=1 block-steps=4096 ! astrochannelizer channels=4 ! "
        "astrocorrelator triangle=full ! astroobserve array=disc ! %s",
        readers[i]);
    test_refused(line, "triangle=full, expected lower: each pair of stations once");
  }
}

/* Something, and the same twice; frees it. */
static void assert_same(GByteArray *got[2])
{
  g_assert_cmpuint(got[0]->len, >, 0);
  g_assert_cmpmem(got[0]->data, got[0]->len, got[1]->data, got[1]->len);
  g_byte_array_unref(got[0]);
  g_byte_array_unref(got[1]);
}

/* Integrations averaged in twos are integrations twice as long. */
static void test_time_step(void)
{
  guint8 stream[20 * 2 * SAMPLES];
  GByteArray *got[2];
  test_fill(stream, sizeof stream, 11);
  for (guint i = 0; i < 2; i++) {
    GstHarness *h = new_harness(i ? 3 : 6);
    g_object_set(h->element, "time-step", i + 1, NULL);
    gst_harness_set_src_caps_str(h, SPECTRA("CI8"));
    gst_harness_push(h, part(stream, 0, 20));
    gst_harness_push_event(h, gst_event_new_eos());
    got[i] = test_pull_all(h);
    gst_harness_teardown(h);
  }
  assert_same(got);
}

/* Properties that are set in mid-stream wait for the next caps. */
static void test_late_properties(void)
{
  guint8 stream[20 * 2 * SAMPLES];
  GByteArray *got[2];
  test_fill(stream, sizeof stream, 12);
  for (guint i = 0; i < 2; i++) {
    GstHarness *h = new_harness(6);
    gst_harness_set_src_caps_str(h, SPECTRA("CI8"));
    gst_harness_push(h, part(stream, 0, 7));
    if (i)
      g_object_set(h->element, "integration", 0, "time-step", 3, "channel-step", 5, NULL);
    gst_harness_push(h, part(stream, 7, 13));
    gst_harness_push_event(h, gst_event_new_eos());
    got[i] = test_pull_all(h);
    gst_harness_teardown(h);
  }
  assert_same(got);
}

/* Upstream learns which order is liked best, and that others will do. */
static void test_upstream(void)
{
  GstHarness *h = new_harness(10);
  gst_harness_set_sink_caps_str(h, "application/x-astro-visibilities,format=CI32LE,baselines=6");
  g_autoptr(GstCaps) caps = gst_pad_peer_query_caps(h->srcpad, NULL);
  const GstStructure *first = gst_caps_get_structure(caps, 0);
  gint stations;
  g_assert_cmpstr(gst_structure_get_string(first, "layout"), ==, "channel:time:station:pol");
  g_assert_true(gst_structure_get_int(first, "stations", &stations));
  g_assert_cmpint(stations, ==, 3);
  g_autoptr(GstCaps) exact = gst_caps_from_string(SPECTRA("CI8"));
  g_autoptr(GstCaps) floats = gst_caps_from_string(SPECTRA("CF32LE"));
  g_autoptr(GstCaps) four =
      gst_caps_from_string("application/x-astro-spectra,format=CI8,stations=4");
  g_assert_true(gst_caps_can_intersect(caps, exact));
  g_assert_false(gst_caps_can_intersect(caps, floats));
  g_assert_false(gst_caps_can_intersect(caps, four));
  gst_harness_teardown(h);
}

/* A GPU likes another order, and names it where it is sure to do the work. */
static void test_upstream_of_device(void)
{
  GstHarness *h = new_harness(10);
  gst_util_set_object_arg(G_OBJECT(h->element), "backend", "cuda");
  g_autoptr(GstCaps) caps = gst_pad_peer_query_caps(h->srcpad, NULL);
  g_assert_cmpuint(gst_caps_get_size(caps), ==, 2);
  g_assert_cmpstr(gst_structure_get_string(gst_caps_get_structure(caps, 0), "layout"), ==,
                  "channel:station:pol:time");
  g_assert_false(gst_structure_has_field(gst_caps_get_structure(caps, 1), "layout"));
  gst_harness_teardown(h);
}

static void test_latency(void)
{
  GstHarness *h = new_harness(25);
  g_autoptr(GstBus) bus = gst_bus_new();
  gst_element_set_bus(h->element, bus);
  gst_harness_set_live(h, TRUE);
  gst_harness_set_upstream_latency(h, GST_MSECOND);
  gst_harness_set_src_caps_str(h, SPECTRA("CI8") ",rate=100/1");
  g_assert_cmpuint(gst_harness_query_latency(h), ==, 251 * GST_MSECOND);
  g_assert_true(test_tells_latency(bus));
  g_object_set(h->element, "integration", 50, NULL); /* for the next caps */
  g_assert_cmpuint(gst_harness_query_latency(h), ==, 251 * GST_MSECOND);
  gst_harness_set_src_caps_str(h, SPECTRA("CI8") ",rate=200/1");
  g_assert_cmpuint(gst_harness_query_latency(h), ==, 251 * GST_MSECOND);
  g_assert_false(test_tells_latency(bus));
  gst_harness_set_src_caps_str(h, SPECTRA("CI8") ",rate=100/1");
  g_assert_cmpuint(gst_harness_query_latency(h), ==, 501 * GST_MSECOND);
  g_assert_true(test_tells_latency(bus));
  gst_element_set_bus(h->element, NULL);
  gst_harness_teardown(h);
}

/* Errors say what is wrong. */
static void test_errors(void)
{
  static const struct {
    const char *caps, *properties, *sink, *word;
  } cases[] = {
    { "CI8,layout=time:station,stations=2", "integration=0", "", "integration is 0" },
    { "CI8,layout=time:station,stations=2,rate=9/1", "integration=0",
      "! application/x-astro-visibilities,rate=1/1", "integration is 0" },
    { "CI8,layout=time:station:pol,stations=2,pols=3", "", "", "3 polarisations" },
    { "CF64LE,layout=time:station,stations=2", "", "", "CF64LE" },
    { "CI8,layout=time:channel:station,stations=2,channels=6", "channel-step=4", "",
      "channel step" },
    { "CF32LE,layout=time:station,stations=2", "",
      "! application/x-astro-visibilities,format=CI32LE", "" },
    { "CI8,layout=time:station,stations=65536", "", "",
      "65536 stations make 2147516416 baselines, expected at most 2147483647" },
    { "CI8,layout=time:station,stations=2", "integration=-1", "",
      "property integration is -1, expected 1 spectrum or more" },
    { "CI8,layout=time:station,stations=2", "integration=1 time-step=-1", "",
      "property time-step is -1, expected 1 integration or more" },
    { "CI8,layout=time:station,stations=2", "integration=4000000000 channel-step=2", "",
      "integration=4000000000, time-step=1 and channel-step=2 sum 8000000000 samples in a "
      "visibility, expected a product of at most 4294967295" },
    { "CI8,layout=time:station,stations=2,channels=16", "", "", "of 16 channels, expected 1" },
    { "CI8,layout=time:station,stations=2,pols=2", "", "", "of 2 pols, expected 1" },
    { "CI8,layout=time:channel,channels=16,stations=2", "", "", "of 3 baselines, expected 1" },
    { "CI8,layout=time:station,stations=2,rate=1/1000", "integration=2000000000", "",
      "rate 1/1000 divided by an integration of 2000000000 spectra is 1/2000000000000, expected a "
      "fraction of whole numbers of at most 2147483647" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *line =
        g_strdup_printf("fakesrc num-buffers=4 sizetype=fixed sizemax=4096 filltype=zero ! "
                        "application/x-astro-spectra,format=%s ! "
                        "astrocorrelator name=the-correlator backend=cpu %s %s ! fakesink",
                        cases[i].caps, cases[i].properties, cases[i].sink);
    test_refused(line, cases[i].word);
  }
}

/* A sum beyond CI32LE stops the stream before anything wrong goes out. */
static void test_overflow(void)
{
  GstHarness *h = new_harness(65536);
  gst_harness_set_sink_caps_str(h, "application/x-astro-visibilities,format=CI32LE");
  gst_harness_set_src_caps_str(
      h, "application/x-astro-spectra,format=CI8,layout=time:station,stations=1");
  guint8 *data = g_malloc(2 * 65536);
  memset(data, 0x80, 2 * 65536);
  g_assert_cmpint(gst_harness_push(h, gst_buffer_new_wrapped(data, 2 * 65536)), ==, GST_FLOW_ERROR);
  g_assert_null(gst_harness_try_pull(h));
  gst_harness_teardown(h);
}

static void add_tests(void)
{
  static const AstroFormat means = ASTRO_FORMAT_CF32LE, sums = ASTRO_FORMAT_CI32LE;
  g_test_add_data_func("/astrocorrelator/integrations/means", &means, test_integrations);
  g_test_add_data_func("/astrocorrelator/integrations/sums", &sums, test_integrations);
  g_test_add_func("/astrocorrelator/long-integration", test_long_integration);
  g_test_add_func("/astrocorrelator/jump", test_jump);
  g_test_add_func("/astrocorrelator/gap", test_gap);
  g_test_add_func("/astrocorrelator/gap-event", test_gap_event);
  g_test_add_func("/astrocorrelator/validity", test_validity);
  g_test_add_func("/astrocorrelator/nothing-valid", test_nothing_valid);
  g_test_add_func("/astrocorrelator/flush", test_flush);
  g_test_add_func("/astrocorrelator/segment-done", test_segment_done);
  g_test_add_func("/astrocorrelator/said-again", test_said_again);
  g_test_add_func("/astrocorrelator/new-caps", test_new_caps);
  g_test_add_func("/astrocorrelator/full-triangle", test_full_triangle);
  g_test_add_func("/astrocorrelator/full-triangle/readers", test_readers_of_full_triangle);
  g_test_add_func("/astrocorrelator/time-step", test_time_step);
  g_test_add_func("/astrocorrelator/late-properties", test_late_properties);
  g_test_add_func("/astrocorrelator/upstream", test_upstream);
  g_test_add_func("/astrocorrelator/upstream/device", test_upstream_of_device);
  g_test_add_func("/astrocorrelator/latency", test_latency);
  g_test_add_func("/astrocorrelator/errors", test_errors);
  g_test_add_func("/astrocorrelator/overflow", test_overflow);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
