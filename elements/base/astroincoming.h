/* What comes in at a sink pad: buffers without caps, as a file's source sends them, or with times
 * that are none, and events that were there before. */
#pragma once

#include "core/kit/exports.h"
#include "core/memory/memory.h"

#include <gst/base/gstbasetransform.h>

ASTRO_BEGIN_DECLS

/* Whether a sink pad has caps; where it has none an error names the element and what it expects:
 * GStreamer's own error names the source, and says that nothing was agreed on. */
gboolean astro_has_caps(GstPad *sink);
/* GstBaseTransform's way to take a buffer, one that came with caps and, if it is read, with samples
 * that are aligned. */
GstFlowReturn astro_transform_submit(GstBaseTransform *trans, gboolean is_discont,
                                     GstBuffer *buffer);
/* The same with samples at multiples of unit, copied to that device's memory where they are not. */
GstFlowReturn astro_transform_submit_aligned(GstBaseTransform *trans, gboolean is_discont,
                                             GstBuffer *buffer, AstroDevice *device, gsize unit);

/* A change_state for elements that have something to start: before the parent's, so that it is done
 * when the pads take buffers. GstBaseTransform's own start() comes after that, beside whoever
 * pushes. Its stop() follows where the parent's fails or start does. */
GstStateChangeReturn astro_transform_change_state(GstElement *element, GstStateChange change,
                                                  gpointer parent_class,
                                                  gboolean (*start)(GstBaseTransform *trans));

/* Whether a buffer's time and duration, in ns, can be added up as signed numbers. */
gboolean astro_check_times(guint64 begin, guint64 duration, GError **error);
/* Whether a sticky event says what the one before said: they come again after links change. */
gboolean astro_event_is_known(GstPad *sink, GstEvent *event);
/* The same of a segment, which GStreamer's structures do not compare. */
gboolean astro_segment_is_known(GstPad *sink, const GstSegment *segment);

ASTRO_END_DECLS
