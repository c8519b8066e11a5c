/**
 * SECTION:element-astroring
 *
 * Holds the last seconds of any stream, and sends those around a trigger, later than they came. Its
 * input never waits: a thread of its own sends what triggers ask for.
 *
 * A trigger names a moment: UTC as 2026-11-20T12:00:00.25, or seconds since the start of the
 * observation. What is sent is every buffer with a part of the time from `before` it to `after` it.
 * Where such times overlap, each buffer is sent once. Each dump is a segment of its own, whose
 * buffers keep their numbers, times, counts, caps and observation. An element message "astro-dump"
 * describes it: time (UTC, if the observation has a start), timestamp (ns since the start of the
 * observation), seconds, bytes, and lost-seconds and lost-bytes, which were asked for and dropped.
 *
 * Triggers come from three places. Applications emit the action signal "trigger" with the time as a
 * text, or NULL for the newest sample; it returns whether anything will be sent. trigger-at lists
 * times that are known before. trigger-on names an element message, such as "candidate": whenever
 * any other element of the pipeline posts one, its time is a trigger. This works with
 * gst-launch-1.0 too; only an application that drops messages in a handler on the bus of the
 * pipeline hides them. The time is the field "time" (text, UTC), else "timestamp" or "stream-time"
 * (ns since the start of the observation), else the newest sample. At EOS of its input, a ring with
 * trigger-on keeps what it holds until the other sinks of the pipeline have had EOS too, since they
 * may lag behind it.
 *
 * Buffers are kept by reference if they are ordinary memory; those of a pool with a limit, or in
 * memory that is locked for a GPU, are copied. Memory has a bound: the ring itself (seconds times
 * the stream's bytes a second), and as much again for what waits to be sent. The element message
 * "astro-ring" tells it when the stream begins: seconds, bytes and most-bytes. A bound above this
 * machine's memory is refused. If what waits to be sent exceeds its bound, since downstream takes
 * it too slowly, the oldest of it is dropped, and counted in a warning and in the message of the
 * dump. A trigger for times that the ring no longer has gives a warning.
 *
 * |[
 * gst-launch-1.0 -m astroskysrc stations=2 bandwidth=1e6 duration=1 ! \
 *   application/x-astro-voltages,format=CI8 ! \
 *   astroring seconds=0.5 before=0.01 after=0.02 trigger-at=0.6 ! \
 *   astrorecordsink format=vdif location=dump.vdif
 * ]|
 */
#include "config.h"
#include "elements/astroring.h"

#include "elements/astroring-parts.h"
#include "elements/base/astrofields.h"
#include "elements/base/astrolog.h"
#include "elements/base/astroonce.h"
#include "elements/base/astrostage.h"

G_DEFINE_TYPE(AstroRing, astro_ring, GST_TYPE_ELEMENT)
GST_ELEMENT_REGISTER_DEFINE(astroring, "astroring", GST_RANK_NONE, ASTRO_TYPE_RING)

#define MOST_SECONDS 1e9

static const AstroField fields[] = {
  ASTRO_DOUBLE(AstroRingChoices, seconds, "seconds", "Seconds",
               "Length of the stream that is held, in seconds", 1e-9, MOST_SECONDS, 10),
  ASTRO_DOUBLE(AstroRingChoices, before, "before", "Before",
               "Seconds before the time of a trigger that are sent; at most seconds", 0,
               MOST_SECONDS, 1),
  ASTRO_DOUBLE(AstroRingChoices, after, "after", "After",
               "Seconds after the time of a trigger that are sent", 0, MOST_SECONDS, 1),
  ASTRO_TEXT(AstroRingChoices, trigger_on, "trigger-on", "Trigger on",
             "Name of an element message that is a trigger whenever another element of the "
             "pipeline posts it, such as candidate (unset: none)",
             NULL),
  ASTRO_TEXT(AstroRingChoices, trigger_at, "trigger-at", "Trigger at",
             "Times of triggers that are known before, separated by commas: UTC as "
             "2026-11-20T12:00:00.25, or seconds since the start of the observation",
             NULL),
  { 0 },
};

