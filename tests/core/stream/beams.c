/* Beams of an observation: what is added, described, sent as an event and refused. */
#include "core/stream/languages.h"
#include "core/stream/observation.h"
#include "tests/tests.h"

#define STATIONS "astro-observation,stations=<a>,positions=<1.0,2.0,3.0>"

static AstroObservation *example(void)
{
  AstroObservation *o = astro_observation_new(2);
  g_assert_true(astro_observation_add_beam(o, "north, \"1\"", ASTRO_BEAM_TIED, ASTRO_BEAM_RADEC,
                                           2.5, -0.5, NULL));
  g_assert_true(
      astro_observation_add_beam(o, "all", ASTRO_BEAM_INCOHERENT, ASTRO_BEAM_UNTOLD, 7, 8, NULL));
  g_assert_true(
      astro_observation_add_beam(o, "feed", ASTRO_BEAM_FIXED, ASTRO_BEAM_LM, 0.6, -0.8, NULL));
  return o;
}

static void check_beam(const AstroObservation *o, guint i, const char *name, AstroBeamKind kind,
                       AstroBeamFrame frame, double x, double y)
{
  const char *found;
  AstroBeamKind found_kind;
  AstroBeamFrame found_frame;
  double found_x, found_y;
  g_assert_true(
      astro_observation_get_beam(o, i, &found, &found_kind, &found_frame, &found_x, &found_y));
  g_assert_cmpstr(found, ==, name);
  g_assert_cmpint(found_kind, ==, kind);
  g_assert_cmpint(found_frame, ==, frame);
  g_assert_cmpfloat(found_x, ==, x);
  g_assert_cmpfloat(found_y, ==, y);
}

static void check_example(const AstroObservation *o)
{
  g_assert_cmpuint(o->n_beams, ==, 3);
  check_beam(o, 0, "north, \"1\"", ASTRO_BEAM_TIED, ASTRO_BEAM_RADEC, 2.5, -0.5);
  check_beam(o, 1, "all", ASTRO_BEAM_INCOHERENT, ASTRO_BEAM_UNTOLD, 0, 0);
  check_beam(o, 2, "feed", ASTRO_BEAM_FIXED, ASTRO_BEAM_LM, 0.6, -0.8);
  g_assert_false(astro_observation_get_beam(o, 3, NULL, NULL, NULL, NULL, NULL));
  g_assert_cmpint(astro_observation_find_beam(o, "feed"), ==, 2);
  g_assert_cmpint(astro_observation_find_beam(o, "fee"), ==, -1);
}

/* The event is also read from its text, as files have it. */
static void test_round_trip(void)
{
  g_autoptr(AstroObservation) o = example();
  g_autoptr(AstroObservation) copy = astro_observation_copy(o);
  g_autoptr(GstEvent) event = astro_observation_to_event(o);
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroObservation) back = astro_observation_from_event(event, &error);
  g_assert_no_error(error);
  g_autofree char *text = gst_structure_to_string(gst_event_get_structure(event));
  g_autoptr(GstEvent) read = gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM_STICKY,
                                                  gst_structure_from_string(text, NULL));
  g_autoptr(AstroObservation) from_text = astro_observation_from_event(read, &error);
  g_assert_no_error(error);
  check_example(o);
  check_example(back);
  check_example(from_text);
  astro_observation_clear_beams(o);
  g_assert_cmpuint(o->n_beams, ==, 0);
  check_example(copy);
}

/* Nothing is said of beams where there are none. */
static void test_none(void)
{
  g_autoptr(AstroObservation) o = example();
  astro_observation_clear_beams(o);
  g_autoptr(GstEvent) event = astro_observation_to_event(o);
  const GstStructure *s = gst_event_get_structure(event);
  for (gint i = 0; i < gst_structure_n_fields(s); i++)
    g_assert_null(strstr(gst_structure_nth_field_name(s, (guint)i), "beam"));
  g_autoptr(AstroObservation) back = astro_observation_from_event(event, NULL);
  g_assert_cmpuint(back->n_beams, ==, 0);
  g_assert_null(back->beams);
}

