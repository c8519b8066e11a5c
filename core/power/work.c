/* The work of power, for plans. */
#include "config.h"
#include "core/power/check.h"

#include <string.h>

/* Operations for one sample of both polarisations. Circular receivers exchange Q and V, so that a
 * stream with only one of these differs by 5. */
static guint operations_of(const char *name, guint pols)
{
  static const struct {
    const char *name;
    guint operations;
  } two_powers[] = { { "I", 8 }, { "Q", 8 } };
  if (astro_power_is_square(name)) {
    g_autofree char *root = g_strndup(name, strlen(name) - strlen(ASTRO_POWER_SQUARE));
    return operations_of(root, pols) + 1;
  }
  for (guint i = 0; pols == 2 && i < G_N_ELEMENTS(two_powers); i++)
    if (g_str_equal(name, two_powers[i].name))
      return two_powers[i].operations;
  return 3;
}

/* Each sample is added to its sum, and each mean is divided. */
gboolean astro_power_work(gconstpointer configuration, const AstroWorkSteps *steps, AstroWork *work)
{
  const AstroPowerConfig *config = configuration;
  double operations = 0;
  for (guint i = 0; i < config->products.n; i++)
    operations += operations_of(config->products.names[i], config->pols) + 1;
  const double means = (double)astro_power_counts(config) * config->products.n;
  *work = (AstroWork){ .kept = means * sizeof(double) };
  work->operations[ASTRO_ARITHMETIC_FLOAT] =
      operations * config->stations * config->channels * steps->in + means * steps->out;
  return TRUE;
}
