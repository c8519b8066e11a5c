/* AstroMerge: the base of elements with several inputs. */
#include "config.h"
#include "elements/base/astromerge-parts.h"

#include <stdlib.h>

#include "core/stream/histogram-summary.h"
#include "core/memory/pool.h"
#include "elements/base/astroincoming.h"
#include "elements/base/astroinputs.h"
#include "elements/base/astroonce.h"
#include "elements/base/astrooutgoing.h"
#include "elements/base/astroreader.h"
#include "elements/base/astrostage.h"

#define PRIV(merge) astro_merge_parts(merge)

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE(AstroMerge, astro_merge, GST_TYPE_AGGREGATOR)

AstroMergePrivate *astro_merge_parts(AstroMerge *merge)
{
  return astro_merge_get_instance_private(merge);
}

void astro_merge_lock(AstroMerge *merge)
{
  g_mutex_lock(&PRIV(merge)->lock);
}

void astro_merge_unlock(AstroMerge *merge)
{
  g_mutex_unlock(&PRIV(merge)->lock);
}

const AstroStream *astro_merge_out(AstroMerge *merge)
{
  return &PRIV(merge)->out;
}

/* ---- pads ---- */

static gint compare_pads(gconstpointer a, gconstpointer b)
{
  const guint64 x = g_ascii_strtoull(GST_PAD_NAME(*(GstPad *const *)a) + strlen("sink_"), NULL, 10);
  const guint64 y = g_ascii_strtoull(GST_PAD_NAME(*(GstPad *const *)b) + strlen("sink_"), NULL, 10);
  return (x > y) - (x < y);
}

GPtrArray *astro_merge_list_pads(AstroMerge *merge)
{
  GPtrArray *pads = g_ptr_array_new_with_free_func(gst_object_unref);
  GST_OBJECT_LOCK(merge);
  for (GList *link = GST_ELEMENT(merge)->sinkpads; link; link = link->next)
    g_ptr_array_add(pads, gst_object_ref(link->data));
  GST_OBJECT_UNLOCK(merge);
  g_ptr_array_sort(pads, compare_pads);
  return pads;
}

/* ---- blocks ---- */

static GstFlowReturn fail(AstroMerge *merge, GError *error)
{
  GST_ELEMENT_ERROR(merge, STREAM, FAILED, ("%s", error ? error->message : "failed"), (NULL));
  g_clear_error(&error);
  return GST_FLOW_ERROR;
}

/* If inputs are cut at different steps, blocks come later by as much as they wait for. */
static void tell_latency(AstroMerge *merge, guint64 misaligned)
{
  AstroMergePrivate *priv = PRIV(merge);
  const AstroStream axis = { .rate_n = priv->axis.rate_n, .rate_d = priv->axis.rate_d };
  if (misaligned == 0 || axis.rate_n == 0)
    return;
  const GstClockTime own = astro_stream_time(&axis, misaligned);
  gst_aggregator_set_latency(GST_AGGREGATOR(merge), own, own);
}

/* Upstream is at its end, and ignores what downstream returns. */
static GstFlowReturn end(AstroMerge *merge)
{
  GstStructure *stats;
  g_object_get(merge, "stats", &stats, NULL);
  gst_element_post_message(GST_ELEMENT(merge), gst_message_new_element(GST_OBJECT(merge), stats));
  return GST_FLOW_EOS;
}

/* Only the first time. */
static void warn_of_late(AstroMerge *merge)
{
  AstroMergePrivate *priv = PRIV(merge);
  GST_OBJECT_LOCK(merge);
  const gboolean warns = priv->stats.steps_again > 0 && !priv->has_warned;
  priv->has_warned |= warns;
  GST_OBJECT_UNLOCK(merge);
  if (warns)
    GST_ELEMENT_WARNING(
        merge, STREAM, FORMAT,
        ("steps of a pad came again, or after blocks with those steps had gone out, and are left "
         "out. Further ones are only counted in stats (steps-again)"),
        (NULL));
}

