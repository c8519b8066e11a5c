#include "core/backend/cpu.h"
#include "tests/tests.h"

typedef struct {
  AstroVariant head;
  int value;
} Entry;

static const Entry table[] = {
  { { "tiles", ASTRO_CPU_AMX }, 5 },   { { "dots", ASTRO_CPU_VNNI }, 4 },
  { { "wide", ASTRO_CPU_AVX512 }, 3 }, { { "narrow", ASTRO_CPU_AVX2 }, 2 },
  { { "portable", ASTRO_CPU_C }, 1 },
};

static void test_cap(void)
{
  g_unsetenv("ASTRO_CPU");
  AstroCpuLevel machine = astro_cpu_level();
  for (AstroCpuLevel cap = ASTRO_CPU_C; cap < ASTRO_N_CPU_LEVELS; cap++) {
    g_setenv("ASTRO_CPU", astro_cpu_level_name(cap), TRUE);
    g_assert_cmpint(astro_cpu_level(), ==, MIN(cap, machine));
    const Entry *picked = ASTRO_VARIANT_PICK(table);
    g_assert_cmpint(picked->value, ==, 1 + MIN(cap, machine));
  }
  g_setenv("ASTRO_CPU", "", TRUE);
  g_assert_cmpint(astro_cpu_level(), ==, machine);
}

static void test_unknown(void)
{
  g_unsetenv("ASTRO_CPU");
  AstroCpuLevel machine = astro_cpu_level();
  g_setenv("ASTRO_CPU", "abacus", TRUE);
  g_test_expect_message("gst-astro", G_LOG_LEVEL_WARNING, "*abacus*");
  g_assert_cmpint(astro_cpu_level(), ==, machine);
  g_test_assert_expected_messages();
  g_assert_cmpint(astro_cpu_level(), ==, machine);
}

static void add_tests(void)
{
  g_test_add_func("/cpu/cap", test_cap);
  g_test_add_func("/cpu/unknown", test_unknown);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
