/* Kernels that spread sorted visibilities over one plane: a table for each instruction set, with a
 * function for each support. */
#pragma once

#include "core/backend/cpu.h"
#include "core/kit/shuffle.h"
#include "core/gridder/products.h"
#include "core/lib/spread/semicircle.h"
#include "core/gridder/sorted.h"

G_BEGIN_DECLS

#define ASTRO_SPREAD_SUPPORTS (ASTRO_SEMICIRCLE_MAX - ASTRO_SEMICIRCLE_MIN + 1)

#define ASTRO_SPREAD_ROOM (32 << 10) /* bytes of scratch memory of a kernel */

/* The taps as polynomials, term by term from the least power on, single or double precision as the
 * visibilities are. In u and v only the first half of the taps: the others are their mirror images.
 */
typedef struct {
  guint support, degree;
  double beta;
  gboolean is_flat; /* there is one plane: nothing is spread in w */
  _Alignas(64) double terms[ASTRO_SEMICIRCLE_TERMS * ASTRO_SEMICIRCLE_HALF];
  _Alignas(64) double w[ASTRO_SEMICIRCLE_TERMS * ASTRO_SEMICIRCLE_MAX];
} AstroSpreadTaps;

AstroSpreadTaps *astro_spread_taps_new(void);
void astro_spread_taps_free(AstroSpreadTaps *taps);
/* is_flat: with one plane every tap in w is 1. */
void astro_spread_taps_fill(AstroSpreadTaps *taps, const AstroSpread *spread, gboolean is_double,
                            gboolean is_flat);

typedef struct {
  const AstroSorted *sorted;
  const AstroSpreadTaps *taps;
  guint plane;
  double phase_factor[2]; /* of this plane, complex */
  guint size;             /* of the grid */
  gpointer grid;          /* read only by those that collect */
} AstroSpreadPlane;

/* Adds a group's visibilities from lo to hi to the plane; or, to collect, the other way round, adds
 * to each of them what the plane has in its footprint, by the same taps. room: scratch memory,
 * aligned to 64 bytes, zeros at first, that no other kernel uses. */
typedef void (*AstroSpreadGroup)(const AstroSpreadPlane *plane, const AstroSortedGroup *group,
                                 gpointer room);

typedef struct {
  AstroVariant variant;
  AstroSpreadGroup single[ASTRO_SPREAD_SUPPORTS], in_double[ASTRO_SPREAD_SUPPORTS];
  /* The reference has none: degridding has a formula of its own (core/gridder/degrid). */
  AstroSpreadGroup collect_single[ASTRO_SPREAD_SUPPORTS], collect_double[ASTRO_SPREAD_SUPPORTS];
} AstroSpreadKernels;

extern const AstroSpreadKernels astro_spread_avx512, astro_spread_avx2, astro_spread_c,
    astro_spread_reference;

G_END_DECLS
