/* Reads counters of energy around timed work, and judges its rate. */
#include "graphs/qualify-meter.h"
#include "graphs/usage.h"

#include <math.h>

AstroQualifyMeter *astro_qualify_meter_start(void)
{
  AstroUsage *usage = astro_usage_new(NULL);
  astro_usage_read(usage);
  return usage;
}

char *astro_qualify_meter_stop(AstroQualifyMeter *meter, guint runs)
{
  const AstroUsageTold told = astro_usage_read(meter);
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < told.energies->len; i++) {
    const AstroEnergy *energy = &g_array_index(told.energies, AstroEnergy, i);
    g_string_append_printf(text, ", %.3g J of %s", energy->joules / runs, energy->name);
  }
  astro_usage_free(meter);
  return g_string_free(text, FALSE);
}

char *astro_qualify_meter_lacks(void)
{
  AstroUsage *usage = astro_usage_new(NULL);
  const AstroUsageTold told = astro_usage_read(usage);
  gboolean has_cpu = FALSE;
  for (guint i = 0; i < told.energies->len; i++)
    has_cpu |= !g_array_index(told.energies, AstroEnergy, i).model;
  char *text = has_cpu && !told.no_gpus ? NULL
               : has_cpu                ? g_strdup_printf("not of GPUs: %s", told.no_gpus)
               : told.no_gpus
                   ? g_strdup_printf("not of the CPU: no counter that this user may read; not of "
                                     "GPUs: %s",
                                     told.no_gpus)
                   : g_strdup("not of the CPU: no counter that this user may read");
  astro_usage_free(usage);
  return text;
}

int astro_qualify_compare_doubles(gconstpointer a, gconstpointer b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

void astro_qualify_judge_rate(AstroQualifyResult *result, double seconds, double bound,
                              double least, double overhead)
{
  result->value = bound / fmax(seconds, 1e-9);
  result->state = result->value >= least ? ASTRO_QUALIFY_PASS
                  : seconds > overhead   ? ASTRO_QUALIFY_SHORT
                                         : ASTRO_QUALIFY_NOT_RUN;
  if (result->state != ASTRO_QUALIFY_NOT_RUN)
    return;
  char *remark = g_strconcat(result->remark, ": too little work to tell the rate", NULL);
  g_free(result->remark);
  result->remark = remark;
}
