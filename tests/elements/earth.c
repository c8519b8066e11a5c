/* Earth orientation along streams: which element takes it from which, its effect on a source's
 * place, and warnings if nobody gives it. */
#include "core/stream/stream.h"
#include "core/stream/uvw.h"
#include "tests/earth-orientation.h"
#include "tests/elements/running.h"
#include <math.h>

#define ARCSEC (G_PI / 648000)

/* 27 stations over 3 km at 30 GHz have a beam of 0.6 arcsec; UT1 = UTC moves sources by an
 * arcsec. */
#define SCENE(hz) "array=vla-like bandwidth=1e6 phase-centre=260,34 noise=0 frequency=" hz " "
#define TIME "2026-11-20T21:00:00"
#define VOLTAGES_OF(hz, start)                                                                     \
  "astroskysrc name=src pols=1 stations=9 sky=0,0,10 block-steps=2048 start-time=" start           \
  " " SCENE(hz)
#define VOLTAGES VOLTAGES_OF("30e9", TIME) "num-buffers=2 "
#define VISIBILITIES_OF(sky, start, duration)                                                      \
  "astrovissrc name=src channels=1 pols=1 integration=10 stations=27 sky=" sky                     \
  " start-time=" start " duration=" duration " " SCENE("30e9")
/* A source 1.1 degrees from the phase centre, where (u,v,w) have to be right. */
#define VISIBILITIES VISIBILITIES_OF("0.015,-0.012,10", TIME, "10")
#define LATE "2026-11-27T23:59:50" /* ten seconds before the end of the last day */
#define IMAGE " ! astrofft ! astroimage ! astromeasure ! fakesink"
#define GRIDDER "astrogridder name=gridder size=64 cell=0.15 "
#define BESIDE GRIDDER "centre=0.015,-0.012 "
/* From voltages to an image. */
#define CHAIN                                                                                      \
  " ! astrochannelizer channels=16 ! astrotranspose ! astrocorrelator integration=64 ! " GRIDDER   \
      IMAGE
#define L (0.015 / ARCSEC)
#define M (-0.012 / ARCSEC)

typedef struct {
  char *finals, *other, *uvfits; /* files that lines call FILE, OTHER and UVFITS */
  AstroObservation *source;      /* what the source said */
  guint warnings;
  char *warning, *error; /* of the first warning, after its element's name */
  double l, m;           /* of the brightest source in the image */
  gboolean is_measured;
} Run;

typedef enum { AS_IT_CAME, UNKNOWN } Said;

