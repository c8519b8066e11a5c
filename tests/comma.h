/* Locales with a decimal comma, as in programs that follow their user's language. */
#pragma once

#include <glib.h>
#include <locale.h>
#include <stdio.h>

/* Makes such a locale in a folder of its own, since few machines have locales beyond C; glibc finds
 * it by LOCPATH when a locale is first asked for. */
static inline gboolean comma_make(const char *folder)
{
  g_autofree char *path = g_build_filename(folder, "de_DE.UTF-8", NULL);
  const char *const line[] = { "localedef", "-i", "de_DE", "-f", "UTF-8", path, NULL };
  return g_spawn_sync(NULL, (char **)line, NULL,
                      G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL,
                      NULL, NULL, NULL, NULL, NULL, NULL) &&
         g_setenv("LOCPATH", folder, TRUE) && setlocale(LC_ALL, "de_DE.UTF-8");
}

static inline void comma_remove(const char *folder)
{
  const char *const line[] = { "rm", "-rf", folder, NULL };
  g_spawn_sync(NULL, (char **)line, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL);
}

/* Sets such a locale until comma_end. FALSE: there is none and none can be made; the test is
 * skipped. */
static inline gboolean comma_begin(void)
{
  static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "es_ES.UTF-8" };
  char half[8];
  gboolean found = FALSE;
  for (guint i = 0; i < G_N_ELEMENTS(names) && !found; i++)
    found = setlocale(LC_ALL, names[i]) != NULL;
  if (!found) {
    g_autofree char *folder = g_dir_make_tmp("astro-locale-XXXXXX", NULL);
    found = folder && comma_make(folder);
    if (folder)
      comma_remove(folder);
  }
  g_snprintf(half, sizeof half, "%.1f", 0.5);
  if (found && g_str_equal(half, "0,5"))
    return TRUE;
  setlocale(LC_ALL, "C");
  g_test_skip("there is no locale with a decimal comma, and localedef cannot make one");
  return FALSE;
}

static inline void comma_end(void)
{
  setlocale(LC_ALL, "C");
}
