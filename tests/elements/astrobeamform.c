/* The element: a beam gains what it should on a simulated source and finds where it is; it follows
 * the sky for hours; losses, formats, the observation, and refusals. */
#include "core/stream/uvw.h"
#include "core/stream/validity.h"
#include "tests/elements/running.h"
#include "tests/near.h"
#include "tests/observe.h"

#include <glib/gstdio.h>

#define SKY                                                                                        \
  "astroskysrc array=disc pols=1 stations=%u noise=%g sky=%s frequency=1.5e8 bandwidth=1e6 "       \
  "seed=3 start-time=2026-11-20T12:00:00 phase-centre=zenith duration=%g "                         \
  "! application/x-astro-voltages,format=CF32LE ! astrodelay ! astrochannelizer channels=8 "       \
  "! astrotranspose ! "

/* ---- what a beam gains ---- */

/* Mean power of each beam, in units of the source's scale. */
static double *powers_of(const char *line, guint beams)
{
  g_autoptr(GByteArray) bytes = test_run_line(line);
  const complex float *values = (gconstpointer)bytes->data;
  const guint n = bytes->len / sizeof *values;
  double *powers = g_new0(double, beams);
  g_assert_cmpuint(n % beams, ==, 0);
  for (guint i = 0; i < n; i++)
    powers[i % beams] += creal(values[i] * conj(values[i])) * beams / n;
  return powers;
}

/* Beams are the fastest axis, so that they are easily told apart. */
#define BEAMS "astrobeamform beams=%s %s ! astrotranspose layout=channel:time:pol:beam"

static double power_of(guint stations, double noise, const char *sky, const char *settings)
{
  g_autofree char *line =
      g_strdup_printf(SKY BEAMS, stations, noise, sky, 0.4, "0.01,-0.02", settings);
  g_autofree double *powers = powers_of(line, 1);
  return powers[0];
}

/* The same noise with and without the source tells what the source adds. */
static double signal_to_noise(guint stations, const char *settings)
{
  const double noise = power_of(stations, 30, "0.01,-0.02,0", settings);
  return (power_of(stations, 30, "0.01,-0.02,30", settings) - noise) / noise;
}

static void test_gain(void)
{
  const double one = signal_to_noise(16, "stations=5"), all = signal_to_noise(16, ""),
               some = signal_to_noise(16, "stations=0-8,15");
  g_test_message("signal to noise: %g of one station, %g of ten, %g of 16", one, some, all);
  test_near(one, 1, 0.05);
  test_near(all / one, 16, 0.02 * 16);
  test_near(some / one, 10, 0.02 * 10);
}

/* A source keeps its power in the mean, wherever it is. */
static void test_amplitude(void)
{
  static const char *const settings[] = { "", "stations=3,9", "backend=reference" };
  for (guint i = 0; i < G_N_ELEMENTS(settings); i++)
    test_near(power_of(16, 0, "0.01,-0.02,30", settings[i]) /
                  power_of(16, 0, "0.01,-0.02,30", "stations=0"),
              1, 0.01);
}

/* ---- scanning ---- */

enum { SIDE = 9 };

/* The maximum of a parabola through three values, in steps from the middle one. */
static double vertex(double before, double at, double after)
{
  return 0.5 * (before - after) / (before - 2 * at + after);
}

static void test_scan(void)
{
  const double l = 0.0044, m = -0.0027, step = 0.0004;
  g_autoptr(GString) beams = g_string_new("\"");
  for (guint i = 0; i < SIDE * SIDE; i++)
    g_string_append_printf(beams, "%g,%g;", (i % SIDE - SIDE / 2.) * step + 0.004,
                           (i / SIDE - SIDE / 2.) * step - 0.003);
  g_string_append_c(beams, '"');
  g_autofree char *line =
      g_strdup_printf(SKY BEAMS, 24, 5., "0.0044,-0.0027,30", 0.1, beams->str, "");
  g_autofree double *powers = powers_of(line, SIDE * SIDE);
  guint best = 0;
  for (guint i = 0; i < SIDE * SIDE; i++)
    if (powers[i] > powers[best])
      best = i;
  const guint x = best % SIDE, y = best / SIDE;
  g_assert_true(x > 0 && x < SIDE - 1 && y > 0 && y < SIDE - 1);
  const double found_l =
                   (x - SIDE / 2. + vertex(powers[best - 1], powers[best], powers[best + 1])) *
                       step +
                   0.004,
               found_m = (y - SIDE / 2. +
                          vertex(powers[best - SIDE], powers[best], powers[best + SIDE])) *
                             step -
                         0.003;
  g_test_message("found %g,%g", found_l, found_m);
  test_near(found_l, l, 0.1 * step);
  test_near(found_m, m, 0.1 * step);
}

