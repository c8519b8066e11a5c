/* A thread that sets a property to one text after the other, while the test does something else. */
#pragma once

#include <gst/base/gstbasetransform.h>

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

/* The same of an element that makes out of in: its caps have one value of the field or the other,
 * as the texts ask for. */
static inline void test_caps_meanwhile(GstElement *element, const char *name,
                                       const char *const *texts, const char *in, const char *field,
                                       const char *const *values)
{
  TestSetter setter = { .object = element, .name = name, .texts = texts };
  GstBaseTransformClass *klass = GST_BASE_TRANSFORM_GET_CLASS(element);
  g_autoptr(GstCaps) taken = gst_caps_from_string(in);
  test_setter_start(&setter);
  for (guint i = 0; i < 20000; i++) {
    g_autoptr(GstCaps) made =
        klass->transform_caps(GST_BASE_TRANSFORM(element), GST_PAD_SINK, taken, NULL);
    const char *value = gst_structure_get_string(gst_caps_get_structure(made, 0), field);
    if (g_strcmp0(value, values[0]))
      g_assert_cmpstr(value, ==, values[1]);
  }
  test_setter_stop(&setter);
}
