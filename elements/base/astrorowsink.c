/* Sinks of visibilities in files of rows. */
#include "elements/base/astrorowsink.h"

#include <gio/gio.h>

#include "core/kit/units.h"
#include "core/lib/sky/earth-error.h"
#include "core/memory/memory.h"
#include "core/ranks/world.h"
#include "core/stream/absent.h"
#include "core/stream/elsewhere.h"
#include "core/stream/uvw-meta.h"
#include "elements/base/astroincoming.h"
#include "elements/base/astrolog.h"
#include "elements/base/astroonce.h"
#include "elements/base/astroreader.h"
#include "elements/base/astrostage.h"

#define ROW_SINK(object) ((AstroRowSink *)(object))

static const AstroRowSinkKind *kind_of(const AstroRowSink *self)
{
  return ((const AstroRowSinkClass *)G_OBJECT_GET_CLASS(self))->kind;
}

/* These types are final, so that an instance's class has the parent that is meant. */
static gpointer parent_of(gpointer self)
{
  return g_type_class_peek_parent(G_OBJECT_GET_CLASS(self));
}

/* ---- the file ---- */

static void discard(AstroRowSink *self)
{
  g_clear_pointer(&self->writer, kind_of(self)->discard);
  g_atomic_int_set(&self->is_begun, FALSE);
  self->written = 0;
}

static void give_up(AstroRowSink *self)
{
  discard(self);
  self->failed = TRUE;
}

/* Posts the error. Nothing is left under the final name. */
static gboolean fail(AstroRowSink *self, const GError *error)
{
  if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_NO_SPACE))
    GST_ELEMENT_ERROR(self, RESOURCE, NO_SPACE_LEFT, ("%s", error->message), (NULL));
  else if (error->domain == G_IO_ERROR)
    GST_ELEMENT_ERROR(self, RESOURCE, WRITE, ("%s", error->message), (NULL));
  else
    GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s: %s", self->name, error->message), (NULL));
  give_up(self);
  return FALSE;
}

static gboolean take_name(AstroRowSink *self)
{
  g_free(self->name);
  self->name = astro_fields_copy_text(self, &self->location);
  if (astro_field_given(self->name))
    return TRUE;
  GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND, ("No file name is given."),
                    ("property \"location\" is not set"));
  return FALSE;
}

static gboolean open_file(AstroRowSink *self)
{
  g_autoptr(GError) error = NULL;
  self->written = 0;
  g_atomic_int_set(&self->is_begun, FALSE);
  self->tally = (AstroRowTally){ 0 };
  if (!take_name(self))
    return FALSE;
  self->writer = kind_of(self)->open(self, self->name, &error);
  if (!self->writer)
    GST_ELEMENT_ERROR(self, RESOURCE, OPEN_WRITE, ("%s", error->message), (NULL));
  return self->writer != NULL;
}

static void tell_of_file(AstroRowSink *self)
{
  const AstroRowTally *tally = &self->tally;
  const gint pols = (gint)astro_stream_extent(&self->stream, ASTRO_AXIS_POL);
  g_autofree char *start = astro_observation_tell_time(self->observation, (guint64)self->begin_ns);
  GstStructure *file = gst_structure_new(
      "astro-file", "location", G_TYPE_STRING, self->name, "format", G_TYPE_STRING,
      kind_of(self)->format, "stations", G_TYPE_INT, (gint)self->observation->n_stations,
      "baselines", G_TYPE_INT, (gint)astro_stream_extent(&self->stream, ASTRO_AXIS_BASELINE),
      "channels", G_TYPE_INT, (gint)astro_stream_extent(&self->stream, ASTRO_AXIS_CHANNEL),
      "products", G_TYPE_INT, pols * pols, "integrations", G_TYPE_UINT64, self->written, "start",
      G_TYPE_STRING, start, "seconds", G_TYPE_DOUBLE,
      (double)(self->end_ns - self->begin_ns) / GST_SECOND, "least-weight", G_TYPE_UINT,
      tally->least, "most-weight", G_TYPE_UINT, tally->most, "flagged", G_TYPE_DOUBLE,
      (double)tally->flagged / (double)tally->values, NULL);
  if (self->integrations.steps.again)
    gst_structure_set(file, "again", G_TYPE_UINT64, self->integrations.steps.again, NULL);
  gst_element_post_message(GST_ELEMENT(self), gst_message_new_element(GST_OBJECT(self), file));
}

