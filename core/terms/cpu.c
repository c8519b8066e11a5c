/* The CPU backend: a stretch of pixels at a time, so that the sums stay in the caches while channel
 * after channel is added to them. */
#include "config.h"
#include "core/backend/instance.h"
#include "core/backend/threads.h"
#include "core/terms/check.h"

#include <math.h>

/* Pixels of a task: their sums in double take 16 kB. */
#define TASK 2048

typedef struct {
  AstroTermsConfig config;
  guint threads;
} Cpu;

typedef struct {
  const AstroTermsConfig *config;
  const AstroPolynomial *fit;
  gconstpointer in;
  gpointer out;
  guint product;
  gint to[ASTRO_POLYNOMIAL_MOST_TERMS]; /* numbers in the output; -1: not wanted */
} Run;

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  Cpu *self = astro_instance_new(&astro_terms_cpu, sizeof(Cpu), config, error);
  if (self)
    self->threads = place->threads;
  *variant = "c";
  return self;
}

static void add_channel(const Run *run, guint channel, gsize first, gsize n, double factor,
                        double *sums)
{
  gconstpointer plane = astro_terms_plane(run->config, run->in, channel, run->product);
  if (run->config->format == ASTRO_FORMAT_F64LE)
    for (gsize i = 0; i < n; i++)
      sums[i] += factor * ((const double *)plane)[first + i];
  else
    for (gsize i = 0; i < n; i++)
      sums[i] += factor * (double)((const float *)plane)[first + i];
}

static void fit_pixels(gpointer data, guint64 task)
{
  const Run *run = data;
  const AstroPolynomial *fit = run->fit;
  const gsize whole = astro_terms_pixels(run->config), first = task * TASK,
              n = MIN(whole - first, TASK);
  for (guint k = 0; k < fit->terms; k++) {
    double sums[TASK] = { 0 };
    if (run->to[k] < 0)
      continue;
    for (guint channel = 0; channel < fit->n; channel++)
      if (fit->weights[channel] > 0)
        add_channel(run, channel, first, n, fit->solve[k * fit->n + channel], sums);
    for (gsize i = 0; i < n; i++)
      astro_terms_put(run->config, run->out, (gsize)run->to[k] * whole + first + i, sums[i]);
  }
}

/* A product without any channel is NaN, and so is its slope. */
static void fill_missing(const Cpu *self, guint product, gpointer out)
{
  const gsize n = astro_terms_pixels(&self->config);
  for (AstroTermsKind kind = ASTRO_TERMS_VALUE; kind <= ASTRO_TERMS_CURVATURE; kind++) {
    const gint to = astro_terms_find(&self->config, kind, product);
    for (gsize i = 0; i < n && to >= 0; i++)
      astro_terms_put(&self->config, out, (gsize)to * n + i, NAN);
  }
}

static void fit_product(const Cpu *self, const AstroPolynomial *fit, guint product,
                        gconstpointer in, gpointer out)
{
  const AstroTermsConfig *config = &self->config;
  Run run = { config, fit, in, out, product, { 0 } };
  for (guint k = 0; k < ASTRO_POLYNOMIAL_MOST_TERMS; k++)
    run.to[k] = astro_terms_find(config, (AstroTermsKind)k, product);
  astro_parallel((astro_terms_pixels(config) + TASK - 1) / TASK, self->threads, fit_pixels, &run);
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer given, AstroResult *result, GError **error)
{
  const Cpu *self = instance;
  const AstroTermsConfig *config = &self->config;
  const AstroTermsArguments *arguments = given;
  if (!astro_terms_check_call(config, in, n_in, out, n_out, error))
    return FALSE;
  for (guint product = 0; product < config->products; product++) {
    AstroPolynomial fit;
    gboolean any;
    const gboolean ok =
        astro_terms_fit(config, in->data, product, arguments->weights, &fit, &any, error);
    if (ok && any)
      fit_product(self, &fit, product, in->data, out->data);
    else if (ok)
      fill_missing(self, product, out->data);
    astro_polynomial_clear(&fit);
    if (!ok)
      return FALSE;
  }
  astro_terms_fill_indexes(config, out->data);
  return astro_backend_goes_on(error);
}

const AstroBackend astro_terms_cpu = {
  .stage = "terms",
  .kind = ASTRO_BACKEND_CPU,
  .config_bytes = sizeof(AstroTermsConfig),
  .shape = astro_terms_check,
  .create = create,
  .submit = submit,
  .destroy = g_free,
};

const AstroBackend *const astro_terms_backends[] = { &astro_terms_cpu, &astro_terms_reference,
                                                     NULL };
