/* The cpu backend: keeps the power as rows of steps, one for each channel, and adds them up by the
 * plan, some steps of all trials at once. */
#include "config.h"
#include "core/backend/scratch.h"
#include "core/dedisperse/check.h"
#include "core/dedisperse/plan.h"

#include <stdlib.h>
#include <string.h>

#include "core/kit/pages.h"
#include "core/lib/transpose/kernels.h"

#define LINE ASTRO_DEDISPERSE_LINE
#define PIECE ASTRO_DEDISPERSE_PIECE
#define TILE 16 /* steps and channels, or trials, that are turned round together */

typedef struct {
  AstroDedisperseConfig config;
  guint threads;
  const AstroDedisperseKernels *kernels;
  const AstroTransposeKernels *turn;
  AstroDedispersePlan *plan;
  AstroScratch *scratch;
  guint64 reach;

  /* The steps that are held: rows of `pitch` numbers, with room for `capacity` steps. */
  gsize capacity, pitch;
  float *values;   /* [station][pol][channel][step], each times its weight over the full one */
  guint32 *counts; /* [station][channel][step]; NULL: no stretch had losses yet */
  guint8 *lost;    /* [step]: something of it is lost */
  gboolean counts_losses;   /* this stretch has lost something: counts are kept */
  guint64 first, all, done; /* of the stretch: held from here, to there; gone out */
} Cpu;

typedef struct {
  Cpu *self;
  const AstroDedisperseArguments *arguments;
  AstroDedisperseStrides strides;
  const float *in; /* the block, from the piece on; NULL: lost */
  guint64 at;      /* of the piece in the block */
  guint n;         /* steps of the piece */
  gsize drop;      /* steps that rows lose at their beginning */
  guint64 ready;   /* steps that go out, in chunks */
  float *out;
  guint32 *out_counts; /* NULL: nothing of the stretch is lost */
} Work;

static float *values_of(const Cpu *self, guint station, guint pol, guint channel)
{
  const gsize row = ((gsize)station * self->config.pols + pol) * self->config.channels + channel;
  return self->values + row * self->pitch;
}

static guint32 *counts_of(const Cpu *self, guint station, guint channel)
{
  return self->counts + ((gsize)station * self->config.channels + channel) * self->pitch;
}

/* ---- taking in ---- */

/* Whether something of a step of the block is lost. */
static gboolean is_lost(const AstroDedisperseConfig *config,
                        const AstroDedisperseArguments *arguments, guint64 t)
{
  const guint channels = arguments->weight_channel ? config->channels : 1,
              stations = arguments->weight_station ? config->stations : 1;
  for (guint c = 0; c < channels; c++)
    for (guint s = 0; s < stations; s++)
      if (astro_dedisperse_weight(arguments, t, c, s) != arguments->full)
        return TRUE;
  return FALSE;
}

/* Where channels follow each other in a step, kernels turn them round, four channels at a time:
 * what they may read beyond the end of a step lies in the last ones, which are left to do. Returns
 * the steps that were done. */
static guint turn_round(const Work *work, const float *in, float *values, guint channels)
{
  const Cpu *self = work->self;
  guint32 column_to[TILE];
  const guint64 beyond = (4 - channels % 4) % 4, step = MAX(work->strides.time, 1);
  const guint left = (guint)MAX((beyond + step - 1) / step, 1);
  if (work->strides.channel != 1 || work->n <= left ||
      TILE * self->pitch * sizeof(float) > G_MAXUINT32)
    return 0;
  for (guint c = 0; c < channels; c++)
    column_to[c] = (guint32)(c * self->pitch * sizeof(float));
  const AstroTransposePlane plane = { .out = (guint8 *)values,
                                      .in = (const guint8 *)in,
                                      .column_to = column_to,
                                      .in_pitch = work->strides.time * sizeof(float),
                                      .rows = work->n - left,
                                      .columns = channels,
                                      .times = 1,
                                      .unit = sizeof(float) };
  self->turn->transpose[2](&plane);
  return work->n - left;
}

