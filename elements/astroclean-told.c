/* Tells what astroclean did. */
#include "config.h"
#include "elements/astroclean-told.h"

#include "core/image/image.h"

static const char *const ends[] = { [ASTRO_CLEAN_ITERATIONS] = "iterations",
                                    [ASTRO_CLEAN_THRESHOLD] = "threshold",
                                    [ASTRO_CLEAN_NOISE] = "noise",
                                    [ASTRO_CLEAN_FRACTION] = "peak-fraction",
                                    [ASTRO_CLEAN_DIVERGED] = "diverged",
                                    [ASTRO_CLEAN_EMPTY] = "empty",
                                    [ASTRO_CLEAN_INTERRUPTED] = "interrupted" };

void astro_clean_warn_of_narrow_psf(GstElement *element, const AstroCleanConfig *config)
{
  const guint middle = config->size - 2 * MIN(config->border, config->size / 2);
  GST_ELEMENT_WARNING(
      element, STREAM, FAILED,
      ("the point-spread function is no larger than the image, so sources are only looked for "
       "in the middle %u x %u pixels. Use algorithm=wstacking with astrogridder, astrofft and "
       "astroimage in one line upstream, which makes it twice as large; or border=0, which is "
       "less exact towards the edges",
       middle, middle),
      (NULL));
}

void astro_clean_warn_of_weights(GstElement *element, const AstroCleanConfig *config)
{
  GST_ELEMENT_WARNING(element, STREAM, FAILED,
                      ("the image does not say how much weight its %u channels have, so all of "
                       "them count the same when they are cleaned together",
                       config->channels),
                      (NULL));
}

static void warn(GstElement *element, const AstroCleanConfig *config, const char *image,
                 const AstroCleanResult *result)
{
  if (result->end == ASTRO_CLEAN_DIVERGED)
    GST_ELEMENT_WARNING(
        element, STREAM, FAILED,
        ("%s diverges and is not cleaned further: after %u iterations peaks have "
         "grown from %.3g to %.3g Jy/beam, and part of the model is not real. Use a gain below "
         "%g, a border above %u pixels, or an image of a smaller field",
         image, result->iterations, result->lowest, result->peak, config->gain, config->border),
        (NULL));
  if (result->end == ASTRO_CLEAN_INTERRUPTED)
    GST_ELEMENT_WARNING(element, STREAM, FAILED,
                        ("interrupted: %s has done %u of %u iterations, and its highest peak left "
                         "is %g Jy/beam",
                         image, result->iterations, config->iterations, result->peak),
                        (NULL));
}

static void post(GstElement *element, const char *product, const char *number, guint value,
                 const AstroCleanResult *result)
{
  GstStructure *s =
      gst_structure_new("astro-clean", number, G_TYPE_UINT, value, "product", G_TYPE_STRING,
                        product, "iterations", G_TYPE_UINT, result->iterations, "peak",
                        G_TYPE_DOUBLE, result->peak, "noise", G_TYPE_DOUBLE, result->noise, "flux",
                        G_TYPE_DOUBLE, result->flux, "end", G_TYPE_STRING, ends[result->end], NULL);
  gst_element_post_message(element, gst_message_new_element(GST_OBJECT(element), s));
}

/* A warning about channels that were cleaned together is about all of them. */
void astro_clean_tell_results(GstElement *element, const AstroCleanConfig *config,
                              char *const *products, const AstroCleanResult *results)
{
  const guint n = config->products;
  for (guint i = 0; i < config->channels * n; i++) {
    g_autofree char *image = g_strdup_printf("%s of channel %u", products[i % n], i / n);
    post(element, products[i % n], "channel", i / n, &results[i]);
    if (!config->joined)
      warn(element, config, image, &results[i]);
  }
  for (guint i = 0; i < n && config->joined; i++) {
    const AstroCleanResult *result = &results[config->channels * n + i];
    g_autofree char *image =
        g_strdup_printf("the mean of %s over %u channels", products[i], config->channels);
    post(element, products[i], "channels", config->channels, result);
    warn(element, config, image, result);
  }
}

/* Whether this product of the output is the point-spread function, which comes last. */
static gboolean is_psf(const AstroCleanConfig *config, guint product)
{
  return config->output == ASTRO_CLEAN_ALL && product == 3 * config->products;
}

/* Noise and peak of each cleaned product; the point-spread function has none. */
static void describe_levels(const AstroCleanConfig *config, const AstroCleanResult *results,
                            AstroImageMeta *to)
{
  const guint products = config->products, n = astro_clean_products_out(config);

  to->cleaned = config->iterations > 0;
  for (guint i = 0; i < to->n_weights && to->cleaned; i++)
    if (!is_psf(config, i % n)) {
      const AstroCleanResult *result = &results[i / n * products + i % n % products];
      to->levels[i] = (AstroImageLevels){ result->noise, result->peak };
    }
}

/* The sidelobe level in the middle channel, where the beam is fitted too. astroimage's own value
 * only covers the middle of the point-spread function. */
static double sidelobe_of(const AstroCleanConfig *config, GstBuffer *in)
{
  const gsize image = (gsize)config->in_size * config->in_size;
  const gsize psf = config->channels / 2 * (config->products + 1) + config->products;
  double sidelobe = 0;
  GstMapInfo map;

  if (gst_buffer_map(in, &map, GST_MAP_READ)) {
    sidelobe = astro_image_sidelobe(
        config->format, map.data + psf * image * astro_format_info(config->format)->bytes,
        config->in_size);
    gst_buffer_unmap(in, &map);
  }
  return sidelobe;
}

void astro_clean_describe(const AstroCleanConfig *config, GstBuffer *in_buffer,
                          const AstroImageMeta *from, const AstroCleanResult *results,
                          GstBuffer *out)
{
  guint in = config->products + 1, n = astro_clean_products_out(config);

  if (!from)
    return;
  AstroImageMeta *to = astro_buffer_add_image(out, config->channels * n);
  to->has_beam = from->has_beam;
  to->major = from->major;
  to->minor = from->minor;
  to->angle = from->angle;
  to->sidelobe = MAX(from->sidelobe, sidelobe_of(config, in_buffer));
  to->border = config->iterations > 0 ? config->border : 0;
  describe_levels(config, results, to);
  if (from->n_weights != config->channels * in)
    return;
  for (guint channel = 0; channel < config->channels; channel++)
    for (guint i = 0; i < n; i++) {
      guint product = is_psf(config, i) ? in - 1 : i % (in - 1);
      to->weights[channel * n + i] = from->weights[channel * in + product];
    }
}
