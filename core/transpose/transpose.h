/* Transpose: the same samples with their axes in another order.
 *
 *   axes  station:time, order { 1, 0 }      time:station
 *         a0 a1 a2 a3                        a0 b0
 *         b0 b1 b2 b3              --->      a1 b1
 *                                            a2 b2
 *                                            a3 b3 */
#pragma once

#include "core/backend/backend.h"
#include "core/lib/transpose/config.h"

G_BEGIN_DECLS

/* submit takes one block in and one out. Its arguments are a const AstroTransposeConfig * for this
 * call, as blocks may differ in their number of time steps, or NULL for the one given to create. */
extern const AstroBackend astro_transpose_reference;
extern const AstroBackend astro_transpose_cpu;
extern const AstroBackend *const astro_transpose_backends[]; /* up to a NULL */

G_END_DECLS
