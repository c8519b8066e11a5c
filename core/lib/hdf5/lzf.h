/* The filter by which h5py packs flags and counts, and which HDF5 itself does not have. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Once for the process, unless another part of it brings the filter. */
void astro_lzf_register(void);

/* Unpacks a block; FALSE if it is broken or has other than n bytes. */
gboolean astro_lzf_unpack(const guint8 *packed, gsize bytes, guint8 *out, gsize n);

G_END_DECLS
