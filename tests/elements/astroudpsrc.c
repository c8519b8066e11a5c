/* Packets over loopback: every format, several sockets, streams that stop and return, and a source
 * that is stopped at any time. */
#include "tests/elements/packets.h"

#include <gio/gio.h>

typedef struct {
  GstElement *pipeline, *src, *sink;
  GSocket *socket;
  GSocketAddress *to[2];
  guint n_to;
  guint64 sent; /* bytes */
  AstroStream stream;
  AstroObservation *from; /* observation of the packets sent */
} Link;

static guint16 free_port(void)
{
  g_autoptr(GSocket) socket =
      g_socket_new(G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, NULL);
  g_autoptr(GInetAddress) any = g_inet_address_new_loopback(G_SOCKET_FAMILY_IPV4);
  g_autoptr(GSocketAddress) address = g_inet_socket_address_new(any, 0);
  g_autoptr(GError) error = NULL;
  g_socket_bind(socket, address, FALSE, &error);
  g_assert_no_error(error);
  g_autoptr(GSocketAddress) bound = g_socket_get_local_address(socket, NULL);
  return g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(bound));
}

static Link *link_new(const char *depay, guint n_ports)
{
  g_autoptr(GInetAddress) loopback = g_inet_address_new_loopback(G_SOCKET_FAMILY_IPV4);
  g_autoptr(GString) ports = g_string_new(NULL);
  g_autoptr(GError) error = NULL;
  Link *link = g_new0(Link, 1);
  for (; link->n_to < n_ports; link->n_to++) {
    const guint16 port = free_port();
    g_string_append_printf(ports, "%s%u", link->n_to ? "," : "", port);
    link->to[link->n_to] = g_inet_socket_address_new(loopback, port);
  }
  g_autofree char *line = g_strdup_printf(
      "astroudpsrc name=src address=127.0.0.1 port=%s %s ! appsink name=sink sync=false",
      ports->str, depay);
  link->pipeline = gst_parse_launch(line, &error);
  g_assert_no_error(error);
  link->src = gst_bin_get_by_name(GST_BIN(link->pipeline), "src");
  link->sink = gst_bin_get_by_name(GST_BIN(link->pipeline), "sink");
  link->socket =
      g_socket_new(G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, NULL);
  link->from = astro_observation_new(0);
  astro_observation_set_start(link->from, TEST_START, NULL);
  gst_element_set_state(link->pipeline, GST_STATE_PLAYING);
  return link;
}

static void link_free(Link *link)
{
  gst_element_set_state(link->pipeline, GST_STATE_NULL);
  gst_object_unref(link->src);
  gst_object_unref(link->sink);
  gst_object_unref(link->pipeline);
  g_object_unref(link->socket);
  for (guint i = 0; i < link->n_to; i++)
    g_object_unref(link->to[i]);
  astro_observation_unref(link->from);
  g_free(link);
}

/* Waits until everything sent was taken, so that the kernel drops nothing. */
static void wait_for_all(Link *link)
{
  const gint64 until = g_get_monotonic_time() + TEST_PATIENCE / 1000;
  while (test_packets_count(link->src, "bytes") < link->sent) {
    g_assert_cmpint(g_get_monotonic_time(), <, until);
    g_usleep(200);
  }
}

static void send_one(Link *link, const guint8 *bytes, gsize size, guint to)
{
  g_autoptr(GError) error = NULL;
  g_socket_send_to(link->socket, link->to[to % link->n_to], (const char *)bytes, size, NULL,
                   &error);
  g_assert_no_error(error);
  link->sent += size;
}

static void send_all(Link *link, GstHarness *pay)
{
  GstBuffer *buffer;
  for (guint i = 0; (buffer = gst_harness_try_pull(pay)); i++) {
    GstMapInfo map;
    g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
    send_one(link, map.data, map.size, i);
    gst_buffer_unmap(buffer, &map);
    gst_buffer_unref(buffer);
    if (i % 16 == 15)
      wait_for_all(link);
  }
  wait_for_all(link);
}

static AstroObservation *told(Link *link)
{
  g_autoptr(GstPad) pad = gst_element_get_static_pad(link->sink, "sink");
  for (guint i = 0;; i++) {
    g_autoptr(GstEvent) event =
        gst_pad_get_sticky_event(pad, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, i);
    g_assert_nonnull(event);
    if (astro_event_is_observation(event))
      return astro_observation_from_event(event, NULL);
  }
}

