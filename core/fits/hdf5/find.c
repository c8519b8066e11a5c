/* Finds the table in an HDF5 file that has the columns which are asked for. */
#include "core/fits/hdf5/tables.h"

#include <string.h>

#define MOST_NAMES 10000 /* in a file: links may lead in circles */
#define MOST_DEPTH 16
#define RECORDS_NEED 2 /* members: a pair of numbers is a complex value */

typedef struct {
  const AstroH5 *file;
  const AstroTableAsked *asked;
  guint n_wanted, n_names;
  hid_t access;          /* refuses links to other files */
  AstroHdf5Table *best;  /* NULL: none yet */
  guint best_has;        /* of the columns */
  char *other;           /* another table that has them all; NULL: none */
  gboolean is_too_large; /* there are more names than are looked at */
} Search;

static void column_free(gpointer data)
{
  AstroHdf5Column *column = data;
  g_free(column->name);
  g_free(column->path);
  g_free(column->unit);
  g_free(column);
}

void astro_hdf5_table_free(AstroHdf5Table *table)
{
  g_ptr_array_unref(table->columns);
  g_free(table->path);
  g_free(table);
}

static AstroHdf5Table *table_new(const char *path, gboolean is_records)
{
  AstroHdf5Table *table = g_new0(AstroHdf5Table, 1);
  table->path = g_strdup(path);
  table->is_records = is_records;
  table->columns = g_ptr_array_new_with_free_func(column_free);
  return table;
}

static AstroHdf5Column *add_column(AstroHdf5Table *table, const char *name, const char *path)
{
  AstroHdf5Column *column = g_new0(AstroHdf5Column, 1);
  *column = (AstroHdf5Column){ .name = g_strdup(name), .path = g_strdup(path), .type = 'P' };
  column->unit = g_strdup("");
  g_ptr_array_add(table->columns, column);
  return column;
}

static herr_t no_other_file(const char *parent_file, const char *parent_group,
                            const char *child_file, const char *child_object, unsigned *flags,
                            hid_t access, void *data)
{
  return -1;
}

/* ---- which table is meant ---- */

static guint n_found(const Search *s, const AstroHdf5Table *table)
{
  AstroFitsTable as_fits = { .n_columns = table->columns->len,
                             .columns = astro_hdf5_fits_columns(table) };
  guint n = 0;
  for (guint i = 0; i < s->n_wanted; i++)
    n += astro_fits_table_column(&as_fits, s->asked->columns[i]) != NULL;
  astro_fits_table_clear(&as_fits);
  return n;
}

/* Takes the table. */
static void consider(Search *s, AstroHdf5Table *table)
{
  const guint has = n_found(s, table);
  if (table->columns->len == 0) {
    astro_hdf5_table_free(table);
  } else if (!s->best || has > s->best_has) {
    if (s->best)
      astro_hdf5_table_free(s->best);
    s->best = table;
    s->best_has = has;
  } else {
    if (has == s->n_wanted && !s->other)
      s->other = g_strdup(table->path);
    astro_hdf5_table_free(table);
  }
}

/* ---- what a file holds ---- */

static void see_records(Search *s, const char *path, hid_t type, guint64 n)
{
  AstroHdf5Table *table = table_new(path, TRUE);
  const int members = H5Tget_nmembers(type);
  for (int i = 0; i < members; i++) {
    char *name = H5Tget_member_name(type, (unsigned)i);
    const hid_t of = H5Tget_member_type(type, (unsigned)i);
    AstroHdf5Column *column = add_column(table, name ? name : "", path);
    column->n = n;
    if (of >= 0) {
      astro_hdf5_describe(of, column);
      H5Tclose(of);
    }
    H5free_memory(name);
  }
  consider(s, table);
}

/* One axis, or two of which the second numbers the values of a row. */
static void see_column(AstroHdf5Table *table, const char *name, const char *path, hid_t set,
                       hid_t type, int n_axes, const hsize_t *axes)
{
  AstroHdf5Column *column = add_column(table, name, path);
  astro_hdf5_describe(type, column);
  column->n = axes[0];
  g_free(column->unit);
  column->unit = astro_hdf5_unit(set);
  if (H5Tget_class(type) == H5T_ARRAY)
    column->type = 'P';
  if (n_axes == 2)
    column->repeat = axes[1];
}

/* table: of the group that the dataset is in; NULL: only records are of interest. */
static void see_dataset(Search *s, AstroHdf5Table *table, const char *name, const char *path,
                        hid_t set)
{
  hsize_t axes[2] = { 0 };
  const hid_t type = H5Dget_type(set), space = H5Dget_space(set);
  const int n_axes = H5Sget_simple_extent_ndims(space);
  if (n_axes == 1 || n_axes == 2)
    H5Sget_simple_extent_dims(space, axes, NULL);
  if (H5Tget_class(type) == H5T_COMPOUND && n_axes == 1 && H5Tget_nmembers(type) >= RECORDS_NEED)
    see_records(s, path, type, axes[0]);
  else if (table && (n_axes == 1 || n_axes == 2))
    see_column(table, name, path, set, type, n_axes, axes);
  else if (table)
    add_column(table, name, path)->kind = n_axes == 0 ? "single value" : "array of many axes";
  H5Sclose(space);
  H5Tclose(type);
}

