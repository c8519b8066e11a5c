/* How much memory CLEAN needs. */
#include "config.h"
#include "core/clean/memory.h"

/* Images of one size: what all planes that are cleaned together need once, and what each needs. */
typedef struct {
  guint once, each;
} Images;

/* Once: where peaks are looked for (twice with a mask found by the noise), rows of the model while
 * it is convolved with the beam, and the mean of joined channels. Each: residual and model. */
static const Images plain = { 4, 2 };
/* With scales. Once: components drawn, and the mean smoothed. Each: the residual smoothed, and
 * components; of the point-spread function's size, that smoothed once and twice. */
static const Images scaled = { 2, 2 }, scaled_psf = { 0, 2 };

/* Images that the mean of joined planes takes in double while its noise is measured. */
#define MEAN_IN_DOUBLE 2

static guint64 count(Images images, guint planes)
{
  return images.once + (guint64)images.each * planes;
}

guint64 astro_clean_memory(gconstpointer configuration, guint threads)
{
  const AstroCleanConfig *config = configuration;
  const guint64 pixels = (guint64)config->size * config->size;
  const guint64 input = (guint64)config->in_size * config->in_size;
  const guint64 all = pixels * config->channels * config->products;
  const guint planes = config->joined ? config->channels : 1;
  const gboolean has_scales = config->n_scales > 0;
  const gsize bytes = astro_format_info(config->format)->bytes;
  const guint64 images = count(plain, planes) + (has_scales ? count(scaled, planes) : 0) +
                         (config->joined ? MEAN_IN_DOUBLE : 0);
  const guint64 psfs = has_scales ? count(scaled_psf, planes) : 0;
  /* The mask; the model so far, with the file that it comes from, and the one for the list. */
  const guint64 brought = pixels + all * (2 * sizeof(float) + bytes);
  return (images * pixels + psfs * input) * bytes + brought;
}
