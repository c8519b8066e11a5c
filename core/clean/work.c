/* The work of CLEAN, for plans. */
#include "config.h"
#include "core/clean/check.h"

/* One cycle of each image, of a peak in the middle: inside the border the residual is looked
 * through, and the point-spread function is multiplied and subtracted. Where channels are joined,
 * their mean is made anew. How many cycles there are, and where, the data decide. */
gboolean astro_clean_work(gconstpointer configuration, const AstroWorkSteps *steps, AstroWork *work)
{
  const AstroCleanConfig *config = configuration;
  const guint planes = astro_clean_planes(config);
  const double side = (double)config->size - 2. * config->border, inside = side * side,
               image = (double)config->size * config->size,
               cleaned = (double)config->channels / planes * config->products * steps->in,
               bytes = astro_format_info(config->format)->bytes;
  *work =
      (AstroWork){ .besides = "smoothing to each scale, and cycles, as many as the peaks take" };
  if (config->n_scales)
    return FALSE;
  *work = (AstroWork){
    .moved = cleaned * bytes *
             (inside + 3 * inside * planes + (config->joined ? (planes + 1) * image : 0)),
    .besides = "cycles after the first, as many as the peaks take, and what is restored",
  };
  work->operations[config->format == ASTRO_FORMAT_F64LE ? ASTRO_ARITHMETIC_DOUBLE
                                                        : ASTRO_ARITHMETIC_FLOAT] =
      cleaned * (2 * inside * planes + (config->joined ? 2 * planes * image : 0));
  return TRUE;
}
