/* Preloaded into gst-astro under LeakSanitizer: GStreamer leaks some memory while it starts and
 * where it fails to parse caps. */
#include "config.h"
#include "tests/quiet-caps.h"

void gst_init(int *argc, char ***argv)
{
  void (*start)(int *, char ***);
  quiet_begin("gst_init", (void **)&start);
  start(argc, argv);
  quiet_end();
}

gboolean gst_init_check(int *argc, char ***argv, GError **error)
{
  gboolean (*start)(int *, char ***, GError **);
  quiet_begin("gst_init_check", (void **)&start);
  gboolean started = start(argc, argv, error);
  quiet_end();
  return started;
}