static void test_described(void)
{
  static const char *const expected[] = {
    "north, \"1\", tied, at ra 143.239449 dec -28.6478898 degrees",
    "all, incoherent, in an unknown direction",
    "feed, fixed, at l 0.6 m -0.8",
  };
  g_autoptr(AstroObservation) o = example();
  for (guint i = 0; i < o->n_beams; i++) {
    g_autofree char *text = astro_beam_describe(&o->beams[i]);
    g_assert_cmpstr(text, ==, expected[i]);
  }
  g_assert_cmpstr(astro_beam_kind_name(ASTRO_BEAM_FIXED), ==, "fixed");
  g_assert_cmpstr(astro_beam_kind_name(ASTRO_N_BEAM_KINDS), ==, "unknown");
  g_assert_cmpstr(astro_beam_frame_name(ASTRO_BEAM_LM), ==, "lm");
  g_assert_cmpstr(astro_beam_frame_name(ASTRO_N_BEAM_FRAMES), ==, "unknown");
}

static void test_alike(void)
{
  static const struct {
    AstroBeam a, b;
    gboolean is_alike;
  } pairs[] = {
    { { "a", ASTRO_BEAM_TIED, ASTRO_BEAM_RADEC, 1, 0.5 },
      { "b", ASTRO_BEAM_TIED, ASTRO_BEAM_RADEC, 1 - 2 * G_PI, 0.5 },
      TRUE },
    { { "a", ASTRO_BEAM_TIED, ASTRO_BEAM_RADEC, 1, 0.5 },
      { "a", ASTRO_BEAM_TIED, ASTRO_BEAM_RADEC, 1 + 1e-9, 0.5 },
      FALSE },
    { { "a", ASTRO_BEAM_TIED, ASTRO_BEAM_LM, 0.1, 0.5 },
      { "a", ASTRO_BEAM_TIED, ASTRO_BEAM_LM, 0.1, 0.5 + 1e-14 },
      TRUE },
    { { "a", ASTRO_BEAM_TIED, ASTRO_BEAM_LM, 0.1, 0.5 },
      { "a", ASTRO_BEAM_TIED, ASTRO_BEAM_LM, 0.1, -0.5 },
      FALSE },
    { { "a", ASTRO_BEAM_TIED, ASTRO_BEAM_LM, 0.1, 0.5 },
      { "a", ASTRO_BEAM_FIXED, ASTRO_BEAM_LM, 0.1, 0.5 },
      FALSE },
    { { "a", ASTRO_BEAM_TIED, ASTRO_BEAM_LM, 0.1, 0.5 },
      { "a", ASTRO_BEAM_TIED, ASTRO_BEAM_RADEC, 0.1, 0.5 },
      FALSE },
    { { "a", ASTRO_BEAM_TIED, ASTRO_BEAM_UNTOLD, 0, 0 },
      { "b", ASTRO_BEAM_TIED, ASTRO_BEAM_UNTOLD, 0, 0 },
      TRUE },
  };
  for (guint i = 0; i < G_N_ELEMENTS(pairs); i++)
    g_assert_cmpint(astro_beam_is_alike(&pairs[i].a, &pairs[i].b), ==, pairs[i].is_alike);
}

