/* astrohttpsink: pictures that a viewer gets and decodes, and streams that stop while it waits. */
#include "tests/elements/running.h"
#include "tests/viewer.h"

static gboolean have(const char *element)
{
  g_autoptr(GstElementFactory) factory = gst_element_factory_find(element);
  if (!factory)
    g_test_skip(element);
  return factory != NULL;
}

static guint port_of(GstElement *pipeline)
{
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  guint port = 0;
  g_object_get(sink, "bound-port", &port, NULL);
  g_assert_cmpuint(port, >, 0);
  return port;
}

static GstElement *begin(const char *line)
{
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch(line, &error);
  g_assert_no_error(error);
  g_assert_cmpint(gst_element_set_state(pipeline, GST_STATE_PLAYING), !=, GST_STATE_CHANGE_FAILURE);
  return pipeline;
}

/* A live waterfall: pictures follow each other and are not the same. */
static void check_live(const char *what)
{
  if (!have("jpegenc") || !have("jpegdec"))
    return;
  g_autofree char *line =
      g_strdup_printf("%s ! astrorender rows=16 ! video/x-raw,width=320,height=240 ! jpegenc ! "
                      "astrohttpsink name=sink port=0 wait=true",
                      what);
  GstElement *pipeline = begin(line);
  Viewer viewer;
  g_autoptr(GstBuffer) before = NULL;
  viewer_get(&viewer, port_of(pipeline), "/stream");
  for (guint i = 0; i < 4; i++) {
    gint width = 0, height = 0;
    g_autoptr(GBytes) picture = viewer_part(&viewer);
    g_assert_nonnull(picture);
    GstBuffer *found = viewer_decode(picture, &width, &height);
    g_assert_cmpint(width, ==, 320);
    g_assert_cmpint(height, ==, 240);
    if (before) {
      GstMapInfo map;
      g_assert_true(gst_buffer_map(found, &map, GST_MAP_READ));
      g_assert_cmpint(gst_buffer_memcmp(before, 0, map.data, map.size), !=, 0);
      gst_buffer_unmap(found, &map);
    }
    gst_clear_buffer(&before);
    before = found;
  }
  viewer_close(&viewer);
  test_stop(pipeline);
}

static void live(void)
{
  check_live("astroskysrc stations=2 duration=3600 ! astrochannelizer channels=16");
}

/* Detected power, as of a spectrometer. */
static void live_power(void)
{
  check_live("astroskysrc stations=2 duration=3600 ! astrochannelizer channels=16 ! "
             "astropower integration=64 products=XX:YY");
}

/* The pipeline stops even if no viewer comes. */
static void stop_while_waiting(void)
{
  for (guint i = 0; i < 3; i++) {
    GstElement *pipeline =
        begin("fakesrc num-buffers=3 sizetype=fixed sizemax=100 filltype=zero ! image/jpeg ! "
              "astrohttpsink name=sink port=0 wait=true");
    g_usleep(i * 20000);
    test_stop(pipeline);
  }
}

/* The page is there after the end of the stream, until the pipeline stops. */
static void after_the_end(void)
{
  GstElement *pipeline =
      begin("fakesrc num-buffers=3 sizetype=fixed sizemax=100 filltype=zero ! image/jpeg ! "
            "astrohttpsink name=sink port=0");
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  g_autoptr(GstMessage) message =
      gst_bus_timed_pop_filtered(bus, TEST_PATIENCE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  Viewer viewer;
  g_assert_nonnull(message);
  g_assert_cmpint(GST_MESSAGE_TYPE(message), ==, GST_MESSAGE_EOS);
  viewer_get(&viewer, port_of(pipeline), "/picture");
  g_assert_cmpuint(viewer.status, ==, 200);
  g_assert_cmpstr(viewer_field(&viewer, "content-type"), ==, "image/jpeg");
  g_autoptr(GBytes) picture = viewer_body(&viewer);
  g_assert_cmpuint(g_bytes_get_size(picture), ==, 100);
  viewer_close(&viewer);
  test_stop(pipeline);
}

static void told(void)
{
  GstElement *pipeline =
      begin("fakesrc num-buffers=1 ! image/png ! astrohttpsink name=sink port=0");
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  g_autoptr(GstMessage) message =
      gst_bus_timed_pop_filtered(bus, TEST_PATIENCE, GST_MESSAGE_ELEMENT);
  g_autofree char *expected = g_strdup_printf("http://127.0.0.1:%u/", port_of(pipeline));
  g_assert_nonnull(message);
  g_assert_cmpstr(gst_structure_get_string(gst_message_get_structure(message), "location"), ==,
                  expected);
  test_stop(pipeline);
}

static void bad(void)
{
  g_autofree char *found =
      test_launch("fakesrc num-buffers=1 ! image/jpeg ! astrohttpsink address=nowhere");
  g_assert_nonnull(found);
  g_assert_nonnull(strstr(found, "nowhere is not an address"));
}

/* An empty buffer is not a picture. */
static void empty(void)
{
  g_autofree char *found = test_launch("fakesrc num-buffers=2 ! image/png ! astrohttpsink port=0");
  g_assert_null(found);
}

static void add_tests(void)
{
  g_test_add_func("/astrohttpsink/live", live);
  g_test_add_func("/astrohttpsink/live-power", live_power);
  g_test_add_func("/astrohttpsink/stop-while-waiting", stop_while_waiting);
  g_test_add_func("/astrohttpsink/after-the-end", after_the_end);
  g_test_add_func("/astrohttpsink/told", told);
  g_test_add_func("/astrohttpsink/bad", bad);
  g_test_add_func("/astrohttpsink/empty", empty);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
