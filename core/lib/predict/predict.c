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

  /* of the integration in progress */
  AstroFinishBlock block;
  double *directions; /* [point in time][source][3], in the frame of the Earth */
};

/* The parts of a block of scratch memory; sums have a row of all stations, padded, for each station
 * of a band. */
typedef struct {
  double *re, *im, *phasors, *directions, *amplitudes;
} Parts;

static gsize padded(const AstroPredict *predict)
{
  return (gsize)predict->groups * predict->kernels->lanes;
}

static gsize scratch_doubles(const AstroPredict *predict)
{
  gsize n = predict->sources_at_once;
  return 2 * BAND * padded(predict) + 2 * n * padded(predict) + 4 * n;
}

static Parts parts_of(const AstroPredict *predict, double *block)
{
  gsize sums = BAND * padded(predict), n = predict->sources_at_once;
  Parts parts = { .re = block, .im = block + sums, .phasors = block + 2 * sums };
  parts.directions = parts.phasors + 2 * n * padded(predict);
  parts.amplitudes = parts.directions + 3 * n;
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

/* A visibility is the product of two phasors, so each takes the square root of the flux, and of its
 * weight in a mean. */
static void prepare_sources(const AstroPredict *predict, const double *directions, guint first,
                            guint n, double frequency, Parts *parts)
{
  const AstroSource *source = predict->config.sky->sources + first;
  double ratio = log(frequency / predict->config.stream.frequency);
  double share = 1.0 / predict->config.points;
  for (guint i = 0; i < n; i++, source++) {
    for (guint k = 0; k < 3; k++)
      parts->directions[3 * i + k] = frequency * directions[3 * (gsize)(first + i) + k];
    parts->amplitudes[i] = share * sqrt(source->flux);
    if (source->spectral_index != 0)
      parts->amplitudes[i] *= exp(0.5 * source->spectral_index * ratio);
  }
}

static void add_sources(const AstroPredict *predict, guint from_group, guint to_group, guint n,
                        const Parts *parts)
{
  const AstroPredictKernels *kernels = predict->kernels;
  guint lanes = kernels->lanes;
  gsize stride = padded(predict), group = 2 * (gsize)n * lanes;
  for (guint g = 0; g < to_group; g++)
    kernels->phasors(predict->positions + (gsize)3 * g * lanes, parts->directions,
                     parts->amplitudes, n, parts->phasors + g * group);
  for (guint a = from_group; a < to_group; a++)
    for (guint b = 0; b <= a; b++) {
      gsize at = (a - from_group) * lanes * stride + b * lanes;
      kernels->products(parts->phasors + a * group, parts->phasors + b * group, n, parts->re + at,
                        parts->im + at, stride);
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

  memset(parts.re, 0, BAND * padded(predict) * sizeof(double));
  memset(parts.im, 0, BAND * padded(predict) * sizeof(double));
  for (guint point = 0; point < config->points * config->points; point++) {
    double frequency = frequency_of(predict, channel, point % config->points);
    const double *directions =
        predict->directions + 3 * (gsize)config->sky->n * (point / config->points);
    for (guint done = 0, n; done < config->sky->n && !astro_is_given_up(); done += n) {
      n = MIN(predict->sources_at_once, config->sky->n - done);
      prepare_sources(predict, directions, done, n, frequency, &parts);
      add_sources(predict, first / lanes, to_group, n, &parts);
    }
  }
  astro_finish_rows(predict->finish, &predict->block, channel, first, last, parts.re, parts.im,
                    padded(predict));
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
