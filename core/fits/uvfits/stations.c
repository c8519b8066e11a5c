/* Finds which stations a file has. Tables of CASA and HERA also list stations that nobody used,
 * with the number 0, or no place at all. Those are left out, so that they cannot make a file
 * unreadable; a table without such rows keeps all of its stations. */
#include "core/fits/uvfits/reader.h"

/* The rows whose number an earlier row has too. */
static guint count_doubles(const AstroUvfitsAntennas *a, guint8 *is_double)
{
  g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
  guint n = 0;
  for (guint i = 0; i < a->n; i++)
    n += is_double[i] = !g_hash_table_add(seen, GINT_TO_POINTER(a->numbers[i]));
  return n;
}

static gboolean has_wrong(const AstroUvfitsAntennas *a)
{
  for (guint i = 0; i < a->n; i++)
    if (a->wrong[i])
      return TRUE;
  return FALSE;
}

/* The numbers in all groups. */
static GHashTable *find_used(AstroUvfitsReader *r, GError **error)
{
  g_autoptr(GHashTable) used = g_hash_table_new(NULL, NULL);
  double time, number[2], baseline, subarray;
  for (guint64 i = 0; i < r->n_groups; i++) {
    if (!astro_uvfits_read_time(r, i, &time, error))
      return NULL;
    astro_uvfits_station_numbers(r, number, &baseline, &subarray);
    for (guint k = 0; k < 2; k++)
      if (number[k] > G_MININT && number[k] < G_MAXINT)
        g_hash_table_add(used, GINT_TO_POINTER((gint)number[k]));
  }
  return g_steal_pointer(&used);
}

static void move(AstroUvfitsAntennas *a, guint from, guint to)
{
  a->numbers[to] = a->numbers[from];
  a->names[to] = a->names[from];
  for (guint k = 0; k < 3; k++)
    a->offsets[3 * to + k] = a->offsets[3 * from + k];
}

static gboolean drop_unused(AstroUvfitsReader *r, const guint8 *is_double, GError **error)
{
  AstroUvfitsAntennas *a = &r->antennas;
  g_autoptr(GHashTable) used = find_used(r, error);
  guint n = 0;
  if (!used)
    return FALSE;
  for (guint i = 0; i < a->n; i++) {
    const gboolean is_used = g_hash_table_contains(used, GINT_TO_POINTER(a->numbers[i]));
    if (is_used && a->wrong[i])
      return astro_fits_wrong(r->file, error, "%s", a->wrong[i]);
    if (is_used && is_double[i])
      return astro_fits_wrong(r->file, error, "table AIPS AN has station number %d twice",
                              a->numbers[i]);
  }
  for (guint i = 0; i < a->n; i++)
    if (g_hash_table_contains(used, GINT_TO_POINTER(a->numbers[i])))
      move(a, i, n++);
    else
      g_free(a->names[i]);
  a->names[n] = NULL;
  a->n = n;
  return n > 0 || astro_fits_wrong(r->file, error,
                                   "groups have no station that table AIPS AN gives a place");
}

gboolean astro_uvfits_index_stations(AstroUvfitsReader *r, GError **error)
{
  g_autofree guint8 *is_double = g_malloc0(r->antennas.n);
  const guint doubles = count_doubles(&r->antennas, is_double);
  if ((doubles || has_wrong(&r->antennas)) && !drop_unused(r, is_double, error))
    return FALSE;
  r->station_of = g_hash_table_new(NULL, NULL);
  for (guint i = 0; i < r->antennas.n; i++)
    g_hash_table_insert(r->station_of, GINT_TO_POINTER(r->antennas.numbers[i]),
                        GUINT_TO_POINTER(i + 1));
  return TRUE;
}
