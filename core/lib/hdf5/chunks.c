/* Opens datasets to be read in slices, and checks how they are packed. */
#include "core/lib/hdf5/chunks.h"

#define CACHE_LEAST ((gsize)1 << 20)
#define CACHE_MOST ((gsize)256 << 20)
#define CACHE_SLOTS 10007
#define LZF 32000
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
static gboolean check_filter(const AstroH5 *file, const char *path, hid_t plist, unsigned i,
                             gsize chunk, const char *otherwise, GError **error)
{
  unsigned flags, values[8] = { 0 }, config;
  size_t n = G_N_ELEMENTS(values);
  const H5Z_filter_t id = H5Pget_filter2(plist, i, &flags, &n, values, 0, NULL, &config);
  if (id == LZF && !(n >= 3 && values[2] == chunk))
    return astro_h5_wrong(file, error,
                          "%s is packed by lzf in chunks of %u bytes, expected %" G_GSIZE_FORMAT,
                          path, n >= 3 ? values[2] : 0, chunk);
  if (H5Zfilter_avail(id) <= 0)
    return astro_h5_wrong(
        file, error,
        "%s is packed by the filter %s (number %d), which this HDF5 does not have: a plugin of "
        "HDF5 in HDF5_PLUGIN_PATH brings it (%s), or %s",
        path, filter_name(id), (int)id,
        id == 32008 ? "bitshuffle's h5plugin, as in Python's hdf5plugin" : "Python's hdf5plugin",
        otherwise);
  return TRUE;
}

static gboolean check_filters(const AstroH5 *file, const char *path, hid_t id, gsize chunk,
                              const char *otherwise, GError **error)
{
  const hid_t plist = H5Dget_create_plist(id);
  gboolean good = TRUE;
  const int n = H5Pget_nfilters(plist);
  for (int i = 0; good && i < MIN(n, MOST_FILTERS); i++)
    good = check_filter(file, path, plist, (unsigned)i, chunk, otherwise, error);
  H5Pclose(plist);
  return good;
}

/* ---- opening ---- */

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

hid_t astro_h5_open_sliced(const AstroH5 *file, const char *path, const char *otherwise,
                           GError **error)
{
  gsize cache, chunk;
  hid_t id = H5Dopen2(file->id, path, H5P_DEFAULT);
  if (id < 0) {
    astro_h5_failed(file, path, error);
    return -1;
  }
  chunk = chunk_of(id, &cache);
  H5Dclose(id);
  const hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
  H5Pset_chunk_cache(access, CACHE_SLOTS, cache, 1);
  id = H5Dopen2(file->id, path, access);
  H5Pclose(access);
  if (id < 0)
    astro_h5_failed(file, path, error);
  else if (!check_filters(file, path, id, chunk, otherwise, error)) {
    H5Dclose(id);
    id = -1;
  }
  return id;
}
