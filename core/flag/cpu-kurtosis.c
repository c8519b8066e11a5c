/* The cpu backend of kurtosis. Sums lie in the order of the samples of a step, so that samples are
 * added as they come, in the order of time. */
#include "config.h"
#include "core/flag/cpu.h"

#include "core/backend/threads.h"

#include <string.h>

#define LANES 256 /* converted at once */

/* Samples faster than time follow each other in memory, in runs; slower axes are apart. */
typedef struct {
  AstroFlagWork *work;
  guint64 run, chunks; /* samples of a run, and tasks that share it */
} Runs;

/* How a sample of a step, by its place in memory, is called. */
static void name_part(const AstroFlagPlaces *shape, gsize at, guint *c, guint64 *u, guint *part)
{
  *c = shape->channels > 1 ? (guint)(at / shape->channel % shape->channels) : 0;
  *u = shape->units > 1 ? at / shape->unit % shape->units : 0;
  *part = 0;
  const gsize rest = at - *c * shape->channel - *u * shape->unit;
  while (shape->part[*part] != rest)
    (*part)++;
}

/* Samples that are lost become 0, which adds nothing. */
static void drop_lost(const AstroFlagWork *work, guint64 t, gsize first, guint n, float *samples)
{
  const AstroFlagCpu *self = work->self;
  for (guint i = 0; i < n; i++) {
    guint64 u;
    guint c, part;
    name_part(&self->shape, first + i, &c, &u, &part);
    if (astro_flag_is_good(&work->counts, t, c, u, part))
      self->good[first + i]++;
    else
      samples[2 * i] = samples[2 * i + 1] = 0;
  }
}

/* Adds n samples of step t, of which `first` is the first. */
static void add_samples(const AstroFlagWork *work, const guint8 *in, guint64 t, gsize first,
                        guint n)
{
  const AstroFlagCpu *self = work->self;
  const AstroFlagKernels *kernels = self->kernels;
  float samples[2 * LANES];
  const guint whole = n - n % kernels->lanes;
  astro_samples_convert(&self->samples, samples, in, n);
  if (work->counts.counts)
    drop_lost(work, t, first, n, samples);
  kernels->add_powers(samples, whole, self->sums + first, self->squares + first);
  for (guint i = whole; i < n; i++) {
    const double re = (double)samples[2 * i], im = (double)samples[2 * i + 1],
                 power = re * re + im * im;
    self->sums[first + i] += power;
    self->squares[first + i] += power * power;
  }
}

/* Where time is fastest, a stretch of times of one sample is converted at once. */
static void add_stretch(const AstroFlagWork *work, const guint8 *in, guint64 t, gsize at, guint n)
{
  const AstroFlagCpu *self = work->self;
  float samples[2 * LANES];
  guint64 u;
  guint c, part;
  double sum = self->sums[at], squares = self->squares[at];
  name_part(&self->shape, at, &c, &u, &part);
  astro_samples_convert(&self->samples, samples, in, n);
  for (guint i = 0; i < n; i++) {
    const double re = (double)samples[2 * i], im = (double)samples[2 * i + 1],
                 power = re * re + im * im;
    if (!astro_flag_is_good(&work->counts, t + i, c, u, part))
      continue;
    sum += power;
    squares += power * power;
    self->good[at] += work->counts.counts != NULL;
  }
  self->sums[at] = sum;
  self->squares[at] = squares;
}

static void add_task(gpointer data, guint64 task)
{
  const Runs *runs = data;
  const AstroFlagWork *work = runs->work;
  const AstroFlagArguments *arguments = work->arguments;
  const guint64 begin = arguments->first, end = begin + arguments->steps,
                steps = arguments->block_steps, outer = task / runs->chunks,
                from = task % runs->chunks * LANES;
  const gsize bytes = work->self->samples.from_bytes;
  const guint n = (guint)MIN(LANES, runs->run - from);
  const gsize first = outer * runs->run + from;
  if (runs->run == 1) {
    for (guint64 t = begin; t < end; t += LANES)
      add_stretch(work, work->in + (outer * steps + t) * bytes, t, first,
                  (guint)MIN(LANES, end - t));
  } else {
    for (guint64 t = begin; t < end; t++)
      add_samples(work, work->in + ((outer * steps + t) * runs->run + from) * bytes, t, first, n);
  }
  for (guint i = 0; i < n && !work->counts.counts; i++)
    work->self->good[first + i] += (guint32)arguments->steps;
}

/* Counts that tell of no loss are not looked up for each sample. */
static void forget_whole_counts(AstroFlagCounts *counts, const AstroValidityMeta *meta)
{
  const guint64 n = meta ? astro_validity_n_counts(meta) : 0;
  for (guint64 i = 0; i < n; i++)
    if (meta->counts[i] < counts->least)
      return;
  counts->counts = NULL;
}

void astro_flag_add_spectra(AstroFlagWork *work)
{
  const AstroFlagCpu *self = work->self;
  /* A layout without time has whole frames. */
  const gboolean has_time = astro_layout_find(&self->config.in.layout, ASTRO_AXIS_TIME) >= 0;
  Runs runs = { .work = work, .run = has_time ? work->places.time : self->n_parts };
  forget_whole_counts(&work->counts, work->arguments->meta);
  runs.chunks = (runs.run + LANES - 1) / LANES;
  astro_parallel(self->n_parts / runs.run * runs.chunks, self->threads, add_task, &runs);
}

static guint8 judge(AstroFlagCpu *self, double m, double sum, double squares, double coarse)
{
  if (m < ASTRO_FLAG_LEAST_SAMPLES)
    return 0;
  const AstroFlagLimits limits = astro_flag_limit_table_find(self->limits, (guint32)m);
  return astro_flag_judge_kurtosis(m, sum, squares, coarse, limits.low, limits.high);
}

void astro_flag_judge_spectra(AstroFlagWork *work)
{
  AstroFlagCpu *self = work->self;
  const AstroFlagPlaces *shape = &self->shape;
  const double coarse = astro_flag_coarse_power(self->config.in.format);
  for (guint64 u = 0; u < shape->units; u++)
    for (guint c = 0; c < shape->channels; c++) {
      guint8 flags = 0;
      for (guint part = 0; part < shape->parts; part++) {
        const gsize at = u * shape->unit + c * shape->channel + shape->part[part];
        flags |= judge(self, self->good[at], self->sums[at], self->squares[at], coarse);
      }
      work->flags[u * shape->channels + c] = flags;
    }
}

/* Power brings the means of both sums, and the number of samples as its counts. */
void astro_flag_judge_power(AstroFlagWork *work)
{
  const AstroFlagPlaces *places = &work->places;
  const float *in = (gconstpointer)work->in;
  guint8 *flags = work->flags;
  guint32 last = 0;
  AstroFlagLimits limits = { 0 };
  for (guint64 t = 0; t < places->steps; t++)
    for (guint64 u = 0; u < places->units; u++)
      for (guint c = 0; c < places->channels; c++, flags++) {
        const float *at = in + t * places->time + u * places->unit + c * places->channel;
        *flags = 0;
        for (guint part = 0; part < places->parts; part++) {
          const guint32 m = astro_flag_count_at(&work->counts, t, c, u, part);
          if (m < ASTRO_FLAG_LEAST_SAMPLES)
            continue;
          if (m != last)
            limits = astro_flag_limit_table_find(work->self->limits, last = m);
          *flags |= astro_flag_judge_kurtosis(m, (double)m * at[places->part[part]],
                                              (double)m * at[places->square[part]], 0, limits.low,
                                              limits.high);
        }
      }
}
