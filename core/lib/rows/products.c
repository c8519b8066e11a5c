/* Products and bases, with the numbers that FITS gave them. */
#include "core/lib/rows/products.h"

const AstroRowProduct astro_row_products[ASTRO_ROW_PRODUCTS] = {
  { { "XX", "RR" }, { 0, 0 } },
  { { "YY", "LL" }, { 1, 1 } },
  { { "XY", "RL" }, { 0, 1 } },
  { { "YX", "LR" }, { 1, 0 } },
};

const AstroRowBasis astro_row_bases[2] = {
  { "linear", -5, { "X", "Y" }, { 0, 90 } },
  { "circular", -1, { "R", "L" }, { 0, 0 } },
};

const AstroRowBasis *astro_row_basis_of(const AstroObservation *observation)
{
  return &astro_row_bases[g_str_equal(observation->basis, astro_row_bases[1].basis)];
}
