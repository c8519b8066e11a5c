/* Decides which dumps make a grid, and sends its planes. */
#include "elements/astrogridder-collector.h"

#include "core/stream/uvw.h"
#include "elements/astrogridder-reports.h"

void astro_grid_collector_forget(AstroGridCollector *self)
{
  gst_clear_buffer(&self->open);
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
  return astro_stage_submit(self->stage, NULL, NULL, &arguments, error);
}

/* sums: the weights in each of the grid's channels, added up. */
static void describe(AstroGridCollector *self, GstBuffer *buffer, guint plane, const double *sums)
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
  meta->planes = told->planes;
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

/* The grid that dumps were added to leaves itself; only where grids are cumulative does it stay,
 * and a copy of it leaves. touched: its map of touched tiles, where the reader takes one. */
static GstBuffer *next_plane(AstroGridCollector *self, GstBuffer **touched, GError **error)
{
  AstroStage *stage = self->stage;
  const gboolean with_map = sends_maps(self);
  AstroGridderArguments arguments = { .call = ASTRO_GRID_PLANE, .is_new = self->open_is_new };
  GstBuffer *out;
  if (self->open && !astro_stage_submit_part(stage, NULL, self->open, &arguments, self->open_is_new,
                                             !self->config.cumulative, error))
    return NULL;
  self->open_is_new = FALSE;
  if (self->open && !self->config.cumulative)
    return g_steal_pointer(&self->open);
  out = astro_stage_new_buffer(stage, astro_gridder_grid_bytes(&self->config), error);
  if (!out)
    return NULL;
  if (self->open)
    arguments.call = ASTRO_GRID_COPY;
  arguments.is_new = FALSE;
  if (with_map)
    *touched = astro_stage_new_aside(stage, astro_gridder_map_bytes(&self->config), error);
  const AstroStageBlocks blocks = { { self->open }, { out, *touched } };
  if ((with_map && !*touched) ||
      !astro_stage_submit_blocks(stage, &blocks, &arguments, TRUE, TRUE, error))
    gst_clear_buffer(&out);
  return out;
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

static gboolean count(AstroGridCollector *self, double *sums, GError **error)
{
  AstroResult *told = astro_stage_result(self->stage);
  told->sums = sums;
  const gboolean done = ask(self, ASTRO_GRID_COUNT, error);
  told->sums = NULL;
  return done;
}

/* Each plane leaves before the next is made, so that few are in memory at once. The sums of weights
 * are final once the grid has begun. */
static gboolean send_planes(AstroGridCollector *self, GError **error)
{
  const AstroResult *told = astro_stage_result(self->stage);
  g_autofree double *sums = g_new(double, self->config.gridder.channels);
  if (!ask(self, ASTRO_GRID_BEGIN, error) || !count(self, sums, error))
    return FALSE;
  for (guint plane = 0; plane < told->planes; plane++) {
    g_autoptr(GstBuffer) touched = NULL;
    GstBuffer *out = next_plane(self, &touched, error);
    if (!out)
      return FALSE;
    describe(self, out, plane, sums);
    astro_buffer_get_grid(out)->touched = g_steal_pointer(&touched);
    astro_stage_emit(self->stage, out, self->number, 1);
    if (astro_stage_push(self->stage) != GST_FLOW_OK)
      return TRUE;
  }
  return TRUE;
}

static gboolean send_grid(AstroGridCollector *self, GError **error)
{
  if (!count(self, NULL, error))
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
  return astro_stage_submit(self->stage, NULL, NULL, &arguments, error);
}

static gboolean open_grid(AstroGridCollector *self, GError **error)
{
  if (self->open || !astro_stage_result(self->stage)->adds_at_once)
    return TRUE;
  self->open = astro_stage_new_buffer(self->stage, astro_gridder_grid_bytes(&self->config), error);
  self->open_is_new = TRUE;
  return self->open != NULL;
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

static gboolean add_visibilities(AstroGridCollector *self, GstBuffer *in,
                                 AstroGridderArguments *arguments, GError **error)
{
  arguments->call = ASTRO_GRID_ADD;
  arguments->is_new = self->open_is_new;
  if (!astro_uvw_check_time(astro_stage_observation(self->stage), arguments->middle_ns, error) ||
      !astro_stage_submit_part(self->stage, in, self->open, arguments, self->open_is_new, FALSE,
                               error))
    return FALSE;
  self->open_is_new = FALSE;
  return TRUE;
}

gboolean astro_grid_collector_add(AstroGridCollector *self, GstBuffer *in,
                                  AstroGridderArguments *arguments, const GstClockTime times[2],
                                  GError **error)
{
  if (!check_time(self, times[0], error) || !open_grid(self, error))
    return FALSE;
  if (!(GST_BUFFER_FLAG_IS_SET(in, GST_BUFFER_FLAG_GAP)
            ? ask(self, ASTRO_GRID_MISS, error)
            : add_visibilities(self, in, arguments, error)))
    return FALSE;
  if (!GST_CLOCK_TIME_IS_VALID(self->begin))
    self->begin = times[0];
  self->end = times[1];
  self->last = times[0];
  self->dumps++;
  return self->interval == 0 || self->dumps < self->interval || send_grid(self, error);
}
