/* astrorecordsink: what it writes is what came, whatever the layout, the buffers and the losses,
 * in one file or in many; and it ends well or says why not. */
#include "core/stream/observation.h"
#include "core/stream/validity.h"
#include "tests/elements/elements.h"
#include "tests/elements/written.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>

#define START "2026-11-20T12:00:00"
#define START_1970 1795176000
#define VOLTAGES "application/x-astro-voltages,frequency=1.4e9,bandwidth=1e6,"
#define SPECTRA "application/x-astro-spectra,frequency=1.4e9,bandwidth=1e6,"

typedef struct {
  const char *format, *caps;
  guint bits; /* 0: not set */
  WrittenShape shape;
} Case;

static const Case cases[] = {
  { "vdif",
    VOLTAGES "format=CI8,layout=time:station:pol,stations=3,pols=2,rate=32000/1",
    0,
    { 3, 2, 1, 2, 8, 32000 } },
  { "vdif",
    SPECTRA
    "format=CI16LE,layout=station:pol:time:channel,stations=2,pols=1,channels=4,rate=8000/1",
    0,
    { 2, 1, 4, 2, 16, 8000 } },
  { "vdif",
    SPECTRA "format=CI4,layout=channel:time:station:pol,stations=2,pols=2,channels=8,rate=4000/1",
    0,
    { 2, 2, 8, 2, 4, 4000 } },
  { "vdif",
    VOLTAGES "format=I8,layout=time:station:pol,stations=1,pols=1,rate=64000/1",
    16,
    { 1, 1, 1, 1, 16, 64000 } },
  { "dada",
    VOLTAGES "format=CI8,layout=time:station:pol,stations=1,pols=2,rate=32000/1",
    0,
    { 1, 2, 1, 2, 8, 32000 } },
  { "dada",
    VOLTAGES "format=I16LE,layout=time:station:pol,stations=1,pols=2,rate=32000/1",
    0,
    { 1, 2, 1, 1, 16, 32000 } },
  { "dada",
    SPECTRA "format=CI4,layout=station:pol:time:channel,stations=1,pols=2,channels=5,rate=8000/1",
    0,
    { 1, 2, 5, 2, 8, 8000 } },
  { "guppi",
    SPECTRA "format=CI8,layout=time:channel:station:pol,stations=1,pols=2,channels=16,rate=8000/1",
    0,
    { 1, 2, 16, 2, 8, 8000 } },
  { "guppi",
    SPECTRA "format=CI8,layout=station:pol:time:channel,stations=1,pols=1,channels=3,rate=8000/1",
    16,
    { 1, 1, 3, 2, 16, 8000 } },
};

/* ---- in ---- */

/* A number of the sample's own, that fits the stream's format. */
static gint value_of(const AstroStream *stream, guint64 t, guint s, guint p, guint c, guint k)
{
  guint64 x = (((t * 31 + s) * 7 + p) * 67 + c) * 2 + k + 1;
  x *= 0x9e3779b97f4a7c15u;
  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9u;
  const gint16 all = (gint16)(x >> 40);
  const gsize bits = 8 * astro_stream_sample_bytes(stream) /
                     (astro_format_info(stream->format)->is_complex ? 2 : 1);
  return bits >= 16 ? all : all >> (16 - bits);
}

static void put_value(const AstroStream *stream, guint8 *data, gsize sample, guint k, gint value)
{
  switch (stream->format) {
  case ASTRO_FORMAT_CI4:
    data[sample] = (guint8)(k ? (data[sample] & 0xf0) | (value & 15) : (value & 15) << 4);
    break;
  case ASTRO_FORMAT_CI8:
    data[2 * sample + k] = (guint8)value;
    break;
  case ASTRO_FORMAT_I8:
    data[sample] = (guint8)value;
    break;
  case ASTRO_FORMAT_I16LE:
    ((gint16 *)data)[sample] = (gint16)value;
    break;
  case ASTRO_FORMAT_CI16LE:
    ((gint16 *)data)[2 * sample + k] = (gint16)value;
    break;
  default: /* CF32LE */
    ((float *)data)[2 * sample + k] = (float)value;
  }
}

static gsize sample_at(const AstroLayout *shape, const guint64 *strides, guint64 t, guint s,
                       guint p, guint c)
{
  return t * astro_layout_stride_of(shape, strides, ASTRO_AXIS_TIME) +
         s * astro_layout_stride_of(shape, strides, ASTRO_AXIS_STATION) +
         p * astro_layout_stride_of(shape, strides, ASTRO_AXIS_POL) +
         c * astro_layout_stride_of(shape, strides, ASTRO_AXIS_CHANNEL);
}

