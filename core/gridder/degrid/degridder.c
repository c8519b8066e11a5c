/* The backends of the stage "degridder" on the host: reference and cpu. */
#include "config.h"
#include "core/gridder/degrid/degridder.h"
#include "core/gridder/work.h"

#include <complex.h>

#include "core/backend/threads.h"
#include "core/gridder/degrid/correlations.h"
#include "core/gridder/degrid/dumped.h"
#include "core/kit/pages.h"

typedef struct {
  AstroDegridderConfig config;
  gboolean is_reference;
  AstroDumped dumped;
  AstroCorrelations correlations;
  gpointer values; /* predicted: [dump][pair][channel][product]; NULL: not yet */
  double *totals;  /* of the model: [channel][product] */
} Degridder;

/* ---- memory ---- */

guint64 astro_degridder_pairs(const AstroDegridderConfig *config)
{
  return (guint64)astro_gridder_pairs(config->visibilities.baselines);
}

static guint64 value_bytes(const AstroDegridderConfig *config)
{
  return g_strv_length(config->grid.products) * (config->gridder.is_double ? 16 : 8);
}

/* Rows may have half as much room again as they need, while they grow to twice that. */
guint64 astro_degridder_bytes(const AstroDegridderConfig *config, guint64 dumps)
{
  const guint64 rows = dumps * astro_degridder_pairs(config),
                n = rows * config->visibilities.channels;
  const guint64 row = 3 * sizeof(double) + 1;
  return astro_degrid_bytes(&config->gridder, &config->grid, g_strv_length(config->grid.products),
                            n) +
         n * value_bytes(config) + rows * row * 5 / 2;
}

guint64 astro_degridder_most_dumps(const AstroDegridderConfig *config)
{
  return G_MAXUINT32 / MAX(astro_degridder_pairs(config) * config->visibilities.channels, 1);
}

/* ---- configuration ---- */

gboolean astro_degridder_check(const AstroDegridderConfig *config, GError **error)
{
  const guint channels = config->gridder.channels;
  return channels == 1 || channels == config->visibilities.channels ||
         astro_backend_refuse(error,
                              "the model has %u channels and the visibilities have %u: expected "
                              "as many, or 1 for all",
                              channels, config->visibilities.channels);
}

static gboolean shape(gconstpointer configuration, GError **error)
{
  const AstroDegridderConfig *config = configuration;
  const guint64 needed = astro_degridder_bytes(config, 1);
  if (!astro_degridder_check(config, error))
    return FALSE;
  return needed < astro_host_memory() ||
         astro_backend_no_memory(error,
                                 "planes of %u x %u cells and %u products need %" G_GUINT64_FORMAT
                                 " bytes, this machine has %" G_GUINT64_FORMAT,
                                 config->grid.size, config->grid.size,
                                 g_strv_length(config->grid.products), needed, astro_host_memory());
}

gboolean astro_degridder_check_products(char **products, const char *basis, guint pols,
                                        GError **error)
{
  AstroProduct found[ASTRO_MAX_PRODUCTS];
  AstroCorrelations correlations;
  const guint n = g_strv_length(products);
  if (n > ASTRO_MAX_PRODUCTS)
    return astro_backend_refuse(error, "the model has %u products, at most %d are possible", n,
                                ASTRO_MAX_PRODUCTS);
  for (guint p = 0; p < n; p++)
    if (!astro_product_find(&found[p], products[p], basis, pols, error))
      return FALSE;
  return astro_correlations_set(&correlations, found, n, pols, error);
}

static Degridder *new_degridder(gconstpointer config, const AstroPlace *place)
{
  Degridder *self = g_new0(Degridder, 1);
  self->config = *(const AstroDegridderConfig *)config;
  self->config.gridder.threads = place->threads;
  return self;
}

static gpointer create_reference(gconstpointer config, const AstroPlace *place,
                                 const char **variant, GError **error)
{
  if (!shape(config, error))
    return NULL;
  Degridder *self = new_degridder(config, place);
  self->is_reference = TRUE;
  *variant = "direct";
  return self;
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (!shape(config, error))
    return NULL;
  *variant = astro_degrid_variant();
  return new_degridder(config, place);
}

