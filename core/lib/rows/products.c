/* Products and bases, with the numbers that FITS gave them. */
#include "core/lib/rows/products.h"

const AstroRowProduct astro_row_products[ASTRO_ROW_PRODUCTS] = {
  { { "XX", "RR" }, { 0, 0 } },
  { { "YY", "LL" }, { 1, 1 } },
  { { "XY", "RL" }, { 0, 1 } },
  { { "YX", "LR" }, { 1, 0 } },
};

const AstroRowBasis astro_row_bases[ASTRO_ROW_N_BASES] = {
  [ASTRO_ROW_LINEAR] = { "linear", -5, { "X", "Y" }, { 0, 90 } },
  [ASTRO_ROW_CIRCULAR] = { "circular", -1, { "R", "L" }, { 0, 0 } },
  /* Nothing is known about the feeds. */
  [ASTRO_ROW_STOKES] = { "stokes", 1, { "X", "Y" }, { 0, 90 } },
};

const AstroRowBasis *astro_row_basis_of(const AstroObservation *observation)
{
  for (guint i = ASTRO_ROW_N_BASES - 1; i > 0; i--)
    if (g_str_equal(observation->basis, astro_row_bases[i].basis))
      return &astro_row_bases[i];
  return &astro_row_bases[ASTRO_ROW_LINEAR];
}

gboolean astro_row_is_east(const char *told)
{
  static const char *const names[] = { "east", "e", "ew" };
  gboolean is = FALSE;
  for (guint i = 0; i < G_N_ELEMENTS(names); i++)
    is |= g_ascii_strcasecmp(told, names[i]) == 0;
  return is;
}

/* XX becomes YY, and XY becomes YX: neighbours in the table above. */
void astro_row_exchange_feeds(gint at[ASTRO_ROW_PRODUCTS])
{
  for (guint p = 0; p < ASTRO_ROW_PRODUCTS; p += 2) {
    const gint before = at[p];
    at[p] = at[p + 1];
    at[p + 1] = before;
  }
}