/* The values of some channels, [channel][step], in rows. */
static void take_values(const Work *work, guint s, guint p, guint from, guint to)
{
  const Cpu *self = work->self;
  const gsize held = self->all - self->first;
  float *values = values_of(self, s, p, from) + held;
  for (guint c = from; c < to && !work->in; c++)
    memset(values_of(self, s, p, c) + held, 0, work->n * sizeof *values);
  if (!work->in)
    return;
  const float *in =
      work->in + s * work->strides.station + p * work->strides.pol + from * work->strides.channel;
  const guint done = turn_round(work, in, values, to - from);
  for (guint c = 0; c < to - from; c++)
    for (guint t = done; t < work->n; t++)
      values[c * self->pitch + t] = in[t * work->strides.time + c * work->strides.channel];
}

/* Some channels of a station, so that what is read of a step is a line or so. */
static void take_channels(gpointer data, guint64 task)
{
  const Work *work = data;
  const Cpu *self = work->self;
  const AstroDedisperseConfig *config = &self->config;
  const guint blocks = (config->channels + TILE - 1) / TILE;
  const guint s = (guint)(task / blocks), from = (guint)(task % blocks) * TILE,
              to = MIN(from + TILE, config->channels);
  const gsize held = self->all - self->first;
  const guint32 full = work->arguments->full;

  for (guint p = 0; p < config->pols; p++)
    take_values(work, s, p, from, to);
  for (guint tile = 0; tile < work->n && self->counts_losses; tile += TILE)
    for (guint c = from; c < to; c++) {
      const guint end = MIN(tile + TILE, work->n);
      guint32 *counts = counts_of(self, s, c) + held;
      for (guint t = tile; t < end; t++)
        counts[t] = !work->in ? 0
                    : !self->lost[held + t]
                        ? full
                        : astro_dedisperse_weight(work->arguments, work->at + t, c, s);
      for (guint p = 0; p < config->pols; p++) {
        float *values = values_of(self, s, p, c) + held;
        for (guint t = tile; t < end; t++)
          if (counts[t] != full)
            values[t] = counts[t] ? (float)((double)values[t] * counts[t] / full) : 0;
      }
    }
}

static void drop_from_row(gpointer data, guint64 task)
{
  const Work *work = data;
  const Cpu *self = work->self;
  const gsize rows = (gsize)self->config.stations * self->config.pols * self->config.channels,
              kept = self->all - self->first - work->drop;
  const gboolean is_values = task < rows;
  guint32 *counts = is_values ? NULL : self->counts + (task - rows) * self->pitch;
  float *values = self->values + task * self->pitch;
  if (is_values)
    memmove(values, values + work->drop, kept * sizeof *values);
  else
    memmove(counts, counts + work->drop, kept * sizeof *counts);
}

/* Room for another piece. */
static void make_room(Work *work)
{
  Cpu *self = work->self;
  const gsize rows = (gsize)self->config.stations * self->config.channels;
  if (self->all - self->first + work->n <= self->capacity)
    return;
  work->drop = self->done - self->first;
  astro_parallel(rows * (self->config.pols + (self->counts_losses ? 1 : 0)), self->threads,
                 drop_from_row, work);
  memmove(self->lost, self->lost + work->drop, self->all - self->first - work->drop);
  self->first = self->done;
}

/* Counts are kept from the first loss of a stretch on; what is held by then is whole. */
static gboolean begin_counts(Cpu *self, guint32 full, GError **error)
{
  const gsize rows = (gsize)self->config.stations * self->config.channels;
  if (!self->counts)
    self->counts = g_try_new0(guint32, rows * self->pitch);
  if (!self->counts)
    return astro_backend_no_memory(error, "no memory for the counts of %" G_GSIZE_FORMAT " rows",
                                   rows);
  for (gsize i = 0; i < rows * self->pitch; i++)
    self->counts[i] = full;
  self->counts_losses = TRUE;
  return TRUE;
}

