/* Appends the rows of an integration to a uvh5 file. */
#include <erfa.h>
#include <math.h>
#include <string.h>

#include "core/kit/units.h"
#include "core/stream/uvw.h"
#include "core/uvh5/writer.h"

#define JD_OF_MJD_ZERO 2400000.5
#define SECONDS_PER_DAY 86400.0
#define SECONDS_TT_MINUS_TAI 32.184
/* The unit in which HDF5 allocates and caches: many rows, but not megabytes for a short file. */
#define CHUNK_BYTES ((gsize)1 << 20)
#define CHUNK_ROWS 1024
/* Rows are gathered to read whole cache lines of the input, where baselines are neighbours. */
#define GATHER_BYTES ((gsize)1 << 20)
#define LEAST_ROWS 16

typedef enum { PAIR, TRUTH, SINGLE, DOUBLE, INTEGER } Kind;

static const struct {
  const char *path;
  Kind kind;
  guint tail; /* values of a row; 0: channels times products */
} columns[N_COLUMNS] = {
  [VISDATA] = { "Data/visdata", PAIR, 0 },
  [FLAGS] = { "Data/flags", TRUTH, 0 },
  [NSAMPLES] = { "Data/nsamples", SINGLE, 0 },
  [TIME] = { "Header/time_array", DOUBLE, 1 },
  [LENGTH] = { "Header/integration_time", DOUBLE, 1 },
  [SIDEREAL] = { "Header/lst_array", DOUBLE, 1 },
  [ANTENNA_1] = { "Header/ant_1_array", INTEGER, 1 },
  [ANTENNA_2] = { "Header/ant_2_array", INTEGER, 1 },
  [UVW] = { "Header/uvw_array", DOUBLE, 3 },
  [FIELD] = { "Header/phase_center_id_array", INTEGER, 1 },
  [APPARENT_RA] = { "Header/phase_center_app_ra", DOUBLE, 1 },
  [APPARENT_DEC] = { "Header/phase_center_app_dec", DOUBLE, 1 },
  [FRAME_ANGLE] = { "Header/phase_center_frame_pa", DOUBLE, 1 },
};

/* ---- columns ---- */

/* h5py knows truth values and complex numbers by these names of their parts. */
static hid_t make_type(Kind kind)
{
  const gint8 no = 0, yes = 1;
  hid_t type;
  switch (kind) {
  case PAIR:
    type = H5Tcreate(H5T_COMPOUND, 2 * sizeof(float));
    H5Tinsert(type, "r", 0, H5T_NATIVE_FLOAT);
    H5Tinsert(type, "i", sizeof(float), H5T_NATIVE_FLOAT);
    return type;
  case TRUTH:
    type = H5Tenum_create(H5T_NATIVE_INT8);
    H5Tenum_insert(type, "FALSE", &no);
    H5Tenum_insert(type, "TRUE", &yes);
    return type;
  case SINGLE:
    return H5Tcopy(H5T_NATIVE_FLOAT);
  case INTEGER:
    return H5Tcopy(H5T_NATIVE_INT32);
  default:
    return H5Tcopy(H5T_NATIVE_DOUBLE);
  }
}

/* The axes of a column; returns their number. */
static int shape_of(const AstroUvh5Writer *w, AstroUvh5Column c, guint64 rows, hsize_t shape[3])
{
  const guint tail = columns[c].tail;
  shape[0] = rows;
  shape[1] = tail ? tail : w->channels;
  shape[2] = w->products;
  return tail == 0 ? 3 : tail == 1 ? 1 : 2;
}

static gboolean create_column(AstroUvh5Writer *w, AstroUvh5Column c)
{
  hsize_t shape[3], most[3], chunk[3];
  const int axes = shape_of(w, c, 0, shape);
  gsize row = 1;
  w->types[c] = make_type(columns[c].kind);
  for (int i = 1; i < axes; i++)
    row *= shape[i];
  memcpy(most, shape, sizeof most);
  memcpy(chunk, shape, sizeof chunk);
  most[0] = H5S_UNLIMITED;
  chunk[0] =
      CLAMP(CHUNK_BYTES / (row * H5Tget_size(w->types[c])), 1, MAX(w->baselines, CHUNK_ROWS));
  const hid_t space = H5Screate_simple(axes, shape, most), plist = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(plist, axes, chunk);
  H5Pset_obj_track_times(plist, FALSE);
  w->columns[c] =
      H5Dcreate2(w->file.id, columns[c].path, w->types[c], space, H5P_DEFAULT, plist, H5P_DEFAULT);
  astro_uvh5_done(w, w->columns[c] >= 0);
  H5Pclose(plist);
  H5Sclose(space);
  return w->columns[c] >= 0;
}

