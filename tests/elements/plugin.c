#include "tests/elements/elements.h"

/* Every element and property of ours tells a user what it is. */
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
  }
  gst_object_unref(element);
}

static void test_documented(void)
{
  static const char *const fields[] = { GST_ELEMENT_METADATA_LONGNAME, GST_ELEMENT_METADATA_KLASS,
                                        GST_ELEMENT_METADATA_DESCRIPTION,
                                        GST_ELEMENT_METADATA_AUTHOR };
  GList *features = gst_registry_get_feature_list_by_plugin(gst_registry_get(), "astro");

  g_assert_nonnull(features);
  for (GList *link = features; link; link = link->next) {
    GstElementFactory *factory =
        GST_ELEMENT_FACTORY(gst_plugin_feature_load(GST_PLUGIN_FEATURE(link->data)));
    g_assert_nonnull(factory);
    for (guint i = 0; i < G_N_ELEMENTS(fields); i++)
      g_assert_nonnull(gst_element_factory_get_metadata(factory, fields[i]));
    check_properties(factory);
    gst_object_unref(factory);
  }
  gst_plugin_feature_list_free(features);
}

static void add_tests(void)
{
  g_test_add_func("/plugin/documented", test_documented);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
