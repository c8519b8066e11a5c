/* Finds and records the corrections that a stream needs. */
#include "config.h"
#include "core/delay/due.h"
#include "core/lib/sky/array.h"

/* Whether a correction with the checksum sum (NULL: none) is still to be made in a stream in which
 * one with the checksum undone (NULL: none) was made. */
static gboolean find_left(const char *sum, const char *undone, const char *of, gboolean *left,
                          GError **error)
{
  *left = sum && !undone;
  if (!sum || !undone || g_str_equal(sum, undone))
    return TRUE;
  g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
              "the %s of another calibration %s been undone before this element: expected the same "
              "file, whose corrections are not made twice, or one without them",
              of, g_str_equal(of, "bandpass") ? "has" : "have");
  return FALSE;
}

static gboolean check_waiting(const char *sum, const AstroHistory *history, GError **error)
{
  if (!sum || !history->bandpass_left || g_str_equal(sum, history->bandpass_left))
    return TRUE;
  g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
              "the calibration of an earlier element has another bandpass, which is "
              "still to be undone: expected the same file");
  return FALSE;
}

gboolean astro_delay_due(AstroDelayDue *due, AstroCalibration *calibration, AstroQuantity quantity,
                         const AstroHistory *history, GError **error)
{
  *due = (AstroDelayDue){ .geometry = astro_history_delays(history, quantity) != ASTRO_DELAYS_OUT };
  if (!calibration)
    return TRUE;
  g_autofree char *gains = astro_calibration_sum_gains(calibration);
  g_autofree char *bandpass = astro_calibration_sum_bandpass(calibration);
  if (!find_left(gains, history->gains, "gains and delays", &due->gains, error) ||
      !find_left(bandpass, history->bandpass, "bandpass", &due->bandpass, error) ||
      !check_waiting(bandpass, history, error))
    return FALSE;
  due->bandpass &= quantity == ASTRO_QUANTITY_SPECTRA;
  if (!due->gains)
    astro_calibration_drop_gains(calibration);
  if (!due->bandpass)
    astro_calibration_drop_bandpass(calibration);
  return TRUE;
}

/* To a tenth of a millimetre, so that equal arrays have equal texts. */
void astro_delay_record_centre(const AstroObservation *observation, AstroHistory *history)
{
  double centre[3];
  astro_array_centre(observation, centre);
  g_autofree char *text = g_strdup_printf("%.4f,%.4f,%.4f", centre[0], centre[1], centre[2]);
  astro_history_set_text(&history->delays_centre, text);
}

void astro_delay_record(const AstroCalibration *calibration, AstroQuantity quantity,
                        AstroHistory *history)
{
  history->delays = ASTRO_DELAYS_OUT;
  if (!calibration)
    return;
  g_autofree char *gains = astro_calibration_sum_gains(calibration);
  g_autofree char *bandpass = astro_calibration_sum_bandpass(calibration);
  if (gains)
    astro_history_set_text(&history->gains, gains);
  if (!bandpass || history->bandpass)
    return;
  const gboolean is_undone = quantity == ASTRO_QUANTITY_SPECTRA;
  astro_history_set_text(&history->bandpass, is_undone ? bandpass : NULL);
  astro_history_set_text(&history->bandpass_left, is_undone ? NULL : bandpass);
}
