#include "config.h"
#include <gst/gst.h>

#include "elements/astroconvert.h"
#include "elements/astrocorrelator.h"
#include "elements/astrotranspose.h"

#define PACKAGE "gst-astro"
#define GST_PLUGIN_ORIGIN "Unknown package origin"

static gboolean plugin_init(GstPlugin *plugin)
{
  gboolean ok = TRUE;
  ok &= GST_ELEMENT_REGISTER(astroconvert, plugin);
  ok &= GST_ELEMENT_REGISTER(astrocorrelator, plugin);
  ok &= GST_ELEMENT_REGISTER(astrotranspose, plugin);
  return ok;
}

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, astro,
                  "Radio telescopes and sky catalogues as pipelines", plugin_init, PACKAGE_VERSION,
                  "LGPL", "gst-astro", GST_PLUGIN_ORIGIN)
