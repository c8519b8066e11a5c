/* The CPU backend: one image after another, each with all threads. */
#include "config.h"
#include "core/clean/method.h"

#include <stdlib.h>

static const AstroCleanKernels *const variants[] = ASTRO_KERNELS(astro_clean_kernels);

typedef struct {
  AstroCleanConfig config;
  const AstroCleanKernels *kernels;
  guint threads;
  gsize bytes; /* per image */
  gpointer residual, model;
} Cpu;

static void destroy(gpointer instance)
{
  Cpu *self = instance;
  free(self->residual);
  free(self->model);
  g_free(self);
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (!astro_clean_check(config, error))
    return NULL;
  Cpu *self = g_new0(Cpu, 1);
  self->config = *(const AstroCleanConfig *)config;
  self->threads = place->threads;
  self->kernels = ASTRO_KERNELS_PICK(variants);
  self->bytes =
      (gsize)self->config.size * self->config.size * astro_format_info(self->config.format)->bytes;
  *variant = self->kernels->variant.name;
  return self;
}

/* Allocates at the first image: caps alone may announce any size. */
static gboolean make_room(Cpu *self, GError **error)
{
  if (self->model || (posix_memalign(&self->residual, 64, self->bytes) == 0 &&
                      posix_memalign(&self->model, 64, self->bytes) == 0))
    return TRUE;
  return astro_backend_no_memory(error, "no memory to clean images of %u x %u pixels",
                                 self->config.size, self->config.size);
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer given, AstroResult *result, GError **error)
{
  Cpu *self = instance;
  const AstroCleanConfig *config = &self->config;
  const AstroCleanArguments *arguments = given;
  const AstroCleanMethod *method =
      config->format == ASTRO_FORMAT_F64LE ? &astro_hogbom_double : &astro_hogbom_single;
  gsize pixel = astro_format_info(config->format)->bytes;

  if (!astro_clean_check_call(config, in, n_in, out, n_out, arguments, error) ||
      !make_room(self, error))
    return FALSE;
  AstroCleanBeam beam = astro_clean_beam(config, arguments);
  for (guint channel = 0; channel < config->channels; channel++)
    for (guint product = 0; product < config->products; product++) {
      const guint8 *psf =
          (guint8 *)in->data + astro_clean_in(config, channel, config->products) * pixel;
      astro_clean_crop(config, in->data, astro_clean_in(config, channel, product), self->residual);
      const AstroCleanWork work = { config, self->kernels,  self->threads,
                                    psf,    self->residual, self->model };
      const AstroCleanResult cleaned = astro_clean_image(method, &work, arguments);
      if (result && result->cleaned)
        result->cleaned[channel * config->products + product] = cleaned;
      astro_clean_finish_model(config, channel, product, arguments, self->model);
      astro_clean_write(config, channel, product, &beam, in->data, self->model, self->residual,
                        out->data);
    }
  return TRUE;
}

const AstroBackend astro_clean_cpu = {
  .stage = "clean",
  .kind = ASTRO_BACKEND_CPU,
  .config_bytes = sizeof(AstroCleanConfig),
  .shape = astro_clean_check,
  .create = create,
  .submit = submit,
  .destroy = destroy,
};

const AstroBackend *const astro_clean_backends[] = { &astro_clean_cpu, &astro_clean_reference,
                                                     NULL };
