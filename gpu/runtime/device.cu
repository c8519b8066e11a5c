/* A CUDA device behind the interface of core/backend/device.h: queues are streams. */
#include "gpu/runtime/rows.h"

#include "core/backend/budget.h"

gboolean astro_cuda_ok(cudaError_t status, const char *call, GError **error)
{
  if (status == cudaSuccess)
    return TRUE;
  cudaGetLastError(); /* clears the error, so that the next call does not report it again */
  int device = -1;    /* of this thread: which of several has failed */
  if (!error || *error)
    return FALSE;
  if (cudaGetDevice(&device) == cudaSuccess)
    g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_DEVICE, "CUDA: %s on GPU %d: %s",
                call, device, cudaGetErrorString(status));
  else
    g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_DEVICE, "CUDA: %s: %s", call,
                cudaGetErrorString(status));
  return FALSE;
}

gboolean astro_cuda_enter(const AstroDevice *device, GError **error)
{
  return astro_cuda_ok(cudaSetDevice(device->index), "cudaSetDevice", error);
}

gboolean astro_cuda_architecture(const void *kernel, guint *architecture, GError **error)
{
  cudaFuncAttributes attributes;
  if (!CUDA_TRY(cudaFuncGetAttributes(&attributes, kernel)))
    return FALSE;
  *architecture = (guint)attributes.ptxVersion;
  return TRUE;
}

gboolean astro_cuda_allow_shared(const void *kernel, GError **error)
{
  cudaFuncAttributes attributes;
  int device, most;
  return CUDA_TRY(cudaGetDevice(&device)) &&
         CUDA_TRY(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device)) &&
         CUDA_TRY(cudaFuncGetAttributes(&attributes, kernel)) &&
         CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       most - (int)attributes.sharedSizeBytes));
}

static AstroCudaDevice *cuda(AstroDevice *device)
{
  return (AstroCudaDevice *)device;
}

/* ---- memory ---- */

static gsize memory_limit(void)
{
  return astro_memory_limit("ASTRO_CUDA_MEMORY");
}

static gboolean device_memory(AstroDevice *device, AstroDeviceMemory *memory, GError **error)
{
  size_t had, whole;
  gsize limit = memory_limit();

  if (!astro_cuda_enter(device, error) || !CUDA_TRY(cudaMemGetInfo(&had, &whole)))
    return FALSE;
  g_mutex_lock(&cuda(device)->lock);
  memory->ours = cuda(device)->ours;
  g_mutex_unlock(&cuda(device)->lock);
  memory->free = MIN((gsize)had, limit - MIN(limit, memory->ours));
  memory->whole = MIN((gsize)whole, limit);
  return TRUE;
}

/* Counts bytes before they are allocated, so that two threads together cannot exceed the limit. */
static gboolean reserve(AstroDevice *device, gsize bytes)
{
  gsize limit = memory_limit();
  g_mutex_lock(&cuda(device)->lock);
  gboolean fits = cuda(device)->ours <= limit && bytes <= limit - cuda(device)->ours;
  if (fits)
    cuda(device)->ours += bytes;
  g_mutex_unlock(&cuda(device)->lock);
  return fits;
}

static gboolean device_alloc(AstroDevice *device, gsize bytes, gpointer *face, GError **error)
{
  AstroDeviceMemory memory = { 0 };

  *face = NULL;
  if (!astro_cuda_enter(device, error))
    return FALSE;
  gboolean fits = reserve(device, bytes);
  cudaError_t status = fits ? cudaMalloc(face, bytes) : cudaErrorMemoryAllocation;
  g_mutex_lock(&cuda(device)->lock);
  if (status == cudaSuccess)
    g_hash_table_insert(cuda(device)->faces, *face, GSIZE_TO_POINTER(bytes));
  else if (fits)
    cuda(device)->ours -= bytes;
  g_mutex_unlock(&cuda(device)->lock);
  if (status != cudaErrorMemoryAllocation)
    return astro_cuda_ok(status, "cudaMalloc", error);
  cudaGetLastError();
  device_memory(device, &memory, NULL);
  g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_MEMORY,
              "a block needs %" G_GSIZE_FORMAT " bytes of %s's memory, %" G_GSIZE_FORMAT
              " of %" G_GSIZE_FORMAT " are free",
              bytes, device->name, memory.free, memory.whole);
  return FALSE;
}

