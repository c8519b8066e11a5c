/* Names of files with the time in them. */
#include "core/lib/files/utc-name.h"

#include <string.h>

static void test_names(void)
{
  static const struct {
    const char *pattern;
    gint32 mjd;
    guint64 ns;
    guint number;
    const char *name;
  } cases[] = {
    { "plain.dada", 61364, 0, 0, "plain.dada" },
    { "a-%Y%m%dT%H%M%S.%f.vdif", 61364, 43200123456789, 0, "a-20261120T120000.123456.vdif" },
    { "%Y/%j_%i_100%%.raw", 61364, 0, 42, "2026/324_00042_100%.raw" },
    { "%Y-%m-%d", 61364, 86400000000000, 0, "2026-11-21" }, /* the nanoseconds reach the next day */
    { "%Y%j", 60675, 86399999999999, 0, "2024366" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *name =
        astro_utc_name(cases[i].pattern, cases[i].mjd, cases[i].ns, cases[i].number);
    g_assert_cmpstr(name, ==, cases[i].name);
  }
}

static void test_completed(void)
{
  static const char *const cases[][2] = {
    { "night.dada", "night-%Y%m%dT%H%M%S.%f.dada" },
    { "a.b/night", "a.b/night-%Y%m%dT%H%M%S.%f" },
    { "a/.hidden", "a/.hidden-%Y%m%dT%H%M%S.%f" },
    { "100%%.raw", "100%%-%Y%m%dT%H%M%S.%f.raw" },
    { "night-%i.dada", "night-%i.dada" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *name = astro_utc_name_complete(cases[i][0]);
    g_assert_cmpstr(name, ==, cases[i][1]);
  }
}

static void test_refused(void)
{
  static const char *const bad[] = { "%q.dada", "night%", "%%%" };
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_false(astro_utc_name_check(bad[i], &error));
    g_assert_nonnull(strstr(error->message, bad[i]));
    g_assert_nonnull(strstr(error->message, "expected"));
  }
  g_assert_true(astro_utc_name_check("%Y%m%d%H%M%S%j%f%i%%", NULL));
  g_assert_false(astro_utc_name_is_pattern("100%%"));
  g_assert_true(astro_utc_name_is_pattern("100%%%Y"));
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/utc-name/names", test_names);
  g_test_add_func("/utc-name/completed", test_completed);
  g_test_add_func("/utc-name/refused", test_refused);
  return g_test_run();
}
