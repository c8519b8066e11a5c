/* The parser of calibration files on any text. */
#include "core/delay/calibration.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
  g_autoptr(AstroObservation) observation = astro_observation_new(3);
  g_autoptr(GError) error = NULL;
  AstroLines lines;
  astro_lines_init(&lines, "fuzz", g_strndup((const char *)data, size));
  g_autoptr(AstroCalibration) calibration = astro_calibration_read(&lines, observation, 2, &error);
  astro_lines_clear(&lines);
  if (!calibration && !error)
    abort();
  if (calibration && !(astro_calibration_bandpass(calibration, 1, 1.05e8) > 0))
    abort();
  return 0;
}
