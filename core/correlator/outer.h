/* Products of panels, with three real products for each complex one instead of four. For a row's
 * sample (a, b) and a column's (c, d), the sums of ac, bd and (a + b)(c - d) give everything: the
 * real part is ac + bd, the imaginary part (a + b)(c - d) - ac + bd. A packed panel has four planes
 * for a chunk of lanes, re, im, re + im, re - im, then those of the next chunk. A tile has the sums
 * of the three products, in this order.
 *
 * For vectors of any width. Included with
 * SCALAR    the type of a packed lane
 * TILE      the type of a sum in a tile
 * BYTES     the size of a vector
 * ROWS      rows of the block of sums in registers; each row has VECTORS vectors
 * CHUNK     lanes of an input in a chunk: packing comes in parts of 64 samples, which are whole
 *           chunks
 * RUN       lanes that are summed in registers before they are added to a tile; whole chunks
 * and optionally with
 * CHAINS                   number of sums used in rotation in a run, which makes each chain
 *                          shorter; a step has as many lanes of an input
 * MULTIPLY_ADD(sum, a, b)  if it is more than sum + a * b
 * STARTS                   if sums do not begin with zero */
#include "core/correlator/prefetch.h"

#ifndef CHAINS
#define CHAINS 1
#endif
#ifndef MULTIPLY_ADD
#define MULTIPLY_ADD(sum, a, b) ((sum) + (a) * (b))
#endif

enum {
  PLANES = 4, /* per packed panel */
  SUMS = 3,   /* per tile */
  LANES = BYTES / sizeof(SCALAR),
  COLUMNS = VECTORS * LANES,
  PART = CHUNK * PANEL,  /* elements of a plane: a chunk's lanes */
  PAIRS = PANEL * PANEL, /* per tile and sum */
  /* Rows that a single vector of columns is multiplied with, so that there are enough independent
   * sums to hide latency. */
  TALL = ROWS * CHAINS < 8 ? 2 * ROWS : ROWS,
  /* Unrolls loops whose sums are just enough, so that loop counters do not delay them. */
  UNROLLED = TALL > ROWS ? 4 : 1,
};

/* The planes of rows and of columns that each sum multiplies. */
static const guint8 row_plane[SUMS] = { 0, 1, 2 };
static const guint8 column_plane[SUMS] = { 0, 1, 3 };

/* Lanes `lane` of the 16 inputs in the first plane; the other planes follow at distances of PART.
 */
static inline SCALAR *packed_lanes(guint8 *packed, guint lane)
{
  return (SCALAR *)packed + lane / CHUNK * PLANES * PART + lane % CHUNK * PANEL;
}

/* A row panel and the column panels that it is multiplied with. */
typedef struct {
  TILE *tiles;
  const SCALAR *left, *right;
  gsize panel_stride; /* of column panels */
  const TILE *starts; /* with STARTS: initial values of each row's sums */
  guint lanes;
} OuterRow;

#define BLOCK multiply_block
#define BLOCK_ROWS ROWS
#define BLOCK_BYTES BYTES
#define BLOCK_VECTORS VECTORS
#include "core/correlator/outer-block.h"

#define BLOCK multiply_vector
#define BLOCK_ROWS TALL
#define BLOCK_BYTES BYTES
#define BLOCK_VECTORS 1
#include "core/correlator/outer-block.h"

/* For rows on the diagonal that have pairs only in half a vector. */
#define BLOCK multiply_half
#define BLOCK_ROWS TALL
#define BLOCK_BYTES (BYTES / 2)
#define BLOCK_VECTORS 1
#include "core/correlator/outer-block.h"

/* Multiplies some columns with rows first to end, over a run. */
static inline __attribute__((always_inline)) void multiply_rows(const OuterRow row, guint column,
                                                                guint n, guint first, guint end,
                                                                guint lanes,
                                                                AstroCorrelatorAhead *ahead)
{
  for (guint r = first; r < end; r += n == COLUMNS ? ROWS : TALL) {
    astro_correlator_ask(ahead);
    if (n == COLUMNS)
      multiply_block(row, r, column, lanes);
    else if (n == LANES)
      multiply_vector(row, r, column, lanes);
    else
      multiply_half(row, r, column, lanes);
  }
}

/* row is passed by value, since tiles may alias anything: so its members stay in registers. All
 * runs but the last are whole, so that loops of known length have no remainders. */
static void multiply_columns(OuterRow row, guint column, guint n, guint first, guint end,
                             AstroCorrelatorAhead *ahead)
{
  for (guint t = 0; t < row.lanes; t += RUN) {
    if (row.lanes - t >= RUN)
      multiply_rows(row, column, n, first, end, RUN, ahead);
    else
      multiply_rows(row, column, n, first, end, row.lanes - t, ahead);
    row.left += RUN * PLANES * PANEL;
    row.right += RUN * PLANES * PANEL;
    row.starts = NULL;
  }
}

static guint columns_at_once(guint rest)
{
  return rest >= COLUMNS ? COLUMNS : rest > LANES / 2 ? LANES : LANES / 2;
}

/* Multiplies with some column panels, of which the last may be the row's own. */
static void multiply_row(const OuterRow *row, guint panel, guint end, gboolean diagonal,
                         AstroCorrelatorAhead *ahead)
{
  const guint plain = (end - (diagonal ? 1 : 0)) * PANEL;
  for (guint c = panel * PANEL, n; c < plain; c += n) {
    n = columns_at_once(plain - c);
    multiply_columns(*row, c, n, 0, PANEL, ahead);
  }
  /* No station straddles two blocks, so no pairs above the diagonal are needed. */
  for (guint r = 0; diagonal && r < PANEL; r += TALL)
    for (guint c = 0, n; c < r + TALL; c += n) {
      n = columns_at_once(r + TALL - c);
      multiply_columns(*row, plain + c, n, r, r + TALL, ahead);
    }
}

static AstroCorrelatorAhead ahead_of(const AstroCorrelatorProduct *product)
{
  const guint blocks = PAIRS / (ROWS * COLUMNS), runs = (product->steps * CHAINS + RUN - 1) / RUN;
  return astro_correlator_ahead(product, blocks * runs);
}

/* The tiles of a row; cleared if they are uninitialised. */
static OuterRow row_of(const AstroCorrelatorProduct *product, guint i)
{
  OuterRow row = {
    .tiles = (TILE *)(product->tiles + i * product->tiles_stride),
    .left = (const SCALAR *)(product->left + i * product->panel_stride),
    .right = (const SCALAR *)product->right,
    .panel_stride = product->panel_stride / sizeof(SCALAR),
    .lanes = product->steps * CHAINS,
  };
  if (product->first)
    memset(row.tiles, 0, astro_correlator_columns(product, i) * SUMS * PAIRS * sizeof(TILE));
  return row;
}

/* Defines the function for a kernel's table. */
#define MULTIPLY_ROWS(name)                                                                        \
  void astro_correlator_multiply_##name(const AstroCorrelatorProduct *product)                     \
  {                                                                                                \
    AstroCorrelatorAhead ahead = ahead_of(product);                                                \
    for (guint i = 0; i < product->rows; i++) {                                                    \
      const OuterRow row = row_of(product, i);                                                     \
      multiply_row(&row, 0, astro_correlator_columns(product, i),                                  \
                   astro_correlator_on_diagonal(product, i), &ahead);                              \
    }                                                                                              \
  }