/* ---- tracking ---- */

enum { STATIONS = 20, STEPS = 64 };
#define SPECTRA                                                                                    \
  "application/x-astro-spectra,format=CF32LE,layout=station:time,stations=20,rate=1000/1,"         \
  "frequency=1.4e9,bandwidth=1e4"

/* A wave of amplitude 1 from the direction of `to`, after the delays of the centre of o. */
static GstBuffer *wave(const AstroObservation *o, const AstroObservation *to, guint64 first)
{
  complex float *samples = g_new(complex float, STATIONS *STEPS);
  for (guint t = 0; t < STEPS; t++) {
    const gint64 ns = (gint64)((first + t) * GST_MSECOND + GST_MSECOND / 2);
    double uvw[2][3 * STATIONS], mean = 0;
    astro_uvw(o, ns, uvw[0]);
    astro_uvw(to, ns, uvw[1]);
    for (guint i = 0; i < STATIONS; i++)
      mean += (uvw[1][3 * i + 2] - uvw[0][3 * i + 2]) / STATIONS;
    for (guint i = 0; i < STATIONS; i++) {
      const double metres = uvw[1][3 * i + 2] - uvw[0][3 * i + 2] - mean;
      samples[i * STEPS + t] =
          (complex float)cexp(2 * G_PI * I * 1.4e9 * metres / ASTRO_LIGHT_SPEED);
    }
  }
  GstBuffer *buffer = gst_buffer_new_wrapped(samples, STATIONS * STEPS * sizeof(complex float));
  GST_BUFFER_OFFSET(buffer) = first;
  GST_BUFFER_OFFSET_END(buffer) = first + STEPS;
  return buffer;
}

/* Harnesses take each block as it comes, which a device gives later: hence backend=cpu. Pipelines
 * take what auto chooses. */

/* A beam on a source far from the phase centre keeps it over six hours: its phase is that of the
 * wave at the array's centre, to a thousandth of a turn, and nothing is lost. */
static void test_tracked(void)
{
  GstHarness *h = gst_harness_new_parse("astrobeamform beams=0.02,-0.03 backend=cpu");
  g_autoptr(AstroObservation) o = test_observe("vla-like", STATIONS);
  const double lmn[3] = { 0.02, -0.03, sqrt(1 - 0.02 * 0.02 - 0.03 * 0.03) };
  o->done.delays = ASTRO_DELAYS_OUT;
  g_autoptr(AstroObservation) to = astro_observation_copy(o);
  astro_direction_from_lmn(o, lmn, &to->phase_ra, &to->phase_dec);
  gst_harness_set_src_caps_str(h, SPECTRA);
  gst_harness_push_event(h, astro_observation_to_event(o));
  for (guint hour = 0; hour <= 6; hour++) {
    const guint64 first = hour * 3600000 + 17;
    g_autoptr(GstBuffer) out = gst_harness_push_and_pull(h, wave(o, to, first));
    complex float beam[STEPS];
    g_assert_cmpuint(gst_buffer_extract(out, 0, beam, sizeof beam), ==, sizeof beam);
    g_assert_cmpuint(GST_BUFFER_OFFSET(out), ==, first);
    for (guint t = 0; t < STEPS; t++) {
      test_near(cabs(beam[t]), 1, 1e-5);
      test_near(carg(beam[t]) / (2 * G_PI), 0, 1e-3);
    }
  }
  gst_harness_teardown(h);
}

/* ---- losses ---- */

