/* Visibilities made ready for gridding, and their weights. */
#include "core/gridder/prepare.h"
#include "core/stream/uvw.h"
#include "tests/tests.h"

#include <complex.h>
#include <math.h>

enum { STATIONS = 4, BASELINES = 10, CHANNELS = 2 };

static AstroObservation *observe(void)
{
  static const double positions[3 * STATIONS] = { 3826577.1, 461022.9,  5064892.8, 3826777.1,
                                                  461322.9,  5064592.8, 3826177.1, 461522.9,
                                                  5065092.8, 3826577.1, 460422.9,  5065092.8 };
  AstroObservation *observation = astro_observation_new(STATIONS);
  memcpy(observation->positions, positions, sizeof positions);
  g_assert_true(astro_observation_set_start(observation, "2026-11-20T12:00:00", NULL));
  observation->has_phase_centre = TRUE;
  observation->phase_ra = 3;
  observation->phase_dec = 0.9;
  return observation;
}

static const AstroPrepareConfig prepare_config = {
  .channels = CHANNELS,
  .baselines = BASELINES,
  .pols = 2,
  .format = ASTRO_FORMAT_CF32LE,
  .frequency = 100e6,
  .bandwidth = 2e6,
  .is_double = TRUE,
  .keep_weights = TRUE,
};

static const AstroPrepareFuncs *const prepares = &astro_prepare_funcs;

static AstroPrepare *new_prepare(char **products, double centre_l, AstroGrid *grid)
{
  g_autoptr(AstroObservation) observation = observe();
  GError *error = NULL;
  *grid = (AstroGrid){ .image_size = 32,
                       .size = 64,
                       .pixel = 1e-3,
                       .cell = 1 / 64e-3,
                       .centre_l = centre_l,
                       .products = products,
                       .spread = { .support = 6 } };
  AstroPrepare *prepare = prepares->create(&prepare_config, grid, observation, NULL, &error);
  g_assert_no_error(error);
  return prepare;
}

static const AstroLayout dump_shape = {
  .n_axes = 4,
  .axes = { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_BASELINE, ASTRO_AXIS_POL, ASTRO_AXIS_POL },
  .extents = { CHANNELS, BASELINES, 2, 2 },
};

static void fill_dump(complex float *dump, guint32 seed)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(seed);
  for (guint i = 0; i < CHANNELS * BASELINES * 4; i++)
    dump[i] =
        (float)g_rand_double_range(random, -1, 1) + (float)g_rand_double_range(random, -1, 1) * I;
}

/* Every row is a baseline of the observation with its products, all conjugated if its w was
 * negative. */
