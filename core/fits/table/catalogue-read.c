/* Reads catalogues from FITS tables: binary or ASCII ones, with row filters. */
#include "core/fits/table/catalogue-reader.h"

#include "core/fits/table/row-filter.h"

#include <string.h>

#define PIECE (1u << 20) /* bytes read at once, if a row is not longer */

void astro_catalogue_describe(AstroFitsContents *contents, const AstroCatalogueColumns *columns)
{
  const char *wanted[N_COLUMNS];
  astro_catalogue_wanted(columns, wanted);
  GString *names = g_string_new(NULL);
  guint n = 0;
  for (guint c = 0; c < N_COLUMNS; c++)
    if (c <= DEC || wanted[c])
      g_string_append_printf(names, "%s%s", n++ ? ":" : "", astro_catalogue_column_name(c));
  contents->columns = g_string_free(names, FALSE);
  contents->stream = (AstroStream){
    .quantity = ASTRO_QUANTITY_CATALOGUE,
    .format = ASTRO_FORMAT_F64LE,
    .layout = { .n_axes = 2, .axes = { ASTRO_AXIS_COLUMN, ASTRO_AXIS_POINT }, .extents = { n, 0 } },
    .rate_d = 1
  };
}

gboolean catalogue_wrong(const CatalogueReader *r, GError **error, const char *format, ...)
{
  va_list list;
  va_start(list, format);
  g_autofree char *text = g_strdup_vprintf(format, list);
  va_end(list);
  g_autofree char *valid = g_utf8_make_valid(text, -1);
  g_autofree char *table = r->name ? g_utf8_make_valid(r->name, -1) : g_strdup("");
  return astro_fits_wrong(r->file, error, "table %s: %s", *table ? table : "without a name", valid);
}

/* ---- tables ---- */

static void forget_rows(CatalogueReader *r)
{
  g_clear_pointer(&r->rows, g_free);
  g_clear_pointer(&r->keep, g_free);
  g_clear_pointer(&r->kept, g_free);
}

void catalogue_close_table(CatalogueReader *r)
{
  if (r->is_open)
    astro_fits_table_clear(&r->table);
  r->is_open = FALSE;
  forget_rows(r);
}

static const AstroFitsHeader *table_from(const AstroFitsFile *file, guint *index)
{
  const AstroFitsHeader *header;
  while ((header = astro_fits_file_header(file, *index)) && !astro_fits_is_binary_table(header) &&
         !astro_fits_is_text_table(header))
    ++*index;
  return header;
}

static gboolean try_table(CatalogueReader *r, const AstroFitsHeader *header, GError **error)
{
  const char *name = "";
  astro_fits_get_string(header, "EXTNAME", &name);
  g_free(r->name);
  r->name = g_strdup(name);
  r->is_open = astro_fits_table_open(&r->table, r->file, header, error);
  return r->is_open && catalogue_find_columns(r, error);
}

/* Opens the first table that has the columns; if there is none, the error is about the first table.
 */
static gboolean open_first(CatalogueReader *r, GError **error)
{
  g_autoptr(GError) first = NULL;
  const AstroFitsHeader *header;
  for (r->next = 1; (header = table_from(r->file, &r->next)); r->next++) {
    if (try_table(r, header, first ? NULL : &first))
      return TRUE;
    catalogue_close_table(r);
  }
  g_propagate_error(error, g_steal_pointer(&first));
  return FALSE;
}

/* A later table with the name of the first one is a further catalogue. */
static gboolean open_next(CatalogueReader *r, gboolean *end, GError **error)
{
  const AstroFitsHeader *header;
  catalogue_close_table(r);
  *end = r->kind != NULL;
  for (r->next++; !*end && (header = table_from(r->file, &r->next)); r->next++) {
    const char *name = "";
    astro_fits_get_string(header, "EXTNAME", &name);
    if (*name && g_str_equal(name, r->name))
      return try_table(r, header, error);
  }
  *end = TRUE;
  return FALSE;
}

