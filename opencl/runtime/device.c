/* An OpenCL device behind the interface of core/backend/device.h: queues are command queues, marks
 * are events. */
#include "config.h"
#include "opencl/runtime/opencl.h"

#include "core/backend/budget.h"
#include "opencl/runtime/addresses.h"
#include "opencl/runtime/host.h"
#include "opencl/runtime/platforms.h"

#include <string.h>

static AstroOpenclDevice *ours(AstroDevice *device)
{
  return astro_opencl_device(device);
}

/* ---- memory ---- */

/* OpenCL does not tell what other processes have taken: free is what we have not. */
static gboolean device_memory(AstroDevice *device, AstroDeviceMemory *memory, GError **error)
{
  const gsize limit = astro_memory_limit("ASTRO_OPENCL_MEMORY");
  g_mutex_lock(&ours(device)->lock);
  memory->ours = ours(device)->ours;
  g_mutex_unlock(&ours(device)->lock);
  memory->whole = MIN(ours(device)->whole, limit);
  memory->free = memory->whole - MIN(memory->whole, memory->ours);
  return TRUE;
}

/* Counts bytes before they are allocated, so that two threads together cannot exceed the limit. */
static gboolean reserve(AstroOpenclDevice *self, gsize bytes)
{
  const gsize limit = MIN(self->whole, astro_memory_limit("ASTRO_OPENCL_MEMORY"));
  g_mutex_lock(&self->lock);
  const gboolean fits = self->ours <= limit && bytes <= limit - self->ours;
  self->ours += fits ? bytes : 0;
  g_mutex_unlock(&self->lock);
  return fits;
}

static gboolean refuse_block(AstroDevice *device, gsize bytes, GError **error)
{
  AstroDeviceMemory memory;
  device_memory(device, &memory, NULL);
  if (bytes > ours(device)->largest)
    return astro_backend_no_memory(error,
                                   "a block needs %" G_GSIZE_FORMAT
                                   " bytes, the largest that %s gives has %" G_GSIZE_FORMAT,
                                   bytes, device->name, ours(device)->largest);
  return astro_backend_no_memory(error,
                                 "a block needs %" G_GSIZE_FORMAT
                                 " bytes of %s's memory, %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT
                                 " are free",
                                 bytes, device->name, memory.free, memory.whole);
}

static gboolean device_alloc(AstroDevice *device, gsize bytes, gpointer *face, GError **error)
{
  AstroOpenclDevice *self = ours(device);
  cl_int status = CL_SUCCESS;

  *face = NULL;
  if (bytes > self->largest || !reserve(self, bytes))
    return refuse_block(device, bytes, error);
  cl_mem memory = clCreateBuffer(self->context, CL_MEM_READ_WRITE, MAX(bytes, 1), NULL, &status);
  g_mutex_lock(&self->lock);
  if (memory)
    *face = astro_opencl_areas_add(self->areas, memory, bytes);
  if (!*face)
    self->ours -= bytes;
  g_mutex_unlock(&self->lock);
  if (*face)
    return TRUE;
  if (!memory)
    return status == CL_MEM_OBJECT_ALLOCATION_FAILURE
               ? refuse_block(device, bytes, error)
               : astro_opencl_ok(device, status, "clCreateBuffer", error);
  clReleaseMemObject(memory);
  return astro_backend_no_memory(
      error, "a block needs %" G_GSIZE_FORMAT " addresses, this process has none left", bytes);
}

static void device_free(AstroDevice *device, gpointer face)
{
  AstroOpenclDevice *self = ours(device);
  g_mutex_lock(&self->lock);
  const AstroOpenclArea area = astro_opencl_areas_remove(self->areas, face);
  self->ours -= area.bytes;
  g_mutex_unlock(&self->lock);
  clReleaseMemObject(area.memory); /* lives on until queued work is done with it */
}

