/* The cpu backend: goes through blocks in runs of rows that have the same bin at lag 0, and through
 * channels in tiles of lanes. */
#include "config.h"
#include "core/backend/threads.h"
#include "core/fold/check.h"
#include "core/fold/kernels.h"

#include <string.h>

#define MOST_LANES 256 /* of a tile */
#define FEW_LANES 64   /* the same, if there are not enough tiles for all threads */
#define ROWS 32        /* of a run, at most */
#define TURN G_MININT32

typedef struct {
  AstroFoldConfig config;
  guint threads;
  const AstroFoldKernels *kernels;
  guint lanes, tiles; /* of a station */
  double *sums;       /* [station][tile][pol][bin][lane] */
  gint32 *good;       /* [station][tile][bin][lane] */
} Cpu;

typedef struct {
  Cpu *self;
  const AstroFoldArguments *arguments;
  const float *in; /* NULL: no block */
  float *out;
  guint32 *counts;
  AstroFoldStrides strides;
  const guint32 *bins; /* of each step, at lag 0 */
  const gint32 *rests;
} Work;

/* The channels of a task. */
typedef struct {
  guint station, first, n; /* channels */
  gint32 splits[MOST_LANES];
  double *sums;
  gint32 *good;
} Tile;

typedef struct {
  float values[ROWS][MOST_LANES];
  gint32 good[ROWS][MOST_LANES];
} Planes;

static gsize plane(const Cpu *self)
{
  return (gsize)self->config.bins * self->lanes;
}

static guint64 scaled(const Cpu *self, guint32 phase)
{
  return (guint64)phase * self->config.bins;
}

/* Copies a run's values of a product, with 0 for those that are not good or beyond the tile. */
static void gather(const Work *work, const Tile *tile, guint64 first, guint rows, guint pol,
                   Planes *planes)
{
  const AstroFoldStrides *strides = &work->strides;
  const guint lanes = work->self->lanes;
  for (guint r = 0; r < rows; r++) {
    const float *in = work->in + (first + r) * strides->time + tile->station * strides->station +
                      tile->first * strides->channel + pol * strides->pol;
    for (guint i = 0; i < tile->n; i++)
      planes->values[r][i] =
          !work->arguments->valid || planes->good[r][i] ? in[i * strides->channel] : 0;
    memset(&planes->values[r][tile->n], 0, (lanes - tile->n) * sizeof(float));
  }
}

static void gather_good(const Work *work, const Tile *tile, guint64 first, guint rows,
                        Planes *planes)
{
  for (guint r = 0; r < rows; r++) {
    for (guint i = 0; i < tile->n; i++)
      planes->good[r][i] =
          -astro_fold_is_valid(work->arguments, first + r, tile->first + i, tile->station);
    memset(&planes->good[r][tile->n], 0, (work->self->lanes - tile->n) * sizeof(gint32));
  }
}

static void add_run(const Work *work, const Tile *tile, guint64 first, guint rows, Planes *planes)
{
  const Cpu *self = work->self;
  const AstroFoldKernels *kernels = self->kernels;
  const guint bins = self->config.bins, bin = work->bins[first], lanes = self->lanes;
  const gsize high = (gsize)bin * lanes, low = (gsize)(bin ? bin - 1 : bins - 1) * lanes;
  const gboolean has_losses = work->arguments->valid != NULL,
                 is_direct = !has_losses && work->strides.channel == 1 && tile->n == lanes;
  const gint32 *rests = work->rests + first;
  if (has_losses) {
    gather_good(work, tile, first, rows, planes);
    kernels->count(planes->good[0], MOST_LANES, rests, rows, lanes, tile->splits, tile->good + high,
                   tile->good + low);
  }
  for (guint p = 0; p < self->config.pols; p++) {
    double *sums = tile->sums + p * plane(self);
    const float *in = work->in + first * work->strides.time +
                      tile->station * work->strides.station + tile->first + p * work->strides.pol;
    const gsize stride = is_direct ? work->strides.time : MOST_LANES;
    if (!is_direct) {
      gather(work, tile, first, rows, p, planes);
      in = planes->values[0];
    }
    if (p == 0 && !has_losses)
      kernels->add_and_count(in, stride, rests, rows, lanes, tile->splits, sums + high, sums + low,
                             tile->good + high, tile->good + low);
    else
      kernels->add(in, stride, rests, rows, lanes, tile->splits, sums + high, sums + low);
  }
}

static void add_block(const Work *work, const Tile *tile)
{
  const guint64 to = work->arguments->to;
  g_autofree Planes *planes = g_new(Planes, 1);
  for (guint64 t = work->arguments->from, next; t < to; t = next) {
    for (next = t + 1; next < to && next - t < ROWS && work->bins[next] == work->bins[t];)
      next++;
    add_run(work, tile, t, (guint)(next - t), planes);
  }
}

static void clear(const Cpu *self, const Tile *tile)
{
  memset(tile->sums, 0, plane(self) * self->config.pols * sizeof *tile->sums);
  memset(tile->good, 0, plane(self) * sizeof *tile->good);
}

