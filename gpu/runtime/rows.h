/* Copies rows within a device's memory by a kernel: the copy engine takes short ones slowly. */
#pragma once

#include "gpu/runtime/cuda.h"

/* The rows of queue_copy_rows (core/backend/device.h). */
struct AstroCudaRows {
  guint8 *to;
  const guint8 *from;
  gsize to_step, from_step, bytes, n;
};

/* Queues the copy, on the current device. */
gboolean astro_cuda_copy_rows(const AstroCudaRows *rows, cudaStream_t stream, GError **error);
