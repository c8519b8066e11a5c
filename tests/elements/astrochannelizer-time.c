/* Spectra of streams that are cut anywhere, broken or damaged, compared with the reference. */
#include "core/channelizer/channelizer.h"
#include "core/stream/validity.h"
#include "tests/elements/astrochannelizer.h"

#define VOLTAGES                                                                                   \
  "application/x-astro-voltages,format=CI8,layout=station:pol:time,stations=3,pols=2,"             \
  "rate=1600000/3,frequency=1.4e9,bandwidth=533333.3333333334"
#define LEAD 24       /* (TAPS - 1) x CHANNELS / 2 */
#define STEP_BYTES 12 /* bytes of a time step of VOLTAGES */
#define ROW_BYTES 128 /* bytes of a spectrum of an input */

/* A buffer with samples first to end of a stream. The samples of input i depend only on i and on
 * the sample's index. */
static GstBuffer *voltages(guint64 first, guint64 end)
{
  gsize steps = end - first;
  guint16 *data = g_malloc(steps * STEP_BYTES);
  for (guint input = 0; input < 6; input++)
    for (gsize i = 0; i < steps; i++)
      data[input * steps + i] = (guint16)((first + i) * 40503 * (2 * input + 1) + input * 977) / 3;
  GstBuffer *buffer = gst_buffer_new_wrapped(data, steps * STEP_BYTES);
  GST_BUFFER_OFFSET(buffer) = first;
  GST_BUFFER_OFFSET_END(buffer) = end;
  return buffer;
}

/* The spectra that the core's reference makes of an unbroken stretch. */
static float *reference(guint64 first, guint64 end, AstroSpectra *spectra)
{
  AstroChannelizerConfig config = { .to = ASTRO_FORMAT_CF32LE,
                                    .channels = CHANNELS,
                                    .taps = TAPS,
                                    .beta = ASTRO_WINDOW_BETA,
                                    .gain = 1 };
  g_autoptr(GstCaps) caps = gst_caps_from_string(VOLTAGES);
  AstroChannelizerArguments arguments = { first, end - first, TRUE, NULL, 0 };
  AstroPlace place = { 0 };
  const char *variant;
  GstMapInfo map;
  g_autoptr(GstBuffer) in = voltages(first, end);

  g_assert_true(astro_stream_from_caps(&config.in, caps, NULL));
  g_assert_true(astro_channelizer_block_spectra(&config, first, first, end - first, spectra, NULL));
  float *out = g_malloc(6 * spectra->count * ROW_BYTES);
  gpointer instance = astro_channelizer_reference.create(&config, &place, &variant, NULL);
  gst_buffer_map(in, &map, GST_MAP_READ);
  AstroBlock a = { map.data, map.size }, b = { out, 6 * spectra->count * ROW_BYTES };
  g_assert_true(astro_channelizer_reference.submit(instance, &a, 1, &b, 1, &arguments, NULL, NULL));
  gst_buffer_unmap(in, &map);
  astro_channelizer_reference.destroy(instance);
  return out;
}

/* The spectra that came out, one after the other: OFFSET n has its 6 rows at n x 6. */
typedef struct {
  GByteArray *rows; /* [spectrum][input] */
  GArray *offsets;  /* of each spectrum */
  GArray *counts;   /* of each spectrum and station */
  guint buffers, disconts, gaps;
} Output;

static void pull(GstHarness *h, Output *output)
{
  GstBuffer *buffer;
  while ((buffer = gst_harness_try_pull(h))) {
    guint64 first = GST_BUFFER_OFFSET(buffer), n = GST_BUFFER_OFFSET_END(buffer) - first;
    AstroValidityMeta *meta = astro_buffer_get_validity(buffer);
    GstMapInfo map;
    g_assert_cmpuint(n, >, 0);
    g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
    g_assert_cmpuint(map.size, ==, n * 6 * ROW_BYTES);
    /* 1600000/3/16 spectra a second */
    g_assert_cmpuint(GST_BUFFER_PTS(buffer), ==, first * 30000);
    g_assert_cmpuint(GST_BUFFER_DURATION(buffer), ==, n * 30000);
    g_assert_nonnull(meta);
    g_assert_cmpuint(meta->full, ==, CHANNELS * TAPS);
    const gboolean is_each = meta->shape.n_axes > 0; /* else one count stands for all */
    if (is_each) {
      g_assert_cmpuint(meta->shape.n_axes, ==, 2);
      g_assert_cmpuint(meta->shape.extents[0], ==, 3);
      g_assert_cmpuint(meta->shape.extents[1], ==, n);
    }
    for (guint64 i = 0; i < n; i++) {
      guint64 offset = first + i;
      g_array_append_val(output->offsets, offset);
      for (guint input = 0; input < 6; input++)
        g_byte_array_append(output->rows, map.data + (input * n + i) * ROW_BYTES, ROW_BYTES);
      for (guint station = 0; station < 3; station++) {
        guint32 count = meta->counts[is_each ? station * n + i : 0];
        g_array_append_val(output->counts, count);
      }
    }
    output->buffers++;
    output->disconts += GST_BUFFER_IS_DISCONT(buffer);
    output->gaps += GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP);
    gst_buffer_unmap(buffer, &map);
    gst_buffer_unref(buffer);
  }
}

