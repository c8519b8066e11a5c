#include "config.h"
#include "tests/elements/elements.h"
#include "tests/elements/model-file.h"

#include <math.h>

/* Every element and property has a description, and says when it may be set. */
static void check_properties(GstElementFactory *factory)
{
  GstElement *element = gst_element_factory_create(factory, NULL);
  guint n;
  g_autofree GParamSpec **specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &n);

  for (guint i = 0; i < n; i++) {
    if (!g_str_has_prefix(g_type_name(specs[i]->owner_type), "Astro"))
      continue;
    g_test_message("%s %s", GST_OBJECT_NAME(factory), specs[i]->name);
    g_assert_cmpuint(strlen(g_param_spec_get_blurb(specs[i])), >, 10);
    g_assert_cmpstr(g_param_spec_get_blurb(specs[i]), !=, g_param_spec_get_nick(specs[i]));
    g_assert_true(!(specs[i]->flags & G_PARAM_WRITABLE) ||
                  specs[i]->flags & (GST_PARAM_MUTABLE_READY | GST_PARAM_MUTABLE_PAUSED |
                                     GST_PARAM_MUTABLE_PLAYING));
  }
  gst_object_unref(element);
}

#define NEXT_TO(spec, value, SPEC, type)                                                           \
  g_value_set_##type((value), g_value_get_##type(value) < SPEC(spec)->maximum                      \
                                  ? g_value_get_##type(value) + 1                                  \
                                  : g_value_get_##type(value) - 1)

static gint other_of(const GParamSpecEnum *spec)
{
  const GEnumValue *values = spec->enum_class->values;
  return values[values[0].value == spec->default_value].value;
}

static double near_default(const GParamSpecDouble *spec)
{
  const double up = MIN(spec->default_value + 1, spec->maximum);
  const double bound = up > spec->default_value ? up : MAX(up - 1, spec->minimum);
  return (spec->default_value + bound) / 2;
}

/* A value that a property may have, other than its default. */
static void make_other(GParamSpec *spec, GValue *value)
{
  g_value_init(value, spec->value_type);
  g_param_value_set_default(spec, value);
  if (G_IS_PARAM_SPEC_STRING(spec))
    g_value_set_static_string(value, "7");
  else if (G_IS_PARAM_SPEC_BOOLEAN(spec))
    g_value_set_boolean(value, !g_value_get_boolean(value));
  else if (G_IS_PARAM_SPEC_ENUM(spec))
    g_value_set_enum(value, other_of(G_PARAM_SPEC_ENUM(spec)));
  else if (G_IS_PARAM_SPEC_INT(spec))
    NEXT_TO(spec, value, G_PARAM_SPEC_INT, int);
  else if (G_IS_PARAM_SPEC_UINT(spec))
    NEXT_TO(spec, value, G_PARAM_SPEC_UINT, uint);
  else if (G_IS_PARAM_SPEC_UINT64(spec))
    NEXT_TO(spec, value, G_PARAM_SPEC_UINT64, uint64);
  else if (G_IS_PARAM_SPEC_DOUBLE(spec))
    g_value_set_double(value, near_default(G_PARAM_SPEC_DOUBLE(spec)));
  else
    g_error("a property of type %s", g_type_name(spec->value_type));
  if (g_param_value_validate(spec, value))
    g_error("%s: the value next to its default is out of range", spec->name);
}

static gboolean is_settable(const GParamSpec *spec)
{
  return g_str_has_prefix(g_type_name(spec->owner_type), "Astro") &&
         (spec->flags & G_PARAM_READWRITE) == G_PARAM_READWRITE;
}

/* Properties have their defaults, a value that is set can be read again, and no other property
 * changes. */
