/* Writes tables of doubles: a stream has them by columns, a file by rows. */
#include "core/fits/table/write.h"
#include "core/kit/values.h"
#include "core/fits/cards.h"
#include "core/stream/correlation-about.h"

#include <math.h>
#include <string.h>

#define MAX_FIELDS 999
#define GATHER (1u << 20)
#define VECTOR "cov" /* the last columns, cov0, cov1 ..., are one field */

typedef struct {
  AstroPartFile *file;
  const char *name; /* EXTNAME */
  char **columns;
  guint n_columns, n_fields, version;
  guint vector; /* number of columns in the last field */
  guint64 rows; /* rows per table; 0: as many as the buffer has */
} Writer;

/* ---- headers ---- */

/* The unit of a column; NULL: none. */
static const char *unit_of(const char *name)
{
  static const struct {
    const char *name, *unit;
  } units[] = { { "ra", "deg" },      { "dec", "deg" },     { "theta", "arcmin" },
                { "low", "arcmin" },  { "high", "arcmin" }, { "r_nom", "arcmin" },
                { "meanr", "arcmin" } };
  for (guint u = 0; u < G_N_ELEMENTS(units); u++)
    if (g_str_equal(units[u].name, name))
      return units[u].unit;
  return NULL;
}

static void put_field(GString *header, guint field, const char *name, guint64 repeat)
{
  const char *unit = unit_of(name);
  g_autofree char *doubles = g_strdup_printf("%" G_GUINT64_FORMAT "D", repeat);
  astro_fits_put_string_n(header, "TTYPE", field, name, "name of the field");
  astro_fits_put_string_n(header, "TFORM", field, doubles, "64-bit floats");
  if (unit)
    astro_fits_put_string_n(header, "TUNIT", field, unit, "unit of the field");
}

static gboolean write_primary(Writer *w, GError **error)
{
  g_autoptr(GString) header = g_string_new(NULL);
  astro_fits_put_logical(header, "SIMPLE", TRUE, "conforms to FITS");
  astro_fits_put_integer(header, "BITPIX", 8, "bits of a value");
  astro_fits_put_integer(header, "NAXIS", 0, "no data here");
  astro_fits_put_logical(header, "EXTEND", TRUE, "tables follow");
  return astro_fits_write_cards(w->file, header, error);
}

/* The value of a field; NULL if it is missing, NaN or infinite. */
static const GValue *told_of(const GstStructure *about, const AstroAboutField *field)
{
  const GValue *value = about ? gst_structure_get_value(about, field->field) : NULL;
  const gboolean is_double = value && G_VALUE_HOLDS_DOUBLE(value);
  return is_double && !isfinite(g_value_get_double(value)) ? NULL : value;
}

/* Writes how a correlation function was made. */
static void put_about(GString *header, const GstStructure *about)
{
  for (const AstroAboutField *field = astro_about_fields; field->field; field++) {
    const GValue *value = told_of(about, field);
    if (!value)
      continue;
    if (G_VALUE_HOLDS_STRING(value))
      astro_fits_put_string(header, field->key, g_value_get_string(value), field->meaning);
    else if (G_VALUE_HOLDS_DOUBLE(value))
      astro_fits_put_double(header, field->key, g_value_get_double(value), field->meaning);
    else if (G_VALUE_HOLDS_UINT64(value))
      astro_fits_put_integer(header, field->key, (gint64)g_value_get_uint64(value), field->meaning);
  }
}

static gboolean write_table_header(Writer *w, guint64 rows, const GstStructure *about,
                                   GError **error)
{
  g_autoptr(GString) header = g_string_new(NULL);
  astro_fits_put_string(header, "XTENSION", "BINTABLE", "binary table");
  astro_fits_put_integer(header, "BITPIX", 8, "bits of a value");
  astro_fits_put_integer(header, "NAXIS", 2, "rows of bytes");
  astro_fits_put_integer(header, "NAXIS1", w->n_columns * sizeof(double), "bytes of a row");
  astro_fits_put_integer(header, "NAXIS2", rows, "rows");
  astro_fits_put_integer(header, "PCOUNT", 0, "nothing after the rows");
  astro_fits_put_integer(header, "GCOUNT", 1, "one table");
  astro_fits_put_integer(header, "TFIELDS", w->n_fields, "fields of a row");
  astro_fits_put_string(header, "EXTNAME", w->name, "what this is");
  astro_fits_put_integer(header, "EXTVER", ++w->version, "number of the table with this name");
  for (guint f = 0; f < w->n_fields; f++) {
    gboolean is_vector = w->vector && f + 1 == w->n_fields;
    put_field(header, f + 1, is_vector ? VECTOR : w->columns[f], is_vector ? w->vector : 1);
  }
  put_about(header, about);
  return astro_fits_write_cards(w->file, header, error);
}

