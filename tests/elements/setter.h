/* A thread that sets a property to one text after the other, while the test does something else. */
#pragma once

#include <gst/gst.h>

typedef struct {
  gpointer object;
  const char *name;
  const char *const *texts; /* up to a NULL */
  GThread *thread;
  gint done;
} TestSetter;

static inline gpointer test_setter_run(gpointer data)
{
  TestSetter *setter = data;
  for (guint i = 0; !g_atomic_int_get(&setter->done); i = setter->texts[i + 1] ? i + 1 : 0)
    g_object_set(setter->object, setter->name, setter->texts[i], NULL);
  return NULL;
}

static inline void test_setter_start(TestSetter *setter)
{
  g_object_set(setter->object, setter->name, setter->texts[0], NULL);
  setter->thread = g_thread_new("setter", test_setter_run, setter);
}

static inline void test_setter_stop(TestSetter *setter)
{
  g_atomic_int_set(&setter->done, TRUE);
  g_thread_join(setter->thread);
}
