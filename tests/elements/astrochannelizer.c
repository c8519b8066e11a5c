#include <glib/gstdio.h>
#include <math.h>

#include "core/channelizer/channelizer.h"
#include "core/stream/validity.h"
#include "tests/elements/elements.h"
#include "tests/elements/setter.h"

#define VOLTAGES                                                                                   \
  "application/x-astro-voltages,format=CI8,layout=station:pol:time,stations=3,pols=2,"             \
  "rate=1600000/3,frequency=1.4e9,bandwidth=533333.3333333334"
#define CHANNELS 16
#define TAPS 4
#define LEAD 24       /* (TAPS - 1) x CHANNELS / 2 */
#define STEP_BYTES 12 /* of a time step of VOLTAGES */
#define ROW_BYTES 128 /* of a spectrum of an input */

static GstHarness *harness(void)
{
  GstHarness *h = test_harness("astrochannelizer");
  g_object_set(h->element, "channels", CHANNELS, "taps", TAPS, NULL);
  return h;
}

/* A buffer of samples first to end of a stream, whose input i has samples that depend on i and on
 * the sample's index alone. */
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

/* What the core's reference gives for an unbroken stretch. */
static float *reference(guint64 first, guint64 end, AstroSpectra *spectra)
{
  AstroChannelizerConfig config = { .to = ASTRO_FORMAT_CF32LE,
                                    .channels = CHANNELS,
                                    .taps = TAPS,
                                    .beta = ASTRO_WINDOW_BETA,
                                    .gain = 1 };
  g_autoptr(GstCaps) caps = gst_caps_from_string(VOLTAGES);
  guint64 clipped = 0;
  AstroChannelizerArguments arguments = { first, end - first, TRUE, NULL, 0, &clipped };
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
  g_assert_true(astro_channelizer_reference.submit(instance, &a, 1, &b, 1, &arguments, NULL));
  gst_buffer_unmap(in, &map);
  astro_channelizer_reference.destroy(instance);
  return out;
}

