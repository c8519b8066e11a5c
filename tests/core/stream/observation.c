#include "core/stream/observation.h"
#include "tests/tests.h"

static AstroObservation *example(void)
{
  AstroObservation *o = astro_observation_new(3);
  for (guint i = 0; i < 9; i++)
    o->positions[i] = 3826577.1 + 1234.5678 * i;
  g_free(o->names[1]);
  o->names[1] = g_strdup("CS002 HBA0, \"west\"");
  o->has_phase_centre = TRUE;
  o->phase_ra = 2.15;
  o->phase_dec = -0.84;
  g_assert_true(astro_observation_set_start(o, "2026-11-20T12:34:56.123456789Z", NULL));
  o->done = (AstroHistory){ .delays = ASTRO_DELAYS_OUT,
                            .filter_bank = TRUE,
                            .sideband_turned = TRUE,
                            .gains = g_strdup("g"),
                            .bandpass = g_strdup("b"),
                            .bandpass_left = g_strdup("l"),
                            .scale = 0.25,
                            .subtracted = g_strdup("s,t"),
                            .predicted = g_strdup("p"),
                            .primary_beam = g_strdup("airy 25 m") };
  return o;
}

static void test_round_trip(void)
{
  g_autoptr(AstroObservation) o = example(), back = NULL;
  GstEvent *event = astro_observation_to_event(o);
  g_autoptr(GError) error = NULL;

  g_assert_true(astro_event_is_observation(event));
  g_assert_true(GST_EVENT_IS_STICKY(event));
  back = astro_observation_from_event(event, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(back->n_stations, ==, 3);
  g_assert_cmpmem(back->positions, 72, o->positions, 72);
  g_assert_cmpstr(back->names[1], ==, o->names[1]);
  g_assert_cmpfloat(back->phase_ra, ==, o->phase_ra);
  g_assert_cmpfloat(back->phase_dec, ==, o->phase_dec);
  g_assert_cmpint(back->start_mjd, ==, 61364);
  g_assert_cmpuint(back->start_ns, ==, G_GUINT64_CONSTANT(45296123456789));
  g_assert_cmpint(back->done.delays, ==, ASTRO_DELAYS_OUT);
  g_assert_true(back->done.filter_bank && back->done.sideband_turned);
  g_assert_cmpstr(back->done.gains, ==, "g");
  g_assert_cmpstr(back->done.bandpass, ==, "b");
  g_assert_cmpstr(back->done.bandpass_left, ==, "l");
  g_assert_cmpstr(back->done.subtracted, ==, "s,t");
  g_assert_cmpstr(back->done.predicted, ==, "p");
  g_assert_cmpstr(back->done.primary_beam, ==, "airy 25 m");
  g_assert_cmpfloat(back->done.scale, ==, 0.25);
  g_assert_cmpstr(back->basis, ==, "linear");
  gst_event_unref(event);
}

static void test_start(void)
{
  g_autoptr(AstroObservation) o = astro_observation_new(0);
  static const char *const wrong[] = { "",
                                       "yesterday",
                                       "2026-11-20",
                                       "2026-11-20T12:00:00+01:00",
                                       "2026-13-20T12:00:00Z",
                                       "2026-11-20T12:00:61",
                                       "2016-12-31T23:59:60Z",
                                       "20161231T235960.5",
                                       "2026-11-20T12:00:00.5.5",
                                       "2026-11-20T12:00:00.x" };

  g_assert_null(astro_observation_get_start(o));
  for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_false(astro_observation_set_start(o, wrong[i], &error));
    g_assert_nonnull(error);
  }
  g_assert_true(astro_observation_set_start(o, "1969-12-31T23:59:59.5", NULL));
  g_assert_cmpint(o->start_mjd, ==, 40586);
  g_assert_cmpuint(o->start_ns, ==, G_GUINT64_CONSTANT(86399500000000));
  g_assert_true(astro_observation_set_start(o, "1969-12-31T23:59:59,5", NULL));
  g_assert_cmpuint(o->start_ns, ==, G_GUINT64_CONSTANT(86399500000000));
  /* In double precision these fractions are a second. */
  g_assert_true(astro_observation_set_start(o, "1969-12-31T23:59:59.99999999999999999Z", NULL));
  g_assert_cmpuint(o->start_ns, ==, G_GUINT64_CONSTANT(86399999999999));
  g_assert_true(astro_observation_set_start(o, "1969-12-31T23:00:30.999999999999999999", NULL));
  g_assert_cmpuint(o->start_ns, ==, G_GUINT64_CONSTANT(82830999999999));
  g_assert_true(astro_observation_set_start(o, "1969-12-31T23:59:59,5", NULL));
  g_autofree char *text = astro_observation_get_start(o);
  g_assert_cmpstr(text, ==, "1969-12-31T23:59:59.500000000Z");
  g_autofree char *later = astro_observation_get_time(o, 86400500000001);
  g_assert_cmpstr(later, ==, "1970-01-02T00:00:00.000000001Z");
  static const struct {
    guint64 ns;
    const char *told;
  } told[] = { { 0, "1969-12-31T23:59:59.5Z" },
               { 500000000, "1970-01-01T00:00:00Z" },
               { 540000000, "1970-01-01T00:00:00.04Z" },
               { 86400500000001, "1970-01-02T00:00:00.000000001Z" } };
  for (guint i = 0; i < G_N_ELEMENTS(told); i++) {
    g_autofree char *people = astro_observation_tell_time(o, told[i].ns);
    g_assert_cmpstr(people, ==, told[i].told);
  }
  o->has_start = FALSE;
  g_assert_null(astro_observation_tell_time(o, 0));
}

