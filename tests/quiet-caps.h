/* Stands in for functions of GStreamer that leak memory of their own, under LeakSanitizer: the
 * stacks that it records end above these calls, so that lsan.supp can't name them, and whole stacks
 * make each run three times as slow. Caps are here: GStreamer leaks parts of those that it fails to
 * parse. The leaks tracer still sees caps that a program loses. */
#pragma once

#include <dlfcn.h>
#include <gst/gst.h>

/* Not there in programs without a sanitizer, such as shells. */
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

/* Stores GStreamer's own function of that name in a pointer to a function. */
static inline void quiet_begin(const char *name, void **function)
{
  *function = dlsym(RTLD_NEXT, name);
  if (__lsan_disable)
    __lsan_disable();
}

static inline void quiet_end(void)
{
  if (__lsan_enable)
    __lsan_enable();
}

GstCaps *gst_caps_from_string(const char *text)
{
  GstCaps *(*parse)(const char *);
  quiet_begin("gst_caps_from_string", (void **)&parse);
  GstCaps *caps = parse(text);
  quiet_end();
  return caps;
}
