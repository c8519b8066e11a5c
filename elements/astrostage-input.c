#include "config.h"
#include "elements/astrostage-parts.h"

#include "core/memory/memory.h"

/* The step nearest to a time. */
static guint64 step_at(const AstroStagePrivate *priv, GstClockTime time)
{
  const guint64 since = time - (guint64)priv->epoch;
  const gboolean is_early = priv->epoch > 0 && time < (guint64)priv->epoch;
  return gst_util_uint64_scale_round(is_early ? 0 : since, (guint64)priv->in.rate_n,
                                     GST_SECOND * (guint64)priv->in.rate_d);
}

/* Where step 0 is moved to for the step to begin at that time, in ns. */
static GstClockTimeDiff epoch_moves(const AstroStagePrivate *priv, guint64 step, GstClockTime time)
{
  const guint64 epoch = time - astro_stream_time(&priv->in, step);
  return (GstClockTimeDiff)(epoch - (guint64)priv->epoch);
}

/* A nanosecond is how times are rounded. */
static void set_epoch(AstroStagePrivate *priv, guint64 step, GstClockTime time)
{
  const GstClockTimeDiff moves = epoch_moves(priv, step, time);
  if (moves < -1 || moves > 1)
    priv->epoch = (GstClockTimeDiff)((guint64)priv->epoch + (guint64)moves);
}

void astro_stage_follow_rate(AstroStagePrivate *priv, const AstroStream *before)
{
  priv->retime = TRUE;
  if (!priv->started || before->rate_n == 0 || priv->in.rate_n == 0)
    return;
  const GstClockTime end = astro_stream_time(before, priv->next_step) + (guint64)priv->epoch;
  priv->next_step = astro_stream_step_of_rate(before, priv->next_step, &priv->in);
  set_epoch(priv, priv->next_step, end);
}

/* The time step that a block begins with: its OFFSET where that counts steps, else its PTS where it
 * need not follow the block before, else one after the last. Notes jumps, and where between two
 * steps counted from zero the PTS lies: half an integration is seconds. */
static guint64 first_step(AstroStage *stage, GstBuffer *in, guint64 steps)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);
  guint64 step = priv->next_step, offset = GST_BUFFER_OFFSET(in), end = GST_BUFFER_OFFSET_END(in);
  const gboolean timed = priv->time_segment && priv->in.rate_n > 0 && GST_BUFFER_PTS_IS_VALID(in) &&
                         (!priv->started || priv->retime || GST_BUFFER_IS_DISCONT(in));

  if (priv->time_segment && offset != GST_BUFFER_OFFSET_NONE &&
      (end == GST_BUFFER_OFFSET_NONE || end - offset == steps))
    step = offset;
  else if (timed)
    step = step_at(priv, GST_BUFFER_PTS(in));
  if (timed) {
    const GstClockTimeDiff moves = epoch_moves(priv, step, GST_BUFFER_PTS(in));
    const GstClockTimeDiff one = MAX((GstClockTimeDiff)astro_stream_time(&priv->in, 1), 2);
    /* Steps are counted from elsewhere: what is held has other times. */
    if (priv->started && (moves <= -one || moves >= one))
      astro_stage_drain(stage);
    set_epoch(priv, step, GST_BUFFER_PTS(in));
  }
  if (GST_BUFFER_IS_DISCONT(in) || (priv->started && step != priv->next_step))
    priv->discont = TRUE;
  priv->started = TRUE;
  priv->retime = FALSE;
  priv->next_step = step + steps;
  return step;
}

/* Steps and their times are added to one another and rounded up, as signed numbers. */
#define FARTHEST (G_GUINT64_CONSTANT(1) << 62)

static gboolean check_step(const AstroStream *stream, GstBuffer *in, guint64 first, guint64 steps,
                           GError **error)
{
  if (first <= FARTHEST && steps <= FARTHEST &&
      (!GST_BUFFER_PTS_IS_VALID(in) || GST_BUFFER_PTS(in) <= FARTHEST) &&
      (stream->rate_n == 0 || astro_stream_time(stream, first + steps) <= FARTHEST))
    return TRUE;
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE,
                             "a buffer's OFFSET or PTS makes %" G_GUINT64_FORMAT
                             " the first of its %" G_GUINT64_FORMAT
                             " steps: expected numbers, and times in nanoseconds, up to 2^62",
                             first, steps);
}

static gboolean copy_foreign_meta(GstBuffer *in, GstMeta **meta, gpointer out)
{
  const GstMetaInfo *info = (*meta)->info;
  GstMetaTransformCopy whole = { FALSE, 0, (gsize)-1 };

  /* Tagged metas are bound to what the stage changes: the axes, in our own case. */
  const gchar *const *tags = gst_meta_api_type_get_tags(info->api); /* NULL where there is none */
  if ((!tags || !tags[0]) && info->transform_func &&
      !GST_META_FLAG_IS_SET(*meta, GST_META_FLAG_POOLED))
    info->transform_func(out, *meta, in, _gst_meta_transform_copy, &whole);
  return TRUE;
}

gboolean astro_stage_default_validity(AstroStage *stage, GstBuffer *in, GstBuffer *out)
{
  return astro_validity_follow(out, in, &astro_stage_parts(stage)->out.layout);
}

/* Whether the output may be made where the input lies: nobody else has the block, which is of our
 * own memory, and as its next reader wants it. */
static gboolean can_reuse(const AstroStagePrivate *priv, GstBuffer *in, gsize bytes)
{
  if (!priv->backend->in_place || in != priv->input || !gst_buffer_is_writable(in) ||
      gst_buffer_n_memory(in) != 1 || gst_buffer_get_size(in) != bytes)
    return FALSE;
  GstMemory *memory = gst_buffer_peek_memory(in, 0);
  return astro_memory_is(memory) && !GST_MEMORY_IS_READONLY(memory) &&
         gst_memory_is_writable(memory) && (!priv->reader || astro_memory_is_locked(memory));
}

