/* Reads the times and baselines of rows, and makes the observation of the stations that have any:
 * arrays of hundreds of antennas are described whole in files that hold a few of them. */
#include <math.h>
#include <string.h>

#include "core/kit/units.h"
#include "core/uvh5/reader.h"

#define JD_OF_MJD_ZERO 2400000.5
#define MOST_DAYS 100000
#define YEARS "1858 to 2132"
/* A Julian date in double precision is exact to 40 microseconds. */
#define ROUNDING_NS 45000
#define LONGEST_SECONDS 1e6

typedef struct {
  gint64 *antenna[2]; /* numbers */
  double *time, *seconds, *uvw;
  gint64 *field;
} Columns;

static void clear_columns(Columns *c)
{
  g_free(c->antenna[0]);
  g_free(c->antenna[1]);
  g_free(c->time);
  g_free(c->seconds);
  g_free(c->uvw);
  g_free(c->field);
}

static gboolean read_columns(AstroUvh5Reader *r, gboolean has_field, Columns *c, GError **error)
{
  const AstroH5 *file = &r->file;
  if (!(c->time = astro_h5_doubles(file, "Header/time_array", 0, &r->n_rows, error)))
    return FALSE;
  const guint64 n = r->n_rows;
  if (!(c->antenna[0] = astro_h5_integers(file, "Header/ant_1_array", n, NULL, error)) ||
      !(c->antenna[1] = astro_h5_integers(file, "Header/ant_2_array", n, NULL, error)) ||
      !(c->uvw = astro_h5_doubles(file, "Header/uvw_array", 3 * n, NULL, error)) ||
      !(c->seconds = astro_h5_doubles(file, "Header/integration_time", n, NULL, error)))
    return FALSE;
  return !has_field ||
         (c->field = astro_h5_integers(file, "Header/phase_center_id_array", n, NULL, error));
}

/* ---- stations ---- */

static gboolean find_antenna(AstroUvh5Reader *r, GHashTable *index, guint64 row, gint64 number,
                             guint *antenna, GError **error)
{
  gconstpointer found = number > -G_MAXINT32 && number < G_MAXINT32
                            ? g_hash_table_lookup(index, GINT_TO_POINTER((gint)number))
                            : NULL;
  if (!found)
    return astro_h5_wrong(&r->file, error,
                          "row %" G_GUINT64_FORMAT " has antenna %" G_GINT64_FORMAT
                          ", which is not in Header/antenna_numbers",
                          row + 1, number);
  *antenna = GPOINTER_TO_UINT(found) - 1;
  return TRUE;
}

static GHashTable *index_antennas(AstroUvh5Reader *r, const AstroUvh5Antennas *antennas,
                                  GError **error)
{
  g_autoptr(GHashTable) index = g_hash_table_new(NULL, NULL);
  for (guint i = 0; i < antennas->n; i++)
    if (!g_hash_table_insert(index, GINT_TO_POINTER((gint)antennas->numbers[i]),
                             GUINT_TO_POINTER(i + 1))) {
      astro_h5_wrong(&r->file, error, "Header/antenna_numbers has %" G_GINT64_FORMAT " twice",
                     antennas->numbers[i]);
      return NULL;
    }
  return g_steal_pointer(&index);
}

/* Numbers the antennas that have rows in the order of the header, and describes them. */
static void make_observation(AstroUvh5Reader *r, const AstroUvh5Antennas *antennas,
                             guint *station_of)
{
  guint n = 0;
  for (guint64 i = 0; i < antennas->n; i++)
    if (station_of[i])
      station_of[i] = ++n;
  AstroObservation *o = astro_observation_new(n);
  for (guint64 i = 0; i < antennas->n; i++) {
    if (!station_of[i])
      continue;
    const guint s = station_of[i] - 1;
    const char *name = antennas->names[i];
    g_free(o->names[s]);
    o->names[s] =
        *name ? g_strdup(name) : g_strdup_printf("%" G_GINT64_FORMAT, antennas->numbers[i]);
    for (guint k = 0; k < 3; k++)
      o->positions[3 * s + k] = r->location[k] + antennas->positions[3 * i + k];
  }
  r->contents.observation = o;
  r->contents.stations = n;
}

