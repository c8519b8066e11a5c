/* The base of sources of simulated streams. */
#include "config.h"
#include "elements/base/astrosimulator.h"

#include "core/memory/memory.h"
#include "core/memory/pool.h"
#include "core/stream/uvw.h"
#include "elements/base/astroblocklength.h"
#include "elements/base/astrodeadline.h"
#include "elements/base/astroliveclock.h"
#include "elements/base/astrolog.h"
#include "elements/base/astroonce.h"
#include "elements/base/astrooutgoing.h"
#include "elements/base/astroreader.h"
#include "elements/base/astrostage.h"

#include <math.h>

/* Blocks are longer than they would be without it only up to this. */
#define MOST_BLOCK_BYTES ((guint64)64 << 20)

typedef struct {
  AstroScene scene; /* the properties */
  AstroSimulation now;
  guint64 end;             /* the last step plus 1, by the scene's duration; G_MAXUINT64: endless */
  AstroBlockLength length; /* that downstream has asked for */
  gboolean told;           /* the observation was sent */
  double told_scale;
  GstCaps *caps; /* all caps that can be made; under the element's lock: any thread asks */
  GstBufferPool *pool;
  AstroLiveClock clock;
  AstroDeadline deadline;
} AstroSimulatorPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE(AstroSimulator, astro_simulator, GST_TYPE_PUSH_SRC)

static AstroSimulatorPrivate *parts(gpointer self)
{
  return astro_simulator_get_instance_private(self);
}

const AstroSimulation *astro_simulator_simulation(AstroSimulator *self)
{
  return &parts(self)->now;
}

GstClockTime astro_simulator_time(AstroSimulator *self, guint64 step)
{
  const AstroSimulation *now = &parts(self)->now;
  GST_OBJECT_LOCK(self);
  const guint64 rate_n = (guint64)now->rate_n, rate_d = (guint64)now->rate_d;
  GST_OBJECT_UNLOCK(self);
  return gst_util_uint64_scale(step, GST_SECOND * rate_d, rate_n);
}

gboolean astro_simulator_is_stopping(AstroSimulator *self)
{
  return parts(self)->deadline.stop.asked(&parts(self)->deadline);
}

/* ---- how long it is ---- */

/* The steps in the scene's duration. */
static guint64 count_steps(const AstroSimulation *now)
{
  double steps = now->scene.duration * now->rate_n / now->rate_d;
  if (now->scene.duration == 0 || steps >= 0x1p63)
    return G_MAXUINT64;
  return (guint64)MAX(rint(steps), 1);
}

/* Steps of a block; 0: not known yet. */
static guint64 block_steps(AstroSimulator *self)
{
  GST_OBJECT_LOCK(self);
  const guint64 block = parts(self)->now.block;
  GST_OBJECT_UNLOCK(self);
  return block;
}

/* The caps may have another rate than the properties say: for real samples it is twice that. */
static void set_rate(AstroSimulator *self, gint rate_n, gint rate_d)
{
  AstroSimulatorPrivate *own = parts(self);
  GST_OBJECT_LOCK(self);
  own->now.rate_n = rate_n;
  own->now.rate_d = rate_d;
  own->end = count_steps(&own->now);
  GST_OBJECT_UNLOCK(self);
}

static void set_block(AstroSimulator *self, guint64 block)
{
  GST_OBJECT_LOCK(self);
  parts(self)->now.block = block;
  GST_OBJECT_UNLOCK(self);
}

/* The step where the stream ends, by duration and num-buffers; G_MAXUINT64: never, or not known
 * yet. */
static guint64 find_end(AstroSimulator *self)
{
  gint buffers;
  GST_OBJECT_LOCK(self);
  const guint64 block = parts(self)->now.block, end = parts(self)->end;
  GST_OBJECT_UNLOCK(self);
  if (!block)
    return G_MAXUINT64;
  g_object_get(self, "num-buffers", &buffers, NULL);
  return buffers >= 0 ? MIN(end, (guint64)buffers * block) : end;
}

