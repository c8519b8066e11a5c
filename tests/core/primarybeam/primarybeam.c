/* Division by the primary beam: the beams against closed forms and integrals, pointings, maps,
 * cuts, and cpu compared with the reference. */
#include <math.h>

#include "core/primarybeam/primarybeam.h"
#include "tests/tests.h"

enum { WIDTH = 41, HEIGHT = 33, PIXELS = WIDTH * HEIGHT, CHANNELS = 3, PRODUCTS = 2 };

#define FREQUENCY 1.4e9
#define BANDWIDTH 0.6e9
#define LIGHT_SPEED 299792458.0

static const AstroBackend *const backends[] = { &astro_primary_beam_reference,
                                                &astro_primary_beam_cpu };

/* I and the point-spread function, which is kept. */
static AstroPrimaryBeamConfig config_of(AstroPrimaryBeamKind kind)
{
  return (AstroPrimaryBeamConfig){ .format = ASTRO_FORMAT_F64LE,
                                   .width = WIDTH,
                                   .height = HEIGHT,
                                   .channels = CHANNELS,
                                   .products = PRODUCTS,
                                   .kept = 2,
                                   .pixel = 8e-4,
                                   .centre_l = 1e-3,
                                   .centre_m = -2e-3,
                                   .frequency = FREQUENCY,
                                   .bandwidth = BANDWIDTH,
                                   .cut = 0.1,
                                   .kind = kind,
                                   .diameter = 13.5,
                                   .fwhm = 0.02,
                                   .of_frequency = 1e9,
                                   .map_channels = 1 };
}

static double frequency_of(guint channel)
{
  return FREQUENCY + ((channel + 0.5) / CHANNELS - 0.5) * BANDWIDTH;
}

static double *run(const AstroBackend *backend, const AstroPrimaryBeamConfig *config,
                   const double *values, const AstroPrimaryBeamArguments *arguments)
{
  const gboolean wide = config->format == ASTRO_FORMAT_F64LE;
  const gsize n = (gsize)CHANNELS * PRODUCTS * PIXELS, bytes = wide ? 8 : 4;
  const AstroPlace place = { .threads = 2 };
  const char *variant = NULL;
  g_autoptr(GError) error = NULL;
  AstroBlock in = { test_alloc(n * bytes), n * bytes }, out = { test_alloc(n * bytes), n * bytes };
  gpointer instance = backend->create(config, &place, &variant, &error);
  g_assert_no_error(error);
  for (gsize i = 0; i < n; i++)
    if (wide)
      ((double *)in.data)[i] = values[i];
    else
      ((float *)in.data)[i] = (float)values[i];
  g_assert_true(backend->submit(instance, &in, 1, &out, 1, arguments, NULL, &error));
  backend->destroy(instance);
  test_check_guard(out.data, out.bytes);
  double *got = g_new(double, n);
  for (gsize i = 0; i < n; i++)
    got[i] = wide ? ((double *)out.data)[i] : (double)((float *)out.data)[i];
  test_free(in.data);
  test_free(out.data);
  return got;
}

/* ---- beams ---- */

/* J1 by its integral, with the trapezoidal rule, which is exact for periodic functions. */
static double bessel(double x)
{
  enum { STEPS = 400 };
  double sum = 0;
  for (guint i = 0; i < STEPS; i++) {
    const double t = G_PI * (i + 0.5) / STEPS;
    sum += cos(t - x * sin(t));
  }
  return sum / STEPS;
}

static void test_airy(void)
{
  AstroPrimaryBeamConfig config = config_of(ASTRO_PRIMARY_BEAM_AIRY);
  const AstroPrimaryBeamArguments arguments = { { 0, 0, 1 }, NULL };
  g_assert_cmpfloat(astro_primary_beam_airy(0), ==, 1);
  g_assert_cmpfloat_with_epsilon(astro_primary_beam_airy(1.616339948 * 1.616339948), 0.5, 1e-9);
  g_assert_cmpfloat(astro_primary_beam_airy(3.831705970 * 3.831705970), <, 1e-18);
  for (double x = 0.02; x < 20; x *= 1.3)
    g_assert_cmpfloat_with_epsilon(astro_primary_beam_airy(x * x), pow(2 * bessel(x) / x, 2),
                                   1e-12);
  for (guint c = 0; c < CHANNELS; c++) {
    /* sin(theta) at half of the power, which is 0.514 of wavelength over diameter from the axis */
    const double half = 1.616339948 / G_PI * LIGHT_SPEED / frequency_of(c) / config.diameter;
    g_assert_cmpfloat_with_epsilon(astro_primary_beam_at(&config, &arguments, c, half, 0), 0.5,
                                   1e-9);
    g_assert_cmpfloat_with_epsilon(
        astro_primary_beam_at(&config, &arguments, c, -0.6 * half, 0.8 * half), 0.5, 1e-9);
  }
}

