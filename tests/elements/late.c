/* Properties that are set while a stream runs. One that should be set before the start is kept for
 * the next one, and a warning says so; one that counts at any time is set without a warning. */
#include "tests/elements/elements.h"

typedef struct {
  GstElement *element;
  GstBus *bus;
} Running;

/* An element in state PAUSED, with a bus of its own. */
static Running start(const char *factory)
{
  const Running running = { gst_element_factory_make(factory, NULL), gst_bus_new() };
  gst_element_set_bus(running.element, running.bus);
  g_assert_cmpint(gst_element_set_state(running.element, GST_STATE_PAUSED), ==,
                  GST_STATE_CHANGE_SUCCESS);
  return running;
}

static void stop(const Running *running)
{
  gst_element_set_state(running->element, GST_STATE_NULL);
  gst_element_set_bus(running->element, NULL);
  gst_object_unref(running->element);
  gst_object_unref(running->bus);
}

/* NULL: there was no warning. */
static char *set(const Running *running, const char *name, const char *value)
{
  g_autoptr(GError) error = NULL;
  gst_util_set_object_arg(G_OBJECT(running->element), name, value);
  g_autoptr(GstMessage) message = gst_bus_pop_filtered(running->bus, GST_MESSAGE_WARNING);
  if (!message)
    return NULL;
  g_assert_true(GST_MESSAGE_SRC(message) == GST_OBJECT(running->element));
  gst_message_parse_warning(message, &error, NULL);
  g_assert_null(gst_bus_pop_filtered(running->bus, GST_MESSAGE_WARNING));
  return g_strdup(error->message);
}

/* A property of a stage, of its base, of one of several inputs, and one that is code. */
static void test_warns(void)
{
  static const struct {
    const char *factory, *name, *before, *value, *got;
  } cases[] = {
    { "astrochannelizer", "taps", "8", "4", "4" },
    { "astrochannelizer", "threads", "0", "1", "1" },
    { "astrochannelizer", "window", "auto", "hann", "hann" },
    { "astrojoin", "axis", "station", "channel", "channel" },
    { "astrojoin", "backend", "auto", "reference", "reference" },
    { "astroconvert", "scale", "1", "0.5", "0.5" },
    { "astroobserve", "telescope", NULL, "Here", "Here" },
    { "astrogridder", "support", "auto", "7", "7" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    const Running running = start(cases[i].factory);
    GValue got = G_VALUE_INIT;
    g_test_message("%s %s", cases[i].factory, cases[i].name);
    /* as it is already */
    g_autofree char *same = cases[i].before ? set(&running, cases[i].name, cases[i].before) : NULL;
    g_assert_cmpstr(same, ==, NULL);
    g_autofree char *warning = set(&running, cases[i].name, cases[i].value);
    g_assert_nonnull(warning);
    test_says(warning, cases[i].name);
    test_says(warning, "PAUSED");
    test_says(warning, "NULL or READY");
    g_object_get_property(G_OBJECT(running.element), cases[i].name, &got);
    g_autofree char *text =
        G_VALUE_HOLDS_STRING(&got) ? g_value_dup_string(&got) : gst_value_serialize(&got);
    g_assert_cmpstr(text, ==, cases[i].got);
    g_value_unset(&got);
    /* and in a state where it should be set */
    gst_element_set_state(running.element, GST_STATE_READY);
    g_autofree char *ready =
        set(&running, cases[i].name, cases[i].before ? cases[i].before : "There");
    g_assert_cmpstr(ready, ==, NULL);
    stop(&running);
  }
}

static void test_counts_at_any_time(void)
{
  static const struct {
    const char *factory, *name, *value;
  } cases[] = {
    { "astrotranspose", "layout", "station:pol:time" },
    { "astrotpacf", "estimator", "hamilton" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    const Running running = start(cases[i].factory);
    g_autofree char *warning = set(&running, cases[i].name, cases[i].value);
    g_assert_cmpstr(warning, ==, NULL);
    stop(&running);
  }
}

static void add_tests(void)
{
  g_test_add_func("/late/warns", test_warns);
  g_test_add_func("/late/counts-at-any-time", test_counts_at_any_time);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
