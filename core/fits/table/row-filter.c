/* Runs CFITSIO's row filters on rows that were read without CFITSIO. */
#include "core/fits/table/row-filter.h"
#include "core/fits/cfitsio.h"
#include "core/fits/table/filter-limits.h"

#include <locale.h>
#include <string.h>

struct _AstroRowFilter {
  AstroFitsScratch scratch;
  const AstroFitsTable *table;
  char *expression;
  AstroFilterLimits *limits;
  guint64 n_seen;    /* rows */
  guint64 row_bytes; /* in CFITSIO's table */
  guint8 *packed;    /* rows of an ASCII table as binary ones, with numbers as doubles */
};

/* CFITSIO has one list of error messages for all threads, and in older versions also one current
 * expression. */
static GMutex cfitsio;

/* CFITSIO parses the numbers of an expression in the program's locale: 20.5 would be read as 20 in
 * an application that sets a decimal comma. */
static locale_t enter_cfitsio(void)
{
  static locale_t plain;
  g_mutex_lock(&cfitsio);
  if (!plain)
    plain = newlocale(LC_ALL_MASK, "C", NULL);
  return uselocale(plain);
}

static void leave_cfitsio(locale_t before)
{
  uselocale(before);
  g_mutex_unlock(&cfitsio);
}

/* These use several rows, but CFITSIO sees only a piece of the table. */
static const char *const across_rows[] = { "#row", "accum(", "seqdiff(", "{" };

static gboolean refuse(const AstroRowFilter *f, GError **error, const char *why)
{
  return astro_fits_wrong(f->table->file, error, "where \"%s\": %s", f->expression, why);
}

static gboolean check_expression(const AstroRowFilter *f, GError **error)
{
  g_autofree char *lower = g_ascii_strdown(f->expression, -1);
  for (guint i = 0; i < G_N_ELEMENTS(across_rows); i++)
    if (strstr(lower, across_rows[i])) {
      g_autofree char *why = g_strdup_printf(
          "\"%s\" uses more than one row: only the values of one row can be used", across_rows[i]);
      return refuse(f, error, why);
    }
  g_autofree char *constant = astro_filter_limits_constant(f->limits);
  return !constant || refuse(f, error, constant);
}

static gboolean check(const AstroRowFilter *f, int status, GError **error)
{
  char first[FLEN_ERRMSG] = "", text[FLEN_STATUS] = "";
  if (status == 0)
    return TRUE;
  fits_get_errstatus(status, text);
  fits_read_errmsg(first);
  fits_clear_errmsg();
  g_autofree char *columns = astro_fits_table_names(f->table);
  g_autofree char *why =
      g_strdup_printf("%s%s%s; the columns are: %s", text, first[0] ? ": " : "", first, columns);
  return refuse(f, error, why);
}

/* Variable-length arrays become bytes without a name, as the array's heap is not there. */
static char *form_of(const AstroFitsColumn *c)
{
  guint64 bytes = c->type == 'P' ? 8 : c->type == 'Q' ? 16 : 0;
  return bytes ? g_strdup_printf("%" G_GUINT64_FORMAT "B", bytes * c->repeat)
               : g_strdup_printf("%" G_GUINT64_FORMAT "%c", c->repeat, c->type);
}

static char *name_of(const AstroFitsColumn *c)
{
  g_autofree char *name = astro_fits_ascii(c->name);
  return g_strndup(strchr("PQ", c->type) ? "" : name, FLEN_VALUE - 4);
}

static void write_number(fitsfile *file, const char *key, guint column, double value, int *status)
{
  g_autofree char *name = g_strdup_printf("%s%u", key, column);
  fits_write_key_dbl(file, name, value, 17, NULL, status);
}

/* Writes the keywords that affect a column's values. */
static void write_scales(const AstroRowFilter *f, fitsfile *file, int *status)
{
  for (guint i = 0; !f->packed && i < f->table->n_columns; i++) {
    const AstroFitsColumn *c = &f->table->columns[i];
    if (c->scale != 1 && c->scale != 0)
      write_number(file, "TSCAL", i + 1, c->scale, status);
    if (c->zero != 0)
      write_number(file, "TZERO", i + 1, c->zero, status);
    if (c->has_blank) {
      g_autofree char *name = g_strdup_printf("TNULL%u", i + 1);
      fits_write_key_lng(file, name, c->blank, NULL, status);
    }
  }
}

