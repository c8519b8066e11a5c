/* Reads rows of a table in HDF5, of the columns that are asked for. */
#include "core/backend/backend.h"
#include "core/fits/hdf5/tables.h"
#include "core/lib/hdf5/chunks.h"

#include <string.h>

#define MOST_ROW (1u << 20) /* bytes */

typedef struct {
  const AstroHdf5Column *column;
  guint64 offset; /* in a row */
  hid_t set, space, type;
} Part;

typedef struct {
  AstroH5 file;
  AstroHdf5Table *table;
  guint64 row_bytes;
  GArray *parts; /* elements are Part: the columns that are read */
  guint8 *room;  /* for values of one column, and of how many rows */
  guint64 room_rows;
} Rows;

static void close_parts(Rows *r)
{
  for (guint i = 0; i < r->parts->len; i++) {
    Part *part = &g_array_index(r->parts, Part, i);
    if (part->type >= 0)
      H5Tclose(part->type);
    if (part->space >= 0)
      H5Sclose(part->space);
    if (part->set >= 0)
      H5Dclose(part->set);
  }
  g_array_unref(r->parts);
}

static void close_rows(gpointer rows)
{
  Rows *r = rows;
  astro_h5_begin();
  close_parts(r);
  g_clear_pointer(&r->table, astro_hdf5_table_free);
  astro_h5_close(&r->file);
  astro_h5_end();
  g_free(r->room);
  g_free(r);
}

/* ---- opening ---- */

/* type: of the values in memory. */
static gboolean open_set(const Rows *r, Part *part, guint64 *chunks, GError **error)
{
  part->set = astro_h5_open_sliced(&r->file, part->column->path,
                                   "h5repack -f NONE unpacks the file where the filter is", error);
  if (part->set < 0)
    return FALSE;
  part->space = H5Dget_space(part->set);
  return astro_hdf5_check_stored(&r->file, part->column, part->set, part->space, chunks, error);
}

static void insert_member(const Part *records, const AstroHdf5Column *column, guint64 offset)
{
  const hid_t type = H5Dget_type(records->set);
  const int member = H5Tget_member_index(type, column->name);
  if (member >= 0) {
    const hid_t of = H5Tget_member_type(type, (unsigned)member);
    const hid_t memory = astro_hdf5_memory_type(column, of);
    H5Tinsert(records->type, column->name, offset, memory);
    H5Tclose(memory);
    H5Tclose(of);
  }
  H5Tclose(type);
}

/* Records are one dataset, which the first part has. */
static gboolean open_part(const Rows *r, Part *part, guint64 *chunks, GError **error)
{
  Part *first = &g_array_index(r->parts, Part, 0);
  if ((part == first || !r->table->is_records) && !open_set(r, part, chunks, error))
    return FALSE;
  if (r->table->is_records) {
    if (part == first)
      part->type = H5Tcreate(H5T_COMPOUND, r->row_bytes);
    insert_member(first, part->column, part->offset);
  } else {
    const hid_t type = H5Dget_type(part->set);
    part->type = astro_hdf5_memory_type(part->column, type);
    H5Tclose(type);
  }
  return TRUE;
}

/* In any case, and anywhere in the expression: at worst a column is read for nothing. */
static gboolean is_named(const char *where, const char *name)
{
  if (!where || !*name)
    return FALSE;
  g_autofree char *in = g_ascii_strdown(where, -1), *lower = g_ascii_strdown(name, -1);
  return strstr(in, lower) != NULL;
}

/* Marks the columns to read. Those that cannot be read are left to the reader to refuse, except
 * where an expression has them. */