/* Streams of other programs do not say what they were made with. */
static GstPadProbeReturn listen_in(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT(info);
  Run *run = data;
  if (!astro_event_is_observation(event))
    return GST_PAD_PROBE_OK;
  g_clear_pointer(&run->source, astro_observation_unref);
  run->source = astro_observation_from_event(event, NULL);
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn forget_earth(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT(info);
  listen_in(pad, info, data);
  if (!astro_event_is_observation(event))
    return GST_PAD_PROBE_OK;
  g_autoptr(AstroObservation) observation = astro_observation_from_event(event, NULL);
  g_clear_pointer(&observation->earth, astro_earth_unref);
  gst_event_unref(event);
  GST_PAD_PROBE_INFO_DATA(info) = astro_observation_to_event(observation);
  return GST_PAD_PROBE_OK;
}

static void take_place(Run *run, const GstStructure *told)
{
  const GValue *sources = gst_structure_get_value(told, "sources");
  g_assert_cmpuint(gst_value_array_get_size(sources), >, 0);
  const GstStructure *first = gst_value_get_structure(gst_value_array_get_value(sources, 0));
  g_assert_true(gst_structure_get_double(first, "l", &run->l));
  g_assert_true(gst_structure_get_double(first, "m", &run->m));
  run->is_measured = TRUE;
}

static char *describe_message(GstMessage *message, const GError *error)
{
  return g_strdup_printf("%s: %s", GST_MESSAGE_SRC_NAME(message), error->message);
}

/* FALSE at the end. */
static gboolean take_message(Run *run, GstMessage *message)
{
  g_autoptr(GError) error = NULL;
  switch (GST_MESSAGE_TYPE(message)) {
  case GST_MESSAGE_WARNING:
    gst_message_parse_warning(message, &error, NULL);
    if (run->warnings++ == 0)
      run->warning = describe_message(message, error);
    return TRUE;
  case GST_MESSAGE_ERROR:
    gst_message_parse_error(message, &error, NULL);
    run->error = describe_message(message, error);
    return FALSE;
  case GST_MESSAGE_ELEMENT:
    if (gst_message_has_name(message, "astro-sources"))
      take_place(run, gst_message_get_structure(message));
    return TRUE;
  default:
    return GST_MESSAGE_TYPE(message) != GST_MESSAGE_EOS;
  }
}

static void run_line(Run *run, const char *line, Said said)
{
  g_autofree char *with_file = test_replace(line, "FILE", run->finals);
  g_autofree char *with_other = test_replace(with_file, "OTHER", run->other);
  g_autofree char *whole = test_replace(with_other, "UVFITS", run->uvfits);
  g_autoptr(GError) error = NULL;
  g_clear_pointer(&run->source, astro_observation_unref);
  g_clear_pointer(&run->warning, g_free);
  g_clear_pointer(&run->error, g_free);
  run->warnings = 0;
  run->is_measured = FALSE;
  GstElement *pipeline = gst_parse_launch(whole, &error);
  g_assert_no_error(error);
  g_autoptr(GstElement) source = gst_bin_get_by_name(GST_BIN(pipeline), "src");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(source, "src");
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
                    said == UNKNOWN ? forget_earth : listen_in, run, NULL);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  for (gboolean goes_on = TRUE; goes_on;) {
    g_autoptr(GstMessage) message = gst_bus_timed_pop(bus, TEST_PATIENCE);
    g_assert_nonnull(message);
    goes_on = take_message(run, message);
  }
  test_stop(pipeline);
}

static void set_up(Run *run, gconstpointer data)
{
  g_autofree char *other = test_replace(test_finals_2026, "-0.0769478", "-0.0760478");
  run->finals = test_write_finals(test_finals_2026);
  run->other = test_write_finals(other);
  run->uvfits = g_strconcat(run->finals, ".uvfits", NULL);
}

static void tear_down(Run *run, gconstpointer data)
{
  g_clear_pointer(&run->source, astro_observation_unref);
  g_free(run->warning);
  g_free(run->error);
  g_unlink(run->uvfits);
  g_free(run->uvfits);
  test_remove_finals(run->finals);
  test_remove_finals(run->other);
}

static void expect_place(const Run *run, double l, double m, double within)
{
  g_assert_cmpstr(run->error, ==, NULL);
  g_assert_true(run->is_measured);
  g_assert_cmpfloat_with_epsilon(run->l / ARCSEC, l, within);
  g_assert_cmpfloat_with_epsilon(run->m / ARCSEC, m, within);
}

/* The frame of (u,v,w), with what the source said and with UT1 = UTC. */
static void find_axes(const Run *run, gint64 ns, double axes[3][3], double wrong[3][3])
{
  g_autoptr(AstroObservation) without = astro_observation_copy(run->source);
  astro_uvw_axes(without, ns, axes);
  g_clear_pointer(&without->earth, astro_earth_unref);
  astro_uvw_axes(without, ns, wrong);
}

/* Where the phase centre is after delays with UT1 = UTC, arcsec. */
static void find_centre(const Run *run, double moved[2])
{
  double axes[3][3], wrong[3][3];
  find_axes(run, 0, axes, wrong);
  for (guint i = 0; i < 2; i++)
    moved[i] =
        (wrong[i][0] * axes[2][0] + wrong[i][1] * axes[2][1] + wrong[i][2] * axes[2][2]) / ARCSEC;
}

/* How far from its place a source at l, m appears with UT1 = UTC, arcsec. */
static void find_moved(const Run *run, double l, double m, double moved[2])
{
  double axes[3][3], wrong[3][3], up[3], seen[3] = { 0 }, normal[3] = { 0 };
  const double n_minus_1 = sqrt(1 - l * l - m * m) - 1;
  find_axes(run, 5 * GST_SECOND, axes, wrong);
  astro_up(run->source->positions, up);
  for (guint i = 0; i < 3; i++)
    for (guint k = 0; k < 3; k++) {
      seen[i] += wrong[i][k] * (l * axes[0][k] + m * axes[1][k] + n_minus_1 * axes[2][k]);
      normal[i] += wrong[i][k] * up[k];
    }
  /* The stations lie in a plane, where the effect of w on a phase is a shift in l and m. */
  const double left = seen[2] - (sqrt(1 - seen[0] * seen[0] - seen[1] * seen[1]) - 1);
  for (guint i = 0; i < 2; i++)
    moved[i] = (seen[i] - left * normal[i] / normal[2] - (i ? m : l)) / ARCSEC;
}

