/* Looks at all weights of the rows that are read. The largest, and whether all are integers, is
 * known only after that: then weights that are counts stay what they are, and others keep their
 * ratios. */
#include "core/backend/backend.h"
#include "core/sets/reader.h"

typedef struct {
  AstroWeightRange *range;
  float before; /* most weights equal the one before, which costs only a comparison */
} Look;

static void look_at(const AstroSetReader *r, const AstroSetWindow *w, guint n, Look *look)
{
  const gsize values = (gsize)n * w->channels * r->setup->n_products;
  for (gsize i = 0; i < values; i++)
    if (r->weights[i] != look->before) {
      look->before = r->weights[i];
      astro_weight_range_add(look->range, look->before);
    }
}

static gboolean look_at_window(AstroSetReader *r, const AstroSetWindow *w, Look *look,
                               GError **error)
{
  for (guint64 at = 0; at < r->rows->n;) {
    guint n = 1;
    if (w->row[at] == ASTRO_SET_NO_ROW) {
      at++;
      continue;
    }
    while (n < r->together && at + n < r->rows->n && w->row[at + n] == w->row[at] + n)
      n++;
    if (!astro_backend_goes_on(error) || !astro_set_fetch(r, w, w->row[at], n, TRUE, error))
      return FALSE;
    look_at(r, w, n, look);
    at += n;
  }
  return TRUE;
}

gboolean astro_set_scale_weights(AstroSetReader *r, GError **error)
{
  Look look = { &r->range, 0 };
  r->range = (AstroWeightRange)ASTRO_WEIGHT_RANGE_EMPTY;
  for (guint i = 0; i < r->n_windows; i++)
    if (!look_at_window(r, &r->windows[i], &look, error))
      return FALSE;
  g_autofree char *note = astro_weight_range_scale(&r->range, &r->weight_scale, &r->full);
  if (note)
    astro_set_note(r, "%s", note);
  return TRUE;
}
