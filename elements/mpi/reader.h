/* Where the elements behind a pad read blocks, before any stream has come to them. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Whether the first element that does more than cut, join and pass on reads on a device. A sink, or
 * several branches, read on the host. */
gboolean mpi_is_read_on_device(GstPad *src);

G_END_DECLS
