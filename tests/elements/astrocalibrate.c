/* The element: gains that astrovissrc put in come out in the table, corrected visibilities are
 * those of the sky, mode=both gives what mode=solve and mode=apply give, what no gains are known
 * for is flagged, and refusals. */
#include "core/delay/calibration-table.h"
#include "core/fits/gains/gains.h"
#include "core/kit/units.h"
#include "core/lib/predict/errors.h"
#include "core/stream/observation.h"
#include "core/stream/validity.h"
#include "tests/elements/elements.h"
#include "tests/near.h"

#include <glib/gstdio.h>

#define STATIONS 8
#define SKY "0.002,0.001,3;-0.004,0.002,1"
#define SOURCE                                                                                     \
  "astrovissrc stations=8 channels=4 integration=10 bandwidth=4e6 frequency=150e6 seed=3 "         \
  "sky=" SKY " "
#define ERRORS "gain-error=0.2 phase-error=60 "
#define PHASES "phase-error=60 "

typedef struct {
  GByteArray *values; /* CF32LE or CF64LE */
  GArray *counts;     /* guint32, of each value */
  GString *said;      /* warnings and the error, in lines */
  GArray *intervals;  /* GstStructure *, of messages */
  AstroObservation *observation;
} Played;

static void take_message(Played *played, GstMessage *message)
{
  g_autoptr(GError) error = NULL;
  const GstStructure *s = gst_message_get_structure(message);
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING)
    gst_message_parse_warning(message, &error, NULL);
  else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR)
    gst_message_parse_error(message, &error, NULL);
  else if (gst_structure_has_name(s, "calibrated")) {
    GstStructure *copy = gst_structure_copy(s);
    g_array_append_val(played->intervals, copy);
  }
  if (error)
    g_string_append_printf(played->said, "%s\n", error->message);
}

static void take_buffer(Played *played, GstSample *sample)
{
  GstBuffer *buffer = gst_sample_get_buffer(sample);
  AstroStream stream;
  GstMapInfo map;
  guint64 steps;
  AstroLayout shape;
  AstroValidityRun run;
  g_assert_true(astro_stream_from_caps(&stream, gst_sample_get_caps(sample), NULL));
  g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
  g_byte_array_append(played->values, map.data, (guint)map.size);
  g_assert_true(astro_stream_steps(&stream, map.size, &steps, NULL));
  gst_buffer_unmap(buffer, &map);
  astro_stream_shape(&stream, steps, &shape);
  astro_validity_run_init(&run, astro_buffer_get_validity(buffer), &shape);
  while (astro_validity_next_run(&run))
    for (guint64 k = 0; k < run.length; k++)
      g_array_append_val(played->counts, run.count);
}