gboolean astro_opencl_alloc(const AstroPlace *place, const char *stage, gpointer face, gsize count,
                            gsize bytes, GError **error)
{
  gsize whole;
  if (!g_size_checked_mul(&whole, count, bytes))
    return astro_backend_no_memory(error, "%s: more bytes than can be addressed", stage);
  return place->device->funcs->alloc(place->device, whole, face, error);
}

void astro_opencl_free(const AstroPlace *place, gpointer face)
{
  gpointer *pointer = face;
  if (*pointer)
    place->device->funcs->free(place->device, *pointer);
  *pointer = NULL;
}

gboolean astro_opencl_look_up(AstroDevice *device, gconstpointer face, cl_mem *memory,
                              gsize *offset, GError **error)
{
  AstroOpenclDevice *self = ours(device);
  g_mutex_lock(&self->lock);
  const AstroOpenclArea *area = astro_opencl_areas_find(self->areas, face);
  if (area) {
    *memory = area->memory;
    *offset = (gsize)((const guint8 *)face - area->start);
  }
  g_mutex_unlock(&self->lock);
  return area || astro_fail(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_DEVICE,
                            "%p is no address of memory on %s", face, device->name);
}

/* ---- queues and events ---- */

static AstroQueue *queue_new(AstroDevice *device, GError **error)
{
  cl_int status;
  cl_command_queue queue =
      clCreateCommandQueue(ours(device)->context, ours(device)->id, 0, &status);
  return astro_opencl_ok(device, status, "clCreateCommandQueue", error) ? (AstroQueue *)queue
                                                                        : NULL;
}

static void queue_free(AstroDevice *device, AstroQueue *queue)
{
  clReleaseCommandQueue(astro_opencl_queue(queue));
}

static gboolean queue_copy(AstroDevice *device, AstroQueue *queue, AstroCopyDirection direction,
                           gpointer to, gconstpointer from, gsize bytes, GError **error)
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

static gboolean queue_wait(AstroDevice *device, AstroQueue *queue, AstroEvent *event,
                           GError **error)
{
  cl_event waited = (cl_event)event;
  return OPENCL_TRY(device,
                    clEnqueueBarrierWithWaitList(astro_opencl_queue(queue), 1, &waited, NULL));
}

static void event_free(AstroDevice *device, AstroEvent *event)
{
  clReleaseEvent((cl_event)event);
}

/* Flushed, so that another queue may wait for it, and so that it is done some time without the host
 * waiting. */
static AstroEvent *event_record(AstroDevice *device, AstroQueue *queue, GError **error)
{
  cl_event event = NULL;
  if (!OPENCL_TRY(device, clEnqueueMarkerWithWaitList(astro_opencl_queue(queue), 0, NULL, &event)))
    return NULL;
  if (OPENCL_TRY(device, clFlush(astro_opencl_queue(queue))))
    return (AstroEvent *)event;
  clReleaseEvent(event);
  return NULL;
}

static gboolean event_done(AstroDevice *device, AstroEvent *event)
{
  cl_int status = CL_QUEUED;
  return clGetEventInfo((cl_event)event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
                        NULL) == CL_SUCCESS &&
         status == CL_COMPLETE;
}

static gboolean event_wait(AstroDevice *device, AstroEvent *event, GError **error)
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

static gboolean queue_copy_rows(AstroDevice *device, AstroQueue *queue, gpointer to, gsize to_step,
                                gconstpointer from, gsize from_step, gsize bytes, gsize n,
                                GError **error)
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

static void find_bus(AstroDevice *device, char bus[ASTRO_BUS_CHARS])
{
  *bus = '\0';
}

/* ---- opening and closing ---- */

static void device_close(AstroDevice *device)
{
  AstroOpenclDevice *self = ours(device);

  if (device->up)
    queue_free(device, device->up);
  if (device->down)
    queue_free(device, device->down);
  if (self->maps)
    clReleaseCommandQueue(self->maps);
  g_hash_table_unref(self->mapped);
  g_clear_pointer(&self->programs, g_hash_table_unref);
  if (self->context)
    clReleaseContext(self->context);
  g_array_unref(self->areas);
  g_mutex_clear(&self->lock);
  g_free(self->identity);
  g_free(device->name);
  g_free(self);
}

