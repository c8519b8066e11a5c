/* The cpu backend against the reference, what is flagged, and the correction of visibilities. */
#include "core/calibrate/apply.h"
#include "core/calibrate/check.h"
#include "tests/core/calibrate/calibrate.h"

#include <string.h>

#define STATIONS 5

static const AstroBackend *const backends[] = { &astro_calibrate_cpu, &astro_calibrate_reference };

/* Gains of a type, drawn at random. */
static void draw(TestCalibrate *t)
{
  const AstroGainsType type = t->config.type;
  for (guint i = 0; i < t->stations; i++) {
    complex double gains[2];
    double delays[2];
    for (guint p = 0; p < 2; p++) {
      const gboolean is_unit = type == ASTRO_GAINS_PHASE || type == ASTRO_GAINS_DELAY;
      const double amplitude = is_unit ? 1 : g_rand_double_range(t->random, 0.5, 2);
      gains[p] = amplitude * cexp(I * g_rand_double_range(t->random, -3, 3));
      delays[p] = type == ASTRO_GAINS_DELAY ? g_rand_double_range(t->random, -1, 1) : 0;
    }
    for (guint c = 0; c < t->channels; c++)
      for (guint p = 0; p < 2; p++) {
        complex double *j = test_jones(t, i, c);
        j[3 * p] = gains[p] * cexp(-2 * G_PI * I * delays[p] * (c + 0.5) / t->channels);
        j[1 + p] = type == ASTRO_GAINS_FULL ? 0.1 * gains[p] : 0;
      }
  }
}

static TestCalibrate *new_case(AstroGainsType type, guint pols)
{
  TestCalibrate *t = test_calibrate_new(type, ASTRO_FORMAT_CF64LE, STATIONS, 6, pols, 2, 7);
  draw(t);
  t->reference = 1;
  return t;
}

/* Takes away what is on baselines of two stations; G_MAXUINT: any station. */
static void lose(TestCalibrate *t, guint a, guint b)
{
  for (guint64 s = 0; s < t->steps; s++)
    for (guint c = 0; c < t->channels; c++)
      for (guint i = 0; i < t->stations; i++)
        for (guint j = 0; j < i; j++)
          if ((i == a && (j == b || b == G_MAXUINT)) || (j == a && (i == b || b == G_MAXUINT)))
            t->counts[test_place(t, s, c, i, j) / t->products] = 0;
}

/* ---- both backends ---- */

static void compare(const TestSolved *a, const TestSolved *b)
{
  for (gsize k = 0; k < a->n; k++) {
    g_assert_cmpfloat(cabs(a->solved.gains[k] - b->solved.gains[k]), <, 1e-6);
    g_assert_cmpfloat(fabs(a->solved.delays[k] - b->solved.delays[k]) * TEST_BANDWIDTH, <, 1e-6);
    g_assert_cmpfloat(fabs(a->solved.snr[k] - b->solved.snr[k]), <=, 1e-4 * a->solved.snr[k]);
  }
  g_assert_cmpmem(&a->solved.tally, sizeof a->solved.tally, &b->solved.tally,
                  sizeof b->solved.tally);
  g_assert_cmpfloat(fabs(a->solved.rms - b->solved.rms), <, 1e-6 * a->solved.rms);
  g_assert_cmpfloat(fabs(a->solved.chi_squared - b->solved.chi_squared), <=,
                    1e-5 * a->solved.chi_squared);
  g_assert_cmpfloat(fabs(a->solved.unexplained - b->solved.unexplained), <, 1e-7);
  g_assert_cmpuint(a->solved.visibilities, ==, b->solved.visibilities);
  g_assert_cmpuint(a->solved.free_angles, ==, b->solved.free_angles);
  g_assert_cmpint(a->solved.reference_moved, ==, b->solved.reference_moved);
}

static void test_backends(gconstpointer data)
{
  const AstroGainsType type = (AstroGainsType)GPOINTER_TO_UINT(data);
  for (guint pols = type == ASTRO_GAINS_FULL ? 2 : 1; pols <= 2; pols++)
    for (guint step = 0; step <= 4; step += 2) {
      TestCalibrate *t = new_case(type, pols);
      t->config.channel_step = step;
      t->config.min_snr = 5;
      test_observe_with(t, 0.05);
      lose(t, 0, 3);
      t->data[test_place(t, 1, 2, 3, 1)] = NAN;
      TestSolved a = test_solve(t, &astro_calibrate_cpu, 1),
                 b = test_solve(t, &astro_calibrate_cpu, 0),
                 c = test_solve(t, &astro_calibrate_reference, 0);
      g_assert_cmpmem(a.solved.gains, a.n * sizeof *a.solved.gains, b.solved.gains,
                      b.n * sizeof *b.solved.gains);
      compare(&a, &c);
      g_assert_cmpuint(a.solved.tally.solved, ==, a.n);
      test_solved_clear(&a);
      test_solved_clear(&b);
      test_solved_clear(&c);
      test_calibrate_free(t);
    }
}

