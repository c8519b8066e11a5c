/* The reference backend: the formulas, value by value. All other backends are tested against it. */
#include "config.h"
#include "core/flag/reference.h"
#include "core/backend/count.h"
#include "core/backend/instance.h"
#include "core/flag/check.h"
#include "core/flag/theory.h"
#include "core/lib/formats/half.h"

#include <math.h>
#include <string.h>

typedef struct {
  AstroFlagConfig config;
  AstroFlagPlaces shape; /* of one step */
  AstroFlagLimitTable *limits;
  AstroFlagThresholds thresholds;
  double *sums, *squares; /* kurtosis: [unit][part][channel] */
  guint32 *good;
  float *amplitudes; /* threshold: [unit][part][row][channel]; NaN: missing */
} Reference;

/* ---- values ---- */

static void read_parts(AstroFormat format, gconstpointer from, float *re, float *im)
{
  const gint8 *bytes = from;
  const gint16 *shorts = from;
  const guint16 *halves = from;
  const gint32 *ints = from;
  const float *floats = from;
  const double *doubles = from;
  switch (format) {
  case ASTRO_FORMAT_CI4:
    *re = (float)(bytes[0] >> 4);
    *im = (float)((gint8)((guint8)bytes[0] << 4) >> 4);
    break;
  case ASTRO_FORMAT_CI8:
    *re = (float)bytes[0];
    *im = (float)bytes[1];
    break;
  case ASTRO_FORMAT_CI16LE:
    *re = (float)shorts[0];
    *im = (float)shorts[1];
    break;
  case ASTRO_FORMAT_CF16LE:
    *re = (float)astro_half_value(halves[0]);
    *im = (float)astro_half_value(halves[1]);
    break;
  case ASTRO_FORMAT_CI32LE:
    *re = (float)ints[0];
    *im = (float)ints[1];
    break;
  case ASTRO_FORMAT_CF64LE:
    *re = (float)doubles[0];
    *im = (float)doubles[1];
    break;
  default:
    *re = floats[0];
    *im = floats[1];
  }
}

/* |x|^2 of a complex sample. */
static double power_of(AstroFormat format, gconstpointer from)
{
  float re, im;
  read_parts(format, from, &re, &im);
  return (double)re * re + (double)im * im;
}

/* SumThreshold looks at amplitudes, and at power itself. */
static float amplitude_of(AstroFormat format, gconstpointer from, guint32 count)
{
  if (format == ASTRO_FORMAT_F32LE)
    return *(const float *)from;
  ASTRO_COUNT(format == ASTRO_FORMAT_CI32LE ? 4 : 3);
  const float amplitude = (float)sqrt(power_of(format, from));
  return format == ASTRO_FORMAT_CI32LE ? amplitude / (float)count : amplitude;
}

typedef struct {
  Reference *self;
  const AstroFlagArguments *arguments;
  const guint8 *in;
  gsize bytes; /* of a sample */
  AstroFlagPlaces places;
  AstroFlagCounts counts;
} Work;

static gconstpointer value_at(const Work *work, guint64 t, guint64 c, guint64 u, guint64 part)
{
  const AstroFlagPlaces *places = &work->places;
  return work->in +
         (t * places->time + c * places->channel + u * places->unit + part) * work->bytes;
}

/* ---- kurtosis ---- */

static void add_power(const Work *work, guint64 t, guint c, guint64 u, guint part)
{
  Reference *self = work->self;
  const gsize at = (u * work->places.parts + part) * work->places.channels + c;
  const double power =
      power_of(self->config.in.format, value_at(work, t, c, u, work->places.part[part]));
  if (!astro_flag_is_good(&work->counts, t, c, u, part))
    return;
  ASTRO_COUNT(6); /* its power, the square of that, and two sums */
  self->sums[at] += power;
  self->squares[at] += power * power;
  self->good[at]++;
}

