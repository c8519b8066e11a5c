/* The files that a user names. */
#include "config.h"
#include "core/lib/files/inputs.h"

#include "core/kit/fail.h"
#include "core/lib/files/set-folder.h"

#include <gio/gio.h>
#include <glob.h>
#include <string.h>

static gint by_name(gconstpointer a, gconstpointer b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

#define fail(error, ...) astro_fail(error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, __VA_ARGS__)

static gboolean add_folder(GPtrArray *files, const char *name, GError **error)
{
  g_autoptr(GPtrArray) found = g_ptr_array_new();
  g_autoptr(GDir) folder = g_dir_open(name, 0, error);
  const char *entry;
  if (!folder)
    return FALSE;
  while ((entry = g_dir_read_name(folder))) {
    char *path = g_build_filename(name, entry, NULL);
    if (*entry != '.' && !g_str_has_suffix(entry, ".part") &&
        (g_file_test(path, G_FILE_TEST_IS_REGULAR) || astro_set_folder_is(path)))
      g_ptr_array_add(found, path);
    else
      g_free(path);
  }
  g_ptr_array_sort(found, by_name);
  const gboolean has_any = found->len > 0;
  g_ptr_array_extend_and_steal(files, g_steal_pointer(&found));
  return has_any || fail(error, "the folder %s has no files", name);
}

static gboolean add_pattern(GPtrArray *files, const char *pattern, GError **error)
{
  glob_t found;
  if (glob(pattern, 0, NULL, &found) != 0)
    return fail(error, "no file matches %s", pattern);
  for (gsize i = 0; i < found.gl_pathc; i++) /* sorted by glob */
    if (!g_str_has_suffix(found.gl_pathv[i], ".part"))
      g_ptr_array_add(files, g_strdup(found.gl_pathv[i]));
  globfree(&found);
  return files->len > 0 || fail(error, "no file matches %s", pattern);
}

static gboolean add_input(GPtrArray *files, const char *input, GError **error)
{
  if (g_file_test(input, G_FILE_TEST_IS_DIR) && !astro_set_folder_is(input))
    return add_folder(files, input, error);
  if (strpbrk(input, "*?[") && !g_file_test(input, G_FILE_TEST_EXISTS))
    return add_pattern(files, input, error);
  if (!g_file_test(input, G_FILE_TEST_EXISTS))
    return fail(error, "there is no file %s", input);
  g_ptr_array_add(files, g_strdup(input));
  return TRUE;
}

static gboolean is_there(const char *input)
{
  glob_t found;
  if (g_file_test(input, G_FILE_TEST_EXISTS))
    return TRUE;
  if (!strpbrk(input, "*?[") || glob(input, GLOB_NOSORT, NULL, &found) != 0)
    return FALSE;
  globfree(&found);
  return TRUE;
}

/* A name or a pattern may have blanks. Only where nothing has that name do they separate several,
 * and if none of these is there either, the error is about the whole. */
static gboolean add_words(GPtrArray *files, const char *input, GError **error)
{
  g_auto(GStrv) words = g_strsplit_set(input, " \t\n", 0);
  gboolean is_list = FALSE;
  if (words[0] && words[1] && !is_there(input))
    for (guint i = 0; words[i]; i++)
      is_list = is_list || (*words[i] && is_there(words[i]));
  if (!is_list)
    return add_input(files, input, error);
  for (guint i = 0; words[i]; i++)
    if (*words[i] && !add_input(files, words[i], error))
      return FALSE;
  return TRUE;
}

GPtrArray *astro_inputs_find(const char *input, GError **error)
{
  g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
  const gboolean is_one = !strchr(input, ',') || g_file_test(input, G_FILE_TEST_EXISTS);
  g_auto(GStrv) parts = g_strsplit(input, ",", is_one ? 1 : 0);
  for (guint i = 0; parts[i]; i++) {
    if (*g_strstrip(parts[i]) == '\0') {
      fail(error, "\"%s\" has an empty name: expected files, separated by commas", input);
      return NULL;
    }
    if (!add_words(files, parts[i], error))
      return NULL;
  }
  if (files->len)
    return g_steal_pointer(&files);
  fail(error, "no file is named");
  return NULL;
}
