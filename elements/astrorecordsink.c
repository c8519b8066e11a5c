/**
 * SECTION:element-astrorecordsink
 *
 * Writes voltages and spectra as the recorders of telescopes do: VDIF, DADA or GUPPI raw, which
 * dspsr, baseband and other programs read; and power as a SIGPROC filterbank.
 *
 * Integers stay as they are if bits allows it: CI8 becomes 8 bits, bit for bit. Other samples get
 * the nearest of the levels that so many bits have. What lies between two levels follows from the
 * rms: of the property if it is set, else of the first 16384 steps. With 1 to 4 bits each station,
 * polarisation and channel has an rms of its own; with 8 and 16 all channels of a polarisation have
 * one, which keeps the bandpass. An rms is 35.5 levels of 8 bits, and 2048 of 16 bits. Files do not
 * tell the rms: with 8 and 16 bits, ratios within a polarisation are kept.
 *
 * VDIF takes any number of stations (numbered from 0; their polarisations are threads), and powers
 * of two of channels. A frame with a lost sample is marked as invalid; where the stream counts its
 * good samples by packets, as astroudpsrc and astrodepay do, frames are cut as the packets were, so
 * that no good sample is in such a frame. Its header has no frequency, and the rate only where
 * frames of 5000 bytes fit. DADA (8 and 16 bits) takes one station, and has
 * no mark for lost samples: they are zeros. GUPPI (8 and 16 bits, complex) takes one station; lost
 * samples are zeros too, and the header of each block tells their fraction (DROPBLK). For both a
 * warning counts the zeros.
 *
 * SIGPROC takes the power of one station or beam (astroselect chooses), as floats, channels from
 * the highest on. Its header does not say what the products are, nor which samples are lost: these
 * are zeros, and counted.
 *
 * With max-file-duration or max-file-size a recording goes on in further files, without losing a
 * sample. The location is then a pattern with the UTC of a file's first sample: %Y %m %d %H %M %S,
 * %j for the day of the year, %f for the microsecond, %i for the number of the file, %% for a
 * percent sign. A name without these gets -%Y%m%dT%H%M%S.%f before its ending. Where more than 60 s
 * are missing, a file ends too.
 *
 * A file is written as NAME.part and renamed when it is complete: at its limit, at EOS, and also
 * when the pipeline stops without one (Ctrl-C, an error upstream). If writing itself failed, that
 * file does not appear; those before it stay. Steps that came already are left out, with a warning.
 *
 * An element message "astro-file" describes each file: location, format, bits, start (UTC),
 * seconds, bytes, samples, and of these lost, partial (written though some of the samples behind
 * them were lost) and spoilt (good, but in a frame that is marked as invalid), components that were
 * clipped or nan, and again, steps that came again.
 *
 * |[
 * gst-launch-1.0 astroskysrc stations=2 bandwidth=1e6 duration=1 ! \
 *   application/x-astro-voltages,format=CF32LE ! \
 *   astrorecordsink format=vdif bits=2 location=sky.vdif
 * ]|
 */
#include "config.h"
#include "elements/astrorecordsink.h"

#include <gio/gio.h>

#include "core/recorders/write.h"
#include "core/memory/memory.h"
#include "core/stream/elsewhere.h"
#include "elements/base/astrofields.h"
#include "elements/base/astroincoming.h"
#include "elements/base/astrolog.h"
#include "elements/base/astroonce.h"
#include "elements/base/astroreader.h"
#include "elements/base/astrostage.h"
#include "elements/base/astrosteps.h"

typedef struct {
  char *location, *format;
  guint bits;
  double rms;
  guint64 max_duration, max_size;
} Settings;

struct _AstroRecordSink {
  GstBaseSink parent;
  Settings settings, now; /* copies from start to stop */

  const AstroRecordKind *kind;
  AstroStream stream;
  AstroObservation *observation;
  AstroRecordWriter *writer; /* made with the first buffer; set atomically, since queries look */
  AstroSteps steps;
  guint64 again;            /* steps that came again and were warned of */
  guint n_files;            /* complete ones, since the start */
  gboolean refused, failed; /* the caps or the observation; writing: nothing more is written */
};

G_DEFINE_TYPE(AstroRecordSink, astro_record_sink, GST_TYPE_BASE_SINK)
GST_ELEMENT_REGISTER_DEFINE(astrorecordsink, "astrorecordsink", GST_RANK_NONE,
                            ASTRO_TYPE_RECORD_SINK)

