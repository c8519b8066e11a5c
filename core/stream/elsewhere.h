/* A stream that goes on in another process: the sticky event "astro-elsewhere" says so before a
 * stream that ends without buffers. Sinks that would otherwise say that nothing came leave it at
 * that. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define ASTRO_ELSEWHERE_EVENT "astro-elsewhere"

/* Whether such an event has come to the pad. */
static inline gboolean astro_pad_is_elsewhere(GstPad *pad)
{
  GstEvent *event;
  for (guint i = 0; (event = gst_pad_get_sticky_event(pad, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, i));
       i++) {
    const gboolean is_it = gst_event_has_name(event, ASTRO_ELSEWHERE_EVENT);
    gst_event_unref(event);
    if (is_it)
      return TRUE;
  }
  return FALSE;
}

G_END_DECLS
