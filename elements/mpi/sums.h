/* An element within astroreduce: images of which each rank has made a part. The element upstream
 * has the parts added up (elements/base/astroshares.h); the image goes on at rank root, and on the
 * other ranks the stream ends here. */
#pragma once

#include "elements/mpi/link.h"

G_BEGIN_DECLS

#define MPI_TYPE_SUMS mpi_sums_get_type()
G_DECLARE_FINAL_TYPE(MpiSums, mpi_sums, MPI, SUMS, GstElement)

/* The link outlives the element, and is interrupted before the element is stopped. */
GstElement *mpi_sums_new(AstroLink *link, const AstroWorld *world, guint root, GstCaps *caps);

G_END_DECLS
