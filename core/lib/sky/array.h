/* Arrays of stations: presets, and files of positions. */
#pragma once

#include "core/kit/lines.h"
#include "core/stream/observation.h"

G_BEGIN_DECLS

#define ASTRO_ARRAY_STATIONS 32 /* of a preset, if no number is given */
#define ASTRO_ARRAY_MAX_STATIONS 65536

/* The origin of local positions; radians, and metres above the ellipsoid. */
typedef struct {
  double latitude, longitude, height;
} AstroSite;

/* array: a preset, or a file of lines "x y z [name]" in metres: geocentric, or, if there is a site,
 * east, north and up of it. The file itself may give the site in a line "site latitude longitude
 * [height]", in degrees and metres, before all stations; a site given here takes precedence. A site
 * moves a preset. n_stations 0: all of the file, or ASTRO_ARRAY_STATIONS. The observation gets
 * telescope, names and positions. */
AstroObservation *astro_array_new(const char *array, guint n_stations, const AstroSite *site,
                                  GError **error);
AstroObservation *astro_array_from_lines(AstroLines *lines, guint n_stations, const AstroSite *site,
                                         GError **error);

extern const char *const astro_array_presets[]; /* ends with NULL */

/* The mean position of the stations. */
void astro_array_centre(const AstroObservation *observation, double centre[3]);
/* x y z of each station relative to that, divided by the speed of light: seconds, to be freed. */
double *astro_array_seconds(const AstroObservation *observation);
/* The distance of the farthest of them, seconds. */
double astro_array_reach(const double *seconds, guint n_stations);

G_END_DECLS
