/* Sets the arguments of kernels and queues them. */
#include "config.h"
#include "opencl/runtime/opencl.h"

/* A face is two parameters: the memory, and where in it the face begins. */
static gboolean set_face(const AstroPlace *place, cl_kernel kernel, cl_uint *at, gconstpointer face,
                         GError **error)
{
  cl_mem memory = NULL;
  gsize offset = 0;
  if (face && !astro_opencl_look_up(place->device, face, &memory, &offset, error))
    return FALSE;
  const cl_ulong from = offset;
  return OPENCL_TRY(place->device, clSetKernelArg(kernel, (*at)++, sizeof memory, &memory)) &&
         OPENCL_TRY(place->device, clSetKernelArg(kernel, (*at)++, sizeof from, &from));
}

static gboolean set_argument(const AstroPlace *place, cl_kernel kernel, cl_uint *at,
                             const AstroOpenclArgument *argument, GError **error)
{
  if (argument->bytes == 0)
    return set_face(place, kernel, at, argument->value, error);
  return OPENCL_TRY(place->device,
                    clSetKernelArg(kernel, (*at)++, argument->bytes, argument->value));
}

gboolean astro_opencl_launch(const AstroPlace *place, cl_kernel kernel,
                             const AstroOpenclArgument *arguments, guint n_arguments,
                             const AstroOpenclRange *range, GError **error)
{
  cl_uint at = 0;
  gsize global[3];
  for (guint i = 0; i < n_arguments; i++)
    if (!set_argument(place, kernel, &at, &arguments[i], error))
      return FALSE;
  for (guint i = 0; i < range->n; i++) {
    const gsize local = MAX(range->local[i], 1);
    global[i] = (range->global[i] + local - 1) / local * local;
    if (global[i] == 0)
      return TRUE;
  }
  return OPENCL_TRY(place->device,
                    clEnqueueNDRangeKernel(astro_opencl_queue(place->queue), kernel, range->n, NULL,
                                           global, range->local[0] ? range->local : NULL, 0, NULL,
                                           NULL));
}

gboolean astro_opencl_launch_items(const AstroPlace *place, cl_kernel kernel,
                                   const AstroOpenclArgument *arguments, guint n_arguments,
                                   gsize items, gsize group, GError **error)
{
  const AstroOpenclRange range = { 1, { items }, { group } };
  return astro_opencl_launch(place, kernel, arguments, n_arguments, &range, error);
}
