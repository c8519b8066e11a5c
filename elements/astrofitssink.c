/**
 * SECTION:element-astrofitssink
 *
 * Writes FITS files, and tables as CSV or ECSV. The caps decide what kind of file it is.
 *
 * Visibilities become UVFITS. Their (u,v,w) are computed with the Earth orientation of the stream,
 * or of an IERS file (earth-orientation), and the file records it. An integration that was written
 * already is left out, with a warning. One from another stream or segment, at a time that the file
 * already has, is an error, since no reader accepts such a file.
 *
 * In a file of images the first image of the stream is the primary HDU, with axes RA, DEC, FREQ and
 * STOKES; its model, residual and point-spread function are extensions MODEL, RESIDUAL and PSF.
 * Further images of the stream (from a gridder with an interval, for instance) follow as extensions
 * IMAGE, each with its own MODEL, RESIDUAL and PSF. EXTVER numbers them from 1; DATE-OBS and
 * TELAPSE tell when each was taken. In cleaned images CLBORDER gives the width in pixels of the
 * border that was not cleaned.
 *
 * Grids in (u,v), histograms, spectra, power, profiles and voltages are written block by block with
 * their caps, their observation and their metadata (validity, sums of weights, w, edges and numbers
 * of pairs), so that astrofitssrc gives the same stream in another run, bit for bit.
 *
 * Power goes to PSRFITS in search mode where the location ends in .sf, as floats or in 8 bits
 * (property bits), of one station or beam. PSRFITS has one weight for each channel of a row of up
 * to 4096 integrations: a channel that is lost all through a row has weight 0; in others lost
 * values get the mean of the rest, and a warning gives their number. Missing integrations between
 * rows are kept in their times. V, and the imaginary part of XY, get the pulsar astronomers' sign.
 *
 * Profiles go to PSRFITS in fold mode where the location ends in .rf, a row a sub-integration, in
 * 16 bits with an error of at most 1/131068 of the range that a channel and product has in it. The
 * weight of a channel is its number of good samples; bins without any get the mean of the others.
 *
 * With max-file-duration a stream goes on in further files, each with its own header, named by the
 * UTC of their first frames. They begin between buffers, so that a file is longer only if a single
 * buffer is. Images, tables and grids come one a buffer, and never part.
 *
 * The file is completed at EOS, and also when the pipeline stops without one (Ctrl-C, an error
 * upstream). If writing itself failed, no file appears under the name.
 *
 * An element message "astro-file" describes the finished file: location and format; for tables the
 * number of tables and of rows, and the columns; for images their number, width, height, channels
 * and products; for blocks the quantity, the number of blocks, and of values in all; for
 * visibilities stations, baselines, channels, products, integrations, start (UTC), seconds (from
 * the first integration to the end of the last), least-weight and most-weight of values with a
 * weight, flagged, the fraction of values without one, and again, the number of integrations that
 * were left out as repeated, if there are any; for PSRFITS channels, pols, integrations, start,
 * seconds, flagged, the fraction of values with weight 0, partial and filled, the numbers of values
 * that a part of the samples is behind, or none.
 *
 * |[
 * gst-launch-1.0 astrovissrc stations=16 num-buffers=60 ! astrofitssink location=sky.uvfits
 * ]|
 * |[
 * gst-launch-1.0 astroskysrc stations=1 duration=1 start-time=2026-11-20T12:00:00 ! \
 *   astrochannelizer channels=64 ! astropower integration=100 ! \
 *   astrofitssink location=power.sf bits=8
 * ]|
 */
#include "elements/astrofitssink-parts.h"

#include "core/kit/units.h"
#include "core/lib/files/utc-name.h"
#include "core/memory/memory.h"
#include "core/ranks/world.h"
#include "core/stream/elsewhere.h"
#include "core/stream/histogram-summary.h"
#include "core/tpacf/about.h"
#include "elements/base/astrofields.h"
#include "elements/base/astroincoming.h"
#include "elements/base/astrolog.h"
#include "elements/base/astroonce.h"
#include "elements/base/astroreader.h"
#include "elements/base/astrostage.h"

#include <gio/gio.h>

G_DEFINE_TYPE(AstroFitsSink, astro_fits_sink, GST_TYPE_BASE_SINK)
GST_ELEMENT_REGISTER_DEFINE(astrofitssink, "astrofitssink", GST_RANK_NONE, ASTRO_TYPE_FITS_SINK)

static void close_writer(AstroFitsSink *self)
{
  gpointer writer = self->writer;
  g_atomic_pointer_set(&self->writer, NULL);
  if (writer)
    self->kind->destroy(writer);
}

static void discard(AstroFitsSink *self)
{
  close_writer(self);
  g_clear_pointer(&self->file, astro_part_file_discard);
  self->written = 0;
}

