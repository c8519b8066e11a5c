/* The opencl backend of sideband: samples are words, whose signs change by arithmetic on integers,
 * so that a device needs no double precision. */
#include "config.h"
#include "core/sideband/check.h"
#include "opencl/runtime/opencl.h"

static const AstroOpenclProgram program = { .name = "sideband", .text =
#include "opencl/sideband/sideband.cl.h"
};

#define GROUP 64 /* work items */

/* The kernel takes components as words. */
static const char *const formats[ASTRO_N_FORMATS] = {
  [ASTRO_FORMAT_CI4] = "-DWORD=uchar -DNEGATIVE=negative_nibble -DPARTS=1",
  [ASTRO_FORMAT_CI8] = "-DWORD=uchar -DNEGATIVE=negative_integer -DPARTS=2",
  [ASTRO_FORMAT_CI16LE] = "-DWORD=ushort -DNEGATIVE=negative_integer -DPARTS=2",
  [ASTRO_FORMAT_CI32LE] = "-DWORD=uint -DNEGATIVE=negative_integer -DPARTS=2",
  [ASTRO_FORMAT_CF16LE] = "-DWORD=ushort -DNEGATIVE=negative_float -DPARTS=2",
  [ASTRO_FORMAT_CF32LE] = "-DWORD=uint -DNEGATIVE=negative_float -DPARTS=2",
  [ASTRO_FORMAT_CF64LE] = "-DWORD=ulong -DNEGATIVE=negative_float -DPARTS=2",
  [ASTRO_FORMAT_I8] = "-DWORD=uchar -DNEGATIVE=negative_integer -DPARTS=1",
  [ASTRO_FORMAT_I16LE] = "-DWORD=ushort -DNEGATIVE=negative_integer -DPARTS=1",
  [ASTRO_FORMAT_F32LE] = "-DWORD=uint -DNEGATIVE=negative_float -DPARTS=1",
  [ASTRO_FORMAT_F64LE] = "-DWORD=ulong -DNEGATIVE=negative_float -DPARTS=1",
};

typedef struct {
  AstroSidebandConfig config;
  AstroPlace place;
  cl_kernel turn;
} Sideband;

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer data, AstroResult *result, GError **error)
{
  Sideband *self = instance;
  const AstroStream *stream = &self->config.stream;
  const AstroSidebandArguments *arguments = data;
  if (!astro_sideband_check(&self->config, in, n_in, out, n_out, arguments, error))
    return FALSE;
  if (arguments->steps == 0)
    return TRUE;
  const AstroSidebandSpan span = astro_sideband_span(stream, arguments->steps);
  const cl_ulong samples = span.outer * span.extent * span.inner, extent = span.extent,
                 inner = span.inner;
  const cl_uint is_spectra = stream->quantity == ASTRO_QUANTITY_SPECTRA ? 1 : 0,
                odd = (cl_uint)(arguments->first % 2);
  const AstroOpenclArgument given[] = { OPENCL_FACE(in->data), OPENCL_FACE(out->data),
                                        OPENCL_VALUE(samples), OPENCL_VALUE(extent),
                                        OPENCL_VALUE(inner),   OPENCL_VALUE(is_spectra),
                                        OPENCL_VALUE(odd) };
  return astro_opencl_launch_items(&self->place, self->turn, given, G_N_ELEMENTS(given), samples,
                                   GROUP, error);
}

static void destroy(gpointer instance)
{
  Sideband *self = instance;
  astro_opencl_kernels_release(&self->turn, 1);
  g_free(self);
}

static gpointer create(gconstpointer given, const AstroPlace *place, const char **variant,
                       GError **error)
{
  const AstroSidebandConfig *config = given;
  if (!astro_sideband_shape(config, error))
    return NULL;
  const AstroFormat format = config->stream.format;
  g_autofree char *options = g_strdup_printf("%s -DIS_COMPLEX=%d", formats[format],
                                             astro_format_info(format)->is_complex ? 1 : 0);
  Sideband *self = g_new0(Sideband, 1);
  self->config = *config;
  self->place = *place;
  self->turn = astro_opencl_kernel(place->device, &program, options, "turn", error);
  *variant = "words";
  if (self->turn)
    return self;
  destroy(self);
  return NULL;
}

const AstroBackend astro_opencl_sideband = {
  .stage = "sideband",
  .kind = ASTRO_BACKEND_OPENCL,
  .config_bytes = sizeof(AstroSidebandConfig),
  .shape = astro_sideband_shape,
  .create = create,
  .submit = submit,
  .destroy = destroy,
};
