/* Writes who observed what, and how: the header of a uvh5 file but for its columns. */
#include <string.h>

#include "core/kit/units.h"
#include "core/lib/rows/field-name.h"
#include "core/stream/uvw.h"
#include "core/uvh5/writer.h"

#define CATALOGUE "Header/phase_center_catalog"
#define EXTRA "Header/extra_keywords"

/* ---- datasets ---- */

/* n: 0 for a single value, which has no axis. inner: 0 for one axis. */
static gboolean put(AstroUvh5Writer *w, const char *path, hid_t in_file, hid_t type, guint64 n,
                    guint64 inner, gconstpointer data)
{
  const hsize_t shape[2] = { n, inner };
  const hid_t space = n ? H5Screate_simple(inner ? 2 : 1, shape, NULL) : H5Screate(H5S_SCALAR);
  const hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_obj_track_times(plist, FALSE); /* the same stream makes the same file */
  const hid_t set = H5Dcreate2(w->file.id, path, in_file, space, H5P_DEFAULT, plist, H5P_DEFAULT);
  const gboolean done =
      astro_uvh5_done(w, set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
  if (set >= 0)
    H5Dclose(set);
  H5Pclose(plist);
  H5Sclose(space);
  return done;
}

static gboolean put_double(AstroUvh5Writer *w, const char *path, double value)
{
  return put(w, path, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 0, 0, &value);
}

static gboolean put_integer(AstroUvh5Writer *w, const char *path, guint64 value)
{
  return put(w, path, H5T_STD_I64LE, H5T_NATIVE_UINT64, 0, 0, &value);
}

/* Texts of one length, as numpy's bytes; n: 0 for a single one. */
static gboolean put_texts(AstroUvh5Writer *w, const char *path, const char *const *texts, guint n)
{
  gsize width = 1;
  for (guint i = 0; i < MAX(n, 1); i++)
    width = MAX(width, strlen(texts[i]));
  g_autofree char *all = g_malloc0(MAX(n, 1) * width);
  for (guint i = 0; i < MAX(n, 1); i++)
    memcpy(all + i * width, texts[i], strlen(texts[i]));
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, width);
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  const gboolean done = put(w, path, type, type, n, 0, all);
  H5Tclose(type);
  return done;
}

static gboolean put_text(AstroUvh5Writer *w, const char *path, const char *text)
{
  return put_texts(w, path, &text, 0);
}

static gboolean put_group(AstroUvh5Writer *w, const char *path)
{
  const hid_t plist = H5Pcreate(H5P_GROUP_CREATE);
  H5Pset_obj_track_times(plist, FALSE);
  const hid_t group = H5Gcreate2(w->file.id, path, H5P_DEFAULT, plist, H5P_DEFAULT);
  astro_uvh5_done(w, group >= 0);
  H5Pclose(plist);
  if (group >= 0)
    H5Gclose(group);
  return group >= 0;
}

/* ---- the header ---- */

static gboolean put_array(AstroUvh5Writer *w)
{
  const AstroObservation *o = w->observation;
  g_autofree gint32 *numbers = g_new(gint32, o->n_stations);
  g_autofree double *positions = g_new(double, 3 * o->n_stations);
  for (guint i = 0; i < o->n_stations; i++) {
    numbers[i] = (gint32)i + 1;
    for (guint k = 0; k < 3; k++)
      positions[3 * i + k] = o->positions[3 * i + k] - w->location[k];
  }
  return put_double(w, "Header/latitude", w->latitude * ASTRO_DEGREES) &&
         put_double(w, "Header/longitude", w->longitude * ASTRO_DEGREES) &&
         put_double(w, "Header/altitude", w->altitude) &&
         put_text(w, "Header/telescope_frame", "itrs") &&
         put_text(w, "Header/telescope_name", o->telescope) &&
         put_text(w, "Header/instrument", o->telescope) &&
         put_integer(w, "Header/Nants_telescope", o->n_stations) &&
         put(w, "Header/antenna_numbers", H5T_STD_I32LE, H5T_NATIVE_INT32, o->n_stations, 0,
             numbers) &&
         put_texts(w, "Header/antenna_names", (const char *const *)o->names, o->n_stations) &&
         put(w, "Header/antenna_positions", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, o->n_stations, 3,
             positions);
}

