/* Frames that astrofitssrc reads. */
#include "elements/astrofitssrc-parts.h"

#include <string.h>

#include "core/memory/memory.h"
#include "core/stream/absent.h"
#include "core/stream/uvw-meta.h"
#include "elements/base/astrolog.h"

gboolean astro_fits_src_fits_pool(const AstroFitsReader *reader)
{
  const AstroStream *stream = &astro_fits_reader_contents(reader)->stream;
  return !astro_fits_src_is_catalogue(reader) && !astro_fits_reader_contents(reader)->is_blocks &&
         astro_stream_step_bytes(stream) <= G_MAXUINT;
}

static gboolean has_counts(const AstroFitsReader *reader)
{
  return astro_fits_reader_contents(reader)->stream.quantity == ASTRO_QUANTITY_VISIBILITIES;
}

static gboolean brings_uvw(const AstroFitsReader *reader)
{
  const AstroObservation *observation = astro_fits_reader_contents(reader)->observation;
  return observation && observation->uvw_metres > 0;
}

static guint64 n_baselines(const AstroFitsReader *reader)
{
  return astro_stream_extent(&astro_fits_reader_contents(reader)->stream, ASTRO_AXIS_BASELINE);
}

static GstFlowReturn new_buffer(AstroFitsSrc *self, gsize bytes, GstBuffer **buffer)
{
  g_autoptr(GstBufferPool) pool = gst_base_src_get_buffer_pool(GST_BASE_SRC(self));
  *buffer = NULL;
  if (pool && astro_fits_src_fits_pool(self->reader)) {
    GstFlowReturn flow = gst_buffer_pool_acquire_buffer(pool, buffer, NULL);
    if (*buffer)
      gst_buffer_set_size(*buffer, bytes);
    return flow;
  }
  *buffer = astro_buffer_new(bytes, NULL);
  return *buffer ? GST_FLOW_OK : GST_FLOW_ERROR;
}

/* Finds the next frame, in the next file where this one has no more. */
static GstFlowReturn find_frame(AstroFitsSrc *self, guint64 *steps)
{
  for (;;) {
    g_autoptr(GError) error = NULL;
    gboolean end;
    if (astro_fits_reader_next(self->reader, steps, &end, &error))
      return GST_FLOW_OK;
    if (!end) {
      astro_fits_src_fail(self, error);
      return GST_FLOW_ERROR;
    }
    if (self->next_file == self->files->len)
      return GST_FLOW_EOS;
    if (!astro_fits_src_open_next_file(self))
      return GST_FLOW_ERROR;
  }
}

static GstFlowReturn end_visibilities(AstroFitsSrc *self)
{
  if (self->not_finite)
    GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                        ("%s: NaN or infinite values were passed on as flagged: %" G_GUINT64_FORMAT,
                         self->now.location, self->not_finite),
                        (NULL));
  self->not_finite = 0;
  return GST_FLOW_EOS;
}

/* Allocates and maps a frame; *validity is set for visibilities only. */
static GstFlowReturn new_frame(AstroFitsSrc *self, guint64 steps, GstBuffer **buffer,
                               GstMapInfo *map, AstroValidityMeta **validity)
{
  const AstroStream *stream = &astro_fits_reader_contents(self->reader)->stream;
  gsize bytes = steps * astro_stream_step_bytes(stream);
  GstFlowReturn flow = new_buffer(self, bytes, buffer);
  AstroLayout shape;
  if (flow == GST_FLOW_FLUSHING)
    return flow;
  if (!*buffer || !gst_buffer_map(*buffer, map, GST_MAP_WRITE)) {
    gst_clear_buffer(buffer);
    GST_ELEMENT_ERROR(self, RESOURCE, NO_SPACE_LEFT,
                      ("%s: a block of %" G_GSIZE_FORMAT " bytes does not fit in memory",
                       self->now.location, bytes),
                      (NULL));
    return GST_FLOW_ERROR;
  }
  astro_stream_shape(stream, steps, &shape);
  *validity = has_counts(self->reader) ? astro_buffer_add_validity(*buffer, &shape, 0) : NULL;
  return GST_FLOW_OK;
}