static gboolean drop_meta(GstBuffer *buffer, GstMeta **meta, gpointer unused)
{
  const GstMetaFlags kept = GST_META_FLAG_POOLED | GST_META_FLAG_LOCKED;
  if (!((*meta)->flags & kept))
    *meta = NULL;
  return TRUE;
}

/* Leaves a buffer as a pool gives them; what it said of itself is in the one that is returned. */
static GstBuffer *strip(GstBuffer *buffer)
{
  GstBuffer *said = gst_buffer_new();
  AstroValidityMeta *validity = astro_buffer_get_validity(buffer);

  gst_buffer_copy_into(said, buffer,
                       GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS | GST_BUFFER_COPY_META, 0,
                       -1);
  if (validity)
    astro_validity_meta_clear(validity);
  gst_buffer_foreach_meta(buffer, drop_meta, NULL);
  GST_BUFFER_FLAGS(buffer) &= GST_BUFFER_FLAG_TAG_MEMORY;
  GST_BUFFER_PTS(buffer) = GST_BUFFER_DTS(buffer) = GST_BUFFER_DURATION(buffer) =
      GST_CLOCK_TIME_NONE;
  GST_BUFFER_OFFSET(buffer) = GST_BUFFER_OFFSET_END(buffer) = GST_BUFFER_OFFSET_NONE;
  return said;
}

/* What the output says of itself follows from what the input does. */
static gboolean describe(AstroStage *stage, GstBuffer *in, GstBuffer *out, GError **error)
{
  if (!ASTRO_STAGE_GET_CLASS(stage)->validity(stage, in, out))
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_CAPS,
        "the validity of a buffer counts over axes that its layout does not have");
  gst_buffer_foreach_meta(in, copy_foreign_meta, out);
  if (astro_stage_parts(stage)->out.rate_n == 0)
    gst_buffer_copy_into(out, in, GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
  return TRUE;
}

gboolean astro_stage_default_feed(AstroStage *stage, GstBuffer *in, guint64 first, guint64 steps,
                                  GError **error)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);
  const gsize bytes = steps * astro_stream_step_bytes(&priv->out);
  const gboolean is_gap = GST_BUFFER_FLAG_IS_SET(in, GST_BUFFER_FLAG_GAP);
  const gboolean reused = !is_gap && can_reuse(priv, in, bytes);
  GstBuffer *out =
      reused ? g_steal_pointer(&priv->input) : astro_stage_new_buffer(stage, bytes, error);

  if (!out)
    return FALSE;
  if (is_gap) {
    gst_buffer_memset(out, 0, 0, bytes);
    GST_BUFFER_FLAG_SET(out, GST_BUFFER_FLAG_GAP);
  } else if (!ASTRO_STAGE_GET_CLASS(stage)->work(stage, in, out, steps, error)) {
    gst_buffer_unref(out);
    return FALSE;
  }
  g_autoptr(GstBuffer) said = reused ? strip(in) : gst_buffer_ref(in);
  if (!describe(stage, said, out, error)) {
    gst_buffer_unref(out);
    return FALSE;
  }
  astro_stage_emit(stage, out, first, steps);
  return TRUE;
}

static gboolean check_validity(const AstroStream *stream, GstBuffer *in, guint64 steps,
                               GError **error)
{
  const AstroValidityMeta *meta = astro_buffer_get_validity(in);
  AstroLayout shape;

  if (!meta)
    return TRUE;
  astro_stream_shape(stream, steps, &shape);
  return astro_validity_check(meta, &shape, error);
}

static gboolean feed_steps(AstroStage *stage, GstBuffer *in, guint64 steps, GError **error)
{
  const AstroStream *stream = &astro_stage_parts(stage)->in;

  if (!check_validity(stream, in, steps, error))
    return FALSE;
  const guint64 first = first_step(stage, in, steps);
  return check_step(stream, in, first, steps, error) &&
         ASTRO_STAGE_GET_CLASS(stage)->feed(stage, in, first, steps, error);
}

GstFlowReturn astro_stage_feed(AstroStage *stage, GstBuffer *in)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);
  g_autoptr(GError) error = NULL;
  guint64 steps;
  gint64 start = astro_stage_now();
  priv->pushed = GST_FLOW_OK;
  astro_deadline_begin(&priv->deadline);
  gboolean ok = astro_stream_steps(&priv->in, gst_buffer_get_size(in), &steps, &error);

  if (ok && steps > 0)
    ok = feed_steps(stage, in, steps, &error);
  astro_stage_count(stage, &(AstroStageStats){ .busy_ns = astro_stage_now() - start });
  if (ok)
    return priv->pushed;
  astro_stage_post_error(stage, error);
  return astro_deadline_is_stopped(&priv->deadline) ? GST_FLOW_FLUSHING : GST_FLOW_ERROR;
}

GstBuffer *astro_stage_pass(AstroStage *stage, GstBuffer *in)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);
  guint64 steps;

  if (!astro_stream_steps(&priv->in, gst_buffer_get_size(in), &steps, NULL) || steps == 0)
    return in;
  const guint64 first = first_step(stage, in, steps);
  if (priv->time_segment || !priv->sends_time || !check_step(&priv->in, in, first, steps, NULL)) {
    priv->discont = FALSE;
    return in;
  }
  in = gst_buffer_make_writable(in);
  astro_stage_time_block(stage, &priv->in, in, first, steps);
  return in;
}