static Output output_new(void)
{
  return (Output){ .rows = g_byte_array_new(),
                   .offsets = g_array_new(FALSE, FALSE, sizeof(guint64)),
                   .counts = g_array_new(FALSE, FALSE, sizeof(guint32)) };
}

static void output_clear(Output *output)
{
  g_byte_array_unref(output->rows);
  g_array_unref(output->offsets);
  g_array_unref(output->counts);
}

/* Checks that the spectra from number `at` on are those of samples first to end. */
static guint assert_stretch(const Output *output, guint at, guint64 first, guint64 end)
{
  AstroSpectra spectra;
  g_autofree float *expected = reference(first, end, &spectra);
  g_assert_cmpuint(output->offsets->len, >=, at + spectra.count);
  for (guint64 i = 0; i < spectra.count; i++) {
    g_assert_cmpuint(g_array_index(output->offsets, guint64, at + i), ==, spectra.first + i);
    for (guint input = 0; input < 6; input++)
      for (guint c = 0; c < 2 * CHANNELS; c++)
        g_assert_cmpfloat_with_epsilon(
            ((float *)output->rows->data)[((at + i) * 6 + input) * 2 * CHANNELS + c],
            expected[(input * spectra.count + i) * 2 * CHANNELS + c], 1e-3);
  }
  return at + (guint)spectra.count;
}

/* The stream gives the same spectra to the last bit, wherever it is cut. */
static void test_cuts(void)
{
  static const guint64 cuts[] = { 1, 5, 16, 17, 64, 1000 };
  Output first = output_new();
  for (guint c = 0; c < G_N_ELEMENTS(cuts); c++) {
    GstHarness *h = harness();
    Output output = output_new();
    gst_harness_set_src_caps_str(h, VOLTAGES);
    for (guint64 at = 0; at < 1000; at += cuts[c]) {
      push(h, voltages(at, MIN(at + cuts[c], 1000)));
      pull(h, &output);
    }
    gst_harness_push_event(h, gst_event_new_eos());
    pull(h, &output);
    g_assert_cmpuint(assert_stretch(&output, 0, 0, 1000), ==, output.offsets->len);
    g_assert_cmpuint(output.disconts, <=, 1);
    if (!first.offsets->len) {
      g_byte_array_append(first.rows, output.rows->data, output.rows->len);
      g_array_append_vals(first.offsets, output.offsets->data, output.offsets->len);
    }
    g_assert_cmpmem(output.rows->data, output.rows->len, first.rows->data, first.rows->len);
    output_clear(&output);
    gst_harness_teardown(h);
  }
  output_clear(&first);
}

/* A stream that begins anywhere keeps the grid of sample 0. */
static void test_offsets(void)
{
  for (guint64 first = 1000; first < 1020; first += 3) {
    GstHarness *h = harness();
    Output output = output_new();
    gst_harness_set_src_caps_str(h, VOLTAGES);
    push(h, voltages(first, first + 300));
    pull(h, &output);
    g_assert_cmpuint(g_array_index(output.offsets, guint64, 0), ==,
                     (first + LEAD + CHANNELS - 1) / CHANNELS);
    g_assert_cmpuint(assert_stretch(&output, 0, first, first + 300), ==, output.offsets->len);
    output_clear(&output);
    gst_harness_teardown(h);
  }
}

