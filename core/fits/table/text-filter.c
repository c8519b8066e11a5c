/* Reads the text three times: to find what its columns hold, to filter it as pieces of a table, and
 * to read the points that passed. So only a piece of the table is ever in memory. */
#include "core/fits/table/text-filter.h"
#include "core/fits/table/row-filter.h"

#include <math.h>
#include <string.h>

#define PIECE (1u << 20) /* bytes filtered at once, if a row is not longer */
#define MOST_COLUMNS 999 /* the limit of FITS tables */
#define NONE G_MININT64  /* a missing integer */

/* A column has the first kind that all of its values allow. */
enum { WHOLE, REAL, TRUTH, TEXT, N_KINDS };

typedef struct {
  gboolean refuses[N_KINDS]; /* some value is not of that kind */
  gsize longest;             /* in characters */
  guint kind;                /* set when all values were seen */
  char *name;
} Column;

typedef struct {
  AstroFitsTable table; /* as the filter sees it, with columns that are made from those below */
  GArray *columns;      /* elements are Column */
  AstroRowFilter *filter;
  guint64 n_points, piece_points, in_piece, done;
  guint8 *piece;
  char *keep;   /* whether a row of the piece passes */
  guint8 *kept; /* the same for all points, a bit each */
} Text;

/* ---- what columns hold ---- */

static gboolean is_whole(const char *value)
{
  return g_ascii_string_to_signed(value, 10, NONE + 1, G_MAXINT64, NULL, NULL);
}

static gboolean is_real(const char *value)
{
  char *end;
  g_ascii_strtod(value, &end);
  return end != value && !*end;
}

static gboolean is_truth(const char *value)
{
  return g_ascii_strcasecmp(value, "true") == 0 || g_ascii_strcasecmp(value, "false") == 0;
}

static void put_whole(const char *value, guint8 *to, gsize bytes)
{
  gint64 number = NONE;
  g_ascii_string_to_signed(value, 10, NONE + 1, G_MAXINT64, &number, NULL);
  number = GINT64_TO_BE(number);
  memcpy(to, &number, sizeof number);
}

static void put_real(const char *value, guint8 *to, gsize bytes)
{
  const double number = *value ? g_ascii_strtod(value, NULL) : NAN;
  guint64 bits;
  memcpy(&bits, &number, sizeof bits);
  bits = GUINT64_TO_BE(bits);
  memcpy(to, &bits, sizeof bits);
}

static void put_truth(const char *value, guint8 *to, gsize bytes)
{
  *to = (guint8)g_ascii_toupper(*value);
}

static void put_text(const char *value, guint8 *to, gsize bytes)
{
  const gsize n = strlen(value);
  memcpy(to, value, n);
  memset(to + n, ' ', bytes - n);
}

static const struct {
  char type;   /* of TFORM */
  gsize bytes; /* 0: as many as the longest value has */
  gboolean (*allows)(const char *value);
  void (*put)(const char *value, guint8 *to, gsize bytes);
} kinds[N_KINDS] = {
  [WHOLE] = { 'K', 8, is_whole, put_whole },
  [REAL] = { 'D', 8, is_real, put_real },
  [TRUTH] = { 'L', 1, is_truth, put_truth },
  [TEXT] = { 'A', 0, NULL, put_text },
};

static guint kind_of(const Column *column)
{
  guint kind = WHOLE;
  while (column->refuses[kind])
    kind++;
  return kind;
}

static void add_column(Text *t, const GPtrArray *names)
{
  const guint i = t->columns->len;
  const gboolean has_name = names && i < names->len && *(const char *)names->pdata[i];
  Column column = { .name =
                        has_name ? g_strdup(names->pdata[i]) : g_strdup_printf("col%u", i + 1) };
  g_array_append_val(t->columns, column);
}

static gboolean see_columns(gpointer data, const GPtrArray *names, const GPtrArray *values,
                            gboolean *take, GError **error)
{
  Text *t = data;
  *take = FALSE;
  t->n_points++;
  while (t->columns->len < MAX(values->len, names ? names->len : 0) &&
         t->columns->len <= MOST_COLUMNS)
    add_column(t, names);
  if (t->columns->len > MOST_COLUMNS)
    return astro_fits_wrong(t->table.file, error,
                            "where= works with at most %d columns, but there are more",
                            MOST_COLUMNS);
  for (guint i = 0; i < values->len; i++) {
    const char *value = values->pdata[i];
    Column *column = &g_array_index(t->columns, Column, i);
    column->longest = MAX(column->longest, strlen(value));
    for (guint k = WHOLE; *value && k < TEXT; k++)
      column->refuses[k] |= !kinds[k].allows(value);
  }
  return TRUE;
}

