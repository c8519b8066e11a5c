/* Finds the columns of a catalogue in a table. */
#include "core/fits/table/catalogue-reader.h"

#include "core/lib/catalogue/units.h"

#include <string.h>

static gboolean read_unit(const CatalogueReader *r, CatalogueWanted *wanted, GError **error)
{
  const char *unit = wanted->column->unit ? wanted->column->unit : "";
  if (r->table.header)
    astro_fits_get_string_n(r->table.header, "TUNIT", wanted->column - r->table.columns + 1, &unit);
  if (astro_catalogue_unit(unit, &wanted->is_radians))
    return TRUE;
  return catalogue_wrong(r, error, "column %s is in units of \"%s\", expected deg or rad",
                         wanted->column->name, unit);
}

/* Columns of integers may be unsigned, which FITS says by an offset. */
#define UNSIGNED_ZERO 0x1p63

/* The type of a column, as its kind of file calls it. */
static char *name_type(const AstroFitsColumn *column)
{
  return column->kind ? g_strdup(column->kind) : g_strdup_printf("%c", column->type);
}

guint64 catalogue_split_place(char *name)
{
  char *bracket = strrchr(name, '[');
  guint64 place = 0;
  if (!bracket || !g_str_has_suffix(bracket, "]"))
    return 0;
  g_autofree char *number = g_strndup(bracket + 1, strlen(bracket) - 2);
  if (g_ascii_string_to_unsigned(number, 10, 1, G_MAXUINT32, &place, NULL))
    *bracket = 0;
  return place;
}

static gboolean find_bits(const CatalogueReader *r, CatalogueWanted *wanted, const char *asked,
                          GError **error)
{
  g_autofree char *name = g_strdup(asked);
  const guint64 place = catalogue_split_place(name);
  const AstroFitsColumn *column = wanted->column = astro_fits_table_column(&r->table, name);
  if (!column) {
    g_autofree char *names = astro_fits_table_names(&r->table);
    return catalogue_wrong(r, error, "no column \"%s\" of bits; there are: %s", name, names);
  }
  if (r->table.is_text || column->type != 'K' || column->scale != 1 ||
      (column->zero != 0 && column->zero != UNSIGNED_ZERO)) {
    g_autofree char *type = name_type(column);
    return catalogue_wrong(r, error, "column %s is of type %s, expected bits in integers of %s",
                           column->name, type, column->kind ? "64 bits" : "type K");
  }
  if (place > column->repeat || column->repeat == 0 || (!place && column->repeat != 1))
    return catalogue_wrong(
        r, error,
        "column %s holds %" G_GUINT64_FORMAT
        " values per row, and bitweight-columns asks for \"%s\": expected %s[1] to "
        "%s[%" G_GUINT64_FORMAT "]",
        column->name, column->repeat, asked, column->name, column->name, column->repeat);
  wanted->place = place ? place - 1 : 0;
  return TRUE;
}

void catalogue_bit_values(const CatalogueReader *r, const CatalogueWanted *wanted, guint c,
                          guint64 n, double *values)
{
  const guint8 *cell = r->rows + wanted->column->offset + wanted->place * sizeof(guint64);
  const guint64 flip = wanted->column->zero != 0 ? G_GUINT64_CONSTANT(1) << 63 : 0;
  for (guint64 i = 0; i < n; i++, cell += r->table.row_bytes) {
    guint64 bits;
    memcpy(&bits, cell, sizeof bits);
    values[i] = astro_catalogue_half(GUINT64_FROM_BE(bits) ^ flip, c - ASTRO_COLUMN_FIRST_WORD);
  }
}

gboolean catalogue_find_columns(CatalogueReader *r, GError **error)
{
  if (r->table.n_columns == 0)
    return catalogue_wrong(r, error, "TFIELDS is 0, expected columns");
  for (guint c = 0; c < N_COLUMNS; c++) {
    CatalogueWanted *wanted = &r->wanted[c];
    *wanted = (CatalogueWanted){ .column = NULL };
    if (!r->columns[c])
      continue;
    if (c >= ASTRO_COLUMN_FIRST_WORD) {
      if (!find_bits(r, wanted, r->columns[c], error))
        return FALSE;
      continue;
    }
    wanted->column = astro_fits_table_column(&r->table, r->columns[c]);
    if (!wanted->column) {
      g_autofree char *names = astro_fits_table_names(&r->table);
      return catalogue_wrong(r, error, "no column \"%s\" for %s; there are: %s", r->columns[c],
                             astro_catalogue_column_name(c), names);
    }
    if (!astro_fits_column_is_number(wanted->column) || wanted->column->repeat != 1) {
      g_autofree char *type = name_type(wanted->column);
      return catalogue_wrong(r, error,
                             "column %s holds %" G_GUINT64_FORMAT
                             " values of type %s per row, expected one number%s",
                             wanted->column->name, wanted->column->repeat, type,
                             wanted->column->kind ? "" : " (B, I, J, K, E or D)");
    }
    if (c <= DEC && !read_unit(r, wanted, error))
      return FALSE;
  }
  return TRUE;
}
