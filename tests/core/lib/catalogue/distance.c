/* Distances from redshifts against closed forms, and columns of distances in text. */
#include "core/lib/catalogue/distance.h"
#include "tests/tests.h"

#include <math.h>

#define HUBBLE 2997.92458

static void near_by(double found, double expected)
{
  if (!(fabs(found - expected) <= 1e-13 * expected))
    g_error("%.17g, expected %.17g", found, expected);
}

static void test_closed_forms(void)
{
  static const double redshifts[] = { 1e-6, 0.01, 0.5, 1, 2.3, 10, 1100 };
  for (guint i = 0; i < G_N_ELEMENTS(redshifts); i++) {
    const double z = redshifts[i];
    near_by(astro_comoving_distance(z, 0), HUBBLE * z);
    near_by(astro_comoving_distance(z, 1), 2 * HUBBLE * -expm1(-0.5 * log1p(z)));
  }
}

/* Simpson's rule in redshift, with many steps. */
static double by_steps(double redshift, double omega_m)
{
  enum { STEPS = 200000 };
  double sum = 0;
  for (guint i = 0; i <= STEPS; i++) {
    const double scale = 1 + redshift * i / STEPS, share = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2;
    sum += share / sqrt(omega_m * scale * scale * scale + 1 - omega_m);
  }
  return HUBBLE * sum * redshift / STEPS / 3;
}

static void test_against_steps(void)
{
  static const double densities[] = { 0.05, 0.3, 0.7 };
  for (guint d = 0; d < G_N_ELEMENTS(densities); d++)
    for (double z = 0.1; z < 7; z *= 2)
      near_by(astro_comoving_distance(z, densities[d]), by_steps(z, densities[d]));
  /* Astropy's FlatLambdaCDM(H0=70, Om0=0.3).comoving_distance(1) is 3303.8288 Mpc */
  g_assert_cmpfloat_with_epsilon(astro_comoving_distance(1, 0.3) / 0.7, 3303.8288, 1e-3);
}

static AstroCatalogueColumns columns_of(const char *distance, const char *redshift, double omega_m,
                                        const char *says)
{
  AstroCatalogueColumns columns = { .ra = "ra", .dec = "dec" };
  g_autoptr(GError) error = NULL;
  astro_catalogue_choose_distance(distance, redshift, omega_m, &columns, &error);
  if (says)
    test_says(error ? error->message : "nothing", says);
  else
    g_assert_no_error(error);
  return columns;
}

static void test_choice(void)
{
  columns_of("d", "z", 0.3, "distance-column=d and redshift-column=z are both set");
  columns_of(NULL, "z", -1, "redshift-column=z needs a cosmology");
  columns_of("", "z", NAN, "redshift-column=z needs a cosmology");
  g_assert_null(columns_of("", NULL, 0.3, NULL).distance);
}

static void parse(const char *text, const AstroCatalogueColumns *columns, AstroCatalogue *catalogue,
                  const char *says)
{
  g_autoptr(GError) error = NULL;
  astro_catalogue_parse_text(text, strlen(text), "test", columns, catalogue, NULL, &error);
  if (says)
    test_says(error ? error->message : "nothing", says);
  else
    g_assert_no_error(error);
}

static void test_text(void)
{
  const AstroCatalogueColumns distances = columns_of("x", NULL, -1, NULL),
                              redshifts = columns_of(NULL, "x", 0.3, NULL);
  AstroCatalogue catalogue;
  parse("ra,dec,x\n1,2,0.5\n3,4,1\n", &distances, &catalogue, NULL);
  g_assert_cmpfloat(catalogue.distance[0], ==, 0.5);
  g_assert_cmpfloat(catalogue.distance[1], ==, 1);
  astro_catalogue_clear(&catalogue);
  parse("ra,dec,x\n1,2,0.5\n3,4,1\n", &redshifts, &catalogue, NULL);
  g_assert_cmpfloat(catalogue.distance[1], ==, astro_comoving_distance(1, 0.3));
  astro_catalogue_clear(&catalogue);
  parse("ra,dec,x\n1,2,5\n3,4,-1\n", &distances, &catalogue,
        "line 3: -1 in column 3, expected a distance above 0");
  parse("ra,dec,x\n1,2,0\n", &redshifts, &catalogue,
        "line 2: 0 in column 3, expected a redshift above 0, at most 1100");
  parse("ra,dec,x\n1,2,3000\n", &redshifts, &catalogue, "expected a redshift above 0");
  parse("ra,dec,x\n1,2,nan\n", &redshifts, &catalogue, "is not a number");
  parse("ra,dec,x\n1,2,1e300\n", &distances, &catalogue, "at most 1e50");
}

/* Even in volume: half of the points lie within the half of the volume. */
static void test_random(void)
{
  enum { N = 20000 };
  AstroRandom random;
  guint near = 0;
  astro_random_init(&random, 5, 0);
  for (guint i = 0; i < N; i++) {
    const double d = astro_random_distance(&random, 300, 900);
    g_assert_true(d >= 300 && d <= 900);
    near += d < cbrt((300.0 * 300 * 300 + 900.0 * 900 * 900) / 2);
  }
  g_assert_cmpfloat_with_epsilon(near / (double)N, 0.5, 0.02);
}

static void add_tests(void)
{
  g_test_add_func("/distance/closed-forms", test_closed_forms);
  g_test_add_func("/distance/against-steps", test_against_steps);
  g_test_add_func("/distance/choice", test_choice);
  g_test_add_func("/distance/text", test_text);
  g_test_add_func("/distance/random", test_random);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
