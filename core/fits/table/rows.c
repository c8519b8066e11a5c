/* Finds what reads tables in HDF5. */
#include "config.h"
#include "core/fits/table/rows.h"

#include <gst/gst.h>

/* Only the same version knows the same structs. */
const AstroTableRows *astro_table_rows_of_hdf5(void)
{
  g_autoptr(GstPlugin) plugin =
      gst_is_initialized() ? gst_plugin_load_by_name(ASTRO_HDF5_PLUGIN) : NULL;
  return plugin && g_strcmp0(gst_plugin_get_version(plugin), PACKAGE_VERSION) == 0
             ? g_object_get_data(G_OBJECT(plugin), ASTRO_HDF5_ROWS)
             : NULL;
}