/* Whether the sky is above the horizon, and the Earth orientation known, until the end. */
static gboolean check_span(AstroSimulator *self, GError **error)
{
  AstroSimulatorClass *klass = ASTRO_SIMULATOR_GET_CLASS(self);
  const AstroSimulation *now = &parts(self)->now;
  guint64 steps = find_end(self);
  if (klass->sky_steps)
    steps = klass->sky_steps(self, steps);
  if (!steps)
    return TRUE;
  double seconds = steps == G_MAXUINT64 ? 0 : (double)steps * now->rate_d / now->rate_n;
  const gint64 duration_ns = (gint64)MIN(seconds * 1e9, 1e18);
  return astro_uvw_check_time(now->observation, duration_ns, error) &&
         astro_sky_check_horizon(now->sky, now->observation, duration_ns, error);
}

/* ---- from start to stop ---- */

static void offer(AstroSimulator *self, GstCaps *caps)
{
  GST_OBJECT_LOCK(self);
  GstCaps *before = parts(self)->caps;
  parts(self)->caps = caps;
  GST_OBJECT_UNLOCK(self);
  gst_clear_caps(&before);
}

static GstCaps *describe(AstroSimulator *self)
{
  const AstroSimulation *now = &parts(self)->now;
  GstCaps *caps = gst_caps_make_writable(gst_pad_get_pad_template_caps(GST_BASE_SRC_PAD(self)));
  gst_caps_set_simple(caps, "pols", G_TYPE_INT, (gint)now->scene.pols, "rate", GST_TYPE_FRACTION,
                      now->rate_n, now->rate_d, "frequency", G_TYPE_DOUBLE, now->scene.frequency,
                      "bandwidth", G_TYPE_DOUBLE, now->scene.bandwidth, NULL);
  ASTRO_SIMULATOR_GET_CLASS(self)->describe(self, caps);
  return caps;
}

static gboolean stop(GstBaseSrc *base)
{
  AstroSimulator *self = ASTRO_SIMULATOR(base);
  AstroSimulation *now = &parts(self)->now;
  offer(self, NULL);
  set_block(self, 0);
  ASTRO_SIMULATOR_GET_CLASS(self)->forget(self);
  astro_buffer_pool_clear(&parts(self)->pool);
  g_clear_pointer(&now->sky, astro_sky_free);
  g_clear_pointer(&now->observation, astro_observation_unref);
  g_clear_pointer(&now->reader, astro_device_unref);
  return TRUE;
}

/* Copies the properties: changes from here on count for the next start. */
static void take_properties(AstroSimulator *self)
{
  const AstroSimulatorClass *klass = ASTRO_SIMULATOR_GET_CLASS(self);
  AstroSimulation *now = &parts(self)->now;
  astro_scene_clear(&now->scene);
  astro_fields_copy(astro_scene_fields, self, &now->scene, &parts(self)->scene, sizeof now->scene);
  astro_fields_copy(klass->fields, self, G_STRUCT_MEMBER_P(self, klass->now),
                    G_STRUCT_MEMBER_P(self, klass->settings), klass->settings_bytes);
}

static gboolean observe(AstroSimulator *self, GError **error)
{
  AstroSimulation *now = &parts(self)->now;
  now->observation = astro_scene_observe(&now->scene, error);
  if (now->observation)
    now->sky = astro_scene_sky(&now->scene, now->observation, error);
  const AstroSimulatorClass *klass = ASTRO_SIMULATOR_GET_CLASS(self);
  return now->sky && (!klass->add_sources || klass->add_sources(self, now->sky, error));
}

static void warn_of_lines(AstroSimulator *self)
{
  const AstroSimulation *now = &parts(self)->now;
  g_autofree char *outside =
      astro_sky_tell_outside(now->sky, now->scene.frequency, now->scene.bandwidth);
  if (outside)
    GST_ELEMENT_WARNING(self, LIBRARY, SETTINGS, ("%s", outside), (NULL));
}

