#include "config.h"
#include "elements/base/astroscene.h"

#include "core/lib/sky/array.h"
#include "core/lib/sky/earth-file.h"
#include "elements/base/astrofields.h"

static const AstroField fields[] = {
  ASTRO_FIELD(ASTRO_SCENE_PROP_STATIONS, AstroScene, stations),
  ASTRO_FIELD(ASTRO_SCENE_PROP_ARRAY, AstroScene, setup.array),
  ASTRO_FIELD(ASTRO_SCENE_PROP_LATITUDE, AstroScene, setup.latitude),
  ASTRO_FIELD(ASTRO_SCENE_PROP_LONGITUDE, AstroScene, setup.longitude),
  ASTRO_FIELD(ASTRO_SCENE_PROP_SKY, AstroScene, sky),
  ASTRO_FIELD(ASTRO_SCENE_PROP_PHASE_CENTRE, AstroScene, setup.phase_centre),
  ASTRO_FIELD(ASTRO_SCENE_PROP_START_TIME, AstroScene, setup.start_time),
  ASTRO_FIELD(ASTRO_SCENE_PROP_EARTH_ORIENTATION, AstroScene, setup.earth_orientation),
  ASTRO_FIELD(ASTRO_SCENE_PROP_FREQUENCY, AstroScene, frequency),
  ASTRO_FIELD(ASTRO_SCENE_PROP_BANDWIDTH, AstroScene, bandwidth),
  ASTRO_FIELD(ASTRO_SCENE_PROP_POLS, AstroScene, pols),
  ASTRO_FIELD(ASTRO_SCENE_PROP_NOISE, AstroScene, noise),
  ASTRO_FIELD(ASTRO_SCENE_PROP_SEED, AstroScene, seed),
  ASTRO_FIELD(ASTRO_SCENE_PROP_DURATION, AstroScene, duration),
  { 0 },
};

void astro_scene_copy(AstroScene *to, const AstroScene *from)
{
  astro_fields_copy(fields, to, from, sizeof *to);
}

gboolean astro_scene_set_property(AstroScene *scene, guint id, const GValue *value)
{
  if (id == ASTRO_SCENE_PROP_LATITUDE)
    scene->setup.has_latitude = TRUE;
  if (id == ASTRO_SCENE_PROP_LONGITUDE)
    scene->setup.has_longitude = TRUE;
  return astro_fields_set(fields, scene, id, value);
}

gboolean astro_scene_get_property(const AstroScene *scene, guint id, GValue *value)
{
  return astro_fields_get(fields, scene, id, value);
}

static void add_string(GObjectClass *klass, guint id, const char *name, const char *nick,
                       const char *help, const char *value)
{
  g_object_class_install_property(klass, id,
                                  g_param_spec_string(name, nick, help, value, ASTRO_SCENE_FLAGS));
}

void astro_install_double(GObjectClass *klass, guint id, const char *name, const char *nick,
                          const char *help, double min, double max, double value, GParamFlags flags)
{
  g_object_class_install_property(klass, id,
                                  g_param_spec_double(name, nick, help, min, max, value, flags));
}

void astro_install_uint(GObjectClass *klass, guint id, const char *name, const char *nick,
                        const char *help, guint min, guint max, guint value)
{
  g_object_class_install_property(
      klass, id, g_param_spec_uint(name, nick, help, min, max, value, ASTRO_SCENE_FLAGS));
}

void astro_scene_install_properties(GObjectClass *klass, double noise, const char *bandwidth)
{
  astro_install_uint(klass, ASTRO_SCENE_PROP_STATIONS, "stations", "Stations",
                     "Number of stations (0: all of an array file, or 32)", 0,
                     ASTRO_ARRAY_MAX_STATIONS, 0);
  add_string(
      klass, ASTRO_SCENE_PROP_ARRAY, "array", "Array",
      "disc, vla-like, lofar-like, or a file of lines x y z [name] in metres: geocentric, or "
      "east north up where latitude and longitude are set or the file begins with a line site "
      "latitude longitude [height]",
      "disc");
  astro_install_double(klass, ASTRO_SCENE_PROP_LATITUDE, "latitude", "Latitude",
                       "Degrees north of the array (unset: the preset's own, geocentric files)",
                       -90, 90, 0, ASTRO_SCENE_FLAGS_MAYBE);
  astro_install_double(klass, ASTRO_SCENE_PROP_LONGITUDE, "longitude", "Longitude",
                       "Degrees east of the array (unset: the preset's own, geocentric files)",
                       -360, 360, 0, ASTRO_SCENE_FLAGS_MAYBE);
  add_string(klass, ASTRO_SCENE_PROP_SKY, "sky", "Sky",
             "l,m,flux;l,m,flux (direction cosines east and north, Jy), or a file of lines "
             "ra dec flux [spectral-index] (degrees, or 13:31:08.3 +30:30:33, Jy at the centre of "
             "the band)",
             "0,0,1");
  add_string(klass, ASTRO_SCENE_PROP_PHASE_CENTRE, "phase-centre", "Phase centre",
             "ra,dec, ICRS, in degrees or as 13:31:08.3,+30:30:33; or zenith: of the array at the "
             "start, as where it is unset",
             NULL);
  add_string(klass, ASTRO_SCENE_PROP_START_TIME, "start-time", "Start time",
             "UTC of the first sample, as 2026-11-20T12:00:00", "2026-11-20T12:00:00");
  add_string(klass, ASTRO_SCENE_PROP_EARTH_ORIENTATION, "earth-orientation", "Earth orientation",
             ASTRO_EARTH_HELP " (unset: UT1 = UTC, with no polar motion)", NULL);
  astro_install_double(klass, ASTRO_SCENE_PROP_FREQUENCY, "frequency", "Frequency",
                       "Centre of the band, Hz", 0, 1e13, 150e6, ASTRO_SCENE_FLAGS);
  astro_install_double(klass, ASTRO_SCENE_PROP_BANDWIDTH, "bandwidth", "Bandwidth", bandwidth, 1e-3,
                       1e13, 1e6, ASTRO_SCENE_FLAGS);
  astro_install_uint(klass, ASTRO_SCENE_PROP_POLS, "pols", "Polarisations",
                     "Polarisations of each station, 1 or 2", 0, G_MAXUINT, 2);
  astro_install_double(klass, ASTRO_SCENE_PROP_NOISE, "noise", "Noise",
                       "System noise of each station and polarisation, Jy", 0, 1e12, noise,
                       ASTRO_SCENE_FLAGS);
  g_object_class_install_property(klass, ASTRO_SCENE_PROP_SEED,
                                  g_param_spec_uint64("seed", "Seed",
                                                      "The same seed gives the same samples", 0,
                                                      G_MAXUINT64, 1, ASTRO_SCENE_FLAGS));
  astro_install_double(klass, ASTRO_SCENE_PROP_DURATION, "duration", "Duration",
                       "Seconds of observation (0: until num-buffers, or without end)", 0, 1e9, 0,
                       ASTRO_SCENE_FLAGS);
}
