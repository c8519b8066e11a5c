/* Several devices that share the work of a stage: which they are, and whose turn it is. */
#include "config.h"
#include "elements/base/astrostage-parts.h"

#include "elements/base/astrofields.h"

static const AstroField fields[] = {
  ASTRO_WORK_DEVICES(AstroStagePrivate, devices),
  { 0 },
};

void astro_stage_class_add_devices(AstroStageClass *klass)
{
  astro_fields_install(
      G_OBJECT_CLASS(klass), fields,
      g_type_class_get_instance_private_offset(g_type_class_peek(ASTRO_TYPE_STAGE)));
}

guint astro_stage_find_devices(AstroStage *stage, const AstroWorkChoice *choice,
                               gint indices[ASTRO_MOST_DEVICES], GError **error)
{
  g_autofree char *text = astro_fields_copy_text(stage, &astro_stage_parts(stage)->devices);
  return astro_work_find_devices(text, choice, indices, error);
}

gboolean astro_stage_check_devices(AstroStage *stage, GError **error)
{
  const AstroStageClass *klass = ASTRO_STAGE_GET_CLASS(stage);
  AstroWorkChoice choice = astro_stage_choice(stage);
  gint indices[ASTRO_MOST_DEVICES];
  const guint n = astro_stage_find_devices(stage, &choice, indices, error);
  for (guint i = 0; i < n; i++) {
    choice.device = indices[i];
    if (!astro_work_check(klass->stage, klass->backends, &choice, error))
      return FALSE;
  }
  return n > 0;
}

guint astro_stage_n_lanes(AstroStage *stage)
{
  return astro_stage_parts(stage)->n_lanes;
}

void astro_stage_take_lane(AstroStage *stage, guint lane)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);
  g_assert(lane < priv->n_lanes);
  priv->lane = &priv->lanes[lane];
}

/* All of them, even if one fails: each may be at work on blocks that are freed next. */
gboolean astro_stage_drain_lanes(AstroStage *stage, GError **error)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);
  gboolean ok = TRUE;
  for (guint i = 0; i < priv->n_lanes && priv->backend->drain; i++)
    ok = priv->backend->drain(priv->lanes[i].instance, &priv->result, ok ? error : NULL) && ok;
  return ok;
}
