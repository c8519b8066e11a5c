/* Takes the values of one product from those of all. */
#include "config.h"
#include "opencl/gridder/per-product.h"

static const char text[] =
#include "opencl/gridder/per-product.cl.h"
    ;

static AstroOpenclProgram program_of(gboolean is_double)
{
  return (AstroOpenclProgram){ "gridder: products", text, is_double };
}

static const char *options_of(gboolean is_double)
{
  return is_double ? "-DREAL=double -DLEAST=DBL_MIN" : "-DREAL=float -DLEAST=FLT_MIN";
}

gboolean astro_opencl_take_compiles(gboolean is_double, const AstroPlace *place, GError **error)
{
  const AstroOpenclProgram program = program_of(is_double);
  return astro_opencl_compiles(place->device, &program, options_of(is_double), error);
}

gboolean astro_opencl_take_product(const AstroPlace *place, const AstroProductTake *take,
                                   GError **error)
{
  const AstroOpenclProgram program = program_of(take->is_double);
  const cl_ulong n = take->n;
  const cl_uint every = take->every, pass = take->pass, all_or_none = take->all_or_none ? 1 : 0;
  const AstroOpenclArgument arguments[] = { OPENCL_FACE(take->from), OPENCL_FACE(take->to),
                                            OPENCL_VALUE(n),         OPENCL_VALUE(every),
                                            OPENCL_VALUE(pass),      OPENCL_VALUE(all_or_none) };
  cl_kernel kernel = astro_opencl_kernel(place->device, &program, options_of(take->is_double),
                                         "take_values", error);
  if (!kernel)
    return FALSE;
  const gboolean ok =
      astro_opencl_launch_items(place, kernel, arguments, G_N_ELEMENTS(arguments), n, 64, error);
  clReleaseKernel(kernel);
  return ok;
}