/* Ends the stream, and takes all blocks until its end. Returns how many samples count. */
static guint64 take_all(Link *link, const TestPacketsData *data)
{
  GstSample *sample;
  guint64 good = 0;
  gst_element_send_event(link->pipeline, gst_event_new_eos());
  for (;;) {
    g_signal_emit_by_name(link->sink, "try-pull-sample", TEST_PATIENCE, &sample);
    if (!sample)
      break;
    g_autoptr(AstroObservation) to = told(link);
    g_assert_true(astro_stream_from_caps(&link->stream, gst_sample_get_caps(sample), NULL));
    good += test_packets_compare(&link->stream, gst_sample_get_buffer(sample), data->samples,
                                 data->steps, test_packets_shift(&link->stream, link->from, to));
    gst_sample_unref(sample);
  }
  gboolean is_end;
  g_object_get(link->sink, "eos", &is_end, NULL);
  g_assert_true(is_end);
  return good;
}

static void test_format(gconstpointer row)
{
  TestPacketsData data = test_packets_data(row, 4);
  const TestPackets *what = data.what;
  g_autofree char *line =
      g_strdup_printf("astropay %s loss=0.05 reorder=0.2 duplicate=0.1 seed=9", what->pay);
  g_autofree char *settings = g_strdup_printf("%s block=7 latency=40", what->depay);
  g_autofree char *format = NULL;
  GstHarness *pay = test_packets_harness(line, what->caps);
  g_autoptr(GstElement) element = test_packets_named(pay, "astropay");
  g_object_get(element, "packet", &format, NULL);
  TestPacketsSent *sent = test_packets_watch(element, format);
  Link *link = link_new(settings, 2);
  test_packets_push(pay, &data.stream, data.samples, data.steps);
  gst_harness_push_event(pay, gst_event_new_eos());
  send_all(link, pay);
  const guint streams = test_packets_streams(link->src);
  const guint64 good = take_all(link, &data);
  g_assert_cmpuint(test_packets_count(link->src, "kernel-drops"), ==, 0);
  g_assert_cmpuint(test_packets_count(link->src, "receive-buffer"), >, 0);
  g_assert_cmpuint(test_packets_count(link->src, "packets"), ==, sent->whole);
  g_assert_cmpuint(good * streams * what->packets, ==, sent->whole * data.n);
  link_free(link);
  test_packets_sent_free(sent);
  gst_harness_teardown(pay);
  test_packets_data_clear(&data);
}

/* 64 streams of packets, one of which stops and returns: nothing waits for it, its samples do not
 * count in between, and all others arrive. */
static void test_silent_stream(void)
{
  static const TestPackets many = { "many",
                                    VOLTAGES "format=CI8,stations=32,pols=2,rate=1000000/1",
                                    "packet=vdif packet-steps=100",
                                    "packet=vdif stations=0-31 pols=2 rate=1000000",
                                    8,
                                    100,
                                    400 };
  TestPacketsData data = test_packets_data(&many, 8);
  GstHarness *pay = test_packets_harness("astropay packet=vdif packet-steps=100", many.caps);
  Link *link = link_new("packet=vdif stations=0-31 pols=2 rate=1000000 block=2 latency=2", 1);
  GstBuffer *buffer;
  guint sent = 0, silent = 0;
  test_packets_push(pay, &data.stream, data.samples, data.steps);
  for (guint i = 0; (buffer = gst_harness_try_pull(pay)); i++) {
    GstMapInfo map;
    const gboolean is_silent = i % 64 == 21 && i / 64 >= 100 && i / 64 < 250;
    g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
    if (!is_silent)
      send_one(link, map.data, map.size, 0);
    gst_buffer_unmap(buffer, &map);
    gst_buffer_unref(buffer);
    sent += !is_silent;
    silent += is_silent;
    if (i % 64 == 63)
      wait_for_all(link);
  }
  g_assert_cmpuint(sent, ==, 64 * 400 - 150);
  const guint64 good = take_all(link, &data);
  g_assert_cmpuint(test_packets_count(link->src, "packets"), ==, sent);
  g_assert_cmpuint(test_packets_count(link->src, "lost"), ==, silent);
  g_assert_cmpuint(good, ==, (guint64)sent * 100);
  link_free(link);
  gst_harness_teardown(pay);
  test_packets_data_clear(&data);
}

/* ---- the time of packets that do not tell it ---- */

#define UNTIMED "packet=@" TEST_WRAP " stations=0-1 rate=10000 block=1 latency=0"

static gint64 utc_ns(void)
{
  return g_get_real_time() * 1000;
}

static gint64 since_1970(const AstroObservation *observation)
{
  g_autoptr(AstroObservation) epoch = astro_observation_new(0);
  astro_observation_set_start(epoch, "1970-01-01T00:00:00", NULL);
  return test_packets_between(epoch, observation);
}

static GstMessage *find_message(GstElement *pipeline, GstMessageType type, const char *name)
{
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  for (GstMessage *message; (message = gst_bus_pop_filtered(bus, type));) {
    if (!name || gst_message_has_name(message, name))
      return message;
    gst_message_unref(message);
  }
  return NULL;
}

