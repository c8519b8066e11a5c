/* Intervals of astrocalibrate: steps are added until an interval has ended, which is solved then;
 * blocks wait for the gains that correct them. */
#include "config.h"
#include "elements/astrocalibrate-parts.h"

#include <math.h>

static void free_held(gpointer data)
{
  AstroCalibrateHeld *held = data;
  gst_buffer_unref(held->buffer);
  g_free(held);
}

/* Emits what waits, up to a time: gains are interpolated as far as the middle of the last interval
 * that was solved. */
static gboolean emit_until(AstroCalibrate *self, double seconds, GError **error)
{
  gboolean good = TRUE;
  while (good && self->held.head &&
         ((AstroCalibrateHeld *)self->held.head->data)->last <= seconds) {
    AstroCalibrateHeld *held = g_queue_pop_head(&self->held);
    good = astro_calibrate_emit(self, held->buffer, held->first, held->steps, error);
    free_held(held);
  }
  return good;
}

static gboolean solve(AstroCalibrate *self, GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  const gsize n = astro_gains_row(self->file.gains);
  g_autofree complex double *gains = g_new(complex double, n);
  g_autofree float *snr = g_new(float, n);
  g_autofree double *delays = g_new(double, n);
  AstroCalibrateSolved solved = { .gains = gains, .snr = snr, .delays = delays };
  const AstroCalibrateArguments arguments = { .work = ASTRO_CALIBRATE_SOLVE,
                                              .reference = self->reference };
  self->open = FALSE;
  astro_stage_result(stage)->own = &solved;
  const gboolean ok = astro_stage_submit(stage, NULL, NULL, &arguments, error);
  astro_stage_result(stage)->own = NULL;
  if (!ok)
    return FALSE;
  astro_gains_add(self->file.gains, self->begin, self->end, gains, snr, delays);
  self->file.gains->is_constant = self->interval == 0 && self->file.gains->intervals->len == 1;
  astro_calibrate_told_add(&self->told, GST_ELEMENT(self), &solved, n, self->begin, self->end);
  return TRUE;
}

static gboolean add_steps(AstroCalibrate *self, GstBuffer *in, guint64 first, guint64 steps,
                          GError **error)
{
  const AstroCalibrateArguments forget = { .work = ASTRO_CALIBRATE_FORGET };
  const AstroCalibrateArguments arguments = {
    .work = ASTRO_CALIBRATE_ADD,
    .steps = steps,
    .validity = astro_buffer_get_validity(in),
    .model = astro_calibrate_model_values(self->model),
  };
  (void)first;
  if (self->stale && !astro_stage_submit(ASTRO_STAGE(self), NULL, NULL, &forget, error))
    return FALSE;
  self->stale = FALSE;
  return astro_stage_submit(ASTRO_STAGE(self), in, NULL, &arguments, error);
}

static gboolean set_model(AstroCalibrate *self, const GstClockTime times[2], GError **error)
{
  gboolean found;
  if (!self->has_input)
    return astro_calibrate_model_predict(self->model, 1, 0, times[0], times[1], error);
  if (!astro_calibrate_input_take(&self->input, ASTRO_STAGE(self), times, self->model, &found,
                                  error))
    return FALSE;
  if (!found)
    astro_calibrate_told_unmodelled(&self->told, GST_ELEMENT(self), (double)times[0] / GST_SECOND);
  return TRUE;
}

/* Adds one step of a block, and solves the interval before it if that has ended. */
static gboolean add_step(AstroCalibrate *self, GstBuffer *in, guint64 first, guint64 steps,
                         guint64 t, double *middle, GError **error)
{
  GstClockTime times[2];
  if (!astro_calibrate_find_times(self, in, first, t, steps, times, error))
    return FALSE;
  *middle = astro_calibrate_middle(times);
  const gint64 number = self->interval > 0 ? (gint64)floor(*middle / self->interval) : 0;
  if (self->open && self->number != number && !solve(self, error))
    return FALSE;
  if (astro_calibrate_is_gap(in))
    return TRUE;
  if (!set_model(self, times, error))
    return FALSE;
  if (!self->open)
    self->begin = (double)times[0] / GST_SECOND;
  self->open = TRUE;
  self->number = number;
  self->end = (double)times[1] / GST_SECOND;
  if (steps == 1)
    return add_steps(self, in, first, 1, error);
  g_autoptr(GstBuffer) rest = astro_buffer_from_step(in, &self->config.in, steps, t);
  g_autoptr(GstBuffer) one = rest
                                 ? gst_buffer_copy_region(rest, GST_BUFFER_COPY_ALL, 0,
                                                          astro_stream_step_bytes(&self->config.in))
                                 : NULL;
  return one ? add_steps(self, one, first + t, 1, error)
             : astro_backend_no_memory(error, "no memory for a step of a block");
}

static gboolean feed_solving(AstroCalibrate *self, GstBuffer *in, guint64 first, guint64 steps,
                             GError **error)
{
  double middle = 0;
  for (guint64 t = 0; t < steps; t++)
    if (!add_step(self, in, first, steps, t, &middle, error))
      return FALSE;
  if (self->mode == ASTRO_CALIBRATE_MODE_SOLVE)
    return astro_stage_emit_part(ASTRO_STAGE(self), in, 0, gst_buffer_get_size(in), first, steps,
                                 error);
  AstroCalibrateHeld *held = g_new(AstroCalibrateHeld, 1);
  *held = (AstroCalibrateHeld){ gst_buffer_ref(in), first, steps, middle };
  g_queue_push_tail(&self->held, held);
  const GArray *intervals = self->file.gains->intervals;
  if (!intervals->len)
    return TRUE;
  const AstroGainsInterval *last =
      &g_array_index(intervals, AstroGainsInterval, intervals->len - 1);
  return emit_until(self, (last->begin + last->end) / 2, error);
}

void astro_calibrate_forget_blocks(AstroCalibrate *self)
{
  g_queue_clear_full(&self->held, free_held);
  self->open = FALSE;
  self->stale = TRUE;
}

gboolean astro_calibrate_feed(AstroStage *stage, GstBuffer *in, guint64 first, guint64 steps,
                              GError **error)
{
  AstroCalibrate *self = ASTRO_CALIBRATE(stage);
  if (!astro_calibrate_prepare(self, error))
    return FALSE;
  if (!astro_calibrate_solves(self))
    return astro_calibrate_emit(self, in, first, steps, error);
  const gboolean ok = feed_solving(self, in, first, steps, error);
  if (!ok)
    astro_calibrate_forget_blocks(self);
  return ok;
}

gboolean astro_calibrate_finish_intervals(AstroCalibrate *self, GError **error)
{
  return !(self->open && !solve(self, error)) && emit_until(self, G_MAXDOUBLE, error);
}