static void test_prepare(void)
{
  static char *products[] = { "XY", "I", "U", "V", "PSF", NULL };
  g_autoptr(AstroObservation) observation = observe();
  complex float dump[CHANNELS * BASELINES * 4];
  AstroGrid grid;
  AstroGridRows rows;
  double stations[3 * STATIONS];
  const double l = 0.05, n_minus_1 = sqrt(1 - l * l) - 1;
  AstroPrepare *prepare = new_prepare(products, l, &grid);
  const AstroGridCounts *counts;
  const double *sums;
  GError *error = NULL;
  guint row = 0, turned = 0;

  fill_dump(dump, 11);
  g_assert_true(prepares->add(prepare, dump, NULL, &dump_shape, 0,
                              5000 * G_GINT64_CONSTANT(1000000000), NULL, &error));
  prepares->rows(prepare, &rows);
  g_assert_cmpuint(rows.rows, ==, 6);
  astro_uvw(observation, 5000 * G_GINT64_CONSTANT(1000000000), stations);
  for (guint i = 0; i < STATIONS; i++)
    for (guint j = 0; j < i; j++, row++) {
      double uvw[3];
      for (guint k = 0; k < 3; k++)
        uvw[k] = stations[3 * i + k] - stations[3 * j + k];
      const gboolean round = uvw[2] < 0;
      turned += round;
      for (guint k = 0; k < 3; k++)
        g_assert_cmpfloat_with_epsilon(rows.uvw[3 * row + k], round ? -uvw[k] : uvw[k], 1e-4);
      for (guint c = 0; c < CHANNELS; c++) {
        const complex float *v = &dump[4 * (c * BASELINES + i * (i + 1) / 2 + j)];
        const double per = (99.5e6 + 1e6 * c) / ASTRO_LIGHT_SPEED;
        const complex double turn = cexp(-2 * G_PI * I * uvw[0] * per * l);
        const complex double depth = cexp(2 * G_PI * I * fabs(uvw[2]) * per * n_minus_1);
        complex double expected[] = { round ? v[2] : v[1], (v[0] + v[3]) / 2, (v[1] + v[2]) / 2,
                                      (v[1] - v[2]) / (2 * I) };
        const complex double *found =
            (const complex double *)rows.values + (row * CHANNELS + c) * 5;
        for (guint p = 0; p < 4; p++) {
          const complex double value = expected[p] * turn;
          g_assert_cmpfloat(cabs(found[p] - (round ? conj(value) : value)), <=, 1e-6);
        }
        g_assert_cmpfloat(cabs(found[4] - depth), <=, 1e-6);
      }
    }
  g_assert_cmpuint(turned, >, 0);
  g_assert_cmpuint(turned, <, 6);
  g_assert_true(prepares->totals(prepare, &counts, &sums, &error));
  g_assert_cmpuint(counts->used, ==, 6 * CHANNELS * 4);
  for (guint c = 0; c < CHANNELS; c++)
    g_assert_cmpfloat(sums[c], ==, 6);
  prepares->destroy(prepare);
}

/* With much smearing allowed a row's channels are the sums of several of them, weights too; with
 * little it is as it was. */
static void test_sums(void)
{
  static char *products[] = { "I", "PSF", NULL };
  enum { MANY = 5 };
  const AstroLayout shape = { .n_axes = 4,
                              .axes = { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_BASELINE, ASTRO_AXIS_POL,
                                        ASTRO_AXIS_POL },
                              .extents = { MANY, BASELINES, 2, 2 } };
  g_autoptr(AstroObservation) observation = observe();
  g_autoptr(GRand) random = g_rand_new_with_seed(31);
  complex float dump[MANY * BASELINES * 4];
  GError *error = NULL;
  AstroGrid grid;
  prepares->destroy(new_prepare(products, 0, &grid)); /* for its grid */
  for (guint i = 0; i < G_N_ELEMENTS(dump); i++)
    dump[i] = (float)g_rand_double_range(random, -1, 1) + I * 0.5f;
  dump[4 * (1 * BASELINES + 1)] = NAN; /* channel 1 of stations 1 and 0 */
  for (guint is_double = 0; is_double < 2; is_double++) {
    AstroPrepareConfig config = prepare_config;
    AstroPrepare *apart, *added;
    AstroGridRows all, rows;
    const double *sums[2];
    const AstroGridCounts *counts[2];
    config.channels = MANY;
    config.bandwidth = 10e6; /* 0.12 turns from channel to channel, on the longest */
    config.is_double = is_double;
    apart = prepares->create(&config, &grid, observation, NULL, &error);
    config.smearing = 0.45;
    added = prepares->create(&config, &grid, observation, NULL, &error);
    g_assert_no_error(error);
    for (guint again = 0; again < 2; again++) {
      g_assert_true(prepares->add(apart, dump, NULL, &shape, 0, 0, NULL, &error));
      g_assert_true(prepares->add(added, dump, NULL, &shape, 0, 0, NULL, &error));
    }
    prepares->rows(apart, &all);
    prepares->rows(added, &rows);
    g_assert_cmpuint(all.channels, ==, MANY);
    g_assert_cmpuint(rows.channels, ==, 2);
    g_assert_cmpuint(rows.rows, ==, all.rows);
    for (guint g = 0; g < 2; g++) {
      const guint from = 3 * g, to = MIN(from + 3, MANY);
      double wavenumber = 0;
      for (guint c = from; c < to; c++)
        wavenumber += all.wavenumbers[c] / (to - from);
      g_assert_cmpfloat_with_epsilon(rows.wavenumbers[g], wavenumber, 1e-15);
      for (guint64 row = 0; row < rows.rows; row++)
        for (guint k = 0; k < 4; k++) {
          double sum = 0;
          for (guint c = from; c < to; c++) {
            const gsize at = (row * MANY + c) * 4 + k;
            sum += is_double ? ((const double *)all.values)[at] : ((const float *)all.values)[at];
          }
          const gsize at = (row * 2 + g) * 4 + k;
          g_assert_cmpfloat(is_double ? ((const double *)rows.values)[at]
                                      : ((const float *)rows.values)[at],
                            ==, is_double ? sum : (float)sum);
        }
    }
    g_assert_true(prepares->totals(apart, &counts[0], &sums[0], &error));
    g_assert_true(prepares->totals(added, &counts[1], &sums[1], &error));
    g_assert_cmpuint(counts[0]->used, ==, counts[1]->used);
    g_assert_cmpuint(counts[1]->not_finite, ==, 2);
    g_assert_cmpfloat(sums[1][0], ==, sums[0][0] + sums[0][1] + sums[0][2]);
    g_assert_cmpfloat(sums[1][1], ==, sums[0][3] + sums[0][4]);

    /* Weights follow: with all of them uniform, those of a row are its own again. */
    g_assert_true(prepares->weigh(added, ASTRO_WEIGHTING_UNIFORM, 0, FALSE, &error));
    g_assert_true(prepares->totals(added, &counts[1], &sums[1], &error));
    g_assert_cmpfloat(sums[1][0] + sums[1][1], >, 0);
    g_assert_cmpfloat(sums[1][0] + sums[1][1], <, 2 * 6 * MANY);
    for (guint c = 2; c < MANY; c++)
      g_assert_cmpfloat(sums[1][c], ==, 0);
    prepares->destroy(apart);
    prepares->destroy(added);
  }
}