static GstBuffer *buffer_of(const Case *test, const AstroStream *stream, guint64 first, guint64 n)
{
  const WrittenShape *w = &test->shape;
  const gsize bytes = n * astro_stream_step_bytes(stream);
  guint8 *data = g_malloc(bytes);
  AstroLayout shape;
  guint64 strides[ASTRO_MAX_AXES];
  astro_stream_shape(stream, n, &shape);
  astro_layout_strides(&shape, strides);
  for (guint64 t = 0; t < n; t++)
    for (guint s = 0; s < w->stations; s++)
      for (guint p = 0; p < w->pols; p++)
        for (guint c = 0; c < w->channels; c++)
          for (guint k = 0; k < w->components; k++)
            put_value(stream, data, sample_at(&shape, strides, t, s, p, c), k,
                      value_of(stream, first + t, s, p, c, k));
  GstBuffer *buffer = gst_buffer_new_wrapped(data, bytes);
  GST_BUFFER_OFFSET(buffer) = first;
  GST_BUFFER_OFFSET_END(buffer) = first + n;
  GST_BUFFER_PTS(buffer) = astro_stream_time(stream, first);
  GST_BUFFER_DURATION(buffer) = astro_stream_time(stream, first + n) - GST_BUFFER_PTS(buffer);
  return buffer;
}

typedef struct {
  const Case *test;
  AstroStream stream;
  GstHarness *h;
  GstBus *bus;
  GQueue *messages;
} Sink;

static Sink sink_with(const Case *test, const char *properties, const char *start)
{
  Sink sink = { .test = test, .bus = gst_bus_new(), .messages = g_queue_new() };
  g_autofree char *bits = test->bits ? g_strdup_printf("bits=%u", test->bits) : g_strdup("");
  g_autofree char *line =
      g_strdup_printf("astrorecordsink name=sink format=%s %s %s", test->format, bits, properties);
  g_autoptr(GstCaps) caps = gst_caps_from_string(test->caps);
  g_autoptr(AstroObservation) observation = astro_observation_new(test->shape.stations);
  GError *error = NULL;
  astro_stream_from_caps(&sink.stream, caps, &error);
  g_assert_no_error(error);
  astro_observation_set_start(observation, start, NULL);
  sink.h = gst_harness_new_parse(line);
  gst_element_set_bus(sink.h->element, sink.bus);
  gst_harness_set_src_caps_str(sink.h, test->caps);
  gst_harness_push_event(sink.h, astro_observation_to_event(observation));
  return sink;
}

static void push(Sink *sink, GstBuffer *buffer)
{
  g_assert_cmpint(gst_harness_push(sink->h, buffer), ==, GST_FLOW_OK);
}

static void push_steps(Sink *sink, guint64 first, guint64 n)
{
  push(sink, buffer_of(sink->test, &sink->stream, first, n));
}

/* Buffers of uneven lengths. */
static void push_split(Sink *sink, guint64 first, guint64 end, guint seed)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(seed);
  while (first < end) {
    const guint64 most = (guint64)g_rand_int_range(random, 1, 3000), n = MIN(end - first, most);
    push_steps(sink, first, n);
    first += n;
  }
}

static void end(Sink *sink)
{
  gst_harness_push_event(sink->h, gst_event_new_eos());
}

static void tear_down(Sink *sink)
{
  g_queue_free_full(sink->messages, (GDestroyNotify)gst_message_unref);
  gst_harness_teardown(sink->h);
  gst_bus_set_flushing(sink->bus, TRUE);
  gst_object_unref(sink->bus);
}

/* The next message of a type, in the order in which they came; NULL: there is none. */
static GstMessage *next_message(Sink *sink, GstMessageType type)
{
  GstMessage *message;
  while ((message = gst_bus_pop(sink->bus)))
    g_queue_push_tail(sink->messages, message);
  for (GList *at = sink->messages->head; at; at = at->next)
    if (GST_MESSAGE_TYPE(at->data) == type) {
      message = at->data;
      g_queue_delete_link(sink->messages, at);
      return message;
    }
  return NULL;
}

/* The message about the next complete file; NULL: there is no more. */
static GstStructure *next_file(Sink *sink)
{
  g_autoptr(GstMessage) message = next_message(sink, GST_MESSAGE_ELEMENT);
  if (!message)
    return NULL;
  g_assert_true(gst_message_has_name(message, "astro-file"));
  return gst_structure_copy(gst_message_get_structure(message));
}

