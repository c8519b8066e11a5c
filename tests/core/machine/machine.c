/* Descriptions of machines, and what is measured of this one. */
#include "core/machine/measure.h"
#include "tests/core/fake-device.h"
#include "tests/tests.h"

#include <glib/gstdio.h>

static char *write_description(const char *text)
{
  g_autofree char *path = NULL;
  const int fd = g_file_open_tmp("machine-XXXXXX", &path, NULL);
  g_assert_cmpint(fd, >=, 0);
  g_assert_true(g_file_set_contents(path, text, -1, NULL));
  g_close(fd, NULL);
  return g_steal_pointer(&path);
}

#define HEAD "[machine]\nname=n\nsource=s\n"
#define HOST "[host]\nmemory=1e10\nbandwidth=1e9\nfloat=1e12\n"

/* A description that is written can be read again. */
static void test_round(void)
{
  g_autofree char *path = write_description(
      HEAD HOST "cores=4\nint8=3e12\npower=100\n[device]\ndevices=2\nname=d\nmemory=8e10\n"
                "bandwidth=3e12\nhalf=9e14\n[bus]\nup=5e10\ndown=6e10\n[network]\nbandwidth=1e9\n");
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroMachine) read = astro_machine_read(path, &error);
  g_assert_no_error(error);
  g_autofree char *text = astro_machine_to_text(read);
  g_assert_true(g_file_set_contents(path, text, -1, NULL));
  g_autoptr(AstroMachine) again = astro_machine_read(path, &error);
  g_assert_no_error(error);
  g_assert_cmpstr(again->name, ==, "n");
  g_assert_cmpstr(again->device, ==, "d");
  g_assert_cmpfloat(again->cores, ==, 4);
  g_assert_cmpfloat(again->devices, ==, 2);
  g_assert_cmpfloat(again->host.operations[ASTRO_ARITHMETIC_INT8], ==, 3e12);
  g_assert_cmpfloat(again->host.operations[ASTRO_ARITHMETIC_DOUBLE], ==, 0);
  g_assert_cmpfloat(again->gpu.operations[ASTRO_ARITHMETIC_HALF], ==, 9e14);
  g_assert_cmpfloat(again->bus_down, ==, 6e10);
  g_assert_cmpfloat(again->network, ==, 1e9);
  g_assert_cmpfloat(again->disk, ==, 0);
  g_unlink(path);
}

static void test_refused(void)
{
  static const struct {
    const char *text, *says;
  } cases[] = {
    { HEAD, "[host] lacks memory" },
    { HOST, "[machine] lacks name" },
    { HEAD HOST "double=fast\n", "double of [host] is fast, expected a number" },
    { HEAD HOST "double=-1\n", "double of [host] is -1" },
    { HEAD HOST "double=1e999\n", "double of [host] is 1e999" },
    { HEAD HOST "speed=1\n", "there is no field speed in [host]" },
    { HEAD HOST "[disc]\nbandwidth=1\n", "there is no field bandwidth in [disc]" },
    { HEAD HOST "[device]\ndevices=1\n", "the machine has GPUs, and" },
    { "name=n\n", "Key file" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *path = write_description(cases[i].text);
    g_autoptr(GError) error = NULL;
    g_assert_null(astro_machine_read(path, &error));
    g_assert_nonnull(error);
    if (!g_str_equal(cases[i].says, "Key file"))
      g_assert_nonnull(strstr(error->message, cases[i].says));
    g_assert_true(g_str_has_prefix(error->message, path));
    g_unlink(path);
  }
  g_autoptr(GError) error = NULL;
  g_assert_null(astro_machine_read("/nowhere/a.machine", &error));
  g_assert_nonnull(strstr(error->message, "/nowhere/a.machine: "));
}

/* An instruction set does not make arithmetic slower, and memory is slower than arithmetic. */
static void test_host(void)
{
  g_setenv("ASTRO_CPU", "c", TRUE);
  const double plain = astro_measure_operations(ASTRO_ARITHMETIC_FLOAT);
  g_unsetenv("ASTRO_CPU");
  const double best = astro_measure_operations(ASTRO_ARITHMETIC_FLOAT);
  const double bandwidth = astro_measure_bandwidth();
  g_test_message("float: plain %g, best %g; memory %g", plain, best, bandwidth);
  g_assert_cmpfloat(plain, >, 1e6);
  g_assert_cmpfloat(best, >=, plain / 2); /* half: the machine may be busy */
  g_assert_cmpfloat(bandwidth, >, 1e6);
  g_assert_cmpfloat(astro_measure_operations(ASTRO_ARITHMETIC_HALF), ==, 0);
}

/* A folder that is not there has no disk; copies that fail leave the error. */
static void test_absent(void)
{
  g_assert_cmpfloat(astro_measure_disk("/nowhere"), ==, 0);
  AstroDevice *device = fake_device_new(1);
  g_autoptr(GError) error = NULL;
  g_assert_cmpfloat(astro_measure_bus(device, ASTRO_COPY_UP, &error), >, 0);
  g_assert_no_error(error);
  ((FakeDevice *)device)->fail_in[FAKE_COPY] = 3;
  g_assert_cmpfloat(astro_measure_bus(device, ASTRO_COPY_DOWN, &error), ==, 0);
  g_assert_nonnull(error);
  astro_device_unref(device);
}

static void test_across(void)
{
  AstroDevice *from = fake_device_new(1), *to = fake_device_new(2);
  g_autoptr(GError) error = NULL;
  g_assert_cmpfloat(astro_measure_across(from, to, &error), >, 0);
  g_assert_no_error(error);
  fake_fail(to, FAKE_COPY, 2);
  g_assert_cmpfloat(astro_measure_across(from, to, &error), ==, 0);
  g_assert_nonnull(error);
  astro_device_unref(from);
  astro_device_unref(to);
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/machine/round", test_round);
  g_test_add_func("/machine/refused", test_refused);
  g_test_add_func("/machine/host", test_host);
  g_test_add_func("/machine/absent", test_absent);
  g_test_add_func("/machine/across", test_across);
  return g_test_run();
}
