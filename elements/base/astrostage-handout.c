/* Hands out blocks when a device has done them, though none follow that would push them out. */
#include "config.h"
#include "elements/base/astrohandout.h"
#include "elements/base/astrostage-parts.h"

#include <pthread.h>

#include "core/memory/memory.h"

/* pthread's locks, not GLib's: ThreadSanitizer knows them. */
struct _AstroHandOut {
  AstroStage *stage;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  GQueue blocks; /* GstMemory *, oldest first */
  gboolean is_over;
};

void astro_stage_hand_out_when_done(AstroStage *stage)
{
  astro_stage_parts(stage)->hands_out = TRUE;
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
  while (priv->handed == GST_FLOW_OK && is_held(priv, memory)) {
    if (astro_stage_check_next(stage))
      priv->handed = gst_pad_push(GST_BASE_TRANSFORM_SRC_PAD(stage), astro_stage_pop_ready(stage));
    else
      priv->handed = GST_FLOW_ERROR;
  }
}

/* NULL: there are no more. */
static GstMemory *take(AstroHandOut *self)
{
  pthread_mutex_lock(&self->lock);
  while (!self->is_over && self->blocks.length == 0)
    pthread_cond_wait(&self->changed, &self->lock);
  GstMemory *block = self->is_over ? NULL : g_queue_pop_head(&self->blocks);
  pthread_mutex_unlock(&self->lock);
  return block;
}

/* The only thread that waits. A block that is lost with its device stays, until the stage finds out
 * and ends with an error. */
static gpointer hand_out(gpointer data)
{
  AstroHandOut *self = data;
  GstPad *sink = GST_BASE_TRANSFORM_SINK_PAD(self->stage);
  for (GstMemory *block; (block = take(self));) {
    if (astro_memory_settle(block, NULL)) {
      GST_PAD_STREAM_LOCK(sink);
      push_held(self->stage, block);
      GST_PAD_STREAM_UNLOCK(sink);
    }
    gst_memory_unref(block);
  }
  return NULL;
}

/* NULL: there is no thread to be had, and blocks are held back as those of other stages. */
static AstroHandOut *start(AstroStage *stage)
{
  AstroHandOut *self = g_new0(AstroHandOut, 1);
  self->stage = stage;
  pthread_mutex_init(&self->lock, NULL);
  pthread_cond_init(&self->changed, NULL);
  if (pthread_create(&self->thread, NULL, hand_out, self) == 0)
    return self;
  g_free(self);
  return NULL;
}

void astro_stage_hand_out(AstroStage *stage, GstBuffer *block)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);
  if (!priv->hands_out || astro_stage_held_back(priv) == 0 || gst_buffer_n_memory(block) != 1 ||
      !astro_memory_is(gst_buffer_peek_memory(block, 0)))
    return;
  if (!priv->hand_out && !(priv->hand_out = start(stage)))
    return;
  AstroHandOut *self = priv->hand_out;
  pthread_mutex_lock(&self->lock);
  g_queue_push_tail(&self->blocks, gst_buffer_get_memory(block, 0));
  pthread_cond_signal(&self->changed);
  pthread_mutex_unlock(&self->lock);
}

void astro_stage_stop_handing_out(AstroStage *stage)
{
  AstroHandOut *self = g_steal_pointer(&astro_stage_parts(stage)->hand_out);
  if (!self)
    return;
  pthread_mutex_lock(&self->lock);
  self->is_over = TRUE;
  pthread_cond_signal(&self->changed);
  pthread_mutex_unlock(&self->lock);
  pthread_join(self->thread, NULL);
  g_queue_clear_full(&self->blocks, (GDestroyNotify)gst_memory_unref);
  pthread_cond_destroy(&self->changed);
  pthread_mutex_destroy(&self->lock);
  g_free(self);
}
