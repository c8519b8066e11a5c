/* Elements among threads that do what applications do at the worst moment: buffers while events,
 * seeks and changes of state come from elsewhere; and pipelines that are sought, ended, stopped and
 * started at random. The output does not matter: nothing may crash, hang, leak or race, for
 * ASTRO_STRESS_SECONDS for each element (make check-stress), or for the moment in which easy
 * mistakes are found. */
#include "tests/elements/misfit-model.h"
#include "tests/elements/misfit-stages.h"
#include "tests/elements/recorded.h"
#include "tests/remove-all.h"
#include "tests/tsan-glib.h"

#include <glib/gstdio.h>

#define INSTANT 0.15 /* seconds */

#ifdef __SANITIZE_THREAD__
/* GStreamer calls functions that the sanitizer looks into, such as memcpy, under locks that it does
 * not see: of GstPoll, of GstAtomicQueue and of counts of references. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
  return "ignore_noninstrumented_modules=1";
}
#endif

/* Elements that have no misfits. */
static const TestMisfitStage more[] = {
  { "astrotpacf", MISFIT_CATALOGUES " ! h.data astrocatsrc points=300 catalogues=6 seed=4 "
                                    "footprint=band:0,20,-10,10 ! h.random astrohistogram name=h" },
  { "astrohttpsink port=0", MISFIT_IMAGES " ! astrorender width=16 height=16 ! pngenc" },
};

/* An element that does other work on another stream. */
static const TestMisfitStage coherent = { "astrodedisperse dm=0.5", MISFIT_VOLTAGES };

static char *folder;

static gulong stress_time(void)
{
  const char *seconds = g_getenv("ASTRO_STRESS_SECONDS");
  return (gulong)((seconds ? g_ascii_strtod(seconds, NULL) : INSTANT) * G_USEC_PER_SEC);
}

static char *file_of_sink(void)
{
  return g_build_filename(folder, "stress.uvfits", NULL);
}

/* A build may lack it, as libsoup is optional. */
static gboolean is_there(const TestMisfitStage *stage)
{
  g_autofree char *name = g_strndup(stage->element, strcspn(stage->element, " "));
  g_autoptr(GstElementFactory) factory = gst_element_factory_find(name);
  if (!factory)
    g_test_skip("this build does not have it");
  return factory != NULL;
}

static GstElement *new_element(const TestMisfitStage *stage)
{
  GError *error = NULL;
  GstElement *element = gst_parse_launch(stage->element, &error);
  g_assert_no_error(error);
  if (stage->location) {
    g_autofree char *file = file_of_sink();
    g_object_set(element, "location", file, NULL);
  }
  if (stage->has_model)
    test_misfit_set_model(element);
  return element;
}

static gboolean has_source(GstElement *element)
{
  g_autoptr(GstPad) pad = gst_element_get_static_pad(element, "src");
  return pad != NULL;
}

static void remove_file(const TestMisfitStage *stage)
{
  g_autofree char *file = file_of_sink();
  if (stage->location)
    test_remove_all(file);
}

/* ---- one element, many threads ---- */

typedef struct {
  GstHarness *h;
  GPtrArray *items;
  GstEvent *segment;
} Pushed;

/* The whole stream. GStreamer's own thread for buffers assumes that nobody flushes. */
static void push_stream(gpointer thread, gpointer data)
{
  const Pushed *pushed = data;
  for (guint i = 0; i < pushed->items->len; i++) {
    gpointer item = pushed->items->pdata[i];
    if (GST_IS_BUFFER(item))
      gst_harness_push(pushed->h, gst_buffer_ref(item));
    else if (GST_EVENT_TYPE(item) != GST_EVENT_EOS)
      gst_harness_push_event(pushed->h, gst_event_ref(item));
  }
}

/* A flush from upstream, with the segment that follows it. */
static void push_flush(gpointer thread, gpointer data)
{
  const Pushed *pushed = data;
  gst_harness_push_event(pushed->h, gst_event_new_flush_start());
  gst_harness_push_event(pushed->h, gst_event_new_flush_stop(FALSE));
  gst_harness_push_event(pushed->h, gst_event_ref(pushed->segment));
}

static void push_end(gpointer thread, gpointer data)
{
  const Pushed *pushed = data;
  gst_harness_push_event(pushed->h, gst_event_new_gap(0, GST_SECOND));
  gst_harness_push_event(pushed->h, gst_event_new_eos());
}

