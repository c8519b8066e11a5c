/* The inner loop of W-projection: several visibilities are added to the same few rows of a window
 * of the grid, in registers, before the grid is touched. */
#pragma once

#include "core/backend/cpu.h"
#include "core/kit/shuffle.h"

G_BEGIN_DECLS

/* All distances count reals; a complex number is two. */
typedef struct {
  gconstpointer const
      *taps;            /* of each visibility, as if its footprint began in row 0 of the grid */
  gconstpointer values; /* of the first visibility and product */
  gsize n, value_stride;
  gsize taps_row, taps_stride; /* from taps to the first row that is wanted, and from row to row */
  guint rows;                  /* rows of the grid that are written: 1 to ASTRO_WPROJECTION_ROWS */
  guint vectors_8;             /* the window's width in units of 8 cells */
  gpointer grid;               /* the window's first cell in the first row and product */
  gsize grid_stride, product_stride;
} AstroWProjectionWork;

typedef void (*AstroWProjectionFunc)(const AstroWProjectionWork *work);

/* Products are taken 4, 2 or 1 at a time; the fewer they are, the more rows at once. */
enum { ASTRO_WPROJECTION_1, ASTRO_WPROJECTION_2, ASTRO_WPROJECTION_4, ASTRO_WPROJECTION_N_WIDTHS };
#define ASTRO_WPROJECTION_PRODUCTS(width) (1u << (width))
#define ASTRO_WPROJECTION_ROWS(width) (4u >> (width))

typedef struct {
  AstroVariant variant;
  AstroWProjectionFunc spread_single[ASTRO_WPROJECTION_N_WIDTHS],
      spread_double[ASTRO_WPROJECTION_N_WIDTHS];
} AstroWProjectionKernels;

extern const AstroWProjectionKernels astro_wprojection_kernels_c;
extern const AstroWProjectionKernels astro_wprojection_kernels_avx2;
extern const AstroWProjectionKernels astro_wprojection_kernels_avx512;

G_END_DECLS