static void give_up(AstroFitsSink *self)
{
  discard(self);
  self->failed = TRUE;
}

static gboolean create_file(AstroFitsSink *self)
{
  g_autoptr(GError) error = NULL;
  self->written = 0;
  self->tally = (AstroFitsTally){ 0 };
  self->file = astro_part_file_create(self->name, &error);
  if (!self->file)
    GST_ELEMENT_ERROR(self, RESOURCE, OPEN_WRITE, ("%s", error->message), (NULL));
  return self->file != NULL;
}

static gboolean take_name(AstroFitsSink *self)
{
  g_free(self->name);
  self->name = astro_fields_copy_text(self, &self->location);
  GST_OBJECT_LOCK(self);
  self->most_ns = self->max_duration;
  GST_OBJECT_UNLOCK(self);
  if (self->name && self->name[0])
    return TRUE;
  GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND, ("No file name is given."),
                    ("property \"location\" is not set"));
  return FALSE;
}

/* The name of one of several files depends on its first frame, so that it is opened with that. */
static gboolean open_file(AstroFitsSink *self)
{
  g_autoptr(GError) error = NULL;
  g_clear_pointer(&self->pattern, g_free);
  if (!take_name(self))
    return FALSE;
  if (self->most_ns == 0)
    return create_file(self);
  if (!astro_utc_name_check(self->name, &error)) {
    GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("location: %s", error->message), (NULL));
    return FALSE;
  }
  self->pattern = astro_utc_name_complete(self->name);
  return TRUE;
}

/* Posts the error. Nothing is left under the final name. */
static gboolean fail(AstroFitsSink *self, const GError *error)
{
  if (error->domain == ASTRO_FITS_ERROR || error->domain == ASTRO_STREAM_ERROR)
    GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s: %s", self->name, error->message), (NULL));
  else if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_NO_SPACE))
    GST_ELEMENT_ERROR(self, RESOURCE, NO_SPACE_LEFT, ("%s", error->message), (NULL));
  else
    GST_ELEMENT_ERROR(self, RESOURCE, WRITE, ("%s", error->message), (NULL));
  give_up(self);
  return FALSE;
}

gboolean astro_fits_sink_finish(AstroFitsSink *self)
{
  g_autoptr(GError) error = NULL;
  gboolean done = self->kind->finish(self->writer, &self->tally, &error);
  close_writer(self);
  if (done)
    done = astro_part_file_commit(g_steal_pointer(&self->file), &error);
  if (!done)
    return fail(self, error);
  ASTRO_INFO(self, "wrote %" G_GUINT64_FORMAT " frames to %s", self->written, self->name);
  astro_fits_sink_tell_of_file(self);
  self->written = 0;
  return TRUE;
}

static gboolean start(AstroFitsSink *self)
{
  astro_steps_begin(&self->integrations.steps);
  self->earth = (AstroEarthUse){ 0 };
  self->n_files = 0;
  g_hash_table_remove_all(self->names);
  self->refused = self->failed = FALSE;
  /* All ranks of a job may have the name of the file that one of them writes. */
  return astro_world_find().ranks > 1 ? take_name(self) : open_file(self);
}

static void stop(AstroFitsSink *self)
{
  /* If another rank failed, part of the result is missing in what has come so far. */
  if (self->written && astro_world_find().ranks == 1)
    astro_fits_sink_finish(self);
  discard(self);
  astro_steps_reset(&self->integrations.steps);
  astro_fits_contents_clear(&self->contents);
  gst_clear_event(&self->observation);
  gst_clear_event(&self->about);
  gst_clear_event(&self->summary);
}

/* GstBaseSink starts and stops between NULL and READY; but a stream begins and ends at READY, where
 * the location may change too. */
static GstStateChangeReturn change_state(GstElement *element, GstStateChange transition)
{
  AstroFitsSink *self = ASTRO_FITS_SINK(element);

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && !start(self))
    return GST_STATE_CHANGE_FAILURE;
  GstStateChangeReturn changed =
      GST_ELEMENT_CLASS(astro_fits_sink_parent_class)->change_state(element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY ||
      (transition == GST_STATE_CHANGE_READY_TO_PAUSED && changed == GST_STATE_CHANGE_FAILURE))
    stop(self);
  return changed;
}

static gboolean choose_bits(AstroFitsSink *self, GError **error)
{
  GST_OBJECT_LOCK(self);
  const guint bits = self->contents.bits = self->bits;
  GST_OBJECT_UNLOCK(self);
  if (bits == 0 || (self->kind->has_bits && (bits == 8 || bits == 32)))
    return TRUE;
  return self->kind->has_bits
             ? astro_fits_refuse(error, "bits=%u, expected 8 or 32", bits)
             : astro_fits_refuse(error,
                                 "bits=%u is set, but this is a file of %s, whose numbers have one "
                                 "width: expected a name that ends in .sf, or no bits",
                                 bits, self->kind->name);
}

