/* Predicts the visibilities of an array under a sky of point sources. */
#include "config.h"
#include "core/lib/predict/predict.h"

#include <math.h>
#include <string.h>

#include "core/backend/threads.h"
#include "core/lib/predict/finish.h"
#include "core/lib/predict/kernels.h"
#include "core/backend/scratch.h"
#include "core/lib/sky/array.h"
#include "core/stream/track.h"

#define BAND 64                 /* stations whose baselines are one task */
#define PHASORS_BYTES (1 << 18) /* kept at a time, since they are read again and again */
#define LEAST_SOURCES 8         /* at a time, so that the sums stay in registers for that long */

struct AstroPredict {
  AstroPredictConfig config;
  const AstroPredictKernels *kernels;
  AstroTrack *track;
  AstroFinish *finish;
  AstroScratch *scratch;
  guint stations, channels, groups, bands;
  guint sources_at_once;
  double *positions; /* of each group [3][lane], relative to the array's centre, light seconds */
  double *lmn;       /* of each source, with n - 1 in place of n */
  guint *polarised;  /* the sources that are */
  guint n_polarised;
  guint n_sums;   /* of each baseline: I, and those for polarised sources that the products need */
  guint order[3]; /* of their Stokes parameters */

  /* of the integration in progress */
  AstroFinishBlock block;
  double *directions; /* [point in time][source][3], in the frame of the Earth */
};

/* The parts of a block of scratch memory; sums have a row of all stations, padded, for each station
 * of a band. weighted: phasors of a group of stations that are multiplied by a Stokes parameter. */
typedef struct {
  double *re[4], *im[4], *phasors, *directions, *amplitudes, *weighted;
} Parts;

static gsize padded(const AstroPredict *predict)
{
  return (gsize)predict->groups * predict->kernels->lanes;
}

static gsize scratch_doubles(const AstroPredict *predict)
{
  gsize n = predict->sources_at_once;
  return 2 * BAND * padded(predict) * predict->n_sums + 2 * n * padded(predict) + 4 * n +
         2 * n * predict->kernels->lanes;
}

static Parts parts_of(const AstroPredict *predict, double *block)
{
  gsize sums = BAND * padded(predict), n = predict->sources_at_once;
  Parts parts = { .phasors = block + 2 * sums * predict->n_sums };
  for (guint i = 0; i < predict->n_sums; i++) {
    parts.re[i] = block + 2 * i * sums;
    parts.im[i] = parts.re[i] + sums;
  }
  parts.directions = parts.phasors + 2 * n * padded(predict);
  parts.amplitudes = parts.directions + 3 * n;
  parts.weighted = parts.amplitudes + n;
  return parts;
}

/* ---- set once ---- */

/* Lanes without a station are at the array's centre; their results are not used. */
static void place(AstroPredict *predict)
{
  const AstroObservation *observation = predict->config.observation;
  guint lanes = predict->kernels->lanes;
  double centre[3];
  astro_array_centre(observation, centre);
  predict->positions = g_new0(double, 3 * padded(predict));
  for (guint i = 0; i < predict->stations; i++)
    for (guint k = 0; k < 3; k++)
      predict->positions[(i / lanes * 3 + k) * lanes + i % lanes] =
          (observation->positions[3 * i + k] - centre[k]) / ASTRO_LIGHT_SPEED;
}

static void aim_at_sky(AstroPredict *predict)
{
  const AstroSky *sky = predict->config.sky;
  predict->lmn = g_new(double, 3 * (gsize)sky->n);
  for (guint i = 0; i < sky->n; i++) {
    const double *lmn = sky->sources[i].lmn;
    double *to = predict->lmn + 3 * (gsize)i;
    to[0] = lmn[0];
    to[1] = lmn[1];
    /* n - 1 computed directly would lose its digits near the phase centre. */
    to[2] = -(lmn[0] * lmn[0] + lmn[1] * lmn[1]) / (1 + lmn[2]);
  }
}

