/* The properties of a scene, for sources of simulated streams. */
#include "config.h"
#include "elements/base/astroscene.h"

#include "core/kit/enum.h"
#include "core/lib/sky/array.h"
#include "core/lib/sky/earth-file.h"

ASTRO_STATIC_ENUM_TYPE(basis_get_type, "AstroSceneBasis",
                       { ASTRO_BASIS_LINEAR, "X (north) and Y (east)", "linear" },
                       { ASTRO_BASIS_CIRCULAR, "R and L", "circular" })

const AstroField astro_scene_fields[] = {
  ASTRO_UINT(AstroScene, stations, "stations", "Stations",
             "Number of stations (0: all of an array file, or 32)", 0, ASTRO_ARRAY_MAX_STATIONS, 0),
  ASTRO_TEXT(AstroScene, setup.array, "array", "Array",
             "disc, vla-like, lofar-like, or a file of lines x y z [name] in metres: geocentric, "
             "or east north up where latitude and longitude are set or the file begins with a line "
             "site latitude longitude [height]",
             "disc"),
  ASTRO_DOUBLE(AstroScene, setup.latitude, "latitude", "Latitude",
               "Degrees north of the array (unset: the preset's own, geocentric files)", -90, 90, 0,
               .told = G_STRUCT_OFFSET(AstroScene, setup.has_latitude)),
  ASTRO_DOUBLE(AstroScene, setup.longitude, "longitude", "Longitude",
               "Degrees east of the array (unset: the preset's own, geocentric files)", -360, 360,
               0, .told = G_STRUCT_OFFSET(AstroScene, setup.has_longitude)),
  ASTRO_TEXT(
      AstroScene, sky, "sky", "Sky",
      "l,m,flux;l,m,flux (direction cosines east and north, Jy), or a file of lines ra dec flux "
      "[spectral-index] (degrees, or 13:31:08.3 +30:30:33, Jy at the centre of the band). Behind a "
      "source q=, u=, v= (Jy), rm= (rad/m^2) and line=CENTRE:WIDTH:FLUX (Hz, Hz, Jy; below 0: "
      "absorption) polarise it and add lines",
      "0,0,1"),
  ASTRO_TEXT(AstroScene, setup.phase_centre, "phase-centre", "Phase centre",
             "ra,dec, ICRS, in degrees or as 13:31:08.3,+30:30:33; or zenith: of the array at the "
             "start, as where it is unset",
             NULL),
  ASTRO_TEXT(AstroScene, setup.start_time, "start-time", "Start time",
             "UTC of the first sample, as 2026-11-20T12:00:00", "2026-11-20T12:00:00"),
  ASTRO_TEXT(AstroScene, setup.earth_orientation, "earth-orientation", "Earth orientation",
             ASTRO_EARTH_HELP " (unset: UT1 = UTC, with no polar motion)", NULL),
  ASTRO_DOUBLE(AstroScene, frequency, "frequency", "Frequency", "Centre of the band, Hz", 0, 1e13,
               150e6),
  ASTRO_UINT(AstroScene, pols, "pols", "Polarisations", "Polarisations of each station, 1 or 2", 0,
             G_MAXUINT, 2),
  ASTRO_ENUM(AstroScene, basis, "basis", "Basis",
             "What the receivers measure; a single polarisation is X or R", basis_get_type,
             ASTRO_BASIS_LINEAR),
  ASTRO_UINT64(AstroScene, seed, "seed", "Seed", "The same seed gives the same samples", 0,
               G_MAXUINT64, 1),
  ASTRO_DOUBLE(AstroScene, duration, "duration", "Duration",
               "Seconds of observation (0: until num-buffers, or without end)", 0, 1e9, 0),
  { 0 },
};
