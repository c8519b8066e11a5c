/* The input of astroring: what the stream is, where its buffers lie in time, and events. */
#include "config.h"
#include "elements/astroring-parts.h"

#include "core/backend/backend.h"
#include "core/memory/memory.h"
#include "core/stream/observation.h"
#include "core/stream/typed.h"
#include "core/stream/validity.h"
#include "elements/base/astroincoming.h"
#include "elements/base/astrolog.h"
#include "elements/base/astroonce.h"
#include "elements/base/astroreader.h"
#include "elements/base/astrostage.h"

/* ---- the stream's description ---- */

static gboolean fail(AstroRing *self, const GError *error)
{
  if (error->domain == ASTRO_BACKEND_ERROR)
    GST_ELEMENT_ERROR(self, RESOURCE, NO_SPACE_LEFT, ("%s", error->message), (NULL));
  else
    GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s", error->message), (NULL));
  return FALSE;
}

/* The bytes of a ring for the stream, as far as its rate is known; else 0. */
static double find_bytes(const AstroRing *self)
{
  const AstroStream *stream = &self->stream;
  return self->now.seconds * stream->rate_n / stream->rate_d *
         (double)astro_stream_step_bytes(stream);
}

static gint64 in_ns(double seconds)
{
  return (gint64)(seconds * GST_SECOND + 0.5);
}

static gboolean check_memory(AstroRing *self, double bytes, GError **error)
{
  const guint64 had = astro_host_memory();
  if (2 * bytes <= (double)had)
    return TRUE;
  return astro_backend_no_memory(error,
                                 "a ring of seconds=%g takes %.0f bytes of this stream, and as "
                                 "many wait to be sent at most: %.0f bytes are needed, and the "
                                 "machine has %" G_GUINT64_FORMAT,
                                 self->now.seconds, bytes, 2 * bytes, had);
}

/* As many bytes as the ring has wait outside it at most. */
static guint64 most_late(const AstroRing *self)
{
  const double bytes = find_bytes(self);
  return bytes > 0 ? (guint64)bytes : astro_host_memory() / 2;
}

static gboolean make_ring(AstroRing *self, GError **error)
{
  const AstroRingSettings settings = {
    .length = in_ns(self->now.seconds),
    .before = in_ns(self->now.before),
    .after = in_ns(self->now.after),
    .most_late = most_late(self),
    .free_data = astro_ring_part_free,
  };
  g_autoptr(GArray) times = astro_ring_times_parse(self->now.trigger_at, error);
  AstroRingAnswer answer;
  if (!times)
    return FALSE;
  self->ring = astro_ring_new(&settings);
  for (guint i = 0; i < times->len; i++)
    astro_ring_trigger(self->ring, &g_array_index(times, AstroRingTime, i), &answer);
  return TRUE;
}

static gboolean take_caps(AstroRing *self, GstCaps *caps)
{
  g_autoptr(GError) error = NULL;
  AstroStream stream;

  astro_log_caps(self, caps, caps);
  self->has_stream = FALSE;
  if (!astro_stream_from_caps(&stream, caps, &error))
    return fail(self, error);
  if (self->ring && self->steps.is_started)
    astro_steps_follow_rate(&self->steps, &self->stream, &stream);
  self->stream = stream;
  const double bytes = find_bytes(self);
  if (!check_memory(self, bytes, &error))
    return fail(self, error);
  g_mutex_lock(&self->lock);
  const gboolean good = self->ring || make_ring(self, &error);
  if (good)
    astro_ring_set_most_late(self->ring, most_late(self));
  g_mutex_unlock(&self->lock);
  if (!good)
    return fail(self, error);
  self->has_stream = TRUE;
  astro_element_forget_said(GST_ELEMENT(self));
  ASTRO_INFO(self, "holds %g s, which are %.0f bytes, and at most as many that wait to be sent",
             self->now.seconds, bytes);
  if (bytes > 0)
    gst_element_post_message(
        GST_ELEMENT(self),
        gst_message_new_element(GST_OBJECT(self),
                                gst_structure_new("astro-ring", "seconds", G_TYPE_DOUBLE,
                                                  self->now.seconds, "bytes", G_TYPE_UINT64,
                                                  (guint64)bytes, "most-bytes", G_TYPE_UINT64,
                                                  2 * (guint64)bytes, NULL)));
  return TRUE;
}

