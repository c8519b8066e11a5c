/* Writes and reads Earth orientation in UVFITS. */
#include "core/fits/uvfits/earth.h"

#include <math.h>
#include <string.h>

#include "core/lib/rows/earth.h"
#include "core/lib/sky/earth-file.h"
#include "core/kit/units.h"

#define TABLE "EARTH ORIENTATION"
#define SOURCE_KEY "EARTHORI" /* in table AIPS AN, if (u,v,w) are ours: their Earth orientation */
#define MOST_ROWS 100000

enum { DAY, UT1, POLE, N_COLUMNS };

static const struct {
  const char *name, *form, *unit;
  guint values;
} columns[N_COLUMNS] = {
  [DAY] = { "MJD", "1J", "d", 1 },
  [UT1] = { "UT1-UTC", "1D", "s", 1 },
  [POLE] = { "POLE", "2D", "arcsec", 2 },
};

void astro_uvfits_write_earth_keys(fitsfile *file, const AstroObservation *o, int *status)
{
  AstroEarthDay day;
  g_autofree char *name = astro_fits_ascii(o->earth ? o->earth->name : "none");
  astro_earth_at(o->earth, o->start_mjd, 0, &day);
  fits_write_key(file, TDOUBLE, "POLARX", &day.pole_x, "pole at 0h of RDATE (arcsec)", status);
  fits_write_key(file, TDOUBLE, "POLARY", &day.pole_y, "pole at 0h of RDATE (arcsec)", status);
  fits_write_key(file, TDOUBLE, "UT1UTC", &day.ut1_utc, "UT1 - UTC at 0h of RDATE (s)", status);
  fits_write_key(file, TSTRING, SOURCE_KEY, name, "source of UT1 and pole", status);
}

gboolean astro_uvfits_write_earth(fitsfile *file, const AstroObservation *o, GError **error)
{
  const char *names[N_COLUMNS], *forms[N_COLUMNS], *units[N_COLUMNS];
  const AstroEarth *earth = o->earth;
  int status = 0;
  if (!earth || earth->n == 0)
    return TRUE;
  for (guint k = 0; k < N_COLUMNS; k++) {
    names[k] = columns[k].name;
    forms[k] = columns[k].form;
    units[k] = columns[k].unit;
  }
  fits_create_tbl(file, BINARY_TBL, earth->n, N_COLUMNS, (char **)names, (char **)forms,
                  (char **)units, TABLE, &status);
  for (guint i = 0; i < earth->n; i++) {
    AstroEarthDay day = earth->days[i];
    double pole[2] = { day.pole_x, day.pole_y };
    int mjd = earth->first_mjd + (int)i;
    fits_write_col(file, TINT, 1 + DAY, i + 1, 1, 1, &mjd, &status);
    fits_write_col(file, TDOUBLE, 1 + UT1, i + 1, 1, 1, &day.ut1_utc, &status);
    fits_write_col(file, TDOUBLE, 1 + POLE, i + 1, 1, 2, pole, &status);
  }
  return astro_fits_check(status, "writing the table of Earth orientation", error);
}

/* ---- reading ---- */

static gboolean read_row(AstroFitsTable *table, const AstroFitsColumn *const found[N_COLUMNS],
                         guint64 row, gint32 *first_mjd, AstroEarthDay *day, GError **error)
{
  if (!astro_fits_table_read(table, row, error))
    return FALSE;
  const double mjd = astro_fits_table_number(table, found[DAY], 0);
  *first_mjd = row == 0 && fabs(mjd) < ASTRO_UVFITS_DAYS ? (gint32)mjd : *first_mjd;
  if (mjd != *first_mjd + (double)row)
    return astro_fits_wrong(table->file, error,
                            "table " TABLE ", row %" G_GUINT64_FORMAT
                            ": MJD is %g, expected %" G_GINT64_FORMAT ", one row per day",
                            row + 1, mjd, *first_mjd + (gint64)row);
  *day = (AstroEarthDay){ .pole_x = astro_fits_table_number(table, found[POLE], 0),
                          .pole_y = astro_fits_table_number(table, found[POLE], 1),
                          .ut1_utc = astro_fits_table_number(table, found[UT1], 0) };
  return TRUE;
}