/* Where the model is NaN, visibilities are left out as lost ones are. */
static void test_no_model(gconstpointer data)
{
  const AstroGainsType type = (AstroGainsType)GPOINTER_TO_UINT(data);
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
    TestCalibrate *lost = new_case(type, 2), *unknown = new_case(type, 2);
    test_observe_with(lost, 0.05);
    test_observe_with(unknown, 0.05);
    for (guint c = 0; c < lost->channels; c++) {
      const gsize at = test_place(lost, 1, c, 3, 2);
      lost->counts[at / lost->products] = 0;
      for (guint k = 0; k < lost->products; k++)
        unknown->model[at + k] = NAN;
    }
    TestSolved one = test_solve(lost, backends[b], 1), other = test_solve(unknown, backends[b], 1);
    compare(&one, &other);
    g_assert_cmpuint(other.solved.tally.solved, ==, other.n);
    test_solved_clear(&one);
    test_solved_clear(&other);
    test_calibrate_free(lost);
    test_calibrate_free(unknown);
  }
}

/* ---- what cannot be solved ---- */

static void lose_third(TestCalibrate *t)
{
  lose(t, 3, G_MAXUINT);
}
static void lose_reference(TestCalibrate *t)
{
  lose(t, 1, G_MAXUINT);
}

/* Stations 3 and 4 see only each other. */
static void part(TestCalibrate *t)
{
  for (guint i = 0; i < 3; i++)
    for (guint j = 3; j < 5; j++)
      lose(t, i, j);
}

/* Stations 0 and 1 see 2, 3 and 4, and none of their own side. */
static void halve(TestCalibrate *t)
{
  lose(t, 0, 1);
  for (guint i = 2; i < 5; i++)
    for (guint j = i + 1; j < 5; j++)
      lose(t, i, j);
}

static void keep_one_channel(TestCalibrate *t)
{
  for (gsize k = 0; k < t->steps * t->channels * t->baselines; k++)
    if (k / t->baselines % t->channels != 4)
      t->counts[k] = 0;
}

static void lose_all(TestCalibrate *t)
{
  memset(t->counts, 0, t->steps * t->channels * t->baselines * sizeof *t->counts);
}

static void add_noise(TestCalibrate *t)
{
  for (gsize k = 0; k < t->steps * t->channels * t->baselines * t->products; k++)
    t->data[k] += test_complex(t->random, 2);
}

/* A model in one polarisation alone says nothing about the other. */
static void half_model(TestCalibrate *t)
{
  for (gsize k = 0; k < t->steps * t->channels * t->baselines; k++)
    memset(t->model + 4 * k + 1, 0, 3 * sizeof *t->model);
}

#define STATION(member) G_STRUCT_OFFSET(AstroCalibrateTally, member)

static void test_flagged(void)
{
  static const struct {
    AstroGainsType type;
    void (*change)(TestCalibrate *t);
    gsize counter;
    guint bad; /* values of how many stations, a group and value each */
    gboolean moves;
  } cases[] = {
    { ASTRO_GAINS_PHASE, lose_third, STATION(no_data), 1, FALSE },
    { ASTRO_GAINS_GAIN, lose_third, STATION(no_data), 1, FALSE },
    { ASTRO_GAINS_FULL, lose_third, STATION(no_data), 1, FALSE },
    { ASTRO_GAINS_DELAY, lose_third, STATION(no_data), 1, FALSE },
    { ASTRO_GAINS_GAIN, lose_reference, STATION(no_data), 1, TRUE },
    { ASTRO_GAINS_GAIN, part, STATION(unconnected), 2, FALSE },
    { ASTRO_GAINS_DELAY, part, STATION(unconnected), 2, FALSE },
    { ASTRO_GAINS_GAIN, halve, STATION(undetermined), 5, FALSE },
    { ASTRO_GAINS_FULL, halve, STATION(undetermined), 5, FALSE },
    { ASTRO_GAINS_PHASE, halve, STATION(undetermined), 0, FALSE },
    { ASTRO_GAINS_DELAY, keep_one_channel, STATION(undetermined), 5, FALSE },
    { ASTRO_GAINS_GAIN, lose_all, STATION(no_data), 5, FALSE },
    { ASTRO_GAINS_FULL, half_model, STATION(undetermined), 5, FALSE },
    { ASTRO_GAINS_GAIN, add_noise, STATION(low_snr), 5, FALSE },
    { ASTRO_GAINS_PHASE, add_noise, STATION(low_snr), 5, FALSE },
  };
  for (guint k = 0; k < G_N_ELEMENTS(cases); k++)
    for (guint b = 0; b < G_N_ELEMENTS(backends); b++) {
      TestCalibrate *t = new_case(cases[k].type, 2);
      t->config.min_snr = 20;
      test_observe_with(t, 0.01);
      cases[k].change(t);
      TestSolved solved = test_solve(t, backends[b], 0);
      const guint64 each = solved.n / STATIONS;
      const guint64 *counter =
          (const guint64 *)(gconstpointer)((const guint8 *)&solved.solved.tally + cases[k].counter);
      g_test_message("case %u, backend %u", k, b);
      g_assert_cmpuint(*counter, ==, cases[k].bad * each);
      g_assert_cmpuint(solved.solved.tally.solved, ==, (STATIONS - cases[k].bad) * each);
      g_assert_cmpint(solved.solved.reference_moved, ==, cases[k].moves);
      guint64 flagged = 0;
      for (gsize v = 0; v < solved.n; v++)
        flagged += solved.solved.snr[v] == 0;
      g_assert_cmpuint(flagged, ==, cases[k].bad * each);
      test_solved_clear(&solved);
      test_calibrate_free(t);
    }
}

