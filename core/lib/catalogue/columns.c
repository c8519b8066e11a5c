/* Columns of catalogues, and catalogues put together from parts. */
#include "core/lib/catalogue/columns.h"
#include "core/backend/backend.h"

#include <string.h>

gboolean astro_column_places(AstroColumnPlaces *places, const char *names, GError **error)
{
  g_auto(GStrv) parts = g_strsplit(names, ":", -1);
  *places = (AstroColumnPlaces){ g_strv_length(parts), -1, -1, -1, -1, -1 };
  const struct {
    const char *name;
    gint *place;
  } known[] = { { "ra", &places->ra },
                { "dec", &places->dec },
                { "weight", &places->weight },
                { "region", &places->region },
                { "distance", &places->distance } };
  for (guint p = 0; p < places->n; p++)
    for (guint k = 0; k < G_N_ELEMENTS(known); k++)
      if (g_str_equal(parts[p], known[k].name))
        *known[k].place = (gint)p;
  if (places->ra >= 0 && places->dec >= 0)
    return TRUE;
  g_set_error(error, ASTRO_CATALOGUE_ERROR, ASTRO_CATALOGUE_ERROR_COLUMN,
              "a catalogue with columns \"%s\": expected ra and dec", names);
  return FALSE;
}

void astro_catalogue_clear(AstroCatalogue *catalogue)
{
  g_clear_pointer(&catalogue->ra, g_free);
  g_clear_pointer(&catalogue->dec, g_free);
  g_clear_pointer(&catalogue->weight, g_free);
  g_clear_pointer(&catalogue->region, g_free);
  g_clear_pointer(&catalogue->distance, g_free);
  g_clear_pointer(&catalogue->note, g_free);
  catalogue->n = 0;
}

gboolean astro_catalogue_is_same(const AstroCatalogue *a, const AstroCatalogue *b)
{
  const gsize bytes = a->n * sizeof(double);
  return a->n > 0 && a->n == b->n && memcmp(a->ra, b->ra, bytes) == 0 &&
         memcmp(a->dec, b->dec, bytes) == 0;
}

gboolean astro_catalogue_no_memory(GError **error, guint64 points)
{
  return astro_backend_no_memory(error, "%" G_GUINT64_FORMAT " points do not fit into memory",
                                 points);
}

/* FALSE: there is no memory. */
static gboolean append_column(double **column, guint64 n_before, gint place, const double *data,
                              guint64 n)
{
  if (place < 0)
    return TRUE;
  double *longer = g_try_renew(double, *column, MAX(n_before + n, 1));
  if (!longer)
    return FALSE;
  *column = longer;
  if (n > 0)
    memcpy(*column + n_before, data + (guint64)place * n, n * sizeof(double));
  return TRUE;
}

/* The names of the columns of a catalogue. */
static char *name_columns(gboolean weight, gboolean region, gboolean distance)
{
  return g_strconcat("ra:dec", weight ? ":weight" : "", region ? ":region" : "",
                     distance ? ":distance" : "", NULL);
}

static gboolean check_columns(const AstroCatalogue *before, const AstroColumnPlaces *places,
                              GError **error)
{
  gboolean had_weight = before->weight != NULL, has_weight = places->weight >= 0,
           had_region = before->region != NULL, has_region = places->region >= 0,
           had_distance = before->distance != NULL, has_distance = places->distance >= 0;
  if (!before->ra ||
      (had_weight == has_weight && had_region == has_region && had_distance == has_distance))
    return TRUE;
  g_autofree char *had = name_columns(had_weight, had_region, had_distance),
                  *has = name_columns(has_weight, has_region, has_distance);
  g_set_error(error, ASTRO_CATALOGUE_ERROR, ASTRO_CATALOGUE_ERROR_COLUMN,
              "a part of a catalogue with columns %s after one with %s: expected the same", has,
              had);
  return FALSE;
}

gboolean astro_catalogue_append(AstroCatalogue *catalogue, const AstroColumnPlaces *places,
                                const double *data, guint64 n, GError **error)
{
  if (!check_columns(catalogue, places, error))
    return FALSE;
  guint64 before = catalogue->n;
  if (!append_column(&catalogue->ra, before, places->ra, data, n) ||
      !append_column(&catalogue->dec, before, places->dec, data, n) ||
      !append_column(&catalogue->weight, before, places->weight, data, n) ||
      !append_column(&catalogue->region, before, places->region, data, n) ||
      !append_column(&catalogue->distance, before, places->distance, data, n))
    return astro_catalogue_no_memory(error, before + n);
  catalogue->n += n;
  return TRUE;
}
