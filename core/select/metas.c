/* Sums of weights, and which tiles of a grid were touched, of what is kept. */
#include "config.h"
#include "core/select/check.h"

#include "core/stream/grid.h"

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

/* How many weights are kept; 0 where there are none. */
static guint kept_weights(const AstroSelectConfig *config, guint n_weights)
{
  const guint64 all = astro_stream_extent(&config->in, ASTRO_AXIS_CHANNEL) *
                      astro_stream_extent(&config->in, ASTRO_AXIS_POL);
  return n_weights == all ? kept_of(config, ASTRO_AXIS_CHANNEL) * kept_of(config, ASTRO_AXIS_POL)
                          : 0;
}

static void keep_weights(const AstroSelectConfig *config, const double *in, double *out)
{
  const AstroSelectPick *channels = pick_of(config, ASTRO_AXIS_CHANNEL),
                        *pols = pick_of(config, ASTRO_AXIS_POL);
  const guint n_channels = kept_of(config, ASTRO_AXIS_CHANNEL),
              n_pols = kept_of(config, ASTRO_AXIS_POL);
  const guint64 of = astro_stream_extent(&config->in, ASTRO_AXIS_POL);
  for (guint c = 0; c < n_channels; c++)
    for (guint p = 0; p < n_pols; p++)
      *out++ = in[astro_select_from(channels, c) * of + astro_select_from(pols, p)];
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
  if (n)
    keep_weights(config, in->weights, out->weights);
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
  if (n)
    keep_weights(config, in->weights, out->weights);
}

void astro_select_grid_metas(const AstroSelectConfig *config, GstBuffer *in, GstBuffer *out)
{
  const AstroGridMeta *grid = astro_buffer_get_grid(in);
  const AstroImageMeta *image = astro_buffer_get_image(in);
  if (grid)
    keep_grid(config, grid, out);
  if (image)
    keep_image(config, image, out);
}
