/* The taps of W-stacking as polynomials, for its kernels. */
#include "config.h"
#include "core/gridder/wstacking/kernels.h"

AstroSpreadTaps *astro_spread_taps_new(void)
{
  return g_aligned_alloc0(1, (sizeof(AstroSpreadTaps) + 63) & ~(gsize)63, 64);
}

void astro_spread_taps_free(AstroSpreadTaps *taps)
{
  g_aligned_free(taps);
}

static void set_term(double *terms, gboolean is_double, guint at, double value)
{
  if (is_double)
    terms[at] = value;
  else
    ((float *)terms)[at] = (float)value;
}

void astro_spread_taps_fill(AstroSpreadTaps *taps, const AstroSpread *spread, gboolean is_double,
                            gboolean is_flat)
{
  double powers[ASTRO_SEMICIRCLE_TERMS];
  taps->support = spread->support;
  taps->beta = spread->beta;
  taps->is_flat = is_flat;
  taps->degree = astro_semicircle_degree(spread->support);
  for (guint tap = 0; tap < spread->support; tap++) {
    astro_semicircle_fit(spread->support, spread->beta, tap, taps->degree, powers);
    for (guint term = 0; term <= taps->degree; term++) {
      set_term(taps->w, is_double, term * ASTRO_SEMICIRCLE_MAX + tap, powers[term]);
      if (tap < ASTRO_SEMICIRCLE_HALF)
        set_term(taps->terms, is_double, term * ASTRO_SEMICIRCLE_HALF + tap, powers[term]);
    }
  }
  for (guint term = 0; is_flat && term < ASTRO_SEMICIRCLE_TERMS; term++)
    set_term(taps->w, is_double, term * ASTRO_SEMICIRCLE_MAX, term == 0);
}