/* Turns each channel's bins by its lag. */
static void write_profile(const Work *work, const Tile *tile)
{
  const Cpu *self = work->self;
  const AstroFoldConfig *config = &self->config;
  for (guint i = 0; i < tile->n; i++) {
    const gsize series = (gsize)tile->station * config->channels + tile->first + i;
    const guint turned = (guint)(scaled(self, work->arguments->lags[tile->first + i]) >> 32);
    guint32 *counts = work->counts + series * config->bins;
    float *out = work->out + series * config->pols * config->bins;
    for (guint b = 0, from = turned; b < config->bins; b++) {
      const gsize at = (gsize)from * self->lanes + i;
      const guint32 good = counts[b] = (guint32)tile->good[at];
      for (guint p = 0; p < config->pols; p++)
        out[(gsize)p * config->bins + b] =
            good ? (float)(tile->sums[p * plane(self) + at] / good) : 0;
      from = from + 1 < config->bins ? from + 1 : 0;
    }
  }
}

/* No other task touches the sums of a tile. */
static void run_task(gpointer data, guint64 task)
{
  const Work *work = data;
  const Cpu *self = work->self;
  Tile tile = { .station = (guint)(task / self->tiles),
                .first = (guint)(task % self->tiles) * self->lanes,
                .sums = self->sums + task * plane(self) * self->config.pols,
                .good = self->good + task * plane(self) };
  tile.n = MIN(self->lanes, self->config.channels - tile.first);
  for (guint i = 0; work->arguments->lags && i < tile.n; i++)
    tile.splits[i] = (gint32)(guint32)scaled(self, work->arguments->lags[tile.first + i]) ^ TURN;
  if (work->arguments->begin)
    clear(self, &tile);
  if (work->in)
    add_block(work, &tile);
  if (work->arguments->end) {
    write_profile(work, &tile);
    clear(self, &tile);
  }
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer argument, AstroResult *result, GError **error)
{
  Cpu *self = instance;
  const AstroFoldArguments *arguments = argument;
  if (!astro_fold_check_blocks(&self->config, in, n_in, out, n_out, arguments, result, error))
    return FALSE;
  g_autofree guint32 *bins = g_new(guint32, arguments->steps);
  g_autofree gint32 *rests = g_new(gint32, arguments->steps);
  for (guint64 t = arguments->from; n_in && t < arguments->to; t++) {
    const guint64 at = scaled(self, arguments->phases[t]);
    bins[t] = (guint32)(at >> 32);
    rests[t] = (gint32)(guint32)at ^ TURN;
  }
  Work work = { .self = self,
                .arguments = arguments,
                .in = n_in ? in[0].data : NULL,
                .out = n_out ? out[0].data : NULL,
                .counts = n_out ? result->counts : NULL,
                .bins = bins,
                .rests = rests };
  astro_fold_strides(&work.strides, &self->config, arguments->steps);
  astro_parallel((guint64)self->config.stations * self->tiles, self->threads, run_task, &work);
  return TRUE;
}

static void destroy(gpointer instance)
{
  Cpu *self = instance;
  g_free(self->sums);
  g_free(self->good);
  g_free(self);
}

/* Long tiles are read faster, as long as there are some for each thread. */
static guint choose_lanes(const Cpu *self)
{
  const guint channels = self->config.channels, least = self->kernels->lanes,
              threads = self->threads ? self->threads : astro_threads();
  guint lanes = MOST_LANES;
  while (lanes > FEW_LANES &&
         (guint64)self->config.stations * ((channels + lanes - 1) / lanes) < 2 * threads)
    lanes /= 2;
  return MIN(lanes, (channels + least - 1) / least * least);
}

static gpointer create(gconstpointer configuration, const AstroPlace *place, const char **variant,
                       GError **error)
{
  static const AstroFoldKernels *const variants[] = ASTRO_KERNELS(astro_fold_kernels);
  if (!astro_fold_shape(configuration, error))
    return NULL;
  Cpu *self = g_new0(Cpu, 1);
  self->config = *(const AstroFoldConfig *)configuration;
  self->threads = place->threads;
  self->kernels = ASTRO_KERNELS_PICK(variants);
  self->lanes = choose_lanes(self);
  self->tiles = (self->config.channels + self->lanes - 1) / self->lanes;
  const gsize n = (gsize)self->config.stations * self->tiles * plane(self);
  self->sums = g_try_new0(double, n * self->config.pols);
  self->good = g_try_new0(gint32, n);
  if (!self->sums || !self->good) {
    astro_backend_no_memory(
        error, "no memory for the %" G_GSIZE_FORMAT " bytes of profiles of %u bins",
        n * (self->config.pols * sizeof(double) + sizeof(gint32)), self->config.bins);
    destroy(self);
    return NULL;
  }
  if (variant)
    *variant = self->kernels->variant.name;
  return self;
}

const AstroBackend astro_fold_cpu = {
  .stage = "fold",
  .kind = ASTRO_BACKEND_CPU,
  .config_bytes = sizeof(AstroFoldConfig),
  .shape = astro_fold_shape,
  .create = create,
  .submit = submit,
  .destroy = destroy,
};

const AstroBackend *const astro_fold_backends[] = { &astro_fold_cpu, &astro_fold_reference, NULL };
