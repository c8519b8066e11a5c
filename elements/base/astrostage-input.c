/* The input of a stage: its pool, and blocks that are worked on in place. */
#include "config.h"
#include "elements/base/astrostage-parts.h"

#include "core/memory/memory.h"
#include "elements/base/astroincoming.h"

static gboolean copy_foreign_meta(GstBuffer *in, GstMeta **meta, gpointer out)
{
  const GstMetaInfo *info = (*meta)->info;
  GstMetaTransformCopy whole = { FALSE, 0, (gsize)-1 };

  if (gst_buffer_get_meta(out, info->api)) /* the stage has made one */
    return TRUE;
  /* A meta with tags depends on what the stage changes (ours on axes), so it is not copied. */
  const gchar *const *tags = gst_meta_api_type_get_tags(info->api); /* NULL if there are none */
  if ((!tags || !tags[0]) && info->transform_func &&
      !GST_META_FLAG_IS_SET(*meta, GST_META_FLAG_POOLED))
    info->transform_func(out, *meta, in, _gst_meta_transform_copy, &whole);
  return TRUE;
}

/* Whether the output can be written over the input: no one else holds the block, and it is in our
 * own memory, of the kind that its next reader wants. */
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

/* Makes a buffer as clean as one from a pool. The buffer that is returned has its flags, times and
 * metas. */
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

/* Copies counts, metas and times of the input to the output. */
static gboolean describe(AstroStage *stage, GstBuffer *in, GstBuffer *out, GError **error)
{
  if (!ASTRO_STAGE_GET_CLASS(stage)->validity(stage, in, out))
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_CAPS,
        "the counts of a buffer are over axes that its layout does not have");
  gst_buffer_foreach_meta(in, copy_foreign_meta, out);
  if (astro_stage_parts(stage)->out.rate_n == 0)
    gst_buffer_copy_into(out, in, GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
  return TRUE;
}

/* An integration that the stream's end cut short keeps its length. */
static void keep_length(GstBuffer *in, GstBuffer *out)
{
  const GstClockTime length = GST_BUFFER_DURATION(in);
  if (GST_CLOCK_TIME_IS_VALID(length) && length > 0 && GST_BUFFER_DURATION_IS_VALID(out) &&
      GST_BUFFER_PTS(in) == GST_BUFFER_PTS(out) && length < GST_BUFFER_DURATION(out))
    GST_BUFFER_DURATION(out) = length;
}

gboolean astro_stage_default_feed(AstroStage *stage, GstBuffer *in, guint64 first, guint64 steps,
                                  GError **error)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);
  const gsize bytes = steps * astro_stream_step_bytes(&priv->out);
  const gboolean is_gap = GST_BUFFER_FLAG_IS_SET(in, GST_BUFFER_FLAG_GAP);
  const gboolean had_counts = astro_buffer_get_validity(in) != NULL;
  const gboolean reused = !is_gap && can_reuse(priv, in, bytes);
  GstBuffer *out =
      reused ? g_steal_pointer(&priv->input) : astro_stage_new_buffer(stage, bytes, error);

  if (!out)
    return FALSE;
  if (is_gap) {
    gst_buffer_memset(out, 0, 0, bytes);
    GST_BUFFER_FLAG_SET(out, GST_BUFFER_FLAG_GAP);
  } else if (!ASTRO_STAGE_GET_CLASS(stage)->work(stage, in, out, steps, error) ||
             !astro_stage_check_added(stage, had_counts, out, error)) {
    gst_buffer_unref(out);
    return FALSE;
  }
  g_autoptr(GstBuffer) said = reused ? strip(in) : gst_buffer_ref(in);
  if (!describe(stage, said, out, error)) {
    gst_buffer_unref(out);
    return FALSE;
  }
  astro_stage_emit(stage, out, first, steps);
  if (steps == 1)
    keep_length(said, out);
  return TRUE;
}

gboolean astro_stage_emit_like(AstroStage *stage, GstBuffer *in, GstBuffer *out, guint64 first,
                               guint64 steps, GError **error)
{
  if (!describe(stage, in, out, error)) {
    gst_buffer_unref(out);
    return FALSE;
  }
  astro_stage_emit(stage, out, first, steps);
  if (steps == 1)
    keep_length(in, out);
  return TRUE;
}

gboolean astro_stage_emit_part(AstroStage *stage, GstBuffer *in, gsize offset, gsize bytes,
                               guint64 first, guint64 steps, GError **error)
{
  GstBuffer *out = gst_buffer_copy_region(in, GST_BUFFER_COPY_MEMORY, offset, bytes);
  if (!out)
    return astro_backend_no_memory(error, "no memory for a part of a block");
  if (GST_BUFFER_FLAG_IS_SET(in, GST_BUFFER_FLAG_GAP))
    GST_BUFFER_FLAG_SET(out, GST_BUFFER_FLAG_GAP);
  return astro_stage_emit_like(stage, in, out, first, steps, error);
}

GstBuffer *astro_stage_cut(AstroStage *stage, GstBuffer *in, guint64 steps, guint64 first,
                           guint64 n, GError **error)
{
  GstBuffer *part = astro_buffer_of_steps(in, &astro_stage_parts(stage)->in, steps, first, n);
  if (!part)
    astro_backend_no_memory(error, "no memory for a part of a block");
  else if (!astro_stage_align(stage, &part, error))
    gst_clear_buffer(&part);
  return part;
}