/* Counted as free even if the device has failed, since nobody can use that memory then. */
static void device_free(AstroDevice *device, gpointer face)
{
  g_mutex_lock(&cuda(device)->lock);
  cuda(device)->ours -= GPOINTER_TO_SIZE(g_hash_table_lookup(cuda(device)->faces, face));
  g_hash_table_remove(cuda(device)->faces, face);
  g_mutex_unlock(&cuda(device)->lock);
  if (astro_cuda_enter(device, NULL))
    astro_cuda_ok(cudaFree(face), "cudaFree", NULL);
}

gboolean astro_cuda_alloc(const AstroPlace *place, const char *stage, gpointer face, gsize count,
                          gsize bytes, GError **error)
{
  gsize whole;
  if (!g_size_checked_mul(&whole, count, bytes)) {
    g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_MEMORY,
                "%s: more bytes than can be addressed", stage);
    return FALSE;
  }
  return place->device->funcs->alloc(place->device, whole, (gpointer *)face, error);
}

void astro_cuda_free(const AstroPlace *place, gpointer face)
{
  gpointer *pointer = (gpointer *)face;
  if (*pointer)
    place->device->funcs->free(place->device, *pointer);
  *pointer = NULL;
}

gboolean astro_cuda_drain(const AstroPlace *place, GError **error)
{
  return astro_cuda_enter(place->device, error) &&
         CUDA_TRY(cudaStreamSynchronize(astro_cuda_stream(place->queue)));
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
         CUDA_TRY(cudaMemcpyAsync(to, from, bytes,
                                  direction == ASTRO_COPY_UP ? cudaMemcpyHostToDevice
                                                             : cudaMemcpyDeviceToHost,
                                  astro_cuda_stream(queue)));
}

static gboolean queue_wait(AstroDevice *device, AstroQueue *queue, AstroEvent *event,
                           GError **error)
{
  return astro_cuda_enter(device, error) &&
         CUDA_TRY(cudaStreamWaitEvent(astro_cuda_stream(queue), (cudaEvent_t)event, 0));
}

/* Takes a used event if there is one: making one costs more than recording it. */
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
  cudaGetLastError(); /* the next call should not report "not ready" as an error */
  return status == cudaSuccess;
}

static gboolean event_wait(AstroDevice *device, AstroEvent *event, GError **error)
{
  return astro_cuda_enter(device, error) && CUDA_TRY(cudaEventSynchronize((cudaEvent_t)event));
}

/* Rows that are longer than this are copied by the engine, which then is as fast as a kernel and
 * leaves the multiprocessors to others. */
#define LONG_ROW ((gsize)8 << 20)

static gboolean queue_copy_rows(AstroDevice *device, AstroQueue *queue, gpointer to, gsize to_step,
                                gconstpointer from, gsize from_step, gsize bytes, gsize n,
                                GError **error)
{
  cudaStream_t stream = astro_cuda_stream(queue);
  const AstroCudaRows rows = { (guint8 *)to, (const guint8 *)from, to_step, from_step, bytes, n };
  if (!astro_cuda_enter(device, error))
    return FALSE;
  if (bytes < LONG_ROW)
    return astro_cuda_copy_rows(&rows, stream, error);
  for (gsize i = 0; i < n; i++)
    if (!CUDA_TRY(cudaMemcpyAsync((guint8 *)to + i * to_step, (const guint8 *)from + i * from_step,
                                  bytes, cudaMemcpyDeviceToDevice, stream)))
      return FALSE;
  return TRUE;
}

/* ---- other devices ---- */

/* Direct access is enabled on first use. Without it the driver would take copies by way of the host
 * too, but slower than we do. */
static gboolean reaches(AstroDevice *device, AstroDevice *other)
{
  const guint64 bit = (guint64)1 << (other->index % 64);
  int can = 0;
  g_mutex_lock(&cuda(device)->lock);
  const gboolean known = (cuda(device)->asked & bit) != 0;
  gboolean reached = (cuda(device)->reached & bit) != 0;
  g_mutex_unlock(&cuda(device)->lock);
  if (known)
    return reached;
  reached = other->index < 64 &&
            cudaDeviceCanAccessPeer(&can, device->index, other->index) == cudaSuccess && can &&
            astro_cuda_enter(device, NULL);
  if (reached) {
    const cudaError_t status = cudaDeviceEnablePeerAccess(other->index, 0);
    reached = status == cudaSuccess || status == cudaErrorPeerAccessAlreadyEnabled;
  }
  cudaGetLastError(); /* "already enabled" and "cannot" are answers, not errors */
  g_mutex_lock(&cuda(device)->lock);
  cuda(device)->asked |= bit;
  cuda(device)->reached |= reached ? bit : 0;
  g_mutex_unlock(&cuda(device)->lock);
  return reached;
}