typedef struct {
  GPtrArray *names;
  GArray *types; /* H5L_type_t */
  guint room;
} Links;

static herr_t add_link(hid_t group, const char *name, const H5L_info_t *info, void *data)
{
  Links *links = data;
  g_ptr_array_add(links->names, g_strdup(name));
  g_array_append_val(links->types, info->type);
  return links->names->len >= links->room;
}

static void see_group(Search *s, const char *path, guint depth);

static void see_link(Search *s, AstroHdf5Table *table, const char *name, H5L_type_t type,
                     guint depth)
{
  g_autofree char *path = g_strconcat(table->path, "/", name, NULL);
  if (type == H5L_TYPE_EXTERNAL) {
    add_column(table, name, path)->kind = "link to another file";
    return;
  }
  const hid_t id = H5Oopen(s->file->id, path, s->access);
  const H5I_type_t kind = id >= 0 ? H5Iget_type(id) : H5I_BADID;
  if (kind == H5I_DATASET)
    see_dataset(s, table, name, path, id);
  else if (id < 0)
    add_column(table, name, path)->kind = "link that leads nowhere";
  if (id >= 0)
    H5Oclose(id);
  if (kind == H5I_GROUP && type == H5L_TYPE_HARD && depth && !s->asked->folder)
    see_group(s, path, depth - 1);
}

static void see_group(Search *s, const char *path, guint depth)
{
  hsize_t at = 0;
  const hid_t group = H5Gopen2(s->file->id, *path ? path : "/", s->access);
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GArray) types = g_array_new(FALSE, FALSE, sizeof(H5L_type_t));
  Links links = { names, types, MOST_NAMES + 1 - MIN(s->n_names, MOST_NAMES) };
  if (group < 0)
    return;
  H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, &at, add_link, &links);
  H5Gclose(group);
  s->n_names += names->len;
  s->is_too_large = s->is_too_large || s->n_names > MOST_NAMES;
  AstroHdf5Table *table = table_new(path, FALSE);
  for (guint i = 0; i < names->len && !s->is_too_large; i++)
    see_link(s, table, names->pdata[i], g_array_index(types, H5L_type_t, i), depth);
  consider(s, table);
}

static void see_folder(Search *s, const char *path)
{
  const hid_t id = H5Oopen(s->file->id, *path ? path : "/", s->access);
  const H5I_type_t kind = id >= 0 ? H5Iget_type(id) : H5I_BADID;
  if (kind == H5I_DATASET)
    see_dataset(s, NULL, NULL, path, id);
  if (id >= 0)
    H5Oclose(id);
  if (kind == H5I_GROUP)
    see_group(s, path, 0);
}

/* FALSE: it is not clear which table is meant. */
static gboolean check(const Search *s, GError **error)
{
  const AstroTableAsked *asked = s->asked;
  if (s->is_too_large)
    return astro_h5_wrong(s->file, error,
                          "there are more than %d names to search: say where the columns are, as "
                          "in ra-column=GROUP/RA",
                          MOST_NAMES);
  if (!s->best && asked->folder)
    return astro_h5_wrong(s->file, error,
                          "found no group with datasets and no dataset of records at %s/, where "
                          "the columns are expected",
                          asked->folder);
  if (!s->best)
    return astro_h5_wrong(s->file, error,
                          "found no datasets, expected columns (datasets of one or two axes) or a "
                          "dataset of records");
  if (s->other && s->best_has == s->n_wanted)
    return astro_h5_wrong(s->file, error,
                          "the columns are in %s/ and in %s/, expected one place: say which, as in "
                          "ra-column=%s/%s",
                          s->best->path, s->other, s->best->path, asked->columns[0]);
  return TRUE;
}

AstroHdf5Table *astro_hdf5_find(const AstroH5 *file, const AstroTableAsked *asked, GError **error)
{
  Search s = { .file = file, .asked = asked, .access = H5Pcreate(H5P_LINK_ACCESS) };
  s.n_wanted = g_strv_length((char **)asked->columns);
  H5Pset_elink_cb(s.access, no_other_file, NULL);
  if (asked->folder)
    see_folder(&s, asked->folder);
  else
    see_group(&s, "", MOST_DEPTH);
  H5Pclose(s.access);
  const gboolean good = check(&s, error);
  if (!good && s.best)
    astro_hdf5_table_free(s.best);
  g_free(s.other);
  return good ? s.best : NULL;
}