static void test_gaussian(void)
{
  const AstroPrimaryBeamConfig config = config_of(ASTRO_PRIMARY_BEAM_GAUSSIAN);
  const AstroPrimaryBeamArguments arguments = { { 0, 0, 1 }, NULL };
  for (guint c = 0; c < CHANNELS; c++) {
    const double width = config.fwhm * config.of_frequency / frequency_of(c);
    g_assert_cmpfloat_with_epsilon(astro_primary_beam_at(&config, &arguments, c, 0, sin(width / 2)),
                                   0.5, 1e-12);
    g_assert_cmpfloat_with_epsilon(astro_primary_beam_at(&config, &arguments, c, sin(width), 0),
                                   0.0625, 1e-12);
  }
}

/* From a pointing off the phase centre the beam depends on the angle alone, and the far side of the
 * sky does not receive. */
static void test_pointing(void)
{
  const AstroPrimaryBeamConfig config = config_of(ASTRO_PRIMARY_BEAM_GAUSSIAN);
  const double l0 = 0.3, m0 = -0.2, n0 = sqrt(1 - l0 * l0 - m0 * m0);
  const AstroPrimaryBeamArguments arguments = { { l0, m0, n0 }, NULL };
  for (guint i = 0; i < 50; i++) {
    const double l = l0 + 0.012 * cos(i), m = m0 + 0.009 * sin(1.7 * i),
                 n = sqrt(1 - l * l - m * m);
    const double theta = acos(MIN(l * l0 + m * m0 + n * n0, 1));
    const double widths = theta / (config.fwhm * config.of_frequency / frequency_of(1));
    g_assert_cmpfloat_with_epsilon(astro_primary_beam_at(&config, &arguments, 1, l, m),
                                   exp(-4 * G_LN2 * widths * widths), 1e-9);
  }
  g_assert_true(isnan(astro_primary_beam_at(&config, &arguments, 0, 0.8, 0.7)));
  const AstroPrimaryBeamArguments rim = { { 0.99, 0, sqrt(1 - 0.99 * 0.99) }, NULL };
  g_assert_true(isnan(astro_primary_beam_at(&config, &rim, 0, -0.99, 0)));
}

/* A picture of the beam: its pixels, a plane between them, its size at another frequency, nothing
 * beyond. */
static void test_map(void)
{
  enum { SIDE = 9 };
  float values[SIDE * SIDE];
  AstroPrimaryBeamConfig config = config_of(ASTRO_PRIMARY_BEAM_MAP);
  const AstroPrimaryBeamMap map = { values, SIDE, SIDE, 2e-3, 0, 0, 1e9 };
  const AstroPrimaryBeamArguments arguments = { { 0, 0, 1 }, &map };
  for (guint i = 0; i < SIDE * SIDE; i++) /* falls towards the west and the north */
    values[i] = 0.5F - 0.03F * (float)(i % SIDE) - 0.02F * (float)(i / SIDE);
  for (guint c = 0; c < CHANNELS; c++) {
    const double stretch = frequency_of(c) / 1e9, l = 3.1e-3 / stretch, m = -2.3e-3 / stretch;
    const double x = SIDE / 2 - 3.1e-3 / 2e-3, y = SIDE / 2 - 2.3e-3 / 2e-3;
    g_assert_cmpfloat_with_epsilon(astro_primary_beam_at(&config, &arguments, c, l, m),
                                   0.5 - 0.03 * x - 0.02 * y, 1e-6);
    g_assert_true(isnan(astro_primary_beam_at(&config, &arguments, c, 8.1e-3 / stretch, 0)));
  }
}

/* Each channel of an image has its own channel of the picture. */
static void test_map_channels(void)
{
  float values[CHANNELS * 4];
  AstroPrimaryBeamConfig config = config_of(ASTRO_PRIMARY_BEAM_MAP);
  const AstroPrimaryBeamMap map = { values, 2, 2, 0.1, 0, 0, 1e9 };
  const AstroPrimaryBeamArguments arguments = { { 0, 0, 1 }, &map };
  config.map_channels = CHANNELS;
  for (guint i = 0; i < CHANNELS * 4; i++)
    values[i] = (float)(1 + i / 4) / 4;
  for (guint c = 0; c < CHANNELS; c++)
    g_assert_cmpfloat_with_epsilon(astro_primary_beam_at(&config, &arguments, c, 0.01, -0.02),
                                   (1 + c) / 4., 1e-7);
}

/* ---- division ---- */

/* A flat image times the beam becomes flat again; pixels below the cut are NaN, and the
 * point-spread function stays. */
