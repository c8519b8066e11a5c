/* The base of elements, seen through astrotranspose: links, states, figures, errors. */
#include <stdio.h>
#include <string.h>

#include "core/memory/memory.h"
#include "core/stream/observation.h"
#include "core/stream/validity.h"
#include "tests/elements/astrostage.h"
#include "tests/elements/running.h"

static void test_observation_survives(void)
{
  GstHarness *h = new_harness();
  g_autoptr(AstroObservation) observation = astro_observation_new(3);
  observation->positions[4] = 17;
  g_assert_true(gst_harness_push_event(h, astro_observation_to_event(observation)));
  gst_harness_push(h, stamped(0, 1));
  GstEvent *event = gst_pad_get_sticky_event(h->sinkpad, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, 0);
  g_assert_nonnull(event);
  g_autoptr(AstroObservation) got = astro_observation_from_event(event, NULL);
  g_assert_cmpfloat(got->positions[4], ==, 17);
  gst_event_unref(event);
  gst_buffer_unref(gst_harness_pull(h));
  gst_harness_teardown(h);
}

/* Output that nobody is linked to take is not sent, and an error says so. */
static void test_unlinked(gconstpointer line)
{
  test_refused(line, "not-linked");
}

static void test_unlinked_histogram(void)
{
  GstHarness *h = gst_harness_new_with_padnames("astrotpacf", "sink", NULL);
  gst_harness_set_src_caps_str(
      h, "application/x-astro-histogram,format=U64LE,layout=pairs:bin,pairs=dd:dr:rr,bins=3");
  g_assert_cmpint(gst_harness_push(h, test_buffer(72, 1)), ==, GST_FLOW_NOT_LINKED);
  gst_harness_teardown(h);
}

/* An element that is linked later gets the format that was asked for. */
static void test_linked_later(void)
{
  GstElement *element = gst_element_factory_make("astrochannelizer", NULL);
  gst_util_set_object_arg(G_OBJECT(element), "backend", "cpu");
  g_object_set(element, "channels", 2, "taps", 1, NULL);
  GstHarness *h = gst_harness_new_with_element(element, "sink", NULL);
  gst_harness_set_src_caps_str(h, IN_CAPS);
  g_assert_cmpint(gst_harness_push(h, stamped(0, 4)), ==, GST_FLOW_NOT_LINKED);
  g_autoptr(GstPad) src = gst_element_get_static_pad(element, "src");
  gst_harness_add_element_src_pad(h, src);
  g_assert_cmpint(gst_harness_push(h, stamped(4, 4)), ==, GST_FLOW_OK);
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  g_assert_true(
      gst_structure_has_name(gst_caps_get_structure(caps, 0), "application/x-astro-spectra"));
  gst_buffer_unref(gst_harness_pull(h));
  gst_harness_teardown(h);
  gst_object_unref(element);
}

static void test_states(void)
{
  GstHarness *h = new_harness();
  for (guint i = 0; i < 20; i++) {
    gst_harness_push(h, stamped(i, 1));
    gst_buffer_unref(gst_harness_pull(h));
    gst_element_set_state(h->element, GST_STATE_NULL);
    gst_element_set_state(h->element, GST_STATE_PLAYING);
    gst_harness_set_caps_str(h, IN_CAPS, OUT_CAPS);
  }
  gst_harness_teardown(h);
}

static void keep_backend(GObject *stage, GParamSpec *spec, gpointer text)
{
  g_free(*(char **)text);
  g_object_get(stage, "active-backend", text, NULL);
}

/* active-backend changes when the backend is known, and when it is over. */
static void test_notify(void)
{
  GstHarness *h = test_harness("astrotranspose");
  g_autofree char *told = NULL;
  g_signal_connect(h->element, "notify::active-backend", G_CALLBACK(keep_backend), &told);
  gst_harness_set_caps_str(h, IN_CAPS, OUT_CAPS);
  g_assert_nonnull(told);
  g_assert_true(g_str_has_prefix(told, "cpu/"));
  gst_element_set_state(h->element, GST_STATE_NULL);
  g_assert_cmpstr(told, ==, "none");
  gst_harness_teardown(h);
}