/* All stations receive 3, and one is lost in the first half. */
static void test_losses(void)
{
  GstHarness *h = gst_harness_new_parse("astrobeamform beams=0,0;0,0.1 stations=1- backend=cpu");
  g_autoptr(AstroObservation) o = test_observe("disc", 4);
  const AstroLayout shape = { 2, { ASTRO_AXIS_STATION, ASTRO_AXIS_TIME }, { 4, 2 } };
  static const gint8 in[4][4][2] = { { { 99, 0 }, { 99, 0 }, { 99, 0 }, { 99, 0 } },
                                     { { 3, 0 }, { 3, 0 }, { 3, 0 }, { 3, 0 } },
                                     { { 77, 0 }, { 77, 0 }, { 3, 0 }, { 3, 0 } },
                                     { { 3, 0 }, { 3, 0 }, { 3, 0 }, { 3, 0 } } };
  o->done.delays = ASTRO_DELAYS_OUT;
  gst_harness_set_src_caps_str(
      h, "application/x-astro-spectra,format=CI8,layout=station:time,stations=4,rate=1000/1,"
         "frequency=1.5e8,bandwidth=1e6,counts=true");
  gst_harness_push_event(h, astro_observation_to_event(o));
  GstBuffer *buffer = gst_buffer_new_memdup(in, sizeof in);
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &shape, 5);
  meta->counts[0] = 0; /* it does not take part */
  meta->counts[2 * 2] = 4;
  g_autoptr(GstBuffer) out = gst_harness_push_and_pull(h, buffer);
  const AstroValidityMeta *counts = astro_buffer_get_validity(out);
  complex float beams[2][4];
  g_assert_cmpuint(gst_buffer_extract(out, 0, beams, sizeof beams), ==, sizeof beams);
  for (guint t = 0; t < 4; t++)
    test_near_complex(beams[0][t], 3, 1e-6);
  g_assert_cmpuint(counts->full, ==, 3);
  g_assert_cmpuint(astro_validity_n_counts(counts), ==, 2);
  g_assert_cmpuint(counts->counts[0], ==, 2);
  g_assert_cmpuint(counts->counts[1], ==, 3);
  /* A gap is a gap of the beams. */
  buffer = gst_buffer_new_memdup(in, sizeof in);
  GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_GAP);
  meta = astro_buffer_add_validity(buffer, &shape, 5);
  memset(meta->counts, 0, 8 * sizeof *meta->counts);
  g_autoptr(GstBuffer) gap = gst_harness_push_and_pull(h, buffer);
  g_assert_true(GST_BUFFER_FLAG_IS_SET(gap, GST_BUFFER_FLAG_GAP));
  g_assert_cmpuint(astro_buffer_get_validity(gap)->counts[0], ==, 0);
  g_assert_cmpuint(gst_buffer_get_size(gap), ==, sizeof beams);
  gst_harness_teardown(h);
}

/* A beam that lacks a station is detected all the same; only where no station is left is there
 * nothing to detect. */
static void test_detected(void)
{
  GstHarness *h = gst_harness_new_parse(
      "astrobeamform beams=0,0 backend=cpu ! astropower products=I integration=4 backend=cpu");
  g_autoptr(AstroObservation) o = test_observe("disc", 3);
  const AstroLayout shape = { 2, { ASTRO_AXIS_STATION, ASTRO_AXIS_TIME }, { 3, 4 } };
  gint8 in[3][4][2] = { 0 };
  o->done.delays = ASTRO_DELAYS_OUT;
  gst_harness_set_src_caps_str(
      h, "application/x-astro-spectra,format=CI8,layout=station:time,stations=3,rate=1000/1,"
         "frequency=1.5e8,bandwidth=1e6,counts=true");
  gst_harness_push_event(h, astro_observation_to_event(o));
  GstBuffer *buffer = gst_buffer_new();
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &shape, 1);
  for (guint n = 0; n < 3; n++)
    for (guint t = 0; t < 4; t++) {
      in[n][t][0] = 4;
      meta->counts[n * 4 + t] = n >= t; /* three, two, one and no stations */
    }
  gpointer copy = g_memdup2(in, sizeof in);
  gst_buffer_append_memory(buffer,
                           gst_memory_new_wrapped(0, copy, sizeof in, 0, sizeof in, copy, g_free));
  g_autoptr(GstBuffer) out = gst_harness_push_and_pull(h, buffer);
  float power;
  g_assert_cmpuint(gst_buffer_extract(out, 0, &power, sizeof power), ==, sizeof power);
  test_near((double)power, 16, 1e-4);
  g_assert_cmpuint(astro_buffer_get_validity(out)->counts[0], ==, 3);
  g_assert_cmpuint(astro_buffer_get_validity(out)->full, ==, 4);
  gst_harness_teardown(h);
}

/* ---- formats and the observation ---- */

#define CI8_SPECTRA                                                                                \
  "application/x-astro-spectra,format=CI8,layout=channel:station:pol:time,channels=2,stations=4,"  \
  "pols=2,rate=1000/1,frequency=1.5e8,bandwidth=1e6"

