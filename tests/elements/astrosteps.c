/* How stages find the steps of buffers, seen through astrotranspose: steps that come again or late,
 * times that contradict each other, losses that only one of them shows, and times of arrival. */
#include "core/stream/validity.h"
#include "tests/elements/astrostage.h"
#include "tests/elements/running.h"
#include "tests/observe.h"

#define NONE GST_BUFFER_OFFSET_NONE
#define TIMES "station:pol:time"

/* Its bytes tell which steps it holds. */
static GstBuffer *block(guint64 first, guint64 steps)
{
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, steps * STEP, NULL);
  for (guint64 i = 0; i < steps; i++)
    gst_buffer_memset(buffer, i * STEP, (guint8)(first + i), STEP);
  return buffer;
}

static GstClockTime time_of(guint64 step)
{
  return gst_util_uint64_scale(step, 3 * GST_SECOND, 1000);
}

static GstBuffer *stamp(GstBuffer *buffer, guint64 offset, guint64 end, GstClockTime time)
{
  GST_BUFFER_OFFSET(buffer) = offset;
  GST_BUFFER_OFFSET_END(buffer) = end;
  GST_BUFFER_PTS(buffer) = time;
  return buffer;
}

static GstHarness *with_bus(GstBus *bus)
{
  GstHarness *h = new_harness();
  gst_element_set_bus(h->element, bus);
  return h;
}

static void end(GstHarness *h, GstBus *bus)
{
  gst_element_set_bus(h->element, NULL);
  gst_harness_teardown(h);
  gst_bus_set_flushing(bus, TRUE);
}

static guint count_messages(GstBus *bus, GstMessageType type)
{
  guint n = 0;
  GstMessage *message;
  for (; (message = gst_bus_pop_filtered(bus, type)); n++)
    gst_message_unref(message);
  return n;
}

static void check_again(GstHarness *h, guint64 expected)
{
  g_autoptr(GstStructure) stats = NULL;
  guint64 again = 0;
  g_object_get(h->element, "stats", &stats, NULL);
  g_assert_true(gst_structure_get_uint64(stats, "steps-again", &again));
  g_assert_cmpuint(again, ==, expected);
}

/* The next block that came out has these steps, with their bytes. */
static void expect(GstHarness *h, guint64 first, guint64 steps, gboolean is_discont)
{
  g_autoptr(GstBuffer) out = gst_harness_try_pull(h);
  GstMapInfo map;

  g_assert_nonnull(out);
  g_assert_cmpuint(GST_BUFFER_OFFSET(out), ==, first);
  g_assert_cmpuint(GST_BUFFER_OFFSET_END(out), ==, first + steps);
  g_assert_cmpint(ABS((gint64)(GST_BUFFER_PTS(out) - time_of(first))), <=, 2);
  g_assert_cmpint(GST_BUFFER_IS_DISCONT(out), ==, is_discont);
  g_assert_true(gst_buffer_map(out, &map, GST_MAP_READ));
  g_assert_cmpuint(map.size, ==, steps * STEP);
  for (gsize i = 0; i < map.size; i++)
    g_assert_cmpuint(map.data[i], ==, (first + i / 2 % steps) & 0xff);
  gst_buffer_unmap(out, &map);
}

/* The ways in which a block may say which steps it holds. */
typedef enum { BY_OFFSET, BY_START, BY_TIME, BY_BOTH, BY_BYTES, N_WAYS } Way;
static const char *const ways[N_WAYS] = { "offset", "start", "time", "both", "bytes" };

static GstBuffer *said(Way way, guint64 first, guint64 steps)
{
  const GstClockTime time = way == BY_TIME || way == BY_BOTH ? time_of(first) : NONE;
  const guint64 unit = way == BY_BYTES ? STEP : 1;
  return stamp(block(first, steps), way == BY_TIME ? NONE : first * unit,
               way == BY_TIME || way == BY_START ? NONE : (first + steps) * unit, time);
}

typedef struct {
  guint64 first, steps;
  guint64 new_first; /* of what comes out */
  guint64 new_steps; /* 0: nothing does */
  gboolean is_discont;
} Sent;

/* Steps twice, in part, late, and as from a funnel of one stream. */
static const Sent sent[] = {
  { 0, 5, 0, 5, FALSE },    { 0, 5, 0, 0, FALSE },      { 5, 5, 5, 5, FALSE },
  { 20, 5, 20, 5, TRUE },   { 10, 5, 0, 0, FALSE },     { 24, 6, 25, 5, FALSE },
  { 25, 10, 30, 5, FALSE }, { 34, 1, 0, 0, FALSE },     { 0, 30, 0, 0, FALSE },
  { 35, 3, 35, 3, FALSE },  { 0, 200, 38, 162, FALSE }, { 200, 2, 200, 2, FALSE },
};

