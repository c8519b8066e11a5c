/* Queues of an OpenCL device are command queues, marks are events; and the copies that they queue.
 */
#include "config.h"
#include "opencl/runtime/device.h"

AstroQueue *astro_opencl_queue_new(AstroDevice *device, GError **error)
{
  cl_int status;
  cl_command_queue queue = clCreateCommandQueue(astro_opencl_device(device)->context,
                                                astro_opencl_device(device)->id, 0, &status);
  return astro_opencl_ok(device, status, "clCreateCommandQueue", error) ? (AstroQueue *)queue
                                                                        : NULL;
}

void astro_opencl_queue_free(AstroDevice *device, AstroQueue *queue)
{
  clReleaseCommandQueue(astro_opencl_queue(queue));
}

gboolean astro_opencl_queue_copy(AstroDevice *device, AstroQueue *queue,
                                 AstroCopyDirection direction, gpointer to, gconstpointer from,
                                 gsize bytes, GError **error)
{
  const gboolean up = direction == ASTRO_COPY_UP;
  cl_mem memory;
  gsize offset;
  if (bytes == 0)
    return TRUE;
  if (!astro_opencl_look_up(device, up ? to : from, &memory, &offset, error))
    return FALSE;
  return up ? OPENCL_TRY(device, clEnqueueWriteBuffer(astro_opencl_queue(queue), memory, CL_FALSE,
                                                      offset, bytes, from, 0, NULL, NULL))
            : OPENCL_TRY(device, clEnqueueReadBuffer(astro_opencl_queue(queue), memory, CL_FALSE,
                                                     offset, bytes, to, 0, NULL, NULL));
}

gboolean astro_opencl_queue_wait(AstroDevice *device, AstroQueue *queue, AstroEvent *event,
                                 GError **error)
{
  cl_event waited = (cl_event)event;
  return OPENCL_TRY(device,
                    clEnqueueBarrierWithWaitList(astro_opencl_queue(queue), 1, &waited, NULL));
}

void astro_opencl_event_free(AstroDevice *device, AstroEvent *event)
{
  clReleaseEvent((cl_event)event);
}

/* Flushed, so that another queue may wait for it, and so that it is done some time without the host
 * waiting. */
AstroEvent *astro_opencl_event_record(AstroDevice *device, AstroQueue *queue, GError **error)
{
  cl_event event = NULL;
  if (!OPENCL_TRY(device, clEnqueueMarkerWithWaitList(astro_opencl_queue(queue), 0, NULL, &event)))
    return NULL;
  if (OPENCL_TRY(device, clFlush(astro_opencl_queue(queue))))
    return (AstroEvent *)event;
  clReleaseEvent(event);
  return NULL;
}

gboolean astro_opencl_event_done(AstroDevice *device, AstroEvent *event)
{
  cl_int status = CL_QUEUED;
  return clGetEventInfo((cl_event)event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
                        NULL) == CL_SUCCESS &&
         status == CL_COMPLETE;
}

gboolean astro_opencl_event_wait(AstroDevice *device, AstroEvent *event, GError **error)
{
  cl_event waited = (cl_event)event;
  return OPENCL_TRY(device, clWaitForEvents(1, &waited));
}

gboolean astro_opencl_copy(const AstroPlace *place, gpointer to, gconstpointer from, gsize bytes,
                           GError **error)
{
  cl_mem source, target;
  gsize from_offset, to_offset;
  if (bytes == 0)
    return TRUE;
  return astro_opencl_look_up(place->device, from, &source, &from_offset, error) &&
         astro_opencl_look_up(place->device, to, &target, &to_offset, error) &&
         OPENCL_TRY(place->device,
                    clEnqueueCopyBuffer(astro_opencl_queue(place->queue), source, target,
                                        from_offset, to_offset, bytes, 0, NULL, NULL));
}

gboolean astro_opencl_queue_copy_rows(AstroDevice *device, AstroQueue *queue, gpointer to,
                                      gsize to_step, gconstpointer from, gsize from_step,
                                      gsize bytes, gsize n, GError **error)
{
  const gsize region[] = { bytes, n, 1 };
  gsize from_at[3] = { 0 }, to_at[3] = { 0 };
  cl_mem source, target;
  return astro_opencl_look_up(device, from, &source, from_at, error) &&
         astro_opencl_look_up(device, to, &target, to_at, error) &&
         OPENCL_TRY(device, clEnqueueCopyBufferRect(astro_opencl_queue(queue), source, target,
                                                    from_at, to_at, region, from_step, 0, to_step,
                                                    0, 0, NULL, NULL));
}

gboolean astro_opencl_fill(const AstroPlace *place, gpointer to, guint8 byte, gsize bytes,
                           GError **error)
{
  cl_mem memory;
  gsize offset;
  if (bytes == 0)
    return TRUE;
  return astro_opencl_look_up(place->device, to, &memory, &offset, error) &&
         OPENCL_TRY(place->device, clEnqueueFillBuffer(astro_opencl_queue(place->queue), memory,
                                                       &byte, 1, offset, bytes, 0, NULL, NULL));
}

static void CL_CALLBACK free_copy(cl_event event, cl_int status, void *copy)
{
  g_free(copy);
}

/* The driver reads a copy of the bytes, which is freed when it has, so that nothing waits. */
gboolean astro_opencl_upload(const AstroPlace *place, gpointer to, gconstpointer from, gsize bytes,
                             GError **error)
{
  AstroDevice *device = place->device;
  cl_command_queue queue = astro_opencl_queue(place->queue);
  cl_mem memory;
  gsize offset;
  cl_event event;
  if (bytes == 0)
    return TRUE;
  if (!astro_opencl_look_up(device, to, &memory, &offset, error))
    return FALSE;
  gpointer copy = g_memdup2(from, bytes);
  if (!OPENCL_TRY(device, clEnqueueWriteBuffer(queue, memory, CL_FALSE, offset, bytes, copy, 0,
                                               NULL, &event))) {
    g_free(copy);
    return FALSE;
  }
  gboolean ok = OPENCL_TRY(device, clSetEventCallback(event, CL_COMPLETE, free_copy, copy));
  if (!ok) {
    clWaitForEvents(1, &event);
    g_free(copy);
  }
  clReleaseEvent(event);
  return ok;
}

gboolean astro_opencl_drain(const AstroPlace *place, GError **error)
{
  __atomic_fetch_add(&place->device->host_waits, 1, __ATOMIC_RELAXED);
  return OPENCL_TRY(place->device, clFinish(astro_opencl_queue(place->queue)));
}
