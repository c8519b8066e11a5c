/* Hands the calls of a grid to the devices that share it. */
#include "elements/astrogridder-lanes.h"

static guint n_lanes(const AstroGridCollector *self)
{
  return astro_stage_n_lanes(self->stage);
}

/* Whether each device has visibilities of its own. */
static gboolean deals_dumps(const AstroGridCollector *self)
{
  return n_lanes(self) > 1 && self->at_once;
}

void astro_grid_lanes_forget(AstroGridCollector *self)
{
  for (guint i = 0; i < G_N_ELEMENTS(self->lanes); i++)
    gst_clear_buffer(&self->lanes[i].open);
}

/* ---- calls without blocks ---- */

gboolean astro_grid_lanes_ask(AstroGridCollector *self, const AstroGridderArguments *arguments,
                              GError **error)
{
  for (guint i = n_lanes(self); i-- > 0;) {
    astro_stage_take_lane(self->stage, i);
    if (!astro_stage_submit(self->stage, NULL, NULL, arguments, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean count_one(AstroGridCollector *self, double *sums, GError **error)
{
  const AstroGridderArguments arguments = { .call = ASTRO_GRID_COUNT };
  AstroResult *told = astro_stage_result(self->stage);
  told->sums = sums;
  const gboolean done = astro_stage_submit(self->stage, NULL, NULL, &arguments, error);
  told->sums = NULL;
  return done;
}

static void add_counts(AstroGridCounts *to, const AstroGridCounts *from)
{
  to->used += from->used;
  to->outside += from->outside;
  to->flagged += from->flagged;
  to->not_finite += from->not_finite;
}

/* The first one has counted all visibilities, or each its own. */
gboolean astro_grid_lanes_count(AstroGridCollector *self, double *sums, GError **error)
{
  const guint channels = self->config.gridder.channels;
  AstroResult *told = astro_stage_result(self->stage);
  AstroGridCounts all = { 0 };
  g_autofree double *others = g_new0(double, channels);
  for (guint i = deals_dumps(self) ? n_lanes(self) : 1; i-- > 0;) {
    astro_stage_take_lane(self->stage, i);
    if (!count_one(self, sums, error))
      return FALSE;
    add_counts(&all, &told->grid_counts);
    for (guint c = 0; sums && c < channels; c++)
      sums[c] = others[c] += sums[c];
  }
  told->grid_counts = all;
  return TRUE;
}

/* ---- dumps in ---- */

static gboolean open_grid(AstroGridCollector *self, AstroGridLane *lane, GError **error)
{
  if (lane->open || !self->at_once)
    return TRUE;
  lane->open = astro_stage_new_buffer(self->stage, astro_gridder_grid_bytes(&self->config), error);
  lane->is_new = TRUE;
  return lane->open != NULL;
}

static gboolean add_on(AstroGridCollector *self, guint number, GstBuffer *in,
                       AstroGridderArguments *arguments, GError **error)
{
  AstroGridLane *lane = &self->lanes[number];
  astro_stage_take_lane(self->stage, number);
  if (!open_grid(self, lane, error))
    return FALSE;
  arguments->call = in ? ASTRO_GRID_ADD : ASTRO_GRID_MISS;
  arguments->is_new = lane->is_new;
  if (!in)
    return astro_stage_submit(self->stage, NULL, NULL, arguments, error);
  if (!astro_stage_submit_part(self->stage, in, lane->open, arguments, lane->is_new, FALSE, error))
    return FALSE;
  lane->is_new = FALSE;
  return TRUE;
}

/* The first device has the first dump of a grid. */
gboolean astro_grid_lanes_add(AstroGridCollector *self, GstBuffer *in,
                              AstroGridderArguments *arguments, GError **error)
{
  if (deals_dumps(self))
    return add_on(self, (guint)(self->dumps % n_lanes(self)), in, arguments, error);
  for (guint i = n_lanes(self); i-- > 0;)
    if (!add_on(self, i, in, arguments, error))
      return FALSE;
  return TRUE;
}

/* ---- planes out ---- */

static GstBuffer *new_grid(AstroGridCollector *self, GError **error)
{
  return astro_stage_new_buffer(self->stage, astro_gridder_grid_bytes(&self->config), error);
}

/* A plane, or a grid of rows that were held, made by the device whose turn it is. */
static GstBuffer *make_plane(AstroGridCollector *self, const AstroGridderArguments *arguments,
                             gboolean is_last, gboolean with_map, GstBuffer **touched,
                             GError **error)
{
  AstroStage *stage = self->stage;
  GstBuffer *out = new_grid(self, error);
  if (!out)
    return NULL;
  if (with_map)
    *touched = astro_stage_new_aside(stage, astro_gridder_map_bytes(&self->config), error);
  const AstroStageBlocks blocks = { { NULL }, { out, with_map ? *touched : NULL } };
  if ((with_map && !*touched) ||
      !astro_stage_submit_blocks(stage, &blocks, arguments, TRUE, is_last, error))
    gst_clear_buffer(&out);
  return out;
}

gboolean astro_grid_lanes_pass(AstroGridCollector *self, GError **error)
{
  static const AstroGridderArguments skip = { .call = ASTRO_GRID_SKIP };
  return astro_grid_lanes_ask(self, &skip, error);
}

GstBuffer *astro_grid_lanes_nothing(AstroGridCollector *self, GError **error)
{
  astro_stage_take_lane(self->stage, 0);
  GstBuffer *out = new_grid(self, error);
  if (out)
    gst_buffer_memset(out, 0, 0, gst_buffer_get_size(out));
  return out;
}

/* Each device makes its planes in their order, and passes over those of the others. */
static GstBuffer *next_plane(AstroGridCollector *self, guint plane, gboolean with_map,
                             GstBuffer **touched, GError **error)
{
  const AstroGridderArguments arguments = { .call = ASTRO_GRID_PLANE },
                              skip = { .call = ASTRO_GRID_SKIP };
  const guint turn = plane / self->ranks % n_lanes(self);
  for (guint i = 0; i < n_lanes(self); i++) {
    astro_stage_take_lane(self->stage, i);
    if (i != turn && !astro_stage_submit(self->stage, NULL, NULL, &skip, error))
      return NULL;
  }
  astro_stage_take_lane(self->stage, turn);
  return make_plane(self, &arguments, TRUE, with_map, touched, error);
}

/* The grid that a device's dumps were added to leaves itself; only where grids are cumulative does
 * it stay, and a copy of it leaves. */
static GstBuffer *close_open(AstroGridCollector *self, AstroGridLane *lane, gboolean is_last,
                             GError **error)
{
  AstroStage *stage = self->stage;
  AstroGridderArguments arguments = { .call = ASTRO_GRID_PLANE, .is_new = lane->is_new };
  const gboolean stays = self->config.cumulative;
  if (!astro_stage_submit_part(stage, NULL, lane->open, &arguments, lane->is_new, is_last && !stays,
                               error))
    return NULL;
  lane->is_new = FALSE;
  if (!stays)
    return g_steal_pointer(&lane->open);
  GstBuffer *out = new_grid(self, error);
  arguments = (AstroGridderArguments){ .call = ASTRO_GRID_COPY };
  if (out && !astro_stage_submit_part(stage, lane->open, out, &arguments, TRUE, is_last, error))
    gst_clear_buffer(&out);
  return out;
}

/* The part that one device has; NULL without an error: none. */
static GstBuffer *part_of_grid(AstroGridCollector *self, guint number, gboolean is_last,
                               GError **error)
{
  AstroGridLane *lane = &self->lanes[number];
  const AstroGridderArguments arguments = { .call = ASTRO_GRID_PLANE,
                                            .share = self->rank * n_lanes(self) + number,
                                            .shares = self->ranks * n_lanes(self) };
  astro_stage_take_lane(self->stage, number);
  if (self->at_once)
    return lane->open ? close_open(self, lane, is_last, error) : NULL;
  return make_plane(self, &arguments, is_last, FALSE, NULL, error);
}

/* All devices are set to work before the first one waits for what the others have. */
static GstBuffer *whole_grid(AstroGridCollector *self, GError **error)
{
  static const AstroGridderArguments sum = { .call = ASTRO_GRID_SUM };
  GstBuffer *parts[ASTRO_MOST_DEVICES] = { NULL };
  GError *failed = NULL;
  guint left = 0;
  for (guint i = 0; i < n_lanes(self) && !failed; i++)
    left += (parts[i] = part_of_grid(self, i, n_lanes(self) == 1, &failed)) != NULL;
  astro_stage_take_lane(self->stage, 0);
  for (guint i = 1; i < n_lanes(self); i++) {
    if (parts[i] && !failed)
      astro_stage_submit_part(self->stage, parts[i], parts[0], &sum, FALSE, --left == 1, &failed);
    gst_clear_buffer(&parts[i]);
  }
  if (!failed)
    return parts[0];
  gst_clear_buffer(&parts[0]);
  g_propagate_error(error, failed);
  return NULL;
}

GstBuffer *astro_grid_lanes_plane(AstroGridCollector *self, guint plane, gboolean with_map,
                                  GstBuffer **touched, GError **error)
{
  return self->config.algorithm->has_planes ? next_plane(self, plane, with_map, touched, error)
                                            : whole_grid(self, error);
}
