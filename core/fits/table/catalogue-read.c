/* Reads catalogues from FITS tables: binary or ASCII ones, with row filters. */
#include "core/fits/table/catalogue-read.h"
#include "core/lib/catalogue/columns.h"
#include "core/lib/catalogue/distance.h"
#include "core/lib/catalogue/units.h"
#include "core/fits/foreign.h"
#include "core/fits/table/row-filter.h"
#include "core/fits/table/rows.h"
#include "core/lib/rows/rows.h"

#include <math.h>
#include <string.h>

#define PIECE (1u << 20) /* bytes read at once, if a row is not longer */
#define N_COLUMNS ASTRO_CATALOGUE_COLUMNS
enum { RA, DEC, WEIGHT, REGION, DISTANCE };

typedef struct {
  const AstroFitsColumn *column;
  guint64 place; /* of the value in a row of several */
  gboolean is_radians;
} Wanted;

typedef struct {
  AstroFitsFile *file;
  char *columns[N_COLUMNS], *where, *name; /* name: of the tables; NULL until the first is found */
  AstroCatalogueColumns distances;         /* how the column of distances is read */
  guint next;                              /* index of the header */
  gboolean is_open;
  const AstroTableRows *kind; /* of rows that are not FITS; NULL: they are */
  gpointer other;             /* these rows */
  AstroFitsTable table;
  Wanted wanted[N_COLUMNS];
  guint64 piece_rows, n_points;
  guint8 *rows;
  char *keep;   /* whether a row of the piece passes */
  guint8 *kept; /* the same for the whole table, a bit per row; NULL: all pass */
} Reader;

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

static gboolean wrong(const Reader *r, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);
static gboolean wrong(const Reader *r, GError **error, const char *format, ...)
{
  va_list list;
  va_start(list, format);
  g_autofree char *text = g_strdup_vprintf(format, list);
  va_end(list);
  g_autofree char *valid = g_utf8_make_valid(text, -1);
  g_autofree char *table = r->name ? g_utf8_make_valid(r->name, -1) : g_strdup("");
  return astro_fits_wrong(r->file, error, "table %s: %s", *table ? table : "without a name", valid);
}

/* Errors of rows that are not FITS become ours. Gives good back. */
static gboolean other_rows(gboolean good, GError **error)
{
  static const AstroFitsError codes[] = { [ASTRO_ROWS_ERROR_OPEN] = ASTRO_FITS_ERROR_OPEN,
                                          [ASTRO_ROWS_ERROR_FORMAT] = ASTRO_FITS_ERROR_FORMAT,
                                          [ASTRO_ROWS_ERROR_READ] = ASTRO_FITS_ERROR_READ };
  if (!good && error && *error && (*error)->domain == ASTRO_ROWS_ERROR &&
      (guint)(*error)->code < G_N_ELEMENTS(codes)) {
    (*error)->code = codes[(*error)->code];
    (*error)->domain = ASTRO_FITS_ERROR;
  }
  return good;
}

/* ---- columns ---- */

static gboolean read_unit(const Reader *r, Wanted *wanted, GError **error)
{
  const char *unit = wanted->column->unit ? wanted->column->unit : "";
  if (r->table.header)
    astro_fits_get_string_n(r->table.header, "TUNIT", wanted->column - r->table.columns + 1, &unit);
  if (astro_catalogue_unit(unit, &wanted->is_radians))
    return TRUE;
  return wrong(r, error, "column %s is in units of \"%s\", expected deg or rad",
               wanted->column->name, unit);
}

/* Columns of integers may be unsigned, which FITS says by an offset. */
#define UNSIGNED_ZERO 0x1p63

/* The type of a column, as its kind of file calls it. */
static char *name_type(const AstroFitsColumn *column)
{
  return column->kind ? g_strdup(column->kind) : g_strdup_printf("%c", column->type);
}

/* Splits the place in a row of several off a column of bits: "BITS[2]". 0: there is none. */
static guint64 split_place(char *name)
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

