/* What W-stacking's files share.
 *
 * Visibilities are sorted by bins of 8 x 8 first cells, in a bin by the first of their w-planes:
 * those that reach a plane are one run of every bin, its window. A warp sums a tile of 16 x 16
 * cells of all products in registers: what a batch of visibilities adds is the matrix product of
 * their taps in v and their values times taps in u, on the tensor cores. A tile with many
 * visibilities is shared out to several warps; their sums wait in slots and are added in order. No
 * sum depends on the order in which warps run. */
#pragma once

#include "gpu/gridder/gridder.h"

extern "C" {
#include "core/lib/spread/semicircle.h"
#include "core/gridder/sorted.h"
}

enum {
  WSTACKING_BIN = 8, /* cells a side */
  WSTACKING_TILE = ASTRO_GRID_TILE,
  WSTACKING_PLANES = 16, /* where a visibility's first plane is known to; no support is longer */
};

/* Where a visibility stands in its bin, and inside the function: single precision keeps the first
 * taps' arguments, -1 to -1 + 2 / support; double the variables of the polynomials, -1 to 1. */
template <typename Real> struct alignas(sizeof(Real) * 4) WstackingPlace {
  Real u, v, w;
  guint32 cells; /* u, v (3 bits each), first plane (4 bits) */
};

template <typename Real> struct WstackingComplex;
template <> struct WstackingComplex<float> {
  typedef float2 Type;
};
template <> struct WstackingComplex<double> {
  typedef double2 Type;
};

/* Visibilities as they are sorted. A bin is (channel * side + its row) * side + its column. */
typedef struct {
  guint n;    /* visibilities, the unused among them, which stand last */
  guint side; /* bins along u and v */
  guint n_bins;
  gpointer places, values;
  guint16 *planes; /* first ones */
  guint32 *starts; /* of bins; n_bins + 1 */
} WstackingSorted;

/* Of the rows' visibilities, what sorting must know. */
typedef struct {
  AstroGridRows rows;
  AstroPlanes planes;
  guint n, channels; /* visibilities; of the rows, on each of the grid's */
  guint support;
  double per_cell, middle, reach; /* cells a wavelength, cell of the origin, farthest wavelength */
} WstackingRows;

/* Least and greatest w of what is used, to device memory, as keys that order as doubles do. */
gboolean astro_wstacking_range(const WstackingRows *rows, guint64 range[2], cudaStream_t stream,
                               GError **error);
double astro_wstacking_range_value(guint64 key);

gsize astro_wstacking_sort_bytes(guint n, guint n_bins, guint planes);
/* room: so many bytes that only sorting needs. */
gboolean astro_wstacking_sort(const WstackingRows *rows, const WstackingSorted *to, gpointer room,
                              cudaStream_t stream, GError **error);

/* Part of a tile's visibilities, for one warp; slot: where its sums go, or WSTACKING_WHOLE. */
typedef struct {
  guint32 tile, from, to, slot;
} WstackingItem;
#define WSTACKING_WHOLE G_MAXUINT32

typedef struct {
  guint32 tile, slot, slots; /* the first, and how many */
} WstackingHeavy;

typedef struct {
  guint reaching; /* the plane */
  guint items, next, heavy, slots;
} WstackingCounts;

/* A plane's work, made on the device. */
typedef struct {
  uint2 *windows; /* of bins: first visibility, one past the last */
  WstackingItem *items;
  WstackingHeavy *heavy;
  WstackingCounts *counts;
  guint8 *touched; /* tile: whether a warp fills it */
  gpointer slots;  /* slot, product, row, column: complex */
  guint n_slots;
} WstackingPlan;

typedef struct {
  WstackingSorted sorted;
  WstackingPlan plan;
  guint plane, support, size, products;
  guint n_tiles, tiles;        /* all; along u and v */
  guint reach;                 /* bins before a tile's whose visibilities reach it, along u and v */
  gboolean is_double, is_flat; /* flat: nothing is spread in w */
  double turn[2];              /* complex factor of the plane */
  double beta;
  guint degree;
  const double *powers; /* [term][tap], least power first; of taps past the support 0 */
  gpointer grid;
} WstackingPlane;

gboolean astro_wstacking_plan(const WstackingPlane *plane, cudaStream_t stream, GError **error);
/* Zeros to the tiles that are not touched, of a plane that is planned. */
gboolean astro_wstacking_clear(const WstackingPlane *plane, cudaStream_t stream, GError **error);
gboolean astro_wstacking_spread_single(const WstackingPlane *plane, guint multiprocessors,
                                       cudaStream_t stream, GError **error);
gboolean astro_wstacking_spread_double(const WstackingPlane *plane, guint multiprocessors,
                                       cudaStream_t stream, GError **error);
