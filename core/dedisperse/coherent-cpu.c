/* Coherent dedispersion by overlap-save: transforms of a stretch of each channel, the phases of its
 * filter, and back; of each transform, the values that wrap around are left out. */
#include "config.h"
#include "core/backend/scratch.h"
#include "core/dedisperse/check.h"
#include "core/dedisperse/coherent.h"
#include "core/dedisperse/samples.h"

#include <fftw3.h>
#include <string.h>

#include "core/lib/fft/planner.h"

#define PIECE ASTRO_DEDISPERSE_PIECE
#define TILE 16           /* steps and channels that are turned round together */
#define PLANNING_TIME 1.0 /* seconds, after which FFTW takes the best plan so far */

typedef struct {
  AstroDedisperseConfig config;
  AstroDedisperseFilter filter;
  guint threads;
  float complex *phases; /* [channel][frequency], divided by the length */
  fftwf_plan forward, backward;
  AstroScratch *scratch;

  /* The steps that are held: rows with room for `capacity` steps. */
  gsize capacity;
  float complex *values;    /* [station][pol][channel][step] */
  guint8 *good;             /* [station][channel][step] */
  gint has_losses;          /* atomic: something of this stretch was lost */
  guint64 first, all, done; /* of the stretch: held from here, to there; values given out */
} Cpu;

typedef struct {
  Cpu *self;
  const AstroDedisperseArguments *arguments;
  AstroDedisperseStrides in_strides, out_strides;
  gconstpointer in; /* the block; NULL: lost */
  guint64 at;       /* of the piece in the block */
  guint n;          /* steps of the piece */
  gsize drop;       /* steps that rows lose at their beginning */
  guint64 ready;    /* values to give out, in hops */
  float complex *out;
  guint32 *counts;
} Work;

static gsize row_of(const Cpu *self, guint station, guint pol, guint channel)
{
  return (((gsize)station * self->config.pols + pol) * self->config.channels + channel) *
         self->capacity;
}

static guint8 *good_of(const Cpu *self, guint station, guint channel)
{
  return self->good + ((gsize)station * self->config.channels + channel) * self->capacity;
}

/* ---- taking in ---- */

static float complex sample_at(const Work *work, guint64 t, guint s, guint p, guint c)
{
  const AstroDedisperseStrides *strides = &work->in_strides;
  return astro_dedisperse_sample(work->self->config.from, work->in,
                                 t * strides->time + s * strides->station + p * strides->pol +
                                     c * strides->channel);
}

/* Takes a sample in all polarisations; it is lost if it is in one. */
static gboolean take_sample(const Work *work, guint64 t, guint s, guint c, gsize held)
{
  const Cpu *self = work->self;
  gboolean good = work->in && astro_dedisperse_weight(work->arguments, t, c, s);
  for (guint p = 0; p < self->config.pols; p++) {
    float complex *value = self->values + row_of(self, s, p, c) + held;
    *value = good ? sample_at(work, t, s, p, c) : 0;
    good = good && astro_dedisperse_is_finite(*value);
  }
  for (guint p = 0; p < self->config.pols && !good; p++)
    self->values[row_of(self, s, p, c) + held] = 0;
  good_of(self, s, c)[held] = (guint8)good;
  return good;
}

/* Some channels of a station, so that what is read of a step is a line or so. */
static void take_channels(gpointer data, guint64 task)
{
  const Work *work = data;
  Cpu *self = work->self;
  const guint blocks = (self->config.channels + TILE - 1) / TILE;
  const guint s = (guint)(task / blocks), from = (guint)(task % blocks) * TILE,
              to = MIN(from + TILE, self->config.channels);
  const gsize held = self->all - self->first;
  gboolean all_good = TRUE;
  for (guint tile = 0; tile < work->n; tile += TILE)
    for (guint c = from; c < to; c++)
      for (guint t = tile; t < MIN(tile + TILE, work->n); t++)
        all_good &= take_sample(work, work->at + t, s, c, held + t);
  if (!all_good)
    g_atomic_int_set(&self->has_losses, TRUE);
}

static void drop_from_row(gpointer data, guint64 task)
{
  const Work *work = data;
  const Cpu *self = work->self;
  const gsize rows = (gsize)self->config.stations * self->config.pols * self->config.channels,
              kept = self->all - self->first - work->drop;
  if (task < rows) {
    float complex *row = self->values + task * self->capacity;
    memmove(row, row + work->drop, kept * sizeof *row);
  } else {
    guint8 *row = self->good + (task - rows) * self->capacity;
    memmove(row, row + work->drop, kept);
  }
}

