/* Streams that are stopped or flushed while a stage does work that takes minutes: nothing waits for
 * it, nothing is posted about it, and what comes next starts afresh. */
#include "tests/elements/running.h"

/* The quickest of some tries counts, since the machine may be busy. */
enum { TRIES = 3, MOST_MS = 1000 };

#define VISIBILITIES "astrovissrc stations=20 duration=600 integration=60 sky=0.001,0.002,3 "
#define SEEN "identity name=seen signal-handoffs=true "

/* An idle GPU ends the direct sum within the time that is waited here. */
static const struct {
  const char *name, *line;
  guint after_ms; /* the first block reached the element that works long */
} cases[] = {
  { "clean",
    VISIBILITIES "! astrogridder size=1024 cell=90 ! astrofft ! astroimage psf=true ! " SEEN
                 "! astroclean iterations=1000000000 gain=1e-7 ! fakesink",
    300 },
  { "wprojection-table",
    VISIBILITIES "! " SEEN "! astrogridder algorithm=wprojection size=2048 cell=90 w-planes=1000 "
                 "oversampling=16 support=16 ! astrofft ! astroimage ! fakesink",
    300 },
  { "direct",
    VISIBILITIES "! " SEEN "! astrogridder algorithm=direct size=2048 cell=90 backend=cpu ! "
                 "astrofft ! astroimage ! fakesink",
    1000 },
  { "mock",
    "astrocatsrc points=10000 slope=-0.8 footprint=cap:10,10,0.02 cluster-radius=8 ! fakesink", 0 },
};

static void on_seen(GstElement *element, GstBuffer *buffer, gpointer seen)
{
  g_atomic_int_set((gint *)seen, TRUE);
}

static GstElement *begin(guint i)
{
  GError *error = NULL;
  gint seen = FALSE;
  GstElement *pipeline = gst_parse_launch(cases[i].line, &error);
  g_assert_no_error(error);
  GstElement *identity = gst_bin_get_by_name(GST_BIN(pipeline), "seen");
  if (identity)
    g_signal_connect(identity, "handoff", G_CALLBACK(on_seen), &seen);
  g_assert_cmpint(gst_element_set_state(pipeline, GST_STATE_PLAYING), !=, GST_STATE_CHANGE_FAILURE);
  while (identity && !g_atomic_int_get(&seen))
    g_usleep(1000);
  if (identity)
    g_signal_handlers_disconnect_by_data(identity, &seen);
  gst_clear_object(&identity);
  g_usleep(cases[i].after_ms * 1000 + 200000);
  return pipeline;
}

static void check_silent(GstElement *pipeline)
{
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  g_autoptr(GstMessage) message =
      gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING | GST_MESSAGE_EOS);
  g_assert_null(message);
}

/* Milliseconds from the call to its return. */
static gint64 stop(GstElement *pipeline)
{
  gst_pipeline_set_auto_flush_bus(GST_PIPELINE(pipeline), FALSE);
  const gint64 begin_us = g_get_monotonic_time();
  gst_element_set_state(pipeline, GST_STATE_NULL);
  return (g_get_monotonic_time() - begin_us) / 1000;
}

static void stopped(gconstpointer number)
{
  gint64 least = G_MAXINT64;
  for (guint i = 0; i < TRIES && least >= MOST_MS; i++) {
    GstElement *pipeline = begin(GPOINTER_TO_UINT(number));
    const gint64 took = stop(pipeline);
    g_test_message("%" G_GINT64_FORMAT " ms", took);
    least = MIN(least, took);
    check_silent(pipeline);
    test_stop(pipeline);
  }
  g_assert_cmpint(least, <, MOST_MS);
}

/* ---- a flush ---- */

typedef struct {
  GstHarness *h;
  GstBuffer *image;
} Push;

static gpointer push(gpointer data)
{
  Push *push = data;
  return GINT_TO_POINTER(gst_harness_push(push->h, gst_buffer_ref(push->image)));
}

/* The only message is that the point-spread function is no larger than the image. */
static void assert_quiet(GstBus *bus)
{
  GstMessage *message;
  while ((message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING))) {
    g_autoptr(GError) warning = NULL;
    g_assert_cmpint(GST_MESSAGE_TYPE(message), ==, GST_MESSAGE_WARNING);
    gst_message_parse_warning(message, &warning, NULL);
    g_assert_nonnull(strstr(warning->message, "point-spread function is no larger"));
    gst_message_unref(message);
  }
}

/* Called by another thread than the one that cleans. */
static void flushed(void)
{
  g_autoptr(GstBus) bus = gst_bus_new();
  GstHarness *source = gst_harness_new_parse(
      "astrovissrc stations=20 duration=60 integration=60 sky=0.001,0.002,3 ! "
      "astrogridder size=512 cell=20 ! astrofft ! astroimage psf=true");
  gst_harness_play(source);
  g_autoptr(GstBuffer) image = gst_harness_pull(source);
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(source->sinkpad);
  g_assert_nonnull(image);
  Push both = { gst_harness_new_parse("astroclean iterations=1000000000 gain=1e-7"), image };
  gst_element_set_bus(both.h->element, bus);
  gst_harness_set_src_caps(both.h, gst_caps_ref(caps));
  GThread *thread = g_thread_new("push", push, &both);
  g_usleep(300000);
  const gint64 begin_us = g_get_monotonic_time();
  gst_harness_push_event(both.h, gst_event_new_flush_start());
  const GstFlowReturn flow = GPOINTER_TO_INT(g_thread_join(thread));
  g_test_message("%" G_GINT64_FORMAT " ms", (g_get_monotonic_time() - begin_us) / 1000);
  g_assert_cmpint(g_get_monotonic_time() - begin_us, <, 5 * G_USEC_PER_SEC);
  g_assert_cmpint(flow, ==, GST_FLOW_FLUSHING);
  assert_quiet(bus);
  gst_harness_push_event(both.h, gst_event_new_flush_stop(TRUE));
  g_assert_null(gst_harness_try_pull(both.h));
  gst_element_set_bus(both.h->element, NULL);
  gst_harness_teardown(both.h);
  gst_harness_teardown(source);
}

static void add_tests(void)
{
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *path = g_strconcat("/interrupted/stopped/", cases[i].name, NULL);
    g_test_add_data_func(path, GUINT_TO_POINTER(i), stopped);
  }
  g_test_add_func("/interrupted/flushed", flushed);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