static void take_piece(Work *work, const float *block, guint64 at, guint n)
{
  Cpu *self = work->self;
  const guint blocks = (self->config.channels + TILE - 1) / TILE;
  work->n = n;
  work->at = at;
  make_room(work);
  guint8 *lost = self->lost + (self->all - self->first);
  for (guint t = 0; t < n; t++)
    lost[t] =
        !block || (work->arguments->weights && is_lost(&self->config, work->arguments, at + t));
  work->in = block ? block + at * work->strides.time : NULL;
  astro_parallel((guint64)self->config.stations * blocks, self->threads, take_channels, work);
  self->all += n;
}

/* ---- adding up ---- */

typedef struct {
  const Work *work;
  const AstroDedisperseGroup *group;
  gboolean of_counts;
  guint station, pol;
  gsize at; /* the first step of the chunk, among those held */
  guint n;  /* its steps, in whole lines */
} Chunk;

static gconstpointer channel_of(const Chunk *chunk, guint channel)
{
  const Cpu *self = chunk->work->self;
  return chunk->of_counts
             ? (gconstpointer)(counts_of(self, chunk->station, channel) + chunk->at)
             : (gconstpointer)(values_of(self, chunk->station, chunk->pol, channel) + chunk->at);
}

/* Makes the rows of a node in `rows`, with those below it behind them. Returns the rows, or the
 * channel. */
static gconstpointer make_rows(const Chunk *chunk, const AstroDedisperseNode *node, float *rows)
{
  const AstroDedisperseKernels *kernels = chunk->work->self->kernels;
  if (!node->left)
    return channel_of(chunk, node->begin);
  float *below = rows + node->size;
  gconstpointer left = make_rows(chunk, node->left, below),
                right = make_rows(chunk, node->right, below + node->left->size);
  if (chunk->of_counts)
    kernels->add_counts((guint32 *)(gpointer)rows, left, right, node->sums, node->n, chunk->n);
  else
    kernels->add_floats(rows, left, right, node->sums, node->n, chunk->n);
  return rows;
}

static void add_bands(const Chunk *chunk, gpointer sums, float *scratch)
{
  const Cpu *self = chunk->work->self;
  const AstroDedisperseGroup *group = chunk->group;
  const guint pitch = self->plan->chunk;
  for (guint i = 0; i < group->n_bands; i += ASTRO_DEDISPERSE_BANDS) {
    AstroDedisperseTaken taken = { .n = MIN(ASTRO_DEDISPERSE_BANDS, group->n_bands - i) };
    float *rows = scratch;
    for (guint b = 0; b < taken.n; b++) {
      const AstroDedisperseBand *band = &group->bands[i + b];
      taken.rows[b] = make_rows(chunk, band->root, rows);
      taken.from[b] = band->from;
      rows += band->root->size;
    }
    if (chunk->of_counts)
      self->kernels->take_counts(sums, pitch, &taken, group->n_dms, chunk->n, i == 0);
    else
      self->kernels->take_floats(sums, pitch, &taken, group->n_dms, chunk->n, i == 0);
  }
}

/* Where the value or count of a step and a trial of the group is, among those of the output. */
static gsize place_of(const Chunk *chunk, guint64 step, guint dm)
{
  const AstroDedisperseConfig *config = &chunk->work->self->config;
  return (step * config->stations + chunk->station) * config->n_dms + chunk->group->first + dm;
}

/* Turns the sums round, so that the trials of a step follow each other, and divides them. counts:
 * NULL where nothing is lost. */
static void write_means(const Chunk *chunk, const float *sums, const guint32 *counts, guint64 from,
                        guint n)
{
  const Work *work = chunk->work;
  const AstroDedisperseConfig *config = &work->self->config;
  const guint pitch = work->self->plan->chunk;
  const float channels = (float)config->channels;
  const double full = work->arguments->full;
  for (guint tile = 0; tile < n; tile += TILE)
    for (guint d = 0; d < chunk->group->n_dms; d++) {
      const float *sum = sums + (gsize)d * pitch;
      for (guint t = tile; t < MIN(tile + TILE, n); t++) {
        const guint32 count = counts ? counts[(gsize)d * pitch + t] : 1;
        work->out[place_of(chunk, from + t, d) * config->pols + chunk->pol] =
            !counts ? sum[t] / channels
            : count ? (float)((double)sum[t] * full / count)
                    : 0;
      }
    }
}

