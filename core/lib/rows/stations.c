/* Numbers the stations of several files. */
#include <math.h>
#include <string.h>

#include "core/lib/rows/join.h"

/* Kinds of files round positions differently by less than this. A station that was measured anew or
 * has been moved is another one, since its (u,v,w) are. */
#define SAME_METRES 1e-5

typedef struct {
  GPtrArray *names;
  GArray *positions;   /* three each */
  GHashTable *by_name; /* a name to the last station that has it, from 1 on */
  GArray *before;      /* for each station the one before with its name, or 0 */
} Stations;

static gboolean is_at(const Stations *all, guint station, const double *position)
{
  const double *own = &g_array_index(all->positions, double, 3 * station);
  for (guint k = 0; k < 3; k++)
    if (!(fabs(own[k] - position[k]) <= SAME_METRES))
      return FALSE;
  return TRUE;
}

static guint add(Stations *all, const char *name, const double *position, guint last)
{
  const guint number = all->names->len;
  g_ptr_array_add(all->names, g_strdup(name));
  g_array_append_vals(all->positions, position, 3);
  g_array_append_val(all->before, last);
  g_hash_table_insert(all->by_name, all->names->pdata[number], GUINT_TO_POINTER(number + 1));
  return number;
}

/* taken: stations that the same file has already; one file may give a name twice at one place. */
static guint find_or_add(Stations *all, const char *name, const double *position,
                         const GArray *taken)
{
  const guint last = GPOINTER_TO_UINT(g_hash_table_lookup(all->by_name, name));
  for (guint at = last; at > 0; at = g_array_index(all->before, guint, at - 1))
    if (is_at(all, at - 1, position) &&
        !(at - 1 < taken->len && g_array_index(taken, guint8, at - 1)))
      return at - 1;
  return add(all, name, position, last);
}

static void number_file(AstroRowFile *file, Stations *all)
{
  const AstroObservation *o = file->contents->observation;
  g_autoptr(GArray) taken = g_array_new(FALSE, TRUE, sizeof(guint8));
  file->station_of = g_new(guint, o->n_stations);
  for (guint i = 0; i < o->n_stations; i++) {
    const guint number = find_or_add(all, o->names[i], &o->positions[3 * i], taken);
    if (number >= taken->len)
      g_array_set_size(taken, number + 1);
    g_array_index(taken, guint8, number) = TRUE;
    file->station_of[i] = number;
  }
}

static gboolean is_same(const AstroRowFile *file, guint n)
{
  if (file->contents->stations != n)
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (file->station_of[i] != i)
      return FALSE;
  return TRUE;
}

void astro_row_files_number(AstroRowFile *files, guint n, AstroObservation *o)
{
  Stations all = { .names = g_ptr_array_new(),
                   .positions = g_array_new(FALSE, FALSE, sizeof(double)),
                   .by_name = g_hash_table_new(g_str_hash, g_str_equal),
                   .before = g_array_new(FALSE, FALSE, sizeof(guint)) };
  for (guint i = 0; i < n; i++)
    number_file(&files[i], &all);
  for (guint i = 0; i < n; i++)
    files[i].is_same = is_same(&files[i], all.names->len);
  g_strfreev(o->names);
  g_free(o->positions);
  o->n_stations = all.names->len;
  g_ptr_array_add(all.names, NULL);
  o->names = (char **)g_ptr_array_free(all.names, FALSE);
  o->positions = (double *)(gpointer)g_array_free(all.positions, FALSE);
  g_hash_table_unref(all.by_name);
  g_array_free(all.before, TRUE);
}
