/* The thread of astroring that sends dumps, as segments of their own. */
#include "config.h"
#include "elements/astroring-parts.h"

#include "core/stream/observation.h"
#include "elements/base/astrobranches.h"
#include "elements/base/astrolog.h"
#include "elements/base/astrostage.h"

#define WATCH_US (20 * G_TIME_SPAN_MILLISECOND)

void astro_ring_part_free(gpointer data)
{
  AstroRingPart *part = data;
  gst_mini_object_unref(part->item);
  g_clear_pointer(&part->before, g_ptr_array_unref);
  g_ptr_array_unref(part->context);
  g_free(part);
}

void astro_ring_out_forget(AstroRing *self)
{
  g_clear_pointer(&self->sent, g_ptr_array_unref);
  g_clear_pointer(&self->dump.utc, g_free);
  self->dump.is_open = FALSE;
  self->dump.lost_bytes = 0;
  self->dump.lost_ns = 0;
  self->is_primed = FALSE;
  self->base = 0;
}

/* ---- what goes out ---- */

static gboolean is_sent(const AstroRingContext *sent, gconstpointer event)
{
  for (guint i = 0; sent && i < sent->len; i++)
    if (sent->pdata[i] == event)
      return TRUE;
  return FALSE;
}

/* Sends what a part's sticky events say, as far as it is new. */
static void send_context(AstroRing *self, AstroRingContext *context)
{
  if (context == self->sent)
    return;
  for (guint i = 0; i < context->len; i++)
    if (!is_sent(self->sent, context->pdata[i]))
      gst_pad_push_event(self->src, gst_event_ref(context->pdata[i]));
  g_clear_pointer(&self->sent, g_ptr_array_unref);
  self->sent = g_ptr_array_ref(context);
}

/* A dump runs at the time that the input has reached, and after the dump before. */
static void send_segment(AstroRing *self, GstClockTime begin, GstClockTime running)
{
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  if (GST_CLOCK_TIME_IS_VALID(running) && running > self->base)
    self->base = running;
  segment.start = segment.time = segment.position = begin;
  segment.base = self->base;
  gst_pad_push_event(self->src, gst_event_new_segment(&segment));
}

/* UTC of a time in the stream; NULL: unknown. */
static char *tell_time(const AstroRingContext *context, GstClockTime at)
{
  for (guint i = 0; i < context->len; i++) {
    GstEvent *event = context->pdata[i];
    if (!astro_event_is_observation(event))
      continue;
    g_autoptr(AstroObservation) observation = astro_observation_from_event(event, NULL);
    return observation ? astro_observation_tell_time(observation, at) : NULL;
  }
  return NULL;
}

static void begin_dump(AstroRing *self, GstClockTime begin, GstClockTime running)
{
  send_segment(self, begin, running);
  g_free(self->dump.utc);
  self->dump.utc = tell_time(self->sent, begin);
  self->dump.is_open = TRUE;
  self->dump.begin = self->dump.end = begin;
  self->dump.bytes = 0;
}

static void end_dump(AstroRing *self)
{
  if (!self->dump.is_open && !self->dump.lost_bytes)
    return;
  GstStructure *told = gst_structure_new(
      "astro-dump", "timestamp", G_TYPE_UINT64, self->dump.begin, "seconds", G_TYPE_DOUBLE,
      (double)(self->dump.end - self->dump.begin) / GST_SECOND, "bytes", G_TYPE_UINT64,
      self->dump.bytes, "lost-seconds", G_TYPE_DOUBLE, (double)self->dump.lost_ns / GST_SECOND,
      "lost-bytes", G_TYPE_UINT64, self->dump.lost_bytes, NULL);
  if (self->dump.utc)
    gst_structure_set(told, "time", G_TYPE_STRING, self->dump.utc, NULL);
  if (self->dump.lost_bytes)
    GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                        ("%.6f s that triggers asked for (%" G_GUINT64_FORMAT
                         " bytes) were dropped: downstream took them too slowly, and as much as "
                         "the ring holds was waiting for it",
                         (double)self->dump.lost_ns / GST_SECOND, self->dump.lost_bytes),
                        (NULL));
  gst_element_post_message(GST_ELEMENT(self), gst_message_new_element(GST_OBJECT(self), told));
  self->base += self->dump.is_open ? self->dump.end - self->dump.begin : 0;
  self->dump.is_open = FALSE;
  self->dump.lost_bytes = 0;
  self->dump.lost_ns = 0;
}