gboolean astro_uvh5_create_columns(AstroUvh5Writer *w, GError **error)
{
  const gsize values = (gsize)w->channels * w->products;
  w->together = CLAMP(GATHER_BYTES / (8 * values), LEAST_ROWS, MAX(w->baselines, LEAST_ROWS));
  w->values = g_new(float, 2 * values * w->together);
  w->counts = g_new(float, values * w->together);
  w->flags = g_new(guint8, values * w->together);
  for (guint k = 0; k < 2; k++)
    w->antenna[k] = g_new(gint32, w->together);
  w->field = g_new0(gint32, w->together);
  w->uvw = g_new(double, 3 * w->together);
  w->numbers = g_new(double, w->together);
  for (AstroUvh5Column c = 0; c < N_COLUMNS; c++)
    if (!create_column(w, c))
      return astro_uvh5_cannot_write(w, error);
  return TRUE;
}

static gboolean append(AstroUvh5Writer *w, AstroUvh5Column c, guint64 n, gconstpointer data,
                       GError **error)
{
  hsize_t shape[3], all[3];
  const hsize_t start[3] = { w->rows };
  const int axes = shape_of(w, c, n, shape);
  shape_of(w, c, w->rows + n, all);
  gboolean done = astro_uvh5_done(w, H5Dset_extent(w->columns[c], all) >= 0);
  const hid_t space = H5Dget_space(w->columns[c]), memory = H5Screate_simple(axes, shape, NULL);
  done = done && H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, shape, NULL) >= 0 &&
         H5Dwrite(w->columns[c], w->types[c], memory, space, H5P_DEFAULT, data) >= 0;
  astro_uvh5_done(w, done);
  H5Sclose(memory);
  H5Sclose(space);
  return done || astro_uvh5_cannot_write(w, error);
}

/* The same number for each row. */
static gboolean append_number(AstroUvh5Writer *w, AstroUvh5Column c, guint64 n, double number,
                              GError **error)
{
  for (guint64 i = 0; i < n; i++)
    w->numbers[i] = number;
  return append(w, c, n, w->numbers, error);
}

/* ---- what all rows of an integration share ---- */

typedef struct {
  double julian, seconds, sidereal, ra, dec, angle;
} Moment;

/* Greenwich apparent sidereal time. */
static double greenwich(const AstroObservation *o, double days)
{
  AstroEarthDay earth;
  int year, month, day;
  double fraction, tai_minus_utc = 0;
  eraJd2cal(JD_OF_MJD_ZERO, o->start_mjd + floor(days), &year, &month, &day, &fraction);
  eraDat(year, month, day, 0, &tai_minus_utc);
  astro_earth_at(o->earth, o->start_mjd, days, &earth);
  const double tt = days + (tai_minus_utc + SECONDS_TT_MINUS_TAI) / SECONDS_PER_DAY,
               ut1 = days + earth.ut1_utc / SECONDS_PER_DAY;
  return eraGst06a(JD_OF_MJD_ZERO + o->start_mjd, ut1, JD_OF_MJD_ZERO + o->start_mjd, tt);
}

/* The apparent place of the phase centre, in the frame that turns with the Earth, and the angle in
 * it of the north of ICRS. */
static void find_apparent(const double axes[3][3], double gast, Moment *m)
{
  const double *to = axes[2], *north = axes[1], across = MAX(hypot(to[0], to[1]), 1e-15);
  const double east[3] = { -to[1] / across, to[0] / across, 0 };
  const double up[3] = { -to[2] * east[1], to[2] * east[0], across };
  m->ra = eraAnp(gast + atan2(to[1], to[0]));
  m->dec = atan2(to[2], across);
  m->angle = atan2(north[0] * east[0] + north[1] * east[1],
                   north[0] * up[0] + north[1] * up[1] + north[2] * up[2]);
}

