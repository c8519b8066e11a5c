/* The pad model of astrocalibrate: visibilities as the model give the gains that a sky gives, steps
 * are matched by their times, and what does not fit is refused, or left out and counted. */
#include "core/fits/gains/gains.h"
#include "core/kit/units.h"
#include "core/lib/predict/errors.h"
#include "tests/elements/elements.h"
#include "tests/near.h"
#include "tests/remove-all.h"

#include <glib/gstdio.h>

#define STATIONS 6
#define SKY "0.002,0.001,3;-0.004,0.002,1"
#define SOURCE                                                                                     \
  "astrovissrc stations=6 channels=4 integration=10 bandwidth=4e6 frequency=150e6 seed=3 "         \
  "sky=" SKY " "
#define ERRORS "gain-error=0.2 phase-error=60 "

typedef struct {
  AstroGains *gains;
  char *warned;       /* the first warning; NULL: none */
  guint64 unmodelled; /* as stats have it at the end */
} Solved;

static void clear(Solved *solved)
{
  g_clear_pointer(&solved->gains, astro_gains_free);
  g_free(solved->warned);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Solved, clear)

static char *new_name(void)
{
  char *name = g_build_filename(g_get_tmp_dir(), "gains-XXXXXX", NULL);
  g_close(g_mkstemp(name), NULL);
  return name;
}

static void wait_for_end(GstBus *bus, Solved *solved)
{
  for (gboolean is_over = FALSE; !is_over;) {
    g_autoptr(GstMessage) message = gst_bus_timed_pop_filtered(
        bus, TEST_PATIENCE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
    g_autoptr(GError) error = NULL;
    g_assert_nonnull(message);
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR)
      gst_message_parse_error(message, &error, NULL);
    g_assert_no_error(error);
    is_over = GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
    if (is_over || solved->warned)
      continue;
    gst_message_parse_warning(message, &error, NULL);
    solved->warned = g_strdup(error->message);
  }
}

/* Runs a pipeline with `astrocalibrate name=c mode=solve`, whose other settings and links are in
 * the line. */
static Solved solve(const char *line)
{
  g_autofree char *name = new_name();
  g_autofree char *whole =
      g_strdup_printf("astrocalibrate name=c mode=solve location=%s %s", name, line);
  GError *error = NULL;
  Solved solved = { 0 };
  g_autoptr(GstElement) pipeline = gst_parse_launch(whole, &error);
  g_assert_no_error(error);
  g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(pipeline), "c");
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  wait_for_end(bus, &solved);
  GstStructure *stats;
  g_object_get(element, "stats", &stats, NULL);
  g_assert_true(gst_structure_get_uint64(stats, "unmodelled-steps", &solved.unmodelled));
  gst_structure_free(stats);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  solved.gains = astro_fits_gains_read(name, &error);
  g_assert_no_error(error);
  g_unlink(name);
  return solved;
}

static void check_truth(const AstroGains *gains)
{
  g_autofree complex double *truth = astro_predict_gains(STATIONS, 2, 0.2, 60 * ASTRO_DEGREE, 3);
  for (guint k = 0; k < gains->gains->len; k++) {
    g_assert_cmpfloat(g_array_index(gains->snr, float, k), >, 100);
    test_near_complex(g_array_index(gains->gains, complex double, k),
                      truth[k % (2 * STATIONS)] * conj(truth[k % 2]) / cabs(truth[k % 2]), 1e-5);
  }
}

/* The gains that were put in, on both backends, from floats and doubles. */
static void test_same(void)
{
  static const char *const cases[][2] = { { "cpu", "CF32LE" },
                                          { "reference", "CF32LE" },
                                          { "cpu", "CF64LE" } };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *line = g_strdup_printf(
        "backend=%s interval=30 ! fakesink " SOURCE ERRORS "num-buffers=7 ! c.sink " SOURCE
        "num-buffers=7 ! application/x-astro-visibilities,format=%s ! c.model",
        cases[i][0], cases[i][1]);
    g_auto(Solved) solved = solve(line);
    g_assert_cmpstr(solved.warned, ==, NULL);
    g_assert_cmpuint(solved.unmodelled, ==, 0);
    g_assert_cmpuint(solved.gains->intervals->len, ==, 3);
    check_truth(solved.gains);
  }
}

/* One stream as its own model, through a tee: all gains are 1. */
static void test_itself(void)
{
  g_auto(Solved) solved =
      solve("interval=0 ! fakesink " SOURCE ERRORS "num-buffers=50 ! tee name=t t. ! queue "
            "max-size-buffers=5 ! c.sink t. ! queue max-size-buffers=5 ! c.model");
  for (guint k = 0; k < solved.gains->gains->len; k++)
    test_near_complex(g_array_index(solved.gains->gains, complex double, k), 1, 1e-6);
}

/* A model that ends before the visibilities; that goes on long after them; and one that begins
 * later, by the clock: its numbers of steps are others. */
