/* How a stage handles new caps and events. */
#include "config.h"
#include "elements/base/astrostage-parts.h"

#include <string.h>
#include "elements/base/astroincoming.h"
#include "elements/base/astroonce.h"
#include "elements/base/astroplan.h"

#define PRIV(stage) astro_stage_parts(stage)

static GstBaseTransformClass *parent_class(void)
{
  return g_type_class_peek(GST_TYPE_BASE_TRANSFORM);
}

static gboolean read_caps(AstroStage *stage, AstroStream *stream, GstCaps *caps)
{
  g_autoptr(GError) error = NULL;
  if (astro_stream_from_caps(stream, caps, &error) && astro_stream_check_sums(stream, &error))
    return TRUE;
  GST_ELEMENT_ERROR(stage, STREAM, WRONG_TYPE, ("%s", error->message),
                    ("caps: %" GST_PTR_FORMAT, caps));
  return FALSE;
}

/* Where both sides may have the same media type, caps alone do not show it. */
static gboolean is_unlinked(GstBaseTransform *trans, GstCaps *in, GstCaps *out)
{
  return astro_stage_is_unlinked(trans, out) ||
         (!gst_pad_is_linked(GST_BASE_TRANSFORM_SRC_PAD(trans)) && gst_caps_is_equal(in, out));
}

/* Whether steps of the output go on to be counted as they were, so that those that new caps cost
 * are a jump. */
static gboolean counts_on(const AstroStagePrivate *priv, const AstroStream *before)
{
  return priv->counting && !priv->steps.is_anew && before->rate_n > 0 &&
         before->rate_n == priv->out.rate_n && before->rate_d == priv->out.rate_d;
}

gboolean astro_stage_set_caps(GstBaseTransform *trans, GstCaps *in, GstCaps *out)
{
  AstroStage *stage = ASTRO_STAGE(trans);
  AstroStagePrivate *priv = PRIV(stage);
  AstroStageClass *klass = ASTRO_STAGE_GET_CLASS(stage);
  g_autoptr(GError) error = NULL;
  const AstroStream before = priv->in, before_out = priv->out;
  gboolean pass_through = is_unlinked(trans, in, out);

  priv->refused = TRUE;
  if (!astro_stage_drain(stage))
    return FALSE;
  astro_stage_close_backend(stage);
  astro_stage_drop_pools(priv);
  astro_stage_set_agreed(stage, FALSE);
  priv->told = FALSE;
  if (!read_caps(stage, &priv->in, in) || !read_caps(stage, &priv->out, out))
    return FALSE;
  priv->counting = counts_on(priv, &before_out);
  astro_steps_follow_rate(&priv->steps, &before, &priv->in);
  memset(priv->config, 0, sizeof priv->config);
  if (!pass_through && !klass->configure(stage, priv->config, &pass_through, &error)) {
    astro_stage_post_error(stage, error);
    return FALSE;
  }
  gst_base_transform_set_passthrough(trans, pass_through);
  astro_log_caps(stage, in, out);
  if (pass_through)
    ASTRO_INFO(stage, "pass-through: there is nothing to do");
  if (!(priv->is_planned || pass_through || astro_stage_open_backend(stage, &error)) ||
      !(!priv->tells_work || astro_plan_tell(stage, pass_through, &error))) {
    astro_stage_post_error(stage, error);
    astro_stage_close_backend(stage);
    return FALSE;
  }
  priv->refused = FALSE;
  astro_element_forget_said(GST_ELEMENT(stage));
  astro_stage_set_agreed(stage, TRUE);
  g_object_notify(G_OBJECT(stage), "active-backend");
  astro_stage_tell_latency(stage);
  /* A source may have asked where its blocks are read before there were caps: it has to ask
   * again. */
  if (astro_stage_device(priv) && priv->answered_host)
    gst_base_transform_reconfigure_sink(trans);
  return TRUE;
}

gboolean astro_stage_configure_again(AstroStage *stage)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM(stage);
  g_autoptr(GstCaps) in = gst_pad_get_current_caps(GST_BASE_TRANSFORM_SINK_PAD(trans));
  g_autoptr(GstCaps) out = gst_pad_get_current_caps(GST_BASE_TRANSFORM_SRC_PAD(trans));
  return !PRIV(stage)->agreed || !in || !out ||
         GST_BASE_TRANSFORM_GET_CLASS(stage)->set_caps(trans, in, out);
}

void astro_stage_settings_changed(GObject *stage)
{
  g_atomic_int_set(&PRIV(ASTRO_STAGE(stage))->has_settings, TRUE);
}

