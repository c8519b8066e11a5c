/* The cpu backend of SumThreshold: takes amplitudes block by block, and works on planes. */
#include "config.h"
#include "core/flag/cpu.h"

#include "core/backend/threads.h"

#include <math.h>
#include <string.h>

#define LANES 256 /* converted at once */
#define MANY 8    /* units of a task, which lie together in visibilities */

static float *plane_of(const AstroFlagCpu *self, guint64 u, guint part)
{
  return self->amplitudes +
         (u * self->shape.parts + part) * self->config.block * self->shape.channels;
}

/* ---- amplitudes ---- */

/* bytes is a constant where it matters, so that no function is called for each value. */
static inline void gather_each(const guint8 *at, gsize stride, guint n, gsize bytes, guint8 *to)
{
  for (guint i = 0; i < n; i++)
    memcpy(to + i * bytes, at + i * stride, bytes);
}

/* Values of n channels, in the order of channels. */
static void gather(const AstroFlagWork *work, const guint8 *at, guint n, gpointer gathered)
{
  const gsize bytes = astro_stream_sample_bytes(&work->self->config.in),
              stride = work->places.channel * bytes;
  if (bytes == 8)
    gather_each(at, stride, n, 8, gathered);
  else if (bytes == 4)
    gather_each(at, stride, n, 4, gathered);
  else
    gather_each(at, stride, n, bytes, gathered);
}

static void take_amplitudes(const float *samples, guint n, float *out)
{
  for (guint i = 0; i < n; i++) {
    const double re = (double)samples[2 * i], im = (double)samples[2 * i + 1];
    out[i] = (float)sqrt(re * re + im * im);
  }
}

/* Sums become means; what is missing NaN, and what is not finite infinite. */
static void finish_amplitudes(const AstroFlagWork *work, guint64 t, guint64 c, guint64 u,
                              guint part, guint n, float *out)
{
  const gboolean are_sums = work->self->config.in.format == ASTRO_FORMAT_CI32LE;
  for (guint i = 0; i < n; i++) {
    if (!astro_flag_is_good(&work->counts, t, c + i, u, part)) {
      out[i] = NAN;
      continue;
    }
    if (are_sums && work->counts.counts)
      out[i] /= (float)astro_flag_count_at(&work->counts, t, c + i, u, part);
    if (!(fabsf(out[i]) <= G_MAXFLOAT))
      out[i] = INFINITY;
  }
}

static void take_run(const AstroFlagWork *work, guint64 t, guint64 c, guint64 u, guint part,
                     guint n)
{
  const AstroFlagCpu *self = work->self;
  const AstroFlagPlaces *places = &work->places;
  const gsize bytes = astro_stream_sample_bytes(&self->config.in);
  const guint8 *at =
      work->in +
      (t * places->time + c * places->channel + u * places->unit + places->part[part]) * bytes;
  float *out = plane_of(self, u, part) +
               (work->arguments->phase + t - work->arguments->first) * places->channels + c;
  guint64 gathered[2 * LANES]; /* room for samples of up to 16 bytes */
  float samples[2 * LANES];

  if (places->channel != 1) {
    gather(work, at, n, gathered);
    at = (const guint8 *)gathered;
  }
  if (self->config.in.format == ASTRO_FORMAT_F32LE) {
    memcpy(out, at, n * sizeof *out);
  } else {
    astro_samples_convert(&self->samples, samples, at, n);
    take_amplitudes(samples, n, out);
  }
  finish_amplitudes(work, t, c, u, part, n, out);
}

static void take_task(gpointer data, guint64 task)
{
  const AstroFlagWork *work = data;
  const AstroFlagPlaces *places = &work->places;
  const AstroFlagArguments *arguments = work->arguments;
  const guint64 last = MIN((task + 1) * MANY, places->units);
  for (guint64 t = arguments->first; t < arguments->first + arguments->steps; t++)
    for (guint c = 0; c < places->channels; c += LANES)
      for (guint64 u = task * MANY; u < last; u++)
        for (guint part = 0; part < places->parts; part++)
          take_run(work, t, c, u, part, MIN(LANES, places->channels - c));
}

void astro_flag_take_amplitudes(AstroFlagWork *work)
{
  astro_parallel((work->places.units + MANY - 1) / MANY, work->self->threads, take_task, work);
}

/* ---- planes ---- */

typedef struct {
  AstroFlagWork *work;
  guint64 rows;
} Planes;

static guint8 flag_of(float amplitude, gboolean has_noise, gint32 bad)
{
  return isnan(amplitude)          ? 0
         : isinf(amplitude) || bad ? ASTRO_FLAG_JUDGED | ASTRO_FLAG_BAD
         : has_noise               ? ASTRO_FLAG_JUDGED
                                   : 0;
}

static void judge_unit(gpointer data, guint64 u)
{
  const Planes *planes = data;
  const AstroFlagCpu *self = planes->work->self;
  const AstroFlagPlaces *shape = &self->shape;
  gpointer room = astro_scratch_take(self->planes);
  AstroFlagPlane plane;
  astro_flag_plane_lay(&plane, room, (guint)planes->rows, shape->channels);
  for (guint part = 0; part < shape->parts; part++) {
    plane.amplitudes = plane_of(self, u, part);
    plane.is_power = shape->is_power[part];
    const gboolean has_noise = astro_flag_plane(&plane, &self->thresholds, &self->kernels->plane);
    for (guint64 t = 0; t < planes->rows; t++) {
      guint8 *flags = planes->work->flags + (t * shape->units + u) * shape->channels;
      const gsize at = t * shape->channels;
      for (guint c = 0; c < shape->channels; c++) {
        const guint8 found = flag_of(plane.amplitudes[at + c], has_noise, plane.bad[at + c]);
        flags[c] = part ? flags[c] | found : found;
      }
    }
  }
  astro_scratch_give(self->planes, room);
}

void astro_flag_judge_planes(AstroFlagWork *work, guint64 rows)
{
  Planes planes = { work, rows };
  astro_parallel(work->self->shape.units, work->self->threads, judge_unit, &planes);
}