static guint8 judge_samples(Reference *self, double m, double sum, double squares, double coarse)
{
  if (m < ASTRO_FLAG_LEAST_SAMPLES)
    return 0;
  const AstroFlagLimits limits = astro_flag_limit_table_find(self->limits, (guint32)m);
  return astro_flag_judge_kurtosis(m, sum, squares, coarse, limits.low, limits.high);
}

static void judge_spectra(Reference *self, guint8 *flags)
{
  const AstroFlagPlaces *shape = &self->shape;
  const double coarse = astro_flag_coarse_power(self->config.in.format);
  memset(flags, 0, shape->units * shape->channels);
  for (guint64 u = 0; u < shape->units; u++)
    for (guint part = 0; part < shape->parts; part++)
      for (guint c = 0; c < shape->channels; c++) {
        const gsize at = (u * shape->parts + part) * shape->channels + c;
        flags[u * shape->channels + c] |=
            judge_samples(self, self->good[at], self->sums[at], self->squares[at], coarse);
      }
}

/* Power brings the means of both sums, and the number of samples as its counts. */
static void judge_power(const Work *work, guint8 *flags)
{
  const AstroFlagPlaces *places = &work->places;
  memset(flags, 0, places->steps * places->units * places->channels);
  for (guint64 t = 0; t < places->steps; t++)
    for (guint64 u = 0; u < places->units; u++)
      for (guint c = 0; c < places->channels; c++, flags++)
        for (guint part = 0; part < places->parts; part++) {
          const double m = astro_flag_count_at(&work->counts, t, c, u, part);
          const float mean = *(const float *)value_at(work, t, c, u, places->part[part]),
                      square = *(const float *)value_at(work, t, c, u, places->square[part]);
          *flags |= judge_samples(work->self, m, m * mean, m * square, 0);
        }
}

/* ---- threshold ---- */

static float *plane_of(Reference *self, guint64 u, guint part)
{
  return self->amplitudes +
         (u * self->shape.parts + part) * self->config.block * self->shape.channels;
}

static void take_amplitude(const Work *work, guint64 t, guint c, guint64 u, guint part)
{
  Reference *self = work->self;
  const AstroFormat format = self->config.in.format;
  const guint32 count = work->counts.counts ? astro_flag_count_at(&work->counts, t, c, u, part) : 1;
  if (!astro_flag_is_good(&work->counts, t, c, u, part))
    return;
  const float amplitude =
      amplitude_of(format, value_at(work, t, c, u, work->places.part[part]), count);
  plane_of(
      self, u,
      part)[(work->arguments->phase + t - work->arguments->first) * work->places.channels + c] =
      isfinite(amplitude) ? amplitude : INFINITY;
}

static guint8 flag_of(float amplitude, gboolean has_noise, gint32 bad)
{
  return isnan(amplitude)          ? 0
         : isinf(amplitude) || bad ? ASTRO_FLAG_JUDGED | ASTRO_FLAG_BAD
         : has_noise               ? ASTRO_FLAG_JUDGED
                                   : 0;
}

static void judge_planes(Reference *self, guint64 rows, guint8 *flags)
{
  const AstroFlagPlaces *shape = &self->shape;
  g_autofree guint8 *room = g_malloc(astro_flag_plane_bytes(rows, shape->channels));
  AstroFlagPlane plane;
  memset(flags, 0, rows * shape->units * shape->channels);
  astro_flag_plane_lay(&plane, room, (guint)rows, shape->channels);
  for (guint64 u = 0; u < shape->units; u++)
    for (guint part = 0; part < shape->parts; part++) {
      plane.amplitudes = plane_of(self, u, part);
      plane.is_power = shape->is_power[part];
      const gboolean has_noise =
          astro_flag_plane(&plane, &self->thresholds, &astro_flag_plane_reference);
      for (guint64 t = 0; t < rows; t++)
        for (guint c = 0; c < shape->channels; c++) {
          const gsize at = t * shape->channels + c;
          flags[(t * shape->units + u) * shape->channels + c] |=
              flag_of(plane.amplitudes[at], has_noise, plane.bad[at]);
        }
    }
}

