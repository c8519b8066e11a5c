/* The work of images, for plans. */
#include "config.h"
#include "core/image/image.h"

#include <math.h>

/* For each plane and pixel, each term is turned to w = 0, of which one part is wanted, scaled and
 * added: 5 operations. The division that the last plane ends with is not included. Columns of
 * planes that are transformed along u alone take a transform each. */
gboolean astro_image_work(gconstpointer configuration, const AstroWorkSteps *steps, AstroWork *work)
{
  const AstroImageConfig *config = configuration;
  const double image = config->grid.image_size, size = config->grid.size;
  double terms = 0, transforms = 0;
  for (guint i = 0; i < config->n_out; i++)
    terms += config->products[i].n_terms;
  if (config->transforms_v)
    transforms = config->n_in * image * 5 * size * log2(size);
  *work =
      (AstroWork){ .kept = config->channels * config->n_out * image * image *
                           (config->to == ASTRO_FORMAT_F64LE ? sizeof(double) : sizeof(float)) };
  work->operations[config->from == ASTRO_FORMAT_CF64LE ? ASTRO_ARITHMETIC_DOUBLE
                                                       : ASTRO_ARITHMETIC_FLOAT] =
      config->channels * (5 * terms * image * image + transforms) * steps->in;
  return TRUE;
}
