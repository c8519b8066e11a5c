/* Transpose: the same samples with their axes in another order. */
#pragma once

#include "core/backend/backend.h"
#include "core/lib/transpose/config.h"

G_BEGIN_DECLS

/* submit takes one block in and one out, and as arguments a const AstroTransposeConfig * for this
 * call (blocks may differ in their time steps), or NULL for the one of create. */
extern const AstroBackend astro_transpose_reference;
extern const AstroBackend astro_transpose_cpu;
extern const AstroBackend *const astro_transpose_backends[]; /* up to a NULL */

G_END_DECLS
