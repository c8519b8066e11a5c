/* Datasets that are read in slices: opened with room for the chunks that a row goes through. */
#pragma once

#include "core/lib/hdf5/h5.h"

G_BEGIN_DECLS

/* Opens a dataset whose first axis is read in slices; -1: an error, also for a filter that HDF5
 * lacks. otherwise: what else than a plugin of HDF5 makes the file readable. */
hid_t astro_h5_open_sliced(const AstroH5 *file, const char *path, const char *otherwise,
                           GError **error);

G_END_DECLS