/* ---- what a model leaves open ---- */

/* A sky without polarisation leaves a rotation open, which corrected data do not show; one with a
 * direction of polarisation leaves an angle. */
static void test_open(void)
{
  static const struct {
    double q, u;
    guint open;
  } cases[] = { { 0, 0, 3 }, { 0.3, 0, 1 }, { 0.2, 0.4, 1 } };
  for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
    TestCalibrate *t = new_case(ASTRO_GAINS_FULL, 2);
    for (gsize v = 0; v < t->steps * t->channels * t->baselines; v++) {
      complex double *m = t->model + 4 * v;
      const complex double i = (m[0] + m[3]) / 2;
      m[0] = i * (1 + cases[k].q);
      m[1] = m[2] = i * cases[k].u;
      m[3] = i * (1 - cases[k].q);
    }
    test_observe_with(t, 0);
    TestSolved solved = test_solve(t, &astro_calibrate_cpu, 0);
    g_assert_cmpuint(solved.solved.free_angles, ==, cases[k].open);
    for (guint i = 0; i < STATIONS; i++)
      for (guint j = 0; j < i; j++) {
        complex double half[4], seen[4];
        const gsize at = test_place(t, 0, 0, i, j);
        astro_jones_multiply(solved.solved.gains + 4 * i, t->model + at, half);
        astro_jones_multiply_adjoint(half, solved.solved.gains + 4 * j, seen);
        for (guint v = 0; v < 4; v++)
          g_assert_cmpfloat(cabs(seen[v] - t->data[at + v]), <, 1e-5);
      }
    if (cases[k].open == 3) {
      const complex double *j = solved.solved.gains + 4 * t->reference;
      g_assert_cmpfloat(cabs(j[1] - conj(j[2])), <, 1e-9);
      g_assert_cmpfloat(fabs(cimag(j[0])) + fabs(cimag(j[3])), <, 1e-9);
    }
    test_solved_clear(&solved);
    test_calibrate_free(t);
  }
}

/* ---- corrections ---- */

static guint32 expected_count(const TestCalibrate *t, gsize at, guint a, guint b, guint i, guint j,
                              double scale)
{
  double noise = 1;
  const guint station[2] = { i, j }, pol[2] = { a, b };
  for (guint k = 0; k < 2; k++) {
    complex double inverse[4];
    g_assert_true(astro_jones_invert(test_jones(t, station[k], 0), inverse));
    noise *= pow(cabs(inverse[2 * pol[k]]), 2) + pow(cabs(inverse[2 * pol[k] + 1]), 2);
  }
  return (guint32)(t->counts[at / t->products] * scale / noise + 0.5);
}

