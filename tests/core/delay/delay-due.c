/* The work left for a stage after an earlier one: geometry, gains and delays, and the bandpass. A
 * model without any of them does nothing. */
#include "core/delay/due.h"
#include "tests/core/delay/delay.h"

#define GAINS "gain * * 2 30\ndelay A002 1 5\n"
#define BANDPASS "bandpass 1e8 2\nbandpass A001 0 2e8 4\n"

/* The history after a stage with that calibration, and the work it had to do. */
static AstroHistory undo(const AstroHistory *before, const char *text, AstroQuantity quantity,
                         AstroDelayDue *due)
{
  g_autoptr(AstroObservation) observation = test_observe_aside("disc", 3);
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroCalibration) calibration =
      text ? test_calibrate(text, observation, 2, &error) : NULL;
  AstroHistory after;
  g_assert_no_error(error);
  astro_history_copy(&after, before);
  astro_delay_record(calibration, quantity, &after);
  g_assert_true(astro_delay_due(due, calibration, quantity, before, &error));
  g_assert_no_error(error);
  return after;
}

static void check_due(const AstroDelayDue *due, gboolean geometry, gboolean gains,
                      gboolean bandpass)
{
  g_assert_cmpint(due->geometry, ==, geometry);
  g_assert_cmpint(due->gains, ==, gains);
  g_assert_cmpint(due->bandpass, ==, bandpass);
}

/* Voltages, then spectra, then spectra again, all with one file. */
static void test_in_a_row(void)
{
  const AstroHistory before = { 0 };
  AstroDelayDue due;
  g_auto(AstroHistory) voltages = undo(&before, GAINS BANDPASS, ASTRO_QUANTITY_VOLTAGES, &due);
  check_due(&due, TRUE, TRUE, FALSE);
  g_assert_cmpint(voltages.delays, ==, ASTRO_DELAYS_OUT);
  g_assert_nonnull(voltages.gains);
  g_assert_nonnull(voltages.bandpass_left);
  g_assert_null(voltages.bandpass);

  g_auto(AstroHistory) bare = undo(&voltages, NULL, ASTRO_QUANTITY_SPECTRA, &due);
  check_due(&due, FALSE, FALSE, FALSE);
  g_assert_cmpstr(bare.bandpass_left, ==, voltages.bandpass_left);

  g_auto(AstroHistory) spectra = undo(&voltages, GAINS BANDPASS, ASTRO_QUANTITY_SPECTRA, &due);
  check_due(&due, FALSE, FALSE, TRUE);
  g_assert_null(spectra.bandpass_left);
  g_assert_cmpstr(spectra.bandpass, ==, voltages.bandpass_left);

  g_auto(AstroHistory) again = undo(&spectra, GAINS BANDPASS, ASTRO_QUANTITY_SPECTRA, &due);
  check_due(&due, FALSE, FALSE, FALSE);
  g_assert_cmpstr(again.bandpass, ==, spectra.bandpass);
  g_assert_null(again.bandpass_left);

  g_auto(AstroHistory) alone = undo(&voltages, BANDPASS, ASTRO_QUANTITY_SPECTRA, &due);
  check_due(&due, FALSE, FALSE, TRUE);
  g_assert_cmpstr(alone.gains, ==, voltages.gains);
}

/* A file that asks for nothing is the same as none. */
static void test_nothing(void)
{
  const AstroHistory before = { .delays = ASTRO_DELAYS_OUT };
  AstroDelayDue due;
  g_auto(AstroHistory) after = undo(&before, "gain * * 1 0\n", ASTRO_QUANTITY_SPECTRA, &due);
  check_due(&due, FALSE, FALSE, FALSE);
  g_assert_null(after.gains);
}

static void test_another(void)
{
  static const struct {
    const char *first, *second, *says;
    AstroQuantity quantity;
  } cases[] = {
    { GAINS, "gain * * 3\n", "gains and delays of another calibration", ASTRO_QUANTITY_VOLTAGES },
    { BANDPASS, "bandpass 1e8 3\n", "bandpass of another calibration", ASTRO_QUANTITY_SPECTRA },
    { BANDPASS, "bandpass 1e8 3\n", "another bandpass, which", ASTRO_QUANTITY_VOLTAGES },
  };
  const AstroHistory before = { 0 };
  g_autoptr(AstroObservation) observation = test_observe_aside("disc", 3);
  AstroDelayDue due;
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_auto(AstroHistory) history = undo(&before, cases[i].first, cases[i].quantity, &due);
    g_autoptr(AstroCalibration) second = test_calibrate(cases[i].second, observation, 2, &error);
    g_assert_no_error(error);
    g_assert_false(astro_delay_due(&due, second, ASTRO_QUANTITY_SPECTRA, &history, &error));
    test_says(error->message, cases[i].says);
  }
}

/* If nothing is left to do, samples stay the same to the last bit, and no phase centre is
 * needed. */
static void test_identity(void)
{
  g_autoptr(AstroObservation) observation = astro_observation_new(3);
  g_autoptr(AstroCalibration) calibration = NULL;
  g_autoptr(GError) error = NULL;
  double seconds[6];
  calibration = test_calibrate(GAINS BANDPASS, observation, 2, &error);
  astro_calibration_drop_gains(calibration);
  astro_calibration_drop_bandpass(calibration);
  g_assert_cmpfloat(astro_calibration_bandpass(calibration, 0, 1e8), ==, 1);
  g_autoptr(AstroDelayModel) model =
      astro_delay_model_new(observation, FALSE, 2, g_steal_pointer(&calibration), &error);
  g_assert_no_error(error);
  astro_delay_model_at(model, 1234567, seconds);
  for (guint i = 0; i < 6; i++)
    g_assert_cmpfloat(seconds[i], ==, 0);
  g_assert_cmpfloat(astro_delay_model_longest(model), ==, 0);
  g_assert_cmpuint(astro_delay_model_stretch(model, 1e9, 1e6, &error), ==, 1024);
}

/* Lines for all inputs and lines for one: each input has straight lines between its own points. */
static void test_bandpasses(void)
{
  g_autoptr(AstroObservation) observation = astro_observation_new(3);
  g_autoptr(AstroCalibration) c = test_calibrate(
      "bandpass 1e8 2\nbandpass A002 1 2e8 4\nbandpass A003 * 2e8 6\n", observation, 2, NULL);
  g_assert_cmpuint(c->n_bandpasses, ==, 4); /* with the flat one */
  g_assert_cmpfloat(astro_calibration_bandpass(c, 0, 1.5e8), ==, 2);
  g_assert_cmpfloat(astro_calibration_bandpass(c, 2, 1.5e8), ==, 2);
  g_assert_cmpfloat(astro_calibration_bandpass(c, 3, 1.5e8), ==, 3);
  g_assert_cmpfloat(astro_calibration_bandpass(c, 4, 1.5e8), ==, 4);
  g_assert_cmpuint(c->inputs[4].bandpass, ==, c->inputs[5].bandpass);
}

static void add_tests(void)
{
  g_test_add_func("/delay/due/in-a-row", test_in_a_row);
  g_test_add_func("/delay/due/nothing", test_nothing);
  g_test_add_func("/delay/due/another", test_another);
  g_test_add_func("/delay/due/identity", test_identity);
  g_test_add_func("/delay/due/bandpasses", test_bandpasses);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
