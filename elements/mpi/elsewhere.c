/* Ends a stream here that goes on at another rank. */
#include "config.h"
#include "elements/mpi/elsewhere.h"

#include "core/stream/elsewhere.h"

gboolean mpi_end_elsewhere(GstPad *src, guint rank, GstEvent *eos)
{
  GstSegment segment;
  g_autoptr(GstElement) element = gst_pad_get_parent_element(src);
  g_autofree char *id = gst_pad_create_stream_id(src, element, "elsewhere");
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_pad_push_event(src, gst_event_new_stream_start(id));
  gst_pad_push_event(src, gst_event_new_segment(&segment));
  gst_pad_push_event(src, gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM_STICKY,
                                               gst_structure_new(ASTRO_ELSEWHERE_EVENT, "rank",
                                                                 G_TYPE_UINT, rank, NULL)));
  return gst_pad_push_event(src, eos);
}
