/* Checks of whatever arrives at a sink pad: buffers without caps, as a file's source sends them,
 * times and counts that cannot be, events that only repeat what was said before. */
#pragma once

#include "core/kit/exports.h"
#include "core/memory/memory.h"
#include "core/stream/stream.h"

#include <gst/base/gstbasetransform.h>

ASTRO_BEGIN_DECLS

/* Whether a sink pad has caps. If it has none, an error names the element and the media types that
 * it expects: GStreamer's own error would name the source, and say that nothing was negotiated. */
gboolean astro_has_caps(GstPad *sink);
/* A submit_input_buffer for GstBaseTransform: refuses a buffer without caps, and aligns the samples
 * of one that will be read. */
GstFlowReturn astro_transform_submit(GstBaseTransform *trans, gboolean is_discont,
                                     GstBuffer *buffer);
/* The same with samples at multiples of unit. Those that are not are copied to memory of that
 * device. */
GstFlowReturn astro_transform_submit_aligned(GstBaseTransform *trans, gboolean is_discont,
                                             GstBuffer *buffer, AstroDevice *device, gsize unit);

/* A change_state for elements that have something to start. start runs before the parent's
 * change_state, and so before the pads take buffers; GstBaseTransform's own start() would run
 * afterwards, while another thread may be pushing. If either fails, GstBaseTransform's stop() is
 * called. */
GstStateChangeReturn astro_transform_change_state(GstElement *element, GstStateChange change,
                                                  gpointer parent_class,
                                                  gboolean (*start)(GstBaseTransform *trans));

/* Whether a buffer's time and duration, in ns, can be added up as signed numbers. */
gboolean astro_check_times(guint64 begin, guint64 duration, GError **error);
/* Whether the counts of a block of that many steps fit its stream, and are there if the caps say
 * so. */
gboolean astro_incoming_check_counts(const AstroStream *stream, GstBuffer *block, guint64 steps,
                                     GError **error);
/* For an element that has begun with caps which cannot change any more, as those of an open file:
 * answers a query for caps with those that the pad has, so that elements upstream keep to them. A
 * query for other things is not answered; whether it accepts caps is left to their event, since the
 * element's own error says more. */
gboolean astro_pad_offers_its_caps(GstPad *sink, GstQuery *query);
/* Whether a sticky event repeats the one before: sticky events are sent again when links change. */
gboolean astro_event_is_known(GstPad *sink, GstEvent *event);
/* The same for caps, which may come as another event with the same fields. */
gboolean astro_caps_are_known(GstPad *sink, const GstCaps *caps);
/* The same for a segment, which cannot be compared as a structure. */
gboolean astro_segment_is_known(GstPad *sink, const GstSegment *segment);

ASTRO_END_DECLS
