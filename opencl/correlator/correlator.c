/* The opencl backend of correlator. Spectra of any layout are read where they are, and products go
 * to sums on the device, of which visibilities are made when the integration ends. */
#include "config.h"
#include "opencl/correlator/instance.h"

#include "core/correlator/sums.h"

static const char text[] =
#include "opencl/correlator/correlator.cl.h"
    ;

#define EACH 4 /* as in correlator.cl */

/* As in correlator.cl. */
typedef struct {
  cl_ulong time, channel, station, pol;
  cl_ulong valid_time, valid_channel, valid_station;
  cl_ulong products;
  cl_uint inputs, pols, tiles, has_valid;
  cl_uint steps, adds;
} Run;

/* most: steps of a run. As many products of bytes fit an int32; and sums of floats in single
 * precision lose too much beyond. */
static const struct {
  const char *option, *variant;
  guint most;
} formats[ASTRO_N_FORMATS] = {
  [ASTRO_FORMAT_CI4] = { "FROM_CI4", "int8", 65024 },
  [ASTRO_FORMAT_CI8] = { "FROM_CI8", "int8", 65024 },
  [ASTRO_FORMAT_CI16LE] = { "FROM_CI16", "int16", 1u << 20 },
  [ASTRO_FORMAT_CF16LE] = { "FROM_CF16", "f16", 1024 },
  [ASTRO_FORMAT_CF32LE] = { "FROM_CF32", "f32", 1024 },
};

/* Sends the part of the validity that the steps need. */
static gboolean send_validity(Correlator *self, const AstroCorrelatorArguments *work,
                              GError **error)
{
  const gsize bytes = (work->count - 1) * work->valid_time +
                      (self->config.channels - 1) * work->valid_channel +
                      (self->config.stations - 1) * work->valid_station + 1;
  return astro_opencl_send(&self->place, "correlator", &self->upload[0],
                           work->valid + work->first * work->valid_time, bytes, error);
}

static gboolean add(Correlator *self, guint8 *in, const AstroCorrelatorArguments *work,
                    gboolean loss, GError **error)
{
  const guint64 side = (self->inputs + self->side * EACH - 1) / (self->side * EACH);
  const guint items = self->side * self->side;
  const guint64 most = formats[self->config.from].most;
  AstroCorrelatorStrides strides;
  astro_correlator_strides(&strides, &self->config, work->steps);
  Run run = {
    .time = strides.time,
    .channel = strides.channel,
    .station = strides.station,
    .pol = strides.pol,
    .valid_time = work->valid_time,
    .valid_channel = work->valid_channel,
    .valid_station = work->valid_station,
    .products = self->products,
    .inputs = self->inputs,
    .pols = self->config.pols,
    .tiles = (cl_uint)(side * (side + 1) / 2),
    .has_valid = (cl_uint)loss,
  };
  const AstroOpenclRange range = { 1,
                                   { run.tiles * (gsize)self->config.channels * items },
                                   { items } };
  if (loss && !send_validity(self, work, error))
    return FALSE;
  for (guint64 done = 0; done < work->count; done += run.steps) {
    run.steps = (cl_uint)MIN(work->count - done, most);
    run.adds = (cl_uint)self->have_sums;
    const AstroOpenclArgument arguments[] = {
      OPENCL_FACE(in + (work->first + done) * strides.time),
      OPENCL_FACE(loss ? (guint8 *)self->upload[0].face + done * work->valid_time : NULL),
      OPENCL_FACE(self->sums), OPENCL_VALUE(run)
    };
    if (!astro_opencl_launch(&self->place, self->correlate, arguments, G_N_ELEMENTS(arguments),
                             &range, error))
      return FALSE;
    self->have_sums = TRUE;
  }
  return TRUE;
}

