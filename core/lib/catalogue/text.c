/* Reads catalogues from text: semicolons, commas, tabs or blanks between values. */
#include "core/lib/catalogue/columns.h"
#include "core/kit/last-line.h"
#include "core/lib/catalogue/distance.h"
#include "core/lib/catalogue/units.h"
#include "core/kit/values.h"
#include "core/kit/angle.h"

#include <math.h>
#include <string.h>

#define BYTE_ORDER_MARK "\xef\xbb\xbf"
enum { RA, DEC, WEIGHT, REGION, DISTANCE, N_WANTED = ASTRO_CATALOGUE_COLUMNS };

/* How positions are written, the same in both columns and in all lines. */
typedef enum { UNKNOWN, NUMBERS, SIXTIETHS } Writing;
static const char *const writings[] = {
  [NUMBERS] = "a number of degrees", [SIXTIETHS] = "hours or degrees, minutes and seconds"
};

typedef struct {
  const char *name;
  const AstroCatalogueColumns *columns;
  guint64 line;
  char *heading; /* the line that names the columns; NULL: none, or a comment */
  GArray
      *ends; /* of the catalogues, as numbers of points before them (guint64); NULL: not wanted */
  char separator;        /* of the first line; 0 before it */
  GPtrArray *comments;   /* before the first line, without their # */
  gint column[N_WANTED]; /* counted from 0; -1: not wanted */
  gboolean is_radians[N_WANTED];
  Writing writing;
  guint n_needed;        /* columns that a line must have */
  AstroCatalogueSee see; /* NULL: every point is taken */
  gpointer see_data;
  GPtrArray *names; /* of the columns, for see; NULL: they have none */
  guint64 n_seen;   /* of this catalogue */
  guint64 n;        /* points */
  char *note;
  double *values[N_WANTED];
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

/* A line that does not have the separator of the first line is split at its own. */
static char separator_here(const Reader *reader, const char *line)
{
  return astro_values_find(line, reader->separator) ? reader->separator
                                                    : astro_values_separator(line);
}

static gboolean parse_number(const char *text, double *value)
{
  char *end;
  *value = g_ascii_strtod(text, &end);
  return end != text && *end == 0;
}

static gboolean has_number(const GPtrArray *values)
{
  double number;
  for (guint i = 0; i < values->len; i++)
    if (parse_number(values->pdata[i], &number) ||
        astro_sixtieths_parse(values->pdata[i], FALSE, &number))
      return TRUE;
  return FALSE;
}

/* A line with a number is a point: its name may come first. So is a line that begins with a number,
 * even if the separator that it seems to have makes the number part of a longer value. */
static gboolean is_point(const char *line, const GPtrArray *values)
{
  char *end;
  g_ascii_strtod(line, &end);
  return has_number(values) || (end != line && strchr(ASTRO_VALUES_SEPARATORS, *end));
}

static gint find_name(const GPtrArray *names, const char *wanted)
{
  for (guint i = 0; i < names->len; i++)
    if (g_ascii_strcasecmp(names->pdata[i], wanted) == 0)
      return (gint)i;
  return -1;
}

/* The columns if there are no names: right ascension comes first. */
static gint usual_column(const char *name)
{
  static const char *const usual[] = { "ra", "dec" };
  for (guint i = 0; i < G_N_ELEMENTS(usual); i++)
    if (g_ascii_strcasecmp(name, usual[i]) == 0)
      return (gint)i;
  return -1;
}

static gint parse_place(const char *wanted)
{
  guint64 number;
  return g_ascii_string_to_unsigned(wanted, 10, 1, G_MAXINT16, &number, NULL) ? (gint)number - 1
                                                                              : -1;
}

/* Whether a comment is the heading of the columns: it has a word for each column, and the names
 * asked for are among them. */
static gboolean is_heading(const GPtrArray *words, const GPtrArray *first,
                           const char *const wanted[N_WANTED])
{
  gboolean has_all = words->len == first->len && !has_number(words);
  for (guint w = 0; w < N_WANTED; w++)
    has_all =
        has_all && (!wanted[w] || parse_place(wanted[w]) >= 0 || find_name(words, wanted[w]) >= 0);
  return has_all;
}

/* If there is no heading, the first two columns may be others than right ascension and declination.
 */
static char *note_usual(const Reader *reader, guint n_columns)
{
  return g_strdup_printf("%s: no line names its %u columns: right ascension is taken from column "
                         "%d and declination from column %d; ra-column and dec-column take numbers "
                         "from 1 if these are others",
                         reader->name, n_columns, reader->column[RA] + 1, reader->column[DEC] + 1);
}

/* Finds columns by name, or by number. names: NULL if there are none. */
static gboolean place_columns(Reader *reader, const char *const wanted[N_WANTED],
                              const GPtrArray *names, guint n_columns, GError **error)
{
  gboolean is_usual = FALSE;
  for (guint w = 0; w < N_WANTED; w++) {
    reader->column[w] = -1;
    if (!wanted[w])
      continue;
    if (names)
      reader->column[w] = find_name(names, wanted[w]);
    if (reader->column[w] < 0)
      reader->column[w] = parse_place(wanted[w]);
    if (reader->column[w] < 0 && !names) {
      reader->column[w] = usual_column(wanted[w]);
      is_usual = is_usual || reader->column[w] >= 0;
    }
    if (reader->column[w] < 0) {
      g_autoptr(GString) there = g_string_new(NULL);
      for (guint i = 0; names && i < names->len; i++)
        g_string_append_printf(there, "%s%s", i ? ", " : "", (char *)names->pdata[i]);
      return refuse(reader, ASTRO_CATALOGUE_ERROR_COLUMN, error, "no column \"%s\"; there are: %s",
                    wanted[w],
                    names ? there->str : "columns without names, to be given by number from 1");
    }
    reader->n_needed = MAX(reader->n_needed, (guint)reader->column[w] + 1);
  }
  if (is_usual && n_columns > 2)
    reader->note = note_usual(reader, n_columns);
  return TRUE;
}

/* Returns the words of the comment that is the heading of the columns, the last one if several are,
 * and the comment below it; NULL: none. Both are to be freed, the first with its words. */
static GPtrArray *find_heading(const Reader *reader, const GPtrArray *first,
                               const char *const wanted[N_WANTED], char **below)
{
  for (guint i = reader->comments->len; i-- > 0;) {
    char *comment = reader->comments->pdata[i], *whole = g_strdup(comment);
    GPtrArray *words = astro_values_split(comment, astro_values_separator(comment));
    if (is_heading(words, first, wanted)) {
      g_free(whole);
      return words;
    }
    g_ptr_array_unref(words);
    g_free(*below);
    *below = whole;
  }
  g_clear_pointer(below, g_free);
  return NULL;
}

/* Both columns must be written in the same way. */
static gboolean read_unit(const char *unit, gboolean *is_radians, Writing *writing)
{
  const Writing said = astro_catalogue_unit_is_sixtieths(unit) ? SIXTIETHS
                       : *unit                                 ? NUMBERS
                                                               : UNKNOWN;
  if ((said != SIXTIETHS && !astro_catalogue_unit(unit, is_radians)) ||
      (said != UNKNOWN && *writing != UNKNOWN && said != *writing))
    return FALSE;
  if (said != UNKNOWN)
    *writing = said;
  return TRUE;
}

/* ECSV gives units; other texts are in degrees. */
static gboolean read_units(Reader *reader, GError **error)
{
  g_autoptr(GPtrArray) units = astro_catalogue_ecsv_units(reader->comments);
  for (guint w = RA; units && w <= DEC; w++) {
    guint column = (guint)reader->column[w];
    const char *unit = column < units->len ? units->pdata[column] : "";
    if (!read_unit(unit, &reader->is_radians[w], &reader->writing))
      return refuse(reader, ASTRO_CATALOGUE_ERROR_COLUMN, error,
                    "column %u is in units of \"%.40s\", expected deg or rad", column + 1, unit);
  }
  return TRUE;
}

static gboolean is_rule(const char *word)
{
  return *word && word[strspn(word, "-=")] == 0;
}

/* Some programs, VizieR among them, write a line of units and a line of rules below the names. */
static gboolean read_below_names(Reader *reader, const char *line)
{
  g_autofree char *copy = g_strdup(line);
  g_autoptr(GPtrArray) words = astro_values_split(copy, separator_here(reader, line));
  gboolean is_radians[DEC + 1] = { reader->is_radians[RA], reader->is_radians[DEC] };
  Writing writing = reader->writing;
  for (guint w = RA; w <= DEC; w++) {
    const guint column = (guint)reader->column[w];
    const char *word = column < words->len ? words->pdata[column] : "";
    if (!*word || !(is_rule(word) || read_unit(word, &is_radians[w], &writing)))
      return FALSE;
  }
  reader->writing = writing;
  memcpy(reader->is_radians, is_radians, sizeof is_radians);
  return TRUE;
}

static GPtrArray *copy_names(const GPtrArray *names)
{
  GPtrArray *copy = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < names->len; i++)
    g_ptr_array_add(copy, g_strdup(names->pdata[i]));
  return copy;
}

