/* The beams themselves. */
#include "config.h"
#include "core/primarybeam/check.h"

#include <math.h>

#define LIGHT_SPEED 299792458.0 /* m/s */

/* Below this x^2 the first terms of the series are exact to a double. */
#define SMALL 1e-4

double astro_primary_beam_frequency(const AstroPrimaryBeamConfig *config, guint channel)
{
  return config->frequency > 0 ? astro_channel_frequency(config->frequency, config->bandwidth,
                                                         config->channels, channel)
                               : 0;
}

/* East and north at the pointing (l0, m0, n0): the axes of l and m, turned so that the pointing
 * becomes the pole along the great circle from the phase centre. */
gboolean astro_primary_beam_offset(const double pointing[3], double l, double m,
                                   AstroBeamOffset *offset)
{
  const double rest = 1 - l * l - m * m, n = rest > 0 ? sqrt(rest) : 0;
  const double along = pointing[0] * l + pointing[1] * m; /* without n */
  const double turn = along / (1 + pointing[2]) + n;
  const double cosine = along + pointing[2] * n;
  if (rest < 0 || cosine < 0)
    return FALSE;
  offset->east = l - pointing[0] * turn;
  offset->north = m - pointing[1] * turn;
  offset->sine_squared = offset->east * offset->east + offset->north * offset->north;
  return TRUE;
}

double astro_primary_beam_airy(double x_squared)
{
  const double x = sqrt(x_squared);
  const double amplitude =
      x_squared < SMALL ? 1 - x_squared / 8 + x_squared * x_squared / 192 : 2 * j1(x) / x;
  return amplitude * amplitude;
}

double astro_primary_beam_scale(const AstroPrimaryBeamConfig *config,
                                const AstroPrimaryBeamMap *map, guint channel)
{
  const double frequency = astro_primary_beam_frequency(config, channel);
  switch (config->kind) {
  case ASTRO_PRIMARY_BEAM_AIRY:
    return G_PI * config->diameter * frequency / LIGHT_SPEED;
  case ASTRO_PRIMARY_BEAM_GAUSSIAN:
    return frequency / config->of_frequency / config->fwhm;
  default:
    return config->map_channels == 1 && map->frequency > 0 && frequency > 0
               ? frequency / map->frequency
               : 1;
  }
}

static double between(const AstroPrimaryBeamMap *map, guint channel, double x, double y)
{
  if (!(x >= 0 && y >= 0 && x <= map->width - 1. && y <= map->height - 1.))
    return NAN;
  const guint left = MIN((guint)x, map->width - MIN(map->width, 2)),
              upper = MIN((guint)y, map->height - MIN(map->height, 2));
  const guint right = MIN(left + 1, map->width - 1), lower = MIN(upper + 1, map->height - 1);
  const double part_x = x - left, part_y = y - upper;
  const float *rows = map->values + (gsize)channel * map->width * map->height;
  const float *above = rows + (gsize)upper * map->width, *below = rows + (gsize)lower * map->width;
  return (1 - part_y) * ((1 - part_x) * (double)above[left] + part_x * (double)above[right]) +
         part_y * ((1 - part_x) * (double)below[left] + part_x * (double)below[right]);
}

static double of_map(const AstroPrimaryBeamConfig *config, const AstroPrimaryBeamMap *map,
                     guint channel, double scale, const AstroBeamOffset *offset)
{
  const double x = map->width / 2 - (scale * offset->east - map->centre_l) / map->pixel;
  const double y = map->height / 2 + (scale * offset->north - map->centre_m) / map->pixel;
  return between(map, config->map_channels == 1 ? 0 : channel, x, y);
}

double astro_primary_beam_value(const AstroPrimaryBeamConfig *config,
                                const AstroPrimaryBeamMap *map, guint channel, double scale,
                                const AstroBeamOffset *offset)
{
  switch (config->kind) {
  case ASTRO_PRIMARY_BEAM_AIRY:
    return astro_primary_beam_airy(scale * scale * offset->sine_squared);
  case ASTRO_PRIMARY_BEAM_GAUSSIAN: {
    const double widths = scale * asin(MIN(sqrt(offset->sine_squared), 1));
    return exp(-4 * G_LN2 * widths * widths);
  }
  default:
    return of_map(config, map, channel, scale, offset);
  }
}

double astro_primary_beam_at(const AstroPrimaryBeamConfig *config,
                             const AstroPrimaryBeamArguments *arguments, guint channel, double l,
                             double m)
{
  AstroBeamOffset offset;
  if (!astro_primary_beam_offset(arguments->pointing, l, m, &offset))
    return NAN;
  return astro_primary_beam_value(config, arguments->map, channel,
                                  astro_primary_beam_scale(config, arguments->map, channel),
                                  &offset);
}