static gboolean set_caps(GstBaseSink *sink, GstCaps *caps)
{
  AstroFitsSink *self = ASTRO_FITS_SINK(sink);
  g_autoptr(GError) error = NULL;

  astro_log_caps(self, caps, NULL);
  /* Repeated caps do not get here. */
  if (self->writer) {
    g_autoptr(GstCaps) before = astro_fits_contents_to_caps(&self->contents);
    g_autofree char *found = gst_caps_to_string(caps), *expected = gst_caps_to_string(before);
    GST_ELEMENT_ERROR(
        self, STREAM, FORMAT,
        ("%s: the caps changed within a file: found %s, expected %s", self->name, found, expected),
        (NULL));
    return FALSE;
  }
  if (!astro_fits_contents_from_caps(&self->contents, caps, &error) ||
      !astro_stream_check_sums(&self->contents.stream, &error)) {
    GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s", error->message), (NULL));
    return FALSE;
  }
  self->kind = astro_fits_writer_kind(self->contents.stream.quantity, self->name, &error);
  if (!self->kind || !choose_bits(self, &error)) {
    GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s: %s", self->name, error->message), (NULL));
    return FALSE;
  }
  return TRUE;
}

static gboolean query(GstBaseSink *sink, GstQuery *query)
{
  AstroFitsSink *self = ASTRO_FITS_SINK(sink);
  return (g_atomic_pointer_get(&self->writer) &&
          astro_pad_offers_its_caps(GST_BASE_SINK_PAD(sink), query)) ||
         GST_BASE_SINK_CLASS(astro_fits_sink_parent_class)->query(sink, query);
}

static gboolean take_observation(AstroFitsSink *self, GstEvent *event)
{
  g_autoptr(GError) error = NULL;
  if (self->observation && gst_structure_is_equal(gst_event_get_structure(self->observation),
                                                  gst_event_get_structure(event)))
    return TRUE;
  const gboolean is_timed = !self->kind || self->kind->is_timed; /* (u,v,w) are written */
  g_autoptr(AstroObservation) observation = astro_observation_from_event(event, &error);
  if (!observation || (is_timed && !astro_earth_use(&self->earth, self, &self->earth_orientation,
                                                    observation, &error))) {
    GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s: %s", self->name, error->message), (NULL));
    return FALSE;
  }
  if (self->writer) {
    GST_ELEMENT_ERROR(self, STREAM, FORMAT,
                      ("%s: the observation changed within a file: expected EOS between "
                       "observations",
                       self->name),
                      (NULL));
    return FALSE;
  }
  g_clear_pointer(&self->contents.observation, astro_observation_unref);
  self->contents.observation = g_steal_pointer(&observation);
  gst_event_replace(&self->observation, event);
  return TRUE;
}

static gboolean end_of_stream(AstroFitsSink *self)
{
  if (self->written)
    return astro_fits_sink_finish(self);
  if (self->n_files && !self->file && !self->failed)
    return TRUE;
  if (self->failed)
    return FALSE;
  if (astro_pad_is_elsewhere(GST_BASE_SINK_PAD(self))) {
    give_up(self);
    return TRUE;
  }
  GST_ELEMENT_ERROR(self, STREAM, FORMAT,
                    ("%s: the stream ended before its first %s: nothing was written", self->name,
                     self->kind ? self->kind->frame : "buffer"),
                    (NULL));
  give_up(self);
  return FALSE;
}

static gboolean event(GstBaseSink *sink, GstEvent *event)
{
  AstroFitsSink *self = ASTRO_FITS_SINK(sink);
  gboolean good = TRUE;

  if (astro_event_is_observation(event)) {
    good = take_observation(self, event);
    self->refused = !good;
  } else if (astro_event_is_about(event))
    gst_event_replace(&self->about, event);
  else if (astro_event_is_summary(event))
    gst_event_replace(&self->summary, event);
  else if (GST_EVENT_TYPE(event) == GST_EVENT_EOS)
    good = end_of_stream(self);
  else if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) {
    /* A flush revokes all data before it. */
    discard(self);
    astro_steps_reset(&self->integrations.steps);
    self->failed = FALSE;
  } else
    astro_steps_take_event(&self->integrations.steps, GST_BASE_SINK_PAD(sink), event);
  if (good)
    return GST_BASE_SINK_CLASS(astro_fits_sink_parent_class)->event(sink, event);
  gst_event_unref(event);
  return FALSE;
}