static char *next_text(Sink *sink, GstMessageType type)
{
  g_autoptr(GstMessage) message = next_message(sink, type);
  g_autoptr(GError) error = NULL;
  if (!message)
    return NULL;
  if (type == GST_MESSAGE_ERROR)
    gst_message_parse_error(message, &error, NULL);
  else
    gst_message_parse_warning(message, &error, NULL);
  g_test_message("%s", error->message);
  return g_strdup(error->message);
}

static guint64 number(const GstStructure *file, const char *field)
{
  guint64 value;
  g_assert_true(gst_structure_get_uint64(file, field, &value));
  return value;
}

/* ---- out ---- */

/* Samples from `first` on are those that went in, or marked or zero where is_lost says so. Returns
 * how many are bad. */
static guint64 check_levels(const Sink *sink, const Written *w, guint64 first, guint64 n,
                            gboolean (*is_lost)(guint64 t, guint s))
{
  const WrittenShape *s = &w->shape;
  guint64 bad = 0;
  for (guint64 t = first; t < first + n; t++)
    for (guint station = 0; station < s->stations; station++)
      for (guint p = 0; p < s->pols; p++)
        for (guint c = 0; c < s->channels; c++) {
          const gsize at = written_sample(s, t - w->first, station, p, c);
          const gboolean lost = is_lost && is_lost(t, station);
          if (lost && !strcmp(sink->test->format, "vdif"))
            g_assert_false(w->good[at]);
          bad += !w->good[at];
          for (guint k = 0; k < s->components; k++)
            g_assert_cmpint(w->levels[at * s->components + k], ==,
                            lost ? 0 : value_of(&sink->stream, t, station, p, c, k));
        }
  return bad;
}

static Written read_file(const Sink *sink, const char *path)
{
  return written_read(sink->test->format, path, sink->test->shape, START_1970, NULL);
}

/* Frames and blocks are whole: 3 s of samples, beginning with the observation. */
static void test_exact(gconstpointer data)
{
  const Case *test = data;
  for (guint seed = 0; seed < 3; seed++) {
    Sink sink = sink_with(test, "location=exact.rec", START);
    const guint64 steps = 3 * test->shape.rate;
    push_split(&sink, 0, steps, seed);
    g_assert_false(g_file_test("exact.rec", G_FILE_TEST_EXISTS));
    end(&sink);
    g_autoptr(GstStructure) file = next_file(&sink);
    Written w = read_file(&sink, "exact.rec");
    GStatBuf there;
    g_stat("exact.rec", &there);
    g_assert_cmpuint(w.first, ==, 0);
    g_assert_cmpuint(w.steps, ==, steps);
    g_assert_cmpuint(check_levels(&sink, &w, 0, steps, NULL), ==, 0);
    g_assert_cmpuint(number(file, "steps"), ==, steps);
    g_assert_cmpuint(number(file, "bytes"), ==, (guint64)there.st_size);
    g_assert_cmpuint(number(file, "lost"), ==, 0);
    g_assert_cmpstr(gst_structure_get_string(file, "start"), ==, START "Z");
    g_assert_null(next_text(&sink, GST_MESSAGE_WARNING));
    written_clear(&w);
    tear_down(&sink);
    g_unlink("exact.rec");
  }
}

/* ---- losses ---- */

/* A piece without buffers, a GAP buffer, and one in which counts say that station 0 is lost. */
static gboolean is_lost(guint64 t, guint s)
{
  return (t >= 1000 && t < 1500) || (t >= 2000 && t < 2100) || (s == 0 && t >= 2500 && t < 2600);
}

static GstBuffer *counted(Sink *sink, guint64 first, guint64 n, guint64 bad_from, guint64 bad_to)
{
  GstBuffer *buffer = buffer_of(sink->test, &sink->stream, first, n);
  AstroLayout shape, counts = { 0 };
  astro_stream_shape(&sink->stream, n, &shape);
  for (guint i = 0; i < shape.n_axes; i++)
    if (shape.axes[i] == ASTRO_AXIS_TIME || shape.axes[i] == ASTRO_AXIS_STATION) {
      counts.axes[counts.n_axes] = shape.axes[i];
      counts.extents[counts.n_axes++] = shape.extents[i];
    }
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &counts, 4);
  guint64 strides[ASTRO_MAX_AXES];
  astro_layout_strides(&counts, strides);
  for (guint64 t = bad_from; t < bad_to; t++)
    meta->counts[(t - first) * astro_layout_stride_of(&counts, strides, ASTRO_AXIS_TIME)] = 0;
  return buffer;
}