static void check_kept_apart(GstElementFactory *factory)
{
  GObject *element = G_OBJECT(gst_element_factory_create(factory, NULL));
  guint n;
  g_autofree GParamSpec **specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &n);
  g_autofree GValue *wanted = g_new0(GValue, n);

  for (guint i = 0; i < n; i++) {
    if (!is_settable(specs[i]))
      continue;
    g_object_get_property(element, specs[i]->name, &wanted[i]);
    if (!g_param_value_defaults(specs[i], &wanted[i]))
      g_error("%s: %s is not its default", GST_OBJECT_NAME(factory), specs[i]->name);
  }
  for (guint i = 0; i < n; i++) {
    if (!is_settable(specs[i]))
      continue;
    g_value_unset(&wanted[i]);
    make_other(specs[i], &wanted[i]);
    g_object_set_property(element, specs[i]->name, &wanted[i]);
    for (guint k = 0; k < n; k++) {
      GValue got = G_VALUE_INIT;
      if (!is_settable(specs[k]))
        continue;
      g_object_get_property(element, specs[k]->name, &got);
      if (g_param_values_cmp(specs[k], &got, &wanted[k]) != 0)
        g_error("%s: %s was set, and %s is what nobody set", GST_OBJECT_NAME(factory),
                specs[i]->name, specs[k]->name);
      g_value_unset(&got);
    }
  }
  for (guint i = 0; i < n; i++)
    if (is_settable(specs[i]))
      g_value_unset(&wanted[i]);
  gst_object_unref(element);
}

/* A value beyond what a property may have; FALSE: there is none. */
static gboolean make_bad(GParamSpec *spec, GValue *value)
{
  GValue taken = G_VALUE_INIT;
  g_value_init(value, spec->value_type);
  if (G_IS_PARAM_SPEC_DOUBLE(spec))
    g_value_set_double(value, NAN);
  else if (G_IS_PARAM_SPEC_ENUM(spec))
    g_value_set_enum(value, -1);
  else if (G_IS_PARAM_SPEC_INT(spec))
    g_value_set_int(value, G_PARAM_SPEC_INT(spec)->minimum - 1);
  else if (G_IS_PARAM_SPEC_UINT(spec))
    g_value_set_uint(value, G_PARAM_SPEC_UINT(spec)->minimum - 1);
  else if (G_IS_PARAM_SPEC_UINT64(spec))
    g_value_set_uint64(value, G_PARAM_SPEC_UINT64(spec)->minimum - 1);
  g_value_init(&taken, spec->value_type);
  g_value_copy(value, &taken);
  const gboolean bad = g_param_value_validate(spec, &taken);
  g_value_unset(&taken);
  if (!bad)
    g_value_unset(value);
  return bad;
}

/* GLib complains about a value that is out of range, and the property keeps its default:
 * gst-launch-1.0 sets values when an element is made, and goes on. */
/* Older versions of GLib call it a warning, newer ones critical. */
static void count_out_of_range(const char *domain, GLogLevelFlags level, const char *message,
                               gpointer count)
{
  if (!g_pattern_match_simple("value *out of range*", message))
    g_error("%s: %s", domain, message);
  ++*(guint *)count;
}

/* Says what is wrong, once. */
static GstElement *make_out_of_range(GstElementFactory *factory, const GParamSpec *spec,
                                     const GValue *value)
{
  guint told = 0;
  const GLogLevelFlags fatal = g_log_set_always_fatal(G_LOG_LEVEL_ERROR);
  const guint handler = g_log_set_handler(
      "GLib-GObject", G_LOG_LEVEL_WARNING | G_LOG_LEVEL_CRITICAL, count_out_of_range, &told);
  GstElement *element =
      gst_element_factory_create_with_properties(factory, 1, (const char **)&spec->name, value);
  g_log_remove_handler("GLib-GObject", handler);
  g_log_set_always_fatal(fatal);
  g_assert_cmpuint(told, ==, 1);
  return element;
}

