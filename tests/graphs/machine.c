/* gst-astro machine writes a description that plans can read, and installed ones are whole. */
#include "tests/graphs/program.h"

#include "core/machine/machine.h"

static void test_measure(void)
{
  g_auto(Result) result = run("machine");
  g_autoptr(GError) error = NULL;
  g_assert_cmpint(result.status, ==, 0);
  g_assert_cmpstr(result.err, ==, "");
  write_file("here.machine", result.out, -1);
  g_autofree char *path = in_folder("here.machine");
  g_autoptr(AstroMachine) machine = astro_machine_read(path, &error);
  g_assert_no_error(error);
  g_assert_cmpfloat(machine->cores, >=, 1);
  g_assert_cmpfloat(machine->host.operations[ASTRO_ARITHMETIC_DOUBLE], >, 0);
  g_assert_nonnull(strstr(machine->source, "measured by gst-astro " PACKAGE_VERSION));
}

static void test_arguments(void)
{
  g_auto(Result) graph = run("machine correlate");
  assert_refused(&graph, 2, "unexpected argument correlate");
}

static void add_tests(void)
{
  g_test_add_func("/machine/measure", test_measure);
  g_test_add_func("/machine/arguments", test_arguments);
}

int main(int argc, char **argv)
{
  return test_program(argc, argv, add_tests);
}
