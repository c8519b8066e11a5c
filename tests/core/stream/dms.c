/* Dispersion measures of an observation: what is set, sent as an event and refused. */
#include "core/stream/languages.h"
#include "core/stream/observation.h"
#include "tests/tests.h"

#include <math.h>

#define STATIONS "astro-observation,stations=<a>,positions=<1.0,2.0,3.0>"

static const double example[] = { 0, 12.5, 100000 };

static void check_example(const AstroObservation *o)
{
  gsize n;
  g_autofree double *dms = astro_observation_get_dms(o, &n);
  g_assert_cmpmem(dms, n * sizeof *dms, example, sizeof example);
  g_assert_cmpfloat(o->dm_frequency, ==, 1.5e9);
}

static AstroObservation *new_example(void)
{
  AstroObservation *o = astro_observation_new(1);
  g_assert_true(astro_observation_set_dms(o, example, G_N_ELEMENTS(example), 1.5e9, NULL));
  return o;
}

/* The event is also read from its text, as files have it. */
static void test_round_trip(void)
{
  g_autoptr(AstroObservation) o = new_example();
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
  g_assert_true(astro_observation_set_dms(o, NULL, 0, 0, NULL));
  g_assert_cmpuint(o->n_dms, ==, 0);
  check_example(copy);
}

/* Nothing is said of dispersion where none was taken out. */
static void test_none(void)
{
  g_autoptr(AstroObservation) o = astro_observation_new(1);
  g_autoptr(GstEvent) event = astro_observation_to_event(o);
  const GstStructure *s = gst_event_get_structure(event);
  gsize n = 9;
  for (gint i = 0; i < gst_structure_n_fields(s); i++)
    g_assert_false(g_str_has_prefix(gst_structure_nth_field_name(s, (guint)i), "dm"));
  g_autoptr(AstroObservation) back = astro_observation_from_event(event, NULL);
  g_assert_null(astro_observation_get_dms(back, &n));
  g_assert_cmpuint(n, ==, 0);
}

static void test_bad_dms(void)
{
  static const struct {
    double dms[2], frequency;
    const char *says;
  } bad[] = {
    { { 3, 3 }, 1e9, "measure 1 is 3 pc/cm^3, not above 3" },
    { { 3, 2 }, 1e9, "expected them to rise" },
    { { -1, 2 }, 1e9, "measure 0 is -1, expected 0 to 100000" },
    { { 1, 1.1e5 }, 1e9, "measure 1 is 110000" },
    { { 1, NAN }, 1e9, "measure 1 is nan" },
    { { 1, 2 }, 0, "relative to 0 Hz" },
    { { 1, 2 }, NAN, "relative to nan Hz" },
    { { 1, 2 }, INFINITY, "relative to inf Hz" },
  };
  g_autoptr(AstroObservation) o = new_example();
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_false(astro_observation_set_dms(o, bad[i].dms, 2, bad[i].frequency, &error));
    g_assert_nonnull(error);
    if (!strstr(error->message, bad[i].says))
      g_error("%s: expected \"%s\"", error->message, bad[i].says);
    check_example(o);
  }
}

static void test_bad_events(void)
{
  static const char *const bad[][2] = {
    { STATIONS ",dms=<1.0>", "\"dm-frequency\" is missing" },
    { STATIONS ",dm-frequency=1e9", "\"dms\" is missing" },
    { STATIONS ",dms=<1.0>,dm-frequency=(int)7", "\"dm-frequency\" is of another type" },
    { STATIONS ",dms=1.0,dm-frequency=1e9", "\"dms\" is of another type" },
    { STATIONS ",dms=<1.0,(int)2>,dm-frequency=1e9", "dms[1] is not a double" },
    { STATIONS ",dms=<2.0,1.0>,dm-frequency=1e9", "expected them to rise" },
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

static void add_tests(void)
{
  g_test_add_func("/dms/round-trip", test_round_trip);
  g_test_add_func("/dms/none", test_none);
  g_test_add_func("/dms/bad-dms", test_bad_dms);
  g_test_add_func("/dms/bad-events", test_bad_events);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