/* Looks at the first line, and at the comments above it. */
static gboolean find_columns(Reader *reader, const AstroCatalogueColumns *columns, const char *line,
                             gboolean *point, GError **error)
{
  const char *wanted[N_WANTED];
  astro_catalogue_wanted(columns, wanted);
  reader->separator = astro_values_separator(line);
  g_autofree char *copy = g_strdup(line);
  g_autoptr(GPtrArray) first = astro_values_split(copy, reader->separator);
  *point = is_point(line, first);
  g_autofree char *below = NULL;
  g_autoptr(GPtrArray) heading = *point ? find_heading(reader, first, wanted, &below) : NULL;
  const GPtrArray *names = *point ? heading : first;
  if (!place_columns(reader, wanted, names, first->len, error) || !read_units(reader, error))
    return FALSE;
  if (reader->see && names)
    reader->names = copy_names(names);
  if (heading && below)
    read_below_names(reader, below);
  return TRUE;
}

/* A value written in another way than the others is more likely a mistake than a position. */
static gboolean check_writing(Reader *reader, const char *text, guint column, GError **error)
{
  const Writing found = strpbrk(text, ": ") ? SIXTIETHS : NUMBERS;
  if (reader->writing == UNKNOWN)
    reader->writing = found;
  return found == reader->writing ||
         refuse(reader, ASTRO_CATALOGUE_ERROR_TEXT, error,
                "\"%.40s\" in column %u is %s, but other positions or the units are %s: expected "
                "all values of both columns " ASTRO_ANGLES_EXPECTED,
                text, column, writings[found], writings[reader->writing]);
}

