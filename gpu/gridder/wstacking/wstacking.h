/* Declarations that W-stacking's files share.
 *
 * Visibilities are sorted by the bin of 8 x 8 cells that their footprint begins in, and within a
 * bin by the first of their w-planes: those that reach a plane are one run of every bin, its
 * window. A warp sums a tile of 16 x 16 cells of all products in registers: a batch of visibilities
 * adds the matrix product of their taps in v and their values times taps in u, computed by the
 * tensor cores. A tile with many visibilities is shared by several warps, whose sums wait in slots
 * and are added in order. No sum depends on the order in which warps run. */
#pragma once

#include "gpu/gridder/gridder.h"

extern "C" {
#include "core/lib/spread/semicircle.h"
#include "core/gridder/sorted.h"
}

enum {
  WSTACKING_BIN = 8, /* cells a side */
  WSTACKING_TILE = ASTRO_GRID_TILE,
  WSTACKING_PLANES = 16, /* first planes are known modulo this; no support is larger */
};

/* Where a visibility lies in its bin, and inside the spreading function: in single precision the
 * arguments of the first taps, -1 to -1 + 2 / support; in double precision the variables of the
 * polynomials, -1 to 1. */
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
  guint n;    /* visibilities; the unused ones are last */
  guint side; /* bins along u and v */
  guint n_bins;
  gpointer places, values;
  guint16 *planes; /* first plane of each */
  guint32 *starts; /* first visibility of each bin; n_bins + 1. NULL: not wanted */
  /* For rows without values, which degridding makes: the number (row * channels + channel) of each
   * visibility, and its bin. values are then left alone. Else NULL. */
  guint32 *numbers, *bins;
} WstackingSorted;

/* The rows, as sorting needs them. */
typedef struct {
  AstroGridRows rows;
  AstroPlanes planes;
  guint n, channels;  /* visibilities; channels of rows in each of the grid's */
  guint side, n_bins; /* as in WstackingSorted */
  guint support;
  double per_cell, middle, reach; /* cells a wavelength, cell of the origin, farthest wavelength */
} WstackingRows;

/* Fills all but the planes; an error if there are more visibilities or bins than can be counted.
 * channels: of the grid. */
gboolean astro_wstacking_rows(WstackingRows *self, const AstroGridRows *rows, guint channels,
                              const AstroGrid *grid, GError **error);
/* Finds the planes, and waits for it. room: two numbers on the device. */
gboolean astro_wstacking_find_planes(WstackingRows *self, const AstroGriddingConfig *config,
                                     const AstroGrid *grid, guint64 *room, cudaStream_t stream,
                                     GError **error);

/* The polynomials of the taps, [term][tap], least power first; 0 for taps past the support. The
 * call returns once they have been read. */
#define WSTACKING_POWERS_BYTES (sizeof(double) * ASTRO_SEMICIRCLE_TERMS * ASTRO_SEMICIRCLE_MAX)
gboolean astro_wstacking_send_powers(const AstroSpread *spread, double *to, cudaStream_t stream,
                                     GError **error);

/* Least and greatest w of the visibilities in use, to device memory, as keys that are ordered as
 * doubles are. */
gboolean astro_wstacking_range(const WstackingRows *rows, guint64 range[2], cudaStream_t stream,
                               GError **error);
double astro_wstacking_range_value(guint64 key);

gsize astro_wstacking_sort_bytes(guint n, guint n_bins, guint planes);
/* room: so many bytes of memory that only sorting uses. */
gboolean astro_wstacking_sort(const WstackingRows *rows, const WstackingSorted *to, gpointer room,
                              cudaStream_t stream, GError **error);

/* Part of a tile's visibilities, for one warp; slot: where its sums go, or WSTACKING_WHOLE. */
typedef struct {
  guint32 tile, from, to, slot;
} WstackingItem;
#define WSTACKING_WHOLE G_MAXUINT32

typedef struct {
  guint32 tile, slot, slots; /* the tile; the first slot and their number */
} WstackingHeavy;

typedef struct {
  guint reaching; /* visibilities that reach the plane */
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
  guint n_tiles, tiles; /* tiles in all; along u and v */
  guint
      reach; /* how many bins before a tile's own have visibilities that reach it, along u and v */
  gboolean is_double, is_flat; /* flat: one plane, nothing is spread in w */
  double phase_factor[2];      /* of the plane, complex */
  double beta;
  guint degree;
  const double *powers; /* astro_wstacking_send_powers */
  gpointer grid;
} WstackingPlane;

gboolean astro_wstacking_plan(const WstackingPlane *plane, cudaStream_t stream, GError **error);
/* Clears the tiles that are not touched, of a plane that has been planned. */
gboolean astro_wstacking_clear(const WstackingPlane *plane, cudaStream_t stream, GError **error);
gboolean astro_wstacking_spread_single(const WstackingPlane *plane, guint multiprocessors,
                                       cudaStream_t stream, GError **error);
gboolean astro_wstacking_spread_double(const WstackingPlane *plane, guint multiprocessors,
                                       cudaStream_t stream, GError **error);