static void forget(Degridder *self)
{
  self->dumped.n = 0;
  free(self->values);
  self->values = NULL;
}

static void destroy(gpointer instance)
{
  Degridder *self = instance;
  forget(self);
  astro_dumped_clear(&self->dumped);
  g_free(self->totals);
  g_free(self);
}

/* ---- calls ---- */

static gboolean observe(Degridder *self, const AstroDegridArguments *arguments, GError **error)
{
  AstroDumped *dumped = &self->dumped;
  forget(self);
  astro_dumped_clear(dumped);
  return astro_dumped_init(dumped, &self->config.visibilities, &self->config.grid,
                           arguments->observation, error) &&
         astro_correlations_set(&self->correlations, dumped->dumps.products,
                                dumped->dumps.n_products, self->config.visibilities.pols, error);
}

static double sum_pixels(const AstroDegridderConfig *config, guint image)
{
  const gsize n = (gsize)config->grid.image_size * config->grid.image_size;
  double sum = 0;
  for (gsize i = image * n; i < (image + 1) * n; i++)
    sum += config->gridder.is_double ? ((const double *)config->model)[i]
                                     : (double)((const float *)config->model)[i];
  return sum;
}

double *astro_degridder_totals(const AstroDegridderConfig *config)
{
  const guint images = config->gridder.channels * g_strv_length(config->grid.products);
  double *totals = g_new(double, images);
  for (guint i = 0; i < images; i++)
    totals[i] = sum_pixels(config, i);
  return totals;
}

static gboolean predict(Degridder *self, GError **error)
{
  AstroGridRows rows;
  if (!self->totals)
    self->totals = astro_degridder_totals(&self->config);
  astro_dumped_rows(&self->dumped, &rows);
  free(self->values);
  const gsize bytes = rows.rows * rows.channels * value_bytes(&self->config);
  self->values = astro_pages_alloc(MAX(bytes, 1));
  if (!self->values)
    return astro_backend_no_memory(
        error, "no memory for %" G_GSIZE_FORMAT " bytes of predicted visibilities", bytes);
  return (self->is_reference ? astro_degrid_direct : astro_degrid)(
      &self->config.gridder, &self->config.grid, &rows, self->config.model, self->values, error);
}

typedef struct {
  const Degridder *self;
  const AstroDegridArguments *arguments;
  gconstpointer in;
  gpointer out;
} Taking;

static void find_products(const Degridder *self, guint64 dump, guint i, guint j, guint channel,
                          complex double *products)
{
  const guint n = self->correlations.products, channels = self->config.visibilities.channels;
  const gsize row = dump * self->dumped.pairs + (gsize)i * (i - 1) / 2 + j;
  const guint model_channel = self->config.gridder.channels > 1 ? channel : 0;
  for (guint p = 0; p < n; p++) {
    const gsize at = (row * channels + channel) * n + p;
    if (i == j)
      products[p] = self->totals[model_channel * n + p];
    else if (self->config.gridder.is_double)
      products[p] = ((const complex double *)self->values)[at];
    else
      products[p] = ((const complex float *)self->values)[at];
    if (i != j && self->dumped.folded[row])
      products[p] = conj(products[p]);
    products[p] *= self->config.scale;
  }
}

static void correlate(const AstroCorrelations *by, const complex double *products,
                      complex double correlations[4])
{
  for (guint k = 0; k < by->n; k++) {
    correlations[k] = 0;
    for (guint p = 0; p < by->products; p++)
      correlations[k] += (by->factors[k][p][0] + I * by->factors[k][p][1]) * products[p];
  }
}

static void put(const Taking *taking, gsize at, complex double model)
{
  const gboolean subtract = taking->self->config.subtract;
  if (taking->self->config.visibilities.format == ASTRO_FORMAT_CF64LE)
    ((complex double *)taking->out)[at] =
        subtract ? ((const complex double *)taking->in)[at] - model : model;
  else
    ((complex float *)taking->out)[at] =
        (complex float)(subtract ? ((const complex float *)taking->in)[at] - model : model);
}