static gboolean choose(const Rows *r, const AstroTableAsked *asked, const AstroFitsTable *table,
                       gboolean *is_used, GError **error)
{
  const AstroHdf5Column *first = NULL;
  for (guint i = 0; asked->columns[i]; i++) {
    const AstroFitsColumn *column = astro_fits_table_column(table, asked->columns[i]);
    if (column)
      is_used[column - table->columns] = TRUE;
  }
  for (guint i = 0; i < table->n_columns; i++) {
    const AstroHdf5Column *column = r->table->columns->pdata[i];
    if (!is_used[i] && is_named(asked->where, column->name))
      is_used[i] = column->type != 'P' && column->n > 0;
    if (!is_used[i] || column->type == 'P')
      continue;
    first = first ? first : column;
    if (column->n != first->n)
      return astro_h5_wrong(&r->file, error,
                            "%s has %" G_GUINT64_FORMAT " rows, and %s has %" G_GUINT64_FORMAT
                            ", expected equally many",
                            first->path, first->n, column->path, column->n);
  }
  return TRUE;
}

/* Gives the columns that are read their places in a row. */
static gboolean place(Rows *r, AstroFitsTable *table, const gboolean *is_used, GError **error)
{
  for (guint i = 0; i < table->n_columns; i++) {
    const AstroHdf5Column *column = r->table->columns->pdata[i];
    AstroFitsColumn *as_fits = &table->columns[i];
    if (!is_used[i])
      continue;
    as_fits->repeat = column->type == 'A' ? column->repeat * column->width : column->repeat;
    if (column->type == 'P')
      continue;
    table->n_rows = column->n;
    as_fits->offset = table->row_bytes;
    if (column->repeat > MOST_ROW || column->width > MOST_ROW ||
        (table->row_bytes += column->repeat * column->width) > MOST_ROW)
      return astro_h5_wrong(&r->file, error,
                            "%s has rows of %" G_GUINT64_FORMAT " values, expected rows of at most "
                            "%u bytes",
                            column->path, column->repeat, MOST_ROW);
  }
  r->row_bytes = table->row_bytes;
  return TRUE;
}

static gboolean open_columns(Rows *r, const AstroFitsTable *table, const gboolean *is_used,
                             GError **error)
{
  guint64 chunks = 0, widest = 0;
  for (guint i = 0; i < table->n_columns; i++) {
    const AstroHdf5Column *column = r->table->columns->pdata[i];
    const Part part = { column, table->columns[i].offset, -1, -1, -1 };
    if (is_used[i] && column->type != 'P' && column->n > 0 && column->repeat > 0) {
      g_array_append_val(r->parts, part);
      widest = MAX(widest, column->repeat * column->width);
    }
  }
  r->room_rows = MAX(MOST_ROW / MAX(widest, 1), 1);
  r->room = g_malloc(r->room_rows * MAX(widest, 1));
  for (guint i = 0; i < r->parts->len; i++)
    if (!open_part(r, &g_array_index(r->parts, Part, i), &chunks, error))
      return FALSE;
  return TRUE;
}

static gboolean is_uvh5(const AstroH5 *file)
{
  return astro_h5_has(file, "Header") && astro_h5_has(file, "Data/visdata");
}

static gboolean open_table(Rows *r, const AstroTableAsked *asked, AstroFitsTable *table,
                           GError **error)
{
  if (!astro_h5_open(&r->file, asked->name, error))
    return FALSE;
  if (is_uvh5(&r->file))
    return astro_h5_wrong(&r->file, error,
                          "found visibilities (uvh5), expected a catalogue: astrouvh5src reads it");
  r->table = astro_hdf5_find(&r->file, asked, error);
  if (!r->table || !astro_hdf5_read_units(&r->file, r->table, error))
    return FALSE;
  table->n_columns = r->table->columns->len;
  table->columns = astro_hdf5_fits_columns(r->table);
  g_autofree gboolean *is_used = g_new0(gboolean, table->n_columns);
  return choose(r, asked, table, is_used, error) && place(r, table, is_used, error) &&
         open_columns(r, table, is_used, error);
}

static gpointer open_rows(const AstroTableAsked *asked, AstroFitsTable *table, char **title,
                          GError **error)
{
  Rows *r = g_new0(Rows, 1);
  r->file.id = -1;
  r->parts = g_array_new(FALSE, FALSE, sizeof(Part));
  astro_h5_begin();
  const gboolean good = open_table(r, asked, table, error);
  astro_h5_end();
  if (good) {
    *title = g_strconcat(r->table->path, "/", NULL);
    return r;
  }
  astro_fits_table_clear(table);
  close_rows(r);
  return NULL;
}

