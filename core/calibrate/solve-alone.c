/* Gains of one polarisation: phase, gain and bandpass. */
#include "config.h"
#include "core/calibrate/solve.h"

#include <math.h>
#include <string.h>

typedef struct {
  const double *re, *im, *b; /* [station][station] */
  double *gr, *gi;           /* [station] */
  guint n;
  gboolean is_phase;
} Alone;

/* The sums of A_ij g_j and of B_ij |g_j|^2 over j. */
static complex double meet(const Alone *a, guint i, double *weight)
{
  const double *re = a->re + (gsize)i * a->n, *im = a->im + (gsize)i * a->n,
               *b = a->b + (gsize)i * a->n;
  double x = 0, y = 0, w = 0;
  for (guint j = 0; j < a->n; j++) {
    x += re[j] * a->gr[j] - im[j] * a->gi[j];
    y += re[j] * a->gi[j] + im[j] * a->gr[j];
    w += b[j] * (a->gr[j] * a->gr[j] + a->gi[j] * a->gi[j]);
  }
  *weight = w;
  return x + I * y;
}

static complex double best(const Alone *a, guint i)
{
  double weight;
  const complex double sum = meet(a, i, &weight);
  const double amplitude = cabs(sum);
  if (amplitude == 0 || weight == 0)
    return 0;
  return a->is_phase ? sum / amplitude : sum / weight;
}

static void put(Alone *a, guint i, complex double gain)
{
  a->gr[i] = creal(gain);
  a->gi[i] = cimag(gain);
}

/* The square of the typical amplitude. */
static double guess_power(const Alone *a)
{
  double sum = 0, weight = 0;
  for (gsize k = 0; k < (gsize)a->n * a->n; k++) {
    sum += hypot(a->re[k], a->im[k]);
    weight += a->b[k];
  }
  return weight > 0 ? sum / weight : 0;
}

static void begin(Alone *a, const AstroCalibrateGraph *graph)
{
  put(a, graph->order[0], a->is_phase ? 1 : sqrt(guess_power(a)));
  for (guint k = 1; k < graph->n; k++) {
    const complex double gain = best(a, graph->order[k]);
    put(a, graph->order[k], gain);
  }
}

static gboolean pass(Alone *a, const AstroCalibrateGraph *graph)
{
  double change = 0, all = 0;
  for (guint k = 0; k < graph->n; k++) {
    const guint i = graph->order[k];
    const complex double gain = best(a, i);
    change += pow(creal(gain) - a->gr[i], 2) + pow(cimag(gain) - a->gi[i], 2);
    all += creal(gain) * creal(gain) + cimag(gain) * cimag(gain);
    put(a, i, gain);
  }
  return change <= all * ASTRO_CALIBRATE_TOLERANCE * ASTRO_CALIBRATE_TOLERANCE;
}

static void finish(AstroCalibrateCell *cell, const Alone *a)
{
  const AstroCalibrateGraph *graph = cell->graph;
  const complex double reference = a->gr[graph->reference] + I * a->gi[graph->reference];
  const complex double turn = cabs(reference) > 0 ? conj(reference) / cabs(reference) : 1;
  const gsize rows = (gsize)cell->cell * a->n;
  double half = 0;
  for (guint k = 0; k < graph->n; k++) {
    const guint i = graph->order[k];
    const complex double gain = a->gr[i] + I * a->gi[i], sum = meet(a, i, &cell->weight[i]);
    half += cell->weight[i] * pow(cabs(gain), 2) - 2 * creal(conj(gain) * sum);
    cell->squares += cell->sums->energy[rows + i];
    cell->values += cell->sums->values[rows + i];
    for (guint j = 0; j < i; j++)
      astro_calibrate_sums_scatter(cell->sums, cell->cell, i, j, &cell->scatter);
    cell->gains[i] = i == graph->reference ? cabs(gain) : gain * turn;
  }
  cell->scatter.squares += cell->squares;
  cell->squares += half / 2;
  cell->freedom = (double)cell->values - (a->is_phase ? graph->n - 1. : 2. * graph->n - 1) / 2;
  cell->undetermined = cell->freedom <= 0 || (!a->is_phase && !graph->has_odd_circle);
}

void astro_calibrate_solve_alone(AstroCalibrateCell *cell)
{
  const AstroCalibrateSums *sums = cell->sums;
  const gsize at = cell->cell * sums->square;
  const guint n = sums->size.stations;
  g_autofree double *room = g_new0(double, 2 * (gsize)n);
  Alone alone = { sums->re + at,
                  sums->im + at,
                  sums->b + at,
                  room,
                  room + n,
                  n,
                  sums->config.type == ASTRO_GAINS_PHASE };
  begin(&alone, cell->graph);
  while (!cell->converged && cell->iterations < ASTRO_CALIBRATE_MAX_ITERATIONS) {
    cell->converged = pass(&alone, cell->graph);
    cell->iterations++;
  }
  finish(cell, &alone);
}