static Played play(const char *line)
{
  Played played = { g_byte_array_new(), g_array_new(FALSE, FALSE, sizeof(guint32)),
                    g_string_new(NULL), g_array_new(FALSE, FALSE, sizeof(GstStructure *)), NULL };
  g_autofree char *whole = g_strconcat(line, " ! appsink name=sink sync=false", NULL);
  g_autoptr(GError) error = NULL;
  GstElement *pipeline = gst_parse_launch(whole, &error);
  g_assert_no_error(error);
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(sink, "sink");
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  GstSample *sample;
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  while (g_signal_emit_by_name(sink, "try-pull-sample", TEST_PATIENCE, &sample), sample) {
    take_buffer(&played, sample);
    gst_sample_unref(sample);
  }
  g_autoptr(GstEvent) event = gst_pad_get_sticky_event(pad, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, 0);
  played.observation = event ? astro_observation_from_event(event, NULL) : NULL;
  GstMessage *message;
  while ((message = gst_bus_pop_filtered(bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR |
                                                  GST_MESSAGE_ELEMENT))) {
    take_message(&played, message);
    gst_message_unref(message);
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  return played;
}

static void clear(Played *played)
{
  for (guint k = 0; k < played->intervals->len; k++)
    gst_structure_free(g_array_index(played->intervals, GstStructure *, k));
  g_byte_array_unref(played->values);
  g_array_unref(played->counts);
  g_string_free(played->said, TRUE);
  g_array_unref(played->intervals);
  g_clear_pointer(&played->observation, astro_observation_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Played, clear)

static complex double value_of(const Played *played, guint k)
{
  const float *v = (const float *)(gconstpointer)played->values->data + 2 * (gsize)k;
  return v[0] + I * v[1];
}

static char *new_name(void)
{
  char *name = g_build_filename(g_get_tmp_dir(), "gains-XXXXXX", NULL);
  g_close(g_mkstemp(name), NULL);
  return name;
}

/* ---- gains ---- */

/* Gains of astrovissrc are the same at all times and frequencies. */
static void test_gains(gconstpointer data)
{
  const char *type = data;
  const gboolean has_amplitudes = g_str_equal(type, "gain") || g_str_equal(type, "bandpass");
  g_autofree char *name = new_name();
  g_autofree char *line =
      g_strdup_printf(SOURCE "%s num-buffers=7 ! astrocalibrate mode=solve sky=" SKY
                             " type=%s interval=30 ref-station=A003 location=%s",
                      has_amplitudes ? ERRORS : PHASES, type, name);
  g_auto(Played) played = play(line);
  GError *error = NULL;
  g_autoptr(AstroGains) gains = astro_fits_gains_read(name, &error);
  g_assert_no_error(error);
  g_autofree complex double *truth =
      astro_predict_gains(STATIONS, 2, has_amplitudes ? 0.2 : 0, 60 * ASTRO_DEGREE, 3);
  g_assert_cmpstr(played.said->str, ==, "");
  g_assert_cmpuint(gains->intervals->len, ==, 3);
  g_assert_cmpuint(played.intervals->len, ==, 3);
  g_assert_cmpuint(gains->groups, ==, g_str_equal(type, "bandpass") ? 4 : 1);
  for (guint k = 0; k < gains->gains->len; k++) {
    const guint station = k / gains->values / gains->groups % STATIONS, pol = k % 2;
    const complex double reference = truth[2 * 2 + pol];
    g_assert_cmpfloat(g_array_index(gains->snr, float, k), >, 100);
    test_near_complex(g_array_index(gains->gains, complex double, k),
                      truth[2 * station + pol] * conj(reference) / cabs(reference), 1e-5);
    g_assert_cmpfloat(fabs(g_array_index(gains->delays, double, k)), <, 1e-12);
  }
  const AstroGainsInterval *last = &g_array_index(gains->intervals, AstroGainsInterval, 2);
  test_near(last->begin, 60, 1e-9);
  test_near(last->end, 70, 1e-9);
  guint64 solved;
  g_assert_true(gst_structure_get_uint64(g_array_index(played.intervals, GstStructure *, 0),
                                         "solved", &solved));
  g_assert_cmpuint(solved, ==, 2 * STATIONS * gains->groups);
  g_unlink(name);
}

/* Voltages that were multiplied by gains and came late give a table that undoes both: astrodelay
 * takes out of them what its lines say, which is put in by lines of the inverse. The channel at the
 * edge is left out: it has both ends of the band. */
static void test_voltages(void)
{
  static const double degrees[] = { 0, 50, -110, 20 }, ns[] = { 0, 40, -25, 70 };
  g_autofree char *lines = new_name(), *name = new_name();
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint i = 0; i < 4; i++)
    g_string_append_printf(text, "gain A%03u * 1 %g\ndelay A%03u * %g\n", i + 1, degrees[i], i + 1,
                           ns[i]);
  g_assert_true(g_file_set_contents(lines, text->str, -1, NULL));
  g_autofree char *line = g_strdup_printf(
      "astroskysrc stations=4 sky=0,0,10 noise=0.1 frequency=150e6 bandwidth=4e6 duration=0.01 ! "
      "astrodelay calibration=%s ! astrochannelizer channels=16 ! astrotranspose ! astrocorrelator "
      "integration=600 ! astroselect channels=1-15 ! astrocalibrate mode=solve type=delay "
      "interval=0 sky=0,0,10 location=%s ! fakesink",
      lines, name);
  g_autofree char *refused = test_launch(line);
  g_assert_cmpstr(refused, ==, NULL);
  GError *error = NULL;
  g_autoptr(AstroGains) gains = astro_fits_gains_read(name, &error);
  g_assert_no_error(error);
  g_autoptr(AstroObservation) observation = astro_observation_new(4);
  g_autoptr(AstroCalibration) found = astro_calibration_from_gains(gains, observation, 2, &error);
  g_assert_no_error(error);
  for (guint i = 0; i < 8; i++) {
    g_test_message("%g degrees, %g ns", found->inputs[i].phase / ASTRO_DEGREE,
                   found->inputs[i].delay * 1e9);
    test_near(found->inputs[i].delay * 1e9, -ns[i / 2], 2);
    /* Without the error of the delay, over 150 MHz. */
    test_near(remainder(found->inputs[i].phase / ASTRO_DEGREE + degrees[i / 2] -
                            360 * 150e6 * (found->inputs[i].delay + ns[i / 2] * 1e-9),
                        360),
              0, 1);
  }
  /* Gains that astrodelay divided out of voltages are not divided out again. */
  g_autofree char *undo = g_strdup_printf(
      "astroskysrc stations=4 frequency=150e6 bandwidth=4e6 duration=0.01 ! astrodelay "
      "calibration=%s ! astrochannelizer channels=16 ! astrotranspose ! astrocorrelator "
      "integration=600 ! astrocalibrate mode=apply location=%s ! fakesink",
      name, name);
  test_refused_by(undo, "astrocalibrate", "have been divided out of the stream before");
  g_unlink(lines);
  g_unlink(name);
}

/* Tables that voltages cannot be calibrated by. */
static void test_not_voltages(void)
{
  static const struct {
    const char *settings, *says;
  } cases[] = {
    { "type=full interval=0", "matrices that mix polarisations" },
    { "type=bandpass interval=0", "gains for 4 groups of channels" },
    { "interval=10", "gains for 2 intervals" },
    { "interval=0 min-snr=1e6", "station A001, polarisation 0, is flagged in the table" },
  };
  for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
    g_autofree char *name = new_name();
    g_autofree char *solve =
        g_strdup_printf(SOURCE "noise=100 num-buffers=2 ! astrocalibrate mode=solve sky=" SKY
                               " %s location=%s ! fakesink",
                        cases[k].settings, name);
    g_free(test_launch(solve));
    g_autofree char *line = g_strdup_printf("astroskysrc stations=8 duration=0.01 ! astrodelay "
                                            "calibration=%s ! fakesink",
                                            name);
    test_refused_by(line, "astrodelay", cases[k].says);
    g_unlink(name);
  }
}

