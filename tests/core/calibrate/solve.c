/* Gains that were put in come out again, as well as the noise allows: for each type the errors of
 * 100 trials are held to the bound of Cramer and Rao, which is computed from the formula. */
#include "tests/core/calibrate/calibrate.h"

#include <string.h>

#define TRIALS 100
#define STATIONS 6
#define NOISE 0.1
#define REFERENCE 2

/* ---- gains from parameters ---- */

static gboolean is_unit(AstroGainsType type)
{
  return type == ASTRO_GAINS_PHASE || type == ASTRO_GAINS_DELAY;
}

/* Parameters of a cell: those of the reference station first. */
static guint count_parameters(AstroGainsType type, guint stations)
{
  return type == ASTRO_GAINS_PHASE   ? stations - 1
         : type == ASTRO_GAINS_DELAY ? 2 * (stations - 1)
         : type == ASTRO_GAINS_FULL  ? 8 * stations - 1
                                     : 2 * stations - 1;
}

static double offset_of(const TestCalibrate *t, guint channel)
{
  return ((channel + 0.5) / t->channels - 0.5) * TEST_BANDWIDTH;
}

/* Delays are told in units of 1 / bandwidth. */
static void set_gains(TestCalibrate *t, guint pol, guint first, guint last,
                      const double *parameters)
{
  const AstroGainsType type = t->config.type;
  for (guint k = 0; k < t->stations; k++) {
    const guint i = k == 0 ? REFERENCE : k <= REFERENCE ? k - 1 : k;
    for (guint c = first; c < last; c++) {
      complex double *j = test_jones(t, i, c);
      if (type == ASTRO_GAINS_FULL) {
        const double *p = k == 0 ? parameters : parameters + 8 * k - 1;
        j[0] = k == 0 ? p[0] : p[0] + I * p[1];
        p += k == 0 ? 1 : 2;
        for (guint v = 1; v < 4; v++, p += 2)
          j[v] = p[0] + I * p[1];
      } else if (is_unit(type)) {
        const guint n = t->stations - 1;
        const double turn =
            k == 0 || type == ASTRO_GAINS_PHASE
                ? 0
                : 2 * G_PI * parameters[n + k - 1] * offset_of(t, c) / TEST_BANDWIDTH;
        j[3 * pol] = k == 0 ? 1 : cexp(I * (parameters[k - 1] - turn));
      } else {
        j[3 * pol] = k == 0 ? parameters[0] : parameters[2 * k - 1] + I * parameters[2 * k];
      }
    }
  }
}

static void draw_parameters(TestCalibrate *t, double *parameters)
{
  const AstroGainsType type = t->config.type;
  const guint n = count_parameters(type, t->stations);
  for (guint k = 0; k < n; k++)
    parameters[k] = is_unit(type) ? g_rand_double_range(t->random, -3, 3)
                                  : g_rand_double_range(t->random, -1, 1);
  if (type == ASTRO_GAINS_FULL) {
    for (guint k = 0; k < n; k++)
      parameters[k] *= 0.2;
    parameters[0] += 1;
    parameters[5] += 1;
    for (guint k = 1; k < t->stations; k++) {
      parameters[8 * k - 1] += 1;
      parameters[8 * k + 5] += 1;
    }
  } else if (!is_unit(type)) {
    parameters[0] = 1.1;
    for (guint k = 1; k < t->stations; k++) {
      const double amplitude = g_rand_double_range(t->random, 0.7, 1.3),
                   phase = g_rand_double_range(t->random, -3, 3);
      parameters[2 * k - 1] = amplitude * cos(phase);
      parameters[2 * k] = amplitude * sin(phase);
    }
  }
}

/* ---- the bound ---- */

/* The visibilities of a cell without noise. */
static void predict(TestCalibrate *t, guint pol, guint first, guint last, complex double *to)
{
  const gboolean is_full = t->config.type == ASTRO_GAINS_FULL;
  for (guint64 s = 0; s < t->steps; s++)
    for (guint c = first; c < last; c++)
      for (guint i = 0; i < t->stations; i++)
        for (guint j = 0; j < i; j++) {
          complex double half[4], v[4];
          astro_jones_multiply(test_jones(t, i, c), t->model + test_place(t, s, c, i, j), half);
          astro_jones_multiply_adjoint(half, test_jones(t, j, c), v);
          const double root =
              sqrt(t->counts[test_place(t, s, c, i, j) / t->products] / 100.) / NOISE;
          for (guint k = 0; k < (is_full ? 4 : 1); k++)
            *to++ = root * v[is_full ? k : 3 * pol];
        }
}

/* The trace of the inverse of a positive matrix, which it destroys. */
static double trace_of_inverse(double *a, guint n)
{
  g_autofree double *inverse = g_new0(double, (gsize)n *n);
  double trace = 0;
  for (guint i = 0; i < n; i++)
    inverse[i * n + i] = 1;
  for (guint k = 0; k < n; k++) {
    const double pivot = a[k * n + k];
    g_assert_cmpfloat(pivot, >, 0);
    for (guint c = 0; c < n; c++) {
      a[k * n + c] /= pivot;
      inverse[k * n + c] /= pivot;
    }
    for (guint r = 0; r < n; r++) {
      const double factor = a[r * n + k];
      for (guint c = 0; r != k && c < n; c++) {
        a[r * n + c] -= factor * a[k * n + c];
        inverse[r * n + c] -= factor * inverse[k * n + c];
      }
    }
  }
  for (guint i = 0; i < n; i++)
    trace += inverse[i * n + i];
  return trace;
}

