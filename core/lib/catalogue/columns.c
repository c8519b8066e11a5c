/* Columns of catalogues, and catalogues put together from parts. */
#include "core/lib/catalogue/columns.h"
#include "core/backend/backend.h"
#include "core/kit/pages.h"

#include <string.h>

static const struct {
  const char *name;
  gsize offset;
} columns[ASTRO_CATALOGUE_COLUMNS] = {
  { "ra", G_STRUCT_OFFSET(AstroCatalogue, ra) },
  { "dec", G_STRUCT_OFFSET(AstroCatalogue, dec) },
  { "weight", G_STRUCT_OFFSET(AstroCatalogue, weight) },
  { "region", G_STRUCT_OFFSET(AstroCatalogue, region) },
  { "distance", G_STRUCT_OFFSET(AstroCatalogue, distance) },
  { "k", G_STRUCT_OFFSET(AstroCatalogue, k) },
  { "g1", G_STRUCT_OFFSET(AstroCatalogue, g1) },
  { "g2", G_STRUCT_OFFSET(AstroCatalogue, g2) },
  { "bits0", G_STRUCT_OFFSET(AstroCatalogue, bits[0]) },
  { "bits1", G_STRUCT_OFFSET(AstroCatalogue, bits[1]) },
  { "bits2", G_STRUCT_OFFSET(AstroCatalogue, bits[2]) },
  { "bits3", G_STRUCT_OFFSET(AstroCatalogue, bits[3]) },
  { "bits4", G_STRUCT_OFFSET(AstroCatalogue, bits[4]) },
  { "bits5", G_STRUCT_OFFSET(AstroCatalogue, bits[5]) },
  { "bits6", G_STRUCT_OFFSET(AstroCatalogue, bits[6]) },
  { "bits7", G_STRUCT_OFFSET(AstroCatalogue, bits[7]) },
};

const char *astro_catalogue_column_name(guint c)
{
  return columns[c].name;
}

void astro_catalogue_wanted(const AstroCatalogueColumns *from,
                            const char *wanted[ASTRO_CATALOGUE_COLUMNS])
{
  const char *const names[ASTRO_COLUMN_FIRST_WORD] = { from->ra,     from->dec,      from->weight,
                                                       from->region, from->distance, from->k,
                                                       from->g1,     from->g2 };
  memcpy(wanted, names, sizeof names);
  for (guint w = 0; w < ASTRO_CATALOGUE_WORDS; w++)
    wanted[ASTRO_COLUMN_FIRST_WORD + w] = from->bits[w / 2];
}

gboolean astro_catalogue_choose_bits(const char *names, AstroCatalogueColumns *to, GError **error)
{
  g_auto(GStrv) parts = g_strsplit_set(names ? names : "", ", ", -1);
  guint n = 0;
  for (guint p = 0; parts[p]; p++) {
    if (!*parts[p])
      continue;
    if (n == G_N_ELEMENTS(to->bits)) {
      g_set_error(error, ASTRO_CATALOGUE_ERROR, ASTRO_CATALOGUE_ERROR_COLUMN,
                  "bitweight-columns \"%s\" names more columns than the %u that points can have",
                  names, (guint)G_N_ELEMENTS(to->bits));
      return FALSE;
    }
    to->bits[n++] = g_intern_string(parts[p]);
  }
  return TRUE;
}

double **astro_catalogue_column(AstroCatalogue *catalogue, guint c)
{
  return G_STRUCT_MEMBER_P(catalogue, columns[c].offset);
}

guint astro_catalogue_column_set(const AstroCatalogue *catalogue)
{
  guint set = 0;
  for (guint c = 0; c < ASTRO_CATALOGUE_COLUMNS; c++)
    if (G_STRUCT_MEMBER(const double *, catalogue, columns[c].offset))
      set |= 1u << c;
  return set;
}

gboolean astro_column_places(AstroColumnPlaces *places, const char *names, GError **error)
{
  g_auto(GStrv) parts = g_strsplit(names, ":", -1);
  places->n = g_strv_length(parts);
  for (guint c = 0; c < ASTRO_CATALOGUE_COLUMNS; c++) {
    places->place[c] = -1;
    for (guint p = 0; p < places->n; p++)
      if (g_str_equal(parts[p], columns[c].name))
        places->place[c] = (gint)p;
  }
  if (places->place[0] >= 0 && places->place[1] >= 0)
    return TRUE;
  g_set_error(error, ASTRO_CATALOGUE_ERROR, ASTRO_CATALOGUE_ERROR_COLUMN,
              "a catalogue with columns \"%s\": expected ra and dec", names);
  return FALSE;
}

void astro_catalogue_clear(AstroCatalogue *catalogue)
{
  for (guint c = 0; c < ASTRO_CATALOGUE_COLUMNS; c++) {
    double **column = astro_catalogue_column(catalogue, c);
    if (*column)
      astro_pages_give_back(*column, catalogue->n * sizeof(double));
    g_clear_pointer(column, g_free);
  }
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
static gboolean append_column(double **column, guint64 n_before, const double *data, guint64 n)
{
  if (!data)
    return TRUE;
  double *longer = g_try_renew(double, *column, MAX(n_before + n, 1));
  if (!longer)
    return FALSE;
  *column = longer;
  if (n > 0)
    memcpy(*column + n_before, data, n * sizeof(double));
  return TRUE;
}

AstroCatalogue astro_catalogue_view(const AstroColumnPlaces *places, const double *data, guint64 n)
{
  AstroCatalogue view = { .n = n };
  for (guint c = 0; c < ASTRO_CATALOGUE_COLUMNS; c++)
    if (places->place[c] >= 0)
      *astro_catalogue_column(&view, c) = (double *)data + (guint64)places->place[c] * n;
  return view;
}

static char *name_columns(guint set)
{
  GString *names = g_string_new(NULL);
  for (guint c = 0; c < ASTRO_CATALOGUE_COLUMNS; c++)
    if (set & 1u << c)
      g_string_append_printf(names, "%s%s", names->len ? ":" : "", columns[c].name);
  return g_string_free(names, FALSE);
}

gboolean astro_columns_check(guint before, guint part, GError **error)
{
  if (before == part)
    return TRUE;
  g_autofree char *had = name_columns(before), *has = name_columns(part);
  g_set_error(error, ASTRO_CATALOGUE_ERROR, ASTRO_CATALOGUE_ERROR_COLUMN,
              "a part of a catalogue with columns %s after one with %s: expected the same", has,
              had);
  return FALSE;
}

gboolean astro_catalogue_add(AstroCatalogue *catalogue, const AstroCatalogue *part, GError **error)
{
  AstroCatalogue from = *part;
  const guint64 before = catalogue->n;
  if (catalogue->ra && !astro_columns_check(astro_catalogue_column_set(catalogue),
                                            astro_catalogue_column_set(part), error))
    return FALSE;
  for (guint c = 0; c < ASTRO_CATALOGUE_COLUMNS; c++)
    if (!append_column(astro_catalogue_column(catalogue, c), before,
                       *astro_catalogue_column(&from, c), part->n))
      return astro_catalogue_no_memory(error, before + part->n);
  catalogue->n += part->n;
  return TRUE;
}

gboolean astro_catalogue_append(AstroCatalogue *catalogue, const AstroColumnPlaces *places,
                                const double *data, guint64 n, GError **error)
{
  const AstroCatalogue view = astro_catalogue_view(places, data, n);
  return astro_catalogue_add(catalogue, &view, error);
}
