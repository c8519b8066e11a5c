/* The opencl backend of power. Good samples are counted by the host, as submit returns counts at
 * once. */
#include "config.h"
#include "core/power/counts.h"
#include "core/power/splits.h"
#include "opencl/runtime/opencl.h"
#include "opencl/runtime/samples.h"

static const char add_text[] =
#include "opencl/runtime/samples.cl.h"
#include "opencl/power/add.cl.h"
    ;
static const char finish_text[] =
#include "opencl/power/finish.cl.h"
    ;

#define GROUP 64                       /* as in add.cl */
#define ALONG 32                       /* items along time, where time is fastest */
#define MOST_PARTS ((guint64)64 << 20) /* bytes, unless one piece needs more */

/* As in add.cl. */
typedef struct {
  cl_ulong steps, integration, phase, first_piece;
  cl_ulong time, lane, other, pol;
  cl_ulong valid_time, valid_lane, valid_other;
  cl_ulong cell_lane, cell_other, cells;
  cl_ulong tiles;
  cl_uint lanes, splits, along, has_valid;
} Job;

/* As in finish.cl. */
typedef struct {
  AstroPowerPlaced products[ASTRO_POWER_MAX_PRODUCTS];
  cl_ulong cells;
  cl_ulong ended, first_piece;
  cl_uint in_channels, sums, splits, n_products;
  cl_uint channels, stations;
  cl_uint channel_step, station_step;
} Ending;
G_STATIC_ASSERT(ASTRO_POWER_MAX_PRODUCTS == 8 && ASTRO_POWER_SUMS == 10);

typedef struct {
  AstroPowerConfig config;
  AstroPlace place;
  guint32 n_sums;
  guint64 cells; /* stations and channels of the input */
  cl_kernel add, end, keep;
  AstroPowerCounts counts;
  gpointer open; /* sums of the open integration, [sum][station][channel] */
  AstroOpenclRoom parts, sent_counts, sent_valid;
} Power;

/* ---- what kernels are told ---- */

/* Lanes lie along what is faster in memory, channels or stations. Where time is faster than both,
 * work items lie along time. */
static void describe_job(const Power *self, const AstroPowerArguments *arguments, Job *job)
{
  const AstroPowerConfig *config = &self->config;
  AstroPowerStrides strides;
  astro_power_strides(&strides, config, arguments->steps);
  const guint64 by_channel = config->channels > 1 ? strides.channel : G_MAXUINT64,
                by_station = config->stations > 1 ? strides.station : G_MAXUINT64;
  const gboolean stations = by_station < by_channel;
  const gboolean times = strides.time < by_channel && strides.time < by_station;
  *job = (Job){
    .steps = arguments->steps,
    .integration = arguments->integration,
    .phase = arguments->phase,
    .time = strides.time,
    .lane = stations ? strides.station : strides.channel,
    .other = stations ? strides.channel : strides.station,
    .pol = strides.pol,
    .valid_time = arguments->valid_time,
    .valid_lane = stations ? arguments->valid_station : arguments->valid_channel,
    .valid_other = stations ? arguments->valid_channel : arguments->valid_station,
    .cell_lane = stations ? config->channels : 1,
    .cell_other = stations ? 1 : config->channels,
    .cells = self->cells,
    .lanes = stations ? config->stations : config->channels,
    .along = times ? ALONG : 1,
  };
  job->tiles = (job->cells * job->along + GROUP - 1) / GROUP;
}

static void describe_ending(const Power *self, const AstroPowerArguments *arguments, Ending *ending)
{
  const AstroPowerConfig *config = &self->config;
  *ending = (Ending){
    .cells = self->cells,
    .ended = astro_power_ended(arguments),
    .in_channels = config->channels,
    .sums = self->n_sums,
    .n_products = config->products.n,
    .channels = config->channels / config->channel_step,
    .stations = astro_power_stations(config),
    .channel_step = config->channel_step,
    .station_step = config->sum_stations ? config->stations : 1,
  };
  astro_power_place(config, arguments->is_circular, ending->products);
}

