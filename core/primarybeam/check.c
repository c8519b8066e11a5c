/* Checks configurations and calls of the primary beam. */
#include "config.h"
#include "core/primarybeam/check.h"

#include <math.h>

static gboolean is_above_0(double value)
{
  return value > 0 && isfinite(value);
}

static gboolean check_kind(const AstroPrimaryBeamConfig *config, GError **error)
{
  const gboolean has_frequency = is_above_0(config->frequency);
  switch (config->kind) {
  case ASTRO_PRIMARY_BEAM_AIRY:
    if (!is_above_0(config->diameter))
      return astro_backend_refuse(error,
                                  "primary beam: a dish with a diameter of %g m, expected more "
                                  "than 0",
                                  config->diameter);
    break;
  case ASTRO_PRIMARY_BEAM_GAUSSIAN:
    if (!is_above_0(config->fwhm) || !is_above_0(config->of_frequency))
      return astro_backend_refuse(error,
                                  "primary beam: a full width of %g radians at %g Hz, expected "
                                  "more than 0 of both",
                                  config->fwhm, config->of_frequency);
    break;
  case ASTRO_PRIMARY_BEAM_MAP:
    if (config->map_channels != 1 && config->map_channels != config->channels)
      return astro_backend_refuse(error,
                                  "primary beam: a picture of %u channels, expected 1 or the %u of "
                                  "the image",
                                  config->map_channels, config->channels);
    return TRUE;
  default:
    return astro_backend_refuse(error, "primary beam: there is no kind %d", config->kind);
  }
  return has_frequency ||
         astro_backend_refuse(error,
                              "primary beam: an image at a frequency of %g Hz, expected more than "
                              "0, on which the beam depends",
                              config->frequency);
}

gboolean astro_primary_beam_check(gconstpointer given, GError **error)
{
  const AstroPrimaryBeamConfig *config = given;
  if (config->format != ASTRO_FORMAT_F32LE && config->format != ASTRO_FORMAT_F64LE)
    return astro_backend_refuse(error,
                                "primary beam: an image of format %s, expected F32LE or F64LE",
                                astro_format_info(config->format)->name);
  if (!config->width || !config->height || !config->channels || !config->products ||
      config->products > ASTRO_PRIMARY_BEAM_MOST_PRODUCTS)
    return astro_backend_refuse(
        error,
        "primary beam: %u channels of %u products of %u x %u pixels, expected 1 or more of each, "
        "and at most %u products",
        config->channels, config->products, config->width, config->height,
        ASTRO_PRIMARY_BEAM_MOST_PRODUCTS);
  if (!is_above_0(config->pixel))
    return astro_backend_refuse(error,
                                "primary beam: pixels of %g radians, expected more than 0: the "
                                "beam is an angle on the sky",
                                config->pixel);
  if (!(config->cut > 0 && config->cut < 1))
    return astro_backend_refuse(error,
                                "primary beam: cut %g of its peak, expected more than 0 and less "
                                "than 1",
                                config->cut);
  return check_kind(config, error);
}

gboolean astro_primary_beam_check_call(const AstroPrimaryBeamConfig *config, const AstroBlock *in,
                                       guint n_in, const AstroBlock *out, guint n_out,
                                       const AstroPrimaryBeamArguments *arguments, GError **error)
{
  const gsize bytes = (gsize)config->width * config->height * config->channels * config->products *
                      astro_format_info(config->format)->bytes;
  if (config->kind == ASTRO_PRIMARY_BEAM_MAP && !arguments->map)
    return astro_backend_refuse(error, "primary beam: there is no picture of the beam");
  if (n_in == 1 && n_out == 1 && in->bytes >= bytes && out->bytes >= bytes)
    return TRUE;
  return astro_backend_refuse(error,
                              "primary beam: %u blocks in and %u out of %" G_GSIZE_FORMAT
                              " and %" G_GSIZE_FORMAT " bytes, expected one of %" G_GSIZE_FORMAT
                              " each",
                              n_in, n_out, n_in ? in->bytes : 0, n_out ? out->bytes : 0, bytes);
}
