/* The output of a stage: its pool, and blocks that wait for a device. */
#include "config.h"
#include "elements/base/astrostage-parts.h"

#include "core/memory/memory.h"

/* Bytes of all the blocks that a pool begins with. */
#define MANY_BYTES ((guint64)2 << 30)
/* Blocks that a stage holds back for each of its devices if the host reads next: while the host
 * waits for one, the next ones are in work. */
#define HOLD_BACK 2

void astro_stage_drop_pools(AstroStagePrivate *priv)
{
  for (guint i = 0; i < G_N_ELEMENTS(priv->lanes); i++) {
    astro_buffer_pool_clear(&priv->lanes[i].blocks.pool);
    astro_buffer_pool_clear(&priv->lanes[i].aside.pool);
  }
}

/* Caps do not say how large a block is, so a pool is made for the first block. It has no upper
 * limit, since an element that holds many of our buffers must not stop us; work in flight is
 * limited instead. If there is a device on either side the pool begins with enough buffers to leave
 * each alone until its work is done, unless they are too large for that. Blocks that one device
 * writes and reads need no host face. */
static GstBufferPool *new_pool(const AstroStagePrivate *priv, gsize bytes)
{
  const gboolean writes_there = astro_stage_writes_on_device(priv) || priv->boxes.device;
  const gboolean on_device = writes_there || priv->reader;
  AstroDevice *device = priv->boxes.device ? priv->boxes.device : priv->lane->device;
  const guint64 many = MAX(MANY_BYTES / MAX(bytes, 1), 1);
  AstroDevice *locked_for = device == priv->reader && writes_there && !priv->reads_any ? NULL
                            : device                                                   ? device
                                     : priv->reader;
  return astro_buffer_pool_new_active(
      locked_for, NULL, bytes, on_device ? (guint)MIN(ASTRO_STAGE_IN_FLIGHT + 1, many) : 1, 0);
}

static GstBuffer *take_block(AstroStage *stage, AstroStagePool *pool, gsize bytes, GError **error)
{
  const AstroStagePrivate *priv = astro_stage_parts(stage);
  GstBuffer *buffer = NULL;

  if (pool->pool && pool->bytes != bytes)
    astro_buffer_pool_clear(&pool->pool);
  if (!pool->pool) {
    pool->pool = new_pool(priv, bytes);
    ASTRO_DEBUG(stage, "a pool of blocks of %" G_GSIZE_FORMAT " bytes", bytes);
  }
  pool->bytes = bytes;
  const guint made = pool->pool ? astro_buffer_pool_made(pool->pool) : 0;
  if (!pool->pool || gst_buffer_pool_acquire_buffer(pool->pool, &buffer, NULL) != GST_FLOW_OK) {
    if (!pool->pool || !astro_buffer_pool_take_error(pool->pool, error))
      astro_backend_no_memory(error, "no memory for a block of %" G_GSIZE_FORMAT " bytes", bytes);
    return NULL;
  }
  astro_log_growth(stage, pool->pool, made);
  return buffer;
}

GstBuffer *astro_stage_new_buffer(AstroStage *stage, gsize bytes, GError **error)
{
  return take_block(stage, &astro_stage_parts(stage)->lane->blocks, bytes, error);
}

GstBuffer *astro_stage_new_aside(AstroStage *stage, gsize bytes, GError **error)
{
  return take_block(stage, &astro_stage_parts(stage)->lane->aside, bytes, error);
}

GstClockTime astro_stage_time_in(AstroStage *stage, guint64 step)
{
  const AstroStagePrivate *priv = astro_stage_parts(stage);
  return astro_steps_time(&priv->steps, &priv->in, step);
}

void astro_stage_begin_output(AstroStage *stage, guint64 step)
{
  astro_stage_parts(stage)->out_origin = step;
}

/* When a step of one of both streams begins. */
static GstClockTime time_of(const AstroStagePrivate *priv, const AstroStream *stream, guint64 step)
{
  const GstClockTime time = astro_steps_time(&priv->steps, stream, step);
  return stream == &priv->out && priv->out_origin
             ? time + astro_stream_time(&priv->in, priv->out_origin)
             : time;
}

/* Whether a block is DISCONT. A jump in the input is noted before what was half made is sent, so
 * the blocks after it are found by the distance to that. Parts of a whole, such as planes, share a
 * step. */
static gboolean is_discont(const AstroStagePrivate *priv, guint64 first)
{
  return priv->discont || (priv->counting && first != priv->next_out && first != priv->out_first);
}

void astro_stage_time_block(AstroStage *stage, const AstroStream *stream, GstBuffer *block,
                            guint64 first, guint64 steps)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);

  GST_BUFFER_OFFSET(block) = first;
  GST_BUFFER_OFFSET_END(block) = first + steps;
  if (stream->rate_n > 0) {
    GST_BUFFER_PTS(block) = time_of(priv, stream, first);
    GST_BUFFER_DURATION(block) = time_of(priv, stream, first + steps) - GST_BUFFER_PTS(block);
    priv->block_duration = GST_BUFFER_DURATION(block);
  }
  if (is_discont(priv, first))
    GST_BUFFER_FLAG_SET(block, GST_BUFFER_FLAG_DISCONT);
  priv->discont = FALSE;
  priv->counting = TRUE;
  priv->out_first = first;
  priv->next_out = first + steps;
}

