/* Describes the values of a column in HDF5, and reads their units. */
#include "core/fits/hdf5/tables.h"
#include "core/lib/catalogue/units.h"

#include <string.h>

#define MOST_UNIT 4096 /* bytes */

static const struct {
  H5T_class_t class;
  const char *kind;
} kinds[] = {
  { H5T_STRING, "string" },        { H5T_BITFIELD, "bit field" },  { H5T_OPAQUE, "opaque" },
  { H5T_COMPOUND, "compound" },    { H5T_REFERENCE, "reference" }, { H5T_ENUM, "enumeration" },
  { H5T_VLEN, "variable length" }, { H5T_ARRAY, "array" },         { H5T_TIME, "time" },
  { H5T_INTEGER, "integer" },      { H5T_FLOAT, "float" },
};

static const char *kind_of(H5T_class_t class)
{
  for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
    if (kinds[i].class == class)
      return kinds[i].kind;
  return "unknown";
}

static void describe_array(hid_t type, AstroHdf5Column *column)
{
  hsize_t length = 0;
  const hid_t of = H5Tget_super(type);
  if (H5Tget_array_ndims(type) == 1 && H5Tget_array_dims2(type, &length) == 1 &&
      H5Tget_class(of) != H5T_ARRAY) {
    astro_hdf5_describe(of, column);
    column->repeat = length;
  }
  H5Tclose(of);
}

/* Enumerations, such as the truth values of h5py, count as their integers. */
void astro_hdf5_describe(hid_t type, AstroHdf5Column *column)
{
  const H5T_class_t class = H5Tget_class(type);
  const gsize size = H5Tget_size(type);
  column->type = 'P';
  column->kind = kind_of(class);
  column->repeat = 1;
  column->width = sizeof(double);
  if (class == H5T_ARRAY)
    describe_array(type, column);
  else if (class == H5T_FLOAT)
    column->type = 'D';
  else if ((class == H5T_INTEGER || class == H5T_ENUM) && size <= sizeof(gint64))
    column->type = 'K';
  else if (class == H5T_STRING && H5Tis_variable_str(type) > 0)
    column->kind = "string of variable length";
  else if (class == H5T_STRING) {
    column->type = 'A';
    column->width = size;
  }
  if (class == H5T_INTEGER && size == sizeof(guint64))
    column->is_unsigned = H5Tget_sign(type) == H5T_SGN_NONE;
}

static hid_t one_value(const AstroHdf5Column *column, hid_t file_type)
{
  if (column->type == 'D')
    return H5Tcopy(H5T_NATIVE_DOUBLE);
  if (column->type == 'K')
    return H5Tcopy(column->is_unsigned ? H5T_NATIVE_UINT64 : H5T_NATIVE_INT64);
  const hid_t text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, column->width);
  H5Tset_strpad(text, H5T_STR_SPACEPAD);
  H5Tset_cset(text, H5Tget_cset(file_type));
  return text;
}

hid_t astro_hdf5_memory_type(const AstroHdf5Column *column, hid_t file_type)
{
  const hsize_t length = column->repeat;
  if (H5Tget_class(file_type) != H5T_ARRAY)
    return one_value(column, file_type);
  const hid_t of = H5Tget_super(file_type), one = one_value(column, of);
  const hid_t all = H5Tarray_create2(one, 1, &length);
  H5Tclose(one);
  H5Tclose(of);
  return all;
}

/* ---- units ---- */

static char *read_variable(hid_t attribute)
{
  char *text = NULL, *copy = NULL;
  const hid_t type = H5Aget_type(attribute);
  if (H5Aread(attribute, type, &text) >= 0)
    copy = g_utf8_make_valid(text ? text : "", -1);
  H5free_memory(text);
  H5Tclose(type);
  return copy;
}

static char *read_fixed(hid_t attribute, gsize size)
{
  const hid_t type = H5Aget_type(attribute);
  g_autofree char *text = g_malloc0(size + 1);
  const gboolean done = H5Aread(attribute, type, text) >= 0;
  H5Tclose(type);
  return done ? g_utf8_make_valid(g_strchomp(text), -1) : NULL;
}

/* Other values than a text, and longer texts, come back as words that are no unit. */
static char *read_text(hid_t attribute)
{
  const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
  const gboolean is_one =
      H5Tget_class(type) == H5T_STRING && H5Sget_simple_extent_npoints(space) == 1;
  const gboolean is_variable = is_one && H5Tis_variable_str(type) > 0;
  const gsize size = H5Tget_size(type);
  char *text = NULL;
  if (is_variable)
    text = read_variable(attribute);
  else if (is_one && size <= MOST_UNIT)
    text = read_fixed(attribute, size);
  H5Sclose(space);
  H5Tclose(type);
  return text ? text : g_strdup("something else than a text");
}

char *astro_hdf5_unit(hid_t dataset)
{
  static const char *const names[] = { "units", "unit", "UNITS", "UNIT", "Units", "Unit" };
  for (guint i = 0; i < G_N_ELEMENTS(names); i++)
    if (H5Aexists(dataset, names[i]) > 0) {
      const hid_t attribute = H5Aopen(dataset, names[i], H5P_DEFAULT);
      char *unit = attribute >= 0 ? read_text(attribute) : g_strdup("");
      if (attribute >= 0)
        H5Aclose(attribute);
      return unit;
    }
  return g_strdup("");
}

/* Astropy's write_table_hdf5(serialize_meta=True) puts the header of ECSV beside the records. */
gboolean astro_hdf5_read_units(const AstroH5 *file, AstroHdf5Table *table, GError **error)
{
  g_autofree char *path =
      g_strconcat(table->path + (*table->path == '/'), ".__table_column_meta__", NULL);
  g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
  if (!table->is_records || !astro_h5_has(file, path))
    return TRUE;
  g_auto(GStrv) texts = astro_h5_texts(file, path, 0, error);
  if (!texts)
    return FALSE;
  g_ptr_array_add(lines, g_strdup(" %ECSV 1.0"));
  for (guint i = 0; texts[i]; i++)
    g_ptr_array_add(lines, g_strconcat(" ", texts[i], NULL));
  g_autoptr(GPtrArray) units = astro_catalogue_ecsv_units(lines);
  if (units->len != table->columns->len)
    return astro_h5_wrong(file, error, "%s describes %u columns, expected the %u of %s", path,
                          units->len, table->columns->len, table->path);
  for (guint i = 0; i < units->len; i++) {
    AstroHdf5Column *column = table->columns->pdata[i];
    g_free(column->unit);
    column->unit = g_strdup(units->pdata[i]);
  }
  return TRUE;
}

AstroFitsColumn *astro_hdf5_fits_columns(const AstroHdf5Table *table)
{
  AstroFitsColumn *columns = g_new0(AstroFitsColumn, table->columns->len + 1);
  for (guint i = 0; i < table->columns->len; i++) {
    const AstroHdf5Column *column = table->columns->pdata[i];
    columns[i] = (AstroFitsColumn){ .name = column->name,
                                    .type = column->type,
                                    .scale = 1,
                                    .zero = column->is_unsigned ? 0x1p63 : 0,
                                    .kind = column->kind,
                                    .unit = column->unit };
  }
  return columns;
}
