/* Adds one block on the device to another. */
#include "config.h"
#include "opencl/runtime/sum.h"

static const char text[] =
#include "opencl/runtime/sum.cl.h"
    ;

gboolean astro_opencl_sum(const AstroPlace *place, gpointer to, gconstpointer from, gsize bytes,
                          gboolean is_double, GError **error)
{
  const AstroOpenclProgram program = { "sums", text, is_double };
  const cl_ulong n = bytes / (is_double ? sizeof(double) : sizeof(float));
  const AstroOpenclArgument arguments[] = { OPENCL_FACE(to), OPENCL_FACE(from), OPENCL_VALUE(n) };
  const AstroOpenclRange range = { 1, { n }, { 64 } };
  cl_kernel kernel = astro_opencl_kernel(
      place->device, &program, is_double ? "-DREAL=double" : "-DREAL=float", "add_values", error);
  if (!kernel)
    return FALSE;
  const gboolean ok =
      astro_opencl_launch(place, kernel, arguments, G_N_ELEMENTS(arguments), &range, error);
  clReleaseKernel(kernel);
  return ok;
}
