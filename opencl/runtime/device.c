/* An OpenCL device behind the interface of core/backend/device.h: it is opened and closed here; its
 * memory is in memory.c and host.c, its queues in queues.c. */
#include "config.h"
#include "opencl/runtime/device.h"

#include "opencl/runtime/addresses.h"
#include "opencl/runtime/host.h"
#include "opencl/runtime/platforms.h"

static void find_bus(AstroDevice *device, char bus[ASTRO_BUS_CHARS])
{
  *bus = '\0';
}

static void device_close(AstroDevice *device)
{
  AstroOpenclDevice *self = astro_opencl_device(device);

  if (device->up)
    astro_opencl_queue_free(device, device->up);
  if (device->down)
    astro_opencl_queue_free(device, device->down);
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
  .alloc = astro_opencl_alloc_face,
  .free = astro_opencl_free_face,
  .memory = astro_opencl_memory,
  .alloc_host = astro_opencl_alloc_host,
  .free_host = astro_opencl_free_host,
  .queue_new = astro_opencl_queue_new,
  .queue_free = astro_opencl_queue_free,
  .queue_copy = astro_opencl_queue_copy,
  .queue_wait = astro_opencl_queue_wait,
  .event_record = astro_opencl_event_record,
  .event_free = astro_opencl_event_free,
  .event_done = astro_opencl_event_done,
  .event_wait = astro_opencl_event_wait,
  .close = device_close,
  .find_bus = find_bus,
  .queue_copy_rows = astro_opencl_queue_copy_rows,
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
      (device->up = astro_opencl_queue_new(device, error)) &&
      (device->down = astro_opencl_queue_new(device, error)) &&
      (self->maps = (cl_command_queue)astro_opencl_queue_new(device, error)))
    return device;
  device_close(device);
  return NULL;
}