static const AstroField fields[] = {
  ASTRO_TEXT(Settings, location, "location", "File name",
             "Path of the file, written as NAME.part and renamed when complete. With "
             "max-file-duration or max-file-size, a pattern: %Y %m %d %H %M %S, %j (day of the "
             "year), %f (microsecond), %i (number); a name without these gets "
             "-%Y%m%dT%H%M%S.%f before its ending",
             NULL),
  ASTRO_TEXT(Settings, format, "format", "Format", "vdif, dada, guppi, or sigproc for power",
             "vdif"),
  ASTRO_UINT(Settings, bits, "bits", "Bits",
             "Bits of each component of a sample: 1, 2, 4, 8 or 16 for VDIF, 8 or 16 for DADA and "
             "GUPPI, 32 for SIGPROC (0: as many as the samples have, at least those of the format; "
             "8 for floats)",
             0, 32, 0),
  ASTRO_DOUBLE(Settings, rms, "rms", "Rms",
               "Rms of a component, by which levels are set where samples have more bits than the "
               "file (0: measured)",
               0, G_MAXFLOAT, 0),
  ASTRO_UINT64(Settings, max_duration, "max-file-duration", "Duration of a file",
               "Most nanoseconds of samples in a file, after which the next one begins (0: any)", 0,
               G_MAXINT64, 0),
  ASTRO_UINT64(Settings, max_size, "max-file-size", "Size of a file",
               "Most bytes in a file, after which the next one begins (0: any)", 0, G_MAXINT64, 0),
  { 0 },
};

/* ---- files ---- */

static GstStructure *describe(const AstroRecordSink *self, const AstroRecordFile *file)
{
  const guint64 begin = astro_stream_time(&self->stream, file->first);
  const guint64 end = astro_stream_time(&self->stream, file->first + file->steps);
  g_autofree char *start = astro_observation_tell_time(self->observation, begin);
  return gst_structure_new(
      "astro-file", "location", G_TYPE_STRING, file->name, "format", G_TYPE_STRING,
      astro_record_kind_name(self->kind), "start", G_TYPE_STRING, start, "seconds", G_TYPE_DOUBLE,
      (double)(end - begin) / GST_SECOND, "steps", G_TYPE_UINT64, file->steps, "bytes",
      G_TYPE_UINT64, file->bytes, "samples", G_TYPE_UINT64, file->samples, "lost", G_TYPE_UINT64,
      file->lost, "partial", G_TYPE_UINT64, file->partial, "spoilt", G_TYPE_UINT64, file->spoilt,
      "clipped", G_TYPE_UINT64, file->clipped, "nan", G_TYPE_UINT64, file->nans, "again",
      G_TYPE_UINT64, self->steps.again, NULL);
}

static void warn_of_losses(AstroRecordSink *self, const AstroRecordFile *file)
{
  if (file->lost && !astro_record_kind_marks(self->kind))
    GST_ELEMENT_WARNING(
        self, STREAM, FORMAT,
        ("%s: of %" G_GUINT64_FORMAT " samples %" G_GUINT64_FORMAT " were lost and are %s",
         file->name, file->samples, file->lost, astro_record_kind_losses(self->kind)),
        (NULL));
  if (file->partial)
    GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                        ("%s: of %" G_GUINT64_FORMAT " samples %" G_GUINT64_FORMAT
                         " were made from fewer good ones than the others, which %s cannot tell: "
                         "they are written as good",
                         file->name, file->samples, file->partial,
                         astro_record_kind_name(self->kind)),
                        (NULL));
  if (file->spoilt)
    GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                        ("%s: %" G_GUINT64_FORMAT " good samples are in frames that are marked as "
                         "invalid, since other samples of them were lost",
                         file->name, file->spoilt),
                        (NULL));
  if (file->clipped)
    GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                        ("%s: %" G_GUINT64_FORMAT " components were beyond the highest or lowest "
                         "level and are clipped: a larger rms makes them fit",
                         file->name, file->clipped),
                        (NULL));
  if (file->nans)
    GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                        ("%s: %" G_GUINT64_FORMAT " components are NaN and were written as 0",
                         file->name, file->nans),
                        (NULL));
}

