/* Beams and weights as a user writes them, and where beams look as the sky turns. */
#include "core/beamform/beams.h"
#include "core/beamform/steer.h"
#include "core/beamform/weights.h"
#include "core/kit/units.h"
#include "core/stream/uvw.h"
#include "tests/near.h"
#include "tests/observe.h"
#include "tests/tests.h"

/* ---- beams ---- */

static AstroObservation *beams_of_file(const char *text, GError **error)
{
  AstroLines lines;
  astro_lines_init(&lines, "beams.txt", g_strdup(text));
  AstroObservation *beams = astro_beamform_beams_from_lines(&lines, error);
  astro_lines_clear(&lines);
  return beams;
}

static void test_lists(void)
{
  static const struct {
    const char *text;
    AstroBeamFrame frame;
    double x, y; /* of the last */
    guint n;
  } cases[] = {
    { "0,0", ASTRO_BEAM_LM, 0, 0, 1 },
    { "0,0;0.01,-0.02", ASTRO_BEAM_LM, 0.01, -0.02, 2 },
    { " 0 , 0 ; 0.5 , 0.5 ; ", ASTRO_BEAM_LM, 0.5, 0.5, 2 },
    { "202.5,30", ASTRO_BEAM_RADEC, 202.5 * ASTRO_DEGREE, 30 * ASTRO_DEGREE, 1 },
    { "202.5,30;0.9,-0.9", ASTRO_BEAM_RADEC, 0.9 * ASTRO_DEGREE, -0.9 * ASTRO_DEGREE, 2 },
    { "12:00:00,+30:30:00;00:00:04,-00:30:00", ASTRO_BEAM_RADEC, ASTRO_DEGREE / 60,
      -0.5 * ASTRO_DEGREE, 2 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(AstroObservation) beams = astro_beamform_beams_read(cases[i].text, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(beams->n_beams, ==, cases[i].n);
    const AstroBeam *last = &beams->beams[cases[i].n - 1];
    g_assert_cmpint(last->frame, ==, cases[i].frame);
    g_assert_cmpint(last->kind, ==, ASTRO_BEAM_TIED);
    test_near(last->x, cases[i].x, 1e-12);
    test_near(last->y, cases[i].y, 1e-12);
    g_assert_cmpstr(beams->beams[0].name, ==, "B0");
  }
}

static void test_file(void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroObservation) beams = beams_of_file("# beams\n"
                                                    "13:31:08.3 +30:30:33 3C286\n"
                                                    "0.25 -0.5  # near 0,0\n"
                                                    "lm 0.25 -0.5 grid-1\n",
                                                    &error);
  g_assert_no_error(error);
  g_assert_cmpuint(beams->n_beams, ==, 3);
  g_assert_cmpstr(beams->beams[0].name, ==, "3C286");
  g_assert_cmpint(beams->beams[0].frame, ==, ASTRO_BEAM_RADEC);
  g_assert_cmpstr(beams->beams[1].name, ==, "B1");
  g_assert_cmpint(beams->beams[1].frame, ==, ASTRO_BEAM_RADEC);
  test_near(beams->beams[1].x, 0.25 * ASTRO_DEGREE, 1e-15);
  g_assert_cmpint(beams->beams[2].frame, ==, ASTRO_BEAM_LM);
  test_near(beams->beams[2].y, -0.5, 0);
}

static void test_bad_beams(void)
{
  static const struct {
    const char *text, *says;
    gboolean is_file;
  } cases[] = {
    { "", "beams= has no beams, expected directions", FALSE },
    { " ; ", "has no beams", FALSE },
    { "0,0;0.1", "beam 1 is \"0.1\", expected l,m", FALSE },
    { "0,0;0.1,east", "beam 1 is \"0.1,east\", expected", FALSE },
    { "400,0", "beam 0 is \"400,0\", expected", FALSE },
    { "0,0;202,30", "beam 1, \"202,30\", is ra,dec, but beam 0 is l,m", FALSE },
    { "202,30;0.1,0.1", "is l,m (within the unit circle), but beam 0 is ra,dec", FALSE },
    { "nan,0", "beam 0 is \"nan,0\"", FALSE },
    { "/nowhere/beams.txt", "/nowhere/beams.txt", FALSE },
    { "10 20 a\n10 95\n", "beams.txt:2: found \"10 95\", expected ra dec [name]", TRUE },
    { "lm 0.9 0.9\n", "beams.txt:1: found \"lm 0.9 0.9\"", TRUE },
    { "10 20 a b\n", "beams.txt:1: found \"10 20 a b\"", TRUE },
    { "10 20 a\n30 40 a\n", "beams.txt:2: there is another beam named \"a\"", TRUE },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    AstroObservation *beams = cases[i].is_file ? beams_of_file(cases[i].text, &error)
                                               : astro_beamform_beams_read(cases[i].text, &error);
    g_assert_null(beams);
    test_says(error->message, cases[i].says);
  }
}

/* ---- weights ---- */

static float *weights_of(const char *text, GError **error)
{
  static const guint some[] = { 3, 0 };
  g_autoptr(AstroObservation) o = test_observe("disc", 4);
  AstroLines lines;
  for (guint i = 0; i < 4; i++) {
    g_free(o->names[i]);
    o->names[i] = g_strdup_printf("S%u", i);
  }
  astro_lines_init(&lines, "weights.txt", g_strdup(text));
  float *weights = astro_beamform_weights_from_lines(&lines, o, some, 2, 5, error);
  astro_lines_clear(&lines);
  return weights;
}

/* Five channels, of stations 3 and 0. */
static void test_weights(void)
{
  g_autoptr(GError) error = NULL;
  g_autofree float *w = weights_of("* 1-3 2\nS3 2 0.5 90 # turned\nS1 * 7\nS0 4- 1\n", &error);
  g_assert_null(w);
  test_says(error->message, "weights.txt:4: channels \"4-\", expected");
  g_clear_error(&error);
  w = weights_of("* 1-3 2\nS3 2 0.5 90 # turned\nS1 * 7\nS0 4 0\n", &error);
  g_assert_no_error(error);
  static const float expected[5][2][2] = { { { 1, 0 }, { 1, 0 } },
                                           { { 2, 0 }, { 2, 0 } },
                                           { { 0, 0.5 }, { 2, 0 } },
                                           { { 2, 0 }, { 2, 0 } },
                                           { { 1, 0 }, { 0, 0 } } };
  for (guint i = 0; i < 20; i++)
    test_near((double)w[i], (double)(&expected[0][0][0])[i], 1e-7);
}

static void test_bad_weights(void)
{
  static const struct {
    const char *text, *says;
  } cases[] = {
    { "S9 * 1\n", "weights.txt:1: there is no station \"S9\", expected one of 4 from S0 to S3" },
    { "* * 1\nS0 0-5 1\n", "weights.txt:2: channels \"0-5\", expected a number or a range" },
    { "S0 3-2 1\n", "channels \"3-2\"" },
    { "S0 -1 1\n", "channels \"-1\"" },
    { "S0 1 -1\n", "amplitude -1, expected 0 to" },
    { "S0 1 1e30\n", "amplitude 1e30, expected 0 to" },
    { "S0 1\n", "found \"S0 1\", expected STATION CHANNELS AMPLITUDE [DEGREES]" },
    { "S0 1 one\n", "found \"S0 1 one\"" },
    { "S0 1 1 2 3\n", "found \"S0 1 1 2 3\"" },
    { "* 3 0\n", "have weight 0 in channel 3, so that nothing is left" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_null(weights_of(cases[i].text, &error));
    test_says(error->message, cases[i].says);
  }
}

/* ---- directions ---- */

static AstroStream spectra_of(const char *rate, const char *frequency)
{
  g_autofree char *text =
      g_strdup_printf("application/x-astro-spectra,format=CI8,layout=station:time,stations=20,"
                      "rate=%s,frequency=%s,bandwidth=1e6",
                      rate, frequency);
  g_autoptr(GstCaps) caps = gst_caps_from_string(text);
  AstroStream stream;
  g_assert_true(astro_stream_from_caps(&stream, caps, NULL));
  return stream;
}

static AstroBeamformSteering *steer(AstroObservation *o, const char *beams_text,
                                    const AstroStream *spectra)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroObservation) beams = astro_beamform_beams_read(beams_text, &error);
  g_autofree guint *index = g_new(guint, o->n_stations);
  g_assert_no_error(error);
  for (guint i = 0; i < o->n_stations; i++)
    index[i] = i;
  AstroBeamformSteering *steering =
      astro_beamform_steering_new(o, beams, index, o->n_stations, spectra, &error);
  g_assert_no_error(error);
  return steering;
}

