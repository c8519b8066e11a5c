/* Finds, opens and checks the CUDA module, and reports once if it does not fit. */
#include "config.h"
#include "core/paths.h"
#include "core/backend/module.h"

#include <gmodule.h>

#define MODULE_NAME "astro-cuda.so"

static gboolean fits(const AstroModule *module, const char *path, GError **error)
{
  if (module->abi != ASTRO_MODULE_ABI) {
    g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_UNAVAILABLE,
                "%s: version %u of the interface, expected %u", path, module->abi,
                ASTRO_MODULE_ABI);
    return FALSE;
  }
  if (module->bytes != sizeof *module) {
    g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_UNAVAILABLE,
                "%s: a table of %u bytes, expected %u", path, module->bytes, (guint)sizeof *module);
    return FALSE;
  }
  if (g_strcmp0(module->version, PACKAGE_VERSION) != 0) {
    g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_UNAVAILABLE,
                "%s: version %s, expected %s", path, module->version ? module->version : "(none)",
                PACKAGE_VERSION);
    return FALSE;
  }
  return TRUE;
}

const AstroModule *astro_module_load(const char *path, GError **error)
{
  /* Local, so that a broken module does not provide symbols to others. */
  GModule *library = g_module_open(path, G_MODULE_BIND_LOCAL | G_MODULE_BIND_LAZY);
  gpointer table = NULL;

  if (!library) {
    g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_UNAVAILABLE,
                "%s cannot be loaded: %s", path, g_module_error());
    return NULL;
  }
  if (!g_module_symbol(library, "astro_module", &table) || !table) {
    g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_UNAVAILABLE,
                "%s exports no table astro_module", path);
  } else if (fits(table, path, error)) {
    /* The CUDA runtime does not survive unloading. */
    g_module_make_resident(library);
    return table;
  }
  g_module_close(library);
  return NULL;
}

/* $ASTRO_CUDA_MODULE, else beside the library: the module folder of the install, or gpu/ of the
 * build tree, where the library is in core/api/.libs. */
static char *find(void)
{
  const char *named = g_getenv("ASTRO_CUDA_MODULE");
  if (named && *named)
    return g_strdup(named);

  g_autofree char *folder = astro_library_folder();
  g_autofree char *module_folder = astro_relocate(ASTRO_MODULEDIR);
  g_autofree char *built =
      g_build_filename(folder ? folder : ".", "..", "..", "..", "gpu", MODULE_NAME, NULL);
  g_autofree char *installed = g_build_filename(module_folder, MODULE_NAME, NULL);
  gboolean in_build_tree = folder && g_str_has_suffix(folder, G_DIR_SEPARATOR_S ".libs");

  if (in_build_tree)
    return g_file_test(built, G_FILE_TEST_EXISTS) ? g_steal_pointer(&built) : NULL;
  return g_file_test(installed, G_FILE_TEST_EXISTS) ? g_steal_pointer(&installed) : NULL;
}

const AstroModule *astro_module_get(GError **error)
{
  static gsize tried = 0;
  static const AstroModule *module;
  static GError *failure;

  if (g_once_init_enter(&tried)) {
    g_autofree char *path = find();
    if (path)
      module = astro_module_load(path, &failure);
    else
      failure = g_error_new(ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_UNAVAILABLE,
                            "the CUDA module is not installed");
    if (!module && path)
      g_warning("%s: not used", failure->message);
    g_once_init_leave(&tried, 1);
  }
  if (!module && error)
    *error = g_error_copy(failure);
  return module;
}
