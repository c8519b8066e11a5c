/* The properties of a stage, and the statistics that it posts at the end. */
#include "config.h"
#include "elements/base/astrostage-parts.h"

#define PRIV(stage) astro_stage_parts(stage)

AstroWorkChoice astro_stage_choice(AstroStage *stage)
{
  GST_OBJECT_LOCK(stage);
  const AstroWorkChoice choice = PRIV(stage)->choice;
  GST_OBJECT_UNLOCK(stage);
  return choice;
}

static char *active_backend(AstroStage *stage)
{
  const AstroStagePrivate *priv = PRIV(stage);
  GST_OBJECT_LOCK(stage);
  g_autofree char *name =
      astro_work_name(priv->backend, priv->variant, priv->agreed ? "pass-through" : "none");
  const guint n = priv->n_lanes;
  GST_OBJECT_UNLOCK(stage);
  return n > 1 ? g_strdup_printf("%s on %u devices", name, n) : g_steal_pointer(&name);
}

void astro_stage_count(AstroStage *stage, const AstroWorkStats *more)
{
  GST_OBJECT_LOCK(stage);
  astro_work_add(&PRIV(stage)->stats, more);
  GST_OBJECT_UNLOCK(stage);
}

static GstStructure *told_stats(AstroStage *stage)
{
  g_autofree char *backend = active_backend(stage);
  GST_OBJECT_LOCK(stage);
  const AstroWorkStats stats = PRIV(stage)->stats;
  GST_OBJECT_UNLOCK(stage);
  GstStructure *told = astro_work_tell(&stats, "steps-lost", backend);
  if (ASTRO_STAGE_GET_CLASS(stage)->tell_stats)
    ASTRO_STAGE_GET_CLASS(stage)->tell_stats(stage, told);
  return told;
}

gboolean astro_stage_post_stats(AstroStage *stage)
{
  return gst_element_post_message(GST_ELEMENT(stage),
                                  gst_message_new_element(GST_OBJECT(stage), told_stats(stage)));
}

static void get_active_backend(GObject *object, GValue *value)
{
  g_value_take_string(value, active_backend(ASTRO_STAGE(object)));
}

static void get_stats(GObject *object, GValue *value)
{
  g_value_take_boxed(value, told_stats(ASTRO_STAGE(object)));
}

static const AstroField fields[] = {
  ASTRO_WORK_BACKEND(AstroWorkChoice, kind,
                     "Who does the work. Not every element has all of them: one that is missing is "
                     "refused at the start by an error that names the others"),
  ASTRO_WORK_DEVICE(AstroWorkChoice, device, G_MAXINT),
  ASTRO_WORK_THREADS(AstroWorkChoice, threads, "CPU threads at most (0: one a core)", 4096),
  ASTRO_WORK_ACTIVE("Who does the work now, and with which kernel, for instance cpu/avx512",
                    get_active_backend),
  ASTRO_WORK_STATS("Since the start: buffers, bytes, nanoseconds of work and of waiting, and time "
                   "steps that came again or late and were left out",
                   get_stats),
  { 0 },
};

void astro_stage_install_properties(AstroStageClass *klass)
{
  astro_fields_install(G_OBJECT_CLASS(klass), fields,
                       g_type_class_get_instance_private_offset(klass) +
                           (gssize)G_STRUCT_OFFSET(AstroStagePrivate, choice));
}
