/* Lines of right ascension and declination across an image. */
#include "core/render/sexagesimal.h"
#include "core/render/ticks.h"
#include "core/kit/units.h"

#include <math.h>

#define SAMPLES 24 /* along each side of the image, to find the range of coordinates */
#define WALK 400   /* steps along an edge */
#define JUMP 90    /* degrees between steps, above which the coordinate has wrapped around */

#define POLE_STEP 30.0 /* two hours */
#define FINEST 1e-12   /* of a coordinate: the smallest step that doubles resolve */

enum { RA, DEC };

static gboolean world(const AstroSkyGrid *grid, const AstroWcs *wcs, double x, double y,
                      double out[2])
{
  double ra, dec;
  if (!astro_wcs_world(wcs, x, y, &ra, &dec))
    return FALSE;
  out[RA] = remainder(ra * ASTRO_DEGREES - grid->ra, 360);
  out[DEC] = dec * ASTRO_DEGREES;
  return isfinite(out[RA]) && isfinite(out[DEC]);
}

void astro_sky_grid_find(AstroSkyGrid *grid, const AstroWcs *wcs, guint width, guint height,
                         guint most_x, guint most_y)
{
  guint most[2] = { most_x, most_y };
  double at[2], ra, dec;
  gboolean any = FALSE;
  *grid = (AstroSkyGrid){ { 0, 0 }, { INFINITY, INFINITY }, { -INFINITY, -INFINITY }, 0 };
  for (guint i = 0; i <= SAMPLES; i++)
    for (guint j = 0; j <= SAMPLES; j++) {
      /* Starts in the middle, so that RA counts from there. */
      double x = fmod(i * 1.0 / SAMPLES + 0.5, 1.0001) * width - 0.5,
             y = fmod(j * 1.0 / SAMPLES + 0.5, 1.0001) * height - 0.5;
      if (!any && astro_wcs_world(wcs, x, y, &ra, &dec)) {
        grid->ra = ra * ASTRO_DEGREES;
        any = TRUE;
      }
      if (!world(grid, wcs, x, y, at))
        continue;
      for (guint k = 0; k < 2; k++) {
        grid->low[k] = fmin(grid->low[k], at[k]);
        grid->high[k] = fmax(grid->high[k], at[k]);
      }
    }
  for (guint k = 0; k < 2; k++) {
    double span = grid->high[k] - grid->low[k], zero = k == RA ? grid->ra : 0;
    if (span > FINEST * (fmax(fabs(grid->low[k]), fabs(grid->high[k])) + zero))
      grid->step[k] = astro_sexagesimal_step(k == RA, span, most[k]);
  }
  /* Around a pole all lines are shown. */
  grid->step[RA] = fmin(grid->step[RA], POLE_STEP);
}

/* The coordinate of tick k relative to the grid's origin: right ascensions are whole steps from 0,
 * but the grid's count from the middle. */
static double offset_of(const AstroSkyGrid *grid, gboolean of_ra, double k, double *value)
{
  guint axis = of_ra ? RA : DEC;
  *value = k * grid->step[axis];
  return of_ra ? *value - grid->ra : *value;
}

static void add_tick(const AstroSkyGrid *grid, gboolean of_ra, double value, double place,
                     AstroTick *tick)
{
  /* A full circle is 0, though rounding may make it slightly less. */
  const double step = grid->step[of_ra ? RA : DEC];
  tick->value = of_ra ? value - 360 * floor((value + step * 1e-6) / 360) : value;
  tick->place = place;
  astro_sexagesimal_text(tick->text, sizeof tick->text, of_ra, tick->value, step);
}

guint astro_sky_ticks(const AstroSkyGrid *grid, const AstroWcs *wcs, gboolean of_ra,
                      const double from[2], const double to[2], AstroTick *ticks)
{
  guint axis = of_ra ? RA : DEC, n = 0;
  gboolean any = FALSE;
  double before = 0, at[2], step = grid->step[axis], zero = of_ra ? grid->ra : 0;
  for (guint i = 0; i <= WALK && step > 0; i++) {
    double f = (double)i / WALK;
    gboolean good =
        world(grid, wcs, from[0] + f * (to[0] - from[0]), from[1] + f * (to[1] - from[1]), at);
    if (good && any && fabs(at[axis] - before) < JUMP) {
      double low = fmin(before, at[axis]), high = fmax(before, at[axis]), value;
      for (double k = ceil((low + zero) / step); n < ASTRO_MAX_TICKS; k++) {
        double offset = offset_of(grid, of_ra, k, &value);
        if (!(offset < high))
          break;
        add_tick(grid, of_ra, value, (i - 1 + (offset - before) / (at[axis] - before)) / WALK,
                 &ticks[n++]);
      }
    }
    any = good;
    before = at[axis];
  }
  return n;
}

guint astro_sky_line(const AstroSkyGrid *grid, const AstroWcs *wcs, gboolean of_ra, double value,
                     double points[ASTRO_SKY_LINE_POINTS][2])
{
  guint other = of_ra ? DEC : RA;
  double low = grid->low[other], high = grid->high[other], margin = (high - low) * 0.1;
  low = other == DEC ? fmax(low - margin, -90) : fmax(low - margin, -180);
  high = other == DEC ? fmin(high + margin, 90) : fmin(high + margin, 180);
  for (guint i = 0; i < ASTRO_SKY_LINE_POINTS; i++) {
    double along = low + (high - low) * i / (ASTRO_SKY_LINE_POINTS - 1.0);
    double ra = of_ra ? value : along + grid->ra, dec = of_ra ? along : value;
    if (!astro_wcs_pixel(wcs, ra / ASTRO_DEGREES, dec / ASTRO_DEGREES, &points[i][0],
                         &points[i][1]))
      points[i][0] = points[i][1] = NAN;
  }
  return ASTRO_SKY_LINE_POINTS;
}
