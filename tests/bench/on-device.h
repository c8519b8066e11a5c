/* The GPU that a benchmark of kernels runs on, with a queue of its own. */
#pragma once

#include <stdio.h>

#include "core/backend/module.h"

static AstroDevice *device;
static AstroQueue *queue;

/* FALSE if there is none, which is printed. */
static inline gboolean bench_open_device_of(AstroBackendKind kind, const char *bench)
{
  g_autoptr(GError) error = NULL;
  device = astro_device_open_of(kind, 0, &error);
  if (device)
    queue = device->funcs->queue_new(device, &error);
  if (!queue)
    printf("%s: skipped: %s\n", bench, error->message);
  return queue != NULL;
}

static inline gboolean bench_open_device(const char *bench)
{
  return bench_open_device_of(ASTRO_BACKEND_CUDA, bench);
}

static inline void wait_for_device(void)
{
  AstroEvent *event = device->funcs->event_record(device, queue, NULL);
  GError *error = NULL;
  if (!device->funcs->event_wait(device, event, &error))
    g_error("%s", error->message);
  device->funcs->event_free(device, event);
}
