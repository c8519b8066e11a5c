/* An element within those for MPI: its source pad gives the stream that one rank sends. */
#pragma once

#include "elements/mpi/link.h"

G_BEGIN_DECLS

#define MPI_TYPE_RECEIVER mpi_receiver_get_type()
G_DECLARE_FINAL_TYPE(MpiReceiver, mpi_receiver, MPI, RECEIVER, GstElement)

/* is_live: who reads it need not wait for it. The link outlives the element, and is interrupted
 * before the element is stopped. */
GstElement *mpi_receiver_new(AstroLink *link, guint from, gboolean is_live);

G_END_DECLS
