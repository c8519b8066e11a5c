/* The size of an image and of its pixels where nobody sets them. */
#include "config.h"
#include "core/gridder/extent.h"

#include <math.h>

#include "core/gridder/gridder.h"
#include "core/stream/uvw.h"
#include "core/kit/units.h"

#define ARCSECS (ASTRO_DEGREES * 3600) /* in a radian */

#define PIXELS_A_BEAM 4
#define SAME_PLACE 1e-3 /* metres */

/* Full width at half maximum of a beam, times a baseline in wavelengths. The first is for Gaussian
 * weights and the root mean square length (along u or v it is smaller by the root of two), the
 * second for the longest baseline. */
#define NATURAL_BEAM (0.375 * G_SQRT2)
#define FINEST_BEAM 1.0

/* A pixel times the longest baseline: 0.5 would lose it, and the edges of the grid need some room.
 */
#define COARSEST 0.45

/* Pixels along a side where no field is set. */
#define LEAST 1024
#define MOST 2048

/* Angle at which a dish's response is down to half: this times the wavelength over its diameter. */
#define PRIMARY_BEAM 1.2

/* The widest image whose corners are above the horizon, radians; the phase centre is its middle. */
#define WIDEST 1.2

static gboolean is_nowhere(const double *position)
{
  return position[0] == 0 && position[1] == 0 && position[2] == 0;
}

gboolean astro_baselines_find(const AstroObservation *observation, AstroBaselines *baselines)
{
  double squares = 0;
  guint n = 0;

  *baselines = (AstroBaselines){ .shortest = HUGE_VAL };
  for (guint i = 0; i < observation->n_stations; i++)
    for (guint j = 0; j < i; j++) {
      const double *a = &observation->positions[3 * i], *b = &observation->positions[3 * j];
      const double length = hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
      if (is_nowhere(a) || is_nowhere(b) || length < SAME_PLACE)
        continue;
      baselines->shortest = MIN(baselines->shortest, length);
      baselines->longest = MAX(baselines->longest, length);
      squares += length * length;
      n++;
    }
  baselines->rms = sqrt(squares / MAX(n, 1));
  return n > 0;
}

double astro_extent_cell(const AstroBaselines *baselines, double highest, gboolean is_natural)
{
  const double wave = ASTRO_LIGHT_SPEED / highest;
  const double finest = FINEST_BEAM / PIXELS_A_BEAM * wave / baselines->longest;
  const double natural = NATURAL_BEAM / PIXELS_A_BEAM * wave / baselines->rms;
  const double coarsest = COARSEST * wave / baselines->longest;
  const double cell = (is_natural ? CLAMP(natural, finest, coarsest) : finest) * ARCSECS;
  const double digit = pow(10, floor(log10(cell)) - 1);
  return floor(cell / digit + 1e-9) * digit;
}

guint astro_extent_size(double shortest, double frequency, double cell, double field)
{
  const double seen = PRIMARY_BEAM * ASTRO_LIGHT_SPEED / (frequency * shortest) * ARCSECS;
  const double above = floor(WIDEST * ARCSECS / cell / 2) * 2;

  if (field > 0)
    return astro_grid_good_size((guint)MIN(ceil(field * 3600 / cell), G_MAXINT / 4));
  const double wanted = astro_grid_good_size((guint)CLAMP(seen / cell, LEAST, MOST));
  return (guint)MAX(MIN(wanted, above), 2);
}