/* Sends one block, and returns the observation that came out. */
static AstroObservation *push(GstHarness *h, const gint8 *in, gsize bytes, GstBuffer **out)
{
  g_autoptr(AstroObservation) o = test_observe("disc", 4);
  o->done.delays = ASTRO_DELAYS_OUT;
  o->done.scale = 10;
  gst_harness_set_src_caps_str(h, CI8_SPECTRA);
  gst_harness_push_event(h, astro_observation_to_event(o));
  *out = gst_harness_push_and_pull(h, gst_buffer_new_memdup(in, bytes));
  g_autoptr(GstEvent) event =
      gst_pad_get_sticky_event(h->sinkpad, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, 0);
  return astro_observation_from_event(event, NULL);
}

/* Integers get the square root of the number of stations, so that noise keeps its rms; the
 * observation says so. A scale of one's own counts what it clips. */
static void test_scale(void)
{
  static const struct {
    const char *format, *settings;
    double scale;
    guint64 clipped;
  } cases[] = { { "CF32LE", "", 1, 0 },
                { "CI8", "", 2, 0 },
                { "CI16LE", "stations=1", 1, 0 },
                { "CI8", "scale=-3", -3, 0 },
                { "CI8", "scale=7", 7, 2 * 2 * 3 } };
  gint8 in[2][4][2][3][2];
  for (guint i = 0; i < sizeof in; i++)
    (&in[0][0][0][0][0])[i] = i % 2 ? -6 : 20;
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *line =
        g_strdup_printf("astrobeamform name=b beams=0,0 backend=cpu %s", cases[i].settings);
    g_autofree char *caps =
        g_strdup_printf("application/x-astro-spectra,format=%s", cases[i].format);
    GstHarness *h = gst_harness_new_parse(line);
    g_autoptr(GstBuffer) out = NULL;
    gst_harness_set_sink_caps_str(h, caps);
    g_autoptr(AstroObservation) o = push(h, &in[0][0][0][0][0], sizeof in, &out);
    test_near(o->done.scale, 10 * fabs(cases[i].scale), 1e-12);
    guint64 clipped;
    g_autoptr(GstElement) element = gst_harness_find_element(h, "astrobeamform");
    g_object_get(element, "clipped", &clipped, NULL);
    g_assert_cmpuint(clipped, ==, cases[i].clipped);
    GstMapInfo map;
    g_assert_true(gst_buffer_map(out, &map, GST_MAP_READ));
    const double first = *cases[i].format == 'C' && cases[i].format[1] == 'F'
                             ? (double)((const float *)(gconstpointer)map.data)[0]
                         : cases[i].format[2] == '8' ? ((const gint8 *)map.data)[0]
                                                     : ((const gint16 *)(gconstpointer)map.data)[0];
    test_near(first, MIN(20 * cases[i].scale, 127), 1e-5);
    gst_buffer_unmap(out, &map);
    gst_harness_teardown(h);
  }
}

static void test_observation(void)
{
  g_autofree char *path = g_build_filename(g_get_tmp_dir(), "beams-XXXXXX", NULL);
  const gint fd = g_mkstemp(path);
  g_assert_true(g_close(fd, NULL));
  g_assert_true(g_file_set_contents(path, "lm 0.1 0.2 mine\nlm 0 0\n", -1, NULL));
  g_autofree char *line = g_strdup_printf("astrobeamform beams=%s backend=cpu", path);
  GstHarness *h = gst_harness_new_parse(line);
  gint8 in[2][4][2][3][2] = { 0 };
  g_autoptr(GstBuffer) out = NULL;
  g_autoptr(AstroObservation) o = push(h, &in[0][0][0][0][0], sizeof in, &out);
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  AstroStream stream;
  g_assert_true(astro_stream_from_caps(&stream, caps, NULL));
  g_assert_cmpuint(astro_stream_extent(&stream, ASTRO_AXIS_BEAM), ==, 2);
  g_autofree char *layout = astro_layout_to_string(&stream.layout);
  g_assert_cmpstr(layout, ==, "channel:beam:pol:time");
  g_assert_cmpuint(o->n_beams, ==, 2);
  g_assert_cmpstr(o->beams[0].name, ==, "mine");
  g_assert_cmpstr(o->beams[1].name, ==, "B1");
  g_assert_cmpint(o->beams[0].kind, ==, ASTRO_BEAM_TIED);
  g_assert_cmpint(o->beams[0].frame, ==, ASTRO_BEAM_LM);
  g_assert_cmpfloat(o->beams[0].y, ==, 0.2);
  g_assert_cmpuint(o->n_stations, ==, 4);
  gst_harness_teardown(h);
  g_unlink(path);
}

