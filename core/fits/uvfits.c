#include "core/fits/uvfits.h"

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
