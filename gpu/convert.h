/* The parts of the CUDA convert. */
#pragma once

#include "gpu/cuda.h"

/* Groups of 16 components, on both sides at multiples of their size. The scale is finite. */
typedef struct {
  const guint8 *in;
  guint8 *out;
  guint64 groups;
  float scale;
  guint64 *counter; /* on the device: clipped components are added */
  gint multiprocessors;
} AstroConvertBytes;

void astro_convert_nibbles(const AstroConvertBytes *work, cudaStream_t stream); /* CI4 to CI8 */
void astro_convert_bytes(const AstroConvertBytes *work, cudaStream_t stream);   /* CI8 to CI8 */
