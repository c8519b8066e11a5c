/* Ways of stages to fixate and transform caps. */
#include "config.h"
#include "elements/base/astrostage-parts.h"

/* The answer to a query with a filter is in the filter's order, so the peer is asked again without
 * one: what it lists first is what it prefers. */
GstCaps *astro_stage_fixate_preferred(GstBaseTransform *trans, GstPadDirection direction,
                                      GstCaps *caps, GstCaps *othercaps)
{
  GstPad *pad = direction == GST_PAD_SINK ? GST_BASE_TRANSFORM_SRC_PAD(trans)
                                          : GST_BASE_TRANSFORM_SINK_PAD(trans);
  g_autoptr(GstCaps) peer = gst_pad_peer_query_caps(pad, NULL);
  GstCaps *preferred = gst_caps_intersect_full(peer, othercaps, GST_CAPS_INTERSECT_FIRST);

  if (gst_caps_is_empty(preferred)) {
    gst_caps_unref(preferred);
    return gst_caps_fixate(othercaps);
  }
  gst_caps_unref(othercaps);
  return gst_caps_fixate(preferred);
}

GstCaps *astro_stage_fixate_same(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                                 GstCaps *othercaps)
{
  GstCaps *same = gst_caps_intersect_full(caps, othercaps, GST_CAPS_INTERSECT_FIRST);

  if (gst_caps_is_empty(same)) {
    gst_caps_unref(same);
    return astro_stage_fixate_preferred(trans, direction, caps, othercaps);
  }
  gst_caps_unref(othercaps);
  return gst_caps_fixate(same);
}

/* Any other format loses precision, so it must be asked for. */
GstCaps *astro_stage_fixate_exact(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                                  GstCaps *othercaps)
{
  static const AstroFormat formats[] = { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_F32LE };
  for (guint i = 0; i < G_N_ELEMENTS(formats); i++) {
    if (direction != GST_PAD_SINK || gst_caps_is_empty(othercaps))
      break;
    g_autoptr(GstCaps) exact =
        gst_caps_new_simple(gst_structure_get_name(gst_caps_get_structure(othercaps, 0)), "format",
                            G_TYPE_STRING, astro_format_info(formats[i])->name, NULL);
    GstCaps *common = gst_caps_intersect_full(othercaps, exact, GST_CAPS_INTERSECT_FIRST);
    if (!gst_caps_is_empty(common)) {
      gst_caps_unref(othercaps);
      return gst_caps_fixate(common);
    }
    gst_caps_unref(common);
  }
  return astro_stage_fixate_preferred(trans, direction, caps, othercaps);
}

/* The current caps of the output, if those of the input are unchanged and downstream still takes
 * them; else NULL. */
static GstCaps *find_agreed(GstBaseTransform *trans, const GstCaps *in)
{
  GstPad *src = GST_BASE_TRANSFORM_SRC_PAD(trans);
  g_autoptr(GstCaps) had = gst_pad_get_current_caps(GST_BASE_TRANSFORM_SINK_PAD(trans));
  g_autoptr(GstCaps) agreed = gst_pad_get_current_caps(src);

  return had && agreed && gst_caps_is_equal(had, in) && gst_pad_peer_query_accept_caps(src, agreed)
             ? g_steal_pointer(&agreed)
             : NULL;
}

GstCaps *astro_stage_fixate_agreed(GstBaseTransform *trans, GstPadDirection direction,
                                   GstCaps *caps, GstCaps *othercaps)
{
  GstCaps *agreed = direction == GST_PAD_SINK ? find_agreed(trans, caps) : NULL;
  if (!agreed)
    return astro_stage_fixate_preferred(trans, direction, caps, othercaps);
  gst_caps_unref(othercaps);
  return agreed;
}

/* Whether stages here or downstream may hold something of the stream. */
static gboolean goes_on(AstroStage *stage)
{
  AstroStagePrivate *priv = astro_stage_parts(stage);
  const gboolean begins = g_atomic_int_compare_and_exchange(&priv->agrees_anew, TRUE, FALSE);
  return !begins && priv->agreed && priv->steps.is_started;
}

/* The caps that are possible now may no longer have those that were agreed on: properties and the
 * observation change them. */
