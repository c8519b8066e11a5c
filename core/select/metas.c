/* Selects what metas have besides counts: sums of weights, touched tiles of a grid, and (u,v,w) of
 * visibilities. */
#include "config.h"
#include "core/select/check.h"

#include "core/stream/absent.h"
#include "core/stream/grid.h"
#include "core/stream/uvw-meta.h"

#include <string.h>

static const AstroSelectPick *pick_of(const AstroSelectConfig *config, AstroAxis axis)
{
  static const AstroSelectPick all = { 0 };
  const gint at = astro_layout_find(&config->in.layout, axis);
  return at < 0 ? &all : &config->pick[at];
}

static guint kept_of(const AstroSelectConfig *config, AstroAxis axis)
{
  const AstroSelectPick *pick = pick_of(config, axis);
  return (guint)(pick->n ? pick->n : astro_stream_extent(&config->in, axis));
}

/* The number of weights that are kept; 0 if there are none. */
static guint kept_weights(const AstroSelectConfig *config, guint n_weights)
{
  const guint64 all = astro_stream_extent(&config->in, ASTRO_AXIS_CHANNEL) *
                      astro_stream_extent(&config->in, ASTRO_AXIS_POL);
  return n_weights == all ? kept_of(config, ASTRO_AXIS_CHANNEL) * kept_of(config, ASTRO_AXIS_POL)
                          : 0;
}

/* The index in the input of a weight that is kept. */
static guint64 weight_from(const AstroSelectConfig *config, guint kept)
{
  const guint pols = kept_of(config, ASTRO_AXIS_POL);
  return astro_select_from(pick_of(config, ASTRO_AXIS_CHANNEL), kept / pols) *
             astro_stream_extent(&config->in, ASTRO_AXIS_POL) +
         astro_select_from(pick_of(config, ASTRO_AXIS_POL), kept % pols);
}

static GstBuffer *keep_touched(const AstroSelectConfig *config, GstBuffer *touched)
{
  const AstroSelectPick *pick = pick_of(config, ASTRO_AXIS_CHANNEL);
  const guint64 channels = astro_stream_extent(&config->in, ASTRO_AXIS_CHANNEL);
  const gsize bytes = gst_buffer_get_size(touched) / channels;
  if (!pick->n)
    return gst_buffer_ref(touched);
  GstBuffer *kept = gst_buffer_new();
  for (guint64 c = 0; c < pick->n; c++)
    kept =
        gst_buffer_append(kept, gst_buffer_copy_region(touched, GST_BUFFER_COPY_MEMORY,
                                                       astro_select_from(pick, c) * bytes, bytes));
  return kept;
}

static void keep_grid(const AstroSelectConfig *config, const AstroGridMeta *in, GstBuffer *buffer)
{
  const guint n = kept_weights(config, in->n_weights);
  AstroGridMeta *out = astro_buffer_add_grid(buffer, n);
  out->w = in->w;
  out->w_step = in->w_step;
  out->plane = in->plane;
  out->planes = in->planes;
  out->used = in->used;
  out->outside = in->outside;
  out->flagged = in->flagged;
  out->not_finite = in->not_finite;
  for (guint i = 0; i < n; i++)
    out->weights[i] = in->weights[weight_from(config, i)];
  if (in->touched)
    out->touched = keep_touched(config, in->touched);
}

static void keep_image(const AstroSelectConfig *config, const AstroImageMeta *in, GstBuffer *buffer)
{
  const guint n = kept_weights(config, in->n_weights);
  AstroImageMeta *out = astro_buffer_add_image(buffer, n);
  out->has_beam = in->has_beam;
  out->major = in->major;
  out->minor = in->minor;
  out->angle = in->angle;
  out->border = in->border;
  out->sidelobe = in->sidelobe;
  out->cleaned = in->cleaned;
  for (guint i = 0; i < n; i++) {
    out->weights[i] = in->weights[weight_from(config, i)];
    out->levels[i] = in->levels[weight_from(config, i)];
  }
}

/* A reversed pair has the opposite (u,v,w). */
static void keep_uvw(const AstroSelectConfig *config, const AstroUvwMeta *in, GstBuffer *buffer)
{
  const AstroSelectPick *pick = pick_of(config, ASTRO_AXIS_BASELINE);
  const guint kept = kept_of(config, ASTRO_AXIS_BASELINE);
  AstroUvwMeta *out = astro_buffer_add_uvw(buffer, in->steps, kept);
  double *to = out->uvw;
  for (guint64 step = 0; step < in->steps; step++)
    for (guint b = 0; b < kept; b++)
      for (guint k = 0; k < 3; k++, to++) {
        const double from = in->uvw[3 * (step * in->baselines + astro_select_from(pick, b)) + k];
        *to = astro_select_is_reversed(pick, b) ? -from : from;
      }
}

static void keep_absent(const AstroSelectConfig *config, const AstroAbsentMeta *in,
                        GstBuffer *buffer)
{
  const AstroSelectPick *pick = pick_of(config, ASTRO_AXIS_BASELINE);
  const guint kept = kept_of(config, ASTRO_AXIS_BASELINE);
  AstroAbsentMeta *out = astro_buffer_add_absent(buffer, in->steps, kept);
  for (guint64 step = 0; step < in->steps; step++)
    for (guint b = 0; b < kept; b++)
      out->is_absent[step * kept + b] =
          in->is_absent[step * in->baselines + astro_select_from(pick, b)];
}

static gboolean is_there(GstBuffer *buffer, GstMeta **meta, gpointer any)
{
  *(gboolean *)any = TRUE;
  return FALSE;
}

static gboolean has_metas(GstBuffer *buffer)
{
  gboolean any = FALSE;
  gst_buffer_foreach_meta(buffer, is_there, &any);
  return any;
}

void astro_select_metas(const AstroSelectConfig *config, GstBuffer *in, GstBuffer *out)
{
  if (!has_metas(in))
    return;
  const AstroGridMeta *grid = astro_buffer_get_grid(in);
  const AstroImageMeta *image = astro_buffer_get_image(in);
  const AstroUvwMeta *uvw = (const AstroUvwMeta *)gst_buffer_get_meta(in, ASTRO_UVW_META_API);
  if (grid)
    keep_grid(config, grid, out);
  if (image)
    keep_image(config, image, out);
  const AstroAbsentMeta *absent = astro_buffer_get_absent(in);
  if (uvw && uvw->baselines == astro_stream_extent(&config->in, ASTRO_AXIS_BASELINE))
    keep_uvw(config, uvw, out);
  if (absent && absent->baselines == astro_stream_extent(&config->in, ASTRO_AXIS_BASELINE))
    keep_absent(config, absent, out);
}