/* Sinks of a pipeline that is being started wait for a first buffer, which may never come. A gap
 * without a length lets them go on. first: unknown if there is no buffer and will be none. */
static void prime(AstroRing *self, AstroRingContext *context, GstClockTime first,
                  GstClockTime running)
{
  send_context(self, context);
  send_segment(self, GST_CLOCK_TIME_IS_VALID(first) ? first : 0, running);
  if (GST_CLOCK_TIME_IS_VALID(first))
    gst_pad_push_event(self->src, gst_event_new_gap(first, 0));
  self->is_primed = TRUE;
}

static GstFlowReturn send_part(AstroRing *self, const AstroRingNext *next, GstClockTime running)
{
  AstroRingPart *part = next->piece.data;
  const GstClockTime begin = (GstClockTime)next->piece.begin, end = (GstClockTime)next->piece.end;
  gboolean begins = next->begins || !self->dump.is_open || part->context != self->sent;
  GstFlowReturn flow = GST_FLOW_OK;

  if (begins && self->dump.is_open)
    end_dump(self);
  send_context(self, part->context);
  if (begins)
    begin_dump(self, begin, running);
  for (guint i = 0; part->before && i < part->before->len; i++)
    gst_pad_push_event(self->src, gst_event_ref(part->before->pdata[i]));
  self->dump.end = MAX(self->dump.end, end);
  if (GST_IS_EVENT(part->item)) {
    gst_pad_push_event(self->src, gst_event_ref(GST_EVENT(part->item)));
  } else {
    GstBuffer *buffer = gst_buffer_ref(GST_BUFFER(part->item));
    self->dump.bytes += gst_buffer_get_size(buffer);
    if (begins) {
      buffer = gst_buffer_make_writable(buffer);
      GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
    }
    astro_log_block(self, "out", buffer);
    flow = gst_pad_push(self->src, buffer);
  }
  astro_ring_part_free(part);
  return flow;
}

/* ---- the thread ---- */

/* Whether triggers may still come after the input's end: other branches may be behind it. */
static gboolean waits_for_others(AstroRing *self)
{
  return self->listener && !astro_branches_have_ended(GST_ELEMENT(self), G_OBJECT_TYPE(self));
}

/* Ends the output, and the thread. */
static void finish(AstroRing *self)
{
  end_dump(self);
  gst_pad_push_event(self->src, gst_event_new_eos());
  gst_pad_pause_task(self->src);
}

/* Upstream learns what downstream said with its next buffer; after the last one nobody would. */
static void take_flow(AstroRing *self, GstFlowReturn flow)
{
  g_mutex_lock(&self->lock);
  const gboolean was_flushing = self->flow == GST_FLOW_FLUSHING, is_eos = self->is_eos;
  if (!was_flushing)
    self->flow = flow;
  g_mutex_unlock(&self->lock);
  if (flow == GST_FLOW_OK || was_flushing)
    return;
  gst_pad_pause_task(self->src);
  if (is_eos && astro_flow_is_lost(flow))
    GST_ELEMENT_FLOW_ERROR(self, flow);
  if (is_eos || flow < GST_FLOW_EOS)
    gst_pad_push_event(self->src, gst_event_new_eos());
}

typedef enum { DO_NOTHING, DO_PRIME, DO_SEND, DO_END } Task;

