/* Explains why two elements could not be linked. */
#include "config.h"
#include "graphs/unlinked.h"

#include <string.h>

#define MOST 400 /* characters of caps: some templates fill pages */

static char *caps_text(const GstCaps *caps)
{
  char *text = gst_caps_to_string(caps);
  if (strlen(text) > MOST)
    strcpy(text + MOST - 3, "...");
  return text;
}

/* The caps of all unlinked pads of that direction. */
static GstCaps *caps_of(GstElement *element, GstPadDirection direction)
{
  GstCaps *caps = gst_caps_new_empty();
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
  return caps;
}

static gboolean clashes(GQuark field, GValue *value, gpointer other)
{
  const GValue *theirs = gst_structure_id_get_value(other, field);
  return theirs && !gst_value_intersect(NULL, value, theirs);
}

/* The fields of one structure that are incompatible with those of the other. */
static GstStructure *clash_of(const GstStructure *one, const GstStructure *other)
{
  GstStructure *fields = gst_structure_copy(one);
  gst_structure_filter_and_map_in_place(fields, clashes, (gpointer)other);
  return fields;
}

static void take(GstCaps **caps, GstStructure *structure)
{
  gst_caps_unref(*caps);
  *caps = gst_caps_new_full(structure, NULL);
}

/* Reduces caps that cannot meet to the incompatible fields, for the pair of structures of one name
 * that has the fewest. Leaves all unchanged if there are none, or if the fault lies elsewhere. */
static void keep_clash(GstCaps **given, GstCaps **taken)
{
  const GstStructure *from = NULL, *to = NULL;
  gint least = G_MAXINT;

  for (guint i = 0; i < gst_caps_get_size(*given); i++)
    for (guint k = 0; k < gst_caps_get_size(*taken); k++) {
      const GstStructure *one = gst_caps_get_structure(*given, i);
      const GstStructure *other = gst_caps_get_structure(*taken, k);
      if (!gst_structure_has_name(other, gst_structure_get_name(one)))
        continue;
      g_autoptr(GstStructure) clash = clash_of(one, other);
      if (gst_structure_n_fields(clash) >= least)
        continue;
      least = gst_structure_n_fields(clash);
      from = one;
      to = other;
    }
  if (!from || least == 0)
    return;
  GstStructure *gives = clash_of(from, to), *takes = clash_of(to, from);
  take(given, gives);
  take(taken, takes);
}

/* Names the side that is incompatible with the caps written between the two elements. */
static char *explain_filter(const char *message, const char *from, GstCaps **given, const char *to,
                            GstCaps **taken)
{
  const char *text = strstr(message, " caps ");
  g_autoptr(GstCaps) filter = text ? gst_caps_from_string(text + strlen(" caps ")) : NULL;
  const gboolean is_source = filter && !gst_caps_can_intersect(filter, *given);

  if (!filter || (!is_source && gst_caps_can_intersect(filter, *taken)))
    return g_strdup(message);
  GstCaps **side = is_source ? given : taken;
  keep_clash(&filter, side);
  g_autofree char *caps = caps_text(*side);
  return g_strdup_printf("%s: %s %s %s", message, is_source ? from : to,
                         is_source ? "gives" : "takes", caps);
}

static char *explain_sides(const char *message, const char *from, GstCaps **given, const char *to,
                           GstCaps **taken)
{
  keep_clash(given, taken);
  g_autofree char *gives = caps_text(*given);
  g_autofree char *takes = caps_text(*taken);
  return g_strdup_printf("%s: %s gives %s, and %s takes %s", message, from, gives, to, takes);
}

char *astro_explain_unlinked(GstElement *pipeline, const GError *error)
{
  /* could not link A to B, or: could not link A to B, ... caps CAPS */
  g_auto(GStrv) parts = g_strsplit(error->message, ",", 2);
  g_auto(GStrv) words = g_strsplit(parts[0] ? parts[0] : "", " ", -1);

  if (!g_error_matches(error, GST_PARSE_ERROR, GST_PARSE_ERROR_LINK) || g_strv_length(words) != 6)
    return g_strdup(error->message);
  g_autoptr(GstElement) from = gst_bin_get_by_name(GST_BIN(pipeline), words[3]);
  g_autoptr(GstElement) to = gst_bin_get_by_name(GST_BIN(pipeline), words[5]);
  g_autoptr(GstCaps) given = from ? caps_of(from, GST_PAD_SRC) : NULL;
  g_autoptr(GstCaps) taken = to ? caps_of(to, GST_PAD_SINK) : NULL;
  if (!given || !taken || gst_caps_is_empty(given) || gst_caps_is_empty(taken))
    return g_strdup(error->message);
  return (parts[1] ? explain_filter : explain_sides)(error->message, words[3], &given, words[5],
                                                     &taken);
}
