/* Host memory for copies: the driver allocates it, and it is mapped all the time. */
#include "config.h"
#include "opencl/runtime/host.h"

typedef struct {
  cl_mem memory;
  gpointer start;
} Mapped;

/* It is mapped in a queue of its own, as that waits for what was queued before. */
gpointer astro_opencl_alloc_host(AstroDevice *device, gsize bytes, gsize align, GError **error)
{
  AstroOpenclDevice *self = astro_opencl_device(device);
  cl_int status;
  gsize room;
  if (!g_size_checked_add(&room, bytes, align - 1) || room > self->largest) {
    astro_backend_no_memory(error,
                            "%s allocates no more than %" G_GSIZE_FORMAT " bytes of the host",
                            device->name, self->largest);
    return NULL;
  }
  cl_mem memory =
      clCreateBuffer(self->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, room, NULL, &status);
  if (!astro_opencl_ok(device, status, "clCreateBuffer", error))
    return NULL;
  guint8 *start = clEnqueueMapBuffer(self->maps, memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                     room, 0, NULL, NULL, &status);
  if (!astro_opencl_ok(device, status, "clEnqueueMapBuffer", error)) {
    clReleaseMemObject(memory);
    return NULL;
  }
  guint8 *host = start + (-(guintptr)start & (align - 1));
  Mapped *mapped = g_new(Mapped, 1);
  *mapped = (Mapped){ memory, start };
  g_mutex_lock(&self->lock);
  g_hash_table_insert(self->mapped, host, mapped);
  g_mutex_unlock(&self->lock);
  return host;
}

void astro_opencl_free_host(AstroDevice *device, gpointer host)
{
  AstroOpenclDevice *self = astro_opencl_device(device);
  gpointer found = NULL;
  g_mutex_lock(&self->lock);
  g_hash_table_steal_extended(self->mapped, host, NULL, &found);
  g_mutex_unlock(&self->lock);
  g_autofree Mapped *mapped = found;
  clEnqueueUnmapMemObject(self->maps, mapped->memory, mapped->start, 0, NULL, NULL);
  clFlush(self->maps);
  clReleaseMemObject(mapped->memory); /* lives on until it is unmapped */
}