static void test_losses(gconstpointer data)
{
  const Case *test = data;
  const WrittenShape *s = &test->shape;
  const guint64 steps = s->rate, of_step = s->stations * s->pols * s->channels;
  Sink sink = sink_with(test, "location=lossy.rec", START);
  push_split(&sink, 0, 1000, 1);
  push_steps(&sink, 1500, 500);
  GstBuffer *gap = buffer_of(test, &sink.stream, 2000, 100);
  GST_BUFFER_FLAG_SET(gap, GST_BUFFER_FLAG_GAP);
  push(&sink, gap);
  push(&sink, counted(&sink, 2100, 1000, 2500, 2600));
  push(&sink, counted(&sink, 3100, 100, 0, 0));
  push_split(&sink, 3200, steps, 2);
  end(&sink);
  g_autoptr(GstStructure) file = next_file(&sink);
  g_autofree char *warning = next_text(&sink, GST_MESSAGE_WARNING);
  double dropped = 0;
  Written w = written_read(test->format, "lossy.rec", *s, START_1970, &dropped);
  const guint64 lost = 600 * of_step + 100 * s->pols * s->channels;
  const guint64 bad = check_levels(&sink, &w, 0, steps, is_lost);
  g_assert_cmpuint(w.steps, ==, steps);
  g_assert_cmpuint(number(file, "lost"), ==, lost);
  g_assert_cmpuint(number(file, "samples"), ==, steps * of_step);
  if (!strcmp(test->format, "vdif")) {
    /* Frames are invalid, with good samples in them, but only those frames. */
    g_assert_cmpuint(bad, ==, lost + number(file, "spoilt"));
    g_assert_cmpuint(number(file, "spoilt"), >, 0);
    test_says(warning, "good samples are in frames that are marked as invalid");
  } else {
    g_autofree char *says = g_strdup_printf("%" G_GUINT64_FORMAT " were lost", lost);
    test_says(warning, says);
    if (!strcmp(test->format, "guppi"))
      g_assert_cmpfloat(ABS(dropped - lost), <, 1e-6 * lost);
  }
  written_clear(&w);
  tear_down(&sink);
  g_unlink("lossy.rec");
}

/* Values made from fewer good samples are written, and counted. */
static void test_partial(void)
{
  const Case *test = &cases[7];
  Sink sink = sink_with(test, "location=partial.rec", START);
  GstBuffer *buffer = counted(&sink, 0, 800, 0, 0);
  AstroValidityMeta *meta = astro_buffer_get_validity(buffer);
  for (guint t = 100; t < 110; t++)
    meta->counts[t] = 3;
  push(&sink, buffer);
  end(&sink);
  g_autoptr(GstStructure) file = next_file(&sink);
  g_autofree char *warning = next_text(&sink, GST_MESSAGE_WARNING);
  g_assert_cmpuint(number(file, "partial"), ==, 10 * 2 * 16);
  g_assert_cmpuint(number(file, "lost"), ==, 0);
  test_says(warning, "320 were made from fewer good ones");
  Written w = read_file(&sink, "partial.rec");
  check_levels(&sink, &w, 0, 800, NULL);
  written_clear(&w);
  tear_down(&sink);
  g_unlink("partial.rec");
}

/* ---- many files ---- */

/* Files in their turn hold every sample once. */
static guint check_files(Sink *sink, guint64 steps, guint64 most_steps, guint64 most_bytes)
{
  guint64 next = 0;
  guint n = 0;
  GstStructure *file;
  while ((file = next_file(sink))) {
    const char *name = gst_structure_get_string(file, "location");
    Written w = read_file(sink, name);
    const guint64 has = number(file, "steps");
    g_assert_cmpuint(w.first, ==, next);
    g_assert_cmpuint(has, <=, most_steps);
    g_assert_cmpuint(number(file, "bytes"), <=, most_bytes);
    check_levels(sink, &w, next, has, NULL);
    next += has;
    n++;
    written_clear(&w);
    g_unlink(name);
    gst_structure_free(file);
  }
  g_assert_cmpuint(next, ==, steps);
  return n;
}

static void test_duration(gconstpointer data)
{
  const Case *test = data;
  Sink sink = sink_with(test, "location=many.rec max-file-duration=500000000", START);
  const guint64 steps = 3 * test->shape.rate + test->shape.rate / 4;
  push_split(&sink, 0, steps, 5);
  end(&sink);
  g_assert_false(g_file_test("many.rec", G_FILE_TEST_EXISTS));
  g_assert_true(g_file_test("many-20261120T120000.000000.rec", G_FILE_TEST_EXISTS));
  g_assert_cmpuint(check_files(&sink, steps, test->shape.rate / 2, G_MAXUINT64), >=, 7);
  tear_down(&sink);
}

