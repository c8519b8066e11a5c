/* Prints the table of --stats. */
#include "graphs/stats.h"
#include "core/memory/memory.h"
#include "graphs/flow.h"
#include "graphs/format.h"
#include "graphs/table.h"

typedef struct {
  AstroFlow *in, *out;
} Watch;

struct _AstroStats {
  GstElement *pipeline;
  gint64 start;
  AstroMemoryCounters counters; /* at the start */
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

/* The property stats of one of our elements; NULL for others. */
static GstStructure *own_stats(GstElement *element)
{
  GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element), "stats");
  GstStructure *stats = NULL;
  if (!spec || spec->value_type != GST_TYPE_STRUCTURE || !(spec->flags & G_PARAM_READABLE))
    return NULL;
  g_object_get(element, "stats", &stats, NULL);
  if (stats && gst_structure_has_name(stats, "astro-stats"))
    return stats;
  g_clear_pointer(&stats, gst_structure_free);
  return NULL;
}

static void watch_element(AstroStats *stats, GstElement *element)
{
  GstStructure *own = own_stats(element);
  if (own) {
    gst_structure_free(own);
    return;
  }
  if (GST_IS_BIN(element))
    return;
  Watch *watch = g_new0(Watch, 1);
  watch->in = astro_flow_new(element, GST_PAD_SINK);
  watch->out = astro_flow_new(element, GST_PAD_SRC);
  g_mutex_lock(&stats->lock);
  g_hash_table_insert(stats->watches, gst_object_ref(element), watch);
  g_mutex_unlock(&stats->lock);
}

static void watch_each(const GValue *value, gpointer stats)
{
  watch_element(stats, g_value_get_object(value));
}

static void on_element_added(GstBin *pipeline, GstBin *bin, GstElement *element, gpointer stats)
{
  watch_element(stats, element);
}

AstroStats *astro_stats_new(GstElement *pipeline)
{
  AstroStats *stats = g_new0(AstroStats, 1);
  stats->pipeline = gst_object_ref(pipeline);
  stats->start = g_get_monotonic_time();
  astro_memory_counters(&stats->counters);
  stats->watches = g_hash_table_new_full(NULL, NULL, gst_object_unref, watch_free);
  g_mutex_init(&stats->lock);
  GstIterator *elements = gst_bin_iterate_recurse(GST_BIN(pipeline));
  gst_iterator_foreach(elements, watch_each, stats);
  gst_iterator_free(elements);
  stats->handler =
      g_signal_connect(pipeline, "deep-element-added", G_CALLBACK(on_element_added), stats);
  return stats;
}

typedef struct {
  guint64 buffers_in, buffers_out, bytes_in, bytes_out;
  gboolean own; /* the element counts for itself, including the following */
  guint64 busy, input_wait, output_wait, host_copies, again;
  char *backend;
} Counts;

static Counts read_own(const GstStructure *own)
{
  Counts counts = { .own = TRUE };
  const struct {
    const char *field;
    guint64 *value;
  } fields[] = {
    { "buffers-in", &counts.buffers_in },
    { "buffers-out", &counts.buffers_out },
    { "bytes-in", &counts.bytes_in },
    { "bytes-out", &counts.bytes_out },
    { "busy-ns", &counts.busy },
    { "input-wait-ns", &counts.input_wait },
    { "output-wait-ns", &counts.output_wait },
    { "host-copies", &counts.host_copies },
    { "steps-again", &counts.again },
  };
  for (guint i = 0; i < G_N_ELEMENTS(fields); i++)
    gst_structure_get_uint64(own, fields[i].field, fields[i].value);
  counts.backend = g_strdup(gst_structure_get_string(own, "backend"));
  return counts;
}