gboolean catalogue_read_piece(CatalogueReader *r, guint64 first, guint64 *n, GError **error)
{
  *n = MIN(r->piece_rows, r->table.n_rows - first);
  if (r->kind)
    return catalogue_other_rows(r->kind->read(r->other, first, *n, r->rows, error), error);
  return astro_fits_file_read(r->file, r->table.header->data + first * r->table.row_bytes, r->rows,
                              *n * r->table.row_bytes, error);
}

static gboolean filter_rows(CatalogueReader *r, GError **error)
{
  AstroRowFilter *filter = astro_row_filter_new(&r->table, r->where, r->piece_rows, error);
  gboolean done = filter != NULL;
  r->n_points = 0;
  r->keep = g_malloc0(r->piece_rows);
  r->kept = g_malloc0(r->table.n_rows / 8 + 1);
  for (guint64 first = 0, n, good; done && first < r->table.n_rows; first += n) {
    done = catalogue_read_piece(r, first, &n, error) &&
           astro_row_filter_apply(filter, r->rows, n, r->keep, &good, error);
    for (guint64 i = 0; done && i < n; i++)
      if (r->keep[i]) {
        r->kept[(first + i) / 8] |= 1 << (first + i) % 8;
        r->n_points++;
      }
  }
  g_clear_pointer(&filter, astro_row_filter_free);
  return done;
}

gboolean catalogue_next_table(gpointer reader, guint64 *n_points, gboolean *end, GError **error)
{
  CatalogueReader *r = reader;
  if (!r->is_open && !open_next(r, end, error))
    return FALSE;
  forget_rows(r);
  if (r->table.n_rows == 0)
    return catalogue_wrong(r, error, "the table has no rows");
  r->piece_rows = CLAMP(PIECE / r->table.row_bytes, 1, r->table.n_rows);
  r->rows = g_malloc(r->piece_rows * r->table.row_bytes);
  r->n_points = r->table.n_rows;
  if (r->where && !filter_rows(r, error))
    return FALSE;
  if (r->n_points == 0)
    return catalogue_wrong(r, error, "none of %" G_GUINT64_FORMAT " rows passes where=\"%s\"",
                           r->table.n_rows, r->where);
  *n_points = r->n_points;
  return TRUE;
}

/* ---- the file ---- */

static gboolean has_table(const AstroFitsFile *file)
{
  guint index = 1;
  return table_from(file, &index) != NULL;
}

void catalogue_close(gpointer reader)
{
  CatalogueReader *r = reader;
  catalogue_close_table(r);
  if (r->other)
    r->kind->close(r->other);
  for (guint c = 0; c < N_COLUMNS; c++)
    g_free(r->columns[c]);
  g_free(r->where);
  g_free(r->name);
  g_free(r);
}

CatalogueReader *catalogue_reader_new(AstroFitsFile *file, const AstroFitsOptions *options,
                                      AstroFitsContents *contents)
{
  CatalogueReader *r = g_new0(CatalogueReader, 1);
  const AstroCatalogueColumns *columns = &options->columns;
  r->file = file;
  const char *wanted[N_COLUMNS];
  astro_catalogue_wanted(columns, wanted);
  wanted[RA] = columns->ra ? columns->ra : "RA";
  wanted[DEC] = columns->dec ? columns->dec : "DEC";
  for (guint c = 0; c < N_COLUMNS; c++)
    r->columns[c] = g_strdup(wanted[c]);
  r->distances =
      (AstroCatalogueColumns){ .is_redshift = columns->is_redshift, .omega_m = columns->omega_m };
  r->where = g_strdup(options->where);
  astro_catalogue_describe(contents, columns);
  return r;
}

static gpointer open_tables(AstroFitsFile *file, const AstroFitsOptions *options,
                            AstroFitsContents *contents, GError **error)
{
  CatalogueReader *r = catalogue_reader_new(file, options, contents);
  if (open_first(r, error))
    return r;
  catalogue_close(r);
  return NULL;
}

const AstroFitsReaderKind astro_catalogue_table_reader = {
  .name = "a catalogue (a table)",
  .caps = ASTRO_CATALOGUE_CAPS,
  .recognises = has_table,
  .open = open_tables,
  .next = catalogue_next_table,
  .read = catalogue_read_table,
  .close = catalogue_close,
};
