#include "core/stream/correlation-about.h"

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

gboolean astro_event_is_about(GstEvent *event)
{
  return GST_EVENT_TYPE(event) == GST_EVENT_CUSTOM_DOWNSTREAM_STICKY &&
         gst_event_has_name(event, ASTRO_ABOUT_EVENT);
}
