/* Reads the values, flags and counts of rows. */
#include "core/backend/backend.h"
#include "core/uvh5/reader.h"

#define CACHE_LEAST ((gsize)1 << 20)
#define CACHE_MOST ((gsize)256 << 20)
#define CACHE_SLOTS 10007
#define LZF 32000
#define AT_ONCE ((gsize)8 << 20) /* bytes of rows that are read at once */
#define MOST_FILTERS 16

/* ---- filters ---- */

/* Names of filters, most of which HDF5 does not bring. */
static const struct {
  H5Z_filter_t id;
  const char *name;
} filters[] = {
  { 32001, "blosc" },          { 32004, "lz4" },
  { 32008, "bitshuffle" },     { 32013, "zfp" },
  { 32015, "zstd" },           { 32017, "sz" },
  { 32026, "blosc2" },         { 307, "bzip2" },
  { H5Z_FILTER_SZIP, "szip" }, { H5Z_FILTER_DEFLATE, "gzip" },
};

static const char *filter_name(H5Z_filter_t id)
{
  for (guint i = 0; i < G_N_ELEMENTS(filters); i++)
    if (filters[i].id == id)
      return filters[i].name;
  return "unknown";
}

/* The size of an unpacked chunk, which LZF is told beside its data, has to be the right one: HDF5
 * takes as many bytes as a chunk has. */
static gboolean check_filter(AstroUvh5Reader *r, const char *path, hid_t plist, unsigned i,
                             gsize chunk, GError **error)
{
  unsigned flags, values[8] = { 0 }, config;
  size_t n = G_N_ELEMENTS(values);
  const H5Z_filter_t id = H5Pget_filter2(plist, i, &flags, &n, values, 0, NULL, &config);
  if (id == LZF && !(n >= 3 && values[2] == chunk))
    return astro_h5_wrong(&r->file, error,
                          "%s is packed by lzf in chunks of %u bytes, expected %" G_GSIZE_FORMAT,
                          path, n >= 3 ? values[2] : 0, chunk);
  if (H5Zfilter_avail(id) <= 0)
    return astro_h5_wrong(
        &r->file, error,
        "%s is packed by the filter %s (number %d), which this HDF5 does not have: a plugin of "
        "HDF5 in HDF5_PLUGIN_PATH brings it (%s), or pyuvdata reads the file and writes it again "
        "with UVData.write_uvh5(..., data_compression=None)",
        path, filter_name(id), (int)id,
        id == 32008 ? "bitshuffle's h5plugin, as in Python's hdf5plugin" : "Python's hdf5plugin");
  return TRUE;
}

static gboolean check_filters(AstroUvh5Reader *r, const char *path, hid_t id, gsize chunk,
                              GError **error)
{
  const hid_t plist = H5Dget_create_plist(id);
  gboolean good = TRUE;
  const int n = H5Pget_nfilters(plist);
  for (int i = 0; good && i < MIN(n, MOST_FILTERS); i++)
    good = check_filter(r, path, plist, (unsigned)i, chunk, error);
  H5Pclose(plist);
  return good;
}

/* ---- opening ---- */

/* Rows, perhaps one window, channels, products. */
static gboolean check_shape(AstroUvh5Reader *r, const char *path, AstroUvh5Data *data,
                            GError **error)
{
  const hsize_t expected[] = { r->n_rows, r->channels, r->products };
  hsize_t found[4] = { 0 };
  const int n = H5Sget_simple_extent_ndims(data->space);
  if (n == 3 || n == 4)
    H5Sget_simple_extent_dims(data->space, found, NULL);
  data->has_window = n == 4;
  const hsize_t *tail = &found[data->has_window];
  if ((n == 3 || (n == 4 && found[1] == 1)) && found[0] == expected[0] && tail[1] == expected[1] &&
      tail[2] == expected[2])
    return TRUE;
  return astro_h5_wrong(&r->file, error,
                        "%s has %d axes, of %" G_GUINT64_FORMAT ", %" G_GUINT64_FORMAT
                        ", %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT
                        " values, expected %" G_GUINT64_FORMAT
                        " rows of %u channels of %u products",
                        path, n, (guint64)found[0], (guint64)found[1], (guint64)found[2],
                        (guint64)found[3], r->n_rows, r->channels, r->products);
}

