/* Products of bytes by matrix tiles. re re + im im, im re and re im are summed separately, each in
 * its own tile register, so that nothing is ever negated; in memory a tile is re, then im. */
#include "core/correlator/x86/tile-int32.h"
#include "core/correlator/prefetch.h"
#include "core/correlator/x86/amx.h"

enum {
  TILE_BYTES = 2 * OPERAND,
  MOST_STEPS = 16,
  ASKED_LINES = 4, /* at a time: more would take up the line buffers that operands pass through */
};

static ALWAYS_INLINE void pack_quads(guint8 *to, const guint8 *in, gsize stride, guint count,
                                     guint inputs, AstroFormat format)
{
  quad_pack((__m512i *)to, (__m512i *)(to + OPERAND), in, stride, count,
            (__mmask16)((1u << inputs) - 1), format);
}

static ALWAYS_INLINE void pack_quads_ci8(guint8 *to, gconstpointer traits, const guint8 *in,
                                         gsize stride, guint count, guint inputs)
{
  pack_quads(to, in, stride, count, inputs, ASTRO_FORMAT_CI8);
}

static ALWAYS_INLINE void pack_quads_ci4(guint8 *to, gconstpointer traits, const guint8 *in,
                                         gsize stride, guint count, guint inputs)
{
  pack_quads(to, in, stride, count, inputs, ASTRO_FORMAT_CI4);
}

void astro_correlator_pack_ci8_amx(guint8 *packed, gpointer traits, const AstroCorrelatorRows *rows)
{
  pack_rows(packed, traits, rows, 2, 2, pack_quads_ci8);
}

void astro_correlator_pack_ci4_amx(guint8 *packed, gpointer traits, const AstroCorrelatorRows *rows)
{
  pack_rows(packed, traits, rows, 1, 2, pack_quads_ci4);
}

/* The inputs of a tile's products. */
typedef struct {
  guint8 *last, *tile, *next; /* the previous tile, this one, the next one */
  guint8 *parts;              /* of the previous tile: im re, re im */
  const guint8 *left, *right;
  guint steps;
  gboolean first;    /* tiles are uninitialised */
  gboolean diagonal; /* re im is the transpose of im re, and not summed */
  AstroCorrelatorAhead *ahead;
} Products;

static ALWAYS_INLINE void subtract_parts(guint8 *im, const guint8 *parts)
{
  const __m512i *part = (const __m512i *)parts;
#pragma GCC unroll 16
  for (guint r = 0; r < PANEL; r++)
    _mm512_store_si512(im + 64 * r, _mm512_sub_epi32(part[r], part[PANEL + r]));
}

#define LOAD_SUM(reg, from)                                                                        \
  do {                                                                                             \
    if (products->first)                                                                           \
      _tile_zero(reg);                                                                             \
    else                                                                                           \
      _tile_loadd(reg, from, 64);                                                                  \
  } while (0)

/* Operands are in registers 5 to 7. Those of columns are loaded first, as they come from the
 * second-level cache. */
#define STEP(RE, RE_IM, IM_RE, exchange)                                                           \
  do {                                                                                             \
    _tile_loadd(6, right, 64);                                                                     \
    _tile_loadd(5, left, 64);                                                                      \
    _tile_dpbssd(RE, 5, 6);                                                                        \
    _tile_loadd(7, right + OPERAND, 64);                                                           \
    if (!products->diagonal)                                                                       \
      _tile_dpbssd(RE_IM, 5, 7);                                                                   \
    _tile_loadd(5, left + OPERAND, 64);                                                            \
    _tile_dpbssd(RE, 5, 7);                                                                        \
    exchange;                                                                                      \
    _tile_dpbssd(IM_RE, 5, 6);                                                                     \
    left += 2 * OPERAND;                                                                           \
    right += 2 * OPERAND;                                                                          \
    astro_correlator_ask(products->ahead);                                                         \
  } while (0)

/* The sums of a tile take three of five registers. The next tile's sums are loaded to the two
 * others (and to the first of this tile's) while the last products run, and this tile's are stored
 * while the first products of the next run, so that products never wait for sums. Register numbers
 * are part of the instructions, so each of the five assignments needs its own functions. IM_RE held
 * the previous tile's re, BEFORE_RE_IM and BEFORE_IM_RE its other sums; they take re and re im of
 * the next. */