static void take_piece(Work *work, guint64 at, guint n)
{
  Cpu *self = work->self;
  const gsize rows = (gsize)self->config.stations * self->config.channels;
  const guint blocks = (self->config.channels + TILE - 1) / TILE;
  work->n = n;
  work->at = at;
  if (self->all - self->first + n > self->capacity) {
    work->drop = self->done - self->first;
    astro_parallel(rows * (self->config.pols + 1), self->threads, drop_from_row, work);
    self->first = self->done;
  }
  astro_parallel((guint64)self->config.stations * blocks, self->threads, take_channels, work);
  self->all += n;
}

/* ---- filtering ---- */

/* A hop of a station, polarisation and channel. */
static void filter_hop(gpointer data, guint64 task)
{
  const Work *work = data;
  const Cpu *self = work->self;
  const AstroDedisperseFilter *filter = &self->filter;
  const guint channels = self->config.channels, pols = self->config.pols;
  const guint c = (guint)(task % channels), p = (guint)(task / channels % pols);
  const guint64 rest = task / channels / pols;
  const guint s = (guint)(rest % self->config.stations);
  const guint64 from = rest / self->config.stations * filter->hop,
                n = MIN(filter->hop, work->ready - from);
  const gsize at = self->done + from - self->first + (gsize)(filter->shifts[c] - filter->least),
              there = MIN(filter->length, self->all - self->first - at);
  const float complex *phases = self->phases + (gsize)c * filter->length;
  float complex *room = astro_scratch_take(self->scratch);

  memcpy(room, self->values + row_of(self, s, p, c) + at, there * sizeof *room);
  memset(room + there, 0, (filter->length - there) * sizeof *room);
  fftwf_execute_dft(self->forward, room, room);
  for (guint64 i = 0; i < filter->length; i++) {
    const float re = crealf(room[i]), im = cimagf(room[i]), x = crealf(phases[i]),
                y = cimagf(phases[i]);
    room[i] = CMPLXF(re * x - im * y, re * y + im * x);
  }
  fftwf_execute_dft(self->backward, room, room);
  float complex *out = work->out + from * work->out_strides.time + s * work->out_strides.station +
                       p * work->out_strides.pol + c * work->out_strides.channel;
  for (guint64 i = 0; i < n; i++)
    out[i * work->out_strides.time] = room[i];
  astro_scratch_give(self->scratch, room);
}

/* The good samples behind each value of a station's channel. */
static void count_good(gpointer data, guint64 task)
{
  const Work *work = data;
  const Cpu *self = work->self;
  const guint channels = self->config.channels, taps = self->filter.taps;
  const guint s = (guint)(task / channels), c = (guint)(task % channels);
  const guint8 *good = good_of(self, s, c) + (self->done - self->first) +
                       (gsize)(self->filter.shifts[c] - self->filter.least);
  guint32 count = 0;
  for (guint k = 0; k + 1 < taps; k++)
    count += good[k];
  for (guint64 i = 0; i < work->ready; i++) {
    count += good[i + taps - 1];
    work->counts[(i * self->config.stations + s) * channels + c] = count;
    count -= good[i];
  }
}

/* Gives out `ready` values. */
static void give(Work *work, guint64 ready)
{
  Cpu *self = work->self;
  const AstroDedisperseConfig *config = &self->config;
  const gsize rows = (gsize)config->stations * config->channels;
  if (ready == 0)
    return;
  work->ready = ready;
  astro_parallel((ready + self->filter.hop - 1) / self->filter.hop * rows * config->pols,
                 self->threads, filter_hop, work);
  astro_parallel(rows, self->threads, count_good, work);
  work->out += ready * work->out_strides.time;
  work->counts += ready * rows;
  self->done += ready;
}

/* ---- the backend ---- */

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer argument, AstroResult *result, GError **error)
{
  Cpu *self = instance;
  const AstroDedisperseArguments *arguments = argument;
  const AstroDedisperseFilter *filter = &self->filter;
  Work work = { .self = self, .arguments = arguments, .in = n_in ? in[0].data : NULL };
  if (!astro_dedisperse_coherent_check(&self->config, filter, in, n_in, out, n_out, arguments,
                                       result, error))
    return FALSE;
  if (arguments->before == 0) {
    self->first = self->all = self->done = 0;
    g_atomic_int_set(&self->has_losses, FALSE);
  }
  const guint64 end = astro_dedisperse_filter_done(filter, arguments) +
                      astro_dedisperse_filter_ready(filter, arguments);
  work.out = n_out ? out[0].data : NULL;
  work.counts = n_out ? result->counts : NULL;
  astro_dedisperse_strides(&work.in_strides, &self->config, arguments->steps);
  astro_dedisperse_strides(&work.out_strides, &self->config, end - self->done);
  for (guint64 at = 0; at < arguments->steps; at += PIECE) {
    if (!astro_backend_goes_on(error))
      return FALSE;
    take_piece(&work, at, (guint)MIN(PIECE, arguments->steps - at));
    const guint64 most = self->all > filter->reach ? self->all - filter->reach : 0,
                  whole = MIN(most / filter->hop * filter->hop, end);
    give(&work, whole > self->done ? whole - self->done : 0);
  }
  give(&work, end - self->done);
  if (result)
    result->complete = !g_atomic_int_get(&self->has_losses);
  return astro_backend_goes_on(error);
}