/* ---- rows ---- */

static gboolean write_rows(Writer *w, const double *data, guint64 rows, GError **error)
{
  guint64 most = MAX(GATHER / (w->n_columns * sizeof(guint64)), 1);
  g_autofree guint64 *gather = g_new(guint64, MIN(most, MAX(rows, 1)) * w->n_columns);
  for (guint64 first = 0; first < rows; first += most) {
    guint64 n = MIN(most, rows - first), bits;
    for (guint c = 0; c < w->n_columns; c++)
      for (guint64 i = 0; i < n; i++) {
        memcpy(&bits, &data[c * rows + first + i], sizeof bits);
        gather[i * w->n_columns + c] = GUINT64_TO_BE(bits);
      }
    if (!astro_part_file_write(w->file, gather, n * w->n_columns * sizeof *gather, error))
      return FALSE;
  }
  return astro_fits_write_padding(w->file, error);
}

/* Each table begins with a heading; this is how the reader of text tells several tables apart.
 * text: lines to write before it. */
static gboolean write_lines(Writer *w, GString *text, const double *data, guint64 rows,
                            GError **error)
{
  for (guint c = 0; c < w->n_columns; c++)
    g_string_append_printf(text, "%s%s", c ? "," : "", w->columns[c]);
  g_string_append_c(text, '\n');
  for (guint64 row = 0; row < rows; row++) {
    for (guint c = 0; c < w->n_columns; c++) {
      if (c > 0)
        g_string_append_c(text, ',');
      astro_values_append(text, data[c * rows + row]);
    }
    g_string_append_c(text, '\n');
    if (text->len >= GATHER || row + 1 == rows) {
      if (!astro_part_file_write(w->file, text->str, text->len, error))
        return FALSE;
      g_string_truncate(text, 0);
    }
  }
  return astro_part_file_write(w->file, text->str, text->len, error);
}

/* Only columns: many readers of CSV do not allow comments. */
static gboolean write_csv(Writer *w, const double *data, guint64 rows, const GstStructure *about,
                          GError **error)
{
  g_autoptr(GString) text = g_string_new(w->version++ ? "\n" : NULL);
  return write_lines(w, text, data, rows, error);
}

static void add_meta(GString *text, const GstStructure *about)
{
  guint n = 0;
  for (const AstroAboutField *field = astro_about_fields; field->field; field++) {
    const GValue *value = told_of(about, field);
    char number[G_ASCII_DTOSTR_BUF_SIZE];
    if (!value)
      continue;
    g_string_append_printf(text, "%s# - {%s: ", n++ ? "" : "# meta: !!omap\n", field->field);
    if (G_VALUE_HOLDS_STRING(value))
      g_string_append(text, g_value_get_string(value));
    else if (G_VALUE_HOLDS_DOUBLE(value))
      g_string_append(text, g_ascii_dtostr(number, sizeof number, g_value_get_double(value)));
    else if (G_VALUE_HOLDS_UINT64(value))
      g_string_append_printf(text, "%" G_GUINT64_FORMAT, g_value_get_uint64(value));
    g_string_append(text, "}\n");
  }
}

/* Astropy's enhanced CSV, with units and what is known about the table in comments. */
static gboolean write_ecsv(Writer *w, const double *data, guint64 rows, const GstStructure *about,
                           GError **error)
{
  g_autoptr(GString) text = g_string_new(w->version++ ? "\n" : NULL);
  g_string_append(text, "# %ECSV 1.0\n# ---\n# delimiter: ','\n# datatype:\n");
  for (guint c = 0; c < w->n_columns; c++) {
    const char *unit = unit_of(w->columns[c]);
    g_string_append_printf(text, "# - {name: %s, %s%s%sdatatype: float64}\n", w->columns[c],
                           unit ? "unit: " : "", unit ? unit : "", unit ? ", " : "");
  }
  add_meta(text, about);
  g_string_append(text, "# schema: astropy-2.0\n");
  return write_lines(w, text, data, rows, error);
}

static guint64 n_rows(const Writer *w, const AstroFitsFrames *frames)
{
  return w->rows ? w->rows : frames->frames;
}

static gboolean write_table(Writer *w, const double *data, guint64 rows, const GstStructure *about,
                            GError **error)
{
  return write_table_header(w, rows, about, error) && write_rows(w, data, rows, error);
}

typedef gboolean (*WriteOne)(Writer *w, const double *data, guint64 rows, const GstStructure *about,
                             GError **error);