static void find_polarised(AstroPredict *predict)
{
  const AstroSky *sky = predict->config.sky;
  const guint pols = (guint)astro_stream_extent(&predict->config.stream, ASTRO_AXIS_POL);
  const gboolean is_total = g_str_equal(predict->config.observation->basis, "stokes");
  predict->polarised = g_new(guint, sky->n);
  for (guint i = 0; i < sky->n && !is_total; i++)
    if (astro_source_is_polarised(&sky->sources[i]))
      predict->polarised[predict->n_polarised++] = i;
  predict->n_sums = !predict->n_polarised ? 1 : pols == 2 ? 4 : 2;
  astro_stokes_order(predict->config.observation->basis, predict->order);
}

static gboolean check(const AstroPredictConfig *config, GError **error)
{
  const AstroStream *stream = &config->stream;
  const AstroObservation *observation = config->observation;
  const char *wrong = NULL;
  guint64 n = observation->n_stations, baselines = n * (n + 1) / 2,
          expected = astro_stream_extent(stream, ASTRO_AXIS_BASELINE);
  if (stream->format != ASTRO_FORMAT_CF32LE && stream->format != ASTRO_FORMAT_CF64LE)
    wrong = "expected the format CF32LE or CF64LE";
  else if (stream->rate_n <= 0 || stream->rate_d <= 0)
    wrong = "there is no rate, expected one";
  if (wrong)
    g_set_error_literal(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE, wrong);
  else if (baselines != expected)
    g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
                "%" G_GUINT64_FORMAT " stations make %" G_GUINT64_FORMAT
                " baselines, expected %" G_GUINT64_FORMAT,
                n, baselines, expected);
  return !wrong && baselines == expected &&
         astro_sky_check_band(stream->frequency, stream->bandwidth, error);
}

AstroPredict *astro_predict_new(const AstroPredictConfig *config, GError **error)
{
  if (!check(config, error))
    return NULL;
  AstroFinish *finish = astro_finish_new(config, error);
  if (!finish)
    return NULL;
  AstroPredict *predict = g_new0(AstroPredict, 1);
  predict->config = *config;
  astro_observation_ref(config->observation);
  predict->finish = finish;
  predict->kernels = astro_predict_kernels();
  predict->track = astro_track_new(config->observation);
  predict->stations = config->observation->n_stations;
  predict->channels = (guint)astro_stream_extent(&config->stream, ASTRO_AXIS_CHANNEL);
  predict->groups = (predict->stations + predict->kernels->lanes - 1) / predict->kernels->lanes;
  predict->bands = (predict->stations + BAND - 1) / BAND;
  gsize fit = PHASORS_BYTES / (2 * sizeof(double) * padded(predict));
  predict->sources_at_once = (guint)CLAMP(fit, LEAST_SOURCES, MAX(LEAST_SOURCES, config->sky->n));
  find_polarised(predict);
  predict->scratch = astro_scratch_new(scratch_doubles(predict) * sizeof(double));
  predict->directions = g_new(double, 3 * (gsize)config->sky->n * config->points);
  place(predict);
  aim_at_sky(predict);
  return predict;
}

void astro_predict_free(AstroPredict *predict)
{
  astro_track_free(predict->track);
  astro_finish_free(predict->finish);
  astro_scratch_free(predict->scratch);
  astro_observation_unref(predict->config.observation);
  g_free(predict->positions);
  g_free(predict->lmn);
  g_free(predict->polarised);
  g_free(predict->directions);
  g_free(predict);
}

guint32 astro_predict_full(const AstroPredict *predict)
{
  return astro_finish_full(predict->finish);
}

/* ---- an integration ---- */

static double frequency_of(const AstroPredict *predict, guint channel, guint point)
{
  const AstroStream *stream = &predict->config.stream;
  double width = stream->bandwidth / predict->channels;
  double within = (point + 0.5) / predict->config.points;
  return stream->frequency - stream->bandwidth / 2 + (channel + within) * width;
}

/* The width over which lines are averaged, so that all points of a channel cover it. */
static double point_width(const AstroPredict *predict)
{
  return predict->config.stream.bandwidth / predict->channels / predict->config.points;
}

