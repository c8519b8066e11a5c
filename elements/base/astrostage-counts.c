/* Counts of good samples (core/stream/validity.h) on their way through a stage. Caps go where a
 * buffer's meta does not, into a file for instance. The caps of a stream with counts therefore say
 * counts=true, so that samples whose counts were lost are not taken for whole. */
#include "config.h"
#include "elements/base/astrostage-parts.h"

/* ---- what the caps say ---- */

static GstCaps *without_counts(const GstCaps *caps)
{
  GstCaps *result = gst_caps_new_empty();
  for (guint i = 0; i < gst_caps_get_size(caps); i++) {
    GstStructure *s = gst_structure_copy(gst_caps_get_structure(caps, i));
    gboolean counts = TRUE;
    gst_structure_get_boolean(s, "counts", &counts);
    gst_structure_remove_field(s, "counts");
    if (counts)
      gst_caps_append_structure(result, s);
    else /* downstream wants no counts, and this stage always has some */
      gst_structure_free(s);
  }
  return result;
}

static GstCaps *map_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps)
{
  const AstroStageClass *klass = ASTRO_STAGE_GET_CLASS(trans);
  return klass->own_transform_caps ? klass->own_transform_caps(trans, direction, caps, NULL)
                                   : gst_caps_ref(caps);
}

/* Replaces the transform_caps of a class that adds counts. */
static GstCaps *transform_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                               GstCaps *filter)
{
  if (direction == GST_PAD_SRC) {
    g_autoptr(GstCaps) asked = without_counts(caps);
    return astro_stage_filter_caps(map_caps(trans, direction, asked), filter);
  }
  GstCaps *made = gst_caps_make_writable(map_caps(trans, direction, caps));
  if (!gst_caps_is_any(made))
    gst_caps_set_simple(made, "counts", G_TYPE_BOOLEAN, TRUE, NULL);
  return astro_stage_filter_caps(made, filter);
}

/* GstBaseTransform puts what downstream accepts first into its answer to a query from upstream, if
 * the media type stays. A source would fixate those caps, and promise counts that it does not send.
 */
void astro_stage_ask_no_counts(AstroStage *stage, GstQuery *query)
{
  GstCaps *answer, *filter;

  gst_query_parse_caps_result(query, &answer);
  if (!ASTRO_STAGE_GET_CLASS(stage)->adds_counts || !answer || gst_caps_is_any(answer))
    return;
  gst_query_parse_caps(query, &filter);
  g_autoptr(GstCaps) asked = astro_stage_filter_caps(without_counts(answer), filter);
  gst_query_set_caps_result(query, asked);
}

/* This is called for an instance, since the class is set up completely by then. */
void astro_stage_wrap_transform_caps(AstroStage *stage)
{
  static GMutex lock;
  AstroStageClass *klass = ASTRO_STAGE_GET_CLASS(stage);
  GstBaseTransformClass *trans = GST_BASE_TRANSFORM_CLASS(klass);

  if (!klass->adds_counts)
    return;
  g_mutex_lock(&lock);
  if (trans->transform_caps != transform_caps) {
    klass->own_transform_caps = trans->transform_caps;
    trans->transform_caps = transform_caps;
  }
  g_mutex_unlock(&lock);
}

/* ---- what blocks have ---- */

/* Counts that work has written stay: it had those of the input to begin with. */
gboolean astro_stage_default_validity(AstroStage *stage, GstBuffer *in, GstBuffer *out)
{
  return astro_buffer_get_validity(out) ||
         astro_validity_follow(out, in, &astro_stage_parts(stage)->out.layout);
}

gboolean astro_stage_check_added(AstroStage *stage, gboolean had_counts, GstBuffer *out,
                                 GError **error)
{
  return had_counts || astro_stage_parts(stage)->out.has_counts ||
         !astro_buffer_get_validity(out) ||
         astro_stream_refuse(
             error, ASTRO_STREAM_ERROR_CAPS,
             "this element marks samples as lost, in a stream whose caps do not say counts=true: a "
             "file or a socket would drop the marks unnoticed. Its class has to set adds_counts "
             "(AstroStageClass), so that the caps say it");
}

void astro_stage_ensure_counts(const AstroStream *stream, GstBuffer *block)
{
  static const AstroLayout one = { 0 };
  if (!stream->has_counts || astro_buffer_get_validity(block))
    return;
  AstroValidityMeta *meta = astro_buffer_add_validity(block, &one, 1);
  if (GST_BUFFER_FLAG_IS_SET(block, GST_BUFFER_FLAG_GAP))
    meta->counts[0] = 0;
}