static void test_size(gconstpointer data)
{
  const Case *test = data;
  Sink sink = sink_with(test, "location=%i-%Y%j.rec max-file-size=50000", START);
  const guint64 steps = 2 * test->shape.rate;
  push_split(&sink, 0, steps, 6);
  end(&sink);
  g_assert_true(g_file_test("00001-2026324.rec", G_FILE_TEST_EXISTS));
  g_assert_cmpuint(check_files(&sink, steps, G_MAXUINT64, 50000), >=, 3);
  tear_down(&sink);
}

/* A file whose name is taken by the one before is refused, not overwritten. */
static void test_same_name(void)
{
  Sink sink = sink_with(&cases[4], "location=%Y.rec max-file-duration=500000000", START);
  GstBuffer *buffer = buffer_of(sink.test, &sink.stream, 0, 32000);
  g_assert_cmpint(gst_harness_push(sink.h, buffer), ==, GST_FLOW_ERROR);
  g_autofree char *error = next_text(&sink, GST_MESSAGE_ERROR);
  test_says(error, "already named 2026.rec");
  tear_down(&sink);
  Written w = read_file(&sink, "2026.rec"); /* the first one stays */
  g_assert_cmpuint(w.steps, ==, 16000);
  written_clear(&w);
  g_unlink("2026.rec");
}

/* After a long gap another file begins; without a name for it the stream is refused. */
static void test_long_gap(void)
{
  for (guint i = 0; i < 2; i++) {
    Sink sink = sink_with(&cases[4], i ? "location=g-%H%M%S.rec" : "location=g.rec", START);
    push_steps(&sink, 0, 1000);
    GstBuffer *late = buffer_of(sink.test, &sink.stream, 100 * 32000, 1000);
    const GstFlowReturn flow = gst_harness_push(sink.h, late);
    if (i) {
      g_assert_cmpint(flow, ==, GST_FLOW_OK);
      end(&sink);
      Written a = read_file(&sink, "g-120000.rec"), b = read_file(&sink, "g-120140.rec");
      g_assert_cmpuint(a.steps, ==, 1000);
      g_assert_cmpuint(b.first, ==, 100 * 32000);
      g_assert_cmpuint(b.steps, ==, 1000);
      check_levels(&sink, &b, b.first, 1000, NULL);
      written_clear(&a);
      written_clear(&b);
      g_unlink("g-120000.rec");
      g_unlink("g-120140.rec");
    } else {
      g_autofree char *error = next_text(&sink, GST_MESSAGE_ERROR);
      g_assert_cmpint(flow, ==, GST_FLOW_ERROR);
      test_says(error, "99.9688 s are missing");
    }
    tear_down(&sink);
  }
}

/* ---- frames that begin and end within the stream ---- */

static void test_cut_frames(void)
{
  const Case *test = &cases[0];
  Sink sink = sink_with(test, "location=cut.rec", "2026-11-20T12:00:00.001");
  push_split(&sink, 0, 20000, 3); /* step 0 is the 32nd of the second */
  end(&sink);
  g_autoptr(GstStructure) file = next_file(&sink);
  g_autofree char *warning = next_text(&sink, GST_MESSAGE_WARNING);
  Written w = read_file(&sink, "cut.rec");
  const guint64 per_frame = w.steps / 10;
  guint64 good = 0;
  g_assert_cmpuint(w.first, ==, 0);
  for (guint64 t = 0; t < 20000; t++)
    for (guint s = 0; s < 3; s++)
      for (guint p = 0; p < 2; p++) {
        const gsize at = written_sample(&w.shape, t + 32, s, p, 0);
        good += w.good[at];
        for (guint k = 0; k < 2; k++)
          g_assert_cmpint(w.levels[2 * at + k], ==, value_of(&sink.stream, t, s, p, 0, k));
      }
  g_assert_cmpuint(per_frame, >, 0);
  g_assert_cmpuint(number(file, "lost"), ==, 0);
  g_assert_cmpuint(good + number(file, "spoilt"), ==, 20000 * 6);
  test_says(warning, "marked as invalid");
  written_clear(&w);
  tear_down(&sink);
  g_unlink("cut.rec");
}

/* ---- fewer bits ---- */

