/* Preloaded into gst-astro under LeakSanitizer: GStreamer leaks some memory while it starts and
 * where it fails to parse caps. The alternative, to record whole stacks and suppress these leaks by
 * name, makes each run three times as slow. */
#include "config.h"

#include <dlfcn.h>
#include <gst/gst.h>

/* This library goes into shells that start the program, too, which have no sanitizer. */
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

/* Stores GStreamer's own function of that name in a pointer to a function. */
static void begin(const char *name, void **function)
{
  *function = dlsym(RTLD_NEXT, name);
  if (__lsan_disable)
    __lsan_disable();
}

static void end(void)
{
  if (__lsan_enable)
    __lsan_enable();
}

void gst_init(int *argc, char ***argv)
{
  void (*start)(int *, char ***);
  begin("gst_init", (void **)&start);
  start(argc, argv);
  end();
}

gboolean gst_init_check(int *argc, char ***argv, GError **error)
{
  gboolean (*start)(int *, char ***, GError **);
  begin("gst_init_check", (void **)&start);
  gboolean started = start(argc, argv, error);
  end();
  return started;
}

GstCaps *gst_caps_from_string(const char *text)
{
  GstCaps *(*parse)(const char *);
  begin("gst_caps_from_string", (void **)&parse);
  GstCaps *caps = parse(text);
  end();
  return caps;
}
