/* Copies samples from any order of axes to rows with time contiguous, one for each channel and
 * input (a polarisation of a station). Their format may change on the way. */
#pragma once

#include "gpu/runtime/cuda.h"

extern "C" {
#include "core/stream/stream.h"
}

struct AstroCudaGather {
  const guint8 *from;
  guint64 time, channel, station, pol; /* bytes from step to step of an axis */
  guint8 *to;
  guint64 to_row, to_channel; /* bytes from input to input and from channel to channel */
  guint64 count;              /* steps */
  guint32 channels, stations, pols;
  AstroFormat format, to_format; /* equal, or CI4 to CI8, or any to CF32LE */
  /* A byte that is not 0 marks a good sample, beginning with the first of these steps; others
   * become 0. NULL: all are good. */
  const guint8 *valid;
  guint64 valid_time, valid_channel, valid_station;
};

gboolean astro_cuda_gather(const AstroCudaGather *gather, cudaStream_t stream, GError **error);