/* Over eight hours, at the first, a middle and the last step of intervals, the phase of every
 * station is within half a thousandth of a turn of that by the exact (u,v,w) of both directions. */
static void test_tracked(void)
{
  static const struct {
    const char *array, *rate, *frequency;
  } cases[] = { { "vla-like", "1000/1", "1.4e9" },
                { "lofar-like", "195312/1", "1.5e8" },
                { "disc", "10/1", "1e8" } };
  for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
    const AstroStream spectra = spectra_of(cases[k].rate, cases[k].frequency);
    g_autoptr(AstroObservation) o = test_observe(cases[k].array, 20);
    g_autoptr(AstroObservation) to = astro_observation_copy(o);
    AstroBeamformSteering *steering = steer(o, "0,0;0.03,-0.01", &spectra);
    const guint64 interval = astro_beamform_steering_interval(steering);
    const double *seconds = astro_beamform_steering_seconds(steering);
    const double lmn[3] = { 0.03, -0.01, sqrt(1 - 0.03 * 0.03 - 0.01 * 0.01) };
    double largest = 0, offsets[6];
    astro_direction_from_lmn(o, lmn, &to->phase_ra, &to->phase_dec);
    g_assert_cmpuint(interval, >, 1);
    for (guint hour = 0; hour < 8; hour++) {
      const guint64 first =
          hour * 3600 * (guint64)spectra.rate_n / (guint64)spectra.rate_d / interval * interval;
      const gint64 begin = (gint64)astro_stream_time(&spectra, first),
                   end = (gint64)astro_stream_time(&spectra, first + interval);
      astro_beamform_steering_at(steering, begin + (end - begin) / 2, offsets);
      for (guint part = 0; part <= 4; part++) {
        double uvw[2][20 * 3], mean = 0;
        const gint64 ns = begin + (end - begin) * part / 4;
        astro_uvw(o, ns, uvw[0]);
        astro_uvw(to, ns, uvw[1]);
        for (guint i = 0; i < 20; i++)
          mean += (uvw[1][3 * i + 2] - uvw[0][3 * i + 2]) / 20;
        for (guint i = 0; i < 20; i++) {
          const double exact = (uvw[1][3 * i + 2] - uvw[0][3 * i + 2] - mean) / ASTRO_LIGHT_SPEED;
          double tau = 0;
          for (guint d = 0; d < 3; d++) {
            tau += seconds[3 * i + d] * offsets[3 + d];
            g_assert_cmpfloat(fabs(offsets[d]), <, 1e-14); /* the phase centre */
          }
          largest = MAX(largest, fabs(tau - exact) * spectra.frequency);
        }
      }
    }
    g_test_message("%s: intervals of %" G_GUINT64_FORMAT ", %.3g turns", cases[k].array, interval,
                   largest);
    g_assert_cmpfloat(largest, <, ASTRO_BEAMFORM_TURNS / 2);
    g_assert_cmpfloat(largest, >,
                      ASTRO_BEAMFORM_TURNS / 50); /* intervals are no shorter than needed */
    astro_beamform_steering_free(steering);
  }
}