/* (u,v,w) by the file put a source in its place, whichever element has the file; without it a
 * source far from the phase centre moves by hundredths of an arcsec. */
static void test_uvw(Run *run, gconstpointer data)
{
  double moved[2];
  run_line(run, VISIBILITIES "earth-orientation=FILE ! " BESIDE IMAGE, AS_IT_CAME);
  expect_place(run, L, M, 0.001);
  g_assert_cmpuint(run->warnings, ==, 0);
  g_assert_cmpuint(run->source->earth->n, ==, 12);
  run_line(run, VISIBILITIES "earth-orientation=FILE ! " BESIDE "earth-orientation=FILE " IMAGE,
           AS_IT_CAME);
  expect_place(run, L, M, 0.001);
  run_line(run, VISIBILITIES "earth-orientation=FILE ! " BESIDE "earth-orientation=FILE " IMAGE,
           UNKNOWN);
  expect_place(run, L, M, 0.001);
  g_assert_cmpuint(run->warnings, ==, 0);
  run_line(run, VISIBILITIES "earth-orientation=FILE ! " BESIDE IMAGE, UNKNOWN);
  find_moved(run, 0.015, -0.012, moved);
  g_assert_cmpfloat(hypot(moved[0], moved[1]), >, 0.01);
  expect_place(run, L + moved[0], M + moved[1], 0.002);
}

/* Both sides of a simulation assume UT1 = UTC, and there is no warning. */
static void test_simulated(Run *run, gconstpointer data)
{
  run_line(run, VISIBILITIES " ! " BESIDE IMAGE, AS_IT_CAME);
  expect_place(run, L, M, 0.001);
  g_assert_cmpuint(run->warnings, ==, 0);
  g_assert_cmpuint(run->source->earth->n, ==, 0);
  g_assert_cmpstr(run->source->earth->name, ==, "none");
  run_line(run, VOLTAGES "! astrodelay" CHAIN, AS_IT_CAME);
  expect_place(run, 0, 0, 0.01);
  g_assert_cmpuint(run->warnings, ==, 0);
}

/* One warning, by the first element that computes with it, with numbers; none if the beam is much
 * larger than the error. */
static void test_told(Run *run, gconstpointer data)
{
  run_line(run, VOLTAGES "! astrodelay name=delay" CHAIN, UNKNOWN);
  g_assert_cmpstr(run->error, ==, NULL);
  g_assert_cmpuint(run->warnings, ==, 1);
  test_says(run->warning, "delay: UT1 = UTC is assumed, which may misplace sources by up to 11.2 "
                          "arcsec; the beam is about 0.6");
  test_says(run->warning, "earth-orientation");
  run_line(run, VISIBILITIES " ! " BESIDE IMAGE, UNKNOWN);
  g_assert_cmpuint(run->warnings, ==, 1);
  test_says(run->warning,
            "gridder: UT1 = UTC is assumed, which may misplace sources in the image's "
            "corners by up to 0.26 arcsec; the beam is about 0.6");
  run_line(run, VISIBILITIES " ! astrofitssink name=sink location=UVFITS", UNKNOWN);
  test_says(run->warning,
            "sink: UT1 = UTC is assumed, which may misplace sources a degree from the phase "
            "centre by up to 0.236 arcsec; the beam is about 0.6");
  run_line(run, VISIBILITIES_OF("0,0,1", TIME, "10") " ! " GRIDDER IMAGE, UNKNOWN);
  g_assert_cmpuint(run->warnings, ==, 0);
  run_line(run, VOLTAGES_OF("100e6", TIME) "num-buffers=2 ! astrodelay ! fakesink", UNKNOWN);
  g_assert_cmpuint(run->warnings, ==, 0);
}

