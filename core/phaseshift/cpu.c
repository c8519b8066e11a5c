/* The CPU backend. Sines and cosines are computed per station and for few channels only: the phase
 * factor of a baseline is the product of its two stations' phasors. Memory is the bottleneck that
 * is left. */
#include "config.h"
#include "core/phaseshift/check.h"

#include <math.h>

#include "core/kit/shuffle.h"
#include "core/backend/instance.h"
#include "core/backend/threads.h"

#define TASK_BASELINES 4096 /* about as many per task, in whole rows of stations */

typedef struct {
  double re, im;
} Phasor;

typedef struct {
  AstroPhaseshiftConfig config;
  AstroPhaseshiftSize size;
  guint threads;
  guint tasks; /* per channel */
  guint *rows; /* the first station of each task, and at the end the number of stations */
} Phaseshift;

typedef struct {
  const Phaseshift *self;
  const AstroPhaseshiftArguments *arguments;
  const guint8 *in;
  guint8 *out;
  Phasor *phasors; /* [step][channel][station] */
} Work;

/* ---- phasors ---- */

#define GROUP 64 /* channels whose phasors follow by multiplication, to 1e-14 */

static Phasor phasor_at(double angle)
{
  return (Phasor){ cos(angle), sin(angle) };
}

static guint n_groups(const Phaseshift *self)
{
  return (self->size.channels + GROUP - 1) / GROUP;
}

/* Makes the phasors of a group of channels of a step. Angles are relative to the first station:
 * what all stations have in common cancels in baselines. */
static void make_phasors(gpointer data, guint64 task)
{
  const Work *work = data;
  const AstroPhaseshiftSize *size = &work->self->size;
  const AstroStream *stream = &work->self->config.in;
  const guint64 step = task / n_groups(work->self);
  const guint first = (guint)(task % n_groups(work->self)) * GROUP;
  const guint end = MIN(first + GROUP, size->channels);
  const double *nearer = work->arguments->nearer + step * size->stations;
  const double wavenumber = astro_phaseshift_wavenumber(stream, first);
  const double between = astro_phaseshift_spacing(stream);
  for (guint i = 0; i < size->stations; i++) {
    const double metres = nearer[i] - nearer[0];
    const Phasor onward = phasor_at(between * metres);
    Phasor at = phasor_at(wavenumber * metres);
    for (guint channel = first; channel < end; channel++) {
      work->phasors[(step * size->channels + channel) * size->stations + i] = at;
      at = (Phasor){ at.re * onward.re - at.im * onward.im, at.re * onward.im + at.im * onward.re };
    }
  }
}

/* ---- values ---- */

#define STRIP 64 /* baselines whose phase factors are made at a time */

typedef float Floats __attribute__((vector_size(16)));
typedef float AnyFloats __attribute__((vector_size(16), aligned(4), may_alias));
typedef gint32 FloatPlaces __attribute__((vector_size(16)));
typedef double Doubles __attribute__((vector_size(32)));
typedef double AnyDoubles __attribute__((vector_size(32), aligned(8), may_alias));
typedef gint64 DoublePlaces __attribute__((vector_size(32)));

/* Rotates rows of stations, each with the baselines to all stations before it and to itself, with n
 * values per baseline, two values at a time. One text serves both precisions; n is a constant at
 * the call, so that the compiler can simplify what depends on it. */
#define ROTATE(name, Real, Pair, AnyPair, Places)                                                  \
  static inline __attribute__((always_inline)) void name(                                          \
      const Phasor *phasors, guint first, guint end, const Real *in, Real *out, guint n)           \
  {                                                                                                \
    for (guint i = first; i < end; i++)                                                            \
      for (guint start = 0; start <= i; start += STRIP) {                                          \
        const guint length = MIN(STRIP, i + 1 - start);                                            \
        Real re[STRIP], im[STRIP];                                                                 \
        for (guint k = 0; k < length; k++) {                                                       \
          const Phasor a = phasors[i], b = phasors[start + k];                                     \
          re[k] = (Real)(a.re * b.re + a.im * b.im);                                               \
          im[k] = (Real)(a.im * b.re - a.re * b.im);                                               \
        }                                                                                          \
        guint k = 0;                                                                               \
        for (; k + 1 < length * n; k += 2) {                                                       \
          const guint a = k / n, b = (k + 1) / n;                                                  \
          const Pair x = *(const AnyPair *)&in[2 * k];                                             \
          const Pair along = { re[a], re[a], re[b], re[b] };                                       \
          const Pair across = { -im[a], im[a], -im[b], im[b] };                                    \
          *(AnyPair *)&out[2 * k] =                                                                \
              x * along + ASTRO_SHUFFLE(x, ((Places){ 1, 0, 3, 2 })) * across;                     \
        }                                                                                          \
        for (; k < length * n; k++) {                                                              \
          const Real x = in[2 * k], y = in[2 * k + 1];                                             \
          out[2 * k] = x * re[k / n] - y * im[k / n];                                              \
          out[2 * k + 1] = x * im[k / n] + y * re[k / n];                                          \
        }                                                                                          \
        in += 2 * (gsize)length * n;                                                               \
        out += 2 * (gsize)length * n;                                                              \
      }                                                                                            \
  }

