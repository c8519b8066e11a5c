/* Results of a qualification. */
#include "graphs/qualify-result.h"

AstroQualifyResult *astro_qualify_result_new(const char *requirement, const char *subject)
{
  AstroQualifyResult *result = g_new0(AstroQualifyResult, 1);
  result->requirement = g_strdup(requirement);
  result->subject = g_strdup(subject);
  result->unit = "";
  return result;
}

void astro_qualify_result_free(gpointer data)
{
  AstroQualifyResult *result = data;
  g_free(result->requirement);
  g_free(result->subject);
  g_free(result->remark);
  g_free(result);
}

const char *astro_qualify_state_name(AstroQualifyState state)
{
  static const char *const names[] = { [ASTRO_QUALIFY_PASS] = "pass",
                                       [ASTRO_QUALIFY_SHORT] = "short",
                                       [ASTRO_QUALIFY_NOT_RUN] = "not run" };
  return names[state];
}