/* The square root of a source's flux. */
static double amplitude_of(const AstroPredict *predict, const AstroSource *source, double frequency,
                           double ratio)
{
  double stokes[4];
  if (source->n_lines) {
    astro_source_stokes(source, predict->config.stream.frequency, frequency, point_width(predict),
                        stokes);
    return sqrt(stokes[0]);
  }
  const double amplitude = sqrt(source->flux);
  return source->spectral_index != 0 ? amplitude * exp(0.5 * source->spectral_index * ratio)
                                     : amplitude;
}

static void aim_source(const double *direction, double frequency, double *to)
{
  for (guint k = 0; k < 3; k++)
    to[k] = frequency * direction[k];
}

/* A visibility is the product of two phasors, so each takes the square root of the flux, and of its
 * weight in a mean. */
static void prepare_sources(const AstroPredict *predict, const double *directions, guint first,
                            guint n, double frequency, Parts *parts)
{
  const AstroSource *source = predict->config.sky->sources + first;
  double ratio = log(frequency / predict->config.stream.frequency);
  double share = 1.0 / predict->config.points;
  for (guint i = 0; i < n; i++, source++) {
    aim_source(directions + 3 * (gsize)(first + i), frequency, parts->directions + 3 * (gsize)i);
    parts->amplitudes[i] = share * amplitude_of(predict, source, frequency, ratio);
  }
}

static void make_phasors(const AstroPredict *predict, guint to_group, guint n, const Parts *parts)
{
  guint lanes = predict->kernels->lanes;
  gsize group = 2 * (gsize)n * lanes;
  for (guint g = 0; g < to_group; g++)
    predict->kernels->phasors(predict->positions + (gsize)3 * g * lanes, parts->directions,
                              parts->amplitudes, n, parts->phasors + g * group);
}

static void add_sources(const AstroPredict *predict, guint from_group, guint to_group, guint n,
                        const Parts *parts)
{
  const AstroPredictKernels *kernels = predict->kernels;
  guint lanes = kernels->lanes;
  gsize stride = padded(predict), group = 2 * (gsize)n * lanes;
  make_phasors(predict, to_group, n, parts);
  for (guint a = from_group; a < to_group; a++)
    for (guint b = 0; b <= a; b++) {
      gsize at = (a - from_group) * lanes * stride + b * lanes;
      kernels->products(parts->phasors + a * group, parts->phasors + b * group, n,
                        parts->re[0] + at, parts->im[0] + at, stride);
    }
}

/* ---- polarised sources ---- */

/* Stokes parameters may be negative, so the phasors of only one of the two stations take them. */
static void weigh(const AstroPredict *predict, const double *weights, guint n, const double *from,
                  double *to)
{
  const guint lanes = predict->kernels->lanes;
  for (guint i = 0; i < n; i++)
    for (guint k = 0; k < 2 * lanes; k++)
      to[(gsize)2 * lanes * i + k] = weights[i] * from[(gsize)2 * lanes * i + k];
}

/* weights: [source][Stokes parameter, in order]. */
static void add_polarised(const AstroPredict *predict, guint from_group, guint to_group, guint n,
                          double (*weights)[3], const Parts *parts)
{
  const AstroPredictKernels *kernels = predict->kernels;
  guint lanes = kernels->lanes;
  gsize stride = padded(predict), group = 2 * (gsize)n * lanes;
  make_phasors(predict, to_group, n, parts);
  for (guint which = 1; which < predict->n_sums; which++) {
    double own[LEAST_SOURCES];
    for (guint i = 0; i < n; i++)
      own[i] = weights[i][which - 1];
    for (guint a = from_group; a < to_group; a++) {
      weigh(predict, own, n, parts->phasors + a * group, parts->weighted);
      for (guint b = 0; b <= a; b++) {
        gsize at = (a - from_group) * lanes * stride + b * lanes;
        kernels->products(parts->weighted, parts->phasors + b * group, n, parts->re[which] + at,
                          parts->im[which] + at, stride);
      }
    }
  }
}

