/* Takes the points of a catalogue from the rows of a table. */
#include "core/fits/table/catalogue-reader.h"

#include "core/lib/catalogue/distance.h"
#include "core/lib/catalogue/units.h"

#include <math.h>
#include <string.h>

/* Moves the values that the filter keeps to the front. */
static guint64 select_values(const CatalogueReader *r, guint64 first, guint64 n, double *values)
{
  guint64 kept = 0;
  if (!r->kept)
    return n;
  for (guint64 i = 0; i < n; i++)
    if (r->kept[(first + i) / 8] >> (first + i) % 8 & 1)
      values[kept++] = values[i];
  return kept;
}

static gboolean check_values(const CatalogueReader *r, guint c, const double *values, guint64 n,
                             guint64 first, GError **error)
{
  double most = c == DEC ? 90 : G_MAXDOUBLE;
  const char *name = r->wanted[c].column->name;
  for (guint64 i = 0; i < n; i++) {
    if (isnan(values[i]))
      return catalogue_wrong(r, error,
                             "point %" G_GUINT64_FORMAT ": column %s is nan, expected a number "
                             "(where=%s==%s leaves out rows without one)",
                             first + i + 1, name, name, name);
    if (!(fabs(values[i]) <= most))
      return catalogue_wrong(
          r, error, "point %" G_GUINT64_FORMAT ": column %s is %.12g, expected %s", first + i + 1,
          name, values[i], c == DEC ? "-90 to 90 degrees" : "a number");
  }
  return TRUE;
}

/* Distances are checked, or follow from redshifts. */
static gboolean find_distances(const CatalogueReader *r, double *values, guint64 n, guint64 first,
                               GError **error)
{
  for (guint64 i = 0; i < n; i++)
    if (!astro_catalogue_distance(&r->distances, values[i], &values[i]))
      return catalogue_wrong(r, error,
                             "point %" G_GUINT64_FORMAT ": column %s is %.12g, expected %s",
                             first + i + 1, r->wanted[DISTANCE].column->name, values[i],
                             astro_catalogue_distance_expected(&r->distances));
  return TRUE;
}

static gboolean take_piece(const CatalogueReader *r, guint64 first, guint64 n, guint64 done,
                           double *scratch, double *data, guint64 *n_taken, GError **error)
{
  for (guint c = 0; c < N_COLUMNS; c++) {
    const CatalogueWanted *wanted = &r->wanted[c];
    if (!wanted->column)
      continue;
    if (c >= ASTRO_COLUMN_FIRST_WORD)
      catalogue_bit_values(r, wanted, c, n, scratch);
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

gboolean catalogue_read_table(gpointer reader, AstroFitsFrame *frame, gboolean *end, GError **error)
{
  CatalogueReader *r = reader;
  g_autofree double *scratch = g_new(double, r->piece_rows);
  guint64 done = 0;
  for (guint64 first = 0, n, taken = 0; first < r->table.n_rows; first += n, done += taken)
    if (!catalogue_read_piece(r, first, &n, error) ||
        !take_piece(r, first, n, done, scratch, frame->data, &taken, error))
      return FALSE;
  catalogue_close_table(r);
  return TRUE;
}
