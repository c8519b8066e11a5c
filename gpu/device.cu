/* The device face of core/memory on CUDA: queues are streams, events are events. */
#include "gpu/cuda.h"

gboolean astro_cuda_ok(cudaError_t status, const char *call, GError **error)
{
  if (status == cudaSuccess)
    return TRUE;
  cudaGetLastError(); /* what is not for good must not be found again by the next call */
  if (error && !*error)
    g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_DEVICE, "CUDA: %s: %s", call,
                cudaGetErrorString(status));
  return FALSE;
}

gboolean astro_cuda_enter(const AstroDevice *device, GError **error)
{
  return astro_cuda_ok(cudaSetDevice(device->index), "cudaSetDevice", error);
}

static AstroCudaDevice *cuda(AstroDevice *device)
{
  return (AstroCudaDevice *)device;
}

static gboolean device_alloc(AstroDevice *device, gsize bytes, gpointer *face, GError **error)
{
  size_t had = 0, whole = 0;

  *face = NULL;
  if (!astro_cuda_enter(device, error))
    return FALSE;
  cudaError_t status = cudaMalloc(face, bytes);
  if (status != cudaErrorMemoryAllocation)
    return astro_cuda_ok(status, "cudaMalloc", error);
  cudaGetLastError();
  cudaMemGetInfo(&had, &whole);
  g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_MEMORY,
              "a block needs %" G_GSIZE_FORMAT " bytes of %s's memory, %" G_GSIZE_FORMAT
              " of %" G_GSIZE_FORMAT " are free",
              bytes, device->name, (gsize)had, (gsize)whole);
  return FALSE;
}

static void device_free(AstroDevice *device, gpointer face)
{
  if (astro_cuda_enter(device, NULL))
    astro_cuda_ok(cudaFree(face), "cudaFree", NULL);
}

static gboolean lock_host(AstroDevice *device, gpointer host, gsize bytes, GError **error)
{
  return astro_cuda_enter(device, error) &&
         CUDA_TRY(cudaHostRegister(host, bytes, cudaHostRegisterPortable));
}

static void unlock_host(AstroDevice *device, gpointer host)
{
  if (astro_cuda_enter(device, NULL))
    astro_cuda_ok(cudaHostUnregister(host), "cudaHostUnregister", NULL);
}

static AstroQueue *queue_new(AstroDevice *device, GError **error)
{
  cudaStream_t stream = NULL;
  if (!astro_cuda_enter(device, error) ||
      !CUDA_TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)))
    return NULL;
  return (AstroQueue *)stream;
}

static void queue_free(AstroDevice *device, AstroQueue *queue)
{
  if (astro_cuda_enter(device, NULL))
    cudaStreamDestroy(astro_cuda_stream(queue));
}

static gboolean queue_copy(AstroDevice *device, AstroQueue *queue, AstroCopyDirection direction,
                           gpointer to, gconstpointer from, gsize bytes, GError **error)
{
  return astro_cuda_enter(device, error) &&
         CUDA_TRY(cudaMemcpyAsync(
             to, from, bytes,
             direction == ASTRO_COPY_UP ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost,
             astro_cuda_stream(queue)));
}

static gboolean queue_wait(AstroDevice *device, AstroQueue *queue, AstroEvent *event, GError **error)
{
  return astro_cuda_enter(device, error) &&
         CUDA_TRY(cudaStreamWaitEvent(astro_cuda_stream(queue), (cudaEvent_t)event, 0));
}

/* Events are used again: making one costs more than recording it. */
static cudaEvent_t take_event(AstroDevice *device, GError **error)
{
  cudaEvent_t event = NULL;

  g_mutex_lock(&cuda(device)->lock);
  if (cuda(device)->idle_events->len > 0)
    event = (cudaEvent_t)g_ptr_array_remove_index_fast(cuda(device)->idle_events,
                                                       cuda(device)->idle_events->len - 1);
  g_mutex_unlock(&cuda(device)->lock);
  if (!event &&
      !CUDA_TRY(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventBlockingSync)))
    return NULL;
  return event;
}

static void event_free(AstroDevice *device, AstroEvent *event)
{
  g_mutex_lock(&cuda(device)->lock);
  g_ptr_array_add(cuda(device)->idle_events, event);
  g_mutex_unlock(&cuda(device)->lock);
}

static AstroEvent *event_record(AstroDevice *device, AstroQueue *queue, GError **error)
{
  if (!astro_cuda_enter(device, error))
    return NULL;
  cudaEvent_t event = take_event(device, error);
  if (event && !CUDA_TRY(cudaEventRecord(event, astro_cuda_stream(queue)))) {
    event_free(device, (AstroEvent *)event);
    return NULL;
  }
  return (AstroEvent *)event;
}

static gboolean event_done(AstroDevice *device, AstroEvent *event)
{
  cudaError_t status = cudaEventQuery((cudaEvent_t)event);
  cudaGetLastError(); /* "not ready" is no error that the next call should find */
  return status == cudaSuccess;
}

static gboolean event_wait(AstroDevice *device, AstroEvent *event, GError **error)
{
  return astro_cuda_enter(device, error) && CUDA_TRY(cudaEventSynchronize((cudaEvent_t)event));
}

static void device_close(AstroDevice *device)
{
  AstroCudaDevice *self = cuda(device);

  if (device->up)
    queue_free(device, device->up);
  if (device->down)
    queue_free(device, device->down);
  for (guint i = 0; i < self->idle_events->len; i++)
    cudaEventDestroy((cudaEvent_t)self->idle_events->pdata[i]);
  g_ptr_array_unref(self->idle_events);
  g_mutex_clear(&self->lock);
  g_free(device->name);
  g_free(self);
}

const AstroDeviceFuncs astro_cuda_device_funcs = {
  .alloc = device_alloc,
  .free = device_free,
  .lock_host = lock_host,
  .unlock_host = unlock_host,
  .queue_new = queue_new,
  .queue_free = queue_free,
  .queue_copy = queue_copy,
  .queue_wait = queue_wait,
  .event_record = event_record,
  .event_free = event_free,
  .event_done = event_done,
  .event_wait = event_wait,
  .close = device_close,
};

AstroDevice *astro_cuda_device_new(gint index, GError **error)
{
  cudaDeviceProp properties;
  if (!CUDA_TRY(cudaGetDeviceProperties(&properties, index)))
    return NULL;

  AstroCudaDevice *self = g_new0(AstroCudaDevice, 1);
  self->base.funcs = &astro_cuda_device_funcs;
  self->base.ref_count = 1;
  self->base.index = index;
  self->base.name = g_strdup(properties.name);
  self->idle_events = g_ptr_array_new();
  g_mutex_init(&self->lock);
  self->base.up = queue_new(&self->base, error);
  self->base.down = self->base.up ? queue_new(&self->base, error) : NULL;
  if (!self->base.down) {
    device_close(&self->base);
    return NULL;
  }
  return &self->base;
}
