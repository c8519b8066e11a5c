/* Reads numbers and tables from FITS files. */
#include "core/fits/table/table.h"
#include "core/fits/fits.h"

#include <math.h>
#include <string.h>

static gint64 big_endian(const guint8 *data, guint bytes)
{
  guint64 bits = (gint64)(gint8)data[0];
  for (guint k = 1; k < bytes; k++)
    bits = bits << 8 | data[k];
  return bits;
}

static double single(const guint8 *data)
{
  guint32 bits = (guint32)big_endian(data, 4);
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static double twofold(const guint8 *data)
{
  guint64 bits = big_endian(data, 8);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

double astro_fits_value(const guint8 *data, gint bitpix, guint64 i, const gint64 *blank)
{
  guint bytes = ABS(bitpix) / 8;
  data += i * bytes;
  if (bitpix == -32)
    return single(data);
  if (bitpix == -64)
    return twofold(data);
  gint64 value = bytes == 1 ? data[0] : big_endian(data, bytes);
  return blank && value == *blank ? NAN : (double)value;
}

/* Unsigned 64-bit integers are stored minus 2^63. As doubles the two would cancel to a multiple of
 * 1024, so the sign bit is flipped instead. */
double astro_fits_scaled_value(const guint8 *data, gint bitpix, guint64 i, const gint64 *blank,
                               double scale, double zero)
{
  if (bitpix == 64 && scale == 1 && zero == 0x1p63) {
    gint64 value = big_endian(data + 8 * i, 8);
    return blank && value == *blank ? NAN : (double)((guint64)value ^ (guint64)1 << 63);
  }
  return astro_fits_value(data, bitpix, i, blank) * scale + zero;
}

void astro_fits_floats(const guint8 *data, gint bitpix, guint64 n, const gint64 *blank,
                       double scale, double zero, float *restrict out)
{
  if (bitpix != -32) {
    for (guint64 i = 0; i < n; i++)
      out[i] = (float)(astro_fits_value(data, bitpix, i, blank) * scale + zero);
    return;
  }
  for (guint64 i = 0; i < n; i++) { /* the most common case, which the compiler vectorises */
    guint32 bits;
    memcpy(&bits, data + 4 * i, sizeof bits);
    bits = GUINT32_FROM_BE(bits);
    memcpy(&out[i], &bits, sizeof bits);
  }
  for (guint64 i = 0; i < n && (scale != 1 || zero != 0); i++)
    out[i] = (float)((double)out[i] * scale + zero);
}

/* Types of columns, and their BITPIX or bits per value. */
static const struct {
  char type;
  gint bitpix;
} column_types[] = {
  { 'A', 8 },   { 'B', 8 }, { 'L', 8 },  { 'I', 16 },  { 'J', 32 }, { 'K', 64 },  { 'E', -32 },
  { 'D', -64 }, { 'X', 1 }, { 'C', 64 }, { 'M', 128 }, { 'P', 64 }, { 'Q', 128 },
};

static gint bits_of(char type)
{
  for (guint i = 0; i < G_N_ELEMENTS(column_types); i++)
    if (column_types[i].type == type)
      return column_types[i].bitpix;
  return 0;
}

static gboolean is_number(char type)
{
  return type && strchr("BIJKED", type);
}

gboolean astro_fits_column_is_number(const AstroFitsColumn *column)
{
  return is_number(column->type);
}

guint64 astro_fits_column_bytes(const AstroFitsColumn *column)
{
  return (column->repeat * ABS(bits_of(column->type)) + 7) / 8;
}

static gboolean bad_table(const AstroFitsTable *table, GError **error, const char *what,
                          guint column)
{
  g_autofree char *where = column ? g_strdup_printf("column %u: ", column) : g_strdup("");
  const char *name = "";
  astro_fits_get_string(table->header, "EXTNAME", &name);
  return astro_fits_wrong(table->file, error, "table %s: %s%s", *name ? name : "without a name",
                          where, what);
}

/* For both kinds of tables. */
static void read_name_and_scale(const AstroFitsTable *table, guint i)
{
  AstroFitsColumn *column = &table->columns[i];
  column->name = "";
  column->scale = 1;
  astro_fits_get_string_n(table->header, "TTYPE", i + 1, &column->name);
  astro_fits_get_double_n(table->header, "TSCAL", i + 1, &column->scale);
  astro_fits_get_double_n(table->header, "TZERO", i + 1, &column->zero);
}

static gboolean read_column(AstroFitsTable *table, guint i, guint64 *offset, GError **error)
{
  AstroFitsColumn *column = &table->columns[i];
  const char *form = "";
  char *type;
  guint64 bits;

  read_name_and_scale(table, i);
  if (table->is_text) {
    const char *wrong = astro_fits_text_column(table, i + 1, column);
    return !wrong || bad_table(table, error, wrong, i + 1);
  }
  astro_fits_get_string_n(table->header, "TFORM", i + 1, &form);
  column->repeat = g_ascii_isdigit(form[0]) ? g_ascii_strtoull(form, &type, 10) : 1;
  column->type = g_ascii_isdigit(form[0]) ? *type : form[0];
  column->offset = *offset;
  g_autofree char *blank = g_strdup_printf("TNULL%u", i + 1);
  column->has_blank = astro_fits_get_integer(table->header, blank, &column->blank);
  if (!bits_of(column->type))
    return bad_table(table, error, "TFORM has an unknown type", i + 1);
  if (!g_uint64_checked_mul(&bits, column->repeat, ABS(bits_of(column->type))) ||
      bits / 8 > table->row_bytes - *offset)
    return bad_table(table, error, "columns are wider than a row", i + 1);
  *offset += (bits + 7) / 8;
  if (*offset > table->row_bytes)
    return bad_table(table, error, "columns are wider than a row", i + 1);
  return TRUE;
}

gboolean astro_fits_table_open(AstroFitsTable *table, AstroFitsFile *file,
                               const AstroFitsHeader *header, GError **error)
{
  gint64 n_columns = -1;
  guint64 offset = 0, bytes;

  memset(table, 0, sizeof *table);
  table->file = file;
  table->header = header;
  table->is_text = astro_fits_is_text_table(header);
  astro_fits_get_integer(header, "TFIELDS", &n_columns);
  if (header->n_axes != 2 || header->bitpix != 8 || n_columns < 0 || n_columns > 999)
    return bad_table(table, error, "expected two axes of bytes and up to 999 columns", 0);
  table->row_bytes = header->axes[0];
  table->n_rows = header->axes[1];
  if (!g_uint64_checked_mul(&bytes, table->row_bytes, table->n_rows) ||
      header->data > astro_fits_file_bytes(file) ||
      bytes > astro_fits_file_bytes(file) - header->data)
    return bad_table(table, error, "cut short: the file ends within it", 0);
  table->n_columns = n_columns;
  table->columns = g_new0(AstroFitsColumn, table->n_columns);
  for (guint i = 0; i < table->n_columns; i++)
    if (!read_column(table, i, &offset, error)) {
      astro_fits_table_clear(table);
      return FALSE;
    }
  table->row = table->n_rows ? g_malloc(table->row_bytes) : NULL; /* no more than the file has */
  return TRUE;
}

void astro_fits_table_clear(AstroFitsTable *table)
{
  g_clear_pointer(&table->columns, g_free);
  g_clear_pointer(&table->row, g_free);
}

const AstroFitsColumn *astro_fits_table_find(const AstroFitsTable *table, const char *name,
                                             gboolean text, guint64 repeat)
{
  for (guint i = 0; i < table->n_columns; i++) {
    const AstroFitsColumn *column = &table->columns[i];
    if (g_ascii_strcasecmp(column->name, name) == 0)
      return (text ? column->type == 'A' : is_number(column->type)) && column->repeat >= repeat
                 ? column
                 : NULL;
  }
  return NULL;
}

const AstroFitsColumn *astro_fits_table_column(const AstroFitsTable *table, const char *name)
{
  guint64 number;
  for (guint i = 0; i < table->n_columns; i++)
    if (g_str_equal(table->columns[i].name, name))
      return &table->columns[i];
  for (guint i = 0; i < table->n_columns; i++)
    if (g_ascii_strcasecmp(table->columns[i].name, name) == 0)
      return &table->columns[i];
  if (table->n_columns > 0 &&
      g_ascii_string_to_unsigned(name, 10, 1, table->n_columns, &number, NULL))
    return &table->columns[number - 1];
  return NULL;
}

char *astro_fits_table_names(const AstroFitsTable *table)
{
  GString *names = g_string_new(NULL);
  for (guint i = 0; i < table->n_columns; i++) {
    g_autofree char *name = g_utf8_make_valid(table->columns[i].name, -1);
    g_string_append_printf(names, "%s%s", i ? ", " : "", name);
  }
  return g_string_free(names, FALSE);
}

static void text_values(const AstroFitsTable *table, const AstroFitsColumn *column,
                        const guint8 *rows, guint64 n, double *values)
{
  for (guint64 i = 0; i < n; i++, rows += table->row_bytes)
    values[i] = astro_fits_text_number(column, rows) * column->scale + column->zero;
}

void astro_fits_table_values(const AstroFitsTable *table, const AstroFitsColumn *column,
                             const guint8 *rows, guint64 n, double *values)
{
  if (table->is_text) {
    text_values(table, column, rows, n, values);
    return;
  }
  const gint64 *blank = column->has_blank ? &column->blank : NULL;
  gint bits = bits_of(column->type);
  rows += column->offset;
  for (guint64 i = 0; i < n; i++, rows += table->row_bytes)
    values[i] = astro_fits_scaled_value(rows, bits, 0, blank, column->scale, column->zero);
}

gboolean astro_fits_table_read(AstroFitsTable *table, guint64 row, GError **error)
{
  return astro_fits_file_read(table->file, table->header->data + row * table->row_bytes, table->row,
                              table->row_bytes, error);
}

double astro_fits_column_number(const AstroFitsColumn *column, const guint8 *cell, guint64 i)
{
  return astro_fits_scaled_value(cell, bits_of(column->type), i, NULL, column->scale, column->zero);
}

double astro_fits_table_number(const AstroFitsTable *table, const AstroFitsColumn *column,
                               guint64 i)
{
  return astro_fits_column_number(column, table->row + column->offset, i);
}

char *astro_fits_table_text(const AstroFitsTable *table, const AstroFitsColumn *column)
{
  g_autofree char *text = g_strndup((const char *)table->row + column->offset, column->repeat);
  return g_utf8_make_valid(g_strstrip(text), -1);
}