/* NaN, flagged and outside visibilities are counted apart, become zero and have no weight; counts
 * of samples are weights. */
static void test_left_out(void)
{
  static char *products[] = { "I", "PSF", NULL };
  const AstroLayout counted = { .n_axes = 2,
                                .axes = { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_BASELINE },
                                .extents = { CHANNELS, BASELINES } };
  complex float dump[CHANNELS * BASELINES * 4];
  GstBuffer *buffer = gst_buffer_new();
  AstroValidityMeta *validity = astro_buffer_add_validity(buffer, &counted, 8);
  const AstroGridCounts *counts;
  const double *sums;
  GError *error = NULL;
  AstroGrid grid;
  AstroGridRows rows;
  AstroPrepare *prepare = new_prepare(products, 0, &grid);

  fill_dump(dump, 12);
  dump[4 * 1] = NAN;                   /* XX of stations 1 and 0 */
  dump[4 * 3 + 3] = INFINITY * I;      /* YY of 2 and 0 */
  dump[4 * 4 + 1] = NAN;               /* XY of 2 and 1: not part of I */
  validity->counts[6] = 0;             /* 3 and 0 */
  validity->counts[BASELINES + 7] = 4; /* 3 and 1, the other channel */
  for (guint c = 0; c < CHANNELS; c++)
    validity->counts[c * BASELINES + 8] = 0; /* 3 and 2: no row at all */
  g_assert_true(prepares->add(prepare, dump, validity, &dump_shape, 0, 0, NULL, &error));
  g_assert_true(prepares->totals(prepare, &counts, &sums, &error));
  prepares->rows(prepare, &rows);
  g_assert_cmpuint(rows.rows, ==, 5);
  g_assert_cmpuint(counts->not_finite, ==, 2);
  g_assert_cmpuint(counts->flagged, ==, 3);
  g_assert_cmpuint(counts->outside, ==, 0);
  g_assert_cmpuint(counts->used, ==, 7);
  g_assert_cmpfloat(sums[0], ==, 2);
  g_assert_cmpfloat(sums[1], ==, 4.5);
  for (gsize i = 0; i < rows.rows * CHANNELS; i++) {
    const complex double *value = (const complex double *)rows.values + 2 * i;
    g_assert_true(isfinite(creal(value[0])) && isfinite(cimag(value[0])));
    g_assert_true((value[1] == 0) == (value[0] == 0));
  }
  prepares->add_missing(prepare);
  g_assert_cmpuint(counts->flagged, ==, 3 + 12);
  prepares->destroy(prepare);

  /* A cell so small that the grid does not hold the longest baselines. */
  prepare = new_prepare(products, 0, &grid);
  AstroGrid small = grid;
  small.cell = 6;
  prepares->destroy(prepare);
  g_autoptr(AstroObservation) observation = observe();
  prepare = prepares->create(&prepare_config, &small, observation, NULL, &error);
  fill_dump(dump, 13);
  g_assert_true(prepares->add(prepare, dump, NULL, &dump_shape, 0, 0, NULL, &error));
  g_assert_true(prepares->totals(prepare, &counts, &sums, &error));
  g_assert_cmpuint(counts->outside, >, 0);
  g_assert_cmpuint(counts->used, >, 0);
  g_assert_cmpuint(counts->outside + counts->used, ==, 12);
  prepares->destroy(prepare);
  gst_buffer_unref(buffer);
}

