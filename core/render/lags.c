/* Finds the lags of a band by a Fourier transform. */
#include "core/render/lags.h"
#include "core/lib/fft/planner.h"

#include <fftw3.h>
#include <math.h>
#include <string.h>

#define MOST_LAGS 1024 /* in a picture */
#define LEAST_LAGS 128 /* at least, so that a peak has a shape */
#define FINER                                                                                      \
  4 /* steps per lag, so that a peak between two steps keeps at least 0.97 of its height */
#define MOST_FINER 16

struct _AstroLags {
  guint64 channels;
  gint n; /* length of the transform */
  fftw_complex *data;
  fftw_plan plan;
};

static guint64 length_of(guint64 channels)
{
  guint64 finer = FINER;
  while (finer < MOST_FINER && finer * channels < LEAST_LAGS)
    finer *= 2;
  return finer * channels;
}

guint astro_lags_count(guint64 channels)
{
  return (guint)MIN(length_of(channels), MOST_LAGS);
}

AstroLags *astro_lags_new(guint64 channels)
{
  AstroLags *lags = g_new0(AstroLags, 1);
  lags->channels = channels;
  lags->n = (gint)length_of(channels);
  lags->data = fftw_alloc_complex((gsize)lags->n);
  astro_fft_planner_lock();
  lags->plan = fftw_plan_dft_1d(lags->n, lags->data, lags->data, FFTW_FORWARD, FFTW_ESTIMATE);
  astro_fft_planner_unlock();
  return lags;
}

void astro_lags_free(AstroLags *lags)
{
  if (!lags)
    return;
  astro_fft_planner_lock();
  fftw_destroy_plan(lags->plan);
  astro_fft_planner_unlock();
  fftw_free(lags->data);
  g_free(lags);
}

void astro_lags_find(AstroLags *lags, const double (*spectrum)[2], float *amplitudes)
{
  const guint count = astro_lags_count(lags->channels), n = (guint)lags->n;
  guint64 good = 0;
  memset(lags->data, 0, n * sizeof *lags->data);
  for (guint64 c = 0; c < lags->channels; c++) {
    if (!isfinite(spectrum[c][0]) || !isfinite(spectrum[c][1]))
      continue;
    memcpy(lags->data[c], spectrum[c], sizeof *lags->data);
    good++;
  }
  fftw_execute(lags->plan);
  for (guint i = 0; i < count; i++)
    amplitudes[i] = good ? 0 : NAN;
  for (guint k = 0; k < n && good; k++) {
    /* The upper half of the transform has the negative lags. */
    const guint64 place = ((guint64)k + n / 2) % n * count / n;
    const double amplitude = hypot(lags->data[k][0], lags->data[k][1]) / (double)good;
    amplitudes[place] = fmaxf(amplitudes[place], (float)amplitude);
  }
}
