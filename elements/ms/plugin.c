/* The plugin "astroms": Measurement Sets. It is a plugin of its own, so that the others need no
 * casacore. */
#include "config.h"
#include <gst/gst.h>

#include "elements/ms/astromssink.h"
#include "elements/ms/astromssrc.h"

#define PACKAGE "gst-astro"
#define GST_PLUGIN_ORIGIN "Unknown package origin"

static gboolean plugin_init(GstPlugin *plugin)
{
  return GST_ELEMENT_REGISTER(astromssink, plugin) && GST_ELEMENT_REGISTER(astromssrc, plugin);
}

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, astroms,
                  "Visibilities in Measurement Sets, with casacore", plugin_init, PACKAGE_VERSION,
                  "GPL", "gst-astro", GST_PLUGIN_ORIGIN)
