/* Reads trial dispersion measures. */
#include "config.h"
#include "core/dedisperse/trials.h"

#include <math.h>

#include "core/dedisperse/dedisperse.h"
#include "core/kit/lines.h"
#include "core/stream/observation.h"

/* A range may miss its end by this part of a step, as decimal fractions do. */
#define ROUNDING 1e-6

static gboolean add_trial(GArray *trials, double dm, GError **error)
{
  if (!(dm >= 0 && dm <= ASTRO_OBSERVATION_MAX_DM))
    return astro_backend_refuse(error, "dm %.10g is not possible, expected 0 to %g pc/cm^3", dm,
                                ASTRO_OBSERVATION_MAX_DM);
  if (trials->len > 0 && !(dm > g_array_index(trials, double, trials->len - 1)))
    return astro_backend_refuse(error, "dm %.10g follows %.10g, expected values that rise", dm,
                                g_array_index(trials, double, trials->len - 1));
  if (trials->len == ASTRO_DEDISPERSE_MAX_DMS)
    return astro_backend_refuse(error, "more than %d values, expected at most as many",
                                ASTRO_DEDISPERSE_MAX_DMS);
  g_array_append_val(trials, dm);
  return TRUE;
}

static gboolean add_range(GArray *trials, const char *word, const double *range, GError **error)
{
  const double steps = (range[1] - range[0]) / range[2] + ROUNDING;
  if (!(range[2] > 0 && steps >= 0))
    return astro_backend_refuse(error,
                                "\"%s\": expected FROM:TO:STEP with a step above 0 and TO not "
                                "below FROM",
                                word);
  for (guint i = 0; i <= steps; i++)
    if (!add_trial(trials, range[0] + i * range[2], error))
      return FALSE;
  return TRUE;
}

static gboolean add_word(GArray *trials, const char *word, GError **error)
{
  g_auto(GStrv) parts = g_strsplit(word, ":", -1);
  const guint n = g_strv_length(parts);
  double numbers[3];
  for (guint i = 0; i < n; i++)
    if ((n != 1 && n != 3) || !astro_number_parse(g_strstrip(parts[i]), &numbers[i]))
      return astro_backend_refuse(error, "\"%s\": expected a number, or FROM:TO:STEP, in pc/cm^3",
                                  word);
  return n == 3 ? add_range(trials, word, numbers, error) : add_trial(trials, numbers[0], error);
}

GArray *astro_dedisperse_trials_read(const char *text, GError **error)
{
  g_autoptr(GArray) trials = g_array_new(FALSE, FALSE, sizeof(double));
  g_auto(GStrv) words = g_strsplit(text ? text : "", ",", -1);
  if (!words[0] || !*g_strstrip(words[0])) {
    astro_backend_refuse(error, "no value, expected dispersion measures in pc/cm^3: a number, a "
                                "list of them, or FROM:TO:STEP");
    return NULL;
  }
  for (guint i = 0; words[i]; i++)
    if (!add_word(trials, words[i], error))
      return NULL;
  return g_steal_pointer(&trials);
}