/* Events of other kinds, or with missing fields, give errors and do not crash. */
static void test_bad(void)
{
  static const char *const texts[] = {
    "astro-observation",
    "astro-observation,stations=(int)3",
    "astro-observation,stations=<a,b>",
    "astro-observation,stations=<a,b>,positions=<1.0,2.0,3.0>",
    "astro-observation,stations=<a>,positions=<1.0,2.0,x>",
    "astro-observation,stations=<(int)1>,positions=<1.0,2.0,3.0>",
    "astro-observation,stations=<a>,positions=<1.0,2.0,3.0>,delays=gone",
    "astro-observation,stations=<a>,positions=<1.0,2.0,3.0>,delays=(int)1",
    "astro-observation,stations=<a>,positions=<1.0,2.0,3.0>,filter-bank=(int)1",
    "astro-observation,stations=<a>,positions=<1.0,2.0,3.0>,bandpass-left=1.0",
    "astro-observation,stations=<a>,positions=<1.0,2.0,3.0>,models-subtracted=1.0",
    "astro-observation,stations=<a>,positions=<1.0,2.0,3.0>,scale=(double)-1",
    "astro-observation,stations=<a>,positions=<1.0,2.0,3.0>,scale=(double)nan",
    "astro-observation,stations=<a>,positions=<1.0,2.0,3.0>,scale=(int)1",
    "astro-observation,stations=<a>,positions=<1.0,2.0,3.0>,telescope=(int)1",
    "astro-observation,stations=<a>,positions=<1.0,2.0,3.0>,basis=(int)1",
    "astro-observation,stations=<a>,positions=<1.0,2.0,3.0>,phase-ra=1.0",
    "astro-observation,stations=<a>,positions=<1.0,2.0,3.0>,phase-ra=(int)1,phase-dec=1.0",
    "astro-observation,stations=<a>,positions=<1.0,2.0,3.0>,phase-ra=(double)nan,phase-dec=1.0",
    "astro-observation,stations=<a>,positions=<1.0,2.0,3.0>,phase-ra=1.0,phase-dec=1.571",
    "astro-observation,stations=<a>,positions=<1.0,2.0,3.0>,start-ns=(guint64)0",
    "astro-observation,stations=<a>,positions=<1.0,2.0,3.0>,start-mjd=60000,start-ns=(int)0",
    "astro-observation,stations=<a>,positions=<1.0,2.0,3.0>,start-mjd=(gint64)60000,"
    "start-ns=(guint64)0",
    "astro-observation,stations=<a>,positions=<1.0,2.0,3.0>,start-mjd=2973484,start-ns=(guint64)0",
    "astro-observation,stations=<a>,positions=<1.0,2.0,3.0>,start-mjd=60000,"
    "start-ns=(guint64)86401000000001",
    "astro-observation,stations=<a>,positions=<1.0,2.0,1e13>",
    "astro-observation,stations=<a>,positions=<1.0,2.0,3.0>,phase-ra=nan,phase-dec=0.5",
    "astro-observation,stations=<a>,positions=<1.0,2.0,3.0>,phase-ra=1.0,phase-dec=1e9",
    "astro-observation,stations=<a>,positions=<1.0,2.0,3.0>,start-mjd=2147483647,"
    "start-ns=(guint64)0",
    "astro-observation,stations=<a>,positions=<1.0,2.0,3.0>,start-mjd=60000,"
    "start-ns=(guint64)18446744073709551615",
  };
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
    GstStructure *s = gst_structure_from_string(texts[i], NULL);
    g_autoptr(GError) error = NULL;
    g_assert_nonnull(s);
    GstEvent *event = gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, s);
    g_assert_null(astro_observation_from_event(event, &error));
    g_assert_nonnull(error);
    gst_event_unref(event);
  }
}

