/* Rows of doubles, written and read at their place in the file. */
#include "core/lib/catalogue/spill.h"

#include "core/kit/fail.h"
#include "core/lib/files/nameless.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

struct _AstroSpill {
  gint file;
  guint columns, n_columns;
  guint64 n;
};

#define ROWS_AT_ONCE 4096

static gboolean fail(GError **error, const char *what, guint64 bytes, const char *why)
{
  return astro_fail(error, ASTRO_CATALOGUE_ERROR, ASTRO_CATALOGUE_ERROR_FILE,
                    "cannot %s %" G_GUINT64_FORMAT " bytes of a temporary file in %s: %s; expected "
                    "room for catalogues beyond max-memory there, or in another folder "
                    "(TMPDIR=FOLDER), or a larger max-memory",
                    what, bytes, g_get_tmp_dir(), why);
}

AstroSpill *astro_spill_new(guint columns, GError **error)
{
  g_autofree char *name = g_build_filename(g_get_tmp_dir(), "gst-astro-points-XXXXXX", NULL);
  const gint file = g_mkstemp(name);
  if (file < 0) {
    fail(error, "make", 0, g_strerror(errno));
    return NULL;
  }
  g_unlink(name);
  AstroSpill *spill = g_new(AstroSpill, 1);
  *spill = (AstroSpill){ .file = file,
                         .columns = columns,
                         .n_columns = (guint)__builtin_popcount(columns) };
  return spill;
}

void astro_spill_free(AstroSpill *spill)
{
  if (!spill)
    return;
  close(spill->file);
  g_free(spill);
}

guint64 astro_spill_points(const AstroSpill *spill)
{
  return spill->n;
}

guint astro_spill_columns(const AstroSpill *spill)
{
  return spill->columns;
}

guint astro_spill_n_columns(const AstroSpill *spill)
{
  return spill->n_columns;
}

static gsize row_bytes(const AstroSpill *spill)
{
  return spill->n_columns * sizeof(double);
}

gboolean astro_spill_put(AstroSpill *spill, guint64 first, const double *rows, guint64 n,
                         GError **error)
{
  const gsize bytes = n * row_bytes(spill);
  const int why = astro_write_at(spill->file, rows, bytes, first * row_bytes(spill));
  if (why)
    return fail(error, "write", bytes, g_strerror(why));
  spill->n = MAX(spill->n, first + n);
  return TRUE;
}

static gboolean get_rows(const AstroSpill *spill, guint64 first, double *rows, guint64 n,
                         GError **error)
{
  const gsize bytes = n * row_bytes(spill);
  const int why = astro_read_at(spill->file, rows, bytes, first * row_bytes(spill));
  return why == 0 || fail(error, "read", bytes, g_strerror(why));
}

/* Copies n points between columns from `first` on and rows. */
static void copy_rows(const AstroSpill *spill, AstroCatalogue *catalogue, guint64 first,
                      double *rows, guint64 n, gboolean to_rows)
{
  guint place = 0;
  for (guint c = 0; c < ASTRO_CATALOGUE_COLUMNS; c++) {
    if (!(spill->columns & 1u << c))
      continue;
    double *column = *astro_catalogue_column(catalogue, c) + first, *row = rows + place++;
    if (to_rows)
      for (guint64 i = 0; i < n; i++)
        row[i * spill->n_columns] = column[i];
    else
      for (guint64 i = 0; i < n; i++)
        column[i] = row[i * spill->n_columns];
  }
}

gboolean astro_spill_append(AstroSpill *spill, const AstroCatalogue *part, GError **error)
{
  if (!astro_columns_check(spill->columns, astro_catalogue_column_set(part), error))
    return FALSE;
  AstroCatalogue from = *part;
  double rows[ROWS_AT_ONCE * ASTRO_CATALOGUE_COLUMNS];
  for (guint64 i = 0; i < part->n; i += ROWS_AT_ONCE) {
    const guint64 n = MIN(part->n - i, ROWS_AT_ONCE);
    copy_rows(spill, &from, i, rows, n, TRUE);
    if (!astro_spill_put(spill, spill->n, rows, n, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean read_into(const AstroSpill *spill, guint64 first, guint64 n,
                          AstroCatalogue *catalogue, GError **error)
{
  double rows[ROWS_AT_ONCE * ASTRO_CATALOGUE_COLUMNS];
  for (guint64 i = 0; i < n; i += ROWS_AT_ONCE) {
    const guint64 part = MIN(n - i, ROWS_AT_ONCE);
    if (!get_rows(spill, first + i, rows, part, error))
      return FALSE;
    copy_rows(spill, catalogue, i, rows, part, FALSE);
  }
  catalogue->n = n;
  return TRUE;
}

static gboolean alloc(const AstroSpill *spill, guint64 n, AstroCatalogue *catalogue, GError **error)
{
  *catalogue = (AstroCatalogue){ .n = n };
  for (guint c = 0; c < ASTRO_CATALOGUE_COLUMNS; c++)
    if (spill->columns & 1u << c &&
        !(*astro_catalogue_column(catalogue, c) = g_try_new(double, MAX(n, 1)))) {
      astro_catalogue_clear(catalogue);
      return astro_catalogue_no_memory(error, n);
    }
  return TRUE;
}

gboolean astro_spill_read(const AstroSpill *spill, guint64 first, guint64 n,
                          AstroCatalogue *catalogue, GError **error)
{
  if (!alloc(spill, n, catalogue, error))
    return FALSE;
  if (read_into(spill, first, n, catalogue, error))
    return TRUE;
  astro_catalogue_clear(catalogue);
  return FALSE;
}

gboolean astro_spill_visit(const AstroSpill *spill, AstroSpillVisit visit, gpointer data,
                           GError **error)
{
  AstroCatalogue chunk;
  gboolean good = alloc(spill, MIN(spill->n, ASTRO_SPILL_CHUNK), &chunk, error);
  for (guint64 i = 0; good && i < spill->n; i += ASTRO_SPILL_CHUNK)
    good = read_into(spill, i, MIN(spill->n - i, ASTRO_SPILL_CHUNK), &chunk, error) &&
           visit(data, &chunk, i, error);
  astro_catalogue_clear(&chunk);
  return good;
}