static gboolean take_observation(AstroRing *self, GstEvent *event)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroObservation) observation = astro_observation_from_event(event, &error);
  if (!observation)
    return fail(self, error);
  g_autofree char *start = astro_observation_get_start(observation);
  self->utc = ASTRO_RING_UNDATED;
  if (start)
    astro_time_parse(start, &self->utc);
  self->steps.is_anew = TRUE;
  return TRUE;
}

/* Whether two sticky events are of one kind, so that the later one replaces the other. */
static gboolean is_same_kind(GstEvent *a, GstEvent *b)
{
  return GST_EVENT_TYPE(a) == GST_EVENT_TYPE(b) &&
         (!(GST_EVENT_TYPE(a) & GST_EVENT_TYPE_STICKY_MULTI) ||
          gst_event_has_name(a, gst_structure_get_name(gst_event_get_structure(b))));
}

static int by_order(gconstpointer a, gconstpointer b)
{
  GstEvent *const *x = a, *const *y = b;
  return (int)GST_EVENT_TYPE(*x) - (int)GST_EVENT_TYPE(*y);
}

/* From here on pieces come under this event too. */
static void note_sticky(AstroRing *self, GstEvent *event)
{
  AstroRingContext *context = g_ptr_array_new_with_free_func((GDestroyNotify)gst_event_unref);
  for (guint i = 0; i < self->context->len; i++)
    if (!is_same_kind(self->context->pdata[i], event))
      g_ptr_array_add(context, gst_event_ref(self->context->pdata[i]));
  g_ptr_array_add(context, gst_event_ref(event));
  g_ptr_array_sort(context, by_order);
  g_mutex_lock(&self->lock);
  g_ptr_array_unref(self->context);
  self->context = context;
  g_mutex_unlock(&self->lock);
}

/* ---- pieces ---- */

/* TRUE: the buffer's memory would be missed where it came from. */
static gboolean is_scarce(GstBuffer *buffer)
{
  guint most = 0;
  for (guint i = 0; i < gst_buffer_n_memory(buffer); i++) {
    GstMemory *memory = gst_buffer_peek_memory(buffer, i);
    if (astro_memory_is(memory) && astro_memory_is_locked(memory))
      return TRUE;
  }
  if (buffer->pool) {
    GstStructure *config = gst_buffer_pool_get_config(buffer->pool);
    gst_buffer_pool_config_get_params(config, NULL, NULL, NULL, &most);
    gst_structure_free(config);
  }
  return most > 0;
}

/* Takes ownership of the item. */
static GstFlowReturn add_piece(AstroRing *self, GstMiniObject *item, gsize bytes,
                               GstClockTime begin, GstClockTime end)
{
  AstroRingPart *part = g_new0(AstroRingPart, 1);
  g_autoptr(GError) error = NULL;

  part->item = item;
  part->before = g_steal_pointer(&self->events);
  part->context = g_ptr_array_ref(self->context);
  const AstroRingPiece piece = { part, bytes, (gint64)begin, (gint64)end, self->utc };
  g_mutex_lock(&self->lock);
  const GstFlowReturn flow = self->flow;
  const guint undated = astro_ring_add(self->ring, &piece);
  const guint64 held = astro_ring_bytes(self->ring);
  self->reached = self->segment.format == GST_FORMAT_TIME
                      ? gst_segment_to_running_time(&self->segment, GST_FORMAT_TIME, end)
                      : GST_CLOCK_TIME_NONE;
  if (!GST_CLOCK_TIME_IS_VALID(self->first)) {
    self->first = begin;
    self->first_context = g_ptr_array_ref(self->context);
  }
  g_cond_broadcast(&self->changed);
  g_mutex_unlock(&self->lock);
  if (undated)
    GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                        ("a trigger has its time in UTC, but the observation has no start, so that "
                         "nothing is sent. astroobserve start-time= sets it"),
                        (NULL));
  if (check_memory(self, (double)held / 2, &error))
    return flow;
  fail(self, error);
  return GST_FLOW_ERROR;
}