/* A stream of another observation is steered for it. */
static void test_new_observation(void)
{
  GstHarness *h = gst_harness_new_parse("astrobeamform beams=0.1,0.05 backend=cpu");
  complex float in[STATIONS * STEPS], first[STEPS], second[STEPS];
  for (guint i = 0; i < G_N_ELEMENTS(in); i++)
    in[i] = 1;
  gst_harness_set_src_caps_str(h, SPECTRA);
  for (guint i = 0; i < 2; i++) {
    g_autoptr(AstroObservation) o = test_observe(i ? "vla-like" : "disc", STATIONS);
    o->done.delays = ASTRO_DELAYS_OUT;
    gst_harness_push_event(h, astro_observation_to_event(o));
    g_autoptr(GstBuffer) out = gst_harness_push_and_pull(h, gst_buffer_new_memdup(in, sizeof in));
    gst_buffer_extract(out, 0, i ? second : first, sizeof first);
  }
  g_assert_cmpint(memcmp(first, second, sizeof first), !=, 0);
  gst_harness_teardown(h);
}

/* ---- refusals and warnings ---- */

#define SOURCE                                                                                     \
  "astroskysrc stations=3 num-buffers=1 phase-centre=246.5,38 array=vla-like "                     \
  "start-time=2026-11-20T12:00:00 "
#define DELAYED SOURCE "! astrodelay ! astrochannelizer channels=4 ! "

