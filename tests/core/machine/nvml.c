/* NVIDIA's management library, which a fake one stands for. */
#include "core/machine/nvml.h"
#include "tests/tests.h"

#include <string.h>

static char *fake_path(void)
{
  return g_test_build_filename(G_TEST_BUILT, "tests/core/machine/.libs/fake-nvml.so", NULL);
}

static void set_fake(void)
{
  g_autofree char *path = fake_path();
  g_setenv("ASTRO_NVML", path, TRUE);
}

static void test_told(void)
{
  g_autoptr(GError) error = NULL;
  double joules = 0;
  guint multiprocessors, memory;
  set_fake();
  g_autoptr(AstroNvml) nvml = astro_nvml_open(&error);
  g_assert_no_error(error);
  g_autofree char *driver = astro_nvml_driver(nvml), *name = astro_nvml_name(nvml, 1),
                  *none = astro_nvml_name(nvml, 2);
  g_assert_cmpuint(astro_nvml_count(nvml), ==, 2);
  g_assert_cmpstr(driver, ==, "550.1");
  g_assert_cmpstr(name, ==, "Fake GPU");
  g_assert_cmpstr(none, ==, "");
  g_setenv("ASTRO_FAKE_MILLIJOULES", "12345,", TRUE);
  g_assert_true(astro_nvml_energy(nvml, 0, &joules));
  g_assert_cmpfloat(joules, ==, 12.345);
  g_assert_false(astro_nvml_energy(nvml, 1, &joules));
  g_assert_false(astro_nvml_energy(nvml, 2, &joules));
  astro_nvml_clocks(nvml, 0, &multiprocessors, &memory);
  g_assert_cmpuint(multiprocessors, ==, 1980);
  g_assert_cmpuint(memory, ==, 2619);
}

/* The kernel and CUDA write the domain with fewer digits than the library. */
static void test_place(void)
{
  set_fake();
  g_autoptr(AstroNvml) nvml = astro_nvml_open(NULL);
  g_assert_cmpint(astro_nvml_find(nvml, "00fa:01:00.0"), ==, 1);
  g_assert_cmpint(astro_nvml_find(nvml, "00FA:00:00.0"), ==, 0);
  g_assert_cmpint(astro_nvml_find(nvml, "0000:01:00.0"), ==, -1);
  g_assert_cmpint(astro_nvml_find(nvml, ""), ==, -1);
}

static void test_links(void)
{
  static const struct {
    const char *fake, *told;
  } cases[] = {
    { "switch", "3 NVLinks to a switch" },
    { "straight", "3 NVLinks" },
    { "bridge", "a PCIe host bridge" },
    { "none", NULL },
  };
  set_fake();
  g_autoptr(AstroNvml) nvml = astro_nvml_open(NULL);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_setenv("ASTRO_FAKE_LINKS", cases[i].fake, TRUE);
    g_autofree char *told = astro_nvml_between(nvml, 0, 1);
    g_assert_cmpstr(told, ==, cases[i].told);
  }
}

static void test_absent(void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GError) fails = NULL;
  g_setenv("ASTRO_NVML", "/nowhere.so", TRUE);
  g_assert_null(astro_nvml_open(&error));
  g_assert_nonnull(strstr(error->message, "/nowhere.so cannot be loaded"));
  set_fake();
  g_setenv("ASTRO_FAKE_NVML_FAILS", "1", TRUE);
  g_assert_null(astro_nvml_open(&fails));
  g_unsetenv("ASTRO_FAKE_NVML_FAILS");
  g_assert_nonnull(strstr(fails->message, "does not start: error 9"));
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_autofree char *fake = fake_path();
  if (!g_file_test(fake, G_FILE_TEST_EXISTS)) /* among installed tests there is none */
    return g_test_run();
  g_test_add_func("/nvml/told", test_told);
  g_test_add_func("/nvml/place", test_place);
  g_test_add_func("/nvml/links", test_links);
  g_test_add_func("/nvml/absent", test_absent);
  return g_test_run();
}
