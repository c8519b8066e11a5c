/* Hands out blocks when a device has done them, though none follow that would push them out. */
#include "config.h"
#include "elements/base/astrohandout.h"
#include "elements/base/astrostage-parts.h"

#include "core/memory/memory.h"

/* Told to the thread in place of a block: there are no more. */
static char no_more;

void astro_stage_hand_out_when_done(AstroStage *stage)
{
  astro_stage_parts(stage)->hand_out.is_wanted = TRUE;
}

static gboolean is_held(const AstroStagePrivate *priv, const GstMemory *memory)
{
  for (const GList *i = priv->ready.head; i; i = i->next)
    if (gst_buffer_n_memory(i->data) == 1 && gst_buffer_peek_memory(i->data, 0) == memory)
      return TRUE;
  return FALSE;
}

/* A block that went out meanwhile, or was dropped, is not among those that are held. What
 * downstream says is for the next block that comes in. */
static void push_held(AstroStage *stage, const GstMemory *memory)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);
  GstFlowReturn *flow = &priv->hand_out.flow;
  while (*flow == GST_FLOW_OK && is_held(priv, memory)) {
    if (astro_stage_check_next(stage))
      *flow = gst_pad_push(GST_BASE_TRANSFORM_SRC_PAD(stage), astro_stage_pop_ready(stage));
    else
      *flow = GST_FLOW_ERROR;
  }
}

/* The only one that waits. Whoever reads a block finds out if its device has failed. */
static gpointer hand_out(gpointer data)
{
  AstroStage *stage = data;
  GstPad *sink = GST_BASE_TRANSFORM_SINK_PAD(stage);
  GAsyncQueue *blocks = astro_stage_parts(stage)->hand_out.blocks;
  for (gpointer block; (block = g_async_queue_pop(blocks)) != &no_more;) {
    astro_memory_settle(block, NULL);
    GST_PAD_STREAM_LOCK(sink);
    push_held(stage, block);
    GST_PAD_STREAM_UNLOCK(sink);
    gst_memory_unref(block);
  }
  return NULL;
}

void astro_stage_hand_out(AstroStage *stage, GstBuffer *block)
{
  const AstroStagePrivate *priv = astro_stage_parts(stage);
  AstroStageHandOut *out = &astro_stage_parts(stage)->hand_out;
  if (!out->is_wanted || astro_stage_held_back(priv) == 0 || gst_buffer_n_memory(block) != 1 ||
      !astro_memory_is(gst_buffer_peek_memory(block, 0)))
    return;
  if (!out->thread) {
    out->blocks = g_async_queue_new();
    out->thread = g_thread_new("astro-hand-out", hand_out, stage);
  }
  g_async_queue_push(out->blocks, gst_buffer_get_memory(block, 0));
}

void astro_stage_stop_handing_out(AstroStage *stage)
{
  AstroStageHandOut *out = &astro_stage_parts(stage)->hand_out;
  if (!out->thread)
    return;
  g_async_queue_push(out->blocks, &no_more);
  g_thread_join(g_steal_pointer(&out->thread));
  g_clear_pointer(&out->blocks, g_async_queue_unref);
}
