/* Filters by Fourier transforms of overlapping stretches of noise. Stretches begin at multiples of
 * a length that depends only on the filter, so that a sample never depends on what was asked for
 * before. */
#include "config.h"
#include "core/lib/sky/filter.h"
#include "core/lib/sky/fourier.h"

#include <math.h>
#include <string.h>

#define TILE ASTRO_NOISE_TILE
#define SETTLED                                                                                    \
  256 /* samples beside the spread in which ringing from the band's edges dies away                \
       */

struct AstroFilter {
  AstroFilterConfig config;
  gsize n;             /* of a transform, samples */
  gint64 reach, tiles; /* tiles before and after a stretch that its samples depend on; in it */
  AstroFourier *fourier;
  float *response[4]; /* [n]; NULL: it does not mix */
  float *turn[2];     /* real and imaginary parts of the phase's factor, [n]; NULL: there is none */
  float *room;        /* [pol][re, im][n], and 2 n as work: a stretch after its reach */
  gint64 stretch;     /* the number of the one in room */
  gboolean has_stretch;
};

static AstroSignal part_of(const AstroFilter *filter, guint pol)
{
  float *re = filter->room + 2 * pol * filter->n;
  return (AstroSignal){ re, re + filter->n };
}

static float *work_of(const AstroFilter *filter)
{
  return filter->room + 2 * filter->config.pols * filter->n;
}

/* ---- the response ---- */

/* The offset of a bin from the band's centre, in parts of the rate. */
static double offset_of(const AstroFilter *filter, gsize bin)
{
  const gsize n = filter->n;
  return ((double)bin - (bin < n / 2 ? 0 : (double)n)) / (double)n;
}

static void sample_response(const AstroFilter *filter)
{
  const AstroFilterConfig *config = &filter->config;
  const guint components = config->mixes ? 4 : 1;
  const double in_band = sqrt(1 / config->part);
  for (gsize k = 0; k < filter->n; k++) {
    const double x = offset_of(filter, k);
    double values[4] = { 0 };
    if (fabs(x) <= config->part / 2)
      config->response(config->data, config->frequency + x * config->rate, values);
    for (guint c = 0; c < components; c++)
      filter->response[c][k] = (float)(in_band * values[c]);
  }
}

/* The weight of a tap: 1 for half of the reach and then falling to 0, which keeps ringing from the
 * band's edges short. */
static float taper(gsize tap, gsize reach)
{
  const double x = 2.0 * (double)tap / (double)reach - 1;
  return x <= 0 ? 1 : x >= 1 ? 0 : (float)(0.5 + 0.5 * cos(G_PI * x));
}

/* Samples before and after that a response of some seconds needs. */
static gsize reach_of(const AstroFilterConfig *config, double seconds)
{
  return 2 * ((gsize)ceil(seconds * config->rate) + SETTLED);
}

/* Shortens the taps of a response, which are its transform, to a reach. */
static void limit(const AstroFilter *filter, AstroSignal taps, gsize reach)
{
  const gsize n = filter->n;
  astro_fourier_run(filter->fourier, taps.im, taps.re, work_of(filter));
  for (gsize k = 0; k < n; k++) {
    const float weight = taper(MIN(k, n - k), reach) / (float)n;
    taps.re[k] *= weight;
    taps.im[k] *= weight;
  }
  astro_fourier_run(filter->fourier, taps.re, taps.im, work_of(filter));
}

/* The taper is the same for positive and negative times, so that a real response stays real. */
static void limit_response(const AstroFilter *filter, float *response)
{
  const gsize n = filter->n;
  const AstroSignal taps = part_of(filter, 0);
  memcpy(taps.re, response, n * sizeof *response);
  memset(taps.im, 0, n * sizeof *response);
  limit(filter, taps, reach_of(&filter->config, filter->config.spread));
  for (gsize k = 0; k < n; k++) /* with the factor of the transforms of signals */
    response[k] = taps.re[k] / (float)n;
}

/* Beyond the band the phase stays as it is at its edge, which nothing is left to notice. */
static void make_turn(const AstroFilter *filter)
{
  const AstroFilterConfig *config = &filter->config;
  const AstroSignal turn = { filter->turn[0], filter->turn[1] };
  for (gsize k = 0; k < filter->n; k++) {
    const double x = CLAMP(offset_of(filter, k), -config->part / 2, config->part / 2);
    const double turns = config->turns(config->data, config->frequency + x * config->rate);
    const double angle = 2 * G_PI * (turns - floor(turns));
    turn.re[k] = (float)cos(angle);
    turn.im[k] = (float)sin(angle);
  }
  limit(filter, turn, reach_of(config, config->delay));
}

