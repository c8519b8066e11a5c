/* Finds which rows of a Measurement Set are wanted, and which of them belong together. */
#include "core/sets/reader.h"

#include <math.h>
#include <string.h>

#include "core/kit/units.h"
#include "core/lib/rows/observed.h"

#define SECONDS_PER_DAY 86400.0
/* Times are double precision seconds since 1858, exact to half a microsecond. */
#define ROUNDING_NS 2000
#define LONGEST_SECONDS 1e6

/* ---- which rows ---- */

static char *list_fields(const AstroSetReader *r, const guint8 *used)
{
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < r->about.n_fields; i++)
    if (used[i])
      g_string_append_printf(text, "%s%u (%s)", text->len ? ", " : "", i, r->about.fields[i].name);
  return g_string_free(text, FALSE);
}

static gboolean is_called(const AstroSetReader *r, guint field, const char *wanted)
{
  guint64 number;
  return g_str_equal(r->about.fields[field].name, wanted) ||
         (g_ascii_string_to_unsigned(wanted, 10, 0, G_MAXUINT, &number, NULL) && number == field);
}

static gboolean find_field(AstroSetReader *r, const char *wanted, GError **error)
{
  const AstroSetIndex *x = &r->index;
  g_autofree guint8 *used = g_new0(guint8, r->about.n_fields);
  guint n = 0;
  for (guint64 row = 0; row < x->n; row++) {
    if (x->field[row] < 0 || (guint)x->field[row] >= r->about.n_fields)
      return astro_set_wrong(r, error,
                             "row %" G_GUINT64_FORMAT " has field %d, which is not in table FIELD",
                             row, x->field[row]);
    used[x->field[row]] = 1;
  }
  for (guint i = 0; i < r->about.n_fields; i++)
    if (used[i] && (!wanted || is_called(r, i, wanted))) {
      r->field = (gint)i;
      n++;
    }
  if (n == 1)
    return TRUE;
  g_autofree char *all = list_fields(r, used);
  return wanted
             ? astro_set_wrong(r, error, "field=%s is %s, expected the number or name of one of %s",
                               wanted, n ? "the name of several" : "not there, or has no rows", all)
             : astro_set_wrong(r, error,
                               "it has rows of %u fields, expected one: field=NUMBER or "
                               "field=NAME reads one of %s",
                               n, all);
}

static gboolean check_array(const AstroSetReader *r, GError **error)
{
  for (guint64 row = 1; row < r->index.n; row++)
    if (r->index.array[row] != r->index.array[0])
      return astro_set_wrong(r, error,
                             "row %" G_GUINT64_FORMAT " is of array %d and row 0 of array %d "
                             "(ARRAY_ID), expected one array: split the set by array first",
                             row, r->index.array[row], r->index.array[0]);
  return TRUE;
}

/* Field and setup of the row were checked. */
static gboolean is_wanted(const AstroSetReader *r, guint64 row, gint band)
{
  return r->index.field[row] == r->field &&
         (band < 0 || (gint)r->about.setups[r->index.setup[row]].band == band);
}

static gboolean find_setups(AstroSetReader *r, gint band, GError **error)
{
  g_autofree guint8 *used = g_new0(guint8, r->about.n_setups);
  gboolean any = FALSE;
  if (band >= (gint)r->about.n_bands)
    return astro_set_wrong(r, error, "band=%d, but it has spectral windows 0 to %d", band,
                           (gint)r->about.n_bands - 1);
  for (guint64 row = 0; row < r->index.n; row++) {
    const gint setup = r->index.setup[row];
    if (setup < 0 || (guint)setup >= r->about.n_setups)
      return astro_set_wrong(
          r, error, "row %" G_GUINT64_FORMAT " has DATA_DESC_ID %d, which is not in its table", row,
          setup);
    if (is_wanted(r, row, band))
      any = used[setup] = 1;
  }
  if (!any)
    return astro_set_wrong(r, error, "field %s has no rows in spectral window %d (band)",
                           r->about.fields[r->field].name, band);
  return astro_set_join_bands(r, used, error);
}

