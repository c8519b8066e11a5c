/* Lists what the event about a correlation function may tell. */
#include "core/stream/correlation-about.h"

const AstroAboutField astro_about_fields[] = {
  { "estimator", "ESTIMATR", "how w is computed from the pairs" },
  { "constraint", "INTCONST", "integral constraint added to w" },
  { "regions", "NREGIONS", "regions of the jackknife" },
  { "samples", "NSAMPLES", "regions with points" },
  { "data", "NDATA", "number of data points" },
  { "data2", "NDATA2", "number of points of the second data" },
  { "random", "NRANDOM", "random points, all catalogues" },
  { "random2", "NRANDOM2", "random points, all second catalogues" },
  { "catalogues", "NCATALOG", "number of random catalogues" },
  { "dd-pairs", "DDPAIRS", "all pairs, or their weights" },
  { "dr-pairs", "DRPAIRS", "all pairs, or their weights" },
  { "rd-pairs", "RDPAIRS", "all pairs, or their weights" },
  { "rr-pairs", "RRPAIRS", "all pairs, or their weights" },
  { NULL, NULL, NULL },
};

gboolean astro_event_is_about(GstEvent *event)
{
  return GST_EVENT_TYPE(event) == GST_EVENT_CUSTOM_DOWNSTREAM_STICKY &&
         gst_event_has_name(event, ASTRO_ABOUT_EVENT);
}
