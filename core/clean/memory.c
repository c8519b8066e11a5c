/* How much memory CLEAN needs. */
#include "config.h"
#include "core/clean/memory.h"

#include "core/clean/check.h"

/* In images of one product. For each plane that is cleaned at a time: the residual and the model.
 * In all: where peaks are looked for (twice with a mask found by the noise), and rows of the model
 * while it is convolved with the beam. */
#define EACH 2
#define ONCE 3
/* With scales: the residual smoothed and components of each plane, and those of one drawn; and the
 * point-spread function smoothed once and twice. */
#define SCALED_EACH 2
#define SCALED_ONCE 1
#define SCALED_PSF 2

/* Joined planes: their mean, its smoothed one, and a plane's values in double while its noise is
 * measured, which is no more than two images. */
#define JOINED 4

guint64 astro_clean_memory(gconstpointer configuration, guint threads)
{
  const AstroCleanConfig *config = configuration;
  const guint64 pixels = (guint64)config->size * config->size;
  const guint64 input = (guint64)config->in_size * config->in_size;
  const guint64 planes = astro_clean_planes(config);
  const guint64 images = EACH * planes + ONCE + (config->joined ? JOINED : 0) +
                         (config->n_scales ? SCALED_EACH * planes + SCALED_ONCE : 0);
  const guint64 psfs = config->n_scales ? SCALED_PSF * planes : 0;
  const guint64 all = pixels * config->channels * config->products;
  return (images * pixels + psfs * input) * astro_format_info(config->format)->bytes + pixels +
         2 * all * sizeof(float);
}