/* Frequencies of another frame than that of the Earth differ by up to 2e-4 of themselves, and so
 * do (u,v,w) in wavelengths. */
static void note_reference(AstroSetReader *r)
{
  static const char *const frames[] = { "REST", "LSRK",    "LSRD",   "BARY", NULL,
                                        NULL,   "GALACTO", "LGROUP", "CMB" };
  const gint found = r->about.bands[r->setup->band].reference;
  if (found >= 0 && found < (gint)G_N_ELEMENTS(frames) && frames[found])
    astro_set_note(r,
                   "frequencies of spectral window %u are in the frame %s (MEAS_FREQ_REF), and are "
                   "taken as those at the telescope",
                   r->setup->band, frames[found]);
}

/* ---- products ---- */

static gboolean refuse_products(const AstroSetReader *r, gint found, GError **error)
{
  return astro_set_wrong(r, error,
                         "table POLARIZATION has a product %d (CORR_TYPE), expected those of one "
                         "basis (RR, RL, LR, LL: 5 to 8; XX, XY, YX, YY: 9 to 12), or only "
                         "Stokes I (1)",
                         found);
}

/* X points north in our streams. Where a set's X points east, its Y points north. */
static void turn_products(AstroSetReader *r)
{
  astro_row_exchange_feeds(r->place);
  astro_set_note(r, "X points east (RECEPTOR_ANGLE of table FEED): its X are called Y, and its Y "
                    "X, since X points north in streams");
}

/* Numbers of a set are RR, RL, LR, LL; ours are RR, LL, RL, LR. */
static gboolean find_products(AstroSetReader *r, const char **basis, GError **error)
{
  static const gint ours[] = { 0, 2, 3, 1 };
  const AstroSetSetup *s = r->setup;
  const gint first = s->n_products && s->products[0] >= ASTRO_SET_XX ? ASTRO_SET_XX : ASTRO_SET_RR;
  *basis = first == ASTRO_SET_XX ? "linear" : "circular";
  for (guint p = 0; p < ASTRO_ROW_PRODUCTS; p++)
    r->place[p] = -1;
  r->pols = 1;
  const gint found = s->n_products == 1 ? s->products[0] : 0, hand = found - first;
  if (found == ASTRO_SET_STOKES_I || (found > 0 && (hand == 0 || hand == 3))) {
    if (found == ASTRO_SET_STOKES_I)
      *basis = "stokes";
    else if (hand != 0)
      astro_set_note(r, "its visibilities are %s, but will be called %s",
                     first == ASTRO_SET_XX ? "YY" : "LL", first == ASTRO_SET_XX ? "XX" : "RR");
    r->place[0] = 0;
    return TRUE;
  }
  for (guint k = 0; k < s->n_products; k++) {
    const gint at = s->products[k] - first;
    if (at < 0 || at > 3 || r->place[ours[at]] >= 0)
      return refuse_products(r, s->products[k], error);
    r->place[ours[at]] = (gint)k;
  }
  r->pols = 2;
  if (s->n_products == 0)
    return astro_set_wrong(r, error, "table POLARIZATION has no products (CORR_TYPE)");
  if (r->about.x_is_east && first == ASTRO_SET_XX)
    turn_products(r);
  return TRUE;
}

/* ---- which rows belong together ---- */

/* A row of the main table, to be sorted with the same baseline at the same time in other windows.
 */
typedef struct {
  gint64 us; /* its time */
  guint one, two, window;
  guint64 row;
} Entry;

static int by_time_and_baseline(gconstpointer a_entry, gconstpointer b_entry)
{
  const Entry *a = a_entry, *b = b_entry;
  if (a->us != b->us)
    return a->us < b->us ? -1 : 1;
  if (a->one != b->one)
    return a->one < b->one ? -1 : 1;
  if (a->two != b->two)
    return a->two < b->two ? -1 : 1;
  if (a->window != b->window)
    return a->window < b->window ? -1 : 1;
  return (a->row > b->row) - (a->row < b->row);
}

