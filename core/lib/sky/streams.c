/* Makes and keeps the signals of the sources. */
#include "config.h"
#include "core/lib/sky/streams.h"
#include "core/kit/split-mix.h"
#include "core/lib/sky/source-filter.h"

#include <math.h>
#include <string.h>

#include "core/backend/threads.h"

#define TILE ASTRO_NOISE_TILE
/* Taps on each side of the filter for a spectrum; more if the band is narrower than the rate, so
 * that the response falls to zero within a twelfth of the band. */
#define SHAPE_REACH 24
#define BAND_REACH 48
#define SHAPE_POINTS 1024 /* of the integral for the taps */

typedef struct {
  gint reach;
  float re[2 * BAND_REACH + 1], im[2 * BAND_REACH + 1];
} Shape;

struct AstroStreams {
  AstroStreamsConfig config;
  const AstroSkyKernels *kernels;
  gint64 first; /* tile number of the window's start */
  gboolean filled;
  float *samples;        /* sources x pols x (re, im) x window x TILE */
  Shape **shapes;        /* of each source; NULL: flat over the whole rate */
  Shape *flat;           /* over the band, if that is narrower than the rate */
  AstroFilter **filters; /* of each source; NULL: it is plain */
  guint *filtered;       /* the sources that have one */
  guint n_filtered;

  gsize fresh_from, fresh_to; /* tiles of the window to be made */
};

guint64 astro_noise_key(guint64 seed, AstroNoiseKind kind, guint64 index, gint64 tile)
{
  guint64 key = astro_split_mix_of(seed + ASTRO_SPLIT_MIX_STEP);
  key = astro_split_mix_of(key ^ ((guint64)kind << 56 | index)) + ASTRO_SPLIT_MIX_STEP;
  return astro_split_mix_of(key ^ (guint64)tile);
}

/* The rate of real samples is twice the bandwidth; that of complex ones is the bandwidth, up to
 * rounding. */
static gboolean is_narrow(const AstroStreamsConfig *config)
{
  return config->bandwidth < 0.75 * config->rate;
}

/* Taps that are zero up to rounding are set to zero and then cost nothing: three quarters of those
 * of a flat half of the rate. */
static float tap_of(double value)
{
  return fabs(value) < 1e-12 ? 0 : (float)value;
}

/* Taps whose response is (1 + x of the band's centre)^(index / 2) at x of the rate, so that the
 * power has the spectral index, and zero outside a narrow band; a Hann window keeps ringing from
 * the band's edges out of the band. */
static Shape *shape_new(const AstroStreamsConfig *config, double index)
{
  Shape *shape = g_new0(Shape, 1);
  const gboolean narrow = is_narrow(config);
  const double part = narrow ? config->bandwidth / config->rate : 1;
  shape->reach = narrow ? BAND_REACH : SHAPE_REACH;
  for (gint k = -shape->reach; k <= shape->reach; k++) {
    double re = 0, im = 0, window = 0.5 + 0.5 * cos(G_PI * k / (shape->reach + 1));
    for (guint i = 0; i < SHAPE_POINTS; i++) {
      double x = ((i + 0.5) / SHAPE_POINTS - 0.5) * part;
      double response = pow(1 + x * config->rate / config->frequency, index / 2) * sqrt(part);
      re += response * cos(2 * G_PI * x * k) / SHAPE_POINTS;
      im += response * sin(2 * G_PI * x * k) / SHAPE_POINTS;
    }
    shape->re[shape->reach + k] = tap_of(re * window);
    shape->im[shape->reach + k] = tap_of(im * window);
  }
  return shape;
}

static gboolean open_filters(AstroStreams *streams, GError **error)
{
  const AstroStreamsConfig *config = &streams->config;
  const AstroSourceBand band = {
    .rate = config->rate,
    .frequency = config->frequency,
    .bandwidth = config->bandwidth,
    .part = is_narrow(config) ? config->bandwidth / config->rate : 1,
    .pols = config->pols,
    .basis = config->basis,
  };
  streams->filters = g_new0(AstroFilter *, config->sky->n);
  streams->filtered = g_new(guint, config->sky->n);
  for (guint i = 0; i < config->sky->n; i++) {
    const AstroSource *source = &config->sky->sources[i];
    if (astro_source_is_plain(source))
      continue;
    if (!(streams->filters[i] = astro_source_filter_new(source, &band, error)))
      return FALSE;
    streams->filtered[streams->n_filtered++] = i;
  }
  return TRUE;
}

