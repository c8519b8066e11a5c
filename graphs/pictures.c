/* Finds the pictures that a pipeline has written. */
#include "graphs/pictures.h"

static gboolean gets_images(GstElement *sink)
{
  g_autoptr(GstPad) pad = gst_element_get_static_pad(sink, "sink");
  g_autoptr(GstCaps) caps = pad ? gst_pad_get_current_caps(pad) : NULL;
  return caps && gst_caps_get_size(caps) &&
         g_str_has_prefix(gst_structure_get_name(gst_caps_get_structure(caps, 0)), "image/");
}

static void add_picture(const GValue *item, gpointer pictures)
{
  GstElement *sink = g_value_get_object(item);
  const GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(sink), "location");
  g_autofree char *location = NULL;
  if (!spec || spec->value_type != G_TYPE_STRING || !gets_images(sink))
    return;
  g_object_get(sink, "location", &location, NULL);
  if (location && g_file_test(location, G_FILE_TEST_IS_REGULAR))
    g_ptr_array_add(pictures, g_steal_pointer(&location));
}

GPtrArray *astro_pictures_written(GstElement *pipeline)
{
  GPtrArray *pictures = g_ptr_array_new_with_free_func(g_free);
  GstIterator *sinks = gst_bin_iterate_sinks(GST_BIN(pipeline));
  while (gst_iterator_foreach(sinks, add_picture, pictures) == GST_ITERATOR_RESYNC) {
    g_ptr_array_set_size(pictures, 0);
    gst_iterator_resync(sinks);
  }
  gst_iterator_free(sinks);
  return pictures;
}
