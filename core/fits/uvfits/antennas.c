/* The AIPS AN table. Positions are written relative to the geocentre (ARRAYX, ARRAYY and ARRAYZ are
 * 0), the only form that all readers understand in the same way: offsets from another array centre
 * are rotated by AIPS and pyuvdata, as AIPS memo 117 demands, but not by casacore. */
#include "core/fits/uvfits/uvfits.h"
#include "core/fits/uvfits/earth.h"
#include "core/kit/units.h"

#include <erfa.h>
#include <math.h>
#include <string.h>

#define TABLE "AIPS AN"
#define MJD_ZERO 2400000.5
#define SIDEREAL_DEGREES_PER_DAY 360.98564736629 /* of UT1, IAU 1982 as in memo 117 */
#define SECONDS_TT_MINUS_TAI 32.184
#define AT_GEOCENTRE 1000.0 /* metres: no array's centre is that close to it */
#define MAX_NUMBER 1e6      /* of a station */
#define FEED_SLACK 0.5      /* degrees by which a feed may be off north or east */

static const char *const middle_keys[3] = { "ARRAYX", "ARRAYY", "ARRAYZ" };

/* Greenwich sidereal time and TAI - UTC at the start of the observation's day. */
static void clocks(const AstroObservation *o, double *sidereal_degrees, double *tai_minus_utc)
{
  const gint32 mjd = o->start_mjd;
  AstroEarthDay earth;
  int year, month, day;
  double fraction;
  eraJd2cal(MJD_ZERO, mjd, &year, &month, &day, &fraction);
  *tai_minus_utc = 0;
  eraDat(year, month, day, 0, tai_minus_utc);
  astro_earth_at(o->earth, mjd, 0, &earth);
  *sidereal_degrees =
      ASTRO_DEGREES * eraGst06a(MJD_ZERO, mjd + earth.ut1_utc / 86400.0, MJD_ZERO,
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

static void write_keys(fitsfile *file, const AstroObservation *o, double frequency, int *status)
{
  double sidereal, tai_minus_utc;
  int year, month, day;
  double fraction;

  clocks(o, &sidereal, &tai_minus_utc);
  eraJd2cal(MJD_ZERO, o->start_mjd, &year, &month, &day, &fraction);
  g_autofree char *date = g_strdup_printf("%04d-%02d-%02d", year, month, day);
  g_autofree char *array = astro_fits_ascii(o->telescope);

  write_integer(file, "EXTVER", 1, "number of this array", status);
  for (guint i = 0; i < 3; i++)
    write_key(file, middle_keys[i], 0, "positions are relative to the geocentre (m)", status);
  write_key(file, "GSTIA0", sidereal, "sidereal time at 0h of RDATE (deg)", status);
  write_key(file, "DEGPDY", SIDEREAL_DEGREES_PER_DAY, "rotation of the earth (deg/day)", status);
  write_key(file, "FREQ", frequency, "reference frequency (Hz)", status);
  write_text(file, "RDATE", date, "day 0 of the times", status);
  astro_uvfits_write_earth_keys(file, o, status);
  write_key(file, "DATUTC", 0, "time of the data - UTC (s)", status);
  write_key(file, "IATUTC", tai_minus_utc, "TAI - UTC (s)", status);
  /* Some readers look at one keyword, some at the other. */
  write_text(file, "TIMSYS", "UTC", "clock of the times", status);
  write_text(file, "TIMESYS", "UTC", "clock of the times", status);
  write_text(file, "ARRNAM", array, "name of the array", status);
  write_text(file, "XYZHAND", "RIGHT", "handedness of positions", status);
  write_text(file, "FRAME", "ITRF", "frame of positions", status);
  write_integer(file, "NUMORB", 0, "orbital parameters", status);
  write_integer(file, "NOPCAL", 0, "polarisation parameters", status);
  write_integer(file, "NO_IF", 1, "number of IFs", status);
  write_integer(file, "FREQID", 1, "frequency setup", status);
  write_text(file, "POLTYPE", "", "no polarisation solution", status);
}

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

static const struct {
  const char *name, *form, *unit;
} columns[N_COLUMNS] = {
  [ANNAME] = { "ANNAME", NULL, "" }, /* width: that of the longest name */
  [STABXYZ] = { "STABXYZ", "3D", "METERS" }, [ORBPARM] = { "ORBPARM", "0D", "" },
  [NOSTA] = { "NOSTA", "1J", "" },           [MNTSTA] = { "MNTSTA", "1J", "" },
  [STAXOF] = { "STAXOF", "1E", "METERS" },   [POLTYA] = { "POLTYA", "1A", "" },
  [POLAA] = { "POLAA", "1E", "DEGREES" },    [POLCALA] = { "POLCALA", "0E", "" },
  [POLTYB] = { "POLTYB", "1A", "" },         [POLAB] = { "POLAB", "1E", "DEGREES" },
  [POLCALB] = { "POLCALB", "0E", "" },
};

static void create_table(fitsfile *file, const AstroObservation *o, int *status)
{
  const char *names[N_COLUMNS], *forms[N_COLUMNS], *units[N_COLUMNS];
  gsize name_bytes = 8;
  for (guint i = 0; i < o->n_stations; i++)
    name_bytes = MAX(name_bytes, strlen(o->names[i]));
  g_autofree char *name_form = g_strdup_printf("%" G_GSIZE_FORMAT "A", name_bytes);
  for (guint k = 0; k < N_COLUMNS; k++) {
    names[k] = columns[k].name;
    forms[k] = k == ANNAME ? name_form : columns[k].form;
    units[k] = columns[k].unit;
  }
  fits_create_tbl(file, BINARY_TBL, o->n_stations, N_COLUMNS, (char **)names, (char **)forms,
                  (char **)units, TABLE, status);
}

static void write_station(fitsfile *file, const AstroObservation *o, guint i, int *status)
{
  const AstroRowBasis *basis = astro_row_basis_of(o);
  g_autofree char *name = astro_fits_ascii(o->names[i]);
  int number = i + 1, mount = 0; /* alt-azimuth; unknown in the observation */
  float axis_offset = 0, angles[2] = { basis->angles[0], basis->angles[1] };
  fits_write_col(file, TSTRING, 1 + ANNAME, number, 1, 1, &name, status);
  fits_write_col(file, TDOUBLE, 1 + STABXYZ, number, 1, 3, &o->positions[3 * i], status);
  fits_write_col(file, TINT, 1 + NOSTA, number, 1, 1, &number, status);
  fits_write_col(file, TINT, 1 + MNTSTA, number, 1, 1, &mount, status);
  fits_write_col(file, TFLOAT, 1 + STAXOF, number, 1, 1, &axis_offset, status);
  fits_write_col(file, TSTRING, 1 + POLTYA, number, 1, 1, (void *)&basis->feeds[0], status);
  fits_write_col(file, TFLOAT, 1 + POLAA, number, 1, 1, &angles[0], status);
  fits_write_col(file, TSTRING, 1 + POLTYB, number, 1, 1, (void *)&basis->feeds[1], status);
  fits_write_col(file, TFLOAT, 1 + POLAB, number, 1, 1, &angles[1], status);
}

gboolean astro_uvfits_write_antennas(fitsfile *file, const AstroObservation *o,
                                     double reference_frequency, GError **error)
{
  int status = 0;
  create_table(file, o, &status);
  write_keys(file, o, reference_frequency, &status);
  for (guint i = 0; i < o->n_stations; i++)
    write_station(file, o, i, &status);
  return astro_fits_check(status, "writing the station table", error);
}

void astro_uvfits_antennas_clear(AstroUvfitsAntennas *antennas)
{
  g_clear_pointer(&antennas->numbers, g_free);
  g_clear_pointer(&antennas->names, g_strfreev);
  g_clear_pointer(&antennas->offsets, g_free);
  g_clear_pointer(&antennas->array, g_free);
  for (guint i = 0; i < antennas->n_rows; i++)
    g_free(antennas->wrong[i]);
  g_clear_pointer(&antennas->wrong, g_free);
  antennas->n_rows = 0;
}

/* IAT and TAI are two names of the same clock. */
static gboolean is_atomic(const char *clock)
{
  return g_str_equal(clock, "IAT") || g_str_equal(clock, "TAI");
}

/* AIPS memo 117 has the keyword TIMESYS; CASA and others write TIMSYS. If they disagree, times may
 * be wrong by half a minute. */
static gboolean find_clock(const AstroFitsTable *table, const char **clock, GError **error)
{
  const char *standard = "", *usual = "";
  astro_fits_get_string(table->header, "TIMESYS", &standard);
  astro_fits_get_string(table->header, "TIMSYS", &usual);
  *clock = usual[0] ? usual : standard[0] ? standard : "UTC";
  if (!standard[0] || !usual[0] || g_str_equal(standard, usual) ||
      (is_atomic(standard) && is_atomic(usual)))
    return TRUE;
  return astro_fits_wrong(table->file, error,
                          "table AIPS AN: the clock of times is \"%s\" in TIMESYS but \"%s\" in "
                          "TIMSYS, expected the same in both, or only one: delete the wrong one",
                          standard, usual);
}

static gboolean read_clock(const AstroFitsTable *table, double *seconds_to_utc, GError **error)
{
  const char *clock;
  double offset = 0;
  if (!find_clock(table, &clock, error))
    return FALSE;
  if (g_str_equal(clock, "UTC")) {
    astro_fits_get_double(table->header, "DATUTC", &offset);
    *seconds_to_utc = -offset;
    return TRUE;
  }
  const char *key = is_atomic(clock) ? "IATUTC" : g_str_equal(clock, "UT1") ? "UT1UTC" : NULL;
  if (!key || !astro_fits_get_double(table->header, key, &offset))
    return astro_fits_wrong(
        table->file, error,
        "the clock of times is \"%s\" (TIMSYS), expected UTC, or IAT, TAI or UT1 with their offset "
        "from UTC (IATUTC, UT1UTC)",
        clock);
  *seconds_to_utc = -offset;
  return TRUE;
}

/* Every array of a file has its own table, numbered by EXTVER. Groups of other arrays than the
 * first are refused when they are read, unless nothing tells which array they belong to. */
static gboolean count_arrays(AstroFitsFile *file, guint *arrays, GError **error)
{
  const AstroFitsHeader *header;
  gboolean has_first = FALSE;
  *arrays = 0;
  for (guint i = 1; (header = astro_fits_file_header(file, i)); i++) {
    const char *name = "";
    gint64 version = 1;
    astro_fits_get_string(header, "EXTNAME", &name);
    if (!astro_fits_is_binary_table(header) || !g_str_equal(name, TABLE))
      continue;
    astro_fits_get_integer(header, "EXTVER", &version);
    if (version == 1 && has_first)
      return astro_fits_wrong(file, error,
                              "two tables AIPS AN are for array 1 (EXTVER), expected one for each "
                              "array: which of them has the stations is unknown");
    has_first = has_first || version == 1;
    ++*arrays;
  }
  return TRUE;
}

/* Arrays at the geocentre are left-handed unless a keyword says otherwise. */
static gboolean read_frame(const AstroFitsTable *table, AstroUvfitsAntennas *antennas,
                           GError **error)
{
  const AstroFitsHeader *header = table->header;
  const char *hand = "", *frame = "";
  double *middle = antennas->middle;
  astro_fits_get_string(header, "XYZHAND", &hand);
  astro_fits_get_string(header, "FRAME", &frame);
  for (guint k = 0; k < 3; k++) {
    astro_fits_get_double(header, middle_keys[k], &middle[k]);
    if (!(fabs(middle[k]) < ASTRO_OBSERVATION_MAX_METRES))
      return astro_fits_wrong(
          table->file, error,
          "table AIPS AN: the centre of the array has %s %g m, expected less than "
          "%g m from the geocentre",
          middle_keys[k], middle[k], ASTRO_OBSERVATION_MAX_METRES);
  }
  gboolean at_geocentre = fabs(middle[0]) < AT_GEOCENTRE && fabs(middle[1]) < AT_GEOCENTRE &&
                          fabs(middle[2]) < AT_GEOCENTRE;
  antennas->frame = 0;
  if (g_str_equal(hand, "LEFT") || (hand[0] == 0 && at_geocentre))
    antennas->frame |= ASTRO_UVFITS_LEFT_HANDED;
  if (!at_geocentre && !g_str_equal(frame, "ITRF"))
    antennas->frame |= ASTRO_UVFITS_ROTATED;
  return TRUE;
}

void astro_uvfits_place_antenna(const AstroUvfitsAntennas *antennas, guint i,
                                AstroUvfitsFrame frame, double position[3])
{
  const double *offset = &antennas->offsets[3 * i], *middle = antennas->middle;
  double angle = frame & ASTRO_UVFITS_ROTATED ? atan2(middle[1], middle[0]) : 0;
  double x = offset[0], y = frame & ASTRO_UVFITS_LEFT_HANDED ? -offset[1] : offset[1];
  position[0] = middle[0] + x * cos(angle) - y * sin(angle);
  position[1] = middle[1] + x * sin(angle) + y * cos(angle);
  position[2] = middle[2] + offset[2];
}

/* An error only if a group uses the station. */
static void note_wrong(AstroUvfitsAntennas *antennas, guint i, const char *what, double value,
                       const char *unit)
{
  if (!antennas->wrong[i])
    antennas->wrong[i] = g_strdup_printf("table AIPS AN: station \"%s\" (row %u) %s %g%s",
                                         antennas->names[i], i + 1, what, value, unit);
}

/* Feeds that point north or east, as close as the numbers of the table tell. */
static gboolean is_along(double degrees, double direction)
{
  return fabs(remainder(degrees - direction, 180)) < FEED_SLACK;
}

static gboolean read_rows(AstroFitsTable *table, AstroUvfitsAntennas *antennas, GError **error)
{
  const AstroFitsColumn *name = astro_fits_table_find(table, "ANNAME", TRUE, 1);
  const AstroFitsColumn *position = astro_fits_table_find(table, "STABXYZ", FALSE, 3);
  const AstroFitsColumn *number = astro_fits_table_find(table, "NOSTA", FALSE, 1);
  const AstroFitsColumn *first = astro_fits_table_find(table, "POLAA", FALSE, 1);
  const AstroFitsColumn *second = astro_fits_table_find(table, "POLAB", FALSE, 1);

  if (!name || !position || !number)
    return astro_fits_wrong(table->file, error, "table AIPS AN lacks column %s",
                            !name       ? "ANNAME (text)"
                            : !position ? "STABXYZ (three numbers)"
                                        : "NOSTA (numbers)");
  antennas->are_east = first && second;
  for (guint i = 0; i < antennas->n; i++) {
    if (!astro_fits_table_read(table, i, error))
      return FALSE;
    antennas->are_east = antennas->are_east &&
                         is_along(astro_fits_table_number(table, first, 0), 90) &&
                         is_along(astro_fits_table_number(table, second, 0), 0);
    double no = astro_fits_table_number(table, number, 0);
    antennas->names[i] = astro_fits_table_text(table, name);
    antennas->numbers[i] = fabs(no) < MAX_NUMBER ? (gint)no : G_MININT;
    if (!(fabs(no) < MAX_NUMBER))
      note_wrong(antennas, i, "has the number", no, "");
    for (guint k = 0; k < 3; k++) {
      double metres = astro_fits_table_number(table, position, k);
      if (!(fabs(metres) < ASTRO_OBSERVATION_MAX_METRES))
        note_wrong(antennas, i, "is at", metres, " m");
      antennas->offsets[3 * i + k] = metres;
    }
    if (!antennas->names[i][0]) {
      g_free(antennas->names[i]);
      antennas->names[i] = g_strdup_printf("%d", antennas->numbers[i]);
    }
  }
  return TRUE;
}

gboolean astro_uvfits_read_antennas(AstroFitsFile *file, AstroUvfitsAntennas *antennas,
                                    GError **error)
{
  const AstroFitsHeader *header = astro_fits_file_find_table(file, TABLE);
  const char *array = "";
  AstroFitsTable table;

  memset(antennas, 0, sizeof *antennas);
  if (!header)
    return astro_fits_wrong(file, error, "there is no table AIPS AN with the stations' positions");
  if (!count_arrays(file, &antennas->arrays, error) ||
      !astro_fits_table_open(&table, file, header, error))
    return FALSE;
  gboolean good = table.n_rows >= 1 && table.n_rows <= ASTRO_UVFITS_MAX_STATIONS;
  if (!good)
    astro_fits_wrong(file, error,
                     "table AIPS AN has %" G_GUINT64_FORMAT " stations, expected 1 to %d",
                     table.n_rows, ASTRO_UVFITS_MAX_STATIONS);
  if (good) {
    antennas->n = table.n_rows;
    antennas->numbers = g_new0(gint, antennas->n);
    antennas->names = g_new0(char *, antennas->n + 1);
    antennas->offsets = g_new0(double, 3 * antennas->n);
    antennas->wrong = g_new0(char *, antennas->n);
    antennas->n_rows = antennas->n;
    astro_fits_get_string(header, "ARRNAM", &array);
    antennas->array = g_strdup(array);
    good = read_clock(&table, &antennas->seconds_to_utc, error) &&
           read_rows(&table, antennas, error) && read_frame(&table, antennas, error);
  }
  astro_fits_table_clear(&table);
  if (!good)
    astro_uvfits_antennas_clear(antennas);
  return good;
}