static void test_refusals(void)
{
  g_autofree char *weights = g_build_filename(g_get_tmp_dir(), "weights-XXXXXX", NULL);
  const gint fd = g_mkstemp(weights);
  g_assert_true(g_close(fd, NULL));
  g_assert_true(g_file_set_contents(weights, "* * 1\n* 9 1\n", -1, NULL));
  const struct {
    const char *line, *says;
  } cases[] = {
    { DELAYED "astrobeamform ! fakesink", "beams= has no beams, expected directions" },
    { DELAYED "astrobeamform beams=here,there ! fakesink", "beam 0 is \"here,there\", expected" },
    { DELAYED "astrobeamform beams=0,0 scale=0 ! fakesink", "scale=0: expected a number other" },
    { DELAYED "astrobeamform beams=0,0 scale=much ! fakesink", "scale=much: expected" },
    { DELAYED "astrobeamform beams=66,-38 ! fakesink", "from the phase centre, expected less" },
    { DELAYED "astrobeamform beams=0,0 stations=2,3 ! fakesink", "stations" },
    { DELAYED "astrobeamform beams=0,0 stations=CS302 ! fakesink", "CS302" },
    { DELAYED "astrobeamform beams=0,0 weights=/nowhere/w ! fakesink", "/nowhere/w" },
    { DELAYED "astrobeamform beams=0,0 weights=%s ! fakesink", ":2: channels \"9\", expected" },
    { DELAYED "astrobeamform beams=0,0 ! application/x-astro-spectra,format=CI8 ! fakesink",
      "scale=auto from CF32LE to CI8" },
    { SOURCE "! astrochannelizer channels=4 ! astrobeamform beams=0,0 ! fakesink",
      "delays of the phase centre have not been taken out" },
    { "fakesrc num-buffers=1 sizetype=fixed sizemax=12 ! application/x-astro-spectra,format=CI8,"
      "layout=station:time,stations=3,rate=1/1,frequency=1.5e8,bandwidth=1e6 ! "
      "astrobeamform beams=0,0 ! fakesink",
      "has no observation" },
    { DELAYED "astrobeamform beams=0,0 ! astrobeamform beams=0,0 ! fakesink",
      "expected spectra with axes time and station" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *line = test_replace(cases[i].line, "%s", weights);
    test_refused_by(line, "astrobeamform", cases[i].says);
  }
  g_unlink(weights);
}

/* The warnings of a line, until its end. */
static char *warnings_of(const char *line)
{
  g_autoptr(GstElement) pipeline = gst_parse_launch(line, NULL);
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  GString *all = g_string_new(NULL);
  gboolean is_over = FALSE;
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  while (!is_over) {
    g_autoptr(GError) warning = NULL;
    g_autoptr(GstMessage) message = gst_bus_timed_pop_filtered(
        bus, TEST_PATIENCE, GST_MESSAGE_WARNING | GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    g_assert_nonnull(message);
    g_assert_cmpint(GST_MESSAGE_TYPE(message), !=, GST_MESSAGE_ERROR);
    is_over = GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
    if (is_over)
      continue;
    gst_message_parse_warning(message, &warning, NULL);
    g_string_append_printf(all, "%s\n", warning->message);
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  return g_string_free(all, FALSE);
}

#define ZENITH                                                                                     \
  "astroskysrc stations=8 array=disc phase-centre=zenith num-buffers=2 frequency=1.5e8 "           \
  "start-time=2026-11-20T12:00:00 "

static void test_warnings(void)
{
  static const struct {
    const char *line, *says; /* NULL: nothing */
  } cases[] = {
    { ZENITH "! astrodelay ! astrochannelizer channels=64 ! astrobeamform beams=0,0;0.1,0 ! "
             "fakesink",
      NULL },
    { ZENITH "! astrochannelizer channels=4 ! astrobeamform beams=0,0 ! fakesink",
      "tolerable only at the array's zenith and for a short while. astrodelay takes them out" },
    { ZENITH "! astrodelay ! astrochannelizer channels=4 ! astrobeamform beams=0,0;0.5,0 ! "
             "fakesink",
      "differ between stations by up to 1.6" },
    { SOURCE "! astrodelay ! astrochannelizer channels=4 ! astrobeamform "
             "beams=246.5,38;246.5,-45 ! fakesink",
      "beam B1 (ra 246.5000, dec -45.0000 degrees) is" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *warnings = warnings_of(cases[i].line);
    g_test_message("%s", warnings);
    if (cases[i].says)
      test_says(warnings, cases[i].says);
    else
      g_assert_cmpstr(warnings, ==, "");
  }
}

/* ---- weights ---- */

/* A weight turns and stretches what a station sends: with all power in one station, the beam is
 * that station's signal, turned. */
static void test_weights(void)
{
  g_autofree char *path = g_build_filename(g_get_tmp_dir(), "weights-XXXXXX", NULL);
  const gint fd = g_mkstemp(path);
  g_autoptr(AstroObservation) named = test_observe("disc", 4);
  g_autofree char *text =
      g_strdup_printf("* * 0\n%s 0 5 90\n%s 1 0.1\n", named->names[2], named->names[1]);
  g_assert_true(g_close(fd, NULL));
  g_assert_true(g_file_set_contents(path, text, -1, NULL));
  g_autofree char *line = g_strdup_printf("astrobeamform beams=0,0 backend=cpu weights=%s", path);
  GstHarness *h = gst_harness_new_parse(line);
  gint8 in[2][4][2][3][2];
  test_fill(in, sizeof in, 4);
  g_autoptr(GstBuffer) out = NULL;
  g_autoptr(AstroObservation) o = push(h, &in[0][0][0][0][0], sizeof in, &out);
  complex float beams[2][2][3];
  g_assert_cmpuint(gst_buffer_extract(out, 0, beams, sizeof beams), ==, sizeof beams);
  for (guint p = 0; p < 2; p++)
    for (guint t = 0; t < 3; t++) {
      test_near_complex(beams[0][p][t], I * (in[0][2][p][t][0] + I * in[0][2][p][t][1]), 1e-4);
      test_near_complex(beams[1][p][t], in[1][1][p][t][0] + I * in[1][1][p][t][1], 1e-4);
    }
  gst_harness_teardown(h);
  g_unlink(path);
}

static void add_tests(void)
{
  g_test_add_func("/astrobeamform/gain", test_gain);
  g_test_add_func("/astrobeamform/amplitude", test_amplitude);
  g_test_add_func("/astrobeamform/scan", test_scan);
  g_test_add_func("/astrobeamform/tracked", test_tracked);
  g_test_add_func("/astrobeamform/losses", test_losses);
  g_test_add_func("/astrobeamform/detected", test_detected);
  g_test_add_func("/astrobeamform/scale", test_scale);
  g_test_add_func("/astrobeamform/observation", test_observation);
  g_test_add_func("/astrobeamform/new-observation", test_new_observation);
  g_test_add_func("/astrobeamform/refused", test_refusals);
  g_test_add_func("/astrobeamform/warnings", test_warnings);
  g_test_add_func("/astrobeamform/weights", test_weights);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