void astro_stage_emit(AstroStage *stage, GstBuffer *out, guint64 first, guint64 steps)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);

  astro_stage_ensure_counts(&priv->out, out);
  astro_stage_time_block(stage, &priv->out, out, first, steps);
  g_queue_push_tail(&priv->ready, out);
  astro_stage_hand_out(stage, out);
}

GstBuffer *astro_stage_pop_ready(AstroStage *stage)
{
  GstBuffer *buffer = g_queue_pop_head(&astro_stage_parts(stage)->ready);
  if (!buffer)
    return NULL;
  astro_stage_count(
      stage, &(AstroWorkStats){ .buffers_out = 1, .bytes_out = gst_buffer_get_size(buffer) });
  astro_log_block(stage, "out", buffer);
  return buffer;
}

guint astro_stage_held_back(const AstroStagePrivate *priv)
{
  return (astro_stage_device(priv) || priv->boxes.device) && astro_stage_is_read_on_host(priv)
             ? HOLD_BACK * MAX(priv->n_lanes, 1)
             : 0;
}

static gboolean is_whole(GstBuffer *buffer, GError **error)
{
  gboolean whole = TRUE;
  for (guint i = 0; i < gst_buffer_n_memory(buffer) && whole; i++) {
    GstMemory *memory = gst_buffer_peek_memory(buffer, i);
    whole = !astro_memory_is(memory) || astro_memory_settle(memory, error);
  }
  return whole;
}

static gboolean has_lost_device(AstroStage *stage)
{
  const guint n = astro_stage_n_lanes(stage);
  for (guint i = 0; i < n && n > 1; i++)
    if (!astro_stage_lane_works(stage, i))
      return TRUE;
  return FALSE;
}

/* This comes before the error is told, because whoever hears of it stops the pipeline. */
void astro_stage_rescue(AstroStage *stage)
{
  const AstroStageClass *klass = ASTRO_STAGE_GET_CLASS(stage);
  GstFlowReturn flow = GST_FLOW_OK;
  gboolean is_cut = FALSE;
  GstBuffer *buffer;
  if (klass->rescue && has_lost_device(stage))
    klass->rescue(stage);
  while ((buffer = astro_stage_pop_ready(stage))) {
    const gboolean goes_on = flow == GST_FLOW_OK && is_whole(buffer, NULL);
    if (goes_on && is_cut)
      GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
    if (goes_on)
      flow = gst_pad_push(GST_BASE_TRANSFORM_SRC_PAD(stage), buffer);
    else
      gst_buffer_unref(buffer);
    is_cut = !goes_on;
  }
}

/* A reader that finds that one of several devices has lost a block could not say which. */
gboolean astro_stage_check_next(AstroStage *stage)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);
  g_autoptr(GError) error = NULL;
  if (priv->n_lanes < 2 || astro_stage_held_back(priv) == 0 ||
      is_whole(g_queue_peek_head(&priv->ready), &error))
    return TRUE;
  astro_stage_rescue(stage);
  astro_stage_post_error(stage, error);
  return FALSE;
}

GstFlowReturn astro_stage_push(AstroStage *stage)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);
  GstBuffer *buffer;

  priv->pushed = GST_FLOW_OK;
  while (priv->pushed == GST_FLOW_OK && priv->ready.length > astro_stage_held_back(priv)) {
    if (!astro_stage_check_next(stage))
      return priv->pushed = GST_FLOW_ERROR;
    buffer = astro_stage_pop_ready(stage);
    priv->pushed = gst_pad_push(GST_BASE_TRANSFORM_SRC_PAD(stage), buffer);
  }
  return priv->pushed;
}

gboolean astro_stage_complete(AstroStage *stage)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);
  AstroStageClass *klass = ASTRO_STAGE_GET_CLASS(stage);
  g_autoptr(GError) error = NULL;
  GstBuffer *buffer;
  gboolean ok = TRUE;

  if (priv->n_lanes == 0)
    return TRUE;
  if (!astro_stage_drain_lanes(stage, &error)) {
    astro_stage_rescue(stage);
    astro_stage_post_error(stage, error);
    return FALSE;
  }
  if (klass->drained)
    klass->drained(stage);
  while ((buffer = astro_stage_pop_ready(stage))) {
    const GstFlowReturn flow = gst_pad_push(GST_BASE_TRANSFORM_SRC_PAD(stage), buffer);
    if (flow != GST_FLOW_OK)
      priv->pushed = flow;
    ok &= flow >= GST_FLOW_EOS;
  }
  return ok;
}

gboolean astro_stage_drain(AstroStage *stage)
{
  AstroStageClass *klass = ASTRO_STAGE_GET_CLASS(stage);
  g_autoptr(GError) error = NULL;

  astro_deadline_begin(&astro_stage_parts(stage)->deadline);
  if (!astro_stage_parts(stage)->n_lanes || !klass->finish || klass->finish(stage, &error))
    return astro_stage_complete(stage);
  astro_stage_rescue(stage);
  astro_stage_post_error(stage, error);
  astro_stage_complete(stage);
  return FALSE;
}
