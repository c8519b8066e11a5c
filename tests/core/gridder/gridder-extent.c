/* The size of an image that follows from the stations alone. */
#include "core/gridder/extent.h"
#include "tests/tests.h"

#include <math.h>

static void test_span(void)
{
  g_autoptr(AstroObservation) observation = astro_observation_new(5);
  const double places[5][3] = {
    { 6e6, 1e5, 2e5 },
    { 6e6, 1e5 + 30, 2e5 },
    { 0, 0, 0 },
    { 6e6 + 400, 1e5, 2e5 },
    { 6e6, 1e5, 2e5 } /* two names of one place */
  };
  AstroBaselines found;
  memcpy(observation->positions, places, sizeof places);
  g_assert_true(astro_baselines_find(observation, &found));
  g_assert_cmpfloat_with_epsilon(found.shortest, 30, 1e-6);
  g_assert_cmpfloat_with_epsilon(found.longest, hypot(400, 30), 1e-6);
  memset(observation->positions, 0, sizeof places);
  g_assert_false(astro_baselines_find(observation, &found));
  memcpy(observation->positions, places, sizeof places[0]);
  g_assert_false(astro_baselines_find(observation, &found));
}

/* A quarter of the beam and no more, to two digits. */
static void test_cell(void)
{
  for (double longest = 3; longest < 1e7; longest *= 1.37) {
    const AstroBaselines baselines = { longest / 10, longest, longest / 2 };
    const double quarter = 299792458 / (1.4e9 * longest) / 4 * 180 / G_PI * 3600;
    const double cell = astro_extent_cell(&baselines, 1.4e9, FALSE);
    g_autofree char *text = g_strdup_printf("%.1e", cell);
    g_assert_cmpfloat(cell, <=, quarter * (1 + 1e-9));
    g_assert_cmpfloat(cell, >, quarter / 1.1);
    g_assert_cmpfloat_with_epsilon(cell, g_ascii_strtod(text, NULL), 1e-9 * cell);
  }
}

/* With natural weights many short baselines make a wide beam; the longest one is still held. */
static void test_natural(void)
{
  static const struct {
    double rms, least, most; /* over the longest; pixels times it */
  } cases[] = { { 1, 0.22, 0.25 }, { 0.4, 0.3, 0.332 }, { 0.01, 0.41, 0.45 } };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    const AstroBaselines baselines = { 10, 1000, 1000 * cases[i].rms };
    const double cell = astro_extent_cell(&baselines, 299792458, TRUE) * G_PI / 180 / 3600 * 1000;
    g_assert_cmpfloat(cell, >, cases[i].least);
    g_assert_cmpfloat(cell, <=, cases[i].most);
  }
}

static void test_size(void)
{
  static const struct {
    double shortest, frequency, cell, field;
    guint size;
  } cases[] = {
    { 25, 1.4e9, 10, 0, 1024 },  /* 0.6 degrees would be enough */
    { 25, 1.4e9, 1.4, 0, 1536 }, /* all of it, and what suits the FFT */
    { 25, 1.4e9, 0.1, 0, 2048 }, /* no more than is bearable */
    { 5, 50e6, 3000, 0, 82 },    /* no farther than the horizon */
    { 25, 1.4e9, 10, 0.5, 192 }, /* as asked for */
    { 25, 1.4e9, 1, 2, 7200 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    g_assert_cmpuint(
        astro_extent_size(cases[i].shortest, cases[i].frequency, cases[i].cell, cases[i].field), ==,
        cases[i].size);
}

static void add_tests(void)
{
  g_test_add_func("/extent/span", test_span);
  g_test_add_func("/extent/cell", test_cell);
  g_test_add_func("/extent/natural", test_natural);
  g_test_add_func("/extent/size", test_size);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