/* ---- the table ---- */

static void make_table(Text *t)
{
  AstroFitsTable *table = &t->table;
  table->n_rows = t->n_points;
  table->n_columns = t->columns->len;
  table->columns = g_new0(AstroFitsColumn, table->n_columns);
  for (guint i = 0; i < table->n_columns; i++) {
    Column *column = &g_array_index(t->columns, Column, i);
    const guint kind = column->kind = kind_of(column);
    table->columns[i] =
        (AstroFitsColumn){ .name = column->name,
                           .type = kinds[kind].type,
                           .repeat = kinds[kind].bytes ? 1 : MAX(column->longest, 1),
                           .offset = table->row_bytes,
                           .scale = 1,
                           .has_blank = kinds[kind].type == 'K',
                           .blank = NONE };
    table->row_bytes += astro_fits_column_bytes(&table->columns[i]);
  }
  t->piece_points = CLAMP(PIECE / MAX(table->row_bytes, 1), 1, MAX(t->n_points, 1));
  t->piece = g_malloc(t->piece_points * table->row_bytes);
  t->keep = g_malloc0(t->piece_points);
  t->kept = g_malloc0(t->n_points / 8 + 1);
}

static gboolean filter_piece(Text *t, GError **error)
{
  guint64 n_kept;
  if (!astro_row_filter_apply(t->filter, t->piece, t->in_piece, t->keep, &n_kept, error))
    return FALSE;
  for (guint64 i = 0; i < t->in_piece; i++, t->done++)
    if (t->keep[i])
      t->kept[t->done / 8] |= (guint8)(1 << t->done % 8);
  t->in_piece = 0;
  return TRUE;
}

static gboolean filter_point(gpointer data, const GPtrArray *names, const GPtrArray *values,
                             gboolean *take, GError **error)
{
  Text *t = data;
  guint8 *row = t->piece + t->in_piece * t->table.row_bytes;
  *take = FALSE;
  for (guint i = 0; i < t->table.n_columns; i++) {
    const AstroFitsColumn *column = &t->table.columns[i];
    const guint kind = g_array_index(t->columns, Column, i).kind;
    kinds[kind].put(i < values->len ? values->pdata[i] : "", row + column->offset,
                    astro_fits_column_bytes(column));
  }
  return ++t->in_piece < t->piece_points || filter_piece(t, error);
}

static gboolean take_kept(gpointer data, const GPtrArray *names, const GPtrArray *values,
                          gboolean *take, GError **error)
{
  Text *t = data;
  *take = t->kept[t->done / 8] >> t->done % 8 & 1;
  t->done++;
  return TRUE;
}

static void clear(Text *t)
{
  for (guint i = 0; i < t->columns->len; i++)
    g_free(g_array_index(t->columns, Column, i).name);
  g_array_unref(t->columns);
  g_clear_pointer(&t->filter, astro_row_filter_free);
  astro_fits_table_clear(&t->table);
  g_free(t->piece);
  g_free(t->keep);
  g_free(t->kept);
}

gboolean astro_text_filter_parse(AstroFitsFile *file, const char *text, gsize length,
                                 const AstroCatalogueColumns *columns, const char *expression,
                                 AstroCatalogue *catalogue, GArray *ends, GError **error)
{
  Text t = { .table.file = file, .columns = g_array_new(FALSE, TRUE, sizeof(Column)) };
  const char *name = astro_fits_file_name(file);
  AstroCatalogue none = { 0 };
  gboolean good =
      astro_catalogue_parse_seen(text, length, name, columns, see_columns, &t, &none, NULL, error);
  astro_catalogue_clear(&none);
  if (good && t.n_points) {
    make_table(&t);
    t.filter = astro_row_filter_new(&t.table, expression, t.piece_points, error);
    good = t.filter && astro_catalogue_parse_seen(text, length, name, columns, filter_point, &t,
                                                  &none, NULL, error);
    astro_catalogue_clear(&none);
  }
  good = good && (!t.in_piece || filter_piece(&t, error));
  t.done = 0;
  if (good && !astro_catalogue_parse_seen(text, length, name, columns, take_kept, &t, catalogue,
                                          ends, error)) {
    g_prefix_error(error, "where \"%s\": ", expression);
    good = FALSE;
  }
  clear(&t);
  return good;
}
