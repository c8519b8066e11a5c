/* Blocks of astrocalibrate as they leave: corrected, with their counts. */
#include "config.h"
#include "elements/astrocalibrate-parts.h"

#include "elements/base/astrosteptimes.h"

gboolean astro_calibrate_find_times(AstroCalibrate *self, GstBuffer *in, guint64 first, guint64 t,
                                    guint64 steps, GstClockTime times[2], GError **error)
{
  return astro_stage_step_times(ASTRO_STAGE(self), in, first, t, steps, times, error);
}

double astro_calibrate_middle(const GstClockTime times[2])
{
  return ((double)times[0] + (double)(times[1] - times[0]) / 2) / GST_SECOND;
}

/* Looks the gains of a block's steps up. */
static AstroGainsAt *look_up(AstroCalibrate *self, GstBuffer *in, guint64 first, guint64 steps,
                             GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  const AstroStream *stream = &self->config.in;
  const AstroCalibrateTable table = { self->file.gains, astro_stage_observation(stage),
                                      self->file.stations };
  const guint64 row =
      astro_stream_extent(stream, ASTRO_AXIS_CHANNEL) * astro_stream_stations(stream);
  g_autofree AstroGainsAt *gains = g_try_new(AstroGainsAt, steps * row);
  guint64 unknown = 0;
  if (!gains) {
    astro_backend_no_memory(error, "no memory for the gains of %" G_GUINT64_FORMAT " steps", steps);
    return NULL;
  }
  for (guint64 t = 0; t < steps; t++) {
    GstClockTime times[2];
    if (!astro_calibrate_find_times(self, in, first, t, steps, times, error))
      return NULL;
    unknown +=
        astro_calibrate_lookup(&table, stream, astro_calibrate_middle(times), gains + t * row);
  }
  astro_calibrate_told_apply(&self->told, GST_ELEMENT(self),
                             steps * row * astro_stream_extent(stream, ASTRO_AXIS_POL), unknown);
  return g_steal_pointer(&gains);
}

static guint32 *add_counts(AstroCalibrate *self, GstBuffer *in, GstBuffer *out, guint64 steps)
{
  const AstroValidityMeta *came = astro_buffer_get_validity(in);
  AstroLayout shape;
  if (!self->file.is_scaled) {
    self->file.count_scale =
        astro_calibrate_count_scale(self->file.gains, came ? came->full : 0, &self->file.full);
    self->file.is_scaled = TRUE;
  }
  astro_stream_shape(&self->config.out, steps, &shape);
  return astro_buffer_add_validity(out, &shape, self->file.full)->counts;
}

static gboolean emit_corrected(AstroCalibrate *self, GstBuffer *in, guint64 first, guint64 steps,
                               GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  const gsize bytes = steps * astro_stream_step_bytes(&self->config.out);
  g_autofree AstroGainsAt *gains = look_up(self, in, first, steps, error);
  g_autoptr(GstBuffer) out = gains ? astro_stage_new_buffer(stage, bytes, error) : NULL;
  if (!out)
    return FALSE;
  /* Before the counts: the input's are among the metas. */
  gst_buffer_copy_into(out, in, GST_BUFFER_COPY_TIMESTAMPS | GST_BUFFER_COPY_META, 0, -1);
  const AstroCalibrateArguments arguments = { .work = ASTRO_CALIBRATE_APPLY,
                                              .steps = steps,
                                              .validity = astro_buffer_get_validity(in),
                                              .gains = gains,
                                              .counts = add_counts(self, in, out, steps),
                                              .count_scale = self->file.count_scale };
  return astro_stage_submit(stage, in, out, &arguments, error) &&
         astro_stage_emit_part(stage, out, 0, bytes, first, steps, error);
}

gboolean astro_calibrate_is_gap(GstBuffer *buffer)
{
  return GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP);
}

/* A gap may have another format than its output, which all zeros suit. */
static gboolean emit_gap(AstroCalibrate *self, GstBuffer *in, guint64 first, guint64 steps,
                         GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  const gsize bytes = steps * astro_stream_step_bytes(&self->config.out);
  g_autoptr(GstBuffer) out = astro_stage_new_buffer(stage, bytes, error);
  if (!out)
    return FALSE;
  gst_buffer_memset(out, 0, 0, bytes);
  gst_buffer_copy_into(out, in, GST_BUFFER_COPY_TIMESTAMPS | GST_BUFFER_COPY_META, 0, -1);
  GST_BUFFER_FLAG_SET(out, GST_BUFFER_FLAG_GAP);
  return astro_stage_emit_part(stage, out, 0, bytes, first, steps, error);
}

gboolean astro_calibrate_emit(AstroCalibrate *self, GstBuffer *in, guint64 first, guint64 steps,
                              GError **error)
{
  return astro_calibrate_is_gap(in) ? emit_gap(self, in, first, steps, error)
                                    : emit_corrected(self, in, first, steps, error);
}
