#include "config.h"
#include "core/fft/planner.h"

#include <fftw3.h>
#include <stdlib.h>
#include <string.h>

static GMutex lock;
static char *kept; /* the wisdom that the file holds, as far as we know */

char *astro_fft_planner_file(void)
{
  return g_build_filename(g_get_user_cache_dir(), "gst-astro", "fftwf-wisdom", NULL);
}

/* Adds the file's wisdom to our own. FFTW refuses what another version or machine wrote. */
static void read_file(const char *path)
{
  g_autofree char *text = NULL;
  if (!g_file_get_contents(path, &text, NULL, NULL))
    return;
  if (!fftwf_import_wisdom_from_string(text))
    g_debug("%s: no wisdom of this FFTW and machine", path);
}

void astro_fft_planner_lock(void)
{
  static gboolean read = FALSE;

  g_mutex_lock(&lock);
  if (read)
    return;
  read = TRUE;
  g_autofree char *path = astro_fft_planner_file();
  read_file(path);
  kept = fftwf_export_wisdom_to_string();
}

void astro_fft_planner_unlock(void)
{
  g_mutex_unlock(&lock);
}

/* Other processes may have kept theirs meanwhile; the file is replaced as a whole. */
void astro_fft_planner_keep(void)
{
  char *learned = fftwf_export_wisdom_to_string();
  g_autoptr(GError) error = NULL;

  if (!learned || g_strcmp0(learned, kept) == 0) {
    free(learned);
    return;
  }
  free(learned);
  g_autofree char *path = astro_fft_planner_file(), *folder = g_path_get_dirname(path);
  read_file(path);
  free(kept);
  kept = fftwf_export_wisdom_to_string();
  g_mkdir_with_parents(folder, 0700);
  if (kept && !g_file_set_contents(path, kept, -1, &error))
    g_debug("wisdom is not kept: %s", error->message);
}