static Counts read_counts(AstroStats *stats, GstElement *element)
{
  Counts counts = { 0 };
  GstStructure *own = own_stats(element);
  if (own) {
    counts = read_own(own);
    gst_structure_free(own);
    return counts;
  }
  g_mutex_lock(&stats->lock);
  Watch *watch = g_hash_table_lookup(stats->watches, element);
  if (watch) {
    AstroFlowCount in = astro_flow_count(watch->in), out = astro_flow_count(watch->out);
    counts = (Counts){ .buffers_in = in.buffers,
                       .buffers_out = out.buffers,
                       .bytes_in = in.bytes,
                       .bytes_out = out.bytes };
  }
  g_mutex_unlock(&stats->lock);
  return counts;
}

enum {
  NAME,
  FACTORY,
  BUFFERS_IN,
  BUFFERS_OUT,
  BYTES_IN,
  BYTES_OUT,
  RATE,
  BUSY,
  INPUT_WAIT,
  OUTPUT_WAIT,
  HOST_COPIES,
  AGAIN,
  BACKEND,
  COLUMNS
};

static const struct {
  const char *title;
  gboolean left;
} columns[COLUMNS] = {
  [NAME] = { "element", TRUE },
  [FACTORY] = { "factory", TRUE },
  [BUFFERS_IN] = { "buffers in" },
  [BUFFERS_OUT] = { "out" },
  [BYTES_IN] = { "bytes in" },
  [BYTES_OUT] = { "out" },
  [RATE] = { "rate" },
  [BUSY] = { "busy" },
  [INPUT_WAIT] = { "waits in" },
  [OUTPUT_WAIT] = { "out" },
  [HOST_COPIES] = { "host copies" },
  [AGAIN] = { "again" }, /* steps that came repeatedly or late and were left out */
  [BACKEND] = { "backend", TRUE },
};

typedef char *Row[COLUMNS];

static char *format_count(guint64 count)
{
  return g_strdup_printf("%" G_GUINT64_FORMAT, count);
}

static void add_row(AstroStats *stats, GstElement *element, double seconds, GArray *rows)
{
  Counts counts = read_counts(stats, element);
  GstElementFactory *factory = gst_element_get_factory(element);
  Row row = {
    [NAME] = gst_object_get_name(GST_OBJECT(element)),
    [FACTORY] = g_strdup(factory ? GST_OBJECT_NAME(factory) : "-"),
    [BUFFERS_IN] = format_count(counts.buffers_in),
    [BUFFERS_OUT] = format_count(counts.buffers_out),
    [BYTES_IN] = astro_format_bytes(counts.bytes_in),
    [BYTES_OUT] = astro_format_bytes(counts.bytes_out),
    [RATE] = astro_format_rate(MAX(counts.bytes_in, counts.bytes_out), seconds),
    [BACKEND] = counts.backend ? counts.backend : g_strdup("-"),
  };
  if (counts.own) {
    row[BUSY] = astro_format_seconds(counts.busy / 1e9);
    row[INPUT_WAIT] = astro_format_seconds(counts.input_wait / 1e9);
    row[OUTPUT_WAIT] = astro_format_seconds(counts.output_wait / 1e9);
    row[HOST_COPIES] = format_count(counts.host_copies);
    row[AGAIN] = format_count(counts.again);
  }
  for (guint i = 0; i < COLUMNS; i++)
    if (!row[i])
      row[i] = g_strdup("-");
  g_array_append_val(rows, row);
}

static void print_rows(GArray *rows, FILE *out)
{
  g_autoptr(GPtrArray) cells = g_ptr_array_new();
  gboolean left[COLUMNS];
  for (guint j = 0; j < COLUMNS; j++)
    left[j] = columns[j].left;
  for (guint i = 0; i < rows->len; i++)
    for (guint j = 0; j < COLUMNS; j++)
      g_ptr_array_add(cells, g_array_index(rows, Row, i)[j]);
  astro_table_print(cells, COLUMNS, left, out);
}