static GstFlowReturn send(AstroMerge *merge, GPtrArray *pads, const AstroMergeNext *next,
                          gboolean follows)
{
  AstroMergePrivate *priv = PRIV(merge);
  g_autoptr(GError) error = NULL;
  const gint64 begun = g_get_monotonic_time();
  const guint64 waited = priv->stats.output_wait_ns;
  priv->discont |= !follows || next->is_discont;
  if (!follows)
    ASTRO_DEBUG(merge, "jump: step %" G_GINT64_FORMAT " does not follow the last", next->first);
  if (next->is_other && !astro_merge_agree(merge, pads, &error))
    return fail(merge, g_steal_pointer(&error));
  const GstFlowReturn flow = astro_merge_push(merge, next, &error);
  const gint64 before = priv->left;
  priv->left = g_get_monotonic_time();
  const guint64 idle = before ? (guint64)(begun - before) * 1000 : 0;
  astro_log_wait(merge, "for input", idle);
  GST_OBJECT_LOCK(merge);
  priv->stats.input_wait_ns += idle;
  priv->stats.busy_ns +=
      (guint64)(priv->left - begun) * 1000 - (priv->stats.output_wait_ns - waited);
  GST_OBJECT_UNLOCK(merge);
  if (error)
    return fail(merge, g_steal_pointer(&error));
  if (flow == GST_FLOW_NOT_NEGOTIATED) {
    g_autoptr(GstCaps) made = gst_pad_get_current_caps(GST_AGGREGATOR_SRC_PAD(merge));
    astro_refused_caps(GST_AGGREGATOR_SRC_PAD(merge), made, "streams");
  }
  return flow;
}

static GstFlowReturn take_block(AstroMerge *merge, gboolean timeout)
{
  AstroMergePrivate *priv = PRIV(merge);
  g_autoptr(GPtrArray) pads = astro_merge_list_pads(merge);
  g_auto(AstroMergeNext) next = { 0 };
  g_autoptr(GError) error = NULL;

  astro_merge_lock(merge);
  const gint64 due = priv->next;
  const gboolean was_started = priv->is_started;
  const guint64 misaligned = priv->misaligned;
  const AstroMergeState state =
      astro_merge_find_block(merge, pads, timeout && !priv->is_hurried, &next, &error);
  /* nothing was due on a new axis */
  const gboolean follows = !was_started || (priv->is_started && next.first == due);
  /* In the middle of a stream with time steps the jump says so. */
  next.is_discont &= !was_started || !astro_steps_count_once(&priv->out);
  priv->is_started |= state == ASTRO_MERGE_HAS_BLOCK;
  const guint64 now_misaligned = priv->misaligned;
  astro_merge_unlock(merge);

  warn_of_late(merge);
  if (now_misaligned != misaligned)
    tell_latency(merge, now_misaligned);
  switch (state) {
  case ASTRO_MERGE_HAS_BLOCK:
    return send(merge, pads, &next, follows);
  case ASTRO_MERGE_IS_OVER:
    return end(merge);
  case ASTRO_MERGE_FAILED:
    return fail(merge, g_steal_pointer(&error));
  default:
    return GST_AGGREGATOR_FLOW_NEED_DATA;
  }
}

static GstFlowReturn aggregate(GstAggregator *aggregator, gboolean timeout)
{
  AstroMerge *merge = ASTRO_MERGE(aggregator);
  g_mutex_lock(&PRIV(merge)->work);
  const GstFlowReturn flow =
      PRIV(merge)->is_stopped ? GST_FLOW_FLUSHING : take_block(merge, timeout);
  g_mutex_unlock(&PRIV(merge)->work);
  return flow;
}

/* ---- deadlines ---- */

static GstClockTime running_time_of(AstroMergePad *pad)
{
  const AstroMergeEntry *head = g_queue_peek_head(&pad->entries);
  const GstSegment *segment = &GST_AGGREGATOR_PAD(pad)->segment;
  if (head) {
    const AstroStream *stream = &head->of->stream;
    return GST_CLOCK_TIME_IS_VALID(head->running) && stream->rate_n
               ? head->running + astro_stream_time(stream, head->skip)
               : head->running;
  }
  g_autoptr(GstBuffer) buffer = gst_aggregator_pad_peek_buffer(GST_AGGREGATOR_PAD(pad));
  return buffer && segment->format == GST_FORMAT_TIME && GST_BUFFER_PTS_IS_VALID(buffer)
             ? gst_segment_to_running_time(segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer))
             : GST_CLOCK_TIME_NONE;
}

