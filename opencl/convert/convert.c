/* The opencl backend of convert: a program for each pair of formats. */
#include "config.h"
#include "core/convert/check.h"
#include "core/convert/convert.h"
#include "opencl/runtime/clipped.h"
#include "opencl/runtime/samples.h"

static const char text[] =
#include "opencl/runtime/samples.cl.h"
#include "opencl/runtime/clipped.cl.h"
#include "opencl/convert/convert.cl.h"
    ;

#define EACH 8 /* as in convert.cl */
#define GROUP 64

typedef struct {
  AstroConvertConfig config;
  AstroPlace place;
  gboolean in_double;
  guint components; /* of a sample */
  guint together;   /* components that share a byte that is written */
  cl_kernel kernel;
  AstroOpenclClipped clipped;
} Convert;

static gboolean open_kernel(Convert *self, GError **error)
{
  const AstroOpenclProgram program = { "convert", text, self->in_double };
  g_autofree char *samples = astro_opencl_sample_options(self->config.from, self->config.to,
                                                         self->in_double ? "double" : "float");
  g_autofree char *options = g_strdup_printf("%s -DCOMPONENTS=%u", samples, self->together);
  self->kernel = astro_opencl_kernel(self->place.device, &program, options, "convert", error);
  return self->kernel != NULL;
}

static void destroy(gpointer instance)
{
  Convert *self = instance;
  astro_opencl_clipped_clear(&self->clipped, &self->place);
  if (self->kernel)
    clReleaseKernel(self->kernel);
  g_free(self);
}

static gpointer create(gconstpointer given, const AstroPlace *place, const char **variant,
                       GError **error)
{
  const AstroConvertConfig *config = given;
  if (!astro_convert_shape(config, error))
    return NULL;
  Convert *self = g_new0(Convert, 1);
  self->config = *config;
  self->place = *place;
  self->in_double =
      astro_opencl_needs_double(config->from) || astro_opencl_needs_double(config->to);
  self->components = astro_format_info(config->from)->is_complex ? 2 : 1;
  self->together = config->to == ASTRO_FORMAT_CI4 ? 2 : 1;
  *variant = self->in_double ? "double" : "single";
  if (open_kernel(self, error) && astro_opencl_clipped_init(&self->clipped, place, error))
    return self;
  destroy(self);
  return NULL;
}

static gboolean drain(gpointer instance, AstroResult *result, GError **error)
{
  Convert *self = instance;
  return astro_opencl_clipped_drain(&self->clipped, &self->place, result, error);
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer arguments, AstroResult *result, GError **error)
{
  Convert *self = instance;
  const AstroConvertArguments *work = arguments;
  if (!astro_convert_check(&self->config, in, n_in, out, n_out, work, error))
    return FALSE;
  if (self->config.from == self->config.to && work->scale == 1)
    return astro_opencl_copy(&self->place, out->data, in->data,
                             work->samples * astro_format_info(self->config.from)->bytes, error);
  const cl_ulong times = work->samples * self->components / self->together;
  const float single = (float)work->scale;
  const AstroOpenclArgument face[] = { OPENCL_FACE(in->data), OPENCL_FACE(out->data),
                                       OPENCL_FACE(self->clipped.counter), OPENCL_VALUE(times),
                                       self->in_double ? OPENCL_VALUE(work->scale)
                                                       : OPENCL_VALUE(single) };
  return astro_opencl_launch_items(&self->place, self->kernel, face, G_N_ELEMENTS(face),
                                   (times + EACH - 1) / EACH, GROUP, error);
}

const AstroBackend astro_opencl_convert = {
  .stage = "convert",
  .kind = ASTRO_BACKEND_OPENCL,
  .config_bytes = sizeof(AstroConvertConfig),
  .shape = astro_convert_shape,
  .create = create,
  .submit = submit,
  .drain = drain,
  .destroy = destroy,
};