AstroStreams *astro_streams_new(const AstroStreamsConfig *config, GError **error)
{
  const AstroSky *sky = config->sky;
  gsize bytes = 2 * TILE * sizeof(float);
  float *samples = NULL;
  if (g_size_checked_mul(&bytes, bytes, (gsize)sky->n * config->pols) &&
      g_size_checked_mul(&bytes, bytes, config->window_tiles))
    samples = g_try_malloc(MAX(bytes, 1));
  if (!samples) {
    g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
                "no memory for the signals of %u sources over %" G_GSIZE_FORMAT
                " samples: use fewer sources, a smaller array or a smaller bandwidth",
                sky->n, config->window_tiles * TILE);
    return NULL;
  }
  g_autoptr(AstroStreams) streams = g_new0(AstroStreams, 1);
  streams->config = *config;
  streams->kernels = astro_sky_kernels();
  streams->samples = samples;
  streams->shapes = g_new0(Shape *, sky->n);
  streams->flat = is_narrow(config) ? shape_new(config, 0) : NULL;
  for (guint i = 0; i < sky->n; i++) {
    const double index = sky->sources[i].spectral_index;
    if (astro_source_is_plain(&sky->sources[i]))
      streams->shapes[i] = index != 0 ? shape_new(config, index) : streams->flat;
  }
  return open_filters(streams, error) ? g_steal_pointer(&streams) : NULL;
}

void astro_streams_free(AstroStreams *streams)
{
  for (guint i = 0; i < streams->config.sky->n; i++)
    if (streams->shapes[i] != streams->flat)
      g_free(streams->shapes[i]);
  for (guint i = 0; streams->filters && i < streams->config.sky->n; i++)
    g_clear_pointer(&streams->filters[i], astro_filter_free);
  g_free(streams->filters);
  g_free(streams->filtered);
  g_free(streams->flat);
  g_free(streams->shapes);
  g_free(streams->samples);
  g_free(streams);
}

static AstroSignal signal_of(const AstroStreams *streams, guint64 stream, gsize sample)
{
  gsize length = streams->config.window_tiles * TILE;
  float *re = streams->samples + 2 * stream * length + sample;
  return (AstroSignal){ re, re + length };
}

AstroSignal astro_streams_at(const AstroStreams *streams, guint source, guint pol, gint64 sample)
{
  return signal_of(streams, (guint64)source * streams->config.pols + pol,
                   (gsize)(sample - streams->first * TILE));
}

static void make_noise(const AstroStreams *streams, guint64 stream, gint64 tile, float *re,
                       float *im)
{
  streams->kernels->noise(
      astro_noise_key(streams->config.seed, ASTRO_NOISE_OF_SOURCE, stream, tile), 1, re, im);
}

/* The filter of a tile of shaped noise reaches into the noise of its neighbours. */
static void make_shaped(const AstroStreams *streams, const Shape *shape, guint64 stream,
                        gint64 tile, AstroSignal out)
{
  float re[3 * TILE], im[3 * TILE], *restrict sum_re = out.re, *restrict sum_im = out.im;
  for (gint64 i = 0; i < 3; i++)
    make_noise(streams, stream, tile - 1 + i, re + i * TILE, im + i * TILE);
  memset(sum_re, 0, TILE * sizeof *sum_re);
  memset(sum_im, 0, TILE * sizeof *sum_im);
  for (gint k = 0; k <= 2 * shape->reach; k++) {
    const float *from_re = &re[TILE + shape->reach - k], *from_im = &im[TILE + shape->reach - k];
    const float tap_re = shape->re[k], tap_im = shape->im[k];
    if (tap_re != 0)
      for (guint n = 0; n < TILE; n++) {
        sum_re[n] += tap_re * from_re[n];
        sum_im[n] += tap_re * from_im[n];
      }
    if (tap_im != 0)
      for (guint n = 0; n < TILE; n++) {
        sum_re[n] -= tap_im * from_im[n];
        sum_im[n] += tap_im * from_re[n];
      }
  }
}

