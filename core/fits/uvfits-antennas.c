/* The AIPS AN table. Positions are written as geocentric offsets from the array's middle, not
 * turned to its meridian: FRAME = ITRF says so. Without that keyword others turn them, and those of
 * arrays at the geocentre are left-handed. */
#include "core/fits/uvfits.h"

#include <erfa.h>
#include <math.h>
#include <string.h>

#define MJD_ZERO 2400000.5
#define DEGREES (180.0 / G_PI)
#define SIDEREAL_DEGREES_PER_DAY 360.98564736629 /* of UT1, IAU 1982 as memo 117 has it */
#define SECONDS_TT_MINUS_TAI 32.184
#define AT_GEOCENTRE 1000.0 /* metres: no array's middle is that close to it */

/* Greenwich's sidereal time and TAI - UTC at the start of the observation's day. */
static void clocks(gint32 mjd, double *sidereal_degrees, double *tai_minus_utc)
{
  int year, month, day;
  double fraction;
  eraJd2cal(MJD_ZERO, mjd, &year, &month, &day, &fraction);
  *tai_minus_utc = 0;
  eraDat(year, month, day, 0, tai_minus_utc);
  *sidereal_degrees = DEGREES * eraGst06a(MJD_ZERO, mjd, MJD_ZERO,
                                          mjd + (*tai_minus_utc + SECONDS_TT_MINUS_TAI) / 86400.0);
}

static void write_key(fitsfile *file, const char *key, double value, const char *comment,
                      int *status)
{
  fits_write_key(file, TDOUBLE, key, &value, comment, status);
}

static void write_text(fitsfile *file, const char *key, const char *value, const char *comment,
                       int *status)
{
  fits_write_key(file, TSTRING, key, (char *)value, comment, status);
}

static void write_integer(fitsfile *file, const char *key, int value, const char *comment,
                          int *status)
{
  fits_write_key(file, TINT, key, &value, comment, status);
}

static void write_keys(fitsfile *file, const AstroObservation *o, double frequency,
                       const double middle[3], int *status)
{
  static const char *const middles[3] = { "ARRAYX", "ARRAYY", "ARRAYZ" };
  double sidereal, tai_minus_utc;
  int year, month, day;
  double fraction;

  clocks(o->start_mjd, &sidereal, &tai_minus_utc);
  eraJd2cal(MJD_ZERO, o->start_mjd, &year, &month, &day, &fraction);
  g_autofree char *date = g_strdup_printf("%04d-%02d-%02d", year, month, day);

  write_integer(file, "EXTVER", 1, "number of this array", status);
  for (guint i = 0; i < 3; i++)
    write_key(file, middles[i], middle[i], "middle of the array, geocentric (m)", status);
  write_key(file, "GSTIA0", sidereal, "sidereal time at 0h of RDATE (deg)", status);
  write_key(file, "DEGPDY", SIDEREAL_DEGREES_PER_DAY, "rotation of the earth (deg/day)", status);
  write_key(file, "FREQ", frequency, "reference frequency (Hz)", status);
  write_text(file, "RDATE", date, "day that times count from", status);
  write_key(file, "POLARX", 0, "pole, taken as 0 (arcsec)", status);
  write_key(file, "POLARY", 0, "pole, taken as 0 (arcsec)", status);
  write_key(file, "UT1UTC", 0, "UT1 - UTC, taken as 0 (s)", status);
  write_key(file, "DATUTC", 0, "time of the data - UTC (s)", status);
  write_key(file, "IATUTC", tai_minus_utc, "TAI - UTC (s)", status);
  /* Readers look at one or the other. */
  write_text(file, "TIMSYS", "UTC", "clock of the times", status);
  write_text(file, "TIMESYS", "UTC", "clock of the times", status);
  write_text(file, "ARRNAM", o->telescope, "name of the array", status);
  write_text(file, "XYZHAND", "RIGHT", "handedness of positions", status);
  write_text(file, "FRAME", "ITRF", "frame of positions", status);
  write_integer(file, "NUMORB", 0, "orbital parameters", status);
  write_integer(file, "NOPCAL", 0, "polarisation parameters", status);
  write_integer(file, "NO_IF", 1, "number of IFs", status);
  write_integer(file, "FREQID", 1, "frequency setup", status);
  write_text(file, "POLTYPE", "", "no polarisation solution", status);
}

