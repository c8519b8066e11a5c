/* Fits the beam to the middle of the point-spread function. */
#include "elements/astroimage-beam.h"

#include "core/kit/units.h"

#define MIDDLE 256     /* pixels: a beam is a few wide */
#define LEAST_ACROSS 2 /* pixels across a beam: with fewer, sources between them are missed */
#define MOST_ACROSS 15 /* with more, pixels show nothing new and less of the sky */
#define WELL_ACROSS 4

void astro_image_beam_prepare(AstroImageBeam *beam, const AstroImageConfig *config)
{
  astro_image_beam_clear(beam);
  beam->psf = -1;
  beam->size = MIN(config->grid.image_size, MIDDLE);
  for (guint i = 0; i < config->n_out; i++)
    if (g_str_equal(config->products[i].name, ASTRO_PRODUCT_PSF))
      beam->psf = (gint)i;
  if (beam->psf >= 0)
    beam->middle = g_malloc_n(beam->size, beam->size * sizeof(double));
}

void astro_image_beam_clear(AstroImageBeam *beam)
{
  g_clear_pointer(&beam->middle, g_free);
}

void astro_image_beam_choose(AstroImageBeam *beam, const AstroImageConfig *config,
                             const double *weights)
{
  const guint middle = config->channels / 2;

  if (beam->psf < 0)
    return;
  beam->product = middle * config->n_out + (guint)beam->psf;
  for (guint i = 0; i < 2 * config->channels; i++) {
    const guint channel = i % 2 ? middle - (i + 1) / 2 : middle + i / 2; /* wraps round below 0 */
    if (channel >= config->channels ||
        !(weights[channel * config->n_in + config->products[beam->psf].terms[0].product] > 0))
      continue;
    beam->product = channel * config->n_out + (guint)beam->psf;
    return;
  }
}

/* If the main lobe is wider than the middle, the whole image is used. */
static gboolean fit_lobe(const AstroImageBeam *beam, const AstroImageConfig *config,
                         GstBuffer *image, AstroImageMeta *meta)
{
  gsize pixels = (gsize)config->grid.image_size * config->grid.image_size;
  gboolean cut,
      found = astro_image_fit_beam(config->to, beam->middle, beam->size, config->grid.pixel,
                                   &meta->major, &meta->minor, &meta->angle, &cut);
  GstMapInfo map;

  if (!cut || beam->size == config->grid.image_size || !gst_buffer_map(image, &map, GST_MAP_READ))
    return found;
  found = astro_image_fit_beam(
      config->to, map.data + (gsize)beam->product * pixels * astro_format_info(config->to)->bytes,
      config->grid.image_size, config->grid.pixel, &meta->major, &meta->minor, &meta->angle, NULL);
  gst_buffer_unmap(image, &map);
  return found;
}

static void warn_of_cell(GstElement *element, const AstroImageConfig *config,
                         const AstroImageMeta *meta)
{
  const double arcsec = ASTRO_DEGREES * 3600, cell = config->grid.pixel * arcsec;
  const double across = meta->minor / config->grid.pixel;
  const double enough = meta->minor * arcsec / (across > MOST_ACROSS ? WELL_ACROSS : LEAST_ACROSS);
  const double field = enough * astro_grid_wanted(&config->grid) / 3600;

  if (across < LEAST_ACROSS)
    GST_ELEMENT_WARNING(element, STREAM, FAILED,
                        ("the beam of %.4g x %.4g arcsec is narrower than two pixels: sources "
                         "between them may not be found",
                         meta->major * arcsec, meta->minor * arcsec),
                        ("cell %.4g arcsec, expected at most %.3g arcsec, which is a field-of-view "
                         "of %.3g degrees",
                         cell, enough, field));
  else if (across > MOST_ACROSS)
    GST_ELEMENT_WARNING(element, STREAM, FAILED,
                        ("the beam of %.4g x %.4g arcsec is %.0f pixels wide: pixels as small as "
                         "these show no more, and less of the sky",
                         meta->major * arcsec, meta->minor * arcsec, across),
                        ("cell %.4g arcsec, expected about %.3g arcsec, which is a field-of-view "
                         "of %.3g degrees",
                         cell, enough, field));
}

/* All images of a stream would give the same warning. */
static void warn(AstroImageBeam *beam, GstElement *element, const AstroImageConfig *config,
                 const AstroImageMeta *meta)
{
  if (beam->warned)
    return;
  beam->warned = TRUE;
  if (meta->has_beam)
    warn_of_cell(element, config, meta);
  else
    GST_ELEMENT_WARNING(element, STREAM, FAILED,
                        ("no beam can be fitted to the point-spread function"),
                        ("expected a main lobe of several pixels of %.4g arcsec",
                         config->grid.pixel * ASTRO_DEGREES * 3600));
}

void astro_image_beam_fit(AstroImageBeam *beam, GstElement *element, const AstroImageConfig *config,
                          GstBuffer *image, AstroImageMeta *meta)
{
  if (beam->psf < 0)
    return;
  meta->has_beam = fit_lobe(beam, config, image, meta);
  meta->sidelobe = astro_image_sidelobe(config->to, beam->middle, beam->size);
  warn(beam, element, config, meta);
  if (!meta->has_beam)
    return;
  GstStructure *s = gst_structure_new(
      "astro-image", "major", G_TYPE_DOUBLE, meta->major * ASTRO_DEGREES, "minor", G_TYPE_DOUBLE,
      meta->minor * ASTRO_DEGREES, "angle", G_TYPE_DOUBLE, meta->angle * ASTRO_DEGREES, NULL);
  gst_element_post_message(element, gst_message_new_element(GST_OBJECT(element), s));
}