/* Each message says what was found or what was expected. */
static void test_bad_events(void)
{
#define BEAMS(names, kinds, frames, directions)                                                    \
  STATIONS ",beams=" names ",beam-kinds=" kinds ",beam-frames=" frames                             \
           ",beam-directions=" directions
  static const char *const bad[][2] = {
    { STATIONS ",beams=(int)3", "\"beams\" is of another type or length" },
    { STATIONS ",beams=<a,b>", "\"beam-kinds\" is missing, expected an array of 2 strings" },
    { STATIONS ",beam-kinds=<tied>", "\"beams\" is missing" },
    { BEAMS("<(int)1>", "<tied>", "<lm>", "<0.1,0.2>"), "beams[0] is not a string" },
    { BEAMS("<(string)\"\">", "<tied>", "<lm>", "<0.1,0.2>"), "beam 0 has no name" },
    { BEAMS("<a>", "<tied,tied>", "<lm>", "<0.1,0.2>"), "\"beam-kinds\" is of another type" },
    { BEAMS("<a>", "<untied>", "<lm>", "<0.1,0.2>"),
      "beam-kinds[0] is \"untied\", expected tied, incoherent or fixed" },
    { BEAMS("<a>", "<tied>", "<azel>", "<0.1,0.2>"),
      "beam-frames[0] is \"azel\", expected untold, radec or lm" },
    { BEAMS("<a>", "<tied>", "<lm>", "<0.1>"), "expected an array of 2 doubles for 1 beams" },
    { BEAMS("<a>", "<tied>", "<lm>", "<0.1,(int)2>"), "beam-directions[1] is not a double" },
    { BEAMS("<a>", "<tied>", "<lm>", "<0.8,0.7>"), "squares add up to at most 1" },
    { BEAMS("<a>", "<tied>", "<lm>", "<0.8,(double)nan>"), "squares add up to at most 1" },
    { BEAMS("<a>", "<tied>", "<radec>", "<0.8,90.0>"), "expected radians" },
    { BEAMS("<a>", "<tied>", "<radec>", "<(double)nan,1.0>"), "expected radians" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    GstStructure *s = gst_structure_from_string(bad[i][0], NULL);
    g_autoptr(GError) error = NULL;
    g_assert_nonnull(s);
    g_autoptr(GstEvent) event = gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, s);
    g_assert_null(astro_observation_from_event(event, &error));
    g_assert_nonnull(error);
    if (!strstr(error->message, bad[i][1]))
      g_error("%s: expected \"%s\"", error->message, bad[i][1]);
  }
}

static void test_bad_beams(void)
{
  g_autoptr(AstroObservation) o = astro_observation_new(0);
  g_assert_false(
      astro_observation_add_beam(o, NULL, ASTRO_BEAM_TIED, ASTRO_BEAM_UNTOLD, 0, 0, NULL));
  g_assert_false(
      astro_observation_add_beam(o, "a", ASTRO_N_BEAM_KINDS, ASTRO_BEAM_UNTOLD, 0, 0, NULL));
  g_assert_false(
      astro_observation_add_beam(o, "a", ASTRO_BEAM_TIED, ASTRO_N_BEAM_FRAMES, 0, 0, NULL));
  g_assert_cmpuint(o->n_beams, ==, 0);
}

/* The axis and its length in caps. */
static void test_axis(void)
{
  g_autoptr(GstCaps) caps =
      gst_caps_from_string("application/x-astro-spectra,format=CF32LE,layout=beam:pol:time:channel,"
                           "beams=3,pols=2,channels=8");
  g_autoptr(GError) error = NULL;
  AstroStream stream, back;
  g_assert_true(astro_stream_from_caps(&stream, caps, &error));
  g_assert_no_error(error);
  g_assert_cmpuint(astro_stream_extent(&stream, ASTRO_AXIS_BEAM), ==, 3);
  g_assert_cmpstr(astro_axis_field(ASTRO_AXIS_BEAM), ==, "beams");
  g_autoptr(GstCaps) again = astro_stream_to_caps(&stream);
  g_assert_true(astro_stream_from_caps(&back, again, NULL));
  g_assert_true(astro_layout_is_equal(&back.layout, &stream.layout));
  gst_caps_set_simple(again, "beams", G_TYPE_INT, 0, NULL);
  g_assert_false(astro_stream_from_caps(&back, again, &error));
  g_assert_nonnull(strstr(error->message, "\"beams\" is (gint) 0"));
}

static void add_tests(void)
{
  g_test_add_func("/beams/round-trip", test_round_trip);
  g_test_add_func("/beams/none", test_none);
  g_test_add_func("/beams/described", test_described);
  g_test_add_func("/beams/alike", test_alike);
  g_test_add_func("/beams/bad-events", test_bad_events);
  g_test_add_func("/beams/bad-beams", test_bad_beams);
  g_test_add_func("/beams/axis", test_axis);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