gboolean astro_uvfits_write_antennas(fitsfile *file, const AstroObservation *o,
                                     double reference_frequency, GError **error)
{
  enum {
    ANNAME,
    STABXYZ,
    ORBPARM,
    NOSTA,
    MNTSTA,
    STAXOF,
    POLTYA,
    POLAA,
    POLCALA,
    POLTYB,
    POLAB,
    POLCALB,
    N_COLUMNS
  };
  static const char *const names[N_COLUMNS] = { "ANNAME",  "STABXYZ", "ORBPARM", "NOSTA",
                                                "MNTSTA",  "STAXOF",  "POLTYA",  "POLAA",
                                                "POLCALA", "POLTYB",  "POLAB",   "POLCALB" };
  static const char *const units[N_COLUMNS] = { "", "METERS",  "", "", "",        "METERS",
                                                "", "DEGREES", "", "", "DEGREES", "" };
  gsize name_bytes = 8;
  for (guint i = 0; i < o->n_stations; i++)
    name_bytes = MAX(name_bytes, strlen(o->names[i]));
  g_autofree char *name_form = g_strdup_printf("%" G_GSIZE_FORMAT "A", name_bytes);
  const char *forms[N_COLUMNS] = { name_form, "3D", "0D", "1J", "1J", "1E",
                                   "1A",      "1E", "0E", "1A", "1E", "0E" };
  const AstroUvfitsBasis *basis =
      &astro_uvfits_bases[strcmp(o->basis, astro_uvfits_bases[1].basis) == 0];
  double middle[3] = { 0 };
  int status = 0;

  for (guint i = 0; i < 3 * o->n_stations; i++)
    middle[i % 3] += o->positions[i] / o->n_stations;
  fits_create_tbl(file, BINARY_TBL, o->n_stations, N_COLUMNS, (char **)names, (char **)forms,
                  (char **)units, "AIPS AN", &status);
  write_keys(file, o, reference_frequency, middle, &status);

  for (guint i = 0; i < o->n_stations; i++) {
    double offset[3];
    int number = i + 1, mount = 0; /* alt-azimuth; the observation does not tell */
    float axis_offset = 0, angles[2] = { basis->angles[0], basis->angles[1] };
    for (guint k = 0; k < 3; k++)
      offset[k] = o->positions[3 * i + k] - middle[k];
    fits_write_col(file, TSTRING, 1 + ANNAME, number, 1, 1, &o->names[i], &status);
    fits_write_col(file, TDOUBLE, 1 + STABXYZ, number, 1, 3, offset, &status);
    fits_write_col(file, TINT, 1 + NOSTA, number, 1, 1, &number, &status);
    fits_write_col(file, TINT, 1 + MNTSTA, number, 1, 1, &mount, &status);
    fits_write_col(file, TFLOAT, 1 + STAXOF, number, 1, 1, &axis_offset, &status);
    fits_write_col(file, TSTRING, 1 + POLTYA, number, 1, 1, (void *)&basis->feeds[0], &status);
    fits_write_col(file, TFLOAT, 1 + POLAA, number, 1, 1, &angles[0], &status);
    fits_write_col(file, TSTRING, 1 + POLTYB, number, 1, 1, (void *)&basis->feeds[1], &status);
    fits_write_col(file, TFLOAT, 1 + POLAB, number, 1, 1, &angles[1], &status);
  }
  return astro_fits_check(status, "memory", "writing the station table", error);
}

void astro_uvfits_antennas_clear(AstroUvfitsAntennas *antennas)
{
  g_clear_pointer(&antennas->numbers, g_free);
  g_clear_pointer(&antennas->names, g_strfreev);
  g_clear_pointer(&antennas->positions, g_free);
}

/* IAT and TAI are one clock with two names. */
static gboolean read_clock(fitsfile *file, const char *name, double *seconds_to_utc, GError **error)
{
  char clock[FLEN_VALUE] = "UTC";
  double offset = 0;
  if (!astro_fits_get_string(file, "TIMSYS", clock))
    astro_fits_get_string(file, "TIMESYS", clock);
  if (g_str_equal(clock, "UTC") || clock[0] == 0) {
    astro_fits_get_double(file, "DATUTC", &offset);
    *seconds_to_utc = -offset;
    return TRUE;
  }
  if (!g_str_equal(clock, "IAT") && !g_str_equal(clock, "TAI")) {
    g_set_error(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_FORMAT,
                "%s: times are of clock \"%s\" (TIMSYS), expected UTC, IAT or TAI", name, clock);
    return FALSE;
  }
  if (!astro_fits_get_double(file, "IATUTC", &offset)) {
    g_set_error(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_FORMAT,
                "%s: times are of clock \"%s\" (TIMSYS) and IATUTC, its offset to UTC, is missing",
                name, clock);
    return FALSE;
  }
  *seconds_to_utc = -offset;
  return TRUE;
}