/* Delays by the file give an image with its source in the phase centre; delays without it move the
 * whole sky, by an arcsec here. */
static void test_delays(Run *run, gconstpointer data)
{
  double moved[2];
  run_line(run, VOLTAGES "earth-orientation=FILE ! astrodelay" CHAIN, AS_IT_CAME);
  expect_place(run, 0, 0, 0.01);
  run_line(run, VOLTAGES "earth-orientation=FILE ! astrodelay earth-orientation=FILE" CHAIN,
           UNKNOWN);
  expect_place(run, 0, 0, 0.01);
  g_assert_cmpuint(run->warnings, ==, 0);
  run_line(run, VOLTAGES "earth-orientation=FILE ! astrodelay" CHAIN, UNKNOWN);
  find_centre(run, moved);
  g_assert_cmpfloat(hypot(moved[0], moved[1]), >, 0.9);
  expect_place(run, moved[0], moved[1], 0.02);
}

/* After a shift, the new phase centre is where the file puts it. */
static void test_shift(Run *run, gconstpointer data)
{
  /* 0.015, -0.012 of 260, 34 degrees */
  static const char *const shift = " ! astrophaseshift name=shift centre=261.02842,33.30812 ";
  g_autofree char *with = g_strconcat(VISIBILITIES "earth-orientation=FILE", shift,
                                      "earth-orientation=FILE ! " GRIDDER IMAGE, NULL);
  g_autofree char *without =
      g_strconcat(VISIBILITIES "earth-orientation=FILE", shift, "! " GRIDDER IMAGE, NULL);
  double place[2];
  run_line(run, without, AS_IT_CAME);
  g_assert_cmpstr(run->error, ==, NULL);
  g_assert_cmpuint(run->warnings, ==, 0);
  place[0] = run->l / ARCSEC;
  place[1] = run->m / ARCSEC;
  run_line(run, with, UNKNOWN);
  expect_place(run, place[0], place[1], 1e-4);
  g_assert_cmpuint(run->warnings, ==, 0);
  run_line(run, without, UNKNOWN);
  g_assert_cmpuint(run->warnings, ==, 1);
  test_says(run->warning,
            "shift: UT1 = UTC is assumed, which may misplace sources at the other centre by up "
            "to 0.26 arcsec");
  g_assert_cmpfloat(hypot(run->l / ARCSEC - place[0], run->m / ARCSEC - place[1]), >, 0.01);
}

/* astroobserve sets it for everything after it, and then there is no warning. */
static void test_observe(Run *run, gconstpointer data)
{
  run_line(run,
           VISIBILITIES
           "earth-orientation=FILE ! astroobserve earth-orientation=FILE ! " BESIDE IMAGE,
           UNKNOWN);
  expect_place(run, L, M, 0.001);
  g_assert_cmpuint(run->warnings, ==, 0);
}

