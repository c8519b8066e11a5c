/* JSON, and the energy counters of a machine that is made of files. */
#include "graphs/json.h"
#include "graphs/usage.h"
#include "tests/tests.h"
#include "tests/remove-all.h"

#include <glib/gstdio.h>
#include <math.h>

static void json(void)
{
  GValue list = G_VALUE_INIT, one = G_VALUE_INIT;
  g_autoptr(GString) text = g_string_new(NULL);
  g_autoptr(GstStructure) inner = gst_structure_new("inner", "e", GST_TYPE_STATE, GST_STATE_PAUSED,
                                                    "f", GST_TYPE_FRACTION, 1, 3, NULL);
  g_autoptr(GstStructure) s = gst_structure_new(
      "s", "text", G_TYPE_STRING, "a\"\\\n\x01\xc3\xa4", "none", G_TYPE_STRING, NULL, "yes",
      G_TYPE_BOOLEAN, TRUE, "large", G_TYPE_UINT64, G_MAXUINT64, "least", G_TYPE_INT64, G_MININT64,
      "real", G_TYPE_DOUBLE, 1.5, "nan", G_TYPE_DOUBLE, NAN, "float", G_TYPE_FLOAT, -0.25f, "inner",
      GST_TYPE_STRUCTURE, inner, NULL);
  g_value_init(&list, GST_TYPE_ARRAY);
  for (gint i = 0; i < 2; i++) {
    g_value_init(&one, G_TYPE_INT);
    g_value_set_int(&one, i);
    gst_value_array_append_and_take_value(&list, &one);
  }
  gst_structure_take_value(s, "list", &list);
  astro_json_structure(text, s);
  g_assert_cmpstr(text->str, ==,
                  "{\"text\":\"a\\\"\\\\\\n\\u0001\xc3\xa4\",\"none\":null,\"yes\":true,"
                  "\"large\":18446744073709551615,\"least\":-9223372036854775808,\"real\":1.5,"
                  "\"nan\":null,\"float\":-0.25,\"inner\":{\"e\":\"paused\","
                  "\"f\":\"1/3\"},\"list\":[0,1]}");
}

static void write_counter(const char *root, const char *domain, const char *file, const char *text)
{
  g_autofree char *folder = g_build_filename(root, domain, NULL);
  g_autofree char *path = g_build_filename(folder, file, NULL);
  g_mkdir(folder, 0700);
  g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

static void write_domain(const char *root, const char *domain, const char *name, const char *energy)
{
  write_counter(root, domain, "name", name);
  write_counter(root, domain, "energy_uj", energy);
  write_counter(root, domain, "max_energy_range_uj", "999\n");
}

/* A package, whose counter wraps; a part of it; one that is broken, and one that cannot be read. */
static void energy(void)
{
  g_autofree char *root = g_dir_make_tmp("powercap-XXXXXX", NULL);
  write_domain(root, "intel-rapl:0", "package-0\n", "100\n");
  write_domain(root, "intel-rapl:0:1", "dram\n", "1\n");
  write_domain(root, "intel-rapl:1", "package-1\n", "many\n");
  write_counter(root, "intel-rapl:2", "name", "package-2\n");
  AstroUsage *usage = astro_usage_new(root);
  AstroUsageTold told = astro_usage_read(usage);
  g_assert_cmpuint(told.energies->len, ==, 1);
  const AstroEnergy *package = &g_array_index(told.energies, AstroEnergy, 0);
  g_assert_cmpstr(package->name, ==, "package-0");
  g_assert_cmpfloat(package->joules, ==, 0);
  g_assert_cmpfloat(package->watts, <, 0);
  write_counter(root, "intel-rapl:0", "energy_uj", "900\n");
  astro_usage_read(usage);
  g_assert_cmpfloat(fabs(package->joules - 800e-6), <, 1e-12);
  write_counter(root, "intel-rapl:0", "energy_uj", "100\n");
  astro_usage_read(usage);
  g_assert_cmpfloat(fabs(package->joules - 1000e-6), <, 1e-12);
  g_usleep(1100000);
  astro_usage_read(usage);
  g_assert_cmpfloat(package->watts, >, 0);
  g_assert_cmpfloat(package->watts, <, 1000e-6);
  astro_usage_free(usage);
  test_remove_all(root);
}

/* A GPU that counts, which starts again as with a new driver, and one that does not count. */
static void gpu_energy(void)
{
  g_autofree char *fake =
      g_test_build_filename(G_TEST_BUILT, "tests/core/machine/.libs/fake-nvml.so", NULL);
  if (!g_file_test(fake, G_FILE_TEST_EXISTS)) {
    g_test_skip("no fake library beside this test");
    return;
  }
  g_setenv("ASTRO_NVML", fake, TRUE);
  g_setenv("ASTRO_FAKE_MILLIJOULES", "1000,", TRUE);
  AstroUsage *usage = astro_usage_new("/nowhere");
  AstroUsageTold told = astro_usage_read(usage);
  g_assert_cmpstr(told.no_gpus, ==, NULL);
  g_assert_cmpuint(told.energies->len, ==, 1);
  const AstroEnergy *gpu = &g_array_index(told.energies, AstroEnergy, 0);
  g_assert_cmpstr(gpu->name, ==, "gpu-0");
  g_assert_cmpstr(gpu->model, ==, "Fake GPU");
  g_assert_cmpfloat(gpu->joules, ==, 0);
  g_setenv("ASTRO_FAKE_MILLIJOULES", "1250,", TRUE);
  astro_usage_read(usage);
  g_assert_cmpfloat(gpu->joules, ==, 0.25);
  g_setenv("ASTRO_FAKE_MILLIJOULES", "500,", TRUE);
  astro_usage_read(usage);
  g_assert_cmpfloat(gpu->joules, ==, 0.75);
  astro_usage_free(usage);

  g_setenv("ASTRO_FAKE_MILLIJOULES", ",", TRUE);
  usage = astro_usage_new("/nowhere");
  told = astro_usage_read(usage);
  g_assert_cmpuint(told.energies->len, ==, 0);
  g_assert_cmpstr(told.no_gpus, ==, "no GPU here counts its energy");
  astro_usage_free(usage);
  g_setenv("ASTRO_NVML", "/nowhere.so", TRUE);
}

static void process(void)
{
  AstroUsage *usage = astro_usage_new("/nowhere");
  const AstroUsageTold before = astro_usage_read(usage);
  GDir *dir = g_dir_open("/", 0, NULL);
  const AstroUsageTold after = astro_usage_read(usage);
  g_assert_cmpuint(before.memory, >, 1 << 20);
  g_assert_cmpuint(before.threads, >=, 1);
  g_assert_cmpuint(after.files, ==, before.files + 1);
  g_assert_cmpfloat(after.cpu_seconds, >, 0);
  g_assert_cmpuint(after.energies->len, ==, 0);
  g_assert_nonnull(strstr(after.no_gpus, "/nowhere.so cannot be loaded"));
  g_dir_close(dir);
  astro_usage_free(usage);
}

static void add_tests(void)
{
  g_test_add_func("/usage/json", json);
  g_test_add_func("/usage/energy", energy);
  g_test_add_func("/usage/gpu-energy", gpu_energy);
  g_test_add_func("/usage/process", process);
}

int main(int argc, char **argv)
{
  g_setenv("ASTRO_NVML", "/nowhere.so", TRUE); /* this machine's GPUs are not asked */
  return test_run(argc, argv, add_tests);
}