static void test_stats(void)
{
  GstHarness *h = test_harness("astrotranspose");
  GstStructure *stats;
  guint64 buffers, bytes, busy;
  g_autofree char *backend = NULL;

  g_object_get(h->element, "active-backend", &backend, NULL);
  g_assert_cmpstr(backend, ==, "none");
  gst_harness_set_caps_str(h, IN_CAPS, OUT_CAPS);
  for (guint i = 0; i < 3; i++) {
    gst_harness_push(h, stamped(i * 7, 7));
    gst_buffer_unref(gst_harness_pull(h));
  }
  g_object_get(h->element, "stats", &stats, NULL);
  g_assert_true(gst_structure_get_uint64(stats, "buffers-out", &buffers));
  g_assert_true(gst_structure_get_uint64(stats, "bytes-in", &bytes));
  g_assert_true(gst_structure_get_uint64(stats, "busy-ns", &busy));
  g_assert_cmpuint(buffers, ==, 3);
  g_assert_cmpuint(bytes, ==, 3 * 7 * STEP);
  g_assert_cmpuint(busy, >, 0);
  g_assert_true(g_str_has_prefix(gst_structure_get_string(stats, "backend"), "c"));
  gst_structure_free(stats);
  gst_harness_teardown(h);
}

static gsize resident_pages(void)
{
  g_autofree char *text = NULL;
  gsize size = 0, resident = 0;
  if (g_file_get_contents("/proc/self/statm", &text, NULL, NULL))
    sscanf(text, "%zu %zu", &size, &resident);
  return resident;
}

/* A hundred thousand buffers take no more than a handful of blocks, and the process does not
 * grow. */
static void test_no_growth(void)
{
  GstHarness *h = new_harness();
  AstroMemoryCounters counters;
  G_GNUC_UNUSED gsize before = 0;

  for (guint i = 0; i < 100000; i++) {
    if (test_passes_over(i))
      continue;
    if (i == 20000)
      before = resident_pages();
    gst_harness_push(h, gst_buffer_new_allocate(NULL, 64 * STEP, NULL));
    gst_buffer_unref(gst_harness_pull(h));
  }
  astro_memory_counters(&counters);
  g_assert_cmpuint(counters.blocks, <=, 4);
#ifndef __SANITIZE_ADDRESS__ /* which keeps freed memory for a while */
  g_assert_cmpuint(resident_pages(), <, before + 2048);
#endif
  gst_harness_teardown(h);
}

/* Each line fails, and its error holds the word. */
static const struct {
  const char *line, *word;
} bad[] = {
  { "fakesrc sizetype=2 sizemax=13 num-buffers=1 ! " IN_CAPS
    " ! astrotranspose name=t layout=pol:station:time ! fakesink",
    "13 bytes" },
  { "fakesrc num-buffers=1 ! "
    "application/x-astro-voltages,format=CI8,layout=time:station,stations=0 "
    "! astrotranspose name=t ! fakesink",
    "stations" },
  { "fakesrc num-buffers=1 ! application/x-astro-voltages,format=CI8,layout=time:moon,stations=1 "
    "! astrotranspose name=t ! fakesink",
    "moon" },
  { "fakesrc num-buffers=1 ! " IN_CAPS
    " ! astrotranspose name=t ! application/x-astro-voltages,layout=time:station ! fakesink",
    "astro" },
  { "fakesrc num-buffers=1 ! " IN_CAPS
    " ! astrotranspose name=t layout=time:station:sun ! fakesink",
    "there is no axis \"sun\"" },
  { "fakesrc num-buffers=1 ! " IN_CAPS " ! astrotranspose name=t layout=time:station ! fakesink",
    "cannot be put in the order time:station" },
};

static void test_bad(gconstpointer data)
{
  gsize i = GPOINTER_TO_SIZE(data);
  test_refused(bad[i].line, bad[i].word);
}