static void test_division(void)
{
  g_autofree double *values = g_new(double, CHANNELS *PRODUCTS *PIXELS);
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++)
    for (AstroPrimaryBeamKind kind = 0; kind < ASTRO_PRIMARY_BEAM_MAP; kind++) {
      const AstroPrimaryBeamConfig config = config_of(kind);
      const AstroPrimaryBeamArguments arguments = { { 0, 0, 1 }, NULL };
      guint cut = 0;
      for (guint i = 0; i < CHANNELS * PRODUCTS * PIXELS; i++) {
        const double l = 1e-3 + (WIDTH / 2 - (double)(i % WIDTH)) * 8e-4,
                     m = -2e-3 + ((double)(i / WIDTH % HEIGHT) - HEIGHT / 2) * 8e-4;
        values[i] = astro_primary_beam_at(&config, &arguments, i / PIXELS / 2, l, m);
      }
      g_autofree double *got = run(backends[b], &config, values, &arguments);
      for (guint i = 0; i < CHANNELS * PRODUCTS * PIXELS; i++)
        if (i / PIXELS % 2) {
          g_assert_cmpfloat(got[i], ==, values[i]);
        } else if (values[i] < 0.0999) {
          g_assert_true(isnan(got[i]));
          cut++;
        } else if (values[i] > 0.1001) {
          g_assert_cmpfloat_with_epsilon(got[i], 1, 2e-6);
        }
      g_assert_cmpuint(cut, >, 100);
    }
}

static void test_cpu(void)
{
  enum { SIDE = 15 };
  g_autoptr(GRand) rand = g_rand_new_with_seed(8);
  g_autofree double *values = g_new(double, CHANNELS *PRODUCTS *PIXELS);
  float pixels[SIDE * SIDE];
  const AstroPrimaryBeamMap map = { pixels, SIDE, SIDE, 2e-3, 1e-4, 0, 1.2e9 };
  for (guint i = 0; i < SIDE * SIDE; i++)
    pixels[i] = (float)g_rand_double_range(rand, 0.3, 1);
  for (guint i = 0; i < CHANNELS * PRODUCTS * PIXELS; i++)
    values[i] = g_rand_double_range(rand, -1, 1);
  for (guint i = 0; i < 6; i++) {
    AstroPrimaryBeamConfig config = config_of((AstroPrimaryBeamKind)(i % 3));
    const AstroPrimaryBeamArguments arguments = { { 0.01, 0.02, sqrt(1 - 0.0005) }, &map };
    config.format = i < 3 ? ASTRO_FORMAT_F64LE : ASTRO_FORMAT_F32LE;
    config.diameter = i % 2 ? 13.5 : 200; /* of many sidelobes */
    config.cut = 1e-3;
    g_autofree double *expected = run(backends[0], &config, values, &arguments);
    g_autofree double *got = run(backends[1], &config, values, &arguments);
    guint apart = 0; /* pixels on the cut, which rounding moves to the other side */
    for (guint k = 0; k < CHANNELS * PRODUCTS * PIXELS; k++)
      if (isnan(expected[k]) || isnan(got[k]))
        apart += isnan(expected[k]) != isnan(got[k]);
      else
        g_assert_cmpfloat_with_epsilon(got[k], expected[k], 2e-4 * fabs(expected[k]) + 1e-7);
    g_assert_cmpuint(apart, <=, 2);
  }
}

static void test_errors(void)
{
  static const char *const says[] = {
    "diameter of 0 m",    "full width of 0 radians", "picture of 2 channels",
    "there is no kind 3", "frequency of 0 Hz",       "cut 1 of its peak",
    "cut 0 of its peak",  "pixels of 0 radians",     "format CI8"
  };
  AstroPrimaryBeamConfig cases[9];
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    cases[i] = config_of(i == 1   ? ASTRO_PRIMARY_BEAM_GAUSSIAN
                         : i == 2 ? ASTRO_PRIMARY_BEAM_MAP
                                  : ASTRO_PRIMARY_BEAM_AIRY);
  cases[0].diameter = 0;
  cases[1].fwhm = 0;
  cases[2].map_channels = 2;
  cases[3].kind = 3;
  cases[4].frequency = 0;
  cases[5].cut = 1;
  cases[6].cut = 0;
  cases[7].pixel = 0;
  cases[8].format = ASTRO_FORMAT_CI8;
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++)
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
      const AstroPlace place = { 0 };
      const char *variant;
      g_autoptr(GError) error = NULL;
      g_assert_null(backends[b]->create(&cases[i], &place, &variant, &error));
      test_says(error->message, says[i]);
    }
}

static void add_tests(void)
{
  g_test_add_func("/primary-beam/airy", test_airy);
  g_test_add_func("/primary-beam/gaussian", test_gaussian);
  g_test_add_func("/primary-beam/pointing", test_pointing);
  g_test_add_func("/primary-beam/map", test_map);
  g_test_add_func("/primary-beam/map-channels", test_map_channels);
  g_test_add_func("/primary-beam/division", test_division);
  g_test_add_func("/primary-beam/cpu", test_cpu);
  g_test_add_func("/primary-beam/errors", test_errors);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