static GstCaps *fixate_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                            GstCaps *othercaps)
{
  g_autoptr(GstCaps) agreed =
      direction == GST_PAD_SINK && goes_on(ASTRO_STAGE(trans)) ? find_agreed(trans, caps) : NULL;
  if (!agreed || !gst_caps_is_subset(agreed, othercaps))
    return ASTRO_STAGE_GET_CLASS(trans)->own_fixate_caps(trans, direction, caps, othercaps);
  gst_caps_unref(othercaps);
  return g_steal_pointer(&agreed);
}

void astro_stage_wrap_fixate_caps(AstroStage *stage)
{
  static GMutex lock;
  AstroStageClass *klass = ASTRO_STAGE_GET_CLASS(stage);
  GstBaseTransformClass *trans = GST_BASE_TRANSFORM_CLASS(klass);

  g_mutex_lock(&lock);
  if (trans->fixate_caps != fixate_caps) {
    klass->own_fixate_caps = trans->fixate_caps;
    trans->fixate_caps = fixate_caps;
  }
  g_mutex_unlock(&lock);
}

void astro_stage_agree_anew(AstroStage *stage)
{
  g_atomic_int_set(&astro_stage_parts(stage)->agrees_anew, TRUE);
  gst_base_transform_reconfigure_src(GST_BASE_TRANSFORM(stage));
}

gboolean astro_stage_refuse_late(GError **error)
{
  return astro_stream_refuse(
      error, ASTRO_STREAM_ERROR_CAPS,
      "properties were set while caps were negotiated: set them in state NULL or READY");
}

gboolean astro_stage_check_extent(AstroStage *stage, AstroAxis axis, guint64 expected,
                                  GError **error)
{
  return astro_stream_extent(astro_stage_out(stage), axis) == expected ||
         astro_stage_refuse_late(error);
}

gboolean astro_stage_is_unlinked(GstBaseTransform *trans, GstCaps *out)
{
  g_autoptr(GstCaps) ours = gst_pad_get_pad_template_caps(GST_BASE_TRANSFORM_SRC_PAD(trans));
  return !gst_caps_can_intersect(out, ours);
}

GstCaps *astro_stage_filter_caps(GstCaps *caps, GstCaps *filter)
{
  if (!filter)
    return caps;
  GstCaps *filtered = gst_caps_intersect_full(filter, caps, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref(caps);
  return filtered;
}

GstCaps *astro_stage_transform_any(GstBaseTransform *trans, GstPadDirection direction,
                                   GstCaps *caps, GstCaps *filter)
{
  GstPad *other = direction == GST_PAD_SINK ? GST_BASE_TRANSFORM_SRC_PAD(trans)
                                            : GST_BASE_TRANSFORM_SINK_PAD(trans);
  return astro_stage_filter_caps(gst_pad_get_pad_template_caps(other), filter);
}

static void append_of_format(GstCaps *to, const GstCaps *caps, AstroFormat format)
{
  GstCaps *with = gst_caps_copy(caps);
  gst_caps_set_simple(with, "format", G_TYPE_STRING, astro_format_name(format), NULL);
  gst_caps_append(to, with);
}

static gboolean has_format(GstCapsFeatures *features, GstStructure *s, gpointer format)
{
  return astro_format_is_named(gst_structure_get_value(s, "format"), GPOINTER_TO_UINT(format));
}

static gboolean drop_format(GstCapsFeatures *features, GstStructure *s, gpointer unused)
{
  gst_structure_remove_field(s, "format");
  return TRUE;
}

GstCaps *astro_stage_transform_format(GstPadDirection direction, GstCaps *caps, GstCaps *filter,
                                      AstroFormat in, AstroFormat out)
{
  GstCaps *result = gst_caps_new_empty();

  if (direction == GST_PAD_SINK) {
    append_of_format(result, caps, out);
    return astro_stage_filter_caps(result, filter);
  }
  GstCaps *any = gst_caps_copy(caps);
  gst_caps_filter_and_map_in_place(any, has_format, GUINT_TO_POINTER(out));
  append_of_format(result, any, in);
  gst_caps_map_in_place(any, drop_format, NULL);
  gst_caps_append(result, any);
  return astro_stage_filter_caps(result, filter);
}
