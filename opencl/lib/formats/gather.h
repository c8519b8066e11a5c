/* Brings samples of any order to rows with time contiguous, one for each input (a polarisation of a
 * station, or a channel of one), in their own format. For stages whose program has gather.cl. */
#pragma once

#include "core/stream/stream.h"
#include "opencl/runtime/opencl.h"

G_BEGIN_DECLS

/* As in gather.cl. */
typedef struct {
  cl_ulong time, station, pol, channel; /* samples from one to the next along each axis */
  cl_ulong steps, row;                  /* row: samples from row to row of what comes out */
  cl_uint inputs, pols, channels;
  cl_uint components, bytes; /* of a sample; of a component */
  cl_uint is_zero;
} AstroOpenclGather;

/* From a block of that many steps to rows one behind the other. */
AstroOpenclGather astro_opencl_gather_of(const AstroStream *stream, guint64 steps);
/* Whether the block is such rows already. */
gboolean astro_opencl_gather_is_there(const AstroOpenclGather *gather);
/* kernel: "gather" of the stage's program. in NULL: zeros. */
gboolean astro_opencl_gather(const AstroPlace *place, cl_kernel kernel, AstroOpenclGather gather,
                             gconstpointer in, gpointer out, GError **error);

G_END_DECLS
