/* The part of bytes.cu for transforms in three passes. */
#pragma once

#include "gpu/channelizer/bytes-shape.h"

gboolean astro_channelizer_bytes_long(AstroFormat from, const ChannelizerRun *run,
                                      BytesFactors factors, cudaStream_t stream, GError **error);
