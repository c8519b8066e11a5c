/* Catalogues in HDF5 of any columns: the input says which datasets there are, of which types and
 * shapes, and what they hold. Read to the end or refused. The format of HDF5 itself is the business
 * of its library. */
#include "config.h"

#include <glib/gstdio.h>
#include <gst/gst.h>
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/fits/table/rows.h"
#include "core/lib/hdf5/h5.h"

#define MOST_POINTS 64
#define MOST_ROW (1 << 21) /* bytes */

static char *path;

static void begin(void)
{
  if (path)
    return;
  gst_init(NULL, NULL);
  path = g_strdup_printf("%s/hdf5-fuzz-%d.h5", g_get_tmp_dir(), (int)getpid());
}

typedef struct {
  const guint8 *data;
  gsize left;
} Input;

static guint next(Input *input)
{
  if (input->left == 0)
    return 0;
  input->left--;
  return *input->data++;
}

/* A type of values that the input chooses; some are no numbers. */
static hid_t next_type(Input *input)
{
  const hid_t types[] = { H5T_IEEE_F64LE, H5T_IEEE_F32BE, H5T_STD_I64LE, H5T_STD_U64BE,
                          H5T_STD_I8LE,   H5T_STD_U16BE,  H5T_C_S1,      H5T_STD_B32LE };
  const guint choice = next(input);
  const hid_t type = H5Tcopy(types[choice % G_N_ELEMENTS(types)]);
  if (choice % G_N_ELEMENTS(types) == 6)
    H5Tset_size(type, choice & 0x80 ? H5T_VARIABLE : 1 + next(input));
  if (choice & 0x40) {
    const hsize_t length = 1 + next(input) % 4;
    const hid_t array = H5Tarray_create2(type, 1, &length);
    H5Tclose(type);
    return array;
  }
  return type;
}

/* Records have two members of such types. */
static hid_t next_record(Input *input)
{
  const hid_t a = next_type(input), b = next_type(input);
  const hid_t type = H5Tcreate(H5T_COMPOUND, H5Tget_size(a) + H5Tget_size(b));
  H5Tinsert(type, "RA", 0, a);
  H5Tinsert(type, "DEC", H5Tget_size(a), b);
  H5Tclose(a);
  H5Tclose(b);
  return type;
}

static void put(hid_t where, const char *name, hid_t type, Input *input)
{
  const guint shape = next(input);
  const hsize_t axes[3] = { next(input) % MOST_POINTS, 1 + shape % 3, 2 },
                chunk[3] = { 1 + next(input) % 16, 1, 1 };
  const int n_axes = shape & 0x80 ? (int)(shape % 4) : 1;
  const hid_t space = H5Screate_simple(n_axes, axes, NULL), plist = H5Pcreate(H5P_DATASET_CREATE);
  if ((shape & 0x20) && n_axes > 0 && axes[0] >= chunk[0])
    H5Pset_chunk(plist, n_axes, chunk);
  const hid_t set = H5Dcreate2(where, name, type, space, H5P_DEFAULT, plist, H5P_DEFAULT);
  const gsize bytes = H5Tget_size(type) * (gsize)H5Sget_simple_extent_npoints(space);
  if (set >= 0 && H5Tdetect_class(type, H5T_STRING) <= 0 && !(shape & 0x10)) {
    g_autofree guint8 *values = g_malloc0(bytes + 1);
    memcpy(values, input->data, MIN(bytes, input->left));
    H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  }
  if (set >= 0)
    H5Dclose(set);
  H5Pclose(plist);
  H5Sclose(space);
}

static void write_file(Input *input, guint how)
{
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t group = how & 1 ? H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)
                              : H5Gopen2(file, "/", H5P_DEFAULT);
  if (how & 2) {
    const hid_t type = next_record(input);
    put(group, "t", type, input);
    H5Tclose(type);
  }
  for (guint i = 0; i < 3 && !(how & 2); i++) {
    static const char *const names[] = { "RA", "DEC", "other" };
    const hid_t type = next_type(input);
    put(group, names[i], type, input);
    H5Tclose(type);
  }
  H5Gclose(group);
  H5Fclose(file);
}

static void read_all(const char *folder, const char *where)
{
  static const char *const columns[] = { "RA", "DEC", NULL };
  const AstroTableAsked asked = { path, folder, columns, where };
  AstroFitsTable table = { 0 };
  g_autofree char *title = NULL;
  g_autoptr(GError) error = NULL;
  gpointer rows = astro_hdf5_rows.open(&asked, &table, &title, &error);
  if (!rows != !!error || (rows && (!title || table.row_bytes > MOST_ROW)))
    abort();
  if (!rows)
    return;
  for (guint64 first = 0; first < MIN(table.n_rows, 1000); first += 7) {
    const guint64 n = MIN(7, table.n_rows - first);
    g_autofree guint8 *to = g_malloc(n * table.row_bytes + 1);
    if (!astro_hdf5_rows.read(rows, first, n, to, &error)) {
      if (!error)
        abort();
      break;
    }
  }
  astro_fits_table_clear(&table);
  astro_hdf5_rows.close(rows);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
  Input input = { data, size };
  begin();
  const guint how = next(&input);
  astro_h5_begin();
  write_file(&input, how);
  astro_h5_end();
  read_all(NULL, how & 8 ? "other > 0" : NULL);
  read_all(how & 1 ? "g" : "", NULL);
  astro_hdf5_rows.may_be(path);
  g_unlink(path);
  return 0;
}
