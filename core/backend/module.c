/* Finds, opens and checks the modules for devices, and reports once if one does not fit. */
#include "config.h"
#include "core/paths.h"
#include "core/backend/module.h"

#include <gmodule.h>

typedef struct {
  AstroBackendKind kind;
  const char *title, *file;
  const char *folder;   /* of the file in a build tree */
  const char *variable; /* of the environment, which names another file */
  gsize tried;
  const AstroModule *module;
  GError *failure;
} Place;

static Place places[ASTRO_N_DEVICE_KINDS] = {
  { ASTRO_BACKEND_CUDA, "CUDA", "astro-cuda.so", "gpu", "ASTRO_CUDA_MODULE", 0, NULL, NULL },
  { ASTRO_BACKEND_OPENCL, "OpenCL", "astro-opencl.so", "opencl/.libs", "ASTRO_OPENCL_MODULE", 0,
    NULL, NULL },
};

const AstroBackendKind astro_device_kinds[ASTRO_N_DEVICE_KINDS] = { ASTRO_BACKEND_CUDA,
                                                                    ASTRO_BACKEND_OPENCL };

static Place *place_of(AstroBackendKind kind)
{
  for (guint i = 0; i < G_N_ELEMENTS(places); i++)
    if (places[i].kind == kind)
      return &places[i];
  return NULL;
}

gboolean astro_backend_is_device(AstroBackendKind kind)
{
  return place_of(kind) != NULL;
}

const char *astro_device_kind_title(AstroBackendKind kind)
{
  const Place *place = place_of(kind);
  return place ? place->title : NULL;
}

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
    /* The CUDA runtime does not survive unloading, nor do drivers that OpenCL loads. */
    g_module_make_resident(library);
    return table;
  }
  g_module_close(library);
  return NULL;
}

/* As the environment says, else beside the library: the module folder of the install, or the folder
 * of the build tree, where the library is in core/api/.libs. */
static char *find(const Place *place)
{
  const char *named = g_getenv(place->variable);
  if (named && *named)
    return g_strdup(named);

  g_autofree char *folder = astro_library_folder();
  g_autofree char *module_folder = astro_relocate(ASTRO_MODULEDIR);
  g_autofree char *built =
      g_build_filename(folder ? folder : ".", "..", "..", "..", place->folder, place->file, NULL);
  g_autofree char *installed = g_build_filename(module_folder, place->file, NULL);
  gboolean in_build_tree = folder && g_str_has_suffix(folder, G_DIR_SEPARATOR_S ".libs");

  if (in_build_tree)
    return g_file_test(built, G_FILE_TEST_EXISTS) ? g_steal_pointer(&built) : NULL;
  return g_file_test(installed, G_FILE_TEST_EXISTS) ? g_steal_pointer(&installed) : NULL;
}

const AstroModule *astro_module_of(AstroBackendKind kind, GError **error)
{
  Place *place = place_of(kind);
  g_return_val_if_fail(place, NULL);

  if (g_once_init_enter(&place->tried)) {
    g_autofree char *path = find(place);
    if (path)
      place->module = astro_module_load(path, &place->failure);
    else
      place->failure = g_error_new(ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_UNAVAILABLE,
                                   "the %s module is not installed", place->title);
    if (!place->module && path)
      g_warning("%s: not used", place->failure->message);
    g_once_init_leave(&place->tried, 1);
  }
  if (!place->module && error)
    *error = g_error_copy(place->failure);
  return place->module;
}

const AstroModule *astro_module_get(GError **error)
{
  return astro_module_of(ASTRO_BACKEND_CUDA, error);
}

gint astro_device_count(AstroBackendKind kind, GError **error)
{
  const AstroModule *module = astro_module_of(kind, error);
  return module ? module->n_devices(error) : -1;
}