static guint window_of(const AstroSetReader *r, guint64 row)
{
  const gint band = (gint)r->about.setups[r->index.setup[row]].band;
  guint w = 0;
  while (r->windows[w].band != band)
    w++;
  return w;
}

static gboolean check_row(const AstroSetReader *r, guint64 row, GError **error)
{
  const gint one = r->index.antenna1[row], two = r->index.antenna2[row];
  const double days = r->index.middle[row] / SECONDS_PER_DAY;
  if (one < 0 || two < 0 || (guint)one >= r->about.n_antennas || (guint)two >= r->about.n_antennas)
    return astro_set_wrong(r, error,
                           "row %" G_GUINT64_FORMAT " has antennas %d and %d, but table ANTENNA "
                           "has %u",
                           row, one, two, r->about.n_antennas);
  if (!(days >= 1 && days < ASTRO_ROW_DAYS))
    return astro_set_wrong(r, error,
                           "row %" G_GUINT64_FORMAT " has the time %g s, expected seconds since "
                           "MJD 0, from " ASTRO_ROW_YEARS,
                           row, r->index.middle[row]);
  return TRUE;
}

static Entry *list_entries(const AstroSetReader *r, gint band, guint64 *n, GError **error)
{
  const AstroSetIndex *x = &r->index;
  g_autofree Entry *entries = g_try_new(Entry, x->n);
  *n = 0;
  if (!entries) {
    astro_set_wrong(r, error, "there is no memory for %" G_GUINT64_FORMAT " rows", x->n);
    return NULL;
  }
  for (guint64 row = 0; row < x->n; row++) {
    if (!is_wanted(r, row, band))
      continue;
    if (!check_row(r, row, error))
      return NULL;
    entries[(*n)++] = (Entry){ .us = llround(x->middle[row] * 1e6),
                               .one = (guint)x->antenna1[row],
                               .two = (guint)x->antenna2[row],
                               .window = window_of(r, row),
                               .row = row };
  }
  /* Rows of one window stay in the order of the set, which is mostly that of time. */
  if (r->n_windows > 1)
    qsort(entries, *n, sizeof *entries, by_time_and_baseline);
  return g_steal_pointer(&entries);
}

static gboolean goes_with(const Entry *a, const Entry *b)
{
  return a->us == b->us && a->one == b->one && a->two == b->two && a->window != b->window;
}

static void put_row(AstroSetReader *r, guint64 at, const Entry *e)
{
  const double seconds = r->index.length[e->row];
  AstroRows *rows = r->rows;
  if (at == 0)
    rows->day = (gint32)floor(r->index.middle[e->row] / SECONDS_PER_DAY);
  rows->middle_ns[at] =
      llround((r->index.middle[e->row] - rows->day * SECONDS_PER_DAY) * ASTRO_NS_PER_SECOND);
  rows->length_ns[at] =
      seconds > 0 && seconds < LONGEST_SECONDS ? llround(seconds * ASTRO_NS_PER_SECOND) : 0;
  rows->station[0][at] = e->one;
  rows->station[1][at] = e->two;
  memcpy(&r->uvw[3 * at], &r->index.uvw[3 * e->row], 3 * sizeof *r->uvw);
}

static gboolean put_rows(AstroSetReader *r, gint band, GError **error)
{
  guint64 n, at = 0;
  g_autofree Entry *entries = list_entries(r, band, &n, error);
  if (!entries)
    return FALSE;
  r->rows = astro_rows_new(n);
  r->uvw = g_try_new(double, 3 * n);
  gboolean has_room = r->rows && r->uvw;
  for (guint w = 0; w < r->n_windows; w++)
    has_room = (r->windows[w].row = g_try_new(guint64, n)) && has_room;
  if (!has_room)
    return astro_set_wrong(r, error, "there is no memory for %" G_GUINT64_FORMAT " rows", n);
  for (guint64 i = 0; i < n; at++) {
    guint64 end = i + 1;
    while (end < n && goes_with(&entries[end - 1], &entries[end]))
      end++;
    put_row(r, at, &entries[i]);
    for (guint w = 0; w < r->n_windows; w++)
      r->windows[w].row[at] = ASTRO_SET_NO_ROW;
    for (; i < end; i++)
      if (!r->index.is_flagged[entries[i].row])
        r->windows[entries[i].window].row[at] = entries[i].row;
  }
  r->rows->n = at;
  return TRUE;
}

