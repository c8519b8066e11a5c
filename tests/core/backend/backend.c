#include <glib/gstdio.h>

#include "core/backend/module.h"
#include "tests/tests.h"

typedef struct {
  int value;
} Config;

static gboolean takes_even(gconstpointer config, GError **error)
{
  if (((const Config *)config)->value % 2 == 0)
    return TRUE;
  g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE, "odd");
  return FALSE;
}

static const AstroBackend slow = { .stage = "test-stage",
                                   .kind = ASTRO_BACKEND_REFERENCE,
                                   .config_bytes = sizeof(Config) };
static const AstroBackend fast = { .stage = "test-stage",
                                   .kind = ASTRO_BACKEND_CPU,
                                   .config_bytes = sizeof(Config),
                                   .shape = takes_even };
static const AstroBackend *const own[] = { &slow, &fast, NULL };

static const AstroBackend *choose(AstroBackendKind kind, int value, GError **error)
{
  Config config = { value };
  AstroDevice *device;
  g_autofree char *why = NULL;
  const AstroBackend *backend =
      astro_backend_choose("test-stage", own, kind, 0, &config, &device, &why, error);
  g_assert_null(device);
  if (backend)
    test_says(why, kind == ASTRO_BACKEND_AUTO ? "auto takes cpu: " : "was set");
  else
    g_assert_null(why);
  return backend;
}

/* No module has a stage of that name, so auto is the CPU on any machine. */
static void test_choose(void)
{
  g_autoptr(GError) error = NULL;
  g_assert_true(choose(ASTRO_BACKEND_REFERENCE, 1, NULL) == &slow);
  g_assert_true(choose(ASTRO_BACKEND_CPU, 2, NULL) == &fast);
  g_assert_true(choose(ASTRO_BACKEND_AUTO, 2, NULL) == &fast);
  g_assert_null(choose(ASTRO_BACKEND_CPU, 3, &error));
  g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE);
}

static void test_no_silent_fallback(void)
{
  g_autoptr(GError) error = NULL;
  g_assert_null(choose(ASTRO_BACKEND_CUDA, 2, &error));
  g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_UNAVAILABLE);
}

static void expect_load_error(const char *path, const char *word)
{
  g_autoptr(GError) error = NULL;
  g_assert_null(astro_module_load(path, &error));
  g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_UNAVAILABLE);
  g_test_message("%s", error->message);
  g_assert_nonnull(strstr(error->message, word));
}

/* A file that is not a module, one without the table, and tables that do not fit. */
static void test_broken_modules(void)
{
  g_autofree char *folder = g_dir_make_tmp("astro-module-XXXXXX", NULL);
  g_autofree char *broken = g_build_filename(folder, "broken.so", NULL);
  g_autofree char *empty = g_build_filename(folder, "empty.so", NULL);

  g_assert_true(g_file_set_contents(broken, "no library at all", -1, NULL));
  expect_load_error(broken, "cannot be loaded");
  expect_load_error("/nonexistent/astro-cuda.so", "cannot be loaded");
  g_unlink(broken);

  const struct {
    const char *source, *word;
  } modules[] = {
    { "int nothing;", "no table" },
    { "struct { unsigned abi, bytes; } astro_module = {999, 8};", "version 999" },
    { "struct { unsigned abi, bytes; } astro_module = {" G_STRINGIFY(ASTRO_MODULE_ABI) ", 8};",
      "a table of 8 bytes" },
    { "#include <stddef.h>\nstruct { unsigned abi, bytes; const char *version; void *rest[5]; } "
      "astro_module = {" G_STRINGIFY(ASTRO_MODULE_ABI) ", sizeof astro_module, \"0.0.1\"};",
      "version 0.0.1" },
  };
  g_autofree char *compiler = g_find_program_in_path("cc");
  for (guint i = 0; compiler && i < G_N_ELEMENTS(modules); i++) {
    g_autofree char *source = g_build_filename(folder, "module.c", NULL);
    g_autofree char *command =
        g_strdup_printf("%s -shared -fPIC -o %s %s", compiler, empty, source);
    int status;
    g_assert_true(g_file_set_contents(source, modules[i].source, -1, NULL));
    g_assert_true(g_spawn_command_line_sync(command, NULL, NULL, &status, NULL));
    g_assert_cmpint(status, ==, 0);
    expect_load_error(empty, modules[i].word);
    g_unlink(source);
    g_unlink(empty);
  }
  g_rmdir(folder);
  if (!compiler)
    g_test_skip("no compiler to make modules with");
}

/* A build tree finds its own module, or a machine with a GPU would work on the CPU unasked. */
static void test_built_module(void)
{
  const char *build = g_getenv("G_TEST_BUILDDIR");
  g_autofree char *built = g_build_filename(build ? build : ".", "gpu", "astro-cuda.so", NULL);
  g_autoptr(GError) error = NULL;
  if (!g_file_test(built, G_FILE_TEST_EXISTS)) {
    g_test_skip("there is no CUDA module in a build tree here");
    return;
  }
  g_assert_nonnull(astro_module_get(&error));
  g_assert_no_error(error);
}

static void test_relocate(void)
{
  /* Nothing is installed where this test runs from a build tree: paths stay as configured. */
  g_autofree char *path = astro_relocate("/elsewhere/share/x");
  g_assert_cmpstr(path, ==, "/elsewhere/share/x");
  g_autofree char *folder = astro_library_folder();
  g_assert_true(g_file_test(folder, G_FILE_TEST_IS_DIR));
}

static void add_tests(void)
{
  g_test_add_func("/backend/choose", test_choose);
  g_test_add_func("/backend/no-silent-fallback", test_no_silent_fallback);
  g_test_add_func("/backend/broken-modules", test_broken_modules);
  g_test_add_func("/backend/built-module", test_built_module);
  g_test_add_func("/backend/relocate", test_relocate);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
