/* The built programs and libraries are hardened as configure said. */
#include "config.h"
#include "core/backend/module.h"
#include "core/paths.h"
#include "tests/tests.h"

/* Macros that configure did not define are 0. */
#ifndef ASTRO_RELRO
#define ASTRO_RELRO 0
#endif
#ifndef ASTRO_STACK_PROTECTOR
#define ASTRO_STACK_PROTECTOR 0
#endif
#ifndef ASTRO_FORTIFIED
#define ASTRO_FORTIFIED 0
#endif

static gboolean is_on(gboolean configured)
{
  if (!configured)
    g_test_skip("configured without, or not optimised");
  return configured;
}

/* The output of readelf for a file; NULL: no such file, or no readelf. */
static char *read_elf(const char *options, const char *path)
{
  const char *argv[] = { "readelf", "--wide", options, path, NULL };
  char *out = NULL;
  int status = 0;
  if (!g_file_test(path, G_FILE_TEST_EXISTS) ||
      !g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL,
                    NULL, NULL, &out, NULL, &status, NULL))
    return NULL;
  g_assert_cmpint(status, ==, 0);
  return out;
}

/* As built, else as installed. */
static char *find_file(const char *built, const char *installed)
{
  return g_file_test(built, G_FILE_TEST_EXISTS) ? g_strdup(built) : astro_relocate(installed);
}

static char *find_program(void)
{
  return find_file("graphs/.libs/gst-astro", ASTRO_BINDIR "/gst-astro");
}

static void check_file(const char *path, const char *options, const char *const *words)
{
  g_autofree char *text = read_elf(options, path);
  if (!text) {
    g_test_skip("without readelf, or linked otherwise");
    return;
  }
  for (; *words; words++) {
    g_test_message("%s: %s", path, *words);
    g_assert_nonnull(strstr(text, *words));
  }
}

static void check_all(const char *options, const char *const *words)
{
  g_autofree char *folder = astro_library_folder();
  g_autofree char *core = g_strconcat(folder, "/libgstastro-1.0." G_MODULE_SUFFIX ".0", NULL);
  g_autofree char *plugin = find_file("elements/.libs/libgstastro." G_MODULE_SUFFIX,
                                      ASTRO_PLUGINDIR "/libgstastro." G_MODULE_SUFFIX);
  g_autofree char *program = find_program();
  const char *const files[] = { core, plugin, program };
  for (guint i = 0; i < G_N_ELEMENTS(files); i++)
    check_file(files[i], options, words);
}

/* Whoever overwrites memory finds no table of functions to write to. */
static void relocations(void)
{
  if (is_on(ASTRO_RELRO))
    check_all("-ld", (const char *const[]){ "GNU_RELRO", "BIND_NOW", NULL });
}

static void stacks(void)
{
  if (is_on(ASTRO_STACK_PROTECTOR))
    check_all("--dyn-syms", (const char *const[]){ "__stack_chk_fail", NULL });
}

static void functions(void)
{
  g_autofree char *program = find_program();
  if (is_on(ASTRO_FORTIFIED))
    check_file(program, "--dyn-syms", (const char *const[]){ "__fprintf_chk", NULL });
}

static void add_tests(void)
{
  g_test_add_func("/hardened/relocations", relocations);
  g_test_add_func("/hardened/stacks", stacks);
  g_test_add_func("/hardened/functions", functions);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
