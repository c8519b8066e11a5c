/* Reads where the array looks: the direction that it tracks, or none, and how the Earth turns. */
#include <math.h>
#include <string.h>

#include "core/kit/units.h"
#include "core/lib/rows/earth.h"
#include "core/lib/sky/earth-file.h"
#include "core/stream/uvw.h"
#include "core/uvh5/reader.h"

#define CATALOGUE "Header/phase_center_catalog"
#define EXTRA "Header/extra_keywords/"

/* ---- the field ---- */

/* Values of the field, which are directly in the header where there is no catalogue. */
static char *text_of(const AstroUvh5Reader *r, const char *group, const char *name)
{
  g_autofree char *path = g_strconcat(group, "/", name, NULL);
  return astro_h5_text(&r->file, path);
}

static gboolean double_of(const AstroUvh5Reader *r, const char *group, const char *name,
                          double *value)
{
  g_autofree char *path = g_strconcat(group, "/", name, NULL);
  return astro_h5_double(&r->file, path, value);
}

static gboolean read_direction(AstroUvh5Reader *r, const char *group, gboolean is_listed,
                               AstroUvh5Field *field, GError **error)
{
  g_autofree char *frame = text_of(r, group, is_listed ? "cat_frame" : "phase_center_frame");
  double epoch = 2000;
  double_of(r, group, is_listed ? "cat_epoch" : "phase_center_epoch", &epoch);
  if (!double_of(r, group, is_listed ? "cat_lon" : "phase_center_ra", &field->ra) ||
      !double_of(r, group, is_listed ? "cat_lat" : "phase_center_dec", &field->dec) ||
      !(fabs(field->ra) <= 2.0001 * G_PI) || !(fabs(field->dec) <= G_PI / 2))
    return astro_h5_wrong(&r->file, error,
                          "%s has no direction of the phase centre, or none that is possible, "
                          "expected %s and %s in radians",
                          group, is_listed ? "cat_lon" : "phase_center_ra",
                          is_listed ? "cat_lat" : "phase_center_dec");
  if (frame && *frame && strcmp(frame, "icrs") != 0 && strcmp(frame, "fk5") != 0)
    return astro_h5_wrong(&r->file, error,
                          "%s: the phase centre is in the frame \"%s\", expected icrs or fk5: "
                          "pyuvdata's UVData.phase(ra, dec, cat_name=...) turns it",
                          group, frame);
  if (epoch != 2000)
    return astro_h5_wrong(&r->file, error, "%s: the phase centre is of the year %g, expected 2000",
                          group, epoch);
  return TRUE;
}

/* Before version 1.1 there is one phase centre in the header. */
static gboolean read_only_field(AstroUvh5Reader *r, AstroUvh5Field *field, GError **error)
{
  g_autofree char *type = text_of(r, "Header", "phase_type");
  field->id = -1;
  field->is_drift = type && g_str_equal(type, "drift");
  if (field->is_drift)
    return TRUE;
  return (type && g_str_equal(type, "phased"))
             ? read_direction(r, "Header", FALSE, field, error)
             : astro_h5_wrong(&r->file, error,
                              "Header/phase_type is \"%s\", expected phased, or drift for an array "
                              "that tracks nothing",
                              type ? type : "missing");
}

static gboolean read_listed_field(AstroUvh5Reader *r, const char *group, AstroUvh5Field *field,
                                  GError **error)
{
  g_autofree char *type = text_of(r, group, "cat_type");
  field->is_drift = type && g_str_equal(type, "unprojected");
  if (field->is_drift || !type || g_str_equal(type, "sidereal"))
    return field->is_drift || read_direction(r, group, TRUE, field, error);
  return astro_h5_wrong(&r->file, error,
                        "%s is of the type \"%s\", expected sidereal or unprojected: pyuvdata's "
                        "UVData.phase(ra, dec, cat_name=...) turns it to a fixed direction",
                        group, type);
}

/* The identifier is a number beside the name, or the name of the group. */
static gint64 id_of(const AstroUvh5Reader *r, const char *name, char **group, char **called)
{
  gint64 id = g_ascii_strtoll(name, NULL, 10);
  *group = g_strconcat(CATALOGUE "/", name, NULL);
  g_autofree char *path = g_strconcat(*group, "/cat_id", NULL);
  astro_h5_integer(&r->file, path, &id);
  *called = text_of(r, *group, "cat_name");
  if (!*called)
    *called = g_strdup(name);
  return id;
}

gboolean astro_uvh5_read_field(AstroUvh5Reader *r, const char *wanted, AstroUvh5Field *field,
                               GError **error)
{
  g_auto(GStrv) names = astro_h5_names(&r->file, CATALOGUE);
  g_autoptr(GString) all = g_string_new(NULL);
  g_autofree char *chosen = NULL;
  guint n = 0;
  if (!names || !names[0])
    return wanted ? astro_h5_wrong(&r->file, error,
                                   "field=%s, but it has no list of phase centres (" CATALOGUE ")",
                                   wanted)
                  : read_only_field(r, field, error);
  for (guint i = 0; names[i]; i++) {
    g_autofree char *group = NULL, *called = NULL;
    const gint64 id = id_of(r, names[i], &group, &called);
    g_autofree char *number = g_strdup_printf("%" G_GINT64_FORMAT, id);
    g_string_append_printf(all, "%s%s (%s)", i ? ", " : "", called, number);
    if (wanted && strcmp(wanted, called) != 0 && strcmp(wanted, number) != 0)
      continue;
    n++;
    field->id = id;
    g_free(chosen);
    chosen = g_steal_pointer(&group);
  }
  if (n == 1 && field->id >= 0)
    return read_listed_field(r, chosen, field, error);
  return wanted
             ? astro_h5_wrong(
                   &r->file, error, "field=%s is %s, expected one of its phase centres: %s", wanted,
                   n ? "the name of several, which their numbers tell apart" : "not there",
                   all->str)
             : astro_h5_wrong(&r->file, error,
                              "it has %u phase centres: field=NAME or field=NUMBER says which: "
                              "%s",
                              n, all->str);
}

