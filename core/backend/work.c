/* Names of arithmetic, and the work of stages that compute nothing. */
#include "config.h"
#include "core/backend/work.h"

static const char *const arithmetics[ASTRO_N_ARITHMETICS] = {
  [ASTRO_ARITHMETIC_INT8] = "int8",     [ASTRO_ARITHMETIC_INT16] = "int16",
  [ASTRO_ARITHMETIC_HALF] = "half",     [ASTRO_ARITHMETIC_FLOAT] = "float",
  [ASTRO_ARITHMETIC_DOUBLE] = "double",
};

const char *astro_arithmetic_name(AstroArithmetic arithmetic)
{
  g_return_val_if_fail(arithmetic < ASTRO_N_ARITHMETICS, NULL);
  return arithmetics[arithmetic];
}

gboolean astro_work_none(gconstpointer config, const AstroWorkSteps *steps, AstroWork *work)
{
  *work = (AstroWork){ 0 };
  return TRUE;
}