/* What came out, spectrum after spectrum: OFFSET n has its 6 rows at n x 6. */
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
    if (meta) {
      g_assert_cmpuint(meta->full, ==, CHANNELS * TAPS);
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
        guint32 count = meta ? meta->counts[station * n + i] : CHANNELS * TAPS;
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

/* That the spectra from number at on are those of samples first to end. */
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

static void push(GstHarness *h, GstBuffer *buffer)
{
  g_assert_cmpint(gst_harness_push(h, buffer), ==, GST_FLOW_OK);
}

/* However it is cut, the stream gives the same spectra, to the bit. */
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

/* How many of a spectrum's samples lie in from to to. */
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

/* Counts of station and time, each for ten steps: only what is lost of a station counts for it. */
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
    guint rows = 1 + with_pols, second = with_pols; /* with pols: the second alone */
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
    /* The station that lost nothing is as if nothing had happened. */
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

/* ---- caps ---- */

static GstStructure *out_caps(const char *properties, const char *in, const char *down)
{
  g_autofree char *line = g_strconcat("astrochannelizer backend=cpu ", properties, NULL);
  GstHarness *h = gst_harness_new_parse(line);
  if (down)
    gst_harness_set_sink_caps_str(h, down);
  gst_harness_set_src_caps_str(h, in);
  push(h, test_buffer(96, 1));
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  g_assert_nonnull(caps);
  GstStructure *s = gst_structure_copy(gst_caps_get_structure(caps, 0));
  gst_harness_teardown(h);
  return s;
}

static void assert_caps(GstStructure *s, const char *expected)
{
  g_autoptr(GstStructure) other = gst_structure_from_string(expected, NULL);
  g_autofree char *text = gst_structure_to_string(s);
  if (!gst_structure_is_equal(s, other))
    g_error("found %s, expected %s", text, expected);
  gst_structure_free(s);
}

#define IN "application/x-astro-voltages,stations=(int)2,pols=(int)2,"
#define OUT "application/x-astro-spectra,stations=(int)2,pols=(int)2,format=(string)"

static void test_caps(void)
{
  /* Half a channel down for an even number; rates are exact. */
  assert_caps(out_caps("channels=100",
                       IN "format=CI8,layout=time:station:pol,rate=100000000/1,frequency=1.4e9,"
                          "bandwidth=1e8",
                       NULL),
              OUT "CF32LE,layout=(string)station:pol:time:channel,channels=(int)100,"
                  "rate=(fraction)1000000/1,frequency=(double)1399500000,bandwidth=(double)1e8");
  assert_caps(out_caps("channels=7",
                       IN "format=CF32LE,layout=station:pol:time,rate=22/5,frequency=1e6,"
                          "bandwidth=4.4",
                       NULL),
              OUT "CF32LE,layout=(string)station:pol:time:channel,channels=(int)7,"
                  "rate=(fraction)22/35,frequency=(double)1e6,bandwidth=(double)4.4");
  /* Real samples: twice the rate. */
  assert_caps(out_caps("channels=5 taps=1",
                       IN "format=F32LE,layout=station:time:pol,rate=1000/1,frequency=250.0,"
                          "bandwidth=500.0",
                       NULL),
              OUT "CF32LE,layout=(string)station:pol:time:channel,channels=(int)5,"
                  "rate=(fraction)100/1,frequency=(double)200,bandwidth=(double)500");
  /* What downstream asks for, CF32LE where it may choose; other fields stay. */
  assert_caps(out_caps("channels=4", IN "format=CI4,layout=station:pol:time,telescope=T",
                       "application/x-astro-spectra,format={CI8,CF32LE}"),
              OUT "CF32LE,layout=(string)station:pol:time:channel,channels=(int)4,telescope=T");
  assert_caps(out_caps("channels=4", IN "format=CI4,layout=station:pol:time",
                       "application/x-astro-spectra,format={CI4,CI8}"),
              OUT "CI4,layout=(string)station:pol:time:channel,channels=(int)4");
  /* Axes that are not there. */
  GstStructure *s =
      out_caps("channels=4", "application/x-astro-voltages,format=CI8,layout=time", NULL);
  g_assert_cmpstr(gst_structure_get_string(s, "layout"), ==, "time:channel");
  gst_structure_free(s);
  s = out_caps("channels=4",
               "application/x-astro-voltages,format=CI8,layout=time:station,stations=3", NULL);
  g_assert_cmpstr(gst_structure_get_string(s, "layout"), ==, "station:time:channel");
  gst_structure_free(s);
}

/* Upstream that can give several formats and layouts is told which are good, best first. */
static void test_upstream(void)
{
  GstHarness *h = harness();
  gst_harness_set_sink_caps_str(h, "application/x-astro-spectra,stations=4");
  g_autoptr(GstCaps) asked =
      gst_caps_from_string("application/x-astro-voltages,format={CF64LE,CI16LE,CI8},stations=[1,9],"
                           "layout={time:station:pol,station:pol:time}");
  g_autoptr(GstCaps) caps = gst_pad_peer_query_caps(h->srcpad, NULL);
  g_autoptr(GstCaps) common = gst_caps_intersect_full(caps, asked, GST_CAPS_INTERSECT_FIRST);
  common = gst_caps_fixate(g_steal_pointer(&common));
  const GstStructure *s = gst_caps_get_structure(common, 0);
  gint stations = 0;
  g_assert_cmpstr(gst_structure_get_string(s, "format"), ==, "CI8");
  g_assert_cmpstr(gst_structure_get_string(s, "layout"), ==, "station:pol:time");
  gst_structure_get_int(s, "stations", &stations);
  g_assert_cmpint(stations, ==, 4);
  gst_harness_teardown(h);
}

/* Channel k's centre is where the output's caps say: a tone there fills it. */
static void test_frequencies(void)
{
  static const struct {
    const char *format;
    guint channels;
    double rate, low; /* Hz: of samples, and the band's lower edge */
  } cases[] = { { "CF32LE", 16, 1000, 4500 },
                { "CF32LE", 15, 1000, 4500 },
                { "F32LE", 16, 2000, 4500 },
                { "F32LE", 15, 2000, 4500 } };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    gboolean real = cases[i].format[0] == 'F';
    GstHarness *h = test_harness("astrochannelizer");
    g_autofree char *caps_text = g_strdup_printf(
        "application/x-astro-voltages,format=%s,layout=time,rate=%g/1,frequency=5000.0,"
        "bandwidth=1000.0",
        cases[i].format, cases[i].rate);
    g_object_set(h->element, "channels", cases[i].channels, NULL);
    gst_harness_set_src_caps_str(h, caps_text);
    for (guint k = 3; k < cases[i].channels - 3; k++) {
      double frequency = 0, bandwidth = 0, centre;
      gsize n = 20 * cases[i].channels * (1 + real);
      float *in = g_new(float, 2 * n);
      g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
      if (!caps) { /* the first buffer brings them */
        push(h, gst_buffer_new_wrapped(in, n * (real ? 4 : 8)));
        gst_buffer_unref(gst_harness_pull(h));
        k--;
        continue;
      }
      gst_structure_get_double(gst_caps_get_structure(caps, 0), "frequency", &frequency);
      gst_structure_get_double(gst_caps_get_structure(caps, 0), "bandwidth", &bandwidth);
      g_assert_cmpfloat(bandwidth, ==, 1000);
      centre = frequency - bandwidth / 2 + (k + 0.5) * bandwidth / cases[i].channels;
      /* Complex samples count from the middle of the band, real ones from its lower edge. */
      double turns = (centre - (real ? cases[i].low : cases[i].low + 500)) / cases[i].rate;
      for (gsize t = 0; t < n; t++)
        if (real) {
          in[t] = (float)cos(2 * G_PI * turns * (double)t);
        } else {
          in[2 * t] = (float)cos(2 * G_PI * turns * (double)t);
          in[2 * t + 1] = (float)sin(2 * G_PI * turns * (double)t);
        }
      GstBuffer *buffer = gst_buffer_new_wrapped(in, n * (real ? 4 : 8));
      GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
      push(h, buffer);
      g_autoptr(GByteArray) got = test_pull_all(h);
      const float *row = (const float *)got->data;
      for (guint c = 0; c < cases[i].channels; c++) {
        double level = hypot(row[2 * c], row[2 * c + 1]) / hypot(row[2 * k], row[2 * k + 1]);
        if (c != k)
          g_assert_cmpfloat(level, <, 0.01);
      }
    }
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

/* The sum of squares before and after, what clips, and the windows by name. */
static void test_properties(void)
{
  static const char *const windows[] = { "hann",   "hamming",     "blackman-harris",
                                         "kaiser", "rectangular", "auto" };
  double power[G_N_ELEMENTS(windows)];
  for (guint i = 0; i < G_N_ELEMENTS(windows); i++) {
    g_autofree char *line = g_strdup_printf(
        "astrochannelizer backend=cpu channels=8 taps=1 beta=3 gain=2 window=%s", windows[i]);
    GstHarness *h = gst_harness_new_parse(line);
    gst_harness_set_src_caps_str(h, "application/x-astro-voltages,format=CI8,layout=time");
    GstBuffer *in = test_buffer(16, 3);
    push(h, in);
    g_autoptr(GByteArray) got = test_pull_all(h);
    g_assert_cmpuint(got->len, ==, 64);
    power[i] = 0;
    for (guint c = 0; c < 16; c++)
      power[i] += pow(((float *)got->data)[c], 2);
    gst_harness_teardown(h);
  }
  gint8 samples[16];
  double sum = 0;
  test_fill(samples, 16, 3);
  for (guint c = 0; c < 16; c++)
    sum += 4.0 * samples[c] * samples[c];
  for (guint i = 0; i < G_N_ELEMENTS(windows); i++)
    for (guint j = 0; j < i; j++)
      g_assert_true((fabs(power[i] / power[j] - 1) < 1e-6) == (i == 5 && j == 4));
  g_assert_cmpfloat_with_epsilon(power[5] / sum, 1, 1e-5);

  guint64 clipped;
  GstHarness *h =
      gst_harness_new_parse("astrochannelizer name=c backend=cpu channels=8 taps=1 gain=1e6 ! "
                            "capsfilter caps=application/x-astro-spectra,format=CI8");
  GstElement *element = gst_bin_get_by_name(GST_BIN(h->element), "c");
  gst_harness_set_src_caps_str(h, "application/x-astro-voltages,format=CI8,layout=time");
  push(h, test_buffer(160, 3));
  g_object_get(element, "clipped", &clipped, NULL);
  g_assert_cmpuint(clipped, ==, 160);
  gst_object_unref(element);
  gst_harness_teardown(h);
}

/* The file is read at the start. */
static void refuse_other_channels(const char *line)
{
  GstHarness *h = gst_harness_new_parse(line);
  g_autoptr(GstElement) element = gst_harness_find_element(h, "astrochannelizer");
  g_autoptr(GstBus) bus = gst_bus_new();
  g_autoptr(GError) error = NULL;
  gst_element_set_bus(element, bus);
  g_object_set(element, "channels", 64, NULL);
  gst_harness_set_src_caps_str(h, "application/x-astro-voltages,format=CI8,layout=time");
  gst_harness_push(h, test_buffer(80, 3));
  g_autoptr(GstMessage) message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  g_assert_nonnull(message);
  gst_message_parse_error(message, &error, NULL);
  test_says(error->message, "the gains of 4 channels were read, to 64");
  gst_element_set_bus(element, NULL);
  gst_harness_teardown(h);
}

/* A file of gains: channel by channel, and what is wrong with it by file and line. */
static void test_gains(void)
{
  static const struct {
    const char *text, *says;
  } bad[] = {
    { "1 2 3", "3 gains" },
    { "1 2 3 4 5", "more gains" },
    { "1 2\n3 x", ":2: the gain of channel 3 is x" },
    { "1 2 3 inf", "inf" },
    { "1 2 3 -1e39", "the gain of channel 3 is -1e39, expected a number of at most 3.4" },
  };
  g_autofree char *folder = g_dir_make_tmp("gst-astro-XXXXXX", NULL);
  g_autofree char *path = g_build_filename(folder, "gains", NULL);
  g_autofree char *line =
      g_strdup_printf("astrochannelizer backend=cpu channels=4 taps=1 gains=%s", path);
  g_assert_true(g_file_set_contents(path, "1 2 # low\n-3 0\n", -1, NULL));
  GstHarness *h = gst_harness_new_parse(line);
  GstHarness *plain = gst_harness_new_parse("astrochannelizer backend=cpu channels=4 taps=1");
  gst_harness_set_src_caps_str(h, "application/x-astro-voltages,format=CI8,layout=time");
  gst_harness_set_src_caps_str(plain, "application/x-astro-voltages,format=CI8,layout=time");
  push(h, test_buffer(80, 3));
  push(plain, test_buffer(80, 3));
  g_autoptr(GByteArray) got = test_pull_all(h), without = test_pull_all(plain);
  g_assert_cmpuint(got->len, ==, 320);
  for (guint i = 0; i < 80; i++) {
    static const float gains[] = { 1, 2, -3, 0 };
    g_assert_cmpfloat(((float *)got->data)[i], ==, gains[i / 2 % 4] * ((float *)without->data)[i]);
  }
  gst_harness_teardown(h);
  gst_harness_teardown(plain);
  refuse_other_channels(line);

  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autofree char *whole =
        g_strdup_printf("fakesrc num-buffers=2 sizetype=fixed sizemax=32 ! capsfilter "
                        "caps=application/x-astro-voltages,format=CI8,layout=time ! %s ! fakesink",
                        line);
    g_assert_true(g_file_set_contents(path, bad[i].text, -1, NULL));
    g_autofree char *error = test_launch(whole);
    if (!error || !strstr(error, bad[i].says) || !strstr(error, path))
      g_error("\"%s\" does not say \"%s\"", error ? error : "no error", bad[i].says);
  }
  g_unlink(path);
  g_rmdir(folder);
}

static void test_late_settings(void)
{
  test_refuses_late("astrochannelizer backend=cpu channels=4", "channels", "64",
                    "application/x-astro-voltages,format=CI8,layout=time");
}

/* ---- errors ---- */

static void test_errors(void)
{
  static const struct {
    const char *properties, *caps, *says;
    guint bytes;
  } cases[] = {
    { "channels=0", "format=CI8,layout=time", "0 channels", 2 },
    { "channels=1", "format=CI8,layout=time", "1 channels", 2 },
    { "channels=65537", "format=CI8,layout=time", "65537 channels", 2 },
    { "taps=0", "format=CI8,layout=time", "0 taps", 2 },
    { "taps=33", "format=CI8,layout=time", "33 taps", 2 },
    { "beta=-1", "format=CI8,layout=time", "beta -1", 2 },
    { "channels=8", "format=CI8,layout=time,stations=2,pols=2,layout=station:pol:time",
      "no whole number of steps of 8 bytes (6 are left over): a file's size has to be a multiple, "
      "and its "
      "source's blocksize too",
      30 },
    { "channels=8", "format=CF64LE,layout=time", "CF64LE", 32 },
    { "channels=8", "format=CF64LE,layout=time:station,stations=2147483647", "CF64LE", 32 },
    { "channels=8", "format=CI8,layout=time:channel,channels=4", "time:channel", 32 },
    { "channels=8", "format=CI8,layout=time,rate=1/2000000000", "rate", 32 },
    { "channels=8", "format=CI8,layout=time,rate=1000000/1,frequency=150e6,bandwidth=2e6",
      "bandwidth=2000000 Hz, expected at most 1000000 Hz, which complex samples at a rate of "
      "1000000/1 carry",
      32 },
    { "channels=8", "format=F32LE,layout=time,rate=1000000/1,frequency=150e6,bandwidth=1e6",
      "bandwidth=1000000 Hz, expected at most 500000 Hz, which real samples at a rate of 1000000/1 "
      "carry",
      32 },
    { "channels=-1", "format=CI8,layout=time", "4294967295 channels, expected 2 to 65536", 2 },
    { "taps=-1", "format=CI8,layout=time", "4294967295 taps, expected 1 to 32", 2 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *line = g_strdup_printf(
        "fakesrc num-buffers=2 sizetype=fixed sizemax=%u ! capsfilter "
        "caps=application/x-astro-voltages,%s ! astrochannelizer backend=cpu %s ! fakesink",
        cases[i].bytes, cases[i].caps, cases[i].properties);
    test_refused_by(line, "astrochannelizer", cases[i].says);
  }
}

/* Counts that do not fit the buffer, and an index at the end of what can be counted. */
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
  g_test_add_func("/astrochannelizer/caps", test_caps);
  g_test_add_func("/astrochannelizer/upstream", test_upstream);
  g_test_add_func("/astrochannelizer/frequencies", test_frequencies);
  g_test_add_func("/astrochannelizer/latency", test_latency);
  g_test_add_func("/astrochannelizer/properties", test_properties);
  g_test_add_func("/astrochannelizer/gains", test_gains);
  g_test_add_func("/astrochannelizer/late-settings", test_late_settings);
  g_test_add_func("/astrochannelizer/errors", test_errors);
  g_test_add_func("/astrochannelizer/bad-buffers", test_bad_buffers);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