/* With colons between them or, as in VizieR's tables, blanks. */
static gboolean read_sixtieths(const char *text, gboolean is_ra, double *degrees)
{
  g_autofree char *with_colons = g_strdelimit(g_strdup(text), " ", ':');
  return astro_sixtieths_parse(with_colons, is_ra, degrees);
}

static gboolean read_place(Reader *reader, gboolean is_dec, char *text, guint column,
                           GError **error)
{
  const guint w = is_dec ? DEC : RA;
  double value;
  if (!check_writing(reader, text, column, error))
    return FALSE;
  if (!(reader->writing == SIXTIETHS ? read_sixtieths(text, !is_dec, &value)
                                     : parse_number(text, &value) && isfinite(value)))
    return refuse(reader, ASTRO_CATALOGUE_ERROR_TEXT, error,
                  "\"%.40s\" in column %u is not a number, expected %s " ASTRO_ANGLES_EXPECTED,
                  text, column, is_dec ? "a declination" : "a right ascension");
  if (reader->is_radians[w])
    value = astro_catalogue_degrees(value, is_dec);
  if (is_dec && fabs(value) > 90)
    return refuse(reader, ASTRO_CATALOGUE_ERROR_TEXT, error,
                  "declination %.12g, expected -90 to 90 degrees", value);
  reader->values[w][reader->n] = value;
  return TRUE;
}

/* Signed or unsigned. */
static gboolean read_bits(Reader *reader, guint w, const char *text, guint column, GError **error)
{
  gint64 below;
  guint64 bits;
  if (g_ascii_string_to_signed(text, 10, G_MININT64, G_MAXINT64, &below, NULL))
    bits = (guint64)below;
  else if (!g_ascii_string_to_unsigned(text, 10, 0, G_MAXUINT64, &bits, NULL))
    return refuse(reader, ASTRO_CATALOGUE_ERROR_TEXT, error,
                  "\"%.40s\" in column %u is no set of bits, expected an integer of 64 bits", text,
                  column);
  reader->values[w][reader->n] = astro_catalogue_half(bits, w);
  return TRUE;
}

static gboolean read_value(Reader *reader, guint w, char *text, guint column, GError **error)
{
  double value;
  if (w <= DEC)
    return read_place(reader, w == DEC, text, column, error);
  if (w >= ASTRO_COLUMN_FIRST_WORD)
    return read_bits(reader, w, text, column, error);
  if (!parse_number(text, &value) || !isfinite(value))
    return refuse(reader, ASTRO_CATALOGUE_ERROR_TEXT, error,
                  "\"%.40s\" in column %u is not a number", text, column);
  if (w == DISTANCE && !astro_catalogue_distance(reader->columns, value, &value))
    return refuse(reader, ASTRO_CATALOGUE_ERROR_TEXT, error, "%.40s in column %u, expected %s",
                  text, column, astro_catalogue_distance_expected(reader->columns));
  reader->values[w][reader->n] = value;
  return TRUE;
}

