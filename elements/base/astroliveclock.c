/* The clock of a live source. */
#include "config.h"
#include "elements/base/astroliveclock.h"

#define WOKEN_US 100

/* Time since the pipeline's start; 0 if there is no clock. */
static GstClockTime running_time(GstBaseSrc *base)
{
  g_autoptr(GstClock) clock = gst_element_get_clock(GST_ELEMENT(base));
  const GstClockTime start = gst_element_get_base_time(GST_ELEMENT(base));
  const GstClockTime now = clock ? gst_clock_get_time(clock) : 0;
  return now > start ? now - start : 0;
}

void astro_live_clock_begin(AstroLiveClock *clock, GstBaseSrc *base)
{
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.base = clock->begin = running_time(base);
  gst_base_src_new_segment(base, &segment);
}

/* Whether the time came; FALSE: somebody woke us earlier. */
static gboolean wait_for(AstroLiveClock *live, GstBaseSrc *base, GstClockTime time)
{
  g_autoptr(GstClock) clock = gst_element_get_clock(GST_ELEMENT(base));
  GstClockReturn waited = GST_CLOCK_UNSCHEDULED;
  if (!clock)
    return TRUE;
  const GstClockID wait = gst_clock_new_single_shot_id(clock, time);
  GST_OBJECT_LOCK(base);
  const gboolean may_wait = !live->is_unlocked;
  live->wait = may_wait ? wait : NULL;
  GST_OBJECT_UNLOCK(base);
  if (may_wait)
    waited = gst_clock_id_wait(wait, NULL);
  GST_OBJECT_LOCK(base);
  live->wait = NULL;
  GST_OBJECT_UNLOCK(base);
  gst_clock_id_unref(wait);
  return waited != GST_CLOCK_UNSCHEDULED;
}

GstFlowReturn astro_live_clock_wait(AstroLiveClock *clock, GstBaseSrc *base, GstClockTime time)
{
  for (;;) {
    const GstClockTime start = gst_element_get_base_time(GST_ELEMENT(base));
    const gboolean came = wait_for(clock, base, start + clock->begin + time);
    const GstFlowReturn flow = gst_base_src_wait_playing(base);
    const gboolean is_moved = gst_element_get_base_time(GST_ELEMENT(base)) != start;
    if (flow != GST_FLOW_OK || (came && !is_moved))
      return flow;
    /* A pause moves the start. A thread that wakes us to stop the stream says so only later. */
    if (!came)
      g_usleep(WOKEN_US);
  }
}

/* A pause needs no unlocking, since the wait looks at the time again, and some versions of
 * GStreamer would never call unlock_stop after it. */
static gboolean pauses(GstBaseSrc *base)
{
  return GST_STATE(base) == GST_STATE_PLAYING && GST_STATE_NEXT(base) == GST_STATE_PAUSED;
}

void astro_live_clock_unlock(AstroLiveClock *clock, GstBaseSrc *base)
{
  if (pauses(base))
    return;
  GST_OBJECT_LOCK(base);
  clock->is_unlocked = TRUE;
  if (clock->wait)
    gst_clock_id_unschedule(clock->wait);
  GST_OBJECT_UNLOCK(base);
}

void astro_live_clock_unlock_stop(AstroLiveClock *clock, GstBaseSrc *base)
{
  GST_OBJECT_LOCK(base);
  clock->is_unlocked = FALSE;
  GST_OBJECT_UNLOCK(base);
}

gboolean astro_live_clock_is_unlocked(const AstroLiveClock *clock, GstBaseSrc *base)
{
  GST_OBJECT_LOCK(base);
  const gboolean is_unlocked = clock->is_unlocked;
  GST_OBJECT_UNLOCK(base);
  return is_unlocked;
}
