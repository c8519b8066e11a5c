/* The plugin "astrouvh5": elements that need HDF5, and for astrofitssrc the reading of catalogues
 * in HDF5. */
#include "config.h"
#include <gst/gst.h>

#include "core/fits/table/rows.h"
#include "elements/astrouvh5sink.h"
#include "elements/astrouvh5src.h"

#define PACKAGE "gst-astro"
#define GST_PLUGIN_ORIGIN "Unknown package origin"

static gboolean plugin_init(GstPlugin *plugin)
{
  gboolean ok = TRUE;
  ok &= GST_ELEMENT_REGISTER(astrouvh5sink, plugin);
  ok &= GST_ELEMENT_REGISTER(astrouvh5src, plugin);
  g_object_set_data(G_OBJECT(plugin), ASTRO_HDF5_ROWS, (gpointer)&astro_hdf5_rows);
  return ok;
}

/* The sources are under the LGPL; the built plugin links to FFTW, which is under the GPL. */
GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, astrouvh5,
                  "Visibilities of radio telescopes (uvh5) and catalogues in HDF5", plugin_init,
                  PACKAGE_VERSION, "GPL", "gst-astro", GST_PLUGIN_ORIGIN)