/* ---- stations ---- */

/* Numbers the antennas that have rows, in the order of their table, and describes them. */
static void make_observation(AstroSetReader *r, const char *basis)
{
  AstroRows *rows = r->rows;
  g_autofree guint *station_of = g_new0(guint, r->about.n_antennas);
  guint n = 0;
  for (guint k = 0; k < 2; k++)
    for (guint64 i = 0; i < rows->n; i++)
      station_of[rows->station[k][i]] = 1;
  for (guint i = 0; i < r->about.n_antennas; i++)
    if (station_of[i])
      station_of[i] = ++n;
  AstroObservation *o = astro_observation_new(n);
  for (guint i = 0; i < r->about.n_antennas; i++) {
    if (!station_of[i])
      continue;
    const guint s = station_of[i] - 1;
    g_free(o->names[s]);
    o->names[s] = *r->about.antennas[i] ? g_strdup(r->about.antennas[i]) : g_strdup_printf("%u", i);
    memcpy(&o->positions[3 * s], &r->about.positions[3 * i], 3 * sizeof(double));
  }
  for (guint k = 0; k < 2; k++)
    for (guint64 i = 0; i < rows->n; i++)
      rows->station[k][i] = station_of[rows->station[k][i]] - 1;
  g_free(o->basis);
  o->basis = g_strdup(basis);
  if (*r->about.telescope) {
    g_free(o->telescope);
    o->telescope = g_strdup(r->about.telescope);
  }
  rows->n_stations = n;
  rows->names = (const char *const *)o->names;
  r->contents.observation = o;
  r->contents.stations = n;
}

static gboolean check_positions(const AstroSetReader *r, GError **error)
{
  const AstroObservation *o = r->contents.observation;
  for (guint i = 0; i < o->n_stations; i++)
    for (guint k = 0; k < 3; k++)
      if (!(fabs(o->positions[3 * i + k]) < ASTRO_OBSERVATION_MAX_METRES))
        return astro_set_wrong(r, error, "antenna \"%s\" is at %g m (POSITION)", o->names[i],
                               o->positions[3 * i + k]);
  return TRUE;
}

/* ---- times ---- */

static gboolean find_times(AstroSetReader *r, GError **error)
{
  AstroRows *rows = r->rows;
  AstroObservation *o = r->contents.observation;
  const AstroSetOurs *ours = &r->about.ours;
  g_autofree char *note = NULL;
  if (strcmp(r->about.clock, "UTC") != 0)
    return astro_set_wrong(r, error, "its times are %s (column TIME), expected UTC",
                           r->about.clock);
  rows->rounding_ns = ROUNDING_NS;
  if (ours->is_there && ABS(ours->start_mjd - rows->day) <= 1)
    rows->told_start_ns = (ours->start_mjd - rows->day) * (gint64)ASTRO_NS_PER_DAY + ours->start_ns;
  if (!astro_rows_arrange(rows, &note, error)) {
    g_prefix_error(error, "%s: ", r->location);
    return FALSE;
  }
  if (note)
    astro_set_note(r, "%s", note);
  o->has_start = TRUE;
  o->start_mjd = rows->day;
  o->start_ns = (guint64)rows->start_ns;
  return TRUE;
}

gboolean astro_set_select(AstroSetReader *r, const AstroSetOptions *options, GError **error)
{
  const char *basis;
  if (r->index.n == 0)
    return astro_set_wrong(r, error, "it has no rows, expected visibilities");
  if (!check_array(r, error) || !find_field(r, options->field, error) ||
      !find_setups(r, options->band, error) || !find_products(r, &basis, error) ||
      !put_rows(r, options->band, error))
    return FALSE;
  note_reference(r);
  make_observation(r, basis);
  return check_positions(r, error) && find_times(r, error);
}
