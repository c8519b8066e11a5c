/* The plugin "astrompi": streams between the ranks of an MPI job. It is a plugin of its own, so
 * that the others need no MPI. */
#include "config.h"
#include <gst/gst.h>

#include "elements/mpi/astroalltoall.h"
#include "elements/mpi/astroreduce.h"

#define PACKAGE "gst-astro"
#define GST_PLUGIN_ORIGIN "Unknown package origin"

static gboolean plugin_init(GstPlugin *plugin)
{
  return GST_ELEMENT_REGISTER(astroalltoall, plugin) && GST_ELEMENT_REGISTER(astroreduce, plugin);
}

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, astrompi,
                  "Streams between the ranks of an MPI job", plugin_init, PACKAGE_VERSION, "GPL",
                  "gst-astro", GST_PLUGIN_ORIGIN)
