/* Blocks on the GPU, and the driver's copy from one to another: what kernels that read a block once
 * are compared with. */
#pragma once

#include "tests/bench/library.h"
#include "tests/bench/on-device.h"
#include "tests/tests.h"

/* A block of random bytes, or of floats between 0.5 and 1 and with either sign. */
static inline gpointer bench_device_block(gsize bytes, gboolean is_float)
{
  guint32 *host = g_malloc(bytes);
  GError *error = NULL;
  gpointer face;
  test_fill(host, bytes, 1);
  for (gsize i = 0; i < bytes / 4 && is_float; i++)
    host[i] = (host[i] & 0x807fffff) | 0x3f000000;
  if (!device->funcs->alloc(device, bytes, &face, &error))
    g_error("%s", error->message);
  device->funcs->queue_copy(device, queue, ASTRO_COPY_UP, face, host, bytes, NULL);
  wait_for_device();
  g_free(host);
  return face;
}

static int (*bench_driver_copy)(guintptr to, guintptr from, gsize bytes, void *on);

static inline gboolean bench_load_copy(void)
{
  static const char *const names[] = { "libcuda.so.1", NULL };
  const BenchFunction functions[] = { { "cuMemcpyDtoDAsync_v2", (void **)&bench_driver_copy } };
  return bench_load(names, functions, 1);
}

/* Queues a copy. */
static inline void bench_copy(gpointer to, gconstpointer from, gsize bytes)
{
  if (bench_driver_copy((guintptr)to, (guintptr)from, bytes, queue))
    g_error("the driver copies nothing");
}
