/* The parts shared by both backends of the primary beam. */
#pragma once

#include "core/primarybeam/primarybeam.h"

G_BEGIN_DECLS

gboolean astro_primary_beam_check(gconstpointer config, GError **error);
gboolean astro_primary_beam_check_call(const AstroPrimaryBeamConfig *config, const AstroBlock *in,
                                       guint n_in, const AstroBlock *out, guint n_out,
                                       const AstroPrimaryBeamArguments *arguments, GError **error);

/* A channel's frequency, Hz; 0: unknown. */
double astro_primary_beam_frequency(const AstroPrimaryBeamConfig *config, guint channel);
/* A direction as seen from the pointing: cosines along east and north there, and the squared sine
 * of the angle between them. FALSE if it is not on the sky, or behind the dish. */
typedef struct {
  double east, north, sine_squared;
} AstroBeamOffset;
gboolean astro_primary_beam_offset(const double pointing[3], double l, double m,
                                   AstroBeamOffset *offset);
/* The beam there. scale: x = scale x sine for an Airy beam, theta / width for a Gaussian, and the
 * stretch of a map (astro_primary_beam_scale). */
double astro_primary_beam_scale(const AstroPrimaryBeamConfig *config,
                                const AstroPrimaryBeamMap *map, guint channel);
double astro_primary_beam_value(const AstroPrimaryBeamConfig *config,
                                const AstroPrimaryBeamMap *map, guint channel, double scale,
                                const AstroBeamOffset *offset);

static inline double astro_primary_beam_l(const AstroPrimaryBeamConfig *config, guint x)
{
  return config->centre_l + ((double)(config->width / 2) - x) * config->pixel;
}

static inline double astro_primary_beam_m(const AstroPrimaryBeamConfig *config, guint y)
{
  return config->centre_m + (y - (double)(config->height / 2)) * config->pixel;
}

G_END_DECLS
