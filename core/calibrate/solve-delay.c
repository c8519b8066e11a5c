/* Phases and delays of one polarisation, from the sums of each channel. */
#include "config.h"
#include "core/calibrate/solve.h"

#include <math.h>

#define FINER 4 /* delays tried within the resolution of the band */
#define NEWTON_STEPS 20

/* ---- one spectrum ---- */

/* Sums of spectrum[k] exp(2 pi i delay offset_k) offset_k^m, for m = 0, 1, 2. */
static void transform(const complex double *spectrum, guint n, double spacing, double delay,
                      complex double sums[3])
{
  const double step = 2 * G_PI * delay * spacing;
  sums[0] = sums[1] = sums[2] = 0;
  for (guint k = 0; k < n; k++) {
    const double offset = (k - (n - 1) / 2.) * spacing;
    const complex double part = spectrum[k] * cexp(I * step * (k - (n - 1) / 2.));
    sums[0] += part;
    sums[1] += part * offset;
    sums[2] += part * offset * offset;
  }
}

double astro_calibrate_fit_delay(const complex double *spectrum, guint n, double spacing,
                                 double delay, complex double *sum)
{
  const double limit = 0.25 / (n * spacing); /* of a step, so that it stays on its peak */
  complex double s[3];
  for (guint i = 0; i < NEWTON_STEPS; i++) {
    transform(spectrum, n, spacing, delay, s);
    /* Derivatives of |s|^2 by the delay. */
    const double slope = 2 * creal(conj(s[0]) * 2 * G_PI * I * s[1]),
                 bend = 2 * creal(-4 * G_PI * G_PI * conj(s[0]) * s[2]) +
                        8 * G_PI * G_PI * pow(cabs(s[1]), 2);
    const double step = bend < 0 ? -slope / bend : copysign(limit, slope);
    if (slope == 0 || fabs(step) < 1e-12 / (n * spacing))
      break;
    delay += CLAMP(step, -limit, limit);
  }
  transform(spectrum, n, spacing, delay, s);
  *sum = s[0];
  return delay;
}

double astro_calibrate_find_delay(const complex double *spectrum, guint n, double spacing)
{
  double found = 0, most = -1;
  const guint tries = FINER * n;
  for (guint t = 0; t < tries; t++) {
    const double delay = ((double)t / tries - 0.5) / spacing;
    const complex double turn = cexp(2 * G_PI * I * delay * spacing);
    complex double phasor = 1, sum = 0;
    for (guint k = 0; k < n; k++, phasor *= turn)
      sum += spectrum[k] * phasor;
    if (cabs(sum) > most) {
      most = cabs(sum);
      found = delay;
    }
  }
  return found;
}

/* ---- all stations ---- */

typedef struct {
  AstroCalibrateCell *cell;
  guint n, channels;
  double spacing;
  complex double *phasors;  /* [station][channel]: the gains; 0 for those not known yet */
  complex double *spectrum; /* of one station */
} Delay;

static gsize place(const Delay *d, guint channel, guint i)
{
  const AstroCalibrateSums *sums = d->cell->sums;
  return ((gsize)channel * sums->size.pols + d->cell->cell) * sums->square + (gsize)i * d->n;
}

/* The spectrum of a station against all that are known. */
static double meet(Delay *d, guint i)
{
  const AstroCalibrateSums *sums = d->cell->sums;
  double weight = 0;
  for (guint c = 0; c < d->channels; c++) {
    const gsize at = place(d, c, i);
    complex double sum = 0;
    for (guint j = 0; j < d->n; j++) {
      const complex double other = d->phasors[(gsize)j * d->channels + c];
      if (sums->b[at + j] == 0 || other == 0)
        continue;
      sum += (sums->re[at + j] + I * sums->im[at + j]) * other;
      weight += sums->b[at + j];
    }
    d->spectrum[c] = sum;
  }
  return weight;
}

static void put(Delay *d, guint i, complex double gain, double delay)
{
  d->cell->gains[i] = gain;
  d->cell->delays[i] = delay;
  for (guint c = 0; c < d->channels; c++)
    d->phasors[(gsize)i * d->channels + c] =
        gain * cexp(-2 * G_PI * I * delay * (c - (d->channels - 1) / 2.) * d->spacing);
}

