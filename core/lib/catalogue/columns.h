/* Catalogues as they are in streams: columns one after the other, named in the caps. */
#pragma once

#include "core/lib/catalogue/catalogue.h"

G_BEGIN_DECLS

#define ASTRO_CATALOGUE_COLUMNS 5
/* Bits of a set of columns. */
#define ASTRO_COLUMN_WEIGHT (1u << 2)
#define ASTRO_COLUMN_REGION (1u << 3)
#define ASTRO_COLUMN_DISTANCE (1u << 4)

/* Column c of a catalogue, in the order of their names: ra, dec, weight, region, distance. */
double **astro_catalogue_column(AstroCatalogue *catalogue, guint c);
/* Bit c: there is a column c. */
guint astro_catalogue_column_set(const AstroCatalogue *catalogue);

/* Indices of the columns; -1: there is none. */
typedef struct {
  guint n;
  gint ra, dec, weight, region, distance;
} AstroColumnPlaces;

/* names: "ra:dec:weight". ra and dec must be there; other columns than these five are ignored. */
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