/* ---- corrections ---- */

static void check_sky(const Played *played, guint buffers)
{
  g_autofree char *line = g_strdup_printf(SOURCE "num-buffers=%u", buffers);
  g_auto(Played) sky = play(line);
  g_assert_cmpuint(played->values->len, ==, sky.values->len);
  for (guint k = 0; k < played->counts->len; k++)
    test_near_complex(value_of(played, k), value_of(&sky, k), 2e-5);
}

static void test_both(gconstpointer data)
{
  static const char *const types[] = { "gain", "full", "bandpass" };
  for (guint t = 0; t < G_N_ELEMENTS(types); t++) {
    g_autofree char *line = g_strdup_printf(
        SOURCE ERRORS "num-buffers=6 ! astrocalibrate backend=%s sky=" SKY " type=%s interval=30",
        (const char *)data, types[t]);
    g_auto(Played) played = play(line);
    /* An unpolarised sky leaves what is the same for all stations open. */
    if (g_str_equal(types[t], "full"))
      test_says(played.said->str, "leaves 3 angles of polarisation open");
    else
      g_assert_cmpstr(played.said->str, ==, "");
    check_sky(&played, 6);
    g_autofree char *done = g_strdup_printf("solved-%s", types[t]);
    g_assert_cmpstr(played.observation->done.gains, ==, done);
    g_assert_cmpfloat(played.observation->done.scale, ==, 1);
  }
}

