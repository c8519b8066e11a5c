/* Several devices that share the work of a stage: which they are, and whose turn it is. */
#include "config.h"
#include "elements/base/astrostage-parts.h"

#include "core/memory/faces.h"
#include "elements/base/astrofields.h"
#include "elements/base/astrolanes.h"

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

/* A device that has failed fails in all calls that come after. */
gboolean astro_stage_lane_works(AstroStage *stage, guint number)
{
  const AstroStageLane *lane = &astro_stage_parts(stage)->lanes[number];
  AstroDevice *device = lane->device;
  AstroEvent *event = device ? device->funcs->event_record(device, lane->queue, NULL) : NULL;
  const gboolean works = !device || (event && device->funcs->event_wait(device, event, NULL));
  if (event)
    device->funcs->event_free(device, event);
  return works;
}

guint astro_stage_take_nearest_lane(AstroStage *stage, GstBuffer *block, guint64 turn)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);
  guint lane = (guint)(turn % priv->n_lanes);
  GstMemory *memory = gst_buffer_n_memory(block) == 1 ? gst_buffer_peek_memory(block, 0) : NULL;
  for (guint i = 0; i < priv->n_lanes && memory && priv->n_lanes > 1; i++)
    if (priv->lanes[i].device && astro_memory_is_on(memory, priv->lanes[i].device)) {
      lane = i;
      break;
    }
  astro_stage_take_lane(stage, lane);
  return lane;
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