static void take_file(gpointer user, const AstroRecordFile *file)
{
  AstroRecordSink *self = user;
  self->n_files++;
  ASTRO_INFO(self, "wrote %" G_GUINT64_FORMAT " steps to %s", file->steps, file->name);
  warn_of_losses(self, file);
  gst_element_post_message(GST_ELEMENT(self),
                           gst_message_new_element(GST_OBJECT(self), describe(self, file)));
}

static void close_writer(AstroRecordSink *self)
{
  AstroRecordWriter *writer = self->writer;
  g_atomic_pointer_set(&self->writer, NULL);
  g_clear_pointer(&writer, astro_record_writer_free);
}

/* Posts the error. The file at work is dropped. */
static gboolean fail(AstroRecordSink *self, const GError *error)
{
  if (g_error_matches(error, ASTRO_RECORD_ERROR, ASTRO_RECORD_ERROR_SETTINGS))
    GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("%s", error->message), (NULL));
  else if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_INVALID_FILENAME))
    GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("location: %s", error->message), (NULL));
  else if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_NO_SPACE))
    GST_ELEMENT_ERROR(self, RESOURCE, NO_SPACE_LEFT, ("%s", error->message), (NULL));
  else if (error->domain == G_IO_ERROR)
    GST_ELEMENT_ERROR(self, RESOURCE, WRITE, ("%s", error->message), (NULL));
  else
    GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s", error->message), (NULL));
  close_writer(self);
  self->failed = TRUE;
  return FALSE;
}

static gboolean finish(AstroRecordSink *self)
{
  g_autoptr(GError) error = NULL;
  if (!self->writer)
    return TRUE;
  if (!astro_record_writer_finish(self->writer, &error))
    return fail(self, error);
  close_writer(self);
  return TRUE;
}

/* A receiver counts good samples packet by packet, also in a buffer without losses: the counts of
 * the first buffer tell how long packets are. */
static void find_groups(const AstroRecordSink *self, GstBuffer *buffer, guint64 steps,
                        AstroRecordSettings *settings)
{
  const AstroValidityMeta *counts = astro_buffer_get_validity(buffer);
  AstroValidityAxis axes[ASTRO_MAX_AXES];
  AstroLayout shape;
  const gint time = astro_layout_find(&self->stream.layout, ASTRO_AXIS_TIME);
  if (!counts || !counts->counts || steps == 0 || time < 0 || !GST_BUFFER_OFFSET_IS_VALID(buffer))
    return;
  astro_stream_shape(&self->stream, steps, &shape);
  if (!astro_validity_check(counts, &shape, NULL))
    return;
  astro_validity_axes(counts, &shape, axes);
  if (axes[time].stride == 0)
    return;
  settings->group = axes[time].group;
  settings->group_begin = GST_BUFFER_OFFSET(buffer);
}

static gboolean begin(AstroRecordSink *self, GstBuffer *buffer, guint64 steps, GError **error)
{
  const Settings *now = &self->now;
  AstroRecordSettings settings = {
    .kind = self->kind,
    .location = now->location,
    .bits = now->bits,
    .rms = now->rms,
    .most_ns = now->max_duration,
    .most_bytes = now->max_size,
  };
  find_groups(self, buffer, steps, &settings);
  g_atomic_pointer_set(
      &self->writer,
      astro_record_writer_new(&settings, &self->stream, self->observation, take_file, self, error));
  if (self->writer && self->stream.frequency == 0 && astro_record_kind_tells_frequency(self->kind))
    GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                        ("caps have no field \"frequency\", so that the header has none either, "
                         "and readers have to be told it"),
                        (NULL));
  return self->writer != NULL;
}

/* ---- from start to stop ---- */

static gboolean start(AstroRecordSink *self)
{
  g_autoptr(GError) error = NULL;
  astro_fields_clear(fields, &self->now);
  astro_fields_copy(fields, self, &self->now, &self->settings, sizeof self->now);
  astro_steps_begin(&self->steps);
  self->refused = self->failed = FALSE;
  self->again = 0;
  self->n_files = 0;
  if (!self->now.location || !self->now.location[0]) {
    GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND, ("No file name is given."),
                      ("property \"location\" is not set"));
    return FALSE;
  }
  self->kind = astro_record_kind(self->now.format, &error);
  return self->kind || fail(self, error);
}

static void stop(AstroRecordSink *self)
{
  finish(self);
  close_writer(self);
  g_clear_pointer(&self->observation, astro_observation_unref);
  astro_steps_reset(&self->steps);
}

