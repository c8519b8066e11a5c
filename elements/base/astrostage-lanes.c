/* Several devices that share the work of a stage: which they are, and whose turn it is. */
#include "config.h"
#include "elements/base/astrostage-parts.h"

#include "core/backend/module.h"
#include "elements/base/astrofields.h"

static const AstroField fields[] = {
  ASTRO_TEXT(AstroStagePrivate, devices, "devices", "Devices",
             "GPUs that share the work, in place of device: indices and ranges such as 0,1 or 0-3, "
             "or all (empty: one)",
             NULL),
  { 0 },
};

void astro_stage_class_add_devices(AstroStageClass *klass)
{
  astro_fields_install(
      G_OBJECT_CLASS(klass), fields,
      g_type_class_get_instance_private_offset(g_type_class_peek(ASTRO_TYPE_STAGE)));
}

static gint n_devices(GError **error)
{
  const AstroModule *module = astro_module_get(error);
  return module ? module->n_devices(error) : -1;
}

guint astro_stage_find_devices(AstroStage *stage, const AstroWorkChoice *choice,
                               gint indices[ASTRO_MOST_DEVICES], GError **error)
{
  g_autofree char *text = astro_fields_copy_text(stage, &astro_stage_parts(stage)->devices);
  g_autoptr(GError) why = NULL;
  indices[0] = choice->device;
  if (!astro_field_given(text))
    return 1;
  if (choice->kind != ASTRO_BACKEND_AUTO && choice->kind != ASTRO_BACKEND_CUDA) {
    astro_backend_refuse(error, "devices=%s with backend=%s, expected backend=cuda or auto", text,
                         astro_backend_kind_name(choice->kind));
    return 0;
  }
  const gint n = n_devices(&why);
  if (n > 0)
    return astro_device_list_parse(text, n, indices, error);
  astro_fail(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_UNAVAILABLE, "devices=%s: %s", text,
             why ? why->message : "this machine has no GPU");
  return 0;
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
