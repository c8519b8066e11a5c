/* The functions of AstroDevice on OpenCL, for the table in device.c. */
#pragma once

#include "opencl/runtime/opencl.h"

/* ---- memory.c ---- */

gboolean astro_opencl_memory(AstroDevice *device, AstroDeviceMemory *memory, GError **error);
gboolean astro_opencl_alloc_face(AstroDevice *device, gsize bytes, gpointer *face, GError **error);
void astro_opencl_free_face(AstroDevice *device, gpointer face);

/* ---- queues.c ---- */

AstroQueue *astro_opencl_queue_new(AstroDevice *device, GError **error);
void astro_opencl_queue_free(AstroDevice *device, AstroQueue *queue);
gboolean astro_opencl_queue_copy_rows(AstroDevice *device, AstroQueue *queue, gpointer to,
                                      gsize to_step, gconstpointer from, gsize from_step,
                                      gsize bytes, gsize n, GError **error);
gboolean astro_opencl_queue_copy(AstroDevice *device, AstroQueue *queue,
                                 AstroCopyDirection direction, gpointer to, gconstpointer from,
                                 gsize bytes, GError **error);
gboolean astro_opencl_queue_wait(AstroDevice *device, AstroQueue *queue, AstroEvent *event,
                                 GError **error);
void astro_opencl_event_free(AstroDevice *device, AstroEvent *event);
AstroEvent *astro_opencl_event_record(AstroDevice *device, AstroQueue *queue, GError **error);
gboolean astro_opencl_event_done(AstroDevice *device, AstroEvent *event);
gboolean astro_opencl_event_wait(AstroDevice *device, AstroEvent *event, GError **error);
