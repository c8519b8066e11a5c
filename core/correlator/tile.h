/* Adds a tile (16 x 16 real parts, then as many imaginary ones) to the sums of its channel, or
 * makes its means. Included by each file of kernels, with SUM and TILE as the types of both, so
 * that it is compiled with that file's flags and is fast. */
#include "core/correlator/kernels.h"

static inline __attribute__((always_inline)) void add_rows(const AstroCorrelatorPlace *place,
                                                           const TILE *restrict re,
                                                           const TILE *restrict im, guint pols,
                                                           gboolean means)
{
  const double factor = place->factor;
  guint first = place->column * PANEL / pols;
  for (guint r = 0; r < PANEL; r++, re += PANEL, im += PANEL) {
    guint input = place->row * PANEL + r;
    if (input >= place->inputs)
      break;
    guint64 i = input / pols;
    guint n = (guint)MIN(PANEL / pols, i + 1 - first);
    guint64 at = 2 * ((i * (i + 1) / 2 + first) * pols * pols + input % pols * pols);
    for (guint c = 0; c < n; c++)
      for (guint q = 0; q < pols; q++) {
        guint64 to = at + 2 * (c * pols * pols + q);
        TILE of_re = re[c * pols + q], of_im = im[c * pols + q];
        if (means) {
          place->means[to] = (float)((double)of_re * factor);
          place->means[to + 1] = (float)((double)of_im * factor);
        } else {
          ((SUM *)place->sums)[to] += (SUM)of_re;
          ((SUM *)place->sums)[to + 1] += (SUM)of_im;
        }
      }
  }
}

static inline void add_tile(const AstroCorrelatorPlace *place, const TILE *re, const TILE *im)
{
  if (place->means && place->pols == 1)
    add_rows(place, re, im, 1, TRUE);
  else if (place->means)
    add_rows(place, re, im, 2, TRUE);
  else if (place->pols == 1)
    add_rows(place, re, im, 1, FALSE);
  else
    add_rows(place, re, im, 2, FALSE);
}

/* The imaginary parts of a tile on the diagonal, for which only im re was summed. */
static inline void subtract_transpose(TILE *im, const TILE *im_re)
{
  for (guint r = 0; r < PANEL; r++)
    for (guint c = 0; c < PANEL; c++)
      im[r * PANEL + c] = im_re[r * PANEL + c] - im_re[c * PANEL + r];
}

/* The real and imaginary parts of a tile from outer.h's three sums. An input's own product has no
 * imaginary part. */
static inline void parts_of_sums(TILE *restrict re, TILE *restrict im, const TILE *restrict sums,
                                 gboolean diagonal)
{
  const TILE *re_re = sums, *im_im = sums + PANEL * PANEL, *cross = sums + 2 * PANEL * PANEL;
  for (guint i = 0; i < PANEL * PANEL; i++) {
    re[i] = re_re[i] + im_im[i];
    im[i] = cross[i] - re_re[i] + im_im[i];
  }
  for (guint i = 0; diagonal && i < PANEL; i++)
    im[i * PANEL + i] = 0;
}

/* Defines the function for a kernel's table. */
#define ADD_TILES(name, add)                                                                       \
  void astro_correlator_add_##name(const AstroCorrelatorPlace *place, const guint8 *tile)          \
  {                                                                                                \
    TILE part[2][PANEL * PANEL] __attribute__((aligned(64)));                                      \
    parts_of_sums(part[0], part[1], (const TILE *)tile, place->row == place->column);              \
    add(place, part[0], part[1]);                                                                  \
  }
