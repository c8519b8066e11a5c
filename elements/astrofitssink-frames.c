/* Frames that astrofitssink takes of buffers and writes to one file after another. */
#include "elements/astrofitssink-parts.h"

#include "core/kit/units.h"
#include "core/lib/files/utc-name.h"
#include "core/lib/sky/earth-error.h"
#include "core/stream/absent.h"
#include "core/stream/uvw-meta.h"
#include "elements/base/astroincoming.h"

/* Whether each step has its place in the file, once. */
static gboolean is_stepped(const AstroFitsSink *self)
{
  return self->kind->is_timed || self->kind->is_stepped;
}

/* A catalogue counts as one table, however many points it has, and so does a block; a buffer may
 * hold several correlation functions. */
static guint64 n_tables(const AstroFitsSink *self, const AstroFitsFrames *frames)
{
  return self->kind->is_blocks || self->kind->quantity == ASTRO_QUANTITY_CATALOGUE ? 1
                                                                                   : frames->frames;
}

/* Gives the next of several files its name. */
static gboolean open_next(AstroFitsSink *self, guint64 begin, GError **error)
{
  const AstroObservation *o = self->contents.observation;
  if (!o || !o->has_start)
    return astro_fits_refuse(error, "max-file-duration is set, and the start of the observation, "
                                    "which names files, is not known: put astroobserve "
                                    "start-time=... upstream");
  g_autofree char *name =
      astro_utc_name(self->pattern, o->start_mjd, o->start_ns + begin, self->n_files++);
  if (g_hash_table_contains(self->names, name))
    return astro_fits_refuse(error,
                             "another file of this stream is already named %s: expected a location "
                             "that tells files apart by their time (%%Y%%m%%dT%%H%%M%%S.%%f) or "
                             "number (%%i)",
                             name);
  g_free(self->name);
  self->name = g_strdup(name);
  g_hash_table_add(self->names, g_steal_pointer(&name));
  self->file = astro_part_file_create(self->name, error);
  self->written = 0;
  self->tally = (AstroFitsTally){ 0 };
  return self->file != NULL;
}

/* A file ends before the buffer with which it would be longer than it may be. */
static gboolean change_file(AstroFitsSink *self, const AstroFitsFrames *frames, GError **error)
{
  GstBuffer *buffer = frames->buffer;
  const gboolean has_times = frames->duration_ns > 0;
  if (!self->pattern)
    return TRUE;
  if (!has_times && !(GST_BUFFER_PTS_IS_VALID(buffer) && GST_BUFFER_DURATION_IS_VALID(buffer)))
    return astro_fits_refuse(error, "max-file-duration is set, and a buffer has no time and "
                                    "duration");
  const guint64 begin = has_times ? (guint64)frames->start_ns : GST_BUFFER_PTS(buffer);
  const guint64 length = has_times ? (guint64)frames->duration_ns : GST_BUFFER_DURATION(buffer);
  if (self->written > 0 && begin + length > self->file_begin + self->most_ns &&
      !astro_fits_sink_finish(self))
    return FALSE; /* the error was posted */
  if (self->file)
    return TRUE;
  self->file_begin = begin;
  return open_next(self, begin, error);
}

static gboolean find_metas(const AstroFitsSink *self, AstroFitsFrames *frames, GError **error)
{
  const guint64 baselines = astro_stream_extent(&self->contents.stream, ASTRO_AXIS_BASELINE);
  if (self->kind->quantity == ASTRO_QUANTITY_VISIBILITIES)
    frames->absent = astro_buffer_find_absent(frames->buffer, frames->frames, baselines);
  return self->kind->quantity != ASTRO_QUANTITY_VISIBILITIES ||
         astro_buffer_find_uvw(frames->buffer, self->contents.observation, frames->frames,
                               baselines, &frames->uvw, error);
}

gboolean astro_fits_sink_write_frames(AstroFitsSink *self, AstroFitsFrames *frames, GError **error)
{
  if (!find_metas(self, frames, error) || !change_file(self, frames, error))
    return FALSE;
  if (!self->writer) {
    g_atomic_pointer_set(&self->writer, self->kind->create(self->file, &self->contents, error));
    if (self->writer && self->kind->is_timed && self->n_files <= 1)
      astro_earth_use_tell(&self->earth, GST_ELEMENT(self), self->contents.observation,
                           &self->contents.stream, astro_earth_error_of_uvw(ASTRO_DEGREE),
                           " a degree from the phase centre");
  }
  if (!self->writer || !self->kind->write(self->writer, frames, &self->tally, error))
    return FALSE;
  if (self->written == 0) {
    self->begin_ns = frames->start_ns;
    if (self->n_files <= 1 && self->kind->is_timed)
      astro_integrations_warn_of_delays(GST_ELEMENT(self), self->name, self->contents.observation,
                                        &self->contents.stream, frames->start_ns);
  }
  self->end_ns = frames->start_ns + frames->duration_ns;
  self->written += is_stepped(self) ? frames->frames : n_tables(self, frames);
  return TRUE;
}

/* Leaves out repeated steps: *buffer becomes what is left of it, or NULL. */
static gboolean place_frames(AstroFitsSink *self, GstBuffer **buffer, AstroFitsFrames *frames,
                             GError **error)
{
  AstroIntegrationsPlace place = { .frames = frames->frames };
  if (!astro_integrations_place(&self->integrations, GST_ELEMENT(self), self->name,
                                &self->contents.stream, self->written == 0, buffer, &place, error))
    return FALSE;
  frames->frames = place.frames;
  frames->first = place.first;
  frames->start_ns = place.start_ns;
  frames->duration_ns = place.duration_ns;
  return TRUE;
}

static gboolean time_image(GstBuffer *buffer, AstroFitsFrames *frames, GError **error)
{
  frames->image = astro_buffer_get_image(buffer);
  frames->start_ns = GST_BUFFER_PTS_IS_VALID(buffer) ? (gint64)GST_BUFFER_PTS(buffer) : 0;
  frames->duration_ns =
      GST_BUFFER_DURATION_IS_VALID(buffer) ? (gint64)GST_BUFFER_DURATION(buffer) : 0;
  return astro_check_times((guint64)frames->start_ns, (guint64)frames->duration_ns, error);
}

gboolean astro_fits_sink_read_frames(AstroFitsSink *self, GstBuffer **buffer,
                                     AstroFitsFrames *frames, GError **error)
{
  const AstroStream *stream = &self->contents.stream;

  if (!astro_stream_steps(stream, gst_buffer_get_size(*buffer), &frames->frames, error) ||
      !astro_stream_check_counts(stream, *buffer, error))
    return FALSE;
  if ((is_stepped(self) || self->kind->is_blocks) && frames->frames == 0)
    gst_clear_buffer(buffer);
  else if (is_stepped(self) && !place_frames(self, buffer, frames, error))
    return FALSE;
  else if (self->kind->quantity == ASTRO_QUANTITY_IMAGE && !time_image(*buffer, frames, error))
    return FALSE;
  if (self->kind->quantity == ASTRO_QUANTITY_CORRELATION_FUNCTION && self->about)
    frames->about = gst_event_get_structure(self->about);
  /* Frames that are missing entirely need no group in a file. Blocks are all kept. */
  if (*buffer && !self->kind->is_blocks && GST_BUFFER_FLAG_IS_SET(*buffer, GST_BUFFER_FLAG_GAP))
    gst_clear_buffer(buffer);
  return TRUE;
}