/* ---- buffers ---- */

/* Leaves out steps that came before. *buffer becomes NULL if that is all of them. */
static gboolean leave_out(AstroRing *self, GstBuffer **buffer, guint64 steps,
                          const AstroStepsPlace *place, GError **error)
{
  if (place->again == 0)
    return TRUE;
  if (self->again == 0) {
    g_autofree char *text = astro_steps_describe_again(&self->steps, place);
    GST_ELEMENT_WARNING(self, STREAM, FORMAT, ("%s", text), (NULL));
  }
  self->again += place->again;
  GstBuffer *rest = place->again < steps
                        ? astro_buffer_from_step(*buffer, &self->stream, steps, place->again)
                        : NULL;
  gst_buffer_unref(*buffer);
  *buffer = rest;
  return rest || place->again >= steps ||
         astro_backend_no_memory(error, "no memory for a part of a buffer");
}

/* Says where a buffer lies, so that it is known when the buffers before it are not there. */
static GstBuffer *say_place(AstroRing *self, GstBuffer *buffer, guint64 first, guint64 steps,
                            GstClockTime begin, GstClockTime end)
{
  if (self->steps.counts_time && GST_BUFFER_OFFSET(buffer) == first &&
      GST_BUFFER_OFFSET_END(buffer) == first + steps && GST_BUFFER_PTS(buffer) == begin)
    return buffer;
  buffer = gst_buffer_make_writable(buffer);
  GST_BUFFER_OFFSET(buffer) = first;
  GST_BUFFER_OFFSET_END(buffer) = first + steps;
  GST_BUFFER_PTS(buffer) = begin;
  GST_BUFFER_DURATION(buffer) = end - begin;
  return buffer;
}

/* Finds the place of a buffer of steps that count once. */
static gboolean place_steps(AstroRing *self, GstBuffer **buffer, guint64 steps, GstClockTime *begin,
                            GstClockTime *end, GError **error)
{
  AstroStepsPlace place;
  if (!astro_steps_find(&self->steps, &self->stream, *buffer, steps, &place, error) ||
      !leave_out(self, buffer, steps, &place, error))
    return FALSE;
  if (!*buffer)
    return TRUE;
  steps -= place.again;
  *begin = astro_steps_time(&self->steps, &self->stream, place.first);
  *end = astro_steps_time(&self->steps, &self->stream, place.first + steps);
  *buffer = say_place(self, *buffer, place.first, steps, *begin, *end);
  return TRUE;
}

/* The place of a buffer that is not counted by steps of a known length. */
static gboolean place_time(GstBuffer *buffer, GstClockTime *begin, GstClockTime *end,
                           GError **error)
{
  const GstClockTime time = GST_BUFFER_PTS(buffer), duration = GST_BUFFER_DURATION(buffer);
  if (!GST_CLOCK_TIME_IS_VALID(time))
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE,
                               "a buffer has no time and caps have no rate, so that no trigger "
                               "could find it: expected a rate, or times");
  *begin = time;
  *end = time + (GST_CLOCK_TIME_IS_VALID(duration) ? duration : 0);
  return astro_check_times(time, *end - time, error);
}

