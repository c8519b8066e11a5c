/* Products of panels by three real products for each complex one instead of four. With a row's
 * sample (a, b) and a column's (c, d) the sums of ac, bd and (a + b)(c - d) give all: real parts
 * are ac + bd, imaginary ones (a + b)(c - d) - ac + bd. Packed panels hold four planes of a chunk
 * of lanes, re, im, re + im, re - im, then those of the next. A tile is the sums of the three
 * products, in this order; registers sum a chunk before it is added to the tile.
 *
 * For any width of vector. Included with
 * SCALAR    the type of a packed lane
 * TILE      of a sum in a tile
 * BYTES     of a vector
 * ROWS      of the block of sums that registers hold; it has VECTORS vectors in a row
 * CHUNK     lanes of an input in a chunk, at most 32: packing comes in parts of 64 samples
 * MULTIPLY  the function's name
 * and may be with
 * CHAINS                   sums that take turns in a chunk, which makes each shorter: a step is so
 *                          many lanes of an input
 * MULTIPLY_ADD(sum, a, b)  where that is more than sum + a * b */
#include "core/correlator/ahead.h"

#ifndef CHAINS
#define CHAINS 1
#endif
#ifndef MULTIPLY_ADD
#define MULTIPLY_ADD(sum, a, b) ((sum) + (a) * (b))
#endif

enum {
  PLANES = 4, /* of a packed panel */
  SUMS = 3,   /* of a tile */
  LANES = BYTES / sizeof(SCALAR),
  COLUMNS = VECTORS * LANES,
  PART = CHUNK * PANEL,
  PLANE = PANEL * PANEL,
};

/* The planes of rows and columns whose products a sum takes. */
static const guint8 row_plane[SUMS] = { 0, 1, 2 };
static const guint8 column_plane[SUMS] = { 0, 1, 3 };

/* The 16 inputs' lanes number `lane` in the first plane; other planes have theirs PART further. */
static inline SCALAR *packed_lanes(guint8 *packed, guint lane)
{
  return (SCALAR *)packed + lane / CHUNK * PLANES * PART + lane % CHUNK * PANEL;
}

/* Columns of a row of tiles, and where they are: in panels one behind the other. */
typedef struct {
  const SCALAR *panels;
  gsize panel_stride;
} Columns;

#define BLOCK multiply_block
#define BLOCK_BYTES BYTES
#define BLOCK_VECTORS VECTORS
#include "core/correlator/outer-block.h"

#define BLOCK multiply_vector
#define BLOCK_BYTES BYTES
#define BLOCK_VECTORS 1
#include "core/correlator/outer-block.h"

/* All that some rows on the diagonal have pairs in. */
#define BLOCK multiply_half
#define BLOCK_BYTES (BYTES / 2)
#define BLOCK_VECTORS 1
#include "core/correlator/outer-block.h"

/* So many columns with the rows of a panel from `row` on. */
static void multiply_columns(TILE *tiles, const SCALAR *left, Columns right, guint column, guint n,
                             guint row, guint rows, guint lanes, AstroCorrelatorAhead *ahead)
{
  for (guint t = 0; t < lanes; t += CHUNK, left += PLANES * PART, right.panels += PLANES * PART) {
    const guint now = MIN(lanes - t, CHUNK);
    for (guint r = row; r < row + rows; r += ROWS) {
      astro_correlator_ask(ahead);
      if (n == COLUMNS)
        multiply_block(tiles + r * PANEL, left + r, right, column, now);
      else if (n == LANES)
        multiply_vector(tiles + r * PANEL, left + r, right, column, now);
      else
        multiply_half(tiles + r * PANEL, left + r, right, column, now);
    }
  }
}

static guint columns_at_once(guint rest)
{
  return rest >= COLUMNS ? COLUMNS : rest > LANES / 2 ? LANES : LANES / 2;
}

void MULTIPLY(const AstroCorrelatorProduct *product)
{
  const guint blocks = PLANE / (ROWS * COLUMNS), lanes = product->steps * CHAINS;
  const Columns right = { (const SCALAR *)product->right, product->panel_stride / sizeof(SCALAR) };
  AstroCorrelatorAhead ahead =
      astro_correlator_ahead(product, blocks * ((lanes + CHUNK - 1) / CHUNK));
  for (guint i = 0; i < product->rows; i++) {
    const guint panels = astro_correlator_columns(product, i);
    const gboolean diagonal = panels == product->below + i + 1;
    const guint plain = (panels - (diagonal ? 1 : 0)) * PANEL;
    const SCALAR *left = (const SCALAR *)(product->left + i * product->panel_stride);
    TILE *tiles = (TILE *)(product->tiles + i * product->tiles_stride);
    if (product->first)
      memset(tiles, 0, panels * SUMS * PLANE * sizeof *tiles);
    for (guint c = 0, n; c < plain; c += n) {
      n = columns_at_once(plain - c);
      multiply_columns(tiles, left, right, c, n, 0, PANEL, lanes, &ahead);
    }
    if (!diagonal)
      continue;
    /* Stations straddle no block: above the diagonal no pair is wanted. */
    for (guint r = 0; r < PANEL; r += ROWS)
      for (guint c = 0, n; c < r + ROWS; c += n) {
        n = columns_at_once(r + ROWS - c);
        multiply_columns(tiles, left, right, plain + c, n, r, ROWS, lanes, &ahead);
      }
  }
}
