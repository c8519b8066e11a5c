/* Reads the level at which CLEAN ends. */
#include "config.h"
#include "core/clean/threshold.h"

#include <math.h>
#include <string.h>

#include "core/backend/backend.h"

static const struct {
  const char *name;
  double jansky; /* 0: it is no flux, but the noise */
} units[] = { { "", 1 }, { "Jy", 1 }, { "mJy", 1e-3 }, { "uJy", 1e-6 }, { "sigma", 0 } };

static gboolean refuse(const char *text, GError **error)
{
  return astro_backend_refuse(error,
                              "threshold \"%s\", expected a flux of 0 or more, such as 0.01, 10mJy "
                              "or 200uJy (Jy/beam), or more than 0 times the noise, such as 3sigma",
                              text);
}

gboolean astro_clean_threshold_parse(const char *text, double *flux, double *times, GError **error)
{
  g_autofree char *word = g_strstrip(g_strdup(text ? text : ""));
  char *end;
  const double number = g_ascii_strtod(word, &end);
  *flux = 0;
  if (!*word)
    return TRUE;
  if (end == word || !isfinite(number) || number < 0)
    return refuse(text, error);
  const char *unit = g_strchug(end);
  for (guint i = 0; i < G_N_ELEMENTS(units); i++) {
    if (strcmp(unit, units[i].name))
      continue;
    *flux = number * units[i].jansky;
    if (units[i].jansky > 0)
      return TRUE;
    if (number > 0)
      *times = number;
    return number > 0 || refuse(text, error);
  }
  return refuse(text, error);
}
