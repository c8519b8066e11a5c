/* Reads tables of gains, which may come from anyone. */
#include "config.h"
#include "core/fits/gains/gains.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/fits/file.h"
#include "core/fits/table/table.h"

#define MOST_POLS 2
#define MOST_HERTZ 1e15
#define MOST_GAIN 1e100 /* whose square, and products of a few, are numbers */
#define MOST_SECONDS 1e12
#define NS_PER_DAY (G_GINT64_CONSTANT(86400) * 1000000000)
#define MOST_MJD 1000000

typedef struct {
  AstroFitsFile *file;
  const AstroFitsHeader *header;
  AstroFitsTable table;
  const AstroFitsColumn *station, *time, *gain, *snr, *delay;
  AstroGains *gains;
} Reader;

gboolean astro_fits_gains_is_fits(const char *path)
{
  guint8 begin[8];
  FILE *file = fopen(path, "rb");
  if (!file)
    return FALSE;
  const gsize n = fread(begin, 1, sizeof begin, file);
  fclose(file);
  return astro_fits_is_beginning(begin, n);
}

gboolean astro_fits_gains_is_in(const AstroFitsFile *file)
{
  const AstroFitsHeader *header = astro_fits_file_find_table(file, "GAINS");
  return header && astro_fits_is_binary_table(header);
}

static gboolean find_table(Reader *r, GError **error)
{
  r->header = astro_fits_file_find_table(r->file, "GAINS");
  return astro_fits_gains_is_in(r->file) ||
         astro_fits_wrong(r->file, error,
                          "there is no binary table GAINS, expected a table of gains as "
                          "astrocalibrate writes it");
}

static gboolean read_integer(const Reader *r, const char *key, gint64 least, gint64 most,
                             gint64 *value, GError **error)
{
  if (astro_fits_get_integer(r->header, key, value) && *value >= least && *value <= most)
    return TRUE;
  return astro_fits_wrong(r->file, error,
                          "table GAINS: %s is missing or out of range, expected %" G_GINT64_FORMAT
                          " to %" G_GINT64_FORMAT,
                          key, least, most);
}

static gboolean read_band(Reader *r, GError **error)
{
  AstroGains *g = r->gains;
  const gboolean good = astro_fits_get_double(r->header, "FREQLOW", &g->low) &&
                        astro_fits_get_double(r->header, "FREQHIGH", &g->high) &&
                        astro_fits_get_double(r->header, "FREQSTEP", &g->step) &&
                        g->low >= -MOST_HERTZ && g->low < g->high && g->high <= MOST_HERTZ &&
                        g->step > 0 &&
                        fabs(ceil((g->high - g->low) / g->step * (1 - 1e-9)) - g->groups) < 0.5;
  return good || astro_fits_wrong(r->file, error,
                                  "table GAINS: FREQLOW, FREQHIGH and FREQSTEP are not those of "
                                  "NGROUP=%u groups of channels",
                                  g->groups);
}

/* Everything that does not need the rows. */
static gboolean read_keys(Reader *r, GError **error)
{
  gint64 stations, pols, groups, constant, jansky, mjd, ns;
  const char *type = "", *basis = "";
  AstroGainsType known;
  astro_fits_get_string(r->header, "GAINTYPE", &type);
  astro_fits_get_string(r->header, "BASIS", &basis);
  if (!astro_gains_type_parse(type, &known)) {
    g_autofree char *valid = g_utf8_make_valid(type, -1);
    return astro_fits_wrong(r->file, error,
                            "table GAINS: GAINTYPE is \"%s\", expected phase, gain, full, delay or "
                            "bandpass",
                            valid);
  }
  const gint64 rows = (gint64)MIN(r->table.n_rows, G_MAXINT32);
  if (!read_integer(r, "NSTATION", 1, rows, &stations, error) ||
      !read_integer(r, "NPOL", 1, MOST_POLS, &pols, error) ||
      !read_integer(r, "NGROUP", 1, G_MAXINT32 / 16, &groups, error) ||
      !read_integer(r, "CONSTANT", 0, 1, &constant, error) ||
      !read_integer(r, "JANSKY", 0, 1, &jansky, error) ||
      !read_integer(r, "MJDSTART", 0, MOST_MJD, &mjd, error) ||
      !read_integer(r, "NSSTART", 0, NS_PER_DAY - 1, &ns, error))
    return FALSE;
  if (known == ASTRO_GAINS_FULL && pols != 2)
    return astro_fits_wrong(r->file, error, "table GAINS: GAINTYPE is full, and NPOL is not 2");
  if (r->table.n_rows % (guint64)stations != 0)
    return astro_fits_wrong(r->file, error,
                            "table GAINS: %" G_GUINT64_FORMAT " rows are not whole intervals of "
                            "NSTATION=%" G_GINT64_FORMAT,
                            r->table.n_rows, stations);
  g_autoptr(AstroObservation) observation = astro_observation_new((guint)stations);
  g_autofree char *valid = g_utf8_make_valid(basis, -1);
  g_free(observation->basis);
  observation->basis = *valid ? g_steal_pointer(&valid) : NULL;
  observation->start_mjd = (gint32)mjd;
  observation->start_ns = (guint64)ns;
  r->gains = astro_gains_new(observation, known, (guint)pols, (guint)groups);
  r->gains->is_constant = constant == 1;
  r->gains->to_jansky = jansky == 1;
  return read_band(r, error);
}