/* Sums of Q, U and V of all polarised sources at one point of a channel. */
static void work_polarised(const AstroPredict *predict, const double *directions, guint from_group,
                           guint to_group, double frequency, Parts *parts)
{
  const guint points = predict->config.points;
  const double share = 1.0 / points / points;
  for (guint done = 0, n; done < predict->n_polarised && !astro_is_given_up(); done += n) {
    double weights[LEAST_SOURCES][3];
    n = MIN(LEAST_SOURCES, predict->n_polarised - done);
    for (guint i = 0; i < n; i++) {
      const guint number = predict->polarised[done + i];
      double stokes[4];
      astro_source_stokes(&predict->config.sky->sources[number], predict->config.stream.frequency,
                          frequency, point_width(predict), stokes);
      for (guint k = 0; k < 3; k++)
        weights[i][k] = share * stokes[predict->order[k]];
      aim_source(directions + 3 * (gsize)number, frequency, parts->directions + 3 * (gsize)i);
      parts->amplitudes[i] = 1;
    }
    add_polarised(predict, from_group, to_group, n, weights, parts);
  }
}

/* Computes all baselines of a band of stations with those before them, in one channel. */
static void work(gpointer data, guint64 task)
{
  const AstroPredict *predict = data;
  const AstroPredictConfig *config = &predict->config;
  guint channel = (guint)(task / predict->bands), lanes = predict->kernels->lanes;
  guint first = (guint)(task % predict->bands) * BAND;
  guint last = MIN(first + BAND, predict->stations);
  guint to_group = (last + lanes - 1) / lanes;
  double *block = astro_scratch_take(predict->scratch);
  Parts parts = parts_of(predict, block);

  memset(block, 0, 2 * predict->n_sums * BAND * padded(predict) * sizeof(double));
  for (guint point = 0; point < config->points * config->points; point++) {
    double frequency = frequency_of(predict, channel, point % config->points);
    const double *directions =
        predict->directions + 3 * (gsize)config->sky->n * (point / config->points);
    for (guint done = 0, n; done < config->sky->n && !astro_is_given_up(); done += n) {
      n = MIN(predict->sources_at_once, config->sky->n - done);
      prepare_sources(predict, directions, done, n, frequency, &parts);
      add_sources(predict, first / lanes, to_group, n, &parts);
    }
    work_polarised(predict, directions, first / lanes, to_group, frequency, &parts);
  }
  AstroFinishSums sums = { .stride = padded(predict) };
  for (guint i = 0; i < predict->n_sums; i++) {
    sums.re[i] = parts.re[i];
    sums.im[i] = parts.im[i];
  }
  astro_finish_rows(predict->finish, &predict->block, channel, first, last, &sums);
  astro_scratch_give(predict->scratch, block);
}

/* Sets the directions of the sources in the frame of the Earth, at every point in time of the
 * integration. */
static void aim(AstroPredict *predict, gint64 start_ns, gint64 duration_ns)
{
  guint points = predict->config.points;
  double *to = predict->directions;
  for (guint point = 0; point < points; point++) {
    double axes[3][3];
    astro_track_axes(predict->track,
                     start_ns + (gint64)gst_util_uint64_scale((guint64)duration_ns, 2 * point + 1,
                                                              2 * (guint64)points),
                     axes);
    for (guint i = 0; i < predict->config.sky->n; i++, to += 3) {
      const double *lmn = predict->lmn + 3 * (gsize)i;
      for (guint k = 0; k < 3; k++)
        to[k] = lmn[0] * axes[0][k] + lmn[1] * axes[1][k] + lmn[2] * axes[2][k];
    }
  }
}

void astro_predict_fill(AstroPredict *predict, guint64 number, gint64 start_ns, gint64 duration_ns,
                        gpointer out, guint32 *counts)
{
  predict->block = (AstroFinishBlock){ .number = number, .out = out, .counts = counts };
  astro_finish_begin(predict->finish, number);
  aim(predict, start_ns, duration_ns);
  astro_parallel((guint64)predict->channels * predict->bands, predict->config.threads, work,
                 predict);
}
