/* A thread that sets a property to one text after the other, while the test does something else. */
#pragma once

#include <gst/base/gstbasetransform.h>
#include "tests/elements/elements.h"

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
  for (guint i = 0; !g_atomic_int_get(&setter->done); i = setter->texts[i + 1] ? i + 1 : 0) {
    gst_util_set_object_arg(setter->object, setter->name, setter->texts[i]);
    g_thread_yield(); /* or who asks may wait for the lock for many rounds */
  }
  return NULL;
}

static inline void test_setter_start(TestSetter *setter)
{
  gst_util_set_object_arg(setter->object, setter->name, setter->texts[0]);
  setter->thread = g_thread_new("setter", test_setter_run, setter);
}

static inline void test_setter_stop(TestSetter *setter)
{
  g_atomic_int_set(&setter->done, TRUE);
  g_thread_join(setter->thread);
}

/* The same for an element that converts in to out: its caps have one value of the field or the
 * other, as the texts ask for. */
static inline void test_caps_meanwhile(GstElement *element, const char *name,
                                       const char *const *texts, const char *in, const char *field,
                                       const char *const *values)
{
  TestSetter setter = { .object = element, .name = name, .texts = texts };
  GstBaseTransformClass *klass = GST_BASE_TRANSFORM_GET_CLASS(element);
  g_autoptr(GstCaps) taken = gst_caps_from_string(in);
  test_setter_start(&setter);
  for (guint i = 0; i < 20000; i += TEST_STEP) {
    g_autoptr(GstCaps) made =
        klass->transform_caps(GST_BASE_TRANSFORM(element), GST_PAD_SINK, taken, NULL);
    const char *value = gst_structure_get_string(gst_caps_get_structure(made, 0), field);
    if (g_strcmp0(value, values[0]))
      g_assert_cmpstr(value, ==, values[1]);
  }
  test_setter_stop(&setter);
}

typedef struct {
  GstElement *element;
  const char *name, *value;
} TestLate;

static inline GstPadProbeReturn test_set_now(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  const TestLate *late = data;
  if (GST_QUERY_TYPE(GST_PAD_PROBE_INFO_QUERY(info)) == GST_QUERY_ACCEPT_CAPS)
    gst_util_set_object_arg(G_OBJECT(late->element), late->name, late->value);
  return GST_PAD_PROBE_OK;
}

/* Settings in `late` are made by another thread, after caps were made and before they are agreed
 * on. late stays the caller's until the harness is gone. */
static inline void test_set_late(GstHarness *h, TestLate *late)
{
  gst_pad_add_probe(h->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, test_set_now, late, NULL);
}

#define TEST_LATE_SAYS "properties were set while caps were negotiated"

/* An element that refuses such a setting, since its caps determine the size of buffers. */
static inline void test_refuses_late(const char *line, const char *name, const char *value,
                                     const char *caps)
{
  GstHarness *h = gst_harness_new_parse(line);
  g_auto(GStrv) words = g_strsplit(line, " ", 2);
  g_autoptr(GstElement) element = gst_harness_find_element(h, words[0]);
  g_autoptr(GstBus) bus = gst_bus_new();
  g_autoptr(GError) error = NULL;
  TestLate late = { element, name, value };
  gst_element_set_bus(element, bus);
  test_set_late(h, &late);
  gst_harness_set_src_caps_str(h, caps);
  gst_harness_push(h, test_buffer(8, 1));
  g_autoptr(GstMessage) message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  g_test_message("%s %s=%s", line, name, value);
  g_assert_nonnull(message);
  gst_message_parse_error(message, &error, NULL);
  test_says(error->message, TEST_LATE_SAYS);
  gst_element_set_bus(element, NULL);
  gst_harness_teardown(h);
}
