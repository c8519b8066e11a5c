#include "config.h"
#include "elements/astrosimulator.h"

#include "core/memory/memory.h"
#include "core/memory/pool.h"
#include "elements/astrooutgoing.h"
#include "elements/astroreader.h"
#include "elements/astroscene.h"
#include "elements/astrostage.h"

#include <math.h>

#define WOKEN_US 100

/* ---- from start to stop ---- */

void astro_simulator_take_scene(AstroSimulator *simulator)
{
  astro_scene_clear(&simulator->now);
  astro_scene_copy(&simulator->now, &simulator->scene);
}

void astro_simulator_clear(AstroSimulator *simulator)
{
  astro_scene_clear(&simulator->now);
  astro_scene_clear(&simulator->scene);
}

gboolean astro_simulator_start(AstroSimulator *simulator, const guint64 *horizon, GError **error)
{
  simulator->next = 0;
  simulator->live_begin = 0;
  simulator->announced = FALSE;
  simulator->observation = astro_scene_observe(&simulator->now, error);
  if (!simulator->observation)
    return FALSE;
  simulator->sky = astro_scene_sky(&simulator->now, simulator->observation, error);
  if (!simulator->sky || !horizon)
    return simulator->sky != NULL;
  return astro_simulator_check_horizon(simulator, *horizon, error);
}

gboolean astro_simulator_check_horizon(const AstroSimulator *simulator, guint64 steps,
                                       GError **error)
{
  double seconds = steps == G_MAXUINT64 ? 0 : (double)steps * simulator->rate_d / simulator->rate_n;
  return astro_sky_check_horizon(simulator->sky, simulator->observation,
                                 (gint64)MIN(seconds * 1e9, 1e18), error);
}

void astro_simulator_stop(AstroSimulator *simulator, GstBaseSrc *base)
{
  astro_simulator_offer(simulator, base, NULL);
  astro_buffer_pool_clear(&simulator->pool);
  g_clear_pointer(&simulator->sky, astro_sky_free);
  g_clear_pointer(&simulator->observation, astro_observation_unref);
  g_clear_pointer(&simulator->reader, astro_device_unref);
}

guint64 astro_simulator_duration(const AstroSimulator *simulator)
{
  double steps = simulator->now.duration * simulator->rate_n / simulator->rate_d;
  if (simulator->now.duration == 0 || steps >= 0x1p63)
    return G_MAXUINT64;
  return (guint64)MAX(rint(steps), 1);
}

GstClockTime astro_simulator_time(const AstroSimulator *simulator, guint64 step)
{
  return gst_util_uint64_scale(step, GST_SECOND * (guint64)simulator->rate_d,
                               (guint64)simulator->rate_n);
}

/* ---- caps and memory ---- */

void astro_simulator_offer(AstroSimulator *simulator, GstBaseSrc *base, GstCaps *caps)
{
  GST_OBJECT_LOCK(base);
  GstCaps *before = simulator->caps;
  simulator->caps = caps;
  GST_OBJECT_UNLOCK(base);
  gst_clear_caps(&before);
}

gboolean astro_simulator_is_started(const AstroSimulator *simulator, GstBaseSrc *base)
{
  GST_OBJECT_LOCK(base);
  const gboolean is_started = simulator->caps != NULL;
  GST_OBJECT_UNLOCK(base);
  return is_started;
}

GstCaps *astro_simulator_get_caps(AstroSimulator *simulator, GstBaseSrc *base, GstCaps *filter)
{
  GST_OBJECT_LOCK(base);
  GstCaps *caps = simulator->caps ? gst_caps_ref(simulator->caps) : NULL;
  GST_OBJECT_UNLOCK(base);
  return astro_stage_filter_caps(
      caps ? caps : gst_pad_get_pad_template_caps(GST_BASE_SRC_PAD(base)), filter);
}

gboolean astro_simulator_negotiate(GstBaseSrc *base, GstCaps *own, const char *what)
{
  g_autoptr(GstCaps) peer = gst_pad_peer_query_caps(GST_BASE_SRC_PAD(base), NULL);
  GstCaps *common = gst_caps_intersect_full(peer, own, GST_CAPS_INTERSECT_FIRST);
  if (gst_caps_is_empty(common)) {
    astro_refused_caps(GST_BASE_SRC_PAD(base), own, what);
    gst_caps_unref(common);
    return FALSE;
  }
  g_autoptr(GstCaps) fixed = gst_caps_fixate(common);
  return gst_base_src_set_caps(base, fixed);
}