static gboolean find_bits(const Reader *r, Wanted *wanted, const char *asked, GError **error)
{
  g_autofree char *name = g_strdup(asked);
  const guint64 place = split_place(name);
  const AstroFitsColumn *column = wanted->column = astro_fits_table_column(&r->table, name);
  if (!column) {
    g_autofree char *names = astro_fits_table_names(&r->table);
    return wrong(r, error, "no column \"%s\" of bits; there are: %s", name, names);
  }
  if (r->table.is_text || column->type != 'K' || column->scale != 1 ||
      (column->zero != 0 && column->zero != UNSIGNED_ZERO)) {
    g_autofree char *type = name_type(column);
    return wrong(r, error, "column %s is of type %s, expected bits in integers of %s", column->name,
                 type, column->kind ? "64 bits" : "type K");
  }
  if (place > column->repeat || column->repeat == 0 || (!place && column->repeat != 1))
    return wrong(r, error,
                 "column %s holds %" G_GUINT64_FORMAT
                 " values per row, and bitweight-columns asks for \"%s\": expected %s[1] to "
                 "%s[%" G_GUINT64_FORMAT "]",
                 column->name, column->repeat, asked, column->name, column->name, column->repeat);
  wanted->place = place ? place - 1 : 0;
  return TRUE;
}

static void bit_values(const Reader *r, const Wanted *wanted, guint c, guint64 n, double *values)
{
  const guint8 *cell = r->rows + wanted->column->offset + wanted->place * sizeof(guint64);
  const guint64 flip = wanted->column->zero != 0 ? G_GUINT64_CONSTANT(1) << 63 : 0;
  for (guint64 i = 0; i < n; i++, cell += r->table.row_bytes) {
    guint64 bits;
    memcpy(&bits, cell, sizeof bits);
    values[i] = astro_catalogue_half(GUINT64_FROM_BE(bits) ^ flip, c - ASTRO_COLUMN_FIRST_WORD);
  }
}