/* The elements of a bin from sources to sinks. */
static void add_bin(AstroStats *stats, GstBin *bin, double seconds, GArray *rows)
{
  GValue value = G_VALUE_INIT;
  g_autoptr(GPtrArray) elements = g_ptr_array_new_with_free_func(gst_object_unref);
  GstIterator *sorted = gst_bin_iterate_sorted(bin);
  while (gst_iterator_next(sorted, &value) == GST_ITERATOR_OK) {
    g_ptr_array_insert(elements, 0, g_value_dup_object(&value));
    g_value_unset(&value);
  }
  gst_iterator_free(sorted);
  for (guint i = 0; i < elements->len; i++) {
    GstElement *element = elements->pdata[i];
    if (GST_IS_BIN(element))
      add_bin(stats, GST_BIN(element), seconds, rows);
    else
      add_row(stats, element, seconds, rows);
  }
}

/* Prints how many blocks were copied between host and GPUs; nothing if none were. */
static void print_copies(const AstroStats *stats, FILE *out)
{
  const AstroMemoryCounters *before = &stats->counters;
  AstroMemoryCounters now;

  astro_memory_counters(&now);
  const guint64 up = now.copies_up - before->copies_up,
                down = now.copies_down - before->copies_down;
  if (up + down == 0)
    return;
  g_autofree char *bytes_up = astro_format_bytes((double)(now.bytes_up - before->bytes_up));
  g_autofree char *bytes_down = astro_format_bytes((double)(now.bytes_down - before->bytes_down));
  fprintf(out,
          "copies to GPUs %" G_GUINT64_FORMAT " (%s), back %" G_GUINT64_FORMAT
          " (%s), on the host %" G_GUINT64_FORMAT "; the host waited %" G_GUINT64_FORMAT " times\n",
          up, bytes_up, down, bytes_down, now.host_copies - before->host_copies,
          now.host_waits - before->host_waits);
}

/* Prints how much an element flagged, and the channels with most of it. */
static void print_flagged(const GValue *item, gpointer out)
{
  GstElement *element = g_value_get_object(item);
  g_autofree char *name = gst_object_get_name(GST_OBJECT(element));
  GstStructure *own = own_stats(element);
  guint64 flagged, judged = 0;
  double percent = 0;
  if (own && gst_structure_get_uint64(own, "flagged-values", &flagged)) {
    const GValue *channels = gst_structure_get_value(own, "worst-channels"),
                 *values = gst_structure_get_value(own, "worst-values");
    gst_structure_get_uint64(own, "judged-values", &judged);
    gst_structure_get_double(own, "flagged-percent", &percent);
    fprintf(out, "%s flagged %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " values (%.3g %%)", name,
            flagged, judged, percent);
    for (guint i = 0; channels && i < gst_value_array_get_size(channels); i++)
      fprintf(out, "%s %u (%" G_GUINT64_FORMAT ")", i ? "," : ", most in channels",
              g_value_get_uint(gst_value_array_get_value(channels, i)),
              g_value_get_uint64(gst_value_array_get_value(values, i)));
    fprintf(out, "\n");
  }
  g_clear_pointer(&own, gst_structure_free);
}

void astro_stats_print(AstroStats *stats, FILE *out)
{
  double seconds = (g_get_monotonic_time() - stats->start) / 1e6;
  g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(Row));
  Row titles;
  for (guint i = 0; i < COLUMNS; i++)
    titles[i] = g_strdup(columns[i].title);
  g_array_append_val(rows, titles);
  add_bin(stats, GST_BIN(stats->pipeline), seconds, rows);
  print_rows(rows, out);
  print_copies(stats, out);
  GstIterator *elements = gst_bin_iterate_recurse(GST_BIN(stats->pipeline));
  gst_iterator_foreach(elements, print_flagged, out);
  gst_iterator_free(elements);
  for (guint i = 0; i < rows->len; i++)
    for (guint j = 0; j < COLUMNS; j++)
      g_free(g_array_index(rows, Row, i)[j]);
}

void astro_stats_free(AstroStats *stats)
{
  if (!stats)
    return;
  g_signal_handler_disconnect(stats->pipeline, stats->handler);
  g_hash_table_unref(stats->watches);
  gst_object_unref(stats->pipeline);
  g_mutex_clear(&stats->lock);
  g_free(stats);
}
