/* Tells what the work of a planned stage is. */
#include "config.h"
#include "elements/base/astroplan.h"

#include "elements/base/astrostage-parts.h"

double astro_plan_rate(const AstroStream *stream)
{
  return stream->rate_n > 0 ? (double)stream->rate_n / stream->rate_d : 0;
}

void astro_plan_post(GstElement *element, const AstroPlanStreams *streams, gboolean told,
                     const AstroWork *work)
{
  GstStructure *s = gst_structure_new(
      ASTRO_PLAN_MESSAGE, "stage", G_TYPE_STRING, streams->stage, "backend", G_TYPE_STRING,
      streams->backend, "pass-through", G_TYPE_BOOLEAN, streams->pass_through, "told",
      G_TYPE_BOOLEAN, told, "rate-in", G_TYPE_DOUBLE, streams->rate_in, "rate-out", G_TYPE_DOUBLE,
      streams->rate_out, "bytes-in", G_TYPE_DOUBLE, streams->bytes_in, "bytes-out", G_TYPE_DOUBLE,
      streams->bytes_out, "kept", G_TYPE_DOUBLE, work->kept, "moved", G_TYPE_DOUBLE, work->moved,
      "besides", G_TYPE_STRING, work->besides, NULL);
  for (guint i = 0; i < ASTRO_N_ARITHMETICS; i++)
    gst_structure_set(s, astro_arithmetic_name((AstroArithmetic)i), G_TYPE_DOUBLE,
                      work->operations[i], NULL);
  gst_element_post_message(element, gst_message_new_element(GST_OBJECT(element), s));
}

/* Streams without a rate are told of one frame in and one out. A stage that turns a stream with a
 * rate into one without gives its result at the end, so that a second of input makes no step. */
static AstroWorkSteps steps_of(const AstroStream *in, const AstroStream *out)
{
  const double rate_in = astro_plan_rate(in), rate_out = astro_plan_rate(out);
  return (AstroWorkSteps){ .in = rate_in > 0 ? rate_in : 1,
                           .out = rate_in > 0 || rate_out > 0 ? rate_out : 1,
                           .samples_in = (double)astro_stream_step_bytes(in) /
                                         (double)astro_stream_sample_bytes(in) };
}

/* Whether the cpu backend takes the shape, which stands for the others: what a device refuses, auto
 * leaves to the cpu. */
static gboolean check_shape(const AstroStageClass *klass, gconstpointer config, GError **error)
{
  for (guint i = 0; klass->backends && klass->backends[i]; i++)
    if (klass->backends[i]->kind == ASTRO_BACKEND_CPU && klass->backends[i]->shape)
      return klass->backends[i]->shape(config, error);
  return TRUE;
}

gboolean astro_plan_tell(AstroStage *stage, gboolean pass_through, GError **error)
{
  const AstroStagePrivate *priv = astro_stage_parts(stage);
  const AstroStageClass *klass = ASTRO_STAGE_GET_CLASS(stage);
  const AstroStream *in = &priv->in, *out = &priv->out;
  const AstroWorkSteps steps = steps_of(in, out);
  AstroWork work = { 0 };
  if (priv->is_planned && !pass_through && !check_shape(klass, priv->config, error))
    return FALSE;
  const gboolean told =
      pass_through || (klass->tell_work && klass->tell_work(priv->config, &steps, &work));
  const AstroPlanStreams streams = {
    .stage = klass->stage,
    .backend = astro_backend_kind_name(astro_stage_choice(stage).kind),
    .pass_through = pass_through,
    .rate_in = astro_plan_rate(in),
    .rate_out = astro_plan_rate(out),
    .bytes_in = (double)astro_stream_step_bytes(in),
    .bytes_out = (double)astro_stream_step_bytes(out),
  };
  astro_plan_post(GST_ELEMENT(stage), &streams, told, &work);
  return TRUE;
}

gboolean astro_plan_tell_observation(AstroStage *stage)
{
  const AstroStagePrivate *priv = astro_stage_parts(stage);
  g_autoptr(GError) error = NULL;
  if (!priv->is_planned || !priv->agreed || !priv->observation || priv->told ||
      astro_stage_tell(stage, &error))
    return TRUE;
  astro_stage_post_error(stage, error);
  return FALSE;
}