/* Also fills in the stations' (u,v,w). */
static void find_moment(AstroUvh5Writer *w, gint64 begin, gint64 end, Moment *m)
{
  const AstroObservation *o = w->observation;
  const gint64 middle = begin + (end - begin) / 2;
  const double days = ((double)o->start_ns + (double)middle) / ASTRO_NS_PER_DAY,
               gast = greenwich(o, days);
  double axes[3][3];
  m->julian = JD_OF_MJD_ZERO + o->start_mjd + days;
  m->seconds = (double)(end - begin) / ASTRO_NS_PER_SECOND;
  m->sidereal = eraAnp(gast + w->longitude);
  if (w->is_drift) {
    m->ra = m->sidereal;
    m->dec = w->latitude;
    m->angle = 0;
    astro_uvw_along(o, w->local, w->station_uvw);
    return;
  }
  astro_track_axes(w->track, middle, axes);
  find_apparent(axes, gast, m);
  astro_uvw_along(o, axes, w->station_uvw);
}

/* ---- rows ---- */

/* Baseline(i,j) of our streams is antenna 1 = j with antenna 2 = i. */
static void put_values(AstroUvh5Writer *w, const AstroRowValues *values, guint64 frame,
                       const AstroRowPlace *places, guint64 n, AstroRowTally *tally)
{
  for (guint c = 0; c < w->channels; c++)
    for (guint64 b = 0; b < n; b++) {
      gsize at = (b * w->channels + c) * w->products;
      for (guint p = 0; p < w->products; p++, at++) {
        float row[3];
        astro_row_value(values, frame, c, places[b].baseline, astro_row_products[p].pols, row,
                        tally);
        w->values[2 * at] = row[0];
        w->values[2 * at + 1] = 0 - row[1]; /* conjugated for files of the other kind */
        w->counts[at] = row[2];
        w->flags[at] = !(row[2] > 0);
      }
    }
}

static void put_baselines(AstroUvh5Writer *w, const double *given, const AstroRowPlace *places,
                          guint64 n)
{
  for (guint64 b = 0; b < n; b++) {
    const AstroRowPlace *at = &places[b];
    w->antenna[0][b] = (gint32)at->j + 1;
    w->antenna[1][b] = (gint32)at->i + 1;
    w->has_rows[at->baseline] = TRUE;
    for (guint k = 0; k < 3; k++)
      w->uvw[3 * b + k] = given ? given[3 * at->baseline + k]
                                : w->station_uvw[3 * at->i + k] - w->station_uvw[3 * at->j + k];
  }
}

static gboolean append_rows(AstroUvh5Writer *w, const Moment *m, guint64 n, GError **error)
{
  if (!append(w, VISDATA, n, w->values, error) || !append(w, FLAGS, n, w->flags, error) ||
      !append(w, NSAMPLES, n, w->counts, error) || !append(w, UVW, n, w->uvw, error) ||
      !append(w, ANTENNA_1, n, w->antenna[0], error) ||
      !append(w, ANTENNA_2, n, w->antenna[1], error) || !append(w, FIELD, n, w->field, error) ||
      !append_number(w, TIME, n, m->julian, error) ||
      !append_number(w, LENGTH, n, m->seconds, error) ||
      !append_number(w, SIDEREAL, n, m->sidereal, error) ||
      !append_number(w, APPARENT_RA, n, m->ra, error) ||
      !append_number(w, APPARENT_DEC, n, m->dec, error) ||
      !append_number(w, FRAME_ANGLE, n, m->angle, error))
    return FALSE;
  w->rows += n;
  return TRUE;
}

gboolean astro_uvh5_write_frame(AstroUvh5Writer *w, const AstroRowValues *values,
                                const AstroRowFrames *frames, guint64 index, AstroRowTally *tally,
                                GError **error)
{
  /* Half nanoseconds are dropped here in the same way as by the reader. */
  const gint64 begin = frames->start_ns + (gint64)gst_util_uint64_scale(
                                              (guint64)frames->duration_ns, index, frames->frames),
               end = frames->start_ns + (gint64)gst_util_uint64_scale((guint64)frames->duration_ns,
                                                                      index + 1, frames->frames);
  const double *uvw = frames->uvw ? frames->uvw + 3 * index * w->baselines : NULL;
  Moment moment;
  if (!astro_uvw_check_time(w->observation, begin + (end - begin) / 2, error))
    return FALSE;
  find_moment(w, begin, end, &moment);
  const guint64 rows = astro_row_values_places(values, index, frames->absent, w->places);
  for (guint64 first = 0; first < rows; first += w->together) {
    const guint64 n = MIN(w->together, rows - first);
    put_values(w, values, index, w->places + first, n, tally);
    put_baselines(w, uvw, w->places + first, n);
    if (!append_rows(w, &moment, n, error))
      return FALSE;
  }
  w->integrations += rows > 0;
  return TRUE;
}