static gboolean read_line(Reader *reader, char *line, GError **error)
{
  guint n = 0;
  char separator = separator_here(reader, line), *rest = line, *text;
  for (; n < reader->n_needed && (text = astro_values_next(&rest, separator)); n++)
    for (guint w = 0; w < N_WANTED; w++)
      if (reader->column[w] == (gint)n && !read_value(reader, w, text, n + 1, error))
        return FALSE;
  reader->n++;
  return n == reader->n_needed || refuse(reader, ASTRO_CATALOGUE_ERROR_TEXT, error,
                                         "%u columns, expected %u or more", n, reader->n_needed);
}

static gboolean is_taken(Reader *reader, const char *line, gboolean *take, GError **error)
{
  g_autofree char *copy = g_strdup(line);
  *take = TRUE;
  reader->n_seen++;
  if (!reader->see)
    return TRUE;
  g_autoptr(GPtrArray) values = astro_values_split(copy, separator_here(reader, line));
  return reader->see(reader->see_data, reader->names, values, take, error);
}

static gboolean take_point(Reader *reader, char *line, GError **error)
{
  gboolean take;
  return is_taken(reader, line, &take, error) && (!take || read_line(reader, line, error));
}

/* Removes a comment, and keeps it if the line has nothing else and is above the first line of
 * values. */
static gboolean is_empty(Reader *reader, char *line, gboolean is_above)
{
  char *comment = (char *)astro_values_find(line, '#');
  if (comment)
    *comment++ = 0;
  gboolean empty = line[strspn(line, ASTRO_VALUES_SEPARATORS)] == 0;
  if (empty && comment && is_above)
    g_ptr_array_add(reader->comments, g_strdup(comment + strspn(comment, "#")));
  return empty;
}

/* A line ends with \n, \r or both. */
static const char *end_of_line(const char *at, const char *end)
{
  while (at < end && *at != '\n' && *at != '\r')
    at++;
  return at;
}

static guint64 count_lines(const char *text, gsize length)
{
  guint64 lines = 1;
  for (gsize i = 0; i < length; i++)
    lines += text[i] == '\n' || text[i] == '\r';
  return lines;
}

/* Each line holds at most one point. */
static gboolean make_room(Reader *reader, const AstroCatalogueColumns *columns, guint64 lines,
                          GError **error)
{
  const char *wanted[N_WANTED];
  astro_catalogue_wanted(columns, wanted);
  for (guint w = 0; w < N_WANTED; w++)
    if (wanted[w] && !(reader->values[w] = g_try_new(double, lines)))
      return astro_catalogue_no_memory(error, lines);
  return TRUE;
}

static gboolean end_catalogue(Reader *reader, GError **error)
{
  const guint64 seen = reader->n_seen;
  reader->n_seen = 0;
  if (!reader->ends)
    return TRUE;
  g_array_append_val(reader->ends, reader->n);
  const guint last = reader->ends->len - 1;
  if (reader->n > (last ? g_array_index(reader->ends, guint64, last - 1) : 0))
    return TRUE;
  if (seen)
    g_set_error(error, ASTRO_CATALOGUE_ERROR, ASTRO_CATALOGUE_ERROR_TEXT,
                "%s: none of the %" G_GUINT64_FORMAT " points of catalogue %u is selected",
                reader->name, seen, last + 1);
  else
    g_set_error(error, ASTRO_CATALOGUE_ERROR, ASTRO_CATALOGUE_ERROR_TEXT,
                "%s: catalogue %u has no points, expected a line of values for each", reader->name,
                last + 1);
  return FALSE;
}

/* Handles a line that is not a comment. *is_names: it names the columns, or is a line of units or
 * rules below their names. */
static gboolean take_line(Reader *reader, const AstroCatalogueColumns *columns, char *line,
                          gboolean *is_names, GError **error)
{
  gboolean is_first = !reader->separator, point = TRUE;
  if (reader->heading && g_str_equal(line, reader->heading)) {
    *is_names = TRUE;
    return end_catalogue(reader, error);
  }
  if (is_first && !find_columns(reader, columns, line, &point, error))
    return FALSE;
  if (is_first && !point)
    reader->heading = g_strdup(line);
  if (*is_names)
    point = !read_below_names(reader, line);
  *is_names = !point;
  return !point || take_point(reader, line, error);
}