/* A chunk of several rows would be unpacked for each of them, if the cache did not hold all chunks
 * that a row goes through. Returns the bytes of a chunk; 0: there are none. */
static gsize chunk_of(hid_t id, gsize *cache)
{
  const hid_t plist = H5Dget_create_plist(id), space = H5Dget_space(id), type = H5Dget_type(id);
  hsize_t chunk[4] = { 0 }, extent[4] = { 0 };
  gsize bytes = H5Tget_size(type), across = 1;
  const int n = H5Sget_simple_extent_ndims(space);
  if (n >= 1 && n <= 4 && H5Pget_layout(plist) == H5D_CHUNKED &&
      H5Pget_chunk(plist, 4, chunk) == n && H5Sget_simple_extent_dims(space, extent, NULL) == n)
    for (int i = 0; i < n; i++) {
      bytes *= chunk[i];
      across *= i && chunk[i] ? (extent[i] + chunk[i] - 1) / chunk[i] : 1;
    }
  else
    bytes = 0;
  *cache = across && bytes > CACHE_MOST / across ? CACHE_MOST : bytes * across;
  *cache = CLAMP(*cache, CACHE_LEAST, CACHE_MOST);
  H5Tclose(type);
  H5Sclose(space);
  H5Pclose(plist);
  return bytes;
}

static gboolean open_one(AstroUvh5Reader *r, const char *path, AstroUvh5Data *data, GError **error)
{
  gsize cache, chunk;
  if (!astro_h5_has(&r->file, path) || (data->id = H5Dopen2(r->file.id, path, H5P_DEFAULT)) < 0)
    return astro_h5_wrong(&r->file, error, "there is no dataset %s, which uvh5 has", path);
  chunk = chunk_of(data->id, &cache);
  H5Dclose(data->id);
  const hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
  H5Pset_chunk_cache(access, CACHE_SLOTS, cache, 1);
  data->id = H5Dopen2(r->file.id, path, access);
  H5Pclose(access);
  data->space = data->id >= 0 ? H5Dget_space(data->id) : -1;
  return data->space >= 0
             ? check_shape(r, path, data, error) && check_filters(r, path, data->id, chunk, error)
             : astro_h5_failed(&r->file, path, error);
}

/* Real and imaginary part, of any type of numbers in the file, become floats. */
static gboolean open_values(AstroUvh5Reader *r, GError **error)
{
  AstroUvh5Data *data = &r->values;
  if (!open_one(r, "Data/visdata", data, error))
    return FALSE;
  const hid_t type = H5Dget_type(data->id);
  gboolean good = H5Tget_class(type) == H5T_COMPOUND && H5Tget_nmembers(type) == 2;
  for (guint k = 0; good && k < 2; k++) {
    const int member = H5Tget_member_index(type, k ? "i" : "r");
    const H5T_class_t class =
        member < 0 ? H5T_NO_CLASS : H5Tget_member_class(type, (unsigned)member);
    good = class == H5T_FLOAT || class == H5T_INTEGER;
  }
  H5Tclose(type);
  if (!good)
    return astro_h5_wrong(&r->file, error,
                          "Data/visdata holds other values than pairs of numbers \"r\" and \"i\"");
  data->width = 2 * sizeof(float);
  data->type = H5Tcreate(H5T_COMPOUND, data->width);
  H5Tinsert(data->type, "r", 0, H5T_NATIVE_FLOAT);
  H5Tinsert(data->type, "i", sizeof(float), H5T_NATIVE_FLOAT);
  return TRUE;
}

/* h5py stores truth values as an enumeration of one byte. */
static gboolean open_flags(AstroUvh5Reader *r, GError **error)
{
  AstroUvh5Data *data = &r->flags;
  if (!open_one(r, "Data/flags", data, error))
    return FALSE;
  data->type = H5Dget_type(data->id);
  data->width = 1;
  const H5T_class_t class = H5Tget_class(data->type);
  return (H5Tget_size(data->type) == 1 && (class == H5T_ENUM || class == H5T_INTEGER)) ||
         astro_h5_wrong(&r->file, error,
                        "Data/flags holds other values than truth values of one "
                        "byte");
}

