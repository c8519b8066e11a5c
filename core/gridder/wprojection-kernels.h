/* The inner loop of W-projection: several visibilities onto the same few rows of a window of the
 * grid, summed in registers before the grid is touched. */
#pragma once

#include "core/backend/cpu.h"

G_BEGIN_DECLS

/* All distances are in real values, two of a complex one. */
typedef struct {
  gconstpointer const *taps; /* of each visibility, as they were for row 0 of the grid */
  gconstpointer values;      /* of the first visibility and product */
  gsize n, value_stride;
  gsize taps_row, taps_stride; /* the row's place from taps, and from row to row */
  guint rows;                  /* of the grid that are written: 1 to what rows_at_once says */
  guint vectors_8;             /* the window's width in units of 8 cells */
  gpointer grid;               /* the window's first cell in the first row and product */
  gsize grid_stride, product_stride;
} AstroSpreadWork;

typedef void (*AstroSpreadFunc)(const AstroSpreadWork *work);

/* Products are taken 4, 2 or 1 at a time, the fewer the more rows at once. */
enum { ASTRO_SPREAD_1, ASTRO_SPREAD_2, ASTRO_SPREAD_4, ASTRO_N_SPREAD_WIDTHS };
#define ASTRO_SPREAD_PRODUCTS(width) (1u << (width))
#define ASTRO_SPREAD_ROWS(width) (4u >> (width))

typedef struct {
  AstroVariant variant;
  AstroSpreadFunc spread_single[ASTRO_N_SPREAD_WIDTHS], spread_double[ASTRO_N_SPREAD_WIDTHS];
} AstroSpreadKernels;

extern const AstroSpreadKernels astro_spread_kernels_c;
extern const AstroSpreadKernels astro_spread_kernels_avx2;
extern const AstroSpreadKernels astro_spread_kernels_avx512;

G_END_DECLS