/* ---- the backend ---- */

static void forget(Reference *self)
{
  const gsize n = self->shape.units * self->shape.parts * self->shape.channels;
  if (self->sums) {
    memset(self->sums, 0, n * sizeof *self->sums);
    memset(self->squares, 0, n * sizeof *self->squares);
    memset(self->good, 0, n * sizeof *self->good);
  }
  for (gsize i = 0; self->amplitudes && i < n * self->config.block; i++)
    self->amplitudes[i] = NAN;
}

static void destroy(gpointer instance)
{
  Reference *self = instance;
  g_clear_pointer(&self->limits, astro_flag_limit_table_free);
  g_free(self->sums);
  g_free(self->squares);
  g_free(self->good);
  g_free(self->amplitudes);
  g_free(self);
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  Reference *self = astro_instance_new(&astro_flag_reference, sizeof *self, config, error);
  if (!self)
    return NULL;
  astro_flag_places(&self->shape, &self->config, 1);
  const gsize n = self->shape.units * self->shape.parts * self->shape.channels;
  if (self->config.method == ASTRO_FLAG_KURTOSIS)
    self->limits = astro_flag_limit_table_new(self->config.false_alarm);
  if (self->config.method == ASTRO_FLAG_KURTOSIS && astro_flag_has_blocks(&self->config)) {
    self->sums = g_new(double, n);
    self->squares = g_new(double, n);
    self->good = g_new(guint32, n);
  }
  if (self->config.method == ASTRO_FLAG_THRESHOLD) {
    astro_flag_thresholds(&self->thresholds, self->config.threshold, self->config.longest);
    self->amplitudes = g_try_new(float, n * self->config.block);
    if (!self->amplitudes) {
      destroy(self);
      astro_backend_no_memory(error, "no memory for the amplitudes of a block");
      return NULL;
    }
  }
  forget(self);
  *variant = "c";
  return self;
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer data, AstroResult *result, GError **error)
{
  Reference *self = instance;
  const AstroFlagConfig *config = &self->config;
  const AstroFlagArguments *arguments = data;
  Work work = { .self = self,
                .arguments = arguments,
                .in = n_in ? in->data : NULL,
                .bytes = astro_stream_sample_bytes(&config->in) };
  if (!astro_flag_check_blocks(config, in, n_in, n_out, arguments, result, error))
    return FALSE;
  if (arguments->begin)
    forget(self);
  const guint64 last = arguments->first + arguments->steps;
  astro_flag_places(&work.places, config, arguments->block_steps);
  astro_flag_counts(&work.counts, config, arguments->block_steps, arguments->meta, &work.places);
  for (guint64 t = arguments->first; astro_flag_has_blocks(config) && n_in && t < last; t++)
    for (guint64 u = 0; u < work.places.units; u++)
      for (guint c = 0; c < work.places.channels; c++)
        for (guint part = 0; part < work.places.parts; part++)
          (self->sums ? add_power : take_amplitude)(&work, t, c, u, part);
  if (!arguments->end)
    return TRUE;
  guint8 *flags = ((AstroFlagVerdict *)result->own)->flags;
  if (self->sums)
    judge_spectra(self, flags);
  else if (self->amplitudes)
    judge_planes(self, astro_flag_rows(config, arguments), flags);
  else if (n_in)
    judge_power(&work, flags);
  forget(self);
  return TRUE;
}

const AstroBackend astro_flag_reference = {
  .stage = "flag",
  .kind = ASTRO_BACKEND_REFERENCE,
  .config_bytes = sizeof(AstroFlagConfig),
  .shape = astro_flag_shape,
  .create = create,
  .submit = submit,
  .destroy = destroy,
};