static void write_counts(const Chunk *chunk, const guint32 *counts, guint64 from, guint n)
{
  const Work *work = chunk->work;
  const guint pitch = work->self->plan->chunk;
  const guint32 whole = work->arguments->full * work->self->config.channels;
  for (guint tile = 0; tile < n; tile += TILE)
    for (guint d = 0; d < chunk->group->n_dms; d++)
      for (guint t = tile; t < MIN(tile + TILE, n); t++)
        work->out_counts[place_of(chunk, from + t, d)] =
            counts ? counts[(gsize)d * pitch + t] : whole;
}

/* A chunk of steps of a station, for a group of trials. Groups are innermost, as they read the same
 * steps. */
static void run_chunk(gpointer data, guint64 task)
{
  const Work *work = data;
  Cpu *self = work->self;
  const AstroDedispersePlan *plan = self->plan;
  const guint64 rest = task / plan->n_groups, from = rest / self->config.stations * plan->chunk;
  const guint n = (guint)MIN(plan->chunk, work->ready - from);
  const gsize made = (gsize)plan->most_dms * plan->chunk;
  Chunk chunk = { .work = work,
                  .group = &plan->groups[task % plan->n_groups],
                  .station = (guint)(rest % self->config.stations),
                  .at = self->done + from - self->first,
                  .n = (n + LINE - 1) / LINE * LINE };
  const gboolean any_lost =
      self->counts_losses && memchr(self->lost + chunk.at, 1, n + self->reach) != NULL;
  float *scratch = astro_scratch_take(self->scratch), *sums = scratch;
  guint32 *counts = any_lost ? (guint32 *)(gpointer)(scratch + made) : NULL;

  if (counts) {
    chunk.of_counts = TRUE;
    add_bands(&chunk, counts, scratch + 2 * made);
    chunk.of_counts = FALSE;
  }
  for (chunk.pol = 0; chunk.pol < self->config.pols; chunk.pol++) {
    add_bands(&chunk, sums, scratch + 2 * made);
    write_means(&chunk, sums, counts, from, n);
  }
  if (work->out_counts)
    write_counts(&chunk, counts, from, n);
  astro_scratch_give(self->scratch, scratch);
}

/* Gives out the steps that have become ready, up to that one of the stretch. */
static void give(Work *work, guint64 to)
{
  Cpu *self = work->self;
  const gsize made = (gsize)self->config.stations * self->config.n_dms;
  const guint64 end = self->all > self->reach ? MIN(self->all - self->reach, to) : 0;
  if (end <= self->done)
    return;
  work->ready = end - self->done;
  astro_parallel((work->ready + self->plan->chunk - 1) / self->plan->chunk * self->config.stations *
                     self->plan->n_groups,
                 self->threads, run_chunk, work);
  work->out += work->ready * made * self->config.pols;
  if (work->out_counts)
    work->out_counts += work->ready * made;
  self->done = end;
}

/* ---- the backend ---- */

