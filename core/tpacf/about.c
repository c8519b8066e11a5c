#include "core/tpacf/about.h"

const AstroAboutField astro_about_fields[] = {
  { "estimator", "ESTIMATR", "how w is made of the pairs" },
  { "constraint", "INTCONST", "integral constraint that is added to w" },
  { "regions", "NREGIONS", "left out one by one for the errors" },
  { "samples", "NSAMPLES", "regions that have points" },
  { "data", "NDATA", "points of the data" },
  { "data2", "NDATA2", "points of the second data" },
  { "random", "NRANDOM", "random points of all catalogues" },
  { "random2", "NRANDOM2", "random points of all second catalogues" },
  { "catalogues", "NCATALOG", "random catalogues" },
  { "dd-pairs", "DDPAIRS", "at any separation, or their weights" },
  { "dr-pairs", "DRPAIRS", "at any separation, or their weights" },
  { "rd-pairs", "RDPAIRS", "at any separation, or their weights" },
  { "rr-pairs", "RRPAIRS", "at any separation, or their weights" },
  { NULL, NULL, NULL },
};

static void set_number(GstStructure *s, const char *field, guint64 number)
{
  if (number > 0)
    gst_structure_set(s, field, G_TYPE_UINT64, number, NULL);
}

static void set_pairs(GstStructure *s, const AstroSummary *summary, char **kinds)
{
  const gsize cells = (gsize)summary->n_regions * summary->n_regions;
  for (guint k = 0; kinds[k]; k++) {
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
  GstStructure *s =
      gst_structure_new(ASTRO_ABOUT_EVENT, "estimator", G_TYPE_STRING, name_of(config->estimator),
                        "constraint", G_TYPE_DOUBLE, result->constraint, NULL);
  set_number(s, "regions", config->n_regions > 1 ? config->n_regions : 0);
  set_number(s, "samples", result->n_used);
  for (AstroSide side = 0; side < ASTRO_N_SIDES; side++)
    set_number(s, astro_side_name(side), summary->points[side]);
  set_number(s, "catalogues", summary->catalogues);
  set_pairs(s, summary, kinds);
  return gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, s);
}

gboolean astro_event_is_about(GstEvent *event)
{
  return GST_EVENT_TYPE(event) == GST_EVENT_CUSTOM_DOWNSTREAM_STICKY &&
         gst_event_has_name(event, ASTRO_ABOUT_EVENT);
}
