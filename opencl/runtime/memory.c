/* Memory of an OpenCL device: blocks, and addresses that lead to them. */
#include "config.h"
#include "opencl/runtime/device.h"

#include "core/backend/budget.h"
#include "opencl/runtime/addresses.h"

/* OpenCL does not tell what other processes have taken: free is what we have not. */
gboolean astro_opencl_memory(AstroDevice *device, AstroDeviceMemory *memory, GError **error)
{
  const gsize limit = astro_memory_limit("ASTRO_OPENCL_MEMORY");
  g_mutex_lock(&astro_opencl_device(device)->lock);
  memory->ours = astro_opencl_device(device)->ours;
  g_mutex_unlock(&astro_opencl_device(device)->lock);
  memory->whole = MIN(astro_opencl_device(device)->whole, limit);
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
  astro_opencl_memory(device, &memory, NULL);
  if (bytes > astro_opencl_device(device)->largest)
    return astro_backend_no_memory(error,
                                   "a block needs %" G_GSIZE_FORMAT
                                   " bytes, the largest that %s gives has %" G_GSIZE_FORMAT,
                                   bytes, device->name, astro_opencl_device(device)->largest);
  return astro_backend_no_memory(error,
                                 "a block needs %" G_GSIZE_FORMAT
                                 " bytes of %s's memory, %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT
                                 " are free",
                                 bytes, device->name, memory.free, memory.whole);
}

gboolean astro_opencl_alloc_face(AstroDevice *device, gsize bytes, gpointer *face, GError **error)
{
  AstroOpenclDevice *self = astro_opencl_device(device);
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

void astro_opencl_free_face(AstroDevice *device, gpointer face)
{
  AstroOpenclDevice *self = astro_opencl_device(device);
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
  AstroOpenclDevice *self = astro_opencl_device(device);
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