/* Waits until there is something to do. */
static Task wait(AstroRing *self, AstroRingNext *next, AstroRingContext **context,
                 GstClockTime *first, GstClockTime *running)
{
  Task task = DO_NOTHING;
  *next = (AstroRingNext){ ASTRO_RING_NOTHING };
  g_mutex_lock(&self->lock);
  self->is_sending = TRUE;
  while (task == DO_NOTHING && self->flow == GST_FLOW_OK) {
    if (!self->is_primed && (GST_CLOCK_TIME_IS_VALID(self->first) || self->is_eos) &&
        self->context->len > 0) {
      *context = g_ptr_array_ref(self->first_context ? self->first_context : self->context);
      *first = self->first;
      task = DO_PRIME;
      continue;
    }
    if (self->ring)
      astro_ring_take(self->ring, next);
    self->dump.lost_bytes += next->lost;
    self->dump.lost_ns += next->lost_ns;
    if (next->kind != ASTRO_RING_NOTHING) {
      task = DO_SEND;
    } else if (!self->is_eos) {
      self->is_sending = FALSE;
      g_cond_broadcast(&self->changed);
      g_cond_wait(&self->changed, &self->lock);
      self->is_sending = TRUE;
    } else {
      /* The walk through the pipeline takes other locks, so it goes without this one. */
      g_mutex_unlock(&self->lock);
      const gboolean waits = waits_for_others(self);
      g_mutex_lock(&self->lock);
      if (waits) {
        g_cond_wait_until(&self->changed, &self->lock, g_get_monotonic_time() + WATCH_US);
        continue;
      }
      if (self->ring) {
        astro_ring_close(self->ring);
        astro_ring_take(self->ring, next);
      }
      task = next->kind == ASTRO_RING_NOTHING ? DO_END : DO_SEND;
    }
  }
  *running = self->reached;
  if (task == DO_NOTHING)
    self->is_sending = FALSE;
  g_mutex_unlock(&self->lock);
  return task;
}

static void loop(gpointer pad)
{
  AstroRing *self = ASTRO_RING(GST_PAD_PARENT(pad));
  AstroRingNext next;
  AstroRingContext *context = NULL;
  GstClockTime first = 0, running = 0;

  switch (wait(self, &next, &context, &first, &running)) {
  case DO_PRIME:
    prime(self, context, first, running);
    g_ptr_array_unref(context);
    break;
  case DO_SEND:
    if (next.kind == ASTRO_RING_PIECE)
      take_flow(self, send_part(self, &next, running));
    else
      end_dump(self);
    break;
  case DO_END:
    finish(self);
    break;
  default:
    gst_pad_pause_task(self->src);
    break;
  }
}

/* A flush may end while the pads are being shut down, source first: a thread that it then started
   would outlive that. So both decide under the lock. */
void astro_ring_out_start(AstroRing *self)
{
  g_mutex_lock(&self->lock);
  if (self->is_active) {
    self->flow = GST_FLOW_OK;
    g_cond_broadcast(&self->changed);
    gst_pad_start_task(self->src, loop, self->src, NULL);
  }
  g_mutex_unlock(&self->lock);
}

static gboolean activate(GstPad *pad, GstObject *parent, GstPadMode mode, gboolean active)
{
  AstroRing *self = ASTRO_RING(parent);
  if (mode != GST_PAD_MODE_PUSH)
    return FALSE;
  g_mutex_lock(&self->lock);
  self->is_active = active;
  if (!active)
    self->flow = GST_FLOW_FLUSHING;
  g_cond_broadcast(&self->changed);
  g_mutex_unlock(&self->lock);
  if (!active)
    return gst_pad_stop_task(pad);
  astro_ring_out_start(self);
  return TRUE;
}

void astro_ring_out_set_functions(GstPad *src)
{
  gst_pad_set_activatemode_function(src, activate);
}