/* No spectrum mixes both sides of a jump, of DISCONT, of a flush or of new caps. */
static void test_breaks(void)
{
  for (guint kind = 0; kind < 4; kind++) {
    GstHarness *h = harness();
    Output output = output_new();
    guint64 second = kind == 0 ? 333 : 200;
    gst_harness_set_src_caps_str(h, VOLTAGES);
    push(h, voltages(0, 200));
    pull(h, &output);
    GstBuffer *next = voltages(second, 500);
    switch (kind) {
    case 1:
      GST_BUFFER_FLAG_SET(next, GST_BUFFER_FLAG_DISCONT);
      break;
    case 2:
      gst_harness_push_event(h, gst_event_new_flush_start());
      gst_harness_push_event(h, gst_event_new_flush_stop(TRUE));
      gst_harness_push_event(h, gst_event_new_segment(&(GstSegment){ .format = GST_FORMAT_TIME,
                                                                     .rate = 1,
                                                                     .applied_rate = 1,
                                                                     .start = 0,
                                                                     .stop = -1,
                                                                     .duration = -1,
                                                                     .position = 0 }));
      break;
    case 3:
      gst_harness_set_src_caps_str(h, VOLTAGES ",telescope=other");
      break;
    }
    push(h, next);
    pull(h, &output);
    guint at = assert_stretch(&output, 0, 0, 200);
    g_assert_cmpuint(assert_stretch(&output, at, second, 500), ==, output.offsets->len);
    if (kind < 2)
      g_assert_cmpuint(output.disconts, >=, 1);
    output_clear(&output);
    gst_harness_teardown(h);
  }
}

/* How many samples of a spectrum lie between from and to. */
static guint32 missing(guint64 spectrum, guint64 from, guint64 to)
{
  guint32 n = 0;
  for (guint64 i = 0; i < CHANNELS * TAPS; i++) {
    guint64 sample = spectrum * CHANNELS - LEAD + i;
    n += sample >= from && sample < to;
  }
  return n;
}

/* A GAP buffer counts as missing samples: spectra that touch it say so, and stay on the grid. */
static void test_gap(void)
{
  GstHarness *h = harness();
  Output output = output_new();
  gst_harness_set_src_caps_str(h, VOLTAGES);
  push(h, voltages(0, 200));
  GstBuffer *gap = voltages(200, 410);
  gst_buffer_memset(gap, 0, 0x55, gst_buffer_get_size(gap));
  GST_BUFFER_FLAG_SET(gap, GST_BUFFER_FLAG_GAP);
  push(h, gap);
  for (guint64 at = 410; at < 610; at += 10)
    push(h, voltages(at, at + 10));
  pull(h, &output);
  g_assert_cmpuint(output.offsets->len, ==, 34);
  guint lost = 0;
  for (guint i = 0; i < output.offsets->len; i++) {
    guint64 n = g_array_index(output.offsets, guint64, i);
    guint32 expected = CHANNELS * TAPS - missing(n, 200, 410);
    g_assert_cmpuint(n, ==, 2 + i);
    for (guint station = 0; station < 3; station++)
      g_assert_cmpuint(g_array_index(output.counts, guint32, 3 * i + station), ==, expected);
    lost += expected == 0;
    if (expected == 0)
      for (guint byte = 0; byte < 6 * ROW_BYTES; byte++)
        g_assert_cmphex(output.rows->data[i * 6 * ROW_BYTES + byte], ==, 0);
  }
  g_assert_cmpuint(lost, ==, 10);
  g_assert_cmpuint(output.gaps, ==, 0);
  assert_stretch(&output, 0, 0, 200);
  output_clear(&output);
  gst_harness_teardown(h);

  /* With nothing good in it, the output is a GAP too. */
  h = harness();
  output = output_new();
  gst_harness_set_src_caps_str(h, VOLTAGES);
  gap = voltages(0, 200);
  GST_BUFFER_FLAG_SET(gap, GST_BUFFER_FLAG_GAP);
  push(h, gap);
  pull(h, &output);
  g_assert_cmpuint(output.buffers, ==, 1);
  g_assert_cmpuint(output.gaps, ==, 1);
  output_clear(&output);
  gst_harness_teardown(h);
}

