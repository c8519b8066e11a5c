/* Calls of a backend on blocks that lie on the GPU, beside as many copies of the same size: what
 * benchmarks of one kernel time by turns. */
#pragma once

#include "core/backend/backend.h"
#include "tests/bench/device-copy.h"

enum { CALLS = 8 };

typedef struct {
  const AstroBackend *backend;
  gpointer instance;
  gconstpointer arguments;
  AstroResult *result; /* NULL: none is wanted */
  AstroBlock in, out;
  gpointer from, to; /* of the copy; NULL: there is none */
  gsize copied;
} DeviceWork;

static inline void device_work_make(DeviceWork *work, gconstpointer config, const char **variant)
{
  const AstroPlace place = { .device = device, .queue = queue };
  GError *error = NULL;
  work->instance = work->backend->create(config, &place, variant, &error);
  if (!work->instance)
    g_error("%s", error->message);
}

/* A copy that moves as many bytes as are read and written by a call. */
static inline void device_work_copy(DeviceWork *work, gsize bytes)
{
  work->copied = bytes / 2;
  work->from = bench_device_block(work->copied, FALSE);
  work->to = bench_device_block(work->copied, FALSE);
}

static inline void device_work_call(gpointer data)
{
  const DeviceWork *w = data;
  GError *error = NULL;
  for (guint i = 0; i < CALLS; i++)
    if (!w->backend->submit(w->instance, &w->in, 1, &w->out, 1, w->arguments, w->result, &error))
      g_error("%s", error->message);
  wait_for_device();
}

static inline void device_work_run_copies(gpointer data)
{
  const DeviceWork *w = data;
  for (guint i = 0; i < CALLS; i++)
    bench_copy(w->to, w->from, w->copied);
  wait_for_device();
}

/* Bytes a second of the calls and of the copies. */
static inline void device_work_pair(DeviceWork *work, double *ours, double *limit)
{
  const double bytes = CALLS * 2 * (double)work->copied;
  bench_pair(device_work_call, work, device_work_run_copies, work, 7, ours, limit);
  *ours = bytes / *ours;
  *limit = bytes / *limit;
}

static inline void device_work_clear(DeviceWork *work)
{
  gpointer blocks[] = { work->in.data, work->out.data, work->from, work->to };
  work->backend->destroy(work->instance);
  for (guint i = 0; i < G_N_ELEMENTS(blocks); i++)
    if (blocks[i])
      device->funcs->free(device, blocks[i]);
}