/* Observations come after caps: a pad that has neither one nor a buffer may still get it. */
static gboolean may_be_observed(GPtrArray *pads, const AstroMergePad *pad)
{
  gboolean any = FALSE;
  for (guint i = 0; i < pads->len; i++)
    any |= astro_merge_pad_at(pads, i)->observation != NULL;
  return any && !pad->observation;
}

/* Called in a live pipeline while some pad has no buffer: the time until which to wait. If all pads
 * without buffers are late already, or need none, there is nothing to wait for. */
static GstClockTime get_next_time(GstAggregator *aggregator)
{
  AstroMerge *merge = ASTRO_MERGE(aggregator);
  g_autoptr(GPtrArray) pads = astro_merge_list_pads(merge);
  GstClockTime time = GST_CLOCK_TIME_NONE;
  gboolean any = FALSE, is_hurried = TRUE, is_known = TRUE;

  astro_merge_lock(merge);
  for (guint i = 0; i < pads->len; i++) {
    AstroMergePad *pad = g_ptr_array_index(pads, i);
    const gboolean has_buffer = gst_aggregator_pad_has_buffer(GST_AGGREGATOR_PAD(pad));
    const gboolean holds = !g_queue_is_empty(&pad->entries);
    const GstClockTime running = running_time_of(pad);
    if (GST_CLOCK_TIME_IS_VALID(running))
      time = MIN(time, running);
    any |= has_buffer || holds;
    is_known &= (pad->latest && !may_be_observed(pads, pad)) || has_buffer || holds ||
                gst_aggregator_pad_is_eos(GST_AGGREGATOR_PAD(pad));
    is_hurried &= has_buffer || (holds && !pad->is_wanted) || pad->is_lagging ||
                  gst_aggregator_pad_is_eos(GST_AGGREGATOR_PAD(pad));
  }
  astro_merge_unlock(merge);
  PRIV(merge)->is_hurried = is_hurried && any && is_known;
  if (!any || !is_known)
    return GST_CLOCK_TIME_NONE;
  return PRIV(merge)->is_hurried ? 0 : time;
}

/* ---- events and queries ---- */

/* Whether an event was for the pad alone: those about the buffers that follow. GstAggregator makes
 * a buffer of a GAP event, for which it needs a TIME segment. */
static gboolean is_for_pad(GstAggregatorPad *pad, GstEvent *event)
{
  return astro_event_is_observation(event) || astro_event_is_summary(event) ||
         (GST_EVENT_TYPE(event) == GST_EVENT_GAP && pad->segment.format != GST_FORMAT_TIME);
}

static gboolean sink_event(GstAggregator *aggregator, GstAggregatorPad *pad, GstEvent *event)
{
  AstroMerge *merge = ASTRO_MERGE(aggregator);
  g_autoptr(GError) error = NULL;

  const gboolean is_plan = gst_event_has_name(event, ASTRO_PLAN_END);
  astro_merge_lock(merge);
  gboolean ok = astro_merge_pad_take_event(ASTRO_MERGE_PAD(pad), event, &error);
  astro_merge_unlock(merge);
  if (ok && is_plan)
    ok = astro_merge_plan(merge, ASTRO_MERGE_PAD(pad), event, &error);
  if (!ok) {
    g_prefix_error(&error, "pad %s: ", GST_PAD_NAME(pad));
    fail(merge, g_steal_pointer(&error));
  }
  if (!ok || is_plan || is_for_pad(pad, event)) {
    gst_event_unref(event);
    return ok;
  }
  return GST_AGGREGATOR_CLASS(astro_merge_parent_class)->sink_event(aggregator, pad, event);
}

/* GstAggregator accepts a seek that no source follows, and then waits for a flush that never
 * comes. */
static gboolean src_event(GstAggregator *aggregator, GstEvent *event)
{
  if (GST_EVENT_TYPE(event) == GST_EVENT_SEEK &&
      !astro_inputs_can_seek(GST_ELEMENT(aggregator), event)) {
    gst_event_unref(event);
    return FALSE;
  }
  return GST_AGGREGATOR_CLASS(astro_merge_parent_class)->src_event(aggregator, event);
}

