/* The CPU backend: one image after another, each with all threads. */
#include "config.h"
#include "core/clean/join.h"
#include "core/clean/method.h"

#include <stdlib.h>

static const AstroCleanKernels *const variants[] = ASTRO_KERNELS(astro_clean_kernels);

typedef struct {
  AstroCleanConfig config;
  const AstroCleanKernels *kernels;
  guint threads;
  gsize bytes; /* per image */
  gpointer residual, model;
  gpointer mean; /* of joined channels; else NULL */
} Cpu;

static void destroy(gpointer instance)
{
  Cpu *self = instance;
  free(self->residual);
  free(self->model);
  free(self->mean);
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
  const guint planes = astro_clean_planes(&self->config);
  if (self->model || ((!self->config.joined || posix_memalign(&self->mean, 64, self->bytes) == 0) &&
                      posix_memalign(&self->residual, 64, planes * self->bytes) == 0 &&
                      posix_memalign(&self->model, 64, planes * self->bytes) == 0))
    return TRUE;
  return astro_backend_no_memory(error, "no memory to clean %u images of %u x %u pixels at a time",
                                 planes, self->config.size, self->config.size);
}

/* The planes of a product that are cleaned together, from a channel on. */
typedef struct {
  gconstpointer in;
  gpointer out;
  guint channel, product;
  const AstroCleanBeam *beam;
  const AstroCleanArguments *arguments;
} Call;

static gboolean clean_planes(Cpu *self, const Call *call, AstroCleanResult *results, GError **error)
{
  const AstroCleanConfig *config = &self->config;
  const AstroCleanMethod *method =
      config->format == ASTRO_FORMAT_F64LE ? &astro_hogbom_double : &astro_hogbom_single;
  const gsize pixel = astro_format_info(config->format)->bytes;
  const guint planes = astro_clean_planes(config), channel = call->channel;
  g_autoptr(AstroCleanJoin) join = NULL;
  AstroCleanWork work = {
    .config = config,
    .kernels = self->kernels,
    .threads = self->threads,
    .psf = (guint8 *)call->in + astro_clean_in(config, channel, config->products) * pixel,
    .psf_step = astro_clean_in(config, 1, 0),
    .residual = self->residual,
    .model = self->model,
    .search = config->joined ? self->mean : self->residual,
  };
  for (guint plane = 0; plane < planes; plane++)
    astro_clean_crop(config, call->in, astro_clean_in(config, channel + plane, call->product),
                     (guint8 *)self->residual + plane * self->bytes);
  if (config->joined &&
      !(join = astro_clean_join_new(method, &work, call->product, call->arguments->weights, error)))
    return FALSE;
  work.join = join;
  const AstroCleanResult cleaned = astro_clean_image(method, &work, call->arguments);
  if (results)
    astro_clean_tell(method, &work, channel, call->product, &cleaned, results);
  for (guint plane = 0; plane < planes; plane++) {
    gpointer model = (guint8 *)self->model + plane * self->bytes;
    astro_clean_finish_model(config, channel + plane, call->product, call->arguments, model);
    astro_clean_write(config, channel + plane, call->product, call->beam, call->in, model,
                      (guint8 *)self->residual + plane * self->bytes, call->out);
  }
  return TRUE;
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer given, AstroResult *result, GError **error)
{
  Cpu *self = instance;
  const AstroCleanConfig *config = &self->config;
  const AstroCleanArguments *arguments = given;

  if (!astro_clean_check_call(config, in, n_in, out, n_out, arguments, error) ||
      !make_room(self, error))
    return FALSE;
  AstroCleanBeam beam = astro_clean_beam(config, arguments);
  for (guint channel = 0; channel < config->channels; channel += astro_clean_planes(config))
    for (guint product = 0; product < config->products; product++) {
      const Call call = { in->data, out->data, channel, product, &beam, arguments };
      if (!clean_planes(self, &call, result ? result->cleaned : NULL, error))
        return FALSE;
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