static void make_tile(gpointer data, guint64 task)
{
  AstroStreams *streams = data;
  gsize fresh = streams->fresh_to - streams->fresh_from;
  guint64 stream = task / fresh;
  gsize at = streams->fresh_from + (gsize)(task % fresh);
  if (streams->filters[stream / streams->config.pols])
    return;
  const Shape *shape = streams->shapes[stream / streams->config.pols];
  AstroSignal out = signal_of(streams, stream, at * TILE);
  if (shape)
    make_shaped(streams, shape, stream, streams->first + (gint64)at, out);
  else
    make_noise(streams, stream, streams->first + (gint64)at, out.re, out.im);
}

typedef struct {
  const AstroStreams *streams;
  guint source;
} Source;

/* The noise of a pulse is as loud as the pulse. */
static gboolean shape(const AstroPulse *pulse, double rate, gint64 tile, float *re, float *im)
{
  float gains[TILE];
  const gboolean any = astro_pulse_shape(pulse, rate, tile * TILE, TILE, gains);
  for (guint i = 0; i < TILE; i++) {
    re[i] *= gains[i];
    im[i] *= gains[i];
  }
  return any;
}

static gboolean make_source_noise(gconstpointer data, guint pol, gint64 tile, float *re, float *im)
{
  const Source *of = data;
  const AstroPulse *pulse = of->streams->config.sky->sources[of->source].pulse;
  make_noise(of->streams, (guint64)of->source * of->streams->config.pols + pol, tile, re, im);
  return !pulse || shape(pulse, of->streams->config.rate, tile, re, im);
}

/* All fresh tiles of a source that has a filter. */
static void make_filtered(gpointer data, guint64 task)
{
  const AstroStreams *streams = data;
  const Source of = { streams, streams->filtered[task] };
  const guint64 stream = (guint64)of.source * streams->config.pols;
  for (gsize at = streams->fresh_from; at < streams->fresh_to && !astro_is_given_up(); at++) {
    AstroSignal out[2];
    for (guint pol = 0; pol < streams->config.pols; pol++)
      out[pol] = signal_of(streams, stream + pol, at * TILE);
    astro_filter_tile(streams->filters[of.source], streams->first + (gint64)at, make_source_noise,
                      &of, out);
  }
}

/* Keeps the tiles that the old window and the new one share. */
void astro_streams_seek(AstroStreams *streams, gint64 first_tile, gsize tiles)
{
  gint64 step = first_tile - streams->first;
  guint64 n_streams = (guint64)streams->config.sky->n * streams->config.pols;
  gsize kept = 0;
  if (streams->filled && step >= 0 && (gsize)step + tiles <= streams->config.window_tiles)
    return;
  if (streams->filled && step > 0 && step < (gint64)streams->config.window_tiles) {
    kept = streams->config.window_tiles - (gsize)step;
    for (guint64 i = 0; i < n_streams; i++) {
      AstroSignal to = signal_of(streams, i, 0), from = signal_of(streams, i, (gsize)step * TILE);
      memmove(to.re, from.re, kept * TILE * sizeof(float));
      memmove(to.im, from.im, kept * TILE * sizeof(float));
    }
  }
  streams->first = first_tile;
  streams->filled = TRUE;
  streams->fresh_from = kept;
  streams->fresh_to = streams->config.window_tiles;
  astro_parallel(n_streams * (streams->config.window_tiles - kept), streams->config.threads,
                 make_tile, streams);
  astro_parallel(streams->n_filtered, streams->config.threads, make_filtered, streams);
  if (astro_is_given_up()) /* some tiles may not have been made */
    streams->filled = FALSE;
}
