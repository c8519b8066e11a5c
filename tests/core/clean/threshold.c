/* The level at which CLEAN ends is a flux or so many times the noise, under one name. */
#include <math.h>
#include <string.h>

#include "core/clean/threshold.h"
#include "tests/tests.h"

static void test_read(void)
{
  static const struct {
    const char *text;
    double flux, times; /* times -1: left as it was */
  } cases[] = {
    { NULL, 0, -1 },          { "", 0, -1 },          { " ", 0, -1 },          { "0", 0, -1 },
    { "0.01", 0.01, -1 },     { "1e-9", 1e-9, -1 },   { "2Jy", 2, -1 },        { "0Jy", 0, -1 },
    { " 10mJy ", 0.01, -1 },  { "10 mJy", 0.01, -1 }, { "0 mJy", 0, -1 },      { "+.5", 0.5, -1 },
    { "200uJy", 200e-6, -1 }, { "3sigma", 0, 3 },     { "2.5 sigma", 0, 2.5 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    double flux = NAN, times = -1;
    g_autoptr(GError) error = NULL;
    g_assert_true(astro_clean_threshold_parse(cases[i].text, &flux, &times, &error));
    g_assert_no_error(error);
    g_assert_cmpfloat(fabs(flux - cases[i].flux), <=, 1e-15 * cases[i].flux);
    g_assert_cmpfloat(times, ==, cases[i].times);
  }
}

/* Units are those of astronomers to the letter: 1 MJy is no mJy. */
static void test_refused(void)
{
  static const char *const cases[] = { "-1",       "-3sigma", "0sigma",    "sigma", "3Sigma",
                                       "1MJy",     "1mjy",    "1 Jy/beam", "inf",   "nan",
                                       "infsigma", "3,5",     "0.01 0",    "0.0.1", "1e999",
                                       "3sigmas",  "mJy",     "5%" };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    double flux, times = -1;
    g_autoptr(GError) error = NULL;
    g_autofree char *says =
        g_strdup_printf("threshold \"%s\", expected a flux of 0 or more, such as 0.01", cases[i]);
    g_test_message("%s", cases[i]);
    g_assert_false(astro_clean_threshold_parse(cases[i], &flux, &times, &error));
    g_assert_nonnull(error);
    g_assert_nonnull(strstr(error->message, says));
    g_assert_cmpfloat(times, ==, -1);
  }
}

static void add_tests(void)
{
  g_test_add_func("/clean-threshold/read", test_read);
  g_test_add_func("/clean-threshold/refused", test_refused);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