/* A value that the stream cannot take must not end an observation. */
gboolean astro_stage_take_settings(AstroStage *stage)
{
  AstroStagePrivate *priv = PRIV(stage);
  g_autoptr(GError) error = NULL;
  if (!g_atomic_int_compare_and_exchange(&priv->has_settings, TRUE, FALSE))
    return TRUE;
  if (!astro_stage_drain(stage))
    return FALSE;
  if (ASTRO_STAGE_GET_CLASS(stage)->renew(stage, &error))
    priv->told = FALSE;
  else if (!error)
    return FALSE;
  else
    GST_ELEMENT_WARNING(stage, LIBRARY, SETTINGS,
                        ("%s. The stream goes on with the value before", error->message), (NULL));
  return TRUE;
}

gboolean astro_stage_tell(AstroStage *stage, GError **error)
{
  AstroStagePrivate *priv = PRIV(stage);
  priv->told = !priv->observation || !ASTRO_STAGE_GET_CLASS(stage)->amend;
  if (priv->told)
    return TRUE;
  g_autoptr(AstroObservation) amended = astro_observation_copy(priv->observation);
  if (!ASTRO_STAGE_GET_CLASS(stage)->amend(stage, amended, error))
    return FALSE;
  priv->told = TRUE;
  gst_pad_push_event(GST_BASE_TRANSFORM_SRC_PAD(stage), astro_observation_to_event(amended));
  return TRUE;
}

/* Stages with amend change the observation. They need the caps for that, so they send it with the
 * first block, when caps and observation belong to the same stream, whichever came first. */
static gboolean send_observation(AstroStage *stage, GstEvent *event, gboolean is_new)
{
  if (!ASTRO_STAGE_GET_CLASS(stage)->amend)
    return parent_class()->sink_event(GST_BASE_TRANSFORM(stage), event);
  gst_event_unref(event);
  PRIV(stage)->told &= !is_new;
  return TRUE;
}

/* If no caps suit both sides, GStreamer only says "not negotiated"; this error shows both sides. If
 * the stage itself has refused its input, its own error has said why, and downstream has nothing to
 * do with it. */
static gboolean caps_event(AstroStage *stage, GstEvent *event)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM(stage);
  AstroStream stream;
  GstCaps *caps;

  gst_event_parse_caps(event, &caps);
  if (!read_caps(stage, &stream, caps)) {
    gst_event_unref(event);
    return FALSE;
  }
  g_autoptr(GstCaps) in = gst_caps_ref(caps);
  PRIV(stage)->refused = FALSE;
  if (parent_class()->sink_event(trans, event))
    return astro_plan_tell_observation(stage);
  if (PRIV(stage)->refused || GST_PAD_IS_FLUSHING(GST_BASE_TRANSFORM_SRC_PAD(trans)))
    return FALSE;
  g_autoptr(GstCaps) accepted = gst_pad_peer_query_caps(GST_BASE_TRANSFORM_SRC_PAD(trans), NULL);
  GST_ELEMENT_ERROR(
      stage, CORE, NEGOTIATION,
      ("the input cannot be converted to anything that downstream accepts"),
      ("found %" GST_PTR_FORMAT ", downstream accepts %" GST_PTR_FORMAT, in, accepted));
  return FALSE;
}

/* GstBaseTransform agrees on caps with downstream when those of the input come. They come once
 * more. */
gboolean astro_stage_renegotiate(AstroStage *stage, GError **error)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM(stage);
  GstCaps *caps = gst_pad_get_current_caps(GST_BASE_TRANSFORM_SINK_PAD(trans));
  const gboolean ok = caps && caps_event(stage, gst_event_new_caps(caps));
  gst_clear_caps(&caps);
  return ok ? astro_stage_tell(stage, error)
            : astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                                  "the caps that follow from properties were refused");
}

/* A segment in bytes does not count steps, but buffers leave here with times. */
static gboolean segment_event(AstroStage *stage, GstEvent *event)
{
  AstroStagePrivate *priv = PRIV(stage);
  priv->sends_time =
      priv->steps.counts_time || !gst_base_transform_is_passthrough(GST_BASE_TRANSFORM(stage));
  if (priv->sends_time && !priv->steps.counts_time) {
    GstSegment time;
    gst_segment_init(&time, GST_FORMAT_TIME);
    GstEvent *replaced = gst_event_new_segment(&time);
    gst_event_set_seqnum(replaced, gst_event_get_seqnum(event));
    gst_event_unref(event);
    event = replaced;
  }
  return parent_class()->sink_event(GST_BASE_TRANSFORM(stage), event);
}