static gboolean finish(AstroRowSink *self)
{
  g_autoptr(GError) error = NULL;
  g_atomic_int_set(&self->is_begun, FALSE);
  if (!kind_of(self)->finish(g_steal_pointer(&self->writer), &error))
    return fail(self, error);
  ASTRO_INFO(self, "wrote %" G_GUINT64_FORMAT " integrations to %s", self->written, self->name);
  tell_of_file(self);
  if (self->tally.not_finite)
    GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                        ("%s: NaN or infinite values were written as flagged: %" G_GUINT64_FORMAT,
                         self->name, self->tally.not_finite),
                        (NULL));
  self->written = 0;
  return TRUE;
}

static gboolean start(AstroRowSink *self)
{
  astro_steps_begin(&self->integrations.steps);
  self->earth = (AstroEarthUse){ 0 };
  self->refused = self->failed = FALSE;
  /* All ranks of a job may have the name of the file that one of them writes. */
  return astro_world_find().ranks > 1 ? take_name(self) : open_file(self);
}

static void stop(AstroRowSink *self)
{
  /* If another rank failed, part of the result is missing in what has come so far. */
  if (self->written && astro_world_find().ranks == 1)
    finish(self);
  discard(self);
  astro_steps_reset(&self->integrations.steps);
  g_clear_pointer(&self->observation, astro_observation_unref);
  gst_clear_event(&self->observed);
  gst_clear_caps(&self->caps);
}

/* GstBaseSink starts and stops between NULL and READY; but a stream begins and ends at READY, where
 * the location may change too. */
static GstStateChangeReturn change_state(GstElement *element, GstStateChange transition)
{
  AstroRowSink *self = ROW_SINK(element);
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && !start(self))
    return GST_STATE_CHANGE_FAILURE;
  const GstStateChangeReturn changed =
      GST_ELEMENT_CLASS(parent_of(self))->change_state(element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY ||
      (transition == GST_STATE_CHANGE_READY_TO_PAUSED && changed == GST_STATE_CHANGE_FAILURE))
    stop(self);
  return changed;
}

/* ---- what comes ---- */

static gboolean set_caps(GstBaseSink *sink, GstCaps *caps)
{
  AstroRowSink *self = ROW_SINK(sink);
  g_autoptr(GError) error = NULL;
  gint stations = 0;

  astro_log_caps(self, caps, NULL);
  /* Repeated caps do not get here. */
  if (self->is_begun) {
    g_autofree char *found = gst_caps_to_string(caps), *expected = gst_caps_to_string(self->caps);
    GST_ELEMENT_ERROR(
        self, STREAM, FORMAT,
        ("%s: the caps changed within a file: found %s, expected %s", self->name, found, expected),
        (NULL));
    return FALSE;
  }
  if (!astro_stream_from_caps(&self->stream, caps, &error) ||
      !astro_stream_check_sums(&self->stream, &error)) {
    GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s", error->message), (NULL));
    return FALSE;
  }
  gst_structure_get_int(gst_caps_get_structure(caps, 0), "stations", &stations);
  self->stations = (guint)MAX(stations, 0);
  gst_caps_replace(&self->caps, caps);
  return TRUE;
}

static gboolean query(GstBaseSink *sink, GstQuery *query)
{
  AstroRowSink *self = ROW_SINK(sink);
  return (g_atomic_int_get(&self->is_begun) &&
          astro_pad_offers_its_caps(GST_BASE_SINK_PAD(sink), query)) ||
         GST_BASE_SINK_CLASS(parent_of(self))->query(sink, query);
}

