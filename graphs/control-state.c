/* Describes a run as JSON. */
#include "graphs/control-parts.h"
#include "graphs/json.h"

static void set_text(GstStructure *s, const char *field, const char *text)
{
  gst_structure_set(s, field, G_TYPE_STRING, text, NULL);
}

static void take_structure(GstStructure *s, const char *field, GstStructure *part)
{
  GValue value = G_VALUE_INIT;
  g_value_init(&value, GST_TYPE_STRUCTURE);
  g_value_take_boxed(&value, part);
  gst_structure_take_value(s, field, &value);
}

static void append_structure(GValue *array, GstStructure *part)
{
  GValue value = G_VALUE_INIT;
  g_value_init(&value, GST_TYPE_STRUCTURE);
  g_value_take_boxed(&value, part);
  gst_value_array_append_and_take_value(array, &value);
}

/* The pad of another element that gets what this one pushes, with bins passed through; to be
 * unref'd, or NULL. */
static GstPad *find_peer(GstPad *pad)
{
  GstPad *peer = gst_pad_get_peer(pad);
  while (peer && GST_IS_PROXY_PAD(peer)) {
    GstPad *inside = GST_PAD(gst_proxy_pad_get_internal(GST_PROXY_PAD(peer)));
    gst_object_unref(peer);
    peer = inside ? gst_pad_get_peer(inside) : NULL;
    g_clear_pointer(&inside, gst_object_unref);
  }
  return peer;
}

static gboolean add_link(GstElement *element, GstPad *pad, gpointer links)
{
  g_autoptr(GstPad) peer = find_peer(pad);
  g_autoptr(GstElement) to = peer ? gst_pad_get_parent_element(peer) : NULL;
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
  if (!to)
    return TRUE;
  GstStructure *link = gst_structure_new("link", "pad", G_TYPE_STRING, GST_PAD_NAME(pad), "to",
                                         G_TYPE_STRING, GST_OBJECT_NAME(to), NULL);
  if (caps) {
    g_autofree char *text = gst_caps_to_string(caps);
    set_text(link, "caps", text);
  }
  append_structure(links, link);
  return TRUE;
}

static GstStructure *describe_element(const AstroControlState *state, GstElement *element)
{
  const GstElementFactory *factory = gst_element_get_factory(element);
  GValue links = G_VALUE_INIT;
  GstStructure *told =
      gst_structure_new("element", "name", G_TYPE_STRING, GST_OBJECT_NAME(element), "factory",
                        G_TYPE_STRING, factory ? GST_OBJECT_NAME(factory) : "", NULL);
  take_structure(told, "counts", astro_counts_of(state->counts, element));
  g_value_init(&links, GST_TYPE_ARRAY);
  gst_element_foreach_src_pad(element, add_link, &links);
  gst_structure_take_value(told, "links", &links);
  return told;
}

static GstStructure *describe_machine(const AstroControlState *state)
{
  const AstroUsageTold usage = astro_usage_read(state->usage);
  GstStructure *watts = gst_structure_new_empty("watts");
  GstStructure *told = gst_structure_new(
      "process", "memory", G_TYPE_UINT64, usage.memory, "threads", G_TYPE_UINT64, usage.threads,
      "files", G_TYPE_UINT64, usage.files, "cpu-seconds", G_TYPE_DOUBLE, usage.cpu_seconds, NULL);
  for (guint i = 0; i < usage.energies->len; i++) {
    const AstroEnergy *energy = &g_array_index(usage.energies, AstroEnergy, i);
    if (energy->watts >= 0)
      gst_structure_set(watts, energy->name, G_TYPE_DOUBLE, energy->watts, NULL);
  }
  take_structure(told, "watts", watts);
  return told;
}

void astro_control_tell_state(const AstroControlState *state, GString *out)
{
  static const char *const names[] = {
    [ASTRO_RUN_PLAYS] = "playing", [ASTRO_RUN_STOPS] = "stopping", [ASTRO_RUN_RESTS] = "stopped"
  };
  const AstroControlled *controlled = state->controlled;
  const AstroRunTold run = controlled->tell(controlled->data);
  g_autoptr(GPtrArray) elements = astro_counts_elements(state->counts);
  g_autoptr(GstStructure) told =
      gst_structure_new("state", "graph", G_TYPE_STRING, controlled->graph, "state", G_TYPE_STRING,
                        names[run.state], "seconds", G_TYPE_DOUBLE, run.seconds, "starts",
                        G_TYPE_UINT64, run.starts, "warnings", G_TYPE_UINT64, run.warnings, NULL);
  const double latency = astro_control_latency(controlled->pipeline);
  GValue list = G_VALUE_INIT;
  if (latency >= 0)
    gst_structure_set(told, "latency", G_TYPE_DOUBLE, latency, NULL);
  take_structure(told, "process", describe_machine(state));
  g_value_init(&list, GST_TYPE_ARRAY);
  for (guint i = 0; i < elements->len; i++)
    append_structure(&list, describe_element(state, elements->pdata[i]));
  gst_structure_take_value(told, "elements", &list);
  astro_json_structure(out, told);
  g_string_append_c(out, '\n');
}