/* A part of a stream with another Earth orientation than the part before does not fit it. */
static void test_refused_others(Run *run, gconstpointer data)
{
  static const struct {
    const char *line, *name;
  } cases[] = {
    { VISIBILITIES "earth-orientation=FILE ! " BESIDE "earth-orientation=OTHER" IMAGE, "gridder" },
    { VISIBILITIES "earth-orientation=FILE ! astroobserve name=observe earth-orientation=OTHER ! "
                   "fakesink",
      "observe" },
    { VISIBILITIES "earth-orientation=FILE ! astrofitssink name=file earth-orientation=OTHER "
                   "location=UVFITS",
      "file" },
    { VOLTAGES "earth-orientation=FILE ! astrodelay name=delay earth-orientation=OTHER ! fakesink",
      "delay" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *name = g_strconcat(cases[i].name, ": ", NULL);
    run_line(run, cases[i].line, AS_IT_CAME);
    g_test_message("%s", run->error);
    test_says(run->error, name);
    test_says(run->error, "sources differ by up to 0.0135 arcsec");
    test_says(run->error, run->other);
    test_says(run->error, "2026-11-17 to 2026-11-28");
  }
  run_line(run, VISIBILITIES " ! " BESIDE "earth-orientation=FILE" IMAGE, AS_IT_CAME);
  test_says(run->error, "was computed with the Earth orientation none, UT1 = UTC");
}

/* Days that end before the stream begins, and an endless stream that comes to the end of the
 * file. */
static void test_refused_times(Run *run, gconstpointer data)
{
  run_line(
      run,
      VISIBILITIES_OF("0,0,1", "2026-12-20T21:00:00", "10") "earth-orientation=FILE ! fakesink",
      AS_IT_CAME);
  test_says(run->error,
            " covers 2026-11-17 to 2026-11-28, but the observation starts at 2026-12-20");
  run_line(run, VISIBILITIES_OF("0,0,1", LATE, "20") "earth-orientation=FILE ! fakesink",
           AS_IT_CAME);
  test_says(run->error, " to 2026-11-28, but the stream has reached "
                        "2026-11-28T00:00:10.000000000Z");
  run_line(run, VISIBILITIES_OF("0,0,1", LATE, "0") "earth-orientation=FILE ! fakesink",
           AS_IT_CAME);
  test_says(run->error, "but the stream has reached 2026-11-28T00:00:10.000000000Z");
  run_line(run, VISIBILITIES "earth-orientation=/nowhere/finals ! fakesink", AS_IT_CAME);
  test_says(run->error, "src: ");
  test_says(run->error, "/nowhere/finals");
}

/* The stages of a stream without Earth orientation, after the last day of the file. */
static void test_refused_late(Run *run, gconstpointer data)
{
  static const char *const lines[] = {
    VISIBILITIES_OF("0,0,1", LATE, "40") " ! " GRIDDER "earth-orientation=FILE" IMAGE,
    VISIBILITIES_OF("0,0,1", LATE, "40") " ! astrofitssink name=gridder location=UVFITS "
                                         "earth-orientation=FILE",
    VOLTAGES_OF("30e9", "2026-11-27T23:59:59.95") "num-buffers=40 ! astrodelay name=gridder "
                                                  "earth-orientation=FILE ! fakesink",
  };
  for (guint i = 0; i < G_N_ELEMENTS(lines); i++) {
    run_line(run, lines[i], UNKNOWN);
    test_says(run->error, "gridder: ");
    test_says(run->error, " to 2026-11-28, but the stream has reached 2026-11-28");
  }
}

/* The Earth orientation that a file was written with comes back with it, so that sources are where
 * they were. */
static void test_files(Run *run, gconstpointer data)
{
  static const char *const image = "astrofitssrc name=src location=UVFITS ! " BESIDE IMAGE;
  static const char *const given =
      "astrofitssrc name=src earth-orientation=FILE location=UVFITS ! " BESIDE IMAGE;
  run_line(run, VISIBILITIES "earth-orientation=FILE ! astrofitssink location=UVFITS", AS_IT_CAME);
  g_assert_cmpstr(run->error, ==, NULL);
  run_line(run, image, AS_IT_CAME);
  expect_place(run, L, M, 0.001);
  g_assert_cmpuint(run->warnings, ==, 0);
  g_assert_cmpuint(run->source->earth->n, ==, 12);
  run_line(run, given, AS_IT_CAME);
  expect_place(run, L, M, 0.001);

  run_line(run, VISIBILITIES " ! astrofitssink location=UVFITS", AS_IT_CAME);
  run_line(run, image, AS_IT_CAME);
  expect_place(run, L, M, 0.001);
  g_assert_cmpuint(run->warnings, ==, 0);
  run_line(run, given, AS_IT_CAME);
  test_says(run->error, "src: ");
  test_says(run->error, "was computed with the Earth orientation none, UT1 = UTC");
}

static void add_tests(void)
{
  static const struct {
    const char *name;
    void (*test)(Run *run, gconstpointer data);
  } tests[] = {
    { "/earth/uvw", test_uvw },
    { "/earth/simulated", test_simulated },
    { "/earth/told", test_told },
    { "/earth/delays", test_delays },
    { "/earth/observe", test_observe },
    { "/earth/shift", test_shift },
    { "/earth/refused-others", test_refused_others },
    { "/earth/refused-times", test_refused_times },
    { "/earth/refused-late", test_refused_late },
    { "/earth/files", test_files },
  };
  for (guint i = 0; i < G_N_ELEMENTS(tests); i++)
    g_test_add(tests[i].name, Run, NULL, set_up, tests[i].test, tear_down);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
