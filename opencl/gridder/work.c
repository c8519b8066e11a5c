/* Allocates for, opens and launches the kernels of an algorithm. */
#include "config.h"
#include "opencl/gridder/work.h"

const char *astro_opencl_real_option(gboolean is_double)
{
  return is_double ? "-DREAL=double" : "-DREAL=float";
}

gboolean astro_opencl_work_init(AstroOpenclWork *self, const AstroPlace *place,
                                const AstroOpenclProgram *program, const char *options,
                                const char *const *names, guint n, GError **error)
{
  g_assert(n <= ASTRO_OPENCL_MOST_KERNELS);
  *self = (AstroOpenclWork){ .place = *place, .n = n };
  return astro_opencl_kernels(place->device, program, options, names, n, self->kernels, error);
}

void astro_opencl_work_clear(AstroOpenclWork *self)
{
  astro_opencl_kernels_release(self->kernels, self->n);
}

gboolean astro_opencl_work_alloc(const AstroOpenclWork *self, gpointer face, guint64 n, gsize bytes,
                                 GError **error)
{
  return astro_opencl_alloc(&self->place, "gridder", face, MAX(n, 1), bytes, error);
}

gboolean astro_opencl_work_launch(const AstroOpenclWork *self, guint kernel,
                                  const AstroOpenclArgument *arguments, guint n_arguments,
                                  guint64 items, guint group, GError **error)
{
  return astro_opencl_launch_items(&self->place, self->kernels[kernel], arguments, n_arguments,
                                   items, group, error);
}
