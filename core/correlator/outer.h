/* Outer products in floating point with fused multiply and add, for any width of vector. A packed
 * step is one sample of 16 inputs: 16 real parts, then 16 imaginary ones. Included with SCALAR (the
 * type of packed samples and of tiles), BYTES (of a vector), ROWS and VECTORS (of the block that
 * registers hold: rows, and vectors in a row), PARTIAL (samples that registers sum before they are
 * added to the tile), and MULTIPLY, the function's name. */
#include "core/correlator/ahead.h"

#define COLUMNS (VECTORS * BYTES / sizeof(SCALAR))

#define BLOCK multiply_block
#define BLOCK_BYTES BYTES
#define BLOCK_VECTORS VECTORS
#include "core/correlator/outer-block.h"

/* The left half of a block: all that some on the diagonal have pairs in. */
#define BLOCK multiply_half
#define BLOCK_BYTES (VECTORS > 1 ? BYTES : BYTES / 2)
#define BLOCK_VECTORS ((VECTORS + 1) / 2)
#include "core/correlator/outer-block.h"

static void multiply_panels(SCALAR *tile, const SCALAR *left, const SCALAR *right, guint steps,
                            gboolean diagonal, AstroCorrelatorAhead *ahead)
{
  SCALAR *re = tile, *im = tile + PANEL * PANEL;
  for (guint c = 0; c < PANEL; c += COLUMNS)
    for (guint r = 0; r < PANEL; r += ROWS) {
      /* Stations straddle neither blocks nor halves: above the diagonal no pair is wanted. */
      if (diagonal && r + ROWS <= c)
        continue;
      const gboolean half = diagonal && r + ROWS <= c + COLUMNS / 2;
      SCALAR *to_re = re + r * PANEL + c, *to_im = im + r * PANEL + c;
      for (guint t = 0; t < steps; t += PARTIAL) {
        const SCALAR *rows = left + (gsize)t * 2 * PANEL + r;
        const SCALAR *columns = right + (gsize)t * 2 * PANEL + c;
        astro_correlator_ask(ahead);
        if (half)
          multiply_half(to_re, to_im, rows, columns, MIN(steps - t, PARTIAL));
        else
          multiply_block(to_re, to_im, rows, columns, MIN(steps - t, PARTIAL));
      }
    }
}

void MULTIPLY(const AstroCorrelatorProduct *product)
{
  const guint blocks = PANEL / ROWS * (guint)(PANEL / COLUMNS);
  AstroCorrelatorAhead ahead =
      astro_correlator_ahead(product, blocks * ((product->steps + PARTIAL - 1) / PARTIAL));
  for (guint i = 0; i < product->rows; i++)
    for (guint j = 0; j < astro_correlator_columns(product, i); j++) {
      SCALAR *tile = (SCALAR *)(product->tiles + i * product->tiles_stride) + j * 2 * PANEL * PANEL;
      if (product->first)
        memset(tile, 0, 2 * PANEL * PANEL * sizeof *tile);
      multiply_panels(tile, (const SCALAR *)(product->left + i * product->panel_stride),
                      (const SCALAR *)(product->right + j * product->panel_stride), product->steps,
                      j == product->below + i, &ahead);
    }
}
