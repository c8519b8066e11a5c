/* Reads the orientation of the Earth from files of the IERS. */
#include "config.h"
#include "core/lib/sky/earth-file.h"

#include <math.h>
#include <string.h>

#include "core/kit/fail.h"
#include "core/kit/units.h"

#define MOST_DAYS 200000 /* from MJD 0: the year 2406 */
#define WIDEST 16
#define SAME 1e-6 /* arcsec: rounding */

/* Columns as the IERS counts them, from 1: those of Bulletin A, which has all days of the file. */
typedef struct {
  const char *name;
  guint from, to;
} Column;

enum { MJD, POLE_X, POLE_Y, UT1_UTC, N_COLUMNS };

static const Column columns[N_COLUMNS] = {
  [MJD] = { "the modified Julian date", 8, 15 },
  [POLE_X] = { "the pole's x in arcsec", 19, 27 },
  [POLE_Y] = { "the pole's y in arcsec", 38, 46 },
  [UT1_UTC] = { "UT1 - UTC in seconds", 59, 68 },
};

/* The text is empty if the line ends before the column. */
static void copy_column(const char *line, const Column *column, char text[WIDEST])
{
  const gsize length = strlen(line), from = column->from - 1;
  const gsize n = length > from ? MIN(length, column->to) - from : 0;
  memcpy(text, line + MIN(from, length), n);
  text[n] = '\0';
  g_strstrip(text);
}

static gboolean read_column(AstroLines *lines, const char *text, const Column *column,
                            double *value, GError **error)
{
  if (astro_number_parse(text, value))
    return TRUE;
  g_autofree char *found = g_strescape(text, NULL);
  astro_lines_error(lines, error,
                    "columns %u to %u hold \"%s\", expected %s, as in finals2000A.all of the IERS",
                    column->from, column->to, found, column->name);
  return FALSE;
}

static gboolean read_mjd(AstroLines *lines, const char *text, gint32 *mjd, GError **error)
{
  double value;
  if (!read_column(lines, text, &columns[MJD], &value, error))
    return FALSE;
  if (value >= 0 && value < MOST_DAYS && value == floor(value)) {
    *mjd = (gint32)value;
    return TRUE;
  }
  astro_lines_error(lines, error, "the modified Julian date is %.10g, expected a day from 0 to %d",
                    value, MOST_DAYS - 1);
  return FALSE;
}

/* Predictions end before the file does: the days after them have only a date. */
static gboolean read_day(AstroLines *lines, const char *line, gint32 *mjd, AstroEarthDay *day,
                         gboolean *is_blank, GError **error)
{
  double *const values[N_COLUMNS] = { NULL, &day->pole_x, &day->pole_y, &day->ut1_utc };
  char texts[N_COLUMNS][WIDEST];
  guint filled = 0;
  for (guint c = 0; c < N_COLUMNS; c++) {
    copy_column(line, &columns[c], texts[c]);
    filled += c != MJD && texts[c][0];
  }
  if (!read_mjd(lines, texts[MJD], mjd, error))
    return FALSE;
  *is_blank = filled == 0;
  for (guint c = MJD + 1; c < N_COLUMNS && !*is_blank; c++)
    if (!read_column(lines, texts[c], &columns[c], values[c], error))
      return FALSE;
  return TRUE;
}

static gboolean check_follows(AstroLines *lines, const GArray *days, gint32 expected, gint32 mjd,
                              const AstroEarthDay *day, GError **error)
{
  const AstroEarthDay *before =
      days->len ? &g_array_index(days, AstroEarthDay, days->len - 1) : NULL;
  if (before && mjd != expected) {
    astro_lines_error(lines, error, "the modified Julian date is %d, expected %d: one line per day",
                      mjd, expected);
    return FALSE;
  }
  g_autofree char *wrong = astro_earth_wrong_day(before, day);
  if (wrong)
    astro_lines_error(lines, error, "%s", wrong);
  return !wrong;
}