/* Without a history nothing is claimed, and each kind of stream is taken for what it usually is. */
static void test_untold(void)
{
  GstEvent *event = gst_event_new_custom(
      GST_EVENT_CUSTOM_DOWNSTREAM_STICKY,
      gst_structure_from_string("astro-observation,stations=<a>,positions=<1.0,2.0,3.0>", NULL));
  g_autoptr(AstroObservation) o = astro_observation_from_event(event, NULL);
  g_assert_cmpint(o->done.delays, ==, ASTRO_DELAYS_UNTOLD);
  g_assert_cmpint(astro_history_delays(&o->done, ASTRO_QUANTITY_SPECTRA), ==, ASTRO_DELAYS_IN);
  g_assert_cmpint(astro_history_delays(&o->done, ASTRO_QUANTITY_VISIBILITIES), ==,
                  ASTRO_DELAYS_OUT);
  g_assert_null(o->done.gains);
  g_assert_cmpfloat(astro_history_jansky(&o->done), ==, 0);
  o->done.scale = 4;
  g_assert_cmpfloat(astro_history_jansky(&o->done), ==, 1 / 16.);
  gst_event_unref(event);
}

/* The limits of values are accepted. */
static void test_ends(void)
{
  static const char *const texts[] = {
    "astro-observation,stations=<a>,positions=<1.0,2.0,3.0>",
    "astro-observation,stations=<a>,positions=<1.0,2.0,3.0>,phase-ra=-6.283185307179586,"
    "phase-dec=1.570796326794897,start-mjd=-678575,start-ns=(guint64)0",
    "astro-observation,stations=<a>,positions=<1.0,2.0,3.0>,phase-ra=6.283185307179586,"
    "phase-dec=-1.570796326794897,start-mjd=2973483,start-ns=(guint64)86399999999999",
  };
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
    GError *error = NULL;
    GstEvent *event = gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM_STICKY,
                                           gst_structure_from_string(texts[i], NULL));
    g_autoptr(AstroObservation) o = astro_observation_from_event(event, &error);
    g_assert_no_error(error);
    g_autofree char *start = astro_observation_get_start(o);
    g_assert_cmpint(o->has_phase_centre, ==, i > 0);
    g_assert_cmpint(start != NULL, ==, i > 0);
    gst_event_unref(event);
  }
}

static void add_tests(void)
{
  g_test_add_func("/observation/ends", test_ends);
  g_test_add_func("/observation/untold", test_untold);
  g_test_add_func("/observation/round-trip", test_round_trip);
  g_test_add_func("/observation/start", test_start);
  g_test_add_func("/observation/bad", test_bad);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