static AstroEarth *read_rows(AstroFitsTable *table, const char *name, GError **error)
{
  const AstroFitsColumn *found[N_COLUMNS];
  gint32 first_mjd = 0;
  for (guint k = 0; k < N_COLUMNS; k++)
    if (!(found[k] = astro_fits_table_find(table, columns[k].name, FALSE, columns[k].values))) {
      astro_fits_wrong(table->file, error, "table " TABLE " lacks column %s of %u numbers",
                       columns[k].name, columns[k].values);
      return NULL;
    }
  if (table->n_rows > MOST_ROWS) {
    astro_fits_wrong(table->file, error,
                     "table " TABLE " has %" G_GUINT64_FORMAT " rows, expected at most %d",
                     table->n_rows, MOST_ROWS);
    return NULL;
  }
  g_autofree AstroEarthDay *days = g_new0(AstroEarthDay, table->n_rows);
  for (guint64 row = 0; row < table->n_rows; row++)
    if (!read_row(table, found, row, &first_mjd, &days[row], error))
      return NULL;
  g_autoptr(GError) wrong = NULL;
  AstroEarth *earth = astro_earth_new(name, first_mjd, days, (guint)table->n_rows, &wrong);
  if (!earth)
    astro_fits_wrong(table->file, error, "table " TABLE ": %s", wrong->message);
  return earth;
}

/* For files written by gst-astro. */
static AstroEarth *read_table(AstroUvfitsReader *r, const char *name, GError **error)
{
  const AstroFitsHeader *header = astro_fits_file_find_table(r->file, TABLE);
  AstroFitsTable table;
  if (!header)
    return astro_earth_new_none();
  if (!astro_fits_table_open(&table, r->file, header, error))
    return NULL;
  AstroEarth *earth = read_rows(&table, name, error);
  astro_fits_table_clear(&table);
  return earth;
}

/* For files of other programs: one value for all days. NULL if they have none. */
static AstroEarth *read_keys(const AstroFitsHeader *header, AstroUvfitsReader *r,
                             AstroFitsContents *contents)
{
  const AstroObservation *o = contents->observation;
  AstroEarthDay day = { 0 };
  astro_fits_get_double(header, "UT1UTC", &day.ut1_utc);
  astro_fits_get_double(header, "POLARX", &day.pole_x);
  astro_fits_get_double(header, "POLARY", &day.pole_y);
  if (day.ut1_utc == 0 && day.pole_x == 0 && day.pole_y == 0)
    return NULL;
  g_autofree char *wrong = astro_earth_wrong_day(NULL, &day);
  if (wrong) {
    astro_fits_contents_note(contents, astro_fits_file_name(r->file),
                             "table AIPS AN: %s: UT1UTC, POLARX and POLARY are not used", wrong);
    return NULL;
  }
  return astro_rows_constant_earth("UT1UTC of the table AIPS AN", &day, o->start_mjd,
                                   contents->duration_ns);
}

static gboolean prefer_options(AstroUvfitsReader *r, const char *file, AstroFitsContents *contents,
                               GError **error)
{
  double arcsec;
  if (!astro_rows_prefer_earth(contents->observation, file, &arcsec, error))
    return FALSE;
  if (arcsec > 0)
    astro_fits_contents_note(contents, astro_fits_file_name(r->file),
                             "table AIPS AN: UT1UTC, POLARX and POLARY differ by %.3g arcsec from "
                             "earth-orientation=%s, which is used",
                             arcsec, file);
  return TRUE;
}

gboolean astro_uvfits_read_earth(AstroUvfitsReader *r, const AstroFitsOptions *options,
                                 AstroFitsContents *contents, GError **error)
{
  const AstroFitsHeader *header = astro_fits_file_find_table(r->file, "AIPS AN");
  const char *file = options ? options->earth_orientation : NULL, *name = "";
  AstroObservation *o = contents->observation;
  if (astro_fits_get_string(header, SOURCE_KEY, &name))
    return (o->earth = read_table(r, name, error)) && astro_earth_amend(o, file, error);
  o->earth = read_keys(header, r, contents);
  return o->earth && file ? prefer_options(r, file, contents, error)
                          : astro_earth_amend(o, file, error);
}