/* ---- triggers ---- */

static void tell_answer(AstroRing *self, const AstroRingAnswer *answer)
{
  if (answer->gone > 0)
    GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                        ("a trigger came too late for the first %.6f s of what it asks for: the "
                         "ring holds %g s. A larger value of seconds keeps them",
                         (double)answer->gone / GST_SECOND, self->now.seconds),
                        (NULL));
  if (answer->behind > 0)
    GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                        ("a trigger came after later samples had been asked for, so that %.6f s "
                         "before those are not sent. A larger value of before includes them",
                         (double)answer->behind / GST_SECOND),
                        (NULL));
}

/* time: NULL is the newest sample. TRUE: something is or will be sent. */
static gboolean take_trigger(AstroRing *self, const AstroRingTime *time)
{
  AstroRingAnswer answer = { 0 };
  gboolean is_taken;
  g_mutex_lock(&self->lock);
  is_taken = self->ring && self->flow == GST_FLOW_OK;
  if (is_taken) {
    astro_ring_trigger(self->ring, time, &answer);
    g_cond_broadcast(&self->changed);
  }
  is_taken = is_taken && (answer.wanted || (answer.waits && !self->is_eos));
  g_mutex_unlock(&self->lock);
  ASTRO_INFO(self, "a trigger asks for %u buffers%s", answer.wanted,
             answer.waits ? " and some to come" : "");
  tell_answer(self, &answer);
  return is_taken;
}

static gboolean trigger(AstroRing *self, const char *text)
{
  g_autoptr(GError) error = NULL;
  AstroRingTime time;
  if (!text)
    return take_trigger(self, NULL);
  if (astro_ring_time_parse(&time, text, &error))
    return take_trigger(self, &time);
  GST_ELEMENT_WARNING(self, LIBRARY, SETTINGS, ("%s", error->message), (NULL));
  return FALSE;
}

static void hear(GstElement *element, const GstStructure *message)
{
  static const char *const names[] = { "timestamp", "stream-time" };
  AstroRing *self = ASTRO_RING(element);
  const char *text = gst_structure_get_string(message, "time");
  guint64 ns;

  if (text) {
    trigger(self, text);
    return;
  }
  for (guint i = 0; i < G_N_ELEMENTS(names); i++)
    if (gst_structure_get_uint64(message, names[i], &ns) && ns <= G_MAXINT64) {
      const AstroRingTime time = { FALSE, (gint64)ns };
      take_trigger(self, &time);
      return;
    }
  take_trigger(self, NULL);
}

/* ---- states ---- */

static gboolean refuse(AstroRing *self, const char *text)
{
  GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("%s", text), (NULL));
  return FALSE;
}

static gboolean start(AstroRing *self)
{
  g_autoptr(GError) error = NULL;
  astro_fields_clear(fields, &self->now);
  astro_fields_copy(fields, self, &self->now, &self->choices, sizeof self->now);
  if (self->now.before > self->now.seconds) {
    g_autofree char *text =
        g_strdup_printf("property before is %g, but the ring holds %g s: expected at most that",
                        self->now.before, self->now.seconds);
    return refuse(self, text);
  }
  g_autoptr(GArray) times = astro_ring_times_parse(self->now.trigger_at, &error);
  if (!times) {
    g_autofree char *text = g_strdup_printf("property trigger-at: %s", error->message);
    return refuse(self, text);
  }
  const char *name = astro_field_given(self->now.trigger_on);
  self->listener = name ? astro_listener_new(GST_ELEMENT(self), name, hear) : NULL;
  if (name && !self->listener)
    GST_ELEMENT_WARNING(self, LIBRARY, SETTINGS,
                        ("property trigger-on is set, but the element is in no pipeline whose "
                         "messages it could hear"),
                        (NULL));
  astro_steps_begin(&self->steps);
  return TRUE;
}