void astro_simulator_decide_allocation(AstroSimulator *simulator, GstQuery *query)
{
  astro_buffer_pool_clear(&simulator->pool);
  g_clear_pointer(&simulator->reader, astro_device_unref);
  simulator->reader = astro_reader_find(query);
  while (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_remove_nth_allocation_pool(query, 0);
  while (gst_query_get_n_allocation_params(query) > 0)
    gst_query_remove_nth_allocation_param(query, 0);
}

GstBuffer *astro_simulator_new_block(AstroSimulator *simulator, gsize bytes)
{
  GstBuffer *buffer = NULL;
  if (bytes > G_MAXUINT) /* more than GStreamer's pools can say */
    return astro_buffer_new(bytes, simulator->reader);
  if (!simulator->pool)
    simulator->pool = astro_buffer_pool_new_active(simulator->reader, NULL, bytes, 1, 0);
  if (simulator->pool)
    gst_buffer_pool_acquire_buffer(simulator->pool, &buffer, NULL);
  return buffer;
}

/* ---- a live source's clock ---- */

/* So much after the pipeline's start; 0 where there is no clock. */
static GstClockTime running_time(GstBaseSrc *base)
{
  g_autoptr(GstClock) clock = gst_element_get_clock(GST_ELEMENT(base));
  const GstClockTime start = gst_element_get_base_time(GST_ELEMENT(base));
  const GstClockTime now = clock ? gst_clock_get_time(clock) : 0;
  return now > start ? now - start : 0;
}

/* Time 0 is now, whenever the source came to the pipeline: the segment says so, and times stay
 * those of the samples. */
static void begin_live(AstroSimulator *simulator, GstBaseSrc *base)
{
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.base = simulator->live_begin = running_time(base);
  gst_base_src_new_segment(base, &segment);
}

/* Or until somebody wakes it: whether the time came. */
static gboolean wait_for_clock(AstroSimulator *simulator, GstBaseSrc *base, GstClockTime time)
{
  g_autoptr(GstClock) clock = gst_element_get_clock(GST_ELEMENT(base));
  GstClockReturn waited = GST_CLOCK_UNSCHEDULED;
  if (!clock)
    return TRUE;
  const GstClockID wait = gst_clock_new_single_shot_id(clock, time);
  GST_OBJECT_LOCK(base);
  const gboolean may_wait = !simulator->is_unlocked;
  simulator->wait = may_wait ? wait : NULL;
  GST_OBJECT_UNLOCK(base);
  if (may_wait)
    waited = gst_clock_id_wait(wait, NULL);
  GST_OBJECT_LOCK(base);
  simulator->wait = NULL;
  GST_OBJECT_UNLOCK(base);
  gst_clock_id_unref(wait);
  return waited != GST_CLOCK_UNSCHEDULED;
}

/* Until so much after the pipeline's start, however often it pauses. */
static GstFlowReturn wait_until(AstroSimulator *simulator, GstBaseSrc *base, GstClockTime time)
{
  for (;;) {
    const GstClockTime start = gst_element_get_base_time(GST_ELEMENT(base));
    const gboolean came = wait_for_clock(simulator, base, start + time);
    const GstFlowReturn flow = gst_base_src_wait_playing(base);
    const gboolean is_moved = gst_element_get_base_time(GST_ELEMENT(base)) != start;
    if (flow != GST_FLOW_OK || (came && !is_moved))
      return flow;
    /* A pause moves the start. Whoever wakes us to stop the stream says so only then. */
    if (!came)
      g_usleep(WOKEN_US);
  }
}

GstFlowReturn astro_simulator_wait(AstroSimulator *simulator, GstBaseSrc *base, GstBuffer **buffer)
{
  const GstClockTime taken =
      simulator->live_begin + GST_BUFFER_PTS(*buffer) + GST_BUFFER_DURATION(*buffer);
  const GstFlowReturn flow =
      gst_base_src_is_live(base) ? wait_until(simulator, base, taken) : GST_FLOW_OK;
  if (flow != GST_FLOW_OK)
    gst_clear_buffer(buffer);
  return flow;
}

gboolean astro_simulator_pauses(GstBaseSrc *base)
{
  return GST_STATE(base) == GST_STATE_PLAYING && GST_STATE_NEXT(base) == GST_STATE_PAUSED;
}

void astro_simulator_unlock(AstroSimulator *simulator, GstBaseSrc *base, gboolean is_unlocked)
{
  GST_OBJECT_LOCK(base);
  simulator->is_unlocked = is_unlocked;
  if (is_unlocked && simulator->wait)
    gst_clock_id_unschedule(simulator->wait);
  GST_OBJECT_UNLOCK(base);
}

/* ---- what is told ---- */

void astro_simulator_announce(AstroSimulator *simulator, GstBaseSrc *base)
{
  if (simulator->announced)
    return;
  simulator->announced = TRUE;
  if (gst_base_src_is_live(base))
    begin_live(simulator, base);
  gst_pad_push_event(GST_BASE_SRC_PAD(base), astro_observation_to_event(simulator->observation));
}

void astro_simulator_stamp(AstroSimulator *simulator, GstBuffer *buffer, guint64 steps)
{
  guint64 next = simulator->next + steps;
  GST_BUFFER_OFFSET(buffer) = simulator->next;
  GST_BUFFER_OFFSET_END(buffer) = next;
  GST_BUFFER_PTS(buffer) = astro_simulator_time(simulator, simulator->next);
  GST_BUFFER_DURATION(buffer) = astro_simulator_time(simulator, next) - GST_BUFFER_PTS(buffer);
  if (simulator->next == 0)
    GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
  simulator->next = next;
}

gboolean astro_simulator_answer_duration(const AstroSimulator *simulator, GstQuery *query,
                                         guint64 end)
{
  GstFormat format;
  gst_query_parse_duration(query, &format, NULL);
  if (format != GST_FORMAT_TIME || end == G_MAXUINT64)
    return FALSE;
  gst_query_set_duration(query, format, (gint64)astro_simulator_time(simulator, end));
  return TRUE;
}

gboolean astro_simulator_answer_latency(const AstroSimulator *simulator, GstBaseSrc *base,
                                        GstQuery *query, guint64 steps)
{
  gst_query_set_latency(query, gst_base_src_is_live(base),
                        steps ? astro_simulator_time(simulator, steps) : 0, GST_CLOCK_TIME_NONE);
  return TRUE;
}
