/* Describes a run in the text format of Prometheus, version 0.0.4: families of samples, each with
 * its help and its type before it. */
#include "config.h"
#include "graphs/control-parts.h"

/* Asks upstream of the sinks: a sink that does not sync, as most of ours, says that it is not live.
 */
static void ask_latency(const GValue *item, gpointer data)
{
  double *most = data;
  g_autoptr(GstQuery) query = gst_query_new_latency();
  g_autoptr(GstPad) pad = gst_element_get_static_pad(g_value_get_object(item), "sink");
  GstClockTime least = 0;
  gboolean live = FALSE;
  if (!pad || !gst_pad_peer_query(pad, query))
    return;
  gst_query_parse_latency(query, &live, &least, NULL);
  if (live && GST_CLOCK_TIME_IS_VALID(least))
    *most = MAX(*most, (double)least / GST_SECOND);
}

double astro_control_latency(GstElement *pipeline)
{
  double most = -1;
  GstIterator *sinks = gst_bin_iterate_sinks(GST_BIN(pipeline));
  while (gst_iterator_foreach(sinks, ask_latency, &most) == GST_ITERATOR_RESYNC)
    gst_iterator_resync(sinks);
  gst_iterator_free(sinks);
  return most;
}

/* ---- the format ---- */

static void begin_family(GString *out, const char *name, const char *type, const char *help)
{
  g_string_append_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void append_real(GString *out, double value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append_printf(out, " %s\n", g_ascii_dtostr(text, sizeof text, value));
}

/* Appends name="value", with what the format quotes quoted. */
static void append_label(GString *out, const char *name, const char *value)
{
  g_autofree char *valid = g_utf8_make_valid(value, -1);
  g_string_append_printf(out, "%s=\"", name);
  for (const char *c = valid; *c; c++)
    if (*c == '\n')
      g_string_append(out, "\\n");
    else if (*c == '"' || *c == '\\')
      g_string_append_printf(out, "\\%c", *c);
    else
      g_string_append_c(out, *c);
  g_string_append_c(out, '"');
}

static void append_single(GString *out, const char *name, const char *type, const char *help,
                          double value)
{
  begin_family(out, name, type, help);
  g_string_append(out, name);
  append_real(out, value);
}

/* ---- elements ---- */

typedef struct {
  GstElement *element;
  GstStructure *counts;
} Counted;

static void clear_counted(gpointer data)
{
  Counted *counted = data;
  gst_object_unref(counted->element);
  gst_structure_free(counted->counts);
}

/* Clipped values are counted in a property of their own. */
static void add_clipped(Counted *counted)
{
  guint64 clipped = 0;
  const GParamSpec *spec =
      g_object_class_find_property(G_OBJECT_GET_CLASS(counted->element), "clipped");
  if (!spec || spec->value_type != G_TYPE_UINT64 ||
      gst_structure_has_field(counted->counts, "clipped"))
    return;
  g_object_get(counted->element, "clipped", &clipped, NULL);
  gst_structure_set(counted->counts, "clipped", G_TYPE_UINT64, clipped, NULL);
}

static GArray *count_all(const AstroControlState *state)
{
  g_autoptr(GPtrArray) elements = astro_counts_elements(state->counts);
  GArray *all = g_array_new(FALSE, FALSE, sizeof(Counted));
  g_array_set_clear_func(all, clear_counted);
  for (guint i = 0; i < elements->len; i++) {
    GstElement *element = elements->pdata[i];
    Counted counted = { gst_object_ref(element), astro_counts_of(state->counts, element) };
    add_clipped(&counted);
    g_array_append_val(all, counted);
  }
  return all;
}

/* Counts that mean the same in all elements that have them. */
static const struct {
  const char *field, *name, *help;
  double unit;
} families[] = {
  { "buffers-in", "buffers_in_total", "Buffers taken", 1 },
  { "buffers-out", "buffers_out_total", "Buffers made", 1 },
  { "bytes-in", "bytes_in_total", "Bytes taken", 1 },
  { "bytes-out", "bytes_out_total", "Bytes made", 1 },
  { "busy-ns", "busy_seconds_total", "Time at work", 1e-9 },
  { "input-wait-ns", "input_wait_seconds_total", "Time of waiting for input", 1e-9 },
  { "output-wait-ns", "output_wait_seconds_total", "Time of waiting for output", 1e-9 },
  { "host-copies", "host_copies_total", "Blocks of other elements copied on the host", 1 },
  { "steps-again", "steps_again_total", "Time steps left out as repeated or late", 1 },
  { "steps-lost", "steps_lost_total", "Time steps that did not come", 1 },
  { "clipped", "clipped_values_total", "Values beyond the range of their format", 1 },
  { "flagged-values", "flagged_values_total", "Values taken out as interference", 1 },
  { "packets", "packets_total", "Packets used", 1 },
  { "lost", "packets_lost_total", "Packets that did not come", 1 },
  { "late", "packets_late_total", "Packets that came too late", 1 },
  { "duplicate", "packets_duplicate_total", "Packets that came again", 1 },
  { "invalid", "packets_invalid_total", "Packets whose sender marks them as invalid", 1 },
  { "alien", "packets_alien_total", "Packets of another format", 1 },
  { "kernel-drops", "packets_kernel_drops_total", "Packets that the kernel dropped", 1 },
};

static gboolean is_in_families(const char *field)
{
  for (guint i = 0; i < G_N_ELEMENTS(families); i++)
    if (g_str_equal(field, families[i].field))
      return TRUE;
  return FALSE;
}

/* FALSE: it is no number. */
static gboolean read_number(const GValue *value, double *number)
{
  GValue real = G_VALUE_INIT;
  if (!value || G_VALUE_HOLDS_STRING(value) || G_VALUE_HOLDS_ENUM(value) ||
      !g_value_type_transformable(G_VALUE_TYPE(value), G_TYPE_DOUBLE))
    return FALSE;
  g_value_init(&real, G_TYPE_DOUBLE);
  g_value_transform(value, &real);
  *number = g_value_get_double(&real);
  g_value_unset(&real);
  return TRUE;
}

static void append_element(GString *out, const char *name, const Counted *counted)
{
  const GstElementFactory *factory = gst_element_get_factory(counted->element);
  g_string_append_printf(out, "%s{", name);
  append_label(out, "element", GST_OBJECT_NAME(counted->element));
  g_string_append_c(out, ',');
  append_label(out, "factory", factory ? GST_OBJECT_NAME(factory) : "");
}

static void append_families(GString *out, const GArray *all)
{
  for (guint i = 0; i < G_N_ELEMENTS(families); i++) {
    g_autofree char *name = g_strconcat("gst_astro_element_", families[i].name, NULL);
    gboolean begun = FALSE;
    for (guint j = 0; j < all->len; j++) {
      const Counted *counted = &g_array_index(all, Counted, j);
      double number;
      if (!read_number(gst_structure_get_value(counted->counts, families[i].field), &number))
        continue;
      if (!begun)
        begin_family(out, name, "counter", families[i].help);
      begun = TRUE;
      append_element(out, name, counted);
      g_string_append_c(out, '}');
      append_real(out, number * families[i].unit);
    }
  }
}

/* All other numbers that elements tell, with their field as a label. */
static void append_others(GString *out, const GArray *all)
{
  static const char name[] = "gst_astro_element_number";
  gboolean begun = FALSE;
  for (guint j = 0; j < all->len; j++) {
    const Counted *counted = &g_array_index(all, Counted, j);
    for (gint f = 0; f < gst_structure_n_fields(counted->counts); f++) {
      const char *field = gst_structure_nth_field_name(counted->counts, (guint)f);
      double number;
      if (is_in_families(field) ||
          !read_number(gst_structure_get_value(counted->counts, field), &number))
        continue;
      if (!begun)
        begin_family(out, name, "gauge", "Other numbers in the property stats of an element");
      begun = TRUE;
      append_element(out, name, counted);
      g_string_append_c(out, ',');
      append_label(out, "field", field);
      g_string_append_c(out, '}');
      append_real(out, number);
    }
  }
}

/* ---- the run ---- */

static void append_run(GString *out, const AstroControlled *controlled)
{
  const AstroRunTold run = controlled->tell(controlled->data);
  const double latency = astro_control_latency(controlled->pipeline);
  begin_family(out, "gst_astro_info", "gauge", "The graph that runs, and the version");
  g_string_append(out, "gst_astro_info{");
  append_label(out, "graph", controlled->graph);
  g_string_append_c(out, ',');
  append_label(out, "version", PACKAGE_VERSION);
  g_string_append(out, "} 1\n");
  append_single(out, "gst_astro_playing", "gauge", "1 while the graph plays, 0 while it is stopped",
                run.state == ASTRO_RUN_PLAYS);
  append_single(out, "gst_astro_run_seconds", "gauge", "Time since the graph was started last",
                run.seconds);
  append_single(out, "gst_astro_starts_total", "counter", "How often the graph was started",
                (double)run.starts);
  append_single(out, "gst_astro_warnings_total", "counter", "Warnings of elements",
                (double)run.warnings);
  if (latency >= 0)
    append_single(out, "gst_astro_latency_seconds", "gauge",
                  "Time that live data take through the graph", latency);
}

static void append_usage(GString *out, const AstroUsageTold *usage)
{
  append_single(out, "process_resident_memory_bytes", "gauge", "Memory of the process",
                (double)usage->memory);
  append_single(out, "process_cpu_seconds_total", "counter", "Processor time of the process",
                usage->cpu_seconds);
  append_single(out, "process_open_fds", "gauge", "Open files of the process",
                (double)usage->files);
  append_single(out, "gst_astro_threads", "gauge", "Threads of the process",
                (double)usage->threads);
  for (guint i = 0; i < usage->energies->len; i++) {
    const AstroEnergy *energy = &g_array_index(usage->energies, AstroEnergy, i);
    if (i == 0)
      begin_family(out, "gst_astro_energy_joules_total", "counter",
                   "Energy that the machine took, by domain: its rate is in watts");
    g_string_append(out, "gst_astro_energy_joules_total{");
    append_label(out, "domain", energy->name);
    g_string_append_c(out, '}');
    append_real(out, energy->joules);
  }
}

void astro_control_tell_metrics(const AstroControlState *state, GString *out)
{
  const AstroUsageTold usage = astro_usage_read(state->usage);
  g_autoptr(GArray) all = count_all(state);
  append_run(out, state->controlled);
  append_usage(out, &usage);
  append_families(out, all);
  append_others(out, all);
}