static GstPadProbeReturn count_stations(GstPad *pad, GstPadProbeInfo *info, gpointer counted)
{
  astro_buffer_add_validity(GST_PAD_PROBE_INFO_BUFFER(info), counted, 1);
  return GST_PAD_PROBE_OK;
}

/* Counts that do not fit the stream are refused by every stage. */
static void test_bad_validity(void)
{
  static const char *const stages[] = { "astrodelay", "astrochannelizer channels=4",
                                        "astroconvert ! application/x-astro-voltages,format=CF64LE",
                                        "astrotranspose layout=pol:time:station",
                                        "astrofft length=4" };
  static AstroLayout counted = { 1, { ASTRO_AXIS_STATION }, { 5 } };
  for (guint i = 0; i < G_N_ELEMENTS(stages); i++) {
    g_autofree char *line =
        g_strdup_printf("astroskysrc name=s stations=4 num-buffers=2 pattern=noise ! astroconvert "
                        "name=c ! application/x-astro-voltages,format=CF32LE ! %s ! fakesink",
                        stages[i]);
    GstElement *pipeline = gst_parse_launch(line, NULL);
    g_autoptr(GstElement) before = gst_bin_get_by_name(GST_BIN(pipeline), "c");
    g_autoptr(GstPad) pad = gst_element_get_static_pad(before, "src");
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, count_stations, &counted, NULL);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    g_autofree char *error = test_wait(pipeline);
    test_says(error, "counts of a buffer are over station=5");
    test_stop(pipeline);
  }
}

static void test_no_cuda(void)
{
  g_autofree char *found =
      test_launch("fakesrc num-buffers=1 ! " IN_CAPS
                  " ! astrotranspose name=t device=63 backend=cuda ! fakesink");
  g_assert_nonnull(found);
  g_assert_true(g_str_has_prefix(found, "t: backend=cuda: "));
}

static gpointer push_many(gpointer h)
{
  for (guint i = 0; i < 100000; i++) {
    gst_harness_push(h, gst_buffer_new_memdup("12 bytes ...", 12));
    gst_buffer_unref(gst_harness_pull(h));
  }
  return NULL;
}

/* Statistics that are read while a stage works belong to one moment. */
static void test_stats_meanwhile(void)
{
  GstHarness *h = test_harness("astroconvert");
  guint64 buffers = 0, bytes = 0;
  gst_harness_set_caps_str(h,
                           "application/x-astro-voltages,format=CI8,layout=time:station,stations=3",
                           "application/x-astro-voltages,format=CI8");
  GThread *thread = g_thread_new("pushes", push_many, h);
  while (buffers < 100000) {
    g_autoptr(GstStructure) stats = NULL;
    g_object_get(h->element, "stats", &stats, NULL);
    gst_structure_get(stats, "buffers-in", G_TYPE_UINT64, &buffers, "bytes-in", G_TYPE_UINT64,
                      &bytes, NULL);
    g_assert_cmpuint(bytes, ==, 12 * buffers);
  }
  g_thread_join(thread);
  gst_harness_teardown(h);
}

/* An error appears once, even if a source's data reaches the element through others and GStreamer
 * gives it the same caps again and again. A second run posts it anew. */
