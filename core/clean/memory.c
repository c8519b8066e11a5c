/* How much memory CLEAN needs. */
#include "config.h"
#include "core/clean/memory.h"

/* In images of one product: the residual, the model, where peaks are looked for (twice with a mask
 * found by the noise), and rows of the model while it is convolved with the beam. */
#define IMAGES 5
/* With scales: the residual smoothed, components, and these drawn; and the point-spread function
 * smoothed once and twice. */
#define SCALED 3
#define SCALED_PSF 2

guint64 astro_clean_memory(gconstpointer configuration, guint threads)
{
  const AstroCleanConfig *config = configuration;
  const guint64 pixels = (guint64)config->size * config->size;
  const guint64 input = (guint64)config->in_size * config->in_size;
  const guint64 images = IMAGES + (config->n_scales ? SCALED : 0);
  const guint64 psfs = config->n_scales ? SCALED_PSF : 0;
  const guint64 all = pixels * config->channels * config->products;
  return (images * pixels + psfs * input) * astro_format_info(config->format)->bytes + pixels +
         2 * all * sizeof(float);
}
