/* Matrices of 2 x 2, and the rotations that a model leaves open. */
#include "config.h"
#include "core/calibrate/complex.h"
#include "core/calibrate/solve.h"

#include <math.h>
#include <string.h>

void astro_jones_multiply(const complex double a[4], const complex double b[4],
                          complex double to[4])
{
  for (guint i = 0; i < 4; i += 2)
    for (guint j = 0; j < 2; j++)
      to[i + j] = astro_times(a[i], b[j]) + astro_times(a[i + 1], b[2 + j]);
}

void astro_jones_multiply_adjoint(const complex double a[4], const complex double b[4],
                                  complex double to[4])
{
  const complex double adjoint[4] = { conj(b[0]), conj(b[2]), conj(b[1]), conj(b[3]) };
  astro_jones_multiply(a, adjoint, to);
}

gboolean astro_jones_invert(const complex double a[4], complex double to[4])
{
  const complex double determinant = a[0] * a[3] - a[1] * a[2];
  double norm = 0;
  for (guint k = 0; k < 4; k++)
    norm += pow(cabs(a[k]), 2);
  /* Beyond this the inverse has no right digits left. */
  if (!(cabs(determinant) > 1e-12 * norm))
    return FALSE;
  to[0] = a[3] / determinant;
  to[1] = -a[1] / determinant;
  to[2] = -a[2] / determinant;
  to[3] = a[0] / determinant;
  return TRUE;
}

/* ---- turning ---- */

#define NOTHING 1e-9 /* of the model's total power: the part of a rounding error */

static complex double unit(complex double z)
{
  return cabs(z) > 0 ? z / cabs(z) : 1;
}

static void turn_all(complex double (*jones)[4], guint stations, const complex double turn[4])
{
  for (guint i = 0; i < stations; i++) {
    complex double to[4];
    astro_jones_multiply(jones[i], turn, to);
    memcpy(jones[i], to, sizeof to);
  }
}

/* The square root of J^H J: P = (J^H J + |det J|) / sqrt(tr(J^H J) + 2 |det J|). */
static gboolean find_polar(const complex double j[4], complex double turn[4])
{
  const complex double adjoint[4] = { conj(j[0]), conj(j[2]), conj(j[1]), conj(j[3]) };
  complex double square[4], root[4];
  astro_jones_multiply_adjoint(j, j, square);
  const double determinant = cabs(j[0] * j[3] - j[1] * j[2]);
  const double scale = sqrt(creal(square[0] + square[3]) + 2 * determinant);
  for (guint k = 0; k < 4; k++)
    root[k] = (square[k] + (k == 0 || k == 3 ? determinant : 0)) / scale;
  complex double inverse[4];
  if (!astro_jones_invert(root, inverse))
    return FALSE;
  /* J = P W with P = sqrt(J J^H): J W^H = P, where W^H = J^H P^-1. */
  astro_jones_multiply(adjoint, inverse, turn);
  return TRUE;
}

/* The direction that all of a model's (m_1, m_2, m_3) share, by powers of its moments; FALSE: they
 * do not share one. */
static gboolean find_axis(double moments[4][4], double total, double axis[3])
{
  guint largest = 1;
  for (guint k = 2; k <= 3; k++)
    if (moments[k][k] > moments[largest][largest])
      largest = k;
  const double *row = moments[largest] + 1;
  const double length = sqrt(row[0] * row[0] + row[1] * row[1] + row[2] * row[2]);
  for (guint k = 0; k < 3; k++)
    axis[k] = row[k] / length;
  double trace = 0, along = 0;
  for (guint k = 0; k < 3; k++) {
    trace += moments[k + 1][k + 1];
    for (guint l = 0; l < 3; l++)
      along += axis[k] * moments[k + 1][l + 1] * axis[l];
  }
  return trace - along <= NOTHING * total;
}

/* (1 + sign axis . (z, x, y)) / 2 */
static void project(const double axis[3], double sign, complex double to[4])
{
  to[0] = (1 + sign * axis[0]) / 2;
  to[1] = sign * (axis[1] - I * axis[2]) / 2;
  to[2] = sign * (axis[1] + I * axis[2]) / 2;
  to[3] = (1 - sign * axis[0]) / 2;
}

static void find_turn_about(const complex double j[4], const double axis[3], complex double turn[4])
{
  memset(turn, 0, 4 * sizeof *turn);
  for (int sign = -1; sign <= 1; sign += 2) {
    complex double part[4], seen[4];
    project(axis, sign, part);
    astro_jones_multiply(j, part, seen);
    const complex double phase = conj(unit(seen[0] + seen[3]));
    for (guint k = 0; k < 4; k++)
      turn[k] += phase * part[k];
  }
}

guint astro_calibrate_turn(complex double (*jones)[4], guint stations, guint reference,
                           double moments[4][4])
{
  const complex double *j = jones[reference];
  const double polarised = moments[1][1] + moments[2][2] + moments[3][3],
               total = moments[0][0] + polarised;
  complex double turn[4] = { conj(unit(j[0])), 0, 0, conj(unit(j[0])) };
  double axis[3];
  guint open = 0;
  if (polarised <= NOTHING * total && find_polar(j, turn)) {
    open = 3;
  } else if (polarised > NOTHING * total && find_axis(moments, total, axis)) {
    find_turn_about(j, axis, turn);
    open = 1;
  }
  turn_all(jones, stations, turn);
  return open;
}