/* The rows of the field, with antennas by their place in the header; station_of marks them. */
static gboolean take_rows(AstroUvh5Reader *r, const Columns *c, GHashTable *index, gint64 field,
                          guint *station_of, GError **error)
{
  AstroRows *rows = r->rows;
  guint64 n = 0;
  for (guint64 row = 0; row < r->n_rows; row++) {
    if (c->field && c->field[row] != field)
      continue;
    for (guint k = 0; k < 2; k++) {
      if (!find_antenna(r, index, row, c->antenna[k][row], &rows->station[k][n], error))
        return FALSE;
      station_of[rows->station[k][n]] = 1;
    }
    r->row_in_file[n] = row;
    memcpy(&r->uvw[3 * n++], &c->uvw[3 * row], 3 * sizeof *r->uvw);
  }
  rows->n = n;
  return n > 0 || astro_h5_wrong(&r->file, error,
                                 "no row belongs to phase centre %" G_GINT64_FORMAT
                                 " (Header/phase_center_id_array)",
                                 field);
}

/* ---- times ---- */

/* Whole days are split off before a double has to hold nanoseconds. */
static gboolean set_times(AstroUvh5Reader *r, const Columns *c, GError **error)
{
  AstroRows *rows = r->rows;
  for (guint64 i = 0; i < rows->n; i++) {
    const guint64 row = r->row_in_file[i];
    const double mjd = c->time[row] - JD_OF_MJD_ZERO, seconds = c->seconds[row];
    if (!(mjd >= 1 && mjd < MOST_DAYS))
      return astro_h5_wrong(&r->file, error,
                            "row %" G_GUINT64_FORMAT " has the time %g, expected a Julian date "
                            "from " YEARS,
                            row + 1, c->time[row]);
    if (i == 0)
      rows->day = (gint32)floor(mjd);
    rows->middle_ns[i] = llround((mjd - rows->day) * ASTRO_NS_PER_DAY);
    rows->length_ns[i] =
        seconds > 0 && seconds < LONGEST_SECONDS ? llround(seconds * ASTRO_NS_PER_SECOND) : 0;
  }
  rows->rounding_ns = ROUNDING_NS;
  return TRUE;
}

/* Files written by us have the start to the nanosecond. */
static void read_start(AstroUvh5Reader *r)
{
  g_autoptr(AstroObservation) told = astro_observation_new(0);
  g_autofree char *start = astro_h5_text(&r->file, "Header/extra_keywords/DATE-OBS");
  if (start && astro_observation_set_start(told, start, NULL) &&
      ABS(told->start_mjd - r->rows->day) <= 1)
    r->rows->told_start_ns =
        (told->start_mjd - r->rows->day) * (gint64)ASTRO_NS_PER_DAY + (gint64)told->start_ns;
}

static gboolean check_clock(AstroUvh5Reader *r, GError **error)
{
  g_autofree char *clock = astro_h5_text(&r->file, "Header/timesys");
  return !clock || !*clock || g_str_equal(clock, "UTC") ||
         astro_h5_wrong(&r->file, error, "Header/timesys is \"%s\", expected UTC", clock);
}

gboolean astro_uvh5_read_rows(AstroUvh5Reader *r, const AstroUvh5Antennas *antennas, gint64 field,
                              GError **error)
{
  Columns c = { 0 };
  g_autoptr(GHashTable) index = index_antennas(r, antennas, error);
  g_autofree guint *station_of = g_new0(guint, antennas->n);
  g_autofree char *note = NULL;
  gboolean done = index && check_clock(r, error) && read_columns(r, field >= 0, &c, error);
  if (done) {
    r->rows = astro_rows_new(r->n_rows);
    r->row_in_file = g_try_new(guint64, r->n_rows);
    r->uvw = g_try_new(double, 3 * r->n_rows);
    done = (r->rows && r->row_in_file && r->uvw) ||
           astro_h5_wrong(&r->file, error, "there is no memory for %" G_GUINT64_FORMAT " rows",
                          r->n_rows);
  }
  done = done && take_rows(r, &c, index, field, station_of, error) && set_times(r, &c, error);
  clear_columns(&c);
  if (!done)
    return FALSE;
  make_observation(r, antennas, station_of);
  for (guint k = 0; k < 2; k++)
    for (guint64 i = 0; i < r->rows->n; i++)
      r->rows->station[k][i] = station_of[r->rows->station[k][i]] - 1;
  AstroObservation *o = r->contents.observation;
  r->rows->n_stations = o->n_stations;
  r->rows->names = (const char *const *)o->names;
  read_start(r);
  if (!astro_rows_arrange(r->rows, &note, error)) {
    g_prefix_error(error, "%s: ", r->file.name);
    return FALSE;
  }
  if (note)
    astro_uvh5_note(r, "%s", note);
  o->has_start = TRUE;
  o->start_mjd = r->rows->day;
  o->start_ns = (guint64)r->rows->start_ns;
  return TRUE;
}