/* Sends the packets of both stations, and has their observation. before, after: UTC when the first
 * ones were sent. */
static AstroObservation *begin_untimed(Link *link, const TestPacketsData *data, gint64 *before,
                                       gint64 *after)
{
  GstSample *sample;
  GstHarness *pay = test_packets_harness("astropay packet=@" TEST_WRAP, data->what->caps);
  test_packets_push(pay, &data->stream, data->samples, 40);
  for (guint i = 0; i < 8; i++) {
    GstBuffer *buffer = gst_harness_pull(pay);
    GstMapInfo map;
    g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
    if (i == 0)
      *before = utc_ns();
    send_one(link, map.data, map.size, 0);
    if (i == 0)
      *after = utc_ns();
    gst_buffer_unmap(buffer, &map);
    gst_buffer_unref(buffer);
  }
  wait_for_all(link);
  g_signal_emit_by_name(link->sink, "try-pull-sample", TEST_PATIENCE, &sample);
  g_assert_nonnull(sample);
  gst_sample_unref(sample);
  gst_harness_teardown(pay);
  return told(link);
}

static void use_realtime(Link *link)
{
  g_autoptr(GstClock) clock = gst_object_ref_sink(
      g_object_new(GST_TYPE_SYSTEM_CLOCK, "clock-type", GST_CLOCK_TYPE_REALTIME, NULL));
  gst_element_set_state(link->pipeline, GST_STATE_READY);
  gst_pipeline_use_clock(GST_PIPELINE(link->pipeline), clock);
  gst_element_set_state(link->pipeline, GST_STATE_PLAYING);
}

/* By a clock that knows UTC the first block, which is one packet of a millisecond, ends when it
 * arrives, even if it waited in the kernel. A message says so, and how good the clock is. */
static void test_start_by_arrival(void)
{
  TestPacketsData data = test_packets_data(test_packets_find("wrap"), 3);
  Link *link = link_new(UNTIMED, 1);
  gint64 before, after;
  gboolean is_synchronised;
  double clock_error;
  use_realtime(link);
  g_autoptr(AstroObservation) observation = begin_untimed(link, &data, &before, &after);
  g_assert_true(observation->has_start);
  const gint64 end = since_1970(observation) + GST_MSECOND;
  g_assert_cmpint(end, >=, before - 1000);
  g_assert_cmpint(end, <=, after + GST_SECOND);
  g_autoptr(GstMessage) message = find_message(link->pipeline, GST_MESSAGE_ELEMENT, "astro-start");
  g_assert_nonnull(message);
  const GstStructure *says = gst_message_get_structure(message);
  g_autofree char *start = astro_observation_get_start(observation);
  g_assert_cmpstr(gst_structure_get_string(says, "start"), ==, start);
  g_assert_cmpstr(gst_structure_get_string(says, "clock"), ==, "realtime");
  g_assert_true(gst_structure_get_boolean(says, "synchronised", &is_synchronised));
  g_assert_true(gst_structure_get_double(says, "clock-error", &clock_error));
  link_free(link);
  test_packets_data_clear(&data);
}

/* The usual clock does not know UTC: nothing is guessed. */
static void test_start_unknown(void)
{
  TestPacketsData data = test_packets_data(test_packets_find("wrap"), 3);
  Link *link = link_new(UNTIMED, 1);
  gint64 before, after;
  g_autoptr(AstroObservation) observation = begin_untimed(link, &data, &before, &after);
  g_assert_false(observation->has_start);
  g_assert_null(find_message(link->pipeline, GST_MESSAGE_ELEMENT, "astro-start"));
  link_free(link);
  test_packets_data_clear(&data);
}

/* The time from the user or from headers counts, with a warning if the clock says another. */
static void test_clocks_disagree(void)
{
  TestPacketsData data = test_packets_data(test_packets_find("wrap"), 3);
  Link *link = link_new(UNTIMED SYNC, 1);
  gint64 before, after;
  g_autoptr(GError) error = NULL;
  use_realtime(link);
  g_autoptr(AstroObservation) observation = begin_untimed(link, &data, &before, &after);
  g_assert_cmpint(test_packets_between(link->from, observation), ==, 0);
  g_autoptr(GstMessage) message = find_message(link->pipeline, GST_MESSAGE_WARNING, NULL);
  g_assert_nonnull(message);
  gst_message_parse_warning(message, &error, NULL);
  g_assert_nonnull(strstr(error->message, "by the packets' time they arrived "));
  link_free(link);
  test_packets_data_clear(&data);
}

static gint64 stop_time(GstElement *pipeline)
{
  const gint64 before = g_get_monotonic_time();
  gst_element_set_state(pipeline, GST_STATE_NULL);
  return g_get_monotonic_time() - before;
}