/* The observation in an event. If orient changes it, *event is replaced by an event that says so.
 * NULL and an error if it is wrong. */
static AstroObservation *read_observation(AstroStage *stage, GstEvent **event, GError **error)
{
  AstroStageClass *klass = ASTRO_STAGE_GET_CLASS(stage);
  g_autoptr(AstroObservation) observation = astro_observation_from_event(*event, error);
  if (!observation || !klass->orient)
    return g_steal_pointer(&observation);
  if (!klass->orient(stage, observation, error))
    return NULL;
  GstEvent *oriented = astro_observation_to_event(observation);
  gst_event_set_seqnum(oriented, gst_event_get_seqnum(*event));
  gst_event_unref(*event);
  *event = oriented;
  return g_steal_pointer(&observation);
}

/* Samples that are held belong to the previous observation, and steps count from an observation's
 * start. */
static gboolean observation_event(AstroStage *stage, GstEvent *event)
{
  AstroStagePrivate *priv = PRIV(stage);
  AstroStageClass *klass = ASTRO_STAGE_GET_CLASS(stage);
  g_autoptr(GError) error = NULL;
  AstroObservation *observation;

  if (priv->observation && astro_event_is_known(GST_BASE_TRANSFORM_SINK_PAD(stage), event))
    return send_observation(stage, event, FALSE);
  if (priv->observation && !astro_stage_drain(stage)) {
    gst_event_unref(event);
    return FALSE;
  }
  priv->steps.is_anew = TRUE;
  observation = read_observation(stage, &event, &error);
  if (observation) {
    g_clear_pointer(&priv->observation, astro_observation_unref);
    priv->observation = observation;
    if (!klass->observed || klass->observed(stage, &error))
      return send_observation(stage, event, TRUE) && astro_plan_tell_observation(stage);
  }
  if (error) /* else astro_stage_configure_again has said why */
    astro_stage_post_error(stage, error);
  gst_event_unref(event);
  return FALSE;
}

/* Half-made output waits for the next block, whose time shows what is missing. It may begin before
 * the gap, so the event must not overtake it. Before the first block there is nothing to overtake,
 * and a sink may wait for the event. */
static gboolean gap_event(AstroStage *stage, GstEvent *event)
{
  AstroStagePrivate *priv = PRIV(stage);
  gboolean ok = astro_stage_complete(stage);

  if (!priv->steps.is_started || !ASTRO_STAGE_GET_CLASS(stage)->finish)
    return parent_class()->sink_event(GST_BASE_TRANSFORM(stage), event);
  gst_event_unref(event);
  return ok;
}

/* Upstream has ended, and ignores what downstream returns for what is pushed now, or has said of
 * what was handed out last. Without an error the pipeline would wait for ever if it cannot be
 * pushed. */
static void end(AstroStage *stage)
{
  AstroStagePrivate *priv = PRIV(stage);
  priv->pushed = priv->has_told ? GST_FLOW_OK : priv->handed;
  astro_stage_drain(stage);
  if (astro_flow_is_lost(priv->pushed))
    GST_ELEMENT_FLOW_ERROR(stage, priv->pushed);
}

gboolean astro_stage_sink_event(GstBaseTransform *trans, GstEvent *event)
{
  AstroStage *stage = ASTRO_STAGE(trans);

  if (astro_steps_take_event(&PRIV(stage)->steps, GST_BASE_TRANSFORM_SINK_PAD(trans), event))
    astro_stage_drain(stage);
  switch (GST_EVENT_TYPE(event)) {
  case GST_EVENT_CAPS:
    return caps_event(stage, event);
  case GST_EVENT_SEGMENT:
    return segment_event(stage, event);
  case GST_EVENT_CUSTOM_DOWNSTREAM_STICKY:
    if (astro_event_is_observation(event))
      return observation_event(stage, event);
    break;
  case GST_EVENT_EOS:
    end(stage);
    astro_stage_post_stats(stage);
    break;
  case GST_EVENT_SEGMENT_DONE: /* ends the segment of a seek, in place of EOS */
    end(stage);
    break;
  case GST_EVENT_GAP:
    return gap_event(stage, event);
  case GST_EVENT_FLUSH_START:
    astro_deadline_set_stopped(&PRIV(stage)->deadline, TRUE);
    break;
  case GST_EVENT_FLUSH_STOP:
    astro_deadline_set_stopped(&PRIV(stage)->deadline, FALSE);
    astro_element_forget_said(GST_ELEMENT(stage));
    astro_stage_reset(stage);
    break;
  default:
    break;
  }
  return parent_class()->sink_event(trans, event);
}