/* The weights of corrected visibilities are those of their noise: what a large gain makes small. */
static void test_weights(void)
{
  g_auto(Played) played = play(SOURCE ERRORS "num-buffers=2 ! astrocalibrate sky=" SKY);
  g_autofree complex double *truth = astro_predict_gains(STATIONS, 2, 0.2, 60 * ASTRO_DEGREE, 3);
  double ratio = 0;
  for (guint k = 0; k < played.counts->len; k++) {
    const guint baseline = k / 4 % (STATIONS * (STATIONS + 1) / 2), a = k / 2 % 2, b = k % 2;
    guint i = 0;
    while ((i + 1) * (i + 2) / 2 <= baseline)
      i++;
    const guint j = baseline - i * (i + 1) / 2;
    const double expected = pow(cabs(truth[2 * i + a]), 2) * pow(cabs(truth[2 * j + b]), 2);
    const double found = g_array_index(played.counts, guint32, k) / expected;
    if (k == 0)
      ratio = found;
    test_near(found / ratio, 1, 1e-3);
  }
}

/* A table that is applied gives what mode=both gives, interpolation included. */
static void test_apply(void)
{
  g_autofree char *name = new_name();
  g_autofree char *solve =
      g_strdup_printf(SOURCE ERRORS "noise=300 num-buffers=8 ! astrocalibrate sky=" SKY
                                    " interval=30 channel-step=2 mode=solve location=%s",
                      name);
  g_autofree char *apply = g_strdup_printf(
      SOURCE ERRORS "noise=300 num-buffers=8 ! astrocalibrate mode=apply location=%s", name);
  g_auto(Played) solved = play(solve), applied = play(apply),
                 both = play(SOURCE ERRORS "noise=300 num-buffers=8 ! astrocalibrate sky=" SKY
                                           " interval=30 channel-step=2");
  g_assert_cmpstr(applied.said->str, ==, "");
  g_assert_cmpmem(applied.values->data, applied.values->len, both.values->data, both.values->len);
  g_assert_cmpuint(applied.values->len, >, 0);
  /* mode=solve passes on what came. */
  g_auto(Played) came = play(SOURCE ERRORS "noise=300 num-buffers=8");
  g_assert_cmpmem(solved.values->data, solved.values->len, came.values->data, came.values->len);
  g_assert_null(solved.observation->done.gains);
  g_assert_nonnull(applied.observation->done.gains);
  g_unlink(name);
}

/* ---- what is not known ---- */

static guint64 flagged(const Played *played, guint from, guint to)
{
  guint64 n = 0;
  for (guint k = from; k < to; k++)
    n += g_array_index(played->counts, guint32, k) == 0;
  return n;
}

static void test_beyond(void)
{
  g_autofree char *name = new_name();
  g_autofree char *solve = g_strdup_printf(SOURCE ERRORS "num-buffers=4 ! astrocalibrate sky=" SKY
                                                         " interval=%%s mode=solve location=%s",
                                           name);
  g_autofree char *apply =
      g_strdup_printf(SOURCE ERRORS "num-buffers=6 ! astrocalibrate mode=apply location=%s", name);
  const guint step = STATIONS * (STATIONS + 1) / 2 * 16;
  for (guint k = 0; k < 2; k++) {
    g_auto(GStrv) parts = g_strsplit(solve, "%s", 2);
    g_autofree char *line = g_strjoinv(k ? "0" : "20", parts);
    g_auto(Played) solved = play(line), played = play(apply);
    g_assert_cmpuint(played.counts->len, ==, 6 * step);
    g_assert_cmpuint(flagged(&played, 0, 4 * step), ==, 0);
    g_assert_cmpuint(flagged(&played, 4 * step, 6 * step), ==, k ? 0 : 2 * step);
  }
  g_unlink(name);
}

