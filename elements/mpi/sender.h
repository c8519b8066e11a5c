/* An element within those for MPI: sends what comes to its sink pad to one rank. */
#pragma once

#include "elements/mpi/link.h"

G_BEGIN_DECLS

#define MPI_TYPE_SENDER mpi_sender_get_type()
G_DECLARE_FINAL_TYPE(MpiSender, mpi_sender, MPI, SENDER, GstElement)

/* It takes such caps. Blocks may lie on a device as long as they may go from there. With has_end it
 * has a source pad too, on which only the end of the stream comes, when the rank has taken all of
 * it. The link outlives the element. */
GstElement *mpi_sender_new(AstroLink *link, guint to, GstCaps *caps, gboolean has_end);

/* Its blocks stay on this rank: they may lie wherever they are. */
void mpi_sender_take_any(GstElement *sender);

G_END_DECLS
