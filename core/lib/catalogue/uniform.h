/* Random points that are even over a footprint: the same points from every backend and any number
 * of threads. */
#pragma once

#include "core/backend/backend.h"
#include "core/lib/catalogue/catalogue.h"

G_BEGIN_DECLS

/* The configuration is an AstroFootprint. submit takes no input, and writes two blocks of as many
 * doubles: right ascensions and declinations in degrees. Arguments: an AstroUniformCall. */
typedef struct {
  AstroRandom *random; /* where the numbers begin; moved on behind the last that is used */
} AstroUniformCall;
extern const AstroBackend astro_uniform_reference;
extern const AstroBackend astro_uniform_cpu;
extern const AstroBackend *const astro_uniform_backends[]; /* up to a NULL */

/* place: NULL for all threads. */
gboolean astro_uniform_make(const AstroBackend *backend, const AstroPlace *place,
                            const AstroFootprint *footprint, guint64 points, AstroRandom *random,
                            AstroCatalogue *catalogue, GError **error);

/* Shared with clustered catalogues. */
gboolean astro_catalogue_alloc(AstroCatalogue *catalogue, guint64 points, GError **error);

/* Shared by the backends. Numbers are skipped up to where each chunk of so many points begins. */
#define ASTRO_UNIFORM_CHUNK 65536
AstroRandom *astro_uniform_begins(AstroFootprintShape shape, guint64 n, const AstroRandom *random,
                                  guint64 *n_chunks, GError **error);
gboolean astro_uniform_check(const AstroBlock *out, guint n_out, GError **error);

G_END_DECLS