static gboolean has_losses(const AstroDedisperseConfig *config,
                           const AstroDedisperseArguments *arguments, gboolean is_gap)
{
  for (guint64 t = 0; t < arguments->steps && arguments->weights && !is_gap; t++)
    if (is_lost(config, arguments, t))
      return TRUE;
  return is_gap && arguments->steps > 0;
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer argument, AstroResult *result, GError **error)
{
  Cpu *self = instance;
  Work work = { .self = self, .arguments = argument };
  const AstroDedisperseArguments *arguments = argument;
  if (!astro_dedisperse_check_blocks(&self->config, self->reach, in, n_in, out, n_out, arguments,
                                     result, error))
    return FALSE;
  if (arguments->before == 0) {
    self->first = self->all = self->done = 0;
    self->counts_losses = FALSE;
  }
  if (!self->counts_losses &&
      (has_losses(&self->config, arguments, n_in == 0) || (arguments->end && self->reach > 0)) &&
      !begin_counts(self, arguments->full, error))
    return FALSE;
  const float *block = n_in ? in[0].data : NULL;
  const guint64 last =
      arguments->before + arguments->steps - (arguments->end ? arguments->trail : 0);
  work.out = n_out ? out[0].data : NULL;
  work.out_counts = n_out && self->counts_losses ? result->counts : NULL;
  astro_dedisperse_strides(&work.strides, &self->config, arguments->steps);
  for (guint64 at = 0; at < arguments->steps; at += PIECE) {
    if (!astro_backend_goes_on(error))
      return FALSE;
    take_piece(&work, block, at, (guint)MIN(PIECE, arguments->steps - at));
    give(&work, last);
  }
  /* Steps that would come after the end are lost. */
  for (guint64 at = 0; arguments->end && at < self->reach; at += PIECE) {
    if (!astro_backend_goes_on(error))
      return FALSE;
    take_piece(&work, NULL, 0, (guint)MIN(PIECE, self->reach - at));
    give(&work, last);
  }
  if (result)
    result->complete = !self->counts_losses;
  return astro_backend_goes_on(error);
}

static void destroy(gpointer instance)
{
  Cpu *self = instance;
  astro_dedisperse_plan_free(self->plan);
  if (self->scratch)
    astro_scratch_free(self->scratch);
  free(self->values);
  g_free(self->counts);
  g_free(self->lost);
  g_free(self);
}

/* Rows whose pitch is an odd number of lines do not compete for the same places of the caches. */
static gsize pitch_of(gsize capacity)
{
  const gsize lines = (capacity + 2 * LINE + LINE - 1) / LINE;
  return (lines | 1) * LINE;
}

static gpointer create(gconstpointer configuration, const AstroPlace *place, const char **variant,
                       GError **error)
{
  static const AstroDedisperseKernels *const variants[] = ASTRO_KERNELS(astro_dedisperse_kernels);
  const AstroDedisperseConfig *config = configuration;
  if (!astro_dedisperse_power_shape(config, error))
    return NULL;
  Cpu *self = g_new0(Cpu, 1);
  self->config = *config;
  self->threads = place->threads;
  self->kernels = ASTRO_KERNELS_PICK(variants);
  self->turn = astro_transpose_kernels();
  self->reach = astro_dedisperse_reach(config);
  self->capacity = 2 * (self->reach + PIECE);
  self->pitch = pitch_of(self->capacity);
  self->plan = astro_dedisperse_plan_new(config, error);
  const gsize rows = (gsize)config->stations * config->pols * config->channels;
  if (self->plan) {
    self->scratch = astro_scratch_new(
        (2 * (gsize)self->plan->most_dms * self->plan->chunk + self->plan->scratch) *
        sizeof(float));
    self->values = astro_pages_alloc(rows * self->pitch * sizeof(float));
    self->lost = g_try_new0(guint8, self->capacity);
  }
  if (!self->values || !self->lost) {
    if (self->plan)
      astro_backend_no_memory(error,
                              "no memory for %" G_GSIZE_FORMAT " steps of %" G_GSIZE_FORMAT
                              " channels: %.0f bytes",
                              self->capacity, rows, astro_dedisperse_bytes(config));
    destroy(self);
    return NULL;
  }
  if (variant)
    *variant = self->kernels->variant.name;
  return self;
}

const AstroBackend astro_dedisperse_power_cpu = {
  .stage = "dedisperse",
  .kind = ASTRO_BACKEND_CPU,
  .config_bytes = sizeof(AstroDedisperseConfig),
  .shape = astro_dedisperse_power_shape,
  .create = create,
  .submit = submit,
  .destroy = destroy,
};