static gboolean write_each(Writer *w, const AstroFitsFrames *frames, AstroFitsTally *tally,
                           WriteOne write_one, GError **error)
{
  guint64 rows = n_rows(w, frames), tables = w->rows ? frames->frames : 1;
  tally->values += tables * rows * w->n_columns;
  for (guint64 t = 0; t < tables; t++)
    if (!write_one(w, (const double *)frames->data + t * rows * w->n_columns, rows, frames->about,
                   error))
      return FALSE;
  return TRUE;
}

static gboolean write_tables(gpointer writer, const AstroFitsFrames *frames, AstroFitsTally *tally,
                             GError **error)
{
  return write_each(writer, frames, tally, write_table, error);
}

static gboolean write_csvs(gpointer writer, const AstroFitsFrames *frames, AstroFitsTally *tally,
                           GError **error)
{
  return write_each(writer, frames, tally, write_csv, error);
}

static gboolean write_ecsvs(gpointer writer, const AstroFitsFrames *frames, AstroFitsTally *tally,
                            GError **error)
{
  return write_each(writer, frames, tally, write_ecsv, error);
}

/* ---- files ---- */

/* How many of the last columns are cov0, cov1 ... */
static guint count_vector(char **columns, guint n)
{
  for (guint first = 0; first < n; first++) {
    guint c = first;
    for (; c < n; c++) {
      g_autofree char *name = g_strdup_printf(VECTOR "%u", c - first);
      if (!g_str_equal(columns[c], name))
        break;
    }
    if (c == n)
      return n - first;
  }
  return 0;
}

static void destroy(gpointer writer)
{
  Writer *w = writer;
  g_strfreev(w->columns);
  g_free(w);
}

static gpointer create(AstroPartFile *file, const AstroFitsContents *contents, GError **error)
{
  Writer *w = g_new0(Writer, 1);
  gboolean is_catalogue = contents->stream.quantity == ASTRO_QUANTITY_CATALOGUE;
  w->file = file;
  w->name = is_catalogue ? "CATALOGUE" : "CORRELATION";
  w->rows = is_catalogue ? 0 : astro_stream_extent(&contents->stream, ASTRO_AXIS_BIN);
  w->columns = g_strsplit(contents->columns, ":", -1);
  w->n_columns = g_strv_length(w->columns);
  w->vector = count_vector(w->columns, w->n_columns);
  w->n_fields = w->n_columns - w->vector + (w->vector > 0);
  if (w->n_fields <= MAX_FIELDS)
    return w;
  g_set_error(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_HEADER,
              "found %u columns, expected at most %d in a table", w->n_fields, MAX_FIELDS);
  destroy(w);
  return NULL;
}

static gpointer create_fits(AstroPartFile *file, const AstroFitsContents *contents, GError **error)
{
  Writer *w = create(file, contents, error);
  if (!w || write_primary(w, error))
    return w;
  destroy(w);
  return NULL;
}

/* Nothing is left to do: each table was written completely. */
static gboolean finish(gpointer writer, AstroFitsTally *tally, GError **error)
{
  return TRUE;
}

#define CATALOGUES                                                                                 \
  .quantity = ASTRO_QUANTITY_CATALOGUE, .frame = "catalogue",                                      \
  .caps = "application/x-astro-catalogue, format = (string) F64LE, layout = (string) column:point"
#define CORRELATIONS                                                                               \
  .quantity = ASTRO_QUANTITY_CORRELATION_FUNCTION, .frame = "correlation function",                \
  .caps = "application/x-astro-correlation-function, format = (string) F64LE, layout = (string) "  \
          "column:bin, bins = (int) [ 1, MAX ]"
#define FITS .create = create_fits, .write = write_tables, .finish = finish, .destroy = destroy
#define CSV                                                                                        \
  .suffix = ".csv", .create = create, .write = write_csvs, .finish = finish, .destroy = destroy
#define ECSV                                                                                       \
  .suffix = ".ecsv", .create = create, .write = write_ecsvs, .finish = finish, .destroy = destroy

const AstroFitsWriterKind astro_catalogue_writer = {
  .name = "catalogues as FITS tables",
  CATALOGUES,
  FITS,
};
const AstroFitsWriterKind astro_catalogue_csv_writer = {
  .name = "catalogues as CSV",
  CATALOGUES,
  CSV,
};
const AstroFitsWriterKind astro_catalogue_ecsv_writer = {
  .name = "catalogues as ECSV",
  CATALOGUES,
  ECSV,
};
const AstroFitsWriterKind astro_correlation_writer = {
  .name = "correlation functions as FITS tables",
  CORRELATIONS,
  FITS,
};
const AstroFitsWriterKind astro_correlation_csv_writer = {
  .name = "correlation functions as CSV",
  CORRELATIONS,
  CSV,
};
const AstroFitsWriterKind astro_correlation_ecsv_writer = {
  .name = "correlation functions as ECSV",
  CORRELATIONS,
  ECSV,
};