static gboolean start(GstBaseSrc *base)
{
  AstroSimulator *self = ASTRO_SIMULATOR(base);
  AstroSimulatorClass *klass = ASTRO_SIMULATOR_GET_CLASS(self);
  AstroSimulation *now = &parts(self)->now;
  g_autoptr(GError) error = NULL;

  take_properties(self);
  astro_deadline_clear(&parts(self)->deadline);
  now->next = 0;
  parts(self)->told = FALSE;
  gint rate_n, rate_d;
  if (klass->take(self, &rate_n, &rate_d, &error)) {
    set_rate(self, rate_n, rate_d);
    set_block(self, klass->block_steps ? 0 : 1);
    if (observe(self, &error) && check_span(self, &error)) {
      warn_of_lines(self);
      offer(self, describe(self));
      return TRUE;
    }
  }
  GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("%s", error->message), (NULL));
  stop(base);
  return FALSE;
}

/* ---- caps and memory ---- */

static GstCaps *get_caps(GstBaseSrc *base, GstCaps *filter)
{
  AstroSimulator *self = ASTRO_SIMULATOR(base);
  GST_OBJECT_LOCK(self);
  GstCaps *caps = parts(self)->caps ? gst_caps_ref(parts(self)->caps) : NULL;
  GST_OBJECT_UNLOCK(self);
  return astro_stage_filter_caps(
      caps ? caps : gst_pad_get_pad_template_caps(GST_BASE_SRC_PAD(base)), filter);
}

/* Chooses the caps that downstream lists first among those that we can make. In mid-stream what was
 * agreed on stays, if downstream takes it: other caps would end what stages have half made. */
static GstCaps *choose(AstroSimulator *self, GstCaps *common)
{
  GstCaps *agreed = parts(self)->told ? gst_pad_get_current_caps(GST_BASE_SRC_PAD(self)) : NULL;
  if (!agreed || !gst_caps_is_subset(agreed, common)) {
    gst_clear_caps(&agreed);
    return gst_caps_fixate(common);
  }
  gst_caps_unref(common);
  return agreed;
}

static gboolean negotiate(GstBaseSrc *base)
{
  g_autoptr(GstCaps) own = get_caps(base, NULL);
  g_autoptr(GstCaps) peer = gst_pad_peer_query_caps(GST_BASE_SRC_PAD(base), NULL);
  GstCaps *common = gst_caps_intersect_full(peer, own, GST_CAPS_INTERSECT_FIRST);
  if (gst_caps_is_empty(common)) {
    astro_refused_caps(GST_BASE_SRC_PAD(base), own, ASTRO_SIMULATOR_GET_CLASS(base)->made);
    gst_caps_unref(common);
    return FALSE;
  }
  g_autoptr(GstCaps) fixed = choose(ASTRO_SIMULATOR(base), common);
  return gst_base_src_set_caps(base, fixed);
}

/* The size of a block may set the end of the stream, until which the sky must be up. */
static gboolean choose_block(AstroSimulator *self, GError **error)
{
  AstroSimulatorClass *klass = ASTRO_SIMULATOR_GET_CLASS(self);
  if (!klass->block_steps)
    return TRUE;
  set_block(self, klass->block_steps(self));
  return check_span(self, error);
}

static gboolean set_caps(GstBaseSrc *base, GstCaps *caps)
{
  AstroSimulator *self = ASTRO_SIMULATOR(base);
  AstroSimulatorClass *klass = ASTRO_SIMULATOR_GET_CLASS(self);
  g_autoptr(GError) error = NULL;

  klass->forget(self);
  AstroSimulation *now = &parts(self)->now;
  const AstroStream *stream = &now->stream;
  if (astro_stream_from_caps(&now->stream, caps, &error)) {
    /* The stream goes on at the same time, in steps of the new rate. */
    now->next = gst_util_uint64_scale(now->next, (guint64)stream->rate_n * (guint64)now->rate_d,
                                      (guint64)stream->rate_d * (guint64)now->rate_n);
    set_rate(self, stream->rate_n, stream->rate_d);
    if (choose_block(self, &error) && klass->agree(self, &error)) {
      astro_log_caps(self, NULL, caps);
      return TRUE;
    }
  }
  GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("%s", error->message), (NULL));
  return FALSE;
}

