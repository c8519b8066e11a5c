#include "config.h"
#include "core/paths.h"
#include "core/backend/module.h"

#include <dlfcn.h>
#include <string.h>

/* The library's own place now: PREFIX/lib/libgstastro-1.0.so.0, the prefix moved or not, or the
 * .libs folder of a build tree. */
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

  /* ASTRO_LIBDIR below the prefix tells how much of the folder is the prefix. */
  if (folder && g_str_has_prefix(ASTRO_LIBDIR, ASTRO_PREFIX) &&
      g_str_has_prefix(configured_path, ASTRO_PREFIX) &&
      g_str_has_suffix(folder, &ASTRO_LIBDIR[prefix])) {
    g_autofree char *moved = g_strndup(folder, strlen(folder) - strlen(&ASTRO_LIBDIR[prefix]));
    return g_strconcat(moved, configured_path + prefix, NULL);
  }
  return g_strdup(configured_path);
}