static void test_again(gconstpointer data)
{
  const Way way = GPOINTER_TO_UINT(data);
  g_autoptr(GstBus) bus = gst_bus_new();
  GstHarness *h = with_bus(bus);
  guint64 again = 0;

  for (guint i = 0; i < G_N_ELEMENTS(sent); i++) {
    const Sent *s = &sent[i];
    g_assert_cmpint(gst_harness_push(h, said(way, s->first, s->steps)), ==, GST_FLOW_OK);
    again += s->steps - s->new_steps;
    if (s->new_steps)
      expect(h, s->new_first, s->new_steps, s->is_discont);
    g_assert_null(gst_harness_try_pull(h));
    check_again(h, again);
  }
  g_assert_cmpuint(count_messages(bus, GST_MESSAGE_WARNING), ==, 1);
  g_assert_cmpuint(count_messages(bus, GST_MESSAGE_ERROR), ==, 0);
  end(h, bus);
}

/* Through an element that passes blocks on. */
static void test_passed(void)
{
  GstHarness *h = test_harness("astrotranspose");
  gst_harness_set_caps_str(h, IN_CAPS, IN_CAPS);
  gst_harness_push(h, said(BY_BOTH, 0, 6));
  gst_harness_push(h, said(BY_BOTH, 0, 6));
  gst_harness_push(h, said(BY_BOTH, 4, 6));
  gst_buffer_unref(gst_harness_pull(h));
  g_autoptr(GstBuffer) rest = gst_harness_try_pull(h);
  g_assert_nonnull(rest);
  g_assert_cmpuint(GST_BUFFER_OFFSET(rest), ==, 6);
  g_assert_cmpuint(GST_BUFFER_OFFSET_END(rest), ==, 10);
  g_assert_cmpuint(GST_BUFFER_PTS(rest), ==, time_of(6));
  g_assert_cmpuint(gst_buffer_get_size(rest), ==, 4 * STEP);
  g_assert_null(gst_harness_try_pull(h));
  check_again(h, 8);
  gst_harness_teardown(h);
}

/* The rest of a block keeps the counts of its steps, in any layout, even if the cut goes through a
 * group. */
static void test_counts_of_rest(void)
{
  static const AstroLayout shape = { 2, { ASTRO_AXIS_STATION, ASTRO_AXIS_TIME }, { 3, 4 } };
  GstHarness *h = test_harness("astrotranspose");
  gst_harness_set_caps_str(h, FIELDS ",layout=station:time:pol", FIELDS ",layout=time:station:pol");
  guint8 bytes[8 * STEP];

  gst_harness_push(h, said(BY_OFFSET, 0, 3));
  gst_buffer_unref(gst_harness_pull(h));
  for (guint i = 0; i < sizeof bytes; i++)
    bytes[i] = (guint8)(i / 4); /* station * 8 + time */
  GstBuffer *in = stamp(gst_buffer_new_memdup(bytes, sizeof bytes), 0, 8, NONE);
  AstroValidityMeta *meta = astro_buffer_add_validity(in, &shape, 100);
  for (guint i = 0; i < 12; i++)
    meta->counts[i] = i;
  g_assert_cmpint(gst_harness_push(h, in), ==, GST_FLOW_OK);
  g_autoptr(GstBuffer) out = gst_harness_try_pull(h);
  g_assert_nonnull(out);
  g_assert_cmpuint(GST_BUFFER_OFFSET(out), ==, 3);
  g_assert_cmpuint(gst_buffer_get_size(out), ==, 5 * STEP);
  const AstroValidityMeta *kept = astro_buffer_get_validity(out);
  g_assert_nonnull(kept);
  g_assert_cmpuint(kept->full, ==, 100);
  g_assert_cmpuint(astro_validity_n_counts(kept), ==, 15);
  GstMapInfo map;
  g_assert_true(gst_buffer_map(out, &map, GST_MAP_READ));
  for (guint time = 0; time < 5; time++)
    for (guint station = 0; station < 3; station++) {
      g_assert_cmpuint(map.data[(time * 3 + station) * 4], ==, station * 8 + time + 3);
      g_assert_cmpuint(kept->counts[time * 3 + station], ==, station * 4 + (time + 3) / 2);
    }
  gst_buffer_unmap(out, &map);
  gst_harness_teardown(h);
}