/* Without a queue for copies across: contexts of two devices know nothing of each other, so that
 * the memory takes blocks from one to the other by way of the host. */
static const AstroDeviceFuncs funcs = {
  .alloc = device_alloc,
  .free = device_free,
  .memory = device_memory,
  .alloc_host = astro_opencl_alloc_host,
  .free_host = astro_opencl_free_host,
  .queue_new = queue_new,
  .queue_free = queue_free,
  .queue_copy = queue_copy,
  .queue_wait = queue_wait,
  .event_record = event_record,
  .event_free = event_free,
  .event_done = event_done,
  .event_wait = event_wait,
  .close = device_close,
  .find_bus = find_bus,
  .queue_copy_rows = queue_copy_rows,
};

static char *identity_of(const AstroOpenclFound *found)
{
  g_autofree char *name = astro_opencl_device_text(found->id, CL_DEVICE_NAME);
  g_autofree char *version = astro_opencl_device_text(found->id, CL_DEVICE_VERSION);
  g_autofree char *driver = astro_opencl_device_text(found->id, CL_DRIVER_VERSION);
  g_autofree char *platform = astro_opencl_platform_text(found->platform, CL_PLATFORM_VERSION);
  return g_strjoin("\n", name, version, driver, platform, NULL);
}

/* ASTRO_OPENCL_DOUBLES=no makes a device look like one without them, for tests. */
static void ask(AstroOpenclDevice *self)
{
  const guint64 single = astro_opencl_device_number(self->id, CL_DEVICE_SINGLE_FP_CONFIG);
  self->base.on_host = astro_opencl_device_number(self->id, CL_DEVICE_HOST_UNIFIED_MEMORY) != 0;
  self->whole = astro_opencl_device_number(self->id, CL_DEVICE_GLOBAL_MEM_SIZE);
  self->largest = astro_opencl_device_number(self->id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  self->units = (guint)MAX(astro_opencl_device_number(self->id, CL_DEVICE_MAX_COMPUTE_UNITS), 1);
  self->most_items = astro_opencl_device_number(self->id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  self->local_bytes = astro_opencl_device_number(self->id, CL_DEVICE_LOCAL_MEM_SIZE);
  self->has_double = astro_opencl_device_number(self->id, CL_DEVICE_DOUBLE_FP_CONFIG) != 0 &&
                     g_strcmp0(g_getenv("ASTRO_OPENCL_DOUBLES"), "no") != 0;
  self->rounds_division = (single & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
}

static void release_program(gpointer program)
{
  clReleaseProgram(program);
}

AstroDevice *astro_opencl_device_new(gint index, GError **error)
{
  guint n;
  cl_int status;
  const AstroOpenclFound *found = astro_opencl_find(&n, error);
  if ((guint)index >= n)
    return NULL;

  AstroOpenclDevice *self = g_new0(AstroOpenclDevice, 1);
  AstroDevice *device = &self->base;
  device->funcs = &funcs;
  device->ref_count = 1;
  device->index = index;
  device->name = astro_opencl_device_text(found[index].id, CL_DEVICE_NAME);
  self->id = found[index].id;
  self->identity = identity_of(&found[index]);
  self->areas = astro_opencl_areas_new();
  self->mapped = g_hash_table_new(NULL, NULL);
  self->programs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, release_program);
  g_mutex_init(&self->lock);
  ask(self);
  self->context = clCreateContext(NULL, 1, &self->id, NULL, NULL, &status);
  if (astro_opencl_ok(device, status, "clCreateContext", error) &&
      (device->up = queue_new(device, error)) && (device->down = queue_new(device, error)) &&
      (self->maps = (cl_command_queue)queue_new(device, error)))
    return device;
  device_close(device);
  return NULL;
}