/* The file does not depend on how the stream was cut, though its levels are measured. */
static void test_measured(void)
{
  static const Case test = { "vdif",
                             VOLTAGES
                             "format=CF32LE,layout=time:station:pol,stations=2,pols=2,rate=32000/1",
                             2,
                             { 2, 2, 1, 2, 2, 32000 } };
  g_autofree char *before = NULL;
  gsize size = 0;
  for (guint seed = 0; seed < 3; seed++) {
    Sink sink = sink_with(&test, "location=measured.rec", START);
    char *bytes;
    gsize n;
    if (seed == 2)
      push_steps(&sink, 0, 32000);
    else
      push_split(&sink, 0, 32000, seed);
    end(&sink);
    g_assert_true(g_file_get_contents("measured.rec", &bytes, &n, NULL));
    if (before)
      g_assert_cmpmem(bytes, n, before, size);
    g_free(before);
    before = bytes;
    size = n;
    Written w = read_file(&sink, "measured.rec");
    guint64 levels[4] = { 0 };
    for (gsize i = 0; i < 32000 * 8; i++)
      levels[w.levels[i] + 2]++;
    /* values are even between -32768 and 32767: 0.29 of them are within one rms, on either side */
    g_assert_cmpfloat(ABS(levels[0] / (32000. * 8) - (1 - 1 / sqrt(3)) / 2), <, 0.01);
    g_assert_cmpfloat(ABS(levels[2] / (32000. * 8) - 1 / sqrt(3) / 2), <, 0.01);
    for (gsize i = 0; i < 32000 * 8; i++)
      g_assert_cmpint(w.levels[i] >= 0, ==,
                      value_of(&sink.stream, i / 8, i / 4 % 2, i / 2 % 2, 0, i % 2) >= 0);
    written_clear(&w);
    tear_down(&sink);
    g_unlink("measured.rec");
  }
}

/* A recording that is shorter than what levels are measured from. */
static void test_short(void)
{
  static const Case test = { "dada",
                             VOLTAGES
                             "format=CF32LE,layout=time:station:pol,stations=1,pols=1,rate=32000/1",
                             0,
                             { 1, 1, 1, 2, 8, 32000 } };
  Sink sink = sink_with(&test, "location=short.rec rms=1000", START);
  push_steps(&sink, 0, 10);
  end(&sink);
  Written w = read_file(&sink, "short.rec");
  g_assert_cmpuint(w.steps, ==, 10);
  for (guint i = 0; i < 20; i++) {
    const double value = value_of(&sink.stream, i / 2, 0, 0, 0, i % 2) * 35.5 / 1000;
    g_assert_cmpint(w.levels[i], ==, (gint)floor(CLAMP(value, -128, 127) + .5));
  }
  written_clear(&w);
  tear_down(&sink);
  g_unlink("short.rec");
  sink = sink_with(&test, "location=short.rec", START);
  push_steps(&sink, 0, 10);
  g_assert_false(g_file_test("short.rec.part", G_FILE_TEST_EXISTS)); /* waits for more */
  end(&sink);
  w = read_file(&sink, "short.rec");
  g_assert_cmpuint(w.steps, ==, 10);
  written_clear(&w);
  tear_down(&sink);
  g_unlink("short.rec");
}

/* ---- ends ---- */

/* Ctrl-C and an error upstream stop the sink without EOS. */
static void test_stopped(gconstpointer data)
{
  const Case *test = data;
  Sink sink = sink_with(test, "location=stopped.rec", START);
  push_steps(&sink, 0, 2000);
  gst_element_set_state(sink.h->element, GST_STATE_READY);
  Written w = read_file(&sink, "stopped.rec");
  check_levels(&sink, &w, 0, 2000, NULL);
  written_clear(&w);
  tear_down(&sink);
  g_assert_false(g_file_test("stopped.rec.part", G_FILE_TEST_EXISTS));
  g_unlink("stopped.rec");
}

static void test_flushed(void)
{
  Sink sink = sink_with(&cases[4], "location=flushed.rec", START);
  GstSegment segment;
  push_steps(&sink, 0, 2000);
  gst_harness_push_event(sink.h, gst_event_new_flush_start());
  gst_harness_push_event(sink.h, gst_event_new_flush_stop(TRUE));
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(sink.h, gst_event_new_segment(&segment));
  g_assert_false(g_file_test("flushed.rec.part", G_FILE_TEST_EXISTS));
  push_steps(&sink, 5000, 100);
  end(&sink);
  Written w = read_file(&sink, "flushed.rec");
  g_assert_cmpuint(w.first, ==, 5000);
  g_assert_cmpuint(w.steps, ==, 100);
  written_clear(&w);
  tear_down(&sink);
  g_unlink("flushed.rec");
}