/* ---- a block ---- */

static gboolean add(Power *self, gpointer in, const Job *job, guint64 pieces, GError **error)
{
  const AstroOpenclArgument arguments[] = {
    OPENCL_FACE(in), OPENCL_FACE(job->has_valid ? self->sent_valid.face : NULL),
    OPENCL_FACE(self->parts.face), OPENCL_VALUE(*job)
  };
  return astro_opencl_launch_items(&self->place, self->add, arguments, G_N_ELEMENTS(arguments),
                                   pieces * job->splits * job->tiles * GROUP, GROUP, error);
}

static gboolean end_pieces(Power *self, gpointer out, const Ending *ending, guint64 pieces,
                           GError **error)
{
  const cl_ulong n = pieces * astro_power_counts(&self->config);
  const AstroOpenclArgument arguments[] = { OPENCL_FACE(self->parts.face),
                                            OPENCL_FACE(self->open),
                                            OPENCL_FACE(self->sent_counts.face),
                                            OPENCL_FACE(out),
                                            OPENCL_VALUE(*ending),
                                            OPENCL_VALUE(n) };
  return astro_opencl_launch_items(&self->place, self->end, arguments, G_N_ELEMENTS(arguments), n,
                                   GROUP, error);
}

static gboolean keep_piece(Power *self, const Ending *ending, guint64 piece, GError **error)
{
  const cl_ulong last = piece, n = self->cells * self->n_sums;
  const AstroOpenclArgument arguments[] = { OPENCL_FACE(self->parts.face), OPENCL_FACE(self->open),
                                            OPENCL_VALUE(*ending), OPENCL_VALUE(last),
                                            OPENCL_VALUE(n) };
  return astro_opencl_launch_items(&self->place, self->keep, arguments, G_N_ELEMENTS(arguments), n,
                                   GROUP, error);
}

static gboolean forget(Power *self, GError **error)
{
  return astro_opencl_fill(&self->place, self->open, 0, self->cells * self->n_sums * sizeof(double),
                           error);
}

/* Without samples, pieces have no splits. */
static gboolean run(Power *self, const AstroPowerArguments *arguments, gpointer in, gpointer out,
                    Job *job, Ending *ending, GError **error)
{
  const guint64 all = astro_power_pieces(arguments);
  job->splits = ending->splits = in ? astro_power_splits(&self->config, arguments, all) : 0;
  const gsize piece_bytes = (gsize)job->splits * self->n_sums * self->cells * sizeof(double);
  const guint64 group = MIN(all, MAX(piece_bytes ? MOST_PARTS / piece_bytes : all, 1));
  if (!astro_opencl_make_room(&self->place, "power", &self->parts, group * piece_bytes, error))
    return FALSE;
  for (guint64 first = 0; first < all; first += group) {
    const guint64 pieces = MIN(group, all - first),
                  ends = first < ending->ended ? MIN(pieces, ending->ended - first) : 0;
    job->first_piece = ending->first_piece = first;
    if ((job->splits && !add(self, in, job, pieces, error)) ||
        (ends && !end_pieces(self, out, ending, ends, error)) ||
        (ends < pieces && !keep_piece(self, ending, pieces - 1, error)))
      return FALSE;
  }
  return all > ending->ended || forget(self, error);
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer argument, AstroResult *result, GError **error)
{
  Power *self = instance;
  const AstroPowerArguments *arguments = argument;
  Job job;
  Ending ending;
  if (!astro_power_check_blocks(&self->config, in, n_in, out, n_out, arguments, result, error) ||
      (arguments->begin && !forget(self, error)))
    return FALSE;
  gpointer samples = n_in && arguments->steps ? in->data : NULL;
  describe_job(self, arguments, &job);
  describe_ending(self, arguments, &ending);
  guint32 *counts = ending.ended ? result->counts : NULL;
  astro_power_count(&self->counts, &self->config, arguments, samples != NULL, counts);
  const gsize flags = samples ? astro_power_valid_bytes(&self->config, arguments) : 0,
              counted = ending.ended * astro_power_counts(&self->config) * sizeof *counts;
  job.has_valid = flags > 0;
  return astro_opencl_send(&self->place, "power", &self->sent_counts, counts, counted, error) &&
         astro_opencl_send(&self->place, "power", &self->sent_valid, arguments->valid, flags,
                           error) &&
         run(self, arguments, samples, n_out ? out->data : NULL, &job, &ending, error);
}

