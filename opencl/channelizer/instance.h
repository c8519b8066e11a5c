/* The instance of the OpenCL filter bank: losses.c brings blocks in order, channelizer.c is the
 * backend. */
#pragma once

#include "core/channelizer/channelizer.h"
#include "opencl/lib/fft/lines.h"
#include "opencl/lib/formats/gather.h"
#include "opencl/runtime/clipped.h"

typedef struct {
  AstroChannelizerConfig config;
  AstroPlace place;
  guint inputs, coarse;
  gsize sample_bytes;
  AstroOpenclGather order; /* of a block of one step */
  guint64 step, span;
  guint64 begin, end; /* of the current unbroken stretch */

  cl_kernel filter, give, keep, gather, drop;
  AstroOpenclLines lines;
  AstroOpenclRooms rooms;
  gpointer weights, gains;
  gpointer held[2]; /* [input][span]; the second is filled for the next block */
  guint64 held_from;
  AstroOpenclRoom gathered, losses; /* of a block */
  AstroOpenclClipped clipped;
} Channelizer;

/* Makes *block the samples of the block as [input][step], lost ones 0: where it is, or gathered. */
gboolean astro_opencl_channelizer_gather(Channelizer *self, const AstroBlock *in,
                                         const AstroChannelizerArguments *arguments,
                                         gpointer *block, GError **error);