static gboolean queue_copy_across(AstroDevice *device, AstroQueue *queue, gpointer to,
                                  AstroDevice *other, gconstpointer from, gsize bytes,
                                  GError **error)
{
  return astro_cuda_enter(device, error) &&
         CUDA_TRY(cudaMemcpyPeerAsync(to, device->index, from, other->index, bytes,
                                      astro_cuda_stream(queue)));
}

/* ---- other processes ---- */

static gboolean share(AstroDevice *device, gpointer face, AstroTicket *ticket, GError **error)
{
  static_assert(sizeof(cudaIpcMemHandle_t) == sizeof *ticket);
  g_mutex_lock(&cuda(device)->lock);
  const gsize bytes = GPOINTER_TO_SIZE(g_hash_table_lookup(cuda(device)->faces, face));
  g_mutex_unlock(&cuda(device)->lock);
  g_return_val_if_fail(bytes > 0 && bytes % ASTRO_SHARED_UNIT == 0, FALSE);
  return astro_cuda_enter(device, error) &&
         CUDA_TRY(cudaIpcGetMemHandle((cudaIpcMemHandle_t *)ticket, face));
}

static gpointer open_shared(AstroDevice *device, const AstroTicket *ticket, GError **error)
{
  gpointer face = NULL;
  cudaIpcMemHandle_t handle;
  memcpy(&handle, ticket, sizeof handle);
  return astro_cuda_enter(device, error) &&
                 CUDA_TRY(cudaIpcOpenMemHandle(&face, handle, cudaIpcMemLazyEnablePeerAccess))
             ? face
             : NULL;
}

static void close_shared(AstroDevice *device, gpointer face)
{
  if (astro_cuda_enter(device, NULL))
    astro_cuda_ok(cudaIpcCloseMemHandle(face), "cudaIpcCloseMemHandle", NULL);
}

static gboolean queue_copy_out(AstroDevice *device, AstroQueue *queue, gpointer to,
                               gconstpointer from, gsize bytes, GError **error)
{
  return astro_cuda_enter(device, error) &&
         CUDA_TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, astro_cuda_stream(queue)));
}

static void find_bus(AstroDevice *device, char bus[ASTRO_BUS_CHARS])
{
  if (cudaDeviceGetPCIBusId(bus, ASTRO_BUS_CHARS, device->index) != cudaSuccess) {
    cudaGetLastError();
    *bus = '\0';
  }
  for (; *bus; bus++) /* as the kernel writes it */
    *bus = g_ascii_tolower(*bus);
}

static void device_close(AstroDevice *device)
{
  AstroCudaDevice *self = cuda(device);

  if (device->up)
    queue_free(device, device->up);
  if (device->down)
    queue_free(device, device->down);
  if (device->across)
    queue_free(device, device->across);
  for (guint i = 0; i < self->idle_events->len; i++)
    cudaEventDestroy((cudaEvent_t)self->idle_events->pdata[i]);
  g_ptr_array_unref(self->idle_events);
  g_hash_table_unref(self->faces);
  g_mutex_clear(&self->lock);
  g_free(device->name);
  g_free(self);
}

const AstroDeviceFuncs astro_cuda_device_funcs = {
  .alloc = device_alloc,
  .free = device_free,
  .memory = device_memory,
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
  .reaches = reaches,
  .queue_copy_across = queue_copy_across,
  .find_bus = find_bus,
  .queue_copy_rows = queue_copy_rows,
  .share = share,
  .open_shared = open_shared,
  .close_shared = close_shared,
  .queue_copy_out = queue_copy_out,
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
  self->faces = g_hash_table_new(NULL, NULL);
  g_mutex_init(&self->lock);
  self->base.up = queue_new(&self->base, error);
  self->base.down = self->base.up ? queue_new(&self->base, error) : NULL;
  self->base.across = self->base.down ? queue_new(&self->base, error) : NULL;
  if (!self->base.across) {
    device_close(&self->base);
    return NULL;
  }
  return &self->base;
}