/* ---- reading ---- */

/* As FITS has them: big-endian, and unsigned ones with the first bit turned. */
static void put_numbers(const AstroHdf5Column *column, guint8 *row, const guint8 *values)
{
  const guint64 flip = column->is_unsigned ? G_GUINT64_CONSTANT(1) << 63 : 0;
  for (guint64 i = 0; i < column->repeat; i++) {
    guint64 bits;
    memcpy(&bits, values + i * sizeof bits, sizeof bits);
    bits = GUINT64_TO_BE(bits ^ flip);
    memcpy(row + i * sizeof bits, &bits, sizeof bits);
  }
}

static void put(const AstroHdf5Column *column, guint8 *row, const guint8 *values)
{
  if (column->type != 'A')
    put_numbers(column, row, values);
  else if (row != values)
    memcpy(row, values, column->repeat * column->width);
}

static gboolean read_slice(const Rows *r, const Part *part, guint64 first, guint64 n, gpointer to,
                           GError **error)
{
  const hsize_t start[2] = { first }, shape[2] = { n, part->column->repeat };
  const int n_axes = H5Sget_simple_extent_ndims(part->space);
  const hid_t memory = H5Screate_simple(n_axes, shape, NULL);
  const gboolean done =
      H5Sselect_hyperslab(part->space, H5S_SELECT_SET, start, NULL, shape, NULL) >= 0 &&
      H5Dread(part->set, part->type, memory, part->space, H5P_DEFAULT, to) >= 0;
  if (memory >= 0)
    H5Sclose(memory);
  return done || astro_h5_failed(&r->file, part->column->path, error);
}

/* Members lie where they belong, in the order of bytes of this machine. */
static gboolean read_records(const Rows *r, guint64 first, guint64 n, guint8 *to, GError **error)
{
  if (r->parts->len > 0 && !read_slice(r, &g_array_index(r->parts, Part, 0), first, n, to, error))
    return FALSE;
  for (guint p = 0; p < r->parts->len; p++) {
    const Part *part = &g_array_index(r->parts, Part, p);
    guint8 *row = to + part->offset;
    for (guint64 i = 0; i < n; i++, row += r->row_bytes)
      put(part->column, row, row);
  }
  return TRUE;
}

static gboolean read_column(const Rows *r, const Part *part, guint64 first, guint64 n, guint8 *to,
                            GError **error)
{
  const gsize bytes = part->column->repeat * part->column->width;
  for (guint64 done = 0, now; done < n; done += now) {
    now = MIN(r->room_rows, n - done);
    if (!read_slice(r, part, first + done, now, r->room, error))
      return FALSE;
    guint8 *row = to + done * r->row_bytes + part->offset;
    for (guint64 i = 0; i < now; i++, row += r->row_bytes)
      put(part->column, row, r->room + i * bytes);
  }
  return TRUE;
}

static gboolean read_rows(gpointer rows, guint64 first, guint64 n, guint8 *to, GError **error)
{
  const Rows *r = rows;
  gboolean good = astro_backend_goes_on(error);
  astro_h5_begin();
  if (good && r->table->is_records)
    good = read_records(r, first, n, to, error);
  for (guint p = 0; good && !r->table->is_records && p < r->parts->len; p++)
    good = read_column(r, &g_array_index(r->parts, Part, p), first, n, to, error);
  astro_h5_end();
  return good;
}

static gboolean may_be(const char *path)
{
  AstroH5 file;
  astro_h5_begin();
  const gboolean is = astro_h5_open(&file, path, NULL) && !is_uvh5(&file);
  astro_h5_close(&file);
  astro_h5_end();
  return is;
}

const AstroTableRows astro_hdf5_rows = { open_rows, read_rows, close_rows, may_be };
