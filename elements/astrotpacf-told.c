/* Messages and warnings of astrotpacf. */
#include "config.h"
#include "elements/astrotpacf-told.h"

#include <math.h>

/* Fraction of the random pairs that the bins need to hold for the integral constraint. */
#define ENOUGH_PAIRS 0.99

/* The power law if one fits, else the reason why none does. */
static GstStructure *fit_of(const AstroTpacfResult *result)
{
  AstroPowerLaw law;
  if (!result->theta)
    return gst_structure_new("astro-tpacf", "no-fit", G_TYPE_STRING,
                             "power laws are fitted to pairs by angle alone", NULL);
  if (astro_tpacf_fit(result, 0, INFINITY, &law))
    return gst_structure_new("astro-tpacf", "amplitude", G_TYPE_DOUBLE, law.amplitude, "slope",
                             G_TYPE_DOUBLE, law.slope, "bins", G_TYPE_UINT, law.n_used, NULL);
  return gst_structure_new("astro-tpacf", "no-fit", G_TYPE_STRING, law.reason, NULL);
}

void astro_tpacf_tell(GstElement *self, const AstroTpacfResult *result)
{
  if (result->apart)
    GST_ELEMENT_WARNING(
        self, STREAM, FAILED,
        ("no point of %s, as far as the bins reach: do they cover the same sky, with "
         "positions in degrees?",
         result->apart),
        (NULL));
  if (result->kind_without_pairs)
    GST_ELEMENT_WARNING(
        self, STREAM, FAILED,
        ("%s is NaN in all %u bins: there are no pairs of kind %s, or all have weight "
         "0: expected at least two points in every catalogue",
         result->theta ? "w" : "the correlation function", result->n_bins,
         result->kind_without_pairs),
        (NULL));
  else if (result->n_undefined)
    GST_ELEMENT_WARNING(
        self, STREAM, FAILED,
        ("%s is NaN in %u of %u bins, where the estimator would divide by zero pairs",
         result->theta ? "w" : "the correlation function", result->n_undefined, result->n_bins),
        (NULL));
  if (result->is_unsettled)
    GST_ELEMENT_WARNING(
        self, STREAM, FAILED,
        ("no integral constraint is added: it needs pairs of random points, and a w that in at "
         "least three bins is above 0 by more than its errors and steep enough for a power law"),
        (NULL));
  if (result->constraint != 0 && result->constraint_share < ENOUGH_PAIRS)
    GST_ELEMENT_WARNING(self, STREAM, FAILED,
                        ("the integral constraint of %.3g is too large: only %.3g%% of the random "
                         "pairs lie in the bins, expected bins that reach across the field",
                         result->constraint, 100 * result->constraint_share),
                        (NULL));
  GstStructure *s = fit_of(result);
  gst_structure_set(s, "constraint", G_TYPE_DOUBLE, result->constraint, "samples", G_TYPE_UINT,
                    result->n_used, "undefined", G_TYPE_UINT, result->n_undefined, NULL);
  gst_element_post_message(self, gst_message_new_element(GST_OBJECT(self), s));
}
