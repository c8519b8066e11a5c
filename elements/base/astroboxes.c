/* Copies boxes for stages and merges on the device where blocks lie. */
#include "config.h"
#include "elements/base/astroboxes.h"

#include "core/backend/device.h"
#include "elements/base/astromerge-parts.h"
#include "elements/base/astroreader.h"
#include "elements/base/astrostage-parts.h"

/* ---- stages ---- */

gboolean astro_stage_finds_boxes(AstroStage *stage, GstBuffer *in)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);
  const AstroDevice *before = priv->boxes.device;
  if (priv->backend->kind != ASTRO_BACKEND_CPU ||
      astro_stage_choice(stage).kind != ASTRO_BACKEND_AUTO ||
      !astro_box_place_choose(&priv->boxes, &in, 1, priv->reader))
    return FALSE;
  if (priv->boxes.device != before) {
    ASTRO_INFO(stage, "blocks are copied where they lie, on %s", priv->boxes.device->name);
    astro_stage_drop_pools(priv);
    astro_stage_tell_latency(stage);
  }
  return TRUE;
}

gboolean astro_stage_emit_box(AstroStage *stage, GstBuffer *in, const AstroBox *box, gsize bytes,
                              guint64 first, guint64 steps, GError **error)
{
  const AstroStagePrivate *priv = astro_stage_parts(stage);
  GstBuffer *out = astro_stage_new_buffer(stage, bytes, error);
  if (!out)
    return FALSE;
  if (astro_box_copy(&priv->boxes, &in, box, 1, out, astro_stage_is_read_on_host(priv), error))
    return astro_stage_emit_like(stage, in, out, first, steps, error);
  gst_buffer_unref(out);
  return FALSE;
}

void astro_stage_propose_boxes(AstroStage *stage, gboolean copies, GstQuery *query)
{
  const AstroStagePrivate *priv = astro_stage_parts(stage);
  astro_reader_add(query, priv->reader);
  if (copies || !astro_stage_is_read_on_host(priv))
    astro_reader_take_any(query);
}

/* ---- merges ---- */

static AstroBackendKind choice_of(AstroMerge *merge)
{
  GST_OBJECT_LOCK(merge);
  const AstroBackendKind kind = astro_merge_parts(merge)->choice.kind;
  GST_OBJECT_UNLOCK(merge);
  return kind;
}

/* Blocks that go down to the host have to be page-locked from then on. */
gboolean astro_merge_finds_boxes(AstroMerge *merge, const AstroMergeBlock *block)
{
  AstroMergePrivate *priv = astro_merge_parts(merge);
  const AstroDevice *before = priv->boxes.device;
  g_autofree GstBuffer **from = g_new(GstBuffer *, block->n_pieces);
  for (guint i = 0; i < block->n_pieces; i++)
    if (!(from[i] = block->pieces[i].buffer))
      return FALSE;
  if (choice_of(merge) != ASTRO_BACKEND_AUTO ||
      !astro_box_place_choose(&priv->boxes, from, block->n_pieces, priv->reader))
    return FALSE;
  if (priv->boxes.device != before) {
    ASTRO_INFO(merge, "blocks are copied where they lie, on %s", priv->boxes.device->name);
    astro_buffer_pool_clear(&priv->pool);
  }
  return TRUE;
}

gboolean astro_merge_copy_boxes(AstroMerge *merge, const AstroMergeBlock *block,
                                const AstroBox *boxes, GstBuffer *out, GError **error)
{
  const AstroMergePrivate *priv = astro_merge_parts(merge);
  g_autofree GstBuffer **from = g_new(GstBuffer *, block->n_pieces);
  for (guint i = 0; i < block->n_pieces; i++)
    from[i] = block->pieces[i].buffer;
  return astro_box_copy(&priv->boxes, from, boxes, block->n_pieces, out,
                        !priv->reader && !priv->reads_any, error);
}

void astro_merge_propose_boxes(AstroMerge *merge, GstQuery *query)
{
  astro_reader_add(query, NULL);
  if (choice_of(merge) == ASTRO_BACKEND_AUTO)
    astro_reader_take_any(query);
}
