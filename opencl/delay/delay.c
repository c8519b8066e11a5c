/* The opencl backend of delay. The host evaluates the model in double precision; phases go to the
 * device as whole numbers, so that it needs no doubles. */
#include "config.h"
#include "opencl/delay/instance.h"

#include "opencl/lib/formats/any.h"

#include <math.h>

static const char text[] =
#include "opencl/runtime/samples.cl.h"
#include "opencl/runtime/clipped.cl.h"
#include "opencl/lib/formats/any.cl.h"
#include "opencl/lib/formats/gather.cl.h"
#include "opencl/delay/delay.cl.h"
    ;

cl_ulong astro_opencl_delay_phase(double cycles)
{
  return (cl_ulong)(gint64)ldexp(cycles - rint(cycles), 63) * 2;
}

static gboolean drain(gpointer instance, AstroResult *result, GError **error)
{
  return astro_opencl_drain(&((Delay *)instance)->place, error);
}

static void destroy(gpointer instance)
{
  Delay *self = instance;
  const cl_kernel kernels[] = { self->gather, self->work };
  gpointer *const faces[] = { &self->taps,         &self->window.face, &self->spare.face,
                              &self->pieces.face,  &self->gains.face,  &self->curves.face,
                              &self->bandpass.face };
  for (guint i = 0; i < G_N_ELEMENTS(kernels); i++)
    if (kernels[i])
      clReleaseKernel(kernels[i]);
  for (guint i = 0; i < G_N_ELEMENTS(faces); i++)
    astro_opencl_free(&self->place, faces[i]);
  g_free(self);
}

static gboolean send_taps(Delay *self, gboolean is_complex, GError **error)
{
  const guint n = astro_delay_taps(&self->core.config.in), row = is_complex ? n : 2 * n;
  const gsize count = (gsize)(TAP_STEPS + 1) * row;
  g_autofree float *taps = g_new(float, count);
  for (guint i = 0; i <= TAP_STEPS; i++)
    (is_complex ? astro_fraction_taps : astro_fraction_real_taps)((double)i / TAP_STEPS, 1,
                                                                  taps + (gsize)i * row);
  return astro_opencl_alloc(&self->place, "delay", &self->taps, count, sizeof *taps, error) &&
         astro_opencl_upload(&self->place, self->taps, taps, count * sizeof *taps, error);
}

static gboolean open_kernels(Delay *self, gboolean is_spectra, gboolean is_complex, GError **error)
{
  const AstroOpenclProgram program = { "delay", text, FALSE };
  AstroDevice *device = self->place.device;
  g_autofree char *formats = astro_opencl_any_options();
  g_autofree char *options =
      g_strdup_printf("%s -DTILE=%d -DTAPS=%d -DREAL_VOLTAGES=%d", formats, ASTRO_DELAY_TILE,
                      is_complex ? ASTRO_FRACTION_TAPS : ASTRO_FRACTION_REAL_TAPS, !is_complex);
  return (self->work = astro_opencl_kernel(device, &program, options,
                                           is_spectra ? "turn" : "interpolate", error)) &&
         (self->gather = astro_opencl_kernel(device, &program, options, "gather", error));
}

static gpointer create(gconstpointer given, const AstroPlace *place, const char **variant,
                       GError **error)
{
  const AstroDelayConfig *config = given;
  if (!astro_delay_shape(config, error))
    return NULL;
  const gboolean is_spectra = config->in.quantity == ASTRO_QUANTITY_SPECTRA,
                 is_complex = astro_format_info(config->in.format)->is_complex;
  Delay *self = g_new0(Delay, 1);
  astro_delay_instance_init(&self->core, config, place);
  self->core.rotate_spectra = astro_opencl_delay_spectra;
  self->core.delay_voltages = astro_opencl_delay_voltages;
  self->core.append = astro_opencl_delay_append;
  self->place = *place;
  self->inputs = self->core.stations * self->core.pols;
  *variant = is_spectra ? "turn" : is_complex ? "interpolate" : "interpolate-real";
  if (open_kernels(self, is_spectra, is_complex, error) &&
      (is_spectra || send_taps(self, is_complex, error)))
    return self;
  destroy(self);
  return NULL;
}

const AstroBackend astro_opencl_delay = {
  .stage = "delay",
  .kind = ASTRO_BACKEND_OPENCL,
  .config_bytes = sizeof(AstroDelayConfig),
  .shape = astro_delay_shape,
  .create = create,
  .submit = astro_delay_submit,
  .drain = drain,
  .destroy = destroy,
};