/* Blocks as long as downstream would have them, and as many of these as have room in a block of the
 * usual size. */
static void take_length(AstroSimulator *self, GstQuery *query)
{
  AstroSimulatorPrivate *own = parts(self);
  const AstroSimulatorClass *klass = ASTRO_SIMULATOR_GET_CLASS(self);
  const guint64 before = block_steps(self);
  const AstroBlockLength wanted = astro_block_length_find(query);
  gint buffers;

  g_object_get(self, "num-buffers", &buffers, NULL);
  if (!klass->may_choose_block || buffers >= 0 || !klass->may_choose_block(self))
    return;
  const guint64 usual = klass->block_steps(self);
  const guint64 most = MOST_BLOCK_BYTES / astro_stream_step_bytes(&own->now.stream);
  own->length = wanted.steps <= MAX(usual, most) ? wanted : (AstroBlockLength){ 0 };
  const guint64 one = MAX(own->length.steps, 1);
  set_block(self, MAX(usual / one, 1) * one);
  if (block_steps(self) == before)
    return;
  ASTRO_DEBUG(self, "blocks of %" G_GUINT64_FORMAT " steps, as downstream would have them",
              block_steps(self));
  if (gst_base_src_is_live(GST_BASE_SRC(self)))
    gst_element_post_message(GST_ELEMENT(self), gst_message_new_latency(GST_OBJECT(self)));
}

/* Notes who reads the blocks, and how long they had best be. */
static gboolean decide_allocation(GstBaseSrc *base, GstQuery *query)
{
  AstroSimulatorPrivate *own = parts(base);
  astro_buffer_pool_clear(&own->pool);
  g_clear_pointer(&own->now.reader, astro_device_unref);
  own->now.reader = astro_reader_find(query);
  take_length(ASTRO_SIMULATOR(base), query);
  while (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_remove_nth_allocation_pool(query, 0);
  while (gst_query_get_n_allocation_params(query) > 0)
    gst_query_remove_nth_allocation_param(query, 0);
  return TRUE;
}

GstBuffer *astro_simulator_new_block(AstroSimulator *self, gsize bytes)
{
  AstroSimulatorPrivate *own = parts(self);
  GstBuffer *buffer = NULL;
  if (!own->pool)
    own->pool = astro_buffer_pool_new_active(own->now.reader, NULL, bytes, 1, 0);
  if (!own->pool)
    return NULL;
  const guint made = astro_buffer_pool_made(own->pool);
  gst_buffer_pool_acquire_buffer(own->pool, &buffer, NULL);
  astro_log_growth(self, own->pool, made);
  return buffer;
}

/* ---- blocks ---- */

/* Sends the observation before the first buffer, and again if new caps brought another scale. The
 * time of a live source begins with its first buffer. */
static void announce(AstroSimulator *self)
{
  AstroSimulatorPrivate *own = parts(self);
  const double scale = own->now.observation->done.scale;
  if (own->told && own->told_scale == scale)
    return;
  if (!own->told && gst_base_src_is_live(GST_BASE_SRC(self)))
    astro_live_clock_begin(&own->clock, GST_BASE_SRC(self));
  own->told = TRUE;
  own->told_scale = scale;
  gst_pad_push_event(GST_BASE_SRC_PAD(self), astro_observation_to_event(own->now.observation));
}

/* Sets the times of a buffer that holds the next steps. */
static void stamp(AstroSimulator *self, GstBuffer *buffer, guint64 steps)
{
  AstroSimulatorPrivate *own = parts(self);
  const guint64 first = own->now.next, next = first + steps;
  GST_BUFFER_OFFSET(buffer) = first;
  GST_BUFFER_OFFSET_END(buffer) = next;
  GST_BUFFER_PTS(buffer) = astro_simulator_time(self, first);
  GST_BUFFER_DURATION(buffer) = astro_simulator_time(self, next) - GST_BUFFER_PTS(buffer);
  if (first == 0)
    GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
  own->now.next = next;
}

/* Drops the block if the stream stops before its time comes; GstBaseSrc then marks the next one
 * DISCONT. */
static GstFlowReturn wait_for_clock(AstroSimulator *self, GstBuffer **block)
{
  if (!gst_base_src_is_live(GST_BASE_SRC(self)))
    return GST_FLOW_OK;
  const GstFlowReturn flow =
      astro_live_clock_wait(&parts(self)->clock, GST_BASE_SRC(self),
                            GST_BUFFER_PTS(*block) + GST_BUFFER_DURATION(*block));
  if (flow != GST_FLOW_OK)
    gst_clear_buffer(block);
  return flow;
}

/* An endless stream reaches the end of the known Earth orientation. */
static gboolean check_time(AstroSimulator *self, guint64 step)
{
  g_autoptr(GError) error = NULL;
  if (astro_uvw_check_time(parts(self)->now.observation, (gint64)astro_simulator_time(self, step),
                           &error))
    return TRUE;
  GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("%s", error->message), (NULL));
  return FALSE;
}

