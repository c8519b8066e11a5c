/* Finds installed files after the prefix was moved. */
#include "config.h"
#include "core/paths.h"
#include "core/backend/module.h"

#include <dlfcn.h>
#include <string.h>

/* The folder of the library now: PREFIX/lib, whether or not the prefix was moved, or the .libs
 * folder of a build tree. */
char *astro_library_folder(void)
{
  Dl_info info;
  if (!dladdr((void *)astro_library_folder, &info) || !info.dli_fname)
    return NULL;
  g_autofree char *path = g_canonicalize_filename(info.dli_fname, NULL);
  return g_path_get_dirname(path);
}

char *astro_relocate(const char *configured_path)
{
  g_autofree char *folder = astro_library_folder();
  gsize prefix = strlen(ASTRO_PREFIX);

  /* The part of ASTRO_LIBDIR below the prefix tells where in the folder the prefix ends. */
  if (folder && g_str_has_prefix(ASTRO_LIBDIR, ASTRO_PREFIX) &&
      g_str_has_prefix(configured_path, ASTRO_PREFIX) &&
      g_str_has_suffix(folder, &ASTRO_LIBDIR[prefix])) {
    g_autofree char *moved = g_strndup(folder, strlen(folder) - strlen(&ASTRO_LIBDIR[prefix]));
    return g_strconcat(moved, configured_path + prefix, NULL);
  }
  return g_strdup(configured_path);
}
