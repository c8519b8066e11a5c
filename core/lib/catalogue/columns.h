/* Catalogues as they are in streams: columns one after the other, named in the caps. */
#pragma once

#include "core/lib/catalogue/catalogue.h"

G_BEGIN_DECLS

/* Indices of the columns; -1: there is none. */
typedef struct {
  guint n;
  gint ra, dec, weight, region, distance;
} AstroColumnPlaces;

/* names: "ra:dec:weight". ra and dec must be there; other columns than these five are ignored. */
gboolean astro_column_places(AstroColumnPlaces *places, const char *names, GError **error);

/* Adds n points to a catalogue; FALSE if earlier points have other columns. */
gboolean astro_catalogue_append(AstroCatalogue *catalogue, const AstroColumnPlaces *places,
                                const double *data, guint64 n, GError **error);

G_END_DECLS