static gboolean take_buffer(AstroRing *self, GstBuffer **buffer, GstClockTime *begin,
                            GstClockTime *end, GError **error)
{
  guint64 steps;
  if (!astro_stream_steps(&self->stream, gst_buffer_get_size(*buffer), &steps, error) ||
      !astro_incoming_check_counts(&self->stream, *buffer, steps, error) ||
      !astro_check_times_of_samples(self->sink, &self->stream, *buffer, error))
    return FALSE;
  if (steps == 0) {
    gst_clear_buffer(buffer);
    return TRUE;
  }
  if (!(astro_steps_count_once(&self->stream) && self->stream.rate_n > 0
            ? place_steps(self, buffer, steps, begin, end, error)
            : place_time(*buffer, begin, end, error)))
    return FALSE;
  if (!*buffer || !is_scarce(*buffer))
    return TRUE;
  GstBuffer *copy = gst_buffer_copy_deep(*buffer);
  gst_buffer_unref(*buffer);
  *buffer = copy;
  return copy || astro_backend_no_memory(error, "no memory for a copy of a buffer");
}

static GstFlowReturn chain(GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  AstroRing *self = ASTRO_RING(parent);
  g_autoptr(GError) error = NULL;
  GstClockTime begin = 0, end = 0;
  GstFlowReturn flow;

  astro_log_block(self, "in", buffer);
  if (!astro_has_caps(pad) || !self->has_stream) {
    gst_buffer_unref(buffer);
    return GST_FLOW_NOT_NEGOTIATED;
  }
  if (!take_buffer(self, &buffer, &begin, &end, &error)) {
    gst_clear_buffer(&buffer);
    fail(self, error);
    return GST_FLOW_ERROR;
  }
  if (buffer)
    return add_piece(self, GST_MINI_OBJECT_CAST(buffer), gst_buffer_get_size(buffer), begin, end);
  g_mutex_lock(&self->lock);
  flow = self->flow;
  g_mutex_unlock(&self->lock);
  return flow;
}

/* ---- events ---- */

void astro_ring_in_forget(AstroRing *self, gboolean is_stopped)
{
  astro_steps_reset(&self->steps);
  self->again = 0;
  g_clear_pointer(&self->events, g_ptr_array_unref);
  g_mutex_lock(&self->lock);
  g_clear_pointer(&self->ring, astro_ring_free);
  self->is_eos = FALSE;
  self->first = self->reached = GST_CLOCK_TIME_NONE;
  g_clear_pointer(&self->first_context, g_ptr_array_unref);
  if (is_stopped) {
    g_ptr_array_unref(self->context);
    self->context = g_ptr_array_new();
    self->has_stream = FALSE;
    self->utc = ASTRO_RING_UNDATED;
    gst_segment_init(&self->segment, GST_FORMAT_TIME);
  }
  g_mutex_unlock(&self->lock);
}

static gboolean flush_start(AstroRing *self, GstEvent *event)
{
  const gboolean done = gst_pad_push_event(self->src, event);
  g_mutex_lock(&self->lock);
  self->flow = GST_FLOW_FLUSHING;
  g_cond_broadcast(&self->changed);
  g_mutex_unlock(&self->lock);
  gst_pad_pause_task(self->src);
  return done;
}

static gboolean flush_stop(AstroRing *self, GstEvent *event)
{
  g_autoptr(GError) error = NULL;
  /* Downstream is flushing still, so that the thread soon lets go of this lock. */
  GST_PAD_STREAM_LOCK(self->src);
  astro_ring_in_forget(self, FALSE);
  astro_ring_out_forget(self);
  GST_PAD_STREAM_UNLOCK(self->src);
  astro_element_forget_said(GST_ELEMENT(self));
  const gboolean done = gst_pad_push_event(self->src, event);
  g_mutex_lock(&self->lock);
  const gboolean good = !self->has_stream || make_ring(self, &error);
  g_mutex_unlock(&self->lock);
  if (!good)
    fail(self, error);
  if (!GST_PAD_IS_FLUSHING(self->sink))
    astro_ring_out_start(self);
  return done;
}

static gboolean take_gap(AstroRing *self, GstEvent *event)
{
  GstClockTime time, duration;
  gst_event_parse_gap(event, &time, &duration);
  if (!self->has_stream || !GST_CLOCK_TIME_IS_VALID(time) || time > G_MAXINT64 / 2) {
    gst_event_unref(event);
    return TRUE;
  }
  if (!GST_CLOCK_TIME_IS_VALID(duration) || duration > G_MAXINT64 / 2)
    duration = 0;
  return add_piece(self, GST_MINI_OBJECT_CAST(event), 0, time, time + duration) == GST_FLOW_OK;
}