/* ---- the Earth ---- */

static gboolean read_earth(AstroUvh5Reader *r, const char *file, GError **error)
{
  AstroObservation *o = r->contents.observation;
  AstroEarthDay day = { 0 };
  double arcsec = 0;
  g_autofree char *source = astro_h5_text(&r->file, EXTRA "EARTHORI");
  astro_h5_double(&r->file, "Header/dut1", &day.ut1_utc);
  astro_h5_double(&r->file, EXTRA "POLARX", &day.pole_x);
  astro_h5_double(&r->file, EXTRA "POLARY", &day.pole_y);
  if (source && g_str_equal(source, "none")) {
    o->earth = astro_earth_new_none();
  } else if (day.ut1_utc != 0 || day.pole_x != 0 || day.pole_y != 0) {
    g_autofree char *wrong = astro_earth_wrong_day(NULL, &day);
    if (wrong)
      astro_uvh5_note(r, "Header/dut1: %s: it is not used", wrong);
    else
      o->earth = astro_rows_constant_earth(source && *source ? source : "dut1 of the header", &day,
                                           o->start_mjd, r->contents.duration_ns);
  }
  if (!o->earth || o->earth->n == 0 || !file)
    return astro_earth_amend(o, file, error);
  if (!astro_rows_prefer_earth(o, file, &arcsec, error))
    return FALSE;
  if (arcsec > 0)
    astro_uvh5_note(r,
                    "Header/dut1 differs by %.3g arcsec from earth-orientation=%s, which is used",
                    arcsec, file);
  return TRUE;
}

/* ---- (u,v,w) ---- */

/* East, north and up at the array's place. */
static void local_axes(const double location[3], double axes[3][3])
{
  astro_up(location, axes[2]);
  const double *up = axes[2], length = MAX(hypot(up[0], up[1]), 1e-12);
  axes[0][0] = -up[1] / length;
  axes[0][1] = up[0] / length;
  axes[0][2] = 0;
  axes[1][0] = -up[2] * axes[0][1];
  axes[1][1] = up[2] * axes[0][0];
  axes[1][2] = up[0] * axes[0][1] - up[1] * axes[0][0];
}

static gboolean take_files(AstroUvh5Reader *r, GError **error)
{
  double longest = 0;
  if (r->is_drift)
    return astro_h5_wrong(&r->file, error,
                          "uvw=file, but the array tracked nothing, so that the file's (u,v,w) do "
                          "not belong to a direction of the sky");
  for (guint64 i = 0; i < r->rows->n; i++) {
    const double *uvw = &r->uvw[3 * i], length = hypot(hypot(uvw[0], uvw[1]), uvw[2]);
    longest = isfinite(length) ? MAX(longest, length) : longest;
  }
  if (!(longest > 0 && longest <= ASTRO_OBSERVATION_MAX_METRES))
    return astro_h5_wrong(&r->file, error,
                          "uvw=file, but the longest (u,v,w) of all rows is %g m, expected more "
                          "than 0 and at most %g m",
                          longest, ASTRO_OBSERVATION_MAX_METRES);
  r->gives_uvw = TRUE;
  r->contents.observation->uvw_metres = longest;
  return TRUE;
}

static gboolean check_uvw(AstroUvh5Reader *r, GError **error)
{
  double axes[3][3];
  local_axes(r->location, axes);
  g_autofree char *told =
      astro_rows_compare_uvw(r->rows, r->contents.observation, r->uvw, r->is_drift ? axes : NULL,
                             ASTRO_LIGHT_SPEED / r->contents.stream.frequency);
  return !told || astro_h5_wrong(&r->file, error,
                                 "the rows' (u,v,w) (Header/uvw_array) do not match the antennas "
                                 "and the %s%s. %suvw=table takes those of the antennas",
                                 r->is_drift ? "zenith" : "phase centre", told,
                                 r->is_drift ? "" : "uvw=file takes those of the rows, ");
}

gboolean astro_uvh5_set_phase_centre(AstroUvh5Reader *r, const AstroUvh5Field *field,
                                     const AstroUvh5Options *options, GError **error)
{
  AstroObservation *o = r->contents.observation;
  r->is_drift = field->is_drift;
  o->phase_ra = field->ra;
  o->phase_dec = field->dec;
  o->has_phase_centre = TRUE;
  o->done.delays = ASTRO_DELAYS_OUT; /* a drifting array's are taken out as rows are read */
  if (!read_earth(r, options->earth_orientation, error))
    return FALSE;
  if (field->is_drift) {
    const gint64 middle = (gint64)(r->contents.duration_ns / 2);
    astro_zenith(o, middle, r->location, &o->phase_ra, &o->phase_dec);
    g_autofree char *time = astro_observation_tell_time(o, (guint64)middle);
    r->contents.told = g_strdup_printf(
        "%s: the array tracked nothing: its visibilities are phased to what was at its zenith at "
        "%s, right ascension %.5f and declination %.5f degrees",
        r->file.name, time, o->phase_ra * ASTRO_DEGREES, o->phase_dec * ASTRO_DEGREES);
  }
  if (options->uvw == ASTRO_UVH5_UVW_FILE)
    return take_files(r, error);
  return options->uvw == ASTRO_UVH5_UVW_TABLE || check_uvw(r, error);
}