static void check_out_of_range(GstElementFactory *factory)
{
  GstElement *element = gst_element_factory_create(factory, NULL);
  guint n;
  g_autofree GParamSpec **specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &n);
  gst_object_unref(element);

  for (guint i = 0; i < n; i++) {
    GValue value = G_VALUE_INIT, got = G_VALUE_INIT;
    if (!is_settable(specs[i]) || !make_bad(specs[i], &value))
      continue;
    element = make_out_of_range(factory, specs[i], &value);
    g_object_get_property(G_OBJECT(element), specs[i]->name, &got);
    if (!g_param_value_defaults(specs[i], &got))
      g_error("%s: %s lost its default", GST_OBJECT_NAME(factory), specs[i]->name);
    g_value_unset(&value);
    g_value_unset(&got);
    gst_object_unref(element);
  }
}

static void check_metadata(GstElementFactory *factory)
{
  static const char *const fields[] = { GST_ELEMENT_METADATA_LONGNAME, GST_ELEMENT_METADATA_KLASS,
                                        GST_ELEMENT_METADATA_DESCRIPTION,
                                        GST_ELEMENT_METADATA_AUTHOR };
  for (guint i = 0; i < G_N_ELEMENTS(fields); i++)
    g_assert_nonnull(gst_element_factory_get_metadata(factory, fields[i]));
}

/* A template lists each media type once. */
static void check_templates(GstElementFactory *factory)
{
  for (const GList *link = gst_element_factory_get_static_pad_templates(factory); link;
       link = link->next) {
    const GstStaticPadTemplate *template = link->data;
    g_autoptr(GstCaps) caps = gst_static_caps_get((GstStaticCaps *)&template->static_caps);
    for (guint i = 0; i < gst_caps_get_size(caps); i++)
      for (guint k = 0; k < i; k++)
        if (gst_structure_is_equal(gst_caps_get_structure(caps, i),
                                   gst_caps_get_structure(caps, k)))
          g_error("%s: %s has the same caps twice", GST_OBJECT_NAME(factory),
                  template->name_template);
  }
}

static const GstStaticPadTemplate *find_template(GstElementFactory *factory, const char *name)
{
  for (const GList *link = gst_element_factory_get_static_pad_templates(factory); link;
       link = link->next) {
    const GstStaticPadTemplate *template = link->data;
    if (g_str_equal(template->name_template, name))
      return template;
  }
  return NULL;
}

/* A stream without caps, as from a file, is refused by the element, which says what it expects. */
static void check_without_caps(GstElementFactory *factory)
{
  static const struct {
    const char *element, *settings;
  } needed[] = { { "astrogridder", "cell=10" },
                 { "astrobeamform", "beams=0,0" },
                 { "astrodedisperse", "dm=0" },
                 { "astrofold", "period=1" },
                 { "astrophaseshift", "centre=0,0" },
                 { "astrocalibrate", "sky=0,0,1" },
                 { "astrohttpsink", "port=0" },
                 { "astropay", "packet=vdif" },
                 { "astrofitssink", "location=without-caps.fits" },
                 { "astrouvh5sink", "location=without-caps.uvh5" },
                 { "astrosave", "output=without-caps.uvfits" },
                 { "astromssink", "location=without-caps.ms" },
                 { "astrorecordsink", "location=without-caps.vdif" } };
  const char *name = GST_OBJECT_NAME(factory), *settings = "";
  const GstStaticPadTemplate *sink = find_template(factory, "sink");

  /* Packets have none. */
  if (!sink || g_str_equal(name, "astrodepay"))
    return;
  for (guint i = 0; i < G_N_ELEMENTS(needed); i++)
    if (g_str_equal(needed[i].element, name))
      settings = needed[i].settings;
  const TestModel zeros = test_model(0, 0, NULL);
  g_autofree char *model = g_str_equal(name, "astrodegridder") ? test_model_write(&zeros) : NULL;
  g_autofree char *with_model = g_strdup_printf("model=%s", model);
  if (model)
    settings = with_model;
  g_autofree char *line =
      g_strdup_printf("fakesrc num-buffers=2 sizetype=fixed sizemax=64 ! %s name=e %s %s", name,
                      settings, find_template(factory, "src") ? "! fakesink" : "");
  g_autoptr(GstCaps) caps = gst_static_caps_get((GstStaticCaps *)&sink->static_caps);
  const char *type = gst_structure_get_name(gst_caps_get_structure(caps, 0));
  g_autofree char *says = g_strdup_printf("a buffer came without caps, which say what it holds: "
                                          "expected %s",
                                          type);
  test_refused_by(line, g_str_equal(name, "astrosave") ? "sink" : "e", says); /* its own sink */
  if (model)
    g_unlink(model);
}