/* An error in the last line may be because the rest of it is missing. */
static gboolean say_unended(GError **error)
{
  if (error && *error) {
    g_autofree char *message = (*error)->message;
    (*error)->message =
        g_strconcat(message, " (the text ends within this line: was the file cut?)", NULL);
  }
  return FALSE;
}

/* A last line without a newline: an error if it was cut, a note if it may have been cut. */
static gboolean check_last_line(Reader *reader, const char *text, gsize length, GError **error)
{
  char *told;
  const AstroLastLine found =
      astro_last_line_judge(text, length, reader->separator, reader->column, N_WANTED, &told);
  g_autofree char *what = told;
  if (found == ASTRO_LAST_LINE_CUT)
    return refuse(reader, ASTRO_CATALOGUE_ERROR_TEXT, error, "%s: the file was cut", what);
  if (found == ASTRO_LAST_LINE_DOUBTFUL) {
    g_autofree char *before = reader->note;
    reader->note =
        g_strdup_printf("%s%s%s, line %" G_GUINT64_FORMAT ": the last line has %s",
                        before ? before : "", before ? "; " : "", reader->name, reader->line, what);
  }
  return TRUE;
}

static gboolean read_lines(Reader *reader, const char *text, gsize length,
                           const AstroCatalogueColumns *columns, GError **error)
{
  gboolean is_names = FALSE; /* so was the line before */
  gsize mark = strlen(BYTE_ORDER_MARK);
  const char *at = text, *end = text + length;
  if (length >= mark && memcmp(text, BYTE_ORDER_MARK, mark) == 0)
    at += mark;
  while (at < end) {
    const char *stop = end_of_line(at, end);
    const gboolean has_zero = memchr(at, 0, (gsize)(stop - at)) != NULL;
    g_autofree char *line = g_strndup(at, (gsize)(stop - at));
    at = stop + 1 + (stop + 1 < end && stop[0] == '\r' && stop[1] == '\n');
    reader->line++;
    if (has_zero)
      return refuse(reader, ASTRO_CATALOGUE_ERROR_TEXT, error, "found a zero byte, expected text");
    const guint64 before = reader->n;
    if (!is_empty(reader, line, !reader->separator) &&
        !take_line(reader, columns, line, &is_names, error))
      return stop == end ? say_unended(error) : FALSE;
    if (stop == end && reader->n > before && !check_last_line(reader, text, length, error))
      return FALSE;
  }
  return end_catalogue(reader, error);
}

gboolean astro_catalogue_parse_seen(const char *text, gsize length, const char *name,
                                    const AstroCatalogueColumns *columns, AstroCatalogueSee see,
                                    gpointer data, AstroCatalogue *catalogue, GArray *ends,
                                    GError **error)
{
  Reader reader = { .name = name,
                    .columns = columns,
                    .ends = ends,
                    .see = see,
                    .see_data = data,
                    .comments = g_ptr_array_new_with_free_func(g_free) };
  gboolean good = make_room(&reader, columns, count_lines(text, length), error) &&
                  read_lines(&reader, text, length, columns, error);
  g_ptr_array_unref(reader.comments);
  g_free(reader.heading);
  g_clear_pointer(&reader.names, g_ptr_array_unref);
  *catalogue = (AstroCatalogue){ .n = reader.n, .note = reader.note };
  for (guint w = 0; w < N_WANTED; w++)
    *astro_catalogue_column(catalogue, w) = reader.values[w];
  if (!good)
    astro_catalogue_clear(catalogue);
  return good;
}

gboolean astro_catalogue_parse_text(const char *text, gsize length, const char *name,
                                    const AstroCatalogueColumns *columns, AstroCatalogue *catalogue,
                                    GArray *ends, GError **error)
{
  return astro_catalogue_parse_seen(text, length, name, columns, NULL, NULL, catalogue, ends,
                                    error);
}

AstroCatalogue astro_catalogue_part(const AstroCatalogue *all, const GArray *ends, guint i)
{
  const guint64 first = i ? g_array_index(ends, guint64, i - 1) : 0;
  AstroCatalogue part = { .n = g_array_index(ends, guint64, i) - first }, from = *all;
  for (guint c = 0; c < ASTRO_CATALOGUE_COLUMNS; c++) {
    double *column = *astro_catalogue_column(&from, c);
    *astro_catalogue_column(&part, c) = column ? column + first : NULL;
  }
  return part;
}