/* A channel at 0 Hz is left out; there are none below. */
static void test_from_zero(void)
{
  static char *products[] = { "I", "PSF", NULL };
  complex float dump[CHANNELS * BASELINES * 4];
  AstroPrepareConfig config = prepare_config;
  const double width = config.bandwidth / CHANNELS;
  const AstroGridCounts *counts;
  const double *sums;
  GError *error = NULL;
  AstroGrid grid;
  AstroGridRows rows;
  g_autoptr(AstroObservation) observation = observe();
  prepares->destroy(new_prepare(products, 0, &grid)); /* for its grid */

  config.frequency = config.bandwidth / 2 - width / 2;
  AstroPrepare *prepare = prepares->create(&config, &grid, observation, NULL, &error);
  g_assert_no_error(error);
  fill_dump(dump, 14);
  g_assert_true(prepares->add(prepare, dump, NULL, &dump_shape, 0, 0, NULL, &error));
  g_assert_true(prepares->totals(prepare, &counts, &sums, &error));
  g_assert_cmpuint(counts->flagged, ==, 6);
  g_assert_cmpuint(counts->used, ==, 6 * (CHANNELS - 1));
  g_assert_cmpfloat(sums[0], ==, 0);
  g_assert_cmpfloat(sums[1], ==, 6);
  prepares->rows(prepare, &rows);
  g_assert_cmpuint(rows.rows, ==, 6);
  for (gsize i = 0; i < rows.rows; i++)
    for (guint p = 0; p < 2; p++) {
      const complex double *value = (const complex double *)rows.values + (i * CHANNELS * 2 + p);
      g_assert_true(value[0] == 0);
      g_assert_true(value[2] != 0);
    }
  prepares->destroy(prepare);

  config.frequency -= 1;
  g_assert_null(prepares->create(&config, &grid, observation, NULL, &error));
  g_assert_nonnull(strstr(error->message, "first channel below 0 Hz"));
  g_clear_error(&error);
}