static GstStateChangeReturn change_state(GstElement *element, GstStateChange transition)
{
  AstroRecordSink *self = ASTRO_RECORD_SINK(element);

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && !start(self))
    return GST_STATE_CHANGE_FAILURE;
  GstStateChangeReturn changed =
      GST_ELEMENT_CLASS(astro_record_sink_parent_class)->change_state(element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY ||
      (transition == GST_STATE_CHANGE_READY_TO_PAUSED && changed == GST_STATE_CHANGE_FAILURE))
    stop(self);
  return changed;
}

static gboolean set_caps(GstBaseSink *sink, GstCaps *caps)
{
  AstroRecordSink *self = ASTRO_RECORD_SINK(sink);
  g_autoptr(GError) error = NULL;

  astro_log_caps(self, caps, NULL);
  if (self->writer) {
    g_autoptr(GstCaps) before = astro_stream_to_caps(&self->stream);
    g_autofree char *found = gst_caps_to_string(caps), *expected = gst_caps_to_string(before);
    astro_fail(&error, ASTRO_STREAM_ERROR, ASTRO_STREAM_ERROR_CAPS,
               "the caps changed within a recording: found %s, expected %s", found, expected);
    return fail(self, error);
  }
  return astro_stream_from_caps(&self->stream, caps, &error) || fail(self, error);
}

static gboolean query(GstBaseSink *sink, GstQuery *query)
{
  AstroRecordSink *self = ASTRO_RECORD_SINK(sink);
  return (g_atomic_pointer_get(&self->writer) &&
          astro_pad_offers_its_caps(GST_BASE_SINK_PAD(sink), query)) ||
         GST_BASE_SINK_CLASS(astro_record_sink_parent_class)->query(sink, query);
}

static gboolean take_observation(AstroRecordSink *self, GstEvent *event)
{
  g_autoptr(GError) error = NULL;
  if (astro_event_is_known(GST_BASE_SINK_PAD(self), event))
    return TRUE;
  g_autoptr(AstroObservation) observation = astro_observation_from_event(event, &error);
  if (!observation)
    return fail(self, error);
  if (self->writer) {
    astro_fail(&error, ASTRO_STREAM_ERROR, ASTRO_STREAM_ERROR_CAPS,
               "the observation changed within a recording: expected EOS between observations");
    return fail(self, error);
  }
  g_clear_pointer(&self->observation, astro_observation_unref);
  self->observation = g_steal_pointer(&observation);
  return TRUE;
}

static gboolean end_of_stream(AstroRecordSink *self)
{
  g_autoptr(GError) error = NULL;
  if (self->failed || (self->writer && astro_record_writer_has_begun(self->writer)))
    return !self->failed && finish(self);
  if (self->n_files)
    return TRUE;
  if (astro_pad_is_elsewhere(GST_BASE_SINK_PAD(self))) {
    close_writer(self);
    return TRUE;
  }
  astro_fail(&error, ASTRO_STREAM_ERROR, ASTRO_STREAM_ERROR_SIZE,
             "%s: the stream ended before its first sample: nothing was written",
             self->now.location);
  return fail(self, error);
}

/* A flush revokes all data before it. */
static void flush(AstroRecordSink *self)
{
  close_writer(self);
  astro_steps_reset(&self->steps);
  self->failed = FALSE;
}

static gboolean event(GstBaseSink *sink, GstEvent *event)
{
  AstroRecordSink *self = ASTRO_RECORD_SINK(sink);
  gboolean good = TRUE;

  if (astro_event_is_observation(event)) {
    good = take_observation(self, event);
    self->refused = !good;
  } else if (GST_EVENT_TYPE(event) == GST_EVENT_EOS)
    good = end_of_stream(self);
  else if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP)
    flush(self);
  else
    astro_steps_take_event(&self->steps, GST_BASE_SINK_PAD(sink), event);
  if (good)
    return GST_BASE_SINK_CLASS(astro_record_sink_parent_class)->event(sink, event);
  gst_event_unref(event);
  return FALSE;
}

/* ---- samples ---- */

static void warn_of_again(AstroRecordSink *self, const AstroStepsPlace *place)
{
  if (self->again == 0) {
    g_autofree char *text = astro_steps_describe_again(&self->steps, place);
    GST_ELEMENT_WARNING(self, STREAM, FORMAT, ("%s", text), (NULL));
  }
  self->again += place->again;
}