static void create_table(AstroRowFilter *f, guint64 n_rows, int *status)
{
  const AstroFitsTable *t = f->table;
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GPtrArray) forms = g_ptr_array_new_with_free_func(g_free);
  guint64 used = 0;
  for (guint i = 0; i < t->n_columns; i++) {
    g_ptr_array_add(names, name_of(&t->columns[i]));
    g_ptr_array_add(forms, form_of(&t->columns[i]));
    used += astro_fits_column_bytes(&t->columns[i]);
  }
  if (used < f->row_bytes) { /* a row may end with bytes that belong to no column */
    g_ptr_array_add(names, g_strdup(""));
    g_ptr_array_add(forms, g_strdup_printf("%" G_GUINT64_FORMAT "B", f->row_bytes - used));
  }
  fits_create_img(f->scratch.file, BYTE_IMG, 0, NULL, status);
  fits_create_tbl(f->scratch.file, BINARY_TBL, (LONGLONG)n_rows, (int)names->len,
                  (char **)names->pdata, (char **)forms->pdata, NULL, "ROWS", status);
  write_scales(f, f->scratch.file, status);
  fits_set_hdustruc(f->scratch.file, status);
}

/* Fields may overlap, but not so much that a small file takes a lot of memory. */
static gboolean prepare_packing(AstroRowFilter *f, guint64 n_rows, GError **error)
{
  const AstroFitsTable *t = f->table;
  f->row_bytes = 0;
  for (guint i = 0; i < t->n_columns; i++)
    f->row_bytes += astro_fits_column_bytes(&t->columns[i]);
  if (f->row_bytes > sizeof(double) * (t->row_bytes + t->n_columns))
    return refuse(f, error, "the columns of the table overlap, expected separate ones");
  f->packed = g_malloc(n_rows * f->row_bytes);
  return TRUE;
}

static void pack_column(const AstroRowFilter *f, const AstroFitsColumn *column, const guint8 *rows,
                        guint64 n_rows, guint8 *to)
{
  const guint64 from_step = f->table->row_bytes, to_step = f->row_bytes;
  g_autofree double *values = g_new(double, n_rows);
  guint64 bits;
  if (astro_fits_column_is_number(column))
    astro_fits_table_values(f->table, column, rows, n_rows, values);
  for (guint64 i = 0; i < n_rows; i++)
    if (astro_fits_column_is_number(column)) {
      memcpy(&bits, &values[i], sizeof bits);
      bits = GUINT64_TO_BE(bits);
      memcpy(to + i * to_step, &bits, sizeof bits);
    } else {
      memcpy(to + i * to_step, rows + i * from_step + column->offset, column->width);
    }
}

static void pack_rows(const AstroRowFilter *f, const guint8 *rows, guint64 n_rows)
{
  guint64 at = 0;
  for (guint i = 0; i < f->table->n_columns; i++) {
    const AstroFitsColumn *column = &f->table->columns[i];
    pack_column(f, column, rows, n_rows, f->packed + at);
    at += astro_fits_column_bytes(column);
  }
}

AstroRowFilter *astro_row_filter_new(const AstroFitsTable *table, const char *expression,
                                     guint64 n_rows, GError **error)
{
  AstroRowFilter *f = g_new0(AstroRowFilter, 1);
  int status = 0;
  f->table = table;
  f->expression = g_strdup(expression);
  f->limits = astro_filter_limits_new(table, expression);
  f->row_bytes = table->row_bytes;
  const locale_t before = enter_cfitsio();
  gboolean good = check_expression(f, error) &&
                  (!table->is_text || prepare_packing(f, n_rows, error)) &&
                  astro_fits_scratch_open(&f->scratch, n_rows * f->row_bytes, error);
  if (good) {
    create_table(f, n_rows, &status);
    good = check(f, status, error);
  }
  leave_cfitsio(before);
  if (good)
    return f;
  astro_row_filter_free(f);
  return NULL;
}

gboolean astro_row_filter_apply(AstroRowFilter *f, const guint8 *rows, guint64 n_rows, char *keep,
                                guint64 *n_kept, GError **error)
{
  int status = 0;
  long good = 0;
  g_autofree char *limit = astro_filter_limits_value(f->limits, rows, n_rows, f->n_seen);
  if (limit)
    return refuse(f, error, limit);
  f->n_seen += n_rows;
  if (f->packed)
    pack_rows(f, rows, n_rows);
  const locale_t before = enter_cfitsio();
  fits_write_tblbytes(f->scratch.file, 1, 1, (LONGLONG)(n_rows * f->row_bytes),
                      (unsigned char *)(f->packed ? f->packed : rows), &status);
  fits_find_rows(f->scratch.file, f->expression, 1, (long)n_rows, &good, keep, &status);
  gboolean done = check(f, status, error);
  leave_cfitsio(before);
  *n_kept = (guint64)good;
  return done;
}

void astro_row_filter_free(AstroRowFilter *f)
{
  g_mutex_lock(&cfitsio);
  astro_fits_scratch_free(&f->scratch);
  g_mutex_unlock(&cfitsio);
  astro_filter_limits_free(f->limits);
  g_free(f->packed);
  g_free(f->expression);
  g_free(f);
}
