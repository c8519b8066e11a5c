/* Checks how the values of a column in HDF5 are stored. */
#include "core/fits/hdf5/tables.h"

#define MOST_PACKED 1100         /* no compression packs more than this */
#define MOST_CHUNKS (1ull << 30) /* bytes of unpacked chunks, of all columns together */

/* The bytes of the chunks that a row goes through; 0: values are read without unpacking. */
static guint64 chunk_bytes(hid_t plist, hid_t space, hid_t type, guint64 *n_chunks)
{
  hsize_t chunk[2] = { 1, 1 }, axes[2] = { 1, 1 };
  *n_chunks = 0;
  if (H5Pget_layout(plist) != H5D_CHUNKED)
    return 0;
  H5Pget_chunk(plist, 2, chunk);
  H5Sget_simple_extent_dims(space, axes, NULL);
  const guint64 across = (axes[1] + chunk[1] - 1) / MAX(chunk[1], 1);
  *n_chunks = (axes[0] + chunk[0] - 1) / MAX(chunk[0], 1) * across;
  return H5Pget_nfilters(plist) > 0 ? H5Tget_size(type) * chunk[0] * chunk[1] * across : 0;
}

/* Values that were never written would be read as zeros, and files may name other files. */
static gboolean check_stored(const AstroH5 *file, const char *path, hid_t set, hid_t space,
                             hid_t plist, guint64 n_chunks, GError **error)
{
  hsize_t written = 0;
  if (H5Pget_layout(plist) == H5D_VIRTUAL || H5Pget_external_count(plist) > 0)
    return astro_h5_wrong(file, error,
                          "the values of %s are in other files, expected them in this one", path);
  if (H5Pget_layout(plist) == H5D_CHUNKED)
    H5Dget_num_chunks(set, space, &written);
  else
    written = n_chunks = H5Dget_storage_size(set) > 0;
  return written > 0 && written == n_chunks
             ? TRUE
             : astro_h5_wrong(file, error,
                              "of %s, %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                              " chunks were written, expected all",
                              path, (guint64)written, MAX(n_chunks, 1));
}

gboolean astro_hdf5_check_stored(const AstroH5 *file, const AstroHdf5Column *column, hid_t set,
                                 hid_t space, guint64 *chunks, GError **error)
{
  const hid_t plist = H5Dget_create_plist(set), type = H5Dget_type(set);
  guint64 n_chunks, bytes = 0;
  const guint64 chunk = chunk_bytes(plist, space, type, &n_chunks);
  *chunks = *chunks + MIN(chunk, MOST_CHUNKS + 1);
  gboolean good = TRUE;
  if (!g_uint64_checked_mul(&bytes, column->n, H5Tget_size(type)) ||
      bytes > (file->bytes + 1) * MOST_PACKED)
    good = astro_h5_wrong(file, error,
                          "%s announces %" G_GUINT64_FORMAT
                          " rows, more than a file of %" G_GUINT64_FORMAT " bytes can hold",
                          column->path, column->n, file->bytes);
  else if (*chunks > MOST_CHUNKS)
    good = astro_h5_wrong(file, error,
                          "%s is packed in chunks of %" G_GUINT64_FORMAT
                          " bytes, expected at most %" G_GUINT64_FORMAT
                          " for all columns together: h5repack -l CHUNK=65536 makes smaller ones",
                          column->path, chunk, (guint64)MOST_CHUNKS);
  good = good && check_stored(file, column->path, set, space, plist, n_chunks, error);
  H5Tclose(type);
  H5Pclose(plist);
  return good;
}