static gboolean find_columns(Reader *r, GError **error)
{
  if (r->table.n_columns == 0)
    return wrong(r, error, "TFIELDS is 0, expected columns");
  for (guint c = 0; c < N_COLUMNS; c++) {
    Wanted *wanted = &r->wanted[c];
    *wanted = (Wanted){ .column = NULL };
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
      return wrong(r, error, "no column \"%s\" for %s; there are: %s", r->columns[c],
                   astro_catalogue_column_name(c), names);
    }
    if (!astro_fits_column_is_number(wanted->column) || wanted->column->repeat != 1) {
      g_autofree char *type = name_type(wanted->column);
      return wrong(r, error,
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

/* ---- tables ---- */

static void forget_rows(Reader *r)
{
  g_clear_pointer(&r->rows, g_free);
  g_clear_pointer(&r->keep, g_free);
  g_clear_pointer(&r->kept, g_free);
}

static void close_table(Reader *r)
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

static gboolean try_table(Reader *r, const AstroFitsHeader *header, GError **error)
{
  const char *name = "";
  astro_fits_get_string(header, "EXTNAME", &name);
  g_free(r->name);
  r->name = g_strdup(name);
  r->is_open = astro_fits_table_open(&r->table, r->file, header, error);
  return r->is_open && find_columns(r, error);
}

/* Opens the first table that has the columns; if there is none, the error is about the first table.
 */
static gboolean open_first(Reader *r, GError **error)
{
  g_autoptr(GError) first = NULL;
  const AstroFitsHeader *header;
  for (r->next = 1; (header = table_from(r->file, &r->next)); r->next++) {
    if (try_table(r, header, first ? NULL : &first))
      return TRUE;
    close_table(r);
  }
  g_propagate_error(error, g_steal_pointer(&first));
  return FALSE;
}

/* A later table with the name of the first one is a further catalogue. */
static gboolean open_next(Reader *r, gboolean *end, GError **error)
{
  const AstroFitsHeader *header;
  close_table(r);
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

static gboolean read_piece(Reader *r, guint64 first, guint64 *n, GError **error)
{
  *n = MIN(r->piece_rows, r->table.n_rows - first);
  if (r->kind)
    return other_rows(r->kind->read(r->other, first, *n, r->rows, error), error);
  return astro_fits_file_read(r->file, r->table.header->data + first * r->table.row_bytes, r->rows,
                              *n * r->table.row_bytes, error);
}

static gboolean filter_rows(Reader *r, GError **error)
{
  AstroRowFilter *filter = astro_row_filter_new(&r->table, r->where, r->piece_rows, error);
  gboolean done = filter != NULL;
  r->n_points = 0;
  r->keep = g_malloc0(r->piece_rows);
  r->kept = g_malloc0(r->table.n_rows / 8 + 1);
  for (guint64 first = 0, n, good; done && first < r->table.n_rows; first += n) {
    done = read_piece(r, first, &n, error) &&
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

static gboolean next_table(gpointer reader, guint64 *n_points, gboolean *end, GError **error)
{
  Reader *r = reader;
  if (!r->is_open && !open_next(r, end, error))
    return FALSE;
  forget_rows(r);
  if (r->table.n_rows == 0)
    return wrong(r, error, "the table has no rows");
  r->piece_rows = CLAMP(PIECE / r->table.row_bytes, 1, r->table.n_rows);
  r->rows = g_malloc(r->piece_rows * r->table.row_bytes);
  r->n_points = r->table.n_rows;
  if (r->where && !filter_rows(r, error))
    return FALSE;
  if (r->n_points == 0)
    return wrong(r, error, "none of %" G_GUINT64_FORMAT " rows passes where=\"%s\"",
                 r->table.n_rows, r->where);
  *n_points = r->n_points;
  return TRUE;
}

/* ---- points ---- */

/* Moves the values that the filter keeps to the front. */
static guint64 select_values(const Reader *r, guint64 first, guint64 n, double *values)
{
  guint64 kept = 0;
  if (!r->kept)
    return n;
  for (guint64 i = 0; i < n; i++)
    if (r->kept[(first + i) / 8] >> (first + i) % 8 & 1)
      values[kept++] = values[i];
  return kept;
}

static gboolean check_values(const Reader *r, guint c, const double *values, guint64 n,
                             guint64 first, GError **error)
{
  double most = c == DEC ? 90 : G_MAXDOUBLE;
  const char *name = r->wanted[c].column->name;
  for (guint64 i = 0; i < n; i++) {
    if (isnan(values[i]))
      return wrong(r, error,
                   "point %" G_GUINT64_FORMAT ": column %s is nan, expected a number "
                   "(where=%s==%s leaves out rows without one)",
                   first + i + 1, name, name, name);
    if (!(fabs(values[i]) <= most))
      return wrong(r, error, "point %" G_GUINT64_FORMAT ": column %s is %.12g, expected %s",
                   first + i + 1, name, values[i], c == DEC ? "-90 to 90 degrees" : "a number");
  }
  return TRUE;
}

/* Distances are checked, or follow from redshifts. */
static gboolean find_distances(const Reader *r, double *values, guint64 n, guint64 first,
                               GError **error)
{
  for (guint64 i = 0; i < n; i++)
    if (!astro_catalogue_distance(&r->distances, values[i], &values[i]))
      return wrong(r, error, "point %" G_GUINT64_FORMAT ": column %s is %.12g, expected %s",
                   first + i + 1, r->wanted[DISTANCE].column->name, values[i],
                   astro_catalogue_distance_expected(&r->distances));
  return TRUE;
}

static gboolean take_piece(const Reader *r, guint64 first, guint64 n, guint64 done, double *scratch,
                           double *data, guint64 *n_taken, GError **error)
{
  for (guint c = 0; c < N_COLUMNS; c++) {
    const Wanted *wanted = &r->wanted[c];
    if (!wanted->column)
      continue;
    if (c >= ASTRO_COLUMN_FIRST_WORD)
      bit_values(r, wanted, c, n, scratch);
    else
      astro_fits_table_values(&r->table, wanted->column, r->rows, n, scratch);
    *n_taken = select_values(r, first, n, scratch);
    if (*n_taken > 0)
      memcpy(data + done, scratch, *n_taken * sizeof *scratch);
    for (guint64 i = 0; wanted->is_radians && i < *n_taken; i++)
      data[done + i] = astro_catalogue_degrees(data[done + i], c == DEC);
    if (!check_values(r, c, data + done, *n_taken, done, error) ||
        (c == DISTANCE && !find_distances(r, data + done, *n_taken, done, error)))
      return FALSE;
    data += r->n_points;
  }
  return TRUE;
}

static gboolean read_table(gpointer reader, AstroFitsFrame *frame, gboolean *end, GError **error)
{
  Reader *r = reader;
  g_autofree double *scratch = g_new(double, r->piece_rows);
  guint64 done = 0;
  for (guint64 first = 0, n, taken = 0; first < r->table.n_rows; first += n, done += taken)
    if (!read_piece(r, first, &n, error) ||
        !take_piece(r, first, n, done, scratch, frame->data, &taken, error))
      return FALSE;
  close_table(r);
  return TRUE;
}

/* ---- the file ---- */

static gboolean has_table(const AstroFitsFile *file)
{
  guint index = 1;
  return table_from(file, &index) != NULL;
}

static void close_tables(gpointer reader)
{
  Reader *r = reader;
  close_table(r);
  if (r->other)
    r->kind->close(r->other);
  for (guint c = 0; c < N_COLUMNS; c++)
    g_free(r->columns[c]);
  g_free(r->where);
  g_free(r->name);
  g_free(r);
}

static Reader *reader_new(AstroFitsFile *file, const AstroFitsOptions *options,
                          AstroFitsContents *contents)
{
  Reader *r = g_new0(Reader, 1);
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
  Reader *r = reader_new(file, options, contents);
  if (open_first(r, error))
    return r;
  close_tables(r);
  return NULL;
}

/* ---- HDF5 ---- */

/* Cuts GROUP/ off the names of columns; they have to be in one group. */
static gboolean split_folder(Reader *r, char **folder, GError **error)
{
  for (guint c = 0; c < N_COLUMNS; c++) {
    char *slash = r->columns[c] ? strrchr(r->columns[c], '/') : NULL;
    if (!slash)
      continue;
    const char *first = r->columns[c] + (r->columns[c][0] == '/' && slash > r->columns[c]);
    g_autofree char *found = g_strndup(first, (gsize)(slash - first));
    g_autofree char *name = g_strdup(slash + 1);
    if (*folder && !g_str_equal(*folder, found))
      return astro_fits_wrong(r->file, error,
                              "columns are asked for from %s/ and from %s/, expected one place",
                              *folder, found);
    g_free(*folder);
    *folder = g_steal_pointer(&found);
    g_free(r->columns[c]);
    r->columns[c] = g_steal_pointer(&name);
  }
  return TRUE;
}

static gboolean open_other(Reader *r, const char *folder, GError **error)
{
  g_autoptr(GPtrArray) columns = g_ptr_array_new_with_free_func(g_free);
  for (guint c = 0; c < N_COLUMNS; c++)
    if (r->columns[c]) {
      char *name = g_strdup(r->columns[c]);
      if (c >= ASTRO_COLUMN_FIRST_WORD)
        split_place(name);
      g_ptr_array_add(columns, name);
    }
  g_ptr_array_add(columns, NULL);
  const AstroTableAsked asked = { astro_fits_file_name(r->file), folder,
                                  (const char *const *)columns->pdata, r->where };
  r->table = (AstroFitsTable){ 0 };
  r->other = r->kind->open(&asked, &r->table, &r->name, error);
  r->table.file = r->file;
  r->is_open = r->other != NULL;
  if (r->is_open)
    return find_columns(r, error);
  /* A file that HDF5 cannot open at all may be of either kind. */
  if (error && !g_error_matches(*error, ASTRO_ROWS_ERROR, ASTRO_ROWS_ERROR_FORMAT) &&
      (*error)->domain == ASTRO_ROWS_ERROR) {
    g_prefix_error(error,
                   "%s is " ASTRO_HDF5_IS "; as a catalogue: ", astro_fits_file_name(r->file));
    (*error)->code = ASTRO_ROWS_ERROR_OPEN;
  }
  return other_rows(FALSE, error);
}

static gpointer open_hdf5(AstroFitsFile *file, const AstroFitsOptions *options,
                          AstroFitsContents *contents, GError **error)
{
  g_autofree char *folder = NULL;
  Reader *r = reader_new(file, options, contents);
  r->kind = astro_table_rows_of_hdf5();
  if (!r->kind)
    astro_fail(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_OPEN,
               "%s is " ASTRO_HDF5_IS "; catalogues in HDF5 are read with the plugin %s, which is "
               "not there: it needs HDF5",
               astro_fits_file_name(file), ASTRO_HDF5_PLUGIN);
  else if (astro_fits_file_was_packed(file))
    astro_fail(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_OPEN,
               "%s is an HDF5 file packed by gzip as a whole: unpack it with gunzip (h5repack -f "
               "GZIP=4 packs the columns in it)",
               astro_fits_file_name(file));
  else if (split_folder(r, &folder, error) && open_other(r, folder, error))
    return r;
  close_tables(r);
  return NULL;
}

const AstroFitsReaderKind astro_catalogue_table_reader = {
  .name = "a catalogue (a table)",
  .caps = ASTRO_CATALOGUE_CAPS,
  .recognises = has_table,
  .open = open_tables,
  .next = next_table,
  .read = read_table,
  .close = close_tables,
};

const AstroFitsReaderKind astro_catalogue_hdf5_reader = {
  .name = "a catalogue (HDF5)",
  .caps = ASTRO_CATALOGUE_CAPS,
  .recognises = astro_fits_file_is_hdf5,
  .open = open_hdf5,
  .next = next_table,
  .read = read_table,
  .close = close_tables,
};