static gboolean add(AstroRecordSink *self, GstBuffer *buffer, guint64 steps, GError **error)
{
  const gboolean is_gap = GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP);
  AstroStepsPlace place;
  GstMapInfo map;
  if (!astro_steps_find(&self->steps, &self->stream, buffer, steps, &place, error))
    return FALSE;
  if (place.again)
    warn_of_again(self, &place);
  if (place.again >= steps)
    return TRUE;
  if (is_gap)
    return astro_record_writer_add(self->writer, NULL, steps, place.again, place.first, NULL,
                                   error);
  g_autoptr(GstBuffer) taken = gst_buffer_ref(buffer);
  if (!astro_buffer_align(&taken, NULL, ASTRO_SAMPLES_ALIGN, error))
    return FALSE;
  if (!gst_buffer_map(taken, &map, GST_MAP_READ))
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE, "a buffer cannot be read");
  const gboolean is_added =
      astro_record_writer_add(self->writer, map.data, steps, place.again, place.first,
                              astro_buffer_get_validity(taken), error);
  gst_buffer_unmap(taken, &map);
  return is_added;
}

static GstFlowReturn render(GstBaseSink *sink, GstBuffer *buffer)
{
  AstroRecordSink *self = ASTRO_RECORD_SINK(sink);
  g_autoptr(GError) error = NULL;
  guint64 steps;

  astro_log_block(self, "in", buffer);
  if (self->refused || self->failed)
    return GST_FLOW_ERROR;
  if (!astro_has_caps(GST_BASE_SINK_PAD(sink)))
    return GST_FLOW_NOT_NEGOTIATED;
  if (astro_stream_steps(&self->stream, gst_buffer_get_size(buffer), &steps, &error) &&
      (self->writer || begin(self, buffer, steps, &error)) &&
      astro_stream_check_counts(&self->stream, buffer, &error) &&
      (steps == 0 || add(self, buffer, steps, &error)))
    return GST_FLOW_OK;
  fail(self, error);
  return GST_FLOW_ERROR;
}

static gboolean propose_allocation(GstBaseSink *sink, GstQuery *query)
{
  (void)sink;
  astro_reader_add(query, NULL); /* the host reads */
  return TRUE;
}

static void finalize(GObject *object)
{
  astro_fields_clear(fields, &ASTRO_RECORD_SINK(object)->now);
  G_OBJECT_CLASS(astro_record_sink_parent_class)->finalize(object);
}

static void astro_record_sink_init(AstroRecordSink *self)
{
  astro_fields_set_defaults(self);
  /* Files are written as fast as data come, and no block is kept back from its pool. */
  gst_base_sink_set_sync(GST_BASE_SINK(self), FALSE);
  gst_base_sink_set_last_sample_enabled(GST_BASE_SINK(self), FALSE);
  gst_base_sink_set_async_enabled(GST_BASE_SINK(self), FALSE);
}

static void astro_record_sink_class_init(AstroRecordSinkClass *klass)
{
  GObjectClass *object = G_OBJECT_CLASS(klass);
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  GstBaseSinkClass *sink = GST_BASE_SINK_CLASS(klass);
  g_autoptr(GstCaps) caps =
      gst_caps_from_string("application/x-astro-voltages; application/x-astro-spectra; "
                           "application/x-astro-power");

  astro_fields_install(object, fields, G_STRUCT_OFFSET(AstroRecordSink, settings));
  object->finalize = finalize;
  gst_element_class_add_pad_template(
      element, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  astro_element_class_say_once(element);
  gst_element_class_set_static_metadata(element, "Recorder's file sink", "Sink/File",
                                        "Writes voltages and spectra as VDIF, DADA or GUPPI raw, "
                                        "and power as SIGPROC filterbanks, in "
                                        "one file or in many",
                                        ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(
      element, "takes",
      "voltages and spectra in any order of axes: CI4 CI8 CI16LE CI32LE CF16LE CF32LE CF64LE, and "
      "but for GUPPI I8 I16LE F32LE F64LE; power F32LE");
  element->change_state = change_state;
  sink->set_caps = set_caps;
  sink->query = query;
  sink->event = event;
  sink->render = render;
  sink->propose_allocation = propose_allocation;
}