static void ask(gpointer thread, gpointer data)
{
  const Pushed *pushed = data;
  GstQuery *latency = gst_query_new_latency();
  gst_element_query(pushed->h->element, latency);
  gst_query_unref(latency);
}

static void start_all(Pushed *pushed, GPtrArray *threads)
{
  static const struct {
    GFunc push;
    gulong every; /* microseconds */
  } all[] = { { push_stream, 1 }, { push_flush, 700 }, { push_end, 1900 }, { ask, 50 } };
  for (guint i = 0; i < G_N_ELEMENTS(all); i++)
    g_ptr_array_add(threads, gst_harness_stress_custom_start(pushed->h, NULL, all[i].push, pushed,
                                                             all[i].every));
  g_ptr_array_add(threads, gst_harness_stress_statechange_start_full(pushed->h, 20000));
}

static void stress_element(gconstpointer data)
{
  const TestMisfitStage *stage = data;
  if (!is_there(stage))
    return;
  g_autoptr(GPtrArray) items = test_record(stage->stream);
  g_autoptr(GPtrArray) threads = g_ptr_array_new();
  GstElement *element = new_element(stage);
  GstHarness *h = gst_harness_new_with_element(element, stage->pad ? stage->pad : "sink",
                                               has_source(element) ? "src" : NULL);

  const TestLog log = test_log_of_events();
  gst_object_unref(element);
  if (stage->wanted)
    gst_harness_set_sink_caps_str(h, stage->wanted);
  if (has_source(h->element))
    gst_harness_set_drop_buffers(h, TRUE);
  Pushed pushed = { h, items, items->pdata[test_find_event(items, GST_EVENT_SEGMENT)] };
  start_all(&pushed, threads);
  g_usleep(stress_time());
  for (guint i = 0; i < threads->len; i++)
    gst_harness_stress_thread_stop(threads->pdata[i]);
  gst_harness_teardown(h);
  test_log_end(log);
  remove_file(stage);
}

/* ---- pipelines ---- */

/* GStreamer itself hangs if a seek or EOS finds a pipeline that changes its state, or a source that
 * waits for a sink in PAUSED; so these are for pipelines that play. */
static gboolean plays(GstElement *pipeline)
{
  GstState state;
  return gst_element_get_state(pipeline, &state, NULL, 20 * GST_MSECOND) ==
             GST_STATE_CHANGE_SUCCESS &&
         state == GST_STATE_PLAYING;
}

static void do_something(GstElement *pipeline, GRand *rand)
{
  static const GstState states[] = { GST_STATE_PLAYING, GST_STATE_PAUSED, GST_STATE_READY,
                                     GST_STATE_NULL };
  enum { FLUSHING_SEEK = G_N_ELEMENTS(states), SEEK, EOS, N_THINGS };
  const gint what = g_rand_int_range(rand, 0, N_THINGS);

  if (what < FLUSHING_SEEK)
    gst_element_set_state(pipeline, states[what]);
  else if (!plays(pipeline))
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
  else if (what == EOS)
    gst_element_send_event(pipeline, gst_event_new_eos());
  else
    gst_element_seek_simple(pipeline, GST_FORMAT_TIME,
                            what == SEEK ? GST_SEEK_FLAG_NONE : GST_SEEK_FLAG_FLUSH,
                            g_rand_int_range(rand, 0, 4) * GST_MSECOND);
}

/* Takes the pipeline. */
static void play(GstElement *pipeline)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed(g_test_rand_int());
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  const gint64 end = g_get_monotonic_time() + (gint64)stress_time();
  const TestLog log = test_log_of_events();
  while (g_get_monotonic_time() < end) {
    do_something(pipeline, rand);
    g_usleep((gulong)g_rand_int_range(rand, 0, 3000));
    gst_bus_set_flushing(bus, TRUE);
    gst_bus_set_flushing(bus, FALSE);
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  test_log_end(log);
}

