/* Catalogues as they are in streams: columns one after the other, named in the caps. */
#pragma once

#include "core/lib/catalogue/catalogue.h"

G_BEGIN_DECLS

#define ASTRO_COLUMN_FIRST_WORD 8
#define ASTRO_CATALOGUE_COLUMNS (ASTRO_COLUMN_FIRST_WORD + ASTRO_CATALOGUE_WORDS)
/* Bits of a set of columns. */
#define ASTRO_COLUMN_WEIGHT (1u << 2)
#define ASTRO_COLUMN_REGION (1u << 3)
#define ASTRO_COLUMN_DISTANCE (1u << 4)
#define ASTRO_COLUMN_K (1u << 5)
#define ASTRO_COLUMN_G1 (1u << 6)
#define ASTRO_COLUMN_G2 (1u << 7)

/* Column c of a catalogue, in the order of their names: ra, dec, weight, region, distance, k, g1,
 * g2, bits0 to bits7. */
double **astro_catalogue_column(AstroCatalogue *catalogue, guint c);
const char *astro_catalogue_column_name(guint c);
/* The columns of a source, by their names in a file; NULL: not wanted. */
void astro_catalogue_wanted(const AstroCatalogueColumns *columns,
                            const char *wanted[ASTRO_CATALOGUE_COLUMNS]);
/* Reads the names of columns of bits, separated by commas or blanks. NULL or empty: none. */
gboolean astro_catalogue_choose_bits(const char *names, AstroCatalogueColumns *columns,
                                     GError **error);
/* The half of an integer that is in word w of a catalogue. */
static inline double astro_catalogue_half(guint64 bits, guint w)
{
  return (double)(guint32)(w % 2 ? bits >> 32 : bits);
}
/* How many words of bits there are among these columns. */
static inline guint astro_catalogue_n_words(guint set)
{
  return (guint)__builtin_popcount(set >> ASTRO_COLUMN_FIRST_WORD);
}
/* Bit c: there is a column c. */
guint astro_catalogue_column_set(const AstroCatalogue *catalogue);

/* Indices of the columns; -1: there is none. */
typedef struct {
  guint n;
  gint place[ASTRO_CATALOGUE_COLUMNS];
} AstroColumnPlaces;

/* names: "ra:dec:weight". ra and dec must be there; other columns than ours are ignored. */
gboolean astro_column_places(AstroColumnPlaces *places, const char *names, GError **error);

/* The columns of n points as they are in a stream, not to be freed. */
AstroCatalogue astro_catalogue_view(const AstroColumnPlaces *places, const double *data, guint64 n);

/* Whether a part has the columns of those before it. */
gboolean astro_columns_check(guint before, guint part, GError **error);

/* Adds n points to a catalogue; FALSE if earlier points have other columns. */
gboolean astro_catalogue_append(AstroCatalogue *catalogue, const AstroColumnPlaces *places,
                                const double *data, guint64 n, GError **error);

/* Adds the points of another catalogue, in the same way. */
gboolean astro_catalogue_add(AstroCatalogue *catalogue, const AstroCatalogue *part, GError **error);

G_END_DECLS