/* A station without data is flagged, and the others are right. */
static void test_missing(void)
{
  g_autofree char *list = new_name();
  g_assert_true(g_file_set_contents(list, "stations=5\n", -1, NULL));
  g_autofree char *line = g_strdup_printf(
      SOURCE ERRORS "num-buffers=3 ! astroflag method=list location=%s ! astrocalibrate name=c "
                    "sky=" SKY,
      list);
  g_auto(Played) played = play(line);
  guint64 none;
  g_assert_true(gst_structure_get_uint64(g_array_index(played.intervals, GstStructure *, 0),
                                         "no-data", &none));
  g_assert_cmpuint(none, ==, 2);
  g_assert_cmpuint(flagged(&played, 0, played.counts->len), ==, 3 * 4 * 4 * STATIONS);
  g_auto(Played) sky = play(SOURCE "num-buffers=3");
  for (guint k = 0; k < played.counts->len; k++)
    if (g_array_index(played.counts, guint32, k))
      test_near_complex(value_of(&played, k), value_of(&sky, k), 2e-5);
  g_unlink(list);
}

static void test_warnings(void)
{
  static const struct {
    const char *line, *says;
  } cases[] = {
    { SOURCE "noise=1e6 num-buffers=1 ! astrocalibrate min-snr=100 sky=" SKY,
      "16 are below min-snr" },
    { "astrovissrc stations=2 num-buffers=1 ! astrocalibrate sky=0,0,1",
      "4 are not determined by their baselines and the sky" },
  };
  for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
    g_auto(Played) played = play(cases[k].line);
    test_says(played.said->str, cases[k].says);
    test_says(played.said->str, "its visibilities are flagged");
    g_assert_cmpuint(flagged(&played, 0, played.counts->len), ==, played.counts->len);
  }
}

static double told_of(const Played *played, const char *name)
{
  double value;
  g_assert_true(
      gst_structure_get_double(g_array_index(played->intervals, GstStructure *, 0), name, &value));
  return value;
}

/* Without its brightest source a model leaves residuals above the noise, of each type; with all
 * sources, and with a faint one less, they are noise. */
static void test_unexplained(void)
{
  static const char *const types[] = { "phase", "gain", "bandpass", "delay" };
  for (guint t = 0; t < G_N_ELEMENTS(types); t++)
    for (guint k = 0; k < 3; k++) {
      static const char *const skies[] = { "0.002,0.001,3;-0.004,0.002,1;0.001,0.003,0.05",
                                           "0.002,0.001,3;-0.004,0.002,1",
                                           "-0.004,0.002,1;0.001,0.003,0.05" };
      g_autofree char *line = g_strdup_printf(
          "astrovissrc stations=8 channels=8 integration=10 seed=3 sky=%s phase-error=40 noise=100 "
          "num-buffers=6 ! astrocalibrate sky=%s interval=0 min-snr=0 type=%s",
          skies[0], skies[k], types[t]);
      g_auto(Played) played = play(line);
      g_test_message("%s %u: %g, %g", types[t], k, told_of(&played, "chi-squared"),
                     told_of(&played, "unexplained"));
      if (k == 2) {
        test_says(played.said->str, "the model does not explain the visibilities from 0 to 60 s");
        g_assert_cmpfloat(told_of(&played, "unexplained"), >, 0.05);
        continue;
      }
      g_assert_cmpstr(played.said->str, ==, "");
      g_assert_cmpfloat(told_of(&played, "unexplained"), <, 0.05);
      if (k == 0)
        g_assert_cmpfloat_with_epsilon(told_of(&played, "chi-squared"), 1, 0.5);
    }
}

/* ---- refusals ---- */

