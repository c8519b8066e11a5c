/* The CPU backend: the beam of a row is worked out once for all products, and Bessel functions are
 * read from a table. */
#include "config.h"
#include "core/backend/instance.h"
#include "core/backend/threads.h"
#include "core/primarybeam/check.h"

#include <math.h>

/* The table of the Airy beam over x^2, linear between its values: up to the fourth zero of the
 * beam, and to 1e-7 of its peak. Farther out the formula is used. */
#define TABLE_END 178.0
#define TABLE_STEPS 65536

typedef struct {
  AstroPrimaryBeamConfig config;
  guint threads;
  double *table; /* of an Airy beam; else NULL */
} Cpu;

typedef struct {
  const Cpu *self;
  const AstroPrimaryBeamArguments *arguments;
  gconstpointer in;
  gpointer out;
} Run;

static void destroy(gpointer instance)
{
  g_free(((Cpu *)instance)->table);
  g_free(instance);
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  Cpu *self = astro_instance_new(&astro_primary_beam_cpu, sizeof(Cpu), config, error);
  *variant = "c";
  if (!self)
    return NULL;
  self->threads = place->threads;
  if (self->config.kind != ASTRO_PRIMARY_BEAM_AIRY)
    return self;
  self->table = g_new(double, TABLE_STEPS + 2);
  for (guint i = 0; i < TABLE_STEPS + 2; i++)
    self->table[i] = astro_primary_beam_airy(i * (TABLE_END / TABLE_STEPS));
  return self;
}

static double airy(const Cpu *self, double x_squared)
{
  if (x_squared >= TABLE_END)
    return astro_primary_beam_airy(x_squared);
  const double place = x_squared * (TABLE_STEPS / TABLE_END);
  const guint before = (guint)place;
  const double part = place - before;
  return (1 - part) * self->table[before] + part * self->table[before + 1];
}

/* Fills in the beam along a row, by which its pixels are divided. */
static void fill_divisors(const Run *run, guint channel, guint y, double *divisors)
{
  const AstroPrimaryBeamConfig *config = &run->self->config;
  const AstroPrimaryBeamMap *map = run->arguments->map;
  const double scale = astro_primary_beam_scale(config, map, channel),
               m = astro_primary_beam_m(config, y);
  for (guint x = 0; x < config->width; x++) {
    AstroBeamOffset offset;
    double beam = NAN;
    if (astro_primary_beam_offset(run->arguments->pointing, astro_primary_beam_l(config, x), m,
                                  &offset))
      beam = run->self->table ? airy(run->self, scale * scale * offset.sine_squared)
                              : astro_primary_beam_value(config, map, channel, scale, &offset);
    divisors[x] = beam >= config->cut ? beam : NAN;
  }
}

static void divide(const AstroPrimaryBeamConfig *config, const Run *run, gsize at,
                   const double *divisors)
{
  if (config->format == ASTRO_FORMAT_F64LE)
    for (guint x = 0; x < config->width; x++)
      ((double *)run->out)[at + x] = ((const double *)run->in)[at + x] / divisors[x];
  else
    for (guint x = 0; x < config->width; x++)
      ((float *)run->out)[at + x] = (float)((double)((const float *)run->in)[at + x] / divisors[x]);
}

static void divide_row(gpointer data, guint64 task)
{
  const Run *run = data;
  const AstroPrimaryBeamConfig *config = &run->self->config;
  const guint channel = (guint)(task / config->height), y = (guint)(task % config->height);
  g_autofree double *divisors = g_new(double, config->width), *ones = g_new(double, config->width);
  fill_divisors(run, channel, y, divisors);
  for (guint x = 0; x < config->width; x++)
    ones[x] = 1;
  for (guint product = 0; product < config->products; product++) {
    const gsize image = (gsize)channel * config->products + product;
    divide(config, run, (image * config->height + y) * config->width,
           config->kept >> product & 1 ? ones : divisors);
  }
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer given, AstroResult *result, GError **error)
{
  const Cpu *self = instance;
  Run run = { self, given, NULL, NULL };
  if (!astro_primary_beam_check_call(&self->config, in, n_in, out, n_out, given, error))
    return FALSE;
  run.in = in->data;
  run.out = out->data;
  astro_parallel((guint64)self->config.channels * self->config.height, self->threads, divide_row,
                 &run);
  return astro_backend_goes_on(error);
}

const AstroBackend astro_primary_beam_cpu = {
  .stage = "primary-beam",
  .kind = ASTRO_BACKEND_CPU,
  .config_bytes = sizeof(AstroPrimaryBeamConfig),
  .shape = astro_primary_beam_check,
  .create = create,
  .submit = submit,
  .destroy = destroy,
  .in_place = TRUE,
};

const AstroBackend *const astro_primary_beam_backends[] = { &astro_primary_beam_cpu,
                                                            &astro_primary_beam_reference, NULL };