static void test_apply(gconstpointer data)
{
  const AstroFormat format = (AstroFormat)GPOINTER_TO_UINT(data);
  const double tolerance = format == ASTRO_FORMAT_CF64LE ? 1e-12 : 1e-5, scale = 1000;
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++)
    for (guint type = ASTRO_GAINS_GAIN; type <= ASTRO_GAINS_FULL; type++) {
      TestCalibrate *t = new_case((AstroGainsType)type, 2);
      t->config.in.format = t->config.out.format = format;
      test_observe_with(t, 0);
      lose(t, 0, 4);
      gsize bytes;
      g_autofree guint8 *block = test_block(t, &bytes);
      gpointer out = test_alloc(bytes);
      const gsize n = t->steps * t->channels * t->stations;
      g_autofree AstroGainsAt *gains = g_new0(AstroGainsAt, n);
      g_autofree guint32 *counts = g_new(guint32, t->steps * t->channels * t->baselines * 4);
      for (gsize k = 0; k < n; k++) {
        memcpy(gains[k].jones, test_jones(t, k % t->stations, 0), sizeof gains[k].jones);
        gains[k].has[0] = gains[k].has[1] = k % t->stations != 2; /* whose gain is not known */
      }
      const AstroCalibrateArguments arguments = { .work = ASTRO_CALIBRATE_APPLY,
                                                  .steps = t->steps,
                                                  .validity = &t->validity,
                                                  .gains = gains,
                                                  .counts = counts,
                                                  .count_scale = scale };
      const AstroBlock from = { block, bytes }, to = { out, bytes };
      gpointer instance = test_calibrate_open(t, backends[b], 0);
      GError *error = NULL;
      backends[b]->submit(instance, &from, 1, &to, 1, &arguments, NULL, &error);
      g_assert_no_error(error);
      test_check_guard(out, bytes);
      for (guint64 s = 0; s < t->steps; s++)
        for (guint c = 0; c < t->channels; c++)
          for (guint i = 0; i < t->stations; i++)
            for (guint j = 0; j <= i; j++)
              for (guint p = 0; p < 4; p++) {
                const gsize at = test_place(t, s, c, i, j) + p;
                const complex double value =
                    format == ASTRO_FORMAT_CF64LE
                        ? ((complex double *)out)[at]
                        : ((float *)out)[2 * at] + I * ((float *)out)[2 * at + 1];
                const gboolean good = i != 2 && j != 2 && !(i == 4 && j == 0);
                g_assert_cmpfloat(cabs(value - (good ? t->model[at] : 0)), <, tolerance);
                g_assert_cmpuint(counts[at], ==,
                                 good ? expected_count(t, at - p, p / 2, p % 2, i, j, scale) : 0);
              }
      backends[b]->destroy(instance);
      test_free(out);
      test_calibrate_free(t);
    }
}

/* ---- refusals ---- */

static void test_refused(void)
{
  const AstroStream good = test_visibilities(ASTRO_FORMAT_CF32LE, 4, 8, 2),
                    single = test_visibilities(ASTRO_FORMAT_CF32LE, 4, 8, 1);
  AstroStream whole = good, silent = good, full = good, odd = good;
  whole.format = ASTRO_FORMAT_CI32LE;
  silent.bandwidth = 0;
  full.is_full_triangle = TRUE;
  odd.layout.extents[1] = 11;
  const struct {
    AstroCalibrateConfig config;
    const char *says;
  } cases[] = {
    { { whole, whole, .type = ASTRO_GAINS_GAIN }, "calibrated visibilities are not whole numbers" },
    { { silent, silent, .type = ASTRO_GAINS_GAIN }, "bandwidth=0 Hz" },
    { { full, full, .type = ASTRO_GAINS_GAIN }, "pair" },
    { { odd, odd, .type = ASTRO_GAINS_GAIN }, "11 baselines" },
    { { single, single, .type = ASTRO_GAINS_FULL }, "type=full for pols=1" },
    { { good, single, .type = ASTRO_GAINS_GAIN }, "the same extents" },
  };
  for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
    g_autoptr(GError) error = NULL;
    g_assert_false(astro_calibrate_shape(&cases[k].config, &error));
    g_assert_nonnull(strstr(error->message, cases[k].says));
  }
}

static void add_tests(void)
{
  for (guint type = 0; type < ASTRO_N_GAINS_TYPES; type++) {
    g_autofree char *path =
        g_strdup_printf("/calibrate/backends/%s", astro_gains_type_name((AstroGainsType)type));
    g_test_add_data_func(path, GUINT_TO_POINTER(type), test_backends);
    g_autofree char *without = g_strdup_printf("%s/no-model", path);
    g_test_add_data_func(without, GUINT_TO_POINTER(type), test_no_model);
  }
  g_test_add_func("/calibrate/flagged", test_flagged);
  g_test_add_func("/calibrate/open", test_open);
  g_test_add_data_func("/calibrate/apply/CF32LE", GUINT_TO_POINTER(ASTRO_FORMAT_CF32LE),
                       test_apply);
  g_test_add_data_func("/calibrate/apply/CF64LE", GUINT_TO_POINTER(ASTRO_FORMAT_CF64LE),
                       test_apply);
  g_test_add_func("/calibrate/refused", test_refused);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
