/* Decides which dumps make a grid, and sends its planes. */
#include "elements/astrogridder-collector.h"

#include "core/stream/uvw.h"
#include "elements/astrogridder-lanes.h"
#include "elements/astrogridder-reports.h"

void astro_grid_collector_forget(AstroGridCollector *self)
{
  astro_grid_lanes_forget(self);
  self->dumps = 0;
  self->begin = self->last = GST_CLOCK_TIME_NONE;
}

void astro_grid_collector_reset(AstroGridCollector *self)
{
  astro_grid_collector_forget(self);
  self->number = self->sent = 0;
  self->at_end = self->warned = FALSE;
  self->counts = self->before = (AstroGridCounts){ 0 };
}

gboolean astro_grid_collector_is_open(const AstroGridCollector *self)
{
  return self->dumps > 0 || (self->config.cumulative && self->number > 0);
}

/* ---- grids out ---- */

/* A call without blocks; its answer is in the stage's result. */
static gboolean ask(AstroGridCollector *self, AstroGridCall call, GError **error)
{
  const AstroGridderArguments arguments = { .call = call };
  return astro_grid_lanes_ask(self, &arguments, error);
}

/* sums: the weights in each of the grid's channels, added up. */
static void describe(AstroGridCollector *self, GstBuffer *buffer, guint plane, guint planes,
                     const double *sums)
{
  const guint channels = self->config.gridder.channels;
  const guint products = g_strv_length(self->config.grid.products);
  const AstroResult *told = astro_stage_result(self->stage);
  const AstroGridCounts *counts = &told->grid_counts;
  AstroGridMeta *meta = astro_buffer_add_grid(buffer, channels * products);
  for (guint c = 0; c < channels; c++)
    for (guint p = 0; p < products; p++)
      meta->weights[c * products + p] = sums[c];
  meta->w = told->w;
  meta->w_step = told->w_step;
  meta->plane = plane;
  meta->planes = planes;
  meta->used = counts->used;
  meta->outside = counts->outside;
  meta->flagged = counts->flagged;
  meta->not_finite = counts->not_finite;
  GST_BUFFER_PTS(buffer) = self->begin;
  if (GST_CLOCK_TIME_IS_VALID(self->begin) && GST_CLOCK_TIME_IS_VALID(self->end))
    GST_BUFFER_DURATION(buffer) = self->end - self->begin;
}

/* The reader may have changed since it was asked. A plane without a map is whole, which suits all
 * readers. */
static gboolean sends_maps(const AstroGridCollector *self)
{
  return self->reader_takes_maps && !self->whole_planes && self->config.algorithm->has_planes &&
         !GST_PAD_NEEDS_RECONFIGURE(GST_BASE_TRANSFORM_SRC_PAD(self->stage));
}

static void warn_of_losses(AstroGridCollector *self, const AstroGridCounts *counts)
{
  if (counts->outside == 0 || self->warned)
    return;
  self->warned = TRUE;
  astro_gridder_warn_of_losses(GST_ELEMENT(self->stage), astro_stage_result(self->stage),
                               &self->config.grid, counts);
}

static gboolean refuse_empty(AstroGridCollector *self, GError **error)
{
  return astro_gridder_refuse_empty(astro_stage_result(self->stage), &self->config, &self->counts,
                                    error);
}

/* Data that were lost for a while do not end a stream that had others before or may have others
 * later; settings that lose all of them do. */
static gboolean may_be_empty(const AstroGridCollector *self, const AstroGridCounts *counts)
{
  if (self->sent > 0)
    return TRUE;
  return !self->at_end && counts->outside == 0 && counts->flagged + counts->not_finite > 0;
}

static void add_counts(AstroGridCollector *self, const AstroGridCounts *counts)
{
  if (self->config.cumulative)
    self->counts = self->before;
  self->counts.used += counts->used;
  self->counts.outside += counts->outside;
  self->counts.flagged += counts->flagged;
  self->counts.not_finite += counts->not_finite;
}

/* Where other processes make planes too, those of this one are numbered among themselves: their sum
 * is an image, and the sum of these images the one of all planes. Without planes each makes a grid
 * of some visibilities. */
static guint own_planes(const AstroGridCollector *self, guint planes)
{
  if (!self->config.algorithm->has_planes)
    return planes;
  return planes / self->ranks + (self->rank < planes % self->ranks);
}

static gboolean is_own(const AstroGridCollector *self, guint plane)
{
  return !self->config.algorithm->has_planes || plane % self->ranks == self->rank;
}

/* Takes over both buffers. FALSE: nobody wants more. */
static gboolean send(AstroGridCollector *self, GstBuffer *out, GstBuffer *touched, guint plane,
                     guint planes, const double *sums)
{
  describe(self, out, plane, planes, sums);
  astro_buffer_get_grid(out)->touched = touched;
  astro_stage_emit(self->stage, out, self->number, 1);
  return astro_stage_push(self->stage) == GST_FLOW_OK;
}

