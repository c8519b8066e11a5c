/* Reads the values, flags and counts of rows. */
#include "core/backend/backend.h"
#include "core/lib/hdf5/chunks.h"
#include "core/uvh5/reader.h"

#define AT_ONCE ((gsize)8 << 20) /* bytes of rows that are read at once */

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

static gboolean open_one(AstroUvh5Reader *r, const char *path, AstroUvh5Data *data, GError **error)
{
  if (!astro_h5_has(&r->file, path))
    return astro_h5_wrong(&r->file, error, "there is no dataset %s, which uvh5 has", path);
  data->id = astro_h5_open_sliced(&r->file, path,
                                  "pyuvdata reads the file and writes it again with "
                                  "UVData.write_uvh5(..., data_compression=None)",
                                  error);
  data->space = data->id >= 0 ? H5Dget_space(data->id) : -1;
  return data->space >= 0 && check_shape(r, path, data, error);
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