static void test_refusals(void)
{
  static const struct {
    const char *line, *says;
  } cases[] = {
    { "astrovissrc num-buffers=1 ! astrocalibrate ! fakesink", "mode=both without sky" },
    { "astrovissrc num-buffers=1 ! astrocalibrate sky=0,0,1 mode=solve ! fakesink",
      "mode=solve without location" },
    { "astrovissrc num-buffers=1 ! astrocalibrate mode=apply ! fakesink",
      "mode=apply without location" },
    { "astrovissrc num-buffers=1 ! astrocalibrate sky=0,0,one ! fakesink", "one" },
    { "astrovissrc num-buffers=1 ! astrocalibrate mode=apply location=/none/such ! fakesink",
      "/none/such" },
    { "astrovissrc num-buffers=1 ! astrocalibrate sky=0,0,1 mode=solve location=/none/such ! "
      "fakesink",
      "/none/such" },
    { "astrovissrc stations=4 num-buffers=1 ! astrocalibrate sky=0,0,1 ref-station=B ! fakesink",
      "ref-station=B is none of the 4 stations: expected a name" },
    { "astrovissrc pols=1 num-buffers=1 ! astrocalibrate sky=0,0,1 type=full ! fakesink",
      "type=full for pols=1" },
    { "astroskysrc stations=3 num-buffers=1 ! astrochannelizer channels=4 ! astrocorrelator "
      "integration=100 ! astrocalibrate sky=0,0,1 ! fakesink",
      "expected astrodelay before or after the channelizer" },
    { "fakesrc num-buffers=1 sizetype=fixed sizemax=48 ! application/x-astro-visibilities,"
      "format=CF32LE,layout=channel:baseline:pol:pol,baselines=6,channels=1,pols=1,rate=1/1,"
      "frequency=150e6,bandwidth=1e6 ! astrocalibrate sky=0,0,1 ! fakesink",
      "has no observation" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    test_refused_by(cases[i].line, "astrocalibrate", cases[i].says);
}

/* A table that does not fit the stream, or comes twice. */
static void test_wrong_table(void)
{
  g_autofree char *name = new_name();
  g_autofree char *solve = g_strdup_printf(
      SOURCE "num-buffers=2 ! astrocalibrate sky=" SKY " mode=solve location=%s", name);
  g_auto(Played) solved = play(solve);
  static const struct {
    const char *source, *says;
  } cases[] = {
    { "astrovissrc pols=1 num-buffers=1", "is for pols=2, and the stream has pols=1" },
    { "astrovissrc basis=circular num-buffers=1", "is for the linear basis" },
    { SOURCE "num-buffers=1 ! astrocalibrate mode=apply location=%s",
      "have been divided out of the stream before" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(GStrv) parts = g_strsplit(cases[i].source, "%s", 2);
    g_autofree char *source = g_strjoinv(name, parts);
    g_autofree char *line =
        g_strdup_printf("%s ! astrocalibrate mode=apply location=%s ! fakesink", source, name);
    test_refused_by(line, "", cases[i].says);
  }
  g_unlink(name);
}

/* A file stays as it was until the table is whole. */
static void test_old_file(void)
{
  g_autofree char *name = new_name();
  g_autofree char *content = NULL;
  g_assert_true(g_file_set_contents(name, "old", -1, NULL));
  g_autofree char *line = g_strdup_printf(
      SOURCE "num-buffers=0 ! astrocalibrate sky=" SKY " mode=solve location=%s ! fakesink", name);
  g_free(test_launch(line));
  g_assert_true(g_file_get_contents(name, &content, NULL, NULL));
  g_assert_cmpstr(content, ==, "old");
  g_unlink(name);
}

static void add_tests(void)
{
  static const char *const types[] = { "phase", "gain", "delay", "bandpass" };
  for (guint k = 0; k < G_N_ELEMENTS(types); k++) {
    g_autofree char *path = g_strdup_printf("/astrocalibrate/gains/%s", types[k]);
    g_test_add_data_func(path, types[k], test_gains);
  }
  g_test_add_func("/astrocalibrate/voltages", test_voltages);
  g_test_add_func("/astrocalibrate/not-voltages", test_not_voltages);
  g_test_add_data_func("/astrocalibrate/both/cpu", "cpu", test_both);
  g_test_add_data_func("/astrocalibrate/both/reference", "reference", test_both);
  g_test_add_func("/astrocalibrate/weights", test_weights);
  g_test_add_func("/astrocalibrate/apply", test_apply);
  g_test_add_func("/astrocalibrate/beyond", test_beyond);
  g_test_add_func("/astrocalibrate/missing", test_missing);
  g_test_add_func("/astrocalibrate/unexplained", test_unexplained);
  g_test_add_func("/astrocalibrate/warnings", test_warnings);
  g_test_add_func("/astrocalibrate/refused", test_refusals);
  g_test_add_func("/astrocalibrate/wrong-table", test_wrong_table);
  g_test_add_func("/astrocalibrate/old-file", test_old_file);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
