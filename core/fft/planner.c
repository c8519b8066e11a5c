#include "config.h"
#include "core/fft/planner.h"

#include <fftw3.h>
#include <stdlib.h>
#include <string.h>

static GMutex lock;

/* Single precision and double know nothing of each other. */
static struct {
  const char *file;
  char *(*export)(void);
  int (*import)(const char *text);
  char *kept; /* the wisdom that the file holds, as far as we know */
} wisdoms[] = {
  { "fftwf-wisdom", fftwf_export_wisdom_to_string, fftwf_import_wisdom_from_string },
  { "fftw-wisdom", fftw_export_wisdom_to_string, fftw_import_wisdom_from_string },
};

char *astro_fft_planner_file(gboolean is_double)
{
  return g_build_filename(g_get_user_cache_dir(), "gst-astro", wisdoms[!!is_double].file, NULL);
}

/* Adds the file's wisdom to our own. FFTW refuses what another version or machine wrote. */
static void read_file(guint i, const char *path)
{
  g_autofree char *text = NULL;
  if (!g_file_get_contents(path, &text, NULL, NULL))
    return;
  if (!wisdoms[i].import(text))
    g_debug("%s: no wisdom of this FFTW and machine", path);
}

void astro_fft_planner_lock(void)
{
  static gboolean read = FALSE;

  g_mutex_lock(&lock);
  if (read)
    return;
  read = TRUE;
  for (guint i = 0; i < G_N_ELEMENTS(wisdoms); i++) {
    g_autofree char *path = astro_fft_planner_file(i);
    read_file(i, path);
    wisdoms[i].kept = wisdoms[i].export();
  }
}

void astro_fft_planner_unlock(void)
{
  g_mutex_unlock(&lock);
}

/* Other processes may have kept theirs meanwhile; the file is replaced as a whole. */
static void keep(guint i)
{
  char *learned = wisdoms[i].export();
  g_autoptr(GError) error = NULL;

  if (!learned || g_strcmp0(learned, wisdoms[i].kept) == 0) {
    free(learned);
    return;
  }
  free(learned);
  g_autofree char *path = astro_fft_planner_file(i), *folder = g_path_get_dirname(path);
  read_file(i, path);
  free(wisdoms[i].kept);
  wisdoms[i].kept = wisdoms[i].export();
  g_mkdir_with_parents(folder, 0700);
  if (wisdoms[i].kept && !g_file_set_contents(path, wisdoms[i].kept, -1, &error))
    g_debug("wisdom is not kept: %s", error->message);
}

void astro_fft_planner_keep(void)
{
  for (guint i = 0; i < G_N_ELEMENTS(wisdoms); i++)
    keep(i);
}
