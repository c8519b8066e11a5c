/* The backend "cuda" of the stage "degridder". core/gridder/degrid/degridder.h says what its calls
 * do. Dumps are predicted when they are taken, as many together as the device has room for, so that
 * there may be more than fit. */
#include "gpu/gridder/degrid/degrid.h"
#include "gpu/runtime/upload.h"

extern "C" {
#include "core/gridder/degrid/correlations.h"
#include "core/gridder/degrid/dumped.h"
}

typedef struct {
  AstroDegridderConfig config;
  AstroPlace place;
  AstroDumped dumped;
  AstroCorrelations correlations;
  DegridPredictor *predictor;
  gboolean is_asked; /* for a prediction of the dumps */
  guint64 from, to;  /* dumps that values are of */
  DegridValues values;
  double *totals; /* of the model: [channel][product] */
  AstroCudaUpload tables;
  const guint32 *pair_of; /* on the device, as the next */
  const double *totals_there;
} Degridder;

static void forget(Degridder *self)
{
  self->dumped.n = 0;
  self->is_asked = FALSE;
  self->from = self->to = 0;
}

/* ---- calls ---- */

/* Sends the tables that taking needs. */
static gboolean send_tables(Degridder *self, GError **error)
{
  const guint baselines = self->config.visibilities.baselines;
  const gsize images = (gsize)self->config.gridder.channels * self->correlations.products;
  g_autofree guint32 *pair_of = g_new(guint32, baselines);
  guint32 *at = pair_of;
  for (guint i = 0; i < self->dumped.dumps.stations; i++)
    for (guint j = 0; j <= i; j++)
      *at++ = i == j ? G_MAXUINT32 : i * (i - 1) / 2 + j;
  if (!self->totals)
    self->totals = astro_degridder_totals(&self->config);
  AstroCudaPiece pieces[] = {
    { self->totals, images * sizeof *self->totals },
    { pair_of, baselines * sizeof *pair_of },
  };
  if (!astro_cuda_upload(&self->tables, &self->place, "degridder", pieces, G_N_ELEMENTS(pieces),
                         error))
    return FALSE;
  self->totals_there = (const double *)pieces[0].device;
  self->pair_of = (const guint32 *)pieces[1].device;
  return TRUE;
}

static gboolean observe(Degridder *self, const AstroDegridArguments *arguments, GError **error)
{
  AstroDumped *dumped = &self->dumped;
  forget(self);
  astro_dumped_clear(dumped);
  return astro_dumped_init(dumped, &self->config.visibilities, &self->config.grid,
                           arguments->observation, error) &&
         astro_correlations_set(&self->correlations, dumped->dumps.products,
                                dumped->dumps.n_products, self->config.visibilities.pols, error) &&
         send_tables(self, error);
}

/* Predicts dumps from that one on. */
static gboolean predict(Degridder *self, guint64 from, GError **error)
{
  const AstroDumped *dumped = &self->dumped;
  guint64 dumps = dumped->n - from;
  AstroGridRows rows;
  astro_dumped_rows(dumped, &rows);
  rows.uvw += 3 * from * dumped->pairs;
  self->from = self->to = from;
  if (!astro_degrid_predict(self->predictor, &rows, dumped->folded + from * dumped->pairs,
                            dumped->pairs, &dumps, &self->values, error))
    return FALSE;
  self->to = from + dumps;
  return TRUE;
}

/* Takes the dumps that have been predicted, of `dumps` from number `first` on. */
static gboolean take_some(Degridder *self, guint64 first, guint64 *dumps, const guint8 *in,
                          guint8 *out, GError **error)
{
  const AstroDegridderConfig *config = &self->config;
  const AstroPrepareConfig *shape = &config->visibilities;
  const AstroCorrelations *by = &self->correlations;
  DegridTaking taking = {};
  *dumps = MIN(*dumps, self->to - first);
  taking.first = first - self->from;
  taking.dumps = *dumps;
  taking.baselines = shape->baselines;
  taking.n_correlations = by->n;
  taking.model_channels = config->gridder.channels;
  taking.is_double = shape->format == ASTRO_FORMAT_CF64LE;
  taking.subtract = config->subtract;
  taking.pair_of = self->pair_of;
  taking.totals = self->totals_there;
  taking.in = in;
  taking.out = out;
  for (guint k = 0; k < by->n; k++)
    for (guint p = 0; p < by->products; p++)
      for (guint part = 0; part < 2; part++)
        taking.factors[k][p][part] = config->scale * by->factors[k][p][part];
  return astro_degrid_take(&self->values, &taking, astro_cuda_stream(self->place.queue), error);
}