/* Counts over station and time, each for ten steps: a loss only counts for its own station. */
static void test_validity(void)
{
  for (guint with_pols = 0; with_pols < 2; with_pols++) {
    GstHarness *h = harness();
    Output output = output_new();
    AstroLayout shape = { .n_axes = 2,
                          .axes = { ASTRO_AXIS_STATION, ASTRO_AXIS_TIME },
                          .extents = { 3, 20 } };
    if (with_pols)
      shape = (AstroLayout){ .n_axes = 3,
                             .axes = { ASTRO_AXIS_STATION, ASTRO_AXIS_POL, ASTRO_AXIS_TIME },
                             .extents = { 3, 2, 20 } };
    gst_harness_set_src_caps_str(h, VOLTAGES);
    GstBuffer *damaged = voltages(0, 200);
    AstroValidityMeta *meta = astro_buffer_add_validity(damaged, &shape, 10);
    /* Station 1 loses 50 to 60 and 70 to 90, station 2 the last ten. */
    guint rows = 1 + with_pols, second = with_pols; /* with pols: only in the second */
    meta->counts[(rows + second) * 20 + 5] = 9;
    meta->counts[(rows + second) * 20 + 7] = 0;
    meta->counts[(rows + second) * 20 + 8] = 0;
    meta->counts[(2 * rows + second) * 20 + 19] = 0;
    push(h, damaged);
    push(h, voltages(200, 400));
    pull(h, &output);
    guint lower = 0;
    for (guint i = 0; i < output.offsets->len; i++) {
      guint64 n = g_array_index(output.offsets, guint64, i);
      const guint32 *counts = &g_array_index(output.counts, guint32, 3 * i);
      g_assert_cmpuint(counts[0], ==, 64);
      g_assert_cmpuint(counts[1], ==, 64 - missing(n, 50, 60) - missing(n, 70, 90));
      g_assert_cmpuint(counts[2], ==, 64 - missing(n, 190, 200));
      lower += counts[2] < 64;
    }
    g_assert_cmpuint(lower, >=, 4);
    /* Nothing changes for a station that lost nothing. */
    AstroSpectra spectra;
    g_autofree float *expected = reference(0, 400, &spectra);
    g_assert_cmpuint(output.offsets->len, ==, spectra.count);
    for (guint64 i = 0; i < spectra.count; i++)
      for (guint c = 0; c < 2 * CHANNELS; c++)
        g_assert_cmpfloat_with_epsilon(((float *)output.rows->data)[i * 12 * CHANNELS + c],
                                       expected[i * 2 * CHANNELS + c], 1e-3);
    output_clear(&output);
    gst_harness_teardown(h);
  }
}

static void test_latency(void)
{
  GstHarness *h = harness();
  gst_harness_set_src_caps_str(h, VOLTAGES);
  push(h, voltages(0, 10));
  GstQuery *query = gst_query_new_latency();
  GstClockTime least, most;
  gboolean live;
  g_assert_true(gst_pad_peer_query(h->sinkpad, query));
  gst_query_parse_latency(query, &live, &least, &most);
  g_assert_cmpuint(least, ==,
                   gst_util_uint64_scale(CHANNELS * TAPS - LEAD - 1, 3 * GST_SECOND, 1600000));
  gst_query_unref(query);
  gst_harness_teardown(h);
}

/* Counts that do not fit the buffer, and sample indices that are too large, are refused. */
static void test_bad_buffers(void)
{
  GstHarness *h = harness();
  AstroLayout shape = { .n_axes = 1, .axes = { ASTRO_AXIS_CHANNEL }, .extents = { 4 } };
  gst_harness_set_src_caps_str(h, VOLTAGES);
  GstBuffer *bad = voltages(0, 100);
  astro_buffer_add_validity(bad, &shape, 1);
  g_assert_cmpint(gst_harness_push(h, bad), ==, GST_FLOW_ERROR);
  gst_harness_teardown(h);

  h = harness();
  gst_harness_set_src_caps_str(h, VOLTAGES);
  bad = voltages(0, 100);
  GST_BUFFER_OFFSET(bad) = G_MAXUINT64 - 101;
  GST_BUFFER_OFFSET_END(bad) = G_MAXUINT64 - 1;
  g_assert_cmpint(gst_harness_push(h, bad), ==, GST_FLOW_ERROR);
  gst_harness_teardown(h);
}

static void add_tests(void)
{
  g_test_add_func("/astrochannelizer/cuts", test_cuts);
  g_test_add_func("/astrochannelizer/offsets", test_offsets);
  g_test_add_func("/astrochannelizer/breaks", test_breaks);
  g_test_add_func("/astrochannelizer/gap", test_gap);
  g_test_add_func("/astrochannelizer/validity", test_validity);
  g_test_add_func("/astrochannelizer/latency", test_latency);
  g_test_add_func("/astrochannelizer/bad-buffers", test_bad_buffers);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
