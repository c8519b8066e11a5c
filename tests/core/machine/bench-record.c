/* The JSON of make bench-gpu, with a library that stands for NVIDIA's. */
#include "tests/bench/bench.h"
#include "tests/tests.h"

#include <glib/gstdio.h>
#include <string.h>

/* Numbers that follow a name, one for each time it is there; NAN for null. */
static guint numbers_of(const char *text, const char *name, double *numbers)
{
  g_autofree char *wanted = g_strdup_printf("\"%s\":", name);
  guint n = 0;
  for (const char *at = text; (at = strstr(at, wanted)); n++) {
    at += strlen(wanted);
    numbers[n] = g_str_has_prefix(at, "null") ? NAN : g_ascii_strtod(at, NULL);
  }
  return n;
}

static void test_lines(void)
{
  g_autofree char *fake =
      g_test_build_filename(G_TEST_BUILT, "tests/core/machine/.libs/fake-nvml.so", NULL);
  g_autofree char *folder = g_dir_make_tmp("bench-XXXXXX", NULL);
  g_autofree char *path = g_build_filename(folder, "lines", NULL), *text = NULL;
  double joules[4], ratios[2], asked[2];
  if (!g_file_test(fake, G_FILE_TEST_EXISTS)) {
    g_test_skip("no fake library beside this test");
    g_rmdir(folder);
    return;
  }
  g_setenv("ASTRO_NVML", fake, TRUE);
  g_setenv("ASTRO_COMMIT", "abc123", TRUE);
  g_setenv("ASTRO_BENCH_JSON", path, TRUE);
  g_setenv("ASTRO_FAKE_MILLIJOULES", "1000,500", TRUE);
  bench_head("a \"table\"");
  g_setenv("ASTRO_FAKE_MILLIJOULES", "3500,700", TRUE);
  bench_row("first", 3, 4, "GB/s", 0.9);
  g_setenv("ASTRO_FAKE_MILLIJOULES", "3600,", TRUE);
  bench_row("second", 1, 0, "GB/s", 0);
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_test_message("%s", text);
  g_assert_true(g_str_has_prefix(
      text, "{\"table\":\"a \\\"table\\\"\",\"figure\":\"first\",\"unit\":\"GB/s\",\"driver\":"
            "\"550.1\",\"commit\":\"abc123\",\"achieved\":3,\"limit\":4,\"ratio\":0.75,"));
  g_assert_nonnull(strstr(text, "{\"device\":\"Fake GPU\",\"joules\":2.5,\"clock-mhz\":1980,"
                                "\"memory-clock-mhz\":2619}"));
  g_assert_cmpuint(numbers_of(text, "joules", joules), ==, 4);
  g_assert_cmpfloat(joules[1], ==, 0.2);
  g_assert_cmpfloat(joules[2], ==, 0.1);
  g_assert_true(isnan(joules[3]));
  g_assert_cmpuint(numbers_of(text, "ratio", ratios), ==, 2);
  g_assert_true(isnan(ratios[1])); /* of nothing */
  g_assert_cmpuint(numbers_of(text, "asked", asked), ==, 2);
  g_assert_cmpfloat(asked[0], ==, 0.9);
  g_assert_true(isnan(asked[1]));
  astro_nvml_close(bench_recorder()->nvml);
  g_unlink(path);
  g_rmdir(folder);
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/bench-record/lines", test_lines);
  return g_test_run();
}