static void destroy(gpointer instance)
{
  Cpu *self = instance;
  astro_fft_planner_lock();
  if (self->forward)
    fftwf_destroy_plan(self->forward);
  if (self->backward)
    fftwf_destroy_plan(self->backward);
  astro_fft_planner_unlock();
  if (self->scratch)
    astro_scratch_free(self->scratch);
  fftwf_free(self->phases);
  g_free(self->values);
  g_free(self->good);
  astro_dedisperse_filter_clear(&self->filter);
  g_free(self);
}

static void plan_transforms(Cpu *self)
{
  float complex *room = astro_scratch_take(self->scratch);
  const int n = (int)self->filter.length;
  astro_fft_planner_lock();
  fftwf_set_timelimit(PLANNING_TIME);
  ASTRO_FFT_PLAN(self->forward, FFTW_MEASURE,
                 fftwf_plan_dft_1d(n, room, room, FFTW_FORWARD, flags));
  ASTRO_FFT_PLAN(self->backward, FFTW_MEASURE,
                 fftwf_plan_dft_1d(n, room, room, FFTW_BACKWARD, flags));
  fftwf_set_timelimit(FFTW_NO_TIMELIMIT);
  astro_fft_planner_unlock();
  astro_scratch_give(self->scratch, room);
}

/* The transform of the taps, turned round, since a tap multiplies the sample k later. */
static gboolean make_phases(Cpu *self)
{
  const AstroDedisperseFilter *filter = &self->filter;
  const guint64 n = filter->length;
  for (guint c = 0; c < self->config.channels; c++) {
    double complex *taps = astro_dedisperse_filter_taps(filter, &self->config, c);
    float complex *phases = self->phases + c * n;
    if (!taps)
      return FALSE;
    memset(phases, 0, n * sizeof *phases);
    for (guint k = 0; k < filter->taps; k++)
      phases[(n - k) % n] = (float complex)(taps[k] / (double)n);
    fftwf_execute_dft(self->forward, phases, phases);
    fftw_free(taps);
  }
  return TRUE;
}

static gboolean make_room(Cpu *self)
{
  const AstroDedisperseConfig *config = &self->config;
  const AstroDedisperseFilter *filter = &self->filter;
  const gsize rows = (gsize)config->stations * config->channels;
  self->capacity = 2 * (filter->reach + filter->hop + PIECE);
  self->scratch = astro_scratch_new(filter->length * sizeof(float complex));
  self->values = g_try_new0(float complex, rows * config->pols * self->capacity);
  self->good = g_try_new0(guint8, rows * self->capacity);
  self->phases = fftwf_malloc(config->channels * filter->length * sizeof *self->phases);
  if (!self->values || !self->good || !self->phases)
    return FALSE;
  plan_transforms(self);
  return self->forward && self->backward && make_phases(self);
}

static gpointer create(gconstpointer configuration, const AstroPlace *place, const char **variant,
                       GError **error)
{
  const AstroDedisperseConfig *config = configuration;
  if (!astro_dedisperse_coherent_shape(config, error))
    return NULL;
  Cpu *self = g_new0(Cpu, 1);
  self->config = *config;
  self->threads = place->threads;
  if (!astro_dedisperse_filter_init(&self->filter, config, error)) {
    destroy(self);
    return NULL;
  }
  if (!make_room(self)) {
    astro_backend_no_memory(error,
                            "no memory for filters of %u taps of %u channels, and %" G_GSIZE_FORMAT
                            " steps of each",
                            self->filter.taps, config->channels, self->capacity);
    destroy(self);
    return NULL;
  }
  if (variant)
    *variant = "fftw";
  return self;
}

const AstroBackend astro_dedisperse_coherent_cpu = {
  .stage = "dedisperse",
  .kind = ASTRO_BACKEND_CPU,
  .config_bytes = sizeof(AstroDedisperseConfig),
  .shape = astro_dedisperse_coherent_shape,
  .create = create,
  .submit = submit,
  .destroy = destroy,
};
