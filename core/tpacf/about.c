/* Makes the event that says how a correlation function was made. */
#include "core/tpacf/about.h"

#include <string.h>

static void set_number(GstStructure *s, const char *field, guint64 number)
{
  if (number > 0)
    gst_structure_set(s, field, G_TYPE_UINT64, number, NULL);
}

static void set_pairs(GstStructure *s, const AstroSummary *summary, char **kinds)
{
  const gsize cells = (gsize)summary->n_regions * summary->n_regions;
  for (guint k = 0; kinds[k]; k++) {
    if (strchr(kinds[k], '_')) /* a plane of sums, which has no pairs of its own */
      continue;
    g_autofree char *field = g_strconcat(kinds[k], "-pairs", NULL);
    double sum = 0;
    for (gsize cell = 0; cell < cells; cell++)
      sum += summary->pairs[k * cells + cell];
    gst_structure_set(s, field, G_TYPE_DOUBLE, sum, NULL);
  }
}

static const char *name_of(AstroEstimator estimator)
{
  g_autoptr(GEnumClass) estimators = g_type_class_ref(ASTRO_TYPE_ESTIMATOR);
  return g_enum_get_value(estimators, (gint)estimator)->value_nick; /* static */
}

GstEvent *astro_about_to_event(const AstroTpacfConfig *config, const AstroTpacfResult *result,
                               const AstroSummary *summary, char **kinds)
{
  GstStructure *s = gst_structure_new(ASTRO_ABOUT_EVENT, "estimator", G_TYPE_STRING,
                                      config->fields == ASTRO_PAIR_FIELDS_NONE
                                          ? name_of(config->estimator)
                                          : astro_pair_fields_name(config->fields),
                                      "constraint", G_TYPE_DOUBLE, result->constraint, NULL);
  set_number(s, "regions", config->n_regions > 1 ? config->n_regions : 0);
  set_number(s, "samples", result->n_used);
  for (AstroSide side = 0; side < ASTRO_N_SIDES; side++)
    set_number(s, astro_side_name(side), summary->points[side]);
  set_number(s, "catalogues", summary->catalogues);
  set_pairs(s, summary, kinds);
  return gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, s);
}