static void stamp_frame(AstroFitsSrc *self, GstBuffer *buffer, AstroFitsFrame *frame)
{
  if (astro_fits_src_is_catalogue(self->reader)) {
    frame->start_ns = self->frames * GST_SECOND;
    frame->duration_ns = GST_SECOND;
  }
  astro_stamps_put(&self->stamps, buffer, frame->start_ns, frame->duration_ns,
                   astro_fits_reader_contents(self->reader)->step_ns);
  GST_OBJECT_LOCK(self);
  self->frames++;
  GST_OBJECT_UNLOCK(self);
  if (frame->has_beam || frame->border) {
    AstroImageMeta *image = astro_buffer_add_image(buffer, 0);
    image->border = frame->border;
    image->has_beam = frame->has_beam;
    image->major = frame->major;
    image->minor = frame->minor;
    image->angle = frame->angle;
  }
}

/* Puts a block of a file that continues others behind theirs. */
static gboolean place_block(AstroFitsSrc *self, GstBuffer *buffer)
{
  const AstroStream *stream = &astro_fits_reader_contents(self->reader)->stream;
  if (!self->first_caps)
    return TRUE;
  const guint64 first = GST_BUFFER_OFFSET(buffer) + self->shift,
                end = GST_BUFFER_OFFSET_END(buffer) + self->shift;
  if (first < self->next)
    return astro_fits_src_refuse_next(self, self->files->pdata[self->next_file - 1],
                                      "samples from before the end of the file before it",
                                      "the files of one observation, in the order of their names");
  GST_BUFFER_OFFSET(buffer) = first;
  GST_BUFFER_OFFSET_END(buffer) = end;
  GST_BUFFER_PTS(buffer) = astro_stream_time(stream, first);
  GST_BUFFER_DURATION(buffer) = astro_stream_time(stream, end) - GST_BUFFER_PTS(buffer);
  if (self->frames > 0 && first == self->next)
    GST_BUFFER_FLAG_UNSET(buffer, GST_BUFFER_FLAG_DISCONT);
  self->next = end;
  return TRUE;
}

/* Times and metadata are set already, as they were when the block was written. */
static void send_block(AstroFitsSrc *self, AstroFitsFrame *frame)
{
  if (frame->told)
    gst_pad_push_event(GST_BASE_SRC_PAD(self), frame->told);
  frame->told = NULL;
  GST_OBJECT_LOCK(self);
  self->frames++;
  GST_OBJECT_UNLOCK(self);
}

GstFlowReturn astro_fits_src_create_frame(AstroFitsSrc *self, GstBuffer **out)
{
  g_autoptr(GError) error = NULL;
  AstroFitsFrame frame = { 0 };
  AstroValidityMeta *validity;
  AstroUvwMeta *uvw = NULL;
  GstMapInfo map;
  gboolean end;
  guint64 steps;
  GstBuffer *buffer;
  GstFlowReturn flow = find_frame(self, &steps);

  if (flow == GST_FLOW_OK)
    flow = new_frame(self, steps, &buffer, &map, &validity);
  if (flow != GST_FLOW_OK)
    return flow;
  frame.data = map.data;
  frame.counts = validity ? validity->counts : NULL;
  if (brings_uvw(self->reader))
    uvw = astro_buffer_add_uvw(buffer, steps, n_baselines(self->reader));
  frame.uvw = uvw ? uvw->uvw : NULL;
  g_autofree guint8 *absent = validity ? g_new(guint8, n_baselines(self->reader)) : NULL;
  frame.absent = absent;
  frame.buffer = buffer;
  gboolean done = astro_fits_reader_read(self->reader, &frame, &end, &error);
  gst_buffer_unmap(buffer, &map);
  if (done) {
    if (validity)
      validity->full = frame.full;
    self->not_finite += frame.not_finite;
    if (absent && memchr(absent, TRUE, n_baselines(self->reader)))
      memcpy(astro_buffer_add_absent(buffer, 1, n_baselines(self->reader))->is_absent, absent,
             n_baselines(self->reader));
    if (!place_block(self, buffer)) {
      gst_buffer_unref(buffer);
      return GST_FLOW_ERROR;
    }
    if (astro_fits_reader_contents(self->reader)->is_blocks)
      send_block(self, &frame);
    else
      stamp_frame(self, buffer, &frame);
    astro_log_block(self, "out", buffer);
    *out = buffer;
    return GST_FLOW_OK;
  }
  gst_buffer_unref(buffer);
  if (end)
    return end_visibilities(self);
  astro_fits_src_fail(self, error);
  return GST_FLOW_ERROR;
}
