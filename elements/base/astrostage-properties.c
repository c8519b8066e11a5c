/* What a stage's user sets and asks, and the statistics that it tells at the end. */
#include "config.h"
#include "elements/base/astrostage-parts.h"

#define PRIV(stage) astro_stage_parts(stage)

AstroStageChoice astro_stage_choice(AstroStage *stage)
{
  GST_OBJECT_LOCK(stage);
  const AstroStageChoice choice = PRIV(stage)->choice;
  GST_OBJECT_UNLOCK(stage);
  return choice;
}

static char *active_backend(AstroStage *stage)
{
  AstroStagePrivate *priv = PRIV(stage);
  char *text = NULL;

  GST_OBJECT_LOCK(stage);
  const gboolean agreed = priv->agreed;
  if (priv->backend)
    text = g_strdup_printf("%s/%s", astro_backend_kind_name(priv->backend->kind),
                           priv->variant ? priv->variant : "");
  GST_OBJECT_UNLOCK(stage);
  return text ? text : g_strdup(agreed ? "pass-through" : "none");
}

void astro_stage_count(AstroStage *stage, const AstroStageStats *more)
{
  AstroStageStats *stats = &PRIV(stage)->stats;

  GST_OBJECT_LOCK(stage);
  stats->buffers_in += more->buffers_in;
  stats->buffers_out += more->buffers_out;
  stats->bytes_in += more->bytes_in;
  stats->bytes_out += more->bytes_out;
  stats->host_copies += more->host_copies;
  stats->steps_again += more->steps_again;
  stats->busy_ns += more->busy_ns;
  stats->input_wait_ns += more->input_wait_ns;
  stats->output_wait_ns += more->output_wait_ns;
  GST_OBJECT_UNLOCK(stage);
}

static GstStructure *told_stats(AstroStage *stage)
{
  g_autofree char *backend = active_backend(stage);

  GST_OBJECT_LOCK(stage);
  const AstroStageStats stats = PRIV(stage)->stats;
  GST_OBJECT_UNLOCK(stage);
  return gst_structure_new(
      "astro-stats", "buffers-in", G_TYPE_UINT64, stats.buffers_in, "buffers-out", G_TYPE_UINT64,
      stats.buffers_out, "bytes-in", G_TYPE_UINT64, stats.bytes_in, "bytes-out", G_TYPE_UINT64,
      stats.bytes_out, "busy-ns", G_TYPE_UINT64, (guint64)stats.busy_ns, "input-wait-ns",
      G_TYPE_UINT64, (guint64)stats.input_wait_ns, "output-wait-ns", G_TYPE_UINT64,
      (guint64)stats.output_wait_ns, "host-copies", G_TYPE_UINT64, stats.host_copies, "steps-again",
      G_TYPE_UINT64, stats.steps_again, "backend", G_TYPE_STRING, backend, NULL);
}

gboolean astro_stage_post_stats(AstroStage *stage)
{
  return gst_element_post_message(GST_ELEMENT(stage),
                                  gst_message_new_element(GST_OBJECT(stage), told_stats(stage)));
}

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  AstroStageChoice *choice = &PRIV(ASTRO_STAGE(object))->choice;

  GST_OBJECT_LOCK(object);
  switch (id) {
  case ASTRO_STAGE_PROP_BACKEND:
    choice->kind = g_value_get_enum(value);
    break;
  case ASTRO_STAGE_PROP_DEVICE:
    choice->device = g_value_get_int(value);
    break;
  case ASTRO_STAGE_PROP_THREADS:
    choice->threads = g_value_get_uint(value);
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
  GST_OBJECT_UNLOCK(object);
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  AstroStage *stage = ASTRO_STAGE(object);
  const AstroStageChoice choice = astro_stage_choice(stage);

  switch (id) {
  case ASTRO_STAGE_PROP_BACKEND:
    g_value_set_enum(value, choice.kind);
    break;
  case ASTRO_STAGE_PROP_ACTIVE_BACKEND:
    g_value_take_string(value, active_backend(stage));
    break;
  case ASTRO_STAGE_PROP_DEVICE:
    g_value_set_int(value, choice.device);
    break;
  case ASTRO_STAGE_PROP_THREADS:
    g_value_set_uint(value, choice.threads);
    break;
  case ASTRO_STAGE_PROP_STATS:
    g_value_take_boxed(value, told_stats(stage));
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
}

void astro_stage_install_properties(GObjectClass *object)
{
  const GParamFlags read = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;
  const GParamFlags ready = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;

  object->set_property = set_property;
  object->get_property = get_property;
  g_object_class_install_property(object, ASTRO_STAGE_PROP_BACKEND,
                                  g_param_spec_enum("backend", "Backend", "Who does the work",
                                                    ASTRO_TYPE_BACKEND_KIND, ASTRO_BACKEND_AUTO,
                                                    ready));
  g_object_class_install_property(
      object, ASTRO_STAGE_PROP_ACTIVE_BACKEND,
      g_param_spec_string("active-backend", "Active backend",
                          "Who does the work now, and with which kernel, for instance cpu/avx512",
                          "none", read));
  g_object_class_install_property(
      object, ASTRO_STAGE_PROP_DEVICE,
      g_param_spec_int("device", "Device", "Index of the GPU that backend=cuda or auto uses", 0,
                       G_MAXINT, 0, ready));
  g_object_class_install_property(object, ASTRO_STAGE_PROP_THREADS,
                                  g_param_spec_uint("threads", "Threads",
                                                    "CPU threads at most (0: one a core)", 0, 4096,
                                                    0, ready));
  g_object_class_install_property(
      object, ASTRO_STAGE_PROP_STATS,
      g_param_spec_boxed("stats", "Statistics",
                         "Buffers, bytes, nanoseconds of work and of waiting, and time steps that "
                         "came again or late and were left out, since the start",
                         GST_TYPE_STRUCTURE, read));
}