/* ---- blocks in ---- */

static void leave_out(AstroStage *stage, const AstroStepsPlace *place)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);
  const gboolean is_first = priv->steps.again == place->again;

  astro_stage_count(stage, &(AstroWorkStats){ .steps_again = place->again });
  ASTRO_DEBUG(stage, "%" G_GUINT64_FORMAT " steps came again, or late, and are left out",
              place->again);
  if (!is_first)
    return;
  g_autofree char *text = astro_steps_describe_again(&priv->steps, place);
  GST_ELEMENT_WARNING(stage, STREAM, FORMAT, ("%s in stats (steps-again)", text), (NULL));
}

/* Logs that the stream does not go on at the step after the last. */
static void log_jump(AstroStage *stage, guint64 due, guint64 first)
{
  if (first > due)
    ASTRO_DEBUG(stage,
                "jump: %" G_GUINT64_FORMAT " steps are missing between %" G_GUINT64_FORMAT
                " and %" G_GUINT64_FORMAT,
                first - due, due, first);
  else
    ASTRO_DEBUG(stage, "jump: step %" G_GUINT64_FORMAT " follows, %" G_GUINT64_FORMAT " was due",
                first, due);
}

/* Keeps only those steps of a block that did not come before; NULL: none are new. */
static gboolean place_block(AstroStage *stage, GstBuffer **in, guint64 *steps, guint64 *first,
                            GError **error)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);
  const gboolean goes_on = priv->steps.is_started;
  const guint64 due = priv->steps.next;
  AstroStepsPlace place;

  if (!astro_incoming_check_counts(&priv->in, *in, *steps, error) ||
      !astro_steps_find(&priv->steps, &priv->in, *in, *steps, &place, error))
    return FALSE;
  if (goes_on && place.is_cut)
    log_jump(stage, due, place.first);
  if (place.again)
    leave_out(stage, &place);
  if (place.again == *steps) {
    gst_clear_buffer(in);
    return TRUE;
  }
  *first = place.first;
  priv->discont |= place.is_cut;
  if (!place.again)
    return TRUE;
  GstBuffer *rest = astro_buffer_from_step(*in, &priv->in, *steps, place.again);
  gst_buffer_unref(*in);
  *in = rest;
  *steps -= place.again;
  if (rest) /* steps that were cut off are not missing */
    GST_BUFFER_FLAG_UNSET(rest, GST_BUFFER_FLAG_DISCONT);
  else
    return astro_backend_no_memory(error, "no memory for a part of a block");
  return gst_base_transform_is_passthrough(GST_BASE_TRANSFORM(stage)) ||
         astro_stage_align(stage, in, error);
}

static gboolean feed_steps(AstroStage *stage, guint64 steps, GError **error)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);
  guint64 first;

  if (!place_block(stage, &priv->input, &steps, &first, error))
    return FALSE;
  if (!priv->input)
    return TRUE;
  return ASTRO_STAGE_GET_CLASS(stage)->feed(stage, priv->input, first, steps, error);
}

GstFlowReturn astro_stage_feed(AstroStage *stage)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);
  g_autoptr(GError) error = NULL;
  guint64 steps;
  const gint64 start = astro_stage_now();
  priv->pushed = GST_FLOW_OK;
  astro_deadline_begin_at(&priv->deadline, start / 1000);
  gboolean ok = astro_stream_steps(&priv->in, gst_buffer_get_size(priv->input), &steps, &error);

  if (ok && steps > 0)
    ok = feed_steps(stage, steps, &error);
  gst_clear_buffer(&priv->input);
  astro_stage_count(stage, &(AstroWorkStats){ .busy_ns = (guint64)(astro_stage_now() - start) });
  if (ok)
    return priv->pushed;
  if (!astro_deadline_is_stopped(&priv->deadline))
    astro_stage_rescue(stage);
  astro_stage_post_error(stage, error);
  return astro_deadline_is_stopped(&priv->deadline) ? GST_FLOW_FLUSHING : GST_FLOW_ERROR;
}

GstFlowReturn astro_stage_pass(AstroStage *stage, GstBuffer **in)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);
  g_autoptr(GError) error = NULL;
  guint64 steps, first;

  if (!astro_stream_steps(&priv->in, gst_buffer_get_size(*in), &steps, NULL) || steps == 0)
    return GST_FLOW_OK;
  const guint64 came = steps;
  if (!place_block(stage, in, &steps, &first, &error)) {
    gst_clear_buffer(in);
    astro_stage_post_error(stage, error);
    return GST_FLOW_ERROR;
  }
  if (!*in)
    return GST_FLOW_OK;
  if (steps < came || (priv->sends_time && !priv->steps.counts_time)) {
    *in = gst_buffer_make_writable(*in);
    astro_stage_time_block(stage, &priv->in, *in, first, steps);
  }
  if (priv->out.has_counts && !astro_buffer_get_validity(*in)) {
    *in = gst_buffer_make_writable(*in);
    astro_stage_ensure_counts(&priv->out, *in);
  }
  priv->discont = FALSE;
  return GST_FLOW_OK;
}