/* The streams have to match, so that none can change its caps alone. */
static gboolean sink_query(GstAggregator *aggregator, GstAggregatorPad *pad, GstQuery *query)
{
  return (GST_ELEMENT(aggregator)->numsinkpads > 1 &&
          astro_pad_offers_its_caps(GST_PAD(pad), query)) ||
         GST_AGGREGATOR_CLASS(astro_merge_parent_class)->sink_query(aggregator, pad, query);
}

static gboolean src_query(GstAggregator *aggregator, GstQuery *query)
{
  GstFormat format = GST_FORMAT_UNDEFINED;
  if (GST_QUERY_TYPE(query) == GST_QUERY_DURATION)
    gst_query_parse_duration(query, &format, NULL);
  return format == GST_FORMAT_TIME
             ? astro_inputs_answer_duration(GST_ELEMENT(aggregator), query)
             : GST_AGGREGATOR_CLASS(astro_merge_parent_class)->src_query(aggregator, query);
}

static gboolean propose_allocation(GstAggregator *aggregator, GstAggregatorPad *pad,
                                   GstQuery *decide, GstQuery *query)
{
  astro_reader_add(query, NULL);
  return TRUE;
}

/* Caps are set with the first block; this asks again where blocks are read. */
static gboolean negotiate(GstAggregator *aggregator)
{
  AstroMerge *merge = ASTRO_MERGE(aggregator);
  g_mutex_lock(&PRIV(merge)->work);
  if (!PRIV(merge)->is_stopped)
    astro_merge_ask_reader(merge);
  g_mutex_unlock(&PRIV(merge)->work);
  return TRUE;
}

/* ---- states ---- */

static void set_context(GstElement *element, GstContext *context)
{
  if (gst_context_has_context_type(context, ASTRO_PLAN_CONTEXT))
    PRIV(ASTRO_MERGE(element))->tells_work = TRUE;
  GST_ELEMENT_CLASS(astro_merge_parent_class)->set_context(element, context);
}

void astro_merge_begin_anew(AstroMerge *merge)
{
  AstroMergePrivate *priv = PRIV(merge);
  astro_merge_axis_clear(&priv->axis);
  priv->is_started = priv->discont = FALSE;
  if (ASTRO_MERGE_GET_CLASS(merge)->reset)
    ASTRO_MERGE_GET_CLASS(merge)->reset(merge);
}

static void reset_pads(AstroMerge *merge)
{
  g_autoptr(GPtrArray) pads = astro_merge_list_pads(merge);
  astro_merge_lock(merge);
  for (guint i = 0; i < pads->len; i++)
    astro_merge_pad_reset(g_ptr_array_index(pads, i));
  astro_merge_begin_anew(merge);
  astro_merge_unlock(merge);
}

static gboolean start(GstAggregator *aggregator)
{
  AstroMerge *merge = ASTRO_MERGE(aggregator);
  const AstroMergeClass *klass = ASTRO_MERGE_GET_CLASS(merge);
  g_autoptr(GError) error = NULL;
  GST_OBJECT_LOCK(merge);
  PRIV(merge)->stats = (AstroWorkStats){ 0 };
  PRIV(merge)->has_warned = FALSE;
  const AstroWorkChoice choice = PRIV(merge)->choice;
  GST_OBJECT_UNLOCK(merge);
  if (!astro_work_check(klass->stage, klass->backends, &choice, &error)) {
    GST_ELEMENT_ERROR(merge, RESOURCE, NOT_FOUND, ("%s", error->message), (NULL));
    return FALSE;
  }
  g_mutex_lock(&PRIV(merge)->work);
  PRIV(merge)->is_stopped = FALSE;
  PRIV(merge)->misaligned = 0;
  PRIV(merge)->left = 0;
  g_mutex_unlock(&PRIV(merge)->work);
  return TRUE;
}

/* If a flush ends after the source pad was stopped and before the others are, it starts the thread
 * again; GstAggregator ends that after calling this. */
static gboolean stop(GstAggregator *aggregator)
{
  AstroMerge *merge = ASTRO_MERGE(aggregator);
  AstroMergePrivate *priv = PRIV(merge);
  g_mutex_lock(&priv->work);
  priv->is_stopped = TRUE;
  reset_pads(merge);
  astro_merge_close(merge);
  g_clear_pointer(&priv->pads, g_ptr_array_unref);
  g_clear_pointer(&priv->observation, astro_observation_unref);
  g_clear_pointer(&priv->reader, astro_device_unref);
  g_mutex_unlock(&priv->work);
  g_object_notify(G_OBJECT(merge), "active-backend");
  return TRUE;
}