ROTATE(rotate_floats, float, Floats, AnyFloats, FloatPlaces)
ROTATE(rotate_doubles, double, Doubles, AnyDoubles, DoublePlaces)

static void rotate_rows(const Work *work, const Phasor *phasors, guint first, guint end, gsize at)
{
  const AstroPhaseshiftConfig *config = &work->self->config;
  const gsize bytes = astro_stream_sample_bytes(&config->out);
  gconstpointer in = work->in + at * bytes;
  gpointer out = work->out + at * bytes;
  const gboolean has_one = work->self->size.values == 1;
  if (config->out.format == ASTRO_FORMAT_CF64LE && has_one)
    rotate_doubles(phasors, first, end, in, out, 1);
  else if (config->out.format == ASTRO_FORMAT_CF64LE)
    rotate_doubles(phasors, first, end, in, out, 4);
  else if (has_one)
    rotate_floats(phasors, first, end, in, out, 1);
  else
    rotate_floats(phasors, first, end, in, out, 4);
}

static void rotate_task(gpointer data, guint64 task)
{
  const Work *work = data;
  const Phaseshift *self = work->self;
  const guint64 channel = task / self->tasks; /* counted over all steps */
  const guint first = self->rows[task % self->tasks], end = self->rows[task % self->tasks + 1];
  const guint64 before = (guint64)first * (first + 1) / 2;
  rotate_rows(work, work->phasors + channel * self->size.stations, first, end,
              (channel * self->size.baselines + before) * self->size.values);
}

static void make_means(gpointer data, guint64 task)
{
  const Work *work = data;
  const AstroPhaseshiftSize *size = &work->self->size;
  const gsize at =
      task * size->baselines * size->values * astro_stream_sample_bytes(&work->self->config.in);
  astro_phaseshift_means(&work->self->config, work->arguments, task / size->channels,
                         (guint)(task % size->channels), work->in + at, work->out + at);
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer data, AstroResult *result, GError **error)
{
  const Phaseshift *self = instance;
  const AstroPhaseshiftArguments *arguments = data;
  Work work = { .self = self, .arguments = arguments };
  if (!astro_phaseshift_check(&self->config, in, n_in, out, n_out, arguments, error))
    return FALSE;
  const guint64 channels = arguments->steps * self->size.channels;
  g_autofree Phasor *phasors = g_try_new(Phasor, channels * self->size.stations);
  if (!phasors && channels)
    return astro_backend_no_memory(
        error, "no memory for the phases of %" G_GUINT64_FORMAT " channels of %u stations",
        channels, self->size.stations);
  work.in = in->data;
  work.out = out->data;
  work.phasors = phasors;
  astro_parallel(arguments->steps * n_groups(self), self->threads, make_phasors, &work);
  if (self->config.in.format == ASTRO_FORMAT_CI32LE) {
    astro_parallel(channels, self->threads, make_means, &work);
    work.in = work.out;
  }
  astro_parallel(channels * self->tasks, self->threads, rotate_task, &work);
  return TRUE;
}

/* ---- instances ---- */

/* Later rows are longer: each task gets rows until it has enough baselines. */
static void share_rows(Phaseshift *self)
{
  const guint stations = self->size.stations;
  guint64 baselines = 0;
  self->rows = g_new(guint, stations + 1);
  for (guint i = 0; i < stations; i++) {
    if (baselines == 0)
      self->rows[self->tasks++] = i;
    baselines += i + 1;
    if (baselines >= TASK_BASELINES)
      baselines = 0;
  }
  self->rows[self->tasks] = stations;
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  Phaseshift *self = astro_instance_new(&astro_phaseshift_cpu, sizeof *self, config, error);
  if (!self)
    return NULL;
  self->size = astro_phaseshift_size(&self->config.in);
  self->threads = place->threads;
  share_rows(self);
  *variant = "c";
  return self;
}

static void destroy(gpointer instance)
{
  Phaseshift *self = instance;
  g_free(self->rows);
  g_free(self);
}

const AstroBackend astro_phaseshift_cpu = {
  .stage = "phaseshift",
  .kind = ASTRO_BACKEND_CPU,
  .config_bytes = sizeof(AstroPhaseshiftConfig),
  .shape = astro_phaseshift_shape,
  .create = create,
  .submit = submit,
  .destroy = destroy,
  .in_place = TRUE,
};

const AstroBackend *const astro_phaseshift_backends[] = { &astro_phaseshift_cpu,
                                                          &astro_phaseshift_reference, NULL };
