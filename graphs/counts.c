/* Counts the work of each element of a pipeline. */
#include "graphs/counts.h"
#include "graphs/flow.h"

typedef struct {
  AstroFlow *in, *out;
} Watch;

struct _AstroCounts {
  GstElement *pipeline;
  gulong handler;
  GMutex lock;
  GHashTable *watches; /* GstElement -> Watch */
};

static void watch_free(gpointer data)
{
  Watch *watch = data;
  astro_flow_free(watch->in);
  astro_flow_free(watch->out);
  g_free(watch);
}

/* The property stats of an element; NULL: it has none. */
static GstStructure *own_stats(GstElement *element)
{
  GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element), "stats");
  GstStructure *stats = NULL;
  if (spec && spec->value_type == GST_TYPE_STRUCTURE && (spec->flags & G_PARAM_READABLE))
    g_object_get(element, "stats", &stats, NULL);
  return stats;
}

/* Whether the element counts its buffers and bytes by itself. */
static gboolean counts_itself(GstElement *element)
{
  g_autoptr(GstStructure) own = own_stats(element);
  return own && gst_structure_has_name(own, "astro-stats");
}

static void watch_element(AstroCounts *counts, GstElement *element)
{
  if (GST_IS_BIN(element) || counts_itself(element))
    return;
  Watch *watch = g_new0(Watch, 1);
  watch->in = astro_flow_new(element, GST_PAD_SINK);
  watch->out = astro_flow_new(element, GST_PAD_SRC);
  g_mutex_lock(&counts->lock);
  g_hash_table_insert(counts->watches, gst_object_ref(element), watch);
  g_mutex_unlock(&counts->lock);
}

static void watch_each(const GValue *value, gpointer counts)
{
  watch_element(counts, g_value_get_object(value));
}

static void on_element_added(GstBin *pipeline, GstBin *bin, GstElement *element, gpointer counts)
{
  watch_element(counts, element);
}

AstroCounts *astro_counts_new(GstElement *pipeline)
{
  AstroCounts *counts = g_new0(AstroCounts, 1);
  counts->pipeline = gst_object_ref(pipeline);
  counts->watches = g_hash_table_new_full(NULL, NULL, gst_object_unref, watch_free);
  g_mutex_init(&counts->lock);
  GstIterator *elements = gst_bin_iterate_recurse(GST_BIN(pipeline));
  gst_iterator_foreach(elements, watch_each, counts);
  gst_iterator_free(elements);
  counts->handler =
      g_signal_connect(pipeline, "deep-element-added", G_CALLBACK(on_element_added), counts);
  return counts;
}

static void read_watch(AstroCounts *counts, GstElement *element, GstStructure *told)
{
  g_mutex_lock(&counts->lock);
  const Watch *watch = g_hash_table_lookup(counts->watches, element);
  if (watch) {
    const AstroFlowCount in = astro_flow_count(watch->in), out = astro_flow_count(watch->out);
    gst_structure_set(told, "buffers-in", G_TYPE_UINT64, in.buffers, "buffers-out", G_TYPE_UINT64,
                      out.buffers, "bytes-in", G_TYPE_UINT64, in.bytes, "bytes-out", G_TYPE_UINT64,
                      out.bytes, NULL);
  }
  g_mutex_unlock(&counts->lock);
}

GstStructure *astro_counts_of(AstroCounts *counts, GstElement *element)
{
  GstStructure *told = own_stats(element);
  if (!told)
    told = gst_structure_new_empty("counts");
  read_watch(counts, element, told);
  return told;
}

static gint is_other(gconstpointer value, gconstpointer name)
{
  GstElement *element = g_value_get_object(value);
  g_autoptr(GstStructure) own = GST_IS_BIN(element) ? own_stats(element) : NULL;
  return !own || !gst_structure_has_name(own, name);
}

GstStructure *astro_counts_of_bins(const AstroCounts *counts, const char *name)
{
  GValue found = G_VALUE_INIT;
  GstStructure *told = NULL;
  GstIterator *elements = gst_bin_iterate_recurse(GST_BIN(counts->pipeline));
  if (gst_iterator_find_custom(elements, is_other, &found, (gpointer)name))
    told = own_stats(g_value_get_object(&found));
  if (G_IS_VALUE(&found))
    g_value_unset(&found);
  gst_iterator_free(elements);
  return told;
}

static void add_bin(GstBin *bin, GPtrArray *elements)
{
  GValue value = G_VALUE_INIT;
  g_autoptr(GPtrArray) own = g_ptr_array_new_with_free_func(gst_object_unref);
  GstIterator *sorted = gst_bin_iterate_sorted(bin);
  while (gst_iterator_next(sorted, &value) == GST_ITERATOR_OK) {
    g_ptr_array_insert(own, 0, g_value_dup_object(&value));
    g_value_unset(&value);
  }
  gst_iterator_free(sorted);
  for (guint i = 0; i < own->len; i++)
    if (GST_IS_BIN(own->pdata[i]))
      add_bin(own->pdata[i], elements);
    else
      g_ptr_array_add(elements, gst_object_ref(own->pdata[i]));
}

GPtrArray *astro_counts_elements(const AstroCounts *counts)
{
  GPtrArray *elements = g_ptr_array_new_with_free_func(gst_object_unref);
  add_bin(GST_BIN(counts->pipeline), elements);
  return elements;
}

void astro_counts_free(AstroCounts *counts)
{
  if (!counts)
    return;
  g_signal_handler_disconnect(counts->pipeline, counts->handler);
  g_hash_table_unref(counts->watches);
  gst_object_unref(counts->pipeline);
  g_mutex_clear(&counts->lock);
  g_free(counts);
}
