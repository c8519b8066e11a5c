/* Positions and texts of the numbers along an axis. */
#pragma once

#include "core/render/panel.h"

G_BEGIN_DECLS

#define ASTRO_MAX_TICKS 48

typedef struct {
  double value, place; /* place: 0 to 1 along the axis */
  char text[32];
} AstroTick;

/* A step of 1, 2 or 5 times a power of ten, such that a span has at most `most` steps. */
double astro_tick_step(double span, guint most);
/* With as many decimals as the step needs. */
void astro_tick_text(char *text, gsize bytes, double value, double step);
/* Sets from and to at whole steps around that range, which may be a single value. */
void astro_axis_around(AstroPanelAxis *axis, double low, double high);
/* Writes at most ASTRO_MAX_TICKS. */
guint astro_ticks(const AstroPanelAxis *axis, guint most, AstroTick *ticks);

/* Right ascension (of_ra) or declination along the straight line between two pixels: values in
 * degrees, texts in hours or degrees, minutes and seconds, with the step of the grid. */
typedef struct {
  double step[2];         /* of RA and declination, degrees; 0: there is nothing to draw */
  double low[2], high[2]; /* range of coordinates in the panel */
  double ra;              /* origin of RA in low and high, -180 to 180 */
} AstroSkyGrid;

/* width, height: pixels of the image. */
void astro_sky_grid_find(AstroSkyGrid *grid, const AstroWcs *wcs, guint width, guint height,
                         guint most_x, guint most_y);
guint astro_sky_ticks(const AstroSkyGrid *grid, const AstroWcs *wcs, gboolean of_ra,
                      const double from[2], const double to[2], AstroTick *ticks);

/* Points of the line of constant RA (of_ra) or declination, NaN between pieces. Returns their
 * number, up to ASTRO_SKY_LINE_POINTS. */
#define ASTRO_SKY_LINE_POINTS 241
guint astro_sky_line(const AstroSkyGrid *grid, const AstroWcs *wcs, gboolean of_ra, double value,
                     double points[ASTRO_SKY_LINE_POINTS][2]);

G_END_DECLS