/* Under caps of another rate OFFSET may go on or begin anew; the time shows which steps came
 * again. */
static void test_new_rate(void)
{
  static const guint64 offsets[] = { 10, 20, 0 };
  for (guint i = 0; i < G_N_ELEMENTS(offsets); i++) {
    GstHarness *h = test_harness("astrotranspose");
    g_autofree char *twice = test_replace(IN_CAPS, "1000/3", "2000/3");
    gst_harness_set_sink_caps_str(h, "application/x-astro-voltages,layout=" TIMES);
    gst_harness_set_src_caps_str(h, IN_CAPS);
    gst_harness_push(h, said(BY_BOTH, 0, 10));
    expect(h, 0, 10, FALSE);
    gst_harness_set_src_caps_str(h, twice);
    for (guint k = 0; k < 3; k++) { /* before, across and after where the first ended */
      const guint64 from = k * 8 + 6, offset = offsets[i] + from;
      gst_harness_push(h, stamp(block(from, 8), offset, offset + 8, time_of(from) / 2));
    }
    for (guint k = 1; k < 3; k++) {
      const guint64 from = k == 1 ? 20 : 22;
      g_autoptr(GstBuffer) out = gst_harness_try_pull(h);
      g_assert_nonnull(out);
      g_assert_cmpuint(GST_BUFFER_OFFSET(out), ==, offsets[i] + from);
      g_assert_cmpuint(GST_BUFFER_OFFSET_END(out), ==, offsets[i] + (k == 1 ? 22 : 30));
      g_assert_cmpuint(GST_BUFFER_PTS(out), ==, time_of(from) / 2);
    }
    g_assert_null(gst_harness_try_pull(h));
    check_again(h, 8 + 6);
    gst_harness_teardown(h);
  }
}

/* ---- what may go back ---- */

static void begin_segment(GstHarness *h, guint64 base)
{
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.base = base;
  g_assert_true(gst_harness_push_event(h, gst_event_new_segment(&segment)));
}

static void flush(GstHarness *h)
{
  g_assert_true(gst_harness_push_event(h, gst_event_new_flush_start()));
  g_assert_true(gst_harness_push_event(h, gst_event_new_flush_stop(TRUE)));
  begin_segment(h, 0);
}

static void another_segment(GstHarness *h)
{
  begin_segment(h, GST_SECOND);
}

static void another_stream(GstHarness *h)
{
  g_assert_true(gst_harness_push_event(h, gst_event_new_stream_start("another")));
}

static void another_observation(GstHarness *h)
{
  g_autoptr(AstroObservation) observation = test_observe("disc", 3);
  g_assert_true(gst_harness_push_event(h, astro_observation_to_event(observation)));
}

/* A second file, a seek, another source: steps count from elsewhere, and none is left out. */
static void test_anew(void)
{
  static void (*const begins[])(GstHarness *) = { flush, another_segment, another_stream,
                                                  another_observation };
  for (Way way = 0; way < N_WAYS; way++)
    for (guint i = 0; way != BY_BYTES && i < G_N_ELEMENTS(begins); i++) {
      g_autoptr(GstBus) bus = gst_bus_new();
      GstHarness *h = with_bus(bus);
      gst_harness_push(h, said(way, 10, 5));
      expect(h, 10, 5, FALSE);
      begins[i](h);
      gst_harness_push(h, said(way, 2, 5));
      expect(h, 2, 5, i > 0);
      gst_harness_push(h, said(way, 2, 5));
      g_assert_null(gst_harness_try_pull(h));
      check_again(h, 5);
      g_assert_cmpuint(count_messages(bus, GST_MESSAGE_ERROR), ==, 0);
      end(h, bus);
    }
}

/* Grids of several planes share a number. */
static void test_planes(void)
{
  GstHarness *h = test_harness("astrotranspose");
#define PLANES "application/x-astro-uvgrid,format=CF32LE,pols=1,width=2,height=2,planes=1"
  gst_harness_set_caps_str(h, PLANES ",layout=plane:pol:v:u", PLANES ",layout=plane:pol:u:v");
  for (guint i = 0; i < 6; i++) {
    g_assert_cmpint(gst_harness_push(h, stamp(test_buffer(32, i), i / 3, i / 3 + 1, NONE)), ==,
                    GST_FLOW_OK);
    g_autoptr(GstBuffer) out = gst_harness_try_pull(h);
    g_assert_nonnull(out);
  }
  check_again(h, 0);
  gst_harness_teardown(h);
}