AstroEarth *astro_earth_from_lines(AstroLines *lines, GError **error)
{
  g_autoptr(GArray) days = g_array_new(FALSE, FALSE, sizeof(AstroEarthDay));
  g_autofree char *name = g_path_get_basename(lines->name);
  gint32 first = 0, mjd;
  gboolean is_over = FALSE, is_blank;
  char *line;
  while ((line = astro_lines_next_whole(lines))) {
    AstroEarthDay day;
    if (line[strspn(line, " \t")] == '\0')
      continue;
    if (!read_day(lines, line, &mjd, &day, &is_blank, error))
      return NULL;
    is_over = is_over || (is_blank && days->len);
    if (is_blank)
      continue;
    if (is_over) {
      astro_lines_error(lines, error, "found values again after days without any");
      return NULL;
    }
    first = days->len ? first : mjd;
    if (!check_follows(lines, days, first + (gint32)days->len, mjd, &day, error))
      return NULL;
    g_array_append_val(days, day);
  }
  if (days->len >= ASTRO_EARTH_LEAST_DAYS)
    return astro_earth_new(name, first, (const AstroEarthDay *)days->data, days->len, error);
  astro_fail(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
             "%s has %u days of UT1 - UTC, expected %d or more, as in finals2000A.all of the IERS",
             lines->name, days->len, ASTRO_EARTH_LEAST_DAYS);
  return NULL;
}

static AstroEarth *parse_file(const char *file, GError **error)
{
  AstroLines lines;
  if (!astro_lines_open(&lines, file, error))
    return NULL;
  AstroEarth *earth = astro_earth_from_lines(&lines, error);
  astro_lines_clear(&lines);
  return earth;
}

/* An element may read other files as well, so the message names the property. */
static AstroEarth *read_file(const char *file, GError **error)
{
  AstroEarth *earth = parse_file(file, error);
  if (!earth)
    g_prefix_error(error, "earth-orientation: ");
  return earth;
}

static gboolean check_span(const AstroObservation *observation, const AstroEarth *earth,
                           const char *file, GError **error)
{
  const double days = (double)observation->start_ns / ASTRO_NS_PER_DAY;
  if (astro_earth_covers(earth, observation->start_mjd, days))
    return TRUE;
  g_autofree char *span = astro_earth_span(earth),
                  *start = astro_observation_get_start(observation);
  return astro_fail(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
                    "earth-orientation=%s covers %s, but the observation starts at %s: expected a "
                    "file that covers it",
                    file, span, start);
}

static gboolean check_same(const AstroObservation *observation, const AstroEarth *earth,
                           const char *file, GError **error)
{
  const double arcsec = astro_earth_difference(observation->earth, earth, observation->start_mjd);
  if (arcsec <= SAME)
    return TRUE;
  g_autofree char *came = astro_earth_describe(observation->earth);
  return astro_fail(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
                    "earth-orientation=%s, but the stream was computed with the Earth "
                    "orientation %s: sources differ by up to %.3g arcsec. Expected the same "
                    "file from the source on, or earth-orientation unset here",
                    file, came, arcsec);
}

gboolean astro_earth_amend(AstroObservation *observation, const char *file, GError **error)
{
  if (!file || !*file)
    return TRUE;
  if (!observation->has_start)
    return astro_fail(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
                      "earth-orientation=%s: the observation has no start, expected a start-time, "
                      "by which the file's days are found",
                      file);
  g_autoptr(AstroEarth) earth = read_file(file, error);
  if (!earth || !check_span(observation, earth, file, error))
    return FALSE;
  if (observation->earth)
    return check_same(observation, earth, file, error);
  observation->earth = astro_earth_cut(earth, observation->start_mjd);
  return TRUE;
}

gboolean astro_earth_settle(AstroObservation *observation, const char *file, gboolean *is_assumed,
                            GError **error)
{
  if (!astro_earth_amend(observation, file, error))
    return FALSE;
  *is_assumed = !observation->earth;
  if (*is_assumed)
    observation->earth = astro_earth_new_none();
  return TRUE;
}