static void forget(Correlator *self)
{
  self->have_sums = FALSE;
  astro_correlator_counts_reset(&self->counts);
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer arguments, AstroResult *result, GError **error)
{
  Correlator *self = instance;
  const AstroCorrelatorArguments *work = arguments;
  const AstroCorrelatorTold told = { result, work->n_counts };
  gboolean loss;
  if (work->parts)
    return astro_opencl_correlator_join(self, in, n_in, out, n_out, work->parts, error);
  if (!astro_correlator_check_blocks(&self->config, in, n_in, out, n_out, work, error))
    return FALSE;
  if (work->begin)
    forget(self);
  if (!astro_correlator_counts_add(&self->counts, work, &loss, error))
    return FALSE;
  if (work->count > 0 && !add(self, in->data, work, loss, error))
    return FALSE;
  if (!work->dump)
    return TRUE;
  const gboolean ok = astro_opencl_correlator_dump(self, out->data, error);
  if (ok)
    astro_correlator_counts_tell(&self->counts, &self->config, &told);
  forget(self);
  return ok;
}

static gboolean drain(gpointer instance, AstroResult *result, GError **error)
{
  return astro_opencl_drain(&((Correlator *)instance)->place, error);
}

static void destroy(gpointer instance)
{
  Correlator *self = instance;
  const cl_kernel kernels[] = { self->correlate, self->check, self->dump, self->join };
  for (guint i = 0; i < G_N_ELEMENTS(kernels); i++)
    if (kernels[i])
      clReleaseKernel(kernels[i]);
  for (guint i = 0; i < G_N_ELEMENTS(self->upload); i++)
    astro_opencl_free(&self->place, &self->upload[i].face);
  astro_opencl_free(&self->place, &self->sums);
  astro_opencl_free(&self->place, &self->failed);
  astro_correlator_counts_free(&self->counts);
  g_free(self);
}

/* Tiles are as large as the device allows, where they are full. */
static gboolean open_correlate(Correlator *self, GError **error)
{
  const AstroOpenclDevice *device = astro_opencl_device(self->place.device);
  const AstroOpenclProgram program = { "correlator", text, self->is_float };
  self->side = self->inputs > 8 * EACH && device->most_items >= 256 ? 16 : 8;
  g_autofree char *options =
      g_strdup_printf("-D%s -DSIDE=%u", formats[self->config.from].option, self->side);
  self->correlate = astro_opencl_kernel(self->place.device, &program, options, "correlate", error);
  return self->correlate != NULL;
}

static gboolean alloc_sums(Correlator *self, GError **error)
{
  if (astro_opencl_alloc(&self->place, "correlator", &self->sums,
                         (gsize)self->config.channels * self->products, 2 * sizeof(double),
                         error) &&
      astro_opencl_alloc(&self->place, "correlator", &self->failed, 1, sizeof(gint), error))
    return TRUE;
  g_prefix_error(error, "correlator, sums of %u channels: ", self->config.channels);
  return FALSE;
}

static gpointer create(gconstpointer given, const AstroPlace *place, const char **variant,
                       GError **error)
{
  const AstroCorrelatorConfig *config = given;
  if (!astro_correlator_shape(config, error))
    return NULL;
  Correlator *self = g_new0(Correlator, 1);
  self->config = *config;
  self->place = *place;
  self->inputs = config->stations * config->pols;
  self->products = astro_correlator_channel_sums(config);
  self->is_float = astro_format_info(config->from)->is_float;
  astro_correlator_counts_init(&self->counts, config);
  if (variant)
    *variant = formats[config->from].variant;
  if (open_correlate(self, error) && astro_opencl_correlator_open_visibilities(self, error) &&
      alloc_sums(self, error))
    return self;
  destroy(self);
  return NULL;
}

const AstroBackend astro_opencl_correlator = {
  .stage = "correlator",
  .kind = ASTRO_BACKEND_OPENCL,
  .config_bytes = sizeof(AstroCorrelatorConfig),
  .shape = astro_correlator_shape,
  .create = create,
  .submit = submit,
  .drain = drain,
  .destroy = destroy,
};