#define PLACE(n, RE, RE_IM, IM_RE, BEFORE_RE_IM, BEFORE_IM_RE)                                     \
  static void multiply_##n(const Products *products)                                               \
  {                                                                                                \
    const guint8 *left = products->left, *right = products->right;                                 \
    const guint steps = products->steps;                                                           \
    guint s = 1;                                                                                   \
    STEP(RE, RE_IM, IM_RE, _tile_stored(IM_RE, products->last, 64);                                \
         LOAD_SUM(IM_RE, products->tile + OPERAND));                                               \
    for (; s < 2 && steps > 3; s++)                                                                \
      STEP(RE, RE_IM, IM_RE, );                                                                    \
    _tile_stored(BEFORE_IM_RE, products->parts, 64);                                               \
    _tile_stored(BEFORE_RE_IM, products->parts + OPERAND, 64);                                     \
    for (; s + 2 < steps; s++)                                                                     \
      STEP(RE, RE_IM, IM_RE, );                                                                    \
    subtract_parts(products->last + OPERAND, products->parts);                                     \
    LOAD_SUM(BEFORE_RE_IM, products->next);                                                        \
    _tile_zero(BEFORE_IM_RE);                                                                      \
    for (; s < steps; s++)                                                                         \
      STEP(RE, RE_IM, IM_RE, );                                                                    \
  }                                                                                                \
  /* For a tile without a next one. */                                                             \
  static void store_##n(const Products *products)                                                  \
  {                                                                                                \
    _tile_stored(RE, products->tile, 64);                                                          \
    _tile_stored(IM_RE, products->parts, 64);                                                      \
    _tile_stored(RE_IM, products->parts + OPERAND, 64);                                            \
    subtract_parts(products->tile + OPERAND, products->parts);                                     \
  }
PLACE(0, 0, 1, 2, 3, 4)
PLACE(1, 3, 4, 0, 1, 2)
PLACE(2, 1, 2, 3, 4, 0)
PLACE(3, 4, 0, 1, 2, 3)
PLACE(4, 2, 3, 4, 0, 1)

static const struct {
  void (*multiply)(const Products *products);
  void (*store)(const Products *products);
} places[] = {
  { multiply_0, store_0 }, { multiply_1, store_1 }, { multiply_2, store_2 },
  { multiply_3, store_3 }, { multiply_4, store_4 },
};

/* A row panel of a pass stays in the L1 cache while columns and tiles stream past it. It is
 * transposed before its products, not during those of the row before: two row panels, the columns
 * and the tiles together do not fit. */
void astro_correlator_multiply_int8_amx(const AstroCorrelatorProduct *product)
{
  guint8 row[MOST_STEPS * 2 * OPERAND] __attribute__((aligned(64)));
  guint8 none[TILE_BYTES]
      __attribute__((aligned(64))); /* stands before the first tile and after the last */
  guint8 parts[2 * OPERAND] __attribute__((aligned(64)));
  AstroCorrelatorAhead ahead = astro_correlator_ahead(product, product->steps);
  ahead.lines = MIN(ahead.lines, ASKED_LINES);
  Products tiles = { .tile = none,
                     .next = product->tiles + (product->rows - 1) * product->tiles_stride,
                     .parts = parts,
                     .left = row,
                     .steps = product->steps,
                     .first = product->first,
                     .ahead = &ahead };
  const Products *products = &tiles;
  guint place = G_N_ELEMENTS(places) - 1;
  _tile_loadconfig(&tile_shape);
  LOAD_SUM(0, tiles.next);
  for (guint i = product->rows; i-- > 0;) {
    const guint8 *quads = product->left + i * product->panel_stride;
    const guint columns = astro_correlator_columns(product, i);
    for (gsize at = 0; at < 2 * product->steps * OPERAND; at += OPERAND) {
      transpose(row + at, quads + at);
      astro_correlator_ask(&ahead);
    }
    for (guint j = 0; j < columns; j++) {
      tiles.last = tiles.tile;
      tiles.tile = tiles.next;
      tiles.next = j + 1 < columns ? tiles.tile + TILE_BYTES
                   : i > 0         ? product->tiles + (i - 1) * product->tiles_stride
                                   : none;
      tiles.right = product->right + j * product->panel_stride;
      tiles.diagonal = j == product->below + i;
      place = (place + 1) % G_N_ELEMENTS(places);
      places[place].multiply(products);
    }
  }
  places[place].store(products);
  _tile_release();
}

void astro_correlator_add_int8_amx(const AstroCorrelatorPlace *place, const guint8 *tile)
{
  const gint32 *re = (const gint32 *)tile, *im = (const gint32 *)(tile + OPERAND);
  gint32 of_diagonal[PANEL * PANEL] __attribute__((aligned(64)));
  if (place->row == place->column) {
    subtract_transpose(of_diagonal, im);
    im = of_diagonal;
  }
  add_tile_avx512(place, re, im);
}