static void to_geocentric(fitsfile *file, AstroUvfitsAntennas *antennas)
{
  char hand[FLEN_VALUE] = "", frame[FLEN_VALUE] = "";
  double middle[3] = { 0 };

  astro_fits_get_string(file, "XYZHAND", hand);
  astro_fits_get_string(file, "FRAME", frame);
  astro_fits_get_double(file, "ARRAYX", &middle[0]);
  astro_fits_get_double(file, "ARRAYY", &middle[1]);
  astro_fits_get_double(file, "ARRAYZ", &middle[2]);
  gboolean at_geocentre = fabs(middle[0]) < AT_GEOCENTRE && fabs(middle[1]) < AT_GEOCENTRE &&
                          fabs(middle[2]) < AT_GEOCENTRE;
  gboolean left = g_str_equal(hand, "LEFT") || (hand[0] == 0 && at_geocentre);
  double turn = at_geocentre || g_str_equal(frame, "ITRF") ? 0 : atan2(middle[1], middle[0]);

  for (guint i = 0; i < antennas->n; i++) {
    double *p = &antennas->positions[3 * i], x = p[0], y = left ? -p[1] : p[1];
    p[0] = middle[0] + x * cos(turn) - y * sin(turn);
    p[1] = middle[1] + x * sin(turn) + y * cos(turn);
    p[2] = middle[2] + p[2];
  }
}

static gboolean read_rows(fitsfile *file, const char *name, AstroUvfitsAntennas *antennas,
                          GError **error)
{
  int status = 0, name_column, position_column, number_column, type, width = 0;
  long repeat = 0, position_repeat = 0;
  fits_get_colnum(file, CASEINSEN, "ANNAME", &name_column, &status);
  fits_get_colnum(file, CASEINSEN, "STABXYZ", &position_column, &status);
  fits_get_colnum(file, CASEINSEN, "NOSTA", &number_column, &status);
  if (!astro_fits_check(status, name, "finding ANNAME, STABXYZ and NOSTA in table AIPS AN", error))
    return FALSE;
  fits_get_coltype(file, position_column, &type, &position_repeat, NULL, &status);
  fits_get_coltype(file, name_column, &type, &repeat, NULL, &status);
  fits_get_col_display_width(file, name_column, &width, &status);
  if (status == 0 && (type != TSTRING || position_repeat != 3 || width < 0 || width > 4096)) {
    g_set_error(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_FORMAT,
                "%s: table AIPS AN: ANNAME has type %d and width %d, STABXYZ has %ld values a row, "
                "expected text and 3 values",
                name, type, width, position_repeat);
    return FALSE;
  }
  for (guint i = 0; i < antennas->n && status == 0; i++) {
    g_autofree char *text = g_malloc0((gsize)width + 1);
    fits_read_col(file, TSTRING, name_column, i + 1, 1, 1, (char *)"", &text, NULL, &status);
    fits_read_col(file, TDOUBLE, position_column, i + 1, 1, 3, NULL, &antennas->positions[3 * i],
                  NULL, &status);
    fits_read_col(file, TINT, number_column, i + 1, 1, 1, NULL, &antennas->numbers[i], NULL,
                  &status);
    g_strstrip(text);
    antennas->names[i] =
        text[0] ? g_utf8_make_valid(text, -1) : g_strdup_printf("%d", antennas->numbers[i]);
    for (guint k = 0; k < 3 && status == 0; k++)
      if (!isfinite(antennas->positions[3 * i + k])) {
        g_set_error(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_FORMAT,
                    "%s: table AIPS AN: position of station \"%s\" (row %u) is no number", name,
                    antennas->names[i], i + 1);
        return FALSE;
      }
  }
  return astro_fits_check(status, name, "reading table AIPS AN", error);
}

gboolean astro_uvfits_read_antennas(fitsfile *file, const char *name, AstroUvfitsAntennas *antennas,
                                    GError **error)
{
  int status = 0;
  long rows = 0;
  memset(antennas, 0, sizeof *antennas);
  if (fits_movnam_hdu(file, BINARY_TBL, (char *)"AIPS AN", 0, &status)) {
    fits_clear_errmsg();
    g_set_error(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_FORMAT,
                "%s: no table AIPS AN, which holds the stations' positions", name);
    return FALSE;
  }
  fits_get_num_rows(file, &rows, &status);
  if (!astro_fits_check(status, name, "reading table AIPS AN", error))
    return FALSE;
  if (rows < 1 || rows > ASTRO_UVFITS_MAX_STATIONS) {
    g_set_error(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_FORMAT,
                "%s: table AIPS AN has %ld stations, expected 1 to %d", name, rows,
                ASTRO_UVFITS_MAX_STATIONS);
    return FALSE;
  }
  antennas->n = rows;
  antennas->numbers = g_new0(gint, rows);
  antennas->names = g_new0(char *, rows + 1);
  antennas->positions = g_new0(double, 3 * rows);
  astro_fits_get_string(file, "ARRNAM", antennas->array);
  if (!read_clock(file, name, &antennas->seconds_to_utc, error) ||
      !read_rows(file, name, antennas, error)) {
    astro_uvfits_antennas_clear(antennas);
    return FALSE;
  }
  to_geocentric(file, antennas);
  return TRUE;
}
