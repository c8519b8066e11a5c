/* Products, bases and parameters of UVFITS. */
#include "core/fits/uvfits/uvfits.h"
#include "core/fits/uvfits/parameters.h"

const AstroUvfitsProduct astro_uvfits_products[ASTRO_UVFITS_PRODUCTS] = {
  { { "XX", "RR" }, { 0, 0 } },
  { { "YY", "LL" }, { 1, 1 } },
  { { "XY", "RL" }, { 0, 1 } },
  { { "YX", "LR" }, { 1, 0 } },
};

const AstroUvfitsBasis astro_uvfits_bases[2] = {
  { "linear", -5, { "X", "Y" }, { 0, 90 } },
  { "circular", -1, { "R", "L" }, { 0, 0 } },
};

const AstroUvfitsBasis *astro_uvfits_basis_of(const AstroObservation *observation)
{
  return &astro_uvfits_bases[g_str_equal(observation->basis, astro_uvfits_bases[1].basis)];
}

const AstroUvfitsParameterInfo astro_uvfits_parameters[N_KNOWN_PARAMETERS] = {
  [UU] = { "UU", "u, position 1 - position 2 (s)" },
  [VV] = { "VV", "v (s)" },
  [WW] = { "WW", "w (s)" },
  [DATE] = { "DATE", "Julian date, UTC, mid-integration" },
  [DATE_REST] = { "DATE", "the rest of it" },
  [BASELINE] = { "BASELINE", "256 antenna1 + antenna2" },
  [ANTENNA1] = { "ANTENNA1", "antenna 1" },
  [ANTENNA2] = { "ANTENNA2", "antenna 2" },
  [SUBARRAY] = { "SUBARRAY", "subarray" },
  [INTTIM] = { "INTTIM", "integration time (s)" },
  [SOURCE] = { "SOURCE", "source" },
  [FREQSEL] = { "FREQSEL", "frequency setup" },
};