static gboolean end(AstroRing *self, GstEvent *event)
{
  gst_event_unref(event);
  if (self->again)
    ASTRO_WARN(self, "%" G_GUINT64_FORMAT " steps came again and were left out", self->again);
  g_mutex_lock(&self->lock);
  self->is_eos = TRUE;
  const GstFlowReturn flow = self->flow;
  g_cond_broadcast(&self->changed);
  g_mutex_unlock(&self->lock);
  /* The thread has ended after an error downstream, and nobody else would tell it. */
  if (astro_flow_is_lost(flow))
    GST_ELEMENT_FLOW_ERROR(self, flow);
  return TRUE;
}

/* Other events that belong to a place in the stream. */
static gboolean keep_event(AstroRing *self, GstEvent *event)
{
  if (!self->events)
    self->events = g_ptr_array_new_with_free_func((GDestroyNotify)gst_event_unref);
  g_ptr_array_add(self->events, event);
  return TRUE;
}

static gboolean take_sticky(AstroRing *self, GstEvent *event)
{
  gboolean good = TRUE, is_known = FALSE;
  if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS) {
    GstCaps *caps;
    gst_event_parse_caps(event, &caps);
    is_known = self->has_stream && astro_caps_are_known(self->sink, caps);
    good = is_known || take_caps(self, caps);
  } else if (astro_event_is_observation(event) && !astro_event_is_known(self->sink, event)) {
    good = take_observation(self, event);
  }
  if (good && !is_known)
    note_sticky(self, event);
  gst_event_unref(event);
  return good;
}

static gboolean sink_event(GstPad *pad, GstObject *parent, GstEvent *event)
{
  AstroRing *self = ASTRO_RING(parent);

  astro_steps_take_event(&self->steps, pad, event);
  switch (GST_EVENT_TYPE(event)) {
  case GST_EVENT_FLUSH_START:
    return flush_start(self, event);
  case GST_EVENT_FLUSH_STOP:
    return flush_stop(self, event);
  case GST_EVENT_SEGMENT:
    gst_event_copy_segment(event, &self->segment);
    gst_event_unref(event);
    return TRUE;
  case GST_EVENT_GAP:
    return take_gap(self, event);
  case GST_EVENT_EOS:
    return end(self, event);
  default:
    if (!GST_EVENT_IS_SERIALIZED(event))
      return gst_pad_event_default(pad, parent, event);
    return GST_EVENT_IS_STICKY(event) ? take_sticky(self, event) : keep_event(self, event);
  }
}

/* Waits until all that was asked for so far is sent, and has arrived behind queues downstream. */
static gboolean drain(AstroRing *self, GstQuery *query)
{
  g_mutex_lock(&self->lock);
  while (self->flow == GST_FLOW_OK && !self->is_eos &&
         (self->is_sending || (self->ring && astro_ring_has_waiting(self->ring))))
    g_cond_wait(&self->changed, &self->lock);
  const GstFlowReturn flow = self->flow;
  g_mutex_unlock(&self->lock);
  return flow != GST_FLOW_OK || gst_pad_peer_query(self->src, query);
}

static gboolean sink_query(GstPad *pad, GstObject *parent, GstQuery *query)
{
  switch (GST_QUERY_TYPE(query)) {
  case GST_QUERY_ALLOCATION:
    astro_reader_add(query, NULL); /* blocks wait on the host */
    return TRUE;
  case GST_QUERY_DRAIN:
    return drain(ASTRO_RING(parent), query);
  default:
    return !GST_QUERY_IS_SERIALIZED(query) && gst_pad_query_default(pad, parent, query);
  }
}

void astro_ring_in_set_functions(GstPad *sink)
{
  gst_pad_set_chain_function(sink, chain);
  gst_pad_set_event_function(sink, sink_event);
  gst_pad_set_query_function(sink, sink_query);
}
