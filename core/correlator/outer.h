/* Outer products in floating point with fused multiply and add, for any width of vector. A packed
 * step is one sample of 16 inputs: 16 real parts, then 16 imaginary ones. Included with SCALAR (the
 * type of packed samples and of tiles), BYTES (of a vector), ROWS and VECTORS (of the block that
 * registers hold: rows, and vectors in a row), PARTIAL (samples that registers sum before they are
 * added to the tile), and the functions' names MULTIPLY and ADD. */
#include "core/correlator/kernels.h"

enum {
  LANES = BYTES / sizeof(SCALAR),
  COLUMNS = VECTORS * LANES, /* of the block */
};
typedef SCALAR Vector __attribute__((vector_size(BYTES), may_alias));

static inline Vector load(const SCALAR *from)
{
  return *(const Vector *)from;
}

static inline __attribute__((always_inline)) void
multiply_block(SCALAR *re, SCALAR *im, const SCALAR *left, const SCALAR *right, guint samples)
{
  Vector sum_re[ROWS][VECTORS] = { 0 }, sum_im[ROWS][VECTORS] = { 0 };
  for (guint t = 0; t < samples; t++, left += 2 * PANEL, right += 2 * PANEL) {
    Vector b_re[VECTORS], b_im[VECTORS];
#pragma GCC unroll 4
    for (guint v = 0; v < VECTORS; v++) {
      b_re[v] = load(right + v * LANES);
      b_im[v] = load(right + PANEL + v * LANES);
    }
#pragma GCC unroll 16
    for (guint r = 0; r < ROWS; r++) {
      Vector a_re = left[r] - (Vector){ 0 }, a_im = left[PANEL + r] - (Vector){ 0 };
#pragma GCC unroll 4
      for (guint v = 0; v < VECTORS; v++) {
        sum_re[r][v] += a_re * b_re[v];
        sum_im[r][v] += a_im * b_re[v];
        sum_re[r][v] += a_im * b_im[v];
        sum_im[r][v] -= a_re * b_im[v];
      }
    }
  }
#pragma GCC unroll 16
  for (guint r = 0; r < ROWS; r++)
#pragma GCC unroll 4
    for (guint v = 0; v < VECTORS; v++) {
      *(Vector *)(re + r * PANEL + v * LANES) += sum_re[r][v];
      *(Vector *)(im + r * PANEL + v * LANES) += sum_im[r][v];
    }
}

static void multiply_panels(SCALAR *tile, const SCALAR *left, const SCALAR *right, guint steps,
                            gboolean diagonal)
{
  SCALAR *re = tile, *im = tile + PANEL * PANEL;
  for (guint c = 0; c < PANEL; c += COLUMNS)
    for (guint r = 0; r < PANEL; r += ROWS) {
      if (diagonal &&
          r + ROWS <= c) /* stations do not straddle blocks, so none of its pairs is wanted */
        continue;
      for (guint t = 0; t < steps; t += PARTIAL)
        multiply_block(re + r * PANEL + c, im + r * PANEL + c, left + (gsize)t * 2 * PANEL + r,
                       right + (gsize)t * 2 * PANEL + c, MIN(steps - t, PARTIAL));
    }
}

void MULTIPLY(const AstroCorrelatorProduct *product)
{
  for (guint i = 0; i < product->rows; i++)
    for (guint j = 0; j < astro_correlator_columns(product, i); j++) {
      SCALAR *tile = (SCALAR *)(product->tiles + i * product->tiles_stride) + j * 2 * PANEL * PANEL;
      if (product->first)
        memset(tile, 0, 2 * PANEL * PANEL * sizeof *tile);
      multiply_panels(tile, (const SCALAR *)(product->left + i * product->panel_stride),
                      (const SCALAR *)(product->right + j * product->panel_stride), product->steps,
                      j == product->below + i);
    }
}