AstroFilter *astro_filter_new(const AstroFilterConfig *config)
{
  g_autoptr(AstroFilter) filter = g_new0(AstroFilter, 1);
  filter->config = *config;
  gsize reach = reach_of(config, config->spread);
  if (config->turns)
    reach += reach_of(config, config->delay);
  filter->reach = (gint64)((reach + TILE - 1) / TILE);
  for (filter->n = TILE; filter->n < 6 * (gsize)filter->reach * TILE;)
    filter->n *= 2;
  filter->tiles = (gint64)(filter->n / TILE) - 2 * filter->reach;
  const guint components = config->mixes ? 4 : 1;
  filter->room = g_try_new(float, (2 * config->pols + 2) * filter->n);
  if (!filter->room)
    return NULL;
  for (guint c = 0; c < components; c++)
    if (!(filter->response[c] = g_try_new(float, filter->n)))
      return NULL;
  for (guint i = 0; config->turns && i < 2; i++)
    if (!(filter->turn[i] = g_try_new(float, filter->n)))
      return NULL;
  filter->fourier = astro_fourier_new(filter->n);
  sample_response(filter);
  for (guint c = 0; c < components; c++)
    limit_response(filter, filter->response[c]);
  if (config->turns)
    make_turn(filter);
  return g_steal_pointer(&filter);
}

void astro_filter_free(AstroFilter *filter)
{
  g_clear_pointer(&filter->fourier, astro_fourier_free);
  for (guint c = 0; c < G_N_ELEMENTS(filter->response); c++)
    g_free(filter->response[c]);
  g_free(filter->turn[0]);
  g_free(filter->turn[1]);
  g_free(filter->room);
  g_free(filter);
}

/* ---- signals ---- */

static void scale(const float *restrict by, AstroSignal x, gsize n)
{
  for (gsize k = 0; k < n; k++) {
    x.re[k] *= by[k];
    x.im[k] *= by[k];
  }
}

static void mix(const AstroFilter *filter, AstroSignal x, AstroSignal y)
{
  const float *const mean = filter->response[0], *const d = filter->response[1],
                     *const c = filter->response[2], *const s = filter->response[3];
  for (gsize k = 0; k < filter->n; k++) {
    const float more = mean[k] + d[k], less = mean[k] - d[k];
    const float x_re = x.re[k], x_im = x.im[k], y_re = y.re[k], y_im = y.im[k];
    x.re[k] = more * x_re + c[k] * y_re - s[k] * y_im;
    x.im[k] = more * x_im + c[k] * y_im + s[k] * y_re;
    y.re[k] = less * y_re + c[k] * x_re + s[k] * x_im;
    y.im[k] = less * y_im + c[k] * x_im - s[k] * x_re;
  }
}

static void turn(const AstroFilter *filter, AstroSignal x)
{
  const float *restrict c = filter->turn[0], *restrict s = filter->turn[1];
  for (gsize k = 0; k < filter->n; k++) {
    const float re = x.re[k], im = x.im[k];
    x.re[k] = c[k] * re - s[k] * im;
    x.im[k] = c[k] * im + s[k] * re;
  }
}

static gboolean fill_with_noise(AstroFilter *filter, AstroFilterNoise noise, gconstpointer data)
{
  const gint64 first = filter->stretch * filter->tiles - filter->reach;
  gboolean any = FALSE;
  for (guint pol = 0; pol < filter->config.pols; pol++) {
    const AstroSignal x = part_of(filter, pol);
    for (gsize t = 0; t < filter->n / TILE; t++)
      any |= noise(data, pol, first + (gint64)t, x.re + t * TILE, x.im + t * TILE);
  }
  return any;
}

static void make_stretch(AstroFilter *filter, AstroFilterNoise noise, gconstpointer data)
{
  const guint pols = filter->config.pols;
  if (!fill_with_noise(filter, noise, data))
    return;
  for (guint pol = 0; pol < pols; pol++) {
    const AstroSignal x = part_of(filter, pol);
    astro_fourier_run(filter->fourier, x.re, x.im, work_of(filter));
  }
  if (filter->config.mixes)
    mix(filter, part_of(filter, 0), part_of(filter, 1));
  for (guint pol = 0; pol < pols; pol++) {
    const AstroSignal x = part_of(filter, pol);
    if (!filter->config.mixes)
      scale(filter->response[0], x, filter->n);
    if (filter->config.turns)
      turn(filter, x);
    astro_fourier_run(filter->fourier, x.im, x.re, work_of(filter));
  }
}

static gint64 floor_of_ratio(gint64 a, gint64 b)
{
  return a / b - (a % b < 0);
}

void astro_filter_tile(AstroFilter *filter, gint64 tile, AstroFilterNoise noise, gconstpointer data,
                       const AstroSignal *out)
{
  const gint64 stretch = floor_of_ratio(tile, filter->tiles);
  if (!filter->has_stretch || stretch != filter->stretch) {
    filter->stretch = stretch;
    filter->has_stretch = TRUE;
    make_stretch(filter, noise, data);
  }
  const gsize at = (gsize)(tile - stretch * filter->tiles + filter->reach) * TILE;
  for (guint pol = 0; pol < filter->config.pols; pol++) {
    const AstroSignal from = part_of(filter, pol);
    memcpy(out[pol].re, from.re + at, TILE * sizeof(float));
    memcpy(out[pol].im, from.im + at, TILE * sizeof(float));
  }
}