static void test_times(void)
{
  static const struct {
    const char *line;
    guint64 unmodelled;
    const char *warns;
  } cases[] = {
    { SOURCE ERRORS "num-buffers=7 ! c.sink " SOURCE "num-buffers=4 ! c.model", 3,
      "there is no integration at 40 s" },
    { SOURCE ERRORS "num-buffers=4 ! c.sink " SOURCE "num-buffers=500 ! c.model", 0, NULL },
    { SOURCE ERRORS
      "num-buffers=6 phase-centre=150,45 start-time=2026-11-21T02:00:00 ! c.sink " SOURCE
      "num-buffers=6 phase-centre=150,45 start-time=2026-11-21T02:00:20 ! c.model",
      2, "there is no integration at 0 s" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *line = g_strdup_printf("interval=0 ! fakesink %s", cases[i].line);
    g_auto(Solved) solved = solve(line);
    g_assert_cmpuint(solved.unmodelled, ==, cases[i].unmodelled);
    if (cases[i].warns)
      test_says(solved.warned, cases[i].warns);
    else
      g_assert_cmpstr(solved.warned, ==, NULL);
    check_truth(solved.gains);
  }
}

#define LINE(settings, data, model)                                                                \
  "astrocalibrate name=c " settings " ! fakesink astrovissrc num-buffers=3 stations=4 " data       \
  " ! c.sink astrovissrc num-buffers=3 stations=4 " model " ! c.model"

static void test_refused_models(void)
{
  static const struct {
    const char *line, *says;
  } cases[] = {
    { LINE("", "", "stations=5"), "pad model: baselines=15, and the visibilities have 10" },
    { LINE("", "", "pols=1"), "pad model: pols=1" },
    { LINE("", "", "channels=3"), "pad model: channels=3" },
    { LINE("", "", "frequency=151e6"), "pad model: frequency=151000000" },
    { LINE("", "phase-centre=\"60.1,50\" start-time=2026-11-20T22:00:00",
           "phase-centre=\"60,50\" start-time=2026-11-20T22:00:00"),
      "pad model: its phase centre is not that" },
    { LINE("", "", "basis=circular"), "pad model: the circular basis" },
    { LINE("sky=0,0,1", "", ""), "sky and the pad model, expected one of them" },
    { LINE("mode=apply location=a", "", ""), "mode=apply and the pad model" },
    { LINE("", "", "! astroselect stations=3,2,1,0"), "pad model: stations" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    test_refused_by(cases[i].line, "AstroCalibrate", cases[i].says);
}

/* MODEL_DATA of a Measurement Set. */
static void test_set(void)
{
  g_autoptr(GstElementFactory) factory = gst_element_factory_find("astromssrc");
  if (!factory) {
    g_test_skip("there is no astromssrc");
    return;
  }
  g_autofree char *folder = g_dir_make_tmp("model-XXXXXX", NULL);
  g_autofree char *data =
      g_strdup_printf(SOURCE ERRORS "num-buffers=5 ! astromssink location=%s/a.ms", folder);
  g_autofree char *model = g_strdup_printf(
      SOURCE "num-buffers=5 ! astromssink location=%s/a.ms column=MODEL_DATA", folder);
  g_autofree char *line =
      g_strdup_printf("interval=0 ! fakesink astromssrc location=%s/a.ms ! c.sink "
                      "astromssrc location=%s/a.ms column=MODEL_DATA ! c.model",
                      folder, folder);
  g_assert_cmpstr(test_launch(data), ==, NULL);
  g_assert_cmpstr(test_launch(model), ==, NULL);
  g_auto(Solved) solved = solve(line);
  g_assert_cmpstr(solved.warned, ==, NULL);
  check_truth(solved.gains);
  test_remove_all(folder);
}

/* Visibilities that wait for a model do not keep the pipeline from stopping. */
static void test_stopped(void)
{
  GError *error = NULL;
  g_autoptr(GstElement) pipeline = gst_parse_launch(
      "appsrc ! c.model " SOURCE "! c.sink astrocalibrate name=c ! fakesink", &error);
  g_assert_no_error(error);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_usleep(100000);
  const gint64 begin = g_get_monotonic_time();
  gst_element_set_state(pipeline, GST_STATE_NULL);
  g_assert_cmpint(g_get_monotonic_time() - begin, <, 20 * G_USEC_PER_SEC);
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  g_assert_null(gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR));
}

/* A flush is waited for by nobody, and a pad that was given back can be asked for again, but not
 * while the stream runs. */
static void test_flushed(void)
{
  g_autoptr(GstElement) element = gst_element_factory_make("astrocalibrate", NULL);
  g_object_ref_sink(element);
  g_autoptr(GstPad) pad = gst_element_request_pad_simple(element, "model");
  g_assert_nonnull(pad);
  gst_element_set_state(element, GST_STATE_PAUSED);
  g_assert_true(gst_pad_send_event(pad, gst_event_new_flush_start()));
  g_assert_cmpint(gst_pad_chain(pad, gst_buffer_new()), ==, GST_FLOW_FLUSHING);
  g_assert_true(gst_pad_send_event(pad, gst_event_new_flush_stop(TRUE)));
  gst_element_release_request_pad(element, pad);
  g_assert_null(gst_element_request_pad_simple(element, "model"));
  gst_element_set_state(element, GST_STATE_NULL);
  g_autoptr(GstPad) again = gst_element_request_pad_simple(element, "model");
  g_assert_nonnull(again);
}

static void add_tests(void)
{
  g_test_add_func("/astrocalibrate-model/same", test_same);
  g_test_add_func("/astrocalibrate-model/itself", test_itself);
  g_test_add_func("/astrocalibrate-model/times", test_times);
  g_test_add_func("/astrocalibrate-model/refused", test_refused_models);
  g_test_add_func("/astrocalibrate-model/measurement-set", test_set);
  g_test_add_func("/astrocalibrate-model/stopped", test_stopped);
  g_test_add_func("/astrocalibrate-model/flushed", test_flushed);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
