/* Removes a folder with all that is in it, or a file. */
#pragma once

#include <glib/gstdio.h>

static inline void test_remove_all(const char *path)
{
  g_autoptr(GDir) opened =
      g_file_test(path, G_FILE_TEST_IS_SYMLINK) ? NULL : g_dir_open(path, 0, NULL);
  const char *name;
  while (opened && (name = g_dir_read_name(opened))) {
    g_autofree char *inside = g_build_filename(path, name, NULL);
    test_remove_all(inside);
  }
  g_remove(path);
}