static gboolean put_band(AstroUvh5Writer *w)
{
  const AstroStream *s = &w->stream;
  const gint32 window = 0;
  g_autofree double *hertz = g_new(double, w->channels);
  g_autofree double *widths = g_new(double, w->channels);
  for (guint c = 0; c < w->channels; c++) {
    hertz[c] = astro_channel_frequency(s->frequency, s->bandwidth, w->channels, c);
    widths[c] = s->bandwidth / w->channels;
  }
  return put_integer(w, "Header/Nfreqs", w->channels) && put_integer(w, "Header/Nspws", 1) &&
         put(w, "Header/freq_array", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, w->channels, 0, hertz) &&
         put(w, "Header/channel_width", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, w->channels, 0,
             widths) &&
         put(w, "Header/spw_array", H5T_STD_I32LE, H5T_NATIVE_INT32, 1, 0, &window);
}

static gboolean put_products(AstroUvh5Writer *w)
{
  const AstroRowBasis *basis = astro_row_basis_of(w->observation);
  gint32 numbers[ASTRO_ROW_PRODUCTS];
  for (guint p = 0; p < w->products; p++)
    numbers[p] = (gint32)basis->first - (gint32)p;
  return put_integer(w, "Header/Npols", w->products) &&
         put(w, "Header/polarization_array", H5T_STD_I32LE, H5T_NATIVE_INT32, w->products, 0,
             numbers) &&
         put_text(w, "Header/vis_units", w->observation->done.scale > 0 ? "Jy" : "uncalib") &&
         (basis != &astro_row_bases[0] || put_text(w, "Header/x_orientation", "north"));
}

/* The field: a direction, or the zenith of an array that tracks nothing. */
static gboolean put_field(AstroUvh5Writer *w)
{
  const AstroObservation *o = w->observation;
  g_autofree char *name = w->is_drift ? g_strdup("zenith") : astro_field_name(o);
  const double turn = 2 * G_PI, ra = o->phase_ra < 0 ? o->phase_ra + turn : o->phase_ra;
  return put_group(w, CATALOGUE) && put_group(w, CATALOGUE "/0") &&
         put_integer(w, "Header/Nphase", 1) && put_text(w, CATALOGUE "/0/cat_name", name) &&
         put_text(w, CATALOGUE "/0/cat_type", w->is_drift ? "unprojected" : "sidereal") &&
         put_text(w, CATALOGUE "/0/cat_frame", w->is_drift ? "altaz" : "icrs") &&
         put_double(w, CATALOGUE "/0/cat_lon", w->is_drift ? 0 : ra) &&
         put_double(w, CATALOGUE "/0/cat_lat", w->is_drift ? G_PI / 2 : o->phase_dec) &&
         (w->is_drift || put_double(w, CATALOGUE "/0/cat_epoch", 2000));
}

/* The start to the nanosecond and the place of the pole have no places of their own in uvh5. */
static gboolean put_clock(AstroUvh5Writer *w)
{
  const AstroObservation *o = w->observation;
  AstroEarthDay day;
  g_autofree char *start = astro_observation_get_start(o);
  astro_earth_at(o->earth, o->start_mjd, 0, &day);
  return put_text(w, "Header/timesys", "UTC") && put_double(w, "Header/dut1", day.ut1_utc) &&
         put_group(w, EXTRA) && put_text(w, EXTRA "/DATE-OBS", start) &&
         put_text(w, EXTRA "/EARTHORI", o->earth && o->earth->n ? o->earth->name : "none") &&
         put_double(w, EXTRA "/POLARX", day.pole_x) && put_double(w, EXTRA "/POLARY", day.pole_y);
}

gboolean astro_uvh5_write_header(AstroUvh5Writer *w, GError **error)
{
  return (put_group(w, "Header") && put_group(w, "Data") && put_text(w, "Header/version", "1.2") &&
          put_array(w) && put_band(w) && put_products(w) && put_field(w) && put_clock(w) &&
          put_text(w, "Header/history", "Written by gst-astro")) ||
         astro_uvh5_cannot_write(w, error);
}

static guint64 count_used(const guint8 *used, guint64 n)
{
  guint64 sum = 0;
  for (guint64 i = 0; i < n; i++)
    sum += used[i];
  return sum;
}

/* At the end, when their numbers are known. */
gboolean astro_uvh5_write_sums(AstroUvh5Writer *w, GError **error)
{
  const guint stations = w->observation->n_stations;
  g_autofree guint8 *used = g_new0(guint8, stations);
  for (guint64 b = 0, i = 0, j = 0; b < w->baselines; b++) {
    if (w->has_rows[b])
      used[i] = used[j] = TRUE;
    if (++j > i) {
      i++;
      j = 0;
    }
  }
  return (put_integer(w, "Header/Nants_data", count_used(used, stations)) &&
          put_integer(w, "Header/Nblts", w->rows) &&
          put_integer(w, "Header/Nbls", count_used(w->has_rows, w->baselines)) &&
          put_integer(w, "Header/Ntimes", w->integrations)) ||
         astro_uvh5_cannot_write(w, error);
}