static GstFlowReturn render(GstBaseSink *sink, GstBuffer *buffer)
{
  AstroFitsSink *self = ASTRO_FITS_SINK(sink);
  g_autoptr(GError) error = NULL;
  g_autoptr(GstBuffer) taken = gst_buffer_ref(buffer);
  AstroFitsFrames frames = { 0 };
  GstMapInfo map;

  astro_log_block(self, "in", buffer);

  if (self->refused || self->failed || (!self->file && !self->pattern && !open_file(self)))
    return GST_FLOW_ERROR;
  if (!astro_has_caps(GST_BASE_SINK_PAD(sink))) {
    give_up(self);
    return GST_FLOW_NOT_NEGOTIATED;
  }
  if (!astro_fits_sink_read_frames(self, &taken, &frames, &error) ||
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
  frames.validity = astro_buffer_get_validity(taken);
  frames.buffer = taken;
  frames.told = self->kind->quantity == ASTRO_QUANTITY_HISTOGRAM ? self->summary : NULL;
  gboolean done = astro_fits_sink_write_frames(self, &frames, &error);
  gst_buffer_unmap(taken, &map);
  if (done)
    return GST_FLOW_OK;
  if (error)
    fail(self, error);
  return GST_FLOW_ERROR;
}

static gboolean propose_allocation(GstBaseSink *sink, GstQuery *query)
{
  astro_reader_add(query, NULL); /* the host reads */
  return TRUE;
}

static const AstroField fields[] = {
  ASTRO_TEXT(
      AstroFitsSink, location, "location", "File name",
      "Path of the FITS file, written as NAME.part and renamed when complete. A name ending in "
      ".csv makes tables CSV; .ecsv makes them ECSV, with units and how w was made; .sf makes "
      "power PSRFITS in search mode, .rf profiles PSRFITS in fold mode; .gz compresses the file",
      NULL),
  ASTRO_UINT64(
      AstroFitsSink, max_duration, "max-file-duration", "Duration of a file",
      "Most nanoseconds in a file, after which the next one begins between two buffers (0: "
      "any). The location is then a pattern: %Y %m %d %H %M %S, %j (day of the year), %f "
      "(microsecond), %i (number); a name without these gets -%Y%m%dT%H%M%S.%f before its "
      "ending",
      0, G_MAXINT64, 0),
  ASTRO_UINT(AstroFitsSink, bits, "bits", "Bits of a number",
             "Bits of the numbers in PSRFITS: 32 (floats, which are exact) or 8 (255 steps over "
             "the range that a "
             "channel has in a row, with an error of at most half a step); 0: 32",
             0, 32, 0),
  ASTRO_EARTH_FIELD(AstroFitsSink, earth_orientation),
  { 0 },
};

static void finalize(GObject *object)
{
  AstroFitsSink *self = ASTRO_FITS_SINK(object);
  g_free(self->name);
  g_free(self->pattern);
  g_hash_table_unref(self->names);
  G_OBJECT_CLASS(astro_fits_sink_parent_class)->finalize(object);
}

static void astro_fits_sink_init(AstroFitsSink *self)
{
  astro_fields_set_defaults(self);
  self->names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  /* The file is written as fast as data come, and no block is kept back from its pool. */
  gst_base_sink_set_sync(GST_BASE_SINK(self), FALSE);
  gst_base_sink_set_last_sample_enabled(GST_BASE_SINK(self), FALSE);
  /* With several sinks, one does not wait for another whose image is complete only at the end. */
  gst_base_sink_set_async_enabled(GST_BASE_SINK(self), FALSE);
}

static void add_template(GstElementClass *class)
{
  GstCaps *caps = gst_caps_new_empty();
  for (guint i = 0; astro_fits_writer_kinds[i]; i++)
    caps = gst_caps_merge(caps, gst_caps_from_string(astro_fits_writer_kinds[i]->caps));
  gst_element_class_add_pad_template(
      class, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_caps_unref(caps);
}

static void astro_fits_sink_class_init(AstroFitsSinkClass *class)
{
  GObjectClass *object = G_OBJECT_CLASS(class);
  GstElementClass *element = GST_ELEMENT_CLASS(class);
  GstBaseSinkClass *sink = GST_BASE_SINK_CLASS(class);

  astro_fields_install(object, fields, 0);
  object->finalize = finalize;

  add_template(element);
  astro_element_class_say_once(element);
  gst_element_class_set_static_metadata(
      element, "FITS file sink", "Sink/File",
      "Writes visibilities as UVFITS for casacore, CASA, AIPS and WSClean, images and "
      "cubes with their coordinates, catalogues and correlation functions as binary tables or CSV, "
      "and grids, histograms, spectra, power, profiles and voltages with all their metadata, for "
      "astrofitssrc",
      ASTRO_AUTHOR);
  element->change_state = change_state;
  sink->set_caps = set_caps;
  sink->query = query;
  sink->event = event;
  sink->render = render;
  sink->propose_allocation = propose_allocation;
}
