/* The integral constraint: what w lacks since the mean density is that of the same field. */
#include "core/tpacf/constraint.h"

#include <math.h>

#define MOST_ROUNDS 1000
#define SETTLED 1e-9 /* relative change of the constraint in a round */

AstroPowerLawBins bins_of(const AstroTpacfResult *result)
{
  return (AstroPowerLawBins){ result->theta, result->w, result->error, result->pairs,
                              result->n_bins };
}

/* sum(rr w) / sum(rr) for the power law that best fits w plus the constraint. */
static gboolean lost_by_fit(const Sum *rr, const AstroTpacfResult *result, double constraint,
                            AstroTpacfResult *raised, double *lost)
{
  AstroPowerLaw law;
  double above = 0, below = 0;
  for (guint k = 0; k < result->n_bins; k++)
    raised->w[k] = result->w[k] + constraint;
  const AstroPowerLawBins bins = bins_of(raised);
  if (!astro_power_law_line(&bins, 0, INFINITY, &law))
    return FALSE;
  for (guint k = 0; k < result->n_bins; k++) {
    above += rr->counts[k] * law.amplitude * pow(result->theta[k], law.slope);
    below += rr->counts[k];
  }
  *lost = above / below;
  return below > 0 && isfinite(*lost);
}

gboolean constrain(const Sum *rr, AstroTpacfResult *result)
{
  /* The errors are those of w without the constraint: otherwise the rounds would not converge. */
  g_autofree double *w = g_try_new(double, MAX(result->n_bins, 1)),
                    *errors = g_try_new(double, MAX(result->n_bins, 1));
  AstroTpacfResult raised = *result;
  const AstroPowerLawBins bins = bins_of(result);
  AstroPowerLaw law;
  double constraint = 0, lost;
  if (!w || !errors)
    return FALSE;
  result->is_unsettled = TRUE;
  raised.w = w;
  raised.error = errors;
  raised.pairs = NULL;
  for (guint k = 0; k < result->n_bins; k++)
    raised.error[k] = astro_power_law_error(&bins, k);
  for (guint round = 0; round < MOST_ROUNDS && result->is_unsettled; round++) {
    if (!lost_by_fit(rr, result, constraint, &raised, &lost))
      break;
    result->is_unsettled = !(fabs(lost - constraint) <= SETTLED * fabs(lost));
    constraint = lost;
  }
  result->is_unsettled = result->is_unsettled || !astro_tpacf_fit(&raised, 0, INFINITY, &law);
  if (result->is_unsettled)
    return TRUE;
  result->constraint = constraint;
  result->constraint_share = sum_bins(rr, result->n_bins) / rr->pairs;
  for (guint k = 0; k < result->n_bins; k++)
    result->w[k] += constraint;
  return TRUE;
}