/* Whether it waits for packets or for downstream, it stops at once. */
static void test_stop(void)
{
  for (guint i = 0; i < 3; i++) {
    Link *link = link_new("packet=vdif", 2);
    g_usleep(i * 20000);
    if (i == 2)
      gst_element_send_event(link->src, gst_event_new_flush_start());
    g_assert_cmpint(stop_time(link->pipeline), <, G_USEC_PER_SEC / 2);
    link_free(link);
  }
}

/* If no packet came, EOS ends the stream without an error. */
static void test_no_packet(void)
{
  Link *link = link_new("packet=vdif", 1);
  GstSample *sample;
  gst_element_send_event(link->pipeline, gst_event_new_eos());
  g_signal_emit_by_name(link->sink, "try-pull-sample", TEST_PATIENCE, &sample);
  g_assert_null(sample);
  g_autoptr(GstBus) bus = gst_element_get_bus(link->pipeline);
  g_assert_null(gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR));
  link_free(link);
}

/* A stream that ends after a number of blocks has told of their packets before its end. */
static void test_tells_before_end(void)
{
  static const TestPackets row = { "few",
                                   VOLTAGES "format=CI8,stations=1,pols=1,rate=1000000/1",
                                   "packet=vdif packet-steps=100",
                                   "packet=vdif stations=0 pols=1 rate=1000000",
                                   8,
                                   100,
                                   200 };
  TestPacketsData data = test_packets_data(&row, 8);
  GstHarness *pay = test_packets_harness("astropay packet=vdif packet-steps=100", row.caps);
  Link *link =
      link_new("packet=vdif stations=0 pols=1 rate=1000000 block=2 latency=2 num-buffers=2", 1);
  g_autoptr(GstBus) bus = gst_element_get_bus(link->pipeline);
  const GstMessageType wanted = GST_MESSAGE_EOS | GST_MESSAGE_ELEMENT;
  guint64 packets = 0;
  gboolean is_end = FALSE;
  test_packets_push(pay, &data.stream, data.samples, data.steps);
  GstBuffer *buffer;
  while ((buffer = gst_harness_try_pull(pay))) {
    GstMapInfo map;
    g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
    send_one(link, map.data, map.size, 0);
    gst_buffer_unmap(buffer, &map);
    gst_buffer_unref(buffer);
  }
  g_object_set(link->sink, "wait-on-eos", FALSE, NULL);
  while (!is_end) {
    g_autoptr(GstMessage) message = gst_bus_timed_pop_filtered(bus, TEST_PATIENCE, wanted);
    g_assert_nonnull(message);
    is_end = GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
    if (gst_message_has_name(message, "astro-packets"))
      gst_structure_get_uint64(gst_message_get_structure(message), "packets", &packets);
  }
  g_assert_cmpuint(packets, >=, 40);
  link_free(link);
  gst_harness_teardown(pay);
  test_packets_data_clear(&data);
}

static void test_refused_settings(void)
{
  static const struct {
    const char *settings, *says;
  } bad[] = {
    { "packet=vdif port=0", "port=0: \"0\" is no port" },
    { "packet=vdif port=7-5", "is no port" },
    { "packet=vdif port=70000", "is no port" },
    { "packet=vdif address=nowhere", "\"nowhere\" is no address" },
    { "packet=vdif address=192.0.2.1", "cannot listen at 192.0.2.1, port 7148" },
    { "packet=vdif address=239.1.0.0 multicast-iface=nothing0", "interface nothing0" },
    { "", "set packet" },
    { "packet=vdif layout=junk", "layout=junk: " },
    { "packet=vdif layout=time:time", "layout=time:time: " },
    { "packet=vdif threads=junk", "threads=junk: \"junk\" is no identifier" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autofree char *line = g_strdup_printf("astroudpsrc name=e %s ! fakesink", bad[i].settings);
    test_refused_by(line, "e", bad[i].says);
  }
}

static void add_tests(void)
{
  for (guint i = 0; i < G_N_ELEMENTS(test_packets); i++) {
    g_autofree char *path = g_strdup_printf("/udpsrc/format/%s", test_packets[i].name);
    g_test_add_data_func(path, &test_packets[i], test_format);
  }
  g_test_add_func("/udpsrc/silent-stream", test_silent_stream);
  g_test_add_func("/udpsrc/start/by-arrival", test_start_by_arrival);
  g_test_add_func("/udpsrc/start/unknown", test_start_unknown);
  g_test_add_func("/udpsrc/start/disagree", test_clocks_disagree);
  g_test_add_func("/udpsrc/stop", test_stop);
  g_test_add_func("/udpsrc/no-packet", test_no_packet);
  g_test_add_func("/udpsrc/tells-before-end", test_tells_before_end);
  g_test_add_func("/udpsrc/refused", test_refused_settings);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
