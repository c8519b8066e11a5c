/* Applies a user's settings to an observation. */
#include "config.h"
#include "core/lib/sky/setup.h"

#include <math.h>
#include <string.h>

#include "core/kit/angle.h"
#include "core/lib/sky/array.h"
#include "core/lib/sky/earth-file.h"
#include "core/lib/sky/moving.h"
#include "core/kit/fail.h"
#include "core/stream/uvw.h"
#include "core/kit/units.h"

void astro_setup_clear(AstroSetup *setup)
{
  g_free(setup->array);
  g_free(setup->phase_centre);
  g_free(setup->start_time);
  g_free(setup->earth_orientation);
  memset(setup, 0, sizeof *setup);
}

static gboolean is_said(const char *text)
{
  return text && *text;
}

static gboolean check_site(const AstroSetup *setup, GError **error)
{
  if (setup->has_latitude == setup->has_longitude)
    return TRUE;
  return astro_fail(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
                    "%s is set but %s is not: a site needs both",
                    setup->has_latitude ? "latitude" : "longitude",
                    setup->has_latitude ? "longitude" : "latitude");
}

/* Replaces stations and telescope, and leaves the rest of the observation. */
static gboolean read_array(const AstroSetup *setup, guint n_stations, AstroObservation *observation,
                           GError **error)
{
  const AstroSite site = { setup->latitude * ASTRO_DEGREE, setup->longitude * ASTRO_DEGREE };
  g_autoptr(AstroObservation) array =
      astro_array_new(setup->array, n_stations, setup->has_latitude ? &site : NULL, error);
  if (!array)
    return FALSE;
  astro_observation_swap_array(observation, array);
  return TRUE;
}

static gboolean read_centre(AstroObservation *observation, const char *property, const char *text,
                            GError **error)
{
  g_auto(GStrv) fields = g_strsplit(text ? text : "", ",", -1);
  g_autofree char *moving = astro_moving_tell(text ? text : "");
  double ra, dec;

  if (moving)
    return astro_fail(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE, "%s=%s: %s", property, text,
                      moving);
  if (g_strv_length(fields) != 2 ||
      !astro_angles_parse(g_strstrip(fields[0]), g_strstrip(fields[1]), &ra, &dec) ||
      fabs(ra) > 360 || fabs(dec) > 90)
    return astro_fail(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
                      "%s=%s: expected \"ra,dec\" " ASTRO_ANGLES_EXPECTED
                      ", or " ASTRO_SETUP_ZENITH,
                      property, text ? text : "");
  observation->phase_ra = ra * ASTRO_DEGREE;
  observation->phase_dec = dec * ASTRO_DEGREE;
  return TRUE;
}

static gboolean look_up(AstroObservation *observation, const char *property, GError **error)
{
  double centre[3];

  if (!observation->has_start || observation->n_stations == 0)
    return astro_fail(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
                      "%s=" ASTRO_SETUP_ZENITH
                      ": there is no %s, expected an array and a start-time",
                      property, observation->has_start ? "array" : "start-time");
  astro_array_centre(observation, centre);
  astro_zenith(observation, 0, centre, &observation->phase_ra, &observation->phase_dec);
  return TRUE;
}

gboolean astro_setup_point(AstroObservation *observation, const char *property, const char *text,
                           GError **error)
{
  observation->has_phase_centre = TRUE;
  return g_strcmp0(text, ASTRO_SETUP_ZENITH) == 0 ? look_up(observation, property, error)
                                                  : read_centre(observation, property, text, error);
}

static gboolean amend(const AstroSetup *setup, guint n_stations, AstroObservation *observation,
                      GError **error)
{
  if (!check_site(setup, error))
    return FALSE;
  if (is_said(setup->array) && !read_array(setup, n_stations, observation, error))
    return FALSE;
  if (is_said(setup->start_time) &&
      !astro_observation_set_start(observation, setup->start_time, error))
    return FALSE;
  if (!astro_earth_amend(observation, setup->earth_orientation, error) ||
      !astro_uvw_check_time(observation, 0, error))
    return FALSE;
  return !is_said(setup->phase_centre) ||
         astro_setup_point(observation, "phase-centre", setup->phase_centre, error);
}

AstroObservation *astro_setup_amend(const AstroSetup *setup, const AstroObservation *came,
                                    guint n_stations, GError **error)
{
  g_autoptr(AstroObservation) observation =
      came ? astro_observation_copy(came) : astro_observation_new(0);
  return amend(setup, n_stations, observation, error) ? g_steal_pointer(&observation) : NULL;
}

/* ---- settings that were used ---- */

#define SAME_ANGLE 1e-11 /* radians: texts are rounded */
#define SAME_METRES 1e-6

static gboolean is_same_array(const AstroObservation *a, const AstroObservation *b)
{
  gboolean same = a->n_stations == b->n_stations;
  for (guint i = 0; same && i < 3 * a->n_stations; i++)
    same = fabs(a->positions[i] - b->positions[i]) <= SAME_METRES;
  return same;
}

static gboolean is_same_centre(const AstroObservation *a, const AstroObservation *b)
{
  double lmn[3];
  astro_lmn_from_direction(a, b->phase_ra, b->phase_dec, lmn);
  return hypot(lmn[0], lmn[1]) <= SAME_ANGLE && lmn[2] > 0;
}

static const char *find_changed(const AstroObservation *a, const AstroObservation *b)
{
  if (a->has_phase_centre && !is_same_centre(a, b))
    return "phase-centre";
  if (a->has_start && (a->start_mjd != b->start_mjd || a->start_ns != b->start_ns))
    return "start-time";
  return a->n_stations && !is_same_array(a, b) ? "array" : NULL;
}

gboolean astro_setup_check_used(const AstroObservation *came, const AstroObservation *amended,
                                AstroQuantity quantity, GError **error)
{
  const char *changed = astro_history_delays(&came->done, quantity) == ASTRO_DELAYS_OUT
                            ? find_changed(came, amended)
                            : NULL;
  if (!changed)
    return TRUE;
  const gboolean can_shift =
      quantity == ASTRO_QUANTITY_VISIBILITIES && strcmp(changed, "phase-centre") == 0;
  return astro_fail(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
                    "%s is not the one with which the stream's delays were corrected, which would "
                    "give a wrong sky: expected the same, %s",
                    changed,
                    can_shift ? "or astrophaseshift with the other centre, which rotates the "
                                "visibilities too"
                              : "or this element before astrodelay");
}