/* ---- properties ---- */

static void get_active_backend(GObject *object, GValue *value)
{
  const AstroMergePrivate *priv = PRIV(ASTRO_MERGE(object));
  GST_OBJECT_LOCK(object);
  g_value_take_string(value, astro_work_name(priv->backend, priv->variant, "none"));
  GST_OBJECT_UNLOCK(object);
}

static void get_stats(GObject *object, GValue *value)
{
  g_autofree char *backend = NULL;
  g_object_get(object, "active-backend", &backend, NULL);
  GST_OBJECT_LOCK(object);
  const AstroWorkStats stats = PRIV(ASTRO_MERGE(object))->stats;
  GST_OBJECT_UNLOCK(object);
  g_value_take_boxed(value, astro_work_tell(&stats, "host-copies", backend));
}

static const AstroField fields[] = {
  ASTRO_WORK_BACKEND(
      AstroWorkChoice, kind,
      "Who does the work: the CPU, with fast kernels (cpu) or the slow formula (reference). auto: "
      "the CPU, but astrojoin, which only moves, stays on a device that its blocks are on"),
  ASTRO_WORK_THREADS(AstroWorkChoice, threads, "CPU threads at most (0: one a core)", 4096),
  ASTRO_WORK_ACTIVE("Who does the work now", get_active_backend),
  ASTRO_WORK_STATS(
      "Since the start: buffers, bytes, nanoseconds of work and of waiting, time steps that came "
      "again or late and were left out, and time steps that never came",
      get_stats),
  { 0 },
};

static void finalize(GObject *object)
{
  g_mutex_clear(&PRIV(ASTRO_MERGE(object))->lock);
  g_mutex_clear(&PRIV(ASTRO_MERGE(object))->work);
  G_OBJECT_CLASS(astro_merge_parent_class)->finalize(object);
}

static void astro_merge_class_init(AstroMergeClass *klass)
{
  GObjectClass *object = G_OBJECT_CLASS(klass);
  GstAggregatorClass *aggregator = GST_AGGREGATOR_CLASS(klass);

  object->finalize = finalize;
  astro_fields_install(object, fields, G_PRIVATE_OFFSET(AstroMerge, choice));
  astro_element_class_say_once(GST_ELEMENT_CLASS(klass));
  GST_ELEMENT_CLASS(klass)->set_context = set_context;
  aggregator->aggregate = aggregate;
  aggregator->get_next_time = get_next_time;
  aggregator->sink_event = sink_event;
  aggregator->src_event = src_event;
  aggregator->sink_query = sink_query;
  aggregator->src_query = src_query;
  aggregator->propose_allocation = propose_allocation;
  aggregator->negotiate = negotiate;
  aggregator->start = start;
  aggregator->stop = stop;
  gst_type_mark_as_plugin_api(ASTRO_TYPE_MERGE, 0);
  gst_type_mark_as_plugin_api(ASTRO_TYPE_MERGE_PAD, 0);
}

static void astro_merge_init(AstroMerge *merge)
{
  astro_fields_set_defaults(merge);
  g_mutex_init(&PRIV(merge)->lock);
  g_mutex_init(&PRIV(merge)->work);
}

void astro_merge_class_add_pads(AstroMergeClass *klass, const AstroQuantity *quantities)
{
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  g_autoptr(GstCaps) caps = gst_caps_new_empty();
  for (; *quantities != ASTRO_QUANTITY_UNKNOWN; quantities++)
    gst_caps_append(caps, gst_caps_new_empty_simple(astro_quantity_media_type(*quantities)));
  gst_element_class_add_pad_template(
      element, gst_pad_template_new_with_gtype("sink_%u", GST_PAD_SINK, GST_PAD_REQUEST, caps,
                                               ASTRO_TYPE_MERGE_PAD));
  gst_element_class_add_pad_template(
      element, gst_pad_template_new_with_gtype("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps,
                                               GST_TYPE_AGGREGATOR_PAD));
}