/* The least sum of variances of all parameters: noise of rms 1 in both parts together. */
static double bound(TestCalibrate *t, guint pol, guint first, guint last, double *parameters)
{
  const guint n = count_parameters(t->config.type, t->stations);
  const gsize values = t->steps * (last - first) * t->stations * (t->stations - 1) / 2 *
                       (t->config.type == ASTRO_GAINS_FULL ? 4 : 1);
  g_autofree complex double *slopes = g_new(complex double, n *values),
                            *less = g_new(complex double, values);
  g_autofree double *information = g_new0(double, (gsize)n *n);
  for (guint k = 0; k < n; k++) {
    const double kept = parameters[k], step = 1e-6;
    parameters[k] = kept - step;
    set_gains(t, pol, first, last, parameters);
    predict(t, pol, first, last, less);
    parameters[k] = kept + step;
    set_gains(t, pol, first, last, parameters);
    predict(t, pol, first, last, slopes + k * values);
    parameters[k] = kept;
    for (gsize v = 0; v < values; v++)
      slopes[k * values + v] = (slopes[k * values + v] - less[v]) / (2 * step);
  }
  set_gains(t, pol, first, last, parameters);
  for (guint k = 0; k < n; k++)
    for (guint l = 0; l < n; l++)
      for (gsize v = 0; v < values; v++)
        information[k * n + l] += 2 * creal(slopes[k * values + v] * conj(slopes[l * values + v]));
  return trace_of_inverse(information, n);
}

/* ---- trials ---- */

/* The square of the errors of a cell, in its parameters. */
static double error_of(const TestCalibrate *t, const TestSolved *solved, guint pol, guint group,
                       guint first, guint last, const double *parameters)
{
  const AstroGainsType type = t->config.type;
  const guint values = astro_calibrate_values(&t->config),
              groups = astro_calibrate_groups(&t->config);
  double sum = 0;
  for (guint k = 0; k < t->stations; k++) {
    const guint i = k == 0 ? REFERENCE : k <= REFERENCE ? k - 1 : k;
    const gsize at = ((gsize)i * groups + group) * values;
    for (guint v = 0; v < values; v++) {
      if (type != ASTRO_GAINS_FULL && v != pol)
        continue;
      const complex double gain = solved->solved.gains[at + v];
      g_assert_cmpfloat(solved->solved.snr[at + v], >, 3);
      if (is_unit(type) && k > 0) {
        sum += pow(carg(gain * cexp(-I * parameters[k - 1])), 2);
        if (type == ASTRO_GAINS_DELAY)
          sum += pow(solved->solved.delays[at + v] * TEST_BANDWIDTH -
                         parameters[t->stations - 1 + k - 1],
                     2);
      } else if (!is_unit(type)) {
        const complex double truth = test_jones(t, i, first)[type == ASTRO_GAINS_FULL ? v : 3 * v];
        sum += pow(cabs(gain - truth), 2);
      }
    }
  }
  return sum;
}

static void test_bound(gconstpointer data)
{
  const AstroGainsType type = (AstroGainsType)GPOINTER_TO_UINT(data);
  const guint channels = type == ASTRO_GAINS_DELAY ? 16 : 3, pols = 2;
  TestCalibrate *t = test_calibrate_new(type, ASTRO_FORMAT_CF64LE, STATIONS, channels, pols, 2, 42);
  t->reference = REFERENCE;
  t->config.min_snr = 3;
  const guint groups = astro_calibrate_groups(&t->config),
              cells = type == ASTRO_GAINS_FULL ? 1 : pols, n = count_parameters(type, STATIONS);
  g_autofree double *parameters = g_new(double, (gsize)groups *cells *n);
  double least = 0, error = 0, chi_squared = 0;
  for (guint g = 0; g < groups; g++)
    for (guint p = 0; p < cells; p++) {
      double *own = parameters + ((gsize)g * cells + p) * n;
      draw_parameters(t, own);
      least += bound(t, p, g * channels / groups, (g + 1) * channels / groups, own);
    }
  for (guint trial = 0; trial < TRIALS; trial++) {
    test_observe_with(t, NOISE);
    TestSolved solved = test_solve(t, &astro_calibrate_cpu, 0);
    g_assert_cmpuint(solved.solved.tally.solved, ==, solved.n);
    for (guint g = 0; g < groups; g++)
      for (guint p = 0; p < cells; p++)
        error += error_of(t, &solved, p, g, g * channels / groups, (g + 1) * channels / groups,
                          parameters + ((gsize)g * cells + p) * n) /
                 TRIALS;
    g_assert_cmpfloat_with_epsilon(solved.solved.rms, NOISE * 10, 0.15);
    chi_squared += solved.solved.chi_squared / TRIALS;
    test_solved_clear(&solved);
  }
  g_assert_cmpfloat_with_epsilon(chi_squared, type == ASTRO_GAINS_FULL ? 0 : 1, 0.1);
  g_test_message("errors are %.3f of the bound", sqrt(error / least));
  g_assert_cmpfloat(sqrt(error / least), <=, 1.1);
  g_assert_cmpfloat(sqrt(error / least), >=, 0.9);
  test_calibrate_free(t);
}

static void add_tests(void)
{
  for (guint type = 0; type < ASTRO_N_GAINS_TYPES; type++) {
    g_autofree char *path =
        g_strdup_printf("/calibrate/bound/%s", astro_gains_type_name((AstroGainsType)type));
    g_test_add_data_func(path, GUINT_TO_POINTER(type), test_bound);
  }
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
