/* Packets of every format over a bad network: what is received is what was sent, each sample in its
 * place and at its time, less what was lost, by count. */
#include "tests/elements/packets.h"

#include <glib/gstdio.h>

static guint64 number_of(GstElement *element, const char *name)
{
  GstStructure *stats;
  guint64 value = G_MAXUINT64;
  g_object_get(element, "stats", &stats, NULL);
  g_assert_true(gst_structure_get_uint64(stats, name, &value));
  gst_structure_free(stats);
  return value;
}

static guint streams_of(GstElement *depay)
{
  GstStructure *stats;
  g_object_get(depay, "stats", &stats, NULL);
  const guint n = gst_value_array_get_size(gst_structure_get_value(stats, "streams"));
  gst_structure_free(stats);
  return n;
}

static GstElement *named(GstHarness *h, const char *factory)
{
  GstIterator *all = gst_bin_iterate_all_by_element_factory_name(GST_BIN(h->element), factory);
  GValue value = G_VALUE_INIT;
  g_assert_cmpint(gst_iterator_next(all, &value), ==, GST_ITERATOR_OK);
  GstElement *element = g_value_dup_object(&value);
  g_value_unset(&value);
  gst_iterator_free(all);
  return element;
}

static AstroObservation *told(GstHarness *h)
{
  for (guint i = 0;; i++) {
    g_autoptr(GstEvent) event =
        gst_pad_get_sticky_event(h->sinkpad, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, i);
    g_assert_nonnull(event);
    if (astro_event_is_observation(event))
      return astro_observation_from_event(event, NULL);
  }
}

static AstroStream stream_of(const char *caps)
{
  g_autoptr(GstCaps) parsed = gst_caps_from_string(caps);
  AstroStream stream;
  g_autoptr(GError) error = NULL;
  astro_stream_from_caps(&stream, parsed, &error);
  g_assert_no_error(error);
  return stream;
}

static GstHarness *new_harness(const char *line, const char *caps)
{
  g_autoptr(GstCaps) parsed = gst_caps_from_string(caps);
  g_autoptr(AstroObservation) observation = astro_observation_new(0);
  GstHarness *h = gst_harness_new_parse(line);
  astro_observation_set_start(observation, TEST_START, NULL);
  gst_harness_set_live(h, FALSE);
  gst_harness_set_src_caps(h, g_steal_pointer(&parsed));
  gst_harness_push_event(h, astro_observation_to_event(observation));
  return h;
}

/* Cut anywhere. */
static void push_all(GstHarness *h, const AstroStream *stream, const guint8 *samples, guint64 steps)
{
  const gsize of_step = astro_stream_step_bytes(stream);
  for (guint64 step = 0, i = 0; step < steps; i++) {
    const guint64 n = MIN(steps - step, 1 + i * 7919 % 3000);
    GstBuffer *buffer = gst_buffer_new_memdup(samples + step * of_step, n * of_step);
    GST_BUFFER_OFFSET(buffer) = step;
    GST_BUFFER_OFFSET_END(buffer) = step + n;
    GST_BUFFER_PTS(buffer) = astro_stream_time(stream, step);
    g_assert_cmpint(gst_harness_push(h, buffer), ==, GST_FLOW_OK);
    step += n;
  }
  gst_harness_push_event(h, gst_event_new_eos());
}

static guint64 pull_all(GstHarness *h, const guint8 *sent, guint64 steps)
{
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  g_autoptr(AstroObservation) from = astro_observation_new(0), to = told(h);
  AstroStream stream;
  guint64 good = 0;
  GstBuffer *block;
  g_assert_true(astro_stream_from_caps(&stream, caps, NULL));
  g_assert_true(stream.has_counts);
  astro_observation_set_start(from, TEST_START, NULL);
  g_assert_true(to->has_start);
  const double shift =
      (double)test_packets_between(from, to) * 1e-9 * stream.rate_n / stream.rate_d;
  while ((block = gst_harness_try_pull(h))) {
    good += test_packets_compare(&stream, block, sent, steps,
                                 (gint64)(shift + (shift < 0 ? -0.5 : 0.5)));
    gst_buffer_unref(block);
  }
  return good;
}

static void test_network(gconstpointer data)
{
  const TestPackets *what = data;
  const AstroStream stream = stream_of(what->caps);
  const guint64 steps = (guint64)what->steps * what->packets;
  const guint64 n = steps * astro_stream_step_bytes(&stream) / astro_stream_sample_bytes(&stream);
  g_autofree guint8 *samples = g_malloc(steps * astro_stream_step_bytes(&stream));
  const char *networks[] = { "", " loss=0.03 seed=5", " reorder=0.2 duplicate=0.1 seed=6",
                             " loss=0.05 reorder=0.3 duplicate=0.2 seed=7" };
  test_packets_fill(what, &stream, samples, n, 3);
  g_assert_true(g_file_set_contents(TEST_HEADER, TEST_HEADER_TEXT, -1, NULL));
  for (guint i = 0; i < G_N_ELEMENTS(networks); i++) {
    g_autofree char *line = g_strdup_printf("astropay %s%s ! astrodepay %s block=7 latency=40",
                                            what->pay, networks[i], what->depay);
    GstHarness *h = new_harness(line, what->caps);
    g_autoptr(GstElement) pay = named(h, "astropay"), depay = named(h, "astrodepay");
    g_autofree char *format = NULL;
    g_object_get(pay, "packet", &format, NULL);
    TestPacketsSent *sent = test_packets_watch(pay, format);
    push_all(h, &stream, samples, steps);
    const guint64 good = pull_all(h, samples, steps);
    const guint64 placed = number_of(depay, "packets");
    g_test_message("%s: %u of packets or heaps went, %" G_GUINT64_FORMAT " placed", networks[i],
                   sent->whole, placed);
    g_assert_cmpuint(placed, ==, sent->whole);
    g_assert_cmpuint(number_of(depay, "late") + number_of(depay, "alien"), ==, 0);
    g_assert_cmpuint(good * streams_of(depay) * what->packets, ==, placed * n);
    test_packets_sent_free(sent);
    gst_harness_teardown(h);
  }
  g_remove(TEST_HEADER);
}

static void add_tests(void)
{
  for (guint i = 0; i < G_N_ELEMENTS(test_packets); i++) {
    g_autofree char *path = g_strdup_printf("/packets/network/%s", test_packets[i].name);
    g_test_add_data_func(path, &test_packets[i], test_network);
  }
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
