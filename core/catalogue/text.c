/* Catalogues in text: blanks, tabs, commas and semicolons between values. */
#include "core/catalogue/catalogue.h"

#include <math.h>
#include <string.h>

#define SEPARATORS " \t,;\r"
enum { RA, DEC, WEIGHT, REGION, N_WANTED };

typedef struct {
  const char *name;
  guint64 line;
  gint column[N_WANTED]; /* counted from 0; -1: not wanted */
  guint n_needed;        /* columns that a line must have */
  GArray *values[N_WANTED];
} Reader;

static gboolean refuse(const Reader *reader, AstroCatalogueError code, GError **error,
                       const char *format, ...) G_GNUC_PRINTF(4, 5);
static gboolean refuse(const Reader *reader, AstroCatalogueError code, GError **error,
                       const char *format, ...)
{
  va_list list;
  va_start(list, format);
  g_autofree char *text = g_strdup_vprintf(format, list);
  va_end(list);
  g_set_error(error, ASTRO_CATALOGUE_ERROR, code, "%s, line %" G_GUINT64_FORMAT ": %s",
              reader->name, reader->line, text);
  return FALSE;
}

/* A value and what follows it. Blanks do not stack up with a comma; two commas enclose nothing. */
static char *next_value(char **rest)
{
  char *at = *rest + strspn(*rest, " \t\r");
  if (*at == 0)
    return NULL;
  gsize length = strcspn(at, SEPARATORS);
  char *end = at + length, *after = end + strspn(end, " \t\r");
  if (*after == ',' || *after == ';')
    after++;
  *end = 0;
  *rest = after;
  return at;
}

static gboolean parse_number(const char *text, double *value)
{
  char *end;
  *value = g_ascii_strtod(text, &end);
  return end != text && *end == 0;
}

static gboolean is_heading(const char *line)
{
  g_autofree char *copy = g_strdup(line);
  char *rest = copy, *first = next_value(&rest);
  double number;
  return first && !parse_number(first, &number);
}

/* Where names would be, but there are none: right ascension comes first. */
static gint usual_column(const char *name)
{
  static const char *const usual[] = { "ra", "dec" };
  for (guint i = 0; i < G_N_ELEMENTS(usual); i++)
    if (g_ascii_strcasecmp(name, usual[i]) == 0)
      return (gint)i;
  return -1;
}

/* Finds columns by the heading's names, or by number. */
static gboolean find_columns(Reader *reader, const AstroCatalogueColumns *columns, char *heading,
                             GError **error)
{
  const char *wanted[N_WANTED] = { columns->ra, columns->dec, columns->weight, columns->region };
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (char *rest = heading, *name; heading && (name = next_value(&rest));)
    g_ptr_array_add(names, name);
  for (guint w = 0; w < N_WANTED; w++) {
    reader->column[w] = -1;
    if (!wanted[w])
      continue;
    guint64 number;
    for (guint i = 0; i < names->len && reader->column[w] < 0; i++)
      if (g_ascii_strcasecmp(names->pdata[i], wanted[w]) == 0)
        reader->column[w] = (gint)i;
    if (reader->column[w] < 0 &&
        g_ascii_string_to_unsigned(wanted[w], 10, 1, G_MAXINT16, &number, NULL))
      reader->column[w] = (gint)number - 1;
    if (reader->column[w] < 0 && !heading)
      reader->column[w] = usual_column(wanted[w]);
    if (reader->column[w] < 0) {
      g_ptr_array_add(names, NULL);
      g_autofree char *there = g_strjoinv(", ", (char **)names->pdata);
      return refuse(reader, ASTRO_CATALOGUE_ERROR_COLUMN, error, "no column \"%s\"; there are: %s",
                    wanted[w],
                    *there ? there : "columns without names, to be given by number from 1");
    }
    reader->n_needed = MAX(reader->n_needed, (guint)reader->column[w] + 1);
  }
  return TRUE;
}

static gboolean read_line(Reader *reader, char *line, GError **error)
{
  guint n = 0;
  for (char *rest = line, *text; n < reader->n_needed && (text = next_value(&rest)); n++)
    for (guint w = 0; w < N_WANTED; w++) {
      double value;
      if (reader->column[w] != (gint)n)
        continue;
      if (!parse_number(text, &value) || !isfinite(value))
        return refuse(reader, ASTRO_CATALOGUE_ERROR_TEXT, error,
                      "\"%.40s\" in column %u is no number", text, n + 1);
      if (w == DEC && fabs(value) > 90)
        return refuse(reader, ASTRO_CATALOGUE_ERROR_TEXT, error,
                      "declination %g, expected -90 to 90 degrees", value);
      g_array_append_val(reader->values[w], value);
    }
  return n == reader->n_needed || refuse(reader, ASTRO_CATALOGUE_ERROR_TEXT, error,
                                         "%u columns, expected %u at least", n, reader->n_needed);
}

static gboolean read_lines(Reader *reader, const char *text, gsize length,
                           const AstroCatalogueColumns *columns, GError **error)
{
  gboolean has_columns = FALSE;
  for (const char *at = text, *end = text + length; at < end;) {
    const char *stop = memchr(at, '\n', (gsize)(end - at));
    stop = stop ? stop : end;
    g_autofree char *line = g_strndup(at, (gsize)(stop - at));
    at = stop + 1;
    reader->line++;
    line[strcspn(line, "#")] = 0;
    if (line[strspn(line, SEPARATORS)] == 0)
      continue;
    gboolean heading = !has_columns && is_heading(line);
    if (!has_columns && !find_columns(reader, columns, heading ? line : NULL, error))
      return FALSE;
    has_columns = TRUE;
    if (!heading && !read_line(reader, line, error))
      return FALSE;
  }
  return TRUE;
}

gboolean astro_catalogue_parse_text(const char *text, gsize length, const char *name,
                                    const AstroCatalogueColumns *columns, AstroCatalogue *catalogue,
                                    GError **error)
{
  Reader reader = { .name = name };
  for (guint w = 0; w < N_WANTED; w++)
    reader.values[w] = g_array_new(FALSE, FALSE, sizeof(double));
  gboolean good = read_lines(&reader, text, length, columns, error);
  *catalogue = (AstroCatalogue){ .n = good ? reader.values[RA]->len : 0 };
  double **out[N_WANTED] = { &catalogue->ra, &catalogue->dec, &catalogue->weight,
                             &catalogue->region };
  const char *wanted[N_WANTED] = { columns->ra, columns->dec, columns->weight, columns->region };
  for (guint w = 0; w < N_WANTED; w++) {
    gboolean keep = good && wanted[w];
    *out[w] = (double *)(gpointer)g_array_free(reader.values[w], !keep);
  }
  return good;
}

gboolean astro_catalogue_read_text(const char *path, const AstroCatalogueColumns *columns,
                                   AstroCatalogue *catalogue, GError **error)
{
  g_autoptr(GMappedFile) file = g_mapped_file_new(path, FALSE, error);
  *catalogue = (AstroCatalogue){ 0 };
  return file && astro_catalogue_parse_text(g_mapped_file_get_contents(file),
                                            g_mapped_file_get_length(file), path, columns,
                                            catalogue, error);
}
