#include "config.h"
#include "graphs/unlinked.h"

#include <string.h>

#define MOST 400 /* characters of caps: some templates fill pages */

static char *caps_text(GstCaps *caps)
{
  char *text = gst_caps_to_string(caps);
  if (strlen(text) > MOST)
    strcpy(text + MOST - 3, "...");
  return text;
}

/* Of all pads of that direction that nobody is linked to. */
static char *describe(GstElement *element, GstPadDirection direction)
{
  g_autoptr(GstCaps) caps = gst_caps_new_empty();
  GValue value = G_VALUE_INIT;
  GstIterator *pads = direction == GST_PAD_SRC ? gst_element_iterate_src_pads(element)
                                               : gst_element_iterate_sink_pads(element);

  while (gst_iterator_next(pads, &value) == GST_ITERATOR_OK) {
    GstPad *pad = g_value_get_object(&value);
    if (!gst_pad_is_linked(pad))
      caps = gst_caps_merge(caps, gst_pad_query_caps(pad, NULL));
    g_value_unset(&value);
  }
  gst_iterator_free(pads);
  return gst_caps_is_empty(caps) ? NULL : caps_text(caps);
}

char *astro_explain_unlinked(GstElement *pipeline, const GError *error)
{
  g_auto(GStrv) words = g_strsplit(error->message, " ", -1); /* could not link A to B */

  if (!g_error_matches(error, GST_PARSE_ERROR, GST_PARSE_ERROR_LINK) || g_strv_length(words) != 6)
    return g_strdup(error->message);
  g_autoptr(GstElement) from = gst_bin_get_by_name(GST_BIN(pipeline), words[3]);
  g_autoptr(GstElement) to = gst_bin_get_by_name(GST_BIN(pipeline), words[5]);
  g_autofree char *given = from ? describe(from, GST_PAD_SRC) : NULL;
  g_autofree char *taken = to ? describe(to, GST_PAD_SINK) : NULL;
  if (!given || !taken)
    return g_strdup(error->message);
  return g_strdup_printf("%s: %s gives %s, and %s takes %s", error->message, words[3], given,
                         words[5], taken);
}