static gboolean find_column(Reader *r, const char *name, gboolean text, guint64 repeat,
                            const AstroFitsColumn **column, GError **error)
{
  *column = astro_fits_table_find(&r->table, name, text, repeat);
  return (*column && (text || (*column)->repeat == repeat)) ||
         astro_fits_wrong(r->file, error,
                          "table GAINS: column %s is missing or has other values than the keywords "
                          "say: expected %" G_GUINT64_FORMAT,
                          name, repeat);
}

static gboolean find_columns(Reader *r, GError **error)
{
  const guint64 values = (guint64)r->gains->groups * r->gains->values;
  return find_column(r, "STATION", TRUE, 1, &r->station, error) &&
         find_column(r, "TIME", FALSE, 2, &r->time, error) &&
         find_column(r, "GAIN", FALSE, 2 * values, &r->gain, error) &&
         find_column(r, "SNR", FALSE, values, &r->snr, error) &&
         find_column(r, "DELAY", FALSE, values, &r->delay, error);
}

static gboolean read_time(Reader *r, guint64 row, double times[2], GError **error)
{
  const GArray *intervals = r->gains->intervals;
  const double last = intervals->len
                          ? g_array_index(intervals, AstroGainsInterval, intervals->len - 1).end
                          : -MOST_SECONDS;
  for (guint k = 0; k < 2; k++)
    times[k] = astro_fits_table_number(&r->table, r->time, k);
  return (times[0] >= last - 1e-6 && times[0] < times[1] && times[1] <= MOST_SECONDS) ||
         astro_fits_wrong(r->file, error,
                          "table GAINS, row %" G_GUINT64_FORMAT
                          ": an interval of %g to %g s, expected intervals that rise",
                          row + 1, times[0], times[1]);
}

/* The first interval names the stations, and all others have the same ones. */
static gboolean read_station(Reader *r, guint64 row, guint station, GError **error)
{
  char *name = astro_fits_table_text(&r->table, r->station);
  if (row < r->gains->stations) {
    g_free(r->gains->names[station]);
    r->gains->names[station] = name;
    return *name || astro_fits_wrong(
                        r->file, error,
                        "table GAINS, row %" G_GUINT64_FORMAT ": the station has no name", row + 1);
  }
  const gboolean same = strcmp(name, r->gains->names[station]) == 0;
  g_free(name);
  return same || astro_fits_wrong(r->file, error,
                                  "table GAINS, row %" G_GUINT64_FORMAT
                                  ": expected station %s, as in the first interval",
                                  row + 1, r->gains->names[station]);
}

static gboolean read_values(Reader *r, guint64 row, guint station, complex double *gains,
                            float *snr, double *delays, GError **error)
{
  const guint values = r->gains->groups * r->gains->values;
  for (guint k = 0; k < values; k++) {
    const gsize at = (gsize)station * values + k;
    const double re = astro_fits_table_number(&r->table, r->gain, 2 * (guint64)k),
                 im = astro_fits_table_number(&r->table, r->gain, 2 * (guint64)k + 1);
    gains[at] = re + I * im;
    snr[at] = (float)astro_fits_table_number(&r->table, r->snr, k);
    delays[at] = astro_fits_table_number(&r->table, r->delay, k);
    if (!(fabs(re) <= MOST_GAIN) || !(fabs(im) <= MOST_GAIN) || !(snr[at] >= 0) ||
        !(fabs(delays[at]) < 1))
      return astro_fits_wrong(r->file, error,
                              "table GAINS, row %" G_GUINT64_FORMAT
                              ": a gain, S/N or delay is NaN, infinite or out of range",
                              row + 1);
  }
  return TRUE;
}

static gboolean read_interval(Reader *r, guint64 first, GError **error)
{
  const gsize n = astro_gains_row(r->gains);
  g_autofree complex double *gains = g_try_new(complex double, n);
  g_autofree float *snr = g_try_new(float, n);
  g_autofree double *delays = g_try_new(double, n);
  double times[2] = { 0 };
  if (!gains || !snr || !delays)
    return astro_fits_wrong(r->file, error, "no memory for its gains");
  for (guint i = 0; i < r->gains->stations; i++)
    if (!astro_fits_table_read(&r->table, first + i, error) ||
        (i == 0 && !read_time(r, first, times, error)) || !read_station(r, first + i, i, error) ||
        !read_values(r, first + i, i, gains, snr, delays, error))
      return FALSE;
  astro_gains_add(r->gains, times[0], times[1], gains, snr, delays);
  return TRUE;
}

static gboolean read_all(Reader *r, GError **error)
{
  if (!find_table(r, error) || !astro_fits_table_open(&r->table, r->file, r->header, error))
    return FALSE;
  if (r->table.n_rows == 0)
    return astro_fits_wrong(r->file, error, "table GAINS has no solutions");
  if (!read_keys(r, error) || !find_columns(r, error))
    return FALSE;
  for (guint64 row = 0; row < r->table.n_rows; row += r->gains->stations)
    if (!read_interval(r, row, error))
      return FALSE;
  return TRUE;
}

AstroGains *astro_fits_gains_read_from(AstroFitsFile *file, GError **error)
{
  Reader reader = { .file = file };
  const gboolean good = read_all(&reader, error);
  astro_fits_table_clear(&reader.table);
  if (!good)
    g_clear_pointer(&reader.gains, astro_gains_free);
  return reader.gains;
}

AstroGains *astro_fits_gains_read(const char *path, GError **error)
{
  AstroFitsFile *file = astro_fits_file_open(path, error);
  if (!file)
    return NULL;
  AstroGains *gains = astro_fits_gains_read_from(file, error);
  astro_fits_file_close(file);
  return gains;
}