static gboolean take_observation(AstroRowSink *self, GstEvent *event)
{
  g_autoptr(GError) error = NULL;
  if (self->observed && gst_structure_is_equal(gst_event_get_structure(self->observed),
                                               gst_event_get_structure(event)))
    return TRUE;
  g_autoptr(AstroObservation) observation = astro_observation_from_event(event, &error);
  if (!observation ||
      !astro_earth_use(&self->earth, self, &self->earth_orientation, observation, &error)) {
    GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s: %s", self->name, error->message), (NULL));
    return FALSE;
  }
  if (self->is_begun) {
    GST_ELEMENT_ERROR(self, STREAM, FORMAT,
                      ("%s: the observation changed within a file: expected EOS between "
                       "observations",
                       self->name),
                      (NULL));
    return FALSE;
  }
  g_clear_pointer(&self->observation, astro_observation_unref);
  self->observation = g_steal_pointer(&observation);
  gst_event_replace(&self->observed, event);
  return TRUE;
}

static gboolean end_of_stream(AstroRowSink *self)
{
  if (self->written)
    return finish(self);
  if (self->failed)
    return FALSE;
  if (astro_pad_is_elsewhere(GST_BASE_SINK_PAD(self))) {
    give_up(self);
    return TRUE;
  }
  GST_ELEMENT_ERROR(
      self, STREAM, FORMAT,
      ("%s: the stream ended before its first integration: nothing was written", self->name),
      (NULL));
  give_up(self);
  return FALSE;
}

static gboolean event(GstBaseSink *sink, GstEvent *event)
{
  AstroRowSink *self = ROW_SINK(sink);
  gboolean good = TRUE;

  if (astro_event_is_observation(event)) {
    good = take_observation(self, event);
    self->refused = !good;
  } else if (GST_EVENT_TYPE(event) == GST_EVENT_EOS)
    good = end_of_stream(self);
  else if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) {
    /* A flush revokes all data before it. */
    discard(self);
    astro_steps_reset(&self->integrations.steps);
    self->failed = FALSE;
  } else
    astro_steps_take_event(&self->integrations.steps, GST_BASE_SINK_PAD(sink), event);
  if (good)
    return GST_BASE_SINK_CLASS(parent_of(self))->event(sink, event);
  gst_event_unref(event);
  return FALSE;
}

/* *buffer may become a part of it, or NULL where there is nothing to write. */
static gboolean read_frames(AstroRowSink *self, GstBuffer **buffer, AstroRowFrames *frames,
                            GError **error)
{
  AstroIntegrationsPlace place = { 0 };
  if (!astro_stream_steps(&self->stream, gst_buffer_get_size(*buffer), &place.frames, error) ||
      !astro_stream_check_counts(&self->stream, *buffer, error))
    return FALSE;
  if (place.frames == 0)
    gst_clear_buffer(buffer);
  else if (!astro_integrations_place(&self->integrations, GST_ELEMENT(self), self->name,
                                     &self->stream, self->written == 0, buffer, &place, error))
    return FALSE;
  /* Integrations that are missing entirely need no rows. */
  if (*buffer && GST_BUFFER_FLAG_IS_SET(*buffer, GST_BUFFER_FLAG_GAP))
    gst_clear_buffer(buffer);
  frames->frames = place.frames;
  frames->start_ns = place.start_ns;
  frames->duration_ns = place.duration_ns;
  return TRUE;
}

static gboolean begin(AstroRowSink *self, const AstroRowFrames *frames, GError **error)
{
  const AstroRowSinkKind *kind = kind_of(self);
  if (self->is_begun)
    return TRUE;
  if (!kind->begin(self->writer, &self->stream, self->stations, self->observation, error))
    return FALSE;
  g_atomic_int_set(&self->is_begun, TRUE);
  astro_earth_use_tell(&self->earth, GST_ELEMENT(self), self->observation, &self->stream,
                       astro_earth_error_of_uvw(ASTRO_DEGREE), " a degree from the phase centre");
  if (!kind->has_delays)
    astro_integrations_warn_of_delays(GST_ELEMENT(self), self->name, self->observation,
                                      &self->stream, frames->start_ns);
  return TRUE;
}