/* A limit of the size of files acts as a full disk: the file at work vanishes, complete ones stay.
 */
static void test_full_disk(void)
{
  struct rlimit before, small;
  Sink sink = sink_with(&cases[4], "location=full-%i.rec max-file-size=40000000", START);
  push_steps(&sink, 0, 1000);
  g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &before), ==, 0);
  small = before;
  small.rlim_cur = 3000000;
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &small), ==, 0);
  GstFlowReturn flow = GST_FLOW_OK;
  for (guint i = 0; i < 100 && flow == GST_FLOW_OK; i++)
    flow = gst_harness_push(sink.h, buffer_of(sink.test, &sink.stream, 1000 + i * 20000ull, 20000));
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  g_assert_cmpint(flow, ==, GST_FLOW_ERROR);
  g_autofree char *error = next_text(&sink, GST_MESSAGE_ERROR);
  test_says(error, "full-00000.rec");
  tear_down(&sink);
  g_assert_false(g_file_test("full-00000.rec", G_FILE_TEST_EXISTS));
  g_assert_false(g_file_test("full-00000.rec.part", G_FILE_TEST_EXISTS));
}

/* Steps that came already are left out. */
static void test_again(void)
{
  Sink sink = sink_with(&cases[4], "location=again.rec", START);
  push_steps(&sink, 0, 1000);
  push_steps(&sink, 900, 300);
  push_steps(&sink, 100, 50);
  push_steps(&sink, 1200, 100);
  end(&sink);
  Written w = read_file(&sink, "again.rec");
  g_assert_cmpuint(w.steps, ==, 1300);
  check_levels(&sink, &w, 0, 1300, NULL);
  g_autofree char *warning = next_text(&sink, GST_MESSAGE_WARNING);
  g_assert_nonnull(warning);
  g_assert_null(next_text(&sink, GST_MESSAGE_WARNING));
  written_clear(&w);
  tear_down(&sink);
  g_unlink("again.rec");
}

/* ---- refused ---- */

#define SKY                                                                                        \
  "astroskysrc stations=2 pols=2 bandwidth=1e5 duration=0.1 ! application/x-astro-voltages,"       \
  "format=CI8 ! "
#define ONE                                                                                        \
  "astroskysrc stations=1 pols=2 bandwidth=1e5 duration=0.1 ! application/x-astro-voltages,"       \
  "format=CI8 ! "