/* All baselines of a channel of a dump. */
static void take_channel(gpointer data, guint64 task)
{
  const Taking *taking = data;
  const Degridder *self = taking->self;
  const AstroPrepareConfig *shape = &self->config.visibilities;
  const guint64 dump = taking->arguments->first + task / shape->channels;
  const guint channel = (guint)(task % shape->channels), n = self->correlations.n;
  gsize at = (taking->arguments->at * shape->channels + task) * shape->baselines * n;
  for (guint i = 0; i < self->dumped.dumps.stations; i++)
    for (guint j = 0; j <= i; j++) {
      complex double products[ASTRO_MAX_PRODUCTS], correlations[4];
      find_products(self, dump, i, j, channel, products);
      correlate(&self->correlations, products, correlations);
      for (guint k = 0; k < n; k++, at++)
        put(taking, at, correlations[k]);
    }
}

gsize astro_degridder_dump_bytes(const AstroDegridderConfig *config)
{
  const AstroPrepareConfig *shape = &config->visibilities;
  return (gsize)shape->baselines * shape->channels * shape->pols * shape->pols *
         astro_format_info(shape->format)->bytes;
}

gboolean astro_degridder_check_take(const AstroDegridderConfig *config, guint64 predicted,
                                    const AstroBlock *in, const AstroBlock *out,
                                    const AstroDegridArguments *arguments, GError **error)
{
  const gsize bytes = (arguments->at + arguments->dumps) * astro_degridder_dump_bytes(config);
  return (arguments->first + arguments->dumps <= predicted && in->bytes >= bytes &&
          out->bytes >= bytes) ||
         astro_backend_refuse(error,
                              "%" G_GUINT64_FORMAT " dumps are taken from number %" G_GUINT64_FORMAT
                              " on, of %" G_GUINT64_FORMAT " that were predicted",
                              arguments->dumps, arguments->first, predicted);
}

static gboolean take(const Degridder *self, const AstroBlock *in, const AstroBlock *out,
                     const AstroDegridArguments *arguments, GError **error)
{
  Taking taking = { self, arguments, in->data, out->data };
  if (!astro_degridder_check_take(&self->config, self->values ? self->dumped.n : 0, in, out,
                                  arguments, error))
    return FALSE;
  astro_parallel(arguments->dumps * self->config.visibilities.channels,
                 self->config.gridder.threads, take_channel, &taking);
  return astro_backend_goes_on(error);
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer given, AstroResult *result, GError **error)
{
  Degridder *self = instance;
  const AstroDegridArguments *arguments = given;
  switch (arguments->call) {
  case ASTRO_DEGRID_OBSERVE:
    return observe(self, arguments, error);
  case ASTRO_DEGRID_FORGET:
    forget(self);
    return TRUE;
  case ASTRO_DEGRID_ADD:
    return astro_dumped_add(&self->dumped, arguments->middle_ns, arguments->uvw, error);
  case ASTRO_DEGRID_PREDICT:
    return predict(self, error);
  case ASTRO_DEGRID_TAKE:
    return take(self, in, out, arguments, error);
  }
  g_return_val_if_reached(FALSE);
}

const AstroBackend astro_degridder_reference = {
  .stage = "degridder",
  .kind = ASTRO_BACKEND_REFERENCE,
  .config_bytes = sizeof(AstroDegridderConfig),
  .shape = shape,
  .create = create_reference,
  .submit = submit,
  .destroy = destroy,
  .in_place = TRUE,
};

const AstroBackend astro_degridder_cpu = {
  .stage = "degridder",
  .kind = ASTRO_BACKEND_CPU,
  .config_bytes = sizeof(AstroDegridderConfig),
  .shape = shape,
  .create = create,
  .submit = submit,
  .destroy = destroy,
  .in_place = TRUE,
};

const AstroBackend *const astro_degridder_backends[] = { &astro_degridder_reference,
                                                         &astro_degridder_cpu, NULL };