static void test_horizon(void)
{
  const AstroStream spectra = spectra_of("1000/1", "1.5e8");
  g_autoptr(AstroObservation) o = test_observe("disc", 20); /* looks at the zenith */
  AstroBeamformSteering *steering = steer(o, "0,0;0.9,0", &spectra);
  AstroBeamformLow low;
  g_assert_false(astro_beamform_steering_find_low(steering, 0, &low));
  /* A source in the east rises, and one at the zenith sets. */
  g_assert_false(astro_beamform_steering_find_low(steering, 3 * 3600 * GST_SECOND, &low));
  g_assert_true(astro_beamform_steering_find_low(steering, 11 * 3600 * GST_SECOND, &low));
  g_assert_cmpuint(low.beam, ==, 0);
  g_assert_cmpfloat(low.height, <, -0.3);
  astro_beamform_steering_free(steering);
}

static void test_behind(void)
{
  const AstroStream spectra = spectra_of("1000/1", "1.5e8");
  g_autoptr(AstroObservation) o = test_observe("disc", 20);
  g_autoptr(AstroObservation) beams = astro_observation_new(0);
  g_autoptr(GError) error = NULL;
  static const guint one[] = { 0 };
  astro_observation_add_beam(beams, "back", ASTRO_BEAM_TIED, ASTRO_BEAM_RADEC,
                             o->phase_ra > G_PI ? o->phase_ra - G_PI : o->phase_ra + G_PI, 0.1,
                             NULL);
  g_assert_null(astro_beamform_steering_new(o, beams, one, 1, &spectra, &error));
  test_says(error->message, "beams: beam back");
  test_says(error->message, "from the phase centre, expected less than 90");
}

static void add_tests(void)
{
  g_test_add_func("/steering/lists", test_lists);
  g_test_add_func("/steering/file", test_file);
  g_test_add_func("/steering/bad-beams", test_bad_beams);
  g_test_add_func("/steering/weights", test_weights);
  g_test_add_func("/steering/bad-weights", test_bad_weights);
  g_test_add_func("/steering/tracked", test_tracked);
  g_test_add_func("/steering/horizon", test_horizon);
  g_test_add_func("/steering/behind", test_behind);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