static void stop(AstroRing *self)
{
  astro_listener_free(g_steal_pointer(&self->listener));
  astro_ring_in_forget(self, TRUE);
  astro_ring_out_forget(self);
}

static GstStateChangeReturn change_state(GstElement *element, GstStateChange transition)
{
  AstroRing *self = ASTRO_RING(element);
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && !start(self)) {
    stop(self);
    return GST_STATE_CHANGE_FAILURE;
  }
  const GstStateChangeReturn changed =
      GST_ELEMENT_CLASS(astro_ring_parent_class)->change_state(element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY ||
      (transition == GST_STATE_CHANGE_READY_TO_PAUSED && changed == GST_STATE_CHANGE_FAILURE))
    stop(self);
  return changed;
}

/* ---- class ---- */

static void finalize(GObject *object)
{
  AstroRing *self = ASTRO_RING(object);
  astro_fields_clear(fields, &self->now);
  g_ptr_array_unref(self->context);
  g_mutex_clear(&self->lock);
  g_cond_clear(&self->changed);
  G_OBJECT_CLASS(astro_ring_parent_class)->finalize(object);
}

static GstPad *add_pad(AstroRing *self, const char *name)
{
  GstPadTemplate *template = gst_element_class_get_pad_template(GST_ELEMENT_GET_CLASS(self), name);
  GstPad *pad = gst_pad_new_from_template(template, name);
  GST_PAD_SET_PROXY_CAPS(pad);
  gst_element_add_pad(GST_ELEMENT(self), pad);
  return pad;
}

static void astro_ring_init(AstroRing *self)
{
  g_mutex_init(&self->lock);
  g_cond_init(&self->changed);
  self->context = g_ptr_array_new();
  self->flow = GST_FLOW_FLUSHING;
  self->first = self->reached = GST_CLOCK_TIME_NONE;
  self->utc = ASTRO_RING_UNDATED;
  self->sink = add_pad(self, "sink");
  self->src = add_pad(self, "src");
  astro_ring_in_set_functions(self->sink);
  astro_ring_out_set_functions(self->src);
  astro_fields_set_defaults(self);
}

static void add_templates(GstElementClass *klass)
{
  static const struct {
    const char *name;
    GstPadDirection direction;
  } pads[] = { { "sink", GST_PAD_SINK }, { "src", GST_PAD_SRC } };
  g_autoptr(GstCaps) caps = gst_caps_new_empty();
  for (AstroQuantity q = ASTRO_QUANTITY_UNKNOWN + 1; q < ASTRO_N_QUANTITIES; q++)
    gst_caps_append_structure(caps, gst_structure_new_empty(astro_quantity_media_type(q)));
  for (guint i = 0; i < G_N_ELEMENTS(pads); i++)
    gst_element_class_add_pad_template(
        klass, gst_pad_template_new(pads[i].name, pads[i].direction, GST_PAD_ALWAYS, caps));
}

static void astro_ring_class_init(AstroRingClass *klass)
{
  GObjectClass *object = G_OBJECT_CLASS(klass);
  GstElementClass *element = GST_ELEMENT_CLASS(klass);

  astro_fields_install(object, fields, G_STRUCT_OFFSET(AstroRing, choices));
  object->finalize = finalize;
  element->change_state = change_state;
  g_signal_new_class_handler("trigger", G_TYPE_FROM_CLASS(klass),
                             G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION, G_CALLBACK(trigger), NULL, NULL,
                             NULL, G_TYPE_BOOLEAN, 1, G_TYPE_STRING);
  add_templates(element);
  astro_element_class_say_once(element);
  gst_element_class_set_static_metadata(
      element, "Ring", "Generic",
      "Holds the last seconds of a stream, and sends those around a trigger", ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(element, "takes", "any stream");
  gst_element_class_add_static_metadata(element, "gives", "parts of it, unchanged");
}