static gboolean drain(gpointer instance, AstroResult *result, GError **error)
{
  return astro_opencl_drain(&((Power *)instance)->place, error);
}

/* ---- instances ---- */

static void destroy(gpointer instance)
{
  Power *self = instance;
  const cl_kernel kernels[] = { self->add, self->end, self->keep };
  for (guint i = 0; i < G_N_ELEMENTS(kernels); i++)
    if (kernels[i])
      clReleaseKernel(kernels[i]);
  astro_opencl_free(&self->place, &self->open);
  astro_opencl_free(&self->place, &self->parts.face);
  astro_opencl_free(&self->place, &self->sent_counts.face);
  astro_opencl_free(&self->place, &self->sent_valid.face);
  astro_power_counts_clear(&self->counts);
  g_free(self);
}

/* Samples of bytes are multiplied as integers, and added as such where no squares are. */
static gboolean open_kernels(Power *self, GError **error)
{
  AstroDevice *device = self->place.device;
  const AstroPowerConfig *config = &self->config;
  const AstroOpenclProgram adds = { "power", add_text, TRUE },
                           finishes = { "power", finish_text, TRUE };
  const gboolean squares = astro_power_has_squares(config),
                 small = config->from == ASTRO_FORMAT_CI4 || config->from == ASTRO_FORMAT_CI8;
  g_autofree char *samples =
      astro_opencl_sample_options(config->from, ASTRO_FORMAT_UNKNOWN, small ? "int" : "double");
  g_autofree char *options =
      g_strdup_printf("%s -DSUM=%s -DPOLS=%u -DCROSS=%d -DSQUARES=%d", samples,
                      small && !squares ? "int" : "double", config->pols,
                      astro_power_kind(config) == ASTRO_POWER_CROSS, squares);
  return (self->add = astro_opencl_kernel(device, &adds, options, "add", error)) &&
         (self->end = astro_opencl_kernel(device, &finishes, "", "end_integrations", error)) &&
         (self->keep = astro_opencl_kernel(device, &finishes, "", "keep_open", error));
}

static gpointer create(gconstpointer given, const AstroPlace *place, const char **variant,
                       GError **error)
{
  const AstroPowerConfig *config = given;
  AstroPowerSum kept[ASTRO_POWER_SUMS];
  if (!astro_power_shape(config, error))
    return NULL;
  Power *self = g_new0(Power, 1);
  self->config = *config;
  self->place = *place;
  self->cells = (guint64)config->stations * config->channels;
  self->n_sums = astro_power_kept(astro_power_kind(config), astro_power_has_squares(config), kept);
  if (variant)
    *variant = "double";
  if (open_kernels(self, error) && astro_power_counts_init(&self->counts, config, error) &&
      astro_opencl_alloc(place, "power", &self->open, self->cells * self->n_sums, sizeof(double),
                         error) &&
      forget(self, error))
    return self;
  destroy(self);
  return NULL;
}

const AstroBackend astro_opencl_power = {
  .stage = "power",
  .kind = ASTRO_BACKEND_OPENCL,
  .config_bytes = sizeof(AstroPowerConfig),
  .shape = astro_power_shape,
  .create = create,
  .submit = submit,
  .drain = drain,
  .destroy = destroy,
};
