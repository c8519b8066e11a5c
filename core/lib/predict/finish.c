/* Gains, noise, losses and the output format of simulated visibilities. */
#include "config.h"
#include "core/lib/predict/finish.h"

#include <math.h>

#include "core/lib/predict/errors.h"
#include "core/lib/sky/streams.h"

struct AstroFinish {
  guint stations, pols;
  gsize baselines;
  gboolean is_double;
  double samples; /* averaged in a visibility */
  double noise, loss;
  guint64 seed;
  complex double *gains; /* [station][pol]; NULL: all are 1 */
  guint8 *pieces; /* of each station, in the integration in progress; NULL: nothing is lost */
  const AstroSkyKernels *kernels;
};

/* Noise of unit variance for the values of a band of rows, one tile at a time. */
typedef struct {
  const AstroFinish *finish;
  guint64 index, number;
  guint tiles, used;
  float re[ASTRO_NOISE_TILE], im[ASTRO_NOISE_TILE];
} Noise;

AstroFinish *astro_finish_new(const AstroPredictConfig *config, GError **error)
{
  const AstroStream *stream = &config->stream;
  double samples = stream->bandwidth / astro_stream_extent(stream, ASTRO_AXIS_CHANNEL) *
                   stream->rate_d / stream->rate_n;
  if (samples > G_MAXUINT32) {
    g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
                "%g samples in a visibility, expected at most %u: more channels or shorter "
                "integrations have fewer",
                samples, G_MAXUINT32);
    return NULL;
  }
  AstroFinish *finish = g_new0(AstroFinish, 1);
  finish->stations = config->observation->n_stations;
  finish->pols = (guint)astro_stream_extent(stream, ASTRO_AXIS_POL);
  finish->baselines = astro_stream_extent(stream, ASTRO_AXIS_BASELINE);
  finish->is_double = stream->format == ASTRO_FORMAT_CF64LE;
  finish->samples = samples;
  finish->noise = config->noise;
  finish->loss = config->loss;
  finish->seed = config->seed;
  finish->kernels = astro_sky_kernels();
  if (config->gain_error > 0 || config->phase_error > 0)
    finish->gains = astro_predict_gains(finish->stations, finish->pols, config->gain_error,
                                        config->phase_error, config->seed);
  if (config->loss > 0)
    finish->pieces = g_new(guint8, finish->stations);
  return finish;
}

void astro_finish_free(AstroFinish *finish)
{
  g_free(finish->gains);
  g_free(finish->pieces);
  g_free(finish);
}

guint32 astro_finish_full(const AstroFinish *finish)
{
  return (guint32)MAX(rint(finish->samples), 1);
}

void astro_finish_begin(AstroFinish *finish, guint64 number)
{
  if (finish->pieces)
    astro_predict_losses(finish->stations, number, finish->loss, finish->seed, finish->pieces);
}

static guint pieces_of(const AstroFinish *finish, guint i, guint j)
{
  if (!finish->pieces)
    return ASTRO_PREDICT_PIECES;
  return (guint)__builtin_popcount(finish->pieces[i] & finish->pieces[j]);
}

static complex double draw(Noise *noise)
{
  const AstroFinish *finish = noise->finish;
  if (noise->used == ASTRO_NOISE_TILE) {
    /* Tiles of a band differ in the high bits, which the number of an integration never reaches. */
    guint64 tile = noise->number ^ (guint64)noise->tiles++ << 44;
    finish->kernels->noise(
        astro_noise_key(finish->seed, ASTRO_NOISE_OF_VISIBILITY, noise->index, (gint64)tile), 1,
        noise->re, noise->im);
    noise->used = 0;
  }
  guint at = noise->used++;
  return noise->re[at] + I * (double)noise->im[at];
}

/* Products XX, XY, YX, YY or only XX; the matrix of an autocorrelation is its own adjoint. */
static void add_noise(const AstroFinish *finish, Noise *noise, gboolean is_auto, guint pieces,
                      complex double *products)
{
  guint pols = finish->pols;
  double rms = finish->noise / sqrt(finish->samples * pieces / ASTRO_PREDICT_PIECES);
  for (guint p = 0; p < pols; p++)
    for (guint q = 0; q < pols; q++) {
      complex double z = rms * draw(noise);
      if (!is_auto)
        products[p * pols + q] += z;
      else if (p == q)
        products[p * pols + q] += finish->noise + M_SQRT2 * creal(z);
      else if (p < q)
        products[p * pols + q] += z;
      else
        products[p * pols + q] += conj(products[q * pols + p]);
    }
}

static void apply_gains(const AstroFinish *finish, guint i, guint j, complex double *products)
{
  guint pols = finish->pols;
  for (guint p = 0; p < pols; p++)
    for (guint q = 0; q < pols; q++)
      products[p * pols + q] *= finish->gains[i * pols + p] * conj(finish->gains[j * pols + q]);
}

static void store(const AstroFinish *finish, gpointer out, gsize at, const complex double *products)
{
  guint n = finish->pols * finish->pols;
  for (guint k = 0; k < n; k++)
    if (finish->is_double)
      ((complex double *)out)[at * n + k] = products[k];
    else
      ((complex float *)out)[at * n + k] = (complex float)products[k];
}

static complex double sum_of(const AstroFinishSums *sums, guint which, gsize at, gboolean is_auto)
{
  /* The expansion of CMPLX, which the C library hides from clang. */
  return __builtin_complex(sums->re[which][at], is_auto ? 0 : sums->im[which][at]);
}

/* The coherency of both polarisations, or of the only one; at: where its sums are. */
static void take_sky(const AstroFinish *finish, const AstroFinishSums *sums, gsize at,
                     gboolean is_auto, complex double products[4])
{
  const complex double mean = sum_of(sums, 0, at, is_auto);
  products[0] = mean;
  if (finish->pols == 2)
    products[3] = mean;
  if (!sums->re[1])
    return;
  const complex double more = sum_of(sums, 1, at, is_auto);
  products[0] += more;
  if (finish->pols == 2) {
    const complex double c = sum_of(sums, 2, at, is_auto), s = sum_of(sums, 3, at, is_auto);
    products[1] = c + I * s;
    products[2] = c - I * s;
    products[3] -= more;
  }
}

static void finish_row(const AstroFinish *finish, const AstroFinishBlock *block, Noise *noise,
                       gsize row, guint station, const AstroFinishSums *sums, gsize at)
{
  for (guint j = 0; j <= station; j++) {
    complex double products[4] = { 0 };
    guint pieces = pieces_of(finish, station, j);
    if (pieces)
      take_sky(finish, sums, at + j, j == station, products);
    if (finish->gains)
      apply_gains(finish, station, j, products);
    if (finish->noise > 0 && pieces)
      add_noise(finish, noise, j == station, pieces, products);
    store(finish, block->out, row + j, products);
    if (block->counts)
      block->counts[row + j] =
          (guint32)((guint64)astro_finish_full(finish) * pieces / ASTRO_PREDICT_PIECES);
  }
}

void astro_finish_rows(const AstroFinish *finish, const AstroFinishBlock *block, guint channel,
                       guint first, guint last, const AstroFinishSums *sums)
{
  Noise noise = { .finish = finish,
                  .index = (guint64)channel * finish->stations + first,
                  .number = block->number,
                  .used = ASTRO_NOISE_TILE };
  for (guint i = first; i < last; i++)
    finish_row(finish, block, &noise, finish->baselines * channel + (gsize)i * (i + 1) / 2, i, sums,
               (i - first) * sums->stride);
}