static void stress_pipeline(gconstpointer data)
{
  const TestMisfitStage *stage = data;
  if (!is_there(stage))
    return;
  g_autofree char *line = g_strdup_printf("%s ! queue ! identity name=here", stage->stream);
  g_autoptr(GError) error = NULL;
  GstElement *pipeline = gst_parse_launch(line, &error), *element = new_element(stage);
  g_assert_no_error(error);
  g_autoptr(GstElement) here = gst_bin_get_by_name(GST_BIN(pipeline), "here");

  gst_bin_add(GST_BIN(pipeline), element);
  g_assert_true(gst_element_link_pads(here, "src", element, stage->pad ? stage->pad : "sink"));
  if (has_source(element)) {
    GstElement *sink = gst_element_factory_make("fakesink", NULL);
    gst_bin_add(GST_BIN(pipeline), sink);
    g_assert_true(gst_element_link(element, sink));
  }
  play(pipeline);
  remove_file(stage);
}

/* Two inputs, each of which is flushed by a thread of its own. */
static void stress_two(gconstpointer element)
{
  g_autofree char *line = g_strdup_printf("%s name=both ! fakesink " MISFIT_VISIBILITIES
                                          " seed=1 ! queue ! both.sink_0 " MISFIT_VISIBILITIES
                                          " seed=2 ! queue ! both.sink_1",
                                          (const char *)element);
  g_autoptr(GError) error = NULL;
  GstElement *pipeline = gst_parse_launch(line, &error);
  g_assert_no_error(error);
  play(pipeline);
}

/* Sources that read, and what writes their files. */
static const struct {
  const char *source, *sink, *stream;
} readers[] = {
  { "astrofitssrc", "astrofitssink", MISFIT_VISIBILITIES },
#ifdef HAVE_HDF5
  { "astrouvh5src", "astrouvh5sink", MISFIT_VISIBILITIES },
#endif
#ifdef HAVE_CASACORE
  { "astromssrc", "astromssink", MISFIT_VISIBILITIES },
#endif
  { "astrorecordsrc", "astrorecordsink format=dada",
    MISFIT_SKY " stations=1 ! application/x-astro-voltages,format=CI8" },
};

static void stress_file(gconstpointer data)
{
  const guint i = GPOINTER_TO_UINT(data);
  g_autofree char *file = g_build_filename(folder, "read", NULL);
  g_autofree char *written =
      g_strdup_printf("%s ! %s location=%s", readers[i].stream, readers[i].sink, file);
  g_autofree char *read = g_strdup_printf("%s location=%s ! fakesink", readers[i].source, file);
  g_autofree char *failed = test_launch(written);
  g_autoptr(GError) error = NULL;
  g_assert_cmpstr(failed, ==, NULL);
  GstElement *pipeline = gst_parse_launch(read, &error);
  g_assert_no_error(error);
  play(pipeline);
  test_remove_all(file);
}

/* group: "", or for an element that is in several lists the start of another path. */
static void add_stage(const char *group, const TestMisfitStage *stage)
{
  g_autofree char *name = g_strndup(stage->element, strcspn(stage->element, " "));
  g_autofree char *element = g_strdup_printf("/stress/%selement/%s", group, name);
  g_autofree char *pipeline = g_strdup_printf("/stress/%spipeline/%s", group, name);
  g_test_add_data_func(element, stage, stress_element);
  g_test_add_data_func(pipeline, stage, stress_pipeline);
}

static void add_tests(void)
{
  for (guint s = 0; s < G_N_ELEMENTS(test_misfit_stages); s++)
    add_stage("", &test_misfit_stages[s]);
  for (guint s = 0; s < G_N_ELEMENTS(more); s++)
    add_stage("more/", &more[s]);
  for (guint i = 0; i < G_N_ELEMENTS(readers); i++) {
    g_autofree char *name = g_strdup_printf("/stress/pipeline/%s", readers[i].source);
    g_test_add_data_func(name, GUINT_TO_POINTER(i), stress_file);
  }
  g_test_add_data_func("/stress/element/coherent", &coherent, stress_element);
  g_test_add_data_func("/stress/pipeline/coherent", &coherent, stress_pipeline);
  g_test_add_data_func("/stress/two/astroadd", "astroadd backend=cpu", stress_two);
  g_test_add_data_func("/stress/two/astrojoin", "astrojoin axis=channel backend=cpu", stress_two);
}

int main(int argc, char **argv)
{
  folder = g_dir_make_tmp("astro-stress-XXXXXX", NULL);
  g_assert_nonnull(folder);
  const int status = test_run(argc, argv, add_tests);
  g_rmdir(folder);
  g_free(folder);
  return status;
}