static gboolean write_frames(AstroRowSink *self, GstBuffer *buffer, AstroRowFrames *frames,
                             GError **error)
{
  const guint64 baselines = astro_stream_extent(&self->stream, ASTRO_AXIS_BASELINE);
  frames->validity = astro_buffer_get_validity(buffer);
  frames->absent = astro_buffer_find_absent(buffer, frames->frames, baselines);
  if (!astro_buffer_find_uvw(buffer, self->observation, frames->frames, baselines, &frames->uvw,
                             error) ||
      !begin(self, frames, error) ||
      !kind_of(self)->write(self->writer, frames, &self->tally, error))
    return FALSE;
  if (self->written == 0)
    self->begin_ns = frames->start_ns;
  self->end_ns = frames->start_ns + frames->duration_ns;
  self->written += frames->frames;
  return TRUE;
}

static GstFlowReturn render(GstBaseSink *sink, GstBuffer *buffer)
{
  AstroRowSink *self = ROW_SINK(sink);
  g_autoptr(GError) error = NULL;
  g_autoptr(GstBuffer) taken = gst_buffer_ref(buffer);
  AstroRowFrames frames = { 0 };
  GstMapInfo map;

  astro_log_block(self, "in", buffer);
  if (self->refused || self->failed || (!self->writer && !open_file(self)))
    return GST_FLOW_ERROR;
  if (!astro_has_caps(GST_BASE_SINK_PAD(sink))) {
    give_up(self);
    return GST_FLOW_NOT_NEGOTIATED;
  }
  if (!read_frames(self, &taken, &frames, &error) ||
      (taken && !astro_buffer_align(&taken, NULL, ASTRO_SAMPLES_ALIGN, &error))) {
    fail(self, error);
    return GST_FLOW_ERROR;
  }
  if (!taken)
    return GST_FLOW_OK;
  if (!gst_buffer_map(taken, &map, GST_MAP_READ)) {
    GST_ELEMENT_ERROR(self, RESOURCE, READ, ("A buffer cannot be mapped for reading."), (NULL));
    give_up(self);
    return GST_FLOW_ERROR;
  }
  frames.data = map.data;
  const gboolean done = write_frames(self, taken, &frames, &error);
  gst_buffer_unmap(taken, &map);
  if (!done)
    fail(self, error);
  return done ? GST_FLOW_OK : GST_FLOW_ERROR;
}

static gboolean propose_allocation(GstBaseSink *sink, GstQuery *query)
{
  astro_reader_add(query, NULL); /* the host reads */
  return TRUE;
}

/* ---- the type ---- */

static void finalize(GObject *object)
{
  g_free(ROW_SINK(object)->name);
  G_OBJECT_CLASS(parent_of(object))->finalize(object);
}

void astro_row_sink_init(AstroRowSink *self)
{
  astro_fields_set_defaults(self);
  /* The file is written as fast as data come, and no block is kept back from its pool. */
  gst_base_sink_set_sync(GST_BASE_SINK(self), FALSE);
  gst_base_sink_set_last_sample_enabled(GST_BASE_SINK(self), FALSE);
  /* With several sinks, one does not wait for another whose image is complete only at the end. */
  gst_base_sink_set_async_enabled(GST_BASE_SINK(self), FALSE);
}

void astro_row_sink_install(AstroRowSinkClass *class, const AstroRowSinkKind *kind,
                            const char *caps_text, const AstroField *fields)
{
  GObjectClass *object = G_OBJECT_CLASS(class);
  GstElementClass *element = GST_ELEMENT_CLASS(class);
  GstBaseSinkClass *sink = GST_BASE_SINK_CLASS(class);
  g_autoptr(GstCaps) caps = gst_caps_from_string(caps_text);

  class->kind = kind;
  astro_fields_install(object, fields, 0);
  object->finalize = finalize;
  gst_element_class_add_pad_template(
      element, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  astro_element_class_say_once(element);
  element->change_state = change_state;
  sink->set_caps = set_caps;
  sink->query = query;
  sink->event = event;
  sink->render = render;
  sink->propose_allocation = propose_allocation;
}
