#include "config.h"
#include "core/sky/streams.h"
#include "core/split-mix.h"

#include <math.h>
#include <string.h>

#include "core/backend/threads.h"

#define TILE ASTRO_NOISE_TILE
#define SHAPE_REACH 24 /* taps on each side of a spectral shape */
#define SHAPE_TAPS (2 * SHAPE_REACH + 1)
#define SHAPE_POINTS 1024 /* of the integral that gives them */

typedef struct {
  float re[SHAPE_TAPS], im[SHAPE_TAPS];
} Shape;

struct AstroStreams {
  const AstroSkyKernels *kernels;
  guint n_sources, pols, threads;
  guint64 seed;
  gsize window; /* tiles */
  gint64 first; /* tile of the window */
  gboolean filled;
  float *samples; /* n_sources x pols x (re, im) x window x TILE */
  Shape **shapes; /* of each source; NULL: flat */

  gsize fresh_from, fresh_to; /* tiles of the window to make */
};

guint64 astro_noise_key(guint64 seed, AstroNoiseKind kind, guint64 index, gint64 tile)
{
  guint64 key = astro_split_mix_of(seed + ASTRO_SPLIT_MIX_STEP);
  key = astro_split_mix_of(key ^ ((guint64)kind << 56 | index)) + ASTRO_SPLIT_MIX_STEP;
  return astro_split_mix_of(key ^ (guint64)tile);
}

/* Taps whose response is (1 + x relative_bandwidth)^(index / 2) at x of the band, in power the
 * spectral index; a Hann window keeps the edges of the band from ringing into it. */
static Shape *shape_new(double index, double relative_bandwidth)
{
  Shape *shape = g_new0(Shape, 1);
  for (gint k = -SHAPE_REACH; k <= SHAPE_REACH; k++) {
    double re = 0, im = 0, window = 0.5 + 0.5 * cos(G_PI * k / (SHAPE_REACH + 1));
    for (guint i = 0; i < SHAPE_POINTS; i++) {
      double x = (i + 0.5) / SHAPE_POINTS - 0.5;
      double response = pow(1 + x * relative_bandwidth, index / 2);
      re += response * cos(2 * G_PI * x * k) / SHAPE_POINTS;
      im += response * sin(2 * G_PI * x * k) / SHAPE_POINTS;
    }
    shape->re[SHAPE_REACH + k] = (float)(re * window);
    shape->im[SHAPE_REACH + k] = (float)(im * window);
  }
  return shape;
}

AstroStreams *astro_streams_new(const AstroSky *sky, guint pols, guint64 seed, gsize window_tiles,
                                double relative_bandwidth, guint threads, GError **error)
{
  gsize bytes = 2 * TILE * sizeof(float);
  float *samples = NULL;
  if (g_size_checked_mul(&bytes, bytes, (gsize)sky->n * pols) &&
      g_size_checked_mul(&bytes, bytes, window_tiles))
    samples = g_try_malloc(MAX(bytes, 1));
  if (!samples) {
    g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
                "no memory for the signals of %u sources over %" G_GSIZE_FORMAT
                " samples: fewer sources, a smaller array or a smaller bandwidth need less",
                sky->n, window_tiles * TILE);
    return NULL;
  }
  AstroStreams *streams = g_new0(AstroStreams, 1);
  streams->kernels = astro_sky_kernels();
  streams->n_sources = sky->n;
  streams->pols = pols;
  streams->threads = threads;
  streams->seed = seed;
  streams->window = window_tiles;
  streams->samples = samples;
  streams->shapes = g_new0(Shape *, sky->n);
  for (guint i = 0; i < sky->n; i++)
    if (sky->sources[i].spectral_index != 0)
      streams->shapes[i] = shape_new(sky->sources[i].spectral_index, relative_bandwidth);
  return streams;
}

void astro_streams_free(AstroStreams *streams)
{
  for (guint i = 0; i < streams->n_sources; i++)
    g_free(streams->shapes[i]);
  g_free(streams->shapes);
  g_free(streams->samples);
  g_free(streams);
}

static AstroSignal signal_of(const AstroStreams *streams, guint64 stream, gsize sample)
{
  gsize length = streams->window * TILE;
  float *re = streams->samples + 2 * stream * length + sample;
  return (AstroSignal){ re, re + length };
}

AstroSignal astro_streams_at(const AstroStreams *streams, guint source, guint pol, gint64 sample)
{
  return signal_of(streams, (guint64)source * streams->pols + pol,
                   (gsize)(sample - streams->first * TILE));
}

static void make_noise(const AstroStreams *streams, guint64 stream, gint64 tile, float *re,
                       float *im)
{
  streams->kernels->noise(astro_noise_key(streams->seed, ASTRO_NOISE_OF_SOURCE, stream, tile), 1,
                          re, im);
}

/* A tile of shaped noise takes from the noise of its neighbours. */
static void make_shaped(const AstroStreams *streams, const Shape *shape, guint64 stream,
                        gint64 tile, AstroSignal out)
{
  float re[3 * TILE], im[3 * TILE];
  for (gint64 i = 0; i < 3; i++)
    make_noise(streams, stream, tile - 1 + i, re + i * TILE, im + i * TILE);
  for (guint n = 0; n < TILE; n++) {
    float sum_re = 0, sum_im = 0;
    for (guint k = 0; k < SHAPE_TAPS; k++) {
      gsize at = TILE + n + SHAPE_REACH - k;
      sum_re += shape->re[k] * re[at] - shape->im[k] * im[at];
      sum_im += shape->re[k] * im[at] + shape->im[k] * re[at];
    }
    out.re[n] = sum_re;
    out.im[n] = sum_im;
  }
}

static void make_tile(gpointer data, guint64 task)
{
  AstroStreams *streams = data;
  gsize fresh = streams->fresh_to - streams->fresh_from;
  guint64 stream = task / fresh;
  gsize at = streams->fresh_from + (gsize)(task % fresh);
  const Shape *shape = streams->shapes[stream / streams->pols];
  AstroSignal out = signal_of(streams, stream, at * TILE);
  if (shape)
    make_shaped(streams, shape, stream, streams->first + (gint64)at, out);
  else
    make_noise(streams, stream, streams->first + (gint64)at, out.re, out.im);
}

/* Keeps what the old window and the new one share. */
void astro_streams_seek(AstroStreams *streams, gint64 first_tile, gsize tiles)
{
  gint64 step = first_tile - streams->first;
  guint64 n_streams = (guint64)streams->n_sources * streams->pols;
  gsize kept = 0;
  if (streams->filled && step >= 0 && (gsize)step + tiles <= streams->window)
    return;
  if (streams->filled && step > 0 && step < (gint64)streams->window) {
    kept = streams->window - (gsize)step;
    for (guint64 i = 0; i < n_streams; i++) {
      AstroSignal to = signal_of(streams, i, 0), from = signal_of(streams, i, (gsize)step * TILE);
      memmove(to.re, from.re, kept * TILE * sizeof(float));
      memmove(to.im, from.im, kept * TILE * sizeof(float));
    }
  }
  streams->first = first_tile;
  streams->filled = TRUE;
  streams->fresh_from = kept;
  streams->fresh_to = streams->window;
  astro_parallel(n_streams * (streams->window - kept), streams->threads, make_tile, streams);
}
