/* Spreading sorted visibilities over one plane: one table of kernels for each instruction set, of a
 * function for each support. */
#pragma once

#include "core/backend/cpu.h"
#include "core/kit/shuffle.h"
#include "core/gridder/products.h"
#include "core/lib/spread/semicircle.h"
#include "core/gridder/sorted.h"

G_BEGIN_DECLS

#define ASTRO_SPREAD_SUPPORTS (ASTRO_SEMICIRCLE_MAX - ASTRO_SEMICIRCLE_MIN + 1)

#define ASTRO_SPREAD_ROOM (32 << 10) /* bytes that a kernel works in */

/* Polynomials of the taps, term by term, least power first, single or double as the visibilities.
 * Of u and v only the first taps: the last ones are their mirror images. */
typedef struct {
  guint support, degree;
  double beta;
  gboolean is_flat; /* one plane: nothing is spread in w */
  _Alignas(64) double terms[ASTRO_SEMICIRCLE_TERMS * ASTRO_SEMICIRCLE_HALF];
  _Alignas(64) double w[ASTRO_SEMICIRCLE_TERMS * ASTRO_SEMICIRCLE_MAX];
} AstroSpreadTaps;

typedef struct {
  const AstroSorted *sorted;
  const AstroSpreadTaps *taps;
  guint plane;
  double turn[2]; /* complex factor of this plane */
  guint size;     /* of the grid */
  gpointer grid;
} AstroSpreadPlane;

/* All that a group's visibilities from lo to hi add to the plane. room: bytes aligned to 64, zeros
 * at first, and of one kernel alone. */
typedef void (*AstroSpreadGroup)(const AstroSpreadPlane *plane, const AstroSortedGroup *group,
                                 gpointer room);

typedef struct {
  AstroVariant variant;
  AstroSpreadGroup single[ASTRO_SPREAD_SUPPORTS], in_double[ASTRO_SPREAD_SUPPORTS];
} AstroSpreadKernels;

extern const AstroSpreadKernels astro_spread_avx512, astro_spread_avx2, astro_spread_c,
    astro_spread_reference;

G_END_DECLS
