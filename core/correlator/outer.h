/* Products of panels by three real products for each complex one instead of four. With a row's
 * sample (a, b) and a column's (c, d) the sums of ac, bd and (a + b)(c - d) give all: real parts
 * are ac + bd, imaginary ones (a + b)(c - d) - ac + bd. Packed panels hold four planes of a chunk
 * of lanes, re, im, re + im, re - im, then those of the next. A tile is the sums of the three
 * products, in this order.
 *
 * For any width of vector. Included with
 * SCALAR    the type of a packed lane
 * TILE      of a sum in a tile
 * BYTES     of a vector
 * ROWS      of the block of sums that registers hold; it has VECTORS vectors in a row
 * CHUNK     lanes of an input in a chunk: packing comes in parts of 64 samples, which are whole
 *           chunks
 * RUN       lanes that registers sum before they are added to a tile, in whole chunks
 * and may be with
 * CHAINS                   sums that take turns in a run, which makes each shorter: a step is so
 *                          many lanes of an input
 * MULTIPLY_ADD(sum, a, b)  where that is more than sum + a * b
 * STARTS                   where sums do not begin with nothing */
#include "core/correlator/prefetch.h"

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
  PART = CHUNK * PANEL,  /* of a plane: a chunk's lanes */
  PAIRS = PANEL * PANEL, /* of a tile, or one sum of each */
  /* Rows that a single vector of columns is multiplied with, so that there are sums enough to hide
   * the latency of each. */
  TALL = ROWS * CHAINS < 8 ? 2 * ROWS : ROWS,
  /* Of a loop whose sums are just enough, so that what it counts does not delay them. */
  UNROLLED = TALL > ROWS ? 4 : 1,
};

/* The planes of rows and columns whose products a sum takes. */
static const guint8 row_plane[SUMS] = { 0, 1, 2 };
static const guint8 column_plane[SUMS] = { 0, 1, 3 };

/* The 16 inputs' lanes number `lane` in the first plane; other planes have theirs PART further. */
static inline SCALAR *packed_lanes(guint8 *packed, guint lane)
{
  return (SCALAR *)packed + lane / CHUNK * PLANES * PART + lane % CHUNK * PANEL;
}

/* A row panel and the column panels that it is multiplied with. */
typedef struct {
  TILE *tiles;
  const SCALAR *left, *right;
  gsize panel_stride; /* of column panels */
  const TILE *starts; /* what the sums of each row begin with, with STARTS */
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

/* All that some rows on the diagonal have pairs in. */
#define BLOCK multiply_half
#define BLOCK_ROWS TALL
#define BLOCK_BYTES (BYTES / 2)
#define BLOCK_VECTORS 1
#include "core/correlator/outer-block.h"

/* Some columns with the rows from first to end, of a run. */
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

/* By value, since tiles may alias anything: what is in registers stays there. Runs are whole but
 * for the last, and loops of a length that is known have no remainders. */
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

/* Some column panels, of which the last may be the row's own. */
static void multiply_row(const OuterRow *row, guint panel, guint end, gboolean diagonal,
                         AstroCorrelatorAhead *ahead)
{
  const guint plain = (end - (diagonal ? 1 : 0)) * PANEL;
  for (guint c = panel * PANEL, n; c < plain; c += n) {
    n = columns_at_once(plain - c);
    multiply_columns(*row, c, n, 0, PANEL, ahead);
  }
  /* Stations straddle no block: above the diagonal no pair is wanted. */
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

/* The tiles of a row, which are cleared where they hold nothing yet. */
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

/* The function that a kernel's table wants. */
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
