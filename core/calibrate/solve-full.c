/* Jones matrices of all stations. */
#include "config.h"
#include "core/calibrate/complex.h"
#include "core/calibrate/solve.h"

#include <math.h>
#include <string.h>

typedef struct {
  const AstroCalibrateSums *sums;
  const AstroJonesSums *jones; /* of the cell */
  const AstroCalibrateGraph *graph;
  complex double (*gains)[4];
  guint n;
} Full;

/* ---- sums of a baseline, whichever way it is written ---- */

/* An element of the sum over a baseline of V_ab conj(M_cd), or of M_ab conj(M_cd). The adjoint of
 * V_ij is V_ji. */
static complex double element(const complex double *sums, gboolean turned, guint a, guint b,
                              guint c, guint d)
{
  return turned ? conj(sums[4 * (2 * b + a) + 2 * d + c]) : sums[4 * (2 * a + b) + 2 * c + d];
}

/* to[a][c] += sum of sums[abcd] with[bd] over b and d. */
static void contract(const complex double *sums, gboolean turned, const complex double with[4],
                     complex double to[4])
{
  for (guint a = 0; a < 2; a++)
    for (guint c = 0; c < 2; c++)
      for (guint b = 0; b < 2; b++)
        for (guint d = 0; d < 2; d++)
          to[2 * a + c] += astro_times(element(sums, turned, a, b, c, d), with[2 * b + d]);
}

/* The sums of V J M^H and of M J^H J M^H over the other stations. */
static void meet(const Full *full, guint i, complex double x[4], complex double y[4])
{
  memset(x, 0, 4 * sizeof *x);
  memset(y, 0, 4 * sizeof *y);
  for (guint k = 0; k < full->graph->n; k++) {
    const guint j = full->graph->order[k], high = MAX(i, j), low = MIN(i, j);
    const complex double *other = full->gains[j];
    if (i == j)
      continue;
    const AstroJonesSums *sums = &full->jones[(gsize)high * (high - 1) / 2 + low];
    const complex double adjoint[4] = { conj(other[0]), conj(other[2]), conj(other[1]),
                                        conj(other[3]) };
    complex double square[4];
    astro_jones_multiply(adjoint, other, square);
    contract(sums->s, i < j, other, x);
    contract(sums->t, i < j, square, y);
  }
}

/* FALSE: the model does not tell the four apart. */
static gboolean solve_station(const Full *full, guint i, complex double to[4])
{
  complex double x[4], y[4], inverse[4];
  meet(full, i, x, y);
  if (!astro_jones_invert(y, inverse))
    return FALSE;
  astro_jones_multiply(x, inverse, to);
  return TRUE;
}

/* ---- passes ---- */

static double guess_power(const Full *full)
{
  double sum = 0, weight = 0;
  for (gsize k = 0; k < (gsize)full->n * (full->n - 1) / 2; k++)
    for (guint v = 0; v < 4; v++) {
      sum += cabs(full->jones[k].s[5 * v]);
      weight += creal(full->jones[k].t[5 * v]);
    }
  return weight > 0 ? sum / weight : 0;
}

static gboolean pass(const Full *full, gboolean *undetermined)
{
  double change = 0, all = 0;
  for (guint k = 0; k < full->graph->n; k++) {
    const guint i = full->graph->order[k];
    complex double next[4];
    if (!solve_station(full, i, next)) {
      *undetermined = TRUE;
      return TRUE;
    }
    for (guint v = 0; v < 4; v++) {
      change += pow(cabs(next[v] - full->gains[i][v]), 2);
      all += pow(cabs(next[v]), 2);
    }
    memcpy(full->gains[i], next, sizeof next);
  }
  return change <= all * ASTRO_CALIBRATE_TOLERANCE * ASTRO_CALIBRATE_TOLERANCE;
}

static gboolean begin(const Full *full)
{
  const AstroCalibrateGraph *graph = full->graph;
  const double amplitude = sqrt(guess_power(full));
  const complex double first[4] = { amplitude, 0, 0, amplitude };
  memcpy(full->gains[graph->order[0]], first, sizeof first);
  for (guint k = 1; k < graph->n; k++) {
    complex double next[4];
    if (!solve_station(full, graph->order[k], next))
      return FALSE;
    memcpy(full->gains[graph->order[k]], next, sizeof next);
  }
  return TRUE;
}

/* ---- what comes of it ---- */

/* Sums of w m_k conj(m_l) over all baselines: M = m_0 + m_1 z + m_2 x + m_3 y. */
static void add_moments(const Full *full, double moments[4][4])
{
  /* Row k: m_k as a sum over the elements of M. */
  static const complex double of[4][4] = {
    { 0.5, 0, 0, 0.5 }, { 0.5, 0, 0, -0.5 }, { 0, 0.5, 0.5, 0 }, { 0, 0.5 * I, -0.5 * I, 0 }
  };
  memset(moments, 0, 16 * sizeof **moments);
  for (gsize pair = 0; pair < (gsize)full->n * (full->n - 1) / 2; pair++)
    for (guint k = 0; k < 4; k++)
      for (guint l = 0; l < 4; l++)
        for (guint ab = 0; ab < 4; ab++)
          for (guint cd = 0; cd < 4; cd++)
            moments[k][l] += creal(of[k][ab] * full->jones[pair].t[4 * ab + cd] * conj(of[l][cd]));
}

static double trace_of_product(const complex double a[4], const complex double b[4])
{
  double sum = 0; /* of the real part of tr(a b^H) */
  for (guint k = 0; k < 4; k++)
    sum += creal(a[k] * conj(b[k]));
  return sum;
}

static void finish(AstroCalibrateCell *cell, const Full *full)
{
  double half = 0, moments[4][4];
  for (guint k = 0; k < full->graph->n; k++) {
    const guint i = full->graph->order[k];
    complex double x[4], y[4], inverse[4], seen[4];
    meet(full, i, x, y);
    astro_jones_multiply(full->gains[i], y, seen);
    half += trace_of_product(seen, full->gains[i]) - 2 * trace_of_product(x, full->gains[i]);
    if (astro_jones_invert(y, inverse))
      cell->weight[i] = 1 / creal(inverse[0] + inverse[3]);
    cell->squares += cell->sums->energy[(gsize)cell->cell * full->n + i];
    cell->values += cell->sums->values[(gsize)cell->cell * full->n + i];
  }
  cell->squares += half / 2;
  add_moments(full, moments);
  cell->free_angles = astro_calibrate_turn(full->gains, full->n, full->graph->reference, moments);
  cell->freedom = (double)cell->values - (8. * full->graph->n - 1 - cell->free_angles) / 2;
  cell->undetermined |= cell->freedom <= 0 || !full->graph->has_odd_circle;
}

void astro_calibrate_solve_full(AstroCalibrateCell *cell)
{
  const AstroCalibrateSums *sums = cell->sums;
  const guint n = sums->size.stations;
  const Full full = { sums, sums->jones + cell->cell * ((gsize)n * (n - 1) / 2), cell->graph,
                      (complex double(*)[4])cell->gains, n };
  cell->undetermined = !begin(&full);
  while (!cell->undetermined && !cell->converged &&
         cell->iterations < ASTRO_CALIBRATE_MAX_ITERATIONS && !astro_is_given_up()) {
    cell->converged = pass(&full, &cell->undetermined);
    cell->iterations++;
  }
  finish(cell, &full);
}
