/* Even points for astrocatsrc, made by a backend straight into the buffers that are sent. */
#pragma once

#include "core/lib/catalogue/uniform.h"
#include "elements/base/astrowork.h"

G_BEGIN_DECLS

typedef struct {
  const AstroBackend *backend; /* NULL: closed */
  const char *variant;
  AstroPlace place;
  gpointer instance;
} AstroEvenPoints;

/* Begins as { 0 }. The footprint's mask has to stay until it is closed. */
gboolean astro_even_points_open(AstroEvenPoints *points, const AstroFootprint *footprint,
                                const AstroWorkChoice *choice, char **why, GError **error);
void astro_even_points_close(AstroEvenPoints *points);

/* Writes n right ascensions and then n declinations to the begin of *buffer, which may be replaced.
 */
gboolean astro_even_points_make(AstroEvenPoints *points, GstBuffer **buffer, guint64 n,
                                AstroRandom *random, GError **error);

G_END_DECLS