static gboolean open_counts(AstroUvh5Reader *r, GError **error)
{
  AstroUvh5Data *data = &r->counts;
  if (!open_one(r, "Data/nsamples", data, error))
    return FALSE;
  const hid_t type = H5Dget_type(data->id);
  const H5T_class_t class = H5Tget_class(type);
  H5Tclose(type);
  data->type = H5Tcopy(H5T_NATIVE_FLOAT);
  data->width = sizeof(float);
  return class == H5T_FLOAT || class == H5T_INTEGER ||
         astro_h5_wrong(&r->file, error, "Data/nsamples holds other values than numbers");
}

gboolean astro_uvh5_open_data(AstroUvh5Reader *r, GError **error)
{
  if (!open_values(r, error) || !open_flags(r, error) || !open_counts(r, error))
    return FALSE;
  const gsize row =
      (gsize)r->channels * r->products * (r->values.width + r->flags.width + r->counts.width);
  r->rows_at_once = CLAMP(AT_ONCE / row, 1, r->n_rows);
  r->room = g_try_malloc(r->rows_at_once * row);
  return r->room ||
         astro_h5_wrong(&r->file, error, "there is no memory for rows of %u channels", r->channels);
}

void astro_uvh5_close_data(AstroUvh5Reader *r)
{
  AstroUvh5Data *all[] = { &r->values, &r->flags, &r->counts };
  for (guint i = 0; i < G_N_ELEMENTS(all); i++) {
    if (all[i]->type > 0)
      H5Tclose(all[i]->type);
    if (all[i]->space > 0)
      H5Sclose(all[i]->space);
    if (all[i]->id > 0)
      H5Dclose(all[i]->id);
    *all[i] = (AstroUvh5Data){ 0 };
  }
}

/* ---- reading ---- */

gboolean astro_uvh5_read_data(const AstroUvh5Reader *r, const AstroUvh5Data *data, guint64 first,
                              guint64 n, gpointer to, GError **error)
{
  const hsize_t start[4] = { first }, with_window[4] = { n, 1, r->channels, r->products },
                without[3] = { n, r->channels, r->products };
  const hsize_t *shape = data->has_window ? with_window : without;
  if (!astro_backend_goes_on(error))
    return FALSE;
  /* Where memory has another shape than the file, HDF5 goes from value to value. */
  const hid_t memory = H5Screate_simple(data->has_window ? 4 : 3, shape, NULL);
  const gboolean done =
      H5Sselect_hyperslab(data->space, H5S_SELECT_SET, start, NULL, shape, NULL) >= 0 &&
      H5Dread(data->id, data->type, memory, data->space, H5P_DEFAULT, to) >= 0;
  if (memory >= 0)
    H5Sclose(memory);
  return done || astro_h5_failed(&r->file, "reading rows", error);
}

gboolean astro_uvh5_scale_weights(AstroUvh5Reader *r, GError **error)
{
  AstroWeightRange *range = &r->range;
  const guint64 per_row = (guint64)r->channels * r->products;
  const float *counts = (const float *)r->room;
  *range = (AstroWeightRange)ASTRO_WEIGHT_RANGE_EMPTY;
  for (guint64 first = 0; first < r->n_rows; first += r->rows_at_once) {
    const guint64 n = MIN(r->rows_at_once, r->n_rows - first);
    if (!astro_uvh5_read_data(r, &r->counts, first, n, r->room, error))
      return FALSE;
    for (guint64 i = 0; i < n * per_row; i++)
      astro_weight_range_add(range, counts[i]);
  }
  if (range->largest == 0) { /* as correlators write files before anybody counts */
    r->has_no_counts = TRUE;
    astro_weight_range_add(range, 1);
    astro_uvh5_note(r, "Data/nsamples is 0 everywhere: values that are not flagged count as one "
                       "sample each");
  }
  g_autofree char *note = astro_weight_range_scale(range, &r->weight_scale, &r->full);
  if (note)
    astro_uvh5_note(r, "Data/nsamples: %s", note);
  return TRUE;
}