static void test_said_once(void)
{
  static const char *const elements[][2] = {
    { "voltages,format=CI8", "astrodelay ! fakesink" },
    { "voltages,format=CI8", "astroobserve ! fakesink" },
    { "image,format=F32LE", "astromeasure ! fakesink" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(elements); i++) {
    g_autofree char *line =
        g_strdup_printf("filesrc location=/proc/self/exe ! application/x-astro-%s ! "
                        "identity ! %s",
                        elements[i][0], elements[i][1]);
    GstElement *pipeline = gst_parse_launch(line, NULL);
    g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
    for (guint run = 0; run < 2; run++) {
      GstMessage *message = NULL;
      guint said = 0;
      gst_element_set_state(pipeline, GST_STATE_PLAYING);
      do {
        gst_clear_message(&message);
        message = gst_bus_timed_pop_filtered(bus, TEST_PATIENCE, GST_MESSAGE_ERROR);
        g_assert_nonnull(message);
        said += g_str_has_prefix(GST_OBJECT_NAME(GST_MESSAGE_SRC(message)), "astro");
      } while (!g_str_has_prefix(GST_OBJECT_NAME(GST_MESSAGE_SRC(message)), "filesrc"));
      gst_clear_message(&message);
      gst_element_set_state(pipeline, GST_STATE_NULL);
      g_assert_cmpuint(said, ==, 1);
    }
    gst_object_unref(pipeline);
  }
}

/* A stage that is configured again for an observation, and refuses, has said why. */
static void test_said_of_observation(void)
{
  GstElement *pipeline =
      gst_parse_launch("astroskysrc stations=2 duration=0.01 ! astrodelay ! "
                       "application/x-astro-voltages,format=CF32LE ! astrodelay ! "
                       "application/x-astro-voltages,format=CI16LE ! fakesink",
                       NULL);
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  guint said = 0;
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  for (gboolean goes_on = TRUE; goes_on;) {
    g_autoptr(GstMessage) message =
        gst_bus_timed_pop_filtered(bus, TEST_PATIENCE, GST_MESSAGE_ERROR);
    g_autoptr(GError) error = NULL;
    g_assert_nonnull(message);
    gst_message_parse_error(message, &error, NULL);
    goes_on = g_str_has_prefix(GST_OBJECT_NAME(GST_MESSAGE_SRC(message)), "astrodelay");
    if (goes_on && said++ == 0)
      g_assert_nonnull(strstr(error->message, "no delays are left"));
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  g_assert_cmpuint(said, ==, 1);
}

static void add_tests(void)
{
  static const char *const unlinked[] = {
    "astroskysrc num-buffers=9 ! astroconvert",
    "astroskysrc num-buffers=9 ! astrochannelizer channels=16",
    "astroskysrc num-buffers=9 ! astrochannelizer channels=16 ! astrocorrelator",
    "astroskysrc num-buffers=9 ! application/x-astro-voltages,format=CF32LE ! astrofft length=64",
    "astrovissrc num-buffers=2 ! astrogridder size=64 field-of-view=1",
    "astrovissrc num-buffers=2 ! astrogridder size=64 field-of-view=1 ! astrofft",
    "astrovissrc num-buffers=2 ! astrogridder size=64 field-of-view=1 ! astrofft ! astroimage",
    ("astrovissrc num-buffers=2 ! astrogridder size=64 field-of-view=1 ! astrofft ! astroimage "
     "psf=true ! astroclean"),
    "astrovissrc num-buffers=2 ! astrorender",
    "astrocatsrc points=9 ! astrohistogram",
    "astrocatsrc points=9 ! astrohistogram ! astrotpacf",
  };
  g_test_add_func("/stage/observation-survives", test_observation_survives);
  for (guint i = 0; i < G_N_ELEMENTS(unlinked); i++) {
    g_autofree char *name = g_strdup_printf("/stage/unlinked/%u", i);
    g_test_add_data_func(name, unlinked[i], test_unlinked);
  }
  g_test_add_func("/stage/unlinked/histogram", test_unlinked_histogram);
  g_test_add_func("/stage/linked-later", test_linked_later);
  g_test_add_func("/stage/states", test_states);
  g_test_add_func("/stage/notify", test_notify);
  g_test_add_func("/stage/stats-meanwhile", test_stats_meanwhile);
  g_test_add_func("/stage/stats", test_stats);
  g_test_add_func("/stage/no-growth", test_no_growth);
  g_test_add_func("/stage/bad-validity", test_bad_validity);
  g_test_add_func("/stage/said-once", test_said_once);
  g_test_add_func("/stage/said-of-observation", test_said_of_observation);
  g_test_add_func("/stage/no-cuda", test_no_cuda);
  for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autofree char *name = g_strdup_printf("/stage/bad/%zu", i);
    g_test_add_data_func(name, GSIZE_TO_POINTER(i), test_bad);
  }
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
