/* Packets of every format over a bad network: what is received is what was sent, each sample in its
 * place and at its time, less what was lost, by count. */
#include "tests/elements/packets.h"

#include <glib/gstdio.h>

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
  const gint64 shift = test_packets_shift(&stream, from, to);
  while ((block = gst_harness_try_pull(h))) {
    good += test_packets_compare(&stream, block, sent, steps, shift);
    gst_buffer_unref(block);
  }
  return good;
}

static void test_network(gconstpointer data)
{
  const TestPackets *what = data;
  const AstroStream stream = test_packets_stream(what->caps);
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
    GstHarness *h = test_packets_harness(line, what->caps);
    g_autoptr(GstElement) pay = test_packets_named(h, "astropay"),
                          depay = test_packets_named(h, "astrodepay");
    g_autofree char *format = NULL;
    g_object_get(pay, "packet", &format, NULL);
    TestPacketsSent *sent = test_packets_watch(pay, format);
    test_packets_push(h, &stream, samples, steps);
    gst_harness_push_event(h, gst_event_new_eos());
    const guint64 good = pull_all(h, samples, steps);
    const guint64 placed = test_packets_count(depay, "packets");
    g_test_message("%s: %u of packets or heaps went, %" G_GUINT64_FORMAT " placed", networks[i],
                   sent->whole, placed);
    g_assert_cmpuint(placed, ==, sent->whole);
    g_assert_cmpuint(test_packets_count(depay, "late") + test_packets_count(depay, "alien"), ==, 0);
    g_assert_cmpuint(good * test_packets_streams(depay) * what->packets, ==, placed * n);
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
