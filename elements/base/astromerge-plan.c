/* The work of AstroMerge, for plans. */
#include "config.h"
#include "elements/base/astromerge-parts.h"
#include "elements/base/astroplan.h"

#define PRIV(merge) astro_merge_parts(merge)

/* A step of the output is made of one step of each input. */
void astro_merge_tell_work(AstroMerge *merge, const AstroMergeInput *inputs, guint n)
{
  const AstroMergeClass *klass = ASTRO_MERGE_GET_CLASS(merge);
  const AstroMergePrivate *priv = PRIV(merge);
  const AstroStream *out = &priv->out;
  const double rate = astro_plan_rate(out), steps = rate > 0 ? rate : 1;
  AstroWork work = { 0 };
  AstroPlanStreams streams = { .stage = klass->stage,
                               .backend = astro_backend_kind_name(priv->choice.kind),
                               .rate_in = rate,
                               .rate_out = rate,
                               .bytes_out = (double)astro_stream_step_bytes(out) };
  for (guint i = 0; i < n; i++)
    streams.bytes_in += (double)astro_stream_step_bytes(inputs[i].stream);
  const AstroWorkSteps of = { steps, steps,
                              streams.bytes_in / (double)astro_stream_sample_bytes(out) };
  const gboolean told = klass->tell_work && klass->tell_work(priv->config, &of, &work);
  astro_plan_post(GST_ELEMENT(merge), &streams, told, &work);
}

/* Notes that a pad's stream has said all. FALSE: others have not. */
static gboolean note_end(AstroMergePad *ended, const GPtrArray *pads)
{
  gboolean all = TRUE;
  ended->is_planned = TRUE;
  for (guint i = 0; i < pads->len; i++)
    all &= astro_merge_pad_at(pads, i)->is_planned && astro_merge_pad_at(pads, i)->latest;
  for (guint i = 0; all && i < pads->len; i++) {
    AstroMergePad *pad = astro_merge_pad_at(pads, i);
    g_clear_pointer(&pad->agreed, astro_merge_stream_unref);
    pad->agreed = astro_merge_stream_ref(pad->latest);
  }
  return all;
}

gboolean astro_merge_plan(AstroMerge *merge, AstroMergePad *pad, GstEvent *event, GError **error)
{
  g_autoptr(GPtrArray) pads = astro_merge_list_pads(merge);
  astro_merge_lock(merge);
  const gboolean all = note_end(pad, pads);
  astro_merge_unlock(merge);
  if (!all)
    return TRUE;
  if (!astro_merge_agree(merge, pads, error))
    return FALSE;
  gst_pad_push_event(GST_AGGREGATOR_SRC_PAD(merge), gst_event_ref(event));
  return TRUE;
}