static void solve_station(Delay *d, guint i, double delay)
{
  complex double sum;
  delay = astro_calibrate_fit_delay(d->spectrum, d->channels, d->spacing, delay, &sum);
  put(d, i, cabs(sum) > 0 ? sum / cabs(sum) : 1, delay);
}

static gboolean pass(Delay *d)
{
  const AstroCalibrateGraph *graph = d->cell->graph;
  double change = 0;
  for (guint k = 0; k < graph->n; k++) {
    const guint i = graph->order[k];
    const complex double before = d->cell->gains[i];
    const double delay = d->cell->delays[i];
    d->cell->weight[i] = meet(d, i);
    solve_station(d, i, delay);
    change += pow(cabs(d->cell->gains[i] - before), 2) +
              pow((d->cell->delays[i] - delay) * d->spacing * d->channels, 2);
  }
  return change <= graph->n * ASTRO_CALIBRATE_TOLERANCE * ASTRO_CALIBRATE_TOLERANCE;
}

/* The sum of squares, and whether baselines have data in more than one channel. */
static void count(Delay *d)
{
  const AstroCalibrateSums *sums = d->cell->sums;
  const AstroCalibrateGraph *graph = d->cell->graph;
  guint used = 0;
  for (guint c = 0; c < d->channels; c++) {
    const gsize rows = ((gsize)c * sums->size.pols + d->cell->cell) * d->n;
    guint64 values = 0;
    for (guint k = 0; k < graph->n; k++) {
      const guint i = graph->order[k];
      const gsize at = place(d, c, i);
      const complex double own = d->phasors[(gsize)i * d->channels + c];
      d->cell->squares += sums->energy[rows + i];
      d->cell->scatter.squares += sums->energy[rows + i];
      values += sums->values[rows + i];
      for (guint j = 0; j < i; j++) {
        d->cell->squares +=
            sums->b[at + j] - 2 * creal(conj(own) * d->phasors[(gsize)j * d->channels + c] *
                                        (sums->re[at + j] + I * sums->im[at + j]));
        astro_calibrate_sums_scatter(sums, c * sums->size.pols + d->cell->cell, i, j,
                                     &d->cell->scatter);
      }
    }
    d->cell->values += values;
    used += values > 0;
  }
  d->cell->freedom = (double)d->cell->values - (graph->n - 1.);
  d->cell->undetermined = used < 2 || d->cell->freedom <= 0;
}

static void turn(Delay *d)
{
  const AstroCalibrateGraph *graph = d->cell->graph;
  const complex double back = conj(d->cell->gains[graph->reference]);
  const double delay = d->cell->delays[graph->reference];
  for (guint k = 0; k < graph->n; k++) {
    const guint i = graph->order[k];
    d->cell->gains[i] = i == graph->reference ? 1 : d->cell->gains[i] * back;
    d->cell->delays[i] -= delay;
  }
}

void astro_calibrate_solve_delay(AstroCalibrateCell *cell)
{
  const AstroCalibrateSums *sums = cell->sums;
  const AstroCalibrateGraph *graph = cell->graph;
  const guint channels = sums->size.channels, n = sums->size.stations;
  g_autofree complex double *phasors = g_new0(complex double, (gsize)n *channels);
  g_autofree complex double *spectrum = g_new(complex double, channels);
  Delay delay = { cell, n, channels, sums->config.in.bandwidth / channels, phasors, spectrum };
  put(&delay, graph->order[0], 1, 0);
  for (guint k = 1; k < graph->n; k++) {
    meet(&delay, graph->order[k]);
    solve_station(&delay, graph->order[k],
                  astro_calibrate_find_delay(spectrum, channels, delay.spacing));
  }
  while (!cell->converged && cell->iterations < ASTRO_CALIBRATE_MAX_ITERATIONS &&
         !astro_is_given_up()) {
    cell->converged = pass(&delay);
    cell->iterations++;
  }
  count(&delay);
  turn(&delay);
}