/* A block that was given up is dropped. If a user asked for the end, the stream ends before it. */
static GstFlowReturn make(AstroSimulator *self, guint64 steps, GstBuffer **block)
{
  AstroDeadline *deadline = &parts(self)->deadline;
  astro_deadline_begin(deadline);
  const AstroStop *before = astro_stop_set(&deadline->stop);
  const GstFlowReturn flow = ASTRO_SIMULATOR_GET_CLASS(self)->make(self, steps, block);
  astro_stop_set(before);
  if (!astro_deadline_is_missed(deadline))
    return flow;
  if (flow == GST_FLOW_OK)
    gst_clear_buffer(block);
  return astro_deadline_is_stopped(deadline) ? GST_FLOW_FLUSHING : GST_FLOW_EOS;
}

static GstFlowReturn create(GstPushSrc *push, GstBuffer **block)
{
  AstroSimulator *self = ASTRO_SIMULATOR(push);
  AstroSimulatorClass *klass = ASTRO_SIMULATOR_GET_CLASS(self);
  const AstroSimulation *now = &parts(self)->now;
  const guint64 next = astro_block_length_end(&parts(self)->length, now->next, now->block);
  const guint64 steps = MIN(next, parts(self)->end) - MIN(now->next, parts(self)->end);

  if (steps == 0)
    return GST_FLOW_EOS;
  if (!check_time(self, now->next + steps))
    return GST_FLOW_ERROR;
  const GstFlowReturn flow = make(self, steps, block);
  if (flow == GST_FLOW_ERROR)
    GST_ELEMENT_ERROR(self, RESOURCE, NO_SPACE_LEFT,
                      ("no memory for %s of %" G_GUINT64_FORMAT " bytes", klass->blocks,
                       now->block * astro_stream_step_bytes(&now->stream)),
                      (NULL));
  if (flow != GST_FLOW_OK)
    return flow;
  announce(self);
  stamp(self, *block, steps);
  astro_log_block(self, "out", *block);
  return wait_for_clock(self, block);
}

static gboolean unlock(GstBaseSrc *base)
{
  astro_live_clock_unlock(&parts(base)->clock, base);
  if (astro_live_clock_is_unlocked(&parts(base)->clock, base)) /* more than a pause */
    astro_deadline_set_stopped(&parts(base)->deadline, TRUE);
  return TRUE;
}

