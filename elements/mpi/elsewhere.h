/* The end of a stream that goes on at another rank. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Pushes all that a stream without buffers needs, and says where it has gone, so that sinks write
 * nothing. Takes over eos. */
gboolean mpi_end_elsewhere(GstPad *src, guint rank, GstEvent *eos);

G_END_DECLS
