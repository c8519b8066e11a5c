/* The lock of FFTW's planner, and its wisdom in files. */
#include "config.h"
#include "core/lib/fft/planner.h"
#include "core/backend/once.h"
#include "core/lib/fft/wisdom.h"

#include <fftw3.h>
#include <stdlib.h>
#include <string.h>

/* FFTW keeps separate wisdom for single and double precision. */
static struct {
  const char *file, *version;
  char *(*export)(void);
  int (*import)(const char *text);
  char *kept; /* the wisdom in the file, as far as known; NULL: the file is to be replaced */
} wisdoms[] = {
  { "fftwf-wisdom", fftwf_version, fftwf_export_wisdom_to_string, fftwf_import_wisdom_from_string },
  { "fftw-wisdom", fftw_version, fftw_export_wisdom_to_string, fftw_import_wisdom_from_string },
};

char *astro_fft_planner_file(gboolean is_double)
{
  return g_build_filename(g_get_user_cache_dir(), "gst-astro", wisdoms[!!is_double].file, NULL);
}

/* Adds the wisdom in the file to that of this process; FALSE if the file exists but is not valid.
 * FFTW rejects wisdom of another machine. */
static gboolean read_file(guint i, const char *path)
{
  gboolean is_there;
  g_autofree char *text = astro_wisdom_read(path, wisdoms[i].version, &is_there);
  if (text && !wisdoms[i].import(text))
    g_debug("%s: wisdom of another machine", path);
  return text || !is_there;
}

void astro_fft_planner_lock(void)
{
  static gboolean read = FALSE;

  g_mutex_lock(astro_fftw_mutex());
  if (read)
    return;
  read = TRUE;
  for (guint i = 0; i < G_N_ELEMENTS(wisdoms); i++) {
    g_autofree char *path = astro_fft_planner_file(i);
    wisdoms[i].kept = read_file(i, path) ? wisdoms[i].export() : NULL;
  }
}

void astro_fft_planner_unlock(void)
{
  g_mutex_unlock(astro_fftw_mutex());
}

/* Other processes may have saved theirs in the meantime, so it is read first; the file is replaced
 * as a whole. */
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
  if (wisdoms[i].kept && !astro_wisdom_write(path, wisdoms[i].kept, wisdoms[i].version, &error))
    g_debug("wisdom is not saved: %s", error->message);
}

void astro_fft_planner_keep(void)
{
  for (guint i = 0; i < G_N_ELEMENTS(wisdoms); i++)
    keep(i);
}
