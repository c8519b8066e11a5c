/* Sorts groups by time. Most files have them in this order; others have one baseline after another,
 * or several observations put together. */
#include "core/fits/uvfits/reader.h"

#include <math.h>

#define GROUPS_TO_TELL 1024 /* read to check the order; all are read only if it fails */

typedef struct {
  double time;
  guint64 group;
} Timed;

static int by_time(gconstpointer one, gconstpointer two)
{
  const Timed *a = one, *b = two;
  int order = (a->time > b->time) - (a->time < b->time);
  return order ? order : (a->group > b->group) - (a->group < b->group);
}

/* Reads one group from each of many parts of the file, each time at a different position within the
 * part, so that no regular order of baselines can fool the test. */
static gboolean are_in_order(AstroUvfitsReader *r, gboolean *in_order, GError **error)
{
  guint64 n = MIN(r->n_groups, GROUPS_TO_TELL);
  double before = -INFINITY, time;
  *in_order = TRUE;
  for (guint64 k = 0; k < n && *in_order; k++) {
    double place = n < r->n_groups ? fmod(k * ASTRO_UVFITS_GOLDEN, 1) : 0;
    if (!astro_uvfits_read_time(r, (guint64)((k + place) / n * r->n_groups), &time, error))
      return FALSE;
    *in_order = !(time < before);
    before = time;
  }
  return TRUE;
}

gboolean astro_uvfits_sort_groups(AstroUvfitsReader *r, GError **error)
{
  gboolean in_order;
  if (!are_in_order(r, &in_order, error) || in_order)
    return in_order;
  g_autofree Timed *timed = g_try_new(Timed, r->n_groups);
  g_autofree guint64 *order = g_try_new(guint64, r->n_groups);
  if (!timed || !order)
    return astro_fits_wrong(r->file, error,
                            "there is no memory to sort %" G_GUINT64_FORMAT
                            " groups: sort the file by time first",
                            r->n_groups);
  for (guint64 i = 0; i < r->n_groups; i++) {
    timed[i].group = i;
    if (!astro_uvfits_read_time(r, i, &timed[i].time, error))
      return FALSE;
  }
  qsort(timed, r->n_groups, sizeof *timed, by_time);
  for (guint64 i = 0; i < r->n_groups; i++)
    order[i] = timed[i].group;
  r->order = g_steal_pointer(&order);
  return TRUE;
}

guint64 astro_uvfits_place(const AstroUvfitsReader *r, guint64 index)
{
  return r->order ? r->order[index] : index;
}
