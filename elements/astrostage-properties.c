/* What a stage's user sets and asks, and the statistics that it tells at the end. */
#include "config.h"
#include "elements/astrostage-parts.h"

#define PRIV(stage) astro_stage_parts(stage)

static char *active_backend(AstroStage *stage)
{
  AstroStagePrivate *priv = PRIV(stage);
  char *text = NULL;

  GST_OBJECT_LOCK(stage);
  if (priv->backend)
    text = g_strdup_printf("%s/%s", astro_backend_kind_name(priv->backend->kind),
                           priv->variant ? priv->variant : "");
  GST_OBJECT_UNLOCK(stage);
  return text ? text : g_strdup(priv->agreed ? "pass-through" : "none");
}

static GstStructure *stats(AstroStage *stage)
{
  AstroStagePrivate *priv = PRIV(stage);
  g_autofree char *backend = active_backend(stage);

  return gst_structure_new(
      "astro-stats", "buffers-in", G_TYPE_UINT64, priv->buffers_in, "buffers-out", G_TYPE_UINT64,
      priv->buffers_out, "bytes-in", G_TYPE_UINT64, priv->bytes_in, "bytes-out", G_TYPE_UINT64,
      priv->bytes_out, "busy-ns", G_TYPE_UINT64, (guint64)priv->busy_ns, "input-wait-ns",
      G_TYPE_UINT64, (guint64)priv->input_wait_ns, "output-wait-ns", G_TYPE_UINT64,
      (guint64)priv->output_wait_ns, "host-copies", G_TYPE_UINT64, priv->host_copies, "backend",
      G_TYPE_STRING, backend, NULL);
}

gboolean astro_stage_post_stats(AstroStage *stage)
{
  return gst_element_post_message(GST_ELEMENT(stage),
                                  gst_message_new_element(GST_OBJECT(stage), stats(stage)));
}

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  AstroStagePrivate *priv = PRIV(ASTRO_STAGE(object));

  switch (id) {
  case ASTRO_STAGE_PROP_BACKEND:
    priv->kind = g_value_get_enum(value);
    break;
  case ASTRO_STAGE_PROP_DEVICE:
    priv->device_index = g_value_get_int(value);
    break;
  case ASTRO_STAGE_PROP_THREADS:
    priv->threads = g_value_get_uint(value);
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  AstroStage *stage = ASTRO_STAGE(object);
  AstroStagePrivate *priv = PRIV(stage);

  switch (id) {
  case ASTRO_STAGE_PROP_BACKEND:
    g_value_set_enum(value, priv->kind);
    break;
  case ASTRO_STAGE_PROP_ACTIVE_BACKEND:
    g_value_take_string(value, active_backend(stage));
    break;
  case ASTRO_STAGE_PROP_DEVICE:
    g_value_set_int(value, priv->device_index);
    break;
  case ASTRO_STAGE_PROP_THREADS:
    g_value_set_uint(value, priv->threads);
    break;
  case ASTRO_STAGE_PROP_STATS:
    g_value_take_boxed(value, stats(stage));
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
                         "Buffers, bytes, and nanoseconds of work and of waiting since the start",
                         GST_TYPE_STRUCTURE, read));
}