static gboolean unlock_stop(GstBaseSrc *base)
{
  astro_deadline_set_stopped(&parts(base)->deadline, FALSE);
  astro_live_clock_unlock_stop(&parts(base)->clock, base);
  return TRUE;
}

static gboolean event(GstBaseSrc *base, GstEvent *event)
{
  if (gst_event_has_name(event, ASTRO_INTERRUPT_EVENT))
    astro_deadline_interrupt(&parts(base)->deadline);
  return GST_BASE_SRC_CLASS(astro_simulator_parent_class)->event(base, event);
}

/* ---- queries ---- */

static gboolean answer_duration(AstroSimulator *self, GstQuery *query)
{
  const guint64 end = find_end(self);
  GstFormat format;
  gst_query_parse_duration(query, &format, NULL);
  if (format != GST_FORMAT_TIME || end == G_MAXUINT64)
    return FALSE;
  gst_query_set_duration(query, format, (gint64)astro_simulator_time(self, end));
  return TRUE;
}

static gboolean answer_latency(AstroSimulator *self, GstQuery *query)
{
  const guint64 block = block_steps(self);
  gst_query_set_latency(query, gst_base_src_is_live(GST_BASE_SRC(self)),
                        block ? astro_simulator_time(self, block) : 0, GST_CLOCK_TIME_NONE);
  return TRUE;
}

static gboolean query(GstBaseSrc *base, GstQuery *query)
{
  AstroSimulator *self = ASTRO_SIMULATOR(base);
  switch (GST_QUERY_TYPE(query)) {
  case GST_QUERY_DURATION:
    return answer_duration(self, query);
  case GST_QUERY_LATENCY:
    return answer_latency(self, query);
  default:
    return GST_BASE_SRC_CLASS(astro_simulator_parent_class)->query(base, query);
  }
}

/* ---- properties ---- */

void astro_simulator_set_live(GObject *object, const GValue *value)
{
  gst_base_src_set_live(GST_BASE_SRC(object), g_value_get_boolean(value));
}

void astro_simulator_get_live(GObject *object, GValue *value)
{
  g_value_set_boolean(value, gst_base_src_is_live(GST_BASE_SRC(object)));
}

static void finalize(GObject *object)
{
  const AstroSimulatorClass *klass = ASTRO_SIMULATOR_GET_CLASS(object);
  astro_fields_clear(klass->fields, G_STRUCT_MEMBER_P(object, klass->now));
  astro_scene_clear(&parts(object)->now.scene);
  G_OBJECT_CLASS(astro_simulator_parent_class)->finalize(object);
}

void astro_simulator_install_properties(AstroSimulatorClass *klass)
{
  GObjectClass *object = G_OBJECT_CLASS(klass);
  const gssize scene = G_PRIVATE_OFFSET(AstroSimulator, scene);
  astro_fields_install(object, astro_scene_fields, scene);
  astro_fields_install(object, klass->scene, scene);
  astro_fields_install(object, klass->fields, (gssize)klass->settings);
}

static void astro_simulator_class_init(AstroSimulatorClass *klass)
{
  GObjectClass *object = G_OBJECT_CLASS(klass);
  GstBaseSrcClass *base = GST_BASE_SRC_CLASS(klass);

  object->finalize = finalize;
  base->start = start;
  base->stop = stop;
  base->get_caps = get_caps;
  base->negotiate = negotiate;
  base->set_caps = set_caps;
  base->decide_allocation = decide_allocation;
  base->unlock = unlock;
  base->unlock_stop = unlock_stop;
  base->event = event;
  base->query = query;
  GST_PUSH_SRC_CLASS(klass)->create = create;
  astro_element_class_say_once(GST_ELEMENT_CLASS(klass));
}

static void astro_simulator_init(AstroSimulator *self)
{
  gst_base_src_set_format(GST_BASE_SRC(self), GST_FORMAT_TIME);
  astro_deadline_init(&parts(self)->deadline);
}
