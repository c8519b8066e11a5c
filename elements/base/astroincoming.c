/* Checks of buffers and events that arrive at a sink pad. */
#include "config.h"
#include "elements/base/astroincoming.h"

#include "core/stream/validity.h"
#include "elements/base/astrolog.h"

static char *media_types_of(GstPad *pad)
{
  g_autoptr(GstCaps) caps = gst_pad_get_pad_template_caps(pad);
  GString *names = g_string_new(NULL);

  for (guint i = 0; i < gst_caps_get_size(caps); i++) {
    const char *name = gst_structure_get_name(gst_caps_get_structure(caps, i));
    if (i == 0 || !gst_structure_has_name(gst_caps_get_structure(caps, i - 1), name))
      g_string_append_printf(names, "%s%s", i ? ", " : "", name);
  }
  return g_string_free(names, FALSE);
}

gboolean astro_has_caps(GstPad *sink)
{
  if (gst_pad_has_current_caps(sink))
    return TRUE;
  g_autoptr(GstElement) element = gst_pad_get_parent_element(sink);
  g_autofree char *names = media_types_of(sink);
  GST_ELEMENT_ERROR(element, STREAM, FORMAT,
                    ("a buffer came without caps, which say what it holds: expected %s. A source "
                     "of bytes, such as filesrc, needs a capsfilter behind it",
                     names),
                    (NULL));
  return FALSE;
}

GstFlowReturn astro_transform_submit_aligned(GstBaseTransform *trans, gboolean is_discont,
                                             GstBuffer *buffer, AstroDevice *device, gsize unit)
{
  GstBaseTransformClass *base = g_type_class_peek(GST_TYPE_BASE_TRANSFORM);
  g_autoptr(GError) error = NULL;

  if (!astro_has_caps(GST_BASE_TRANSFORM_SINK_PAD(trans))) {
    gst_buffer_unref(buffer);
    return GST_FLOW_NOT_NEGOTIATED;
  }
  astro_log_block(trans, "in", buffer);
  if (gst_base_transform_is_passthrough(trans) || astro_buffer_align(&buffer, device, unit, &error))
    return base->submit_input_buffer(trans, is_discont, buffer);
  gst_buffer_unref(buffer);
  GST_ELEMENT_ERROR(trans, RESOURCE, READ, ("%s", error->message), (NULL));
  return GST_FLOW_ERROR;
}

GstFlowReturn astro_transform_submit(GstBaseTransform *trans, gboolean is_discont,
                                     GstBuffer *buffer)
{
  return astro_transform_submit_aligned(trans, is_discont, buffer, NULL, ASTRO_SAMPLES_ALIGN);
}

GstStateChangeReturn astro_transform_change_state(GstElement *element, GstStateChange change,
                                                  gpointer parent_class,
                                                  gboolean (*start)(GstBaseTransform *trans))
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM(element);
  const gboolean starts = change == GST_STATE_CHANGE_READY_TO_PAUSED;
  const GstStateChangeReturn done =
      !starts || start(trans) ? GST_ELEMENT_CLASS(parent_class)->change_state(element, change)
                              : GST_STATE_CHANGE_FAILURE;
  if (starts && done == GST_STATE_CHANGE_FAILURE)
    GST_BASE_TRANSFORM_GET_CLASS(trans)->stop(trans);
  return done;
}

gboolean astro_check_times(guint64 begin, guint64 duration, GError **error)
{
  const guint64 farthest = G_GUINT64_CONSTANT(1) << 62;
  if (begin <= farthest && duration < farthest)
    return TRUE;
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE,
                             "a buffer's time is %" G_GUINT64_FORMAT
                             " ns and its duration %" G_GUINT64_FORMAT " ns: expected at most 2^62",
                             begin, duration);
}

gboolean astro_incoming_check_counts(const AstroStream *stream, GstBuffer *block, guint64 steps,
                                     GError **error)
{
  const AstroValidityMeta *meta = astro_buffer_get_validity(block);
  AstroLayout shape;

  if (!meta)
    return astro_stream_check_counts(stream, block, error);
  astro_stream_shape(stream, steps, &shape);
  return astro_validity_check(meta, &shape, error);
}

gboolean astro_pad_offers_its_caps(GstPad *sink, GstQuery *query)
{
  GstCaps *filter;
  if (GST_QUERY_TYPE(query) != GST_QUERY_CAPS)
    return FALSE;
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(sink);
  if (!caps)
    return FALSE;
  gst_query_parse_caps(query, &filter);
  g_autoptr(GstCaps) offered =
      filter ? gst_caps_intersect_full(filter, caps, GST_CAPS_INTERSECT_FIRST) : gst_caps_ref(caps);
  gst_query_set_caps_result(query, offered);
  return TRUE;
}

gboolean astro_event_is_known(GstPad *sink, GstEvent *event)
{
  gboolean same = FALSE;
  GstEvent *known;

  for (guint i = 0; !same && (known = gst_pad_get_sticky_event(sink, GST_EVENT_TYPE(event), i));
       i++) {
    same = gst_structure_is_equal(gst_event_get_structure(known), gst_event_get_structure(event));
    gst_event_unref(known);
  }
  return same;
}

gboolean astro_caps_are_known(GstPad *sink, const GstCaps *caps)
{
  g_autoptr(GstCaps) known = gst_pad_get_current_caps(sink);
  return known && gst_caps_is_equal(known, caps);
}

gboolean astro_segment_is_known(GstPad *sink, const GstSegment *segment)
{
  g_autoptr(GstEvent) known = gst_pad_get_sticky_event(sink, GST_EVENT_SEGMENT, 0);
  const GstSegment *before;

  if (known)
    gst_event_parse_segment(known, &before);
  return known && gst_segment_is_equal(before, segment);
}