static gboolean take(Degridder *self, const AstroBlock *in, const AstroBlock *out,
                     const AstroDegridArguments *arguments, GError **error)
{
  const gsize dump_bytes = astro_degridder_dump_bytes(&self->config);
  const guint64 end = arguments->first + arguments->dumps;
  gsize at = arguments->at * dump_bytes;
  if (!astro_degridder_check_take(&self->config, self->is_asked ? self->dumped.n : 0, in, out,
                                  arguments, error))
    return FALSE;
  for (guint64 first = arguments->first, dumps; first < end; first += dumps) {
    dumps = end - first;
    if (((first < self->from || first >= self->to) && !predict(self, first, error)) ||
        !take_some(self, first, &dumps, (const guint8 *)in->data + at, (guint8 *)out->data + at,
                   error))
      return FALSE;
    at += dumps * dump_bytes;
  }
  return TRUE;
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer given, AstroResult *result, GError **error)
{
  Degridder *self = (Degridder *)instance;
  const AstroDegridArguments *arguments = (const AstroDegridArguments *)given;
  if (!astro_cuda_enter(self->place.device, error))
    return FALSE;
  switch (arguments->call) {
  case ASTRO_DEGRID_OBSERVE:
    return observe(self, arguments, error);
  case ASTRO_DEGRID_FORGET:
    forget(self);
    return TRUE;
  case ASTRO_DEGRID_ADD:
    return astro_dumped_add(&self->dumped, arguments->middle_ns, arguments->uvw, error);
  case ASTRO_DEGRID_PREDICT:
    self->is_asked = TRUE;
    self->from = self->to = 0;
    return TRUE;
  case ASTRO_DEGRID_TAKE:
    return take(self, in, out, arguments, error);
  }
  g_return_val_if_reached(FALSE);
}

/* ---- instances ---- */

static gboolean shape(gconstpointer configuration, GError **error)
{
  return astro_degridder_check((const AstroDegridderConfig *)configuration, error);
}

static void destroy(gpointer instance)
{
  Degridder *self = (Degridder *)instance;
  astro_cuda_enter(self->place.device, NULL);
  if (self->predictor)
    astro_degrid_predictor_free(self->predictor);
  astro_cuda_free(&self->place, &self->tables.block);
  astro_dumped_clear(&self->dumped);
  g_free(self->totals);
  g_free(self);
}

static gpointer create(gconstpointer configuration, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (!shape(configuration, error) || !astro_cuda_enter(place->device, error))
    return NULL;
  Degridder *self = g_new0(Degridder, 1);
  self->config = *(const AstroDegridderConfig *)configuration;
  self->place = *place;
  self->predictor = astro_degrid_predictor_new(&self->config, place, error);
  *variant = self->config.gridder.is_double ? "gather-fp64" : "gather-fp32";
  if (self->predictor)
    return self;
  destroy(self);
  return NULL;
}

static gboolean drain(gpointer instance, AstroResult *result, GError **error)
{
  return astro_cuda_drain(&((Degridder *)instance)->place, error);
}

const AstroBackend astro_cuda_degridder = {
  .stage = "degridder",
  .kind = ASTRO_BACKEND_CUDA,
  .config_bytes = sizeof(AstroDegridderConfig),
  .shape = shape,
  .create = create,
  .submit = submit,
  .drain = drain,
  .destroy = destroy,
  .in_place = TRUE,
};
