/* gst-astro devices, with fake GPUs, with one and without any. */
#include "tests/graphs/program.h"
#include "tests/host.h"

/* The path of a module that stands for another library, or NULL among installed tests. */
static char *find_fake(const char *name)
{
  g_autofree char *path = g_test_build_filename(G_TEST_BUILT, "tests", name, NULL);
  return g_file_test(path, G_FILE_TEST_EXISTS) ? g_steal_pointer(&path) : NULL;
}

static gboolean says(const Result *result, const char *pattern)
{
  return g_regex_match_simple(pattern, result->out, 0, 0);
}

static void test_none(void)
{
  g_setenv("ASTRO_CUDA_MODULE", "/nowhere.so", TRUE);
  g_auto(Result) result = run("devices");
  g_unsetenv("ASTRO_CUDA_MODULE");
  g_assert_cmpint(result.status, ==, 0);
  g_assert_true(says(&result, "(?m)^cpu +[0-9]+ cores?, kernels up to "));
  g_assert_true(says(&result, "(?m)^cuda +none: /nowhere\\.so cannot be loaded"));
  g_assert_false(says(&result, "(?m)^links"));
  g_auto(Result) help = run("--help");
  g_assert_true(says(&help, "(?m)^  devices .* OpenCL's devices\\.$"));
}

/* The folder that was looked into is named, not the usual one. */
static void test_no_drivers(void)
{
  if (!astro_module_of(ASTRO_BACKEND_OPENCL, NULL)) {
    g_test_skip("there is no OpenCL module");
    return;
  }
  g_autofree char *vendors = g_strdup(g_getenv("OCL_ICD_VENDORS")),
                  *empty = g_dir_make_tmp("astro-vendors-XXXXXX", NULL);
  g_setenv("OCL_ICD_VENDORS", empty, TRUE);
  g_auto(Result) result = run("devices");
  if (vendors)
    g_setenv("OCL_ICD_VENDORS", vendors, TRUE);
  else
    g_unsetenv("OCL_ICD_VENDORS");
  g_rmdir(empty);
  g_autofree char *named = g_strdup_printf("expected a vendor's driver in %s\n", empty);
  g_assert_nonnull(strstr(result.out, named));
}

#define RATE "[0-9.]+ GB/s"

static void test_fake(void)
{
  g_autofree char *module = find_fake("elements/.libs/fake-module.so"),
                  *nvml = find_fake("core/machine/.libs/fake-nvml.so");
  if (!module || !nvml) {
    g_test_skip("no fake libraries beside this test");
    return;
  }
  g_setenv("ASTRO_CUDA_MODULE", module, TRUE);
  g_setenv("ASTRO_NVML", nvml, TRUE);
  g_setenv("ASTRO_FAKE_LINKS", "switch", TRUE);
  g_setenv("ASTRO_FAKE_DEVICES", "2", TRUE);
  g_auto(Result) two = run("devices");
  g_assert_cmpint(two.status, ==, 0);
  g_assert_true(says(&two, "(?m)^cuda 0  a fake device for tests\n +bus fake:00:00\\.0, NUMA node "
                           "not told; copies from the host " RATE ", to the host " RATE "$"));
  g_assert_true(says(&two, "(?m)^cuda 1  a fake device for tests\n +bus fake:01:00\\.0, "));
  g_assert_true(says(&two, "(?m)^links   0 and 1: 3 NVLinks to a switch; copies 0 to 1 " RATE
                           ", 1 to 0 " RATE "$"));

  test_host_say("devices/system/node/online", "0-1\n");
  test_host_say("bus/pci/devices/fake:01:00.0/numa_node", "1\n");
  g_auto(Result) near = run("devices");
  test_host_remove();
  g_assert_true(says(&near, "(?m)^ +bus fake:01:00\\.0, NUMA node 1 of 2, which has its "
                            "page-locked memory; copies "));

  g_setenv("ASTRO_FAKE_ALONE", "1", TRUE);
  g_setenv("ASTRO_FAKE_LINKS", "bridge", TRUE);
  g_auto(Result) apart = run("devices");
  g_assert_true(says(&apart,
                     "(?m)^links   0 and 1: a PCIe host bridge; copies 0 to 1 by way of the "
                     "host, 1 to 0 by way of the host$"));

  g_setenv("ASTRO_NVML", "/nowhere.so", TRUE);
  g_auto(Result) untold = run("devices");
  g_assert_true(says(&untold, "(?m)^links   0 and 1: kind not told; copies 0 to 1 by way"));
  g_assert_true(says(&untold, "(?m)^ +which kind of links they are is not told: /nowhere\\.so "));

  g_setenv("ASTRO_FAKE_DEVICES", "1", TRUE);
  g_auto(Result) one = run("devices");
  g_assert_true(says(&one, "(?m)^links   none: there is one GPU$"));
  g_unsetenv("ASTRO_CUDA_MODULE");
}

static void add_tests(void)
{
  g_test_add_func("/devices/none", test_none);
  g_test_add_func("/devices/no-drivers", test_no_drivers);
  g_test_add_func("/devices/fake", test_fake);
}

int main(int argc, char **argv)
{
  return test_program(argc, argv, add_tests);
}