static void test_refused_lines(void)
{
  static const char *const lines[][2] = {
    { SKY "astrorecordsink name=e", "location" },
    { SKY "astrorecordsink name=e format=mark6 location=x.rec",
      "format \"mark6\" is not known, expected one of vdif, dada, guppi" },
    { SKY "astrorecordsink name=e format=dada location=x.rec", "astroselect stations=" },
    { ONE "astrorecordsink name=e format=dada bits=2 location=x.rec",
      "dada files cannot have bits=2, expected one of 8, 16" },
    { ONE "astrorecordsink name=e bits=3 location=x.rec", "expected one of 1, 2, 4, 8, 16" },
    { ONE "astrorecordsink name=e location=x-%q.rec", "%q" },
    { ONE "astrorecordsink name=e location=x.rec max-file-size=1000", "max-file-size is less" },
    { ONE "astrorecordsink name=e location=x.rec max-file-duration=10",
      "max-file-duration is less" },
    { ONE "astrorecordsink name=e location=/nowhere/x.rec", "/nowhere/x.rec" },
    { ONE "astrochannelizer channels=12 taps=2 backend=cpu ! astrorecordsink name=e bits=8 "
          "location=x.rec",
      "power of two" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(lines); i++) {
    test_refused(lines[i][0], lines[i][1]);
    g_assert_false(g_file_test("x.rec", G_FILE_TEST_EXISTS));
    g_assert_false(g_file_test("x.rec.part", G_FILE_TEST_EXISTS));
  }
}

/* Streams that no line makes. */
static void test_refused_streams(void)
{
  static const struct {
    const char *format, *caps, *start, *says;
  } rows[] = {
    { "guppi", VOLTAGES "format=I8,layout=time:station:pol,stations=1,pols=1,rate=1000/1", START,
      "the samples are real (I8)" },
    { "guppi", VOLTAGES "format=CI8,layout=time:station:pol,stations=1,pols=1,rate=1000/1", START,
      "complex samples only where the bandwidth is the rate" },
    { "guppi",
      VOLTAGES "format=CI8,layout=time:station:pol,stations=1,pols=1,rate=1000/1,bandwidth=400.0",
      START, "the bandwidth is 400 and the rate 1000/1" },
    { "dada", VOLTAGES "format=CI8,layout=time:station:pol,stations=1,pols=1", START, "\"rate\"" },
    { "dada", VOLTAGES "format=CI8,layout=time:station:pol,stations=1,pols=1,rate=1000/1", NULL,
      "astroobserve start-time=" },
    { "vdif", VOLTAGES "format=CI8,layout=time:station:pol,stations=1,pols=1,rate=1001/2", START,
      "1001/2 steps a second" },
    { "vdif", VOLTAGES "format=CI8,layout=time:station:pol,stations=1,pols=1,rate=32000/1",
      "2026-11-20T12:00:00.000005", "between two of the 32000 steps" },
    { "vdif", VOLTAGES "format=CI8,layout=time:station:pol,stations=1,pols=1,rate=32000/1",
      "1999-01-01T00:00:00", "from 2000 to 2065" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    const Case test = { rows[i].format, rows[i].caps, 0, { 1, 1, 1, 1, 8, 1000 } };
    Sink sink = { .test = &test, .bus = gst_bus_new(), .messages = g_queue_new() };
    g_autofree char *line =
        g_strdup_printf("astrorecordsink format=%s location=y.rec", rows[i].format);
    g_autoptr(GstCaps) caps = gst_caps_from_string(rows[i].caps);
    g_autoptr(AstroObservation) observation = astro_observation_new(1);
    g_assert_true(astro_stream_from_caps(&sink.stream, caps, NULL));
    if (rows[i].start)
      astro_observation_set_start(observation, rows[i].start, NULL);
    sink.h = gst_harness_new_parse(line);
    gst_element_set_bus(sink.h->element, sink.bus);
    gst_harness_set_src_caps_str(sink.h, rows[i].caps);
    gst_harness_push_event(sink.h, astro_observation_to_event(observation));
    GstBuffer *buffer = gst_buffer_new_allocate(NULL, 64000, NULL);
    gst_buffer_memset(buffer, 0, 0, 64000);
    GST_BUFFER_OFFSET(buffer) = 0;
    GstFlowReturn flow = gst_harness_push(sink.h, buffer);
    g_assert_cmpint(flow, ==, GST_FLOW_ERROR);
    g_autofree char *error = next_text(&sink, GST_MESSAGE_ERROR);
    test_says(error, rows[i].says);
    tear_down(&sink);
    g_assert_false(g_file_test("y.rec", G_FILE_TEST_EXISTS));
  }
}

static void test_empty(void)
{
  Sink sink = sink_with(&cases[4], "location=empty.rec", START);
  end(&sink);
  g_autofree char *error = next_text(&sink, GST_MESSAGE_ERROR);
  test_says(error, "empty.rec: the stream ended before its first sample");
  tear_down(&sink);
  g_assert_false(g_file_test("empty.rec", G_FILE_TEST_EXISTS));
}

int main(int argc, char **argv)
{
  gst_init(&argc, &argv);
  g_test_init(&argc, &argv, NULL);
  static const struct {
    const char *name;
    GTestDataFunc test;
  } of_cases[] = { { "exact", test_exact },
                   { "losses", test_losses },
                   { "duration", test_duration },
                   { "size", test_size },
                   { "stopped", test_stopped } };
  for (guint k = 0; k < G_N_ELEMENTS(of_cases); k++)
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
      g_autofree char *path =
          g_strdup_printf("/astrorecordsink/%s/%s-%u", of_cases[k].name, cases[i].format, i);
      g_test_add_data_func(path, &cases[i], of_cases[k].test);
    }
  g_test_add_func("/astrorecordsink/partial", test_partial);
  g_test_add_func("/astrorecordsink/same-name", test_same_name);
  g_test_add_func("/astrorecordsink/long-gap", test_long_gap);
  g_test_add_func("/astrorecordsink/cut-frames", test_cut_frames);
  g_test_add_func("/astrorecordsink/measured", test_measured);
  g_test_add_func("/astrorecordsink/short", test_short);
  g_test_add_func("/astrorecordsink/flushed", test_flushed);
  g_test_add_func("/astrorecordsink/full-disk", test_full_disk);
  g_test_add_func("/astrorecordsink/again", test_again);
  g_test_add_func("/astrorecordsink/refused", test_refused_lines);
  g_test_add_func("/astrorecordsink/refused-streams", test_refused_streams);
  g_test_add_func("/astrorecordsink/empty", test_empty);
  return g_test_run();
}