/* ---- what contradicts itself ---- */

typedef struct {
  const char *name;
  guint64 per_block, per_end; /* OFFSET grows by that; OFFSET_END is that far from it, 0: not set */
  gboolean is_discont;        /* each says so */
  guint64 steps;              /* of a block */
} Wrong;

static const Wrong wrong[] = {
  { "always-0", 0, 0, FALSE, 5 },         { "always-0/to-the-end", 0, 5, FALSE, 5 },
  { "always-0/discont", 0, 5, TRUE, 5 },  { "always-0/one-step", 0, 1, FALSE, 1 },
  { "bytes", 5 * STEP, 0, FALSE, 5 },     { "bytes/discont", 5 * STEP, 0, TRUE, 5 },
  { "buffers", 1, 0, FALSE, 5 },          { "buffers/discont", 1, 0, TRUE, 5 },
  { "every-other-step", 2, 1, FALSE, 1 },
};

/* OFFSET is not believed if the time shows that it counts something else. */
static void test_wrong(gconstpointer data)
{
  const Wrong *w = data;
  g_autoptr(GstBus) bus = gst_bus_new();
  GstHarness *h = with_bus(bus);
  GstFlowReturn flow = GST_FLOW_OK;

  for (guint i = 0; i < 3 && flow == GST_FLOW_OK; i++) {
    const guint64 offset = i * w->per_block;
    GstBuffer *buffer = stamp(block(i * w->steps, w->steps), offset,
                              w->per_end ? offset + w->per_end : NONE, time_of(i * w->steps));
    if (w->is_discont)
      GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
    flow = gst_harness_push(h, buffer);
    g_assert_cmpint(flow, ==, i ? GST_FLOW_ERROR : GST_FLOW_OK);
  }
  g_autoptr(GstMessage) message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  g_autoptr(GError) error = NULL;
  g_assert_nonnull(message);
  gst_message_parse_error(message, &error, NULL);
  g_test_message("%s", error->message);
  test_says(error->message, "OFFSET and PTS contradict each other");
  test_says(error->message, "OFFSET must count time steps at the caps' rate of 1000/3");
  end(h, bus);
}

/* ---- times alone ---- */

/* Times that are truncated to nanoseconds are not losses, even if the errors add up. */
static void test_rounded(gconstpointer adds_up)
{
  static const char *const rates[] = { "1000000/3", "30000001/7", "390625/1", "1000000000/3" };
  for (guint i = 0; i < G_N_ELEMENTS(rates); i++) {
    g_autofree char *fields = test_replace(IN_CAPS, "1000/3", rates[i]);
    g_autoptr(GstCaps) caps = gst_caps_from_string(fields);
    AstroStream stream;
    GstHarness *h = test_harness("astrotranspose");
    g_assert_true(astro_stream_from_caps(&stream, caps, NULL));
    gst_harness_set_src_caps_str(h, fields);
    gst_harness_set_sink_caps_str(h, "application/x-astro-voltages,layout=" TIMES);
    GstClockTime time = 0;
    for (guint64 k = 0; k < 5000; k++) {
      GstBuffer *in = stamp(test_buffer(7 * STEP, 1), NONE, NONE,
                            adds_up ? time : astro_stream_time(&stream, 7 * k));
      time += astro_stream_time(&stream, 7);
      g_assert_cmpint(gst_harness_push(h, in), ==, GST_FLOW_OK);
      g_autoptr(GstBuffer) out = gst_harness_pull(h);
      g_assert_cmpuint(GST_BUFFER_OFFSET(out), ==, 7 * k);
      g_assert_false(GST_BUFFER_IS_DISCONT(out));
    }
    gst_harness_teardown(h);
  }
}

/* A source that stamps times of arrival is not taken for one that lost and repeated samples; nor is
 * a clock that drifts away from the samples. */
static void test_arrival(gconstpointer drifts)
{
  g_autoptr(GstBus) bus = gst_bus_new();
  GstHarness *h = with_bus(bus);
  GstFlowReturn flow = GST_FLOW_OK;
  guint came = 0;

  for (; came < 200 && flow == GST_FLOW_OK; came++) {
    const GstClockTime late = drifts ? came * 100000 : (came * 7919 % 13) * 1234567;
    flow = gst_harness_push(h, stamp(block(5 * came, 5), NONE, NONE, time_of(5 * came) + late));
  }
  g_assert_cmpint(flow, ==, GST_FLOW_ERROR);
  g_assert_cmpuint(came, <, 30);
  g_autoptr(GstMessage) message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  g_autoptr(GError) error = NULL;
  g_assert_nonnull(message);
  gst_message_parse_error(message, &error, NULL);
  g_test_message("%s", error->message);
  test_says(error->message, "Sources that stamp times of arrival");
  end(h, bus);
}

