/* The graph calibrate: gains that were put into a simulated array are in the table, and the image
 * is that of an array without errors; the table serves another run. */
#include "core/fits/gains/gains.h"
#include "core/kit/units.h"
#include "core/lib/predict/errors.h"
#include "tests/graphs/program.h"
#include "tests/near.h"
#include "tests/tests.h"

#define SMALL                                                                                      \
  "sky=0.002,0.0015,2 stations=8 duration=120 channels=4 noise=0 size=256 iterations=200 "

/* The flux of the brightest source in Jy/beam. */
static double flux_of(const Result *result)
{
  const char *at = strstr(result->out, "source 1: found l ");
  g_assert_nonnull(at);
  g_assert_true(g_str_has_prefix(at, "source 1: found l 0.0"));
  const char *end = strstr(at, " Jy/beam");
  g_assert_nonnull(end);
  while (end[-1] != ' ')
    end--;
  return g_ascii_strtod(end, NULL);
}

/* Calibrated weights are not all the same, so that sidelobes differ a little; the seed of the
 * simulation is 1. */
static void test_gains(void)
{
  g_auto(Result) ideal = run("run calibrate gain-error=0 phase-error=0 " SMALL);
  if (skips(&ideal))
    return;
  g_assert_cmpint(ideal.status, ==, 0);
  g_auto(Result) solved = run("run calibrate gain-error=0.2 phase-error=40 --stats " SMALL);
  g_assert_cmpint(solved.status, ==, 0);
  test_near(flux_of(&solved), flux_of(&ideal), 0.03);
  g_autofree char *table = in_folder("calibrate.gains.fits");
  GError *error = NULL;
  g_autoptr(AstroGains) gains = astro_fits_gains_read(table, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(gains->intervals->len, ==, 2);
  g_autofree complex double *truth = astro_predict_gains(8, 2, 0.2, 40 * ASTRO_DEGREE, 1);
  for (guint k = 0; k < gains->gains->len; k++)
    test_near_complex(g_array_index(gains->gains, complex double, k),
                      truth[k % 16] * conj(truth[k % 2]) / cabs(truth[k % 2]), 1e-5);
  g_assert_cmpint(file_size("calibrate.uvfits"), >, 0);
  g_assert_cmpint(file_size("calibrate.png"), >, 0);
  g_assert_cmpint(file_size("before.png"), >, 0);
  g_assert_cmpint(file_size("after.png"), >, 0);
  g_assert_cmpint(file_size("gains.png"), >, 5000);
}

/* Without the gains the image is wrong; a table that was solved before sets it right. */
static void test_apply(void)
{
  write_file("raw.graph",
             "astrovissrc stations=8 array=vla-like sky=0.002,0.0015,2 "
             "gain-error=0.2 phase-error=40 noise=0 channels=4 duration=120 integration=10 "
             "bandwidth=1e6 ! astrofitssink location=raw.uvfits",
             -1);
  g_auto(Result) raw = run("run ./raw.graph --quiet");
  g_assert_cmpint(raw.status, ==, 0);
  g_auto(Result) wrong = run("run image input=raw.uvfits size=256 iterations=200");
  if (skips(&wrong))
    return;
  g_auto(Result) solved = run("run calibrate input=raw.uvfits model=0.002,0.0015,2 interval=0 "
                              "table=a.fits size=256 iterations=200");
  g_assert_cmpint(solved.status, ==, 0);
  g_auto(Result) applied = run("run calibrate input=raw.uvfits apply=a.fits output=b.uvfits "
                               "gains-picture=applied.png size=256 iterations=200");
  g_assert_cmpint(applied.status, ==, 0);
  g_assert_cmpfloat(flux_of(&wrong), <, 0.9 * flux_of(&solved));
  test_near(flux_of(&applied), flux_of(&solved), 1e-3);
  g_assert_cmpint(file_size("applied.png"), >, 5000);
  g_auto(Result) refused = run("run calibrate input=raw.uvfits apply=raw.uvfits output=c.uvfits");
  g_assert_cmpint(refused.status, ==, 1);
  g_assert_nonnull(strstr(refused.err, "raw.uvfits: there is no binary table GAINS"));
}

/* A Measurement Set as the model, in place of a sky. */
static void test_model_set(void)
{
  static const char *const sets[][2] = { { "raw", "gain-error=0.2 phase-error=40" },
                                         { "model", "" } };
  for (guint i = 0; i < G_N_ELEMENTS(sets); i++) {
    g_autofree char *text = g_strdup_printf(
        "astrovissrc stations=8 array=vla-like sky=0.002,0.0015,2 %s noise=0 channels=4 "
        "duration=60 integration=10 bandwidth=1e6 ! astromssink location=%s.ms",
        sets[i][1], sets[i][0]);
    write_file("set.graph", text, -1);
    g_auto(Result) set = run("run ./set.graph --quiet");
    if (skips(&set))
      return;
    g_assert_cmpint(set.status, ==, 0);
  }
  g_auto(Result) solved =
      run("run calibrate input=raw.ms model= model-set=model.ms model-column=DATA interval=0 "
          "table=set.fits size=256 iterations=200 output=set.uvfits");
  g_assert_cmpint(solved.status, ==, 0);
  test_near(flux_of(&solved), 2, 0.05);
  g_auto(Result) both = run("run calibrate input=raw.ms model-set=model.ms output=set.uvfits");
  g_assert_cmpint(both.status, ==, 1);
  g_assert_nonnull(strstr(both.err, "sky and the pad model, expected one of them"));
}

static double dynamic_range_of(const Result *result)
{
  const char *at = strstr(result->out, "dynamic range ");
  g_assert_nonnull(at);
  return g_ascii_strtod(at + strlen("dynamic range "), NULL);
}

/* A model without the brightest source: a warning says that it does not explain the visibilities,
 * and the dynamic range of the image is lower. */
static void test_lacking_model(void)
{
  static const char *const models[] = { "0.002,0.0015,2;-0.003,0.001,1", "-0.003,0.001,1" };
  double ranges[2];
  for (guint i = 0; i < G_N_ELEMENTS(models); i++) {
    g_auto(Result) result = run(
        "run calibrate model=%s stations=8 duration=120 channels=4 noise=30 size=256", models[i]);
    if (skips(&result))
      return;
    g_assert_cmpint(result.status, ==, 0);
    g_assert_cmpint(strstr(result.err, "the model does not explain the visibilities") != NULL, ==,
                    i);
    ranges[i] = dynamic_range_of(&result);
  }
  g_test_message("dynamic ranges %g and %g", ranges[0], ranges[1]);
  g_assert_cmpfloat(ranges[1], <, 0.5 * ranges[0]);
}

static void add_tests(void)
{
  g_test_add_func("/calibrate/gains", test_gains);
  g_test_add_func("/calibrate/apply", test_apply);
  g_test_add_func("/calibrate/model-set", test_model_set);
  g_test_add_func("/calibrate/lacking-model", test_lacking_model);
}

int main(int argc, char **argv)
{
  return test_program(argc, argv, add_tests);
}