/* Each plane leaves before the next is made, so that few are in memory at once. The sums of weights
 * are final once the grid has begun. */
static gboolean send_planes(AstroGridCollector *self, GError **error)
{
  const AstroResult *told = astro_stage_result(self->stage);
  g_autofree double *sums = g_new(double, self->config.gridder.channels);
  if (!ask(self, ASTRO_GRID_BEGIN, error) || !astro_grid_lanes_count(self, sums, error))
    return FALSE;
  const guint all = told->planes, own = own_planes(self, all);
  for (guint plane = 0, sent = 0; plane < all; plane++) {
    g_autoptr(GstBuffer) touched = NULL;
    GstBuffer *out;
    if (!is_own(self, plane)) {
      if (!astro_grid_lanes_pass(self, error))
        return FALSE;
      continue;
    }
    if (!(out = astro_grid_lanes_plane(self, plane, sends_maps(self), &touched, error)))
      return FALSE;
    if (!send(self, out, g_steal_pointer(&touched), sent++, own, sums))
      return TRUE;
  }
  if (own > 0)
    return TRUE;
  GstBuffer *nothing = astro_grid_lanes_nothing(self, error);
  if (nothing)
    send(self, nothing, NULL, 0, 1, sums);
  return nothing != NULL;
}

static gboolean send_grid(AstroGridCollector *self, GError **error)
{
  if (!astro_grid_lanes_count(self, NULL, error))
    return FALSE;
  const AstroGridCounts counts = astro_stage_result(self->stage)->grid_counts;
  add_counts(self, &counts);
  if (counts.used > 0) {
    if (!send_planes(self, error))
      return FALSE;
    warn_of_losses(self, &counts);
    self->sent++;
  } else if (may_be_empty(self, &counts)) {
    if (self->number == self->sent) /* the first */
      astro_gridder_warn_of_gap(GST_ELEMENT(self->stage), self->begin, self->end);
  } else {
    return refuse_empty(self, error);
  }
  if (!ask(self, ASTRO_GRID_END, error))
    return FALSE;
  self->number++;
  self->dumps = 0;
  if (!self->config.cumulative)
    astro_grid_collector_forget(self);
  return TRUE;
}

gboolean astro_grid_collector_finish(AstroGridCollector *self, GError **error)
{
  if (self->dumps > 0 && !send_grid(self, error))
    return FALSE;
  if (!self->config.cumulative || self->at_end)
    astro_grid_collector_forget(self);
  if (!self->at_end)
    return TRUE;
  if (self->number == 0)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE,
                               "the stream ended with no visibilities: there is no grid");
  if (self->sent == 0)
    return refuse_empty(self, error);
  astro_gridder_tell(GST_ELEMENT(self->stage), self->sent, &self->counts,
                     astro_stage_result(self->stage)->channels_together);
  return TRUE;
}

/* ---- dumps in ---- */

gboolean astro_grid_collector_observe(AstroGridCollector *self, AstroObservation *observation,
                                      GError **error)
{
  const AstroGridderArguments arguments = { .call = ASTRO_GRID_OBSERVE,
                                            .observation = observation,
                                            .memory = &self->memory,
                                            .plan = &self->plan };
  self->before = self->counts;
  self->last = GST_CLOCK_TIME_NONE;
  if (!astro_grid_lanes_ask(self, &arguments, error))
    return FALSE;
  self->at_once = astro_stage_result(self->stage)->adds_at_once;
  return TRUE;
}

/* The stage sees to it that the steps of a segment rise; a grid that goes on over several segments
 * may be given a time again. */
static gboolean check_time(const AstroGridCollector *self, GstClockTime begin, GError **error)
{
  if (!GST_CLOCK_TIME_IS_VALID(self->last) || begin > self->last)
    return TRUE;
  return astro_stream_refuse(
      error, ASTRO_STREAM_ERROR_SIZE,
      "visibilities of %.9f s came, and the grid has some of %.9f s already: expected times that "
      "rise, since each counts once. cumulative=false begins a grid with every segment",
      (double)begin / GST_SECOND, (double)self->last / GST_SECOND);
}

gboolean astro_grid_collector_add(AstroGridCollector *self, GstBuffer *in,
                                  AstroGridderArguments *arguments, const GstClockTime times[2],
                                  GError **error)
{
  const gboolean is_lost = GST_BUFFER_FLAG_IS_SET(in, GST_BUFFER_FLAG_GAP);
  if (!check_time(self, times[0], error))
    return FALSE;
  if (!is_lost &&
      !astro_uvw_check_time(astro_stage_observation(self->stage), arguments->middle_ns, error))
    return FALSE;
  if (!astro_grid_lanes_add(self, is_lost ? NULL : in, arguments, error))
    return FALSE;
  if (!GST_CLOCK_TIME_IS_VALID(self->begin))
    self->begin = times[0];
  self->end = times[1];
  self->last = times[0];
  self->dumps++;
  return self->interval == 0 || self->dumps < self->interval || send_grid(self, error);
}