static void break_positions(AstroObservation *o, AstroPrepareConfig *config)
{
  for (guint i = 0; i < 3 * STATIONS; i++)
    o->positions[i] /= 1e5;
}
static void break_centre(AstroObservation *o, AstroPrepareConfig *config)
{
  o->has_phase_centre = FALSE;
}
static void break_start(AstroObservation *o, AstroPrepareConfig *config)
{
  o->has_start = FALSE;
}
static void break_baselines(AstroObservation *o, AstroPrepareConfig *config)
{
  config->baselines = 11;
}
static void break_frequency(AstroObservation *o, AstroPrepareConfig *config)
{
  config->frequency = 0;
}
static void break_bandwidth(AstroObservation *o, AstroPrepareConfig *config)
{
  config->bandwidth = 0;
}
static void break_basis(AstroObservation *o, AstroPrepareConfig *config)
{
  g_free(o->basis);
  o->basis = g_strdup("circular");
}

static void test_unprepared(void)
{
  static const struct {
    void (*break_it)(AstroObservation *, AstroPrepareConfig *);
    const char *says;
  } cases[] = {
    { break_positions, "geocentric" }, { break_centre, "phase centre" },
    { break_start, "start" },          { break_baselines, "baselines" },
    { break_frequency, "frequency" },  { break_bandwidth, "bandwidth" },
    { break_basis, "circular" },
  };
  static char *products[] = { "XX", NULL };
  AstroGrid grid = {
    .image_size = 32, .size = 64, .pixel = 1e-3, .cell = 15, .products = products
  };
  GError *error = NULL;
  g_assert_null(prepares->create(&prepare_config, &grid, NULL, NULL, &error));
  g_assert_nonnull(strstr(error->message, "observation"));
  g_clear_error(&error);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(AstroObservation) observation = observe();
    AstroPrepareConfig config = prepare_config;
    cases[i].break_it(observation, &config);
    g_assert_null(prepares->create(&config, &grid, observation, NULL, &error));
    g_assert_nonnull(strstr(error->message, cases[i].says));
    g_clear_error(&error);
  }
}

/* Three visibilities in a cell and one alone. */
static void test_weights(void)
{
  const double uvw[] = { 100, 50, 5, 100.1, 50.1, 3, -100.05, -50.02, 4, 20, -30, 1 };
  const double wavenumber = 1;
  const float weights[] = { 1, 2, 1, 3 };
  AstroGrid grid = { .image_size = 64, .pixel = 1 / 320.0 };
  GError *error = NULL;
  for (AstroWeighting weighting = 0; weighting <= ASTRO_WEIGHTING_BRIGGS; weighting++) {
    double values[] = { 1, 0, 0, 2, 1, 0, 3, 0 }, sum = 10;
    float factors[] = { 1, 1, 1, 1 };
    AstroGridRows rows = { 4, 1, 1, TRUE, uvw, &wavenumber, values };
    AstroWeights w = { weighting, 0, FALSE, &grid, weights, factors, values, &sum };
    for (guint again = 0; again < 2; again++)
      g_assert_true(astro_weights_apply(&w, &rows, &error));
    /* sum of squares over that of weights, both halves of the plane: 2 (16 + 9) / (2 x 7) */
    const double f2 = 25 / (50.0 / 14);
    const double dense[] = { 1, 1 / 4.0, 1 / (1 + 4 * f2) };
    const double alone[] = { 1, 1 / 3.0, 1 / (1 + 3 * f2) };
    if (weighting == ASTRO_WEIGHTING_NATURAL) {
      g_assert_cmpfloat(sum, ==, 10);
      continue;
    }
    g_assert_cmpfloat_with_epsilon(sum, 4 * dense[weighting] + 3 * alone[weighting], 1e-6);
    g_assert_cmpfloat_with_epsilon(values[3], 2 * dense[weighting], 1e-6);
    g_assert_cmpfloat_with_epsilon(values[6], 3 * alone[weighting], 1e-6);
  }
}

static void add_tests(void)
{
  g_test_add_func("/gridder/prepare", test_prepare);
  g_test_add_func("/gridder/sums", test_sums);
  g_test_add_func("/gridder/left-out", test_left_out);
  g_test_add_func("/gridder/from-zero", test_from_zero);
  g_test_add_func("/gridder/unprepared", test_unprepared);
  g_test_add_func("/gridder/weights", test_weights);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
