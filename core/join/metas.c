/* Joins what metas have besides counts: sums of weights of grids and images, levels, and beams. */
#include "config.h"
#include "core/join/join.h"

#include <math.h>

#include "core/stream/grid.h"

/* ---- weights ---- */

/* The number of weights of a buffer with so many elements along the joined axis. */
static guint count_weights(const AstroJoinConfig *config, guint64 extent)
{
  const guint64 all = astro_stream_extent(&config->out, ASTRO_AXIS_CHANNEL) *
                      astro_stream_extent(&config->out, ASTRO_AXIS_POL);
  return (guint)(all / astro_stream_extent(&config->out, config->axis) * extent);
}

/* Where weight i of a part is among those of all: [channel][product], one of which is joined. */
static guint place_weight(const AstroJoinConfig *config, const AstroJoinPart *part, guint i)
{
  const guint pols = (guint)astro_stream_extent(&config->out, ASTRO_AXIS_POL);
  if (config->axis != ASTRO_AXIS_POL)
    return (guint)part->place * pols + i;
  return i / (guint)part->extent * pols + (guint)part->place + i % (guint)part->extent;
}

static gboolean check_weights(const AstroJoinConfig *config, const AstroJoinPart *part,
                              guint n_weights, GError **error)
{
  const guint expected = count_weights(config, part->extent);
  return n_weights == expected ||
         astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "pad %s: a buffer with %u sums of weights, expected %u, one for each "
                             "channel and product",
                             part->pad, n_weights, expected);
}

/* ---- grids ---- */

static gboolean check_grid(const AstroGridMeta *first, const AstroGridMeta *grid, const char *pad,
                           GError **error)
{
  if (!grid)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "pad %s: a grid arrived without its sums of weights; some element "
                               "upstream dropped them",
                               pad);
  if (grid->touched)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "pad %s: the grid leaves empty tiles undefined, expected "
                               "touched-only=false",
                               pad);
  return (first->w == grid->w && first->w_step == grid->w_step && first->plane == grid->plane &&
          first->planes == grid->planes) ||
         astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "pad %s: plane %u of %u at w %.6g (steps of %.6g) wavelengths, "
                             "expected plane %u of %u at %.6g (%.6g), as on the first pad: "
                             "w-stacking chooses its planes from the data; use grids without "
                             "w-planes (astrogridder algorithm=wprojection)",
                             pad, grid->plane, grid->planes, grid->w, grid->w_step, first->plane,
                             first->planes, first->w, first->w_step);
}

gboolean astro_join_grids(const AstroJoinConfig *config, const AstroJoinPart *parts, guint n,
                          GstBuffer *out, GError **error)
{
  const guint64 extent = astro_stream_extent(&config->out, config->axis);
  AstroGridMeta *all = NULL;
  for (guint k = 0; k < n; k++) {
    const AstroGridMeta *grid = parts[k].buffer ? astro_buffer_get_grid(parts[k].buffer) : NULL;
    if (!parts[k].buffer)
      continue;
    if (!check_grid(all ? all : grid, grid, parts[k].pad, error) ||
        !check_weights(config, &parts[k], grid->n_weights, error))
      return FALSE;
    if (!all) {
      all = astro_buffer_add_grid(out, count_weights(config, extent));
      all->w = grid->w;
      all->w_step = grid->w_step;
      all->plane = grid->plane;
      all->planes = grid->planes;
    }
    for (guint i = 0; i < grid->n_weights; i++)
      all->weights[place_weight(config, &parts[k], i)] = grid->weights[i];
    all->used += grid->used;
    all->outside += grid->outside;
    all->flagged += grid->flagged;
    all->not_finite += grid->not_finite;
  }
  return TRUE;
}

/* ---- images ---- */

#define SAME_BEAM 1e-3 /* of its width; and radians */

static gboolean is_same_beam(const AstroImageMeta *a, const AstroImageMeta *b)
{
  if (a->has_beam != b->has_beam)
    return FALSE;
  return !a->has_beam || (fabs(a->major - b->major) <= SAME_BEAM * a->major &&
                          fabs(a->minor - b->minor) <= SAME_BEAM * a->minor &&
                          fabs(remainder(a->angle - b->angle, G_PI)) <= SAME_BEAM);
}

/* The beam of the image in the middle is taken for all, as astroimage takes that of the channel in
 * the middle. */
static void set_beam(const AstroJoinConfig *config, const AstroJoinPart *parts, guint n,
                     AstroImageMeta *all, AstroJoinBeam *beam)
{
  const guint64 middle = astro_stream_extent(&config->out, config->axis) / 2;
  const AstroImageMeta *first = NULL, *taken = NULL;
  for (guint k = 0; k < n; k++) {
    const AstroImageMeta *image = parts[k].buffer ? astro_buffer_get_image(parts[k].buffer) : NULL;
    if (!image)
      continue;
    first = first ? first : image;
    beam->differs |= !is_same_beam(first, image);
    if (!image->has_beam || (taken && taken->has_beam && parts[k].place > middle))
      continue;
    taken = image;
    beam->pad = parts[k].pad;
  }
  if (!taken)
    return;
  all->has_beam = TRUE;
  all->major = taken->major;
  all->minor = taken->minor;
  all->angle = taken->angle;
}

static gboolean add_image(const AstroJoinConfig *config, const AstroJoinPart *part,
                          AstroImageMeta *all, gboolean is_first, GError **error)
{
  const AstroImageMeta *image = astro_buffer_get_image(part->buffer);
  const gboolean is_cleaned = image && image->cleaned;
  if (!is_first && !is_cleaned != !all->cleaned)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "pad %s: the image was %scleaned, and those of the pads before it "
                               "%s: expected all, or none",
                               part->pad, is_cleaned ? "" : "not ",
                               is_cleaned ? "were not" : "were");
  all->cleaned = is_cleaned;
  if (!image)
    return TRUE;
  if (image->n_weights && !check_weights(config, part, image->n_weights, error))
    return FALSE;
  all->sidelobe = MAX(all->sidelobe, image->sidelobe);
  all->border = MAX(all->border, image->border);
  for (guint i = 0; i < image->n_weights && all->n_weights; i++) {
    all->weights[place_weight(config, part, i)] = image->weights[i];
    all->levels[place_weight(config, part, i)] = image->levels[i];
  }
  return TRUE;
}

gboolean astro_join_images(const AstroJoinConfig *config, const AstroJoinPart *parts, guint n,
                           GstBuffer *out, AstroJoinBeam *beam, GError **error)
{
  gboolean any = FALSE, are_weighed = TRUE, is_first = TRUE;
  *beam = (AstroJoinBeam){ 0 };
  for (guint k = 0; k < n; k++) {
    const AstroImageMeta *image = parts[k].buffer ? astro_buffer_get_image(parts[k].buffer) : NULL;
    any |= image != NULL;
    are_weighed &= !parts[k].buffer || (image && image->n_weights);
  }
  if (!any)
    return TRUE;
  const guint64 extent = astro_stream_extent(&config->out, config->axis);
  AstroImageMeta *all =
      astro_buffer_add_image(out, are_weighed ? count_weights(config, extent) : 0);
  for (guint k = 0; k < n; k++) {
    if (!parts[k].buffer)
      continue;
    if (!add_image(config, &parts[k], all, is_first, error))
      return FALSE;
    is_first = FALSE;
  }
  set_beam(config, parts, n, all, beam);
  return TRUE;
}