/* The first one of a live source has a time of arrival for its zero. */
static void test_stamped(void)
{
  static const GstClockTime times[] = { 1123456789, 1122000000 };
  for (guint i = 0; i < G_N_ELEMENTS(times); i++) {
    GstHarness *h = new_harness();
    GstBuffer *in = stamp(block(0, 5), NONE, NONE, times[i]);
    GST_BUFFER_DTS(in) = times[i];
    g_assert_cmpint(gst_harness_push(h, in), ==, i ? GST_FLOW_OK : GST_FLOW_ERROR);
    gst_harness_teardown(h);
  }
}

/* ---- several streams ---- */

/* Two sources mixed in one stream: each block belongs to one or the other. */
static void test_mixed(gconstpointer data)
{
  static const char *const ids[] = { "one", "two" };
  const Way way = GPOINTER_TO_UINT(data);
  g_autoptr(GstBus) bus = gst_bus_new();
  GstHarness *h = with_bus(bus);
  GstFlowReturn flow = GST_FLOW_OK;

  for (guint i = 0; i < 6 && flow == GST_FLOW_OK; i++) {
    gst_harness_push_event(h, gst_event_new_stream_start(ids[i % 2]));
    GstBuffer *buffer = said(way == N_WAYS ? BY_OFFSET : way, i / 2 * 5, 5);
    if (way == N_WAYS)
      GST_BUFFER_OFFSET(buffer) = GST_BUFFER_OFFSET_END(buffer) = NONE;
    flow = gst_harness_push(h, buffer);
  }
  g_assert_cmpint(flow, ==, GST_FLOW_ERROR);
  g_autoptr(GstMessage) message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  g_autoptr(GError) error = NULL;
  g_assert_nonnull(message);
  gst_message_parse_error(message, &error, NULL);
  test_says(error->message, "streams of several sources are mixed");
  end(h, bus);
}

/* One stream over two ways gives the same as over one. */
static void test_funnel(void)
{
#define SOURCE "astroskysrc stations=3 num-buffers=9 pattern=noise block-steps=700 "
#define CHAIN "astrochannelizer channels=16 ! astrocorrelator integration=20"
  g_autoptr(GByteArray) once = test_run_line(SOURCE "! " CHAIN);
  g_autoptr(GByteArray) twice = test_run_line(SOURCE "! tee name=t  t. ! queue ! funnel name=f  "
                                                     "t. ! queue ! f.  f. ! " CHAIN);
  g_assert_cmpuint(once->len, >, 0);
  g_assert_cmpmem(once->data, once->len, twice->data, twice->len);
}

static void add_tests(void)
{
  for (guintptr way = 0; way < N_WAYS; way++) {
    g_autofree char *name = g_strdup_printf("/steps/again/%s", ways[way]);
    g_test_add_data_func(name, (gpointer)way, test_again);
  }
  g_test_add_func("/steps/again/passed", test_passed);
  g_test_add_func("/steps/again/counts", test_counts_of_rest);
  g_test_add_func("/steps/again/new-rate", test_new_rate);
  g_test_add_func("/steps/anew", test_anew);
  g_test_add_func("/steps/planes", test_planes);
  for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
    g_autofree char *name = g_strdup_printf("/steps/wrong/%s", wrong[i].name);
    g_test_add_data_func(name, &wrong[i], test_wrong);
  }
  g_test_add_data_func("/steps/rounded", NULL, test_rounded);
  g_test_add_data_func("/steps/rounded/adds-up", GINT_TO_POINTER(TRUE), test_rounded);
  g_test_add_data_func("/steps/arrival", NULL, test_arrival);
  g_test_add_data_func("/steps/arrival/drifts", GINT_TO_POINTER(TRUE), test_arrival);
  g_test_add_func("/steps/stamped", test_stamped);
  g_test_add_data_func("/steps/mixed/offset", GUINT_TO_POINTER(BY_OFFSET), test_mixed);
  g_test_add_data_func("/steps/mixed/time", GUINT_TO_POINTER(BY_TIME), test_mixed);
  g_test_add_data_func("/steps/mixed/untimed", GUINT_TO_POINTER(N_WAYS), test_mixed);
  g_test_add_func("/steps/funnel", test_funnel);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
