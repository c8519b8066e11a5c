/* The direction that a set's array tracked, the Earth orientation, and which (u,v,w) to use. */
#include <math.h>
#include <string.h>

#include "core/kit/units.h"
#include "core/lib/sky/earth-file.h"
#include "core/sets/reader.h"
#include "core/stream/uvw.h"

static gboolean find_direction(AstroSetReader *r, GError **error)
{
  const AstroSetField *field = &r->about.fields[r->field];
  AstroObservation *o = r->contents.observation;
  if (field->is_moving)
    return astro_set_wrong(
        r, error,
        "the direction of field %s moves, expected a fixed one: CASA's fixvis or "
        "phaseshift turns the set to one",
        field->name);
  if (strcmp(field->frame, "J2000") != 0 && strcmp(field->frame, "ICRS") != 0)
    return astro_set_wrong(r, error,
                           "the direction of field %s is in the frame %s, expected J2000 or ICRS: "
                           "CASA's fixvis turns it",
                           field->name, field->frame);
  if (!(fabs(field->dec) <= G_PI / 2) || !(fabs(field->ra) <= 2.0001 * G_PI))
    return astro_set_wrong(r, error, "field %s is at RA %g and declination %g radians", field->name,
                           field->ra, field->dec);
  o->has_phase_centre = TRUE;
  o->phase_ra = field->ra;
  o->phase_dec = field->dec;
  return TRUE;
}

/* That of a set of ours; sets of other programs do not tell theirs. */
static gboolean find_earth(AstroSetReader *r, const char *file, GError **error)
{
  const AstroSetOurs *ours = &r->about.ours;
  AstroObservation *o = r->contents.observation;
  g_autoptr(GError) wrong = NULL;
  if (ours->earth && ours->earth_days == 0)
    o->earth = astro_earth_new_none();
  if (ours->earth && ours->earth_days > 0) {
    g_autofree AstroEarthDay *days = g_new(AstroEarthDay, ours->earth_days);
    for (guint i = 0; i < ours->earth_days; i++)
      days[i] = (AstroEarthDay){ ours->earth_values[3 * i], ours->earth_values[3 * i + 1],
                                 ours->earth_values[3 * i + 2] };
    o->earth =
        astro_earth_new(ours->earth, (gint32)ours->earth_mjd, days, ours->earth_days, &wrong);
    if (!o->earth)
      return astro_set_wrong(r, error, "keyword GST_ASTRO.EARTH_DAYS: %s", wrong->message);
  }
  return astro_earth_amend(o, file, error);
}

static gboolean take_files(AstroSetReader *r, GError **error)
{
  double longest = 0;
  for (guint64 i = 0; i < r->rows->n; i++) {
    const double *uvw = &r->uvw[3 * i], length = hypot(hypot(uvw[0], uvw[1]), uvw[2]);
    longest = isfinite(length) ? MAX(longest, length) : longest;
  }
  if (!(longest > 0 && longest <= ASTRO_OBSERVATION_MAX_METRES))
    return astro_set_wrong(r, error,
                           "uvw=file, but the longest UVW of all rows is %g m, expected more than "
                           "0 and at most %g m",
                           longest, ASTRO_OBSERVATION_MAX_METRES);
  r->gives_uvw = TRUE;
  r->contents.observation->uvw_metres = longest;
  return TRUE;
}

/* Writers do not agree whether UVW is antenna 1 minus antenna 2 or the opposite, and imagers
 * believe UVW: the values then belong to the other order of antennas. */
static gboolean check_uvw(AstroSetReader *r, GError **error)
{
  const AstroObservation *o = r->contents.observation;
  const double wavelength = ASTRO_LIGHT_SPEED / r->contents.stream.frequency;
  g_autofree double *turned = g_new(double, 3 * r->rows->n);
  for (guint64 i = 0; i < 3 * r->rows->n; i++)
    turned[i] = -r->uvw[i];
  /* They are compared with those of the second minus the first. */
  g_autofree char *wrong = astro_rows_compare_uvw(r->rows, o, turned, NULL, wavelength);
  if (!wrong)
    return TRUE;
  g_autofree char *opposite = astro_rows_compare_uvw(r->rows, o, r->uvw, NULL, wavelength);
  r->conjugated = !opposite;
  return r->conjugated ||
         astro_set_wrong(r, error,
                         "the rows' UVW do not match the antennas' positions and the phase "
                         "centre%s. uvw=file takes the rows' UVW, uvw=table the antennas'",
                         wrong);
}

gboolean astro_set_find_sky(AstroSetReader *r, const AstroSetOptions *options, GError **error)
{
  if (!find_direction(r, error) || !find_earth(r, options->earth_orientation, error))
    return FALSE;
  if (options->uvw == ASTRO_SET_UVW_FILE)
    return take_files(r, error);
  g_autoptr(GError) wrong = NULL;
  if (check_uvw(r, &wrong) || options->uvw == ASTRO_SET_UVW_TABLE)
    return TRUE;
  g_propagate_error(error, g_steal_pointer(&wrong));
  return FALSE;
}