typedef void (*Check)(GstElementFactory *factory);

static void check_plugin(const char *plugin, Check check)
{
  GList *features = gst_registry_get_feature_list_by_plugin(gst_registry_get(), plugin);

  g_assert_nonnull(features);
  for (GList *link = features; link; link = link->next) {
    GstElementFactory *factory =
        GST_ELEMENT_FACTORY(gst_plugin_feature_load(GST_PLUGIN_FEATURE(link->data)));
    g_assert_nonnull(factory);
    check(factory);
    gst_object_unref(factory);
  }
  gst_plugin_feature_list_free(features);
}

static void check_all(gconstpointer check)
{
  check_plugin("astro", (Check)check);
#ifdef HAVE_HDF5
  check_plugin("astrouvh5", (Check)check);
#endif
#ifdef HAVE_CASACORE
  check_plugin("astroms", (Check)check);
#endif
#ifdef HAVE_MPI
  check_plugin("astrompi", (Check)check);
#endif
}

/* The plugin is linked to FFTW, which is under the GPL: applications that ask must be told. */
static void test_licence(void)
{
  g_autoptr(GstPlugin) plugin = gst_registry_find_plugin(gst_registry_get(), "astro");
  g_assert_nonnull(plugin);
  g_assert_cmpstr(gst_plugin_get_license(plugin), ==, "GPL");
}

/* Only the reason is posted: base classes post another error for each start that failed. */
static void test_failed_start(void)
{
  static const char *const elements[] = {
    "astroskysrc latitude=3",
    "astrovissrc latitude=3",
    "astrocatsrc location=/nonexistent/file",
    "astrofitssrc location=/nonexistent/file",
    "astrofitssink location=/nonexistent/file",
#ifdef HAVE_HDF5
    "astrouvh5src location=/nonexistent/file",
    "astrouvh5sink location=/nonexistent/file",
#endif
#ifdef HAVE_CASACORE
    "astromssrc location=/nonexistent/file",
    "astromssink location=/nonexistent/file",
#endif
    "astroopen input=/nonexistent/file",
#ifdef HAVE_SOUP
    "astrohttpsink address=nowhere",
#endif
  };
  for (guint i = 0; i < G_N_ELEMENTS(elements); i++) {
    GstElement *element = gst_parse_launch(elements[i], NULL);
    g_autoptr(GstBus) bus = gst_bus_new();
    gst_element_set_bus(element, bus);
    for (guint again = 0; again < 2; again++) {
      g_test_message("%s", elements[i]);
      g_assert_cmpint(gst_element_set_state(element, GST_STATE_PAUSED), ==,
                      GST_STATE_CHANGE_FAILURE);
      GstMessage *message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
      g_assert_nonnull(message);
      gst_message_unref(message);
      message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
      g_assert_null(message);
      gst_element_set_state(element, GST_STATE_NULL);
    }
    gst_element_set_bus(element, NULL);
    gst_object_unref(element);
  }
}

static void add_tests(void)
{
  g_test_add_func("/plugin/failed-start", test_failed_start);
  g_test_add_func("/plugin/licence", test_licence);
  g_test_add_data_func("/plugin/templates", check_templates, check_all);
  g_test_add_data_func("/plugin/metadata", check_metadata, check_all);
  g_test_add_data_func("/plugin/properties/documented", check_properties, check_all);
  g_test_add_data_func("/plugin/properties/kept-apart", check_kept_apart, check_all);
  g_test_add_data_func("/plugin/properties/out-of-range", check_out_of_range, check_all);
  g_test_add_data_func("/plugin/without-caps", check_without_caps, check_all);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
